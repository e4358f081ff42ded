"""Questionnaires, plans, sessions and experiments of valid form with hostile values: each is read,
or refused with an error of its own kind; the commands say so without a traceback.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.errors import Refused
from annotation.live.setup.files import LiveFileRefused, read_live_file
from annotation.plans.plan_files import read_plan
from annotation.plans.study_plan import PlanError
from annotation.questionnaires import QuestionnaireError, read_questionnaire
from annotation.questionnaires.loader import FOLDER
from benchmarks.core.problems import FileRefused
from benchmarks.experiments.checks import read_checked
from benchmarks.experiments.design import read_design
from tests.annotation.planning.test_plan_files import WHOLE
from tests.annotation.rows import make_runs
from tests.hostile_values import changed, places

DESIGN = {
    "name": "All", "dataset": "Tests@1", "agents": ["a", "b"], "levels": ["mid"],
    "conditions": [{}, {"max_turns": 3}], "temperatures": [None, 0.5], "seeds": [1, 2],
    "roles": {"world_judge": ["lexicon-world"]}, "tasks": ["x"], "cost_cap": 1.5,
}  # fmt: skip
LIVE = {
    "dataset": "Tests", "mode": "user", "name": "S", "players": ["ann"], "agents": ["zebra-7b"],
    "settings": {"max_turns": 3}, "roles": {"world_judge": ["lexicon-world"]}, "seed": 3,
}  # fmt: skip
VALUES = st.recursive(
    st.sampled_from(
        [None, True, False, 0, -1, 10**30, 2**63, 0.5, -0.0, 1e308, "", " ", "x", "1", "é",
         "a" * 500, "2001-99-99", "0001-01-01", "9999-12-31T23:59-12:00", "\u202e", "../../etc",
         "<b>", "{", "%s"]
    ),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["a", "key", "text", "1", "points"]), inner, max_size=2),
    max_leaves=5,
)  # fmt: skip


def one_change(document: Any) -> st.SearchStrategy[str]:
    """Texts that say the document but for one or two places."""
    places_of = places(document)

    def text(changes: list[tuple[tuple[Any, ...], Any]]) -> str:
        data = document
        for place, value in changes:
            try:
                data = changed(data, place, value)
            except (KeyError, IndexError, TypeError):
                continue  # the first change took the place away
        return str(yaml.safe_dump(data, sort_keys=False, allow_unicode=True))

    pairs = st.tuples(st.sampled_from(places_of), VALUES)
    return st.lists(pairs, min_size=1, max_size=2).map(text)


def refused_or_read(read: Callable[[str], Any], *errors: type[Exception], text: str) -> None:
    try:
        read(text)
    except errors as refused:
        assert str(refused)


def questionnaire(name: str) -> Any:
    return yaml.safe_load((FOLDER / f"{name}.v1.yaml").read_text(encoding="utf-8"))


MANY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
# Each of these asks the database some dozen times.
SOME = settings(MANY, max_examples=15)


@pytest.mark.parametrize("name", ["ten_questions", "violation_check", "filter_check"])
@MANY
@given(data=st.data())
def test_questionnaires(name: str, data: st.DataObject) -> None:
    text = data.draw(one_change(questionnaire(name)))
    refused_or_read(
        lambda text: read_questionnaire(text, source="x", id=f"{name}@1"),
        QuestionnaireError,
        text=text,
    )


@MANY
@given(text=one_change(yaml.safe_load(WHOLE.replace("2099-03-01T18:00", "'2099-03-01T18:00'"))))
def test_plans(text: str) -> None:
    refused_or_read(read_plan, PlanError, text=text)


@MANY
@given(text=one_change(DESIGN))
def test_designs(text: str) -> None:
    refused_or_read(read_design, FileRefused, text=text)


@pytest.mark.django_db
@SOME
@given(text=one_change(DESIGN))
def test_designs_held_against_what_is_there(text: str) -> None:
    if not User.objects.exists():
        User.objects.create_user("ann")
        make_runs(tasks=1)
    refused_or_read(read_checked, FileRefused, text=text)


@pytest.mark.django_db
@SOME
@given(text=one_change(LIVE))
def test_live_sessions(text: str) -> None:
    if not User.objects.exists():
        User.objects.create_user("ann")
        make_runs(tasks=1)
    refused_or_read(read_live_file, LiveFileRefused, Refused, text=text)


HOSTILE = {
    "a date that is none": "name: 2001-99-99\nquestionnaire: [\n",
    "deep": "[" * 100_000,
    "digits": "a: " + "9" * 190_000,
    "a tag": "a: !!timestamp 2001-99-99",
    "seeds": "seeds: [" + "1," * 99_000 + "1]",
    "seeds on lines": "seeds:\n" + "- 1\n" * 100_000,
    "half a character": 'a: "\\ud800"',
}


@pytest.mark.django_db
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("command", ["create_study", "create_sessions", "run_experiment"])
def test_commands_say_what_is_wrong(command: str, name: str, tmp_path: Path) -> None:
    User.objects.create_user("mia")
    path = tmp_path / "hostile.yaml"
    path.write_text(HOSTILE[name], encoding="utf-8")
    manager = ["--manager", "mia"] if command != "run_experiment" else []
    with pytest.raises(CommandError, match=r"line \d+|at most 200,000 characters"):
        call_command(command, str(path), *manager)
