"""Numbers of studies in words."""

from django import template

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
