"""The scripted agents on the small world: how each of them fares, and why."""

from dataclasses import replace
from functools import cache

import pytest

from benchmarks.systems.planbench_xl.demo import DEMO
from benchmarks.systems.planbench_xl.environment.catalogue import world_of
from benchmarks.systems.planbench_xl.scripted import given_values
from benchmarks.systems.planbench_xl.settings import CONDITIONS
from benchmarks.systems.planbench_xl.system import SYSTEM
from benchmarks.systems.planbench_xl.world import load_world
from tests.benchmarks.systems.planbench_xl import slice
from tests.benchmarks.systems.planbench_xl.stage import run


@cache
def figures(name, condition, calling="tags"):
    outcomes = [run(name, t, condition=condition, calling=calling) for t in load_world().tasks]
    return SYSTEM.summarise(outcomes)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_who_knows_the_paths_finds_a_surviving_one(condition):
    found = figures("path-follower", condition)
    assert found["metrics"]["accurate"]["value"] == 1.0
    assert found["metrics"]["noisy_calls"]["sum"] == 0
    assert found["metrics"]["combined_invalid"]["sum"] == 0


def test_who_calls_everything_needs_more_steps():
    walked, explored = figures("path-follower", "default"), figures("breadth-first", "default")
    assert explored["metrics"]["accurate"]["value"] == 1.0
    assert explored["metrics"]["turns"]["value"] > 2 * walked["metrics"]["turns"]["value"]
    assert explored["metrics"]["precision"]["value"] < 1.0


def test_who_believes_everything_adopts_noise():
    found = figures("gullible", "default")
    assert found["metrics"]["accurate"]["value"] < 0.5
    assert found["metrics"]["noisy_calls"]["value"] > 1
    assert found["failure_categories"]["noisy_response_adopted"] >= 1


def test_who_is_clumsy_makes_mistakes_and_mostly_recovers():
    found, walked = figures("clumsy", "default"), figures("path-follower", "default")
    assert found["metrics"]["turns"]["value"] > walked["metrics"]["turns"]["value"]
    assert found["metrics"]["invalid_calls"]["sum"] > 0
    assert 0.4 < found["metrics"]["accurate"]["value"] < 1.0


def test_who_wanders_answers_with_what_lies_on_no_path():
    found = figures("wanderer", "default")
    assert found["metrics"]["accurate"]["value"] == 0.0
    assert found["failure_categories"]["irrecoverable_drift"] >= 12


def test_who_takes_a_value_for_another_is_refused_until_the_query_is_closed():
    """As in Figures 14 and 18 of the paper: one data type is taken for another one."""
    for condition in ("default", "blocker"):
        closed = figures("mislabeller", condition)
        assert closed["failure_categories"] == {"format_error": 15}
        assert closed["metrics"]["invalid_calls"]["sum"] == 45


def test_the_demo_shows_a_case_of_each_figure_of_failure():
    """Figures 11, 12 and 16 need an agent that wanders, and few replies."""
    *_, short = DEMO[0].runs
    seen = set()
    for name in short.agents:
        for task in load_world().tasks:
            outcome = run(name, task, **short.settings)
            seen.add((outcome.payload.get("failure_category"), outcome.termination))
    assert len(SYSTEM.faults.cases) == 6
    for case in SYSTEM.faults.cases:
        assert any(fault == case.fault and case.ending in ("", end) for fault, end in seen), case


@pytest.mark.parametrize(
    "name", ["path-follower", "breadth-first", "gullible", "wanderer", "mislabeller"]
)
def test_native_calls_come_to_the_same(name):
    assert figures(name, "blocker", "native") == figures(name, "blocker")


def test_every_agent_ends_within_the_steps():
    for name in SYSTEM.scripted:
        for condition in ("default", "feedback"):
            assert "max_steps" not in figures(name, condition)["terminations"]


def test_what_a_question_gives_is_found_in_it():
    dataset = load_world()
    world = world_of(dataset.shared)
    for task in dataset.tasks:
        given = given_values(task, world)
        assert list(given) == task.payload["input_datatypes"]
        assert all(str(value) in task.prompt for value in given.values())


def test_the_published_part_is_solved_under_every_condition():
    """Real questions: the path follower must understand what each of them gives."""
    for condition in CONDITIONS:
        for task in slice.dataset().tasks:
            outcome = run("path-follower", task, condition=condition)
            assert outcome.metrics["accurate"] == 1.0, (condition, task.id)


def _unordered(value):
    """JSON as a store gives it back that sorts the fields of objects its own way."""
    if isinstance(value, dict):
        fields = sorted(value.items(), key=lambda item: (len(item[0]), item[0]), reverse=True)
        return {key: _unordered(inner) for key, inner in fields}
    return [_unordered(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", SYSTEM.scripted)
def test_the_order_of_fields_in_a_store_changes_nothing(name):
    shared = {**_unordered(load_world().shared), "checksum": "the same in another order"}
    for task in load_world().tasks:
        stored = replace(task, shared=shared, payload=_unordered(task.payload))
        assert run(name, stored, condition="blocker") == run(name, task, condition="blocker")


def _in_prose(task, given):
    """Return the task with other values in its question: it gives them as these texts."""
    prompt = task.prompt
    for value in given_values(task, world_of(task.shared)).values():
        prompt = prompt.replace(str(value), "")
    prompt += " " + " ".join(given.values())
    payload = {**task.payload, "input_datatypes": list(given), "input_values": {}}
    return replace(task, prompt=prompt, payload=payload)


@pytest.mark.parametrize(
    ("value", "text"),
    [("2026-04-13T03:59:00Z", "at 2026-04-13 03:59 UTC"), (1240.5, "for $1,240.50"),
     (106.2, "for 106.20"), ("2026-04-13", "on 2026-04-13"), ("Black", "the black one")],
)  # fmt: skip
def test_values_are_read_from_prose(value, text):
    task = load_world().tasks[0]
    world = world_of(task.shared)
    name = task.payload["input_datatypes"][0]
    rows = ({**world.rows[0], name: value}, {**world.rows[1], name: "else"})
    asked = _in_prose(task, {name: text})
    assert given_values(asked, replace(world, rows=rows)) == {name: value}


@pytest.mark.parametrize("name", SYSTEM.scripted)
def test_who_cannot_read_a_value_gives_up(name):
    for task in load_world().tasks:
        first = task.payload["input_datatypes"][0]
        outcome = run(name, _in_prose(task, {first: "a value in words of its own"}))
        assert outcome.metrics["accurate"] is not None
