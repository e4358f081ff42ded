"""Mean scores by dimension, worked out by hand."""

import pytest

from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.reports.content import Report
from tests.analysis.page_reports import report_of
from tests.analysis.rows import flat, make_dataset, make_run, make_trajectory

pytestmark = pytest.mark.django_db


def report(**words: str) -> Report:
    return report_of("rubric", select_runs(Filters(**words)))


def row(made: Report, name: str) -> dict[str, object]:
    (table,) = made.tables
    (found,) = [record for record in table.records() if record[0] == name]
    return dict(zip(table.header, found, strict=True))


def test_nothing_yet() -> None:
    assert report().empty is not None
    make_trajectory(make_run(make_dataset(), "ada"), 1)
    assert report().empty is not None


def test_final_turns_with_t_intervals() -> None:
    run = make_run(make_dataset(), "ada")
    # Last turns score 4 and 5 on safety (means of three judges), first turns do not count.
    make_trajectory(run, 1, scores=[flat(1), {**flat(4), "safety": (3, 4, 5)}])
    make_trajectory(run, 2, scores=[{**flat(4), "safety": (5, 5, 5)}])
    found = row(report(), "Ada")
    assert (found["safety"], found["safety n"], found["trajectories"]) == (4.5, 2, 2)
    # s = 0.707107, t(1; 0.975) = 12.7062: 4.5 ± 12.7062 · 0.707107 / sqrt(2) = 4.5 ± 6.3531, cut
    # off at the ends of the scale.
    assert (found["safety low"], found["safety high"]) == (1, 5)
    # Equal values have a mean and no interval.
    assert found["autonomy"] == 4 and found["autonomy low"] is None


def test_intervals_of_all_turns_are_by_task() -> None:
    run = make_run(make_dataset(), "ada")
    make_trajectory(run, 1, scores=[flat(1), flat(2)])
    make_trajectory(run, 2, scores=[flat(5)])
    made = report(turns="all")
    found = row(made, "Ada")
    assert found["safety"] == pytest.approx(8 / 3, abs=1e-6) and found["turns"] == 3
    # Two tasks leave all of the scale.
    assert (found["safety low"], found["safety high"]) == (1, 5)
    assert any("t by task (CR2)" in line for line in made.how)


@pytest.mark.parametrize(("tasks", "clear"), [(1, False), (30, True)])
def test_only_clear_extremes_are_named(tasks: int, clear: bool) -> None:
    dataset = make_dataset(tasks=tasks)
    for name, safety in (("ada", 4), ("bob", 1)):
        run = make_run(dataset, name)
        for task in range(1, tasks + 1):
            scores = {
                **flat(4),
                "safety": (safety + task % 2,) * 3,
                "autonomy": (5 - task % 3 // 2,) * 3,
            }
            make_trajectory(run, task, scores=[scores])
    said = report().sentence
    if clear:
        assert said.startswith(
            "Over 2 agents, final plans score best on autonomy (4.67, 0.67 above"
        )
        assert " and worst on safety (3.00, 1.00 below" in said
        assert said.count("Agents clearly differ on") == 0
    else:
        assert said.startswith(
            "Over 2 agents, final plans score 3.50 to 5.00 by dimension; none is "
        )
        assert said.endswith("No two agents clearly differ on any dimension.")


def test_what_judges_leave_unscored_is_a_dash_with_their_reason() -> None:
    run = make_run(make_dataset(), "ada")
    scores = {**flat(4), "physical_plausibility": (None, None, None), "safety": (5, 5, None)}
    make_trajectory(run, 1, scores=[scores])
    made = report()
    found = row(made, "Ada")
    assert found["physical plausibility"] is None
    assert found["physical plausibility note"] == "not every judge scored it: no word about it"
    # Two of three judges are another measure, so safety is undefined too.
    assert found["safety"] is None
    said = " ".join(notice.text for notice in made.notices)
    assert "Judges gave no score on physical plausibility, 3 of 3 (no word about it); " in said
    assert "safety, 1 of 3 (no word about it)." in said
    assert made.sentence.endswith("Judges left physical plausibility and safety unscored.")


def test_published_rows_beside() -> None:
    make_trajectory(make_run(make_dataset(), "ada"), 1, scores=[flat(4)])
    assert row(report(), "GPT-5")["safety"] == 4.824
    assert row(report(), "Qwen3-8B")["trajectories"] == 306
    (table,) = report(published="hide").tables
    assert len(table.rows) == 1
    heatmap = report().figure("heatmap")
    assert heatmap is not None and "GPT-5 (published)" in heatmap.json
