"""The cards of a trajectory's turns and the folded groups of its line of turns.

A page has dozens of both; in a template every number and address of a card would be looked up anew.
"""

from collections.abc import Iterable
from html import escape
from typing import Any

from django import template
from django.template import Context, Engine
from django.template.base import Template
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from analysis.browser.reading import LineGroup, ShownTurn
from benchmarks.models import Run
from benchmarks.templatetags.planjury import number
from benchmarks.templatetags.turn_parts import undefined
from benchmarks.trajectories.turn_use import SideUse, TurnUse

register = template.Library()


@register.simple_tag(takes_context=True)
def turn_cards(context: Context, turns: Iterable[ShownTurn]) -> SafeString:
    """Turns with what they took and what was said about them, one card each.

    The context has trajectory, run, scored, query, and the system's templates ``card`` and
    ``badges``.
    """
    return mark_safe("\n".join(map(_Cards(context).made_of, turns)))


class _Cards:
    """What the cards of a trajectory share."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.trajectory, self.run = context["trajectory"], context["run"]
        self.scored = context.get("scored")
        self.at = _address(context)
        self.card, self.badges = self._template("card"), self._template("badges")
        self.said = self._template("analysis/_turn_said.html")
        self.asked = ""
        if self.run.kind == Run.Kind.MADE:
            self.asked = reverse("benchmarks:trajectory_exchanges", args=[self.trajectory.pk])

    def _template(self, name: str) -> Template:
        return Engine.get_default().select_template(self.context.get(name) or [name])

    def _with(self, part: Template, **values: Any) -> str:
        return part.render(self.context.new(values))

    def made_of(self, row: ShownTurn) -> str:
        """The card of a turn."""
        turn, n = row.turn, row.index
        final = turn.row.is_final
        title = f"Last plan, turn {n}" if final and self.scored else f"Turn {n}"
        mean = "" if turn.mean is None else f"mean {turn.mean:.2f}"
        own = {"turn": turn, "trajectory": self.trajectory, "run": self.run}
        said = f'<div class="turn-said" id="said-{n}"></div>'
        if row.labels or row.notes:
            said = self._with(self.said, at=n, labels=row.labels, notes=row.notes)
        return (
            f'<details class="turn{" final" if final else ""}" open id="turn-{n}">\n'
            f"  <summary><h2>{title}</h2>{self._with(self.badges, **own)}"
            f'<span class="turn-end">{mean}</span></summary>\n'
            f'  <div class="turn-body">{self._with(self.card, **own, brief=False)}{said}\n'
            f'    <div class="turn-foot small">{_turn_use(row.use, self.run.kind)}\n'
            f'      <span class="turn-acts"><a href="{self.at}turn={n}#turn-{n}" data-copy-link>'
            f'Link to this turn</a><a href="#add-label" data-label-turn="{n}">Label</a>'
            f'<a href="#add-note" data-note-turn="{n}">Note</a></span>\n'
            f"    </div>{self._asked(n)}\n"
            "  </div>\n"
            "</details>"
        )

    def _asked(self, n: int) -> str:
        if not self.asked:
            return ""
        address = f"{self.asked}?turn={n}"
        return (
            f'\n    <div class="asked" id="asked-{n}"><a class="small" href="{address}" '
            f'hx-get="{address}" hx-target="#asked-{n}" hx-swap="innerHTML">'
            "What was asked and answered</a></div>"
        )


def _address(context: Context) -> str:
    """The page of the trajectory, in the list that its reader comes from, ready for more."""
    query = context.get("query")
    return f"?{escape(query)}&amp;" if query else "?"


def _turn_use(use: TurnUse | None, kind: str) -> str:
    """What a turn took of the agent's time and tokens, and of all others'."""
    agent, others = (use.agent, use.others) if use else (None, None)
    said = ""
    if agent and agent.stated:
        said = f"Agent {_used(agent)}"
    elif kind == Run.Kind.IMPORTED:
        said = f"Time and tokens {undefined('the file does not state them')}"
    elif agent:
        why = undefined("a scripted or human agent states none")
        said = f"Agent: time and tokens {why}"
    if others:
        said += f" · {others.calls} other call{'' if others.calls == 1 else 's'}"
        said += f", {_used(others)}" if others.stated else ""
    return f'<span class="turn-use">{said}</span>'


def _used(side: SideUse) -> str:
    """Seconds and tokens of one side."""
    parts = [] if side.seconds is None else [f"{number(side.seconds)} s"]
    if side.tokens_in is not None:
        parts.append(f"{number(side.tokens_in)} tokens in")
    if side.tokens_out is not None:
        parts.append(f"{number(side.tokens_out)} out")
    said = ", ".join(escape(part) for part in parts)
    if side.tokens_in is None and side.tokens_out is None:
        said += f", tokens {undefined('not stated for every call')}"
    return said


@register.simple_tag(takes_context=True)
def folded_group(context: Context, group: LineGroup) -> SafeString:
    """A group of the line of turns that is fetched when it is unfolded."""
    first, last = group.stretch.first, group.stretch.last
    at, trajectory = _address(context), context["trajectory"]
    turns = reverse("analysis:trajectory_turns", args=[trajectory.pk])
    return mark_safe(
        f'<details class="line-group" data-first="{first}" data-last="{last}">\n'
        f"  <summary>{_group_head(group, context.get('scored'))}</summary>\n"
        f'  <a class="small" href="{at}from={first}#turn-{first}" '
        f'hx-get="{turns}{at}line=1&amp;stretch={first}-{last}" '
        f'hx-trigger="toggle from:closest details once" hx-swap="outerHTML">Turn {first}</a>\n'
        "</details>"
    )


@register.simple_tag(takes_context=True)
def group_head(context: Context, group: LineGroup) -> SafeString:
    """The turns of a group, and how many violations of each kind they have."""
    return mark_safe(_group_head(group, context.get("scored")))


def _group_head(group: LineGroup, scored: object) -> str:
    stretch, sums = group.stretch, ""
    if scored and group.total is not None:
        marks = "".join(
            f'<span><i class="dot {kind}"></i>{n}<span class="sr-only"> {kind}</span></span>'
            for kind, n in group.total.marks.items()
            if n
        )
        sums = f'<span class="sums">{marks}</span>'
    return f'<span class="n">{stretch.first}–{stretch.last}</span>{sums}'
