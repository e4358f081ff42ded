"""The runtime's rules, one by one, on the small world."""

import json

import pytest

from benchmarks.core.types import Reply
from benchmarks.systems.planbench_xl.environment.actions import call_text
from tests.benchmarks.systems.planbench_xl.stage import Stage, task_named, with_payload

NOTHING = "I am thinking."
ORDER_ROW = "look_up_order_row_by_wish_entry"


def test_a_path_to_the_right_answer():
    stage = Stage()
    value = stage.follow()
    turn = stage.answer(f"It was **{value}**.")

    assert value == stage.task.payload["correct_answer"]
    assert turn.payload["category"] == "answer_end"
    assert stage.outcome.termination == "answered"
    assert stage.outcome.metrics["accurate"] == 1
    assert stage.outcome.payload["failure_category"] is None
    assert stage.outcome.payload["result"]["status"] == "success"


def test_the_opening_tells_query_budget_and_actions_and_no_data_type():
    stage = Stage(max_steps=17)
    system, query = stage.ask.messages

    assert query.text == stage.task.prompt
    assert "17 replies" in system.text
    for tag in ("retrieve_tools", "tool_call", "final_answer"):
        assert f"<{tag}>" in system.text
    assert stage.ask.context["steps_left"] == 17
    assert stage.ask.context["tools"] == []


def test_what_the_agent_sees_of_tools():
    """Neither data types nor kinds of tool, nor what a tool gives."""
    stage = Stage()
    turn = stage.search(output="order row")
    listed = turn.feedback[turn.feedback.index("[") :]
    shown = json.loads(listed)

    assert [tool["name"] for tool in shown] == turn.payload["tools"]
    assert {frozenset(tool) for tool in shown} == {
        frozenset({"type", "name", "description", "parameters", "strict"})
    }
    for hidden in ("baseline", "noisy_misleading", "output_datatype", "stale"):
        assert hidden not in turn.feedback


def test_the_same_search_shows_the_same_list():
    stage = Stage()
    first, second = (stage.search(output="order number").payload["tools"] for _ in range(2))

    assert first == second
    assert Stage("depot-of-entry").search(output="order number").payload["tools"] != first


def test_at_most_thirty_tools_and_no_limit():
    stage = Stage()
    assert stage.search(output="order number").payload["tool_count"] == 30
    stage = Stage(max_total_tools=0)
    # five tools, five siblings each
    assert stage.search(output="order number").payload["tool_count"] == 30
    stage = Stage(max_total_tools=7)
    assert stage.search(output="order number").payload["tool_count"] == 7
    stage = Stage(max_total_tools=2)
    assert stage.search(output="order number").payload["tool_count"] == 5
    stage = Stage(noise=False)
    assert stage.search(output="order number").payload["tool_count"] == 5


class TestLimits:
    def test_label_errors_in_a_row(self):
        stage = Stage()
        turns = [stage.say(NOTHING) for _ in range(3)]

        assert [t.payload["attempt"] for t in turns] == [1, 2, 3]
        assert "1 of 3" in turns[0].feedback
        assert stage.outcome.termination == "label_errors"
        assert stage.outcome.payload["result"]["failure"] == "exceeded_max_label_errors"
        assert stage.outcome.payload["failure_category"] == "format_error"

    def test_any_valid_tag_resets_label_errors(self):
        stage = Stage()
        for _ in range(4):
            stage.say(NOTHING)
            stage.say(NOTHING)
            stage.search(output="order")
        assert stage.outcome is None

    def test_even_a_tag_whose_content_is_refused(self):
        stage = Stage()
        stage.say(NOTHING)
        stage.say(NOTHING)
        stage.say("<tool_call>nonsense</tool_call>")
        assert stage.say(NOTHING).payload["attempt"] == 1

    def test_failed_searches_count_across_other_actions(self):
        """As in the reference: only a search that ran sets the count back."""
        stage = Stage()
        stage.follow()
        for _ in range(2):
            stage.say("<retrieve_tools>[]</retrieve_tools>")
            stage.find(ORDER_ROW)
        for _ in range(2):
            stage.say('<retrieve_tools>{"meta_tool": "by_magic"}</retrieve_tools>')
            stage.call(ORDER_ROW, wish_entry=stage.given["wish_entry"])
        assert stage.outcome is None
        stage.say('<retrieve_tools>{"meta_tool": "by_magic"}</retrieve_tools>')
        assert stage.outcome.termination == "retrieval_errors"

    def test_failed_searches_forgiven_by_any_action(self):
        stage = Stage(errors_reset="any_action")
        stage.follow()
        for _ in range(4):
            stage.say('<retrieve_tools>{"meta_tool": "by_magic"}</retrieve_tools>')
            stage.call(ORDER_ROW, wish_entry=stage.given["wish_entry"])
        assert stage.outcome is None

    def test_refused_calls(self):
        stage = Stage()
        stage.search(output="order row")
        stage.call("nobody")
        stage.search(output="order number")
        stage.call(ORDER_ROW)
        stage.say("<tool_call>{}</tool_call>")

        assert stage.outcome.termination == "call_errors"
        assert stage.outcome.payload["evaluation"]["invalid_tool_call_count"] == 3

    def test_a_call_that_finds_nothing_resets(self):
        stage = Stage()
        stage.search(output="order row")
        for _ in range(4):
            stage.call("nobody")
            stage.call("nobody")
            turn = stage.call(ORDER_ROW, wish_entry="WE-0")
            assert turn.payload["category"] == "tool_no_result"
        assert stage.outcome is None

    def test_the_step_limit(self):
        stage = Stage(max_steps=2)
        stage.search(output="order")
        assert stage.outcome is None
        stage.search(output="order")
        assert stage.outcome.termination == "max_steps"
        assert stage.outcome.metrics["turns"] == 2

    def test_an_error_limit_on_the_last_step_comes_first(self):
        stage = Stage(max_steps=3)
        for _ in range(3):
            stage.say(NOTHING)
        assert stage.outcome.termination == "label_errors"

    def test_an_answer_on_the_last_step_counts(self):
        stage = Stage(max_steps=1)
        stage.answer("x")
        assert stage.outcome.termination == "answered"


class TestCalls:
    def test_undiscovered_before_arguments_before_inputs(self):
        stage = Stage(max_call_errors=9)
        assert stage.call("look_up_plant_code_by_order_row").payload["category"] == (
            "err_call_unavailable"
        )
        stage.search(output="plant code")
        turn = stage.call("look_up_plant_code_by_order_row", row=1)
        assert turn.payload["category"] == "err_call_arguments"
        turn = stage.call("look_up_plant_code_by_order_row", order_row="OR-1")
        assert turn.payload["category"] == "err_call_inputs"
        assert (turn.payload["why"], turn.payload["missing"]) == (
            "missing_required_input",
            ["order_row"],
        )

    def test_noisy_tools_leave_nothing_to_hold(self):
        stage = Stage()
        stage.search(output="order row")
        name = f"{ORDER_ROW}_snapshot"
        (surface,) = stage.world.tools[name].arguments
        turn = stage.call(name, **{surface: "whatever"})

        assert (turn.payload["provenance"], turn.payload["source"]) == ("untrusted", "noisy")
        assert turn.payload["gained"] == []
        stage.search(output="plant code")
        turn = stage.call("look_up_plant_code_by_order_row", order_row=turn.payload["value"])
        assert turn.payload["why"] == "untrusted_input_rejected"
        stage.answer("?")
        figures = stage.outcome.payload["evaluation"]
        assert figures["untrusted_input_rejection_count"] == 1
        assert figures["invalid_tool_call_count"] == 0
        assert figures["noisy_tool_call_count"] == 1

    def test_noise_that_owns_up_is_shown_as_an_error(self):
        stage = Stage()
        stage.search(output="order row")
        for ending, success in (("retired", False), ("partners", False), ("snapshot", True)):
            name = f"{ORDER_ROW}_{ending}"
            (surface,) = stage.world.tools[name].arguments
            turn = stage.call(name, **{surface: "x"})
            assert turn.payload["shown_success"] is success
            assert f"Success: {str(success).lower()}" in turn.feedback

    def test_a_value_that_is_null_is_the_description(self):
        task = task_named("voucher-of-two")
        given = [*task.payload["input_datatypes"], "pot_size"]
        stage = Stage(task=with_payload(task, input_datatypes=given), max_total_tools=0)
        stage.search(output="order row")
        name = "look_up_order_row_by_order_number_and_plant_code_and_pot_size_guess"
        tool = stage.world.tools[name]
        assert tool.value is None

        turn = stage.call(name, **dict.fromkeys(tool.arguments, "x"))
        assert turn.payload["value"] == tool.description

    def test_trust_is_by_data_type(self):
        """An invented value of a data type that is held is looked up; by value it is refused."""
        other = {"wish_entry": task_named("depot-of-entry").prompt.split("`")[1]}
        stage = Stage()
        stage.search(output="order row")
        assert stage.call(ORDER_ROW, **other).payload["provenance"] == "trusted"

        stage = Stage(trust="value")
        stage.search(output="order row")
        assert stage.call(ORDER_ROW, **other).payload["why"] == "untrusted_input_rejected"
        assert stage.call(ORDER_ROW, **stage.given).payload["provenance"] == "trusted"

    def test_values_are_compared_as_texts(self):
        stage = Stage()
        stage.search(output="order row")
        for wrong in ("true", "null", "12741", '["WEY-12741"]', '{"a": 1}', "NaN"):
            arguments = f'{{"wish_entry": {wrong}}}'
            call = f'{{"name": "{ORDER_ROW}", "arguments": {arguments}}}'
            turn = stage.say(f"<tool_call>{call}</tool_call>")
            assert turn.payload["category"] == "tool_no_result"


class TestAmbiguousRecords:
    """A missing value fits every record that lacks it."""

    def test_nothing_is_found_where_what_is_asked_is_missing_too(self):
        task = with_payload(task_named("state-of-bill"), input_datatypes=["wilt_report"])
        stage = Stage(task=task)
        stage.search(output="wilt state")
        turn = stage.call("look_up_wilt_state_by_wilt_report", wilt_report=None)
        assert turn.payload["category"] == "tool_no_result"

    @pytest.mark.parametrize("given", [None, "None"])
    def test_the_query_is_left_out(self, given):
        task = with_payload(task_named("arrival-of-voucher"), target_datatype="order_number")
        stage = Stage(task=task)
        stage.search(output="order number")
        stage.call("look_up_order_number_by_seed_voucher", seed_voucher=given)

        outcome = stage.outcome
        assert outcome.termination == "ambiguous_record"
        assert outcome.metrics["accurate"] is None
        assert "different values" in outcome.undefined["accurate"]

    def test_or_nothing_is_found(self):
        stage = Stage("arrival-of-voucher", ambiguous_record="no_result")
        stage.search(output="order number")
        turn = stage.call("look_up_order_number_by_seed_voucher", seed_voucher=None)
        assert turn.payload["category"] == "tool_no_result"
        assert stage.outcome is None


class TestAnswers:
    def test_a_right_answer_that_was_not_found_out_fails(self):
        stage = Stage()
        turn = stage.answer(stage.task.payload["correct_answer"])

        assert turn.payload["correct"]
        assert not turn.payload["reached"]
        assert stage.outcome.metrics["accurate"] == 0
        result = stage.outcome.payload["result"]
        assert result["failure"] == "target_datatype_not_reached"

    def test_a_wrong_answer_with_the_target_in_hand(self):
        stage = Stage()
        stage.follow()
        stage.answer("somebody else")

        assert stage.outcome.payload["result"]["failure"] == "final_answer_wrong"
        assert stage.outcome.payload["failure_category"] == "misreported_answer"

    def spoilt(self, **settings):
        """The right value, said by a noisy tool as well."""
        stage = Stage(**settings)
        value = stage.follow()
        for tool in stage.world.tools.values():
            if tool.output == "grower_name" and tool.kind == "noisy" and tool.value == value:
                stage.search(output="grower name")
                arguments = dict.fromkeys(tool.arguments, "x")
                turn = stage.call(tool.name, **arguments)
                if turn.payload["category"] == "tool_ok":
                    stage.answer(value)
                    return stage
        raise AssertionError("no noisy tool of this world says the truth")

    def test_the_truth_from_a_noisy_tool_spoils_the_answer(self):
        outcome = self.spoilt().outcome
        assert outcome.payload["result"]["failure"] == "target_datatype_not_reached"
        assert outcome.payload["failure_category"] == "noisy_response_adopted"

    def test_unless_a_reliable_tool_said_so_too(self):
        outcome = self.spoilt(untrusted_match="unless_trusted").outcome
        assert outcome.metrics["accurate"] == 1

    def test_feedback_until_its_budget_is_spent(self):
        stage = Stage(answer_feedback=True, feedback_budget=2)
        turns = [stage.answer("no"), stage.answer("nor this")]
        assert [t.payload["category"] for t in turns] == ["answer_retry"] * 2
        assert all(turn.feedback for turn in turns)
        assert stage.outcome is None
        assert stage.answer("never").payload["category"] == "answer_end"
        assert stage.outcome.payload["result"]["counts"][4] == 2

    def test_no_feedback_on_the_last_step(self):
        stage = Stage(answer_feedback=True, max_steps=1)
        assert stage.answer("no").payload["category"] == "answer_end"

    def test_steps_that_run_out_after_a_retry_leave_no_answer(self):
        stage = Stage(answer_feedback=True, max_steps=2)
        stage.answer("no")
        stage.search(output="order")
        result = stage.outcome.payload["result"]
        assert (stage.outcome.termination, result["final_answer"]) == ("max_steps", None)

    @pytest.mark.parametrize("ending", ["max_steps", "label_errors", "call_errors"])
    @pytest.mark.parametrize("passed", [True, False])
    def test_the_last_answer_s_check_decides_whatever_failure_follows(self, ending, passed):
        """The reference's evaluator looks at the last answer, also where it was turned down.

        The stored answer is none after another failure, so that nothing is correct.
        """
        stage = Stage(answer_feedback=True, max_steps=14)
        if passed:
            stage.follow()
        assert stage.answer("no").payload["datatype_check"] is passed
        while stage.outcome is None:
            if ending == "max_steps":
                stage.search(output="order")
            elif ending == "call_errors":
                stage.call("nothing")
            else:
                stage.say("hm")
        figures = stage.outcome.payload["evaluation"]
        assert stage.outcome.termination == ending
        assert (figures["answer_correct"], figures["datatype_check_passed"]) == (False, passed)
        assert figures["evaluation_failure_reason_detail"] == (
            "final_answer_wrong" if passed else "target_datatype_not_reached"
        )

    def test_of_several_answers_the_last_one_s_check_decides(self):
        stage = Stage(answer_feedback=True, max_steps=14)
        stage.answer("no")
        stage.follow()
        stage.answer("no")
        while stage.outcome is None:
            stage.say("hm")
        figures = stage.outcome.payload["evaluation"]
        assert figures["evaluation_failure_reason_detail"] == "final_answer_wrong"

    def test_words_of_their_own(self):
        stage = Stage(answer_match="words")
        value = stage.follow()
        assert not stage.answer(f"un{value}").payload["correct"]


class TestIds:
    def test_tools_are_called_by_id(self):
        stage = Stage(tool_ids=True)
        stage.search(output="order row")
        told = stage.ask.context["tools"]
        assert [tool["tool_id"] for tool in told] == [f"T{n}" for n in range(1, len(told) + 1)]
        (chosen,) = [tool for tool in told if tool["name"] == ORDER_ROW]
        assert f'"tool_id":"{chosen["tool_id"]}"' in stage.ask.messages[-1].text
        call = {"tool_id": chosen["tool_id"], "name": "wrong", "arguments": dict(stage.given)}
        turn = stage.say(f"<tool_call>{json.dumps(call)}</tool_call>")
        assert turn.payload["category"] == "tool_ok"

    def test_ids_mean_nothing_where_they_are_off(self):
        stage = Stage()
        stage.search(output="order row")
        turn = stage.say('<tool_call>{"tool_id": "T1", "arguments": {}}</tool_call>')
        assert turn.payload["category"] == "err_call_unavailable"


class TestNativeCalls:
    def test_functions_in_place_of_tags(self):
        stage = Stage(calling="native")
        assert [tool["function"]["name"] for tool in stage.ask.tools] == [
            "retrieve_tools",
            "call_tool",
            "final_answer",
        ]
        request = {"meta_tool": "by_output_info", "output_information": "order row"}
        turn = stage.say(call_text("retrieve_tools", request))
        assert turn.payload["category"] == "retrieve_ok"
        called, answered = stage.ask.messages[-2:]
        assert called.tool_calls[0]["function"]["name"] == "retrieve_tools"
        assert (answered.speaker, answered.tool_call_id) == ("tool", called.tool_calls[0]["id"])
        turn = stage.say(
            call_text("call_tool", {"name": ORDER_ROW, "arguments": dict(stage.given)})
        )
        assert turn.payload["category"] == "tool_ok"
        stage.say(call_text("final_answer", {"answer": "x"}))
        assert stage.outcome.termination == "answered"

    @pytest.mark.parametrize(
        "text",
        [
            '{"content": "Hm.", "tool_calls": []}',
            "Hm.",
            call_text("look_up_everything", {}),
            call_text("final_answer", {}),
        ],
    )
    def test_no_call_is_a_label_error(self, text):
        stage = Stage(calling="native")
        turn = stage.say(text)
        assert turn.payload["category"] == "err_label"
        assert "functions" in turn.feedback

    def test_only_the_first_of_several_calls_is_carried_out(self):
        one = json.loads(call_text("retrieve_tools", {"meta_tool": "by_magic"}))["tool_calls"][0]
        two = {**one, "id": "call_2"}
        stage = Stage(calling="native")
        stage.say(json.dumps({"content": "", "tool_calls": [one, two]}))

        assert stage.ask.context["step"] == 2
        *_, called, first, second = stage.ask.messages
        assert [call["id"] for call in called.tool_calls] == ["call_1", "call_2"]
        assert (first.tool_call_id, second.tool_call_id) == ("call_1", "call_2")
        assert "Only one call" in second.text


def test_blocked_tools_are_never_shown():
    stage = Stage("repaid-for-entry", condition="blocker")
    blocked = stage.episode.gi_frame.f_locals["query"].plan
    assert blocked.tools
    for name in blocked.tools:
        shown = stage.search(output=stage.world.tools[name].output).payload["tools"]
        assert name not in shown
        standing_in = [t for t in shown if stage.world.tools[t].kind == "blocker"]
        assert {stage.world.tools[t].source for t in standing_in} >= {name}
    stage.answer("x")
    assert stage.outcome.payload["blocked"]["tools"] == list(blocked.tools)


def test_an_agent_that_declines_is_left_out():
    stage = Stage()
    with pytest.raises(StopIteration) as end:
        stage.episode.send([Reply("declined", reason="pool_exhausted: nothing left")])
    outcome = end.value.value
    assert outcome.termination == "agent_declined"
    assert set(outcome.metrics.values()) == {None}


def test_hostile_replies_are_steps_like_any_other():
    stage = Stage(max_label_errors=50, max_retrieval_errors=50, max_call_errors=50)
    deep = "[" * 5000 + "]" * 5000
    for text in (
        "",
        "\x00",
        f"<tool_call>{deep}</tool_call>",
        '<tool_call>{"name": "x", "arguments": '
        + '{"a":' * 900
        + "1"
        + "}" * 900
        + "}</tool_call>",
        '<tool_call>{"name": "\\ud800\\u0000", "arguments": {"\\u0000": 1e999}}</tool_call>',
        '<retrieve_tools>{"meta_tool": "by_output_info", "output_information": "\\ud800"}'
        "</retrieve_tools>",
        f'<tool_call>{{"name": "x", "arguments": {{"a": {"9" * 5000}}}}}</tool_call>',
    ):
        json.dumps(stage.say(text).payload, allow_nan=False).encode()
    assert stage.outcome is None
