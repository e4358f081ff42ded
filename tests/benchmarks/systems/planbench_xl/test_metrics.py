"""Figures of runs: numbers whose value is worked out by hand."""

import pytest

from benchmarks.core.types import Outcome
from benchmarks.systems.planbench_xl.labels import ENDINGS, MEASURES, explain
from benchmarks.systems.planbench_xl.metrics import (
    NAMES,
    evaluation_report,
    outcome_metrics,
    summarise,
)
from tests.benchmarks.systems.planbench_xl.stage import Stage


def figures(**given):
    plain = {
        "answer_correct": True,
        "datatype_check_passed": True,
        "evaluation_failure_reason_detail": None,
        "turn_count": 4,
        "search_turns": 2,
        "call_turns": 1,
        "search_to_call_ratio": 2.0,
        "invalid_tool_call_count": 0,
        "untrusted_input_rejection_count": 0,
        "combined_invalid_tool_call_count": 0,
        "noisy_tool_call_count": 0,
        "explored_datatype_count": 3,
        "executed_datatypes": ["a"],
        "executed_gt_datatype_precision": 1.0,
        "executed_gt_datatype_recall": 0.5,
    }
    return {**plain, **given}


def outcome(given, failure=None, **groups):
    payload = {"evaluation": given, "result": {"failure": failure}, "groups": groups}
    return Outcome("answered", *outcome_metrics(given), payload)


IDLE = figures(
    answer_correct=False,
    turn_count=2,
    search_turns=1,
    call_turns=0,
    search_to_call_ratio=None,
    explored_datatype_count=0,
    executed_datatypes=[],
    executed_gt_datatype_precision=None,
    executed_gt_datatype_recall=0.0,
)
LEFT_OUT = Outcome(
    "ambiguous_record", *outcome_metrics(None, "left out"), {"groups": {"paths": "1"}}
)


def test_undefined_is_undefined_with_its_reason():
    metrics, undefined = outcome_metrics(IDLE)

    assert metrics["precision"] is None
    assert metrics["recall"] == 0
    assert undefined == {
        "precision": "no reliable tool returned anything",
        "search_to_call": "no tool was called",
    }
    metrics, undefined = outcome_metrics(None, "left out")
    assert set(undefined) == set(NAMES) == set(metrics)


def test_denominators_and_exclusions():
    rows = [outcome(figures()), outcome(IDLE, "target_datatype_not_reached"), LEFT_OUT]
    found = summarise(rows)

    assert found["trajectories"] == 3
    accurate = found["metrics"]["accurate"]
    assert (accurate["value"], accurate["n"]) == (0.5, 2)
    assert accurate["excluded"] == {"left out": 1}
    assert found["metrics"]["precision"]["n"] == 1
    assert found["failures"] == {"success": 1, "target_datatype_not_reached": 1}
    # (4 + 2) / 2, 3 searches over 1 call
    assert found["aggregates"]["turns"] == {"mean_turn_count": 3.0, "total_turn_count": 6}
    assert found["aggregates"]["explore_exploit_balance"]["search_to_call_ratio"] == 3.0


def test_the_report_counts_what_it_leaves_out():
    report = evaluation_report({"a": outcome(figures()), "b": LEFT_OUT})

    assert (report["query_count"], report["evaluated_count"]) == (2, 1)
    assert report["unevaluated_count"] == 1
    assert report["metrics"]["accuracy"] == 1.0
    assert [row["query_id"] for row in report["per_query"]] == ["a"]


def test_noisy_calls():
    rows = [outcome(figures(noisy_tool_call_count=n, call_turns=4)) for n in (0, 2, 4)]
    found = summarise(rows)["aggregates"]["noisy_tool_call"]

    assert found == {
        "queries_with_noisy_tool_calls": 2,
        "noisy_tool_query_rate": pytest.approx(2 / 3),
        "total_noisy_tool_calls": 6,
        "mean_noisy_tool_calls_per_query": 2.0,
        "mean_noisy_tool_calls_given_any": 3.0,
        "noisy_tool_call_rate_among_tool_calls": 0.5,
    }


def test_nothing_comes_to_nothing():
    found = summarise([])
    assert found["metrics"]["accurate"]["value"] is None
    assert found["aggregates"]["accuracy"] is None
    assert found["aggregates"]["turns"]["mean_turn_count"] is None


def test_accuracy_by_group():
    rows = [outcome(figures(), paths="1"), outcome(IDLE, "x", paths="2"), LEFT_OUT]
    groups = summarise(rows)["accuracy_by_group"]["paths"]
    assert (groups["1"]["value"], groups["1"]["n"]) == (1.0, 1)
    assert groups["2"]["value"] == 0.0


def test_an_unused_given_value_is_no_ground_truth():
    """Two values are given; no path needs the plant, so finding all else is a recall of 1."""
    stage = Stage("voucher-of-two")
    stage.find("look_up_wilt_report_by_order_number")
    stage.answer("x")
    truth = stage.outcome.payload["evaluation"]
    tools = {name for path in stage.task.payload["paths"] for name in path}
    wanted = {
        one
        for name in tools
        for one in (*stage.world.tools[name].inputs, stage.world.tools[name].output)
    }
    assert "plant_code" not in wanted
    assert truth["executed_gt_datatype_recall"] == pytest.approx(1 / len(wanted))


class TestWords:
    def test_every_metric_has_words(self):
        assert set(MEASURES) == set(NAMES)

    def test_why_it_ended(self):
        stage = Stage()
        stage.answer("x")
        said = explain(stage.outcome, stage.settings)
        assert said.startswith("The agent gave a final answer. What was asked for was not found")
        assert "Premature answering" in said

    def test_every_ending_has_words(self):
        from benchmarks.systems.planbench_xl import episode
        from benchmarks.systems.planbench_xl.environment import query

        endings = {query.ANSWERED, query.AMBIGUOUS, episode.DECLINED, *query.DETAILS}
        assert endings == set(ENDINGS)
