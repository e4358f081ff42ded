"""Tests that the docs name everything that is used, and nothing that does not exist."""

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import get_commands, load_command_class

ROOT = Path(settings.BASE_DIR)
SOURCES = [
    path
    for folder in ("config", "benchmarks", "annotation", "analysis", "devtools")
    for path in (ROOT / folder).rglob("*.py")
]
PAGES = sorted(
    path
    for folder in ("docs", "client", "deploy", "benchmarks", "static/css")
    for path in (ROOT / folder).rglob("*.md")
) + [ROOT / "README.md"]
_VARIABLE = re.compile(r"""(["'])(PLANJURY_[A-Z_]*[A-Z]|DATABASE_URL|PORT)\1""")


def direct_dependencies() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    core, dev = project["project"]["dependencies"], project["dependency-groups"]["dev"]
    # Tests use the extra for Parquet, too.
    lines = [*core, *(line for lines in extras.values() for line in lines), *dev]
    return list(dict.fromkeys(re.split(r"[\[=<>~!; ]", line, maxsplit=1)[0] for line in lines))


def pins(lock: str) -> dict[str, str]:
    text = (ROOT / "requirements" / lock).read_text()
    return dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", text, flags=re.MULTILINE))


@cache
def variables() -> set[str]:
    """Every string in the source that is, as a whole, the name of a variable."""
    return {name for path in SOURCES for _, name in _VARIABLE.findall(path.read_text())}


@pytest.mark.parametrize("name", direct_dependencies())
def test_each_dependency_has_its_reason(name: str) -> None:
    assert f"| `{name}` |" in (ROOT / "docs" / "dependencies.md").read_text()


def test_no_dependency_is_explained_that_is_gone() -> None:
    text = (ROOT / "docs/dependencies.md").read_text()
    # In the first column, or, where that names an extra, in the second.
    explained = re.findall(r"^\|(?: `\w+` \|)? `([^`]+)` \|", text, re.M)
    assert sorted(explained) == sorted(direct_dependencies())


@pytest.mark.parametrize("name", sorted(variables()))
def test_each_variable_is_explained(name: str) -> None:
    assert f"| `{name}` |" in (ROOT / "docs" / "settings.md").read_text()


def test_no_variable_is_explained_that_is_gone() -> None:
    explained = re.findall(r"^\| `([A-Z_]+)` \|", (ROOT / "docs/settings.md").read_text(), re.M)
    assert set(explained) - variables() == {"DJANGO_SETTINGS_MODULE"}


def test_tests_and_users_get_the_same_versions() -> None:
    core, dev = pins("core.lock"), pins("dev.lock")
    assert core
    assert {name: dev.get(name) for name in core} == core


def test_the_extra_for_training_fits_what_is_installed() -> None:
    core, train = pins("core.lock"), pins("train.lock")
    assert {name: core[name] for name in core.keys() & train.keys()}.items() <= train.items()


@pytest.mark.parametrize(
    "lock", ["core.lock", "dev.lock", "parquet.lock", "errors.lock", "train.lock"]
)
def test_a_lock_file_names_no_host(lock: str) -> None:
    text = (ROOT / "requirements" / lock).read_text()
    assert "://" not in text
    assert "--index" not in text
    assert "--find-links" not in text


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def without_code(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


@cache
def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found: list[str] = []
    for heading in re.findall(r"^#+ (.+)$", without_code(page), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.lower())
        found.append(re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-"))
    assert len(found) == len(set(found)), f"{name_of(page)} has one heading twice"
    return set(found)


@pytest.mark.parametrize("document", PAGES, ids=name_of)
def test_every_link_leads_somewhere(document: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", without_code(document)):
        if link.startswith(("http:", "https:")):
            continue
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document
        assert target.exists(), f"{name_of(document)}: {link}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{name_of(document)}: {link}"


def options_of(command: str) -> set[str]:
    """The options of a command, those of its subcommands included."""
    found = load_command_class(get_commands()[command], command)
    left, options = [found.create_parser("manage.py", command)], set()
    while left:
        parser = left.pop()
        for action in parser._actions:
            options |= set(action.option_strings)
            if isinstance(action.choices, dict):
                left += action.choices.values()
    return options


def written_commands() -> dict[str, set[str]]:
    """The options that pages give to each command of ``manage.py``."""
    found: dict[str, set[str]] = {}
    for page in PAGES:
        text = page.read_text().replace("\\\n", " ")
        written = r"(?:\bmanage\.py|^manage) ([a-z_]{4,})\b([^\n`|]*)"
        for command, rest in re.findall(written, text, re.MULTILINE):
            options = re.findall(r"(?<=[\s\[])--[a-z][a-z-]*", rest.partition(" #")[0])
            found.setdefault(command, set()).update(options)
    return found


@pytest.mark.parametrize(("command", "options"), sorted(written_commands().items()))
def test_every_command_that_is_written_exists(command: str, options: set[str]) -> None:
    assert command in get_commands()
    assert options <= options_of(command)
