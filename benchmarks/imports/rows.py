"""Store imported trajectories chunk by chunk; their runs are hidden until all are stored."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.text import slugify

from benchmarks.core.digests import digest_text
from benchmarks.core.errors import ImportRefused
from benchmarks.core.plugins import PLUG_IN, find_plug_in
from benchmarks.core.registry import EXTERNAL
from benchmarks.formats.registry import agent_title
from benchmarks.formats.trajectory import (
    LARGEST,
    ImportedMessage,
    ImportedTask,
    ImportedTrajectory,
    ImportedTurn,
    split_turns,
    trajectory_metrics,
)
from benchmarks.imports.images import image_characters, image_rows, take_images
from benchmarks.imports.stored_messages import prompt_digest, stored_message, stored_turn
from benchmarks.imports.unfinished import LOCK, last_rows, unfinished_runs
from benchmarks.locks import named_lock, pause_writing
from benchmarks.models import (
    Agent,
    Dataset,
    Run,
    StoredMessage,
    Task,
    Trajectory,
    TrajectoryImage,
    Turn,
)
from benchmarks.source_digest import sealed_plug_in

# A chunk ends when it holds this many messages: trajectories differ in size a hundredfold.
CHUNK = 2000
CONDITION = "as imported"
_Item = TypeVar("_Item")
_WHOLE = (-(2**63), 2**63 - 1)


def portions(
    items: Iterable[_Item], size: Callable[[_Item], int], least: int
) -> Iterator[list[_Item]]:
    """Yield lists of items that hold ``least`` messages or a few more; ``size`` counts them."""
    portion: list[_Item] = []
    total = 0
    for item in items:
        portion.append(item)
        total += size(item)
        if total >= least:
            yield portion
            portion, total = [], 0
    if portion:
        yield portion


def chunks(trajectories: Iterable[ImportedTrajectory]) -> Iterator[list[ImportedTrajectory]]:
    """Yield lists of trajectories with about CHUNK messages each."""
    # Images count by their room, so that a chunk of them stays small, too.
    return portions(
        trajectories, lambda t: len(t.messages) + image_characters(t.messages) // 4096, CHUNK
    )


@dataclass
class RowSaver:
    """Store chunks; remember the runs, the counts, and the system prompts stored so far."""

    format: str
    file: str
    checksum: str
    header: Mapping[str, Any]
    agent: str
    agent_note: str
    created_by: User | None
    turns_by: str = "user"
    dataset: Dataset = field(init=False)  # known when the first chunk is stored
    runs: dict[str, Run] = field(default_factory=dict)
    prompts: set[str] = field(default_factory=set)
    before: Mapping[str, int] = field(default_factory=last_rows)
    trajectories: int = 0
    turns: int = 0
    _later: list[tuple[Trajectory, Sequence[ImportedMessage], ImportedTurn]] = field(
        default_factory=list
    )

    def save(self, chunk: Sequence[ImportedTrajectory]) -> None:
        """Store a chunk but for its turns, inside a transaction; ``save_turns`` comes next."""
        taken = [take_images(trajectory) for trajectory in chunk]
        chunk = [trajectory for trajectory, _ in taken]
        tasks = self._tasks([t.task for t in chunk])
        split = [split_turns(t.messages, self.turns_by) for t in chunk]
        for _, turns in split:
            check_number(turns)
        rows = Trajectory.objects.bulk_create(
            [
                self._trajectory(t, tasks[t.task.id], len(turns), () if turns else opening)
                for t, (opening, turns) in zip(chunk, split, strict=True)
            ]
        )
        self._store_prompts({m.text for t in chunk for m in t.messages if m.speaker == "system"})
        self._later = [
            (row, opening if turn.index == 1 else (), turn)
            for row, (opening, turns) in zip(rows, split, strict=True)
            for turn in turns
        ]
        for row, (_, images) in zip(rows, taken, strict=True):
            TrajectoryImage.objects.bulk_create(image_rows(row, images))
        for row in rows:
            row.run.created_trajectories += 1
        self.trajectories += len(rows)
        self._renew(timezone.now())

    def save_turns(self) -> None:
        """Store the turns of the last chunk; those of a long session in several transactions."""
        # Twice as many as in a chunk: only a session that is as long by itself is divided.
        parts = portions(self._later, lambda later: len(later[2].messages), 2 * CHUNK)
        for number, portion in enumerate(parts):
            if number:
                pause_writing()
            rows = [
                stored_turn(
                    row.pk,
                    turn,
                    [stored_message(message) for message in opening],
                    [stored_message(message) for message in turn.messages],
                    final=turn.index == row.turn_count,
                )
                for row, opening, turn in portion
            ]
            with named_lock(LOCK):
                self._renew(timezone.now())
                Turn.objects.bulk_create(rows)
            self.turns += len(rows)
        self._later = []

    @property
    def pks(self) -> list[int]:
        """Return the ids of the runs stored so far."""
        return [run.pk for run in self.runs.values()]

    def _renew(self, removed_at: datetime | None) -> None:
        """Mark all runs anew, which says that the import goes on, or show them."""
        if unfinished_runs().filter(pk__in=self.pks).update(removed_at=removed_at) != len(
            self.runs
        ):
            raise ImportRefused(
                f"{self.file}: the import stood still for minutes, so that another one deleted "
                "what it had stored; import it again"
            )

    def finish(self) -> tuple[Run, ...]:
        """Return the runs, completed with what the file says at its end, for all to see."""
        self._renew(None)
        runs = tuple(self.runs.values())
        for run in runs:
            run.removed_at, run.finished_at = None, timezone.now()
            run.settings = self._settings()
            run.save(
                update_fields=["removed_at", "finished_at", "settings", "created_trajectories"]
            )
        if self.dataset.removed_at is not None:
            self.dataset.removed_at = None
            self.dataset.save(update_fields=["removed_at"])
        return runs

    def _settings(self) -> dict[str, Any]:
        turns = {} if self.turns_by == "user" else {"turns": self.turns_by}
        return {"format": self.format, **turns, **_flat(self.header)}

    def _tasks(self, given: Sequence[ImportedTask]) -> dict[str, int]:
        """Return the ids of the tasks; create new ones, refuse contradicting ones."""
        first: dict[str, ImportedTask] = {}
        for task in given:
            if first.setdefault(task.id, task).hidden != task.hidden:
                self._contradiction(task.id)
        known = {
            row.external_id: row
            for row in Task.objects.filter(dataset=self.dataset, external_id__in=list(first))
        }
        for row in known.values():
            if row.payload.get("hidden", {}) != first[row.external_id].hidden:
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

    def _trajectory(
        self,
        given: ImportedTrajectory,
        task: int,
        turns: int,
        opening: Sequence[ImportedMessage],
    ) -> Trajectory:
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
                "hidden": given.hidden,
                "metadata": given.metadata,
                "tools": given.tools,
                "times": [given.started, given.finished],
                # as the file states them; the metrics also hold what was counted
                "scores": given.scores,
                "undefined": given.undefined,
                **({"opening": [stored_message(m) for m in opening]} if opening else {}),
                **({"rubric": [asdict(score) for score in given.rubric]} if given.rubric else {}),
            },
            started_at=_moment(given.started),
            finished_at=_moment(given.finished),
        )

    def _run(self, stated: str) -> Run:
        title = agent_title(stated or self.agent)
        run = self.runs.get(title)
        if run is None:
            note = "" if stated else self.agent_note
            plug_in = find_plug_in("formats", self.format)
            run = self.runs[title] = Run.objects.create(
                kind=Run.Kind.IMPORTED,
                dataset=self.dataset,
                agent=_agent(title, note),
                condition=CONDITION,
                settings=self.before,
                roles={"agent": [{"kind": "imported", "label": "imported"}]},
                status=Run.Status.DONE,
                source=self.file[:400],
                checksum=self.checksum,
                pins={PLUG_IN: sealed_plug_in(plug_in)} if plug_in is not None else {},
                created_by=self.created_by,
                removed_at=timezone.now(),
            )
        return run

    def _store_prompts(self, texts: set[str]) -> None:
        """Store each system message once: the same text opens every trajectory."""
        new = {prompt_digest(text): text for text in texts if text not in self.prompts}
        StoredMessage.objects.bulk_create(
            [
                StoredMessage(digest=digest, speaker="system", text=text)
                for digest, text in sorted(new.items())
            ],
            ignore_conflicts=True,
        )
        # Texts of different lengths: only a few are worth remembering.
        self.prompts = texts if len(texts) < 100 else set()


def check_number(turns: Sequence[ImportedTurn]) -> None:
    """Refuse more turns than can be numbered."""
    if len(turns) > LARGEST:
        raise ImportRefused(
            f"a trajectory has {len(turns):,} turns; at most {LARGEST:,} can be stored: choose "
            "larger turns, such as those between messages of the user"
        )


def _flat(value: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return a file's header as settings: one entry for each value, nothing left out."""
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
    """Parse a time as files write it; without a zone it is UTC."""
    if not text:
        return None
    try:
        moment = parse_datetime(text)
        if moment is None:
            return None
        return (moment if timezone.is_aware(moment) else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _agent(title: str, note: str) -> Agent:
    """Return the imported agent of this title, which is created if needed."""
    agent = Agent.objects.filter(kind=Agent.Kind.IMPORTED, title=title).first()
    if agent is not None:
        return agent
    name = f"imported-{slugify(title)[:50]}".rstrip("-")
    if Agent.objects.filter(name=name).exists() or name == "imported":
        name = f"{name}-{digest_text(title)[:12]}"
    return Agent.objects.create(
        name=name, title=title, kind=Agent.Kind.IMPORTED, system=EXTERNAL, note=note
    )
