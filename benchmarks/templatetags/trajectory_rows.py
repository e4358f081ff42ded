"""The rows of tables of trajectories: what every list shows, each cell as HTML."""

from collections.abc import Iterable

from django import template
from django.template.defaultfilters import truncatechars
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from benchmarks.core.conditions import STANDARD
from benchmarks.templatetags.planjury import badge, condition_words, number, percent, score
from benchmarks.templatetags.turn_parts import undefined
from benchmarks.trajectories.selectors import (
    FinalScores,
    MetricVerdict,
    TrajectoryColumns,
    TrajectoryLine,
)

register = template.Library()
# Signs of a task's words in a list.
MOST_WORDS = 120


@register.simple_tag
def trajectory_rows(
    rows: Iterable[TrajectoryLine], columns: TrajectoryColumns, query: str, without_run: object
) -> SafeString:
    """Show the rows of a table; ``without_run``: it is a run's, so that agent and level go
    without saying.

    ``query`` is the choice that links carry on.
    """
    plain = bool(without_run)
    return format_html_join("\n", "{}", ((_row(row, columns, query, plain),) for row in rows))


def _row(
    row: TrajectoryLine, columns: TrajectoryColumns, query: str, without_run: bool
) -> SafeString:
    run, made_by = row.trajectory.run, ""
    if not without_run:
        made_by = format_html(
            "<td>{}{}</td><td>{}</td>\n", run.agent.title, condition_of(row), run.level or "–"
        )
    return format_html(
        "<tr>\n{}\n{}{}\n{}\n{}\n{}\n</tr>",
        task_head(row, query),
        made_by,
        outcome(row),
        turns(row),
        measures(row),
        format_html('<td class="num">{}</td>', mean_score(row.scores)) if columns.scored else "",
    )


def task_head(row: TrajectoryLine, query: str, after: str = "") -> SafeString:
    """Return the task, which leads to the trajectory, with HTML ``after`` it."""
    one = row.trajectory
    words = one.task.prompt
    if len(words) > MOST_WORDS:
        words = truncatechars(words, MOST_WORDS)
    return format_html(
        '<th scope="row" class="task-cell"><a href="{}{}">{}</a>'
        '<span class="sub">{}{}</span>{}</th>',
        reverse("analysis:trajectory", args=[one.pk]),
        f"?{query}" if query else "",
        words,
        one.task.external_id,
        f" · attempt {one.attempt}" if one.attempt > 1 else "",
        after,
    )


def condition_of(row: TrajectoryLine) -> str:
    """Return the condition under an agent's name, where it is not the usual one."""
    run = row.trajectory.run
    if run.condition == STANDARD:
        return ""
    return format_html('<span class="sub">{}</span>', condition_words(run))


def outcome(row: TrajectoryLine) -> SafeString:
    """Return whether it is right, and how it ended."""
    return format_html(
        "<td>{}{}</td>",
        badge(row.result.title, row.result.tone),
        format_html('<span class="sub">{}</span>', row.result.detail) if row.result.detail else "",
    )


def turns(row: TrajectoryLine) -> SafeString:
    """Return after how many turns it ended."""
    return format_html('<td class="num">{}</td>', row.trajectory.turn_count)


def measures(row: TrajectoryLine) -> SafeString:
    """Return verdicts and metrics, one cell each; undefined ones with the reason."""
    cells = [format_html("<td>{}</td>", verdict_words(given)) for given in row.verdicts]
    for measure, value, why in row.metrics:
        if value is None:
            shown: str = undefined(why)
        else:
            shown = percent(value) if measure.in_percent else number(value)
        cells.append(format_html('<td class="num">{}</td>', shown))
    return format_html_join("\n", "{}", ((cell,) for cell in cells))


@register.simple_tag
def verdict_words(given: MetricVerdict) -> SafeString:
    """Return yes, no, or why neither."""
    if given.value is None:
        return undefined(given.reason)
    word = "yes" if given.value else "no"
    return format_html('<span class="{0}">{0}</span>', word)


def mean_score(scores: FinalScores) -> str:
    """Return the mean of all scores of the last plan, and how many are missing."""
    if scores.mean is None:
        return undefined("no judge has scored the last plan")
    if not scores.missing:
        return score(scores.mean)
    return format_html('{}<span class="sub">{} unscored</span>', score(scores.mean), scores.missing)
