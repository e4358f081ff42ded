"""Figures as a page that stands for itself: one to be printed, or all to be read as files."""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from html import unescape
from typing import NamedTuple

from django.template.loader import render_to_string
from django.utils.html import format_html

from analysis.exports.embedding import (
    PLOTLY,
    PLOTLY_STYLE,
    data_tag,
    module_text,
    plotly_style_tag,
    policy,
    script_tag,
    static_text,
    style_tag,
    typeface,
)
from analysis.reports.content import FigureSpec

# Widths of a figure on paper: one column, two columns, and as on the screen.
WIDTHS = ("column", "wide", "page")
STYLE = "html, body { margin: 0; background: #fff; } #figure { overflow: hidden; }"
# Dots per inch of a figure as PNG, as the pages have it for print.
DOTS = 300
# A figure in one column or two has its size in the element of the picture.
_SIZE = re.compile(r'<svg[^<>]*? width="([\d.]+)mm" height="([\d.]+)mm"')
_FILES = re.compile(r'<pre id="figure-files">(.*?)</pre>', re.DOTALL)


class FigureFiles(NamedTuple):
    """A figure as files; ``figure`` is the data and layout that were drawn, as JSON."""

    svg: str
    png: bytes
    figure: str


def figure_page(spec: FigureSpec, width: str) -> str:
    """Return the page: the figure as data, the drawing library, and a policy that allows no
    more.
    """
    check_width(width)
    return _page(spec.title, {"spec": json.loads(spec.json), "width": width})


def figures_page(specs: Mapping[str, FigureSpec], width: str, notes: Mapping[str, str]) -> str:
    """Return the page of all figures by name; once its scripts have run, `drawn_in` finds them
    in it.

    ``notes`` are written under those that must not be taken for the real thing, by name.
    """
    check_width(width)
    drawn = {name: json.loads(spec.json) for name, spec in specs.items()}
    data = {"specs": drawn, "width": width, "dots": DOTS, "notes": dict(notes)}
    return _page("Figures", data)


def picture_page(drawn: FigureFiles, title: str) -> str:
    """Return a figure that is drawn already as a page of its size in millimetres, to be printed."""
    size = _SIZE.search(drawn.svg)
    if size is None:
        raise ValueError("the figure has no size in millimetres")
    wide, high = float(size[1]), float(size[2])
    sheet = f"@page {{ size: {wide}mm {high + 0.1:.2f}mm; margin: 0; }} "
    styles = [f"{sheet} html, body {{ margin: 0; }} img {{ display: block; width: {wide}mm; }}"]
    source = b64encode(drawn.svg.encode()).decode()
    context = {
        "title": title,
        "policy": policy([], styles),
        "styles": [style_tag(text) for text in styles],
        "data": format_html('<img alt="" src="data:image/svg+xml;base64,{}">', source),
    }
    return render_to_string("analysis/report_file_print.html", context)


def check_width(width: str) -> None:
    if width not in WIDTHS:
        raise ValueError(f"there is no width {width!r}")


def drawn_in(page: str) -> dict[str, FigureFiles]:
    """Return the files that a page of figures has made of them; raises ``ValueError`` without
    any.
    """
    drawn = _FILES.search(page)
    if drawn is None:
        raise ValueError("the page holds no files: its scripts have not come to their end")
    files = json.loads(unescape(drawn[1]))
    return {
        name: FigureFiles(
            one["svg"], b64decode(one["png"]), json.dumps(one["figure"], ensure_ascii=False)
        )
        for name, one in files.items()
    }


def _page(title: str, data: Mapping[str, object]) -> str:
    plotly = static_text(PLOTLY)
    drawing = module_text("js/figure-look.js", "js/figure-files.js")
    styles = [STYLE, typeface("css/figure-fonts.css"), static_text("css/tokens.css")]
    context = {
        "title": title,
        "policy": policy([plotly, drawing], [*styles, PLOTLY_STYLE]),
        "styles": [*(style_tag(text) for text in styles), plotly_style_tag()],
        "data": data_tag(data, "figure-data"),
        "scripts": [script_tag(plotly), script_tag(drawing, module=True)],
    }
    return render_to_string("analysis/report_file_print.html", context)
