"""The tidy table: what stands in it, for whom, and under which names."""

import csv
import io
import uuid
from typing import Any

import pytest

from annotation.exports.columns import HISTORY_COLUMNS, RATING_COLUMNS
from annotation.exports.scope import Scope, pseudonym
from annotation.exports.services import FORMATS, ExportRequest
from annotation.exports.table import (
    history_columns,
    rating_columns,
)
from annotation.models import Annotator, Aspect, Participant, Rating
from annotation.people.services import unblind_annotator
from annotation.ratings.services import record_rating
from annotation.studies.design import DRAWN
from benchmarks.models import Trajectory
from tests.annotation.exports.worlds import SPAN, World, history_rows, make_world, rating_rows
from tests.annotation.rows import SECRETS

pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture
def world(db: None) -> World:
    return make_world()


def rows_of(scope: Scope, user: Any, part: str = "main") -> list[dict[str, Any]]:
    rater = pseudonym(study=scope.study.pk, user=user.pk)
    return [row for row in rating_rows(scope) if (row["rater"], row["part"]) == (rater, part)]


def test_one_row_for_each_place_with_everything_said_there(world: World) -> None:
    first, second, remark, skipped = rows_of(Scope(world.study), world.ann)
    assert (first["item"], first["use"], first["position"]) == (2, "main", 1)
    assert (first["task"], first["level"], first["model"]) == ("task-1", "mid", SECRETS[0])
    assert (first["question"], first["subject"], first["turn"]) == ("world_violated", "turn-1", 1)
    # marked w1, then nothing, then undone: w1 stands; with comment, flag and evidence six edits
    assert (first["chosen"], first["edits"]) == (["w1"], 6)
    assert (first["comment"], first["flag"], first["flag_reason"]) == (
        "=1+1, “so” to say", True, "not sure",
    )  # fmt: skip
    assert first["evidence"] == [SPAN]
    assert (second["chosen"], second["value"], second["scale"]) == ([], None, "marks")
    assert (remark["question"], remark["comment"], remark["edits"]) == ("", "Fine.", 1)
    assert (skipped["state"], skipped["skip_reason"]) == ("skipped", "cannot read it")
    assert (skipped["question"], skipped["edits"], skipped["answered_at"]) == ("", 0, None)


def test_the_latest_decision_stands_beside_every_rater(world: World) -> None:
    scope = Scope(world.study)
    (ann, *_), (bob, *_) = rows_of(scope, world.ann), rows_of(scope, world.bob)
    for row in (ann, bob):
        assert row["adjudicated"] and row["adjudicated_chosen"] == []
        assert row["adjudicated_reason"] == "glue is no hammer"
    assert not rows_of(scope, world.bob)[1]["adjudicated"]


def test_choices_are_told_in_words_too(world: World) -> None:
    rows = rows_of(Scope(world.study), world.bob, part="background")
    assert {row["question"]: (row["value"], row["label"], row["text"]) for row in rows} == {
        "degree": (2, "Master", ""),
        "language": (3, "Like my first language", ""),
        "experience": (0, "Never", ""),
        "field": (None, "", "Robotics"),
    }
    assert {row["questionnaire"] for row in rows} == {"about_annotators@1"}


def test_what_edits_come_to_is_what_is_stored_as_current(world: World) -> None:
    """The table is derived from edits; the desk keeps current answers of its own."""
    told = {}
    for row in rating_rows(Scope(world.study)):
        place = (row["rater"], row["item"], row["question"], row["subject"])
        told[place, "answer"] = (row["value"], row["chosen"], row["text"])
        told[place, "comment"] = (None, None, row["comment"])
    stored = Rating.objects.filter(aspect__in=[Aspect.ANSWER, Aspect.COMMENT])
    assert stored.count() == 14
    for rating in stored.select_related("assignment__item"):
        assignment = rating.assignment
        rater = pseudonym(study=assignment.study_id, user=assignment.annotator_id)
        place = (rater, assignment.item.rank, rating.question, rating.subject)
        assert told[place, rating.aspect] == (rating.value, rating.chosen, rating.text)


def test_rows_have_the_columns_in_their_order(world: World) -> None:
    for scope in (
        Scope(world.study),
        Scope(world.study, names=True),
        Scope(world.study, only=world.ann),
    ):
        for row in rating_rows(scope):
            assert list(row) == [column.name for column in rating_columns(scope)]
        for row in history_rows(scope):
            assert list(row) == [column.name for column in history_columns(scope)]


def test_names_of_columns_are_unique() -> None:
    for columns in (RATING_COLUMNS, HISTORY_COLUMNS):
        names = [column.name for column in columns]
        assert len(set(names)) == len(names)


def test_who_annotates_blind_gets_their_own_answers_and_nothing_that_tells(world: World) -> None:
    rows = list(rating_rows(Scope(world.study, only=world.ann)))
    assert {row["rater"] for row in rows} == {pseudonym(study=world.study.pk, user=world.ann.pk)}
    for kept in ("model", "trajectory_id", "item", "use", "dataset", "adjudicated_chosen", "seed"):
        assert kept not in rows[0]
    told = "".join(map(str, rows))
    assert not [secret for secret in SECRETS if secret in told]


def test_people_who_left_are_left_out_and_counted(world: World) -> None:
    Participant.objects.filter(user=world.ann).update(state="withdrawn")
    scope = Scope(world.study)
    assert rows_of(scope, world.ann) == [] != rows_of(scope, world.bob)
    assert scope.left_out == {"withdrawn": 1, "erased": 0}
    asked = Scope(world.study, withdrawn=True)
    assert len(rows_of(asked, world.ann)) == 4
    assert asked.left_out == {"withdrawn": 0, "erased": 0}
    Participant.objects.filter(user=world.ann).update(state="erased")
    asked = Scope(world.study, withdrawn=True)
    assert rows_of(asked, world.ann) == [] and asked.left_out["erased"] == 1


def test_names_never_stand_beside_what_people_said_about_themselves(world: World) -> None:
    rows = list(rating_rows(Scope(world.study, names=True)))
    assert {row["annotator"] for row in rows} == {"ann", "bob"}
    assert {row["part"] for row in rows} == {"main"}


def test_programs_are_marked(world: World) -> None:
    Annotator.objects.create(user=world.bob, is_simulated=True)
    assert all(row["simulated"] for row in rows_of(Scope(world.study), world.bob))
    assert not any(row["simulated"] for row in rows_of(Scope(world.study), world.ann))


def test_pseudonyms_are_stable_and_differ_between_studies(world: World) -> None:
    one = pseudonym(study=1, user=world.ann.pk)
    assert one == pseudonym(study=1, user=world.ann.pk)
    assert one != pseudonym(study=2, user=world.ann.pk) != pseudonym(study=2, user=world.bob.pk)


def test_answers_after_unblinding_are_marked(world: World) -> None:
    assignment = world.study.assignments.get(annotator=world.ann, part="main", state="open")
    unblind_annotator(study=world.study, user=world.ann, by=world.mia, reason="needed")
    record_rating(
        assignment=assignment, by=world.ann, client_id=uuid.uuid4(), question="world_violated",
        subject="turn-1", chosen=["w1"],
    )  # fmt: skip
    *before, late = [
        r for r in rows_of(Scope(world.study), world.ann) if r["question"] == "world_violated"
    ]
    assert late["after_unblinding"] and not any(row["after_unblinding"] for row in before)


def test_history_tells_every_edit(world: World) -> None:
    rater = pseudonym(study=world.study.pk, user=world.ann.pk)
    rows = [
        row
        for row in history_rows(Scope(world.study))
        if (row["rater"], row["part"], row["position"]) == (rater, "main", 1)
    ]
    assert [row["edit"] for row in rows] == list(range(1, 9))
    assert [row["chosen"] for row in rows[:3]] == [["w1"], [], ["w1"]]
    assert [row["undoes"] for row in rows[:3]] == [None, None, 2]
    assert (rows[5]["aspect"], rows[5]["spans"], rows[5]["chosen"]) == ("evidence", [SPAN], None)


def test_csv_is_no_program_for_a_spreadsheet(world: World) -> None:
    text = "".join(map(str, FORMATS["csv"].write(ExportRequest(Scope(world.study)))))
    first, second, *_ = (row for row in csv.DictReader(io.StringIO(text)) if row["part"] == "main")
    assert first["comment"] == "'=1+1, “so” to say"
    assert (first["chosen"], second["chosen"], first["flag"]) == ('["w1"]', "[]", "1")


def test_parts_of_a_session_say_their_turns_there(world: World) -> None:
    row = next(row for row in rating_rows(Scope(world.study)) if row["trajectory_id"])
    trajectory = Trajectory.objects.get(pk=row["trajectory_id"])
    span = {"trajectory": 1, "first": 30, "last": 45, "turns": 54}
    trajectory.payload = {**trajectory.payload, "metadata": {"span": span}}
    trajectory.save()
    rows = list(rating_rows(Scope(world.study)))
    assert {row["span"] for row in rows} == {"", "30-45"}
    assert all((row["trajectory_id"] == trajectory.pk) == bool(row["span"]) for row in rows)


def test_probabilities_of_drawn_items_are_in_the_table_and_not_of_those_added_later(
    world: World,
) -> None:
    study = world.study
    rows = [row for row in rating_rows(Scope(study)) if row["use"] == "main"]
    items = sorted({(row["item"], row["trajectory_id"]) for row in rows if row["trajectory_id"]})
    (first, drawn), (later, added) = items[0], items[-1]
    design = {**study.settings.get("design", {}), "items": later - 1}
    study.settings = {**study.settings, "design": {**design, DRAWN: [[0.25, f"{drawn},{added}"]]}}
    study.save(update_fields=["settings"])
    chances = {row["item"]: row["probability"] for row in rating_rows(Scope(study))}
    assert (chances[first], chances[later]) == (0.25, None)
    assert "probability" not in next(iter(rating_rows(Scope(study, only=world.ann))))
