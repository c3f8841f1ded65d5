import threading

from app.log.files import merge
from core.client.profile import Profile
from tests.cli.conftest import RunCli, StartCli


def test_lines_are_merged_by_time_and_tracebacks_stay_together() -> None:
    engine = ["2026-03-05 12:00:00,100 start", "2026-03-05 12:00:02,000 failed", "Traceback", "  File"]
    session = ["[2026-03-05T12:00:01.500] joined", "[2026-03-05T12:00:03.000] left"]
    merged = merge([("engine", engine), ("session", session)])
    assert [name for name, _ in merged] == ["engine", "session", "engine", "engine", "engine", "session"]
    assert [line for _, line in merged][3:5] == ["Traceback", "  File"]


def test_the_last_lines_of_all_logs_are_shown(profile: Profile, run_cli: RunCli) -> None:
    profile.prepare()
    (profile.logs / "engine.log").write_text("2026-03-05 12:00:00 one\n2026-03-05 12:00:02 three\n")
    (profile.logs / "session-1.log").write_text("2026-03-05 12:00:01 two\x1b[31m\n")
    said = run_cli("log", "-n", "2").stdout.splitlines()
    assert [line.split()[0] for line in said] == ["session-1", "engine"]
    assert "\x1b" not in said[0]


def test_no_logs_yet_is_said(run_cli: RunCli) -> None:
    assert run_cli("log").stdout.startswith("There is no log in ")


def test_following_sees_what_comes_a_new_file_and_one_begun_again(profile: Profile, start_cli: StartCli) -> None:
    profile.prepare()
    engine_log = profile.logs / "engine.log"
    engine_log.write_text("2026-03-05 12:00:00 old and rather long\n")
    following = start_cli("log", "-f")
    assert following.stdout
    watchdog = threading.Timer(20, following.kill)
    watchdog.start()
    try:
        assert "old" in following.stdout.readline()
        with engine_log.open("a") as file:
            file.write("2026-03-05 12:00:01 new\n")
        assert "new" in following.stdout.readline()
        (profile.logs / "session-2.log").write_text("2026-03-05 12:00:02 other\n")
        assert following.stdout.readline().split()[0] == "session-2"
        engine_log.write_text("again\n")
        assert "again" in following.stdout.readline()
    finally:
        watchdog.cancel()
