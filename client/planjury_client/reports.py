"""Analysis pages as values: answer, figures, tables and methods; tables as data frames."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any


class Report:
    """An analysis: its sentences, figures and tables. ``data`` is the answer of the server as it
    came.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.answer}>"

    @property
    def answer(self) -> str:
        """The answer in a sentence or two."""
        return str(self.data["answer"])

    @property
    def methods(self) -> str:
        """Sentences for the methods section of a paper."""
        return str(self.data["methods"])

    @property
    def tables(self) -> list[str]:
        """The names of its tables."""
        return [table["name"] for table in self.data["tables"]]

    @property
    def figures(self) -> list[str]:
        """The names of its figures."""
        return [figure["name"] for figure in self.data["figures"]]

    def rows(self, table: str = "") -> list[dict[str, Any]]:
        """Return the rows of a table by column, in numbers that are not rounded; the first by
        default.
        """
        content = self._table(table)
        return [dict(zip(content["columns"], row, strict=True)) for row in content["rows"]]

    def frame(self, table: str = "") -> Any:
        """Return a table as a pandas data frame; the first by default."""
        from planjury_client.frames import pandas

        content = self._table(table)
        return pandas().DataFrame(content["rows"], columns=content["columns"])

    def save_csv(self, target: str | Path, table: str = "") -> Path:
        """Write a table as CSV."""
        content = self._table(table)
        target = Path(target)
        with target.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([content["columns"], *content["rows"]])
        return target

    def figure(self, name: str = "") -> dict[str, Any]:
        """Return a figure as Plotly takes it: ``plotly.graph_objects.Figure(report.figure())``."""
        content = _named(self.data["figures"], name, "figure")
        return dict(content["plotly"])

    def _table(self, name: str) -> dict[str, Any]:
        return _named(self.data["tables"], name, "table")


class Analysis(Report):
    """An analysis page. ``later`` is its part that takes long, or None."""

    @property
    def later(self) -> Report | None:
        """The part that takes long, if it is computed."""
        report = self.data["later"]["report"]
        return Report(report) if report is not None else None

    @property
    def empty(self) -> str:
        """The reason why there is nothing to show; empty if there is something."""
        notice = self.data["empty"]
        return f"{notice['title']}. {notice['text']}" if notice else ""

    @property
    def filters(self) -> dict[str, Any]:
        """The filters of the page, as they were resolved."""
        return dict(self.data["filters"])


def _named(rows: list[dict[str, Any]], name: str, kind: str) -> dict[str, Any]:
    known = [row["name"] for row in rows]
    if not rows:
        raise KeyError(f"this page has no {kind}")
    if not name:
        return rows[0]
    if name not in known:
        raise KeyError(f"no {kind} {name!r}; known: {', '.join(known)}")
    return rows[known.index(name)]
