"""Questions of the desk's form, and what is the same on all its pages.

What stands beside a question is the same for every item, so its HTML is a pattern with holes: for
the name of the slot, what was said, and what is wrong with it.
"""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from html import escape
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from annotation.desk.form import NONE_KEY, ConditionMark, DeskForm, FormRow
from annotation.desk.guide import Guide
from annotation.patterns import Pattern, hole, holes
from annotation.questionnaires import Question

register = template.Library()

MOST_KEPT = 2000
# Labels that are this long together stand beside each other.
SHORT_LABELS = 20


# By the question itself: a version of a questionnaire is loaded once and never changes.
_kept: dict[tuple[int, bool, bool], tuple[Question, Pattern]] = {}


def _pattern(row: FormRow, marks: Sequence[ConditionMark] | None, compact: bool) -> Pattern:
    question = row.question
    if marks is not None:
        return _render(question, row.remarked, compact, marks)
    key = (id(question), row.remarked, compact)
    found = _kept.get(key)
    if found is None:
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        found = _kept[key] = question, _render(question, row.remarked, compact, ())
    return found[1]


def _render(
    question: Question, remarked: bool, compact: bool, marks: Sequence[ConditionMark]
) -> Pattern:
    scale = question.scale
    choices = [ConditionMark(str(o.value), o.label, o.key) for o in scale.options]
    points = [ConditionMark(str(point), str(point), str(point)) for point in scale.values]
    shown = {"points": points, "choice": choices, "marks": marks, "text": ()}[scale.kind]
    labels = [option.label for option in shown]
    return Pattern.of(
        "annotation/partials/_slot.html",
        {
            "question": question,
            "scale": scale,
            "compact": compact,
            "remarked": remarked,
            "options": [(option, hole(f"on {option.value}")) for option in shown],
            "stacked": scale.kind == "choice" and sum(map(len, labels)) > SHORT_LABELS,
            "many": len(shown) > 5,
            "none_key": NONE_KEY,
            "anchors": sorted(question.anchors.items()),
            "examples": sorted(question.examples.items()),
            **holes("name", "classes", "attributes", "number", "title", "disabled", "text", "none",
                    "comment", "flag", "evidence", "words", "error"),
        },
    )  # fmt: skip


@register.simple_tag
def slot_fields(row: FormRow, form: DeskForm | None = None, *, compact: bool = False) -> SafeString:
    """The fields of one question about one part, with what was said.

    ``compact``: what it is asked of stands in for its title, and what stands beside it is left out.
    """
    marks = None
    if row.question.scale.kind == "marks":
        marks = form.marks.get(row.question.key, ()) if form is not None else ()
        kept = form.__dict__.setdefault("_patterns", {}) if form is not None else {}
        if row.question.key not in kept:
            kept[row.question.key] = _pattern(row, marks, compact)
        return _fill(kept[row.question.key], row)
    return _fill(_pattern(row, marks, compact), row)


def _fill(pattern: Pattern, row: FormRow) -> SafeString:
    said, remarks, name = row.answer, row.remarks, escape(row.slot.name)
    values: dict[str, str] = {
        "name": name,
        "number": str(row.number),
        "title": _title(row),
        "classes": _classes(row),
        "attributes": f' aria-describedby="q-{name}-error"' if row.missing else "",
        "disabled": " disabled" if row.locked else "",
        "text": escape(said.text),
        "comment": escape(remarks.comment),
        "flag": escape(remarks.flag),
        "words": escape(remarks.words),
        "evidence": evidence_items(remarks.evidence),
    }
    if row.missing:
        error = f'<ul class="errorlist" id="q-{name}-error"><li>not answered yet</li></ul>'
        values["error"] = error
    if said.value is not None:
        values[f"on {said.value}"] = " checked"
    if said.chosen is not None:
        values |= {f"on {key}": " checked" for key in said.chosen}
        if not said.chosen:
            values["none"] = " checked"
    return pattern.fill(values)


def _title(row: FormRow) -> str:
    title = escape(row.title)
    return f'{title} <span class="muted small">{escape(row.kind)}</span>' if row.kind else title


def _classes(row: FormRow) -> str:
    found = ["current" if row.current else "short"]
    found += ["missing"] * row.missing + ["remarked"] * bool(row.remarks.words)
    return " ".join(found)


@register.simple_tag
def evidence_items(evidence: Sequence[Mapping[str, Any]]) -> SafeString:
    """The places in the text that were marked, as quotations; the script makes them buttons."""
    items = [f"<li><q>{escape(str(place.get('quote', '')))}</q></li>" for place in evidence]
    return mark_safe("".join(items))  # noqa: S308


@register.simple_tag
@lru_cache(maxsize=256)
def guidelines(guide: Guide) -> SafeString:
    """The dialog of guidelines and keys; nothing in it is of an item, or of a person."""
    return render_to_string("annotation/partials/_keys.html", {"guide": guide})


@register.simple_tag
@cache
def desk_links() -> SafeString:
    """The desk's styles and scripts."""
    return render_to_string("annotation/partials/_desk_links.html")
