"""Read the log of a trajectory for pages: the messages of each ask, and the reply."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from benchmarks.calls.whole_log import whole_log
from benchmarks.core.ports.labels import plain
from benchmarks.core.registry import system_of
from benchmarks.core.system import System
from benchmarks.core.types import Message
from benchmarks.endpoints.selectors import agent_title
from benchmarks.mappers import core_messages
from benchmarks.models import AnswererVersion, Endpoint, Exchange, Trajectory
from benchmarks.roles.selectors import policy_title

TONES = {
    "sent": "info",
    "answered": "ok",
    "unreadable": "bad",
    "declined": "idle",
    "failed": "bad",
    "lost": "warn",
}


@dataclass(frozen=True)
class ExchangeView:
    """One attempt at one ask, with its messages in full."""

    row: Exchange
    role: str
    answerer: str
    tone: str
    messages: Sequence[Message]
    value: str
    tools: Sequence[tuple[str, str]]

    @property
    def preview(self) -> str:
        """Return the beginning of the reply, or the reason why there is none."""
        words = " ".join((self.row.text or self.row.reason).split())
        return f"{words[:90]}…" if len(words) > 90 else words


@dataclass(frozen=True)
class TurnSteps:
    """The steps of the log that belong to a turn: from ``first`` up to, excluding, ``end``."""

    turn: int
    first: int
    end: int | None


def turn_steps(trajectory: Trajectory) -> list[TurnSteps]:
    """Return the steps of each turn; a turn begins when the agent is asked."""
    asked = whole_log(trajectory).filter(role=agent_role(trajectory))
    starts = list(asked.order_by("step").values_list("step", flat=True).distinct())
    ends = [*starts[1:], None]
    return [
        TurnSteps(turn, first, end)
        for turn, (first, end) in enumerate(zip(starts, ends, strict=False), 1)
    ]


def agent_role(trajectory: Trajectory) -> str:
    """Return the name of the agent's role: the first one of every system."""
    system = system_of(trajectory.run.dataset.system)
    return system.roles[0].name if system else "agent"


def exchanges_of(trajectory: Trajectory, steps: TurnSteps | None) -> list[ExchangeView]:
    """Return the exchanges of a turn in order, or all of them, in a few queries."""
    rows = exchange_rows(trajectory, steps)
    return exchange_views(trajectory, list(rows.order_by("step", "slot", "attempt")))


def exchange_rows(trajectory: Trajectory, steps: TurnSteps | None = None) -> QuerySet[Exchange]:
    """Return the log of a trajectory, or of one of its turns, with what was withdrawn."""
    rows = whole_log(trajectory, every=True).select_related("answerer")
    if steps is None:
        return rows
    rows = rows.filter(step__gte=steps.first)
    return rows.filter(step__lt=steps.end) if steps.end is not None else rows


def exchange_views(trajectory: Trajectory, exchanges: Sequence[Exchange]) -> list[ExchangeView]:
    """Return these rows with their full messages, in one query."""
    system = system_of(trajectory.run.dataset.system)
    titles = {role.name: role.title for role in system.roles} if system else {}
    digests = sorted({digest for row in exchanges for digest in row.messages})
    messages = dict(zip(digests, core_messages(digests), strict=True))
    asked = {row.answerer.name for row in exchanges if row.answerer.kind == "endpoint"}
    rows = Endpoint.objects.filter(name__in=asked) if asked else ()
    models = {row.name: agent_title(row) for row in rows}
    return [
        ExchangeView(
            row,
            _seat(titles.get(row.role, plain(row.role)), row.seat),
            _answerer(system, row.answerer, models),
            TONES.get(row.state, ""),
            [messages[digest] for digest in row.messages],
            _shown(row),
            [_tool(tool) for tool in row.tools],
        )
        for row in exchanges
    ]


def _seat(title: str, seat: str) -> str:
    """Name a seat: ``Rubric judge 2`` in the role "Rubric judges"."""
    return f"{title.removesuffix('s')} {seat}" if seat else title


def _answerer(system: System | None, who: AnswererVersion, models: Mapping[str, str]) -> str:
    if who.kind == "human":
        return "A person"
    return models.get(who.name) or policy_title(system, who.name)


def _shown(row: Exchange) -> str:
    """Return the parsed reply as indented JSON, or "" if there is none."""
    if row.state != Exchange.State.ANSWERED:
        return ""
    return json.dumps(row.value, indent=2, ensure_ascii=False)


def _tool(tool: Mapping[str, Any]) -> tuple[str, str]:
    """Return the name and description of a tool that was offered."""
    function = tool.get("function", tool)
    return str(function.get("name", "")), str(function.get("description", ""))
