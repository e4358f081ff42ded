"""Ratings leave the installation under pseudonyms, and only when they were submitted."""

import json
import uuid
from pathlib import Path

from django.contrib.auth.models import User
from django.utils import timezone

from annotation.exports import pseudonym
from annotation.models import Assignment, Rating, RatingEdit
from benchmarks.ratings import ratings_of
from benchmarks.services.exports import export_run


def answer(item: Assignment, question: str, value: int, text: str = "") -> None:
    edit = RatingEdit.objects.create(
        assignment=item, question=question, value=value, client_id=uuid.uuid4(), by=item.annotator
    )
    Rating.objects.create(
        assignment=item, question=question, value=value, text=text, edit=edit,
        updated_at=timezone.now(),
    )  # fmt: skip


def test_what_is_not_submitted_stays_here(item: Assignment) -> None:
    answer(item, item.item.asked[0], 4)
    assert list(ratings_of(item.trajectory.run)) == []


def test_submitted_answers_stand_under_a_pseudonym(
    item: Assignment, ann: User, bob: User, tmp_path: Path
) -> None:
    run = item.trajectory.run
    answer(item, item.item.asked[0], 4, "well done")
    Assignment.objects.filter(pk=item.pk).update(state=Assignment.State.SUBMITTED)
    (rating,) = ratings_of(run)
    assert (rating.task_id, rating.attempt) == (item.trajectory.task.external_id, 1)
    assert (rating.question, rating.value, rating.text) == (item.item.asked[0], 4, "well done")
    assert rating.rater == pseudonym(ann.pk) != pseudonym(bob.pk)
    assert not rating.simulated and rating.turn is None
    export_run(run=run, format="huggingface", target=tmp_path / "set")
    text = (tmp_path / "set" / "ratings.jsonl").read_text()
    assert ann.username not in json.loads(text).values() and len(text.splitlines()) == 1
    other = run.experiment.runs.exclude(pk=run.pk).get()
    assert list(ratings_of(other)) == []
