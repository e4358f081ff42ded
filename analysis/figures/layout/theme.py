"""The shared look of all figures: a style per model, symbols of people and judges, and JSON."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

Figure = dict[str, Any]

# What the served cartesian bundle draws; it turns other types into scatter without a word.
TRACE_TYPES = frozenset({"scatter", "bar", "box", "violin", "heatmap", "histogram"})

# Colours are named, not given: the page's stylesheet holds one value for light and one for dark.
HUES = tuple(f"var(--series-{n})" for n in range(1, 9))
SYMBOLS = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "cross",
    "x",
    "triangle-down",
    "star",
    # For the models that share a hue with one of the first eight.
    "triangle-left",
    "pentagon",
    "hourglass",
    "triangle-right",
    "bowtie",
    "diamond-tall",
    "hexagram",
    "star-diamond",
)
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "5px,2px", "1px,4px")

# For what belongs to no model.
ACCENT = "var(--accent)"
NEUTRAL = "var(--ink-3)"
# Words inside cells.
INK = "var(--ink)"

PEOPLE_SYMBOL = "diamond"
JUDGES_SYMBOL = "circle-open"


@dataclass(frozen=True)
class Style:
    """The look of a model on every page: colour, symbol and dash, so that colour is never alone."""

    colour: str
    symbol: str
    dash: str

    @property
    def open_symbol(self) -> str:
        """The same symbol without filling: published, or without an interval."""
        return f"{self.symbol}-open"


def assign_styles(names: Iterable[str]) -> dict[str, Style]:
    """Return one style per name, no two alike among the first 64, no two marks among the first 16.

    Each name takes the hue that its own letters choose, or the next free one; names later in order
    never move earlier ones. Pages that show different models agree when all pass the same list
    (every model that is known, oldest first) and nearly always agree when they do not.
    """
    styles: dict[str, Style] = {}
    free: list[int] = []
    for name in names:
        if name in styles:
            continue
        turn = len(styles) // len(HUES)
        if not free:
            free = list(range(len(HUES)))
        wanted = sha256(name.encode()).digest()[0] % len(HUES)
        hue = next((i for i in free if i >= wanted), free[0])
        free.remove(hue)
        mark = (hue + len(HUES) * turn + turn // 2) % len(SYMBOLS)
        styles[name] = Style(HUES[hue], SYMBOLS[mark], DASHES[(hue + turn) % len(DASHES)])
    return styles


def styles_for(names: Sequence[str], styles: Mapping[str, Style] | None) -> Mapping[str, Style]:
    """Return the given styles, filled up for names that they lack."""
    given = dict(styles or {})
    if all(name in given for name in names):
        return given
    return assign_styles([*given, *names]) | given


def make_figure(traces: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]) -> Figure:
    """Put traces and layout together."""
    return {"data": [dict(trace) for trace in traces], "layout": dict(layout)}


def figure_json(figure: Mapping[str, Any]) -> str:
    """Return the figure as compact JSON, without a template; with its layout for narrow screens, if
    any.

    Refuses NaN and infinity, which are no JSON, and trace types that the served bundle lacks.
    """
    for trace in figure.get("data", ()):
        if trace.get("type") not in TRACE_TYPES:
            raise ValueError(f"trace type {trace.get('type')!r} is not in the served bundle")
    slim = dict(figure)
    if "layout" in slim:
        slim["layout"] = {k: v for k, v in slim["layout"].items() if k != "template"}
    return json.dumps(slim, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
