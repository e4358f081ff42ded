"""Check an answer against its question and item; errors are worded for the desk."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.errors import Refused, refuse_longer
from annotation.models import Adjudication, Aspect, Item, Rating
from annotation.questionnaires import Question, Questionnaire
from annotation.questionnaires.decisions import (
    DECISIONS,
    decision_mark,
    is_complete,
    mark_text,
    read_mark,
    telling_marks,
)
from annotation.questionnaires.types import MANY
from annotation.ratings.spans import check_spans

LONGEST_TEXT = 5000
MOST_SPANS = 20
LONGEST_QUOTE = 2000
SPAN = {"turn": int, "where": str, "start": int, "end": int, "quote": str}


def check_answer(
    *,
    item: Item,
    questionnaire: Questionnaire,
    question: str,
    subject: str,
    aspect: str,
    value: int | None,
    chosen: Sequence[Any] | None,
    text: str,
) -> None:
    """Refuse what this item is not asked, or what is no answer to what it is asked."""
    asked = _asked(item, questionnaire, question, subject, aspect)
    match aspect:
        case Aspect.ANSWER:
            assert asked is not None
            _check_value(item, asked, value, chosen, text)
        case Aspect.COMMENT:
            if value is not None or chosen is not None:
                raise Refused("invalid", "a comment has no score")
            refuse_longer(text, LONGEST_TEXT, "the comment")
        case Aspect.FLAG:
            if value not in (0, 1) or chosen is not None:
                raise Refused("invalid", "a flag is set (1) or taken away (0)")
            if value and not text.strip():
                raise Refused("invalid", "say in a few words why you flag this")
            refuse_longer(text, LONGEST_TEXT, "the reason")
        case Aspect.EVIDENCE:
            if value is not None or text:
                raise Refused("invalid", "evidence is a list of places in the text")
            _check_spans(chosen)
        case _:
            raise Refused("invalid", f"{aspect!r} is not among {', '.join(Aspect.values)}")


def _asked(
    item: Item, questionnaire: Questionnaire, key: str, subject: str, aspect: str
) -> Question | None:
    """Return the question of a place; None for remarks on the whole item."""
    if not key and not subject and aspect in (Aspect.COMMENT, Aspect.FLAG, Aspect.EVIDENCE):
        return None
    question = questionnaire.by_key.get(key)
    if question is None or key not in item.asked:
        raise Refused("invalid", f"this item is not asked {key!r}")
    if question.about in MANY:
        kind, _, part = subject.partition("-")
        if kind != question.about or part not in item.subjects.get(kind, ()):
            raise Refused(
                "invalid", f"{key!r} is asked of each {question.about}, not of {subject!r}"
            )
    elif subject:
        raise Refused("invalid", f"{key!r} is asked of the whole item, not of {subject!r}")
    return question


def _check_value(
    item: Item, question: Question, value: int | None, chosen: Sequence[Any] | None, text: str
) -> None:
    scale = question.scale
    if scale.kind == "marks":
        if value is not None or text:
            raise Refused("invalid", "marks come without score or text")
        if chosen is None:
            return  # the last mark was taken away, which does not say that none applies
        keys = markable(item.subjects, scale.of)
        allowed = [decision_mark(k, d) for k in keys for d in DECISIONS] if scale.each else keys
        if not isinstance(chosen, list) or not all(mark in allowed for mark in chosen):
            raise Refused("invalid", f"marks must be a list from {', '.join(allowed) or 'nothing'}")
        named = [read_mark(mark)[0] for mark in chosen] if scale.each else chosen
        if len(set(named)) < len(named):
            raise Refused("invalid", "a condition is marked twice")
        return
    if scale.kind == "spans":
        if value is not None or text:
            raise Refused("invalid", "passages come without score or text")
        check_spans(item, scale, chosen)
        return
    if chosen is not None:
        raise Refused("invalid", f"{question.key!r} is not answered by marks")
    if scale.kind == "text":
        if value is not None:
            raise Refused("invalid", f"{question.key!r} is answered in words")
        refuse_longer(text, scale.most, "the answer")
        return
    if type(value) is not int or value not in scale.values:
        expected = (
            f"a whole number from 1 to {scale.most}"
            if scale.kind == "points"
            else f"one of {', '.join(map(str, scale.values))}"
        )
        raise Refused("invalid", f"expected {expected}, found {value!r}")
    if text:
        raise Refused("invalid", "a score comes without text")


def decides_all(item: Item, question: Question, chosen: Sequence[Any] | None) -> bool:
    """Return whether an answer with marks is whole: where each is decided, none is left open."""
    return is_complete(question.scale, markable(item.subjects, question.scale.of), chosen)


def markable(subjects: Mapping[str, Sequence[str]], of: str) -> list[str]:
    """Return the keys of the conditions that can be marked, of one kind or of all."""
    kinds = [of] if of else ["world", "user"]
    return [key for kind in kinds for key in subjects.get(kind, ())]


def _check_spans(chosen: Sequence[Any] | None) -> None:
    if not isinstance(chosen, list) or len(chosen) > MOST_SPANS:
        raise Refused("invalid", f"evidence is a list of at most {MOST_SPANS} places")
    for span in chosen:
        if (
            not isinstance(span, dict)
            or set(span) != set(SPAN)
            or not all(type(span[name]) is kind for name, kind in SPAN.items())
            or not 0 <= span["start"] < span["end"]
            or not 0 < len(span["quote"]) <= LONGEST_QUOTE
            or len(span["where"]) > 20
        ):
            raise Refused(
                "invalid", "a place needs turn, where, start, end and quote, with start before end"
            )


def answer_text(question: Question, answer: Rating | Adjudication, texts: Mapping[str, str]) -> str:
    """Return an answer as it is read: the label of a value, the conditions that were marked."""
    if question.scale.kind == "spans" and answer.chosen is not None:
        labels = question.scale.labels
        words = [f"{labels.get(s['label'], s['label'])}: “{s['quote']}”" for s in answer.chosen]
        return "; ".join(words) or "nothing marked"
    if answer.chosen is not None:
        marks = telling_marks(question.scale, answer.chosen)
        words = [mark_text(question.scale, mark, texts) for mark in marks]
        return "; ".join(words) or "none marked"
    return "no answer" if answer.value is None else question.scale.label(answer.value)
