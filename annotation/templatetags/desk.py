"""The fields of one question on the desk's form."""

from typing import Any

from django import template
from django.utils.translation import get_language

from annotation.desk.form import (
    NONE_KEY,
    RESPECTED_KEY,
    VIOLATED_KEY,
    DeskForm,
    FormRow,
    has_many,
    is_stacked,
)

register = template.Library()


@register.inclusion_tag("annotation/partials/_slot.html")
def slot_fields(
    row: FormRow, form: DeskForm | None = None, *, compact: bool = False
) -> dict[str, Any]:
    """Show the fields of one question about one part, with what was answered.

    ``compact``: what it is asked of stands in for its title, and what stands beside it is left out.
    """
    question, scale, answer = row.question, row.question.scale, row.answer
    # Value, label, key and kind. Strings, because templates take long to localize numbers.
    options: list[tuple[str, str, str, str]] = []
    if scale.kind == "points":
        options = [(point, point, point, "") for point in map(str, scale.values)]
    elif scale.kind == "choice":
        options = [(str(o.value), o.label, o.key, "") for o in scale.options]
    elif scale.kind == "marks" and form is not None:
        marks = form.marks.get(question.key, ())
        options = [(mark.value, mark.label, mark.key, mark.kind) for mark in marks]
    checked = {str(answer.value)} if answer.value is not None else set()
    checked |= {str(key) for key in answer.chosen or ()}
    return {
        "row": row,
        "question": question,
        "scale": scale,
        "name": row.slot.name,
        "number": str(row.number),
        "compact": compact,
        "disabled": row.locked,
        "options": [(*option, option[0] in checked) for option in options],
        "stacked": is_stacked(scale),
        "many": scale.kind in ("points", "choice") and has_many(scale),
        "inline": row.is_inline and not compact,
        "violated_key": VIOLATED_KEY,
        "respected_key": RESPECTED_KEY,
        "none_key": NONE_KEY,
        "none_chosen": answer.chosen is not None and not answer.chosen,
        "remarks": row.remarks,
        "anchors": sorted(question.anchors.items()),
        "examples": sorted(question.examples.items()),
        "language": get_language(),
    }
