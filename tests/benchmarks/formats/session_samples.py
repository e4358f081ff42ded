"""Small sound files of sessions and logs of other programs; all words in them are ours."""

import json
from typing import Any

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}}
LOOK = {"type": "tool_use", "id": "c1", "name": "look_up", "input": {"a": 1}}
READ = {"type": "tool_use", "id": "c2", "name": "read", "input": {"path": "map.png"}}


def anthropic() -> list[dict[str, Any]]:
    """Two requests, the second of which repeats the first; parallel calls and an image."""
    asked = {"role": "user", "content": "Where is my bag?"}
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    calls = [thought, {"type": "text", "text": "I look."}, LOOK, READ]
    results = [
        {"type": "tool_result", "tool_use_id": "c1", "content": "in Oslo", "is_error": False},
        {"type": "tool_result", "tool_use_id": "c2", "content": [IMAGE], "is_error": True},
    ]
    first = {"model": "some-model", "system": "Be brief.", "messages": [asked], "tools": [{}]}
    usage = {"input_tokens": 3, "cache_read_input_tokens": 7, "output_tokens": 5}

    def reply(content: list[Any]) -> dict[str, Any]:
        return {"id": "m", "type": "message", "role": "assistant", "content": content,
                "model": "some-model", "stop_reason": "end_turn", "usage": usage}  # fmt: skip

    told = [asked, {"role": "assistant", "content": calls}, {"role": "user", "content": results}]
    return [
        {"request": first, "response": reply(calls)},
        {"request": {**first, "messages": told},
         "response": reply([{"type": "text", "text": "In Oslo."}])},
    ]  # fmt: skip


def responses() -> list[dict[str, Any]]:
    asked = [{"role": "user", "content": "Where is my bag?"}]
    call = {"type": "function_call", "call_id": "c1", "name": "look_up", "arguments": '{"a": 1}'}
    searched = {"type": "web_search_call", "id": "w1", "action": {"type": "search", "query": "bag"}}
    thought = {"type": "reasoning", "summary": [], "encrypted_content": "x"}
    answer = {"type": "function_call_output", "call_id": "c1", "output": "in Oslo"}
    said = {"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": "In Oslo."}]}  # fmt: skip
    usage = {"input_tokens": 9, "output_tokens": 4}

    def line(input: list[Any], output: list[Any], id: str) -> dict[str, Any]:
        return {
            "request": {"model": "some-model", "instructions": "Be brief.", "input": input},
            "response": {"id": id, "object": "response", "output": output, "usage": usage},
        }

    return [
        line(asked, [thought, call, searched], "r1"),
        line([*asked, call, answer], [said], "r2"),
    ]


def claude_code() -> list[dict[str, Any]]:
    """One answer in three lines, with a result between them; a side chain; a line that is cut."""

    def line(kind: str, message: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        line.count += 1  # type: ignore[attr-defined]
        uuid = f"u{line.count}"  # type: ignore[attr-defined]
        base = {"type": kind, "uuid": uuid, "parentUuid": None, "sessionId": "s1", "cwd": "/x"}
        return {
            **base,
            "timestamp": f"2026-01-01T00:00:{uuid[1:]:0>2}Z",
            "message": message,
            **more,
        }

    line.count = 0  # type: ignore[attr-defined]

    def agent(id: str, part: dict[str, Any], tokens: int, **more: Any) -> dict[str, Any]:
        usage = {"input_tokens": 2, "cache_read_input_tokens": 8, "output_tokens": tokens}
        message = {"id": id, "role": "assistant", "model": "some-model", "content": [part]}
        return line("assistant", {**message, "usage": usage}, **more)

    def user(content: Any, **more: Any) -> dict[str, Any]:
        return line("user", {"role": "user", "content": content}, **more)

    def result(id: str, content: Any, **more: Any) -> dict[str, Any]:
        return user([{"type": "tool_result", "tool_use_id": id, "content": content}], **more)

    side = {"isSidechain": True}
    root = user("Look for the bag.", **side)
    task = {
        "type": "tool_use",
        "id": "c3",
        "name": "Task",
        "input": {"prompt": "Look for the bag."},
    }
    return [
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
        user("<command-name>/clear</command-name>"),
        user("Caveat: The messages below are not for you.", isMeta=True),
        user("Where is my bag?"),
        agent("m1", {"type": "thinking", "thinking": "hm", "signature": "s"}, 1),
        agent("m1", LOOK, 2),
        result("c1", "in Oslo", toolUseResult={"structuredPatch": [{"lines": ["+a"]}]}),
        agent("m1", READ, 5),
        result("c2", [IMAGE]),
        line("system", None, subtype="compact_boundary"),
        user("We looked for a bag.", isCompactSummary=True),
        agent("m2", task, 3),
        root,
        agent("m9", {"type": "text", "text": "It is in Oslo."}, 4, **side, parentUuid=root["uuid"]),
        result("c3", "It is in Oslo."),
        user("And the cat?"),
        line("attachment", attachment={"type": "queued_command", "prompt": "Quick, please."}),
        agent("m3", {"type": "text", "text": "At home."}, 6),
        user("[Request interrupted by user]"),
    ]


def codex() -> list[dict[str, Any]]:
    def line(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": "2026-01-01T00:00:00Z", "type": kind, "payload": payload}

    def item(**payload: Any) -> dict[str, Any]:
        return line("response_item", **payload)

    def says(role: str, text: str) -> dict[str, Any]:
        kind = "output_text" if role == "assistant" else "input_text"
        return item(type="message", role=role, content=[{"type": kind, "text": text}])

    def tokens(count: int) -> dict[str, Any]:
        usage = {"input_tokens": count, "cached_input_tokens": 1, "output_tokens": count}
        return line("event_msg", type="token_count", info={"total_token_usage": usage})

    return [
        line("session_meta", id="s1", cwd="/x", cli_version="0.9"),
        line("turn_context", model="some-model"),
        says("developer", "Be careful."),
        says("user", "<environment_context>linux</environment_context>"),
        says("user", "Where is my bag?"),
        line("event_msg", type="user_message", message="Where is my bag?"),
        item(type="reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
        item(type="function_call", call_id="c1", name="look_up", arguments='{"a": 1}'),
        item(type="custom_tool_call", call_id="c2", name="patch", input="*** Begin"),
        line("event_msg", type="agent_reasoning", text="hm"),
        item(type="function_call_output", call_id="c1", output="in Oslo"),
        tokens(5),
        item(type="web_search_call", id="w1", action={"type": "search", "query": "bag"}),
        tokens(9),
        says("assistant", "In Oslo."),
        line("event_msg", type="agent_message", message="In Oslo."),
    ]


def gemini_cli() -> list[dict[str, Any]]:
    call = {"id": "c1", "name": "look_up", "args": {"a": 1}}
    response = {"functionResponse": {"id": "c1", "name": "look_up", "response": {"output": "Oslo"}}}
    answered = {**call, "result": [response], "status": "success"}
    failed = {"id": "c2", "name": "read", "args": {}, "result": [response], "status": "error"}
    tokens = {"input": 10, "output": 3, "cached": 4, "thoughts": 2}
    said = {"id": "g1", "type": "gemini", "content": "", "model": "some-model", "tokens": tokens}
    thoughts = [{"subject": "Bag", "description": "Where?"}]
    return [
        {"sessionId": "s1", "projectHash": "p", "startTime": "2026-01-01T00:00:00Z"},
        {"id": "u1", "type": "user", "content": [{"text": "Where is my bag?"}]},
        {**said, "toolCalls": [call]},
        {"$set": {"lastUpdated": "2026-01-01T00:01:00Z"}},
        {**said, "toolCalls": [answered, failed], "thoughts": thoughts},
        {"id": "i1", "type": "info", "content": "Update available"},
        {"id": "u2", "type": "user", "content": "System: Please continue."},
        {**said, "id": "g2", "content": "In Oslo."},
    ]


def pi() -> list[dict[str, Any]]:
    """A tree of entries with a branch that was left; an answer that was aborted."""
    usage = {"input": 2, "output": 5, "cacheRead": 8, "cacheWrite": 0, "cost": {"total": 0.25}}
    empty = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}

    def message(id: str, parent: str | None, **message: Any) -> dict[str, Any]:
        return {"type": "message", "id": id, "parentId": parent, "message": message}

    def agent(id: str, parent: str, content: list[Any], stop: str, used: Any) -> dict[str, Any]:
        about = {"model": "some-model", "usage": used, "stopReason": stop}
        return message(id, parent, role="assistant", content=content, **about)

    call = {"type": "toolCall", "id": "c1", "name": "look_up", "arguments": {"a": 1}}
    answer = {"role": "toolResult", "toolCallId": "c1", "toolName": "look_up", "isError": True}
    return [
        {"type": "session", "version": 3, "id": "s1", "cwd": "/x"},
        message("a", None, role="user", content="Where is my bag?"),
        agent("b", "a", [{"type": "thinking", "thinking": "hm"}, call], "toolUse", usage),
        message("c", "b", **answer, content=[{"type": "text", "text": "no"}]),
        message("x", "c", role="user", content="Never mind."),
        agent("d", "c", [], "aborted", empty),
        {"type": "compaction", "id": "e", "parentId": "d", "summary": "A bag was lost."},
        message("f", "e", role="bashExecution", command="ls", output="bag"),
        agent("g", "f", [{"type": "text", "text": "In Oslo."}], "stop", usage),
    ]


def swe_agent() -> dict[str, Any]:
    """The same id in two steps; a demonstration; a last result among the steps only."""

    def agent(text: str, name: str, arguments: str) -> dict[str, Any]:
        call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
        return {"role": "assistant", "content": text, "thought": text, "action": name,
                "tool_calls": [call]}  # fmt: skip

    return {
        "environment": "main",
        "trajectory": [{"action": "look_up", "observation": "in Oslo"},
                       {"action": "submit", "observation": "handed in"}],
        "history": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "This is how:", "is_demo": True},
            {"role": "user", "content": [{"type": "text", "text": "Where is my bag?"}]},
            agent("I look.", "look_up", '{"a": 1}'),
            {"role": "tool", "content": "in Oslo", "tool_call_ids": ["c1"]},
            agent("Done.", "submit", "{}"),
        ],
        "info": {
            "exit_status": "submitted",
            "model_stats": {"tokens_sent": 9, "tokens_received": 4, "instance_cost": 0.5},
        },
        "replay_config": '{"agent": {"model": {"name": "some-model"}}}',
    }  # fmt: skip


def mini_swe_agent() -> dict[str, Any]:
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "look_up", "arguments": '{"a": 1}'},
    }
    usage = {"usage": {"prompt_tokens": 9, "completion_tokens": 4}, "model": "some-model"}
    return {
        "trajectory_format": "mini-swe-agent-1.1",
        "info": {
            "exit_status": "Submitted",
            "model_stats": {"instance_cost": 0.5},
            "config": {"model": {"model_name": "other"}},
        },
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Where is my bag?"},
            {"role": "assistant", "content": "", "tool_calls": [call],
             "extra": {"cost": 0.25, "response": usage, "timestamp": 1767225600.5}},
            {"role": "tool", "tool_call_id": "c1", "content": "no", "extra": {"returncode": 1}},
            {"role": "assistant", "content": "I cannot."},
            {"role": "user", "content": "Format error: no command"},
            {"role": "assistant", "content": "Now:\n```bash\necho Oslo\n```"},
            {"role": "exit", "content": "Oslo", "extra": {"exit_status": "Submitted"}},
        ],
    }  # fmt: skip


def openhands() -> list[dict[str, Any]]:
    """A row of an evaluation: two calls in one answer, one of them failing; an ending."""

    def response(id: str, *names: tuple[str, str]) -> dict[str, Any]:
        calls = [
            {"id": call, "type": "function", "function": {"name": name, "arguments": '{"a": 1}'}}
            for call, name in names
        ]
        return {"id": id, "model": "some-model", "choices": [{"message": {"tool_calls": calls}}]}

    both = response("r1", ("c1", "look_up"), ("c2", "read"))

    def act(
        number: int, action: str, call: str, answer: dict[str, Any], **args: Any
    ) -> dict[str, Any]:
        about = {"function_name": action, "tool_call_id": call, "model_response": answer}
        return {"id": number, "source": "agent", "action": action, "args": args,
                "tool_call_metadata": about}  # fmt: skip

    def saw(number: int, cause: int, content: str, **more: Any) -> dict[str, Any]:
        return {"id": number, "source": "agent", "observation": "run", "cause": cause,
                "content": content, **more}  # fmt: skip

    history = [
        {"id": 0, "source": "agent", "action": "system", "args": {"content": "Be brief."}},
        {"id": 1, "source": "user", "action": "message", "args": {"content": "Where is my bag?"}},
        {"id": 2, "source": "user", "action": "recall", "args": {"query": "bag"}},
        act(3, "look_up", "c1", both, thought="I look.", a=1),
        act(4, "read", "c2", both, thought=""),
        saw(5, 3, "in Oslo"),
        saw(6, 4, "no such file", success=False),
        act(7, "finish", "c3", response("r2", ("c3", "finish")), thought="In Oslo."),
    ]
    usage = {"prompt_tokens": 9, "completion_tokens": 4}
    metrics = {"accumulated_cost": 0.5, "accumulated_token_usage": usage}
    return [
        {"instance_id": f"bag-{n}", "history": history, "metrics": metrics,
         "test_result": {"report": {"resolved": True}}}
        for n in (1, 2)
    ]  # fmt: skip


def sharegpt() -> list[dict[str, Any]]:
    calls = '[{"name": "look_up", "arguments": {"a": 1}}, {"name": "read", "arguments": {}}]'
    chat = [
        ("human", "Where is my bag?"),
        ("function_call", calls),
        ("observation", "in Oslo"),
        ("observation", "a map"),
        ("gpt", "<think>hm</think>In Oslo."),
        ("human", "And the cat?"),
        ("gpt", 'I look.\n<tool_call>{"name": "look_up", "arguments": {"a": 2}}</tool_call>'),
        ("tool", "<tool_response>at home</tool_response>"),
        ("gpt", "At home."),
    ]
    conversations = [{"from": speaker, "value": value} for speaker, value in chat]
    return [
        {"conversations": conversations, "system": "Be brief.", "tools": '[{"name": "look_up"}]'}
    ]


def agent_data() -> list[dict[str, Any]]:
    content = [
        {"class_": "text_observation", "content": "Where is my bag?", "source": "user"},
        {
            "class_": "api_action",
            "function": "look_up",
            "kwargs": {"a": 1},
            "description": "I look.",
        },
        {"class_": "text_observation", "content": "in Oslo", "source": "environment"},
        {"class_": "code_action", "language": "bash", "content": "ls", "description": None},
        {"class_": "web_observation", "url": "x", "html": "<p>", "image_observation": "QUJD"},
        {"class_": "message_action", "content": "In Oslo.", "description": None},
    ]
    return [{"id": "bag", "content": content, "details": {"resolved": "True", "tools": "[{}]"}}]


def otlp(*spans: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    """OTLP of (id, parent, attributes); texts and whole numbers only."""

    def value(given: Any) -> dict[str, Any]:
        return {"intValue": str(given)} if isinstance(given, int) else {"stringValue": given}

    rows = [
        {
            "traceId": "t1", "spanId": id, "parentSpanId": parent,
            "startTimeUnixNano": str(10**18 + number), "endTimeUnixNano": str(10**18 + 10**9),
            "attributes": [{"key": key, "value": value(one)} for key, one in about.items()],
        }
        for number, (id, parent, about) in enumerate(spans)
    ]  # fmt: skip
    return {"resourceSpans": [{"scopeSpans": [{"spans": rows}]}]}


def openinference() -> dict[str, Any]:
    """Two calls of an agent, and one of a sub-agent inside it."""
    start, end = "llm.input_messages.", "llm.output_messages.0.message."
    call = "message.tool_calls.0.tool_call."
    asked = {f"{start}0.message.role": "user", f"{start}0.message.content": "Where is my bag?"}
    called = {f"{call}id": "c1", f"{call}function.name": "look_up"}
    called[f"{call}function.arguments"] = '{"a": 1}'
    told = {
        **asked,
        f"{start}1.message.role": "assistant",
        **{f"{start}1.{name}": value for name, value in called.items()},
        f"{start}2.message.role": "tool",
        f"{start}2.message.tool_call_id": "c1",
        f"{start}2.message.content": "in Oslo",
    }
    common = {
        "openinference.span.kind": "LLM", "llm.model_name": "some-model", f"{end}role": "assistant",
        "llm.token_count.prompt": 10, "llm.token_count.completion": 5,
    }  # fmt: skip
    calls = {f"llm.output_messages.0.{name}": value for name, value in called.items()}
    agent = {"openinference.span.kind": "AGENT"}
    return otlp(
        ("a1", "", agent),
        ("l1", "a1", {**common, **asked, **calls}),
        ("a2", "a1", agent),
        ("l2", "a2", {**common, **asked, **calls, f"{start}0.message.content": "Look in Oslo."}),
        ("l3", "a1", {**common, **told, f"{end}content": "In Oslo."}),
    )


def openllmetry() -> dict[str, Any]:
    def message(start: str, role: str, content: str) -> dict[str, Any]:
        return {f"{start}.role": role, f"{start}.content": content}

    parts = json.dumps([{"type": "text", "text": "I look."}, LOOK])
    result = json.dumps([{"type": "tool_result", "tool_use_id": "c1", "content": "in Oslo"}])
    called = {
        **message("gen_ai.completion.0", "assistant", "I look."),
        "gen_ai.completion.0.tool_calls.0.id": "c1",
        "gen_ai.completion.0.tool_calls.0.name": "look_up",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"a": 1}',
    }
    common = {"gen_ai.response.model": "some-model", "gen_ai.usage.input_tokens": 10,
              "gen_ai.usage.output_tokens": 5}  # fmt: skip
    asked = message("gen_ai.prompt.0", "user", "Where is my bag?")
    told = {
        **asked,
        **message("gen_ai.prompt.1", "assistant", parts),
        **message("gen_ai.prompt.2", "user", result),
    }
    said = message("gen_ai.completion.0", "assistant", "In Oslo.")
    return otlp(
        ("r", "", {"traceloop.span.kind": "workflow"}),
        ("l1", "r", {**common, **asked, **called}),
        ("l2", "r", {**common, **told, **said}),
    )


def langfuse() -> dict[str, Any]:
    """JSON as text, once and twice; a result with the tool's name as its role; one call apart."""
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "look_up", "arguments": '{"a": 1}'},
    }
    asked = {"role": "user", "content": "Where is my bag?"}
    called = {"role": "assistant", "content": "", "tool_calls": [call]}
    told = [asked, called, {"role": "look_up", "content": "in Oslo"}]

    def generation(second: int, input: Any, output: Any) -> dict[str, Any]:
        return {
            "id": f"o{second}", "traceId": "t1", "type": "GENERATION", "model": "some-model",
            "startTime": f"2026-01-01T00:00:0{second}Z", "input": json.dumps(input),
            "output": json.dumps(json.dumps(output)),
            "usageDetails": {"input": 6, "input_cache_read": 4, "output": 3, "output_reasoning": 2},
        }  # fmt: skip

    return {
        "trace": {"id": "t1", "name": "bag", "scores": [{"name": "right", "value": 1}]},
        "observations": [
            generation(3, told, {"role": "assistant", "content": "In Oslo."}),
            generation(1, {"messages": [asked]}, called),
            generation(2, [{"role": "user", "content": "Judge this."}], "Good."),
            {"id": "s", "traceId": "t1", "type": "SPAN", "startTime": "2026-01-01T00:00:00Z"},
        ],
    }


def langsmith() -> dict[str, Any]:
    call = {"name": "look_up", "args": {"a": 1}, "id": "c1", "type": "tool_call"}

    def message(name: str, **fields: Any) -> dict[str, Any]:
        path = ["langchain", "schema", "messages", name]
        return {"lc": 1, "type": "constructor", "id": path, "kwargs": fields}

    asked = message("HumanMessage", content="Where is my bag?")
    called = message("AIMessage", content="", tool_calls=[call])
    answer = message("ToolMessage", content="in Oslo", tool_call_id="c1", status="success")
    said = message("AIMessage", content="In Oslo.")

    def run(id: str, type: str, told: list[Any], reply: Any) -> dict[str, Any]:
        tokens = {"token_usage": {"prompt_tokens": 10, "completion_tokens": 5}}
        return {
            "id": id, "trace_id": "t1", "dotted_order": id, "run_type": type,
            "inputs": {"messages": [told]}, "extra": {"metadata": {"ls_model_name": "some-model"}},
            "outputs": {"generations": [[{"message": reply}]], "llm_output": tokens},
        }  # fmt: skip

    first = run("r1", "llm", [asked], called)
    return {
        "post": [
            {**first, "outputs": {}},
            run("r2", "llm", [asked, called, answer], said),
            run("r0", "chain", [asked], said),
        ],
        "patch": [{"id": "r1", "outputs": first["outputs"], "end_time": "2026-01-01T00:00:00Z"}],
    }


SESSIONS: dict[str, Any] = {
    "anthropic": anthropic,
    "responses": responses,
    "claude-code": claude_code,
    "codex": codex,
    "gemini-cli": gemini_cli,
    "pi": pi,
    "swe-agent": swe_agent,
    "mini-swe-agent": mini_swe_agent,
    "openhands": openhands,
    "sharegpt": sharegpt,
    "agent-data": agent_data,
    "openinference": openinference,
    "openllmetry": openllmetry,
    "langfuse": langfuse,
    "langsmith": langsmith,
}
DOCUMENTS: tuple[str, ...] = (
    "swe-agent",
    "mini-swe-agent",
    "sharegpt",
    "agent-data",
    "openinference",
    "openllmetry",
)
DOCUMENTS += ("langfuse", "langsmith")
SESSION_LINES = frozenset(SESSIONS) - frozenset(DOCUMENTS)
