"""Replies of the fake endpoint: it reads the messages and answers in the role that they describe.

The same request always gets the same reply. It knows the roles of AdaPlanBench and ADAPT by their
prompts, follows a JSON schema where one is given, calls tools where some are offered, and else
writes a plan. Its plans avoid what it was told, and its judges go by words: enough for runs that
get somewhere, and no more.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.core.digests import derive_seed, digest
from devtools.fake_endpoint.construction import asked_in_words, contradicted, repeated, reply_about
from devtools.fake_endpoint.models import Model

# How prompts about failures show them.
_FAILURE = re.compile(r"^### (F\d+)\n(.*?)(?=^### F\d+\n|\Z)", re.MULTILINE | re.DOTALL)
_TURN = re.compile(r"^Turn (\d+)", re.MULTILINE)
_ENDED = re.compile(r"^Ended: (.+)$", re.MULTILINE)
_NOTE = re.compile(r"^(F\d+): (.+)$", re.MULTILINE)
_MOST = re.compile(r"at most (\d+) clusters")
# Things that a plan may use, each with a step; the words that judges look for are among them.
_STEPS = {
    "towel": "Lay a dry towel over the place and press it down with flat hands.",
    "bucket": "Fill a bucket with warm tap water and keep it within reach.",
    "hair dryer": "Go over it with a hair dryer, which needs electricity and is loud.",
    "hammer": "Tap along the edge with a hammer; the loud knocking lasts a minute.",
    "kettle": "Pour boiling water from the kettle over it, slowly.",
    "sharp blade": "Run a sharp blade along the seam to part the two sides.",
    "duct tape": "Fix the loose end with duct tape; a sticky residue may stay behind.",
    "neighbour": "Ask another person, such as a neighbour, to hold the other side.",
    "vinegar": "Rub it with vinegar, and mind the strong smell.",
    "string": "Tie a string round the middle and draw it tight.",
    "newspaper": "Spread out old newspaper under it, which is thrown away afterwards.",
    "wooden spoon": "Use a wooden spoon as a lever, with a hard grip.",
    "salt": "Scatter salt on it and wait ten minutes.",
    "broom": "Reach the far side with a broom handle.",
    "soap": "Loosen it with a drop of soap and a sponge.",
    "fan": "Set up a fan so that there is a draught in the room.",
    "rubber gloves": "Put on rubber gloves before you touch it.",
    "cardboard": "Cut a piece of cardboard to size and slide it under.",
}
_PLAIN = ("of", "the", "that", "this", "with", "have", "there", "would", "from", "they", "will")
_KEYED = re.compile(r"^- (\S+): (.+)$", re.MULTILINE)
_LISTED = re.compile(r"^- (.+)$", re.MULTILINE)
_NUMBERED = re.compile(r"^(\d+)\. (.+)$", re.MULTILINE)
_NAMED = re.compile(r"Name all of: (.+?)\.(?:\s|$)")
# A word with the space before it; everything else character by character.
_TOKEN = re.compile(r" ?\w+|\W")
_NONSENSE = ("blue seventeen", "{]", "\x00\u2603", "NaN", '{"violated": "all"', "<html>", "1e999")


class Reader:
    """A request as the fake endpoint reads it."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.body = body
        # A streamed reply is the same as one that comes at once.
        asked = {k: v for k, v in body.items() if k not in ("stream", "stream_options")}
        self.digest = digest(asked)
        self.rng = random.Random(derive_seed("fake", self.digest))
        self.messages = [m for m in body.get("messages", ()) if isinstance(m, dict)]
        self.brief = "\n".join(self.texts_of_role("system"))

    def texts_of_role(self, role: str) -> list[str]:
        return [str(m.get("content") or "") for m in self.messages if m.get("role") == role]


def reply_to(reader: Reader) -> str:
    """Return the text of a reply in the role that the first message describes."""
    brief = reader.brief
    if '"violated"' in brief:
        return _violations(reader)
    if '"scores"' in brief:
        return _scores(reader)
    if "what reviewers found lacking" in brief.lower():
        return "It would be allowed, but please improve this: " + _points(brief)
    if "points to tell" in brief.lower():
        return "\n".join(f"I should have said: {point}" for point in _LISTED.findall(brief))
    asked = "\n".join(reader.texts_of_role("user"))
    if (clusters := _clusters_about(brief, asked)) is not None:
        return json.dumps(clusters, ensure_ascii=False)
    if "The question: does this hold" in brief:
        return json.dumps(_answer_about(brief, asked, reader.rng), ensure_ascii=False)
    if (reply := reply_about(brief, asked, _STEPS, reader.rng)) is not None:
        return json.dumps(reply, ensure_ascii=False)
    if request := asked_in_words(brief, asked):
        return request
    if "A household robot is preparing this for you" in brief:
        return _preference(reader)
    schema = _schema(reader.body)
    if schema is not None:
        return json.dumps(_fill(schema, reader.rng), ensure_ascii=False)
    return _action(reader) if "you take exactly one action" in brief else _plan(reader)


def tool_call(reader: Reader) -> dict[str, Any] | None:
    """Return a call of one of the tools offered; None after two results, when there is enough to
    say.
    """
    tools = [t["function"] for t in reader.body.get("tools") or () if "function" in t]
    if not tools or len(reader.texts_of_role("tool")) >= 2:
        return None
    tool = reader.rng.choice(tools)
    arguments = _fill(tool.get("parameters") or {"type": "object"}, reader.rng)
    function = {"name": tool.get("name", ""), "arguments": json.dumps(arguments)}
    return {"id": f"call_{reader.digest[:12]}", "type": "function", "function": function}


def nonsense(reader: Reader) -> str:
    return " ".join(reader.rng.sample(_NONSENSE, 3))


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z]{4,}", text.lower()) if word not in _PLAIN}


def _violations(reader: Reader) -> str:
    """Reply to a constraint judge's ask: wishes whose words occur in the plan are mostly
    violated, others seldom.
    """
    plan = _words(reader.texts_of_role("user")[0] if reader.texts_of_role("user") else "")
    violated = {}
    for key, text in _KEYED.findall(reader.brief):
        shared = _words(text) & plan
        if reader.rng.random() < (0.5 if shared else 0.1):
            named = ", ".join(sorted(shared)) or "what it brings about"
            violated[key] = f"because of: {named}"
    return json.dumps({"violated": list(violated), "reasons": violated}, ensure_ascii=False)


def _scores(reader: Reader) -> str:
    """Reply with scores that agree on the plan and differ by judge, seldom none."""
    named = _NAMED.search(reader.brief)
    keys = [key.strip() for key in named[1].split(",")] if named else []
    plan = random.Random(derive_seed("plan", *reader.texts_of_role("user")[:1]))
    level = plan.choice((3.2, 3.8, 4.2, 4.6))
    scores = {}
    for key in keys:
        score = round(level + plan.gauss(0, 0.5) + reader.rng.gauss(0, 0.4))
        scores[key] = None if reader.rng.random() < 0.01 else min(5, max(1, score))
    reasons = dict.fromkeys(keys, "scored by the fake endpoint, which knows no plans")
    return json.dumps({"scores": scores, "reasons": reasons})


def _points(brief: str) -> str:
    return "; ".join(_LISTED.findall(brief))


def _plan(reader: Reader) -> str:
    """Reply with numbered steps that use things not objected to, new ones on every turn."""
    feedback_words = _words(" ".join(reader.texts_of_role("user")[1:]))
    free = [name for name, step in _STEPS.items() if not feedback_words & _words(f"{name} {step}")]
    chosen = reader.rng.sample(free or list(_STEPS), min(3, len(free) or 3))
    steps = ["Clear the place and see what is there.", *(_STEPS[name] for name in chosen)]
    steps.append("Check the result, and put everything back.")
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def _action(reader: Reader) -> str:
    """Reply with the next action in ADAPT's household: ask, look for crockery, serve it, end."""
    layout, *results = reader.texts_of_role("user")
    things = re.findall(r"\b(?:bowl|plate|mug)_\d+", "\n".join(results))
    tables = re.findall(r"\b\w*table_\d+", layout)
    serve = f"Move {things[0]} to {tables[0]}" if things and tables else "Look for a table"
    actions = ["Ask How would you like it?", "Look for bowl", "Ask Is there more?", serve]
    if "- Ask QUESTION" not in reader.brief:
        actions = [action for action in actions if not action.startswith("Ask")]
    action = [*actions, "Declare Done"][min(len(results), len(actions))]
    thinks = "Thought: One step after the other.\nAction: " if '"Thought:"' in reader.brief else ""
    return thinks + action


def _preference(reader: Reader) -> str:
    """Reply as ADAPT's person with a preference that was not told yet; with none at the end."""
    told = "\n".join(reader.texts_of_role("assistant"))
    untold = [row for row in _NUMBERED.findall(reader.brief) if row[1] not in told]
    numbers = [int(number) for number, _ in untold[:1]]
    answer = untold[0][1] if untold else "I have no preference about that."
    return json.dumps({"answer": answer, "preferences": numbers}, ensure_ascii=False)


def _schema(body: dict[str, Any]) -> dict[str, Any] | None:
    shape = body.get("response_format")
    inner = shape.get("json_schema") if isinstance(shape, dict) else None
    schema = inner.get("schema") if isinstance(inner, dict) else None
    return schema if isinstance(schema, dict) else None


def _fill(schema: dict[str, Any], rng: random.Random, depth: int = 0) -> Any:
    """Return a value that a schema allows, of the parts of JSON schema that strict modes know."""
    options: Sequence[Any] = schema.get("anyOf") or ()
    if options and depth < 20:
        return _fill(options[0] if rng.random() < 0.9 else rng.choice(options), rng, depth + 1)
    if schema.get("enum"):
        return rng.choice(schema["enum"])
    match schema.get("type"):
        case "object" if depth < 20:
            inner = schema.get("properties", {})
            return {name: _fill(part, rng, depth + 1) for name, part in inner.items()}
        case "array" if depth < 20:
            count = rng.randint(schema.get("minItems", 0), 2 + schema.get("minItems", 0))
            return [_fill(schema.get("items", {}), rng, depth + 1) for _ in range(count)]
        case "integer":
            return rng.randint(schema.get("minimum", 0), schema.get("maximum", 9))
        case "number":
            return round(rng.uniform(schema.get("minimum", 0), schema.get("maximum", 1)), 3)
        case "boolean":
            return rng.random() < 0.5
        case "null":
            return None
        case _:
            return "a text of the fake endpoint"


# By this, replies tell that no model made them.
FINGERPRINT = "planjury-fake-endpoint"


def completion(
    reader: Reader, model: Model, held: str | None
) -> tuple[dict[str, Any], dict[str, int]]:
    """Return a reply in its model's style, and what it used, whether the reply says so or not.

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
    content = str(message["content"] or "")
    asked = sum(len(str(m.get("content") or "")) for m in reader.messages)
    usage = {"prompt_tokens": asked // 4 + 1, "completion_tokens": len(content) // 4 + 1}
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


def echoed(reader: Reader, model: Model) -> tuple[dict[str, Any], dict[str, int]]:
    """Return a prompt's tokens with made-up log probabilities, and what was used."""
    tokens = _TOKEN.findall(str(reader.body["prompt"]))
    values: list[float | None] = [-3 * random.Random(digest([t])).random() for t in tokens]
    listed = {"tokens": tokens, "token_logprobs": [None, *values[1:]]}
    usage = {"prompt_tokens": len(tokens), "completion_tokens": 0}
    choice = {"index": 0, "text": reader.body["prompt"], "finish_reason": "length"}
    reply = {
        "id": f"cmpl-{reader.digest[:12]}",
        "object": "text_completion",
        "model": str(reader.body.get("model", "")),
        "choices": [{**choice, "logprobs": listed if model.logprobs else None}],
        "usage": usage,
    }
    return reply, usage


# --- Failures that are read and grouped: by words alone -------------------------------------------


def _clusters_about(brief: str, texts: str) -> dict[str, Any] | None:
    """Return notes on failures, or clusters of notes; None where neither is asked for."""
    if '{"failures"' in brief:
        return {"failures": [_note(name, text) for name, text in _FAILURE.findall(texts)]}
    if '{"clusters"' in brief:
        most = _MOST.search(brief)
        return {"clusters": _clusters(texts, int(most[1]) if most else 8)}
    return None


def _note(name: str, text: str) -> dict[str, Any]:
    turns = [int(number) for number in _TURN.findall(text)]
    ended = _ENDED.search(text)
    line = text.strip().splitlines()[-1] if text.strip() else ""
    cause = f"It ended with: {ended[1] if ended else 'nothing that is known'}."
    return {"id": name, "cause": cause, "turn": max(turns, default=1), "quote": line[-60:]}


def _answer_about(brief: str, text: str, rng: random.Random) -> dict[str, Any]:
    """Return yes where a word of the question is in the last turn; sometimes a false quote."""
    *_, turn = _TURN.split(text)
    lines = [line for line in turn.partition("\nEnded: ")[0].splitlines() if line.strip()]
    asked = brief.partition("The question: does this hold")[2].lower()
    words = set(re.findall(r"[a-z]{5,}", asked)) - {"trajectory"}
    holds = any(word in turn.lower() for word in words)
    draw = rng.random()
    if draw < 0.05:
        return {"answer": "cannot tell", "quote": ""}
    quote = "words that nobody said" if draw < 0.15 else " ".join(lines[-1].split()[:8])
    return {"answer": "yes" if holds else "no", "quote": quote if lines else ""}


def _clusters(asked: str, most: int) -> list[dict[str, Any]]:
    notes = _NOTE.findall(asked)
    kinds = [kind for kind, _ in Counter(cause for _, cause in notes).most_common(most)]
    return [
        {
            "name": kind.removesuffix(".")[:80],
            "description": "Grouped by the fake endpoint, which reads no plans.",
            "members": [name for name, cause in notes if cause == kind],
        }
        for kind in kinds
    ]


# A word with the white space after it.
_PIECE = re.compile(r"\s*\S+\s*")


def stream_events(reply: dict[str, Any], *, by_letter: bool = False) -> Iterator[bytes]:
    """Yield a completion as server-sent events: a piece for each word, or for each letter."""
    choice = reply["choices"][0]
    message = choice["message"]
    content = str(message.get("content") or "")
    if thoughts := message.get("reasoning_content"):
        yield _event(reply, {"reasoning_content": thoughts})
    for piece in content if by_letter else _PIECE.findall(content):
        yield _event(reply, {"content": piece})
    for index, call in enumerate(message.get("tool_calls") or ()):
        yield _event(reply, {"tool_calls": [{"index": index, **call}]})
    yield _event(reply, {}, choice["finish_reason"])
    if "usage" in reply:
        yield _event({**reply, "choices": []}, None, usage=reply["usage"])
    yield b"data: [DONE]\n\n"


def _event(
    reply: dict[str, Any], delta: dict[str, Any] | None, finish: str | None = None, **more: Any
) -> bytes:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    event = {"id": reply["id"], "model": reply.get("model"), "choices": choices, **more}
    return b"data: " + json.dumps(event).encode() + b"\n\n"
