"""A package with a system, a format, a questionnaire and a page is installed and works everywhere.

Plug-ins are loaded when a process starts, so the tests of this one run in a process of their own:
those in ``installed``, and the contract tests of every system.
"""

from pathlib import Path

import pytest
from django.conf import settings

from tests.plug_ins.processes import run, run_tests

pytestmark = [pytest.mark.either, pytest.mark.slow]

PACKAGE = Path(__file__).parent / "package"
CONTRACTS = ("test_every_system.py", "test_every_role_is_playable.py", "test_every_validity.py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package, built and installed as anybody would."""
    wheels, folder = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("plug-ins")
    run("-m", "build", "--no-isolation", "--wheel", "--outdir", wheels, PACKAGE)
    (wheel,) = wheels.iterdir()
    run("-m", "pip", "install", "--no-deps", "--no-index", "--target", folder, wheel)
    return folder


def test_all_four_work_everywhere(folder: Path) -> None:
    assert " passed" in run_tests(folder, Path(__file__).parent / "installed")


def test_the_system_keeps_the_contract(folder: Path) -> None:
    tests = [settings.BASE_DIR / "tests" / "contracts" / name for name in CONTRACTS]
    said = run_tests(folder, "-k", "counting", *tests)
    assert " passed" in said and "failed" not in said
