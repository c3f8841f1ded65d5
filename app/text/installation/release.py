"""New versions in words."""

from app.text.formats import numbers, times
from app.text.i18n import tr
from app.text.messages import sentence
from core.api.installation.release import ReleaseStatus


def describe(release: ReleaseStatus) -> str:
    """What is known, what is being done, or what went wrong."""
    if release.step:
        return progress(release)
    if release.failure:
        return sentence(release.failure)
    if not release.package:
        return tr("Idlehive does not look for new versions here. Get them where you got this one.")
    if release.installed and release.offer:
        return tr("Idlehive {version} is installed and starts again.", version=release.offer.version)
    if release.file:
        return tr("The new version is downloaded and verified. This installs it:")
    if release.offer:
        size = numbers.size(release.offer.size)
        return tr("Idlehive {version} is available ({size}).", version=release.offer.version, size=size)
    if release.checked_at is None:
        return tr("Idlehive has not looked for new versions yet.")
    return tr("There is no newer version. Last check: {day}.", day=times.day(release.checked_at))


def progress(release: ReleaseStatus) -> str:
    if release.step == "downloading" and release.offer:
        done, total = numbers.size(release.done), numbers.size(release.offer.size)
        return tr("Downloading the new version: {done} of {total}.", done=done, total=total)
    if release.step == "installing":
        return tr("Installing the new version…")
    return tr("Looking for a new version…")


def offered(release: ReleaseStatus) -> str:
    """For people who did not ask; empty: nothing is new."""
    if release.offer is None or release.installed:
        return ""
    return tr("Idlehive {version} is available.", version=release.offer.version)


def command(release: ReleaseStatus) -> str:
    """What an administrator types; empty: nothing."""
    return f"sudo apt install {release.file}" if release.file else ""
