"""Scores over turns, worked out by hand."""

import pytest

from analysis.filters import Filters
from analysis.reports.decline import decline_report
from analysis.reports.parts import Report
from analysis.selection import select_runs
from benchmarks.models import Run
from tests.analysis.rows import flat, make_dataset, make_run, make_trajectory

pytestmark = pytest.mark.django_db


def report(**words: object) -> Report:
    return decline_report(select_runs(Filters(**words)))  # type: ignore[arg-type]


def points(made: Report, dimension: str = "Safety") -> list[tuple[object, ...]]:
    """Position, running, scored and mean of a dimension's curve."""
    table = made.table("points")
    assert table is not None
    return [tuple(r[2:6]) for r in table.records() if r[1] == dimension]


def make_falling(run: Run) -> None:
    """Turns score 5, 4, 3; then 5, 4; then 5."""
    make_trajectory(run, 1, scores=[flat(5), flat(4), flat(3)])
    make_trajectory(run, 2, scores=[flat(5), flat(4)])
    make_trajectory(run, 3, scores=[flat(5)])


def test_nothing_yet() -> None:
    assert report().empty is not None


def test_by_turn_with_those_still_running() -> None:
    make_falling(make_run(make_dataset(), "ada"))
    made = report()
    assert points(made) == [(1, 3, 3, 5), (2, 2, 2, 4), (3, 1, 1, 3)]
    assert "1 of 3 reach turn 3" in made.notices[0].text


def test_from_the_end() -> None:
    make_falling(make_run(make_dataset(), "ada"))
    made = report(align="end")
    # Last turns: 3, 4, 5; one before: 4 and 5; two before: 5.
    assert points(made) == [(0, 3, 3, 4), (-1, 2, 2, 4.5), (-2, 1, 1, 5)]
    assert "Only 1 of 3 trajectories are 3 turns long" in made.notices[0].text


def test_all_at_the_same_rate_has_a_slope_without_interval() -> None:
    make_falling(make_run(make_dataset(), "ada"))
    made = report(dimensions=("safety",))
    slopes = made.table("slopes")
    assert slopes is not None
    ((_, _, _, slope, low, _, n, note),) = slopes.records()
    # Both trajectories with two turns or more fall by one point a turn exactly.
    assert (slope, low, n) == (-1, None, 2) and "same rate" in str(note)
    assert made.sentence.startswith("Whether plans get worse cannot be said: ")


def test_sentence_counts_clear_falls_with_the_family_in_mind() -> None:
    run = make_run(make_dataset(tasks=12), "ada")
    for task in range(1, 13):
        # Safety falls by 2 or 1 from turn 1 to 2; everything else stays as it is.
        fall = 2 if task % 2 else 1
        make_trajectory(run, task, scores=[{"safety": (5,) * 3}, {"safety": (5 - fall,) * 3}])
    said = report(dimensions=("safety",)).sentence
    # Slopes −2 and −1, six each: mean −1.5.
    assert said.startswith(
        "Within trajectories 1 of 1 curve (one for each agent and dimension) clearly fall and 0 "
        "rise; the steepest fall is Ada on safety: −1.50 a turn (95 % interval −1.8"
    )
    assert said.endswith("n = 12 trajectories).")


def test_chosen_dimensions_and_default_are_panels() -> None:
    make_falling(make_run(make_dataset(), "ada"))
    figure = report().figure("curves")
    assert figure is not None
    for title in ("Feasibility", "Physical plausibility", "Effectiveness", "Safety"):
        assert title in figure.json
    assert "Autonomy" not in figure.json
    chosen = report(dimensions=("autonomy",)).figure("curves")
    assert chosen is not None and "Autonomy" in chosen.json and "Safety" not in chosen.json
