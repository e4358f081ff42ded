"""What stands in the list of trajectories dozens of times: its rows, and the choices of facets."""

from collections.abc import Iterable
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

from django import template
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify

from analysis.browser.list_views import ListedRow
from benchmarks.templatetags.planjury import score
from benchmarks.templatetags.trajectory_rows import (
    condition_of,
    mean_score,
    measures,
    outcome,
    task_head,
)
from benchmarks.templatetags.turn_parts import undefined
from benchmarks.trajectories.selectors import TrajectoryColumns

if TYPE_CHECKING:  # arrays are slow to import, and tags are imported when the server starts
    from analysis.trajectory_index.listing import FacetChoice, FacetView

register = template.Library()


@register.simple_tag
def listed_rows(rows: Iterable[ListedRow], columns: TrajectoryColumns, query: str) -> SafeString:
    """The rows of the list; ``query`` is the choice that links carry on."""
    compare = reverse("analysis:compare")
    return mark_safe("\n".join(_row(row, columns, query, compare) for row in rows))


def _row(row: ListedRow, columns: TrajectoryColumns, query: str, compare: str) -> str:
    one = row.trajectory
    run, found = one.run, ""
    if row.snippet is not None:
        context = {"snippet": row.snippet, "t": one, "query": query}
        found = render_to_string("analysis/_snippet.html", context)
    level = f'<span class="sub">{escape(run.level)}</span>' if run.level else ""
    tokens = undefined("no call says how many tokens it took")
    if row.tokens is not None:
        tokens = f"{row.tokens:,}"
    name = f"{escape(run.agent.title)}, {escape(one.task.external_id)}"
    return (
        f"<tr>\n{task_head(row, query, found)}\n"
        f"<td>{escape(run.agent.title)}{level}{condition_of(row)}</td>\n"
        f"{outcome(row)}\n{measures(row)}\n{_judged(row) if columns.scored else ''}\n"
        f'<td class="num">{tokens}</td>\n'
        f'<td class="actions"><a class="button quiet compact" href="{compare}?t={one.pk}" '
        f'data-compare="{one.pk}" data-compare-name="{name}"><span>Compare</span></a></td>\n</tr>'
    )


def _judged(row: ListedRow) -> str:
    """What judges found and gave, and how far they and people differ."""
    spread = undefined("fewer than two judges have scored the last plan")
    if row.spread is not None:
        spread = score(row.spread)
    gap = undefined("people and judges have not both scored the last plan")
    if row.gap is not None:
        gap = ("+" if row.gap > 0 else "") + score(row.gap)
    cells = (str(row.violations), mean_score(row.scores), spread, gap)
    return "\n".join(f'<td class="num">{cell}</td>' for cell in cells)


@register.simple_tag
def facet_offers(facet: "FacetView", offers: "Iterable[FacetChoice]") -> SafeString:
    """Choices of a facet, each with how many rows there would be."""
    name = escape(facet.name)
    return mark_safe("\n".join(_offer(name, offer) for offer in offers))


def _offer(name: str, offer: "FacetChoice") -> str:
    at = f"facet-{name}-{_slug(offer.value)}-{offer.number}"
    nothing = "" if offer.count or offer.chosen else ' class="nothing"'
    checked = " checked" if offer.chosen else ""
    return (
        f'<label for="{at}"{nothing}><input type="checkbox" name="{name}" '
        f'value="{escape(offer.value)}" id="{at}"{checked}>'
        f'<span class="offer-label">{escape(offer.label)}</span>'
        f'<span class="count">{offer.count:,}</span></label>'
    )


@lru_cache(maxsize=1024)
def _slug(value: str) -> str:
    return slugify(value)
