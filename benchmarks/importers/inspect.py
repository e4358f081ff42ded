"""Logs of Inspect: ``.eval`` (a ZIP archive) and ``.json``; a sample becomes a trajectory.

A sample's target is hidden from the agent. Events repeat what the messages say and are left out.
"""

import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.core.digests import storable
from benchmarks.core.json_stream import JsonFile
from benchmarks.core.problems import FileRefused, Problems, Said
from benchmarks.importers.messages import first_words, read_messages, read_number, read_text
from benchmarks.importers.shape import Shape, shape_of
from benchmarks.importers.source import Source, Spot, refused
from benchmarks.importers.values import ImportedTask, ImportedTrajectory, task_key

LARGEST_SAMPLE = 64 << 20
LARGEST = 30_000
ZSTD = 93
ATTACHMENT = "attachment://"
LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_HEADER = ("version", "status", "eval", "plan", "results", "stats", "error")
_WITHOUT = ("events", "events_data", "attachments")
_READ = frozenset(("messages", "id", "epoch", "input", "target", "scores", "attachments"))


def recognises(shape: Shape) -> bool:
    if shape.kind == "zip":
        return bool(shape.keys & {"samples", "header.json", "_journal"})
    return shape.kind == "object" and shape.has("eval") and bool(shape.keys & {"samples", "plan"})


def read(
    source: Source, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """The samples of a log; faults are noted, and what has one is left out."""
    zipped = shape_of(source).kind == "zip"
    samples = _archive(source, problems, header) if zipped else _json(source, problems, header)
    model = None
    for spot, sample in samples:
        if model is None:
            model = _model(Spot(problems, source.name).at("eval"), header.get("eval"))
        before = problems.total
        made = _trajectory(spot, sample, model)
        if made is not None and problems.total == before:
            yield made


def _json(source: Source, problems: Problems, header: dict[str, Any]) -> Iterator[tuple[Spot, Any]]:
    top = Spot(problems, source.name)
    for field, index, item in source.entries(skip=("samples", "reductions")):
        if index is None and field in _HEADER:
            header[field] = storable(item)
    for field, index, item in source.entries(
        skip=(*_HEADER, "reductions"), without=("events", "events_data")
    ):
        if field == "samples":
            spot = top.at(f"samples[{index}]" if index is not None else "samples")
            if index is None:
                spot.fault("a list of samples", item)
            else:
                yield spot, item


def _archive(
    source: Source, problems: Problems, header: dict[str, Any]
) -> Iterator[tuple[Spot, Any]]:
    try:
        with zipfile.ZipFile(source.path) as archive:
            names = archive.namelist()
            start = next((n for n in ("header.json", "_journal/start.json") if n in names), None)
            if start is None:
                expected = "header.json or _journal/start.json in the archive"
                raise refused(source.name, expected, Said("neither"))
            found = _member(source, archive, start)
            header.update({k: storable(v) for k, v in found.items() if k in _HEADER})
            for name in names:
                if name.startswith("samples/") and name.endswith(".json"):
                    yield (
                        Spot(problems, f"{source.name}, {name}"),
                        _member(source, archive, name),
                    )
    except (OSError, zipfile.BadZipFile, ValueError, RuntimeError, zlib.error, EOFError) as error:
        raise refused(source.name, "a sound ZIP archive", Said(str(error)[:120])) from None


def _member(source: Source, archive: zipfile.ZipFile, name: str) -> dict[str, Any]:
    """A JSON object of the archive without what is not imported."""
    info = archive.getinfo(name)
    where = f"{source.name}, {name}"
    if info.file_size > LARGEST_SAMPLE:
        raise refused(where, f"at most {LARGEST_SAMPLE >> 20} MB", Said("more"))
    if info.compress_type == ZSTD:
        expected = "a log compressed with deflate, or its JSON (inspect log convert --to json)"
        raise refused(where, expected, Said("one compressed with Zstandard"))
    with archive.open(info) as member:
        data = member.read(LARGEST_SAMPLE + 1)
    made: dict[str, Any] = {}
    file = JsonFile(where, io.BytesIO(data))
    for field, index, item in file.entries(skip=("events", "events_data")):
        if not field:
            raise refused(where, "an object", Said("a list"))
        if index is None:
            made[field] = item
        else:
            made.setdefault(field, []).append(item)
    return made


def _model(spot: Spot, given: Any) -> str:
    return read_text(spot, "model", given.get("model")) if isinstance(given, dict) else ""


def _trajectory(spot: Spot, sample: Any, model: str) -> ImportedTrajectory | None:
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
    attached = attached if isinstance(attached, dict) else {}
    messages = read_messages(spot.at("messages"), _resolved(sample.get("messages"), attached))
    given = sample.get("input")
    prompt = given if isinstance(given, str) and given.strip() else first_words(messages)
    scores, undefined = _scores(spot.at("scores"), sample.get("scores"))
    kept = {k: v for k, v in sample.items() if k not in (*_READ, *_WITHOUT) and v is not None}
    if sample.get("scores"):
        kept["scores"] = sample["scores"]
    target = sample.get("target")
    return ImportedTrajectory(
        task=ImportedTask(
            id=task_key(str(storable(str(number)))),
            prompt=str(storable(_resolved(prompt, attached))),
            hidden={"target": storable(target)} if target not in (None, "", []) else {},
        ),
        messages=messages,
        agent=model,
        attempt=epoch,
        scores=scores,
        undefined=undefined,
        termination=_termination(sample),
        metadata=storable(kept),
    )


def _resolved(value: Any, attached: Mapping[str, Any]) -> Any:
    """``attachment://`` texts replaced by what they stand for."""
    if isinstance(value, str) and value.startswith(ATTACHMENT):
        found = attached.get(value.removeprefix(ATTACHMENT))
        return found if isinstance(found, str) else value
    if isinstance(value, list):
        return [_resolved(item, attached) for item in value]
    if isinstance(value, dict):
        return {key: _resolved(item, attached) for key, item in value.items()}
    return value


def _scores(spot: Spot, given: Any) -> tuple[dict[str, float | None], dict[str, str]]:
    """Every score that is a number or one of Inspect's letters; the first is the reward too."""
    scores: dict[str, float | None] = {"reward": None}
    undefined = {"reward": "the log holds no score of this sample"}
    if given is None:
        return scores, undefined
    if not isinstance(given, dict):
        spot.fault("an object of scores", given)
        return scores, undefined
    found: list[tuple[str, Any]] = []
    for name, score in given.items():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            found += [(f"{name}.{part}", one) for part, one in value.items()]
        else:
            found.append((name, value))
    for name, value in found:
        name = str(storable(name))
        scores[name] = _number(value)
        if scores[name] is None:
            undefined[name] = "the score is no number"
    for name, _ in found[:1]:
        scores["reward"] = scores[str(storable(name))]
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
