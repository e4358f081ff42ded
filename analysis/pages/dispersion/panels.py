"""The part of the dispersion page that takes longer: judges turn by turn, and against people."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.figures.forest import ForestRows, forest
from analysis.figures.layout.theme import Figure
from analysis.figures.panels import flip_share, judge_offsets, verdict_flips
from analysis.filters.selection import Selection
from analysis.frames.people_scores import PeopleScores, people_scores
from analysis.frames.scores import single_scores
from analysis.kit.links import Link
from analysis.pages.declaration import (
    ColumnOf,
    DeferredPart,
    FigureOf,
    TableOf,
    UrlOf,
    count_of,
    estimate_of,
    text_of,
)
from analysis.reports import figure_specs, system_facts
from analysis.reports.content import Cell, estimate_cell, estimate_column
from analysis.reports.deferred_reports import note_progress
from analysis.reports.formatting import listed
from analysis.stats.judges.panels import PanelJudge, PanelReliability, judge_panel

if TYPE_CHECKING:
    from pandas import DataFrame

# With more warnings than this one sums them up.
MOST_WARNINGS = 2


@dataclass(frozen=True)
class DimensionPanel:
    """The judges of one dimension, turn by turn."""

    key: str
    title: str
    panel: PanelReliability

    @property
    def link(self) -> Link:
        return Link(dimension=self.key)


@dataclass(frozen=True)
class JudgeRow:
    """One judge on one dimension."""

    of: DimensionPanel
    judge: PanelJudge


@dataclass(frozen=True)
class DecisiveJudge:
    """The judge without whom most verdicts turn, and on which dimension."""

    share: float
    judge: str
    title: str


@dataclass(frozen=True)
class PanelsResult:
    """The judges of all dimensions, turn by turn; ``others`` are left out, with their judges."""

    panels: tuple[DimensionPanel, ...]
    others: Mapping[str, Sequence[str]]
    people: PeopleScores
    threshold: float | None
    final: bool

    @property
    def by_title(self) -> dict[str, PanelReliability]:
        return {one.title: one.panel for one in self.panels}

    @property
    def known(self) -> list[DimensionPanel]:
        """The dimensions whose spread is defined."""
        return [one for one in self.panels if one.panel.spread.value is not None]

    @property
    def why_unknown(self) -> list[str]:
        return list(dict.fromkeys(one.panel.spread.undefined for one in self.panels))

    @property
    def mean_spread(self) -> float:
        return sum(one.panel.spread.value or 0 for one in self.known) / len(self.known)

    @property
    def widest(self) -> DimensionPanel:
        return max(self.known, key=lambda one: one.panel.spread.value or 0)

    @property
    def judges(self) -> int:
        return len(self.known[0].panel.judges)

    @property
    def most_turned(self) -> DecisiveJudge | None:
        found = [
            (share, row.judge.judge, row.of.title)
            for row in self.rows
            if row.of in self.known
            and row.judge.flips is not None
            and (share := row.judge.flips.clustered.value) is not None
        ]
        return DecisiveJudge(*max(found)) if found else None

    @property
    def rows(self) -> list[JudgeRow]:
        return [JudgeRow(one, judge) for one in self.panels for judge in one.panel.judges]

    @property
    def warnings(self) -> list[str]:
        """The warnings by dimension; nothing where they are too many, and counts say it instead."""
        found = [f"{one.title}: {words}" for one in self.panels for words in one.panel.warnings]
        return found if len(found) <= MOST_WARNINGS else []

    @property
    def many_warnings(self) -> bool:
        return sum(len(one.panel.warnings) for one in self.panels) > MOST_WARNINGS

    @property
    def incomplete(self) -> int:
        """The number of turns and dimensions that lack a judge's readable score."""
        return sum(one.panel.items - one.panel.complete for one in self.panels)

    @property
    def items(self) -> int:
        return sum(one.panel.items for one in self.panels)

    @property
    def other_judges(self) -> list[str]:
        """The agents that other judges scored, with these judges."""
        return [f"{label} ({listed(list(judges))})" for label, judges in self.others.items()]


def compute(selection: Selection) -> PanelsResult | None:
    """Compare judges turn by turn: spread, severity, bias, and the panel without each."""
    dimensions = system_facts.dimensions_of(selection.system)
    final = selection.filters.turns != "all"
    note_progress("reading the scores")
    frame = single_scores(selection.runs, [d.key for d in dimensions], final=final)
    if frame.empty:
        return None
    frame, others = one_panel(frame)
    people = people_scores(selection.people, selection.runs)
    threshold = threshold_of(selection)
    panels = []
    for count, dimension in enumerate(dimensions):
        note_progress(f"{count} of {len(dimensions)} dimensions; now {dimension.title.lower()}")
        rows = frame[frame["dimension"] == dimension.key]
        if len(rows):
            panel = panel_of(rows, people, dimension.key, threshold)
            panels.append(DimensionPanel(dimension.key, dimension.title, panel))
    return PanelsResult(tuple(panels), others, people, threshold, final)


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
    found = {run.settings.get("tau") for run in selection.runs if "tau" in run.settings}
    value = next(iter(found)) if len(found) == 1 else None
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


def _turns(result: PanelsResult) -> str:
    return "final turns" if result.final else "all turns"


def _marks(result: PanelsResult, url: UrlOf) -> dict[str, str]:
    return {one.title: url(one.link) for one in result.panels}


def draw_spread(result: PanelsResult, url: UrlOf) -> Figure:
    """Draw the mean standard deviation of a turn's scores, by dimension."""
    rows = [(one.title, one.panel.spread) for one in result.panels]
    title = "SD between judges on a single turn (points)"
    drawn = forest([ForestRows("single turns", rows)], title=title, most=0.5)
    return figure_specs.linked(drawn, _marks(result, url))


def draw_offsets(result: PanelsResult, url: UrlOf) -> Figure:
    """Draw how much higher each judge scores than the others, and than people."""
    return judge_offsets(result.by_title, _marks(result, url))


def draw_flips(result: PanelsResult, url: UrlOf) -> Figure | None:
    """Draw the share of verdicts that turn without each judge."""
    if result.threshold is None or all(row.judge.flips is None for row in result.rows):
        return None
    return verdict_flips(result.by_title, _marks(result, url))


def flips_title(result: PanelsResult) -> str:
    """Name the threshold at which verdicts turn."""
    assert result.threshold is not None
    return f"Verdicts that turn without each judge, at τ = {result.threshold:g}"


def judge_columns(result: PanelsResult) -> Sequence[ColumnOf[JudgeRow]]:
    """Give severity, bias, and what the panel would be without the judge."""
    at = f" at τ = {result.threshold:g}" if result.threshold is not None else ""
    return (
        text_of("Dimension", lambda row: row.of.title),
        text_of("Judge", lambda row: row.judge.judge),
        estimate_of(
            "Severity",
            lambda row: row.judge.severity,
            "points",
            signed=True,
            help="Its score minus the mean of the other judges'",
        ),
        estimate_of(
            "Bias",
            lambda row: row.judge.bias,
            "points",
            signed=True,
            show_n=True,
            help="Its score minus people's, where people scored the plan",
        ),
        estimate_of(
            "SD without",
            lambda row: row.judge.spread_without,
            "points",
            help="Spread on a single turn if it were not there",
        ),
        estimate_of(
            "Mean without",
            lambda row: row.judge.mean_without,
            "points",
            signed=True,
            help="Change of the panel's mean without it",
        ),
        ColumnOf(
            estimate_column("Verdicts", "verdicts", help=f"Share of verdicts{at} that turn"),
            _flips_cell,
        ),
        count_of(
            "Unread",
            lambda row: row.judge.missing,
            help="Turns without a readable score of this judge",
        ),
    )


def _flips_cell(row: JudgeRow) -> Cell:
    share = flip_share(row.judge)
    if share is None:
        why = "the runs have no threshold in common, or one judge"
        return Cell(data=(None, None, None, 0, why), reason=why)
    return estimate_cell(share, "share")


DEFERRED = DeferredPart(
    compute=compute,
    parts=(
        FigureOf(
            "items",
            lambda result: f"Standard deviation between judges on a single turn, {_turns(result)}",
            draw_spread,
        ),
        FigureOf("offsets", "How much higher each judge scores", draw_offsets, table="judges"),
        FigureOf("flips", flips_title, draw_flips, table="judges"),
        TableOf(
            "items",
            "Spread on single turns",
            rows=lambda result: result.panels,
            columns=lambda _: (
                text_of("Dimension", lambda row: row.title),
                count_of("Turns", lambda row: row.panel.items, "items", help="Judged turns"),
                count_of(
                    "Complete",
                    lambda row: row.panel.complete,
                    help="With a readable score of every judge",
                ),
                estimate_of(
                    "SD",
                    lambda row: row.panel.spread,
                    "points",
                    help="Population standard deviation of a turn's scores",
                ),
            ),
            link=lambda row: row.link,
        ),
        TableOf(
            "judges",
            "Each judge, and the panel without it",
            rows=lambda result: result.rows,
            columns=judge_columns,
            link=lambda row: row.of.link,
        ),
    ),
)
