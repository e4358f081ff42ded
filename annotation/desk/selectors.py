"""Load one item as its annotator sees it.

Nothing here may reveal which agent made the trajectory.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property
from typing import Any

from annotation.assignments.presence import (
    is_swapped,
    questionnaire_of,
    rotation_of,
    visible_verdicts,
)
from annotation.assignments.stepwise import (
    is_locked,
    newest_slots,
    open_turn,
    revealed_turns,
    same_plans,
    seen_slots,
    seen_turns,
)
from annotation.desk.form import (
    DECISION_KEYS,
    NONE_KEY,
    NOTHING,
    RESPECTED_KEY,
    VIOLATED_KEY,
    DeskAnswer,
    DeskForm,
    FormRow,
    Places,
    build_form,
    stored_places,
)
from annotation.desk.trajectories import (
    DeskTurn,
    Dialogue,
    Statement,
    load_candidates,
    load_conditions,
    load_dialogue,
    load_turns,
    reference_steps,
)
from annotation.models import Aspect, Assignment, Participant, Rating, RatingEdit, Study
from annotation.questionnaires import Question, Questionnaire, slot_name
from annotation.questionnaires.decisions import DECISIONS
from annotation.studies.selectors import ItemCounts, own_counts
from benchmarks.core.digests import digest
from benchmarks.core.registry import EXTERNAL
from benchmarks.models.statements import read_rows

Part = Assignment.Part
# So many submitted items tell somebody's pace.
PACE_ITEMS = 3


@dataclass(frozen=True)
class Guide:
    """All that the dialog shows, so that equal guides are shown alike.

    ``turns``: turns of what kind there are: with plans, of a dialogue, or none. ``judged``: the
    judges' findings are shown. ``keys``: which keys answer which kind of question.
    """

    instructions: tuple[str, ...]
    of_person: bool
    turns: str
    judged: bool
    by_turn: bool
    examples: bool
    skips: bool
    keys: tuple[tuple[tuple[str, ...], str], ...]

    @property
    def digest(self) -> str:
        """Differs between guides that differ, whoever reads them: the key of the kept fragment."""
        return digest(astuple(self))


def build_guide(
    questionnaire: Questionnaire,
    rows: Iterable[FormRow],
    *,
    turns: str,
    judged: bool,
    by_turn: bool,
    skips: bool,
) -> Guide:
    """Return the guide to a form with these rows."""
    rows = list(rows)
    return Guide(
        instructions=tuple(questionnaire.instructions),
        of_person=questionnaire.unit == "person",
        turns=turns,
        judged=judged,
        by_turn=by_turn,
        examples=any(row.question.examples for row in rows),
        skips=skips,
        keys=_scale_keys(rows),
    )


def _scale_keys(rows: Iterable[FormRow]) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Return which keys answer which kind of question, of the kinds that are asked here."""
    by_kind: dict[str, tuple[tuple[str, ...], str]] = {}
    for row in rows:
        scale = row.question.scale
        if scale.kind == "points":
            keys: tuple[str, ...] = ("1", "–", str(scale.most))
            by_kind.setdefault(f"points {scale.most}", (keys, "score, then next question"))
        elif scale.kind == "choice":
            words = ", ".join(option.label for option in scale.options)
            keys = tuple(option.key for option in scale.options)
            by_kind.setdefault(row.question.key, (keys, f"{words}; then next question"))
        elif scale.kind == "spans":
            words = "mark the selected text with the label of this number; nothing to mark"
            by_kind["spans"] = (("1", "–", str(min(9, len(scale.labels))), NONE_KEY), words)
        elif scale.each:
            words = ", ".join(DECISIONS.values())
            by_kind["decisions"] = (DECISION_KEYS, f"{words}; then next condition")
        elif scale.kind == "marks":
            by_kind["marks"] = ((VIOLATED_KEY, RESPECTED_KEY), "violated, not violated; then next")
            by_kind["none"] = ((NONE_KEY,), "none of the rest is violated; then next list")
    return tuple(by_kind.values())


@dataclass(frozen=True)
class Reading:
    """The material beside the form; ``dialogue`` stands in for plans of what has none."""

    query: str = ""
    turns: Sequence[DeskTurn] = ()
    dialogue: Dialogue | None = None
    conditions: Sequence[Statement] = ()
    candidates: Sequence[Statement] = ()
    reference: Sequence[str] = ()

    @property
    def groups(self) -> list[tuple[str, list[Statement]]]:
        """The conditions by kind."""
        kinds = dict.fromkeys(condition.kind for condition in self.conditions)
        return [
            (kind, [condition for condition in self.conditions if condition.kind == kind])
            for kind in kinds
        ]


@dataclass(frozen=True)
class DeskPage:
    """Everything on the annotator's desk. ``stored`` is what the database holds of the form."""

    study: Study
    item: Assignment
    questionnaire: Questionnaire
    participant: Participant | None
    reading: Reading
    form: DeskForm
    stored: Places
    counts: ItemCounts
    last: int
    # The answers that can still be taken back, the latest last.
    edits: Sequence[Mapping[str, Any]] = field(default_factory=list)
    # Of two trajectories side by side: A and B with their plans; `reading` has what they share.
    sides: Sequence[tuple[str, Reading]] = ()
    # Where turns come one by one: how many are seen, and whether another may follow.
    revealed: int | None = None
    reveals: bool = False

    @property
    def minutes_left(self) -> int | None:
        """Working minutes for the items that are left, at this person's pace so far.

        None in a pool, where nobody knows how many are to come, and before enough items are
        submitted to tell.
        """
        participant = self.participant
        if participant is None or self.item.part != Part.MAIN:
            return None
        if self.study.dealing == Study.Dealing.POOL or participant.submitted < PACE_ITEMS:
            return None
        left = self.counts.total - self.counts.ended
        return round(participant.active_ms / participant.submitted * left / 60_000)

    @property
    def reading_templates(self) -> list[str]:
        """The templates of the material, the first that there is: a system may have its own."""
        own = [] if self.sides else [f"systems/{self.questionnaire.system}/_desk.html"]
        return [*own, "annotation/partials/_reading.html"]

    @property
    def previous(self) -> int | None:
        return self.item.position - 1 if self.item.position > 1 else None

    @property
    def next(self) -> int | None:
        return self.item.position + 1 if self.item.position < self.last else None

    @cached_property
    def blank_form(self) -> str:
        """A digest of the form as long as nobody has written into it, the key of the kept fragment.

        Empty where something is answered or remarked, which is never kept, and where the form shows
        statements of its item, so that it would serve that item alone.
        """
        form = self.form
        written = any(row.answer is not NOTHING or row.remarks.words for row in form.rows)
        if written or form.marks or any(block.kind == "candidate" for block in form.blocks):
            return ""
        return digest([self.questionnaire.title, repr(form.blocks)])

    @cached_property
    def not_asked(self) -> list[Question]:
        """Questions of the questionnaire that this item has nothing for."""
        return [q for q in self.questionnaire.questions if q.key not in self.item.item.asked]

    @property
    def is_first(self) -> bool:
        """Return whether this is somebody's first item, with nothing answered yet.

        Then the guidelines stand above it, unless they were confirmed before it.
        """
        participant, item = self.participant, self.item
        if participant is None or item.position != 1 or self.stored:
            return False
        if participant.guidelines_read_at is not None:
            return False
        if item.part == Part.TRAINING:
            return participant.training == Participant.Training.NONE
        trained = participant.training == Participant.Training.PASSED
        return item.part == Part.MAIN and not participant.submitted and not trained

    @property
    def guide(self) -> Guide:
        """The contents of the dialog of guidelines and keys."""
        read = self.reading
        turns = [turn for side in (read, *(side for _, side in self.sides)) for turn in side.turns]
        judged = any(turn.findings is not None for turn in turns)
        return build_guide(
            self.questionnaire,
            self.form.rows,
            turns="dialogue" if read.dialogue is not None else "plans" if turns else "",
            judged=judged,
            by_turn=any(block.kind == "turn" for block in self.form.blocks),
            skips=self.item.part == Part.MAIN,
        )


def load_desk(
    item: Assignment,
    *,
    participant: Participant | None = None,
    given: Places | None = None,
    missing: Sequence[str] = (),
    locked: bool,
) -> DeskPage:
    """Return the desk of an item with its study and task at hand, in six queries at most.

    ``given`` is what was typed into a form that could not be taken; it stands in its places.
    """
    questionnaire = questionnaire_of(item)
    shows = questionnaire.shows
    edits = _edits(item)
    stored: dict[str, DeskAnswer] = {}
    if edits:  # nothing stands of what nobody has edited
        ratings = Rating.objects.filter(assignment=item)
        stored = stored_places(
            ratings.values_list(
                "question", "subject", "aspect", "value", "chosen", "text", "version"
            )
        )
    rotation = rotation_of(item, participant.number) if participant is not None else item.rotation
    number = participant.number if participant is not None else 1
    swapped = is_swapped(item, number)
    slots = [slot.as_shown(swapped) for slot in seen_slots(item, questionnaire, rotation)]
    marking = any(slot.question.scale.kind == "marks" for slot in slots)
    deciding = any(slot.question.about == "candidate" for slot in slots)
    conditions: list[Statement] = []
    if marking or "profile" in shows:
        conditions = load_conditions(item.trajectory_id, item.item.subjects)
    candidates = load_candidates(item.item) if deciding or "candidates" in shows else {}
    counts, last = _progress(item, participant)
    sides = _sides(item, questionnaire, swapped)
    reading = _reading(
        item,
        questionnaire,
        number=number,
        trajectory=None if sides else item.trajectory_id,
        conditions=conditions if "profile" in shows else [],
        # Those that are decided about stand in the form.
        candidates=[] if deciding else list(candidates.values()),
    )
    same = same_plans([(turn.index, turn.same_as) for turn in reading.turns])
    if item.state == Assignment.State.OPEN:
        slots = newest_slots(item, slots, same)
    stays = frozenset(slot.name for slot in slots if is_locked(item, slot))
    return DeskPage(
        study=item.study,
        item=item,
        questionnaire=questionnaire,
        participant=participant,
        reading=reading,
        form=build_form(
            questionnaire,
            slots,
            {**stored, **(given or {})},
            candidates=candidates,
            conditions=conditions,
            missing=missing,
            locked=locked,
            stays=stays,
            same=same,
        ),
        stored=stored,
        counts=counts,
        last=last,
        sides=sides,
        edits=[edit for edit in _standing(edits) if edit["slot"] not in stays],
        revealed=revealed_turns(item, item.study),
        reveals=open_turn(item) is not None,
    )


def _sides(
    item: Assignment, questionnaire: Questionnaire, swapped: bool
) -> list[tuple[str, Reading]]:
    """Return the two trajectories of an item as A and B; none where it has one."""
    first, second = item.trajectory_id, item.item.other_id
    if first is None or second is None:
        return []
    shown = [second, first] if swapped else [first, second]
    return [
        (
            name,
            _reading(item, questionnaire, number=1, trajectory=one, conditions=[], candidates=[]),
        )
        for name, one in zip("AB", shown, strict=True)
    ]


def _reading(
    item: Assignment,
    questionnaire: Questionnaire,
    *,
    number: int,
    trajectory: int | None,
    conditions: Sequence[Statement],
    candidates: Sequence[Statement],
) -> Reading:
    task, shows = item.item.task, questionnaire.shows
    dialogue: Dialogue | None = None
    turns: Sequence[DeskTurn] = ()
    if trajectory is not None:
        if questionnaire.system == EXTERNAL:
            dialogue = load_dialogue(item, trajectory)
        elif "final_plan" in shows:
            turns = [load_turns(trajectory, feedback=False, verdicts=Study.Verdicts.NONE)[-1]]
            turns = [replace(turn, lines=[], change="") for turn in turns]
        elif "plans" in shows:
            turns = load_turns(
                trajectory,
                feedback="feedback" in shows,
                verdicts=visible_verdicts(item, number),
                seen=None if revealed_turns(item, item.study) is None else seen_turns(item),
                scoring=open_turn(item),
            )
    return Reading(
        query=task.prompt if task is not None else "",
        turns=turns,
        dialogue=dialogue,
        conditions=conditions,
        candidates=candidates,
        reference=reference_steps(task) if "reference" in shows else (),
    )


def _progress(item: Assignment, participant: Participant | None) -> tuple[ItemCounts, int]:
    """Return how far this person is in the part that the item belongs to, and its last position."""
    if item.part == Part.MAIN:
        last = participant.assigned if participant is not None else 0
        return own_counts(participant), last
    rows = Assignment.objects.filter(study=item.study_id, annotator=item.annotator_id)
    states = list(rows.filter(part=item.part).values_list("state", flat=True))
    done = states.count(Assignment.State.SUBMITTED)
    return ItemCounts(len(states), done, states.count(Assignment.State.SKIPPED)), len(states)


EDIT_COLUMNS = (
    "question", "subject", "aspect", "value", "chosen", "text", "client_id", "undoes_id",
)  # fmt: skip


def _edits(item: Assignment) -> list[RatingEdit]:
    """Return what was edited of an item, the latest last."""
    # With what was taken back: SQLite would look for what takes nothing back among all edits there
    # are, rather than among those of the item.
    edits = read_rows(RatingEdit, only=EDIT_COLUMNS, assignment_id=item.pk)
    return sorted(edits, key=lambda edit: edit.pk)


def _standing(edits: Sequence[RatingEdit]) -> list[dict[str, Any]]:
    """Return answers that stand: neither taken back, nor themselves taking something back."""
    undone = {edit.undoes_id for edit in edits}
    return [
        {
            "id": str(edit.client_id),
            "slot": slot_name(edit.question, edit.subject),
            "value": edit.value,
            "chosen": edit.chosen,
            "text": edit.text,
        }
        for edit in edits
        if edit.aspect == Aspect.ANSWER and edit.undoes_id is None and edit.pk not in undone
    ]
