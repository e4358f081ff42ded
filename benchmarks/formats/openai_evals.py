"""Event logs of OpenAI evals: lines of a spec, events of samples, and a final report.

A sample becomes a trajectory: its first call of a model and the later calls that go on from it.
Calls apart from that talk, as graders make them, are kept as metadata. The expected answer is
hidden from the agent. Only samples whose events are not all read yet are held in memory.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.core.problems import Problems, Unquoted
from benchmarks.formats.messages import MOST_MESSAGES, first_words, read_messages, read_number
from benchmarks.formats.shape import Shape
from benchmarks.formats.source import FileSource, Spot, read_line
from benchmarks.formats.trajectory import ImportedTask, ImportedTrajectory, task_key

EVENT = ("run_id", "event_id", "sample_id", "type", "data")
_NO_MATCH = "the log holds no match of this sample"


def recognises(shape: Shape) -> bool:
    return shape.kind == "lines" and ("spec" in shape.first or shape.first_has(*EVENT))


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield the samples of a log, each as soon as its last event is read."""
    left = Counter(
        str(event["sample_id"])
        for _, event in _events(source, Problems(), {})
        if event.get("sample_id") is not None
    )
    waiting: dict[str, list[tuple[Spot, Mapping[str, Any]]]] = {}
    for spot, event in _events(source, problems, header):
        sample = event.get("sample_id")
        if isinstance(sample, bool) or not isinstance(sample, str | int) or sample == "":
            spot.at("sample_id").fault("a text or a whole number", sample)
            continue
        events = waiting.setdefault(str(sample), [])
        events.append((spot, event))
        if len(events) > MOST_MESSAGES:
            spot.fault(f"at most {MOST_MESSAGES} events of a sample", Unquoted("more"))
            return
        left[str(sample)] -= 1
        if not left[str(sample)]:
            before = problems.total
            made = _trajectory(str(sample), waiting.pop(str(sample)), header)
            if made is not None and problems.total == before:
                yield made


def _events(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[tuple[Spot, Mapping[str, Any]]]:
    for number, line in source.lines():
        before = problems.total
        value = read_line(source.name, number, line, problems)
        if problems.total > before:
            continue
        spot = Spot(problems, f"{source.name}, line {number}")
        if not isinstance(value, dict):
            spot.fault("an event: an object with sample_id, type and data", value)
        elif "spec" in value or "final_report" in value:
            header.update({k: v for k, v in value.items() if k in ("spec", "final_report")})
        else:
            yield spot, value


def _trajectory(
    sample: str, events: Sequence[tuple[Spot, Mapping[str, Any]]], header: Mapping[str, Any]
) -> ImportedTrajectory | None:
    chat: list[Any] = []
    where = events[0][0]
    apart, scores, hidden = [], dict[str, float | None](), dict[str, Any]()
    scores["reward"] = None
    failed = False
    for spot, event in sorted(events, key=lambda pair: _order(pair[1])):
        kind, data = event.get("type"), event.get("data")
        if not isinstance(kind, str) or not isinstance(data, dict):
            spot.fault("an event with a 'type' and an object 'data'", data)
            continue
        if kind == "sampling" and (talk := _talk(data)) and (not chat or _goes_on(chat, talk)):
            chat, where = talk, spot.at("data")
            continue
        if kind == "match" and isinstance(data.get("correct"), bool):
            scores["reward"] = float(data["correct"])
            if data.get("expected") is not None:
                hidden["expected"] = data["expected"]
        elif kind == "metrics":
            for name, value in data.items():
                if isinstance(value, bool | int | float):
                    scores[name] = read_number(spot.at("data"), name, float(value))
        failed = failed or kind == "error"
        apart.append({key: value for key, value in event.items() if key != "sample_id"})
    if not chat:
        where.fault("a sample with an event of type 'sampling'", Unquoted("none"))
        return None
    messages = read_messages(where, chat)
    return ImportedTrajectory(
        task=ImportedTask(id=task_key(sample), prompt=first_words(messages), hidden=hidden),
        messages=messages,
        agent=_agent(header.get("spec")),
        scores=scores,
        undefined={name: _NO_MATCH for name, value in scores.items() if value is None},
        termination="error" if failed else "completed",
        started=str(events[0][1].get("created_at") or ""),
        finished=str(events[-1][1].get("created_at") or ""),
        metadata={"events": apart} if apart else {},
    )


def _order(event: Mapping[str, Any]) -> int:
    number = event.get("event_id")
    return number if isinstance(number, int) else 0


def _talk(data: Mapping[str, Any]) -> list[Any]:
    """Return a call of a model as messages."""
    prompt, sampled = data.get("prompt"), data.get("sampled")
    opening = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    answer = sampled[0] if isinstance(sampled, list) and sampled else sampled
    if not isinstance(opening, list) or not isinstance(answer, str):
        return []
    return [*opening, {"role": "assistant", "content": answer}]


def _goes_on(chat: Sequence[Any], talk: Sequence[Any]) -> bool:
    return len(talk) > len(chat) and list(talk[: len(chat)]) == list(chat)


def _agent(spec: Any) -> str:
    names = spec.get("completion_fns") if isinstance(spec, dict) else None
    return ", ".join(map(str, names)) if isinstance(names, list) else ""
