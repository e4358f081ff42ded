"""Whoever plays in a blinded study of sessions sees no name of an agent until nothing is left."""

import pytest
from django.contrib.auth.models import User

from annotation.live.control.services import end_session, free_place, give_to_agent
from annotation.models import Study
from annotation.studies.setup import add_member
from benchmarks.endpoints.services import create_endpoint
from benchmarks.models import Agent, Run, Trajectory
from benchmarks.roles.cautions import run_caution
from benchmarks.visibility import Visibility
from tests.analysis.rows import make_run
from tests.annotation.live_sessions import make_live_session, make_live_study

pytestmark = [pytest.mark.django_db, pytest.mark.either]


def test_until_the_last_session_is_over(ann: User, bob: User) -> None:
    study = make_live_study()
    first, second = (make_live_session(study, [ann]) for _ in range(2))
    run = first.trajectory.run_id
    elsewhere = Run.objects.exclude(pk=run).get(agent=first.trajectory.run.agent)
    assert {run, elsewhere.pk} <= Visibility.to(ann).closed
    assert not Visibility.to(bob).closed
    (duty,) = Visibility.to(ann).duties
    assert (duty.title, duty.words) == ("Live", "2 sessions")
    end_session(session=first, by=None)
    assert run in Visibility.to(ann).closed
    end_session(session=second, by=None)
    assert not Visibility.to(ann).closed and not Visibility.to(ann).duties


def test_whoever_may_still_take_a_place(ann: User, bob: User) -> None:
    study = make_live_study()
    make_live_session(study, [ann])
    other = make_live_session(study, [bob])
    add_member(study=study, user=ann, role="annotator")
    end_session(session=study.sessions.get(number=1), by=None)
    assert not Visibility.to(ann).closed
    free_place(place=other.places.get(), by=None)
    assert Visibility.to(ann).closed


def test_where_nothing_is_hidden(ann: User) -> None:
    study = make_live_study()
    make_live_session(study, [ann])
    Study.objects.update(blinded=False)
    assert not Visibility.to(ann).closed


def test_agents_that_took_over_are_closed_as_well(ann: User) -> None:
    # The person decides: a script could not read what a model plans.
    session = make_live_session(make_live_study(mode="judge_and_simulator"), [ann])
    address = "http://localhost:1/v1"
    create_endpoint(name="deputy", title="Deputy", base_url=address, model="deputy")
    other = Agent.objects.get(name="deputy")
    run = session.trajectory.run
    elsewhere = make_run(run.dataset, "deputy")
    Run.objects.filter(pk=elsewhere.pk).update(agent=other)
    assert elsewhere.pk not in Visibility.to(ann).closed
    assert Visibility.to(ann).of(Agent.objects.filter(pk=other.pk))
    Trajectory.objects.filter(pk=session.trajectory_id).update(status="failed")
    give_to_agent(session=session, agent=other, by=ann)
    assert {run.pk, elsewhere.pk} <= Visibility.to(ann).closed
    seen = Visibility.to(ann)
    assert seen.endpoints == {"deputy"}
    assert not seen.of(Agent.objects.filter(pk=other.pk))
    # What took over is said wherever the run is shown, of the others of its trajectories not.
    assert "on this machine" in (said := run_caution(run)).title and said
    assert "on this machine" not in run_caution(run, {}).title
    session.study.refresh_from_db()
    assert set(session.study.settings["labels"]["agents"]) >= {"scripted"}
    end_session(session=session, by=None)
    assert elsewhere.pk not in Visibility.to(ann).closed
