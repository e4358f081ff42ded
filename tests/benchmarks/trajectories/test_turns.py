"""Turns as pages show them."""

from typing import Any

import pytest
from django.test import Client

from benchmarks.models import Exchange, Trajectory
from benchmarks.trajectories.exchanges import turn_steps
from benchmarks.trajectories.turns import plan_change, turn_views
from tests.factories.benchmarks import (
    AnswererVersionFactory,
    ExchangeFactory,
    JudgeScoreFactory,
    TrajectoryFactory,
    TurnFactory,
    ViolationFactory,
    make_user,
    play,
    start_sample_runs,
)

pytestmark = pytest.mark.django_db


def test_reasons_come_from_the_judges_replies_of_the_very_turn() -> None:
    (run,) = start_sample_runs("coin-flipper", level="high")
    play(run)
    rows = list(run.trajectories.all())
    for row, views in ((row, turn_views(rows)[row.pk]) for row in rows):
        judged = Exchange.objects.filter(trajectory=row, role__in=["world_judge", "user_judge"])
        by_turn = {part.turn: part for part in turn_steps(row)}
        for view in views:
            steps = by_turn[view.row.index]
            replies = judged.filter(step__gte=steps.first)
            if steps.end is not None:
                replies = replies.filter(step__lt=steps.end)
            said = {key: text for r in replies for key, text in r.value["reasons"].items()}
            assert {f.key: f.reasons for f in view.findings} == {
                key: (text,) for key, text in said.items()
            }


def test_scores_stand_in_the_order_of_dimensions_and_seats() -> None:
    (run,) = start_sample_runs()
    play(run)
    row = run.trajectories.all()[0]
    for view in turn_views([row])[row.pk]:
        assert [d.key for d in view.dimensions][:2] == ["feasibility", "physical_plausibility"]
        assert view.judges == ["Even-handed judge", "Strict judge", "Lenient judge"]
        stored = row.turns.get(index=view.row.index).payload["means"]
        assert {d.key: d.mean for d in view.dimensions} == pytest.approx(stored)
        assert all(given.reason for d in view.dimensions for given in d.given)


def test_the_mean_is_over_dimensions_that_have_a_score() -> None:
    """Feasibility 4 and 5 gives 4.5, safety 2 and none gives 2: the turn's mean is 3.25."""
    turn = TurnFactory()
    for seat, feasibility, safety in (("1", 4, 2), ("2", 5, None)):
        JudgeScoreFactory(turn=turn, seat=seat, value=feasibility)
        JudgeScoreFactory(turn=turn, seat=seat, dimension="safety", value=safety)
    (view,) = turn_views([turn.trajectory])[turn.trajectory_id]
    assert view.mean == 3.25
    assert view.unscored == 1


def test_three_judges_of_one_endpoint_have_different_names() -> None:
    first = TurnFactory()
    second = TurnFactory(trajectory=first.trajectory, index=2)
    model = AnswererVersionFactory(kind="endpoint", name="fake")
    other = AnswererVersionFactory(kind="endpoint", name="other")
    for turn, seats in ((first, "123"), (second, "3")):
        for seat in seats:
            JudgeScoreFactory(turn=turn, seat=seat, judge=model)
        JudgeScoreFactory(turn=turn, seat="4", judge=other)
    shown = [view.judges for view in turn_views([first.trajectory])[first.trajectory_id]]
    assert shown == [
        ["fake, seat 1", "fake, seat 2", "fake, seat 3", "other"],
        ["fake, seat 3", "other"],
    ]


@pytest.mark.parametrize("only", [None, [1, 4, 5, 6]], ids=["whole", "part"])
def test_a_turn_names_the_plan_that_it_returns_to(only: list[int] | None) -> None:
    row = TrajectoryFactory(turn_count=6)
    for index, text in enumerate(
        ["1. Saw.", "1. Glue.", "1. Nail.", "1. Glue.", "1. Glue.", ""], 1
    ):
        TurnFactory(trajectory=row, index=index, text=text)
    shown = {view.row.index: view.returns_to for view in turn_views([row], only=only)[row.pk]}
    # Turn 5 repeats the one before, which is no return; an empty reply is no plan.
    assert {index: to for index, to in shown.items() if to} == {4: 2}


def test_the_page_names_the_plan_that_a_turn_returns_to(client: Client) -> None:
    row = TrajectoryFactory(turn_count=3)
    for index, text in enumerate(["1. Saw it.", "1. Glue it.", "1. Saw it."], 1):
        TurnFactory(trajectory=row, index=index, text=text)
    client.force_login(make_user("reader", ["view_results"]))
    page = client.get(f"/trajectories/{row.pk}/").content.decode()
    assert page.count("returns to the plan of turn 1") == 1


def test_a_turn_without_scores_has_no_mean() -> None:
    turn = TurnFactory()
    (view,) = turn_views([turn.trajectory])[turn.trajectory_id]
    assert (view.mean, view.judges, view.unscored) == (None, [], 0)


@pytest.mark.parametrize("value", [[1, 2], "text", {"reasons": ["x"], "violated": []}])
def test_replies_of_other_shapes_give_no_reasons(value: Any) -> None:
    turn = TurnFactory()
    ViolationFactory(turn=turn)
    ExchangeFactory(trajectory=turn.trajectory, role="world_judge", value=value)
    (view,) = turn_views([turn.trajectory])[turn.trajectory_id]
    assert view.findings[0].reasons == ()


def test_queries_do_not_grow_with_trajectories(django_assert_num_queries: Any) -> None:
    rows: list[Trajectory] = []
    for _ in range(3):
        row = TrajectoryFactory()
        TurnFactory(trajectory=row)
        rows.append(Trajectory.objects.select_related("run__dataset").get(pk=row.pk))
    with django_assert_num_queries(4):
        turn_views(rows)


@pytest.mark.parametrize(
    ("before", "after", "words", "shares"),
    [
        (["Fetch it.", "Use it."], ["Fetch it.", "Use it."], "the same plan", True),
        (["Fetch a hammer."], ["Wait for spring."], "another plan", False),
        (
            ["Fetch a hammer.", "Hit the nail hard."],
            ["Fetch a hammer.", "Hit the nail softly.", "Sweep the floor."],
            "1 step kept, 1 reworded, 1 new",
            True,
        ),
        (
            ["Fetch a hammer.", "Sweep the floor."],
            ["Sweep the floor."],
            "1 step kept, 1 gone",
            True,
        ),
        ([], ["Fetch a hammer."], "another plan", False),
        ([], [], "the same plan", True),
    ],
)
def test_what_became_of_a_plan(
    before: list[str], after: list[str], words: str, shares: bool
) -> None:
    change = plan_change(before, after)
    assert change.words == words
    assert change.same or change.shares == shares
