"""Ratings leave the installation under pseudonyms, and only when they were submitted."""

import json
import uuid
from pathlib import Path

import pyarrow.parquet
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.exports.scope import pseudonym
from annotation.models import Assignment, Participant, Rating, RatingEdit
from benchmarks.exports.ratings import ratings_of
from benchmarks.exports.services import export_run
from benchmarks.models import Run
from tests.annotation.exports.worlds import make_world
from tests.annotation.rows import SECRETS


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
    assert rating.rater == pseudonym(study=item.study_id, user=ann.pk)
    assert rating.rater != pseudonym(study=item.study_id, user=bob.pk)
    assert not rating.simulated and rating.turn is None
    export_run(run=run, format="huggingface", target=tmp_path / "set")
    text = (tmp_path / "set" / "ratings.jsonl").read_text()
    assert ann.username not in json.loads(text).values() and len(text.splitlines()) == 1
    other = run.experiment.runs.exclude(pk=run.pk).get()
    assert list(ratings_of(other)) == []


def test_turns_marks_and_comments_stand_in_one_row(db: None, tmp_path: Path) -> None:
    world = make_world()
    run = Run.objects.get(agent__name=SECRETS[0])
    rows = {(r.rater, r.subject): r for r in ratings_of(run)}
    ann, bob = (pseudonym(study=world.study.pk, user=u.pk) for u in (world.ann, world.bob))
    assert set(rows) == {
        (ann, ""), (ann, "turn-1"), (ann, "turn-2"), (bob, "turn-1"), (bob, "turn-2"),
    }  # fmt: skip
    one = rows[ann, "turn-1"]
    assert (one.turn, one.chosen, one.value) == (1, ("w1",), None)
    assert one.comment == "=1+1, “so” to say" and rows[bob, "turn-1"].chosen == ()
    assert (rows[ann, ""].question, rows[ann, ""].comment, rows[ann, ""].chosen) == (
        "", "Fine.", None,
    )  # fmt: skip
    for format, ending in (("huggingface", "jsonl"), ("huggingface-parquet", "parquet")):
        target = tmp_path / format
        export_run(run=run, format=format, target=target)
        path = target / f"ratings.{ending}"
        told = (
            pyarrow.parquet.read_table(path).to_pylist()
            if ending == "parquet"
            else [json.loads(line) for line in path.read_text().splitlines()]
        )
        assert [(r["turn"], r["chosen"]) for r in told if r["rater"] == bob] == [(1, []), (2, [])]
    Participant.objects.filter(user=world.ann).update(state="withdrawn")
    assert {r.rater for r in ratings_of(run)} == {bob}
