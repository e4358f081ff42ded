"""Change per turn by several fits: fitted curve by curve, with figure, table and words."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from analysis.exports.notes import TableNotes
from analysis.figures.layout.theme import Figure
from analysis.figures.turn_slopes import slope_forest
from analysis.pages.declaration import ColumnOf, estimate_of, text_of
from analysis.reports.content import (
    Badge,
    Cell,
    estimate_cell,
    estimate_column,
    number_column,
    rounded,
    text_column,
)
from analysis.reports.deferred_reports import note_progress
from analysis.reports.formatting import plural
from analysis.stats.comparison.multiplicity import AdjustedTest, Family
from analysis.stats.results import Estimate
from analysis.stats.trends import gee, mixed_models
from analysis.stats.trends.decline import Alignment
from analysis.stats.trends.slopes import SHARED, SlopeModels, curve_name, slope_models, slope_tests

if TYPE_CHECKING:
    from pandas import DataFrame

ALPHA = 0.05
MOST_ROWS, OPEN_ROWS = 100, 24
# Warnings that begin so are about few trajectories or tasks; the page counts them.
FEW = "only "
# From where a line through all scores is called pulled away, in points a turn.
PULLED = 0.015


@dataclass(frozen=True)
class TurnColumns:
    """Scores by turn as the statistics take them, one row per trajectory, dimension and turn."""

    agents: Sequence[str]
    dimensions: Sequence[str]
    trajectories: Sequence[Hashable]
    turns: Sequence[int]
    scores: Sequence[float | None]
    tasks: Sequence[Hashable]


@dataclass(frozen=True)
class Slopes:
    """The curves that are shown, and the tests of one family, which may have more curves."""

    models: tuple[SlopeModels, ...]
    family: Family

    @property
    def known(self) -> list[SlopeModels]:
        """Curves whose mixed model has an interval."""
        return [one for one in self.models if one.mixed.slope.interval is not None]

    @property
    def falling(self) -> list[SlopeModels]:
        return self.clear(-1)

    @property
    def rising(self) -> list[SlopeModels]:
        return self.clear(1)

    def clear(self, sign: int) -> list[SlopeModels]:
        """Return curves that clearly rise (1) or fall (−1), the steepest first."""
        found = [one for one in self.known if self.test(one).clear and sign * slope_of(one) > 0]
        return sorted(found, key=lambda one: -sign * slope_of(one))

    def test(self, one: SlopeModels) -> AdjustedTest:
        """Return the test of a curve, corrected over the family."""
        return self.family[curve_name(one.agent, one.dimension)]

    @property
    def why_unknown(self) -> list[str]:
        """The reason why no change per turn is known."""
        fits = [one.mixed.slope for one in self.models]
        reasons = {fit.undefined or fit.no_interval for fit in fits}
        return sorted(reason for reason in reasons if reason)

    @property
    def pulled(self) -> float | None:
        """The mean distance of a line through all scores from the mixed models, in points a
        turn, over the curves whose trajectories end at different turns; None without any.
        """
        gaps = [
            one.pooled.slope.value - one.mixed.slope.value
            for one in self.known
            if one.running
            and one.running[-1] < one.running[0]
            and one.pooled.slope.value is not None
            and one.mixed.slope.value is not None
        ]
        return sum(gaps) / len(gaps) if gaps else None

    @property
    def is_pulled(self) -> bool:
        return abs(self.pulled or 0.0) >= PULLED

    @property
    def few_mixed(self) -> int:
        """The number of curves that have few trajectories for a mixed model."""
        return self._few(lambda one: one.mixed.slope)

    @property
    def few_gee(self) -> int:
        """The number of curves that have few trajectories or tasks for GEE."""
        return self._few(lambda one: one.gee.slope)

    @property
    def enough(self) -> tuple[int, int]:
        """The numbers of trajectories that are enough for a mixed model, and for GEE."""
        return mixed_models.ENOUGH, gee.ENOUGH

    @property
    def fits(self) -> list[str]:
        """The methods of all fits."""
        found = dict.fromkeys(
            estimate.method
            for one in self.models
            for estimate in (one.mixed.slope, one.gee.slope, one.pooled.slope)
            if estimate.method
        )
        return list(found)

    @property
    def untested(self) -> int:
        return sum(self.family.excluded.values())

    @property
    def alpha(self) -> float:
        return ALPHA

    @property
    def tasks_shared(self) -> str:
        """The note that trajectories share tasks, where they do."""
        found = any(SHARED in one.warnings for one in self.models)
        return f"{SHARED[:1].upper()}{SHARED[1:]}" if found else ""

    @cached_property
    def notes(self) -> TableNotes:
        """The notes on what was fitted instead, and why, each with its letter."""
        found = TableNotes()
        for one in self.models:
            for note in notes_of(one):
                found.mark(note)
        return found

    @property
    def legend(self) -> list[tuple[str, str]]:
        """The letters of the table's notes with their texts."""
        return self.notes.lines()

    def _few(self, read: Callable[[SlopeModels], Estimate]) -> int:
        return sum(any(w.startswith(FEW) for w in read(one).warnings) for one in self.models)


class TurnData(Protocol):
    """Loaded scores by turn: how turns are aligned, and the fits that a job has kept."""

    @property
    def frame(self) -> "DataFrame": ...

    @property
    def align(self) -> Alignment: ...

    @property
    def slopes(self) -> Slopes | None: ...


class TurnResult:
    """The parts that all results on scores by turn have in common."""

    data: TurnData

    @property
    def slopes(self) -> Slopes | None:
        """The change per turn, once a job has fitted it."""
        return self.data.slopes

    @property
    def where(self) -> str:
        """The unit by which points are counted."""
        return "turn" if self.data.align == "turn" else "distance from the last turn"

    @property
    def tasks(self) -> int:
        """The number of tasks that the scores are about."""
        return int(self.data.frame["task"].nunique())


def slope_of(one: SlopeModels) -> float:
    """Return the slope of the mixed model, where it is known."""
    return one.mixed.slope.value or 0.0


def fit_slopes(columns: TurnColumns, curves: str = "curves") -> Slopes:
    """Fit every agent and dimension; says how far it is. Errors cluster by task where it recurs."""
    rows: dict[tuple[str, str], list[int]] = {}
    for place, key in enumerate(zip(columns.agents, columns.dimensions, strict=True)):
        rows.setdefault(key, []).append(place)
    found: list[SlopeModels] = []
    for count, ((agent, dimension), places) in enumerate(rows.items()):
        note_progress(f"{count} of {len(rows)} {curves} fitted; now {agent} on {dimension.lower()}")
        trajectories = [columns.trajectories[i] for i in places]
        tasks = [columns.tasks[i] for i in places]
        recur = len(set(tasks)) < len(set(trajectories))
        found += slope_models(
            [agent] * len(places),
            [dimension] * len(places),
            trajectories,
            [columns.turns[i] for i in places],
            [columns.scores[i] for i in places],
            tasks=tasks if recur else None,
        )
    return Slopes(tuple(found), slope_tests(found, alpha=ALPHA))


def draw_fits(slopes: Slopes, url: Callable[[SlopeModels], str]) -> Figure:
    """Draw every curve's change per turn by four fits."""
    links = {(one.agent, one.dimension): url(one) for one in slopes.models}
    return slope_forest(slopes.models, links)


def fits_title(slopes: Slopes) -> str:
    """Name the table of all fits."""
    return f"Change per turn, by four fits ({plural(len(slopes.models), 'row')})"


def fit_columns(slopes: Slopes, who: str = "Agent") -> Sequence[ColumnOf[SlopeModels]]:
    """Put the fits side by side, with p-values of the family, and what is odd."""

    def mixed(one: SlopeModels) -> Cell:
        shown = estimate_cell(one.mixed.slope, "points", signed=True, show_n=True)
        return replace(shown, badges=verdict_badges(slopes, one))

    def p_value(one: SlopeModels) -> Cell:
        test = slopes.test(one)
        p = test.adjusted
        if p is None:
            return Cell(data=(None,), reason=test.undefined)
        return Cell("< 0.001" if p < 0.001 else f"{p:.3f}", (rounded(p),))

    def notes(one: SlopeModels) -> Cell:
        given = notes_of(one)
        text = "; ".join(given)
        # Letters, which are told once for the whole table; the CSV has the words in each row.
        letters = ", ".join(slopes.notes.mark(note) for note in given)
        return Cell(letters, (f"{text[:1].upper()}{text[1:]}",))

    tests = plural(slopes.family.size, "test")
    return (
        text_of(who, lambda one: one.agent),
        text_of("Dimension", lambda one: one.dimension),
        ColumnOf(
            estimate_column("Mixed model", help="Allows for endings that depend on scores seen"),
            mixed,
        ),
        ColumnOf(number_column("p", help=f"Of the mixed model, Holm over {tests}"), p_value),
        _fit("GEE", lambda one: one.gee.slope, "Biased where scores decide the ending"),
        _fit("Within", lambda one: one.within, "Biased where the last score decides the ending"),
        _fit(
            "One line",
            lambda one: one.pooled.slope,
            "Compares trajectories that ended with those that ran on",
        ),
        ColumnOf(
            text_column("Notes", help="What was fitted instead, and why: letters over the table"),
            notes,
        ),
    )


def _fit(label: str, read: Callable[[SlopeModels], Estimate], help: str) -> ColumnOf[SlopeModels]:
    return estimate_of(label, read, "points", signed=True, show_n=True, help=help)


def verdict(slopes: Slopes, one: SlopeModels) -> str:
    """Return whether a curve clearly rises or declines, in its family; nothing where neither is
    clear.
    """
    if not slopes.test(one).clear:
        return ""
    return "declines" if slope_of(one) < 0 else "rises"


def verdict_badges(slopes: Slopes, one: SlopeModels) -> tuple[Badge, ...]:
    """Return the mark of a curve that clearly rises or declines."""
    word = verdict(slopes, one)
    if not word:
        return ()
    p = slopes.test(one).adjusted
    assert p is not None  # else there is no verdict
    words = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    why = f"{words} after Holm over {plural(slopes.family.size, 'test')}"
    return (Badge(word, "warn" if word == "declines" else "ok", why),)


def notes_of(one: SlopeModels) -> list[str]:
    """Return what was fitted instead, and why. That trajectories are few, or share tasks, is said
    once.
    """
    given = [
        warning
        for warning in (*one.mixed.slope.warnings, *one.gee.slope.warnings)
        if not warning.startswith(FEW)
    ]
    return list(dict.fromkeys(given))
