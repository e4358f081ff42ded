"""Storing trajectories made elsewhere: a file is checked, then stored as a whole, or not at all."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.text import slugify

from benchmarks.core.digests import canonical_json, digest_text
from benchmarks.core.registry import EXTERNAL
from benchmarks.core.types import Message
from benchmarks.importers.formats import FORMATS, Checked, check_file, read_file
from benchmarks.importers.metrics import trajectory_metrics
from benchmarks.importers.values import (
    ImportedMessage,
    ImportedTask,
    ImportedTrajectory,
    split_turns,
)
from benchmarks.models import Agent, Dataset, Run, StoredMessage, Task, Trajectory, Turn
from benchmarks.services.datasets import ImportRefused
from benchmarks.services.locks import only_one

# A chunk ends when it holds this many messages: trajectories differ in size a hundredfold.
CHUNK = 2000
CONDITION = "as imported"
_SUFFIXES = (".gz", ".json", ".jsonl", ".ndjson", ".eval", ".slice")
_WHOLE = (-(2**63), 2**63 - 1)


@dataclass(frozen=True)
class SavedImport:
    """The runs of a file, one for each agent in it, and whether this call stored them."""

    created: bool
    runs: tuple[Run, ...]
    trajectories: int
    turns: int

    @property
    def dataset(self) -> Dataset:
        return self.runs[0].dataset


def import_trajectories(
    *, path: Path, format: str, name: str = "", agent: str = "", created_by: User | None = None
) -> SavedImport:
    """Import a file; the same content a second time adds nothing.

    Files of one format under one ``name`` share their dataset, so that their agents can be
    compared on the same tasks. ``agent`` names who is not named in the file.
    """
    checked = check_file(path, format)
    if stored := _stored(checked):
        return stored
    stem = plain_stem(path)
    with only_one("import"):
        if stored := _stored(checked):  # another process was quicker
            return stored
        saver = _Saver(checked, path.name, _dataset(checked, name or stem, path.name))
        saver.agent, saver.created_by = agent or stem, created_by
        saver.agent_note = "" if agent else "Its file names no model; this is the file's name."
        for chunk in _chunks(read_file(path, checked)):
            saver.save(chunk)
        return SavedImport(True, tuple(saver.runs.values()), checked.trajectories, checked.turns)


def plain_stem(path: Path) -> str:
    """``gpt-4o-airline`` of ``gpt-4o-airline.json.gz``."""
    stem = path.name
    while (suffix := Path(stem).suffix) in _SUFFIXES:
        stem = stem.removesuffix(suffix)
    return stem[:120] or "imported"


def _stored(checked: Checked) -> SavedImport | None:
    rows = Run.objects.filter(kind=Run.Kind.IMPORTED, checksum=checked.checksum)
    runs = tuple(rows.select_related("dataset", "agent").order_by("pk"))
    return SavedImport(False, runs, checked.trajectories, checked.turns) if runs else None


def _dataset(checked: Checked, name: str, file: str) -> Dataset:
    """The dataset of this name, made at the first file; it holds tasks of one format."""
    title = FORMATS[checked.format][0]
    dataset, created = Dataset.objects.get_or_create(
        system=EXTERNAL,
        name=name[:120],
        version="1",
        defaults={
            "source": title,
            "checksum": checked.checksum,
            "notes": f"Tasks of trajectories made elsewhere, first seen in {file[:200]}.",
        },
    )
    if not created and dataset.source != title:
        raise ImportRefused(
            f"the dataset {name!r} holds tasks of {dataset.source}; give another name than that "
            f"for {title}"
        )
    return dataset


def _chunks(found: Iterable[ImportedTrajectory]) -> Iterator[list[ImportedTrajectory]]:
    chunk: list[ImportedTrajectory] = []
    size = 0
    for trajectory in found:
        chunk.append(trajectory)
        size += len(trajectory.messages)
        if size >= CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


@dataclass
class _Saver:
    """Stores chunk by chunk; keeps the runs, and which system prompts are stored."""

    checked: Checked
    file: str
    dataset: Dataset
    agent: str = ""
    agent_note: str = ""
    created_by: User | None = None
    runs: dict[str, Run] = field(default_factory=dict)
    prompts: set[str] = field(default_factory=set)

    def save(self, chunk: Sequence[ImportedTrajectory]) -> None:
        tasks = self._tasks([t.task for t in chunk])
        split = [split_turns(t.messages) for t in chunk]
        rows = Trajectory.objects.bulk_create(
            [
                self._trajectory(t, tasks[t.task.id], len(turns))
                for t, (_, turns) in zip(chunk, split, strict=True)
            ]
        )
        self._store_prompts([m for t in chunk for m in t.messages if m.speaker == "system"])
        Turn.objects.bulk_create(
            [
                Turn(
                    trajectory=row,
                    index=turn.index,
                    text=turn.text,
                    feedback=turn.feedback,
                    payload={
                        **({"opening": _stored_messages(opening)} if turn.index == 1 else {}),
                        "messages": _stored_messages(turn.messages),
                    },
                    is_final=turn.index == len(turns),
                )
                for row, (opening, turns) in zip(rows, split, strict=True)
                for turn in turns
            ],
            batch_size=CHUNK,
        )

    def _tasks(self, given: Sequence[ImportedTask]) -> dict[str, int]:
        """The ids of the tasks' rows; new ones are made, contradicting ones refused."""
        first: dict[str, ImportedTask] = {}
        for task in given:
            if _told(first.setdefault(task.id, task).hidden) != _told(task.hidden):
                self._contradiction(task.id)
        known = {
            row.external_id: row
            for row in Task.objects.filter(dataset=self.dataset, external_id__in=list(first))
        }
        for row in known.values():
            if _told(row.payload.get("hidden", {})) != _told(first[row.external_id].hidden):
                self._contradiction(row.external_id)
        new = Task.objects.bulk_create(
            [
                Task(
                    dataset=self.dataset,
                    external_id=task.id,
                    prompt=task.prompt or "(no opening words)",
                    category=task.category,
                    payload={"hidden": dict(task.hidden), "stated": dict(task.payload)},
                )
                for task in first.values()
                if task.id not in known
            ]
        )
        return {row.external_id: row.pk for row in (*known.values(), *new)}

    def _contradiction(self, task: str) -> None:
        raise ImportRefused(
            f"task {task[:60]} was stored in the dataset {self.dataset.name!r} with other hidden "
            f"conditions than those in {self.file}; give another name with --name"
        )

    def _trajectory(self, given: ImportedTrajectory, task: int, turns: int) -> Trajectory:
        metrics, undefined = trajectory_metrics(given, turns)
        seed = given.seed or 0
        return Trajectory(
            run=self._run(given.agent),
            task_id=task,
            attempt=given.attempt or 1,
            seed=seed if _WHOLE[0] <= seed <= _WHOLE[1] else 0,
            status=Trajectory.Status.DONE,
            termination=given.termination[:40],
            turn_count=turns,
            metrics=metrics,
            undefined=undefined,
            payload={
                "termination": given.termination,
                "hidden": dict(given.hidden),
                "metadata": dict(given.metadata),
                "tools": [dict(tool) for tool in given.tools],
                "times": [given.started, given.finished],
            },
            started_at=_moment(given.started),
            finished_at=_moment(given.finished),
        )

    def _run(self, stated: str) -> Run:
        run = self.runs.get(stated)
        if run is None:
            note = "" if stated else self.agent_note
            run = self.runs[stated] = Run.objects.create(
                kind=Run.Kind.IMPORTED,
                dataset=self.dataset,
                agent=_agent(stated or self.agent, note),
                condition=CONDITION,
                settings={"format": self.checked.format, **_flat(self.checked.header)},
                roles={"agent": [{"kind": "imported", "label": "imported"}]},
                status=Run.Status.DONE,
                source=self.file[:400],
                checksum=self.checked.checksum,
                created_by=self.created_by,
                finished_at=timezone.now(),
            )
        return run

    def _store_prompts(self, messages: Sequence[ImportedMessage]) -> None:
        """What the system said, once each: the same text opens every trajectory."""
        new = {m.digest: m for m in map(_core, messages) if m.digest not in self.prompts}
        StoredMessage.objects.bulk_create(
            [
                StoredMessage(digest=d, speaker=m.speaker, text=m.text)
                for d, m in sorted(new.items())
            ],
            ignore_conflicts=True,
        )
        self.prompts = self.prompts | new.keys() if len(self.prompts) < CHUNK else set(new)


def _core(message: ImportedMessage) -> Message:
    return Message(message.speaker, message.text)


def _stored_messages(messages: Sequence[ImportedMessage]) -> list[dict[str, Any]]:
    """Messages as JSON, without what is empty; a system's text is named by its digest."""
    return [_stored_message(message) for message in messages]


def _stored_message(message: ImportedMessage) -> dict[str, Any]:
    system = message.speaker == "system"
    kept: dict[str, Any] = {
        "speaker": message.speaker,
        "digest": _core(message).digest if system else "",
        "text": "" if system else message.text,
        "calls": [
            {
                "name": call.name,
                "id": call.id,
                "arguments": call.arguments,
                **({"by": "user"} if call.by == "user" else {}),
                **({"raw": True} if call.raw else {}),
            }
            for call in message.calls
        ],
    }
    for name in (
        "call_id", "name", "hidden", "reasoning", "at", "tokens_in", "tokens_out", "cost", "extra",
    ):  # fmt: skip
        kept[name] = getattr(message, name)
    return {name: value for name, value in kept.items() if value or type(value) in (int, float)}


def _told(value: Mapping[str, Any]) -> str:
    """Equal for equal values, whether they come from a file or from the database."""
    return canonical_json(json.loads(json.dumps(value)))


def _flat(value: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """A file's header as settings: one line for each value, nothing left out."""
    flat: dict[str, Any] = {}
    for name, inner in value.items():
        key = f"{above}.{name}" if above else str(name)
        if isinstance(inner, dict):
            flat |= _flat(inner, key)
        elif isinstance(inner, list):
            flat[key] = json.dumps(inner, ensure_ascii=False)
        elif inner is not None:
            flat[key] = inner
    return flat


def _moment(text: str) -> datetime | None:
    """A point in time as files write it; without a zone it is taken for UTC."""
    try:
        found = parse_datetime(text)
        if found is None:
            return None
        return (found if timezone.is_aware(found) else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _agent(title: str, note: str) -> Agent:
    """The agent of this title among those made elsewhere."""
    title = title[:120]
    found = Agent.objects.filter(kind=Agent.Kind.IMPORTED, title=title).first()
    if found is not None:
        return found
    name = f"imported-{slugify(title)[:50]}".rstrip("-")
    if Agent.objects.filter(name=name).exists() or name == "imported":
        name = f"{name}-{digest_text(title)[:12]}"
    return Agent.objects.create(
        name=name, title=title, kind=Agent.Kind.IMPORTED, system=EXTERNAL, note=note
    )
