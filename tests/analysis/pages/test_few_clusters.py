from dataclasses import replace

from analysis.pages.declaration import (
    few_clusters_notices,
    with_few_clusters,
    with_few_observations,
)
from analysis.reports.content import Report, Table, estimate_cell, estimate_column
from analysis.stats.descriptive.means import mean_by_cluster, mean_t
from analysis.stats.descriptive.proportions import share
from analysis.stats.results import Estimate


def by_task(clusters: int, unit: str = "task") -> Estimate:
    """A mean over so many clusters, each with a value of its own."""
    return mean_by_cluster([float(i % 5) for i in range(clusters)], range(clusters), unit=unit)


def test_fewer_than_40_are_said_on_the_page_itself() -> None:
    columns = (estimate_column("Mean"),)
    few = Table(
        "few", "Few", columns, tuple((estimate_cell(by_task(n), "points"),) for n in (8, 39))
    )
    enough = Table("enough", "Enough", columns, ((estimate_cell(by_task(40), "points"),),))
    (notice,) = with_few_clusters(Report(tables=(few, enough))).notices
    assert notice.tone == "warning"
    assert notice.text.startswith(
        "Few tasks: intervals here rest on 8 to 39 tasks. With fewer than 40"
    )
    report = Report(tables=(enough,))
    assert with_few_clusters(report) is report


def test_each_kind_of_cluster_has_its_notice() -> None:
    found = few_clusters_notices([by_task(8), by_task(8), by_task(9, "trajectory")])
    assert [notice.text.split(".")[0] for notice in found] == [
        "Few tasks: intervals here rest on 8 tasks",
        "Few trajectories: intervals here rest on 9 trajectories",
    ]


def test_few_tasks_with_one_trajectory_each_are_said_too() -> None:
    few = mean_t([float(i % 5) for i in range(24)]), share(3, 10)
    enough = mean_t([float(i % 5) for i in range(40)]), share(3, 40)
    report, larger = (
        Report(
            tables=(
                Table(
                    "means",
                    "Means",
                    (estimate_column("Mean"),),
                    tuple((estimate_cell(one, "points"),) for one in estimates),
                ),
            )
        )
        for estimates in (few, enough)
    )
    (notice,) = with_few_observations(report, "trajectory").notices
    assert notice.text.startswith("Few trajectories: intervals here rest on 10 to 24 trajectories.")
    assert with_few_observations(larger, "trajectory") is larger
    warned = replace(report, notices=few_clusters_notices([by_task(10)]))
    assert with_few_observations(warned, "trajectory") is warned
