"""The turns that an annotator reads: one template, rendered once for each shape that a turn has."""

from collections.abc import Iterable
from functools import cache
from html import escape

from django import template
from django.utils.safestring import SafeString, mark_safe

from annotation.desk.trajectories import DeskFinding, DeskTurn
from annotation.patterns import Pattern, holes
from benchmarks.templatetags.turn_parts import diff_items

register = template.Library()
# Words alone, none of them from a trajectory: there are less than a hundred.
Shape = tuple[bool, bool, str, bool, str, bool]


@register.simple_tag
def turn_cards(turns: Iterable[DeskTurn]) -> SafeString:
    """All turns of a trajectory, one below the other."""
    return mark_safe("".join(_card(turn) for turn in turns))  # noqa: S308


def _card(turn: DeskTurn) -> str:
    values = {
        "index": str(turn.index),
        "previous": str(turn.previous),
        "change": escape(turn.change),
        "text": escape(turn.text),
        "lines": diff_items(turn.lines),
        "steps": "".join([f"<li>{escape(step)}</li>" for step in turn.steps]),
        "count": str(len(turn.findings or ())),
        "findings": "".join([_finding(one) for one in turn.findings or ()]),
        "feedback": escape(turn.feedback),
    }
    return _pattern(_shape(turn)).fill(values)


def _shape(turn: DeskTurn) -> Shape:
    plan = "text" if turn.text else "lines" if turn.lines and not turn.is_final else "steps"
    changed = bool(turn.lines) and turn.is_final
    judged = ""
    if turn.findings is not None:
        judged = ("violated" if turn.findings else "nothing") if turn.decided else "undecided"
    return turn.is_final, turn.unfolded, plan, changed, judged, bool(turn.feedback)


@cache
def _pattern(shape: Shape) -> Pattern:
    names = ("is_final", "unfolded", "plan", "changed", "judged", "heard")
    filled = holes(
        "index", "previous", "change", "text", "lines", "steps", "count", "findings", "feedback"
    )
    context = {**dict(zip(names, shape, strict=True)), **filled}
    return Pattern.of("annotation/partials/_turn.html", context)


def _finding(finding: DeskFinding) -> str:
    return _finding_pattern().fill(
        {
            "text": escape(finding.text),
            "kind": escape(finding.kind),
            "word": escape(finding.word),
            "tone": escape(finding.tone),
            "why": escape(finding.why),
        }
    )


@cache
def _finding_pattern() -> Pattern:
    context = holes("text", "kind", "word", "tone", "why")
    return Pattern.of("annotation/partials/_turn_finding.html", context)
