"""Tests of the progress of a study, and of the rows that are read for it."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Annotator, Assignment, Study
from annotation.studies import progress
from annotation.studies.progress import study_mark, study_progress
from annotation.studies.selectors import StudySize, study_sizes

pytestmark = pytest.mark.django_db


@pytest.mark.embedded
def test_median_times_are_found_by_people_and_positions(study: Study) -> None:
    with CaptureQueriesContext(connection) as asked:
        study_progress(study)
    (query,) = [row["sql"] for row in asked if '"position" >' in row["sql"]]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {query}")
        plan = [row[-1] for row in cursor.fetchall()]
    searches = [step for step in plan if "annotation_assignment" in step]
    assert len(searches) == 2, plan
    assert all("annotator_id=? AND part=? AND position>?" in step for step in searches), plan


def test_medians_are_of_submitted_items_with_working_time(study: Study) -> None:
    first, second = study.assignments.filter(annotator__username="ann")
    Assignment.objects.filter(pk=first.pk).update(state="submitted", active_ms=90_000)
    Assignment.objects.filter(pk=second.pk).update(active_ms=10_000)
    ann, bob = study_progress(study).people
    assert (ann.seconds, bob.seconds) == (90.0, None)


def test_nobody_is_judging_before_they_open_an_item(study: Study) -> None:
    def steps() -> list[str]:
        return [row.stage for row in study_progress(study).people]

    assert steps() == ["not started", "not started"]
    # Ann was at the desk for a step before the items, then opens an item, and skips it.
    study.participants.filter(user__username="ann").update(last_seen_at=timezone.now())
    assert steps() == ["not started", "not started"]
    first = study.assignments.get(annotator__username="ann", position=1)
    Assignment.objects.filter(pk=first.pk).update(opened_at=timezone.now())
    assert steps() == ["judging items", "not started"]
    study.participants.filter(user__username="bob").update(skipped=1)
    assert steps() == ["judging items", "judging items"]


def test_what_changes_while_it_is_read_is_seen_at_the_next_look(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(studies: Sequence[Study]) -> dict[int, StudySize]:
        study.participants.filter(user__username="ann").update(submitted=1)
        return study_sizes(studies)

    monkeypatch.setattr(progress, "study_sizes", change)
    found = study_progress(study)
    assert found.submitted == 0
    assert found.mark != study_mark(study)


def test_the_end_is_forecast_from_the_pace_since_the_first_submission(study: Study) -> None:
    assert study_progress(study).forecast == ""
    now = timezone.now()
    rows = list(study.assignments.order_by("pk"))

    def submit(count: int, first: timedelta) -> str:
        study.assignments.update(state="open", submitted_at=None)
        chosen = study.assignments.filter(pk__in=[row.pk for row in rows[:count]])
        chosen.update(state="submitted", submitted_at=now - first)
        study.participants.filter(user__username="ann").update(submitted=count)
        return study_progress(study).forecast

    assert len(rows) == 4
    # Three of four in half an hour leave one for another ten minutes: no day is made of it.
    assert submit(3, timedelta(minutes=29.5)) == "about 10 minutes"
    assert submit(2, timedelta(minutes=29.5)) == ""
    assert submit(3, timedelta(hours=5.9)) == "about 2 hours"
    assert submit(3, timedelta(days=5.9)) == "about 2 days"
    assert submit(3, timedelta(days=8)) == ""
    # Scripts are quick, and say nothing about people.
    for user in {row.annotator for row in rows}:
        Annotator.objects.update_or_create(user=user, defaults={"is_simulated": True})
    assert submit(3, timedelta(hours=5.9)) == ""
