"""Which agent is better: accuracy and what goes with it, beside the published rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from analysis.filters.selection import Selection
from analysis.frames.outcomes import outcome_frame
from analysis.frames.pools import pool_sizes
from analysis.pages.leaderboard.rows import (
    ACCURATE,
    BOTH,
    DIFFER,
    EXHAUSTED,
    VALID,
    Row,
    is_recorded,
    over_pairs,
    paired_difference,
    published_rows,
    ranked,
    row_of,
    valid_rate,
)
from analysis.pages.leaderboard.tables import (
    board_figure,
    board_table,
    correlation_table,
    counted_table,
)
from analysis.reports import common
from analysis.reports.content import Notice, Onward, Report, exclusions
from analysis.reports.few_clusters import few_clusters_notices
from analysis.reports.formatting import counted, ends, level, listed, number, plural
from analysis.stats.results import Estimate
from benchmarks.core.labels import Measure
from benchmarks.core.registry import find_system

if TYPE_CHECKING:
    from pandas import DataFrame

PURPOSE = "The leaderboard compares agents by how often they do what was asked."


def leaderboard_report(selection: Selection) -> Report:
    """Everything on the leaderboard's page."""
    shown = list(find_system(selection.system).labels.measures) if selection.system else []
    measures = {**find_system(selection.system).labels.measures, **BOTH}
    if not selection.runs or ACCURATE not in shown:
        return Report(empty=common.no_runs(PURPOSE, selection))
    frame = outcome_frame(selection.runs, [*measures, DIFFER])
    titles = common.titles_of(selection.system)
    pools = pool_sizes(selection.runs)
    rows = ranked(
        [
            replace(row_of(run, frame, measures, titles), pool=pools.get(run.pk))
            for run in selection.runs
        ]
    )
    published = []
    if selection.filters.published != "hide":
        published = published_rows(selection.system, measures)
    board = board_table([*rows, *published], measures, shown)
    tables = [board, *counted_table(rows), *correlation_table(rows, selection.system, measures)]
    figure = board_figure([*rows, *published])
    return Report(
        sentence=sentence(rows, frame, selection.agents_here),
        onward=onward(selection),
        figures=(figure,),
        tables=tuple(tables),
        notices=(
            *common.selection_notices(selection),
            *_notices(rows),
            *few_clusters_notices(_lead(rows, frame, selection.agents_here)),
        ),
        how=(*common.how_runs(selection), *_how(rows, shown, measures)),
        methods=_methods(shown, measures),
    )


def onward(selection: Selection) -> tuple[Onward, ...]:
    """What one asks next of a ranking."""
    if len(selection.runs) < 2:
        return ()
    links = [
        Onward("Any two of them: is that real?", common.page_of("compare-models", selection)),
    ]
    if common.judge_roles(selection.system):
        links.append(Onward("On which dimensions?", common.page_of("rubric", selection)))
    return tuple(links)


def sentence(rows: Sequence[Row], frame: "DataFrame", among: int) -> str:
    """The answer: who leads by how much, or why nobody can be said to.

    ``among``: the lead is one difference of all pairs of so many agents.
    """
    defined = [row for row in rows if row.accuracy.value is not None]
    if not defined:
        return _without_accuracy(rows)
    placed = [row for row in defined if row.rank is not None]
    first = (placed or defined)[0]
    said = f"{_percent(first.accuracy)} of {plural(first.accuracy.n, 'trajectory', 'trajectories')}"
    if len(defined) == 1:
        return (
            f"{first.label} is accurate on {said}{_interval(first.accuracy)}; no other agent "
            "is here to compare it with."
        )
    if len(placed) < 2:
        last = min(defined, key=lambda row: row.accuracy.value or 0)
        best = max(defined, key=lambda row: row.accuracy.value or 0)
        return (
            f"Accuracy lies between {_percent(last.accuracy)} ({last.label}) and "
            f"{_percent(best.accuracy)} ({best.label}), but these agents cannot be ranked: "
            f"{(first.no_rank or rows[-1].no_rank)}."
        )
    leaders = [row for row in placed if row.rank == 1]
    if len(leaders) > 1:
        names = listed([row.label for row in leaders])
        if len({row.accuracy.n for row in leaders}) > 1:
            return f"{names} lead together, each accurate on {_percent(first.accuracy)}."
        return f"{names} lead together: each is accurate on {said}{_interval(first.accuracy)}."
    second = placed[1]
    lead = f"{first.label} leads: accurate on {said}{_interval(first.accuracy)}"
    return f"{lead}, {_difference(first, second, frame, among)}."


def _difference(first: Row, second: Row, frame: "DataFrame", among: int) -> str:
    """How far the first is ahead, on the tasks that both finished."""
    pairs = max(1, among * (among - 1) // 2)
    ahead = paired_difference(frame, first.run, second.run, comparisons=pairs)
    if ahead.value is None:
        return f"ahead of {second.label}, with which it shares no task"
    points = f"{number(100 * ahead.value, 'number').removesuffix('.00')} points"
    text = f"{points} ahead of {second.label}"
    if ahead.interval is None:
        return f"{text} on {plural(ahead.n, 'task')}"
    low, high = 100 * ahead.interval.low, 100 * ahead.interval.high
    text += (
        f" ({level(ahead.interval)} interval {number(low, 'number')} to {number(high, 'number')}, "
        f"paired by task, n = {ahead.n} tasks{over_pairs(pairs)})"
    )
    return text if low > 0 else f"{text}: not a clear difference"


def _lead(rows: Sequence[Row], frame: "DataFrame", among: int) -> list[Estimate]:
    """The difference that the sentence states, if it states one."""
    placed = [row for row in rows if row.rank is not None and row.accuracy.value is not None]
    pairs = max(1, among * (among - 1) // 2)
    return [
        paired_difference(frame, first.run, second.run, comparisons=pairs)
        for first, second in zip(placed[:1], placed[1:2], strict=False)
    ]


def _without_accuracy(rows: Sequence[Row]) -> str:
    """Why accuracy is undefined, and what can be said instead."""
    reasons = exclusions([row.accuracy for row in rows])
    why = max(reasons, key=lambda reason: reasons[reason], default="nothing was scored")
    text = f"Accuracy is undefined for every agent here: {why}."
    dry = [(row.endings.get(EXHAUSTED, 0), row) for row in rows if is_recorded(row)]
    if len(dry) == len(rows) and any(count for count, _ in dry):
        (least, first), (most, last) = (
            min(dry, key=lambda pair: pair[0]), max(dry, key=lambda pair: pair[0]),
        )  # fmt: skip
        spread = f"{least} ({first.label}) to {most} ({last.label})" if most > least else f"{most}"
        return (
            f"{text} The pool of recorded answers ran dry in {spread} of "
            f"{plural(last.run.done if last.run else 0, 'trajectory', 'trajectories')}."
        )
    valid = [row for row in rows if VALID in row.estimates]
    valid = [row for row in valid if row.estimates[VALID].value is not None]
    if not valid:
        return text
    best, worst = max(valid, key=valid_rate), min(valid, key=valid_rate)
    if valid_rate(best) == valid_rate(worst):
        of = f"{best.label}'s" if len(valid) == 1 else "each agent's"
        estimate = best.estimates[VALID]
        return f"{text} Of {of} last plans {_percent(estimate)} are valid{_interval(estimate)}."
    return (
        f"{text} The share of valid last plans lies between {_percent(worst.estimates[VALID])} "
        f"({worst.label}) and {_percent(best.estimates[VALID])} ({best.label})."
    )


def _percent(estimate: Estimate) -> str:
    return number(estimate.value or 0.0, "share")


def _interval(estimate: Estimate) -> str:
    if estimate.interval is None:
        return ""
    return f" (95 % {estimate.interval.method.title()} interval {ends(estimate.interval, 'share')})"


def _notices(rows: Sequence[Row]) -> list[Notice]:
    found = []
    recorded = [row for row in rows if is_recorded(row)]
    if recorded:
        dry = sum(row.endings.get(EXHAUSTED, 0) for row in recorded)
        found.append(
            Notice(
                "Recorded agents have no rank: the authors' pools of answers differ in size, and a "
                f"larger pool lasts longer. {plural(dry, 'trajectory', 'trajectories')} ended "
                "because the pool ran dry and are outside Acc and VPR, so VPR is high by "
                "construction: compare how often the pool ran dry, beside its size."
            )
        )
    others = [row for row in rows if row.no_rank.startswith("made or judged")]
    if others:
        names = listed([row.label for row in others])
        found.append(Notice(f"Not ranked, because {others[0].no_rank}: {names}."))
    return found


def _methods(shown: Sequence[str], measures: Mapping[str, Measure]) -> str:
    rates = listed([measures[name].title for name in shown if measures[name].kind == "rate"])
    means = [measures[name].title for name in shown if measures[name].kind == "mean"]
    beside = f" and by {listed(means, most=len(means))} (means over trajectories)" if means else ""
    return (
        f"Agents are compared by {rates} (shares of trajectories){beside}; a lead is the mean "
        "difference on the tasks that both agents finished."
    )


def _how(rows: Sequence[Row], shown: Sequence[str], measures: Mapping[str, Measure]) -> list[str]:
    rates = [measures[name].title for name in shown if measures[name].kind == "rate"]
    means = [measures[name].title for name in shown if measures[name].kind == "mean"]
    lines = [
        f"{listed(rates)}: shares with 95 % Wilson intervals; beside Acc the Wald interval, cut "
        "off at 0 and 100 %.",
        f"{listed(means, most=9)}: arithmetic means with 95 % t intervals.",
        "The lead is a paired difference on common tasks; its interval is simultaneous over all "
        "pairs of agents (Bonferroni), as on Compare models, and excludes 0 exactly where the pair "
        "is clear there.",
    ]
    left = exclusions([row.accuracy for row in rows])
    lines.append(f"Left out of Acc: {counted(left)}." if left else "Nothing is left out of Acc.")
    return lines
