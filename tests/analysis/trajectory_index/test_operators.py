"""Operators in the search of trajectories: what they select and what is refused."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from analysis.trajectory_index.operators import (
    FACETS,
    NUMBERS,
    OPERATORS,
    SearchOperator,
    read_search,
)
from benchmarks.models import Run, Trajectory
from tests.analysis.rows import flat, make_dataset, make_run, make_trajectory
from tests.benchmarks.api.conftest import Caller, bearer
from tests.factories.benchmarks import TrajectoryFactory, ViolationFactory, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader() -> User:
    return make_user("reader", ["view_results"])


@pytest.fixture
def world(reader: User, client: Client) -> list[Trajectory]:
    """Two agents at two levels. Mean scores 1 to 4, as many turns; the last two are valid."""
    client.force_login(reader)
    dataset, made = make_dataset(), []
    for number, (agent, level) in enumerate(
        [("alpha", "low"), ("alpha", "mid"), ("beta", "low"), ("beta", "mid")], 1
    ):
        run = make_run(dataset, agent, level=level)
        run.settings = {"tau": 3.0, "quorum": "all"}
        run.save()
        valid = float(number > 2)
        turns = [flat(number)] * number
        made.append(make_trajectory(run, number, scores=turns, valid=valid, accurate=valid))
    ViolationFactory(turn=made[0].turns.first(), kind="world", key="w1")
    return made


def listed(client: Client, q: str) -> tuple[list[int], list[str]]:
    context = client.get("/trajectories/", {"q": q, "order": "oldest"}).context
    return [row.trajectory.pk for row in context["rows"]], context["list"].query.problems


@pytest.mark.parametrize(
    ("typed", "places"),
    [
        ("agent:alpha", [0, 1]),
        ("agent:ALPHA level:low", [0]),
        ("agent:alpha agent:beta level:low", [0, 2]),
        ('agent:"Alpha"', [0, 1]),
        ("agent:alph", [0, 1]),
        ("-agent:alpha", [2, 3]),
        ("score:<3", [0, 1]),
        ("score:>=3", [2, 3]),
        ("score:2..3", [1, 2]),
        ("turns:4", [3]),
        ("valid:yes -level:mid", [2]),
        ("violated:world", [0]),
        ("violated:w1", [0]),
        ("-violated:world score:<3", [1]),
        ("score:>9", []),
    ],
)
def test_page_and_api_find_the_same(
    typed: str, places: list[int], world: list[Trajectory], client: Client, reader: User
) -> None:
    expected = [world[place].pk for place in places]
    assert listed(client, typed) == (expected, [])
    answer = Caller(bearer(reader)).get("/trajectories", q=typed, order="oldest")
    assert answer.status_code == 200, answer.content
    assert [row["id"] for row in answer.json()["items"]] == expected


def test_runs_datasets_and_tasks_by_name_or_number(world: list[Trajectory], client: Client) -> None:
    first = world[0]
    for typed in (
        f"run:{first.run_id}",
        f"task:{first.task_id} run:{first.run_id}",
        f'task:"{first.task.external_id}" level:low agent:alpha',
        f'dataset:"{first.run.dataset.name}" level:low agent:alpha',
    ):
        assert listed(client, typed) == ([first.pk], []), typed


@pytest.mark.parametrize(
    ("typed", "reasons"),
    [
        ("agnet:alpha", ("no operator “agnet:”", "agent:", "Put it in quotes")),
        ("agent:gamma", ("no value of “agent:” matches “gamma”", "“Alpha”", "“Beta”")),
        ("score:good", ("takes a number", "score:<3")),
        ("agent:", ("write a value after “agent:”",)),
        ("task:nowhere", ("no trajectory here has a task",)),
        ("NOT", ("“NOT” was left out", "“-” before a word or an operator excludes it")),
        ("OR", ("“OR” was left out", "several values of one operator are alternatives")),
    ],
)
def test_what_says_nothing_is_named(
    typed: str, reasons: tuple[str, ...], world: list[Trajectory], client: Client, reader: User
) -> None:
    rows, (problem,) = listed(client, f"{typed} level:low")
    assert rows == [world[0].pk, world[2].pk], "the rest is searched for"
    assert all(reason in problem for reason in reasons), problem
    refused = Caller(bearer(reader)).get("/trajectories", q=f"{typed} level:low")
    assert refused.status_code == 422
    assert refused.json()["error"]["message"] == problem


def test_an_ending_by_name_brings_in_trajectories_that_have_not_begun(
    world: list[Trajectory], client: Client, reader: User
) -> None:
    waiting = TrajectoryFactory(run=world[0].run, status=Trajectory.Status.PENDING, turn_count=0)
    assert listed(client, 'ended:"not started"') == ([waiting.pk], [])
    assert len(listed(client, "agent:alpha")[0]) == 2


def test_operators_do_not_tell_of_hidden_runs(
    world: list[Trajectory], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks.visibility import Visibility

    closed = frozenset(Run.objects.filter(agent=world[0].run.agent).values_list("pk", flat=True))
    monkeypatch.setattr(
        "analysis.browser.list_views.visibility", lambda request: Visibility(closed=closed)
    )
    rows, (problem,) = listed(client, "agent:alpha")
    assert rows == [world[2].pk, world[3].pk] and "“Beta”" in problem and "“Alpha”" not in problem


def test_text_is_taken_apart() -> None:
    search = read_search('fix agent:"Last word" -ended:valid "a: b" -"c" http')
    assert search.operators == (
        SearchOperator("agent", "Last word", False, 'agent:"Last word"'),
        SearchOperator("ended", "valid", True, "-ended:valid"),
    )
    assert search.words == 'fix "a: b" -"c" http'
    assert read_search('or "AND" -not').words == 'or "AND" -not'
    assert set(OPERATORS) == {"task", *FACETS, *NUMBERS}
