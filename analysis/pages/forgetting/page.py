"""Do agents keep what they were told? Shares that are kept turn after turn, and each break."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from analysis.figures.lines import number_lines
from analysis.filters.selection import ChosenRun
from analysis.frames.disclosures import disclosure_frame
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.empty import no_runs, nothing_finished
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.reports import addresses, chosen_runs, figure_specs
from analysis.reports import content as parts
from analysis.reports.content import Cell
from analysis.reports.formatting import first_up, left_out_sentence, p_words, plural, stated
from analysis.stats.results import Estimate
from analysis.stats.trends.survival import (
    BROKEN,
    CENSORED,
    OTHER,
    BlockTest,
    SurvivalPoint,
    logrank_by_block,
    survival_curve,
)
from benchmarks.core.ports.disclosures import Disclosures

if TYPE_CHECKING:
    from pandas import DataFrame

PURPOSE = "The page on forgetting shows for how long agents keep what they were told."
# Steps of which the table has a column, as far as something is still followed there.
STEPS = (1, 2, 3, 5, 10, 20)
MOST_STEPS = 4
# The answer is about the last of these steps at which so many are still followed.
LEAST_AT_RISK = 10
MOST_BREAKS = 200


class Curve(NamedTuple):
    """What a run, or one kind of disclosures, kept; ``left_out`` counts by reason."""

    label: str
    rows: "DataFrame"
    points: Sequence[SurvivalPoint]
    left_out: dict[str, int]
    run: ChosenRun | None = None

    def at(self, step: int) -> Estimate:
        """Return the share that is kept through a step."""
        if not self.points:
            return Estimate.without_value("nothing to follow", excluded=self.left_out)
        if step > len(self.points):
            return Estimate.without_value("nothing was followed for so long")
        return self.points[step - 1].kept


def content(page: Page) -> Content:
    """Follow what was disclosed until a turn breaks it, or to the trajectory's end."""
    told = page.system.disclosures if page.selection.system else None
    if page.selection.dataset is None or not page.runs:
        no_runs(page, PURPOSE)
        return
    if told is None:
        page.nothing(
            "Nothing is disclosed here",
            f"{PURPOSE} Runs on {chosen_runs.dataset_name(page.selection)} tell agents nothing on "
            "the way that they would have to keep.",
            "See the failures",
            addresses.page_of("failures", page.selection),
        )
        return
    frame = disclosure_frame(page.runs, told)
    if frame.empty:
        nothing_finished(page, PURPOSE)
        return
    agents = [_curve(run.label, frame[frame["run"] == run.pk], told, run=run) for run in page.runs]
    every = _curve("all agents", frame, told)
    test = _test(every.rows)
    page.answer(_answer(every, len(agents), test, told))
    steps = _steps(every.points)
    looks = figure_specs.styles([curve.label for curve in agents])
    page.figure(
        "kept",
        f"Not {told.broken} since it was {told.verb}",
        lambda: number_lines(
            {curve.label: _line(curve) for curve in agents if curve.points},
            f"Later {told.turn}s",
            f"Share of {told.noun}s",
            styles=looks,
            about=f"{told.turn} ",
            urls={curve.label: page.url(runs=(curve.run.pk,)) for curve in agents if curve.run},
        ),
        subtitle=f"By the number of {told.turn}s since; 95 % intervals. The table has the numbers "
        "at risk.",
    )
    page.table(
        "kept",
        f"Share of {told.noun}s not {told.broken}, by {told.turn}s since",
        agents,
        [
            columns.agent(_run_of),
            columns.count(
                first_up(told.verb),
                lambda curve: len(curve.rows),
                help=f"{first_up(told.noun)}s that were {told.verb} before a later {told.turn}",
            ),
            *_broken_and_kept(told, steps),
        ],
        link=lambda curve: Link(runs=(curve.run.pk,)) if curve.run else None,
        note=f"n counts those still at risk: not {told.broken} before, with such a {told.turn}.",
    )  # fmt: skip
    yield
    _by_kind(page, frame, told, steps)
    _at_risk(page, agents, told, len(every.points))
    if told.early:
        _with_early_ends(page, [every, *agents], told, steps)
    _breaks(page, every.rows, told)
    page.how(
        f"A {told.noun} counts from the {told.turn} after which it was {told.verb}. It is kept as "
        f"long as no later {told.turn} has it {told.broken}; it is followed no longer than its "
        "trajectory.",
        "Kaplan–Meier estimate; standard errors by tasks (infinitesimal jackknife), intervals on "
        "the scale log(−log) with a t quantile.",
        "Test between agents: log-rank scores summed by trajectory, every way to give a task’s "
        "trajectories to its agents taken as equally likely; χ² with exact mean and covariance "
        "(Strasser & Weber 1999).",
        "Agents that end well early are followed for a shorter time: a trajectory that ends counts "
        f"as censored, as if its {told.noun}s had the same chances afterwards.",
        left_out_sentence(every.left_out, nothing=f"No {told.noun}"),
    )
    page.methods(
        f"The share of {told.noun}s not {told.broken} after they were {told.verb} is a "
        f"Kaplan–Meier estimate over later {told.turn}s with standard errors clustered by task; "
        "agents are compared by a log-rank test within tasks."
    )


def _run_of(curve: Curve) -> ChosenRun:
    assert curve.run is not None
    return curve.run


def _curve(
    label: str, frame: "DataFrame", told: Disclosures, *, run: ChosenRun | None = None
) -> Curve:
    """Return what can be followed, its curve, and what is left out."""
    import numpy as np

    nothing_after = frame["last"] <= frame["told"]
    reasons = Counter(frame.loc[frame["left_out"] != "", "left_out"].tolist())
    late = int((nothing_after & (frame["left_out"] == "")).sum())
    if late:
        reasons[f"no {told.turn} followed"] = late
    rows = frame[~nothing_after & (frame["left_out"] == "")]
    broken = rows["broken"].notna()
    time = rows["broken"].where(broken, rows["last"]) - rows["told"]
    rows = rows.assign(
        time=time.astype(int),
        end=np.where(broken, BROKEN, np.where(rows["early"], OTHER, CENSORED)),
    )
    points = survival_curve(rows["time"].to_numpy(), rows["end"].to_numpy(), rows["task"].tolist())
    return Curve(label, rows, points, dict(reasons), run)


def _test(rows: "DataFrame") -> BlockTest:
    if rows.empty:
        return BlockTest(0.0, 0, None, 0, "nothing could be followed")
    return logrank_by_block(
        rows["agent"].tolist(), rows["time"].to_numpy(), rows["end"].to_numpy(),
        rows["trajectory"].tolist(), rows["task"].tolist(),
    )  # fmt: skip


def _steps(points: Sequence[SurvivalPoint]) -> list[int]:
    return [step for step in STEPS if step <= len(points)][:MOST_STEPS]


def _line(curve: Curve) -> list[tuple[int, Estimate]]:
    whole = Estimate(1.0, len(curve.rows), no_interval="all are kept when they are told")
    return [(0, whole), *((point.time, point.kept) for point in curve.points)]


def _broken_and_kept(told: Disclosures, steps: Sequence[int]) -> list[Column[Curve]]:
    """Return the columns of how many are broken, and of the share that is kept at each step."""
    return [
        columns.count(first_up(told.broken), lambda curve: int(curve.rows["broken"].notna().sum())),
        *(
            columns.estimate(
                str(step), lambda curve, step=step: curve.at(step), "share",  # type: ignore[misc]
                part=f"after {step}", show_n=True,
            )
            for step in steps
        ),
    ]  # fmt: skip


def _answer(every: Curve, agents: int, test: BlockTest, told: Disclosures) -> str:
    """State how much is broken, and whether agents differ."""
    total = len(every.rows)
    if not total:
        return (
            f"No {told.noun} could be followed: "
            f"{left_out_sentence(every.left_out, nothing='none was left out')}"
        )
    gone = int(every.rows["broken"].notna().sum())
    followed = [p for p in every.points if p.at_risk >= LEAST_AT_RISK] or every.points[:1]
    last = followed[-1]
    text = (
        f"Of {plural(total, told.noun)} {told.verb} before a later {told.turn}, {gone:,} "
        f"{'was' if gone == 1 else 'were'} {told.broken}; {stated(last.kept, 'share')} are kept "
        f"through the next {plural(last.time, told.turn) if last.time > 1 else told.turn}."
    )
    if agents < 2:
        return text
    if test.p is None:
        return f"{text} Agents are not compared: {test.undefined}."
    verdict = (
        "Agents differ in that" if test.p < 0.05 else "A difference between agents is not shown"
    )
    where = f"log-rank within {plural(test.blocks, 'task')}"
    return (
        f"{text} {verdict} ({where}, χ²({test.freedom}) = {test.statistic:.1f}, {p_words(test.p)})."
    )


def _by_kind(page: Page, frame: "DataFrame", told: Disclosures, steps: Sequence[int]) -> None:
    kinds = [
        curve
        for key, title in told.kinds
        if len((curve := _curve(title, frame[frame["kind"] == key], told)).rows)
    ]
    if len(kinds) < 2:
        return
    page.figure(
        "kinds",
        f"By kind of {told.noun}",
        lambda: number_lines(
            {curve.label: _line(curve) for curve in kinds},
            f"Later {told.turn}s",
            f"Share of {told.noun}s",
            about=f"{told.turn} ",
        ),
        subtitle="Over all agents, with 95 % intervals; kinds are not tested against each other.",
    )
    page.table(
        "kinds",
        f"By kind of {told.noun}",
        kinds,
        [
            columns.text("Kind", lambda curve: curve.label),
            columns.count(first_up(told.verb), lambda curve: len(curve.rows)),
            *_broken_and_kept(told, steps),
        ],
    )  # fmt: skip


def _at_risk(page: Page, agents: Sequence[Curve], told: Disclosures, last: int) -> None:
    """Add how many are at risk and broken at each step."""

    def cell(curve: Curve, step: int) -> Cell:
        if step > len(curve.points):
            return Cell(data=(0, 0), reason="nothing was followed for so long")
        point = curve.points[step - 1]
        return Cell(f"{point.broken:,} of {point.at_risk:,}", (point.broken, point.at_risk))

    shown: list[Column[int]] = [
        Column(parts.number_column(first_up(told.turn)), lambda step: Cell(str(step), (step,))),
        *(
            Column(
                parts.Column(curve.label, (f"{curve.label} broken", f"{curve.label} at risk")),
                lambda step, curve=curve: cell(curve, step),  # type: ignore[misc]
                lambda _, curve=curve: Link(runs=(curve.run.pk,)) if curve.run else None,  # type: ignore[misc]
            )
            for curve in agents
        ),
    ]
    page.table(
        "risk",
        f"{first_up(told.broken)}, of those at risk",
        range(1, last + 1),
        shown,
        note=f"By {told.turn}s since.",
        folded=True,
    )


def _with_early_ends(
    page: Page, curves: Sequence[Curve], told: Disclosures, steps: Sequence[int]
) -> None:
    """Add the share that is broken by a step where being cut short rules out a later break."""

    def share(curve: Curve, step: int) -> Cell:
        if step > len(curve.points):
            return Cell(data=(None,), reason="nothing was followed for so long")
        return parts.number_cell(curve.points[step - 1].incidence, "share")

    page.table(
        "early",
        f"Share {told.broken}, with early ends",
        [curve for curve in curves if curve.points],
        [
            columns.text("Agent", lambda curve: first_up(curve.label)),
            columns.count(
                "Cut short",
                lambda curve: int((curve.rows["end"] == OTHER).sum()),
                help=f"{first_up(told.noun)}s not {told.broken} in a trajectory that was cut short",
            ),
            *(
                Column(
                    parts.number_column(str(step), f"by {step}"),
                    lambda curve, step=step: share(curve, step),  # type: ignore[misc]
                )
                for step in steps
            ),
        ],
        note=f"Cumulative incidence (Aalen–Johansen), by {told.turn}s since: a {told.noun} in a "
        "trajectory that is cut short can no longer be broken.",
        folded=True,
    )


def _breaks(page: Page, rows: "DataFrame", told: Disclosures) -> None:
    """Add every break, with a link to its turn."""
    broken = rows[rows["broken"].notna()].sort_values(["time", "trajectory"])
    page.table(
        "breaks",
        f"Each {told.noun} {told.broken}",
        broken.to_dict("records"),
        [
            columns.text("Agent", lambda row: str(row["agent"])),
            columns.text(first_up(told.noun), lambda row: str(row["text"])),
            columns.count(f"{first_up(told.verb)} after {told.turn}", lambda row: int(row["told"])),
            columns.count(
                f"{first_up(told.broken)} in {told.turn}",
                lambda row: int(row["broken"]),
                link=lambda row: Link(
                    url=addresses.address("analysis:trajectory", trajectory_id=row["trajectory"])
                    + f"#turn-{int(row['broken'])}"
                ),
            ),
        ],
        link=lambda _: None,
        folded=True,
        most=MOST_BREAKS,
    )
