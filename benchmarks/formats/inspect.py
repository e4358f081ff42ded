"""Logs of Inspect: ``.eval`` (a ZIP archive) and ``.json``; a sample becomes a trajectory.

A sample's target is hidden from the agent. Of the events, those of models say when a message was
written, how many tokens it took and which tools there were; where a sample has no messages, the
last of them holds them. Logs exported here have the tools in the metadata of their samples.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from benchmarks.core.problems import FileRefused, Problems, Unquoted
from benchmarks.formats.messages import (
    MOST_MESSAGES,
    first_words,
    read_messages,
    read_number,
    read_text,
)
from benchmarks.formats.sessions.transcript import tool_definitions
from benchmarks.formats.shape import Shape
from benchmarks.formats.source import FileSource, Spot, refused
from benchmarks.formats.trajectory import ImportedTask, ImportedTrajectory, task_key

LARGEST = 30_000
ATTACHMENTS = ("attachment://", "tc://")
LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
START = "_journal/start.json"
_HEADER = ("version", "status", "eval", "plan", "results", "stats", "error")
WRITER = "PlanJury"
# Fields of our messages that say nothing more.
_WRITTEN = ("id", "metadata", "error", "function")
_EVENTS = ("events", "events_data")
_READ = frozenset(("messages", "id", "epoch", "input", "target", "scores", "attachments", "tools"))


def recognises(shape: Shape) -> bool:
    if shape.kind == "bundle":
        return bool(shape.keys & {"samples", "header.json", "_journal"})
    return shape.kind == "object" and shape.has("eval") and bool(shape.keys & {"samples", "plan"})


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield the samples of a log; faults are noted, and what has one is left out."""
    samples = (_archive if source.members else _json)(source, problems, header)
    model, own = None, False
    for spot, sample in samples:
        if model is None:
            model = _model(Spot(problems, source.name).at("eval"), header.get("eval"))
            own = _is_own(header.get("eval"))
        before = problems.total
        made = _trajectory(spot, _flat(sample) if own else sample, model, own)
        if made is not None and problems.total == before:
            yield made


def _json(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[tuple[Spot, Any]]:
    top = Spot(problems, source.name)
    for field, index, item in source.entries(skip=("samples", "reductions")):
        if index is None and field in _HEADER:
            header[field] = item
    for field, index, item in source.entries(skip=(*_HEADER, "reductions"), without=_EVENTS):
        if field != "samples":
            continue
        spot = top.at(field) if index is None else top.at(field).at(index)
        if index is None:
            spot.fault("a list of samples", item)
            continue
        if isinstance(item, dict):
            calls = ModelCalls()
            for event in _list(item.pop("events", None)):
                calls.add(event)
            data = item.pop("events_data", None)
            calls.complete(item, data.get("messages") if isinstance(data, dict) else None)
        yield spot, item


def _archive(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[tuple[Spot, Any]]:
    """Yield samples of an archive. A run that was killed left no header, only how it began."""
    start = next((name for name in ("header.json", START) if name in source.members), None)
    if start is None:
        raise refused(source.name, f"header.json or {START} in the archive", Unquoted("neither"))
    start_document = source.members[start].document(MOST_MESSAGES, skip=("reductions", "samples"))
    header.update({key: value for key, value in start_document.items() if key in _HEADER})
    header.setdefault("status", "started")
    for name, member in source.members.items():
        if name.startswith("samples/") and name.endswith(".json"):
            yield Spot(problems, member.name), _sample(member)


def _sample(member: FileSource) -> dict[str, Any]:
    """Return a sample with what its events add, which are never held in memory together."""
    calls = ModelCalls()
    sample: dict[str, Any] = {}
    for field, index, item in member.entries(skip=("events_data",)):
        if not field and index is not None:
            raise refused(member.name, "an object", Unquoted("a list"))
        if field == "events":
            calls.add(item)
        elif index is None:
            sample[field] = item
        else:
            rows = sample[field] if index else sample.setdefault(field, [])
            if index >= MOST_MESSAGES or not isinstance(rows, list):
                expected = f"at most {MOST_MESSAGES} members"
                raise refused(f"{member.name}, {field}", expected, Unquoted("more"))
            rows.append(item)
    pool = None
    if calls.needs_pool(sample):
        for field, _, item in member.entries(skip=("events", *sample)):
            if field == "events_data" and isinstance(item, dict):
                pool = item.get("messages")
    calls.complete(sample, pool)
    return sample


class ModelCalls:
    """The facts that a sample's events of models state beyond its messages."""

    def __init__(self) -> None:
        self.known: dict[str, dict[str, Any]] = {}
        self.last: Mapping[str, Any] = {}
        self.tools: Any = None

    def add(self, event: Any) -> None:
        """Note one event, if it is of a model."""
        if not isinstance(event, dict) or event.get("event") != "model":
            return
        self.last = event
        self.tools = event.get("tools") or self.tools
        output = event.get("output")
        usage = output.get("usage") if isinstance(output, dict) else None
        message = self._written()
        if not message or not isinstance(message.get("id"), str):
            return
        about: dict[str, Any] = {}
        if isinstance(event.get("timestamp"), str):
            about["timestamp"] = event["timestamp"]
        if isinstance(usage, dict):
            about["usage"] = usage | {
                "prompt_tokens": usage.get("input_tokens"),
                "completion_tokens": usage.get("output_tokens"),
            }
        self.known[message["id"]] = about

    def needs_pool(self, sample: Mapping[str, Any]) -> bool:
        """Return whether the messages must be put together from those that events share."""
        return not sample.get("messages") and bool(self.last.get("input_refs"))

    def complete(self, sample: dict[str, Any], pool: Any) -> None:
        """Give a sample its messages, if it has none, and each what is known of it; its tools."""
        if self.tools:
            sample["tools"] = self.tools
        if not sample.get("messages") and self.last:
            refs = _list(self.last.get("input_refs"))
            shared = (one for ref in refs for one in _slice(pool, ref))
            given = list(islice(shared, MOST_MESSAGES))
            written = self._written()
            sample["messages"] = [
                *(given or _list(self.last.get("input"))),
                *([written] if written else []),
            ]
        if isinstance(sample.get("messages"), list):
            sample["messages"] = [
                self._completed_message(message) for message in sample["messages"]
            ]

    def _completed_message(self, message: Any) -> Any:
        key = message.get("id") if isinstance(message, dict) else None
        about = self.known.get(key) if isinstance(key, str) else None
        return {**about, **message} if about else message

    def _written(self) -> dict[str, Any] | None:
        """Return the message that the last model wrote."""
        output = self.last.get("output")
        choices = _list(output.get("choices")) if isinstance(output, dict) else []
        message = choices[0].get("message") if choices and isinstance(choices[0], dict) else None
        return message if isinstance(message, dict) else None


def _slice(pool: Any, ref: Any) -> list[Any]:
    """Return the messages from one place to another of those that events share."""
    good = isinstance(ref, list) and len(ref) == 2 and all(type(n) is int and n >= 0 for n in ref)
    return _list(pool)[ref[0] : ref[1]] if good else []


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _model(spot: Spot, given: Any) -> str:
    return read_text(spot, "model", given.get("model")) if isinstance(given, dict) else ""


def _is_own(given: Any) -> bool:
    """Return whether a log was exported here."""
    about = given.get("metadata") if isinstance(given, dict) else None
    return isinstance(about, dict) and about.get("written_by") == WRITER


def _flat(sample: Any) -> Any:
    """Return a sample of an own log whose messages have what is in their metadata as fields."""
    if not isinstance(sample, dict) or not isinstance(sample.get("messages"), list):
        return sample
    return {**sample, "messages": [_flat_message(message) for message in sample["messages"]]}


def _flat_message(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    beside = message.get("metadata")
    plain = {name: value for name, value in message.items() if name not in _WRITTEN}
    return {**plain, **beside} if isinstance(beside, dict) else plain


def _trajectory(spot: Spot, sample: Any, model: str, own: bool) -> ImportedTrajectory | None:
    if not isinstance(sample, dict):
        spot.fault("a sample: an object with id, epoch and messages", sample)
        return None
    number = sample.get("id")
    if isinstance(number, bool) or not isinstance(number, str | int) or number == "":
        spot.at("id").fault("a text or a whole number", number)
    epoch = sample.get("epoch", 1)
    if isinstance(epoch, bool) or not isinstance(epoch, int) or not 1 <= epoch <= LARGEST:
        spot.at("epoch").fault(f"a whole number from 1 to {LARGEST}", epoch)
        epoch = 1
    attached = sample.get("attachments")
    if isinstance(attached, dict) and attached:
        sample = {k: _resolved(v, attached) for k, v in sample.items() if k != "attachments"}
    messages = read_messages(spot.at("messages"), sample.get("messages"), as_kept=own)
    given = sample.get("input")
    prompt = given if isinstance(given, str) and given.strip() else first_words(messages)
    scores, undefined = _scores(spot.at("scores"), sample.get("scores"))
    kept = {k: v for k, v in sample.items() if k not in _READ and v is not None}
    if sample.get("scores"):
        kept["scores"] = sample["scores"]
    about = sample.get("metadata")
    if isinstance(about, dict) and isinstance(about.get("session"), dict):
        kept["session"] = about["session"]
    tools = about.get("tools") if own and isinstance(about, dict) else sample.get("tools")
    target = sample.get("target")
    return ImportedTrajectory(
        task=ImportedTask(
            id=task_key(str(number)),
            prompt=prompt,
            hidden={"target": target} if target not in (None, "", []) else {},
        ),
        messages=messages,
        agent=model,
        attempt=epoch,
        scores=scores,
        undefined=undefined,
        termination=_termination(sample),
        tools=tool_definitions(tools),
        metadata=kept,
    )


def _resolved(value: Any, attached: Mapping[str, Any]) -> Any:
    """Put texts that stand elsewhere in the sample back into their places."""
    if isinstance(value, str):
        for scheme in ATTACHMENTS:
            if value.startswith(scheme):
                attachment = attached.get(value.removeprefix(scheme))
                return attachment if isinstance(attachment, str) else value
        return value
    if isinstance(value, list):
        return [_resolved(item, attached) for item in value]
    if isinstance(value, dict):
        return {key: _resolved(item, attached) for key, item in value.items()}
    return value


def _scores(spot: Spot, given: Any) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return every score that is a number or one of Inspect's letters; the first is the reward
    too.
    """
    scores: dict[str, float | None] = {"reward": None}
    undefined = {"reward": "the log holds no score of this sample"}
    if given is None:
        return scores, undefined
    if not isinstance(given, dict):
        spot.fault("an object of scores", given)
        return scores, undefined
    parts: list[tuple[str, Any]] = []
    for name, score in given.items():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            parts += [(f"{name}.{part}", one) for part, one in value.items()]
        else:
            parts.append((name, value))
    for name, value in parts:
        scores[name] = _number(value)
        if scores[name] is None:
            undefined[name] = "the score is no number"
    for name, _ in parts[:1]:
        scores["reward"] = scores[name]
        undefined["reward"] = "the first score is no number"
    if scores["reward"] is not None:
        undefined.pop("reward")
    return scores, undefined


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        return LETTERS.get(value)
    try:
        return read_number(Spot(Problems(), ""), "", value)
    except FileRefused:
        return None


def _termination(sample: Mapping[str, Any]) -> str:
    if sample.get("error"):
        return "error"
    limit = sample.get("limit")
    if limit:
        kind = limit.get("type") if isinstance(limit, dict) else None
        return f"limit_{kind}"[:40] if isinstance(kind, str) else "limit"
    return "completed"
