"""Scripts import each other in the one form that collected files and one-file pages understand.

The storage rewrites it to the hashed name; `analysis.exports.embedding.module_text` drops it.
"""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "static" / "js"
SCRIPTS = sorted(FOLDER.glob("*.js"))
IMPORT = re.compile(r'import \{ [\w, ]+ \} from "\./([\w-]+\.js)";')


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.name)
def test_each_import_is_one_line_and_names_a_script(path: Path) -> None:
    lines = [
        line for line in path.read_text().splitlines() if re.match(r"\s*(import|export \*)\b", line)
    ]
    for line in lines:
        found = IMPORT.fullmatch(line)
        assert found, line
        assert (FOLDER / found[1]).is_file(), line


def test_no_script_leaves_names_on_the_window() -> None:
    for path in SCRIPTS:
        assert "window.planjury" not in path.read_text(), path.name
