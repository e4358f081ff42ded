"""Whoever plays in a blinded study of sessions sees no name of an agent until nothing is left."""

import pytest
from django.contrib.auth.models import User

from annotation.models import Study
from annotation.services.sessions.changing import end_session, free_place
from annotation.services.setup import add_member
from benchmarks.blinding import Visibility, closed_runs
from benchmarks.models import Run
from tests.annotation.live import make_live_session, make_live_study

pytestmark = [pytest.mark.django_db, pytest.mark.either]


def test_until_the_last_session_is_over(ann: User, bob: User) -> None:
    study = make_live_study()
    first, second = (make_live_session(study, [ann]) for _ in range(2))
    run = first.trajectory.run_id
    elsewhere = Run.objects.exclude(pk=run).get(agent=first.trajectory.run.agent)
    assert {run, elsewhere.pk} <= closed_runs(ann)
    assert not closed_runs(bob)
    (duty,) = Visibility.to(ann).duties
    assert (duty.title, duty.left) == ("Live", 2)
    end_session(session=first, by=None)
    assert run in closed_runs(ann)
    end_session(session=second, by=None)
    assert not closed_runs(ann) and not Visibility.to(ann).duties


def test_whoever_may_still_take_a_place(ann: User, bob: User) -> None:
    study = make_live_study()
    make_live_session(study, [ann])
    other = make_live_session(study, [bob])
    add_member(study=study, user=ann, role="annotator")
    end_session(session=study.sessions.get(number=1), by=None)
    assert not closed_runs(ann)
    free_place(place=other.places.get(), by=None)
    assert closed_runs(ann)


def test_where_nothing_is_hidden(ann: User) -> None:
    study = make_live_study()
    make_live_session(study, [ann])
    Study.objects.update(blinded=False)
    assert not closed_runs(ann)
