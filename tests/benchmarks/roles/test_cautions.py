"""Tests of the banners over everything that is not the real thing."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.reports.run_marks import banners
from analysis.trajectory_index.runs import CONSTRUCTED, run_rows
from benchmarks.models import Run
from benchmarks.roles.cautions import run_caution, runs_caution, tasks_cautions
from tests.benchmarks.constructions import make_construction
from tests.factories.benchmarks import (
    PERMISSIONS,
    AgentFactory,
    DatasetFactory,
    ExperimentFactory,
    RunFactory,
    TrajectoryFactory,
    make_user,
)

pytestmark = pytest.mark.django_db


def assignment(policy: str, label: str, version: str = "1") -> dict[str, Any]:
    return {"kind": "scripted", "policy": policy, "label": label, "version": version}


HUMAN = {"kind": "human", "label": "human"}
MODEL = {"kind": "endpoint", "label": "endpoint"}
FAKE = {"kind": "endpoint", "label": "simulated", "local": True}


@pytest.mark.parametrize(
    ("roles", "titles"),
    [
        ({"agent": [MODEL], "world_judge": [HUMAN]}, None),
        ({"agent": [assignment("x", "scripted")]}, "Scripted agent"),
        (
            {"agent": [assignment("people", "recorded")],
             "world_judge": [assignment("x", "lexicon")],
             "simulator": [assignment("x", "scripted")]},
            "Recorded answers · Lexicon judges · Scripted user simulator",
        ),
        (
            {"agent": [MODEL], "rubric_judge": [HUMAN, assignment("judge-even", "scripted")]},
            "Scripted judges",
        ),
        ({}, None),
    ],
)  # fmt: skip
def test_a_banner_for_everything_that_is_not_the_real_thing(
    roles: dict[str, Any], titles: str | None
) -> None:
    caution = run_caution(RunFactory(roles=roles))
    assert (caution.title if caution else None) == titles


def test_roles_are_named_as_their_system_calls_them() -> None:
    roles = {name: [assignment("x", "scripted")] for name in ("agent", "teacher", "scorer")}
    roles["persona"] = [assignment("x", "lexicon")]
    run = RunFactory(dataset=DatasetFactory(system="adapt_reflection"), roles=roles)
    caution = run_caution(run)
    assert caution is not None
    assert caution.title == "Scripted student · Scripted teacher and scorer · Lexicon persona"
    assert caution.text == (
        "Rules fill this role, not a model. Rules fill these roles, not models. "
        "Word matching fills this role, not a model."
    )


def test_demo_data_says_it_all() -> None:
    caution = run_caution(RunFactory(is_demo=True))
    assert caution is not None
    assert caution.title == "Demo data"


def test_runs_together_say_everything_once() -> None:
    real = RunFactory(roles={"agent": [MODEL]})
    ruled = RunFactory(roles={"agent": [assignment("x", "scripted")]})
    judged = RunFactory(roles={"agent": [MODEL], "world_judge": [assignment("x", "lexicon")]})
    caution = runs_caution([real, ruled, judged, RunFactory(roles=ruled.roles)])
    assert caution is not None
    assert caution.title == "Scripted agent · Lexicon judges"
    assert runs_caution([real]) is None and runs_caution([]) is None


def on_constructed(**roles: list[dict[str, Any]]) -> Run:
    """A run of a model, judged by models, on tasks whose constructors were these."""
    made_by = make_construction()
    made_by.roles = {**{name: [MODEL] for name in made_by.roles}, **roles}
    made_by.save()
    dataset = DatasetFactory(made_by=made_by)
    run: Run = RunFactory(
        dataset=dataset, roles={"agent": [MODEL]}, agent=AgentFactory(kind="endpoint", policy="")
    )
    TrajectoryFactory(run=run, task__dataset=dataset)
    return run


@pytest.mark.parametrize(
    ("checker", "title"),
    [
        (MODEL, None),
        (HUMAN, None),
        (assignment("reference-checker", "lexicon"), "Tasks constructed by scripts"),
        (FAKE, "Tasks constructed with simulated answers"),
        ({**MODEL, "local": True}, "Tasks constructed at an endpoint on this machine"),
    ],
)
def test_runs_of_models_say_by_whom_their_tasks_were_constructed(
    checker: dict[str, Any], title: str | None
) -> None:
    run = on_constructed(checker=[checker])
    caution = run_caution(run)
    assert (caution.title if caution else None) == title
    assert [one.title for one in tasks_cautions(run.dataset)] == ([title] if title else [])
    assert [mark.title for mark in banners(select_runs(Filters()))] == ([title] if title else [])
    assert [row.marker == CONSTRUCTED for row in run_rows() if row.pk == run.pk] == [bool(title)]


def test_every_page_of_such_a_run_says_so(client: Client) -> None:
    run = on_constructed(checker=[assignment("reference-checker", "lexicon")])
    run.experiment = ExperimentFactory()
    run.save()
    trajectory = run.trajectories.get()
    client.force_login(make_user("ruth", PERMISSIONS))
    for name, args in (
        ("benchmarks:run", [run.pk]),
        ("benchmarks:experiment", [run.experiment_id]),
        ("analysis:trajectory", [trajectory.pk]),
        ("analysis:replicates", [run.experiment_id]),
        ("analysis:leaderboard", []),
    ):
        page = client.get(reverse(name, args=args))
        assert page.status_code == 200, name
        assert "Tasks constructed by scripts" in page.content.decode(), name
