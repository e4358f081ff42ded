"""Storing what people decide about rows of training data; nothing is ever overwritten."""

from django.contrib.auth.models import User

from benchmarks.core.errors import CoreError
from benchmarks.core.ports.training_rows import TrainingRows as Port
from benchmarks.locks import named_lock
from benchmarks.models import RowDecision, Trajectory
from benchmarks.training_rows.selectors import RowHistory, histories_of

Verdict = RowDecision.Verdict
UNDO = Verdict.UNDONE.value


class RowRefused(CoreError):
    """Raised for a decision that cannot be stored; the text says why and what to do."""


class RowChanged(RowRefused):
    """Raised where somebody decided about the row since the page was loaded."""


def decide_row(
    *,
    port: Port,
    trajectory: Trajectory,
    index: int,
    settings: dict[str, object],
    verdict: str,
    text: str = "",
    seen: int = 0,
    person: User | None = None,
) -> RowDecision:
    """Store a person's decision about the row that a step proposes under these settings.

    ``verdict`` is accepted, edited, vetoed or undone; ``text`` replaces the proposed one where it
    is edited; ``seen`` is the id of the newest decision that the person saw.

    Raises
    ------
    RowRefused
        If the step proposes no row, the text cannot be chosen, or there is nothing to undo.
    RowChanged
        If there is a newer decision than the one that was seen.
    """
    if verdict not in Verdict.values:
        raise RowRefused(f"expected one of {', '.join(Verdict.values)}")
    with named_lock(f"rows of {trajectory.pk}"):
        turn = trajectory.turns.filter(index=index).first()
        choice_row = {each.index: each for each in port.decide(trajectory.payload, settings)}.get(
            index
        )
        if turn is None or choice_row is None or not choice_row.choice:
            raise RowRefused("this step proposes no row under these thresholds")
        proposed = port.propose(turn.payload, settings).chosen
        assert proposed is not None  # as its decision has a choice
        if verdict == Verdict.EDITED:
            text = port.check(turn.payload, text)
            if text == proposed.text:
                verdict, text = Verdict.ACCEPTED, ""
        else:
            text = ""
        stored = RowDecision.objects.filter(
            trajectory=trajectory, index=index, choice=choice_row.choice
        )
        key = (trajectory.pk, index, choice_row.choice)
        history = histories_of(stored).get(key, RowHistory())
        if history.last != seen:
            raise RowChanged("somebody decided about this row meanwhile; this is how it stands now")
        if verdict == UNDO and history.current is None:
            raise RowRefused("there is no decision to undo")
        return RowDecision.objects.create(
            trajectory=trajectory,
            index=index,
            choice=choice_row.choice,
            verdict=verdict,
            proposed=proposed.text,
            text=text,
            undoes=history.current if verdict == UNDO else None,
            person=person,
        )
