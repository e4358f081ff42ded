"""The paper's worked examples: figure 2 and the two cases of figure 6. Steps count from 1."""

from dataclasses import replace

import pytest

from benchmarks.systems.sda_planner.repair.diagnosis import ENVIRONMENT, diagnose
from benchmarks.systems.sda_planner.repair.graph import builtin_graph
from benchmarks.systems.sda_planner.repair.subtree import make_candidates, search
from benchmarks.systems.sda_planner.steps import CLOSE, FIND, OPEN, PICK, PUT, SLICE, Step
from tests.benchmarks.systems.sda_planner.stage import Kinds, beliefs_of

GRAPH = builtin_graph()
HOUSE = Kinds(
    cabinet="Cabinet", pan="Pan", fridge="Fridge", tomato="Tomato", table="DiningTable",
    card="CreditCard", drawer="Drawer", desk="Desk", box="Box", tissues="TissueBox",
    lamp="FloorLamp", sofa="Sofa", knife="Knife", oven="Microwave", shelf="Shelf",
)  # fmt: skip


def plan(*steps: tuple[str, str]) -> list[Step]:
    return [Step(skill, HOUSE[thing], thing) for skill, thing in steps]


FIGURE_2 = plan(
    (OPEN, "cabinet"), (FIND, "pan"), (PICK, "pan"), (FIND, "fridge"), (OPEN, "fridge"),
    (FIND, "tomato"), (PICK, "tomato"), (PUT, "tomato"), (CLOSE, "fridge"), (FIND, "table"),
    (PUT, "pan"),
)  # fmt: skip
CASE_1 = plan(
    (FIND, "box"), (PICK, "box"), (FIND, "tissues"), (PICK, "tissues"), (FIND, "lamp")
)  # fmt: skip
CASE_2 = plan(
    (FIND, "card"), (PICK, "card"), (FIND, "table"), (PUT, "card"), (FIND, "drawer"),
    (OPEN, "drawer"), (PUT, "card"), (CLOSE, "drawer"),
)  # fmt: skip
PLACES = {"pan": "cabinet", "tomato": "fridge", "card": "desk", "box": "sofa", "tissues": "sofa"}


def diagnosed(steps, t_error, at=None):
    return diagnose(GRAPH, steps, t_error, beliefs_of(HOUSE, PLACES, at, steps, t_error - 1))


def searched(steps, t_error, *correctives, at=None):
    beliefs = beliefs_of(HOUSE, PLACES, at, steps, t_error - 1)
    found = diagnose(GRAPH, steps, t_error, beliefs)
    window = steps[found.t_start - 1 : found.t_end]
    return search(
        GRAPH, beliefs[found.t_start - 1], window, steps[t_error - 1], found,
        plan(*correctives), steps[found.t_end :],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("steps", "t_error", "at", "needed", "actual", "breaks", "window", "items"),
    [
        (FIGURE_2, 7, "cabinet", "none", "pan", (3,), (3, 2, 8), {"pan", "tomato"}),
        (CASE_1, 4, None, "none", "box", (2,), (2, 1, 4), {"box", "tissues"}),
        (CASE_2, 7, None, "card", "none", (4,), (4, 3, 7), {"card"}),
    ],
)
def test_the_diagnosis_is_that_of_the_paper(
    steps, t_error, at, needed, actual, breaks, window, items
):
    found = diagnosed(steps, t_error, at)

    assert (found.wanted.needed, found.wanted.actual) == (needed, actual)
    assert found.breaks == breaks
    assert (found.t_source, found.t_start, found.t_end) == window
    assert found.items == items
    assert found.insert is None


def texts(path):
    return [(step.skill, step.id) for step in path.steps]


# Ends of the tree, the start included, without corrective steps and with them.
@pytest.mark.parametrize(
    ("steps", "t_error", "at", "correctives", "ends"),
    [
        (FIGURE_2, 7, "cabinet", (), 16),
        (FIGURE_2, 7, "cabinet", ((PUT, "pan"),), 19),
        (CASE_2, 7, None, (), 9),
        (CASE_2, 7, None, ((FIND, "card"), (PICK, "card")), 22),
    ],
)
def test_the_tree_has_as_many_ends(steps, t_error, at, correctives, ends):
    tree = searched(steps, t_error, *correctives, at=at)

    assert (tree.ends, tree.limited) == (ends, False)


def test_the_best_order_of_figure_2_uses_no_corrective_step():
    best = [
        (FIND, "fridge"), (OPEN, "fridge"), (FIND, "tomato"), (PICK, "tomato"), (FIND, "pan"),
        (PUT, "tomato"), (PICK, "pan"),
    ]  # fmt: skip
    for correctives in ((), ((PUT, "pan"),)):
        tree = searched(FIGURE_2, 7, *correctives, at="cabinet")
        assert texts(tree.paths[0]) == best
        assert tree.paths[0].cost.conflicts == 0


def test_runs_about_another_thing_stay_together():
    candidates = make_candidates(FIGURE_2[1:8], (), frozenset({"pan", "tomato"}))

    assert [len(one.steps) for one in candidates] == [1, 1, 2, 1, 1, 1]


def test_the_best_orders_of_the_cases():
    assert texts(searched(CASE_1, 4).paths[0]) == [(FIND, "tissues"), (PICK, "tissues")]
    assert texts(searched(CASE_2, 7).paths[0]) == [
        (FIND, "drawer"), (OPEN, "drawer"), (PUT, "card")
    ]  # fmt: skip


def test_a_missing_find_is_inserted_without_a_search():
    steps = plan((PICK, "card"), (FIND, "drawer"))
    found = diagnosed(steps, 1, "table")

    assert (found.t_start, found.t_end) == (1, 1)
    assert found.insert == Step(FIND, "CreditCard", "card")


def test_a_put_down_without_a_place_goes_where_the_plan_meant_it_to():
    steps = plan((FIND, "card"), (PICK, "card"), (FIND, "table"), (FIND, "knife"), (PUT, "card"))
    found = diagnosed(steps, 5)

    assert found.insert == Step(FIND, "DiningTable", "table")
    nowhere = diagnosed(plan((FIND, "card"), (PICK, "card"), (PUT, "card")), 3)
    assert nowhere.insert is None
    assert nowhere.needs_place


def test_a_need_that_never_held_leads_back_to_the_first_step():
    steps = plan((FIND, "card"), (FIND, "drawer"), (PUT, "card"))
    found = diagnosed(steps, 3)

    assert found.breaks == ()
    assert (found.t_source, found.t_start) == (1, 1)


def test_a_failure_without_an_unmet_need_is_one_of_the_environment():
    found = diagnosed(plan((FIND, "card"), (PICK, "card")), 2)

    assert found.kind == ENVIRONMENT


def test_a_child_may_not_cover_what_its_parent_did():
    steps = plan((PUT, "card"), (OPEN, "drawer"), (CLOSE, "drawer"), (FIND, "drawer"),
                 (FIND, "table"))  # fmt: skip
    beliefs = beliefs_of(HOUSE, PLACES, "drawer", (), 0)
    found = replace(diagnosed(steps, 1, "drawer"), items=frozenset({"drawer", "card"}))
    tree = search(GRAPH, beliefs[0], steps[1:], steps[0], found, (), ())

    followed = {
        (parent[2][0], child[2][0])
        for child in tree.rows
        for parent in tree.rows
        if child[1] == parent[0]
    }
    assert (FIND, FIND) not in followed
    assert (OPEN, CLOSE) not in followed
    assert tree.pruned["covered"] > 0
    assert tree.paths == []


def test_two_identical_steps_of_a_window_are_two_candidates():
    assert len(make_candidates(CASE_2[2:7], (), frozenset({"card"}))) == 4
    assert sum(one.step == CASE_2[3] for one in make_candidates(CASE_2[2:7], (), frozenset())) == 2


def test_find_is_the_only_preparation_and_is_found_from_the_graph():
    assert GRAPH.preparations == {FIND}
    assert GRAPH.prepared_by("agent.pos") == FIND
    assert GRAPH.prepared_by("agent.hold") == ""


def test_a_search_stops_at_its_limit_and_says_so():
    things = Kinds({f"thing{n}": "Book" for n in range(12)} | {"table": "DiningTable"})
    steps = [Step(FIND, "Book", f"thing{n}") for n in range(12)]
    steps += [Step(SLICE, "Book", f"thing{n}") for n in range(12)]
    beliefs = beliefs_of(things, {}, "table", (), 0)
    belief = beliefs[0]
    belief.set(("agent.hold", ""), "knife")
    things["knife"] = "Knife"
    found = diagnose(GRAPH, [Step(PICK, "Book", "thing0")], 1, [belief])
    tree = search(
        GRAPH, belief, steps, steps[0], found, (), (), max_nodes=2_000
    )  # fmt: skip

    assert tree.limited
    assert tree.nodes == 2_000
    assert len(tree.to_json()["nodes"]) <= 500 + 5 * 24
