"""The same figure for a column of a paper: low, and in parts where it must be."""

import re
from collections.abc import Sequence
from itertools import pairwise
from math import ceil, floor, log10
from textwrap import wrap
from typing import Any, NamedTuple

from analysis.figures.layout.narrow import (
    LEGEND_LINE,
    MARGINS,
    Panels,
    letters_in,
    moved_note,
    panels_of,
    put_names_inside,
    row_names,
)

# Of a column of a paper, in pixels of the page before it is scaled: a row with its name beside it
# and above it, and a panel without rows that is alone in its line, one of two, and one of three.
ROW, ROW_WITH_NAME, PLOTS = 18, 30, {1: 120, 2: 84, 3: 66}
# A row without a name, of which several stand under one name.
UNNAMED_ROW = 7
# Between panels: ticks (of one or two lines), the title of the axis, and that of the next panel.
BETWEEN, TICK_LINE, COLUMN_GAP = 66, 16, {1: 0.0, 2: 0.14, 3: 0.08}
# The same where only the lowest panels have the title of the axis, and rows stand close.
CLOSE_ROW, CLOSE_ROW_WITH_NAME, CLOSE_BETWEEN = 15, 29, 44
# Letters of names that stand beside their rows.
NAME_LETTERS = 24
# Without rows, the numbers and the title of an axis take as much room as so many letters.
AXIS_LETTERS = 9
# The column without its margins; a letter of a name, and of a title with the room around it; the
# share of the room that one of two and one of three panels has.
COLUMN, LETTER, TITLE_LETTER, SHARE = 281, 5.3, 5.0, {1: 1.0, 2: 0.43, 3: 0.29}
LEAST_LETTERS, TITLE_LINES = 10, 3
# Ticks of a narrow axis with a range, in steps of these and their multiples by ten.
FEW_TICKS, STEPS = 3, (1, 2, 2.5, 5, 10)
RIGHT, ABOVE = 20, 16
# Widths of panels are rounded.
SAME = 0.01
# What a page of a paper gives to a figure: 150 mm, as `static/js/figure-look.js` scales it.
HIGHEST = 628


class _Form(NamedTuple):
    """A way to lay a figure out in a column; ``close``: axis titles only under the lowest panels,
    and rows close together.
    """

    across: int
    beside: bool
    letters: int
    close: bool


def column_layouts(layout: dict[str, Any], *, legend: int = 0) -> list[dict[str, Any]]:
    """Draw the layout low enough for a column of a paper (85 mm), in parts where it must be.

    Panels that share their rows or their scale stand two in a line if their names are short, or
    three without rows. A figure that would be higher than 150 mm is laid out closer, then divided
    by lines of panels: a part has the axes of its own panels alone, and traces of the other axes do
    not belong to it. Not for figures whose cells fill the plot. ``legend`` is as in
    `narrow_layout`.
    """
    layouts = [_parts(layout, form, legend) for form in _forms(layout)]

    def excess(parts: list[dict[str, Any]]) -> tuple[int, int]:
        return len(parts), max(0, max(part["height"] for part in parts) - HIGHEST)

    return min(layouts, key=excess)


def _forms(layout: dict[str, Any]) -> list[_Form]:
    """Return the ways in which the figure may be laid out, the most spacious first."""
    names = [name.removeprefix("yaxis") for name in layout if name.startswith("yaxis")]
    rows = [name for name in names if layout[f"yaxis{name}"].get("type") == "category"]
    longest = max((letters_in(row_names(layout[f"yaxis{name}"])) for name in rows), default=0)
    beside = longest <= NAME_LETTERS
    # What names leave of the column, in letters.
    whole = int((COLUMN - LETTER * (longest or AXIS_LETTERS) * beside) / TITLE_LETTER)
    panels, forms = panels_of(layout), []
    for across in (1, 2, 3):
        letters = int(whole * SHARE[across])
        fits = across == 1 or (
            beside and len(panels) > across - 1 and _fits(layout, panels, letters)
        )
        if fits and across < 3:
            forms = [_Form(across, beside, letters, False)]
        if fits and (across < 3 or not rows):
            forms.append(_Form(across, beside, letters, True))
    return forms


def _parts(layout: dict[str, Any], form: _Form, legend: int) -> list[dict[str, Any]]:
    """Return the figure in one form, in as few parts as the height of a page allows."""
    lines = _lines(layout, form.across) or [[]]
    room = MARGINS + LEGEND_LINE * legend
    parts: list[list[Panels]] = []
    for count in range(1, len(lines) + 1):
        most = -(-len(lines) // count)
        parts = [lines[start : start + most] for start in range(0, len(lines), most)]
        drawn = [_column(layout, part, form, room) for part in parts]
        if all(one["height"] <= HIGHEST for one in drawn):
            break
    return drawn


def _lines(layout: dict[str, Any], across: int) -> list[Panels]:
    """Return the panels line by line; those of one line share their rows or their scale."""
    lines: list[Panels] = []
    last = None
    for panel in panels_of(layout):
        kind = _scale(layout, panel)
        if lines and kind == last and len(lines[-1]) < across:
            lines[-1].append(panel)
        else:
            lines.append([panel])
        last = kind
    return lines


def _scale(layout: dict[str, Any], panel: tuple[Sequence[float], Sequence[float], str]) -> object:
    """Return what panels beside each other have in common: width, rows or range."""
    (left, right), _, name = panel
    axis = layout[f"yaxis{name}"]
    shared = axis.get("matches") or (f"y{name}" in _matched(layout) and f"y{name}")
    rows = axis.get("categoryarray") or axis.get("range") or shared or f"y{name}"
    return round((right - left) / (10 * SAME)), str(rows)


def _matched(layout: dict[str, Any]) -> set[str]:
    return {axis.get("matches", "") for key, axis in layout.items() if key.startswith("yaxis")}


def _column(
    layout: dict[str, Any], lines: Sequence[Panels], form: _Form, room: int
) -> dict[str, Any]:
    """Draw these lines of panels one under the other, without all other panels."""
    across, letters = form.across, form.letters
    panels = [panel for line in lines for panel in line]
    names = [name for *_, name in panels] or [
        key.removeprefix("yaxis") for key in layout if key.startswith("yaxis")
    ]
    kept = {f"{way}axis{name}" for way in "xy" for name in names}
    slim = {key: layout[key] for key in layout if key[1:5] != "axis" or key in kept}
    for part in ("annotations", "shapes"):
        if part in layout or part == "annotations":
            slim[part] = [
                one for one in layout.get(part, ())
                if _belongs(one, names, panels, panels_of(layout))
            ]  # fmt: skip
    rows = [name for name in names if layout.get(f"yaxis{name}", {}).get("type") == "category"]
    if not form.beside:
        put_names_inside(slim, layout, rows)
    slim["margin"] = {**layout.get("margin", {}), "r": RIGHT, **({} if form.beside else {"l": 14})}
    lowest = {name for *_, name in lines[-1]} or set(names)
    if len(lines) > 1 and len(lines[-1]) < len(lines[-2]):
        lowest |= {name for *_, name in lines[-2][len(lines[-1]) :]}
    titles = {slim.get(f"xaxis{name}", {}).get("title", {}).get("text") for name in names}
    close = form.close and len(titles) == 1
    more = under = 0
    for name in names:
        axis = dict(slim.get(f"xaxis{name}", {}))
        _shorten_axis(axis, letters, half=across > 1, span=_span(layout, axis))
        more = max(more, sum(str(text).count("<br>") for text in axis.get("ticktext", ())[:1]))
        under = max(under, str(axis.get("title", {}).get("text", "")).count("<br>"))
        if close and name not in lowest:
            axis.pop("title", None)
        slim[f"xaxis{name}"] = axis
        for way in "xy":
            # The axis that others follow may be in another part.
            if slim[f"{way}axis{name}"].get("matches", way)[1:] not in names:
                first = {} if name == names[0] else {"matches": f"{way}{names[0]}"}
                others = {k: v for k, v in slim[f"{way}axis{name}"].items() if k != "matches"}
                slim[f"{way}axis{name}"] = others | first
    if across > 1:
        slim["annotations"] = [_wrap_note(note, panels, letters) for note in slim["annotations"]]
    titled = max((str(n.get("text")).count("<br>") for n in _titles(slim, panels)), default=0)
    slim["margin"]["t"] = slim["margin"].get("t", ABOVE) + TICK_LINE * titled
    between = (
        CLOSE_BETWEEN + TICK_LINE * titled if close else BETWEEN + TICK_LINE * (under + titled)
    )
    gap = between + TICK_LINE * more
    heights = [
        max(
            _panel_height(layout[f"yaxis{name}"], form)
            for name in ([name for *_, name in line] or names)
        )
        if names
        else PLOTS[1]
        for line in lines
    ]
    total = sum(heights) + gap * (len(lines) - 1)
    moved: dict[tuple[float, float], tuple[float, float]] = {}
    top = float(total)
    width = (1 - COLUMN_GAP[across] * (across - 1)) / across
    for line, height in zip(lines, heights, strict=True):
        for place, (x, y, name) in enumerate(line):
            left = place * (width + COLUMN_GAP[across])
            # A panel of another kind, alone in its line, is as wide as the column.
            alone = (
                len(line) == 1
                and across > 1
                and _scale(layout, line[0]) != _scale(layout, lines[0][0])
            )
            side = [0.0, 1.0] if alone else [round(left, 4), round(left + width, 4)]
            domain = [round(max(0.0, (top - height) / total), 4), round(top / total, 4)]
            slim[f"xaxis{name}"] = {**slim[f"xaxis{name}"], "domain": side}
            slim[f"yaxis{name}"] = {**slim[f"yaxis{name}"], "domain": domain}
            if form.beside:
                slim[f"yaxis{name}"]["showticklabels"] = not place
                if place:
                    slim[f"yaxis{name}"].pop("title", None)
                elif title := _own_title(layout, panels, name):
                    slim[f"yaxis{name}"]["title"] = title
            moved[x[0], y[1]] = (side[0], domain[1])
        top -= height + gap
    slim["annotations"] = [moved_note(note, moved) for note in slim["annotations"]]
    slim["height"] = round(total + room + TICK_LINE * (more + under + titled))
    return slim


def _own_title(layout: dict[str, Any], panels: Panels, name: str) -> Any:
    """Return the title of a panel's vertical axis, or of the first panel with the same scale."""
    scales = {other[2]: _scale(layout, other) for other in panels}
    alike = (other for *_, other in panels if scales[other] == scales[name])
    titles = (layout[f"yaxis{other}"].get("title") for other in (name, *alike))
    return next((title for title in titles if title), None)


def _belongs(
    note: dict[str, Any], names: Sequence[str], panels: Panels, everything: Panels
) -> bool:
    """Return whether an annotation or a shape is about one of these panels, or about none."""
    for way in "xy":
        ref = str(note.get(f"{way}ref", way)).removesuffix(" domain")
        if ref != "paper" and ref[1:] not in names:
            return False
    return not _is_title(note, everything) or _is_title(note, panels)


def _titles(layout: dict[str, Any], panels: Panels) -> list[dict[str, Any]]:
    """Return the titles over these panels."""
    return [note for note in layout.get("annotations", ()) if _is_title(note, panels)]


def _is_title(note: dict[str, Any], panels: Panels) -> bool:
    corners = {(x[0], y[1]) for x, y, _ in panels}
    return note.get("xref") == "paper" and (note.get("x"), note.get("y")) in corners


def _wrap_note(note: dict[str, Any], panels: Panels, letters: int) -> dict[str, Any]:
    """Break the title of a panel into lines."""
    if not _is_title(note, panels):
        return note
    lines = wrap(note["text"], letters)
    return {**note, "text": "<br>".join(lines), "align": "left"}


def _fits(layout: dict[str, Any], panels: Panels, letters: int) -> bool:
    """Return whether panels share their rows or scale, and have titles that break between words."""
    kinds = [_scale(layout, panel) for panel in panels]
    texts = [note["text"] for note in _titles(layout, panels)]
    pieces = [piece for text in texts for piece in re.split(r"\s|(?<=-)", text)]
    short = all(len(wrap(text, letters)) <= TITLE_LINES for text in texts)
    short = short and max(map(len, pieces), default=0) <= letters
    return len(set(kinds)) < len(kinds) and letters >= LEAST_LETTERS and short


def _span(layout: dict[str, Any], axis: dict[str, Any]) -> float:
    """Return how much of a scale an axis shows, 0 where that is unknown: its range and its ticks,
    those of all axes where they follow one.
    """
    axes = [value for key, value in layout.items() if key.startswith("xaxis")]
    if not any("matches" in one for one in axes):
        axes = [axis]
    ends = [end for one in axes for end in (*one.get("range", ()), *one.get("tickvals", ()))]
    if axis.get("type") == "category" or not all(isinstance(end, int | float) for end in ends):
        return 0.0
    return float(max(ends, default=0) - min(ends, default=0))


def _shorten_axis(axis: dict[str, Any], letters: int, *, half: bool, span: float) -> None:
    """Break the title of an axis into lines, and leave out ticks that would touch each other.

    ``span`` is what the axis shows, in its own unit; 0 where that is unknown.
    """
    if title := axis.get("title", {}).get("text"):
        lines = wrap(title, letters, break_long_words=False)
        axis["title"] = {**axis["title"], "text": "<br>".join(lines)}
    axis["tickangle"] = 0
    if texts := axis.get("ticktext"):
        every = max(1, -(-sum(letters_in([text]) + 2 for text in texts) // letters))
        places = axis["tickvals"]
        if span and len(places) > 1:
            step = letters * abs(places[1] - places[0]) / span
            every = ceil((letters_in(texts) + 2) / step)
        axis["ticktext"], axis["tickvals"] = texts[::every], axis["tickvals"][::every]
    elif half and "range" in axis and axis.get("type") != "category":
        low, high = axis["range"]
        ten = 10 ** floor(log10(high - low)) / 10
        steps = (step * power for power in (ten, 10 * ten) for step in STEPS)
        axis["dtick"] = next(
            step for step in steps if floor(high / step) - ceil(low / step) < FEW_TICKS
        )
    elif half:
        axis["nticks"] = FEW_TICKS


def _panel_height(axis: dict[str, Any], form: _Form) -> int:
    if axis.get("type") != "category":
        return PLOTS[form.across]
    row, with_name = (CLOSE_ROW, CLOSE_ROW_WITH_NAME) if form.close else (ROW, ROW_WITH_NAME)
    names = row_names(axis)
    count = len(axis["categoryarray"])
    every_named = len(names) == count
    if not form.beside:
        return max(with_name * count, 2 * row)
    lines = [1 + str(name).count("<br>") for name in names]
    # Rows have one height, so it is that of the two neighbours whose names take the most lines.
    apart = max((sum(pair) / 2 for pair in pairwise(lines)), default=1) if every_named else 1
    return max(row * sum(lines), round(row * apart * count), UNNAMED_ROW * count, 2 * row)
