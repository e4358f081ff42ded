"""Tags for parts that the list of trajectories repeats dozens of times: rows and facet choices."""

from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from django import template
from django.http import QueryDict
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import slugify

from analysis.browser.groups.failure_groups import failed_count
from analysis.browser.list_views import ListedRow
from analysis.reports import addresses
from benchmarks.access import visibility
from benchmarks.templatetags.planjury import score
from benchmarks.templatetags.trajectory_rows import (
    condition_of,
    mean_score,
    measures,
    outcome,
    task_head,
    turns,
)
from benchmarks.templatetags.turn_parts import undefined

if TYPE_CHECKING:  # arrays are slow to import, and tags are imported when the server starts
    from analysis.trajectory_index.listing import FacetChoice, FacetView

register = template.Library()


@register.simple_tag
def listed_rows(
    rows: Iterable[ListedRow], judged: Collection[str], query: str, hidden: Collection[str]
) -> SafeString:
    """Return the rows of the list; ``query`` is the choice that links carry on.

    ``judged`` names the columns on judges, people and tokens, ``hidden`` those of the others that
    the reader does not want to see.
    """
    shown = (_row(row, judged, query, hidden) for row in rows)
    return format_html_join("\n", "{}", ((row,) for row in shown))


def _row(
    row: ListedRow, judged: Collection[str], query: str, hidden: Collection[str]
) -> SafeString:
    one = row.trajectory
    run, snippet = one.run, ""
    if row.snippet is not None:
        context = {"snippet": row.snippet, "t": one, "query": query}
        snippet = render_to_string("analysis/_snippet.html", context)
    level = format_html('<span class="sub">{}</span>', run.level) if run.level else ""
    run_link = reverse("benchmarks:run", args=[run.pk])
    cells = {
        "agent": format_html("<td>{}{}{}</td>", run.agent.title, level, condition_of(row)),
        "dataset": format_html("<td>{} {}</td>", run.dataset.name, run.dataset.version),
        "run": format_html('<td class="num"><a href="{}">{}</a></td>', run_link, run.pk),
        "result": outcome(row),
        "turns": turns(row),
    }
    return format_html(
        "<tr>\n{head}\n{cells}\n{measures}\n{judged}\n"
        '<td class="actions"><a class="button quiet compact" href="{compare}?t={pk}" '
        'data-compare="{pk}" data-compare-name="{agent}, {task}"><span>Compare</span></a></td>'
        "\n</tr>",
        head=task_head(row, query, snippet),
        cells=format_html_join(
            "\n", "{}", ((cell,) for key, cell in cells.items() if key not in hidden)
        ),
        agent=run.agent.title,
        measures=measures(row),
        judged=_judged(row, judged),
        compare=reverse("analysis:compare"),
        pk=one.pk,
        task=one.task.external_id,
    )


def _judged(row: ListedRow, shown: Collection[str]) -> SafeString:
    """Return what judges found and gave, and how far they and people differ."""
    violations: str = undefined("nobody looked for violations")
    if row.violations is not None:
        violations = str(row.violations)
    spread: str = undefined("fewer than two judges have scored the last plan")
    if row.spread is not None:
        spread = score(row.spread)
    gap: str = undefined("people and judges have not both scored the last plan")
    if row.gap is not None:
        gap = ("+" if row.gap > 0 else "") + score(row.gap)
    tokens: str = undefined("no call says how many tokens it took")
    if row.tokens is not None:
        tokens = f"{row.tokens:,}"
    cells = {
        "violations": violations, "mean": mean_score(row.scores), "spread": spread, "gap": gap,
        "tokens": tokens,
    }  # fmt: skip
    there = ((cell,) for name, cell in cells.items() if name in shown)
    return format_html_join("\n", '<td class="num">{}</td>', there)


@register.simple_tag(takes_context=True)
def experiment_groups(context: template.Context, experiment: int) -> addresses.GroupsLink:
    """Return the link to the groups of an experiment's failures, as far as its reader sees them."""
    from analysis.trajectory_index.listing import listing

    query = f"group={experiment}"
    failed = failed_count(listing(QueryDict(query), visibility(context["request"])))
    return addresses.failure_groups(failed, query)


@register.simple_tag
def facet_offers(facet: "FacetView", offers: "Iterable[FacetChoice]") -> SafeString:
    """Return the choices of a facet, each with how many rows there would be."""
    return format_html_join("\n", "{}", ((_offer(facet.name, offer),) for offer in offers))


def _offer(name: str, offer: "FacetChoice") -> SafeString:
    nothing = not (offer.count or offer.chosen)
    return format_html(
        '<label for="{at}"{nothing}><input type="checkbox" name="{name}" value="{value}" id="{at}"'
        '{checked}><span class="offer-label">{label}</span>'
        '<span class="count">{count}</span></label>',
        at=f"facet-{name}-{_slug(offer.value)}-{offer.number}",
        nothing=SafeString(' class="nothing"') if nothing else "",
        name=name,
        value=offer.value,
        checked=" checked" if offer.chosen else "",
        label=offer.label,
        count=f"{offer.count:,}",
    )


@lru_cache(maxsize=1024)
def _slug(value: str) -> str:
    return slugify(value)
