"""Grounding, search and proofs beside a plain search through all states of small problems."""

import random

import pytest

from benchmarks.systems.acpbench_hard.pddl.grounding import Declined, ground
from benchmarks.systems.acpbench_hard.pddl.instance import read_instance
from benchmarks.systems.acpbench_hard.search import facts
from benchmarks.systems.acpbench_hard.search.optimal import Distances
from benchmarks.systems.acpbench_hard.search.plans import find_plan
from benchmarks.systems.acpbench_hard.search.result import Limits
from benchmarks.systems.acpbench_hard.search.space import Space
from tests.benchmarks.systems.acpbench_hard.brute_force import FAR, BruteForce
from tests.benchmarks.systems.acpbench_hard.domains import (
    SMALL,
    UNTYPED,
    exchange,
    house,
    tunnel,
    yard,
)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SMALL)
def test_small_problems_by_brute_force(name: str, seed: int) -> None:
    instance = read_instance(*SMALL[name](seed))
    plain, made = BruteForce(instance), ground(instance)
    rng = random.Random(seed)
    states = sorted(plain.after, key=sorted)
    distances = Distances(Space(made, made.goal)) if made.goal else None

    for state in rng.sample(states, min(12, len(states))):
        bits = made.state(state)
        assert set(made.applicable(bits)) == set(plain.applicable(state))
        for operator in made.operators:
            if operator.applicable(bits):
                assert operator.apply(bits) == made.state(plain.after[state][operator.name])
        shortest = plain.distance[state]
        assert distances is not None or shortest == FAR
        if distances is not None:
            here = distances.space.state(bits)
            for bound in {shortest - 1, shortest, shortest + 2} & set(range(60)):
                found = distances.within(here, bound)
                assert found.solved == (shortest <= bound)
            assert find_plan(distances.space, state=here).solved == (shortest < FAR)

    held = set().union(*plain.after)
    for atom in plain.atoms:
        assert facts.reach_atom(made, atom).solved == (atom in held), atom
    used = {action for actions in plain.after.values() for action in actions}
    sample = rng.sample(plain.actions, min(60, len(plain.actions)))
    for action in sample:
        assert facts.reach_action(made, action).solved == (action in used), action
    shown = rng.sample(plain.atoms, min(40, len(plain.atoms)))
    for atom in shown:
        assert facts.is_landmark(made, atom) == plain.is_landmark(atom), atom
    if plain.distance[instance.init] < FAR:
        assert all(map(plain.is_landmark, facts.relaxed_landmarks(made)))
    assert sorted(facts.all_atoms(instance)) == sorted(plain.atoms)
    assert sorted(facts.all_actions(instance)) == sorted(plain.actions)


@pytest.mark.parametrize("name", SMALL)
def test_plans_are_plans_and_as_short_as_they_are_said_to_be(name: str) -> None:
    for seed in range(2):
        instance = read_instance(*SMALL[name](seed))
        made, shortest = ground(instance), BruteForce(instance).distance[instance.init]
        found, best = facts.plan(made), facts.shortest_plan(made)
        assert found.solved is best.solved is (shortest < FAR)
        if found.plan is not None and best.plan is not None:
            assert not instance.fault_of_plan(found.plan)
            assert not instance.fault_of_plan(best.plan)
            assert len(best.plan) == shortest


def test_constants_alternatives_and_negation_on_a_walk() -> None:
    instance = read_instance(*house(5, 4, 1))
    plain, made = BruteForce(instance), ground(instance)
    rng = random.Random(1)
    state = instance.init
    for _ in range(25):
        assert set(made.applicable(made.state(state))) == set(plain.applicable(state))
        state = instance.apply(rng.choice(sorted(plain.applicable(state))), state)


def test_large_problems_are_solved() -> None:
    for texts in (exchange(8, 1), yard(4, 3, 2, 1), house(30, 20, 1)):
        instance = read_instance(*texts)
        best = facts.shortest_plan(ground(instance))
        assert best.plan is not None and not instance.fault_of_plan(best.plan)


def test_a_search_gives_up_within_its_limits() -> None:
    made = ground(read_instance(*tunnel(4, 5, 1)))
    few = Limits(nodes=300)
    best = facts.shortest_plan(made, few)
    assert (best.outcome, best.solved, best.plan) == ("gave_up", None, None)
    assert best.nodes < 3_000
    again = facts.plan(made, few)
    assert again == facts.plan(made, few) and again.outcome == "gave_up"
    with pytest.raises(Declined, match="more than 50 ground actions"):
        ground(made.instance, operators=50)
    with pytest.raises(Declined, match="more than 100 steps"):
        ground(made.instance, steps=100)


def test_interchangeable_objects_have_one_key() -> None:
    objects = " ".join(f"t{n}" for n in range(6))
    text = f"(define (problem p) (:domain untyped) (:objects r0 r1 {objects}) (:init (room r0)"
    text += " (room r1) (me r0) (empty) " + " ".join(f"(thing t{n}) (in t{n} r0)" for n in range(6))
    text += ") (:goal (and (in t0 r1) (in t1 r1) (in t2 r1))))"
    made = ground(read_instance(UNTYPED, text))
    space = Space(made, made.goal)
    assert [len(starts) for _, starts in space.classes] == [3, 3]
    keys = {
        space.key(space.init ^ space.state(made.state([("in", f"t{n}", "r0")]))) for n in range(3)
    }
    assert len(keys) == 1
