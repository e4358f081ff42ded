"""What levels, ablations and other variations change: the same agents on the same tasks."""

from collections.abc import Mapping, Sequence
from math import ceil

from analysis.figures.tool_use import PointRow, panel_dots
from analysis.filters.selection import Selection
from analysis.frames.measures import measures_here
from analysis.pages.compare_models.rows import SEED, difference_words, p_words
from analysis.pages.declaration import WrittenPage
from analysis.pages.effects.feedback import feedback_tables
from analysis.pages.effects.rows import Effects, effects_of, factor_of, title_of
from analysis.pages.effects.tables import (
    changes_table,
    missing_table,
    odds_table,
    overall_table,
    profile_table,
    published_table,
    ranges_table,
    said_table,
    values_table,
)
from analysis.pages.empty import no_runs
from analysis.reports import common
from analysis.reports.content import Empty, FigureSpec, Notice, Report, Table, how_interval
from analysis.reports.formatting import counted, ends, level, listed, number, plural
from analysis.reports.references import published_estimate
from analysis.stats.comparison.condition_effects import ConditionChange
from analysis.stats.comparison.model_comparisons import turned_estimate
from analysis.stats.results import Estimate

PURPOSE = "This page shows what one thing that runs are varied in changes, all else being alike."
OVERALL = "All agents"
NEARLY = 1e-9


def effects_report(selection: Selection) -> Report:
    """Everything on the page."""
    factor = factor_of(selection)
    if not selection.runs or selection.filters.measure not in measures_here(selection.system):
        return Report(empty=no_runs(PURPOSE, selection))
    if factor is None:
        return Report(empty=_no_factor(selection))
    found = effects_of(selection, factor)
    scripts = {run.agent_kind for run in selection.runs} == {"scripted"}
    tables: list[Table] = []
    if found.effects is not None:
        tables = [values_table(found), *changes_table(found), *overall_table(found),
                  *odds_table(found), *ranges_table(found)]  # fmt: skip
    tables += feedback_tables(found, selection)
    if factor.kind == "level" and selection.dataset is not None:
        tables += profile_table(selection.dataset, selection.closed_tasks, factor)
    tables += [*published_table(found), *said_table(found, selection)]
    tables += missing_table(found, selection)
    return Report(
        sentence=sentence(found, only_scripts=scripts),
        figures=tuple(_figures(found)),
        tables=tuple(tables),
        notices=(*common.selection_notices(selection), *_notices(found)),
        how=(*common.how_runs(selection), *_how(found)),
    )


def _no_factor(selection: Selection) -> Empty:
    return Empty(
        "Nothing is varied here in a way that is known",
        f"{PURPOSE} Of {common.dataset_name(selection)} it is not known what that would be; "
        "conditions are compared with the standard one under Conditions.",
        "See the conditions",
        common.address("analysis:conditions", {"dataset": selection.filters.dataset}),
    )


def sentence(found: Effects, *, only_scripts: bool = False) -> str:
    """What each change does on average, and how many are clear; or why there is none."""
    name = found.factor.title.lower()
    if found.effects is None and found.factor.kind == "parameter" and only_scripts:
        return (
            f"No run here has a known {name}: these scripts take none. What it changes cannot be "
            "said without runs of a language model, or of a script that takes one."
        )
    if found.effects is None:
        return f"No run here has a known {name}, so what it changes cannot be said."
    if not found.varied:
        only = next(iter(found.titles.values()))
        return f"All runs here have the same {name} (“{only}”), so there is nothing to compare."
    changes = found.effects.changes
    tested = [change for change in changes if change.comparison.p_value is not None]
    if not tested:
        return f"No agent has a task that was scored under two values of the {name}."
    parts = []
    for (condition, base), estimate in found.effects.overall.items():
        if estimate.value is None:
            continue
        parts.append(f"{_moves(estimate)} from “{base}” to “{condition}”"
                     f"{_spread(found, estimate)}")  # fmt: skip
    clear = [change for change in tested if change.clear]
    counts = {estimate.n for estimate in found.effects.overall.values() if estimate.n}
    over = plural(counts.pop(), "agent") if len(counts) == 1 else "the agents that have both"
    who = "" if len(found.agents) == 1 else f", on average over {over},"
    text = f"{found.measure.title}{who} {listed(parts, most=3)}"
    tail = f"{len(clear)} of {plural(len(tested), 'change')} {_are(len(clear))} clear"
    if len(tested) == 1:
        tail = "This change is clear" if clear else "This change is not clear"
    said = f"{text}. {tail} ({found.family})"
    farthest = max(tested, key=lambda one: abs(one.comparison.difference.value or 0))
    if len(tested) > 1 and farthest.comparison.difference.value:
        said += f"; the largest is {_largest(found, farthest)}"
    return f"{said}."


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _moves(estimate: Estimate) -> str:
    value = estimate.value or 0.0
    return "falls" if value < 0 else "rises" if value > 0 else "does not change"


def _spread(found: Effects, estimate: Estimate) -> str:
    """By how much, with the interval turned the same way; nothing for no change."""
    value = estimate.value or 0.0
    if not value:
        return ""
    upright = estimate if value > 0 else turned_estimate(estimate)
    size = number(abs(value), found.unit).removesuffix(" %")
    text = f" by {size}{' points' if found.is_rate else ''}"
    if upright.interval is None:
        return text
    sides = ends(upright.interval, found.unit).removesuffix(" %")
    return f"{text} ({level(upright.interval)} interval {sides})"


def _largest(found: Effects, change: ConditionChange) -> str:
    """The change that goes farthest, with its interval, p-value and family."""
    difference = change.comparison.difference
    sign = "−" if (difference.value or 0) < 0 else "+"
    p = "" if change.p_adjusted is None else f", {p_words(change.p_adjusted)}"
    return (
        f"that of {change.model} from “{change.base}” to “{change.condition}”: {sign}"
        f"{difference_words(difference, found.is_rate)}{p})"
    )


def _figures(found: Effects) -> list[FigureSpec]:
    figures = []
    effects = found.effects
    unit = "share" if found.is_rate else "points"
    if effects is not None:
        looks = common.styles([*found.agents, OVERALL])
        panels = {
            title: [
                PointRow(agent, effects.cells[agent, title], agent, _url(found, agent, title))
                for agent in found.agents
            ]
            for title in effects.conditions
        }
        figures.append(
            common.figure_spec(
                "values",
                f"{found.measure.title} by {found.factor.title.lower()}",
                "With 95 % intervals; all panels have one scale.",
                panel_dots(panels, unit=unit, columns=min(3, len(panels)),  # type: ignore[arg-type]
                           span=(0, 1) if found.is_rate else _from_zero(panels), styles=looks),
            )
        )  # fmt: skip
        if found.varied:
            moved: dict[str, list[PointRow]] = {}
            for change in effects.changes:
                moved.setdefault(f"{change.base} → {change.condition}", []).append(
                    PointRow(change.model, change.comparison.difference, change.model,
                         found.flips(change))
                )  # fmt: skip
            overall = effects.overall.items() if len(found.agents) > 1 else ()
            for (condition, base), estimate in overall:
                row = PointRow(OVERALL, estimate, OVERALL)
                moved[f"{base} → {condition}"].append(row)
            figures.append(
                common.figure_spec(
                    "changes",
                    f"Change in {found.measure.title} on the same tasks",
                    "With simultaneous 95 % intervals; those of all agents together draw tasks.",
                    panel_dots(moved, unit=unit, columns=min(3, len(moved)),  # type: ignore[arg-type]
                               span=_around_zero(moved, found.is_rate), styles=looks),
                )
            )  # fmt: skip
    if found.published:
        values = list(dict.fromkeys(v for by in found.published.values() for v in by))
        panels = {
            title_of(found.factor, value): [
                PointRow(model, published_estimate(by[value], is_rate=found.is_rate), model)
                for model, by in found.published.items()
                if value in by
            ]
            for value in values
        }
        figures.append(
            common.figure_spec(
                "published",
                f"Published: {found.measure.title} by {found.factor.title.lower()}",
                f"{found.factor.where} of the paper, not from runs here; Wilson intervals where n "
                "can be told.",
                panel_dots(panels, unit=unit, columns=min(3, len(panels)),  # type: ignore[arg-type]
                           span=(0, 1) if found.is_rate else None,
                           styles=common.styles(list(found.published))),
            )
        )  # fmt: skip
    return figures


def _url(found: Effects, agent: str, title: str) -> str:
    run = found.runs.get((agent, title))
    return common.trajectories_of(run) if run is not None else ""


def _ends(panels: Mapping[str, Sequence[PointRow]]) -> list[float]:
    reach = [0.0]
    for mark in (mark for marks in panels.values() for mark in marks):
        interval, value = mark.value.interval, mark.value.value
        reach += [interval.low, interval.high] if interval is not None else []
        reach += [value] if value is not None else []
    return reach


def _from_zero(panels: Mapping[str, Sequence[PointRow]]) -> tuple[float, float]:
    """One axis for all panels from 0 on."""
    return 0.0, 1.05 * max(_ends(panels)) or 1.0


def _around_zero(panels: Mapping[str, Sequence[PointRow]], is_rate: bool) -> tuple[float, float]:
    """An axis around 0 that holds every interval; for shares in whole quarters."""
    widest = max(abs(end) for end in _ends(panels))
    widest = ceil(4 * widest - NEARLY) / 4 if is_rate else 1.05 * widest
    widest = widest or (0.25 if is_rate else 1.0)
    return -widest, widest


def _notices(found: Effects) -> list[Notice]:
    missing = [
        f"{agent} ({', '.join(gone)})"
        for agent in found.agents
        if (gone := [t for t in found.titles.values() if (agent, t) not in found.runs])
    ]
    notices = []
    if missing:
        text = f"Not every agent was run everywhere; missing: {listed(missing, most=6)}."
        notices.append(Notice(text, "info"))
    if found.alone:
        text = (
            f"{plural(len(found.alone), 'agent')} with one value alone "
            f"{_are(len(found.alone))} not shown, because there is nothing to compare: "
            f"{listed(found.alone, most=10)}."
        )
        notices.append(Notice(text, "info"))
    if found.effects is not None and found.varied:
        counts = [
            {cell.n for (one, _), cell in found.effects.cells.items() if one == agent and cell.n}
            for agent in found.agents
        ]
        if any(len(those) > 1 for those in counts):
            every = set().union(*counts)
            text = (
                f"The runs have different numbers of tasks ({min(every)} to {max(every)}). Values "
                "side by side are of different tasks then; the changes compare the same tasks "
                "alone."
            )
            notices.append(Notice(text, "info"))
    return notices


def _how(found: Effects) -> list[str]:
    effects = found.effects
    if effects is None:
        return []
    cells = list(effects.cells.values())
    lines = [
        f"{found.measure.title}: {found.measure.help} Intervals: {how_interval(cells) or 'none'}.",
        f"Left out: {counted(found.left_out)}." if found.left_out else "Nothing is left out.",
        f"Compared are runs of one agent that differ in {found.factor.title.lower()} alone; of "
        "several such runs the newest finished one.",
    ]
    if found.varied:
        changes = [change.comparison for change in effects.changes]
        family = effects.family
        against = "the one before it" if effects.contrast == "previous" else "the first"
        against += "".join(
            f", and {title_of(found.factor, new).lower()} against "
            f"{title_of(found.factor, old).lower()}"
            for old, new in found.factor.pairs
        )
        lines += [
            f"Change: each value against {against}, mean over the tasks that the agent has under "
            f"both; {how_interval([one.difference for one in changes]) or 'no interval'}.",
            "Test: the score test that the interval inverts; two-sided.",
            f"Family: {family.statement}, whichever are shown; {family.method}, α = "
            f"{family.alpha:g}. An interval excludes 0 exactly where the change is clear."
            + (f" Not tested: {counted(family.excluded)}." if family.excluded else ""),
            "Overall: mean of the agents' changes, each with the same weight, tasks drawn for all "
            "of them at once; it speaks of these agents. Range: highest minus lowest mean on the "
            "tasks under all values; it is never negative and grows with chance.",
        ]
    if found.odds is not None and found.odds.structure is not None:
        ratios = list(found.odds.ratios.values())
        lines.append(
            f"Odds ratios: GEE with a logit link, {found.odds.structure} working correlation of "
            "outcomes on one task, one coefficient for each agent and each value; errors of Mancl "
            f"and DeRouen; {how_interval(ratios) or 'no interval'}. They are of these agents and "
            "tasks together."
        )
    lines.append(f"Seed of all resampling: {SEED}.")
    return lines


CONTENT = WrittenPage(effects_report)
