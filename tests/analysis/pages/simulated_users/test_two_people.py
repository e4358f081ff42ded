"""Sessions of two people on the page of simulated users, played as in the product."""

import json
from collections.abc import Mapping

import pytest
from django.contrib.auth.models import User

from analysis.filters import Filters
from analysis.pages.catalogue import PAGES, select
from analysis.reports.content import Report
from annotation.live.control.services import take_over
from annotation.live.play.services import note_end
from annotation.live.setup.sessions import make_session
from annotation.models import LiveSession, Study
from benchmarks.judging.selectors import TrajectoryChoice
from benchmarks.judging.services import start_judging
from benchmarks.models import Dataset, Task, Trajectory
from tests.annotation.live_sessions import asked, begin, make_live_study, say
from tests.annotation.rows import make_person
from tests.factories.benchmarks import play, save_sample_dataset, start_sample_runs

pytestmark = [pytest.mark.django_db, pytest.mark.either]
TASKS = 5
# The numbers of the tasks on which each user takes an invalid plan as valid.
TAKEN = {"bob": {0}, "cyd": {0, 1, 2}}
CONSTRAINTS = {"world_judge": ["world-facts"], "user_judge": ["user-facts"]}


@pytest.fixture
def dataset(db: None) -> Dataset:
    return save_sample_dataset(TASKS)


@pytest.fixture
def plans(db: None) -> dict[str, tuple[str, str]]:
    """By task, a plan that breaks conditions, and one that does not; both of the task's pool.

    Scripts wrote them on another dataset of the same tasks.
    """
    other = save_sample_dataset(TASKS + 1)
    runs = start_sample_runs("explorer", "creature-of-habit", dataset=other, level="high")
    play(*runs)
    plans: dict[str, tuple[str, str]] = {}
    for task in other.tasks.order_by("pk")[:TASKS]:
        rows = Trajectory.objects.filter(run__in=runs, task=task)
        turns = [turn for row in rows for turn in row.turns.all()]
        bad = next(turn.text for turn in turns if turn.violations.exists())
        good = next(turn.text for turn in turns if not turn.violations.exists())
        plans[task.external_id] = (bad, good)
    return plans


def session_of(study: Study, task: Task, *players: User) -> LiveSession:
    session = make_session(
        study=study, agent=None, task=task, level="high", players=players, by=None
    )
    begin(session)
    return session


def play_session(session: LiveSession, bad: str, good: str, *, accepts: bool) -> None:
    """The agent proposes an invalid plan first, and a valid one once somebody objects."""
    say(session, bad)
    while waits := asked(session):
        ask = waits[0]
        if ask.role == "agent":
            say(session, good)
        elif ask.role == "simulator":
            say(session, "I am afraid that does not work for me.")
        else:
            last = session.trajectory.exchanges.filter(role="agent").order_by("step").last()
            assert last is not None
            objects = last.text == bad and not accepts
            keys = ask.expect["params"]["keys"]
            say(session, json.dumps({"violated": keys[:1] if objects else []}))
    note_end(session=session)


def play_all(dataset: Dataset, plans: Mapping[str, tuple[str, str]], *agents: str) -> None:
    """Each agent plans for both users and for the scripted one, on all tasks."""
    people = {name: make_person(name) for name in (*TAKEN, *agents)}
    two = make_live_study(mode="two_people")
    alone = make_live_study(mode="agent", by=make_person("max"))
    for number, task in enumerate(dataset.tasks.order_by("pk")):
        bad, good = plans[task.external_id]
        for agent in agents:
            for user, taken in TAKEN.items():
                session = session_of(two, task, people[agent], people[user])
                play_session(session, bad, good, accepts=number in taken)
            play_session(session_of(alone, task, people[agent]), bad, good, accepts=False)


def judge_all(dataset: Dataset) -> None:
    """The scripted judges, which read plans of the pool, decide anew on all plans."""
    rows = Trajectory.objects.filter(run__dataset=dataset, run__kind="made")
    chosen = TrajectoryChoice(tuple(rows.order_by().values_list("run", flat=True).distinct()))
    runs = start_judging(
        name="again", chosen=chosen, roles=CONSTRAINTS, settings={"what": "constraints"}, wake=False
    )
    play(*runs)


def report(dataset: Dataset, *, details: bool = False, **filters: str) -> Report:
    page = PAGES["simulated-users"]
    reader = User.objects.filter(username="rita").first() or make_person("rita", "view_results")
    selection = select(page, Filters(dataset=str(dataset.pk), level="high", **filters), reader)
    return page.content.details(selection) if details else page.content.answer(selection)


def test_invalid_plans_that_people_accept_from_a_person_are_counted(
    dataset: Dataset, plans: dict[str, tuple[str, str]]
) -> None:
    play_all(dataset, plans, "ann")
    judge_all(dataset)
    shown = report(dataset, judging="again")
    table = shown.table("measures")
    assert table is not None and "2 people, 10 trajectories" in table.note
    rows = {row[1].text: row for row in table.rows}
    # By hand: bob took 1 of 5 invalid plans, cyd 3 of 5, the scripted judges none.
    people, simulated = rows["Invalid plans accepted"][2:4]
    assert (people.text, simulated.text) == ("40.0 %", "0.0 %")
    # A ceiling follows from two people who met the same agent at five tasks.
    assert rows["Invalid plans accepted"][5].text and rows["Overall distance"][6].text == "within"
    details = report(dataset, details=True, judging="again")
    how = " ".join(details.how)
    assert "In 15 trajectories a person is the agent" in how and "No trajectory is left out" in how
    assert details.table("success") is None


def test_each_person_is_an_agent_of_their_own(
    dataset: Dataset, plans: dict[str, tuple[str, str]]
) -> None:
    """Whoever met only people, or only the script, is no part of any comparison."""
    ann, dan, eve = (make_person(name) for name in ("ann", "dan", "eve"))
    bob = make_person("bob")
    two = make_live_study(mode="two_people")
    alone = make_live_study(mode="agent", by=make_person("max"))
    for task in dataset.tasks.order_by("pk"):
        for session in (
            session_of(two, task, dan, bob),
            session_of(two, task, ann, bob),
            session_of(alone, task, ann),
            session_of(alone, task, eve),
        ):
            play_session(session, *plans[task.external_id], accepts=False)
    shown = report(dataset)
    assert shown.empty is not None and "1 person has played here" in shown.empty.text
    assert (
        "Left out: 10 (a person was the agent, and did not play the task with both a person and a "
        "simulator as user)." in shown.empty.text
    )


def test_an_agent_who_was_replaced_by_another_person_is_left_out(
    dataset: Dataset, plans: dict[str, tuple[str, str]]
) -> None:
    play_all(dataset, plans, "ann")
    task = dataset.tasks.order_by("pk")[0]
    bad, good = plans[task.external_id]
    study = Study.objects.get(live__mode="two_people")
    session = session_of(study, task, *(User.objects.get(username=n) for n in ("ann", "bob")))
    say(session, bad)
    while asked(session)[0].role != "agent":
        ask = asked(session)[0]
        keys = ask.expect["params"].get("keys", ())
        say(session, json.dumps({"violated": keys[:1]}) if keys else "Not that.")
    take_over(place=session.places.get(number=1), user=make_person("zoe"))
    play_session(session, good, good, accepts=True)
    assert session.trajectory.status == "done"
    how = " ".join(report(dataset, details=True).how)
    assert "1 (a person was the agent, but not one alone)" in how and "In 15 trajectories" in how
