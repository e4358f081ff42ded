"""Small sound files of sessions and logs of other programs; all words in them are ours."""

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


SESSIONS: dict[str, Any] = {
    "anthropic": anthropic,
    "responses": responses,
}
SESSION_LINES = frozenset(("anthropic", "responses"))
