"""HTML that is rendered once in a process and filled many times.

What stands around an answer or a turn is the same on every page, and a template takes longer to
find that out anew than all that is read from the database. So its template is rendered with holes
in the places of what differs, once for each shape, and the holes alone are filled afterwards.
Nothing that was said, written by a model or meant for one person belongs into a pattern.
"""

import re
from collections.abc import Mapping
from typing import Any

from django.template.loader import get_template
from django.utils.safestring import SafeString, mark_safe

# Characters for private use mark the holes: no template holds them, and none is shown.
OPEN, CLOSE = "\ue000", "\ue001"
_HOLE = re.compile(f"{OPEN}([^{CLOSE}]*){CLOSE}")


class Pattern:
    """HTML with named holes."""

    def __init__(self, html: str) -> None:
        self.pieces = _HOLE.split(html)
        self.names = self.pieces[1::2]

    @classmethod
    def of(cls, template: str, context: Mapping[str, Any]) -> "Pattern":
        """A template with the holes that stand in its context."""
        return cls(get_template(template).render(dict(context)))

    def fill(self, values: Mapping[str, str]) -> SafeString:
        """The HTML with ``values``, which must be safe, in its holes; others stay empty."""
        pieces = self.pieces[:]
        pieces[1::2] = [values.get(name, "") for name in self.names]
        return mark_safe("".join(pieces))  # noqa: S308


def hole(name: str) -> SafeString:
    """What marks the place of a value in a template's context."""
    return mark_safe(f"{OPEN}{name}{CLOSE}")  # noqa: S308


def holes(*names: str) -> dict[str, SafeString]:
    """Holes that are called as they are in the template."""
    return {name: hole(name) for name in names}
