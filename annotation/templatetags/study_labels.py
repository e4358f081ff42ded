"""Numbers, methods and stored values of studies as labels, and the tabs of a study."""

from typing import Any

from django import template

from annotation.access import StudyAccess
from annotation.audit_log.selectors import as_text
from annotation.studies.design import method_words
from annotation.study_frame import tabs as pages
from benchmarks.core.ports.labels import plain

register = template.Library()
register.filter("method_words", method_words)


@register.filter
def percent_of(part: int, whole: int) -> str:
    """Return a share with its base, or why there is none."""
    return f"{100 * part / whole:.0f} % of {whole:,}" if whole else "of nothing"


@register.filter
def minutes(seconds: float) -> str:
    """Return a duration as minutes and seconds."""
    whole = round(seconds)
    return f"{whole // 60}:{whole % 60:02d} min"


@register.filter
def in_words(code: str) -> str:
    """Return a code, such as the kind of a questionnaire, as words."""
    return plain(code)


@register.simple_tag
def study_tabs(access: StudyAccess) -> list[tuple[pages.Tab, str]]:
    """Return the pages of a study that this person may open, with their addresses."""
    return list(pages.study_tabs(access))


LONGEST = 300


@register.filter
def stored_words(value: Any) -> str:
    """Return a value before or after a change; long ones are cut, files have them whole."""
    text = as_text(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
