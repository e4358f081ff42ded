"""The floats of a table in LaTeX: blocks of columns and parts of rows, as many as a page holds."""

from collections.abc import Iterator, Sequence

from analysis.exports.latex_layout import (
    BETWEEN,
    CAPTION_SKIP,
    FOOTNOTE,
    HEIGHT,
    NORMAL,
    Entry,
    Layout,
    Piece,
    Place,
    Type,
    lines_of,
)
from analysis.exports.latex_text import latex_text

NO_ROWS = "No rows."
# The caption of a part that is not the first: one line.
CONTINUED = CAPTION_SKIP + NORMAL.leading
# Of a note: what is read, and its LaTeX.
Note = tuple[str, str]


def float_bodies(
    layout: Layout, entries: Sequence[Entry], notes: Sequence[Note], *, used: float
) -> list[list[str]]:
    """The lines of each float without its caption; notes stand behind the last rows.

    ``used`` is the height of the first caption, in points.
    """
    bodies: list[list[str]] = [[]]
    for block in layout.blocks if entries else layout.blocks[:1]:
        shown = [_lines_in(block, entry) for entry in entries]
        heights = layout.row_heights(shown, block)
        head = layout.heading_height(block)
        start = 0
        while start < max(1, len(entries)):
            count = _fitting(heights[start:], HEIGHT - used - head - BETWEEN)
            ends = start + count == len(entries)
            # What a page of its own would hold whole is not cut.
            whole = sum(heights[start:]) <= HEIGHT - CONTINUED - head - BETWEEN
            if bodies[-1] and (not count or (whole and not ends)):
                bodies.append([])
                used = CONTINUED
                continue
            rows = shown[start : start + max(1, count)]
            bodies[-1] += [r"\par\medskip"] if bodies[-1] else []
            bodies[-1] += _tabular(layout.size, block, rows)
            used += BETWEEN + head + sum(heights[start : start + len(rows)])
            start += max(1, count)
    first, *others = _note_pages(notes, used)
    bodies[-1] += first
    return [*bodies, *others]


def _lines_in(block: Sequence[Place], entry: Entry) -> Entry:
    """A row without the lines that say nothing in these columns."""
    return [
        line
        for number, line in enumerate(entry)
        if not number or any(line[place.index].latex for place in block)
    ]


def _fitting(heights: Sequence[float], room: float) -> int:
    """How many rows there is room for."""
    for number, height in enumerate(heights):
        room -= height
        if room < 0:
            return number
    return len(heights)


def _tabular(size: Type, block: Sequence[Place], rows: Sequence[Entry]) -> list[str]:
    nothing = NO_ROWS + " &" * (len(block) - 1) + r" \\"
    return [
        rf"\begin{{tabular}}{{@{{}}{''.join(map(_column, block))}@{{}}}}",
        r"\toprule",
        " & ".join(map(_heading, block)) + r" \\",
        r"\midrule",
        *(_rows(size, block, rows) if rows else [nothing]),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _column(place: Place) -> str:
    """Numbers to the right, words to the left, long texts in lines of their own."""
    if place.broken:
        return rf"p{{{place.share:.2f}\linewidth}}"
    return "l" if place.text else "r"


def _heading(place: Place) -> str:
    lines = [latex_text(line) for line in place.lines]
    if len(lines) == 1:
        return lines[0]
    side = "l" if place.text else "r"
    stacked = r" \\ ".join(lines)
    return rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{stacked}\end{{tabular}}"


def _rows(size: Type, block: Sequence[Place], rows: Sequence[Entry]) -> Iterator[str]:
    spaced = any(len(row) > 1 for row in rows)
    # In lines that are not justified the short command would end a line, not the row.
    end = r" \tabularnewline" if any(place.broken for place in block) else r" \\"
    for number, row in enumerate(rows):
        if number and spaced:
            yield r"\addlinespace"
        for line in row:
            yield " & ".join(_piece(line[place.index], size, place) for place in block) + end


def _piece(piece: Piece, size: Type, place: Place) -> str:
    ragged = r"\raggedright " if place.broken and piece.latex else ""
    text = rf"{{{size.under} {piece.latex}}}" if piece.small else piece.latex
    return f"{ragged}{text}"


def _note_pages(notes: Sequence[Note], used: float) -> list[list[str]]:
    """The notes, those that the page has no room for on further ones."""
    pages: list[list[str]] = [[]]
    for said, latex in notes:
        height = FOOTNOTE.leading * lines_of(said, FOOTNOTE)
        if used + height > HEIGHT and used > CONTINUED:
            pages.append([])
            used = CONTINUED
        pages[-1].append(rf"{latex} \par")
        used += height
    return [_minipage(page) if page else [] for page in pages]


def _minipage(notes: Sequence[str]) -> list[str]:
    return [
        r"\par\smallskip",
        r"\begin{minipage}{\linewidth}\footnotesize\raggedright",
        *notes,
        r"\end{minipage}",
    ]
