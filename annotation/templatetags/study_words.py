"""Numbers of studies in words, and the pages of a study."""

from django import template

from annotation import study_tabs as pages
from annotation.access import StudyAccess
from benchmarks.core.words import plain

register = template.Library()


@register.filter
def percent_of(part: int, whole: int) -> str:
    """A share with its base, or why there is none."""
    return f"{100 * part / whole:.0f} % of {whole:,}" if whole else "of nothing"


@register.filter
def minutes(seconds: float) -> str:
    """A duration as minutes and seconds."""
    whole = round(seconds)
    return f"{whole // 60}:{whole % 60:02d} min"


@register.filter
def in_words(code: str) -> str:
    """A code, such as the kind of a questionnaire, as words."""
    return plain(code)


@register.simple_tag
def study_tabs(access: StudyAccess) -> list[tuple[pages.Tab, str]]:
    """The pages of a study that this person may open, with their addresses."""
    return list(pages.study_tabs(access))
