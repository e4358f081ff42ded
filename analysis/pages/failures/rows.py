"""The failure profile of an agent: how often it fails, and among failures how.

Every number on facts counts failures alone; how often an agent fails is a question of its own.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analysis.filters.runs import NEARLY, pass_threshold
from analysis.filters.selection import ChosenRun
from analysis.frames.failures import TrajectoryFaults, find_faults, returned_to
from analysis.frames.outcomes import outcome_frame
from analysis.frames.scores import turn_scores
from analysis.pages.outcome_estimates import pair_rows
from analysis.reports.formatting import difference, plural
from analysis.stats.comparison.label_swaps import SwapResult, swap_family
from analysis.stats.comparison.paired import paired_difference
from analysis.stats.descriptive.means import MeanTable
from analysis.stats.descriptive.trials import success_rate
from analysis.stats.failure_causes import FailedTrajectory, structured_cause
from analysis.stats.results import Estimate
from benchmarks.core.ports.faults import RETURNED, Case
from benchmarks.core.system import System
from benchmarks.models import Trajectory

if TYPE_CHECKING:
    from pandas import DataFrame

NOT_JUDGED = "not judged"
NO_OTHER = "no other agent"
NO_FAILURE = "no failure"
SEED = 20261124
# Turns from this one on are counted together.
LATE = 12
# Turns to read first.
MOST_TURNS = 3
ENDING, FAULT, DIMENSION = "ending", "fault", "dimension"


class Fact(NamedTuple):
    """One thing that trajectories may show: an ending, a fault, or a low score.

    ``key`` names its column, ``code`` is that of the ending, the fault or the dimension; ``does``
    says what trajectories with it do.
    """

    key: str
    kind: str
    code: str
    title: str
    does: str


class Failures(NamedTuple):
    """Finished trajectories of all agents of the data, and the facts that they show.

    ``frame`` has the columns of `outcome_frame`, ``failed`` (NaN: unknown), and one for each of
    ``facts``, 1 or 0 (NaN: not judged); ``failed`` are its rows that failed. ``facts`` are those of
    ``known``, all that the system has, which any failure shows. ``lengths`` are numbers of turns;
    ``scores`` are mean scores of the last plan by trajectory and dimension.
    """

    runs: tuple[ChosenRun, ...]
    frame: "DataFrame"
    failed: "DataFrame"
    facts: Sequence[Fact]
    known: Sequence[Fact]
    faults: Mapping[int, TrajectoryFaults]
    lengths: Mapping[int, int]
    scores: Mapping[tuple[int, str], float]


class AgentFailures(NamedTuple):
    """How often an agent fails, how much more often than the others, and why most of its failures
    do, in words.
    """

    run: ChosenRun
    failed: Estimate
    more: Estimate
    failures: int
    cause: str


class FactRow(NamedTuple):
    """A fact about the failures of an agent, beside those of the other agents.

    ``mine`` and ``others`` are its shares of their failures, ``difference`` is the agent minus the
    others on tasks that both failed, with an interval that holds for all agents and facts together;
    ``smallest`` is the smallest difference that would be clear. ``excess`` is the difference, or
    the share itself where there is nobody to compare with. ``ids`` and ``other_ids`` are the
    failures that show the fact; ``first`` is the median of the turn in which the agent's first do.
    """

    fact: Fact
    mine: Estimate
    others: Estimate
    difference: Estimate
    smallest: float | None
    excess: float
    ids: tuple[int, ...]
    other_ids: tuple[int, ...]
    first: float | None


class CaseRow(NamedTuple):
    """A case of a paper, with the failures of all agents here that are of its kind, by id.

    ``example`` is the shortest of them, the first of several; None where there is none.
    """

    case: Case
    ids: tuple[int, ...]
    example: int | None
    agent: str


class TellingTurn(NamedTuple):
    """A turn to read, with the reason why it was chosen."""

    trajectory: int
    turn: int
    reason: str


def read_failures(runs: tuple[ChosenRun, ...], system: System) -> Failures | None:
    """Load outcomes, faults and scores of all agents; None where nothing is finished."""
    import pandas as pd

    metric = system.labels.headlines[0]
    measure = system.labels.measures[metric]
    frame = outcome_frame(runs, [metric])
    if not len(frame):
        return None
    values = frame[metric]
    # A trajectory fails where it falls short of the most that the measure can be.
    most = measure.most if measure.most is not None else values.max()
    failed = (values < most - NEARLY).astype("float64").where(values.notna())
    ids = frame["trajectory"].tolist()
    bars = {run.pk: bar.threshold for run in runs if (bar := pass_threshold(run.settings))}
    dimensions = {one.key: one.title for one in system.dimensions}
    scores: dict[tuple[int, str], float] = {}
    if bars:
        scored = turn_scores(runs, list(dimensions), final=True)
        stated = scored[scored["score"].notna()]
        names = stated["trajectory"], stated["dimension"], stated["score"]
        scores = {(pk, key): score for pk, key, score in zip(*names, strict=True)}
    faults = find_faults(ids, system.faults)
    known = _known_facts(system, dimensions, frame["termination"].unique(), set(bars.values()))
    rows = list(zip(ids, frame["run"], frame["termination"], strict=True))
    shows: dict[str, Callable[[int, int, str, str], float]] = {
        ENDING: lambda pk, run, end, code: float(end == code),
        FAULT: lambda pk, run, end, code: float(code in faults[pk].turns),
        DIMENSION: lambda pk, run, end, code: (
            float(scores[pk, code] < bars[run] - NEARLY)
            if run in bars and (pk, code) in scores
            else np.nan
        ),
    }
    columns = pd.DataFrame(
        {fact.key: [shows[fact.kind](*row, fact.code) for row in rows] for fact in known},
        index=frame.index,
    )
    seen = (columns[failed == 1] == 1).any()
    facts = [fact for fact in known if seen[fact.key]]
    frame = pd.concat([frame.assign(failed=failed), columns[[fact.key for fact in facts]]], axis=1)
    turns = Trajectory.objects.filter(pk__in=ids).order_by().values_list("pk", "turn_count")
    return Failures(
        runs, frame, frame[frame["failed"] == 1], facts, known, faults, dict(turns), scores
    )


def _known_facts(
    system: System, dimensions: Mapping[str, str], endings: Iterable[str], thresholds: set[float]
) -> list[Fact]:
    """Return all facts that trajectories of a system may show: endings, faults, low scores."""
    facts = []
    for code in dict.fromkeys([*system.labels.endings, *endings]):
        ending = system.labels.ending(code)
        does = ending.does or f"end as “{ending.title}”"
        facts.append(Fact(f"{ENDING} {code}", ENDING, code, ending.title, does))
    for code, fault in system.faults.all.items():
        facts.append(Fact(f"{FAULT} {code}", FAULT, code, fault.title, fault.does))
    if thresholds:
        bar = f"{min(thresholds):g}" if len(thresholds) == 1 else "the threshold"
        for key, title in dimensions.items():
            does = f"score below {bar} on {title.lower()}"
            facts.append(Fact(f"{DIMENSION} {key}", DIMENSION, key, f"{title} below {bar}", does))
    return facts


def agent_rows(data: Failures, shown: Sequence[ChosenRun]) -> list[AgentFailures]:
    """Return how often each of these agents fails and why, those that fail most first."""
    facts = {fact.key: fact for fact in data.known}
    failed = {run.pk: _failed_trajectories(data, run) for run in data.runs}
    rows = []
    for run in shown:
        mine = data.frame[data.frame["run"] == run.pk]
        rest = [one for pk, others in failed.items() if pk != run.pk for one in others]
        words = ""
        if cause := structured_cause(failed[run.pk], rest):
            fault = facts[cause.fault].does if cause.fault else ""
            words = cause.in_words(facts[f"{ENDING} {cause.ending}"].does, fault)
        rate = success_rate(mine["failed"].to_numpy(), mine["task"].tolist())
        more = _failing_more(data, run)
        rows.append(AgentFailures(run, rate, more, len(failed[run.pk]), words))
    rows.sort(key=lambda one: (-(one.failed.value or 0), -one.failures, one.run.label))
    return rows


def _failed_trajectories(data: Failures, run: ChosenRun) -> list[FailedTrajectory]:
    """Return the failures of an agent, each with its ending and its faults."""
    mine = data.failed[data.failed["run"] == run.pk]
    keys = [fact.key for fact in data.facts if fact.kind != ENDING]
    return [
        FailedTrajectory(ending, frozenset(keys[at] for at in np.flatnonzero(row)))
        for ending, row in zip(mine["termination"], mine[keys].to_numpy() == 1, strict=True)
    ]


def _failing_more(data: Failures, run: ChosenRun) -> Estimate:
    """Return how much more often an agent fails than the others, paired by task."""
    if len(data.runs) < 2:
        return Estimate.without_value(NO_OTHER)
    own = data.frame["run"] == run.pk
    paired = pair_rows(data.frame[own], data.frame[~own], "failed")
    # Of two agents one difference is the other's turned round.
    comparisons = len(data.runs) if len(data.runs) > 2 else 1
    return paired_difference(paired, comparisons=comparisons)


def fact_rows(data: Failures, run: ChosenRun) -> list[FactRow]:
    """Return every fact about an agent's failures, the largest excess over the others first."""
    failed, several = data.failed, len(data.runs) > 1
    family = swap_family(
        failed["run"].astype(str).tolist(),
        failed["task"].tolist(),
        {fact.key: failed[fact.key].to_numpy() for fact in data.facts},
        size=comparisons(data),
        seed=SEED,
    )
    own = failed["run"] == run.pk
    sides = failed[own], failed[~own]
    nothing = SwapResult(Estimate.without_value(NO_FAILURE if several else NO_OTHER))
    rows = []
    for fact in data.facts:
        ids, beside = (tuple(side[side[fact.key] == 1]["trajectory"].tolist()) for side in sides)
        mine = share_with(sides[0], fact)
        others = share_with(sides[1], fact) if several else Estimate.without_value(NO_OTHER)
        swap = family.results.get((str(run.pk), fact.key), nothing)
        value = swap.difference.value
        excess = value if value is not None else mine.value or 0.0
        first = _first(data, fact, ids)
        rows.append(
            FactRow(fact, mine, others, swap.difference, swap.smallest, excess, ids, beside, first)
        )
    rows.sort(
        key=lambda row: (
            not row.difference.is_clear, -row.excess, -(row.mine.value or 0), row.fact.title
        )
    )  # fmt: skip
    return rows


def comparisons(data: Failures) -> int:
    """Count the comparisons of the family: every agent on every fact that the system knows."""
    return len(data.runs) * len(data.known)


def share_with(failed: "DataFrame", fact: Fact) -> Estimate:
    """Estimate the share of failures that show a fact."""
    known = failed[failed[fact.key].notna()]
    if failed.empty:
        return Estimate.without_value(NO_FAILURE)
    if not len(known):
        return Estimate.without_value(NOT_JUDGED, excluded={NOT_JUDGED: len(failed)})
    left = {NOT_JUDGED: len(failed) - len(known)} if len(known) < len(failed) else {}
    return success_rate(known[fact.key].to_numpy(), known["task"].tolist(), excluded=left)


def smallest_seen(rows: Sequence[FactRow]) -> str:
    """Return how large a difference has to be to show, where one is not clear; empty else."""
    sizes = [
        min(row.smallest, 1.0)
        for row in rows
        if not row.difference.is_clear and row.smallest is not None
    ]
    if not sizes:
        return ""
    low, high = difference(min(sizes), "share"), difference(max(sizes), "share")
    return high if low == high else f"{low.removesuffix(' points')} to {high}"


def _first(data: Failures, fact: Fact, ids: Sequence[int]) -> float | None:
    """Return the median turn at which trajectories first show a fact; None for none of turns."""
    firsts: list[int] = []
    if fact.kind == ENDING:
        firsts = [data.lengths[pk] for pk in ids]
    elif fact.kind == FAULT:
        shown = (data.faults[pk] for pk in ids)
        firsts = [one.turns[fact.code][0] for one in shown if fact.code not in one.at_end]
    return float(median(firsts)) if firsts else None


def faults_by_turn(data: Failures, run: ChosenRun, rows: Sequence[FactRow]) -> MeanTable:
    """Return the share of an agent's trajectories still going on that show each fault, by turn.

    Faults that are known only of whole trajectories are left out.
    """
    mine = data.frame[data.frame["run"] == run.pk]["trajectory"].tolist()
    last = max((min(data.lengths[pk], LATE) for pk in mine), default=0)

    def turns(pk: int, fact: Fact) -> list[int]:
        """Return the turns that show a fault, the late ones as one."""
        return [min(turn, LATE) for turn in data.faults[pk].turns.get(fact.code, ())]

    kept = [
        row.fact
        for row in rows
        if row.fact.kind == FAULT
        and row.ids
        and any(
            row.fact.code in data.faults[pk].turns and row.fact.code not in data.faults[pk].at_end
            for pk in mine
        )
    ]
    columns = {turn: f"{turn}+" if turn == LATE else str(turn) for turn in range(1, last + 1)}
    cells: dict[tuple[str, str], Estimate] = {}
    for fact in kept:
        for turn, column in columns.items():
            there = [pk for pk in mine if data.lengths[pk] >= turn]
            shown = [float(turn in turns(pk, fact)) for pk in there]
            cells[fact.title, column] = success_rate(shown, there)
    return MeanTable(tuple(fact.title for fact in kept), tuple(columns.values()), cells)


def case_rows(data: Failures, cases: Sequence[Case]) -> list[CaseRow]:
    """Return the cases of the paper with an example of each among the failures of all agents."""
    labels, failed = {run.pk: run.label for run in data.runs}, data.failed
    agents = dict(zip(failed["trajectory"], failed["run"].map(labels), strict=True))
    endings = dict(zip(failed["trajectory"], failed["termination"], strict=True))
    rows = []
    for case in cases:
        ids = tuple(
            int(pk)
            for pk in sorted(agents)
            if case.fault in data.faults[pk].turns and case.ending in ("", endings[pk])
        )
        example = min(ids, key=lambda pk: (data.lengths[pk], pk), default=None)
        rows.append(CaseRow(case, ids, example, agents[example] if example else ""))
    return rows


def telling_turns(data: Failures, rows: Sequence[FactRow]) -> list[TellingTurn]:
    """Return a turn for each of the facts that set the agent apart most, of different trajectories.

    Facts that are clearly more frequent than among the other agents come first, then the others by
    their excess. A fault is shown by the failure that has it in most turns, at the first of them;
    an ending by the failure of median length, at its last turn; a low score by the lowest one.
    """
    turns: list[TellingTurn] = []
    for row in sorted(
        rows, key=lambda row: (not (row.difference.is_clear and row.excess > 0), -row.excess)
    ):
        taken = {turn.trajectory for turn in turns}
        ids = [pk for pk in row.ids if pk not in taken and data.lengths[pk]]
        if ids and len(turns) < MOST_TURNS:
            turns.append(_telling_turn(data, row.fact, ids))
    return turns


def _telling_turn(data: Failures, fact: Fact, ids: Sequence[int]) -> TellingTurn:
    title = fact.title
    if fact.kind == ENDING:
        middle = median(data.lengths[pk] for pk in ids)
        pk = min(ids, key=lambda one: (abs(data.lengths[one] - middle), one))
        length = data.lengths[pk]
        return TellingTurn(pk, length, f"{title}, after {plural(length, 'turn')}")
    if fact.kind == DIMENSION:
        pk = min(ids, key=lambda one: (data.scores[one, fact.code], one))
        score = data.scores[pk, fact.code]
        return TellingTurn(
            pk, data.lengths[pk], f"{title}: {score:.2f}, the lowest of its failures"
        )
    turns = {pk: data.faults[pk].turns[fact.code] for pk in ids}
    pk = min(ids, key=lambda one: (-len(turns[one]), one))
    if fact.code in data.faults[pk].at_end:
        return TellingTurn(pk, data.lengths[pk], f"{title}, known at the end")
    length, first = data.lengths[pk], turns[pk][0]
    if fact.code == RETURNED and (earlier := returned_to(pk, first)):
        title += f" (turn {earlier})"
    if length == 1:
        return TellingTurn(pk, first, f"{title}, in its only turn")
    return TellingTurn(pk, first, f"{title}, in {len(turns[pk])} of {length} turns")
