"""Logs for Inspect (``.eval``), written piece by piece: what its viewer and ``read_eval_log`` open.

A trajectory is a sample, its attempt the epoch. Measures are scores of their names, and ``rubric``
is one with a value for each dimension of the last plan. Inspect has no undefined score: one that
is undefined is left out of its sample and counted as unscored; the sample's metadata say why. What
was hidden from the agent is the sample's target.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any

from benchmarks.core.digests import digest_text
from benchmarks.formats.attachments import contained_images, data_url
from benchmarks.formats.planjury_rows import write_message
from benchmarks.formats.trajectory import ImportedMessage, ImportedTrajectory, RubricScore, ToolCall

LOG_VERSION = 2
RUBRIC = "rubric"
# Longer beginnings of tasks are cut in the list of samples.
SHORT = 1000
# Fields of the chat format that Inspect's messages have, too.
_FIELDS = frozenset(("role", "content", "tool_calls", "tool_call_id", "reasoning_content"))
Member = tuple[str, Iterable[str]]


@dataclass(frozen=True)
class LogFacts:
    """The facts that hold for a whole log. ``created`` is an ISO moment, ``status`` a word of
    Inspect's, ``judging`` the judging whose scores count.

    ``key`` tells this run from all others; the log's ids are made of it.
    """

    key: str
    task: str
    model: str
    created: str
    status: str
    judging: str
    metadata: Mapping[str, Any]


@dataclass
class _Totals:
    """The fields of the header that describe all samples."""

    samples: int = 0
    tasks: dict[str, None] = field(default_factory=dict)
    epochs: int = 1
    values: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    unscored: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    tokens: list[int] = field(default_factory=lambda: [0, 0])


def log_members(facts: LogFacts, trajectories: Iterable[ImportedTrajectory]) -> Iterator[Member]:
    """Yield the files of a log's archive; only summaries of samples are held until its end."""
    totals, summaries = _Totals(), []
    spec = _spec(facts)
    yield "_journal/start.json", [_json({"version": LOG_VERSION, "eval": spec, "plan": _plan()})]
    for trajectory in trajectories:
        sample = _sample(facts, trajectory)
        _count(facts, totals, trajectory, sample)
        summaries.append(_summary(sample))
        yield f"samples/{_file_name(sample)}", [_json(sample)]
    spec["dataset"] |= {"samples": len(totals.tasks), "sample_ids": list(totals.tasks)}
    spec["config"] = {"epochs": totals.epochs}
    yield "summaries.json", [_json(summaries)]
    yield "reductions.json", [_json([])]
    header = {
        "version": LOG_VERSION,
        "status": facts.status,
        "eval": spec,
        "plan": _plan(),
        "results": _results(totals),
        "stats": {
            "started_at": facts.created,
            "completed_at": facts.created,
            "model_usage": {facts.model: _usage(*totals.tokens)} if any(totals.tokens) else {},
        },
    }
    yield "header.json", [_json(header)]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _spec(facts: LogFacts) -> dict[str, Any]:
    ids = {
        name: digest_text(f"{name} {facts.key}")[:22] for name in ("eval_id", "run_id", "task_id")
    }
    return {
        **ids,
        "created": facts.created,
        "task": facts.task,
        "dataset": {"name": facts.task},
        "model": facts.model,
        "config": {},
        "packages": {},
        "metadata": dict(facts.metadata),
    }


def _plan() -> dict[str, Any]:
    return {"name": "plan", "steps": [{"solver": "planjury", "params": {}}], "config": {}}


def _file_name(sample: Mapping[str, Any]) -> str:
    """Return a name that every file system takes; a task's id may be any text."""
    text = str(sample["id"])
    plain = "".join(one if one.isalnum() and one.isascii() or one in "-_." else "_" for one in text)
    if plain != text or len(plain) > 100:
        plain = f"{plain[:60]}_{digest_text(text)[:12]}"
    return f"{plain}_epoch_{sample['epoch']}.json"


# --- Samples --------------------------------------------------------------------------------------


def _sample(facts: LogFacts, trajectory: ImportedTrajectory) -> dict[str, Any]:
    called: set[str] = set()
    messages = []
    for place, message in enumerate(trajectory.messages):
        messages.append(_message(place, message, called))
        called.update(call.id for call in message.calls)
    written = [one for one in messages if one["role"] == "assistant"]
    about = {
        "termination": trajectory.termination,
        "seed": trajectory.seed,
        "category": trajectory.task.category,
        "undefined": dict(trajectory.undefined),
        "tools": [dict(tool) for tool in trajectory.tools],
        **trajectory.task.payload,
        **trajectory.metadata,
    }
    tokens = _tokens(trajectory.messages)
    sample = {
        "id": trajectory.task.id,
        "epoch": trajectory.attempt or 1,
        "input": trajectory.task.prompt,
        "target": _target({**trajectory.task.hidden, **trajectory.hidden}),
        "messages": messages,
        "output": _output(facts.model, written[-1] if written else None),
        "scores": _scores(facts, trajectory),
        "metadata": {
            name: value for name, value in about.items() if value not in (None, "", {}, [])
        },
        "model_usage": {facts.model: _usage(*tokens)} if any(tokens) else {},
        "uuid": digest_text(f"{facts.key} {trajectory.task.id} {trajectory.attempt}")[:22],
        "started_at": trajectory.started or None,
        "completed_at": trajectory.finished or None,
    }
    return {name: value for name, value in sample.items() if value is not None}


def _target(hidden: Mapping[str, Any]) -> str | list[str]:
    """Return what the agent was not told, line by line; a target that was imported as it was."""
    if set(hidden) == {"target"}:
        target = hidden["target"]
        if isinstance(target, str):
            return target
        if isinstance(target, list) and all(isinstance(one, str) for one in target):
            return target
    lines = []
    for name, value in hidden.items():
        for one in value if isinstance(value, list) else [value]:
            lines.append(f"{name}: {one if isinstance(one, str) else _json(one)}")
    return lines or ""


def _message(place: int, message: ImportedMessage, called: Collection[str]) -> dict[str, Any]:
    """Return a message as Inspect has it; what it has no field for is in the message's metadata.

    A result names its call only if that was ``called`` before it.
    """
    beside = {n: v for n, v in write_message(message).items() if n not in _FIELDS}
    if message.speaker != "assistant" or not all(map(_is_plain, message.calls)):
        beside |= {n: v for n, v in write_message(message).items() if n == "tool_calls"}
    row: dict[str, Any] = {
        "id": f"m{place + 1}",
        "role": message.speaker,
        "content": _content(message),
    }
    if message.speaker == "assistant" and message.calls:
        row["tool_calls"] = [_call(place, *one) for one in enumerate(message.calls)]
    if message.speaker == "tool":
        row["tool_call_id"] = message.call_id if message.call_id in called else None
        if message.call_id and message.call_id not in called:
            beside["tool_call_id"] = message.call_id
        row["function"] = message.name or None
        if message.extra.get("failed") is True:
            row["error"] = {"type": "unknown", "message": message.text[:SHORT]}
    if beside:
        row["metadata"] = beside
    return row


def _is_plain(call: ToolCall) -> bool:
    """Return whether Inspect can hold the call: one of the agent whose arguments are an object."""
    return call.by == "agent" and isinstance(call.arguments, dict)


def _content(message: ImportedMessage) -> str | list[dict[str, Any]]:
    """Return the text; with reasoning and images, where their content is known, as parts."""
    images = contained_images(message.extra)
    if not message.reasoning and not images:
        return message.text
    return [
        *([{"type": "reasoning", "reasoning": message.reasoning}] if message.reasoning else []),
        {"type": "text", "text": message.text},
        *({"type": "image", "image": data_url(image)} for image in images),
    ]


def _call(place: int, number: int, call: ToolCall) -> dict[str, Any]:
    arguments = call.arguments
    return {
        "id": call.id or f"call-{place + 1}-{number + 1}",
        "function": call.name,
        "arguments": arguments if isinstance(arguments, dict) else {"input": arguments},
        "type": "function",
    }


def _output(model: str, message: Mapping[str, Any] | None) -> dict[str, Any]:
    choices = [] if message is None else [{"message": dict(message), "stop_reason": "stop"}]
    return {"model": model, "choices": choices}


def _tokens(messages: Sequence[ImportedMessage]) -> tuple[int, int]:
    own = [one for one in messages if one.speaker == "assistant"]
    return sum(one.tokens_in or 0 for one in own), sum(one.tokens_out or 0 for one in own)


def _usage(tokens_in: int, tokens_out: int) -> dict[str, int]:
    return {
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
    }


# --- Scores ---------------------------------------------------------------------------------------


def _scores(facts: LogFacts, trajectory: ImportedTrajectory) -> dict[str, Any]:
    # Readers take the first score for the reward, and PostgreSQL keeps no order of names.
    in_order = sorted(trajectory.scores.items(), key=lambda score: score[0] != "reward")
    scores: dict[str, Any] = {
        name: {"value": value} for name, value in in_order if value is not None
    }
    if means := _last_means(facts, trajectory.rubric):
        scores[RUBRIC] = {
            "value": means,
            "explanation": "Mean over judges, for the last plan.",
            "metadata": {"scores": [asdict(score) for score in trajectory.rubric]},
        }
    return scores


def _last_means(facts: LogFacts, rubric: Sequence[RubricScore]) -> dict[str, float | None]:
    """Return the mean of each dimension over the judges of the last turn; None where one is
    undefined.
    """
    counting = [score for score in rubric if score.judging == facts.judging]
    last = max((score.turn for score in counting), default=0)
    values: dict[str, list[float | None]] = defaultdict(list)
    for score in counting:
        if score.turn == last:
            values[score.dimension].append(score.value)
    return {
        name: None if None in given else fmean(one for one in given if one is not None)
        for name, given in values.items()
    }


def _count(
    facts: LogFacts, totals: _Totals, trajectory: ImportedTrajectory, sample: Mapping[str, Any]
) -> None:
    totals.samples += 1
    totals.tasks[str(sample["id"])] = None
    totals.epochs = max(totals.epochs, int(sample["epoch"]))
    for place, number in enumerate(_tokens(trajectory.messages)):
        totals.tokens[place] += number
    for name, value in trajectory.scores.items():
        _count_value(totals, (name, name), value)
    for dimension, value in _last_means(facts, trajectory.rubric).items():
        _count_value(totals, (RUBRIC, dimension), value)


def _count_value(totals: _Totals, key: tuple[str, str], value: float | None) -> None:
    if value is None:
        totals.unscored[key] += 1
    else:
        totals.values[key].append(value)


def _results(totals: _Totals) -> dict[str, Any]:
    """Return means over the samples that have the score; those that have it not are counted."""
    keys = dict.fromkeys([*totals.values, *totals.unscored])
    return {
        "total_samples": totals.samples,
        "completed_samples": totals.samples,
        "scores": [_result(key, totals.values[key], totals.unscored[key]) for key in keys],
    }


def _result(key: tuple[str, str], values: Sequence[float], unscored: int) -> dict[str, Any]:
    scorer, name = key
    mean = {"name": "mean", "value": fmean(values), "params": {}} if values else None
    return {
        "name": name,
        "scorer": scorer,
        "scored_samples": len(values),
        "unscored_samples": unscored,
        "params": {},
        "metrics": {"mean": mean} if mean else {},
    }


def _summary(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the list of samples shows."""
    names = ("id", "epoch", "target", "uuid", "model_usage", "started_at", "completed_at")
    return {
        **{name: sample[name] for name in names if name in sample},
        "input": sample["input"][:SHORT],
        "metadata": {},
        "scores": {name: {"value": score["value"]} for name, score in sample["scores"].items()},
        "completed": True,
        "message_count": len(sample["messages"]),
    }
