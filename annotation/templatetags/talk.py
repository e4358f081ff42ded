"""Lines of a dialogue between players."""

from functools import lru_cache

from django import template
from django.template.loader import get_template

from annotation.live.play.dialogue import Said

register = template.Library()


@register.simple_tag
@lru_cache(maxsize=2000)
def talk_line(line: Said) -> str:
    """A line as HTML. Each look shows all lines again, so that those shown before are kept."""
    return get_template("annotation/partials/_session_line.html").render({"line": line})
