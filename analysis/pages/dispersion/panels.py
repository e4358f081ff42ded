"""The part of the dispersion page that takes longer: judges turn by turn, and against people."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from analysis.figures.forest import ForestRows, forest
from analysis.figures.layout.theme import Figure
from analysis.figures.panels import flip_share, judge_offsets, verdict_flips
from analysis.filters.selection import Selection
from analysis.frames.people_scores import PeopleScores, people_scores
from analysis.frames.scores import single_scores
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.links import Link
from analysis.kit.page import Page
from analysis.pages.people import compared_people
from analysis.reports import figure_specs, system_facts
from analysis.reports.content import Cell, estimate_cell, estimate_column
from analysis.reports.deferred_reports import note_progress
from analysis.reports.formatting import listed, number, plural, stated
from analysis.stats.judges.panels import PanelJudge, PanelReliability, judge_panel

if TYPE_CHECKING:
    from pandas import DataFrame

# With more warnings than this one sums them up.
MOST_WARNINGS = 2


class DimensionPanel(NamedTuple):
    """The judges of one dimension, turn by turn."""

    key: str
    title: str
    panel: PanelReliability


class JudgeRow(NamedTuple):
    """One judge on one dimension."""

    key: str
    title: str
    judge: PanelJudge


def deferred(page: Page) -> None:
    """Compare judges turn by turn: spread, severity, bias, and the panel without each."""
    selection = page.selection
    dimensions = system_facts.dimensions_of(selection.system)
    final = selection.filters.turns != "all"
    turns = "final turns" if final else "all turns"
    note_progress("reading the scores")
    frame = single_scores(selection.runs, [d.key for d in dimensions], final=final)
    if frame.empty:
        page.answer("There are no single scores to compare.")
        return
    frame, others = one_panel(frame)
    people = people_scores(selection.people, selection.runs)
    threshold = threshold_of(selection)
    panels = []
    for count, dimension in enumerate(dimensions):
        note_progress(f"{count} of {len(dimensions)} dimensions; now {dimension.title.lower()}")
        scores = frame[frame["dimension"] == dimension.key]
        if len(scores):
            panel = panel_of(scores, people, dimension.key, threshold)
            panels.append(DimensionPanel(dimension.key, dimension.title, panel))
    rows = [JudgeRow(key, title, judge) for key, title, panel in panels for judge in panel.judges]

    page.answer(_answer(panels, turns, threshold))
    _warn(page, panels)
    if others:
        left = [f"{label} ({listed(judges)})" for label, judges in others.items()]
        page.warning(f"Left out, because other judges scored them: {listed(left)}.")
    _draw(page, panels, turns, threshold)
    page.table(
        "items",
        "Spread on single turns",
        panels,
        [
            columns.text("Dimension", lambda row: row.title),
            columns.count("Turns", lambda row: row.panel.items, "items", help="Judged turns"),
            columns.count(
                "Complete",
                lambda row: row.panel.complete,
                help="With a readable score of every judge",
            ),
            columns.estimate(
                "SD",
                lambda row: row.panel.spread,
                "points",
                help="Population standard deviation of a turn's scores",
            ),
        ],
        link=lambda row: Link(dimension=row.key),
        note="Mean over turns of the population standard deviation of their scores, over turns "
        "with a readable score of every judge; 95 % intervals are by task.",
    )
    page.table(
        "judges",
        "Each judge, and the panel without it",
        rows,
        _judge_columns(threshold),
        link=lambda row: Link(dimension=row.key),
        note="Severity says who differs, not who is right; bias says so as far as people are. "
        "95 % intervals are by task.",
    )
    compared_people(page, people)
    page.how(
        f"Item: one judged turn ({turns}). Spread: mean over items of the population standard "
        "deviation of their scores. Severity: a judge's score minus the mean of the other judges'. "
        "Items that lack a judge's readable score are left out of all of these and counted.",
        "Without a judge: spread, change of the panel's mean, and the share of items whose verdict "
        + (
            f"(panel's mean at least τ = {threshold:g}) turns."
            if threshold is not None
            else "turns; the runs here have no threshold in common, so there is none."
        ),
        "Intervals are by task, cluster-robust with small-sample corrections (docs/statistics.md); "
        "where no verdict turns, Wilson's over items.",
    )


def _answer(panels: Sequence[DimensionPanel], turns: str, threshold: float | None) -> str:
    """Return how far judges differ on single turns, and how often a verdict hangs on one."""
    known = [one for one in panels if one.panel.spread.value is not None]
    if not known:
        reasons = dict.fromkeys(one.panel.spread.undefined for one in panels)
        return f"How far judges differ on single turns is not known: {listed(list(reasons))}."
    widest = max(known, key=lambda one: one.panel.spread.value or 0)
    mean = sum(one.panel.spread.value or 0 for one in known) / len(known)
    text = (
        f"On a single turn ({turns}) scores of the {len(widest.panel.judges)} judges have a "
        f"standard deviation of {number(mean, 'points')} points on average over "
        f"{plural(len(known), 'dimension')}, most on {widest.title.lower()}: "
        f"{stated(widest.panel.spread, 'points')}"
    )
    turned = [
        (share, judge.judge, one.title)
        for one in known
        for judge in one.panel.judges
        if judge.flips is not None and (share := judge.flips.clustered.value) is not None
    ]
    if turned and threshold is not None:
        share, judge, title = max(turned)
        text += (
            f"; at τ = {threshold:g} at most {number(share, 'share')} of verdicts turn without one "
            f"of them ({judge}, {title.lower()})"
        )
    return f"{text}."


def _warn(page: Page, panels: Sequence[DimensionPanel]) -> None:
    """Warn by dimension, or in one sentence where warnings are many."""
    warnings = [f"{one.title}: {text}" for one in panels for text in one.panel.warnings]
    if len(warnings) <= MOST_WARNINGS:
        for warning in warnings:
            page.warning(f"{warning}.")
        return
    items = sum(one.panel.items for one in panels)
    incomplete = items - sum(one.panel.complete for one in panels)
    page.warning(
        f"On {incomplete:,} of {items:,} turns and dimensions a judge's reply could not be read. "
        "They are left out here; the table “Replies that could not be read” leads to them."
    )


def one_panel(frame: "DataFrame") -> tuple["DataFrame", dict[str, list[str]]]:
    """Return the runs that the same judges scored, as most runs were; others by label, with their
    judges.

    A judge that was never asked about a run is no missing score.
    """
    by_run = {
        str(label): tuple(sorted(set(rows["judge"]))) for label, rows in frame.groupby("label")
    }
    usual = Counter(by_run.values()).most_common(1)[0][0]
    others = {label: list(judges) for label, judges in by_run.items() if judges != usual}
    return frame[~frame["label"].isin(list(others))], others


def threshold_of(selection: Selection) -> float | None:
    """Return τ of the runs, where all have the same."""
    thresholds = {run.settings.get("tau") for run in selection.runs if "tau" in run.settings}
    value = next(iter(thresholds)) if len(thresholds) == 1 else None
    return float(value) if isinstance(value, int | float) else None


def panel_of(
    rows: "DataFrame", people: PeopleScores, dimension: str, threshold: float | None
) -> PanelReliability:
    """Return the judges of one dimension; an item is one turn of one trajectory."""
    trajectories, turns = rows["trajectory"].tolist(), rows["turn"].tolist()
    items = list(zip(trajectories, turns, strict=True))
    last = rows["is_final"].tolist()
    means_by_item: dict[object, float | None] = {}
    for item, is_last in zip(items, last, strict=True):
        mean = people.of(*item, dimension, last=is_last)
        if mean is not None:
            means_by_item[item] = mean
    return judge_panel(
        items,
        rows["judge"].tolist(),
        rows["score"].to_numpy(),
        people=means_by_item if people.means else None,
        threshold=threshold,
        tasks=dict(zip(items, rows["task"].tolist(), strict=True)),
        scale=system_facts.RUBRIC_SCALE,
    )


def _draw(
    page: Page, panels: Sequence[DimensionPanel], turns: str, threshold: float | None
) -> None:
    """Add the figures of spread, of severity with bias, and of verdicts that turn."""
    marks = {one.title: page.url(dimension=one.key) for one in panels}
    by_title = {one.title: one.panel for one in panels}

    def draw_spread() -> Figure:
        rows = [(one.title, one.panel.spread) for one in panels]
        title = "SD between judges on a single turn (points)"
        drawn = forest([ForestRows("single turns", rows)], title=title, most=0.5)
        return figure_specs.linked(drawn, marks)

    page.figure(
        "items",
        f"Standard deviation between judges on a single turn, {turns}",
        draw_spread,
        subtitle="Mean over turns with its 95 % interval. Differences that cancel out in means "
        "show here.",
    )
    page.figure(
        "offsets",
        "How much higher each judge scores",
        lambda: judge_offsets(by_title, marks),
        table="judges",
        subtitle="Than the other judges and, where people scored the same plans, than people; with "
        "95 % intervals. Left of the line is stricter.",
    )
    flips = [judge.flips for one in panels for judge in one.panel.judges]
    if threshold is not None and any(one is not None for one in flips):
        page.figure(
            "flips",
            f"Verdicts that turn without each judge, at τ = {threshold:g}",
            lambda: verdict_flips(by_title, marks),
            table="judges",
            subtitle="Share of turns where the panel's mean crosses the threshold, with 95 % "
            "intervals.",
        )


def _judge_columns(threshold: float | None) -> list[Column[JudgeRow]]:
    """Return severity, bias, and what the panel would be without the judge."""
    at = f" at τ = {threshold:g}" if threshold is not None else ""
    return [
        columns.text("Dimension", lambda row: row.title),
        columns.text("Judge", lambda row: row.judge.judge),
        columns.estimate(
            "Severity",
            lambda row: row.judge.severity,
            "points",
            signed=True,
            help="Its score minus the mean of the other judges'",
        ),
        columns.estimate(
            "Bias",
            lambda row: row.judge.bias,
            "points",
            signed=True,
            show_n=True,
            help="Its score minus people's, where people scored the plan",
        ),
        columns.estimate(
            "SD without",
            lambda row: row.judge.spread_without,
            "points",
            help="Spread on a single turn if it were not there",
        ),
        columns.estimate(
            "Mean without",
            lambda row: row.judge.mean_without,
            "points",
            signed=True,
            help="Change of the panel's mean without it",
        ),
        Column(
            estimate_column("Verdicts", "verdicts", help=f"Share of verdicts{at} that turn"),
            _flips_cell,
        ),
        columns.count(
            "Unread",
            lambda row: row.judge.missing,
            help="Turns without a readable score of this judge",
        ),
    ]


def _flips_cell(row: JudgeRow) -> Cell:
    share = flip_share(row.judge)
    if share is None:
        why = "the runs have no threshold in common, or one judge"
        return Cell(data=(None, None, None, 0, why), reason=why)
    return estimate_cell(share, "share")
