"""The log of a trajectory as pages show it: who was told what, and what came back."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from benchmarks.core.labels import plain
from benchmarks.core.system import System
from benchmarks.core.types import Message
from benchmarks.endpoints.selectors import agent_title
from benchmarks.mappers import core_messages
from benchmarks.models import AnswererVersion, Endpoint, Exchange, Trajectory
from benchmarks.roles.selectors import policy_title, system_of

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
    def gist(self) -> str:
        """The beginning of what came back, or why nothing did."""
        words = " ".join((self.row.text or self.row.reason).split())
        return f"{words[:90]}…" if len(words) > 90 else words


@dataclass(frozen=True)
class TurnSteps:
    """The steps of the log in which a turn was made: from ``first`` up to, not with, ``end``."""

    turn: int
    first: int
    end: int | None


def turn_steps(trajectory: Trajectory) -> list[TurnSteps]:
    """Which steps of the log belong to which turn: each begins where the agent is asked."""
    asked = Exchange.objects.filter(trajectory=trajectory, role=agent_role(trajectory))
    starts = list(asked.order_by("step").values_list("step", flat=True).distinct())
    ends = [*starts[1:], None]
    return [
        TurnSteps(turn, first, end)
        for turn, (first, end) in enumerate(zip(starts, ends, strict=False), 1)
    ]


def agent_role(trajectory: Trajectory) -> str:
    """The role of the agent: the first one of every system."""
    system = system_of(trajectory.run.dataset.system)
    return system.roles[0].name if system else "agent"


def exchanges_of(trajectory: Trajectory, steps: TurnSteps | None) -> list[ExchangeView]:
    """The exchanges of a turn in order, or all of them; a few queries in all."""
    rows = exchange_rows(trajectory, steps)
    return exchange_views(trajectory, list(rows.order_by("step", "slot", "attempt")))


def exchange_rows(trajectory: Trajectory, steps: TurnSteps | None = None) -> QuerySet[Exchange]:
    """The log of a trajectory, or of one of its turns."""
    rows = Exchange.objects.filter(trajectory=trajectory).select_related("answerer")
    if steps is None:
        return rows
    rows = rows.filter(step__gte=steps.first)
    return rows.filter(step__lt=steps.end) if steps.end is not None else rows


def exchange_views(trajectory: Trajectory, found: Sequence[Exchange]) -> list[ExchangeView]:
    """These rows with their messages in full, in one query."""
    system = system_of(trajectory.run.dataset.system)
    titles = {role.name: role.title for role in system.roles} if system else {}
    digests = sorted({digest for row in found for digest in row.messages})
    told = dict(zip(digests, core_messages(digests), strict=True))
    asked = {row.answerer.name for row in found if row.answerer.kind == "endpoint"}
    rows = Endpoint.objects.filter(name__in=asked) if asked else ()
    models = {row.name: agent_title(row) for row in rows}
    return [
        ExchangeView(
            row,
            _seat(titles.get(row.role, plain(row.role)), row.seat),
            _answerer(system, row.answerer, models),
            TONES.get(row.state, ""),
            [told[digest] for digest in row.messages],
            _shown(row),
            [_tool(tool) for tool in row.tools],
        )
        for row in found
    ]


def _seat(title: str, seat: str) -> str:
    """``Rubric judge 2`` of the role "Rubric judges"."""
    return f"{title.removesuffix('s')} {seat}" if seat else title


def _answerer(system: System | None, who: AnswererVersion, models: Mapping[str, str]) -> str:
    if who.kind == "human":
        return "A person"
    return models.get(who.name) or policy_title(system, who.name)


def _shown(row: Exchange) -> str:
    """The parsed reply as indented JSON, empty where nothing was parsed."""
    if row.state != Exchange.State.ANSWERED:
        return ""
    return json.dumps(row.value, indent=2, ensure_ascii=False)


def _tool(tool: Mapping[str, Any]) -> tuple[str, str]:
    """(name, what it does) of a tool that was offered."""
    function = tool.get("function", tool)
    return str(function.get("name", "")), str(function.get("description", ""))
