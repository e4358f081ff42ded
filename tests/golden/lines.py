"""A report as lines of text that a person can compare: one line for each thing that it says."""

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from analysis.exports.latex import TableSource, latex_table
from analysis.reports.content import Cell, FigureSpec, Report, Table

# Numbers of figures are compared to so many digits: the last ones depend on the processor.
DIGITS = 6
# Of further rows of a table there is a digest.
MOST_ROWS = 4


def report_lines(report: Report) -> Iterator[str]:
    """Write out a report; of figures and LaTeX a digest, and what can be read of a figure."""
    if report.empty is not None:
        empty = report.empty
        yield _line("empty", empty.title, empty.text, empty.action, empty.action_url, empty.needs)
    yield from (_line("answer", report.sentence) for _ in range(bool(report.sentence)))
    yield _line("answers", report.answers, "waits", report.waits)
    yield from (_line("onward", one.text, one.url) for one in report.onward)
    yield from (_line("notice", one.tone, one.text, one.url) for one in report.notices)
    yield from (_line("banner", one.title, one.text) for one in report.banners)
    for figure in report.figures:
        yield from _figure_lines(figure)
    for table in report.tables:
        yield from _table_lines(table)
    yield from (_line("how", one) for one in report.how)
    yield from (_line("methods", report.methods) for _ in range(bool(report.methods)))
    yield from (_line("certificate", one.text) for one in report.certificates)


def digest(text: str) -> str:
    """Return a short digest of a text."""
    return sha256(text.encode()).hexdigest()[:12]


def canonical(value: Any) -> Any:
    """Return JSON with its numbers rounded, by significant digits."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") + 0.0
    if isinstance(value, Mapping):
        return {name: canonical(one) for name, one in sorted(value.items())}
    if isinstance(value, list | tuple):
        return [canonical(one) for one in value]
    return value


def _figure_lines(figure: FigureSpec) -> Iterator[str]:
    drawn = canonical(json.loads(figure.json))
    yield _line(
        "figure", figure.name, figure.title, figure.subtitle, figure.height, figure.table,
        digest(json.dumps(drawn, sort_keys=True)),
    )  # fmt: skip
    traces = [str(trace.get("name", trace.get("type", ""))) for trace in drawn["data"]]
    yield _line("traces", len(traces), *dict.fromkeys(traces))


def _table_lines(table: Table) -> Iterator[str]:
    yield _line("table", table.name, table.title, table.note, table.open, table.most)
    yield _line("columns", *(c.label + (f" ({c.help})" if c.help else "") for c in table.columns))
    yield _line("csv", *table.header)
    rows = [_line("row", *map(_cell_text, row)) for row in table.rows]
    records = [_line("csv", *canonical(record)) for record in table.records()]
    for row, record in list(zip(rows, records, strict=True))[:MOST_ROWS]:
        yield row
        yield record
    if len(rows) > MOST_ROWS:
        rest = "\n".join((*rows[MOST_ROWS:], *records[MOST_ROWS:]))
        yield _line("further rows", len(rows) - MOST_ROWS, digest(rest))
    yield _line("links", digest("\n".join(cell.url for row in table.rows for cell in row)))
    yield _line("latex", digest(latex_table(table, TableSource("golden"))))
    yield from (_line("certificate", one.text) for one in table.certificates)


def _cell_text(cell: Cell) -> str:
    badges = "".join(f" [{badge.text}: {badge.why}]" for badge in cell.badges)
    parts = (cell.text + badges, cell.sub, cell.reason, cell.tip, cell.source)
    return " / ".join(part.replace("\n", " | ") for part in parts if part)


def _line(*words: object) -> str:
    return json.dumps(words, ensure_ascii=False, separators=(", ", ": "))
