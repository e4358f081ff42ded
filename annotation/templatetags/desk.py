"""The fields of one question on the desk's form."""

from typing import Any

from django import template

from annotation.desk.form import (
    NONE_KEY,
    RESPECTED_KEY,
    VIOLATED_KEY,
    ConditionMark,
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
    # Values are strings: templates take long to localize numbers.
    options: list[ConditionMark] = []
    if scale.kind == "points":
        options = [ConditionMark(str(point), str(point), str(point)) for point in scale.values]
    elif scale.kind == "choice":
        options = [ConditionMark(str(o.value), o.label, o.key) for o in scale.options]
    elif scale.kind == "marks" and form is not None:
        options = list(form.marks.get(question.key, ()))
    checked = {str(answer.value)} if answer.value is not None else set()
    checked |= {str(key) for key in answer.chosen or ()}
    return {
        "row": row,
        "question": question,
        "scale": scale,
        "name": row.slot.name,
        "compact": compact,
        "disabled": row.locked,
        "options": [(option, option.value in checked) for option in options],
        "stacked": is_stacked(scale),
        "many": scale.kind in ("points", "choice") and has_many(scale),
        "inline": row.is_inline and not compact,
        "violated_key": VIOLATED_KEY,
        "respected_key": RESPECTED_KEY,
        "none_key": NONE_KEY,
        "none_chosen": answer.chosen is not None and not answer.chosen,
        "remarks": row.remarks,
        "anchors": () if compact else sorted(question.anchors.items()),
        "examples": () if compact else sorted(question.examples.items()),
    }
