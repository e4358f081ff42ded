"""The failure profile of an agent: how often it fails, and among failures how.

Every number on facts counts failures alone; how often an agent fails is a question of its own.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.filters.selection import ChosenRun
from analysis.frames.failures import TrajectoryFaults, returned_to
from analysis.reports.formatting import difference, plural
from analysis.stats.comparison.label_swaps import SwapFamily, SwapResult, swap_family
from analysis.stats.comparison.paired import pair_by_task, paired_difference
from analysis.stats.descriptive.means import MeanTable
from analysis.stats.descriptive.trials import success_rate
from analysis.stats.failure_causes import Cause, FailedTrajectory, structured_cause
from analysis.stats.results import Estimate
from benchmarks.core.ports.faults import RETURNED, Case, Faults
from benchmarks.core.ports.labels import Labels, Measure

if TYPE_CHECKING:
    from pandas import DataFrame

NOT_JUDGED = "not judged"
NO_OTHER = "no other agent"
NO_FAILURE = "no failure"
SEED = 20261124
# Turns from this one on are counted together.
LATE = 12
ENDING, FAULT, DIMENSION = "ending", "fault", "dimension"


@dataclass(frozen=True)
class Fact:
    """One thing that trajectories may show: an ending, a fault, or a low score.

    ``does`` says what trajectories with it do; ``code`` is that of the ending, the fault or the
    dimension.
    """

    kind: str
    code: str
    title: str
    does: str
    help: str = ""

    @property
    def key(self) -> str:
        """The name of the fact's column."""
        return f"{self.kind} {self.code}"


@dataclass(frozen=True)
class FailureData:
    """Trajectories of all agents of the data: a row for each, with its faults.

    ``frame`` has the columns of `outcome_frame`, ``failed`` (NaN: unknown), and one for each of
    ``facts`` by its key, 1 or 0 (NaN: not judged). ``shown`` are the runs that the address leaves,
    ``known`` counts the facts that the system has. ``scores`` are mean scores of the last plan by
    trajectory and dimension. ``wanted`` is the agent of the address, if there is one.
    """

    runs: tuple[ChosenRun, ...]
    shown: tuple[ChosenRun, ...]
    measure: Measure
    metric: str
    frame: "DataFrame"
    facts: tuple[Fact, ...]
    known: int
    absent: tuple[Fact, ...]
    faults: Mapping[int, TrajectoryFaults]
    lengths: Mapping[int, int]
    scores: Mapping[tuple[int, str], float]
    answer: str
    wanted: str = ""
    cases: tuple[Case, ...] = ()

    @cached_property
    def failures(self) -> "DataFrame":
        """The rows of trajectories that failed."""
        return self.frame[self.frame["failed"] == 1]

    @property
    def family_size(self) -> int:
        """How many comparisons the family has: every agent on every fact that the system knows."""
        return len(self.runs) * self.known


@dataclass(frozen=True)
class FactRow:
    """A fact about the failures of an agent, beside those of the other agents.

    ``mine`` and ``others`` are its shares of their failures, ``difference`` is the agent minus the
    others on tasks that both failed, with an interval that holds for all agents and facts together.
    ``ids`` and ``other_ids`` are the failures that show it, of ``failures`` and ``other_failures``;
    ``first`` is the median of the turn in which the agent's first show it.
    """

    fact: Fact
    run: ChosenRun
    mine: Estimate
    others: Estimate
    found: SwapResult
    ids: tuple[int, ...]
    other_ids: tuple[int, ...]
    first: float | None
    failures: tuple[int, ...]
    other_failures: tuple[int, ...]

    @property
    def difference(self) -> Estimate:
        return self.found.difference

    @property
    def clear(self) -> bool:
        """Return whether the interval of the difference excludes 0."""
        return self.difference.is_clear

    @property
    def excess(self) -> float:
        """The difference; the share itself where there is nobody to compare with."""
        value = self.difference.value
        return value if value is not None else self.mine.value or 0.0


@dataclass(frozen=True)
class AgentSummary:
    """An agent with how often it fails, against the others, and why most of its failures do."""

    run: ChosenRun
    failed: Estimate
    more: Estimate
    failures: int
    cause: Cause | None


@dataclass(frozen=True)
class FailureResult:
    """The profile of one agent, a summary of all, and what to read first."""

    data: FailureData
    agent: AgentSummary
    agents: tuple[AgentSummary, ...]
    rows: tuple[FactRow, ...]
    turns: "tuple[TellingTurn, ...]"

    @property
    def others(self) -> int:
        return len(self.data.runs) - 1

    @property
    def compared(self) -> bool:
        """Return whether any fact could be compared with other agents."""
        return any(row.difference.value is not None for row in self.rows)

    @property
    def more(self) -> list[FactRow]:
        """Facts that are clearly more frequent than among the others, the largest first."""
        return [row for row in self.rows if row.clear and row.excess > 0]

    @property
    def smallest(self) -> str:
        """How large a difference has to be to show, where one is not clear; empty else."""
        sizes = [
            min(row.found.smallest, 1.0)
            for row in self.rows
            if not row.clear and row.found.smallest is not None
        ]
        if not sizes:
            return ""
        low, high = difference(min(sizes), "share"), difference(max(sizes), "share")
        return high if low == high else f"{low.removesuffix(' points')} to {high}"

    @cached_property
    def facts(self) -> dict[str, Fact]:
        """The facts by key."""
        return {fact.key: fact for fact in self.data.facts}

    @property
    def cause(self) -> str:
        """The cause of most failures of the agent, in words."""
        return self.cause_of(self.agent)

    def cause_of(self, agent: AgentSummary) -> str:
        """Return the cause of most failures of an agent, in words; empty without any."""
        cause = agent.cause
        if cause is None:
            return ""
        fault = self.facts[cause.fault].does if cause.fault else ""
        return cause.in_words(self.facts[f"{ENDING} {cause.ending}"].does, fault)

    @property
    def by_turn(self) -> MeanTable:
        """The share of trajectories still there that show each fault at each turn of the agent."""
        mine = self.data.frame[self.data.frame["run"] == self.agent.run.pk]["trajectory"].tolist()
        lengths = Counter(min(self.data.lengths[pk], LATE) for pk in mine)
        last = max(lengths, default=0)
        faults = [row.fact for row in self.rows if row.fact.kind == FAULT and row.ids]
        kept = [fact for fact in faults if any(not self._whole(pk, fact) for pk in mine)]
        columns = [f"{n}+" if n == LATE else str(n) for n in range(1, last + 1)]
        cells: dict[tuple[str, str], Estimate] = {}
        for fact in kept:
            for turn, column in enumerate(columns, 1):
                there = [pk for pk in mine if self.data.lengths[pk] >= turn]
                shown = [self._shows(pk, fact, turn) for pk in there]
                cells[fact.title, column] = success_rate(shown, there)
        return MeanTable(tuple(fact.title for fact in kept), tuple(columns), cells)

    def _whole(self, trajectory: int, fact: Fact) -> bool:
        """Return whether a fact is one of the whole trajectory, or absent from it."""
        found = self.data.faults[trajectory]
        return fact.code in found.at_end or fact.code not in found.turns

    def _shows(self, trajectory: int, fact: Fact, turn: int) -> float:
        turns = self.data.faults[trajectory].turns.get(fact.code, ())
        return float(any(one >= LATE if turn == LATE else one == turn for one in turns))

    @property
    def profiles(self) -> MeanTable:
        """The share of each agent's failures that show each fact."""
        failures = self.data.failures
        cells = {}
        for agent in self.agents:
            mine = failures[failures["run"] == agent.run.pk]
            for fact in self.data.facts:
                cells[agent.run.label, fact.title] = share_with(mine, fact)
        names = tuple(agent.run.label for agent in self.agents)
        return MeanTable(names, tuple(fact.title for fact in self.data.facts), cells)


@dataclass(frozen=True)
class CaseRow:
    """A case of a paper, with the failures of all agents here that are of its kind, by id.

    ``example`` is the shortest of them, the first of several; None where there is none.
    """

    case: Case
    ids: tuple[int, ...]
    example: int | None
    agent: str


@dataclass(frozen=True)
class TellingTurn:
    """A turn to read, with the reason why it was chosen."""

    trajectory: int
    turn: int
    reason: str


def share_with(mine: "DataFrame", fact: Fact) -> Estimate:
    """Estimate the share of failures that show a fact."""
    known = mine[mine[fact.key].notna()]
    if mine.empty:
        return Estimate.without_value(NO_FAILURE)
    if not len(known):
        return Estimate.without_value(NOT_JUDGED, excluded={NOT_JUDGED: len(mine)})
    left = {NOT_JUDGED: len(mine) - len(known)} if len(known) < len(mine) else {}
    return success_rate(known[fact.key].to_numpy(), known["task"].tolist(), excluded=left)


def known_facts(
    labels: Labels,
    faults: Faults,
    dimensions: Sequence[tuple[str, str]],
    frame: "DataFrame",
    thresholds: Sequence[float],
) -> list[Fact]:
    """Return all facts that trajectories of a system may show: endings, faults, low scores."""
    facts = []
    for code in dict.fromkeys([*labels.endings, *frame["termination"].tolist()]):
        ending = labels.ending(code)
        does = ending.does or f"end as “{ending.title}”"
        facts.append(Fact(ENDING, code, ending.title, does, ending.sentence))
    for code, fault in faults.all.items():
        facts.append(Fact(FAULT, code, fault.title, fault.does, fault.help))
    if thresholds:
        bar = f"{min(thresholds):g}" if len(set(thresholds)) == 1 else "the threshold"
        for key, title in dimensions:
            does = f"score below {bar} on {title.lower()}"
            facts.append(Fact(DIMENSION, key, f"{title} below {bar}", does))
    return facts


def compute(data: FailureData) -> FailureResult:
    """Compute the profile of the agent of the address, or of that which fails most often."""
    frame = data.frame
    failed = {run.pk: _failed(data, frame[frame["run"] == run.pk]) for run in data.runs}
    agents = []
    for run in data.shown:
        mine = frame[frame["run"] == run.pk]
        rest = [one for pk, those in failed.items() if pk != run.pk for one in those]
        rate = success_rate(mine["failed"].to_numpy(), mine["task"].tolist())
        cause = structured_cause(failed[run.pk], rest)
        more = _failing_more(data, run)
        agents.append(AgentSummary(run, rate, more, len(failed[run.pk]), cause))
    agents.sort(key=lambda one: (-(one.failed.value or 0), -one.failures, one.run.label))
    agent = next((one for one in agents if one.run.agent == data.wanted), agents[0])
    rows = _rows(data, agent.run)
    turns = telling_turns(data, agent.run, rows)
    return FailureResult(data, agent, tuple(agents), rows, turns)


def _failing_more(data: FailureData, run: ChosenRun) -> Estimate:
    """Return how much more often an agent fails than the others, paired by task."""
    if len(data.runs) < 2:
        return Estimate.without_value(NO_OTHER)
    own = data.frame["run"] == run.pk
    mine, others = data.frame[own], data.frame[~own]
    paired = pair_by_task(
        mine["task"].tolist(), mine["failed"].to_numpy(),
        others["task"].tolist(), others["failed"].to_numpy(),
    )  # fmt: skip
    # Of two agents one difference is the other's turned round.
    comparisons = len(data.runs) if len(data.runs) > 2 else 1
    return paired_difference(paired, comparisons=comparisons)


def _family(data: FailureData) -> SwapFamily:
    failures = data.failures
    return swap_family(
        failures["run"].astype(str).tolist(),
        failures["task"].tolist(),
        {fact.key: failures[fact.key].to_numpy() for fact in data.facts},
        size=data.family_size,
        seed=SEED,
    )


def _failed(data: FailureData, mine: "DataFrame") -> list[FailedTrajectory]:
    """Return the failures among trajectories, each with its ending and its faults."""
    mine = mine[mine["failed"] == 1]
    facts = [fact for fact in data.facts if fact.kind != ENDING]
    shown = mine[[fact.key for fact in facts]].to_numpy() == 1
    return [
        FailedTrajectory(ending, frozenset(facts[at].key for at in np.flatnonzero(row).tolist()))
        for ending, row in zip(mine["termination"].tolist(), shown, strict=True)
    ]


def _rows(data: FailureData, run: ChosenRun) -> tuple[FactRow, ...]:
    """Return every fact about an agent's failures, the largest excess over the others first."""
    failures, several = data.failures, len(data.runs) > 1
    own = failures["run"] == run.pk
    mine, others = failures[own], failures[~own]
    family = _family(data)
    nothing = SwapResult(Estimate.without_value(NO_FAILURE if several else NO_OTHER))
    rows = []
    for fact in data.facts:
        ids, beside = (
            tuple(side[side[fact.key] == 1]["trajectory"].tolist()) for side in (mine, others)
        )
        rows.append(
            FactRow(
                fact,
                run,
                share_with(mine, fact),
                share_with(others, fact) if several else Estimate.without_value(NO_OTHER),
                family.results.get((str(run.pk), fact.key), nothing),
                ids,
                beside,
                _first(data, fact, ids),
                tuple(mine["trajectory"].tolist()),
                tuple(others["trajectory"].tolist()),
            )
        )
    rows.sort(key=lambda row: (not row.clear, -row.excess, -(row.mine.value or 0), row.fact.title))
    return tuple(rows)


def case_rows(result: FailureResult) -> list[CaseRow]:
    """Return the cases of the paper with an example of each among the failures of all agents."""
    data, rows = result.data, []
    labels = {run.pk: run.label for run in data.runs}
    agents = dict(zip(data.failures["trajectory"], data.failures["run"].map(labels), strict=True))
    endings = dict(zip(data.failures["trajectory"], data.failures["termination"], strict=True))
    for case in data.cases:
        ids = tuple(
            int(pk)
            for pk in sorted(agents)
            if case.fault in data.faults[pk].turns and case.ending in ("", endings[pk])
        )
        example = min(ids, key=lambda pk: (data.lengths[pk], pk), default=None)
        rows.append(CaseRow(case, ids, example, agents[example] if example else ""))
    return rows


def _first(data: FailureData, fact: Fact, ids: Sequence[int]) -> float | None:
    """Return the median turn at which trajectories first show a fact; None for none of turns."""
    if fact.kind == FAULT:
        firsts = [
            data.faults[pk].turns[fact.code][0]
            for pk in ids
            if fact.code not in data.faults[pk].at_end
        ]
    elif fact.kind == ENDING:
        firsts = [data.lengths[pk] for pk in ids]
    else:
        return None
    return float(median(firsts)) if firsts else None


def add_facts(frame: "DataFrame", facts: Sequence[Fact], columns: Mapping[str, Any]) -> "DataFrame":
    """Return the frame with a column for each fact."""
    import pandas as pd

    added = {fact.key: np.asarray(columns[fact.key], dtype="float64") for fact in facts}
    return pd.concat([frame, pd.DataFrame(added, index=frame.index)], axis=1)


# --- Turns to read first --------------------------------------------------------------------------

MOST_TURNS = 3


def telling_turns(
    data: FailureData, run: ChosenRun, rows: Sequence[FactRow]
) -> tuple[TellingTurn, ...]:
    """Return a turn for each of the facts that set the agent apart most, of different trajectories.

    Facts that are clearly more frequent than among the other agents come first, then the others by
    their excess. A fault is shown by the failure that has it in most turns, at the first of them;
    an ending by the failure of median length, at its last turn; a low score by the lowest one.
    """
    frame = data.frame
    failures = set(frame[(frame["run"] == run.pk) & (frame["failed"] == 1)]["trajectory"])
    order = sorted(rows, key=lambda row: (not (row.clear and row.excess > 0), -row.excess))
    found: list[TellingTurn] = []
    for row in order:
        if len(found) == MOST_TURNS:
            break
        taken = {turn.trajectory for turn in found}
        ids = [pk for pk in row.ids if pk in failures and pk not in taken]
        ids = [pk for pk in ids if data.lengths[pk]]
        if ids:
            found.append(_turn(data, row, ids))
    return tuple(found)


def _turn(data: FailureData, row: FactRow, ids: Sequence[int]) -> TellingTurn:
    fact = row.fact
    if fact.kind == ENDING:
        middle = median(data.lengths[pk] for pk in ids)
        pk = min(ids, key=lambda one: (abs(data.lengths[one] - middle), one))
        length = data.lengths[pk]
        return TellingTurn(pk, length, f"{fact.title}, after {plural(length, 'turn')}")
    if fact.kind == DIMENSION:
        pk = min(ids, key=lambda one: (data.scores[one, fact.code], one))
        score = data.scores[pk, fact.code]
        return TellingTurn(
            pk, data.lengths[pk], f"{fact.title}: {score:.2f}, the lowest of its failures"
        )
    turns = {pk: data.faults[pk].turns[fact.code] for pk in ids}
    pk = min(ids, key=lambda one: (-len(turns[one]), one))
    if fact.code in data.faults[pk].at_end:
        return TellingTurn(pk, data.lengths[pk], f"{fact.title}, known at the end")
    length, first, title = data.lengths[pk], turns[pk][0], fact.title
    if fact.code == RETURNED and (earlier := returned_to(pk, first)):
        title += f" (turn {earlier})"
    if length == 1:
        return TellingTurn(pk, first, f"{title}, in its only turn")
    return TellingTurn(pk, first, f"{title}, in {len(turns[pk])} of {length} turns")
