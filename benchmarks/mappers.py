"""Map rows to values of the core and back, so that the core needs no Django."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from benchmarks.core import types
from benchmarks.core.answerers import Identity
from benchmarks.core.conditions import condition_title
from benchmarks.core.log import Exchange
from benchmarks.core.registry import EXTERNAL, find_system, get_rejudging, get_system
from benchmarks.core.system import RecordedTrajectory, System
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

# The fields that an endpoint's row and the client's configuration share.
CONFIGURED = tuple(EndpointConfig.model_fields)


def run_condition(run: Run) -> str:
    """Return a run's condition by its system's titles."""
    return condition_title(find_system(run.dataset.system), run.condition)


def core_profile(profile: Profile) -> types.Profile:
    """Return a profile with its constraints in stored order."""
    return types.Profile(
        profile.level,
        tuple(
            types.Constraint(c.key, c.kind, c.text, c.about)
            for c in sorted(profile.constraints.all(), key=lambda c: c.pk)
        ),
    )


def core_task(task: Task, profile: Profile | None) -> types.Task:
    """Return a task as its episode sees it."""
    return types.Task(
        task.external_id,
        task.prompt,
        task.category,
        task.payload,
        core_profile(profile) if profile else None,
        shared_content(task.dataset),
    )


def shared_content(dataset: Dataset) -> types.Json:
    """Return the data that a dataset's tasks share; each process reads it once."""
    return _content(dataset.shared_id) if dataset.shared_id else {}


@lru_cache(maxsize=8)
def _content(digest: str) -> types.Json:
    # Content under a digest never changes, so the cache cannot go stale.
    content: types.Json = SharedData.objects.values_list("content", flat=True).get(pk=digest)
    return content


def core_outcome(trajectory: Trajectory) -> Outcome:
    """Return the stored outcome of a finished trajectory."""
    return Outcome(
        trajectory.termination, trajectory.metrics, trajectory.undefined, trajectory.payload
    )


def system_of_run(run: Run) -> System:
    """Return what a run is played by: its system, or how that is re-judged."""
    key = run.dataset.system
    return get_rejudging(key) if run.kind == Run.Kind.JUDGING else get_system(key)


def core_violations(rows: Iterable[Violation]) -> tuple[types.Violation, ...]:
    """Return the violations of a turn, in the order of these rows."""
    return tuple(
        types.Violation(v.key, v.kind, v.text, v.revealed, v.new, v.repeated) for v in rows
    )


def stored_trajectory(trajectory: Trajectory) -> RecordedTrajectory:
    """Return a stored trajectory for re-judging, without the header of an imported file."""
    run = trajectory.run
    return RecordedTrajectory(
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
    """Return stored messages in the order of the given digests."""
    wanted = list(digests)
    rows = StoredMessage.objects.in_bulk(wanted)
    return [core_message(rows[d]) for d in wanted]


def core_message(row: StoredMessage) -> Message:
    """Return a stored message."""
    return Message(
        row.speaker,  # type: ignore[arg-type]
        row.text,
        tuple(row.tool_calls),
        row.tool_call_id,
    )


def core_exchange(row: Any) -> Exchange:
    """Return a logged call as playback reads it; ``row`` is an `Exchange` or has its fields."""
    withdrawn = getattr(row, "withdrawn_at", None) is not None  # calls for other purposes never are
    return Exchange(
        row.step,
        row.slot,
        row.attempt,
        row.ask_digest,
        "withdrawn" if withdrawn else row.state,
        row.text,
        row.value,
        row.reason,
        tuple(row.messages),
    )


def core_identity(row: AnswererVersion) -> Identity:
    """Return the identity of an answerer from its row."""
    return Identity(
        row.kind,  # type: ignore[arg-type]
        row.name,
        row.version,
        row.parameters,
    )


def endpoint_config(endpoint: Endpoint) -> EndpointConfig:
    """Return the client's configuration; raises ``SettingError`` or ``EndpointRefused``."""
    return EndpointConfig(**{name: getattr(endpoint, name) for name in CONFIGURED})
