"""MacGyver problems as tasks: profiles that spare goal and reference, pools, and what is kept."""

import json
import random
from functools import cache

import pytest

from benchmarks.core.digests import canonical_json
from benchmarks.core.plans import normal_words, number_steps, pool_of
from benchmarks.core.types import Profile, Task
from benchmarks.systems.adaplanbench.macgyver.answers import read_answer
from benchmarks.systems.adaplanbench.macgyver.build import build_task, dataset_checksum, theme_of
from benchmarks.systems.adaplanbench.macgyver.constraints import (
    derive_profiles,
    goal_of,
    named_in,
    needed_by,
)
from benchmarks.systems.adaplanbench.macgyver.reader import (
    MacGyverProblem,
    RecordedAnswer,
    read_macgyver_problems,
)
from benchmarks.systems.adaplanbench.macgyver.vocabulary import load_lexicon
from tests.benchmarks.systems.adaplanbench.macgyver_problems import ANSWERS, ENTRY, QUERY
from tests.shared_data import shared_data

Built = tuple[Task, tuple[Profile, ...]]


@cache
def real() -> tuple[Built, ...]:
    entries = read_macgyver_problems(
        shared_data("macgyver", "problem_solution_pair.slice.xlsx"),
        shared_data("macgyver", "benchmark_results.slice.json"),
    )
    return tuple(build_task(entry, recorded) for entry, recorded in entries)


def test_a_riddle_becomes_a_task_with_its_pool() -> None:
    task, profiles = build_task(ENTRY, ANSWERS)
    assert (task.id, task.prompt) == ("macgyver-17", QUERY)
    assert [profile.level for profile in profiles] == ["low", "mid", "high"]
    plans = pool_of(task)
    assert [(plan.key, plan.author, plan.verdict) for plan in plans] == [
        ("solutions-gpt4-1", "solutions_gpt4", "correct_efficient / wrong_partial_correct"),
        ("gpt4-prompt-2-1", "gpt4-prompt-2", "correct_inefficient"),
        ("prolific-1", "Prolific", "correct_efficient"),
        ("solutions-bard-1", "solutions_bard", "wrong_entire_wrong_solution"),
    ]
    assert plans[0].steps == ("Tape the rope to the rake.", "Lift the kite off.")
    assert set(plans[0].tools) >= {"rope", "rake", "duct tape"}
    assert {"kitchen knife", "ladder"} <= set(plans[1].tools)
    assert {"cutting things up", "climbing up"} <= set(plans[1].attributes)


def test_answers_that_are_no_plans_are_kept_and_counted() -> None:
    payload = build_task(ENTRY, ANSWERS)[0].payload
    assert payload["counts"] == {
        "answers": 8, "plans": 4, "unsolvable": 2, "empty": 1, "merged": 1,
    }  # fmt: skip
    assert [(row["author"], row["kind"]) for row in payload["others"]] == [
        ("gpt4-prompt-3", "unsolvable"),
        ("Prolific", "unsolvable"),
        ("Prolific", "empty"),
    ]
    assert payload["others"][1]["verdict"] == "wrong_fail_solvability_status"
    assert payload["problem"] == ENTRY.problem
    assert (payload["solvable"], payload["label"]) == (True, "efficient")
    assert payload["reference"] == "solution"
    assert payload["listed"][:2] == ["ladder", "rake"]


def test_levels_contain_the_levels_below() -> None:
    _, (low, mid, high) = build_task(ENTRY, ANSWERS)
    assert low.constraints == mid.constraints[: len(low.constraints)]
    assert mid.constraints == high.constraints[: len(mid.constraints)]


def test_neither_goal_nor_reference_is_restricted() -> None:
    task, profiles = build_task(ENTRY, ANSWERS)
    spared = {f"tool:{name}" for name in ("rope", "rake", "duct tape", "tape", "paper", "kite")}
    spared |= {"attribute:sticky adhesive", "attribute:using toys or sports things"}
    assert spared.isdisjoint(c.about for c in profiles[-1].constraints)
    abouts = {c.about for c in profiles[-1].constraints}
    assert {"tool:ladder", "tool:kitchen knife", "tool:tennis ball", "tool:towel"} <= abouts


def test_a_constraint_names_what_it_is_about() -> None:
    constraints = build_task(ENTRY, ANSWERS)[1][-1].constraints
    texts = [constraint.text for constraint in constraints]
    assert len(set(texts)) == len(texts)
    for constraint in constraints:
        if constraint.kind == "world":
            assert constraint.about.removeprefix("tool:") in constraint.text


def test_the_same_input_gives_the_same_task_and_another_seed_another_one() -> None:
    assert build_task(ENTRY, ANSWERS) == build_task(ENTRY, ANSWERS)
    assert build_task(ENTRY, ANSWERS, 2)[1] != build_task(ENTRY, ANSWERS)[1]
    assert dataset_checksum("a", 1) != dataset_checksum("a", 2) != dataset_checksum("b", 2)


def test_a_riddle_without_answers_has_an_empty_pool() -> None:
    task, profiles = build_task(ENTRY, ())
    assert pool_of(task) == ()
    assert profiles[0].of_kind("world")


def test_where_the_reference_gives_up_a_plan_stands_in() -> None:
    hopeless = ENTRY._replace(solution="It is not possible.")
    assert build_task(hopeless, ANSWERS)[0].payload["reference"] == "prolific-1"
    task, profiles = build_task(hopeless, ANSWERS)
    kept = next(plan for plan in pool_of(task) if plan.key == "prolific-1")
    assert not any(kept.uses(c.about) for c in profiles[-1].constraints)
    none = build_task(hopeless, (RecordedAnswer("Prolific", "", "Unsolvable."),))[0]
    assert none.payload["reference"] == ""


def test_themes_come_from_the_words_of_the_query() -> None:
    assert theme_of("How do you bail the rainwater out of the flooded hut?") == (
        "rain, leaks and floods"
    )
    assert theme_of("How do you do this?") == "other"
    assert "water" in goal_of("How can you water the roses?", "garden and plants").tools


def test_layout_makes_no_other_answer() -> None:
    assert normal_words("1. Take it.\n2. Go!") == normal_words("take it go")
    assert normal_words("Take 2 cups") != normal_words("Take 3 cups")


BACON = MacGyverProblem(
    21,
    "You want bacon pasta for supper but your only pan has no handle. Tools available: butter, a "
    "kettle, a sock, tongs and a newspaper. How can you cook the bacon pasta using these items?",
    True,
    "unconventional",
    "Step1: Hold the pan with the tongs.<br>\nStep2: Stir with the tongs.",
    "efficient",
)
BOAT = MacGyverProblem(
    22,
    "The engine of your boat has failed and you drift on the lake. Tools available: a sponge, a "
    "bucket, water, a rope and a towel. How can you bring the boat ashore using these items?",
    True,
    "unconventional",
    "Step1: Paddle with your hands.",
    "efficient",
)


@pytest.mark.parametrize(
    ("entry", "answer", "about", "word"),
    [
        (BACON, "1. Grease the pan with cooking oil.", "attribute:greasy substance", "bacon"),
        (BACON, "1. Boil water in the kettle and heat the pan.", "attribute:strong heat", "bacon"),
        (BOAT, "1. Soak the sponge.\n2. Wet the towel.", "attribute:wetting things", "boat"),
        (BOAT, "1. Scoop the water with the bucket.", "tool:water", "boat"),
    ],
)
def test_a_constraint_that_the_task_cannot_do_without_is_left_out_and_named(
    entry: MacGyverProblem, answer: str, about: str, word: str
) -> None:
    recorded = (
        RecordedAnswer("m", "", answer),
        RecordedAnswer("n", "", "1. Wind the rope round a sock."),
    )
    task, profiles = build_task(entry, recorded)
    assert about not in {c.about for c in profiles[-1].constraints}
    needed = needed_by(task.prompt)
    assert needed[about] == word
    plans, listed = pool_of(task), task.payload["listed"]
    derived = derive_profiles(plans, listed, [], random.Random(1), {about: word})
    assert derived.contradictory == {about: word}
    assert about not in {c.about for level in derived.profiles for c in level.constraints}
    without = [derive_profiles(plans, listed, [], random.Random(seed), {}) for seed in range(20)]
    assert any(about in {c.about for c in one.profiles[-1].constraints} for one in without)


def test_what_is_left_out_is_told_with_the_task() -> None:
    recorded = (RecordedAnswer("m", "", "1. Soak the sponge.\n2. Wet the towel and wave it."),)
    task, profiles = build_task(BOAT, recorded)
    assert task.payload["contradictory"]["tool:water"] == "boat"
    assert {c.about for c in profiles[-1].constraints} & {"tool:sponge", "tool:towel"}


class TestOnTheRealSlice:
    def test_no_profile_contradicts_its_task(self) -> None:
        for task, profiles in real():
            needed = needed_by(task.prompt)
            assert not needed.keys() & {c.about for c in profiles[-1].constraints}, task.id
            assert task.payload["contradictory"].items() <= needed.items()
        assert sum(len(task.payload["contradictory"]) for task, _ in real()) > 10

    def test_every_task_is_sound(self) -> None:
        ids = [task.id for task, _ in real()]
        assert len(ids) == len(set(ids)) == 120
        for task, profiles in real():
            canonical_json(task.payload)
            assert json.loads(json.dumps(task.payload)) == task.payload
            assert task.category
            keys = [plan.key for plan in pool_of(task)]
            assert len(keys) == len(set(keys))
            for profile in profiles:
                names = [c.key for c in profile.constraints]
                assert len(names) == len(set(names))

    def test_profiles_grow_and_mostly_bite(self) -> None:
        sizes = [[len(profile.constraints) for profile in profiles] for _, profiles in real()]
        assert all(low <= mid <= high for low, mid, high in sizes)
        means = [sum(column) / len(column) for column in zip(*sizes, strict=True)]
        # at high the mean was above 7 before what a task needs was left out
        assert means[0] > 4 and means[1] > 6 and means[2] > 6.5
        met = []
        for task, profiles in real():
            for constraint in profiles[1].constraints:
                met.append(any(plan.uses(constraint.about) for plan in pool_of(task)))
        assert sum(met) / len(met) > 0.85

    def test_nothing_spared_is_restricted(self) -> None:
        for task, profiles in real():
            spared = [goal_of(task.prompt, task.category)]
            if task.payload["reference"] == "solution":
                steps = number_steps(read_answer(task.payload["solution"]).steps)
                spared.append(named_in(steps, task.payload["listed"]))
            abouts = {constraint.about for constraint in profiles[-1].constraints}
            for named in spared:
                assert abouts.isdisjoint(f"tool:{name}" for name in named.tools), task.id
                assert abouts.isdisjoint(f"attribute:{n}" for n in named.attributes), task.id

    def test_the_reference_violates_nothing(self) -> None:
        by_text = 0
        for task, profiles in real():
            plans = {plan.key: plan for plan in pool_of(task)}
            if (key := task.payload["reference"]) in plans:
                plan = plans[key]
                assert not any(plan.uses(c.about) for c in profiles[-1].constraints)
                by_text += 1
        assert by_text >= 5

    def test_what_answers_say_adds_up(self) -> None:
        counts = [task.payload["counts"] for task, _ in real()]
        total = {key: sum(count[key] for count in counts) for key in counts[0]}
        assert total["answers"] == 1740
        assert total["answers"] == sum(value for key, value in total.items() if key != "answers")
        assert total["plans"] > 1250

    def test_constraints_are_in_the_lexicon(self) -> None:
        lexicon = load_lexicon()
        attributes = {attribute.name for attribute in lexicon.attributes.values()}
        for _, profiles in real():
            for constraint in profiles[-1].constraints:
                kind, _, name = constraint.about.partition(":")
                assert name in (lexicon.tools if kind == "tool" else attributes)
