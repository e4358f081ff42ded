"""Items whose turns are revealed one after the other: what is seen, and which turn is scored.

`Assignment.revealed` is the number of turns that its annotator has seen, one more than there are
once the last is scored, and None where all turns are in sight from the beginning. The answers to a
turn can change until the next one is revealed, never afterwards: they would know what came then.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from annotation.errors import Refused
from annotation.models import Aspect, Assignment, Study
from annotation.questionnaires import Questionnaire, Slot

TURN = "turn-"


def turns_of(assignment: Assignment) -> Sequence[str]:
    """Return the numbers of the turns that an item is asked about, in order."""
    turns: Sequence[str] = assignment.item.subjects.get("turn", ())
    return turns


def revealed_turns(assignment: Assignment, study: Study) -> int | None:
    """Return how many turns an item shows now, or will show when it is opened."""
    if assignment.opened_at is not None:
        return assignment.revealed
    return 1 if study.turn_by_turn and turns_of(assignment) else None


def seen_turns(assignment: Assignment) -> Sequence[str]:
    """Return the numbers of the turns that may be shown."""
    return turns_of(assignment)[: revealed_turns(assignment, assignment.study)]


def open_turn(assignment: Assignment) -> str | None:
    """Return the turn that is being scored; None where turns do not wait for each other."""
    revealed = revealed_turns(assignment, assignment.study)
    turns = turns_of(assignment)
    return None if revealed is None or revealed > len(turns) else turns[revealed - 1]


def seen_slots(
    assignment: Assignment, questionnaire: Questionnaire, rotation: int
) -> Iterator[Slot]:
    """Yield the places for answers of an item, as far as they may be shown.

    What is asked of the whole item comes when every turn is scored.
    """
    item = assignment.item
    subjects: Mapping[str, Sequence[str]] = {**item.subjects, "turn": seen_turns(assignment)}
    waits = open_turn(assignment) is not None
    for slot in questionnaire.slots(item.asked, subjects, rotation):
        if not waits or slot.subject.startswith(TURN):
            yield slot


def newest_slots(
    assignment: Assignment, slots: Sequence[Slot], same: Mapping[str, str]
) -> list[Slot]:
    """Return the places that a form shows while turns come one by one.

    They are those of the newest turn, of the one before, and of the turn whose plan the newest
    repeats (``same``, from `same_plans`), so that the form does not grow from turn to turn.
    """
    if revealed_turns(assignment, assignment.study) is None:
        return list(slots)
    newest = [f"{TURN}{turn}" for turn in seen_turns(assignment)[-2:]]
    shown = {*newest, *(same[turn] for turn in newest[-1:] if turn in same)}
    return [s for s in slots if s.subject in shown or not s.subject.startswith(TURN)]


def refuse_hindsight(assignment: Assignment, subject: str, aspect: str) -> None:
    """Refuse what would be said of a turn before it is seen, or scored after the next one was."""
    if revealed_turns(assignment, assignment.study) is None:
        return
    turn = subject.removeprefix(TURN) if subject.startswith(TURN) else ""
    if turn and turn not in seen_turns(assignment):
        raise Refused("invalid", "this turn is not shown yet; score the one before it first")
    if aspect != Aspect.ANSWER:
        return
    if not turn and open_turn(assignment) is not None:
        raise Refused("invalid", "this is asked when every turn is scored")
    if turn and turn != open_turn(assignment):
        raise Refused("invalid", "this turn was scored before the next was shown, so it stays")


def is_locked(assignment: Assignment, slot: Slot) -> bool:
    """Return whether an answer stays as it is because a later turn has been seen."""
    if revealed_turns(assignment, assignment.study) is None or not slot.subject.startswith(TURN):
        return False
    return slot.part != open_turn(assignment)


def reveal_next(assignment: Assignment) -> None:
    """Reveal the next turn of a locked assignment, or that there is none."""
    assert assignment.revealed is not None
    assignment.revealed += 1
    assignment.save(update_fields=["revealed"])


def same_plans(turns: Collection[tuple[int, int | None]]) -> dict[str, str]:
    """Return for each turn with an earlier turn's plan which turn that is; both as subjects."""
    return {f"{TURN}{turn}": f"{TURN}{same}" for turn, same in turns if same is not None}
