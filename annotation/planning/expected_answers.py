"""The expected answers of a training or gold item; a question may have several."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.http import QueryDict

from annotation.designs.pairs import split_pair
from annotation.planning.special_items import (
    LONGEST_WHY,
    ResolvedSpecial,
    check_expected,
    item_shapes,
)
from annotation.questionnaires import Questionnaire, load_questionnaire
from annotation.questionnaires.types import Slot
from annotation.ratings.checks import markable
from benchmarks.core.digests import storable
from benchmarks.models import Candidate, Constraint, Task, Trajectory, Turn
from benchmarks.visibility import Visibility

NOTHING = "nothing"
# No scale has points with more digits.
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,9}")


class ExpectedChoice(NamedTuple):
    """One answer that may be right."""

    value: str
    label: str
    checked: bool


class ExpectedPlace(NamedTuple):
    """One place for an answer, with what has been said to be right there."""

    slot: Slot
    about: str
    choices: Sequence[ExpectedChoice]
    why: str
    problem: str = ""


@dataclass
class ExpectedForm:
    """The places of one item. ``prompt`` and ``sides`` show the item beside them.

    ``sides``: the turns of a trajectory, of a pair those of both, each with a title.
    """

    item: int
    questionnaire: Questionnaire
    slots: Sequence[Slot]
    subjects: Mapping[str, Sequence[str]]
    prompt: str
    name: str
    sides: Sequence[tuple[str, Sequence[Turn]]]
    texts: Mapping[str, str]
    expected: Mapping[str, Any]
    problems: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, row: Mapping[str, Any], questionnaire: str, seen: Visibility
    ) -> "ExpectedForm | None":
        """Return the form of a chosen item; None where there is no such item for whoever plans."""
        about = load_questionnaire(questionnaire)
        item = row["item"]
        sides: list[tuple[str, Sequence[Turn]]] = []
        if about.unit == "task":
            task = seen.of(Task.objects.filter(pk=item)).first()
            texts = dict(Candidate.objects.filter(task=item).values_list("key", "text"))
        else:
            pair = about.unit == "pair"
            ids = split_pair(item) if pair else (item,)
            rows = seen.of(Trajectory.objects.select_related("task", "run__agent"))
            there = rows.filter(run__dataset__system=about.system).in_bulk(ids)
            if len(there) < len(ids):
                return None
            task, profile = there[ids[0]].task, there[ids[0]].profile_id
            texts = dict(Constraint.objects.filter(profile=profile).values_list("key", "text"))
            for name, pk in zip("AB", ids, strict=False):
                title = f"{name}: {there[pk].run.agent.title}" if pair else ""
                sides.append((title, list(Turn.objects.filter(trajectory=pk).order_by("index"))))
        if task is None:
            return None
        slots, subjects = item_shapes(about, [item])[item]
        slots = [slot.as_shown(False) for slot in slots]
        answerable = [slot for slot in slots if slot.question.scale.kind not in ("text", "spans")]
        return cls(
            item, about, answerable, subjects, task.prompt, task.external_id, sides, texts,
            row["expected"],
        )  # fmt: skip

    @property
    def places(self) -> list[ExpectedPlace]:
        """The places with their choices as they are on the page: turn by turn, as one reads."""
        return [self._place(slot) for slot in sorted(self.slots, key=_turn)]

    def _place(self, slot: Slot) -> ExpectedPlace:
        right = self.expected.get(slot.name, {})
        scale = slot.question.scale
        if scale.kind == "marks":
            chosen = right.get("chosen")
            choices = [
                ExpectedChoice(key, self.texts.get(key, key), key in (chosen or ()))
                for key in markable(self.subjects, scale.of)
            ]
            choices.append(ExpectedChoice(NOTHING, "None of these", chosen == []))
        else:
            values = right.get("values", ())
            choices = [
                ExpectedChoice(str(value), scale.label(value), value in values)
                for value in scale.values
            ]
        return ExpectedPlace(
            slot, self._about(slot), choices, str(right.get("why", "")),
            self.problems.get(slot.name, ""),
        )  # fmt: skip

    def _about(self, slot: Slot) -> str:
        """Return which part of the item a place is about, in words."""
        if slot.question.about == "turn":
            return f"Turn {slot.part}"
        return self.texts.get(slot.part, slot.part) if slot.subject else ""

    def read(self, sent: QueryDict) -> dict[str, Any]:
        """Return what was said to be right; ``problems`` says what cannot be, by place."""
        expected: dict[str, Any] = {}
        for slot in self.slots:
            given = sent.getlist(f"right.{slot.name}")
            why = storable(sent.get(f"why.{slot.name}", "")).strip()
            if not given:
                if why:
                    self.problems[slot.name] = "Say what is right here, or leave the reason out."
                continue
            expected[slot.name] = self._answer(slot, given)
            if why:
                expected[slot.name]["why"] = why[:LONGEST_WHY]
        self.expected = expected
        special = ResolvedSpecial(self.item, "", expected, self.slots, self.subjects)
        for problem in check_expected(self.questionnaire, special):
            place = next((s.name for s in self.slots if f".{s.name}" in problem.path), "")
            self.problems.setdefault(place, f"{problem.words[:1].upper()}{problem.words[1:]}.")
        return expected

    def _answer(self, slot: Slot, given: Sequence[str]) -> dict[str, Any]:
        if slot.question.scale.kind == "marks":
            marks = [key for key in given if key != NOTHING]
            if marks and NOTHING in given:
                self.problems[slot.name] = "Mark some conditions or none of them, not both."
            return {"chosen": marks}
        values = [int(value) for value in given if _WHOLE_NUMBER.fullmatch(value)]
        return {"values": values}

    @property
    def general(self) -> str:
        """A problem that belongs to no place."""
        return self.problems.get("", "")


def _turn(slot: Slot) -> int:
    """Return the turn that a place is about; places about no turn come first, in their order."""
    return int(slot.part) if slot.question.about == "turn" else 0
