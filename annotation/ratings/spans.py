"""Passages of an item's text that were marked with labels: what is a passage, and where it may be.

A passage is ``{turn, where, start, end, quote, label}``. ``where`` names a text of the turn as the
desk does: ``plan`` or ``feedback``, outside the turns (turn 0) ``query``; in a dialogue, ``said-2``
is the second text of the turn that the study shows, in turn 0 of those before the first turn.
``start`` and ``end`` count characters.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.designs.types import name_some
from annotation.errors import Refused
from annotation.models import Item
from annotation.questionnaires.types import Scale
from annotation.ratings.plan_texts import shown_text
from benchmarks.core.plans import split_steps
from benchmarks.models import Turn
from benchmarks.trajectories.messages import messages_of

MOST_MARKED = 200
LONGEST_QUOTE = 2000
FIELDS = {"turn": int, "where": str, "start": int, "end": int, "quote": str, "label": str}


def check_spans(item: Item, scale: Scale, chosen: Sequence[Any] | None) -> None:
    """Refuse what is no list of passages of this item; the text itself is looked up.

    The items of a file to import have no text yet: they are checked again when they are stored.
    """
    if chosen is None:
        return  # the last passage was taken away, which does not say that there is none
    if not isinstance(chosen, list) or len(chosen) > MOST_MARKED:
        raise Refused("invalid", f"an answer is a list of at most {MOST_MARKED} passages")
    seen: set[tuple[Any, ...]] = set()
    texts: Mapping[tuple[int, str], str] | None = None
    for span in chosen:
        if (
            not isinstance(span, dict)
            or set(span) != set(FIELDS)
            or not all(type(span[name]) is kind for name, kind in FIELDS.items())
        ):
            raise Refused("invalid", f"a passage has {', '.join(FIELDS)}, and nothing else")
        if span["label"] not in scale.labels:
            known = ", ".join(scale.labels)
            raise Refused("invalid", f"there is no label {span['label']!r}; there are {known}")
        if not 0 <= span["start"] < span["end"] or len(span["quote"]) > LONGEST_QUOTE:
            raise Refused(
                "invalid", f"a passage has 1 to {LONGEST_QUOTE:,} characters, start before end"
            )
        if item.trajectory_id is not None:
            texts = texts or passage_texts(item)
            _check_place(span, texts)
        key = tuple(span[name] for name in ("turn", "where", "start", "end", "label"))
        if key in seen:
            raise Refused("invalid", "a passage is marked twice with the same label")
        seen.add(key)


def _check_place(span: Mapping[str, Any], texts: Mapping[tuple[int, str], str]) -> None:
    turn, where, quote = span["turn"], span["where"], span["quote"]
    text = texts.get((turn, where))
    if text is None:
        known = sorted({known for number, known in texts if number == turn})
        there = f"turn {turn} has {name_some(known)}" if known else f"there is no turn {turn}"
        raise Refused("invalid", f"there is no text {where!r} there: {there}")
    if span["end"] > len(text):
        words = f"the passage ends at character {span['end']}, and the text has {len(text)}"
        raise Refused("invalid", words)
    if text[span["start"] : span["end"]] != quote:
        raise Refused("invalid", "the text at this place is not what is quoted")


def passage_texts(item: Item) -> dict[tuple[int, str], str]:
    """Return the texts in which passages can be marked, by turn and name."""
    texts: dict[tuple[int, str], str] = {}
    if item.task is not None:
        texts[0, "query"] = item.task.prompt
    rows = list(Turn.objects.filter(trajectory=item.trajectory_id).order_by("index"))
    talks = [row for row in rows if row.payload.get("messages") or row.payload.get("opening")]
    for row in rows:
        if row not in talks:
            texts[row.index, "plan"] = shown_text(row.text, split_steps(row.text))
            if row.feedback:
                texts[row.index, "feedback"] = row.feedback
    counted: Counter[int] = Counter()
    for row, messages in zip(talks, messages_of(talks), strict=True):
        before = len(row.payload.get("opening", ()))
        for place, message in enumerate(messages):
            if message.hidden and not item.study.shows_hidden:
                continue
            turn = 0 if place < before else row.index
            for speech in message.speeches:
                counted[turn] += 1
                texts[turn, f"said-{counted[turn]}"] = speech
    # Browsers read every end of a line as one character.
    return {at: text.replace("\r\n", "\n").replace("\r", "\n") for at, text in texts.items()}
