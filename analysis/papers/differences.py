"""Whether the data of a pin changed, and what differs between its old and its new content."""

import json
from collections.abc import Iterator
from typing import Any

from analysis.reports.content import Cell, Report, Table
from analysis.reports.formatting import plural

# So many values are named; the others are counted.
MOST_NAMED = 6
# What a mark of a figure shows, as opposed to how it looks and where it leads.
_DATA = ("name", "x", "y", "z", "text", "error_x", "error_y", "base")


def same_data(old: Report, new: Report) -> bool:
    """Return whether two reports show the same words and numbers, however they look."""
    return bool(_data(old) == _data(new))


def difference_lines(old: Report, new: Report) -> list[str]:
    """Return what differs, a line each, the most telling first; empty for equal data."""
    if same_data(old, new):
        return []
    lines = [f"was: {old.sentence}", f"is: {new.sentence}"] if old.sentence != new.sentence else []
    before, after = _notices(old), _notices(new)
    lines += [f"warning was: {text}" for text in before if text not in after]
    lines += [f"warning is: {text}" for text in after if text not in before]
    changed = [
        line
        for table in old.tables
        if (other := new.table(table.name)) is not None
        for line in _of_tables(table, other)
    ]
    lines += changed[:MOST_NAMED]
    more = len(changed) - MOST_NAMED
    lines += [f"and {plural(more, 'more value')}"] if more > 0 else []
    return lines or ["The values are the same; titles, notes or marks differ."]


def _data(report: Report) -> Any:
    return (
        report.sentence,
        _notices(report),
        [(banner.title, banner.text) for banner in report.banners],
        [certificate.text for certificate in report.certificates],
        [
            (table.title, table.note, table.header, table.records(), _texts(table))
            for table in report.tables
        ],
        [(figure.title, figure.subtitle, _marks(figure.json)) for figure in report.figures],
    )


def _notices(report: Report) -> list[str]:
    return [notice.text for notice in report.notices]


def _texts(table: Table) -> list[list[str]]:
    return [[_text(cell) for cell in row] for row in table.rows]


def _text(cell: Cell) -> str:
    return cell.reason or " ".join(part for part in (cell.text, cell.sub) if part)


def _marks(text: str) -> list[dict[str, Any]]:
    traces = json.loads(text).get("data", ())
    return [{name: trace[name] for name in _DATA if name in trace} for trace in traces]


def _of_tables(old: Table, new: Table) -> Iterator[str]:
    """Yield one line for each row that came or went, and for each value that changed."""
    before, after = _by_name(old), _by_name(new)
    yield from (f"new: {name}" for name in after if name not in before)
    yield from (f"gone: {name}" for name in before if name not in after)
    for name in before:
        for label in before[name] if name in after else ():
            was, now = before[name][label], after[name].get(label, "(no such column)")
            if was != now:
                yield f"{name}, {label}: {was} → {now}"


def _by_name(table: Table) -> dict[str, dict[str, str]]:
    """Return the shown values of a table by row and column; rows of one name are numbered."""
    rows: dict[str, dict[str, str]] = {}
    for row in table.rows:
        name = row[0].text or "row"
        again = sum(known == name or known.startswith(f"{name} (") for known in rows)
        cells = zip(table.columns[1:], row[1:], strict=True)
        values = {column.label: _text(cell) for column, cell in cells}
        rows[f"{name} ({again + 1})" if again else name] = values
    return rows
