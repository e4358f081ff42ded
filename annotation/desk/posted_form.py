"""Turn the fields of a posted desk form into edits."""

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.http import QueryDict

from annotation.desk.form import NOTHING, DeskAnswer, field_name
from annotation.models import Aspect
from annotation.questionnaires import Slot
from annotation.ratings.services import EditRequest
from benchmarks.core.digests import storable

# What the page had shown: a field's name → what it said.
SHOWN = "shown"
# Of a set of marks, the box that says that none applies.
NONE = ""


def shown_before(places: Mapping[str, DeskAnswer]) -> str:
    """Return what a page shows, to be posted with its form."""
    scalars = {name: place.scalar for name, place in places.items() if place.given}
    return json.dumps(scalars, ensure_ascii=False, separators=(",", ":"))


def typed_places(slots: Iterable[Slot], post: QueryDict) -> dict[str, DeskAnswer]:
    """Return what the posted fields say, by their names. A field that is absent says nothing."""
    places: dict[str, DeskAnswer] = {}
    names = [""]
    for slot in slots:
        names.append(slot.name)
        fields = _fields(slot, post)
        if fields:
            places[slot.name] = _answer(slot, fields)
    for name in names:
        comment, flag = field_name(name, Aspect.COMMENT), field_name(name, Aspect.FLAG)
        if comment in post:
            places[comment] = DeskAnswer(text=_words(post.get(comment, "")))
        if flag in post:
            reason = _words(post.get(flag, ""))
            places[flag] = DeskAnswer(value=int(bool(reason.strip())), text=reason)
    return places


def form_edits(slots: Sequence[Slot], post: QueryDict) -> list[EditRequest]:
    """Return the edits for the fields that differ from what the page had shown."""
    shown = _shown(post)
    typed = typed_places(slots, post)
    # Boxes that are not ticked are not sent: all of a set that had some were taken away.
    typed |= {
        slot.name: NOTHING
        for slot in slots
        if slot.question.scale.kind == "marks" and slot.name in shown and slot.name not in typed
    }
    edits = []
    for slot in slots:
        edits += _edits(slot.name, slot.question.key, slot.subject, typed, shown)
    return [*edits, *_edits("", "", "", typed, shown)]


def _edits(
    name: str,
    question: str,
    subject: str,
    typed: Mapping[str, DeskAnswer],
    shown: Mapping[str, Any],
) -> list[EditRequest]:
    edits = []
    for aspect in (Aspect.ANSWER, Aspect.COMMENT, Aspect.FLAG):
        field = field_name(name, aspect)
        answer = typed.get(field, NOTHING)
        if field not in typed or _same(answer, aspect, shown.get(field)):
            continue
        chosen = None if answer.chosen is None else list(answer.chosen)
        edits.append(
            EditRequest(uuid.uuid4(), question, answer.value, answer.text,
                 subject=subject, aspect=aspect, chosen=chosen)
        )  # fmt: skip
    return edits


def _same(answer: DeskAnswer, aspect: str, shown: Any) -> bool:
    if aspect == Aspect.FLAG:
        return not answer.value and not shown or bool(answer.value) and answer.text == shown
    if answer.chosen is not None and isinstance(shown, list):
        return sorted(map(str, answer.chosen)) == sorted(map(str, shown))
    return bool(answer.scalar == shown) if answer.given else shown in (None, "")


def _fields(slot: Slot, post: QueryDict) -> list[str]:
    """Return what was posted of an answer; of decisions, each condition has a field of its own."""
    if not slot.question.scale.each:
        return post.getlist(slot.name)
    names = [name for name in post if name.startswith(f"{slot.name}@")]
    return [post.getlist(name)[-1] for name in names]


def _answer(slot: Slot, fields: Sequence[str]) -> DeskAnswer:
    """Read an answer; a number that cannot be read becomes one that no question takes, to be
    refused by name.
    """
    match slot.question.scale.kind:
        case "spans":
            return DeskAnswer(chosen=[])  # passages are marked by the script alone
        case "marks":
            # "None" beside others contradicts itself and stays, to be refused.
            return DeskAnswer(chosen=[] if set(fields) == {NONE} else list(fields))
        case "text":
            return DeskAnswer(text=_words(fields[-1]))
        case _:
            field = fields[-1]
            return DeskAnswer(value=int(field)) if _is_number(field) else DeskAnswer(text=field)


def _is_number(field: str) -> bool:
    return field.removeprefix("-").isdecimal() and len(field) < 6


def _words(text: str) -> str:
    return str(storable(text.replace("\r\n", "\n")))


def _shown(post: QueryDict) -> Mapping[str, Any]:
    try:
        shown = json.loads(post.get(SHOWN, "{}"))
    except (ValueError, RecursionError):
        return {}
    return shown if isinstance(shown, dict) else {}
