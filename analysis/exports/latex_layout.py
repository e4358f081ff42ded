"""The layout of a table in LaTeX, so that it fits the page of an ordinary article.

LaTeX is not run here: widths are those of Computer Modern, in digits, which all are equally wide.
A table takes the largest type in which it fits, its headings broken where that helps. One that is
too wide for the smallest is cut into blocks of columns, which stand under each other.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from analysis.exports.latex_text import KNOWN, latex_text

# The text of article at 10 pt, in points; a little of the height is left.
WIDTH, HEIGHT = 345.0, 535.0
# A narrow column of two.
COLUMN = 200.0
# What rules and their spaces take, and what stands between two parts of one float.
RULES, BETWEEN = 16.0, 8.0
CAPTION_SKIP = 12.0
# Sentences get lines of at least so many digits where there is room, names a few at the least.
LONG, NAME = 34.0, 12.0
MOST_KEYS = 3
# Of the text, what the columns that name a row may take where they are repeated.
KEYS_SHARE = 0.45
# So much at the most is kept for a word that cannot be broken.
WORD_SHARE = 0.4
# Lines of text that is set flush left are not quite full.
RAGGED = 1.12
# Widths in digits of Computer Modern; other lower-case letters are about as wide as a digit.
NARROW = {**dict.fromkeys("ijl.,:;'|!", 0.56), **dict.fromkeys("tfrIs()[] -/", 0.78)}
WIDE = {**dict.fromkeys("mwMW%@&", 1.8), "+": 1.56, "=": 1.56, "<": 1.56, ">": 1.56}
CAPITAL, SYMBOL, CODE, MARK = 1.45, 1.6, 10.0, 0.8


@dataclass(frozen=True)
class TypeSize:
    """A size of type: its command, that of what stands under values, and measures in points."""

    command: str
    under: str
    digit: float
    under_digit: float
    leading: float
    sep: float


NORMAL = TypeSize(r"\normalsize", r"\footnotesize", 5.0, 4.25, 12.0, 6.0)
FOOTNOTE = TypeSize(r"\footnotesize", r"\scriptsize", 4.25, 3.99, 9.5, 3.0)
SMALLEST = TypeSize(r"\scriptsize", r"\tiny", 3.99, 3.41, 8.0, 3.0)
TYPES = (NORMAL, TypeSize(r"\small", r"\scriptsize", 4.63, 3.99, 11.0, 6.0), FOOTNOTE, SMALLEST)


@dataclass(frozen=True)
class CellLine:
    """One line of a cell, and its width in digits. ``small``: set under a value."""

    latex: str = ""
    width: float = 0.0
    small: bool = False
    word: float = 0.0

    def points(self, size: TypeSize) -> float:
        return self.width * (size.under_digit if self.small else size.digit)


# One row of the page: lines of cells.
Entry = Sequence[Sequence[CellLine]]


@dataclass(frozen=True)
class Heading:
    """The heading of a column. ``text``: words, which may be broken into lines."""

    label: str
    text: bool


@dataclass(frozen=True)
class ColumnLayout:
    """A column as it is set: which one, its heading in lines, its width where lines are broken."""

    index: int
    lines: tuple[str, ...]
    points: float
    broken: bool
    text: bool = False

    @property
    def share(self) -> float:
        return int(100 * self.points / WIDTH) / 100


@dataclass(frozen=True)
class Layout:
    """Size of type and blocks of columns, of which most tables have one."""

    size: TypeSize
    blocks: tuple[tuple[ColumnLayout, ...], ...]

    @property
    def width(self) -> float:
        """The width of the widest block, in points."""
        return max(
            sum(place.points for place in block) + 2 * self.size.sep * (len(block) - 1)
            for block in self.blocks
        )

    def heading_height(self, block: Sequence[ColumnLayout]) -> float:
        """Return rules and the heading of one block, in points."""
        return RULES + self.size.leading * max(len(place.lines) for place in block)

    def row_heights(self, entries: Sequence[Entry], block: Sequence[ColumnLayout]) -> list[float]:
        """Return rows with the space over each, which there is where any has a second line; in
        points.
        """
        space = self.size.digit if any(len(entry) > 1 for entry in entries) else 0.0
        return [self._row_height(entry, block) + space for entry in entries]

    def _row_height(self, entry: Entry, block: Sequence[ColumnLayout]) -> float:
        lines = 0
        for line in entry:
            broken = (
                ceil(RAGGED * line[place.index].points(self.size) / place.points)
                for place in block
                if place.broken
            )
            lines += max((1, *broken))
        return lines * self.size.leading


def width_of(text: str) -> float:
    """Return about how wide a text is in LaTeX, in digits."""
    return sum(_character(one) for one in text)


def longest_word(text: str) -> float:
    return max(map(width_of, text.split()), default=0.0)


def lines_of(text: str, size: TypeSize = NORMAL) -> int:
    """Return how many lines a paragraph takes over the whole width."""
    return max(1, ceil(RAGGED * width_of(text) * size.digit / WIDTH))


def _character(one: str) -> float:
    if one in NARROW:
        return NARROW[one]
    if one in WIDE:
        return WIDE[one]
    if one.isascii():
        return CAPITAL if one.isupper() else 1.0
    if one.isspace():
        return NARROW[" "]
    if one in KNOWN:
        return SYMBOL
    base = unicodedata.normalize("NFD", one)[0]
    return _character(base) if base.isascii() else CODE


def lay_out(headings: Sequence[Heading], entries: Sequence[Entry]) -> Layout:
    """Return the largest type that fits, with headings in one line where they can be; else
    blocks.
    """
    cells = [[line[i] for entry in entries for line in entry] for i in range(len(headings))]
    for size in TYPES:
        for broken in (False, True):
            columns = _columns(headings, cells, size, broken)
            placed = _fitted(columns, size, WIDTH, LONG)
            if placed is not None:
                return Layout(size, (placed,))
    columns = _columns(headings, cells, SMALLEST, broken=True)
    placed = _fitted(columns, SMALLEST, WIDTH, NAME)
    return Layout(SMALLEST, (placed,) if placed is not None else _blocks(columns))


@dataclass(frozen=True)
class _Column:
    """A column in one size of type: widths in points of its widest cell and its longest word."""

    index: int
    lines: tuple[str, ...]
    text: bool
    natural: float
    word: float

    def least(self, digits: float, size: TypeSize) -> float:
        """Return the least width where sentences get this many digits."""
        if not self.text:
            return self.natural
        return min(self.natural, max(digits * size.digit, min(self.word, WORD_SHARE * WIDTH)))


def _columns(
    headings: Sequence[Heading], cells: Sequence[Sequence[CellLine]], size: TypeSize, broken: bool
) -> list[_Column]:
    columns = []
    for index, (heading, pieces) in enumerate(zip(headings, cells, strict=True)):
        widest = max((piece.points(size) for piece in pieces), default=0.0)
        lines: tuple[str, ...] = (heading.label,)
        if broken:
            lines = tuple(_broken(heading.label, max(widest / size.digit, NAME / 2)))
        head = max(map(width_of, lines)) * size.digit
        word = max((piece.word * size.digit for piece in pieces), default=0.0)
        columns.append(_Column(index, lines, heading.text, max(widest, head), max(word, head)))
    return columns


def _broken(label: str, width: float) -> Iterator[str]:
    """Yield a heading in lines no wider than its column, or than its longest word."""
    width = max(width, longest_word(label))
    line = ""
    for word in label.split():
        if line and width_of(f"{line} {word}") > width:
            yield line
            line = word
        else:
            line = f"{line} {word}".strip()
    yield line


def _fitted(
    columns: Sequence[_Column], size: TypeSize, width: float, digits: float
) -> tuple[ColumnLayout, ...] | None:
    """Return the columns in a width, sentences broken into lines of so many digits at least, or
    none.
    """
    room = width - 2 * size.sep * (len(columns) - 1)
    if sum(column.natural for column in columns) <= room:
        return tuple(
            ColumnLayout(c.index, c.lines, c.natural, broken=False, text=c.text) for c in columns
        )
    least = [column.least(digits, size) for column in columns]
    spare = room - sum(least)
    if spare < 0:
        return None
    wanted = [column.natural - given for column, given in zip(columns, least, strict=True)]
    return tuple(
        ColumnLayout(
            c.index, c.lines, given + spare * want / sum(wanted), broken=want > 0, text=c.text
        )
        for c, given, want in zip(columns, least, wanted, strict=True)
    )


def _blocks(columns: Sequence[_Column]) -> tuple[tuple[ColumnLayout, ...], ...]:
    """Return blocks of columns that fit, each with the columns that name a row."""
    size = SMALLEST
    keys = _keys(columns)
    named = _fitted(keys, size, KEYS_SHARE * WIDTH, NAME) or _fitted(keys, size, WIDTH, NAME) or ()
    rest = [column for column in columns if column not in keys]
    room = WIDTH - sum(place.points + 2 * size.sep for place in named)
    places = [
        ColumnLayout(c.index, c.lines, points, broken=points < c.natural, text=c.text)
        for c in rest
        for points in [min(c.least(LONG, size), max(room, c.word))]
    ]
    parts = _filled(places, room)
    # Blocks that are about equally wide, no more of them than are needed.
    for twentieth in range(1, 21):
        even = _filled(places, room * twentieth / 20)
        if len(even) == len(parts):
            parts = even
            break
    return tuple((*named, *part) for part in parts) or (named,)


def _keys(columns: Sequence[_Column]) -> Sequence[_Column]:
    """Return the columns that name a row: words at the left, or the first alone."""
    texts = [column.text for column in columns]
    count = next((i for i, text in enumerate(texts) if not text), len(texts))
    named = columns[: count if 0 < count <= MOST_KEYS and count < len(columns) else 1]
    room = KEYS_SHARE * WIDTH
    return named if sum(c.least(NAME, SMALLEST) for c in named) <= room else columns[:1]


def _filled(places: Sequence[ColumnLayout], room: float) -> list[list[ColumnLayout]]:
    """Return the columns in order, as many in a part as there is room for."""
    parts: list[list[ColumnLayout]] = []
    used = 0.0
    for place in places:
        if not parts or used + place.points > room:
            parts.append([])
            used = 0.0
        parts[-1].append(place)
        used += place.points + 2 * SMALLEST.sep
    return parts


NO_ROWS = "No rows."
# The caption of a part that is not the first: one line.
CONTINUED = CAPTION_SKIP + NORMAL.leading
# Of a note: what is read, and its LaTeX.
Note = tuple[str, str]


def float_bodies(
    layout: Layout, entries: Sequence[Entry], notes: Sequence[Note], *, used: float
) -> list[list[str]]:
    """Return the lines of each float without its caption; notes stand behind the last rows.

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


def _lines_in(block: Sequence[ColumnLayout], entry: Entry) -> Entry:
    """Return a row without the lines that say nothing in these columns."""
    return [
        line
        for number, line in enumerate(entry)
        if not number or any(line[place.index].latex for place in block)
    ]


def _fitting(heights: Sequence[float], room: float) -> int:
    """Return how many rows there is room for."""
    for number, height in enumerate(heights):
        room -= height
        if room < 0:
            return number
    return len(heights)


def _tabular(size: TypeSize, block: Sequence[ColumnLayout], rows: Sequence[Entry]) -> list[str]:
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


def _column(place: ColumnLayout) -> str:
    """Return numbers to the right, words to the left, long texts in lines of their own."""
    if place.broken:
        return rf"p{{{place.share:.2f}\linewidth}}"
    return "l" if place.text else "r"


def _heading(place: ColumnLayout) -> str:
    lines = [latex_text(line) for line in place.lines]
    if len(lines) == 1:
        return lines[0]
    side = "l" if place.text else "r"
    stacked = r" \\ ".join(lines)
    return rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{stacked}\end{{tabular}}"


def _rows(size: TypeSize, block: Sequence[ColumnLayout], rows: Sequence[Entry]) -> Iterator[str]:
    spaced = any(len(row) > 1 for row in rows)
    # In lines that are not justified the short command would end a line, not the row.
    end = r" \tabularnewline" if any(place.broken for place in block) else r" \\"
    for number, row in enumerate(rows):
        if number and spaced:
            yield r"\addlinespace"
        for line in row:
            yield " & ".join(_piece(line[place.index], size, place) for place in block) + end


def _piece(piece: CellLine, size: TypeSize, place: ColumnLayout) -> str:
    ragged = r"\raggedright " if place.broken and piece.latex else ""
    text = rf"{{{size.under} {piece.latex}}}" if piece.small else piece.latex
    return f"{ragged}{text}"


def _note_pages(notes: Sequence[Note], used: float) -> list[list[str]]:
    """Return the notes, those that the page has no room for on further ones."""
    pages: list[list[str]] = [[]]
    for note, latex in notes:
        height = FOOTNOTE.leading * lines_of(note, FOOTNOTE)
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
