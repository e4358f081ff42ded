"""Counts of judges' replies and scores: stored ones are those that counting gives."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from benchmarks.jobs.services import perform
from benchmarks.judging import counts
from benchmarks.judging.counts import (
    CallCounts,
    enqueue_counts,
    judge_counts,
    score_totals,
)
from benchmarks.judging.judges import judge_versions
from benchmarks.judging.selectors import TrajectoryChoice
from benchmarks.judging.services import start_judging
from benchmarks.models import Exchange, JudgeCounts, JudgeScore, Run, Trajectory
from benchmarks.runs.services import retry_trajectory
from benchmarks.runs.worker import settle_run
from benchmarks.visibility import Visibility
from tests.factories.benchmarks import play

pytestmark = [pytest.mark.django_db, pytest.mark.either]


def count_in_the_background() -> None:
    job = enqueue_counts()
    assert job is not None
    assert enqueue_counts() is None  # it waits
    perform(job_id=job.pk, owner="test")
    assert enqueue_counts() is None  # nothing is left to count


def reads_logs(act: Callable[[], object]) -> bool:
    """Return whether the counts were read from calls and scores rather than from stored ones."""
    with CaptureQueriesContext(
        connection,
    ) as queries:
        act()
    tables = [Exchange._meta.db_table, JudgeScore._meta.db_table]
    return any("COUNT" in each["sql"] and table in each["sql"]
               for each in queries for table in tables)  # fmt: skip


def test_a_stored_count_is_the_count(played: Run) -> None:
    (anew,) = start_judging(
        chosen=TrajectoryChoice((played.pk,)), roles={"rubric_judge": ["judge-strict"]},
        name="Strict", wake=False,
    )  # fmt: skip
    play(anew)
    before, lists = judge_counts(), judge_versions(judge_counts())
    assert reads_logs(judge_counts)
    totals = score_totals([played.pk, anew.pk])
    assert sum(totals.values()) == JudgeScore.objects.count()
    assert totals[anew.pk] == JudgeScore.objects.filter(judging__made_by=anew).count() > 0
    assert before.numbers.total() == JudgeScore.objects.filter(value__isnull=False).count()

    count_in_the_background()

    assert judge_counts() == before
    assert judge_versions(judge_counts()) == lists
    assert score_totals([played.pk, anew.pk]) == totals
    assert not reads_logs(lambda: judge_versions(judge_counts()))
    assert not reads_logs(lambda: score_totals([played.pk, anew.pk]))


def test_a_run_that_ends_again_is_counted_again(played: Run) -> None:
    count_in_the_background()
    row = played.trajectories.order_by("pk")[0]
    JudgeScore.objects.filter(trajectory=row).delete()
    Trajectory.objects.filter(pk=row.pk).update(status=Trajectory.Status.FAILED)
    retry_trajectory(trajectory=Trajectory.objects.get(pk=row.pk))
    assert reads_logs(judge_counts)  # under way: what is stored may be old
    assert enqueue_counts() is None
    Trajectory.objects.filter(pk=row.pk).update(status=Trajectory.Status.DONE)
    settle_run(run_id=played.pk)
    left = JudgeScore.objects.filter(value__isnull=False).count()
    assert judge_counts().numbers.total() == left

    count_in_the_background()

    assert judge_counts().numbers.total() == left
    assert JudgeCounts.objects.get().run_id == played.pk


def test_hidden_runs_and_tasks_are_not_counted(played: Run) -> None:
    count_in_the_background()
    assert judge_counts(Visibility(closed=[played.pk])) == CallCounts()
    task = played.trajectories.order_by("pk")[0].task_id
    shown = judge_counts(Visibility(tasks=[task]))
    visible = Exchange.objects.filter(
        state__in=["answered", "unreadable"], trajectory__run=played
    ).exclude(trajectory__task=task).exclude(answerer__kind="human")  # fmt: skip
    assert sum(one.replies for one in shown.replies.values()) == visible.count()


def test_a_large_run_is_counted_in_the_background_and_the_page_says_so(
    played: Run, researcher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "AT_ONCE", played.created_trajectories - 1)
    assert not reads_logs(judge_counts)
    assert judge_counts().missing == 1
    assert "1 large run is not counted yet" in researcher.get("/judges/").content.decode()
    count_in_the_background()
    assert judge_counts().missing == 0 and judge_counts().replies
    assert "not counted yet" not in researcher.get("/judges/").content.decode()
