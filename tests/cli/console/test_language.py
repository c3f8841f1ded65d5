"""The command line speaks the volunteer's language, and English to programs."""

import argparse
import ast
import inspect
import json
import re

import msgspec
import pytest

from app.cli.console import help_texts, language
from app.cli.console.display import picture
from app.cli.console.layout import width, wrapped
from app.cli.console.parser import _ARGPARSE
from app.cli.installation.reference import Command, commands
from app.desktop import language as of_the_window
from app.text import i18n
from app.text.formats import numbers
from app.text.formats.region import Region
from core.api.preferences.commands import SetPreference
from core.api.project.projects import ListProjects
from core.api.record.record import GetHistory
from core.client.profile import Profile
from tests import translations
from tests.cli.conftest import RunCli
from tests.cli.console.test_tables import BEES, LARGE
from tests.cli.given import ACTIVE, HALF_AN_HOUR, the_line
from tests.cli.snapshots import NOW
from tests.fakes.scripted_engine import ScriptedEngine
from tests.preferences import info
from tests.translations import TRANSLATED

GERMAN = {"LC_ALL": "de_AT.UTF-8"}
PROSE = re.compile(r"(?!  idlehive)(?:  )?\w+(?: \w+){5}")
ENVIRONMENTS = [
    ({}, "en"),
    ({"LANG": "de_DE.UTF-8"}, "de"),
    ({"LANG": "de_DE.UTF-8", "LC_MESSAGES": "fr_CH"}, "fr"),
    ({"LANG": "de_DE.UTF-8", "LC_MESSAGES": "fr_CH", "LC_ALL": "es_MX@euro"}, "es"),
    ({"LANG": "de_DE.UTF-8", "LC_ALL": ""}, "de"),
    ({"LANG": "en_US.UTF-8", "LANGUAGE": "tlh:bn:de"}, "bn"),
    ({"LANG": "C.UTF-8", "LANGUAGE": "de"}, "en"),
    ({"LANG": "de_DE", "LC_ALL": "C"}, "en"),
    ({"LANG": "POSIX"}, "en"),
    ({"LANG": "sv_SE.UTF-8"}, "en"),
]


@pytest.mark.parametrize(("environment", "code"), ENVIRONMENTS)
def test_the_environment_names_the_language_as_gettext_reads_it(environment: dict[str, str], code: str) -> None:
    assert language.negotiate(environment) == code


@pytest.mark.parametrize(
    "locale", ["de_AT", "pt_PT", "pt_BR", "zh", "zh_CN", "zh_SG", "zh_TW", "zh_HK", "bn_IN", "nn_NO"]
)
def test_the_command_line_and_the_window_understand_a_locale_alike(locale: str) -> None:
    assert language.negotiate({"LANG": f"{locale}.UTF-8"}) == of_the_window.negotiate([locale])


@pytest.mark.parametrize(("chosen", "code"), [("de", "de"), ("en", "en"), ("system", "fr"), ("tlh", "fr")])
def test_what_was_chosen_in_the_window_counts_before_the_environment(profile: Profile, chosen: str, code: str) -> None:
    profile.path.mkdir(parents=True)
    (profile.path / "window.ini").write_text(f"[General]\nlanguage={chosen}\nscheme=dark\n")
    assert language.choose(["status"], profile.path, {"LANG": "fr_FR.UTF-8"}) == code
    assert language.choose(["status", "--json"], profile.path, {"LANG": "fr_FR.UTF-8"}) == "en"


@pytest.mark.parametrize("code", TRANSLATED)
def test_numbers_and_dates_are_those_of_the_language(code: str) -> None:
    written = (i18n.LOCALE / code / "region.json").read_bytes()
    assert msgspec.json.decode(written, type=Region) == translations.region(code)


def test_the_status_is_told_in_the_language_with_its_numbers(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.show(ACTIVE)
    said = run_cli("status", **GERMAN).stdout
    assert said.startswith("Macht mit bei Bees\n")
    assert "  Diese Sitzung: 1 234 Beispiele mit 8,2/s\n" in said
    assert "34,0 MB" in said


def test_wrong_use_is_one_line_in_the_language(profile: Profile, run_cli: RunCli) -> None:
    done = run_cli("limits", "set", **GERMAN)
    assert (done.returncode, done.stdout) == (2, "")
    assert the_line(done.stderr) == (
        "idlehive: Diese Argumente sind nötig: NAME, VALUE (siehe `idlehive limits set --help`)."
    )
    assert "meintest du „status“?" in the_line(run_cli("stats", **GERMAN).stderr)


@pytest.mark.parametrize("verb", ["status", "limits", "projects", "history", "schedule", "disk"])
def test_json_is_the_same_in_every_language(engine: ScriptedEngine, run_cli: RunCli, verb: str) -> None:
    engine.show(ACTIVE)
    engine.answer(GetHistory, [HALF_AN_HOUR])
    engine.answer(ListProjects, [BEES])
    english, german = run_cli(verb, "--json"), run_cli(verb, "--json", **GERMAN)
    assert json.loads(german.stdout) == json.loads(english.stdout)
    assert (german.stderr, german.returncode) == (english.stderr, english.returncode)


def test_a_value_may_be_typed_as_english_and_as_the_language_write_it(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(SetPreference, info("cache_size", 1_500_000_000))
    for typed in ("1.5GB", "1,5 GB"):
        assert run_cli("limits", "set", "cache_size", typed, **GERMAN).stdout == "cache_size: jetzt „1,5 GB“.\n"
    run_cli("limits", "set", "threads", "automatic", **GERMAN)
    run_cli("limits", "set", "threads", "automatisch", **GERMAN)
    assert [each.value for each in engine.received(SetPreference)] == [1_500_000_000, 1_500_000_000, 0, 0]


@pytest.mark.usefixtures("english_again")
@pytest.mark.parametrize("code", TRANSLATED)
def test_help_fits_80_columns_and_is_translated_whole(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    english = {command.path: set(lines(command)) for command in commands()}
    language.use(code)
    for command in commands():
        translated = lines(command)
        too_long = [line for line in translated if width(line) > 80 and line not in english[command.path]]
        assert too_long == []
        alike = set(translated) & english[command.path]
        assert [line for line in alike if PROSE.match(line)] == []


@pytest.mark.usefixtures("english_again")
@pytest.mark.parametrize("code", TRANSLATED)
@pytest.mark.parametrize("columns", [40, 80])
def test_the_live_display_fits_the_terminal(code: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.cli.console.output.columns", lambda: columns)
    language.use(code)
    shown = str(picture(ACTIVE, NOW, 3_700.0, i18n.tr("Ctrl-C stops contributing."))).split("\n")
    assert max(map(width, shown)) <= columns
    assert len(shown) > 6


@pytest.mark.parametrize("columns", ["60", "80"])
@pytest.mark.parametrize("code", TRANSLATED)
def test_tables_fit_the_terminal_in_every_language(
    engine: ScriptedEngine, run_cli: RunCli, monkeypatch: pytest.MonkeyPatch, code: str, columns: str
) -> None:
    monkeypatch.setattr("app.cli.console.output.columns", lambda: int(columns))
    engine.answer(GetHistory, [LARGE])
    engine.answer(ListProjects, [BEES])
    for verb in ("history", "limits", "projects"):
        said = run_cli(verb, LC_ALL=f"{code}.UTF-8").stdout
        assert max(map(width, said.splitlines())) <= int(columns)
    language.use("en")


def test_every_sentence_that_argparse_may_say_here_is_translated() -> None:
    """A newer Python may have other ones."""
    calls = (node for node in ast.walk(ast.parse(inspect.getsource(argparse))) if isinstance(node, ast.Call))
    texts = {ast.literal_eval(call.args[0]) for call in calls if ast.unparse(call.func) == "_" and is_text(call)}
    assert set(_ARGPARSE) <= texts


def test_help_is_split_into_what_is_translated() -> None:
    text = "Two lines\nof prose.\n\n  idlehive a     first,\n                 and more\n  idlehive b\n\nNames: x, y."
    assert list(help_texts.parts(text)) == ["Two lines of prose.", "first, and more", "Names:"]
    assert help_texts.laid_out(text) == text


def test_lines_are_cut_where_their_script_allows() -> None:
    assert wrapped("春天里蜜蜂的舞蹈。与飞行", 10) == ["春天里蜜蜂", "的舞蹈。与", "飞行"]
    assert wrapped("one two three", 7) == ["one two", "three"]
    assert wrapped("abcdefgh", 3) == ["abc", "def", "gh"]
    assert width("কি") == 2
    assert numbers.count(1234) == "1 234"


def is_text(call: ast.Call) -> bool:
    return isinstance(call.args[0], ast.Constant)


def lines(command: Command) -> list[str]:
    return command.parser.format_help().splitlines()
