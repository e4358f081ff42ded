"""The rows of tables of trajectories: what every list shows, each cell as HTML."""

from collections.abc import Iterable
from html import escape

from django import template
from django.template.defaultfilters import truncatechars
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from benchmarks.templatetags.planjury import badge, number, percent, score
from benchmarks.templatetags.turn_parts import undefined
from benchmarks.trajectories.selectors import (
    FinalScores,
    MetricVerdict,
    TrajectoryColumns,
    TrajectoryRow,
)

register = template.Library()
# Signs of a task's words in a list.
MOST_WORDS = 120


@register.simple_tag
def trajectory_rows(
    rows: Iterable[TrajectoryRow], columns: TrajectoryColumns, query: str, without_run: object
) -> SafeString:
    """Rows of a table; ``without_run``: it is a run's, so that agent and level go without saying.

    ``query`` is the choice that links carry on.
    """
    return mark_safe("\n".join(_row(row, columns, query, bool(without_run)) for row in rows))


def _row(row: TrajectoryRow, columns: TrajectoryColumns, query: str, without_run: bool) -> str:
    run, made_by = row.trajectory.run, ""
    if not without_run:
        agent = escape(run.agent.title) + condition_of(row)
        made_by = f"<td>{agent}</td><td>{escape(run.level) or '–'}</td>\n"
    scored = f'<td class="num">{mean_score(row.scores)}</td>' if columns.scored else ""
    return (
        f"<tr>\n{task_head(row, query)}\n{made_by}{outcome(row)}\n{measures(row)}\n{scored}\n</tr>"
    )


def task_head(row: TrajectoryRow, query: str, after: str = "") -> str:
    """The task, which leads to the trajectory, with HTML ``after`` it."""
    one = row.trajectory
    url = reverse("analysis:trajectory", args=[one.pk])
    words = one.task.prompt
    if len(words) > MOST_WORDS:
        words = truncatechars(words, MOST_WORDS)
    again = f" · attempt {one.attempt}" if one.attempt > 1 else ""
    return (
        f'<th scope="row" class="task-cell"><a href="{url}{f"?{escape(query)}" if query else ""}">'
        f'{escape(words)}</a><span class="sub">{escape(one.task.external_id)}{again}</span>'
        f"{after}</th>"
    )


def condition_of(row: TrajectoryRow) -> str:
    """The condition under an agent's name, where it is not the usual one."""
    condition = row.trajectory.run.condition
    return f'<span class="sub">{escape(condition)}</span>' if condition != "standard" else ""


def outcome(row: TrajectoryRow) -> str:
    """How it ended, the reward that its file states, and after how many turns."""
    reward = row.trajectory.metrics.get("reward")
    stated = ""
    if reward is not None:
        stated = f'<span class="sub">reward {escape(number(reward))}</span>'
    return (
        f"<td>{badge(row.end.title, row.end.tone)}{stated}</td>\n"
        f'<td class="num">{row.trajectory.turn_count}</td>'
    )


def measures(row: TrajectoryRow) -> str:
    """Verdicts and metrics, one cell each; undefined ones with the reason."""
    cells = [f"<td>{verdict_words(given)}</td>" for given in row.verdicts]
    for measure, value, why in row.metrics:
        if value is None:
            said: str = undefined(why)
        else:
            said = percent(value) if measure.kind == "rate" else escape(number(value))
        cells.append(f'<td class="num">{said}</td>')
    return "\n".join(cells)


@register.simple_tag
def verdict_words(given: MetricVerdict) -> SafeString:
    """Yes, no, or why neither."""
    if given.value is None:
        return mark_safe(undefined(given.reason))
    word = "yes" if given.value else "no"
    return mark_safe(f'<span class="{word}">{word}</span>')


def mean_score(scores: FinalScores) -> str:
    """The mean of all scores of the last plan, and how many are missing."""
    if scores.mean is None:
        return undefined("no judge has scored the last plan")
    missing = f'<span class="sub">{scores.missing} unscored</span>' if scores.missing else ""
    return score(scores.mean) + missing
