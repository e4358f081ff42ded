"""The change per turn of each agent by people's scores, or by judges' corrected by people."""

from collections.abc import Sequence
from math import nan
from typing import TYPE_CHECKING, NamedTuple

from analysis.figures.layout.theme import ACCENT, Figure, Style
from analysis.figures.turn_slopes import two_sides
from analysis.filters.selection import ChosenRun
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.links import Link
from analysis.kit.page import Page
from analysis.pages.correction import (
    Correction,
    choose_scores,
    corrected_columns,
    listed_moves,
    people_of,
    say_whose,
)
from analysis.pages.decline.pooled_fits import mean_of_dimensions
from analysis.pages.decline.turn_slopes import BY_TURN, p_cell, slope_cell, verdict
from analysis.pages.people import how_turns_were_seen
from analysis.reports.content import estimate_column, number_column
from analysis.reports.deferred_reports import note_progress
from analysis.reports.formatting import listed, p_words, plural, stated_change
from analysis.stats.comparison.multiplicity import adjust_family
from analysis.stats.corrected.corrected_means import CorrectedMean, RatedUnits
from analysis.stats.corrected.corrected_pairs import two_sided_t
from analysis.stats.corrected.corrected_slopes import corrected_slope
from analysis.stats.descriptive.means import t_quantile
from analysis.stats.results import Estimate
from benchmarks.core.system import Dimension

if TYPE_CHECKING:
    from pandas import DataFrame

TRAJECTORIES = ("drawn trajectory", "drawn trajectories")
SEVERAL_TURNS = {"min_turns": 2}
LOOK = Style(ACCENT, "circle", "solid")
HOW = (
    "Judges corrected by people: a mixed model of the judges’ scores over all trajectories that a "
    "study drew from, then one of the people’s scores on the rated turns, given the judges’ scores "
    "and weighted by the inverse of the probability of being drawn. The slope is that of people’s "
    "scores on average over all of these trajectories. Intervals are a jackknife over groups of "
    "tasks, with t quantiles. It allows for endings that depend on judges’ scores. "
    "People’s scores are not adjusted for how severe each of them is."
)
PEOPLE_ALONE = (
    "The change per turn of people’s scores alone is right where endings do not depend on what "
    "judges scored. Where they do, read the judges’ scores corrected by people."
)


class CorrectedSlope(NamedTuple):
    """The change per turn of one agent, with its p-value corrected for all agents."""

    run: ChosenRun
    mean: CorrectedMean
    shown: Estimate
    p: float | None

    @property
    def verdict(self) -> str:
        """Return whether scores clearly decline or rise."""
        return verdict(self.shown, self.p)


class CorrectedSlopes(NamedTuple):
    """The correction of changes per turn, and each agent's over all dimensions shown."""

    correction: Correction
    rows: Sequence[CorrectedSlope]
    family_size: int

    def show(self, page: Page) -> None:
        """Answer by these slopes, draw and list them."""
        known = [row for row in self.rows if row.shown.value is not None]
        size = plural(self.family_size, "agent")
        if known:
            clear = [
                f"{row.run.label} {row.verdict}, {stated_change(row.shown, 'points')}"
                for row in known
                if row.verdict
            ]
            page.answer(
                f"Points per turn in {self.correction.whose}, over all dimensions shown: after "
                f"correction for {size} {listed(clear) or 'no agent clearly declines or rises'}."
            )
        unknown = [row.shown.undefined for row in self.rows if row.shown.value is None]
        if unknown:
            agents = plural(len(unknown), "agent")
            page.answer(f"Undefined for {agents}: {listed(sorted(set(unknown)))}.")
        moved = sorted(
            (row.mean.moved, row.run.label) for row in self.rows if row.mean.moved is not None
        )
        by = listed_moves(moved, "points")
        say_whose(
            page,
            self.correction,
            sum(row.mean.rated for row in self.rows),
            f"{by} per turn." if by else "",
            unit=("drawn trajectory", "drawn trajectories"),
            how=HOW,
            method="mixed model of people’s scores given judges’, jackknife over tasks",
        )
        if seen := self.correction.plans.turn_by_turn:
            page.how(how_turns_were_seen(seen))
        if self.correction.scores == "people":
            page.warning(PEOPLE_ALONE)

        def draw() -> Figure:
            return two_sides(
                {row.run.label: [row.shown] for row in self.rows},
                {"Agents": LOOK},
                {row.run.label: page.links.url(_link(row)) for row in self.rows},
                clear=[row.run.label for row in self.rows if row.verdict],
            )

        page.figure(
            "slopes",
            f"Change per turn by agent, in {self.correction.whose}",
            draw if known else None,
            subtitle=f"{BY_TURN}, over all dimensions shown. Filled marks: clear.",
        )
        page.table(
            "slopes",
            f"Change per turn by agent, in {self.correction.whose}",
            self.rows,
            [
                columns.agent(lambda row: row.run),
                Column(
                    estimate_column("Change per turn"),
                    lambda row: slope_cell(
                        row.shown, row.verdict, "" if row.p is None else p_words(row.p)
                    ),
                ),
                Column(
                    number_column("p", help="Holm over all agents, whichever are shown"),
                    lambda row: p_cell(row.p),
                ),
            ],
            link=_link,
            note=f"{BY_TURN} and n trajectories, of the mean over the dimensions shown. Intervals "
            "are of one agent each; p is corrected.",
        )

    def show_parts(self, page: Page) -> None:
        """Add a table of what each agent's change per turn was made of."""
        row_of = {row.run.label: row for row in self.rows}
        page.table(
            "corrected",
            "Change per turn of judges, of people, and corrected",
            list(row_of),
            [
                columns.agent(lambda label: row_of[label].run),
                *corrected_columns(
                    {label: row.mean for label, row in row_of.items()},
                    "points",
                    "trajectories that a study drew from",
                ),
            ],
            link=lambda label: _link(row_of[label]),
            note="Points of the scale per turn, with 95 % intervals by a jackknife over tasks. "
            "Weight of judges: how far people’s scores go with the judges’ of the same turn.",
        )
        page.info("All else in these details is of the judges’ scores alone.")


def corrected_slopes(
    page: Page, frame: "DataFrame", dimensions: Sequence[Dimension]
) -> CorrectedSlopes | None:
    """Return each agent's change per turn; None where the page shows judges' scores."""
    plans = people_of(page)
    if plans is None:
        return None
    keys = [one.key for one in dimensions]
    means = mean_of_dimensions(frame) if len(keys) > 1 else frame.dropna(subset=["score"])
    scored = set(frame.loc[frame["score"].notna(), "dimension"])
    asked = [key for key in keys if key in scored]

    def people_of_turn(trajectory: int, turn: int) -> float:
        """Return the mean over all dimensions that judges scored; NaN where one is not rated."""
        values = [plans.of_turns.get((trajectory, turn, key), nan) for key in asked]
        return sum(values) / len(values)

    trajectories, turns = means["trajectory"].tolist(), means["turn"].tolist()
    means = means.assign(
        people=list(map(people_of_turn, trajectories, turns)), chance=plans.chances(trajectories)
    ).astype({"people": "float64"})
    means = means[means["chance"].notna()]
    runs = {run.label: run for run in page.runs}
    of_agent = {label: means[means["label"] == label] for label in runs}
    correction = choose_scores(
        page, {label: _units(mine) for label, mine in of_agent.items()}, plans,
        "drawn trajectories on two turns or more",
    )  # fmt: skip
    if correction.scores == "judges":
        return None
    estimates = {}
    for label, mine in of_agent.items():
        note_progress(f"correcting {label}")
        estimates[label] = corrected_slope(
            mine["trajectory"].tolist(), mine["task"].tolist(), mine["turn"].to_numpy(),
            mine["score"].to_numpy(), mine["people"].to_numpy(), mine["chance"].to_numpy(),
        )  # fmt: skip
    shown = {
        label: mean.people if correction.scores == "people" else mean.estimate
        for label, mean in estimates.items()
    }
    # Agents that are not shown count as those furthest from clear, so no filter makes one clearer.
    hidden = max(0, page.selection.agents_here - len(shown))
    family = adjust_family(
        {label: _p_value(one) for label, one in shown.items()}
        | {f"agent {number} that is not shown": 1.0 for number in range(hidden)},
        statement="the corrected slopes of all agents",
    )
    rows = [
        CorrectedSlope(run, estimates[label], shown[label], family[label].adjusted)
        for label, run in runs.items()
    ]
    return CorrectedSlopes(correction, rows, family.size)


def _units(turns: "DataFrame") -> RatedUnits:
    """Return an agent's trajectories; rated are those of which people rated several turns."""
    rated = turns.groupby("trajectory", sort=False)["people"].count()
    people = rated.where(rated > 1).to_numpy(dtype="float64")
    return RatedUnits(people, people, people, list(rated.index))


def _p_value(slope: Estimate) -> float | None:
    """Return the two-sided p-value of no change, from the t interval."""
    if slope.value is None or slope.interval is None:
        return None
    freedom = slope.interval.details["clusters"] - 1
    error = slope.interval.half_width / t_quantile(freedom, slope.interval.level)
    return two_sided_t(slope.value / error, freedom)


def _link(row: CorrectedSlope) -> Link:
    return Link(runs=(row.run.pk,), more=SEVERAL_TURNS)
