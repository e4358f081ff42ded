"""What stands in every cell of a comparison."""

from html import escape

from django import template
from django.utils.safestring import SafeString, mark_safe

from analysis.browser.comparison.address import END
from analysis.browser.comparison.alignment import AlignedCell
from benchmarks.templatetags.turn_parts import turn_badges

register = template.Library()


@register.simple_tag
def side_name(cell: AlignedCell, place: int, align: str) -> SafeString:
    """Whose turn a cell shows, and which one where that is not said by its place."""
    if cell.turn is None:
        return mark_safe("")
    n = cell.turn.row.index
    which = f", turn {n}" if n != place or align == END else ""
    last = ' <span class="badge info">last plan</span>' if cell.turn.row.is_final else ""
    link = f'<a href="{cell.column.url}?turn={n}#turn-{n}">{escape(cell.column.label)}</a>'
    return mark_safe(f'<p class="side-name">{link}{which}{last}{turn_badges(cell.turn)}</p>')
