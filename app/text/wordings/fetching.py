"""Documents and files from a project's servers."""

from app.text.i18n import tr


def wordings() -> dict[str, str]:
    """By kind."""
    return {
        "bad_redirect": tr("The server sends us on to {target}, which is not a secure web address."),
        "private_address": tr(
            "{host} is inside a private network, but the project is not. Nothing was fetched from it."
        ),
        "redirected_elsewhere": tr("{url} leads to another server: {target}. If you trust it, add that address."),
    }
