"""Write what stands on a page hundreds of times without a template's lookups for each cell.

The scores of 25 turns take 13 ms of CPU here and 39 ms as a template
(docs/decisions/kept-for-speed.md).
"""

from collections.abc import Iterable
from functools import lru_cache

from django import template
from django.template.defaultfilters import floatformat
from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

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
SPOKEN = {"added": "added: ", "removed": "removed: "}
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
    """Return the scores of a turn, folded with ``brief`` and unless it is the last plan."""
    if not turn.dimensions:
        return format_html('<p class="sub small">{}</p>', "No judge scored this turn.")
    mean, missing = turn.mean, turn.unscored
    return format_html(
        '<details class="slim scores"{}>\n'
        '  <summary>Scores <span class="sub">{}{}</span></summary>\n'
        '  <div class="table-scroll" tabindex="0" role="region" aria-label="Scores of turn {}">\n'
        '    <table class="table dense pin">\n'
        '      <thead><tr><th scope="col">Dimension</th><th scope="col" class="num">Mean</th>'
        "{}</tr></thead>\n"
        "      <tbody>{}</tbody>\n"
        "    </table>\n"
        "  </div>\n"
        '  <details class="slim reasons"><summary>What the judges wrote</summary>'
        "<dl>{}</dl></details>\n"
        "</details>",
        " open" if turn.row.is_final and not brief else "",
        "no score" if mean is None else f"mean {mean:.2f}",
        f", {missing} unscored" if missing else "",
        turn.row.index,
        format_html_join(
            "", '<th scope="col" class="num">{}</th>', ((name,) for name in turn.judges)
        ),
        format_html_join("\n", "{}", ((_score_row(each),) for each in turn.dimensions)),
        format_html_join("", "{}", ((_score_reasons(each),) for each in turn.dimensions)),
    )


def _score_row(dimension: DimensionScores) -> SafeString:
    """Return a dimension's row: its mean, and what each judge gave, with the reason as a tip."""
    mean = dimension.mean
    return format_html(
        '<tr><th scope="row">{}</th><td class="num">{}</td>{}</tr>',
        dimension.title,
        undefined("no judge gave a score") if mean is None else f"{mean:.2f}",
        format_html_join(
            "", '<td class="num">{}</td>', ((_given(given),) for given in dimension.given)
        ),
    )


def _score_reasons(dimension: DimensionScores) -> SafeString:
    """Return what each judge wrote on a dimension, as entries of a list of definitions."""
    written = []
    for given in dimension.given:
        if given.value is None:
            value, text = "", f"unscored, because {given.reason or 'no reason was given'}"
        else:
            value, text = f", {short(given.value)}", given.reason or "no reason given"
        written.append((given.judge, value, text))
    return format_html(
        "<dt>{}</dt>{}",
        dimension.title,
        format_html_join("", "<dd><strong>{}{}:</strong> {}</dd>", written),
    )


@register.simple_tag
def turn_badges(turn: TurnView) -> SafeString:
    """Return how many violations of each kind a turn has, or that it has none."""
    counts = ((NEW, turn.new), (REPEATED, turn.repeated), (WITHHELD, turn.withheld))
    badges = [(MARKS[mark][0], f"{n} {mark}") for mark, n in counts if n]
    if not turn.findings and turn.row.payload.get("valid"):
        badges.append(("ok", "no violation"))
    return format_html_join("", ' <span class="badge {}">{}</span>', badges)


@register.simple_tag
def finding_items(findings: Iterable[ViolationView]) -> SafeString:
    """Return what a turn violated, with what judges gave as reasons, as the items of a list."""
    return format_html_join("", "{}", ((_finding_item(finding),) for finding in findings))


def _finding_item(finding: ViolationView) -> SafeString:
    tone, tip = MARKS[finding.mark]
    again = finding.mark == REPEATED and not finding.revealed
    return format_html(
        '<li><span class="badge {}" tabindex="0" data-tip="{}">{}</span>'
        '<span class="kind">{}</span><span>{}{}{}</span></li>',
        tone,
        tip,
        finding.mark,
        finding.kind,
        finding.text,
        format_html(' <span class="muted">{}</span>', "(not said again)") if again else "",
        format_html_join(
            "", '<span class="sub why">{}</span>', ((reason,) for reason in finding.reasons)
        ),
    )


@register.simple_tag
def diff_items(lines: Iterable[DiffLine]) -> SafeString:
    """Return the steps of a plan against another one, as the items of a list."""
    return format_html_join("\n  ", "{}", ((_diff_item(line),) for line in lines))


def _diff_item(line: DiffLine) -> SafeString:
    spoken = SPOKEN.get(line.op)
    return format_html(
        '<li class="{}"><span class="n">{}</span><span>{}{}</span></li>',
        line.op,
        line.number or "",
        format_html('<span class="sr-only">{}</span>', spoken) if spoken else "",
        format_html_join("", "{}", ((_diff_part(part),) for part in line.parts)),
    )


def _diff_part(part: DiffSegment) -> str:
    tag = MARKED.get(part.op)
    return format_html("<{0}>{1}</{0}>", tag, part.text) if tag else part.text


def _given(given: GivenScore) -> str:
    if given.value is None:
        return undefined(f"unscored, because {given.reason or 'no reason given'}")
    value = short(given.value)
    if not given.reason:
        return value
    return format_html('<span tabindex="0" data-tip="{}">{}</span>', given.reason, value)


@lru_cache(maxsize=256)
def short(value: float) -> str:
    """Write a number with at most one decimal, as the templates write it."""
    return floatformat(value, "-1")


@lru_cache(maxsize=256)
def undefined(reason: str) -> SafeString:
    """Return a dash, and why there is no number."""
    return render_to_string("includes/_undefined.html", {"reason": reason})
