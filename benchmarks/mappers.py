"""Rows to core values and back: the border between the database and everything without Django."""

from collections.abc import Iterable
from functools import lru_cache

from benchmarks.core import types
from benchmarks.core.types import Message, Outcome
from benchmarks.llm.config import EndpointConfig
from benchmarks.models import (
    Dataset,
    Endpoint,
    Profile,
    SharedData,
    StoredMessage,
    Task,
    Trajectory,
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


def core_messages(digests: Iterable[str]) -> list[Message]:
    """Stored messages in the order of their digests."""
    wanted = list(digests)
    rows = StoredMessage.objects.in_bulk(wanted)
    return [
        Message(
            rows[d].speaker,  # type: ignore[arg-type]
            rows[d].text,
            tuple(rows[d].tool_calls),
            rows[d].tool_call_id,
        )
        for d in wanted
    ]


def endpoint_config(endpoint: Endpoint) -> EndpointConfig:
    """What the client has to know; raises ``SettingError`` or ``EndpointRefused`` for nonsense."""
    return EndpointConfig(**{name: getattr(endpoint, name) for name in CONFIGURED})
