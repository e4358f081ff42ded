"""Stored values as the record shows them."""

from typing import Any

from django import template

from annotation.record.selectors import as_text

register = template.Library()
LONGEST = 300


@register.filter
def stored_words(value: Any) -> str:
    """A value before or after a change; long ones are cut, files have them whole."""
    text = as_text(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
