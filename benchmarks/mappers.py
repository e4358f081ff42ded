"""Rows to core values and back: the border between the database and everything without Django."""

from collections.abc import Iterable
from functools import lru_cache

from benchmarks.core import types
from benchmarks.core.answerers import Identity
from benchmarks.core.registry import EXTERNAL, get_rejudging, get_system
from benchmarks.core.system import Stored, System
from benchmarks.core.types import Message, Outcome
from benchmarks.llm.config import EndpointConfig
from benchmarks.models import (
    AnswererVersion,
    Dataset,
    Endpoint,
    Profile,
    Run,
    SharedData,
    StoredMessage,
    Task,
    Trajectory,
    Violation,
)

# What an endpoint's row and the client's configuration have in common.
CONFIGURED = (
    "name", "base_url", "model", "parameters", "key_variable", "price_in", "price_out", "currency",
    "timeout", "concurrency", "requests_per_minute", "structured", "native_tools",
)  # fmt: skip


def core_profile(profile: Profile) -> types.Profile:
    """A profile with its constraints in stored order."""
    return types.Profile(
        profile.level,
        tuple(
            types.Constraint(c.key, c.kind, c.text, c.about)
            for c in sorted(profile.constraints.all(), key=lambda c: c.pk)
        ),
    )


def core_task(task: Task, profile: Profile | None) -> types.Task:
    """A task as its episode sees it."""
    return types.Task(
        task.external_id,
        task.prompt,
        task.category,
        task.payload,
        core_profile(profile) if profile else None,
        shared_content(task.dataset),
    )


def shared_content(dataset: Dataset) -> types.Json:
    """What the tasks of a dataset have in common; read once by each process."""
    return _content(dataset.shared_id) if dataset.shared_id else {}


@lru_cache(maxsize=8)
def _content(digest: str) -> types.Json:
    # What stands under a digest never changes, so that nothing kept here goes out of date.
    content: types.Json = SharedData.objects.values_list("content", flat=True).get(pk=digest)
    return content


def core_outcome(trajectory: Trajectory) -> Outcome:
    """The stored outcome of a trajectory that is done."""
    return Outcome(
        trajectory.termination, trajectory.metrics, trajectory.undefined, trajectory.payload
    )


def system_of_run(run: Run) -> System:
    """What a run is played by: its system, or how that is re-judged."""
    key = run.dataset.system
    return get_rejudging(key) if run.kind == Run.Kind.JUDGING else get_system(key)


def core_violations(rows: Iterable[Violation]) -> tuple[types.Violation, ...]:
    """What was violated in a turn, in the order of these rows."""
    return tuple(
        types.Violation(v.key, v.kind, v.text, v.revealed, v.new, v.repeated) for v in rows
    )


def stored_trajectory(trajectory: Trajectory) -> Stored:
    """A trajectory as judges look at it again; what stands in a file's header is no setting."""
    run = trajectory.run
    return Stored(
        tuple(
            types.Turn(
                turn.index,
                turn.text,
                turn.feedback,
                turn.payload,
                core_violations(turn.violations.all()),
            )
            for turn in trajectory.turns.order_by("index").prefetch_related("violations")
        ),
        core_outcome(trajectory),
        {} if run.dataset.system == EXTERNAL else run.settings,
    )


def core_messages(digests: Iterable[str]) -> list[Message]:
    """Stored messages in the order of their digests."""
    wanted = list(digests)
    rows = StoredMessage.objects.in_bulk(wanted)
    return [core_message(rows[d]) for d in wanted]


def core_message(row: StoredMessage) -> Message:
    """A stored message as it was told."""
    return Message(
        row.speaker,  # type: ignore[arg-type]
        row.text,
        tuple(row.tool_calls),
        row.tool_call_id,
    )


def core_identity(row: AnswererVersion) -> Identity:
    """Who answered, as a stored row has it."""
    return Identity(
        row.kind,  # type: ignore[arg-type]
        row.name,
        row.version,
        row.parameters,
    )


def endpoint_config(endpoint: Endpoint) -> EndpointConfig:
    """What the client has to know; raises ``SettingError`` or ``EndpointRefused`` for nonsense."""
    return EndpointConfig(**{name: getattr(endpoint, name) for name in CONFIGURED})
