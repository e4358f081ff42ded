"""Change per turn over all agents of the chosen data: fitted in the background, kept, tested."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.core.cache import caches

from analysis.filters.selection import ChosenRun
from analysis.frames.scores import turn_scores
from analysis.kit.links import Link
from analysis.pages.declaration import ColumnOf, text_of
from analysis.reports import system_facts
from analysis.reports.content import (
    Badge,
    Cell,
    estimate_cell,
    estimate_column,
    number_cell,
    number_column,
    rounded,
)
from analysis.reports.deferred_reports import KEEP_SECONDS, note_progress
from analysis.reports.formatting import p_text, p_words, plural
from analysis.reports.stored_reports import key_of
from analysis.stats.comparison.multiplicity import Family, adjust_family
from analysis.stats.results import Estimate
from analysis.stats.trends.pooled import PooledSlope, pooled_slope

if TYPE_CHECKING:
    from pandas import DataFrame

ALL = "All dimensions"
ALPHA = 0.05
NO_PART = "the model has no such part"


@dataclass(frozen=True)
class PooledRow:
    """The pooled slope of one dimension, or of all, with the p-value by which it is judged."""

    title: str
    key: str
    fit: PooledSlope
    p: float | None

    @property
    def slope(self) -> Estimate:
        return self.fit.slope

    @property
    def is_clear(self) -> bool:
        return self.p is not None and self.p <= ALPHA

    @property
    def verdict(self) -> str:
        """Return whether scores clearly decline or rise; nothing where neither is clear."""
        if not self.is_clear:
            return ""
        return "declines" if (self.slope.value or 0.0) < 0 else "rises"

    @property
    def link(self) -> Link:
        return Link(dimension=self.key, more={"min_turns": 2})


@dataclass(frozen=True)
class PooledFits:
    """The pooled slopes: over all dimensions, which has one test, and of each, which are a family.

    ``fits`` has them by title, ``ALL`` first.
    """

    fits: Mapping[str, PooledSlope]
    family: Family

    @classmethod
    def of(cls, fits: Mapping[str, PooledSlope]) -> "PooledFits":
        """Correct the tests of the dimensions for each other."""
        tests = {title: fit.p_value for title, fit in fits.items() if title != ALL}
        statement = f"the pooled slopes of all {len(tests)} dimensions"
        return cls(fits, adjust_family(tests, statement=statement, alpha=ALPHA))

    @property
    def overall(self) -> PooledRow:
        """The change per turn over all dimensions."""
        return PooledRow(ALL, "", self.fits[ALL], self.fits[ALL].p_value)

    def rows(self, keys: Mapping[str, str]) -> list[PooledRow]:
        """Return all dimensions together, then those of these keys by title."""
        single = [
            PooledRow(title, key, self.fits[title], self.family[title].adjusted)
            for title, key in keys.items()
            if title in self.fits
        ]
        return [self.overall, *single]


def kept_pooled(system: str, runs: Sequence[ChosenRun]) -> PooledFits | None:
    """Return the pooled slopes of these runs, or None where they are not kept."""
    fits: Mapping[str, PooledSlope] | None = caches["kept"].get(_key(system, runs))
    return PooledFits.of(fits) if fits is not None else None


def fit_pooled(system: str, runs: Sequence[ChosenRun]) -> PooledFits:
    """Fit and keep the pooled slopes of these runs, where they are not kept."""
    kept = kept_pooled(system, runs)
    if kept is not None:
        return kept
    titles = system_facts.titles_of(system)
    note_progress(f"fitting {plural(len(runs), 'agent')} together")
    frame = turn_scores(runs, list(titles), final=False)
    fits = {ALL: _fit(mean_of_dimensions(frame))}
    for key, title in titles.items():
        note_progress(f"fitting {plural(len(runs), 'agent')} together on {title.lower()}")
        fits[title] = _fit(frame[frame["dimension"] == key])
    caches["kept"].set(_key(system, runs), fits, KEEP_SECONDS)
    return PooledFits.of(fits)


def mean_of_dimensions(frame: "DataFrame") -> "DataFrame":
    """Return each turn's mean over the dimensions, where all that have any score were scored."""
    scored = frame.groupby("dimension")["score"].count()
    known = set(scored[scored > 0].index)
    rows = frame[frame["dimension"].isin(known)].dropna(subset=["score"])
    turns = rows.groupby(["label", "task", "trajectory", "turn"], sort=False)["score"]
    means = turns.agg(["mean", "count"]).reset_index()
    return means[means["count"] == len(known)].rename(columns={"mean": "score"})


def _fit(frame: "DataFrame") -> PooledSlope:
    return pooled_slope(
        frame["label"].tolist(),
        frame["task"].tolist(),
        frame["trajectory"].tolist(),
        frame["turn"].tolist(),
        frame["score"].tolist(),
    )


def _key(system: str, runs: Sequence[ChosenRun]) -> str:
    labels: Sequence[Hashable] = sorted((run.label, run.version) for run in runs)
    return f"pooled-slopes:{key_of(system, *map(str, labels))}"


def pooled_columns(size: int, unit: str = "dimension") -> Sequence[ColumnOf[PooledRow]]:
    """Give slopes with their p-values, and how far agents and tasks differ in theirs."""

    def slope(row: PooledRow) -> Cell:
        shown = estimate_cell(row.slope, "points", signed=True, show_n=True)
        return replace(shown, badges=pooled_badges(row))

    def p_value(row: PooledRow) -> Cell:
        if row.p is None:
            return Cell(data=(None,), reason="not tested: no error is known")
        return Cell(p_text(row.p), (rounded(row.p),))

    holm = f"Over all dimensions one test; others corrected by Holm over {plural(size, unit)}"
    differ = "Standard deviation of {who} slopes, points per turn"
    return (
        text_of("Dimension", lambda row: row.title),
        ColumnOf(estimate_column("Change per turn"), slope),
        ColumnOf(number_column("p", help=holm), p_value),
        ColumnOf(
            number_column("Agents", "sd of agents", differ.format(who="agents'")),
            lambda row: number_cell(row.fit.sd_agents, "points", reason=NO_PART),
        ),
        ColumnOf(
            number_column("Tasks", "sd of tasks", differ.format(who="tasks'")),
            lambda row: number_cell(row.fit.sd_tasks, "points", reason=NO_PART),
        ),
    )


def pooled_badges(row: PooledRow) -> tuple[Badge, ...]:
    """Return the mark of a slope that is clearly not 0."""
    if not row.verdict or row.p is None:
        return ()
    return (Badge(row.verdict, "warn" if row.verdict == "declines" else "ok", p_words(row.p)),)
