"""Every number and every mark of a report leads to the trajectories behind it.

What a row or a column names decides which they are: an agent, a rubric dimension, both or neither,
of the runs or the study that the page is about. An address that a report gives itself stays: it
knows better. Published figures have no trajectories.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import unescape
from itertools import islice
from typing import Any, Protocol

from analysis.figures.theme import figure_json
from analysis.filters.selection import Selection
from analysis.reports import common
from analysis.reports.content import Cell, Column, FigureSpec, Report, Table

PUBLISHED = common.PUBLISHED_BADGE.text


class Leader(Protocol):
    """Knows where words of a report lead; ``instead`` is where a row does."""

    def url(self, words: Iterable[str], instead: str = "") -> str: ...

    def marks(self, marks: Sequence[Sequence[str]]) -> list[str]: ...


class Leads:
    """The lists of trajectories that words of a report stand for."""

    def __init__(self, selection: Selection) -> None:
        self._runs: dict[str, list[int]] = {}
        for run in selection.runs:
            self._runs.setdefault(run.label, []).append(run.pk)
        self._dimensions = {
            title.casefold(): key for key, title in common.titles_of(selection.system).items()
        }
        self._study = selection.study.pk if selection.study is not None else None
        # A study may have items of runs alone that the page shows.
        self._all = (
            {}
            if self._study is not None and not selection.filters.agents
            else {"run": [run.pk for run in selection.runs]}
        )
        self._known: dict[tuple[str, str], str] = {}
        self._agents = sorted(self._runs, key=len, reverse=True)
        # What people said of something else than trajectories.
        self._items = (
            common.address("annotation:study_items", pk=self._study)
            if self._study is not None and not selection.runs
            else ""
        )

    def named(self, words: Iterable[str]) -> tuple[str, str] | None:
        """The agent and the dimension that words name; either may be empty. None: published."""
        agent = dimension = ""
        for word in map(unescape, words):
            if word.endswith(f"({PUBLISHED})"):
                return None
            agent = agent or self._agent(word)
            dimension = dimension or self._dimensions.get(word.casefold(), "")
        return agent, dimension

    def url(self, words: Iterable[str], instead: str = "") -> str:
        """Where these words lead: to all that the page is about, or to another list ``instead``, if
        they name nothing that narrows it.
        """
        agent, dimension = self.named(words) or ("", "")
        if instead and not dimension and self._study is None:
            return instead
        return self._items or self._list(agent, dimension)

    def marks(self, marks: Sequence[Sequence[str]]) -> list[str]:
        """Where each mark of a figure leads; beside agents, what names nothing is published."""
        found = [self.named(words) for words in marks]
        agents = any(name[0] for name in found if name is not None)
        return [
            self._items or self._list(*name)
            if name is not None and (any(name) or not agents)
            else ""
            for name in found
        ]

    def _agent(self, word: str) -> str:
        for name in self._agents:
            if word == name or word.startswith((f"{name} ", f"{name}:")):
                return name
        return ""

    def _list(self, agent: str, dimension: str) -> str:
        key = agent, dimension
        if key not in self._known:
            query: dict[str, Any] = dict(self._all)
            if self._study is not None:
                query["study"] = self._study
            if agent:
                query["run"] = self._runs[agent]
            if dimension:
                query["dimension"] = dimension
            self._known[key] = common.trajectories(query)
        return self._known[key]


class OneList:
    """All that is shown leads to one list."""

    def __init__(self, url: str) -> None:
        self._url = url

    def url(self, words: Iterable[str], instead: str = "") -> str:
        return instead or self._url

    def marks(self, marks: Sequence[Sequence[str]]) -> list[str]:
        return [self._url] * len(marks)


def lead(report: Report, selection: Selection) -> Report:
    """The report with an address behind every number and mark that has none."""
    if not selection.runs and selection.study is None:
        return report
    return lead_by(report, Leads(selection))


def lead_by(report: Report, leads: Leader) -> Report:
    """The same by other leads."""
    return replace(
        report,
        tables=tuple(_table(table, leads) for table in report.tables),
        figures=tuple(_figure(figure, leads) for figure in report.figures),
    )


def _table(table: Table, leads: Leader) -> Table:
    if table.name.startswith(PUBLISHED):
        return table
    return replace(table, rows=tuple(_row(row, table, leads) for row in table.rows))


def _row(row: tuple[Cell, ...], table: Table, leads: Leader) -> tuple[Cell, ...]:
    if is_published(row):
        return row
    first = row[0].url
    names = [cell.text for cell, column in zip(row, table.columns, strict=True) if not column.num]
    return tuple(
        replace(cell, url=table.url or leads.url((*_names(column), *names), first))
        if leads_nowhere(cell, column)
        else cell
        for cell, column in zip(row, table.columns, strict=True)
    )


def _names(column: Column) -> tuple[str, ...]:
    return (column.label, *column.parts[:1])


def lead_row(row: Sequence[Cell], columns: Sequence[Column], url: str) -> tuple[Cell, ...]:
    """A row whose numbers lead to one list, where they have none of their own."""
    return tuple(
        replace(cell, url=url) if leads_nowhere(cell, column) else cell
        for cell, column in zip(row, columns, strict=True)
    )


def is_published(row: Sequence[Cell]) -> bool:
    """Whether a row is from a paper, not from runs here."""
    return any(badge.text == PUBLISHED for badge in row[0].badges)


def leads_nowhere(cell: Cell, column: Column) -> bool:
    """Whether a cell shows a number of something and leads to nothing; 0 of something is nothing
    to look at.
    """
    return column.num and not cell.url and cell.text not in ("", "0")


def _figure(figure: FigureSpec, leads: Leader) -> FigureSpec:
    drawn = json.loads(figure.json)
    traces = [
        trace
        for trace in drawn["data"]
        if "customdata" not in trace
        and trace.get("hoverinfo") != "skip"
        and isinstance(trace.get("x"), list)
        and isinstance(trace.get("y"), list)
    ]
    if figure.name.startswith(PUBLISHED) or not traces:
        return figure
    words = [_words(trace) for trace in traces]
    found = iter(leads.marks([mark for marks in words for mark in marks]))
    for trace, marks in zip(traces, words, strict=True):
        urls = list(islice(found, len(marks)))
        if trace.get("type") == "heatmap":
            wide = len(trace["x"])
            trace["customdata"] = [urls[at : at + wide] for at in range(0, len(urls), wide)]
        elif any(urls):
            trace["customdata"] = urls
    return replace(figure, json=figure_json(drawn))


def _words(trace: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """What names each mark of a trace: its place on both axes, and its line."""
    name = str(trace.get("name", ""))
    if trace.get("type") == "heatmap":
        return [(str(y), str(x)) for y in trace["y"] for x in trace["x"]]
    return [(str(y), str(x), name) for x, y in zip(trace["x"], trace["y"], strict=False)]
