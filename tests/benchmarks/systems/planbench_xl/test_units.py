"""Single functions against values of the reference runtime."""

import pytest

from benchmarks.systems.planbench_xl.environment.actions import (
    ANSWER,
    CALL,
    RETRIEVE,
    parse_tagged,
    read_call,
    read_request,
)
from benchmarks.systems.planbench_xl.environment.blockers import Rules, plan_for
from benchmarks.systems.planbench_xl.environment.retrieval import (
    RequestRefused,
    check_request,
    with_siblings,
)
from benchmarks.systems.planbench_xl.environment.tools import execute
from benchmarks.systems.planbench_xl.environment.values import is_correct, normalise
from benchmarks.systems.planbench_xl.settings import CONDITIONS, resolve
from tests.benchmarks.systems.planbench_xl import slice

TIE = 1e-9


def test_parse():
    cases = slice.units("parse")
    assert len(cases) == 25
    for case in cases:
        read = parse_tagged(case["text"], {})
        if case["action"] is None:
            assert read["kind"] == "label_error", case
            continue
        assert (read["kind"], read["content"]) == (case["action"], case["content"])
        if read["kind"] != ANSWER:
            well_formed = {RETRIEVE: read_request, CALL: read_call}[read["kind"]](read["content"])
            assert (well_formed is not None) == case["json_ok"], case


def test_request():
    for case in slice.units("request"):
        if case["ok"]:
            assert check_request(case["request"], "retail") == case["normalized"]
            continue
        with pytest.raises(RequestRefused) as refused:
            check_request(case["request"], "retail")
        assert refused.value.code == case["code"]


def test_judge():
    for case in slice.units("judge"):
        assert is_correct(case["expected"], case["answer"]) == case["correct"], case
        assert normalise(case["answer"]) == case["normalized"]


def test_phrase_to_datatype():
    matcher = slice.world().matcher
    for case in slice.units("phrase_to_datatype"):
        match = matcher.match(case["phrase"])
        assert match.score == pytest.approx(case["score"], abs=1e-6)
        assert match.gap == pytest.approx(case["gap"], abs=1e-6)
        if case["gap"] >= TIE:
            assert match.name == case["datatype"], case


def test_noisy_siblings():
    world = slice.world()
    for case in slice.units("noisy_siblings"):
        primaries = [world.tools[name] for name in case["primaries"]]
        found = with_siblings(world, primaries, case["max_total_tools"])
        assert [tool.name for tool in found] == case["result"]


def rules_of(config):
    """The reference's names for what plans are drawn by, as ours."""
    types = config["fixed_noise_types"] or [config["fixed_noise_type"]]
    return Rules(
        selection=config["selection_mode"],
        block_paths=config["block_n_per_task"] or 0,
        remaining_paths=config["target_remaining_paths"] or 0,
        remaining_ratio=config["target_remaining_ratio"],
        tolerance=config["remaining_tolerance"],
        min_remaining=config["min_remaining_paths"],
        length_objective=config["remaining_path_length_objective"],
        tools_objective=config["blocking_edge_count_objective"],
        seed=config["seed"],
        noise_mode=config["noise_mode"],
        noise_types=tuple(types),
        noise_count=config["multi_noise_count"],
        max_candidates=config["max_combo_candidates"],
        max_tools=config["max_cover_size"],
    )


def test_blocker_plans():
    tasks = {task.payload["task_id"]: task for task in slice.dataset().tasks}
    checked = 0
    for name, unit in slice.units("blocker_plans").items():
        rules = rules_of(unit["config"])
        for case in unit["tasks"]:
            paths = tuple(map(tuple, tasks[case["task_id"]].payload["paths"]))
            plan = plan_for(case["task_id"], paths, rules)
            assert plan.resolved == (case["status"] == "success"), (name, case)
            assert plan.tools == tuple(case["blocked_tools"]), (name, case)
            assert plan.noise == tuple(map(tuple, case["noise_types"])), (name, case)
            assert plan.paths == tuple(case["blocked_paths"])
            assert len(paths) == case["paths"]
            checked += 1
            if plan.resolved:
                facts = (plan.candidates, plan.truncated, plan.pool, plan.pick)
                wanted = ("candidates", "truncated", "pool", "pick")
                assert facts == tuple(case[key] for key in wanted), (name, case)
                assert plan.remaining_mean == pytest.approx(case["remaining_mean_steps"])
    assert checked == 14 * 20


def test_the_conditions_are_the_paper_s_configurations():
    plans = slice.units("blocker_plans")
    for name in CONDITIONS:
        rules = resolve({"condition": name}).rules
        if name == "default":
            assert rules is None
            continue
        # feedback draws the plans of blocker
        config = plans["blocker" if name == "feedback" else name]["config"]
        wanted = rules_of(config)
        for knob in ("selection", "tolerance", "min_remaining", "length_objective", "seed",
                     "tools_objective", "noise_mode", "max_candidates", "max_tools"):  # fmt: skip
            assert getattr(rules, knob) == getattr(wanted, knob), (name, knob)
        assert rules.noise_types == wanted.noise_types
        if rules.selection == "target_remaining_ratio":
            assert rules.remaining_ratio == wanted.remaining_ratio
        else:
            assert rules.remaining_paths == wanted.remaining_paths


def test_executor():
    world = slice.world()
    for case in slice.units("executor"):
        result = execute(world, world.tools[case["tool"]], case["arguments"])
        assert (result.value, result.provenance) == (case["value"], case["provenance"]), case
        if "source" in case:
            assert (result.source, result.success) == (case["source"], case["success"])
