"""Sessions and logs of other programs: what was said by whom, and nothing that nobody said."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks.core.problems import FileRefused
from benchmarks.formats.counts import trajectory_counts
from benchmarks.formats.registry import check_file, detect
from benchmarks.formats.reports import describe_files
from tests.benchmarks.formats import samples
from tests.benchmarks.formats.reading import read_whole
from tests.benchmarks.formats.session_samples import LOOK, otlp
from tests.shared_data import shared_data

ANTHROPIC_CHAT: list[dict[str, Any]] = [
    {"role": "user", "content": "Where is my bag?"},
    {"role": "assistant", "content": [{"type": "text", "text": "I look."}, LOOK]},
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "in Oslo"}],
    },
    {"role": "assistant", "content": "In Oslo."},
]


def counts_of(path: Path) -> dict[str, Any]:
    (trajectory,) = read_whole(path)
    return trajectory_counts(trajectory)


def describe_file(path: Path) -> dict[str, Any]:
    (report,) = describe_files(path)
    return report


def has(counts: dict[str, Any], **expected: Any) -> None:
    assert {name: counts[name] for name in expected} == expected


class TestCallsAsParts:
    @pytest.mark.parametrize(
        "wrap", [lambda chat: chat, lambda chat: {"messages": chat, "lang": "en"}]
    )
    def test_results_are_no_messages_of_the_user(self, wrap: Any, tmp_path: Path) -> None:
        path = samples.write(tmp_path / "x.json", wrap(ANTHROPIC_CHAT))
        assert detect(path) == "anthropic"
        (trajectory,) = read_whole(path)
        assert [m.speaker for m in trajectory.messages] == [
            "user",
            "assistant",
            "tool",
            "assistant",
        ]
        assert not any("tool_" in m.text for m in trajectory.messages)
        has(trajectory_counts(trajectory), user=1, turns=1, tool_calls=1, matched=1, errors=0)

    def test_as_openai_chat_they_are_refused_by_name_and_place(self, tmp_path: Path) -> None:
        path = samples.write(tmp_path / "x.json", ANTHROPIC_CHAT)
        with pytest.raises(FileRefused, match="use --format anthropic"):
            check_file(path, "openai-chat")
        padding = [{"messages": [{"role": "assistant", "content": "x" * 600_000}]}] * 2
        late = samples.write_lines(tmp_path / "x.jsonl", [*padding, {"messages": ANTHROPIC_CHAT}])
        with pytest.raises(FileRefused) as refused:
            check_file(late, "")
        assert "line 3, messages[1].content[1]: expected texts, images or files" in str(
            refused.value
        )
        assert "found a part of kind tool_use" in str(refused.value)
        assert "--format anthropic" in str(refused.value)

    def test_an_image_is_an_attachment_and_no_word(self, tmp_path: Path) -> None:
        shown = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
        chat = [
            {
                "role": "user",
                "content": [{"type": "text", "text": "Look:"}, shown, {"type": "new"}],
            },
            {"role": "assistant", "content": "A bag."},
        ]
        path = samples.write(tmp_path / "x.json", chat)
        (trajectory,) = read_whole(path, "openai-chat")
        assert trajectory.messages[0].text == "Look:"
        assert trajectory.messages[0].extra["attachments"] == [
            {"kind": "image", "type": "image/png", "bytes": 3},
            {"kind": "new"},
        ]


class TestRequests:
    def test_a_log_repeats_its_history_once(self, tmp_path: Path) -> None:
        has(
            counts_of(samples.write_sample(tmp_path, "anthropic")),
            user=1, turns=1, assistant=2, assistant_texts=2, tool_calls=2, tool_results=2,
            matched=2, errors=1, images=1, thinking=1, tokens_in=20, tokens_out=10,
            first_user="Where is my bag?", last_assistant="In Oslo.",
        )  # fmt: skip

    def test_each_call_goes_on_from_the_longest_talk_that_it_repeats(self, tmp_path: Path) -> None:
        def call(*texts: str) -> str:
            """A line of a log: who speaks alternates, and the last text is the reply."""
            roles = ("user", "assistant") * len(texts)
            told = [{"role": r, "content": t} for r, t in zip(roles, texts[:-1], strict=False)]
            reply = {"role": "assistant", "content": [{"type": "text", "text": texts[-1]}]}
            return json.dumps({"request": {"messages": told}, "response": reply})

        path = tmp_path / "log.jsonl"
        path.write_text("\n".join([
            call("Plan.", "A."), call("Plan.", "B."), call("Plan.", "A.", "Why?", "So."),
            call("Plan.", "C."), call("Plan.", "A.", "How?", "Thus."),
            call("Plan.", "A.", "Why?", "So.", "Sure?", "Yes."),
            call("Plan.", "B.", "Go.", "Done."),
        ]))  # fmt: skip
        talks = [[m.text for m in one.messages] for one in read_whole(path, "anthropic")]
        assert talks == [
            ["Plan.", "A.", "Why?", "So.", "Sure?", "Yes."],
            ["Plan.", "B.", "Go.", "Done."],
            ["Plan.", "C."],
            ["Plan.", "A.", "How?", "Thus."],
        ]

    def test_items_are_no_messages_and_hosted_calls_stand_apart(self, tmp_path: Path) -> None:
        has(
            counts_of(samples.write_sample(tmp_path, "responses")),
            user=1, turns=1, assistant=None, assistant_texts=1, tool_calls=1, matched=1, missing=0,
            errors=None, hosted_calls=1, thinking=1, tokens_in=18, tokens_out=8,
        )  # fmt: skip

    def test_a_call_that_names_the_one_before_goes_on_from_it(self, tmp_path: Path) -> None:
        first, second = samples.SAMPLES["responses"]()
        second["request"]["input"] = second["request"]["input"][2:]
        second["request"]["previous_response_id"] = "r1"
        path = samples.write_lines(tmp_path / "x.jsonl", [first, second])
        has(counts_of(path), user=1, tool_calls=1, matched=1, assistant_texts=1)

    def test_requests_that_begin_otherwise_are_other_trajectories(self, tmp_path: Path) -> None:
        first, second = samples.SAMPLES["anthropic"]()
        other = json.loads(json.dumps(first).replace("my bag", "my cat"))
        path = samples.write_lines(tmp_path / "x.jsonl", [first, other, second])
        assert [len(t.messages) for t in read_whole(path)] == [6, 3]


class TestClaudeCode:
    def test_lines_of_one_answer_are_one_message(self, tmp_path: Path) -> None:
        main, side = map(
            trajectory_counts, read_whole(samples.write_sample(tmp_path, "claude-code"))
        )
        has(
            main,
            id="s1", parent=None, model="some-model", user=3, turns=2, assistant=3,
            assistant_texts=1, tool_calls=3, matched=3, missing=0, errors=0, images=1, thinking=1,
            tokens_in=30, tokens_out=14, first_user="Where is my bag?", last_assistant="At home.",
        )  # fmt: skip
        has(side, parent="s1", user=1, turns=1, assistant=1, tool_calls=0, tokens_out=4)

    def test_a_crashed_session_is_read_up_to_its_last_line(self, tmp_path: Path) -> None:
        path = samples.write_sample(tmp_path, "claude-code")
        path.write_bytes(path.read_bytes().rstrip()[:-5])
        report = describe_file(path)
        assert report["error"] is None
        assert report["left_out"]["truncated last line"] == 1
        assert report["left_out"]["system/compact_boundary"] == 1
        assert report["trajectories"][0]["last_assistant"] == "At home."

    def test_sub_agents_lie_beside_their_session(self, tmp_path: Path) -> None:
        rows = samples.SAMPLES["claude-code"]()
        path = samples.write_lines(
            tmp_path / "s1.jsonl", [r for r in rows if "isSidechain" not in r]
        )
        folder = tmp_path / "s1" / "subagents"
        folder.mkdir(parents=True)
        side = [{**r, "agentId": "b7"} for r in rows if "isSidechain" in r]
        samples.write_lines(folder / "agent-b7.jsonl", side)
        samples.write_lines(folder / "agent-acompact-1.jsonl", side)
        report = describe_file(path)
        assert [(t["id"], t["parent"]) for t in report["trajectories"]] == [
            ("s1", None),
            ("b7", "s1"),
        ]
        assert report["left_out"]["helper that writes a summary"] == 1

    def test_a_session_without_an_answer_is_refused(self, tmp_path: Path) -> None:
        rows = samples.SAMPLES["claude-code"]()[:4]
        with pytest.raises(FileRefused, match="at least one message of the agent"):
            check_file(samples.write_lines(tmp_path / "s.jsonl", rows), "")


class TestOtherSessions:
    def test_codex_says_what_a_person_wrote(self, tmp_path: Path) -> None:
        has(
            counts_of(samples.write_sample(tmp_path, "codex")),
            id="s1", user=1, turns=1, assistant=None, assistant_texts=1, tool_calls=2, matched=1,
            missing=1, errors=None, hosted_calls=1, thinking=1, tokens_in=9, tokens_out=9,
        )  # fmt: skip

    def test_gemini_repeats_a_message_with_its_results(self, tmp_path: Path) -> None:
        has(
            counts_of(samples.write_sample(tmp_path, "gemini-cli")),
            id="s1", user=1, turns=1, assistant=2, assistant_texts=1, tool_calls=2, matched=2,
            errors=1, thinking=1, tokens_in=20, tokens_out=10,
        )  # fmt: skip

    def test_pi_is_read_along_its_last_branch(self, tmp_path: Path) -> None:
        path = samples.write_sample(tmp_path, "pi")
        has(
            counts_of(path),
            id="s1", user=1, turns=1, assistant=2, assistant_texts=1, tool_calls=1, matched=1,
            errors=1, thinking=1, tokens_in=20, tokens_out=10,
        )  # fmt: skip
        assert describe_file(path)["left_out"] == {
            "entry of another branch": 1,
            "empty answer (aborted)": 1,
            "compaction": 1,
        }

    def test_an_encrypted_thought_alone_is_an_answer_of_pi(self, tmp_path: Path) -> None:
        rows = samples.SAMPLES["pi"]()
        rows[5]["message"]["content"] = [{"type": "redacted_thinking", "data": "x"}]
        path = samples.write_lines(tmp_path / "s.jsonl", rows)
        has(counts_of(path), user=1, turns=1, assistant=2, assistant_texts=1, thinking=2)

    def test_a_cycle_of_parents_ends(self, tmp_path: Path) -> None:
        rows = samples.SAMPLES["pi"]()
        rows[1]["parentId"] = "g"
        has(counts_of(samples.write_lines(tmp_path / "s.jsonl", rows)), user=1, assistant=2)

    def test_a_session_trace_of_another_harness(self, tmp_path: Path) -> None:
        call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        rows = [
            {"type": "session", "harness": "ours", "id": "s1", "name": "bag"},
            {"type": "message", "message": {"role": "user", "content": "Where?"}},
            {
                "type": "message",
                "message": {"role": "assistant", "content": "", "tool_calls": [call]},
            },
            {"type": "message", "message": {"role": "tool", "tool_call_id": "c1", "content": "x"}},
            {"type": "message", "message": {"role": "assistant", "content": "Here."}},
        ]
        path = samples.write_lines(tmp_path / "s.jsonl", rows)
        assert detect(path) == "pi"
        has(counts_of(path), user=1, turns=1, assistant=2, tool_calls=1, matched=1)


class TestAgentsThatWork:
    def test_swe_agent_uses_an_id_again(self, tmp_path: Path) -> None:
        path = samples.write_sample(tmp_path, "swe-agent")
        has(
            counts_of(path),
            id="swe-agent.json", model="some-model", user=1, turns=1, assistant=2, tool_calls=2,
            tool_results=2, matched=2, errors=None, tokens_in=9, tokens_out=4,
        )  # fmt: skip
        (trajectory,) = read_whole(path)
        assert trajectory.messages[-1].text == "handed in"
        assert (trajectory.termination, trajectory.scores["cost"]) == ("submitted", 0.5)

    def test_swe_agent_writes_actions_as_text(self, tmp_path: Path) -> None:
        def say(role: str, content: str, **more: Any) -> dict[str, Any]:
            return {"role": role, "content": content, "agent": "main", **more}

        history = [
            say("user", "Where is my bag?"),
            say("assistant", "I look.\n```\nls\n```", thought="I look.", action="ls\n"),
            say("user", "a bag"),
            say("assistant", "Done.\n```\nsubmit\n```", thought="Done.", action="submit"),
        ]
        path = samples.write(tmp_path / "x.traj", {"history": history})
        has(counts_of(path), user=1, turns=1, assistant_texts=2, tool_calls=2, matched=1, missing=1)

    def test_mini_swe_agent_ends_with_what_was_handed_in(self, tmp_path: Path) -> None:
        path = samples.write_sample(tmp_path, "mini-swe-agent")
        has(
            counts_of(path),
            model="some-model", user=1, turns=1, assistant=3, assistant_texts=2, tool_calls=2,
            matched=2, errors=1, tokens_in=9, tokens_out=4, last_assistant="Now:",
        )  # fmt: skip
        bare = samples.SAMPLES["mini-swe-agent"]()["messages"][:2] + [
            {"role": "assistant", "content": "```\nls\n```"},
            {"role": "user", "content": "a bag"},
        ]
        older = samples.write(tmp_path / "bag.traj.json", bare)
        assert detect(older) == "mini-swe-agent"
        has(counts_of(older), id="bag", user=1, tool_calls=1, matched=1, assistant_texts=0)

    def test_openhands_rows_and_events(self, tmp_path: Path) -> None:
        first, second = map(
            trajectory_counts, read_whole(samples.write_sample(tmp_path, "openhands"))
        )
        has(
            first,
            id="bag-1", model="some-model", user=1, turns=1, assistant=2, assistant_texts=2,
            tool_calls=3, tool_results=2, matched=2, missing=1, errors=1, tokens_in=9, tokens_out=4,
        )  # fmt: skip
        assert second["id"] == "bag-2"
        call = {"id": "c1", "name": "look_up", "arguments": '{"a": 1}'}
        stats = {"default": {"model_name": "some-model", "accumulated_token_usage":
                             {"prompt_tokens": 9, "completion_tokens": 4}}}  # fmt: skip
        text = [{"type": "text", "text": "<think>hm</think>\n\n"}]
        message = {"role": "user", "content": [{"type": "text", "text": "Where?"}]}
        events = [
            {"kind": "MessageEvent", "source": "user", "llm_message": message},
            {"kind": "ActionEvent", "source": "agent", "thought": text, "tool_call": call,
             "llm_response_id": "r1", "tool_call_id": "c1"},
            {"kind": "AgentErrorEvent", "source": "agent", "tool_call_id": "c1", "error": "no"},
            {"kind": "ConversationStateUpdateEvent", "source": "environment", "key": "stats",
             "value": {"usage_to_metrics": stats}},
        ]  # fmt: skip
        has(
            counts_of(samples.write_lines(tmp_path / "events.jsonl", events)),
            user=1, turns=1, assistant=1, assistant_texts=0, thinking=1, tool_calls=1, matched=1,
            errors=1, tokens_in=9, tokens_out=4,
        )  # fmt: skip

    def test_data_sets_give_results_in_order(self, tmp_path: Path) -> None:
        has(
            counts_of(samples.write_sample(tmp_path, "sharegpt")),
            user=2, turns=2, assistant=4, assistant_texts=3, tool_calls=3, matched=3, thinking=1,
            errors=None, last_assistant="At home.",
        )  # fmt: skip
        has(
            counts_of(samples.write_sample(tmp_path, "agent-data")),
            id="bag", user=1, turns=1, assistant=3, assistant_texts=2, tool_calls=2, matched=2,
            images=1, errors=None,
        )  # fmt: skip

    def test_who_speaks_is_never_guessed(self, tmp_path: Path) -> None:
        rows = [{"conversations": [{"from": "narrator", "value": "x"}]}]
        with pytest.raises(
            FileRefused, match=r"conversations\[0\].from: expected one of human, gpt"
        ):
            check_file(samples.write(tmp_path / "x.json", rows), "")


class TestTraces:
    def test_a_nested_agent_is_a_trajectory_of_its_own(self, tmp_path: Path) -> None:
        found = read_whole(samples.write_sample(tmp_path, "openinference"))
        main, side = map(trajectory_counts, found)
        has(
            main,
            id="t1", parent=None, model="some-model", user=1, turns=1, assistant=2, tool_calls=1,
            matched=1, errors=None, tokens_in=20, tokens_out=10, last_assistant="In Oslo.",
        )  # fmt: skip
        has(side, id="a2", parent="t1", user=1, tool_calls=1, missing=1, tokens_out=5)

    def test_phoenix_lists_spans(self, tmp_path: Path) -> None:
        message = {"message": {"role": "user", "content": "Where is my bag?"}}
        reply = {"message": {"role": "assistant", "content": "In Oslo."}}
        llm = {"input_messages": [message], "output_messages": [reply], "model_name": "some-model",
               "token_count": {"prompt": 3, "completion": 2}}  # fmt: skip
        span = {
            "name": "call", "span_kind": "LLM", "parent_id": None,
            "context": {"trace_id": "t1", "span_id": "s1"},
            "start_time": "2026-01-01T00:00:00+00:00", "end_time": "2026-01-01T00:00:01+00:00",
            "attributes": {"llm": llm},
        }  # fmt: skip
        flat = {f"llm.{field}.0.message.{name}": value
                for field, one in (("input_messages", message), ("output_messages", reply))
                for name, value in one["message"].items()}  # fmt: skip
        for attributes in ({"llm": llm}, flat):
            rows = [{**span, "attributes": attributes}]
            path = samples.write_lines(tmp_path / "spans.jsonl", rows)
            assert detect(path) == "openinference"
            has(counts_of(path), id="t1", user=1, turns=1, assistant=1)

    def test_anthropic_overwrites_parallel_results(self, tmp_path: Path) -> None:
        """There the request itself has them all."""
        first, second = samples.SAMPLES["anthropic"]()
        common = {"openinference.span.kind": "LLM", "llm.system": "anthropic",
                  "llm.output_messages.0.message.role": "assistant"}  # fmt: skip
        spans = [
            (f"l{n}", "", {**common, "input.value": json.dumps(one["request"]),
                           "output.value": json.dumps(one["response"])})
            for n, one in enumerate((first, second))
        ]  # fmt: skip
        path = samples.write(tmp_path / "spans.json", otlp(*spans))
        has(counts_of(path), user=1, tool_calls=2, matched=2, errors=1, images=1)
        (trajectory,) = read_whole(path)
        assert trajectory.messages[0].text == "Be brief."

    def test_openllmetry_writes_json_as_text(self, tmp_path: Path) -> None:
        has(
            counts_of(samples.write_sample(tmp_path, "openllmetry")),
            user=1, turns=1, assistant=2, assistant_texts=2, tool_calls=1, matched=1, errors=0,
            tokens_in=20, tokens_out=10,
        )  # fmt: skip

    def test_langfuse_keeps_other_generations_apart(self, tmp_path: Path) -> None:
        path = samples.write_sample(tmp_path, "langfuse")
        has(
            counts_of(path),
            id="t1", user=1, turns=1, assistant=2, assistant_texts=1, tool_calls=1, matched=1,
            tokens_in=20, tokens_out=10, last_assistant="In Oslo.",
        )  # fmt: skip
        assert describe_file(path)["left_out"]["generation that stands apart"] == 1
        (trajectory,) = read_whole(path)
        assert trajectory.scores["right"] == 1

    def test_a_lossy_trace_is_put_together_by_time(self, tmp_path: Path) -> None:
        def one(second: int, type: str, input: Any, output: Any, name: str = "x") -> dict[str, Any]:
            return {"id": f"o{second}", "traceId": "t1", "parentObservationId": "r", "type": type,
                    "name": name, "startTime": f"2026-01-01T00:00:0{second}Z",
                    "input": json.dumps(input), "output": json.dumps(output)}  # fmt: skip

        called = {"role": "assistant", "content": [LOOK]}
        said = {"role": "assistant", "content": [{"type": "text", "text": "In Oslo."}]}
        observations = [
            one(3, "GENERATION", {"content": "role"}, said),
            one(2, "TOOL", {"input": {"a": 1}}, {"content": "in Oslo"}, "look_up"),
            one(1, "GENERATION", {"role": "user", "content": "Where is my bag?"}, called),
        ]
        trace = {"trace": {"id": "t1"}, "observations": observations}
        has(
            counts_of(samples.write(tmp_path / "t.json", trace)),
            user=1, turns=1, assistant=2, tool_calls=1, matched=1,
        )  # fmt: skip

    def test_calls_as_text_and_results_between_them(self, tmp_path: Path) -> None:
        def call(id: str) -> str:
            function = {"name": "look_up", "arguments": "{}"}
            return json.dumps([{"function": function, "id": id, "type": "function"}])

        asked = {"role": "user", "content": "Where is my bag?"}
        told = [asked]
        for id in ("c1", "c2"):
            told += [
                {"role": "tool", "content": call(id)},
                {"role": "tool", "content": f"saw {id}"},
            ]
        said = {"object": "response", "instructions": "Be brief.", "output": [
            {"type": "message", "role": "assistant",
             "content": [{"type": "output_text", "text": "In Oslo."}]},
        ]}  # fmt: skip
        both = [{"role": "assistant", "content": call(id)} for id in ("c1", "c2")]
        observations = [
            {"id": f"o{n}", "traceId": "t1", "type": "GENERATION", "startTime": f"2026-01-0{n}",
             "input": json.dumps(input), "output": json.dumps(output)}
            for n, (input, output) in enumerate((([asked], both), (told, said)), 1)
        ]  # fmt: skip
        trace = {"trace": {"id": "t1"}, "observations": observations}
        has(
            counts_of(samples.write(tmp_path / "t.json", trace)),
            user=1, turns=1, tool_calls=2, matched=2, assistant_texts=1, last_assistant="In Oslo.",
        )  # fmt: skip

    @pytest.mark.parametrize("framework", ["gemini", "only what is new", "calls apart"])
    def test_messages_of_frameworks(self, framework: str, tmp_path: Path) -> None:
        asked: Any = {"role": "user", "content": "Where is my bag?"}
        parts = [{"type": "tool_call", "id": "c1", "name": "look_up", "arguments": {}}]
        result = [{"type": "tool_call_response", "id": "c1", "response": "in Oslo"}]
        said = {"role": "assistant", "parts": [{"type": "text", "content": "In Oslo."}]}
        called: Any = {"role": "assistant", "parts": parts}
        pairs: list[tuple[Any, Any]] = [
            ([asked], [called]),
            ([{"role": "tool", "parts": result}], said),
        ]
        if framework == "gemini":
            asked = {"role": "user", "parts": [{"text": "Where is my bag?"}]}
            called = {
                "role": "model",
                "parts": [{"function_call": {"name": "look_up", "args": {}}}],
            }
            answer = {"function_response": {"name": "look_up", "response": {"place": "Oslo"}}}
            told = [asked, called, {"role": "user", "parts": [answer]}]
            config = {"system_instruction": "Be brief."}
            said = {"role": "model", "parts": [{"text": "In Oslo."}]}
            pairs = [({"config": config, "contents": [asked]}, {"content": called}),
                     ({"config": config, "contents": told}, {"content": said})]  # fmt: skip
        elif framework == "calls apart":
            calls = [{"toolCallId": "c1", "toolName": "look_up", "input": "{}"}]
            content = [{"type": "tool-call", **calls[0]}]
            answers = [{"type": "tool-result", "toolCallId": "c1", "output": {"value": "in Oslo"}}]
            told = [asked, {"role": "assistant", "content": content},
                    {"role": "tool", "content": answers}]  # fmt: skip
            pairs = [({"messages": [asked]}, calls), ({"messages": told}, "In Oslo.")]
        observations = [
            {"id": f"o{n}", "traceId": "t1", "type": "GENERATION", "startTime": f"2026-01-0{n}",
             "input": json.dumps(input), "output": json.dumps(output)}
            for n, (input, output) in enumerate(pairs, 1)
        ]  # fmt: skip
        trace = {"trace": {"id": "t1"}, "observations": observations}
        has(
            counts_of(samples.write(tmp_path / "t.json", trace)),
            user=1, turns=1, assistant=2, tool_calls=1, matched=1, last_assistant="In Oslo.",
        )  # fmt: skip

    def test_langsmith_merges_what_came_later(self, tmp_path: Path) -> None:
        path = samples.write_sample(tmp_path, "langsmith")
        has(
            counts_of(path),
            id="t1", model="some-model", user=1, turns=1, assistant=2, tool_calls=1, matched=1,
            errors=0, tokens_in=20, tokens_out=10,
        )  # fmt: skip
        assert describe_file(path)["left_out"] == {"run that is no call of a model": 1}

    def test_spans_without_messages_get_the_right_advice(self, tmp_path: Path) -> None:
        for name, field in (
            ("openinference", "openinference.span.kind"),
            ("openllmetry", "gen_ai.prompt.0.role"),
        ):
            path = samples.write(tmp_path / "s.json", otlp(("a", "", {field: "user"})))
            advice = "OPENINFERENCE_HIDE" if name == "openinference" else "TRACELOOP_TRACE_CONTENT"
            with pytest.raises(FileRefused, match=advice):
                check_file(path, "")


def test_a_file_that_two_formats_claim_is_asked_about(tmp_path: Path) -> None:
    rows = [*samples.SAMPLES["codex"](), *samples.SAMPLES["claude-code"]()]
    path = samples.write_lines(tmp_path / "s.jsonl", rows)
    with pytest.raises(
        FileRefused, match=r"name it with --format, found maybe Claude Code session"
    ):
        check_file(path, "")
    with pytest.raises(FileRefused, match=r"\As.jsonl, line \d+: [^\n]+ split the file\Z"):
        check_file(path, "codex")


def test_a_row_with_two_talks_is_asked_about(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "One."}]
    other = [{"from": "human", "value": "Go."}, {"from": "gpt", "value": "Two."}]
    row = {"id": "a", "messages": chat, "conversations": other}
    path = samples.write_lines(tmp_path / "s.jsonl", [row])
    with pytest.raises(FileRefused, match=r"with --format, found maybe .*\(sharegpt\) or .*chat\)"):
        check_file(path, "")
    for format, said in (("openai-chat", "One."), ("sharegpt", "Two.")):
        assert [t.messages[-1].text for t in read_whole(path, format)] == [said]


def test_a_report_says_what_a_file_holds(tmp_path: Path) -> None:
    report = describe_file(samples.write_sample(tmp_path, "anthropic"))
    assert (report["format"], report["left_out"], report["error"]) == ("anthropic", {}, None)
    assert [t["tool_calls"] for t in report["trajectories"]] == [2]
    report = describe_file(samples.write(tmp_path / "x.json", {"a": 1}))
    assert report["format"] is None and "none of them" in report["error"]


class TestFolders:
    def folder(self, tmp_path: Path) -> Path:
        """Sessions of Codex and Claude Code with a sub-agent; two files that cannot be read."""
        folder = tmp_path / "agents"
        (folder / "2026" / "01").mkdir(parents=True)
        (folder / "s1" / "subagents").mkdir(parents=True)
        rollout = samples.SAMPLES["codex"]()
        samples.write_lines(folder / "2026" / "01" / "rollout-a.jsonl", rollout)
        samples.write_lines(folder / "2026" / "rollout-b.jsonl", rollout)
        rows = samples.SAMPLES["claude-code"]()
        samples.write_lines(folder / "s1.jsonl", [r for r in rows if "isSidechain" not in r])
        side = [{**r, "agentId": "b7"} for r in rows if "isSidechain" in r]
        samples.write_lines(folder / "s1" / "subagents" / "agent-b7.jsonl", side)
        samples.write(folder / "settings.json", {"theme": "dark"})
        samples.write_lines(folder / "broken.jsonl", [*rollout[:3], {"type": 1}, {"type": "x"}])
        return folder

    @pytest.mark.parametrize("packed", [False, True])
    def test_each_file_is_recognised_and_reported(self, packed: bool, tmp_path: Path) -> None:
        path = self.folder(tmp_path)
        if packed:
            path = Path(shutil.make_archive(str(tmp_path / "agents"), "zip", path))
        reports = {Path(r["path"]).name: r for r in describe_files(path)}
        assert {name: r["format"] for name, r in reports.items()} == {
            "rollout-a.jsonl": "codex",
            "rollout-b.jsonl": "codex",
            "s1.jsonl": "claude-code",
            "settings.json": None,
            "broken.jsonl": "codex",
        }
        assert [t["id"] for t in reports["s1.jsonl"]["trajectories"]] == ["s1", "b7"]
        assert "at least one message of the agent" in reports["broken.jsonl"]["error"]
        assert reports["settings.json"]["error"] == "no format that can be imported"

    def test_several_formats_are_asked_about(self, tmp_path: Path) -> None:
        path = self.folder(tmp_path)
        with pytest.raises(
            FileRefused, match="name it with --format, found 3 of codex, 1 of claude"
        ):
            check_file(path, "")
        checked = check_file(path, "codex")
        assert checked.trajectories == 2
        assert [reason.partition(":")[0] for reason in checked.header["left_out_files"]] == [
            "broken.jsonl",
            "s1.jsonl",
            "settings.json",
        ]
        assert [len(t.messages) > 3 for t in read_whole(path, "codex")] == [True, True]


BY_HAND = json.loads(Path(__file__).with_name("session_counts.json").read_text())


@pytest.mark.parametrize("start", BY_HAND)
def test_real_files_hold_what_was_counted_by_hand(start: str) -> None:
    """Counted in the files themselves with the json module, without a reader."""
    folder, _, name = start.partition("/")
    (path,) = shared_data("sessions", folder).glob(f"{name.split('.json')[0]}*")
    trajectories = describe_file(path)["trajectories"]
    assert len(trajectories) == len(BY_HAND[start])
    for counts, expected in zip(trajectories, BY_HAND[start], strict=True):
        has(counts, **expected)


CODEX_LINE = {"type": "response_item", "payload": {"type": "message", "role": "assistant"}}
ROW = {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]}


@pytest.mark.parametrize(
    ("name", "other"),
    [("claude-code", CODEX_LINE), ("claude-code", ROW), ("codex", ROW), ("pi", ROW)],
)
def test_a_line_of_another_format_is_refused_by_its_number(
    name: str, other: dict[str, Any], tmp_path: Path
) -> None:
    lines = [*samples.SAMPLES[name](), other]
    path = samples.write_lines(tmp_path / "x.jsonl", lines)
    with pytest.raises(
        FileRefused, match=f"line {len(lines)}: expected a line with .* as the others have"
    ):
        check_file(path, name)


@pytest.mark.parametrize("name", ["claude-code", "codex", "pi"])
def test_too_large_a_session_is_refused_before_it_is_read_to_its_end(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = samples.write_sample(tmp_path, name)
    monkeypatch.setattr("benchmarks.formats.sessions.lines.LARGEST_SESSION", 600)
    with pytest.raises(FileRefused, match="expected sessions of at most 0 MB, found a larger one"):
        check_file(path, name)


def test_too_many_messages_are_refused_before_the_end(tmp_path: Path) -> None:
    lines = [
        {
            "type": kind, "uuid": f"{number}", "parentUuid": None, "sessionId": "s",
            "message": {"role": kind, "content": "x"},
        }
        for number, kind in zip(range(40_010), ("user", "assistant") * 20_005, strict=True)
    ]  # fmt: skip
    path = samples.write_lines(tmp_path / "x.jsonl", lines)
    with pytest.raises(FileRefused, match="line 40002: expected at most 20000 messages"):
        check_file(path, "claude-code")
