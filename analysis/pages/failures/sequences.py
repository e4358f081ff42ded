"""What happened in an agent's failures, in which order, beside the failures of the other agents."""

from collections.abc import Sequence
from typing import NamedTuple

from analysis.filters.selection import ChosenRun
from analysis.frames.failures import named_returns
from analysis.pages.failures.rows import NO_FAILURE, NO_OTHER, Failures
from analysis.stats.descriptive.trials import success_rate
from analysis.stats.failure_causes import (
    FailedTrajectory,
    FaultSequence,
    fault_sequences,
    median_turns,
)
from analysis.stats.results import Estimate
from benchmarks.core.system import System


class SequenceRow(NamedTuple):
    """What happened in some of an agent's failures, in its order, up to their ending.

    ``mine`` and ``others`` are the shares of the failures of the agent and of the other agents;
    ``turns`` are the median turns of its steps and of the last turn.
    """

    words: str
    turns: str
    mine: Estimate
    others: Estimate
    ids: tuple[int, ...]
    other_ids: tuple[int, ...]


def sequence_rows(data: Failures, run: ChosenRun, system: System) -> list[SequenceRow]:
    """Return what happened in an agent's failures, the most frequent sequence first."""
    order, failed = list(system.faults.all), data.failed
    titles = {code: fault.title for code, fault in system.faults.all.items()}
    endings = dict(zip(failed["trajectory"].tolist(), failed["termination"], strict=True))
    placed = fault_sequences(
        {
            pk: FailedTrajectory(
                ending, frozenset(data.faults[pk].turns), data.faults[pk].steps(order)
            )
            for pk, ending in endings.items()
        },
        named_returns(system.faults),
    )
    own = failed["run"] == run.pk
    sides = failed[own], failed[~own]
    members: dict[FaultSequence, tuple[list[int], list[int]]] = {}
    for side, frame in enumerate(sides):
        for pk in frame["trajectory"].tolist():
            members.setdefault(placed[pk].sequence, ([], []))[side].append(pk)

    def share_of(side: int, ids: Sequence[int]) -> Estimate:
        if sides[side].empty:
            return Estimate.without_value(NO_FAILURE if len(data.runs) > 1 else NO_OTHER)
        return success_rate(sides[side]["trajectory"].isin(ids), sides[side]["task"].tolist())

    rows: list[SequenceRow] = []
    for sequence, (mine, others) in members.items():
        if mine:
            words = sequence.in_words(titles, system.labels.ending(sequence.ending).title)
            turns = median_turns(
                [placed[pk].turns for pk in mine], [data.lengths[pk] for pk in mine]
            )
            estimates = share_of(0, mine), share_of(1, others)
            rows.append(SequenceRow(words, turns, *estimates, tuple(mine), tuple(others)))
    return sorted(rows, key=lambda row: (-len(row.ids), row.words))
