"""The fields of one question on the desk's form."""

from collections.abc import Collection
from typing import Any

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString

from annotation.desk.form import (
    DECISION_KEYS,
    NONE_KEY,
    RESPECTED_KEY,
    VIOLATED_KEY,
    DeskForm,
    FormRow,
    has_many,
    is_stacked,
)
from annotation.questionnaires.decisions import DECISIONS, decision_mark
from annotation.questionnaires.types import Question

register = template.Library()


@register.inclusion_tag("annotation/partials/_slot.html")
def slot_fields(
    row: FormRow, form: DeskForm | None = None, *, compact: bool = False
) -> dict[str, Any]:
    """Show the fields of one question about one part, with what was answered.

    ``compact``: what it is asked of stands in for its title, and what stands beside it is left out.
    """
    question, scale, answer = row.question, row.question.scale, row.answer
    # Value, label, key and kind. Strings, because templates take long to localize numbers; those of
    # points are safe as they are, so that they are not escaped again and again.
    options: list[tuple[str, str, str, str]] = []
    if scale.kind == "points":
        options = [(point, point, point, "") for point in map(SafeString, scale.values)]
    elif scale.kind == "choice":
        options = [(str(o.value), o.label, o.key, "") for o in scale.options]
    elif scale.kind == "marks" and form is not None:
        marks = form.marks.get(question.key, ())
        options = [(mark.value, mark.label, mark.key, mark.kind) for mark in marks]
    checked = {str(answer.value)} if answer.value is not None else set()
    if scale.kind == "marks":
        checked |= {str(key) for key in answer.chosen or ()}
    name = escape(row.slot.name)  # once, as a question's fields name it a dozen times
    describing = {} if compact else _describing(question, name)
    inline = row.is_inline and not compact
    described_by = (
        ("error", row.missing),
        ("asks", question.definition and not compact),
        ("anchors", describing),
    )
    classes = {
        "stacked": is_stacked(scale),
        "many": scale.kind in ("points", "choice") and has_many(scale),
        "compact": compact,
        "inline": inline,
        "current": row.current,
        "short": not row.current,
        "missing": row.missing,
        "unmet": row.unmet,
        "remarked": row.remarks.words,
    }
    return {
        "row": row,
        "question": question,
        "scale": scale,
        "name": name,
        "number": str(row.number),
        "compact": compact,
        "inline": inline,
        "classes": " ".join([f"score scale-{scale.kind}", *(c for c in classes if classes[c])]),
        "disabled": row.locked,
        "spans": answer.chosen,
        "span_labels": [
            (key, label, str(n) if n < 10 else "")
            for n, (key, label) in enumerate(scale.labels.items(), 1)
        ],
        "options": [
            (*option, option[0] in checked, SafeString(describing.get(option[0], "")))
            for option in options
        ],
        "conditions": [
            (key, label, kind, _decisions(key, checked))
            for key, label, _, kind in (options if scale.each else ())
        ],
        "violated_key": VIOLATED_KEY,
        "respected_key": RESPECTED_KEY,
        "none_key": NONE_KEY,
        "none_chosen": answer.chosen is not None and not answer.chosen,
        "remarks": row.remarks,
        "anchors": sorted(question.anchors.items()),
        "described_by": " ".join(f"q-{name}-{part}" for part, is_shown in described_by if is_shown),
        "between": any(" " in ids for ids in describing.values()),
        "examples": sorted(question.examples.items()),
    }


def _describing(question: Question, name: str) -> dict[str, str]:
    """Return the ids of what describes each score: its anchor, or the two that it lies between."""
    ids = {str(value): f"q-{name}-{value}" for value in question.anchors}
    for point in question.scale.values if question.scale.kind == "points" else ():
        lower = [value for value in question.anchors if value < point]
        upper = [value for value in question.anchors if value > point]
        if str(point) not in ids and lower and upper:
            ends = f"q-{name}-{max(lower)} q-{name}-{min(upper)}"
            ids[str(point)] = f"q-{name}-between {ends}"
    return ids


def _decisions(key: str, checked: Collection[str]) -> list[tuple[str, str, str, bool]]:
    """Return the decisions about a condition: value, label, key, and whether it is the answer."""
    marks = [(decision_mark(key, decision), words) for decision, words in DECISIONS.items()]
    return [
        (mark, words, place, mark in checked)
        for place, (mark, words) in zip(DECISION_KEYS, marks, strict=True)
    ]
