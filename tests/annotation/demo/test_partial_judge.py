"""The demo's partial judge: its order of the agents is wrong, and right when people correct it."""

import re
from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from django.core.management.color import no_style
from django.db import connection

from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.filters.page_filters import with_people, with_scores
from analysis.reports.content import Report
from annotation.demo import services as demo
from annotation.demo.studies import correcting_study, ensure_demo_study, simulate_demo_study
from annotation.models import Study
from annotation.planning.ground_truth import known_plan
from benchmarks.demo import demo_runs, save_demo_dataset, start_demo_runs
from benchmarks.models import Dataset, Run, Task, Trajectory, Turn
from benchmarks.runs.worker import work_on_run
from tests.analysis.page_reports import report_of
from tests.small_demo import demo_named

pytestmark = pytest.mark.django_db
FAVOURED, OTHERS = "Creature of habit", {"Careful tracker", "Coin flipper"}


def begin_ids_anew() -> None:
    """Have ids begin at 1: which plans are drawn to be rated depends on them."""
    tables = {model._meta.db_table for model in (Dataset, Task, Run, Trajectory, Turn, Study)}
    ids = [one for one in connection.introspection.sequence_list() if one["table"] in tables]
    with connection.cursor() as cursor:
        for sql in connection.ops.sequence_reset_by_name_sql(no_style(), ids):
            cursor.execute(sql)


@pytest.fixture
def partial_demo() -> None:
    begin_ids_anew()
    demo.ensure_demo()
    system, whole = demo_named("Partial judge demo")
    dataset = save_demo_dataset(system, whole)
    for runs in whole.runs:
        start_demo_runs(dataset, runs)
        for run in demo_runs(dataset, runs):
            work_on_run(run_id=run.pk, owner="worker")
    kind = correcting_study(whole.rated)
    list(simulate_demo_study(ensure_demo_study(dataset, kind), kind))


def leaderboard(scores: str = "") -> Report:
    reader = User.objects.get(username="researcher")
    selection = with_people(select_runs(Filters()), reader)
    filters = replace(selection.filters, scores=scores)
    return report_of("leaderboard", with_scores(replace(selection, filters=filters)))


def order(report: Report) -> list[str]:
    board = report.table("board")
    assert board is not None
    return [str(row[0]) for row in board.records()[:3]]


def true_accuracy(agent: str) -> float:
    """Return the share of last plans that break nothing and are good on every dimension."""
    right = []
    for trajectory in Trajectory.objects.filter(run__agent__title=agent):
        plan = Turn.objects.get(trajectory=trajectory, is_final=True)
        known = known_plan(trajectory.task, plan.text)
        assert known is not None
        right.append(not plan.violations.exists() and min(known.quality.values()) >= 3.5)
    return sum(right) / len(right)


@pytest.mark.usefixtures("partial_demo")
def test_ratings_put_the_order_of_a_partial_judge_right() -> None:
    assert all(true_accuracy(FAVOURED) < true_accuracy(other) - 0.05 for other in OTHERS)
    assert order(leaderboard("judges"))[0] == FAVOURED
    corrected = leaderboard()
    assert order(corrected)[2] == FAVOURED
    changes = r"The order of the estimates changes: C.* is now above .* \([23] pairs"
    assert re.search(changes, corrected.sentence)
