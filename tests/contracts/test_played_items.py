"""Tests of ratings that players give their own session: kept and exported, nowhere independent.

They count neither in agreement nor in human scores, and are not adjudicated.
"""

from pathlib import Path

import pytest
from django.contrib.auth.models import User

from analysis.frames.submitted_answers import read_submissions
from analysis.trajectory_index.annotations import open_studies, read_study_annotations
from annotation.adjudication.disagreement import compared_assignments, compared_ratings
from annotation.desk.services import submit_assignment
from annotation.exports.document import document_text
from annotation.exports.scope import Scope
from annotation.imports.services import import_study
from annotation.live.play.services import ask_players
from annotation.live.setup.sessions import store_live_study
from annotation.models import Assignment, Item, LivePlan, LiveSession, Study
from annotation.ratings.selectors import human_scores
from annotation.studies.design import study_certificate
from annotation.studies.setup import NewItem, add_member, store_study
from benchmarks.models import Trajectory
from tests.annotation.exports.worlds import rating_rows, say
from tests.annotation.rows import make_person, make_runs

pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture
def judged(db: None) -> tuple[Study, Study]:
    """One trajectory, asked of its two players in one study and of one rater in another."""
    make_runs(tasks=1)
    trajectory = Trajectory.objects.order_by("pk")[0]
    manager, rater = make_person("mia"), make_person("rae")
    live = _played(trajectory, manager)
    other = store_study(
        study=Study(name="Raters", questionnaire="ten_questions@1", status="open"),
        items=[NewItem(trajectory=trajectory.pk)],
        people=[rater],
        lists=[[0]],
        by=manager,
    )
    Item.objects.update(asked=["safety"])
    for seat in Assignment.objects.select_related("annotator"):
        say(seat, "safety", "", value=2 if seat.annotator == rater else 5)
        submit_assignment(assignment=seat, by=seat.annotator)
    return live, other


def _played(trajectory: Trajectory, manager: User) -> Study:
    study = Study(name="Live", questionnaire="ten_questions@1", status=Study.Status.OPEN)
    plan = LivePlan(system="adaplanbench", mode="two_people")
    store_live_study(study=study, plan=plan, by=manager)
    session = LiveSession.objects.create(
        study=study, number=1, trajectory=trajectory, state=LiveSession.State.ENDED
    )
    for number, name in enumerate(("ann", "bob"), 1):
        player = make_person(name)
        add_member(study=study, user=player, role="annotator")
        session.places.create(number=number, title="Place", roles=[], player=player)
    assert ask_players(session=session) == "" == ask_players(session=session)
    return study


def test_players_are_no_raters(judged: tuple[Study, Study]) -> None:
    live, other = judged
    assert Assignment.objects.filter(study=live, state="submitted").count() == 2
    # Of the trajectory, and of everything, there is the one rater's score alone.
    assert [score.value for score in human_scores()] == [2]
    assert [len(read_submissions(study).submissions) for study in judged] == [0, 1]
    assert [compared_assignments(study).count() for study in judged] == [0, 1]
    assert [compared_ratings(study).count() for study in judged] == [0, 1]
    said = {version.pk: read_study_annotations(version) for version in open_studies(None)}
    values = [list(answer.value) for pk in said for answer in said[pk].answers]
    assert values == [[2]]
    assert study_certificate(live).assignments == 0


def said_in(study: Study) -> list[tuple[object, ...]]:
    """Return the rows of the exported table: what was said of what, and for which use."""
    rows = rating_rows(Scope(study))
    return [(row["use"], row["question"], row["value"]) for row in rows]


def test_they_are_exported_and_come_back(judged: tuple[Study, Study], tmp_path: Path) -> None:
    live, _ = judged
    path = tmp_path / "study.json"
    path.write_text("".join(document_text(Scope(live))), encoding="utf-8")
    brought = import_study(path=path)
    assert brought.study is not None and brought.study != live
    (item,) = brought.study.items.all()
    assert (item.use, item.done) == (Item.Use.PLAYED, 2)
    assert not LivePlan.objects.filter(study=brought.study).exists()
    again = import_study(path=path)
    assert (again.created, again.study) == (False, brought.study)
    # What is exported there says the same of them as what was exported here.
    path.write_text("".join(document_text(Scope(brought.study))), encoding="utf-8")
    third = import_study(path=path)
    assert (third.created, third.study) == (False, brought.study)
    assert said_in(brought.study) == said_in(live) == [("played", "safety", 5)] * 2
