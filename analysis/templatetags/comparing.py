"""What stands in every cell of a comparison."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from analysis.browser.comparison.address import END
from analysis.browser.comparison.alignment import AlignedCell
from benchmarks.templatetags.turn_parts import turn_badges

register = template.Library()


@register.simple_tag
def side_name(cell: AlignedCell, place: int, align: str) -> SafeString:
    """Return whose turn a cell shows, and which one where that does not follow from its place."""
    if cell.turn is None:
        return SafeString("")
    n = cell.turn.row.index
    last = format_html(' <span class="badge info">{}</span>', "last plan")
    return format_html(
        '<p class="side-name"><a href="{0}?turn={1}#turn-{1}">{2}</a>{3}{4}{5}</p>',
        cell.column.url,
        n,
        cell.column.label,
        f", turn {n}" if n != place or align == END else "",
        last if cell.turn.row.is_final else "",
        turn_badges(cell.turn),
    )
