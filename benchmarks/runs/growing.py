"""Replies of models that people watch while they are being written.

What has arrived so far is kept apart from the log, for some seconds, and decides nothing: the log
stores the whole reply before anything uses it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from django.core.cache import caches

from benchmarks.core.answerers import Answerer
from benchmarks.core.system import System
from benchmarks.core.types import Ask
from benchmarks.llm.endpoint import EndpointAnswerer

# A worker that was killed leaves its last text for so long.
_KEPT_SECONDS = 90
# Longer than any call may take.
_WRITER_SECONDS = 3600


@dataclass(frozen=True)
class GrowingReply:
    """The text of a reply so far, and the role in which it is written."""

    role: str
    text: str


def read_growing(trajectory: int) -> GrowingReply | None:
    """Return the reply that is being written in a trajectory, if people may watch it."""
    kept = caches["growing"].get(str(trajectory))
    return GrowingReply(*kept) if kept else None


def forget_growing(trajectory: int, writer: str = "") -> None:
    """Forget a reply: it is stored, or there will be none.

    With ``writer`` only while that one writes; without, whoever does is not watched any more.
    """
    kept = caches["growing"]
    if writer and kept.get(_writer(trajectory)) != writer:
        return
    kept.delete_many([str(trajectory), _writer(trajectory)])


def watched(answerer: Answerer, trajectory: int, system: System, writer: str) -> Answerer:
    """Return an answerer whose replies may be watched, of the kinds that players read as written.

    Of several that reply at the same time, the newest text is shown. ``writer`` is who carries the
    trajectory: what comes late to one that lost it is not shown.
    """
    if not isinstance(answerer, EndpointAnswerer):
        return answerer

    def grows(ask: Ask) -> Callable[[str], None] | None:
        if ask.expect.kind not in system.people.grows or ask.tools:
            return None
        caches["growing"].set(_writer(trajectory), writer, _WRITER_SECONDS)
        return partial(_keep, trajectory, writer, ask.role)

    return replace(answerer, grows=grows)


def _writer(trajectory: int) -> str:
    return f"{trajectory}-writer"


def _keep(trajectory: int, writer: str, role: str, text: str) -> None:
    kept = caches["growing"]
    if kept.get(_writer(trajectory)) == writer:
        kept.set(str(trajectory), (role, text), _KEPT_SECONDS)
