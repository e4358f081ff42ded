"""What is used is written down: dependencies, environment variables, system checks."""

import re
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
SOURCES = [
    path
    for folder in ("config", "benchmarks", "annotation", "analysis")
    for path in (ROOT / folder).rglob("*.py")
]
_VARIABLE = re.compile(r"""(["'])(PLANJURY_[A-Z_]*[A-Z]|DATABASE_URL|PORT)\1""")


def direct_dependencies() -> list[str]:
    names = []
    for path in sorted((ROOT / "requirements").glob("*.in")):
        for line in path.read_text().splitlines():
            if line and not line.startswith(("#", "-")):
                names.append(re.split(r"[\[=<>~!; ]", line, maxsplit=1)[0])
    return names


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
    explained = re.findall(r"^\|(?: `\w+` \([^)]*\) \|)? `([^`]+)` \|", text, re.M)
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
