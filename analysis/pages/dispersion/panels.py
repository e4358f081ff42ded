"""The part of the dispersion page that takes longer: judges turn by turn, and against people."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from analysis.figures.forest import ForestRows, forest
from analysis.figures.panels import flip_share, judge_offsets, verdict_flips
from analysis.filters.selection import Selection
from analysis.frames.people_scores import PeopleScores, people_scores
from analysis.frames.scores import single_scores
from analysis.reports import common
from analysis.reports.content import (
    Banner,
    Cell,
    FigureSpec,
    Notice,
    Report,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_column,
    text_cell,
    text_column,
)
from analysis.reports.deferred import tell
from analysis.reports.formatting import listed, number, plural, stated
from analysis.stats.judges.panels import JudgePanel, PanelJudge, judge_panel

if TYPE_CHECKING:
    from pandas import DataFrame

SEED = 20251121
ITEM = "one judged turn"


def dispersion_later(selection: Selection) -> Report:
    """Judges item by item: spread, severity, bias against people, and the panel without each."""
    dimensions = common.dimensions_of(selection.system)
    final = selection.filters.turns != "all"
    tell("reading the scores")
    frame = single_scores(selection.runs, [d.key for d in dimensions], final=final)
    if frame.empty:
        return Report(sentence="There are no single scores to compare.")
    frame, others = one_panel(frame)
    people = people_scores(selection.people, selection.runs)
    threshold = threshold_of(selection)
    panels: dict[str, JudgePanel] = {}
    for count, dimension in enumerate(dimensions):
        tell(f"{count} of {len(dimensions)} dimensions; now {dimension.title.lower()}")
        rows = frame[frame["dimension"] == dimension.key]
        if len(rows):
            panels[dimension.title] = panel_of(rows, people, dimension.key, threshold)
    turns = "final turns" if final else "all turns"
    return Report(
        sentence=sentence(panels, turns, threshold),
        figures=tuple(_figures(panels, turns, threshold)),
        tables=(_items_table(panels), _judges_table(panels, threshold)),
        notices=tuple(_notices(panels, others)),
        banners=people_banner(people),
        how=tuple(_how(panels, people, threshold, turns)),
    )


def one_panel(frame: "DataFrame") -> tuple["DataFrame", dict[str, list[str]]]:
    """The runs that the same judges scored, as most runs were; others by label, with their judges.

    A judge that was never asked about a run is no missing score.
    """
    by_run = {
        str(label): tuple(sorted(set(rows["judge"]))) for label, rows in frame.groupby("label")
    }
    usual = Counter(by_run.values()).most_common(1)[0][0]
    others = {label: list(judges) for label, judges in by_run.items() if judges != usual}
    return frame[~frame["label"].isin(list(others))], others


def threshold_of(selection: Selection) -> float | None:
    """τ of the runs, where all have the same."""
    found = {run.settings.get("tau") for run in selection.runs if "tau" in run.settings}
    value = next(iter(found)) if len(found) == 1 else None
    return float(value) if isinstance(value, int | float) else None


def panel_of(
    rows: "DataFrame", people: PeopleScores, dimension: str, threshold: float | None
) -> JudgePanel:
    """The judges of one dimension; an item is one turn of one trajectory."""
    trajectories, turns = rows["trajectory"].tolist(), rows["turn"].tolist()
    items = list(zip(trajectories, turns, strict=True))
    last = rows["is_final"].tolist()
    told: dict[object, float | None] = {}
    for item, is_last in zip(items, last, strict=True):
        said = people.of(*item, dimension, last=is_last)
        if said is not None:
            told[item] = said
    return judge_panel(
        items,
        rows["judge"].tolist(),
        rows["score"].to_numpy(),
        people=told if people.means else None,
        threshold=threshold,
        tasks=dict(zip(items, rows["task"].tolist(), strict=True)),
        seed=SEED,
    )


def sentence(panels: Mapping[str, JudgePanel], turns: str, threshold: float | None) -> str:
    """How far judges differ on one turn, and what becomes of verdicts without a judge."""
    known = {title: panel for title, panel in panels.items() if panel.spread.value is not None}
    if not known:
        reasons = dict.fromkeys(panel.spread.undefined for panel in panels.values())
        return f"How far judges differ on single turns cannot be said: {listed(list(reasons))}."
    mean = sum(panel.spread.value or 0 for panel in known.values()) / len(known)
    widest = max(known, key=lambda title: known[title].spread.value or 0)
    text = (
        f"On a single turn ({turns}) scores of the {len(next(iter(known.values())).judges)} judges "
        f"have a standard deviation of {number(mean, 'points')} points on average over "
        f"{plural(len(known), 'dimension')}, most on {widest.lower()}: "
        f"{stated(known[widest].spread, 'points')}"
    )
    flips = [
        (one.flips.clustered.value, one.judge, title)
        for title, panel in known.items()
        for one in panel.judges
        if one.flips is not None and one.flips.clustered.value is not None
    ]
    if flips:
        share, judge, title = max(flips)
        text += (
            f"; at τ = {threshold:g} at most {number(share, 'share')} of verdicts turn without one "
            f"of them ({judge}, {title.lower()})"
        )
    return f"{text}."


def _figures(
    panels: Mapping[str, JudgePanel], turns: str, threshold: float | None
) -> list[FigureSpec]:
    spreads = [(title, panel.spread) for title, panel in panels.items()]
    figures = [
        common.figure_spec(
            "items",
            f"Standard deviation between judges on a single turn, {turns}",
            "Mean over turns with its 95 % interval. Differences that cancel out in means show "
            "here.",
            forest(
                [ForestRows("single turns", spreads)], title="SD between judges (points)", most=0.5
            ),
        ),
        common.figure_spec(
            "offsets",
            "How much higher each judge scores",
            "Than the other judges and, where people scored the same plans, than people; with 95 % "
            "intervals. Left of the line is stricter.",
            judge_offsets(panels),
        ),
    ]
    if threshold is not None and any(
        one.flips is not None for panel in panels.values() for one in panel.judges
    ):
        figures.append(
            common.figure_spec(
                "flips",
                f"Verdicts that turn without each judge, at τ = {threshold:g}",
                "Share of turns where the panel's mean crosses the threshold, with 95 % intervals.",
                verdict_flips(panels),
            )
        )
    return figures


def _items_table(panels: Mapping[str, JudgePanel]) -> Table:
    rows = tuple(
        (
            text_cell(title),
            count_cell(panel.items),
            count_cell(panel.complete),
            estimate_cell(panel.spread, "points"),
        )
        for title, panel in panels.items()
    )
    return Table(
        "items",
        "Spread on single turns",
        (
            text_column("Dimension"),
            number_column("Turns", "items", help="Judged turns"),
            number_column("Complete", help="With a readable score of every judge"),
            estimate_column("SD", help="Population standard deviation of a turn's scores"),
        ),
        rows,
        note="Mean over turns of the population standard deviation of their scores, over turns "
        "with a readable score of every judge; 95 % intervals are by task.",
    )


def _judges_table(panels: Mapping[str, JudgePanel], threshold: float | None) -> Table:
    rows = tuple(
        (
            text_cell(title),
            text_cell(one.judge),
            estimate_cell(one.severity, "points", signed=True),
            estimate_cell(one.bias, "points", signed=True, show_n=True),
            estimate_cell(one.spread_without, "points"),
            estimate_cell(one.mean_without, "points", signed=True),
            _flips_cell(one),
            count_cell(one.missing),
        )
        for title, panel in panels.items()
        for one in panel.judges
    )
    at = f" at τ = {threshold:g}" if threshold is not None else ""
    return Table(
        "judges",
        "Each judge, and the panel without it",
        (
            text_column("Dimension"),
            text_column("Judge"),
            estimate_column("Severity", help="Its score minus the mean of the other judges'"),
            estimate_column("Bias", help="Its score minus people's, where people scored the plan"),
            estimate_column("SD without", help="Spread on a single turn if it were not there"),
            estimate_column("Mean without", help="Change of the panel's mean without it"),
            estimate_column("Verdicts", "verdicts", help=f"Share of verdicts{at} that turn"),
            number_column("Unread", help="Turns without a readable score of this judge"),
        ),
        rows,
        note="Severity says who differs, not who is right; bias says so as far as people are. "
        "95 % intervals are by task.",
    )


def _flips_cell(one: PanelJudge) -> Cell:
    share = flip_share(one)
    if share is None:
        why = "the runs have no threshold in common, or one judge"
        return Cell(data=(None, None, None, 0, why), reason=why)
    return estimate_cell(share, "share")


def _notices(panels: Mapping[str, JudgePanel], others: Mapping[str, Sequence[str]]) -> list[Notice]:
    notices = [
        Notice(f"{title}: {warning}.")
        for title, panel in panels.items()
        for warning in panel.warnings
    ]
    if len(notices) > 2:
        turns = sum(panel.items - panel.complete for panel in panels.values())
        of = sum(panel.items for panel in panels.values())
        notices = [
            Notice(
                f"On {turns:,} of {of:,} turns and dimensions the panel shrank, because a judge's "
                "reply could not be read; they are left out here, and the table “Replies that "
                "could not be read” leads to them."
            )
        ]
    if others:
        names = [f"{label} ({listed(list(judges))})" for label, judges in others.items()]
        notices.append(
            Notice(f"Left out, because other judges scored them: {listed(names)}.", "warning")
        )
    return notices


def people_banner(people: PeopleScores) -> tuple[Banner, ...]:
    """What marks scores that no person gave."""
    if not people.simulated:
        return ()
    text = (
        f"{people.simulated} of {plural(people.annotators, 'annotator')} whose scores judges are "
        f"held against {'is a script' if people.simulated == 1 else 'are scripts'}: that bias says "
        "nothing about people."
    )
    return (Banner("Simulated annotators", text),)


def _how(
    panels: Mapping[str, JudgePanel], people: PeopleScores, threshold: float | None, turns: str
) -> list[str]:
    lines = [
        f"Item: {ITEM} ({turns}). Spread: mean over items of the population standard deviation of "
        "their scores. Severity: a judge's score minus the mean of the other judges'. Items that "
        "lack a judge's readable score are left out of all of these and counted.",
        "Without a judge: spread, change of the panel's mean, and the share of items whose verdict "
        + (
            f"(panel's mean at least τ = {threshold:g}) turns."
            if threshold is not None
            else "turns; the runs here have no threshold in common, so there is none."
        ),
        f"Intervals are by task: 2,000 resamples, seed {SEED}, percentile; where no verdict turns, "
        "Wilson's over items.",
    ]
    return [*lines, people_line(people)]


def people_line(people: PeopleScores) -> str:
    """Who the people are that judges are held against."""
    if not people.means:
        return "People: nobody scored these plans in a study that you may read."
    studies = listed([f"“{name}”" for name in people.studies])
    return (
        f"People: {plural(people.annotators, 'annotator')}, {people.simulated} of them "
        f"simulated, in {studies}; their scores of a plan are averaged."
    )
