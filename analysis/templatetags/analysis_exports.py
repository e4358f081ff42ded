"""Addresses of what can be carried from a page into a paper, and the sentence on its methods."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from django import template
from django.urls import Resolver404, resolve, reverse

from analysis.exports.figure_pdf import chromium
from analysis.exports.table_choice import column_key
from analysis.pages.catalogue import PAGES
from analysis.reports.content import FigureSpec, Report, Table, numbers_of
from analysis.reports.methods import methods_sentence

register = template.Library()


@register.filter
def tex_url(csv_url: str) -> str:
    """Return the address of a table as LaTeX, beside that of its CSV; nothing where there is
    none.
    """
    return _beside(csv_url, ".csv", ".tex")


class LatexForm(NamedTuple):
    """The form of a table as LaTeX: its address, what the address keeps, and columns to choose.

    The first column names the rows and is always there.
    """

    action: str
    kept: Sequence[tuple[str, str]]
    columns: Sequence[tuple[str, str]]


@register.filter
def latex_form(csv_url: str, table: Table) -> LatexForm | None:
    """Return the form for a table as LaTeX, beside its CSV; None where there is no LaTeX."""
    url = tex_url(csv_url)
    parts = urlsplit(url)
    columns = [(column_key(column), column.label) for column in table.columns[1:]]
    return LatexForm(parts.path, parse_qsl(parts.query), columns) if url else None


@register.filter
def pdf_url(json_url: str) -> str:
    """Return the address of a figure as PDF, to which the width is to be added; nothing without a
    browser that prints it.

    A file shows the data as they are when it is made, not in the state of a page.
    """
    lasting = json_url.partition("state=")[0].rstrip("?&")
    url = _beside(lasting, ".json", ".pdf") if chromium() else ""
    return f"{url}{'&' if '?' in url else '?'}" if url else ""


@register.filter
def pin_url(file_url: str) -> str:
    """Return the address that pins the figure or table of an analysis page to a paper, beside that
    of its JSON or CSV; nothing for other pages.
    """
    parts = urlsplit(file_url)
    try:
        match = resolve(parts.path)
    except Resolver404:
        return ""
    page, _, kind = (match.url_name or "").rpartition("_")
    if page not in PAGES or kind not in ("figure", "table"):
        return ""
    query = "&".join(filter(None, (parts.query, f"part={kind}:{match.kwargs['part']}")))
    return f"{reverse('analysis:paper_pin', args=['page', page])}?{query}"


@register.filter
def numbers_link(figure: FigureSpec, tables: Sequence[tuple[Table, str]]) -> str:
    """Return the address of the table that holds the numbers of a figure, if it is one of these."""
    table = numbers_of(figure, [table for table, _ in tables or ()])
    return f"#table-{table.name}" if table is not None else ""


@register.filter
def methods(report: Report) -> str:
    """Return the sentence for a methods section."""
    return methods_sentence(report)


def _beside(url: str, ending: str, other: str) -> str:
    parts = urlsplit(url)
    path = parts.path.removesuffix(ending) + other
    if not parts.path.endswith(ending):
        return ""
    try:
        resolve(path)
    except Resolver404:
        return ""
    return parts._replace(path=path).geturl()
