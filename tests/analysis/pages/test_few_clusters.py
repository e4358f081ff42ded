"""Notices on few clusters: once, only of intervals that are too narrow then, never of agents."""

from analysis.kit.few_clusters import few_clusters_notices, with_few_clusters
from analysis.reports.content import Report, Table, estimate_cell, estimate_column
from analysis.reports.extremes import unseen
from analysis.stats.comparison.paired import pair_by_task, paired_difference
from analysis.stats.descriptive.means import mean_by_cluster
from analysis.stats.results import Estimate, Interval, few_clusters


def drawn(clusters: int, unit: str = "task") -> Estimate:
    """A coefficient by a bootstrap over so many clusters."""
    interval = Interval(0.1, 0.9, 0.95, "bootstrap", {"clusters": clusters}, unit)
    return Estimate(0.5, clusters, interval, warnings=few_clusters(clusters, unit))


def test_fewer_than_40_are_said_on_the_page_itself() -> None:
    columns = (estimate_column("Alpha"),)
    few = Table("few", "Few", columns, tuple((estimate_cell(drawn(n), "points"),) for n in (8, 39)))
    enough = Table("enough", "Enough", columns, ((estimate_cell(drawn(40), "points"),),))
    (notice,) = with_few_clusters(Report(tables=(few, enough))).notices
    assert notice.tone == "warning"
    assert notice.text.startswith(
        "Few tasks: intervals of coefficients here rest on 8 to 39 tasks."
    )
    report = Report(tables=(enough,))
    assert with_few_clusters(report) is report


def test_each_kind_of_cluster_has_its_notice_but_agents_have_none() -> None:
    found = few_clusters_notices([drawn(8), drawn(8), drawn(9, "trajectory"), drawn(3, "agent")])
    assert [notice.text.split(".")[0] for notice in found] == [
        "Few tasks: intervals of coefficients here rest on 8 tasks",
        "Few trajectories: intervals of coefficients here rest on 9 trajectories",
    ]


def test_intervals_that_allow_for_few_tasks_do_not_warn() -> None:
    mean = mean_by_cluster([float(i % 5) for i in range(8)], range(8))
    assert mean.interval is not None and not mean.warnings
    assert few_clusters_notices([mean]) == ()


def test_what_is_not_clear_says_how_large_it_would_have_to_be() -> None:
    tasks = list(range(20))
    first = [1.0] * 12 + [0.0] * 8
    paired = pair_by_task(tasks, first, tasks, [1.0] * 10 + [0.0] * 10)
    small = paired_difference(paired)
    # Tango's interval of 2 of 20 has half a width of 18.9 points, times 1.43.
    assert unseen([small], "share") == (
        "“Not clear” does not mean “equal”: with 20 tasks only a difference of about 27.0 points "
        "would show (80 % power)."
    )
    clear = paired_difference(pair_by_task(tasks, [1.0] * 20, tasks, [0.0] * 20))
    assert unseen([clear], "share") == ""
    two = paired_difference(pair_by_task([1, 2], [1, 0], [1, 2], [0, 0]))
    assert unseen([two], "share").startswith("2 tasks are too few to show any difference here")
