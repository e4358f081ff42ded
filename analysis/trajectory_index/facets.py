"""The facets of the trajectory list: their choices, and which rows of the index have each."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analysis.filters import USABLE
from analysis.trajectory_index.columns import NONE, STATES, IndexColumns
from analysis.trajectory_index.runs import (
    CONSTRUCTED,
    DEMO,
    IMPORTED,
    REAL,
    RECORDED,
    SCRIPTED,
    SIMULATED,
    IndexedRunRow,
)
from analysis.trajectory_index.table import TrajectoryIndex
from benchmarks.core.conditions import condition_title
from benchmarks.core.ports.labels import Measure, plain
from benchmarks.core.ports.results import NEARLY
from benchmarks.core.registry import EXTERNAL, SYSTEMS, find_system, get_system
from benchmarks.trajectories.selectors import (
    FULL,
    NO,
    PART,
    UNDEFINED,
    YES,
    ZERO,
    ending_title,
)
from benchmarks.trajectories.selectors import STATES as STATE_WORDS

MADE, OUTCOME, JUDGES, VIOLATIONS, PEOPLE = (
    "What was run", "How it ended", "Judges", "Violations", "People",
)  # fmt: skip
RUBRIC = "rubric-"
DONE = STATES.index("done")


@dataclass(frozen=True)
class IndexFacet:
    """A facet of the list: its choices, and which rows of the index have each of them.

    ``offers`` are the choices: the value in the address and its label. ``codes`` gives each row the
    position of its choice (`NONE`: no choice); where a row may have several choices, ``pairs``
    holds rows and positions instead. A ``sparse`` facet is shown even with a single choice, because
    most rows have none. The choices of a ``named`` facet come from the data, so a choice that only
    hidden rows have must not be shown.
    """

    name: str
    title: str
    group: str
    offers: tuple[tuple[str, str], ...]
    codes: Any = None
    pairs: tuple[Any, Any] | None = None
    help: str = ""
    sparse: bool = False
    named: bool = False

    def count(self, rows: Any) -> Any:
        """Count the rows that have each choice; ``rows`` is a mask of the rows to count."""
        if self.pairs is not None:
            return np.bincount(self.pairs[1][rows[self.pairs[0]]], minlength=len(self.offers))
        codes = self.codes[rows]
        return np.bincount(codes[codes >= 0], minlength=len(self.offers))

    def chosen(self, values: Sequence[str]) -> Any:
        """Return a mask of the rows that have one of these values."""
        wanted = np.array([value in values for value, _ in self.offers] + [False])
        if self.pairs is None:
            return wanted[self.codes]
        mask = np.zeros(len(self.codes), dtype=bool)
        mask[self.pairs[0][wanted[self.pairs[1]]]] = True
        return mask

    def only(self, kept: Any) -> "IndexFacet":
        """Return the facet with these choices alone."""
        code = np.full(len(self.offers) + 1, NONE, dtype=np.int32)  # the last: none stays none
        code[kept] = np.arange(len(kept))
        pairs = self.pairs
        if pairs is not None:
            there = code[pairs[1]] >= 0
            pairs = pairs[0][there], code[pairs[1][there]]
        offers = tuple(self.offers[place] for place in kept.tolist())
        return replace(self, offers=offers, codes=code[self.codes], pairs=pairs)


@dataclass(frozen=True)
class AnnotationColumns:
    """The index of people's answers, flags and labels on trajectories, as far as one reader may
    know them.

    By row: ``gap`` is people's mean score less the judges', ``flagged`` whether an annotator
    flagged it, ``adjudicated`` whether it was adjudicated. ``labels`` and ``studies`` are pairs of
    arrays (row, position in the names): the labels on it, and the studies in which it was rated;
    ``asked``: a model's answers to questions that may be counted.
    """

    gap: Any
    flagged: Any
    adjudicated: Any
    labels: tuple[Any, Any]
    label_names: tuple[tuple[str, str], ...]
    studies: tuple[Any, Any]
    study_names: tuple[tuple[str, str], ...]
    asked: tuple[Any, Any]
    asked_names: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class FacetBins:
    """Ranges of a measure as choices: each edge is the first value of the next range."""

    edges: tuple[float, ...]
    offers: tuple[tuple[str, str], ...]

    def codes(self, values: Any) -> Any:
        bins = np.searchsorted(self.edges, values, side="right")
        return np.where(np.isnan(values), NONE, bins).astype(np.int8)


SCORES = FacetBins((2, 3, 3.5, 4, 4.5), (
    ("under-2", "under 2"), ("2", "2 to 3"), ("3", "3 to 3.5"), ("3.5", "3.5 to 4"),
    ("4", "4 to 4.5"), ("4.5", "4.5 and above"),
))  # fmt: skip
SPREADS = FacetBins((0.25, 0.5, 1), (
    ("under-0.25", "under 0.25"), ("0.25", "0.25 to 0.5"), ("0.5", "0.5 to 1"),
    ("1", "1 and above"),
))  # fmt: skip
GAPS = FacetBins((-1.5, -0.5, 0.5, 1.5), (
    ("far-below", "people lower by more than 1.5"), ("below", "people lower by 0.5 to 1.5"),
    ("near", "within 0.5"), ("above", "people higher by 0.5 to 1.5"),
    ("far-above", "people higher by 1.5 or more"),
))  # fmt: skip
TOKENS = FacetBins((2_000, 10_000, 50_000, 200_000), (
    ("under-2k", "under 2,000"), ("2k", "2,000 to 10,000"), ("10k", "10,000 to 50,000"),
    ("50k", "50,000 to 200,000"), ("200k", "200,000 and more"),
))  # fmt: skip
MARKERS = {
    REAL: "Models and people",
    SCRIPTED: "Scripted parts",
    SIMULATED: "Simulated answers",
    RECORDED: "Recorded answers",
    IMPORTED: "Made elsewhere",
    CONSTRUCTED: "Tasks not made by models",
    DEMO: "Demo data",
}


def all_facets(
    index: TrajectoryIndex,
    annotations: AnnotationColumns,
    keys: Sequence[str] = (),
    systems: Sequence[str] | None = None,
) -> list[IndexFacet]:
    """Return every facet. ``keys`` are the constraints that the address names, ``systems`` those
    whose words facets speak: all that have runs, if none are given.
    """
    if systems is None:
        systems = list(dict.fromkeys(run.system for run in index.runs))
    columns = index.columns
    return [
        *_run_facets(index),
        _yes_no_facet(USABLE, "Usable task", MADE, _usable(index),
             "Usable", "Left out: its own reference does not solve it"),
        *_outcome_facets(index, systems),
        _range_facet("score", "Mean score", JUDGES, SCORES, columns.mean,
                "Over all scores of the last plan"),
        *_rubric_facets(index),
        _range_facet("spread", "Judge spread", JUDGES, SPREADS, columns.spread,
                "SD over judges of their mean scores of the last plan"),
        _yes_no_facet("unscored", "Unscored", JUDGES, columns.unscored > 0,
             "A score is missing", "All scored"),
        _yes_no_facet("repeated", "Repeated violations", VIOLATIONS, columns.repeated > 0,
             "With", "Without"),
        _violation_facet(columns, keys),
        _range_facet("gap", "People and judges", PEOPLE, GAPS, annotations.gap,
                "People's mean score of the last plan less the judges'; where both scored"),
        _yes_no_facet("flagged", "Flagged", PEOPLE, annotations.flagged,
             "An annotator flagged it", "Not flagged"),
        _yes_no_facet("adjudicated", "Adjudicated", PEOPLE, annotations.adjudicated,
             "Adjudicated", "Not adjudicated"),
        IndexFacet("label", "Failure labels", PEOPLE, annotations.label_names,
             np.zeros(len(columns), dtype=np.int8), annotations.labels, sparse=True, named=True),
        IndexFacet("asked", "Answers of a model", PEOPLE, annotations.asked_names,
             np.zeros(len(columns), dtype=np.int8), annotations.asked,
             "To questions whose answers people have checked", sparse=True, named=True),
        IndexFacet("study", "Judged in a study", PEOPLE, annotations.study_names,
             np.zeros(len(columns), dtype=np.int8), annotations.studies, sparse=True, named=True),
    ]  # fmt: skip


def _run_facets(index: TrajectoryIndex) -> Iterable[IndexFacet]:
    def by_run(name: str, title: str, value: Callable[[IndexedRunRow], Any],
               label: Callable[[IndexedRunRow], str],
               order: Callable[[tuple[str, str]], Any] = lambda offer: offer[1].lower(),
               **more: Any) -> IndexFacet:  # fmt: skip
        offers = {str(value(run)): label(run) for run in index.runs if value(run) not in ("", None)}
        listed = tuple(sorted(offers.items(), key=order))
        place = {value: number for number, (value, _) in enumerate(listed)}
        codes = np.array([place.get(str(value(run)), NONE) for run in index.runs], dtype=np.int32)
        return IndexFacet(name, title, MADE, listed, codes[index.run_index], named=True, **more)

    yield by_run("system", "System", lambda run: run.system, lambda run: _system(run.system))
    yield by_run("dataset", "Dataset", lambda run: run.dataset, lambda run: run.dataset_title)
    yield by_run("agent", "Agent", lambda run: run.agent, lambda run: run.agent_title)
    yield by_run("level", "Level", lambda run: run.level, lambda run: run.level, _by_level)
    yield by_run("condition", "Condition", lambda run: run.condition, _condition)
    yield by_run("run", "Run", lambda run: run.pk, _run_words, lambda offer: -int(offer[0]))
    yield by_run("source", "Real or not", lambda run: run.marker, lambda run: MARKERS[run.marker])


def _usable(index: TrajectoryIndex) -> Any:
    """Return which rows figures count by default."""
    usable = np.ones(len(index.columns), dtype=bool)
    for place, run in enumerate(index.runs):
        if run.left_out:
            tasks = np.array(sorted(run.left_out), dtype=np.int64)
            usable &= (index.run_index != place) | ~np.isin(index.columns.task, tasks)
    return usable


def _system(key: str) -> str:
    if key == EXTERNAL:
        return "Made elsewhere"
    return get_system(key).title if key in SYSTEMS else plain(key)


def _condition(run: IndexedRunRow) -> str:
    return condition_title(find_system(run.system), run.condition)


def _run_words(run: IndexedRunRow) -> str:
    return f"Run {run.pk}, {run.agent_title}" + (f", {run.level}" if run.level else "")


def _by_level(offer: tuple[str, str]) -> tuple[int, str]:
    known = ("low", "mid", "high")
    return (known.index(offer[0]) if offer[0] in known else len(known), offer[0])


def _outcome_facets(index: TrajectoryIndex, systems: Sequence[str]) -> Iterable[IndexFacet]:
    columns = index.columns
    ends = [(code, ending_title(code)) for code in columns.ends]
    shown = [state for state in STATES if state in STATE_WORDS]
    states = [(state, STATE_WORDS[state].title) for state in shown]
    place = np.array([shown.index(s) + len(ends) if s in shown else NONE for s in STATES])
    codes = np.where(columns.state == DONE, columns.end, place[columns.state])
    order = sorted(range(len(ends)), key=lambda code: ends[code][1])
    rank = np.array([*np.argsort(order), *range(len(ends), len(ends) + len(shown)), NONE])
    yield IndexFacet(
        "end", "Ending", OUTCOME, (*(ends[code] for code in order), *states),
        rank[codes.astype(np.int64)],
    )  # fmt: skip
    undefined = np.where(columns.state == DONE, 2, NONE)
    answers = ((YES, "Yes"), (NO, "No"), (UNDEFINED, "Undefined"))
    for name in ("valid", "accurate"):
        value = getattr(columns, name)
        codes = np.where(value == 1, 0, np.where(value == 0, 1, undefined))
        title = verdict_title(name, systems) or plain(name)
        yield IndexFacet(name, title, OUTCOME, answers, codes)
    yield _headline_facet(index, systems)
    yield _reward_facet(index)
    yield IndexFacet(
        "failure", "Failure", OUTCOME, tuple((code, plain(code)) for code in columns.failures),
        columns.failure, sparse=True, named=True,
    )  # fmt: skip
    tokens = np.where(columns.tokens == NONE, np.nan, columns.tokens)
    yield _range_facet("tokens", "Tokens", OUTCOME, TOKENS, tokens,
                  "In all its calls; made elsewhere, as its file states")  # fmt: skip


def _headline_facet(index: TrajectoryIndex, systems: Sequence[str]) -> IndexFacet:
    """Return the facet on what systems rank agents by; empty where a verdict says the same."""
    columns, value = index.columns, index.columns.headline
    measures = headline_measures(systems)
    none = np.full(len(columns), NONE, dtype=np.int8)
    offers = (
        (FULL, "100 %"), ("half", "50 % to under 100 %"), ("some", "above 0 to under 50 %"),
        (ZERO, "0 %"), (UNDEFINED, "Undefined"),
    )  # fmt: skip
    if all(name == "accurate" for name in measures):
        return IndexFacet("result", "Main measure", OUTCOME, offers, none)
    ranked = np.array([bool(_headline_of(run.system)) for run in index.runs], dtype=bool)
    unknown = (columns.state == DONE) & ranked[index.run_index] & np.isnan(value)
    codes = np.select(
        [value >= 1 - NEARLY, value >= 0.5, value > 0, value == 0, unknown], [0, 1, 2, 3, 4], NONE
    )
    title = measures[next(iter(measures))].title if len(measures) == 1 else "Main measure"
    help = "What agents are ranked by, as a share of its largest value"
    return IndexFacet("result", title, OUTCOME, offers, codes, help=help)


def _headline_of(system: str) -> str:
    return next(iter(find_system(system).labels.headlines), "")


def headline_measures(systems: Iterable[str]) -> dict[str, Measure]:
    """Return what these systems rank agents by, by metric."""
    by_headline = {_headline_of(system): find_system(system).labels for system in systems}
    return {name: labels.measures[name] for name, labels in by_headline.items() if name}


def verdict_title(name: str, systems: Iterable[str]) -> str:
    """Return what these systems call a verdict: one title, or several beside each other."""
    verdicts = (find_system(system).labels.verdicts for system in systems)
    return " / ".join(dict.fromkeys(titles[name] for titles in verdicts if name in titles))


def _reward_facet(index: TrajectoryIndex) -> IndexFacet:
    columns, reward = index.columns, index.columns.reward
    elsewhere = np.array([run.system == EXTERNAL for run in index.runs], dtype=bool)
    unstated = (columns.state == DONE) & elsewhere[index.run_index] & np.isnan(reward)
    codes = np.select([reward >= 1 - NEARLY, reward > 0, reward == 0, unstated], [0, 1, 2, 3], NONE)
    offers = ((FULL, "Full (1)"), (PART, "Between 0 and 1"), (ZERO, "None (0)"),
              (UNDEFINED, "Not stated"))  # fmt: skip
    return IndexFacet("reward", "Reward, as stated", OUTCOME, offers, codes)


def _rubric_facets(index: TrajectoryIndex) -> Iterable[IndexFacet]:
    """Yield a facet for each dimension: whether its mean reaches the run's threshold."""
    titles = dimension_titles(index)
    for column, key in enumerate(index.columns.dimensions):
        passes = index.columns.passes[:, column]
        codes = np.where(passes == NONE, NONE, 1 - passes)
        yield IndexFacet(
            RUBRIC + key, titles[key], JUDGES, (("pass", "passes"), ("fail", "fails")), codes
        )


def dimension_titles(index: TrajectoryIndex) -> dict[str, str]:
    """Return the titles of the dimensions that judges scored, in the order of their systems."""
    known = {
        dimension.key: dimension.title
        for system in dict.fromkeys(run.system for run in index.runs)
        if system in SYSTEMS
        for dimension in get_system(system).dimensions
    }
    return {key: known.get(key, plain(key)) for key in index.columns.dimensions}


def _violation_facet(columns: IndexColumns, keys: Sequence[str]) -> IndexFacet:
    kinds = sorted({kind for kind, _ in columns.constraints})
    known = {key for _, key in columns.constraints}
    named = [key for key in dict.fromkeys(keys) if key in known and key not in kinds]
    rows, codes = [], []
    for number, name in enumerate((*kinds, *named)):
        wanted = np.array([name in constraint for constraint in columns.constraints], dtype=bool)
        there = np.zeros(len(columns), dtype=bool)
        there[columns.broken[wanted[columns.broken[:, 1]], 0]] = True
        positions = np.flatnonzero(there)
        rows.append(positions)
        codes.append(np.full(len(positions), number))
    pairs = tuple(np.concatenate([np.zeros(0, dtype=np.int64), *facet]) for facet in (rows, codes))
    offers = (*((kind, f"{plain(kind)} constraint") for kind in kinds),
              *((key, f"Constraint {key}") for key in named))  # fmt: skip
    no_codes = np.zeros(len(columns), dtype=np.int8)
    return IndexFacet("violated", "Violated", VIOLATIONS, offers, no_codes, (pairs[0], pairs[1]),
                sparse=True, named=True)  # fmt: skip


def _range_facet(
    name: str, title: str, group: str, bins: FacetBins, values: Any, help: str
) -> IndexFacet:
    return IndexFacet(name, title, group, bins.offers, bins.codes(values), help=help, sparse=True)


def _yes_no_facet(name: str, title: str, group: str, has: Any, yes: str, no: str) -> IndexFacet:
    return IndexFacet(
        name, title, group, ((YES, yes), (NO, no)), np.where(has, 0, 1).astype(np.int8)
    )
