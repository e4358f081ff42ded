"""The certificate: counts by hand, broken promises found, a fingerprint that can be made again."""

import csv
import hashlib
import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.designs.balance import count_pairs
from annotation.designs.certificate import HEADER, certify_design
from annotation.designs.dealing import deal_options, deal_queries
from annotation.designs.orders import order_options
from annotation.designs.placement import place_specials
from annotation.designs.types import Allocation, DesignError, DesignOption

# Two people, two tasks of two models; Ann has task s, Ben task t and one item of s.
OPTIONS = (
    DesignOption(1, "s", "x"),
    DesignOption(2, "s", "y"),
    DesignOption(3, "t", "x"),
    DesignOption(4, "t", "y"),
)
DEALT = Allocation({"Ben": (4, 1, 3), "Ann": (1, 2)}, OPTIONS, "by hand", 7, ("a warning",))


def table(certified: Any, name: str) -> dict[str, Any]:
    (found,) = (one for one in certified.as_json()["tables"] if one["name"] == name)
    return found  # type: ignore[no-any-return]


def test_counts_by_hand() -> None:
    made = certify_design(design=DEALT, raters=1)
    assert table(made, "annotator × model")["counts"] == {
        "Ann": {"x": 1, "y": 1},
        "Ben": {"x": 2, "y": 1},
    }
    assert table(made, "annotator × task")["counts"] == {"Ann": {"s": 2}, "Ben": {"s": 1, "t": 2}}
    assert table(made, "model × position")["counts"] == {
        "x": {"1": 1, "2": 1, "3": 1},
        "y": {"1": 1, "2": 1},
    }
    # Ben: first, middle, last; of two items the first and the middle third begin with one
    assert table(made, "model × third")["counts"] == {
        "x": {"first third": 1, "middle third": 1, "last third": 1},
        "y": {"first third": 1, "middle third": 1},
    }
    assert table(made, "model × place in task")["counts"] == {
        "x": {"1": 2, "2": 1},
        "y": {"1": 1, "2": 1},
    }
    followed = table(made, "model × predecessor")
    assert followed["counts"] == {"x": {"y": 1}, "y": {"x": 1}}
    assert followed["words"] == "all counts match (a model follows itself: 1)"
    assert table(made, "annotator × annotator")["counts"] == {"Ann": {"Ben": 1}, "Ben": {"Ann": 1}}
    assert (made.annotators, made.items, made.assignments) == (2, 4, 5)
    assert made.raters_given == {1: 3, 2: 1}
    assert made.raters_off == (1,)
    assert made.warnings == ("a warning",)


def test_expected_counts_and_the_worst_cell() -> None:
    made = table(certify_design(design=DEALT, raters=1), "annotator × task")
    # margins: Ann 2, Ben 3; s 3, t 2; total 5
    assert (made["least"], made["most"]) == (0, 2)
    assert (made["expected_least"], made["expected_most"]) == (0.8, 1.8)
    assert made["words"] == "least balanced: Ann has 2 items of s (1.2 expected)"


def test_off_the_diagonal_expected_counts_add_up() -> None:
    pairs = [("x", "y")] * 3 + [("y", "x")] * 2 + [("z", "x")]
    balance = count_pairs("t", pairs, rows="xyz", columns="xyz", off_diagonal=True)
    cells = list(balance.cells())
    assert len(cells) == 6
    assert sum(cell.expected for cell in cells) == pytest.approx(6)
    assert balance.summary()["least"] == 0


def test_nothing_to_count_is_undefined() -> None:
    summary = count_pairs("t", []).summary()
    assert summary["least"] is summary["expected_most"] is summary["worst"] is None
    assert summary["words"] == "nothing to count"


def test_broken_promises_are_found() -> None:
    made = certify_design(
        design=DEALT, raters=2, exclusions={"Ben": [1, 2], "Ann": [4], "stranger": [1]}
    )
    assert made.exclusions_checked == 3
    assert made.exclusions_broken == (("Ben", 1),)
    assert made.raters_off == (2, 3, 4)


@pytest.mark.parametrize("order", [(1, 1), (1, 9)])
def test_what_is_no_design_is_refused(order: tuple[int, ...]) -> None:
    with pytest.raises(DesignError):
        certify_design(design=Allocation({"a": order}, OPTIONS, "", 1), raters=1)


def test_the_fingerprint_is_sha256_of_the_canonical_lists() -> None:
    text = (
        '{"method":"by hand","seats":{"Ann":[[1,"item"],[2,"item"]],'
        '"Ben":[[4,"item"],[1,"item"],[3,"item"]]},"seed":7,"version":1}'
    )
    assert (
        certify_design(design=DEALT, raters=1).sha256 == hashlib.sha256(text.encode()).hexdigest()
    )


def full_design(mixed: list[DesignOption], people: list[str], seed: int) -> Any:
    dealt = deal_options(options=mixed, annotators=people, raters=2, seed=seed)
    placed = place_specials(
        dealt=order_options(dealt=dealt, method="blocks"),
        training=[91, 90], gold=[80, 81, 82], gold_each=2,
    )  # fmt: skip
    return certify_design(design=placed, raters=2, exclusions={"a0": [1000]})


MANY = [DesignOption(n, f"t{n // 4}", f"m{n % 4}") for n in range(24)]


@given(st.permutations(MANY), st.permutations(["a0", "a1", "a2"]))
@settings(max_examples=15)
def test_the_whole_depends_on_names_ids_and_seed_alone(
    mixed: list[DesignOption], people: list[str]
) -> None:
    assert full_design(mixed, people, 5) == full_design(MANY, ["a0", "a1", "a2"], 5)


def test_rows_and_json_say_the_same_and_places_are_listed() -> None:
    made = full_design(MANY, ["a0", "a1", "a2"], 5)
    assert made.sha256 != full_design(MANY, ["a0", "a1", "a2"], 6).sha256
    buffer = io.StringIO()
    csv.writer(buffer).writerows(made.as_rows())
    rows = list(csv.reader(io.StringIO(buffer.getvalue())))
    assert tuple(rows[0]) == HEADER
    said = json.loads(json.dumps(made.as_json()))
    facts = {(row[1], row[2]): row[3] for row in rows if row[0] == "design"}
    assert facts["sha256", ""] == said["sha256"]
    assert facts["items by raters", "2"] == "24"
    assert facts["training places", "a1"] == "1 2"
    assert said["gold"]["a1"] == [int(place) for place in facts["gold places", "a1"].split()]
    for one in said["tables"]:
        counted = {(r[1], r[2]): int(r[3]) for r in rows if r[0] == one["name"] and r[3] != "0"}
        assert counted == {
            (row, column): n for row, cells in one["counts"].items() for column, n in cells.items()
        }


def test_the_papers_dealing_can_be_certified() -> None:
    options = tuple(DesignOption(n, f"t{n // 10}", f"m{n % 10}") for n in range(240))
    lists = deal_queries(
        annotators=[f"a{n}" for n in range(8)],
        queries={task: range(task * 10, task * 10 + 10) for task in range(24)},
        each=3,
        seed=1,
    )
    dealt = Allocation({name: tuple(ids) for name, ids in lists.items()}, options, "queries", 1)
    made = certify_design(design=dealt, raters=1)
    assert (made.assignments, made.raters_given, made.raters_off) == (240, {1: 240}, ())
    assert table(made, "annotator × model")["words"] == "all counts match"
    assert "because whole tasks are kept together" in table(made, "annotator × task")["words"]
