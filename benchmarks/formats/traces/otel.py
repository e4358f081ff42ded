"""OpenTelemetry spans of generative AI as OTLP/JSON: one document, or lines of documents.

Read are the semantic conventions for generative AI of version 1.37 and later, in which a span of a
model's call holds the messages sent (``gen_ai.input.messages``) and what came back
(``gen_ai.output.messages``), as JSON text or as a structured value. A trajectory is a conversation
(``gen_ai.conversation.id``), or a trace without one: of its calls those that go on from one
another. Other calls, such as those of sub-agents, are kept as metadata. Evaluation results are
scores: of a turn where they belong to its call, else of the trajectory. Only conversations whose
records are not all read yet are held in memory.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.core.digests import digest_text
from benchmarks.core.json_files import load, nests_too_deep
from benchmarks.core.problems import Problems, Unquoted
from benchmarks.formats.attachments import attachment
from benchmarks.formats.messages import (
    MOST_MESSAGES,
    first_words,
    read_messages,
    read_number,
    read_text,
)
from benchmarks.formats.shape import Shape
from benchmarks.formats.source import FileSource, Spot
from benchmarks.formats.traces.otlp import (
    INSIDE,
    LOGS,
    SPANS,
    attributes,
    iso,
    members,
    moment,
    resources,
    span_id,
)
from benchmarks.formats.trajectory import (
    ImportedMessage,
    ImportedTask,
    ImportedTrajectory,
    RubricScore,
    split_turns,
)

CALLS = ("chat", "generate_content", "text_completion")
EVALUATION = "gen_ai.evaluation.result"
DETAILS = "gen_ai.client.inference.operation.details"
OUTPUT, INPUT = "gen_ai.output.messages", "gen_ai.input.messages"
SYSTEM, TOOLS = "gen_ai.system_instructions", "gen_ai.tool.definitions"
CONVERSATION = "gen_ai.conversation.id"
NAME, VALUE = "gen_ai.evaluation.name", "gen_ai.evaluation.score.value"
CAPTURE = (
    f"a model's call with {OUTPUT}: the program must record message content "
    "(OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT); spans of OpenInference and OpenLLMetry "
    "are of the formats openinference and openllmetry"
)
# Attributes of OpenInference and OpenLLMetry, which have readers of their own.
_OTHERS = (
    "openinference.span.kind",
    *(
        f"gen_ai.{side}.0.{field}"
        for side in ("prompt", "completion")
        for field in ("role", "content")
    ),
)
NO_EVALUATION = "the file holds no evaluation result of this conversation"


def recognises(shape: Shape) -> bool:
    if shape.kind not in ("object", "lines") or not {SPANS, LOGS} & shape.top:
        return False
    return shape.tells("key", INPUT, OUTPUT) or not shape.tells("key", *_OTHERS)


@dataclass
class Record:
    """A span or an event: ``kind`` is the operation of a span, the name of an event."""

    spot: Spot
    trace: str
    span: str
    kind: str
    about: dict[str, Any]
    start: int = 0
    end: int = 0
    failed: bool = False


@dataclass
class Chain:
    """Calls that go on from one another: their messages as the file has them.

    ``calls`` are (place of the call's first reply among the messages, its record).
    """

    messages: list[Any] = field(default_factory=list)
    calls: list[tuple[int, Record]] = field(default_factory=list)


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield the conversations of a file, each as soon as its last record is read."""
    names: dict[str, str] = {}
    traces: Counter[str] = Counter()
    for record in _records(source, Problems()):
        traces[record.trace] += 1
        given = record.about.get(CONVERSATION)
        if isinstance(given, str) and given:
            names.setdefault(record.trace, given)
    left: Counter[str] = Counter()
    for trace, count in traces.items():
        left[names.get(trace, trace)] += count
    waiting: dict[str, list[Record]] = {}
    made_any = False
    for record in _records(source, problems):
        name = names.get(record.trace, record.trace)
        waiting.setdefault(name, []).append(record)
        if len(waiting[name]) > MOST_MESSAGES:
            record.spot.fault(
                f"at most {MOST_MESSAGES} records of a conversation", Unquoted("more")
            )
            return
        left[name] -= 1
        if left[name]:
            continue
        before = problems.total
        made = _trajectory(name, waiting.pop(name))
        if made is not None and problems.total == before:
            made_any = True
            yield made
    if not made_any and not problems.total:
        Spot(problems, source.name).fault(CAPTURE, Unquoted("none"))


# --- Records --------------------------------------------------------------------------------------


def _records(source: FileSource, problems: Problems) -> Iterator[Record]:
    """Yield spans of generative AI and events that belong to them, in the order of the file."""
    for spot, name, resource in resources(source, problems):
        scopes, rows = INSIDE[name]
        for scope_spot, scope in members(spot, resource, scopes):
            for row_spot, row in members(scope_spot, scope, rows):
                yield from (_span if name == SPANS else _log)(row_spot, row)


def _span(spot: Spot, row: Any) -> Iterator[Record]:
    """Yield a span that is about generative AI, and its events that are."""
    if not isinstance(row, dict):
        spot.fault("a span: an object with traceId, spanId and attributes", row)
        return
    about = attributes(spot, row)
    events = [
        (at, event, attributes(at, event))
        for at, event in members(spot, row, "events")
        if isinstance(event, dict) and str(event.get("name", "")).startswith("gen_ai.")
    ]
    if not events and not any(name.startswith("gen_ai.") for name in about):
        return
    trace, span = span_id(spot, row, "traceId"), span_id(spot, row, "spanId")
    for _, event, details in events:
        if event["name"] == DETAILS:
            about = {**details, **about}
    operation = about.get("gen_ai.operation.name")
    kind = operation if isinstance(operation, str) else ("chat" if OUTPUT in about else "")
    status = row.get("status")
    code = status.get("code") if isinstance(status, dict) else None
    yield Record(
        spot, trace, span, kind, about,
        start=moment(spot, row, "startTimeUnixNano"),
        end=moment(spot, row, "endTimeUnixNano"),
        failed=code in (2, "STATUS_CODE_ERROR"),
    )  # fmt: skip
    for at, event, details in events:
        if event["name"] == EVALUATION:
            when = moment(at, event, "timeUnixNano")
            yield Record(at, trace, span, EVALUATION, details, start=when, end=when)


def _log(spot: Spot, row: Any) -> Iterator[Record]:
    """Yield an event of generative AI that was logged apart from its span."""
    if not isinstance(row, dict):
        spot.fault("a log record: an object with attributes", row)
        return
    about = attributes(spot, row)
    name = row.get("eventName") or about.get("event.name")
    if name not in (EVALUATION, DETAILS):
        return
    trace, span = span_id(spot, row, "traceId"), span_id(spot, row, "spanId")
    when = moment(spot, row, "timeUnixNano")
    yield Record(spot, trace, span, str(name), about, start=when, end=when)


# --- Conversations --------------------------------------------------------------------------------


def _trajectory(name: str, records: Sequence[Record]) -> ImportedTrajectory | None:
    """Return the trajectory of a conversation; None where no call of a model says what it wrote."""
    _add_details(records)
    calls = [one for one in records if one.kind in CALLS and OUTPUT in one.about]
    if not calls:
        return None
    named = any(isinstance(one.about.get(CONVERSATION), str) for one in records)
    chains = _chains(sorted(calls, key=lambda one: one.start), deltas=named)
    main = max(chains, key=lambda chain: len(chain.messages))
    first, last = main.calls[0][1], main.calls[-1][1]
    rows, places = _rows(main, records)
    messages = read_messages(first.spot.at("messages"), rows)
    if len(messages) != len(rows):  # a fault was noted
        return None
    messages = _with_facts(messages, main, places)
    scores, undefined, rubric, evaluations = _scores(records, main, places, messages)
    others = [chain.messages for chain in chains if chain is not main]
    times = [one for one in records if one.kind != EVALUATION]
    prompt = first_words(messages)
    model = first.about.get("gen_ai.request.model") or first.about.get("gen_ai.response.model")
    agent = next((a for one in records if (a := one.about.get("gen_ai.agent.name"))), "")
    facts = {
        "conversation": name,
        "agent": agent,
        "provider": first.about.get("gen_ai.provider.name"),
        "other_calls": others,
        "evaluations": evaluations,
        "spans": dict(Counter(one.kind for one in times if one.kind)),
    }
    return ImportedTrajectory(
        task=ImportedTask(id=digest_text(prompt), prompt=prompt),
        messages=messages,
        agent=read_text(first.spot, "gen_ai.request.model", model or agent),
        scores=scores,
        undefined=undefined,
        termination=_termination(last),
        started=iso(min(one.start for one in times)),
        finished=iso(max(one.end for one in times)),
        tools=_tools(first),
        metadata={key: value for key, value in facts.items() if value not in (None, "", [], {})},
        rubric=rubric,
    )


def _add_details(records: Sequence[Record]) -> None:
    """Give calls the content that was logged apart from their spans."""
    spans = {one.span: one for one in records if one.kind not in (EVALUATION, DETAILS)}
    for one in records:
        if one.kind == DETAILS and one.span in spans:
            span = spans[one.span]
            span.about = {**one.about, **span.about}
            span.kind = span.kind or "chat"


def _chains(calls: Sequence[Record], *, deltas: bool) -> list[Chain]:
    """Put calls together where one begins with all messages of another and its reply.

    In a conversation with an id, a call of the same agent may tell only what is new (``deltas``).
    """
    chains: list[Chain] = []
    for call in calls:
        messages = [*_system(call), *_content(call, INPUT)]
        replies = [_bare(one) for one in _content(call, OUTPUT)[:1]]
        chain = next((c for c in reversed(chains) if _goes_on(c, messages)), None)
        if chain is None and call.about.get(SYSTEM) is None:
            # Some programs state the system instructions on the first span of a dialogue alone.
            told = ((c, [*_instructions(c), *messages]) for c in reversed(chains))
            chain, messages = next((p for p in told if _goes_on(*p)), (None, messages))
        if chain is None and deltas:
            chain = next((c for c in reversed(chains) if _is_delta(c, call, messages)), None)
            if chain is not None:
                messages = [*chain.messages, *_content(call, INPUT)]
        if chain is None:
            chain = Chain()
            chains.append(chain)
        chain.messages = messages
        chain.calls.append((len(messages), call))
        chain.messages = [*messages, *replies]
    return chains


def _instructions(chain: Chain) -> list[Any]:
    """Return the system message with which a chain begins, if it does."""
    first = chain.messages[:1]
    return (
        first if first and isinstance(first[0], dict) and first[0].get("role") == "system" else []
    )


def _goes_on(chain: Chain, messages: Sequence[Any]) -> bool:
    before = chain.messages
    return (
        len(messages) >= len(before) and [_bare(one) for one in messages[: len(before)]] == before
    )


def _is_delta(chain: Chain, call: Record, messages: Sequence[Any]) -> bool:
    last = chain.calls[-1][1]
    names = ("gen_ai.agent.name", *([SYSTEM] if call.about.get(SYSTEM) is not None else []))
    same = all(last.about.get(name) == call.about.get(name) for name in names)
    roles = [one.get("role") for one in _content(call, INPUT) if isinstance(one, dict)]
    return same and bool(roles) and "assistant" not in roles and messages[:1] != chain.messages[:1]


def _bare(message: Any) -> Any:
    """Return a message without what only a reply says, so that it equals itself when told again."""
    if not isinstance(message, dict):
        return message
    return {key: value for key, value in message.items() if key in ("role", "parts", "name")}


def _content(call: Record, name: str) -> list[Any]:
    """Return messages of a call: a list, or a text that holds one."""
    given = call.about.get(name)
    if isinstance(given, str):
        try:
            value = load(given)
            given = None if nests_too_deep(given, value) else value
        except (ValueError, RecursionError):
            given = None
        if given is None:
            call.spot.at(name).fault("a list of messages as JSON", call.about[name])
            given = []
        call.about[name] = given
    if given is None:
        return []
    if not isinstance(given, list):
        call.spot.at(name).fault("a list of messages", given)
        call.about[name] = []
        return []
    return given


def _system(call: Record) -> list[Any]:
    parts = _content(call, SYSTEM)
    return [{"role": "system", "parts": parts}] if parts else []


# --- Messages -------------------------------------------------------------------------------------


def _rows(chain: Chain, records: Sequence[Record]) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the chain as chat messages, and the place of each of its messages among them."""
    spot = chain.calls[0][1].spot
    rows: list[dict[str, Any]] = []
    places = []
    for index, message in enumerate(chain.messages):
        places.append(len(rows))
        rows += _chat(spot.at("messages").at(index), message)
    last = rows[places[-1] :] if places else []
    open_calls = [call for row in last for call in row.get("tool_calls", ())]
    results = {
        str(one.about.get("gen_ai.tool.call.id")): one.about.get("gen_ai.tool.call.result")
        for one in records
        if one.kind == "execute_tool"
    }
    for call in open_calls:
        if call["id"] and results.get(call["id"]) is not None:
            content = _as_text(results[call["id"]])
            rows.append({"role": "tool", "tool_call_id": call["id"], "content": content})
    return rows, places


def _chat(spot: Spot, message: Any) -> Iterator[dict[str, Any]]:
    """Yield a message of the conventions as messages of a chat: each tool's response is one."""
    parts = message.get("parts") if isinstance(message, dict) else None
    if not isinstance(parts, list):
        spot.fault("a message: an object with role and a list of parts", message)
        return
    row: dict[str, Any] = {"role": message.get("role")}
    texts, thoughts, calls, others, responses = [], [], list[Any](), list[Any](), 0
    for index, part in enumerate(parts):
        at = spot.at("parts").at(index)
        kind = part.get("type") if isinstance(part, dict) else None
        if not isinstance(kind, str):
            at.fault("a part: an object with 'type'", part)
        elif kind == "text":
            texts.append(read_text(at, "content", part.get("content")))
        elif kind == "reasoning":
            thoughts.append(read_text(at, "content", part.get("content")))
        elif kind == "tool_call":
            calls.append({
                "id": read_text(at, "id", part.get("id")),
                "name": part.get("name"),
                "arguments": part.get("arguments"),
            })  # fmt: skip
        elif kind == "tool_call_response":
            responses += 1
            yield {
                "role": "tool",
                "tool_call_id": read_text(at, "id", part.get("id")),
                "content": _as_text(part.get("response", part.get("result"))),
            }
        else:
            media = {"media_type": part.get("mime_type"), "data": part.get("content")}
            others.append(attachment(str(part.get("modality") or kind), {**media, **part}))
    if responses and not (texts or thoughts or calls or others):
        return
    row["content"] = "\n".join(texts) or None
    if thoughts:
        row["reasoning_content"] = "\n".join(thoughts)
    if calls:
        row["tool_calls"] = calls
    if others:
        row["parts"], row["attachments"] = parts, others
    if isinstance(message.get("name"), str):
        row["name"] = message["name"]
    yield row


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _with_facts(
    messages: Sequence[ImportedMessage], chain: Chain, places: Sequence[int]
) -> tuple[ImportedMessage, ...]:
    """Return the messages with time, tokens and finish reason of the call that wrote them."""
    annotated = list(messages)
    for index, call in chain.calls:
        if index >= len(places) or places[index] >= len(annotated):
            continue
        place, about = places[index], call.about
        reply: Any = next(iter(_content(call, OUTPUT)), {})
        reason = reply.get("finish_reason") if isinstance(reply, dict) else None
        extra = {"finish_reason": reason} if isinstance(reason, str) else {}
        annotated[place] = replace(
            annotated[place],
            at=iso(call.end),
            tokens_in=_count(about.get("gen_ai.usage.input_tokens")),
            tokens_out=_count(about.get("gen_ai.usage.output_tokens")),
            extra={**annotated[place].extra, **extra},
        )
    return tuple(annotated)


def _count(value: Any) -> int | None:
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if good else None


def _tools(call: Record) -> tuple[dict[str, Any], ...]:
    return tuple(tool for tool in _content(call, TOOLS) if isinstance(tool, dict))


def _termination(last: Record) -> str:
    if last.failed or last.about.get("error.type"):
        return "error"
    reply: Any = next(iter(_content(last, OUTPUT)), {})
    reason = reply.get("finish_reason") if isinstance(reply, dict) else None
    if not isinstance(reason, str) or not reason:
        listed = last.about.get("gen_ai.response.finish_reasons")
        reason = listed[0] if isinstance(listed, list) and listed else ""
    if not isinstance(reason, str):
        return "not_stated"
    return "completed" if reason == "stop" else reason[:40] or "not_stated"


# --- Scores ---------------------------------------------------------------------------------------


def _scores(
    records: Sequence[Record],
    chain: Chain,
    places: Sequence[int],
    messages: tuple[ImportedMessage, ...],
) -> tuple[dict[str, float | None], dict[str, str], tuple[RubricScore, ...], list[dict[str, Any]]]:
    """Return evaluation results: of the calls in the chain by turn, all others of the
    trajectory.
    """
    turns = _turns(messages)
    at = {call.span: turns.get(places[i], 1) for i, call in chain.calls if i < len(places)}
    scores: dict[str, float | None] = {"reward": None}
    undefined = {"reward": NO_EVALUATION}
    rubric, kept = [], []
    for one in sorted(records, key=lambda record: record.start):
        if one.kind != EVALUATION:
            continue
        name = one.about.get(NAME)
        if not isinstance(name, str) or not name:
            one.spot.at(NAME).fault("the name of the evaluation", name)
            continue
        value = read_number(one.spot, VALUE, one.about.get(VALUE))
        reason = "" if value is not None else "the evaluation states no number"
        turn = at.get(one.span)
        message_ids = {
            key.removeprefix("gen_ai.evaluation."): value
            for key, value in one.about.items()
            if key.startswith("gen_ai.evaluation.")
        }
        kept.append({**message_ids, **({"turn": turn} if turn else {})})
        if turn is not None:
            rubric.append(RubricScore(turn, name[:120], value, reason, judge="evaluation"))
            continue
        scores[name] = value
        if reason:
            undefined[name] = reason
        if scores["reward"] is None:
            scores["reward"] = value
            undefined["reward"] = reason or NO_EVALUATION
    if scores["reward"] is not None:
        undefined.pop("reward", None)
    return scores, undefined, tuple(rubric), kept


def _turns(messages: tuple[ImportedMessage, ...]) -> dict[int, int]:
    """Return the turn of each message by its place; none for those before the first turn."""
    opening, turns = split_turns(messages)
    turn_of, place = {}, len(opening)
    for turn in turns:
        for _ in turn.messages:
            turn_of[place] = turn.index
            place += 1
    return turn_of
