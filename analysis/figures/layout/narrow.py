"""The same figure for a narrow screen: panels one under the other, names above their rows."""

import re
from collections.abc import Sequence
from typing import Any

# Where each panel stands from left to right and from bottom to top, and the suffix of its axes.
Panels = list[tuple[Sequence[float], Sequence[float], str]]

MARGINS = 80
GAP = 62
# A row that holds its name above its mark needs more height.
TALLER = 1.65
NAME_SIZE = 11
# Names over columns of cells stand upright, so that each has room.
UPRIGHT = -90
UPRIGHT_ROOM = 110
UPRIGHT_LETTER = 6
ABOVE = 0.34
# Letters of a line within a plot on a narrow screen.
LETTERS_INSIDE = 48
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
                slim[axis]["ticktext"] = [_in_one_line(name) for name in layout[axis]["ticktext"]]
            longest = letters_in(row_names(slim[axis]))
            room += max(UPRIGHT_ROOM, UPRIGHT_LETTER * longest)
    names = [name.removeprefix("yaxis") for name in layout if name.startswith("yaxis")]
    rows = [name for name in names if layout[f"yaxis{name}"].get("type") == "category"]
    inside = names_inside and bool(rows)
    inner = (layout.get("height", 450) - MARGINS) * (TALLER if inside else 1)
    if inside:
        put_names_inside(slim, layout, rows)
        slim |= {"margin": {**layout.get("margin", {}), "l": 14}, "bargap": 0.6}
    panels = panels_of(layout)
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
    slim["annotations"] = [moved_note(note, moved) for note in slim["annotations"]]
    slim["height"] = round(total + room)
    return slim


def panels_of(layout: dict[str, Any]) -> Panels:
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


def put_names_inside(slim: dict[str, Any], layout: dict[str, Any], rows: Sequence[str]) -> None:
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
                "text": _unbroken(row),
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


def _in_one_line(name: str) -> str:
    """Return a name without its breaks; one after a hyphen stood within a word."""
    return re.sub(r"(?<=\w-)<br>", "", name).replace("<br>", " ")


def _unbroken(name: str) -> str:
    """Return a name in one line where the plot has room for it: a second lies over the mark."""
    whole = _in_one_line(name)
    return whole if letters_in([whole]) <= LETTERS_INSIDE else name


def row_names(axis: dict[str, Any]) -> Sequence[str]:
    """Return the names that stand beside rows, of which some may have none."""
    names: Sequence[str] = (
        axis.get("ticktext") or axis.get("tickvals") or axis.get("categoryarray", ())
    )
    return names


def letters_in(names: Sequence[str]) -> int:
    """Return the length of the longest line of these names, without tags and unseen spaces."""
    lines = (line for name in names for line in str(name).split("<br>"))
    return max((len(re.sub("</?b>|\u200b", "", line)) for line in lines), default=0)


def moved_note(
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
    changes: dict[str, Any] = {}
    for key in layout.keys() | other.keys():
        old, new = layout.get(key), other.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            parts = old.keys() | new.keys()
            inner = {part: new.get(part) for part in parts if old.get(part) != new.get(part)}
            if inner:
                changes[key] = dict(sorted(inner.items()))
        elif old != new:
            changes[key] = new
    return dict(sorted(changes.items()))
