"""The published schemas are those of the models, and what is exported holds to them."""

from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command

from annotation.questionnaires.loader import FOLDER as QUESTIONNAIRES
from benchmarks.core.yaml_files import read_yaml, read_yaml_file
from tests.annotation.exports.valid_exports import FOLDER, assert_valid
from tests.annotation.planning.test_plan_files import WHOLE

pytestmark = pytest.mark.either


def test_the_files_in_the_docs_are_those_of_the_models(tmp_path: Path) -> None:
    call_command("write_schemas", out=tmp_path, stdout=StringIO())
    made = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_text() for path in FOLDER.glob("*.json")}
    page = (FOLDER.parent / "schemas.md").read_text()
    assert [name for name in made if f"`{name}`" not in page] == []


def test_plans_and_designs_that_are_read_hold_to_their_schema() -> None:
    assert_valid("study-plan.v1.json", read_yaml(WHOLE).value)
    paths = list(Path(settings.BASE_DIR).glob("benchmarks/systems/*/experiments/*.yaml"))
    assert len(paths) > 5
    for path in paths:
        assert_valid("experiment.v1.json", read_yaml_file(path))


def test_what_does_not_hold_to_a_schema_is_refused() -> None:
    row = {"planjury": 1, "task_id": "a", "attempt": 1, "messages": [{"role": "user"}]}
    assert_valid("trajectory-row.v1.json", row)
    for wrong in ({"attempt": 0}, {"planjury": 2}, {"messages": [{"role": "cat"}]}, {"seed": "x"}):
        with pytest.raises(AssertionError):
            assert_valid("trajectory-row.v1.json", row | wrong)
    with pytest.raises(AssertionError):
        assert_valid("experiment.v1.json", {"name": "A", "dataset": "D", "agents": []})


def test_shipped_questionnaires_hold_to_their_schema() -> None:
    paths = list(QUESTIONNAIRES.glob("*.yaml"))
    assert len(paths) > 5
    for path in paths:
        assert_valid("questionnaire.v1.json", read_yaml_file(path))
