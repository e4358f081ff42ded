"""Tests of who fills the roles of a run."""

from typing import Any

import pytest

from benchmarks.roles.selectors import run_roles
from tests.factories.benchmarks import RunFactory

pytestmark = pytest.mark.django_db


def assignment(policy: str, label: str, version: str = "1") -> dict[str, Any]:
    return {"kind": "scripted", "policy": policy, "label": label, "version": version}


HUMAN = {"kind": "human", "label": "human"}
MODEL = {"kind": "endpoint", "label": "endpoint"}


def test_who_fills_several_seats_stands_once() -> None:
    judges = [assignment("judge-even", "scripted"), assignment("judge-strict", "scripted")]
    run = RunFactory(roles={"agent": [MODEL], "rubric_judge": [*judges, judges[0]]})
    roles = {role.title: role.assignments for role in run_roles(run)}
    assert [(f.title, f.seats) for f in roles["Rubric judges"]] == [
        ("Even-handed judge", (1, 3)), ("Strict judge", (2,)),
    ]  # fmt: skip
    assert [f.title for f in roles["Agent"]] == [run.agent.title]
    assert roles["World judge"] == ()


def test_a_script_that_is_gone_keeps_its_name() -> None:
    run = RunFactory(
        roles={"world_judge": [assignment("old-facts", "scripted")], "referee": [HUMAN]}
    )
    roles = {role.title: role.assignments for role in run_roles(run)}
    assert roles["World judge"][0].title == "Old facts"
    assert roles["Referee"][0].title == "A person"
