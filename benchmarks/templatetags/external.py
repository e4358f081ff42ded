"""Tags for imported trajectories: messages, calls of tools, what was hidden."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.db.models import Q
from django.template import Context
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from benchmarks.access import visibility
from benchmarks.core.ports.labels import plain
from benchmarks.core.registry import EXTERNAL, find_system
from benchmarks.models import Trajectory
from benchmarks.trajectories.messages import as_text
from benchmarks.trajectories.session_map import MessageWindow, message_window, session_map
from benchmarks.trajectories.tool_views import ESCAPES, FileChange
from benchmarks.trajectories.turns import TurnView

register = template.Library()


COLUMNS = 240
LINKED = 100


@register.simple_tag(takes_context=True)
def messages_shown(context: Context, turn: TurnView) -> MessageWindow:
    """Return the first messages of a turn, or those around the one that the address asks for."""
    at = context.get("at")
    place = at[1] if at and at[0] == turn.row.index else 1
    return message_window(context["trajectory"], turn.row, at=place)


@register.inclusion_tag("systems/external/_map.html")
def map_of_session(trajectory: Trajectory) -> dict[str, Any]:
    """Draw the map of a session: a lane for each kind of step, at most so many columns wide."""
    known = session_map(trajectory)
    columns = min(COLUMNS, max(1, len(known.kinds)))
    return {
        "map": known,
        "count": len(known.kinds),
        "steps": [
            ("Message", "k", "j", len(known.kinds) < 2),
            ("Turn", "T", "t", len(known.counts) < 2),
            ("Error", "E", "e", not known.errors),
        ],
        "columns": columns,
        "lanes": [
            (_counted(name, total), total, "".join(f"M{x} {4 * place}h1v3h-1z" for x in lane))
            for place, ((name, total), lane) in enumerate(
                zip(known.totals, known.lanes(columns), strict=True)
            )
        ],
        "sizes": ",".join(map(str, known.counts.values())),
        "first_turn": next(iter(known.counts), 1),
    }


@register.simple_tag(takes_context=True)
def linked_sessions(context: Context, trajectory: Trajectory) -> dict[str, list[Trajectory]]:
    """Return the session that started this one as a sub-agent, and the sub-agents it started."""
    session = (trajectory.payload.get("metadata") or {}).get("session")
    if not isinstance(session, dict) or not session.get("id"):
        return {}
    own, parent = session["id"], session.get("parent")
    # A file's sub-agents are stored close to their session; all sessions of a file may be many.
    rows = (
        visibility(context["request"])
        .of(Trajectory.objects.all())
        .filter(
            Q(payload__metadata__session__parent=own)
            | (Q(payload__metadata__session__id=parent) if parent else Q(pk=None)),
            run__checksum=trajectory.run.checksum,
            pk__range=(trajectory.pk - LINKED, trajectory.pk + LINKED),
        )
    )
    near = list(rows.select_related("run__agent", "task").order_by("pk"))
    above = [row for row in near if row.payload["metadata"]["session"].get("id") == parent]
    return {"parents": above, "children": [row for row in near if row not in above]}


def _counted(name: str, total: int) -> str:
    if name == "calls":  # messages are counted, and one may hold several
        return "with calls"
    return name.removesuffix("s") if total == 1 else name


@register.filter
def screen(text: str) -> SafeString:
    """Return a text with the escape sequences of terminals hidden.

    They stay in the page, because positions of marked passages count them.
    """
    if "\x1b" not in text:
        return conditional_escape(text)
    pieces, at = [], 0
    for found in ESCAPES.finditer(text):
        hidden = format_html("<span hidden>{}</span>", found[0])
        pieces += [conditional_escape(text[at : found.start()]), hidden]
        at = found.end()
    return mark_safe("".join([*pieces, conditional_escape(text[at:])]))  # noqa: S308


@register.filter
def change_lines(change: FileChange) -> SafeString:
    """Return the lines of a change: what came is marked with +, what went with -."""
    return format_html_join("\n", "{}", ((_line(kind, line),) for kind, line in change.lines))


@register.filter
def patch_lines(text: str) -> SafeString:
    """Return a difference between files with its added and removed lines marked."""
    return format_html_join("\n", "{}", ((_patch_line(line),) for line in text.splitlines()))


def _line(kind: str, line: str) -> str:
    if kind == "same":
        return f"  {line}"
    return format_html(
        "<{0}>{1} {2}</{0}>", *(("ins", "+") if kind == "added" else ("del", "-")), line
    )


def _patch_line(line: str) -> str:
    tag = {"+": "ins", "-": "del"}.get(line[:1])
    if tag is None or line.startswith(("+++", "---")):
        return line
    return format_html("<{0}>{1}</{0}>", tag, line)


@register.filter
def shown(value: Any) -> str:
    """Return a text as it is, everything else as indented JSON."""
    return as_text(value)


@register.filter
def facts(value: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (name in words, value as text) of what is not empty."""
    return [
        (plain(name), as_text(inner))
        for name, inner in (value or {}).items()
        if inner not in (None, "", [], {})
    ]


@register.simple_tag
def what_is_missing() -> str:
    """Say why pages about judges and constraints have nothing to say here."""
    return find_system(EXTERNAL).labels.not_judged
