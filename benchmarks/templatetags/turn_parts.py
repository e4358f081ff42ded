"""What stands on a page hundreds of times, written without a template's lookups for each cell.

A page of forty turns has thousands of scores; a template takes some 20 µs for each value.
"""

from collections.abc import Iterable
from functools import lru_cache
from html import escape

from django import template
from django.template.defaultfilters import floatformat
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from benchmarks.trajectories.diffs import DiffLine, DiffSegment
from benchmarks.trajectories.turns import (
    NEW,
    REPEATED,
    WITHHELD,
    DimensionScores,
    GivenScore,
    TurnView,
    ViolationView,
)

register = template.Library()
SAID = {
    "added": '<span class="sr-only">added: </span>',
    "removed": '<span class="sr-only">removed: </span>',
}
MARKED = {"insert": "ins", "delete": "del"}


# What a violation is: the tone of its badge, and what the badge says on focus.
MARKS = {
    NEW: ("bad", "Violated and told for the first time"),
    REPEATED: ("warn", "Violated although it had been told before"),
    WITHHELD: (
        "idle",
        "Violated, but not told yet: one kind is told at a time, world before user",
    ),
}


@register.simple_tag
def turn_scores(turn: TurnView, brief: object = False) -> SafeString:
    """The scores of a turn, folded unless it is the last plan; ``brief``: folded in any case."""
    if not turn.dimensions:
        return mark_safe('<p class="sub small">No judge scored this turn.</p>')
    mean, missing = turn.mean, turn.unscored
    said = "no score" if mean is None else f"mean {mean:.2f}"
    unscored = f", {missing} unscored" if missing else ""
    opened = " open" if turn.row.is_final and not brief else ""
    heads = "".join(f'<th scope="col" class="num">{escape(name)}</th>' for name in turn.judges)
    return mark_safe(
        f'<details class="scores"{opened}>\n'
        f'  <summary>Scores <span class="sub">{said}{unscored}</span></summary>\n'
        '  <div class="table-scroll" tabindex="0" role="region" '
        f'aria-label="Scores of turn {turn.row.index}">\n'
        '    <table class="table dense pin">\n'
        '      <thead><tr><th scope="col">Dimension</th><th scope="col" class="num">Mean</th>'
        f"{heads}</tr></thead>\n"
        f"      <tbody>{_score_rows(turn.dimensions)}</tbody>\n"
        "    </table>\n"
        "  </div>\n"
        '  <details class="reasons"><summary>What the judges wrote</summary>'
        f"<dl>{_score_reasons(turn.dimensions)}</dl></details>\n"
        "</details>"
    )


def _score_rows(dimensions: Iterable[DimensionScores]) -> str:
    """A row for each dimension: its mean, and what each judge gave, with the reason as a tip."""
    rows = []
    for dimension in dimensions:
        mean = dimension.mean
        shown = undefined("no judge gave a score") if mean is None else f"{mean:.2f}"
        cells = "".join(f'<td class="num">{_given(given)}</td>' for given in dimension.given)
        title = escape(dimension.title)
        rows.append(f'<tr><th scope="row">{title}</th><td class="num">{shown}</td>{cells}</tr>')
    return "\n".join(rows)


def _score_reasons(dimensions: Iterable[DimensionScores]) -> str:
    """What each judge wrote, by dimension, as the entries of a list of definitions."""
    pieces = []
    for dimension in dimensions:
        pieces.append(f"<dt>{escape(dimension.title)}</dt>")
        for given in dimension.given:
            if given.value is None:
                value, said = "", f"unscored, because {given.reason or 'no reason was given'}"
            else:
                value, said = f", {short(given.value)}", given.reason or "no reason given"
            name = escape(given.judge)
            pieces.append(f"<dd><strong>{name}{value}:</strong> {escape(said)}</dd>")
    return "".join(pieces)


@register.simple_tag
def turn_badges(turn: TurnView) -> SafeString:
    """How many violations of each kind a turn has, beside its number; that it has none."""
    counts = ((NEW, turn.new), (REPEATED, turn.repeated), (WITHHELD, turn.withheld))
    said = [(MARKS[mark][0], f"{n} {mark}") for mark, n in counts if n]
    if not turn.findings and turn.row.payload.get("valid"):
        said.append(("ok", "no violation"))
    return mark_safe("".join(f' <span class="badge {tone}">{text}</span>' for tone, text in said))


@register.simple_tag
def finding_items(findings: Iterable[ViolationView]) -> SafeString:
    """What a turn violated, with what judges gave as reasons, as the items of a list."""
    return mark_safe("".join(map(_finding_item, findings)))


def _finding_item(finding: ViolationView) -> str:
    tone, tip = MARKS[finding.mark]
    again = finding.mark == REPEATED and not finding.revealed
    told = ' <span class="muted">(not said again)</span>' if again else ""
    why = "".join(f'<span class="sub why">{escape(reason)}</span>' for reason in finding.reasons)
    return (
        f'<li><span class="badge {tone}" tabindex="0" data-tip="{tip}">{finding.mark}</span>'
        f'<span class="kind">{escape(finding.kind)}</span>'
        f"<span>{escape(finding.text)}{told}{why}</span></li>"
    )


@register.simple_tag
def diff_items(lines: Iterable[DiffLine]) -> SafeString:
    """The steps of a plan against another one, as the items of a list."""
    return mark_safe("\n  ".join(_diff_item(line) for line in lines))


def _diff_item(line: DiffLine) -> str:
    parts = "".join(_diff_part(part) for part in line.parts)
    said = SAID.get(line.op, "")
    number = line.number or ""
    return f'<li class="{line.op}"><span class="n">{number}</span><span>{said}{parts}</span></li>'


def _diff_part(part: DiffSegment) -> str:
    tag = MARKED.get(part.op)
    text = escape(part.text)
    return f"<{tag}>{text}</{tag}>" if tag else text


def _given(given: GivenScore) -> str:
    if given.value is None:
        return undefined(f"unscored, because {given.reason or 'no reason given'}")
    value = short(given.value)
    if not given.reason:
        return value
    return f'<span tabindex="0" data-tip="{escape(given.reason)}">{value}</span>'


@lru_cache(maxsize=256)
def short(value: float) -> str:
    """At most one decimal, as the templates write it."""
    return floatformat(value, "-1")


@lru_cache(maxsize=256)
def undefined(reason: str) -> str:
    """A dash, and why there is no number."""
    return render_to_string("includes/_undefined.html", {"reason": reason})
