"""The same figure for a narrow screen and for a column of a paper.

On a screen, panels stand one under the other, with names above their rows. On paper a figure must
also be low: rows are closer, and short names stand beside them, so that two panels fit in a line.
"""

from collections.abc import Sequence
from math import ceil, floor, log10
from textwrap import wrap
from typing import Any

# Where each panel stands from left to right and from bottom to top, and the suffix of its axes.
Panels = list[tuple[Sequence[float], Sequence[float], str]]

MARGINS = 80
GAP = 62
# A row that holds its name above its mark needs more height.
TALLER = 1.45
NAME_SIZE = 11
# Names over columns of cells stand upright, so that each has room.
UPRIGHT = -90
UPRIGHT_ROOM = 110
UPRIGHT_LETTER = 6
ABOVE = 0.34
LEGEND_LINE = 20


def narrow_layout(
    layout: dict[str, Any], *, names_inside: bool = True, legend: int = 0
) -> dict[str, Any]:
    """Draw the layout with its panels stacked in reading order, each as wide as the figure.

    ``names_inside`` puts the names of rows into the plot, above their marks, where beside it they
    would take half of the screen; not for figures whose cells fill the plot. ``legend`` is the
    number of entries in the legend, which need a line each.
    """
    room = MARGINS + LEGEND_LINE * legend
    slim = dict(layout)
    slim["annotations"] = list(layout.get("annotations", ()))
    for axis in (name for name in layout if name.startswith("xaxis")):
        if not names_inside and layout[axis].get("type") == "category":
            slim[axis] = {**layout[axis], "tickangle": UPRIGHT}
            if "ticktext" in layout[axis]:
                # Lines of an upright name would lie over the next name.
                slim[axis]["ticktext"] = [
                    name.replace("<br>", " ") for name in layout[axis]["ticktext"]
                ]
            longest = _letters(_row_names(slim[axis]))
            room += max(UPRIGHT_ROOM, UPRIGHT_LETTER * longest)
    names = [name.removeprefix("yaxis") for name in layout if name.startswith("yaxis")]
    rows = [name for name in names if layout[f"yaxis{name}"].get("type") == "category"]
    inside = names_inside and bool(rows)
    inner = (layout.get("height", 450) - MARGINS) * (TALLER if inside else 1)
    if inside:
        _put_names_inside(slim, layout, rows)
        slim |= {"margin": {**layout.get("margin", {}), "l": 14}, "bargap": 0.6}
    panels = _panels(layout)
    if len(panels) < 2:
        return {**slim, "height": round(inner + room)}
    heights = [(y[1] - y[0]) * inner for _, y, _ in panels]
    total = sum(heights) + GAP * (len(panels) - 1)
    moved: dict[tuple[float, float], tuple[float, float]] = {}
    top = total
    for (x, y, name), height in zip(panels, heights, strict=True):
        domain = [round(max(0.0, (top - height) / total), 4), round(top / total, 4)]
        slim[f"xaxis{name}"] = {**slim[f"xaxis{name}"], "domain": [0, 1]}
        slim[f"yaxis{name}"] = {**slim[f"yaxis{name}"], "domain": domain}
        if not inside:
            slim[f"yaxis{name}"].pop("showticklabels", None)
        moved[x[0], y[1]] = (0, domain[1])
        top -= height + GAP
    slim["annotations"] = [_moved(note, moved) for note in slim["annotations"]]
    slim["height"] = round(total + room)
    return slim


# Of a column of a paper, in pixels of the page before it is scaled: a row with its name beside it
# and above it, and a panel without rows.
ROW, ROW_WITH_NAME, PLOT, HALF_PLOT = 18, 30, 120, 84
# A row without a name, of which several stand under one name.
UNNAMED_ROW = 7
# Between panels: ticks (of one or two lines), the title of the axis, and that of the next panel.
BETWEEN, TICK_LINE, COLUMN_GAP = 66, 16, 0.14
# Letters of names that stand beside their rows.
NAME_LETTERS = 24
# Without rows, the numbers and the title of an axis take as much room as so many letters.
AXIS_LETTERS = 9
# The column without its margins; a letter of a name, and of a title with the room around it; the
# share of the room that one of two panels has.
COLUMN, LETTER, TITLE_LETTER, HALF = 281, 5.3, 5.0, 0.43
LEAST_LETTERS, TITLE_LINES = 10, 2
# Ticks of a narrow axis with a range, in steps of these and their multiples by ten.
FEW_TICKS, STEPS = 3, (1, 2, 2.5, 5, 10)
RIGHT = 20
# Widths of panels are rounded.
SAME = 0.01


def column_layout(layout: dict[str, Any], *, legend: int = 0) -> dict[str, Any]:
    """Draw the layout low enough for a column of a paper (85 mm).

    Panels that share their rows or their scale stand two in a line if their names are short. Not
    for figures whose cells fill the plot. ``legend`` is as in `narrow_layout`.
    """
    slim = dict(layout)
    slim["annotations"] = list(layout.get("annotations", ()))
    names = [name.removeprefix("yaxis") for name in layout if name.startswith("yaxis")]
    rows = [name for name in names if layout[f"yaxis{name}"].get("type") == "category"]
    panels = _panels(layout)
    longest = max((_letters(_row_names(layout[f"yaxis{name}"])) for name in rows), default=0)
    beside = longest <= NAME_LETTERS
    # What names leave of the column, in letters.
    whole = int((COLUMN - LETTER * (longest or AXIS_LETTERS) * beside) / TITLE_LETTER)
    half = int(whole * HALF)
    across = 2 if beside and _fits_in_half(layout, panels, half) else 1
    letters = half if across == 2 else whole
    if not beside:
        _put_names_inside(slim, layout, rows)
    slim["margin"] = {**layout.get("margin", {}), "r": RIGHT, **({} if beside else {"l": 14})}
    more = 0
    for name in names:
        axis = dict(slim.get(f"xaxis{name}", {}))
        _shorten_axis(axis, letters, half=across == 2)
        texts = [axis.get("title", {}).get("text", ""), *axis.get("ticktext", ())[:1]]
        more = max(more, sum(str(text).count("<br>") for text in texts))
        slim[f"xaxis{name}"] = axis
    if across == 2:
        slim["annotations"] = [_wrap_note(note, panels, letters) for note in slim["annotations"]]
    titled = max((str(n.get("text")).count("<br>") for n in _titles(slim, panels)), default=0)
    gap = BETWEEN + TICK_LINE * (more + titled)
    lines = [panels[i : i + across] for i in range(0, len(panels), across)] or [[]]
    heights = [
        max(
            _panel_height(layout[f"yaxis{name}"], beside=beside, half=across == 2)
            for name in ([panel[2] for panel in line] or names or [""])
            if f"yaxis{name}" in layout
        )
        if names
        else PLOT
        for line in lines
    ]
    total = sum(heights) + gap * (len(lines) - 1)
    moved: dict[tuple[float, float], tuple[float, float]] = {}
    top = float(total)
    width = (1 - COLUMN_GAP * (across - 1)) / across
    for line, height in zip(lines, heights, strict=True):
        for place, (x, y, name) in enumerate(line):
            left = place * (width + COLUMN_GAP)
            domain = [round(max(0.0, (top - height) / total), 4), round(top / total, 4)]
            side = [round(left, 4), round(left + width, 4)]
            slim[f"xaxis{name}"] = {**slim[f"xaxis{name}"], "domain": side}
            slim[f"yaxis{name}"] = {**slim[f"yaxis{name}"], "domain": domain}
            if beside:
                slim[f"yaxis{name}"]["showticklabels"] = not place
                if not place and (title := layout[f"yaxis{panels[0][2]}"].get("title")):
                    slim[f"yaxis{name}"]["title"] = title
                elif place:
                    slim[f"yaxis{name}"].pop("title", None)
            moved[x[0], y[1]] = (side[0], domain[1])
        top -= height + gap
    slim["annotations"] = [_moved(note, moved) for note in slim["annotations"]]
    slim["height"] = round(total + MARGINS + TICK_LINE * (more + titled) + LEGEND_LINE * legend)
    return slim


def _panels(layout: dict[str, Any]) -> Panels:
    """Return the panels in reading order: where they stand, and the suffix of their axes."""
    names = [name.removeprefix("yaxis") for name in layout if name.startswith("yaxis")]
    return sorted(
        (
            (layout[f"xaxis{name}"]["domain"], layout[f"yaxis{name}"]["domain"], name)
            for name in names
            if "domain" in layout[f"yaxis{name}"] and "domain" in layout.get(f"xaxis{name}", {})
        ),
        key=lambda panel: (-panel[1][1], panel[0][0]),
    )


def _put_names_inside(slim: dict[str, Any], layout: dict[str, Any], rows: Sequence[str]) -> None:
    """Put the names of rows into the plot, above their marks."""
    for name in rows:
        axis = layout[f"yaxis{name}"]
        slim[f"yaxis{name}"] = {**axis, "showticklabels": False, "ticks": ""}
        # A category axis counts its rows from 0; a third of a row up lies above the mark.
        up = -ABOVE if axis["range"][0] > axis["range"][1] else ABOVE
        # Of rows that share a name only the one with the tick says it.
        named = axis.get("tickvals", axis["categoryarray"])
        slim["annotations"] += [
            {
                "text": row,
                "x": 0,
                "xref": f"x{name} domain",
                "xanchor": "left",
                "y": place + up,
                "yref": f"y{name}",
                "yanchor": "middle",
                "showarrow": False,
                "font": {"size": NAME_SIZE},
            }
            for place, row in enumerate(axis["categoryarray"])
            if row in named
        ]


def _row_names(axis: dict[str, Any]) -> Sequence[str]:
    """Return the names that stand beside rows, of which some may have none."""
    names: Sequence[str] = (
        axis.get("ticktext") or axis.get("tickvals") or axis.get("categoryarray", ())
    )
    return names


def _letters(names: Sequence[str]) -> int:
    """Return the length of the longest line of these names."""
    return max((len(line) for name in names for line in str(name).split("<br>")), default=0)


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
    lines = wrap(note["text"], letters, break_long_words=False)
    return {**note, "text": "<br>".join(lines), "align": "left"}


def _fits_in_half(layout: dict[str, Any], panels: Panels, letters: int) -> bool:
    """Whether panels share their rows or scale, are of one width, and have short titles."""
    shared = any(layout[f"yaxis{name}"].get("showticklabels") is False for *_, name in panels)
    widths = [x[1] - x[0] for x, *_ in panels] or [0.0]
    lines = [
        wrap(note["text"], letters, break_long_words=False) for note in _titles(layout, panels)
    ]
    short = all(len(one) <= TITLE_LINES and _letters(one) <= letters for one in lines)
    return shared and max(widths) - min(widths) < SAME and letters >= LEAST_LETTERS and short


def _shorten_axis(axis: dict[str, Any], letters: int, *, half: bool) -> None:
    """Break the title of an axis into lines, and leave out ticks that would touch each other."""
    if title := axis.get("title", {}).get("text"):
        lines = wrap(title, letters, break_long_words=False)
        axis["title"] = {**axis["title"], "text": "<br>".join(lines)}
    axis["tickangle"] = 0
    if texts := axis.get("ticktext"):
        every = max(1, -(-sum(_letters([text]) + 2 for text in texts) // letters))
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


def _panel_height(axis: dict[str, Any], *, beside: bool, half: bool) -> int:
    if axis.get("type") != "category":
        return HALF_PLOT if half else PLOT
    names = _row_names(axis)
    count = len(axis["categoryarray"])
    if not beside:
        return max(ROW_WITH_NAME * count, 2 * ROW)
    lines = sum(1 + str(name).count("<br>") for name in names)
    return max(ROW * lines, UNNAMED_ROW * count, 2 * ROW)


def _moved(
    note: dict[str, Any], moved: dict[tuple[float, float], tuple[float, float]]
) -> dict[str, Any]:
    """Move a panel's title with its panel."""
    place = (note.get("x"), note.get("y"))
    if note.get("xref") != "paper" or note.get("yref") != "paper" or place not in moved:
        return note
    return {**note, "x": moved[place][0], "y": moved[place][1]}


def layout_changes(layout: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return what another layout of the same figure changes: keys, and within axes their keys.

    None stands for what it leaves out. `mergeLayout` in `static/js/figure-look.js` puts both
    together; two whole layouts would be sent thrice over.
    """
    found: dict[str, Any] = {}
    for key in layout.keys() | other.keys():
        old, new = layout.get(key), other.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            parts = old.keys() | new.keys()
            inner = {part: new.get(part) for part in parts if old.get(part) != new.get(part)}
            if inner:
                found[key] = dict(sorted(inner.items()))
        elif old != new:
            found[key] = new
    return dict(sorted(found.items()))
