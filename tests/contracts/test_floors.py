"""Inside each app imports go down: no two of its folders reach each other by any detour.

The contracts in ``pyproject.toml`` say which folder stands on which floor; this counts.
"""

import pytest

from tests.structure import APPS, folder_circles, import_graph, production_files

# How many folders and files of an app may reach each other. It only goes down.
REACHING = {"config": 0, "benchmarks": 0, "annotation": 0, "analysis": 0}


@pytest.fixture(scope="module")
def reaching() -> dict[str, list[list[str]]]:
    return folder_circles(import_graph(production_files()))


@pytest.mark.parametrize("app", APPS)
def test_folders_do_not_reach_each_other(app: str, reaching: dict[str, list[list[str]]]) -> None:
    groups = reaching[app]
    assert sum(map(len, groups)) == REACHING[app], groups


def test_a_detour_is_seen() -> None:
    """Two folders that know each other through a third, one of them inside a function."""
    graph = {
        "benchmarks.runs.worker": {"benchmarks.jobs.services"},
        "benchmarks.jobs.services": {"benchmarks.locks"},
        "benchmarks.locks": {"benchmarks.runs.leases", "benchmarks.models"},
        "benchmarks.runs.leases": set(),
        "benchmarks.models": set(),
    }
    assert folder_circles(graph)["benchmarks"] == [["jobs", "locks", "runs"]]
