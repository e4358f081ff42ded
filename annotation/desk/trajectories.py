"""Load what an annotator reads of an item; only what the questionnaire shows is queried.

Evidence counts characters in the plain text of a block: the steps of a plan, one a line without
numbers, or the original text if it is more than steps.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.assignments.stepwise import open_turn, revealed_turns, seen_turns
from annotation.models import Assignment, Item, Study
from annotation.ratings.plan_texts import is_all
from benchmarks.core.plans import split_steps
from benchmarks.core.ports.labels import plain
from benchmarks.models import Candidate, Constraint, Task, Trajectory, Turn, Violation
from benchmarks.models.statements import read_rows
from benchmarks.trajectories.diffs import DiffLine, diff_steps
from benchmarks.trajectories.messages import MessageView, as_text, messages_of


@dataclass(frozen=True)
class DeskFinding:
    """A condition that the judges found violated, and whether the agent heard of it."""

    text: str
    kind: str
    word: str
    tone: str
    why: str


@dataclass(frozen=True)
class DeskTurn:
    """A turn. ``lines`` compares with the plan before; empty where there is nothing in common.

    ``findings`` is None where the judges' verdict on this plan is not shown.
    """

    index: int
    is_final: bool
    text: str
    steps: Sequence[str]
    lines: Sequence[DiffLine]
    change: str
    decided: bool
    findings: Sequence[DeskFinding] | None
    feedback: str
    same_as: int | None = None

    @property
    def previous(self) -> int:
        return self.index - 1


def load_turns(
    trajectory: int,
    *,
    feedback: bool = True,
    verdicts: str = Study.Verdicts.ALL,
    seen: Collection[str] | None = None,
    scoring: str | None = None,
) -> list[DeskTurn]:
    """Return all turns with what changed in each; without what is not asked for.

    ``verdicts``: which of the judges' verdicts are read at all, as in `Assignment.verdicts`.
    ``seen``: the numbers of the turns that are revealed, None for all. Of the turn ``scoring``,
    nothing is told that came after its plan: feedback, verdict, or that it was the last.
    """
    earlier = verdicts == Study.Verdicts.EARLIER
    findings = earlier or verdicts == Study.Verdicts.ALL
    fields = ["index", "text", "is_final", *["feedback"] * feedback, *["payload"] * findings]
    read = read_rows(Turn, only=fields, trajectory_id=trajectory)
    rows = sorted(read, key=lambda turn: turn.index)
    rows = [row for row in rows if seen is None or str(row.index) in seen]
    violated: dict[int, list[DeskFinding]] = {}
    if findings:
        shown_of = [row.pk for row in rows if not _hides_verdict(row, earlier, scoring)]
        judged = Violation.objects.filter(turn__in=shown_of).order_by("pk")
        findings_of = judged.values_list("turn", "text", "kind", "repeated", "revealed")
        for turn, text, kind, repeated, revealed in findings_of:
            violated.setdefault(turn, []).append(_finding(text, kind, repeated, revealed))
    views: list[DeskTurn] = []
    for row in rows:
        judged_here = findings and not _hides_verdict(row, earlier, scoring)
        is_scored = str(row.index) != scoring
        steps = split_steps(row.text)
        before = views[-1].steps if views else []
        lines = diff_steps(before, steps) if before else []
        same_as = next((view.index for view in views if list(view.steps) == list(steps)), None)
        change, shown = _change(lines, row.index, bool(views), same_as)
        views.append(
            DeskTurn(
                index=row.index,
                is_final=row.is_final and is_scored,
                text="" if is_all(row.text, steps) else row.text,
                steps=steps,
                lines=shown,
                change=change,
                decided=not judged_here or row.payload.get("valid", True) is not None,
                findings=violated.get(row.pk, []) if judged_here else None,
                feedback=row.feedback if feedback and is_scored else "",
                same_as=same_as,
            )
        )
    return views


def _hides_verdict(turn: Turn, earlier: bool, scoring: str | None) -> bool:
    """Return whether the judges' verdict on a plan is kept from who scores it."""
    return (earlier and turn.is_final) or str(turn.index) == scoring


def _change(
    lines: Sequence[DiffLine], index: int, has_earlier: bool, same_as: int | None
) -> tuple[str, Sequence[DiffLine]]:
    """Return what changed since the turn before, in words, and the lines worth showing."""
    if not has_earlier:
        return "first plan", []
    if same_as is not None:
        return f"same plan as turn {same_as}", []
    kept = sum(line.op in ("same", "changed") for line in lines)
    if not kept:
        return f"new plan, unlike turn {index - 1}", []
    touched = sum(line.op != "same" for line in lines)
    return f"{touched} step{'s' * (touched > 1)} changed since turn {index - 1}", lines


KINDS = {"world": "situation", "user": "preference"}


def _finding(text: str, kind: str, repeated: bool, revealed: bool) -> DeskFinding:
    if repeated:
        word, tone = "repeated", "warn"
        why = "Earlier feedback revealed this condition."
        if revealed:
            why += " This feedback repeats it."
    elif revealed:
        word, tone = "revealed now", "info"
        why = "This feedback reveals the condition for the first time."
    else:
        word, tone = "withheld", "idle"
        why = "Violated, but this feedback should not mention it."
    return DeskFinding(text, KINDS.get(kind, kind), word, tone, why)


# --- Conditions and candidates --------------------------------------------------------------------


@dataclass(frozen=True)
class Statement:
    """A hidden condition, or a candidate for one, as it is read and marked."""

    key: str
    kind: str
    text: str

    @property
    def word(self) -> str:
        return KINDS.get(self.kind, self.kind)


_FIELDS = ("key", "kind", "text")


def load_conditions(
    trajectory: int | None, subjects: Mapping[str, Sequence[str]]
) -> list[Statement]:
    """Return the conditions of a trajectory's profile. Where the item lists its own, those of them
    in force.
    """
    if trajectory is None:
        return []
    rows = Constraint.objects.filter(profile__trajectory=trajectory).order_by("pk")
    conditions = [Statement(*fields) for fields in rows.values_list(*_FIELDS)]
    listed = {key for kind in KINDS for key in subjects.get(kind, ())}
    return (
        [condition for condition in conditions if condition.key in listed] if listed else conditions
    )


def load_candidates(item: Item) -> dict[str, Statement]:
    """Return the candidates of a task by key: never what was decided about them, why or by whom."""
    if item.task_id is None:
        return {}
    rows = Candidate.objects.filter(task=item.task_id).order_by().values_list(*_FIELDS)
    return {fields[0]: Statement(*fields) for fields in sorted(rows)}


def reference_steps(task: Task | None) -> list[str]:
    """Return the steps of the known solution that a task's payload names, where it names one."""
    payload: Mapping[str, Any] = task.payload if task is not None else {}
    reference = payload.get("reference")
    if isinstance(reference, list):
        return [str(step) for step in reference]
    if not isinstance(reference, str):
        return []
    for plan in payload.get("plans", ()):
        if plan.get("key") == reference:
            return [str(step) for step in plan.get("steps", ())]
    # A reference that names no known plan is the solution itself.
    return split_steps(reference)


# What an annotator reads first of what was hidden; the rest is folded.
AIMS = ("instruction", "user_scenario", "goal", "target")


@dataclass(frozen=True)
class DialogueTurn:
    """A turn: what the agent did from one message of its user to the next."""

    index: int
    is_final: bool
    messages: Sequence[MessageView]

    @property
    def calls(self) -> int:
        return sum(call.by == "agent" for message in self.messages for call in message.calls)

    @property
    def failed(self) -> int:
        return sum(message.failed and not message.hidden for message in self.messages)

    @property
    def preview(self) -> str:
        """The first words of the agent, to find a turn again when it is folded."""
        words = (
            message.text
            for message in self.messages
            if message.speaker == "assistant" and message.text
        )
        return next(words, "")


@dataclass(frozen=True)
class HiddenDetail:
    """One thing that was hidden from the agent."""

    name: str
    text: str
    is_aim: bool


@dataclass(frozen=True)
class Dialogue:
    """The messages before the agent's first one, then the turns.

    ``span`` says which turns these are of a longer trajectory: ``first``, ``last``, ``turns``.
    """

    opening: Sequence[MessageView]
    turns: Sequence[DialogueTurn]
    kept: Sequence[HiddenDetail]
    hides: bool
    span: Mapping[str, Any] = field(default_factory=dict)

    def shows_image(self, digest: str) -> bool:
        """Return whether one of the messages that are shown has this image."""
        turns = [message for turn in self.turns for message in turn.messages]
        shown = [one for message in (*self.opening, *turns) for one in message.attachments]
        return any(one.digest == digest for one in shown)


def load_dialogue(item: Assignment, trajectory: int) -> Dialogue:
    """Return the messages of an item in three queries; ``hides``: something hidden is not shown
    here.
    """
    rows = list(Turn.objects.filter(trajectory=trajectory).order_by("index"))
    if revealed_turns(item, item.study) is not None:
        rows = [row for row in rows if str(row.index) in seen_turns(item)]
    by_turn = messages_of(rows)
    opening: list[MessageView] = []
    turns = []
    for row, messages in zip(rows, by_turn, strict=True):
        before = len(row.payload.get("opening", ()))
        opening += messages[:before]
        final = row.is_final and str(row.index) != open_turn(item)
        turns.append(DialogueTurn(row.index, final, _shown(item, messages[before:])))
    assert item.item.task is not None
    payload = Trajectory.objects.values_list("payload", flat=True).get(pk=trajectory)
    payloads = (item.item.task.payload, payload)
    kept = [fact for payload in payloads for fact in _kept(payload.get("hidden") or {})]
    hidden = bool(kept) or any(message.hidden for turn in by_turn for message in turn)
    return Dialogue(
        _shown(item, opening),
        turns,
        kept if item.study.shows_hidden else [],
        hidden and not item.study.shows_hidden,
        (payload.get("metadata") or {}).get("span") or {},
    )


def _shown(item: Assignment, messages: Sequence[MessageView]) -> list[MessageView]:
    return [message for message in messages if item.study.shows_hidden or not message.hidden]


def _kept(hidden: Mapping[str, Any]) -> list[HiddenDetail]:
    facts = [
        HiddenDetail(plain(name), as_text(value), name in AIMS)
        for name, value in hidden.items()
        if value not in (None, "", [], {})
    ]
    return sorted(facts, key=lambda fact: not fact.is_aim)
