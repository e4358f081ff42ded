"""A report as one HTML file that opens without the server: sentences, figures, tables, methods.

Figures are drawn by the script that the file holds, from data that it holds; every figure leads to
a table with its numbers, for readers without scripts. What people or models wrote is text.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from analysis.exports.about import made_at
from analysis.exports.embedding import (
    PLOTLY,
    PLOTLY_STYLE,
    json_tag,
    module_text,
    plotly_style_tag,
    policy,
    script_tag,
    static_text,
    style_tag,
    typeface,
)
from analysis.exports.notes import TableNotes, counts_note, hidden_note
from analysis.reports.content import (
    Banner,
    Cell,
    Column,
    FigureSpec,
    Report,
    Table,
    comparability_text,
)
from analysis.reports.methods import methods_sentence

# The longest table in a file, and the largest figure; the server has all of both.
MOST_ROWS = 400
LARGEST_FIGURE = 3_000_000
TOO_LARGE = "This figure is too large for a file. It is on the server."


@dataclass(frozen=True)
class FileSection:
    """One page in a file. ``missing`` says why there is no report, or no long part of it.

    ``needs_people``: it is about people's answers, and nobody has answered yet.
    """

    name: str
    title: str
    question: str = ""
    subject: str = ""
    url: str = ""
    report: Report | None = None
    deferred: Report | None = None
    banners: tuple[Banner, ...] = ()
    missing: str = ""
    needs_people: bool = False


class ReportFile(NamedTuple):
    """A report as a file: its subject, author and sections.

    ``url`` is the page that it was made from; empty where no server made it.
    """

    title: str
    lead: str
    url: str
    person: str
    sections: tuple[FileSection, ...]
    banners: tuple[Banner, ...] = ()


class FileCell(NamedTuple):
    """A cell as the file shows it: no links, and letters for what a page says on focus."""

    cell: Cell
    column: Column
    letters: str


class FileTable(NamedTuple):
    """A table with its notes below."""

    id: str
    table: Table
    rows: list[list[FileCell]]
    notes: list[tuple[str, str]]
    remarks: list[str]


class FileFigure(NamedTuple):
    """A figure: its data, or why it is not in the file, and the table with its numbers."""

    id: str
    spec: FigureSpec
    data: SafeString | None
    numbers: str
    missing: str = ""


@dataclass(frozen=True)
class FileReport:
    """A report as the file shows it."""

    report: Report
    figures: list[FileFigure] = field(default_factory=list)
    tables: list[FileTable] = field(default_factory=list)
    methods: str = ""


def render_file(file: ReportFile) -> str:
    """Return the file. Its policy allows what it holds and no address."""
    plotly = static_text(PLOTLY)
    drawing = module_text("js/figure-look.js", "js/report-file.js")
    sheets = ("tokens", "base", "components", "report-file")
    styles = [typeface(), *(static_text(f"css/{name}.css") for name in sheets)]
    shown = [
        {
            "section": section,
            "parts": [
                _file_report(report, f"{section.name}{ending}")
                for report, ending in ((section.report, ""), (section.deferred, "-later"))
                if report is not None
            ],
            "banners": _banners(section),
        }
        for section in file.sections
    ]
    every = [*file.banners, *(banner for section in file.sections for banner in _banners(section))]
    context = {
        "made": file,
        "sections": shown,
        "banners": list(dict.fromkeys(every)),
        "version": settings.VERSION,
        "at": made_at(),
        "policy": policy([plotly, drawing], [*styles, PLOTLY_STYLE]),
        "styles": [*(style_tag(text) for text in styles), plotly_style_tag()],
        "scripts": [script_tag(plotly), script_tag(drawing, module=True)],
    }
    return render_to_string("analysis/report_file.html", context)


def _banners(section: FileSection) -> list[Banner]:
    own = section.report.banners if section.report is not None else ()
    return list(dict.fromkeys([*section.banners, *own]))


def _file_report(report: Report, prefix: str) -> FileReport:
    return FileReport(
        report,
        [_figure(spec, report, prefix) for spec in report.figures],
        [_table(table, prefix) for table in report.tables],
        methods_sentence(report),
    )


def _figure(spec: FigureSpec, report: Report, prefix: str) -> FileFigure:
    name = f"{prefix}-{spec.name}"
    holds = report.numbers_of(spec)
    numbers = f"{prefix}-table-{holds.name}" if holds is not None else ""
    drawn = json.loads(spec.json)
    if len(spec.json) > LARGEST_FIGURE:
        return FileFigure(name, spec, None, numbers, TOO_LARGE)
    for trace in drawn.get("data", ()):
        trace.pop("customdata", None)  # addresses on the server
    text = json.dumps(drawn, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return FileFigure(name, spec, json_tag(text, f"{name}-data"), numbers)


def _table(table: Table, prefix: str) -> FileTable:
    notes = TableNotes()
    most = min(MOST_ROWS, table.most or MOST_ROWS)
    rows = [_row(row, table.columns, notes) for row in table.rows[:most]]
    lines = (
        counts_note(table),
        hidden_note(table, len(rows)),
        comparability_text(table.certificates),
    )
    remarks = [line for line in lines if line]
    return FileTable(f"{prefix}-table-{table.name}", table, rows, notes.lines(), remarks)


def _row(row: Sequence[Cell], columns: Sequence[Column], notes: TableNotes) -> list[FileCell]:
    return [
        FileCell(cell, column, ", ".join(notes.marks_of(cell)))
        for cell, column in zip(row, columns, strict=True)
    ]
