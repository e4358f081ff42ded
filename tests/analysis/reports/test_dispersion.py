"""Spread between judges, worked out by hand."""

import pytest

from analysis.filters import Filters
from analysis.reports.dispersion import dispersion_report
from analysis.reports.parts import Report
from analysis.selection import select_runs
from tests.analysis.rows import flat, make_dataset, make_run, make_trajectory

pytestmark = pytest.mark.django_db


def report(**words: str) -> Report:
    return dispersion_report(select_runs(Filters(**words)))


def spread(made: Report, dimension: str) -> dict[str, object]:
    table = made.table("spread")
    assert table is not None
    (found,) = [record for record in table.records() if record[0] == dimension]
    return dict(zip(table.header, found, strict=True))


def test_nothing_yet() -> None:
    assert report().empty is not None


def test_mean_over_agents_of_the_population_sd() -> None:
    dataset = make_dataset()
    # Judges' means on safety: ada 3, 4, 5 (SD sqrt(2/3) = 0.816497), bob 4, 4, 4 (SD 0).
    for name, safety in (("ada", (3, 4, 5)), ("bob", (4, 4, 4))):
        make_trajectory(make_run(dataset, name), 1, scores=[{**flat(4), "safety": safety}])
    made = report()
    found = spread(made, "Safety")
    assert found["mean sd"] == pytest.approx(0.816497 / 2, abs=1e-6)
    assert (found["ada"], found["bob"]) == (0.816497, 0)
    assert made.sentence.startswith(
        "The 3 judges differ by 0.30 points or more on 1 of 8 dimensions (safety), where the "
        "paper's stay below 0.30; most on safety, 0.41"
    )
    # Over both agents and eight dimensions: even is 1 lower once in 16 cells, −0.0625.
    assert made.sentence.endswith("even is the strictest (−0.06), mild the most lenient (+0.06).")


def test_below_the_published_bound() -> None:
    make_trajectory(make_run(make_dataset(), "ada"), 1, scores=[flat(4)])
    assert report().sentence.startswith(
        "On all 8 dimensions the 3 judges differ by less than 0.30 points, as in the paper"
    )


def test_a_missing_judge_is_a_warning_and_no_zero() -> None:
    scores = {**flat(4), "safety": (4, 5, None), "autonomy": (None, None, None)}
    make_trajectory(make_run(make_dataset(), "ada"), 1, scores=[scores])
    made = report()
    assert spread(made, "Safety")["mean sd"] is None
    assert spread(made, "Autonomy")["mean sd note"] == "no judge scored it"
    said = " ".join(notice.text for notice in made.notices)
    assert "No judge scored autonomy" in said and "Mild scored nothing for Ada on Safety" in said
    assert "autonomy cannot be compared" in made.sentence
    assert made.figure("spread") is not None


def test_final_turns_or_all() -> None:
    scores = [{**flat(4), "safety": (1, 3, 5)}, flat(4)]
    make_trajectory(make_run(make_dataset(), "ada"), 1, scores=scores)
    assert spread(report(), "Safety")["mean sd"] == 0
    # All turns: means 2.5, 3.5, 4.5.
    assert spread(report(turns="all"), "Safety")["mean sd"] == pytest.approx(0.816497, abs=1e-6)
