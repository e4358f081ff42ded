"""Which turns of an agent's failures to read first, and why these."""

from collections.abc import Sequence
from statistics import median

from analysis.filters.selection import ChosenRun
from analysis.pages.failures.rows import (
    DIMENSION,
    ENDING,
    FactRow,
    FailureData,
    TellingTurn,
)
from analysis.reports.formatting import plural

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
        return TellingTurn(
            pk,
            length,
            f"{fact.title} after {plural(length, 'turn')}, as the median of such failures",
        )
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
    length, first = data.lengths[pk], turns[pk][0]
    if length == 1:
        return TellingTurn(pk, first, f"{fact.title}, in its only turn")
    reason = f"in {len(turns[pk])} of {length} turns, the most of its failures; first here"
    return TellingTurn(pk, first, f"{fact.title} {reason}")
