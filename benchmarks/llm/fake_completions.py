"""What a call to the fake endpoint brings, where nothing goes wrong with the call itself."""

import random
from typing import Any

from benchmarks.core.seeds import derive_seed
from benchmarks.llm.fake_construction import contradicted, repeated
from benchmarks.llm.fake_models import Model
from benchmarks.llm.fake_replies import Reader, nonsense, reply_to, tool_call

# By this, replies tell that no model made them.
FINGERPRINT = "planjury-fake-endpoint"


def completion(
    reader: Reader, model: Model, held: str | None
) -> tuple[dict[str, Any], dict[str, int]]:
    """A reply in its model's style, and what it used, whether the reply says so or not.

    ``held`` is what the caller sent to be let in; the hostile one gives it away.
    """
    drawn = random.Random(derive_seed("style", reader.digest)).random()
    style = model.style if drawn < model.share else ""
    call = tool_call(reader) if not style else None
    text = "" if call else reply_to(reader)
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    finish = "tool_calls" if call else "stop"
    thoughts = "The question wants an answer in its own form. So be it."
    match style:
        case "nonsense":
            message["content"] = nonsense(reader)
        case "empty":
            message["content"] = None
        case "cut-off":
            message["content"], finish = text[: len(text) // 2], "length"
        case "filtered":
            message["content"], finish = "", "content_filter"
        case "repeats":
            message["content"] = repeated(text)
        case "contradicts":
            message["content"] = contradicted(text)
        case "thinks":
            message["reasoning_content"] = thoughts
        case "think-tags":
            message["content"] = f"<think>\n{thoughts}\n</think>\n\n{text}"
        case "echo":
            message["content"] = f"{text}\n{held}"
    if call:
        message["tool_calls"] = [call]
    said = str(message["content"] or "")
    asked = sum(len(str(m.get("content") or "")) for m in reader.messages)
    usage = {"prompt_tokens": asked // 4 + 1, "completion_tokens": len(said) // 4 + 1}
    reply = {
        "id": f"chatcmpl-{reader.digest[:12]}",
        "object": "chat.completion",
        "created": 0,
        "model": f"{reader.body.get('model')}-2025",
        "system_fingerprint": FINGERPRINT,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": usage | {"total_tokens": sum(usage.values())},
    }
    if style == "no-usage":
        del reply["usage"]
    return reply, usage
