"""Plug-ins that cannot be used are named with what to do, and take nothing else down."""

from pathlib import Path

import pytest
from django.conf import settings

from tests.plug_ins.processes import run, run_tests

pytestmark = [pytest.mark.either, pytest.mark.slow]

PAGE = """
from analysis.pages.catalogue import AnalysisPage
INTERFACE = 1
PAGE = AnalysisPage({key!r}, "A page", "What?"{more})
"""
FAILS = 'def content(page):\n    raise RuntimeError("out of tea")\n    yield\n'
FAILS_LATER = 'def content(page):\n    yield\n    raise RuntimeError("out of coffee")\n'
UNSURE = ", fits=lambda system: 1 / 0"
SYSTEM = """
from benchmarks.core.system import Role, System
INTERFACE = 1
class Toy(System):
    key, title, roles = {key!r}, "Toy", (Role({role!r}, "Role"),)
SYSTEM = Toy()
"""
FORMAT = """
INTERFACE, TITLE, ABOUT = 1, "A format", "Files."
def recognises(shape):
    raise RuntimeError("what is this?")
"""
READS = "def read(source, problems, header):\n    yield\n"
FILES = {
    "planjury_pages/no_import.py": "import nothing_of_this_name",
    "planjury_pages/raises.py": "raise RuntimeError('out of tea')",
    "planjury_pages/ends.py": "import sys; sys.exit('bye')",
    "planjury_pages/typo.py": "def content(page:",
    "planjury_pages/wrong_type.py": "INTERFACE = 1\nPAGE = {'key': 'wrong-type'}",
    "planjury_pages/nothing.py": "INTERFACE = 1",
    "planjury_pages/unstated.py": "PAGE = None",
    "planjury_pages/old.py": "INTERFACE = 0",
    "planjury_pages/leaderboard.py": PAGE.format(key="leaderboard", more="") + FAILS,
    "planjury_pages/tables.py": PAGE.format(key="tables", more="") + FAILS,
    "planjury_pages/other_key.py": PAGE.format(key="another", more="") + FAILS,
    "planjury_pages/odd.py": PAGE.format(key="odd", more=", ('moon',)") + FAILS,
    "planjury_pages/lost.py": PAGE.format(key="lost", more=", part_of='moon'") + FAILS,
    "planjury_pages/empty.py": PAGE.format(key="empty", more=""),
    "planjury_pages/failing.py": PAGE.format(key="failing", more="") + FAILS,
    "planjury_pages/failing_later.py": PAGE.format(key="failing-later", more="") + FAILS_LATER,
    "planjury_pages/doubtful.py": PAGE.format(key="doubtful", more=UNSURE) + FAILS_LATER,
    "planjury_systems/adapt.py": SYSTEM.format(key="adapt", role="agent"),
    "planjury_systems/nobody.py": SYSTEM.format(key="nobody", role="judge"),
    "planjury_systems/no_system.py": "INTERFACE = 1\nSYSTEM = 7",
    "planjury_formats/half.py": FORMAT,
    "planjury_formats/unsure.py": FORMAT + READS,
    "planjury_questionnaires/nameless.yaml": "id: nameless",
    "planjury_questionnaires/sloppy.v1.yaml": "id: sloppy\nversion: 1\n",
    "planjury_questionnaires/ten_questions.v9.yaml": "id: ten_questions\nversion: 9\n",
    "planjury_label_sets/mast.v1.yaml": "key: Mast\n",
}
INTERFACE_1 = "this PlanJury has version 1 of the interface."
# Of each that is left out: what it is, why, and what to do.
LEFT_OUT = [
    ("page no-import", "raises ModuleNotFoundError: No module named 'nothing_of_this_name'.",
     "Mend the module and restart, or uninstall it."),
    ("page raises", "Loading it raises RuntimeError: out of tea.", "Mend the module"),
    ("page ends", "Loading it raises SystemExit: bye.", "Mend the module"),
    ("page typo", "Loading it raises SyntaxError", "Mend the module"),
    ("page wrong-type", "is of type dict, not an AnalysisPage.", "Let it name an instance of"),
    ("page nothing", "has no attribute 'PAGE'", "Mend the module"),
    ("page unstated", f"names no INTERFACE; {INTERFACE_1}", "Write INTERFACE = 1 into"),
    ("page old", f"has INTERFACE = 0; {INTERFACE_1}", "install a version of the package that does"),
    ("page leaderboard", "There is already a page leaderboard.", "Rename one of them"),
    ("page tables", "There is already a page tables.", "Rename one of them"),
    ("page other-key", "Its key is 'another'.", "Give it the key 'other-key'"),
    ("page odd", "It has unknown filters: moon.", "Choose from dataset, level"),
    ("page lost", "It is part of 'moon', which is no page of its own.", "Make it part of one of"),
    ("page empty", "has no function content.", "Write the page there with the kit."),
    ("system adapt", "There is already a system adapt.", "Rename one of them"),
    ("system nobody", "It has no role agent.", "Add the role"),
    ("system no_system", "is of type int, not a System.", "Let it name an instance of"),
    ("format half", "has no read.", "Add the functions recognises and read"),
    ("questionnaire nameless", "Its file is called nameless.yaml.", "my_questions.v1.yaml"),
    ("questionnaire sloppy.v1", "sloppy.v1.yaml: kind: expected a text", "Mend the file"),
    ("questionnaire ten_questions.v9", "There is already a questionnaire", "another name"),
    ("label set mast.v1", "line 1, key: expected up to 20 lowercase letters", "Mend the file"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder of broken plug-ins, and one that does not exist."""
    folder = tmp_path_factory.mktemp("broken")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return f"{folder}, {folder / 'nowhere'}"


def test_a_check_warns_of_each_with_what_to_do(folders: str, tmp_path: Path) -> None:
    said = run(
        *(settings.BASE_DIR / "manage.py", "check"),
        PLANJURY_PLUGIN_DIRS=folders, PLANJURY_DATA_DIR=str(tmp_path),
        DJANGO_SETTINGS_MODULE="config.settings.local",
    )  # fmt: skip
    warnings = [part for part in said.split("?: (planjury.W003) ") if "HINT" in part]
    assert len(warnings) == len(LEFT_OUT) + 1
    for title, problem, remedy in LEFT_OUT:
        (warning,) = [one for one in warnings if one.startswith(f"The {title} of ")]
        assert problem in warning and remedy in warning, warning
    assert "nowhere: The folder does not exist." in said
    assert "take the folder out of PLANJURY_PLUGIN_DIRS" in said


def test_everything_else_works(folders: str) -> None:
    assert " passed" in run_tests(folders, Path(__file__).parent / "broken")
