"""The facets of the list of trajectories: what can be chosen, and which rows have it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analysis.trajectory_index import runs as run_facts
from analysis.trajectory_index.columns import NONE, STATES, Columns
from analysis.trajectory_index.runs import RunRow
from analysis.trajectory_index.table import Facts
from benchmarks.core.labels import plain
from benchmarks.core.registry import EXTERNAL, SYSTEMS, get_system
from benchmarks.trajectories.selectors import (
    FULL,
    NEARLY,
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
class Part:
    """A facet. ``codes`` has the offer of each row (`NONE`: none of them); where a row may have
    several, ``pairs`` has rows and offers instead.

    ``offers`` are values of the address with their words. A ``sparse`` facet shows though it has
    one offer alone, because most rows have none. The offers of a ``named`` one come from the data.
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
        """How many of the rows have each offer; ``rows`` says of each row whether it counts."""
        if self.pairs is not None:
            return np.bincount(self.pairs[1][rows[self.pairs[0]]], minlength=len(self.offers))
        codes = self.codes[rows]
        return np.bincount(codes[codes >= 0], minlength=len(self.offers))

    def chosen(self, values: Sequence[str]) -> Any:
        """The rows that have one of these values."""
        wanted = np.array([value in values for value, _ in self.offers] + [False])
        if self.pairs is None:
            return wanted[self.codes]
        found = np.zeros(len(self.codes), dtype=bool)
        found[self.pairs[0][wanted[self.pairs[1]]]] = True
        return found

    def only(self, kept: Any) -> "Part":
        """The same with these offers alone."""
        code = np.full(len(self.offers) + 1, NONE, dtype=np.int32)  # the last: none stays none
        code[kept] = np.arange(len(kept))
        pairs = self.pairs
        if pairs is not None:
            there = code[pairs[1]] >= 0
            pairs = pairs[0][there], code[pairs[1][there]]
        offers = tuple(self.offers[place] for place in kept.tolist())
        return replace(self, offers=offers, codes=code[self.codes], pairs=pairs)


@dataclass(frozen=True)
class Said:
    """What people said, row by row, for one reader: the gap between people and judges, whether an
    annotator flagged it, whether somebody adjudicated it, labels by row (place and label), and
    likewise the studies in which somebody judged it.
    """

    gap: Any
    flagged: Any
    adjudicated: Any
    labels: tuple[Any, Any]
    label_names: tuple[tuple[str, str], ...]
    studies: tuple[Any, Any]
    study_names: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Bins:
    """Ranges of a measure: each edge is the first value of the next range."""

    edges: tuple[float, ...]
    offers: tuple[tuple[str, str], ...]

    def codes(self, values: Any) -> Any:
        found = np.searchsorted(self.edges, values, side="right")
        return np.where(np.isnan(values), NONE, found).astype(np.int8)


SCORES = Bins((2, 3, 3.5, 4, 4.5), (
    ("under-2", "under 2"), ("2", "2 to 3"), ("3", "3 to 3.5"), ("3.5", "3.5 to 4"),
    ("4", "4 to 4.5"), ("4.5", "4.5 and above"),
))  # fmt: skip
SPREADS = Bins((0.25, 0.5, 1), (
    ("under-0.25", "under 0.25"), ("0.25", "0.25 to 0.5"), ("0.5", "0.5 to 1"),
    ("1", "1 and above"),
))  # fmt: skip
GAPS = Bins((-1.5, -0.5, 0.5, 1.5), (
    ("far-below", "people lower by more than 1.5"), ("below", "people lower by 0.5 to 1.5"),
    ("near", "within 0.5"), ("above", "people higher by 0.5 to 1.5"),
    ("far-above", "people higher by 1.5 or more"),
))  # fmt: skip
TOKENS = Bins((2_000, 10_000, 50_000, 200_000), (
    ("under-2k", "under 2,000"), ("2k", "2,000 to 10,000"), ("10k", "10,000 to 50,000"),
    ("50k", "50,000 to 200,000"), ("200k", "200,000 and more"),
))  # fmt: skip
MARKERS = {
    run_facts.REAL: "Models and people",
    run_facts.SCRIPTED: "Scripted parts",
    run_facts.SIMULATED: "Simulated answers",
    run_facts.RECORDED: "Recorded answers",
    run_facts.IMPORTED: "Made elsewhere",
    run_facts.CONSTRUCTED: "Tasks not made by models",
    run_facts.DEMO: "Demo data",
}


def all_parts(facts: Facts, said: Said, keys: Sequence[str] = ()) -> list[Part]:
    """Every facet. ``keys`` are constraints that an address names."""
    columns = facts.columns
    return [
        *_made(facts),
        *_outcomes(facts),
        _binned("score", "Mean score", JUDGES, SCORES, columns.mean,
                "Over all scores of the last plan"),
        *_rubric(facts),
        _binned("spread", "Judge spread", JUDGES, SPREADS, columns.spread,
                "SD over judges of their mean scores of the last plan"),
        _two("unscored", "Unscored", JUDGES, columns.unscored > 0,
             "A score is missing", "All scored"),
        _two("repeated", "Repeated violations", VIOLATIONS, columns.repeated > 0,
             "With", "Without"),
        _violated(columns, keys),
        _binned("gap", "People and judges", PEOPLE, GAPS, said.gap,
                "People's mean score of the last plan less the judges'; where both scored"),
        _two("flagged", "Flagged", PEOPLE, said.flagged,
             "An annotator flagged it", "Not flagged"),
        _two("adjudicated", "Adjudicated", PEOPLE, said.adjudicated,
             "Adjudicated", "Not adjudicated"),
        Part("label", "Failure labels", PEOPLE, said.label_names,
             np.zeros(len(columns), dtype=np.int8), said.labels, sparse=True, named=True),
        Part("study", "Judged in a study", PEOPLE, said.study_names,
             np.zeros(len(columns), dtype=np.int8), said.studies, sparse=True, named=True),
    ]  # fmt: skip


def _made(facts: Facts) -> Iterable[Part]:
    def by_run(name: str, title: str, value: Callable[[RunRow], Any],
               label: Callable[[RunRow], str],
               order: Callable[[tuple[str, str]], Any] = lambda offer: offer[1].lower(),
               **more: Any) -> Part:  # fmt: skip
        offers = {str(value(run)): label(run) for run in facts.runs if value(run) not in ("", None)}
        listed = tuple(sorted(offers.items(), key=order))
        place = {value: number for number, (value, _) in enumerate(listed)}
        codes = np.array([place.get(str(value(run)), NONE) for run in facts.runs], dtype=np.int32)
        return Part(name, title, MADE, listed, codes[facts.run_index], named=True, **more)

    yield by_run("system", "System", lambda run: run.system, lambda run: _system(run.system))
    yield by_run("dataset", "Dataset", lambda run: run.dataset, lambda run: run.dataset_title)
    yield by_run("agent", "Agent", lambda run: run.agent, lambda run: run.agent_title)
    yield by_run("level", "Level", lambda run: run.level, lambda run: run.level, _by_level)
    yield by_run("condition", "Condition", lambda run: run.condition, lambda run: run.condition)
    yield by_run("run", "Run", lambda run: run.pk, _run_words, lambda offer: -int(offer[0]))
    yield by_run("source", "Real or not", lambda run: run.marker, lambda run: MARKERS[run.marker])


def _system(key: str) -> str:
    if key == EXTERNAL:
        return "Made elsewhere"
    return get_system(key).title if key in SYSTEMS else plain(key)


def _run_words(run: RunRow) -> str:
    return f"Run {run.pk}, {run.agent_title}" + (f", {run.level}" if run.level else "")


def _by_level(offer: tuple[str, str]) -> tuple[int, str]:
    known = ("low", "mid", "high")
    return (known.index(offer[0]) if offer[0] in known else len(known), offer[0])


def _outcomes(facts: Facts) -> Iterable[Part]:
    columns = facts.columns
    ends = [(code, ending_title(code)) for code in columns.ends]
    shown = [state for state in STATES if state in STATE_WORDS]
    states = [(state, STATE_WORDS[state].title) for state in shown]
    place = np.array([shown.index(s) + len(ends) if s in shown else NONE for s in STATES])
    codes = np.where(columns.state == DONE, columns.end, place[columns.state])
    order = sorted(range(len(ends)), key=lambda code: ends[code][1])
    rank = np.array([*np.argsort(order), *range(len(ends), len(ends) + len(shown)), NONE])
    yield Part(
        "end", "Ending", OUTCOME, (*(ends[code] for code in order), *states),
        rank[codes.astype(np.int64)],
    )  # fmt: skip
    for name, title, yes, no in (
        ("valid", "Valid", "Valid", "Not valid"),
        ("accurate", "Passes", "Valid and passes", "Does not"),
    ):
        value = getattr(columns, name)
        undefined = np.where(columns.state == DONE, 2, NONE)
        codes = np.where(value == 1, 0, np.where(value == 0, 1, undefined))
        yield Part(name, title, OUTCOME, ((YES, yes), (NO, no), (UNDEFINED, "Undefined")), codes)
    yield _reward(facts)
    yield Part(
        "failure", "Failure", OUTCOME, tuple((code, plain(code)) for code in columns.failures),
        columns.failure, sparse=True, named=True,
    )  # fmt: skip
    tokens = np.where(columns.tokens == NONE, np.nan, columns.tokens)
    yield _binned("tokens", "Tokens", OUTCOME, TOKENS, tokens,
                  "In all its calls; made elsewhere, as its file states")  # fmt: skip


def _reward(facts: Facts) -> Part:
    columns, reward = facts.columns, facts.columns.reward
    elsewhere = np.array([run.system == EXTERNAL for run in facts.runs], dtype=bool)
    unstated = (columns.state == DONE) & elsewhere[facts.run_index] & np.isnan(reward)
    codes = np.select([reward >= 1 - NEARLY, reward > 0, reward == 0, unstated], [0, 1, 2, 3], NONE)
    offers = ((FULL, "Full (1)"), (PART, "Between 0 and 1"), (ZERO, "None (0)"),
              (UNDEFINED, "Not stated"))  # fmt: skip
    return Part("reward", "Reward, as stated", OUTCOME, offers, codes)


def _rubric(facts: Facts) -> Iterable[Part]:
    """Each dimension that a run's threshold is held against."""
    titles = dimension_titles(facts)
    for column, key in enumerate(facts.columns.dimensions):
        passes = facts.columns.passes[:, column]
        codes = np.where(passes == NONE, NONE, 1 - passes)
        yield Part(
            RUBRIC + key, titles[key], JUDGES, (("pass", "passes"), ("fail", "fails")), codes
        )


def dimension_titles(facts: Facts) -> dict[str, str]:
    """The dimensions that judges scored, in the order of their systems, with their titles."""
    known = {
        dimension.key: dimension.title
        for system in dict.fromkeys(run.system for run in facts.runs)
        if system in SYSTEMS
        for dimension in get_system(system).dimensions
    }
    return {key: known.get(key, plain(key)) for key in facts.columns.dimensions}


def _violated(columns: Columns, keys: Sequence[str]) -> Part:
    kinds = sorted({kind for kind, _ in columns.constraints})
    known = {key for _, key in columns.constraints}
    named = [key for key in dict.fromkeys(keys) if key in known and key not in kinds]
    rows, codes = [], []
    for number, name in enumerate((*kinds, *named)):
        wanted = np.array([name in constraint for constraint in columns.constraints], dtype=bool)
        there = np.zeros(len(columns), dtype=bool)
        there[columns.broken[wanted[columns.broken[:, 1]], 0]] = True
        found = np.flatnonzero(there)
        rows.append(found)
        codes.append(np.full(len(found), number))
    pairs = tuple(np.concatenate([np.zeros(0, dtype=np.int64), *part]) for part in (rows, codes))
    offers = (*((kind, f"{plain(kind)} constraint") for kind in kinds),
              *((key, f"Constraint {key}") for key in named))  # fmt: skip
    nothing = np.zeros(len(columns), dtype=np.int8)
    return Part("violated", "Violated", VIOLATIONS, offers, nothing, (pairs[0], pairs[1]),
                sparse=True, named=True)  # fmt: skip


def _binned(name: str, title: str, group: str, bins: Bins, values: Any, help: str) -> Part:
    return Part(name, title, group, bins.offers, bins.codes(values), help=help, sparse=True)


def _two(name: str, title: str, group: str, has: Any, yes: str, no: str) -> Part:
    return Part(name, title, group, ((YES, yes), (NO, no)), np.where(has, 0, 1).astype(np.int8))
