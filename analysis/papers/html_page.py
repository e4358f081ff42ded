"""A paper as HTML without scripts, which word processors read and browsers print."""

from base64 import b64encode
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from analysis.exports.about import made_at
from analysis.exports.embedding import policy, style_tag, typeface
from analysis.exports.notes import TableNotes, counts_note, hidden_note
from analysis.exports.table_choice import fitting, with_columns
from analysis.papers.blocks import TextBlock
from analysis.papers.markup import linked_numbers, markup_html, spans_html
from analysis.papers.output import OutputPin, PaperOutput, PictureForm
from analysis.papers.selectors import ShownPin
from analysis.reports.content import Table, comparability_text
from analysis.reports.methods import intervals_sentence

# Rows of a table in the text; its CSV has all.
MOST_ROWS = 200
# Letters are larger here than in tables of LaTeX, so fewer columns fit.
SHARE_OF_LATEX = 0.75
# Longer texts are broken into lines.
LONGEST_LINE = 40
# A page that is printed at once cannot go on with another typeface until its own is there.
OPTIONAL = "font-display: optional"
STYLE = """
@page { size: A4; margin: 20mm; }
body { max-width: 170mm; margin: auto; font: 10pt/1.4 "PlanJury Sans", Arial, sans-serif; }
a { color: inherit; text-decoration: none; }
figure { margin: 1em 0; }
figure, tr { break-inside: avoid; }
table { width: 100%; margin-top: 1em; border-collapse: collapse; border-block: 1.2pt solid; }
table, figcaption { font-size: 9pt; }
caption { text-align: left; }
th, td { padding: 2pt 5pt; text-align: left; vertical-align: top; }
th { border-bottom: 0.6pt solid; }
.num { text-align: right; white-space: nowrap; }
"""
TYPES = {"svg": "image/svg+xml", "png": "image/png"}


def paper_html(
    output: PaperOutput, form: PictureForm, source: Callable[[str], str] | None = None
) -> str:
    """Return the page with its figures in this form.

    ``source`` returns the address of a picture by its name; without it the page holds the pictures.
    """

    def within(name: str) -> str:
        return f"data:{TYPES[form]};base64,{b64encode(output.pictures[name]).decode()}"

    # Files that word processors read must not hold the typeface: they would show it as text.
    fonts = [] if source is not None else [typeface().replace(OPTIONAL, "font-display: block")]
    styles = [*fonts, STYLE]
    blocks = [_block(output, block, form, source or within) for block in output.blocks]
    for kind in ("figure", "table"):
        for number, shown in enumerate((one for one in blocks if one.get(kind)), 1):
            shown["number"] = number
    context = {
        "output": output,
        "blocks": blocks,
        "policy": policy([], styles).replace("img-src data:", "img-src data: 'self' file:"),
        "styles": [style_tag(text) for text in styles],
        "version": settings.VERSION,
        "at": made_at(),
    }
    return render_to_string("analysis/papers/file.html", context)


def _block(
    output: PaperOutput,
    block: TextBlock | OutputPin,
    form: PictureForm,
    source: Callable[[str], str],
) -> dict[str, Any]:
    """Return a block as the template shows it."""
    if isinstance(block, TextBlock):
        return {"html": markup_html(block.text, output.server)}
    report, pinned = block.pin.report, block.pin.block
    assert report is not None
    shown: dict[str, Any] = {
        "pin": block.pin,
        "url": f"{output.server}{pinned.url}",
        "caption": block.caption,
        "marks": block.marks,
    }
    if pinned.part_kind == "answer":
        spans = linked_numbers(report.sentence, pinned.url)
        return {**shown, "sentence": spans_html(spans, output.server)}
    if pinned.part_kind == "figure":
        pictures = [source(name) for name in output.pictures_of(block, form)]
        missing = output.missing.get(block.name, "")
        return {**shown, "figure": True, "pictures": pictures, "missing": missing}
    fitted = _fitted(block.pin)
    rows = _table(fitted, output.server)
    assert block.pin.table is not None
    absent = [one.label for one in block.pin.table.columns if one not in fitted.columns]
    rows["remarks"] += [f"Columns left out: {', '.join(absent)}."] if absent else []
    return {**shown, **rows}


def _fitted(pin: ShownPin) -> Table:
    """Return the table of a pin with the columns that were chosen, else those that fit."""
    table = pin.table
    assert table is not None
    if pin.block.columns:
        return table
    letters = [
        max(
            [
                *(len(word) for word in column.label.split()),
                *(
                    min(LONGEST_LINE, len(line))
                    for row in table.rows
                    for line in (row[place].text, *row[place].sub_lines)
                ),
            ]
        )
        for place, column in enumerate(table.columns)
    ]
    return with_columns(table, fitting(letters, int(SHARE_OF_LATEX * pin.block.width)))


def _table(table: Table, server: str) -> dict[str, Any]:
    """Return the rows of a table with links and the letters of notes below it."""
    notes = TableNotes()
    rows = [
        [
            (cell, column, _link(cell.url, server), ", ".join(notes.marks_of(cell)))
            for cell, column in zip(row, table.columns, strict=True)
        ]
        for row in table.rows[: min(MOST_ROWS, table.most or MOST_ROWS)]
    ]
    remarks = (
        table.note, counts_note(table), intervals_sentence(table).replace("In brackets", "Below"),
        hidden_note(table, len(rows)), comparability_text(table.certificates),
    )  # fmt: skip
    return {
        "table": table,
        "rows": rows,
        "notes": notes.lines(),
        "remarks": [line for line in remarks if line],
    }


def _link(url: str, server: str) -> SafeString | str:
    return f"{server}{url}" if url.startswith("/") else ""
