"""One figure as a page that stands for itself, to be printed to PDF."""

import json

from django.template.loader import render_to_string

from analysis.exports.embedding import (
    PLOTLY,
    PLOTLY_STYLE,
    data_tag,
    plotly_style_tag,
    policy,
    script_tag,
    static_text,
    style_tag,
)
from analysis.reports.parts import FigureSpec

# Widths of a figure on paper: one column, two columns, and as on the screen.
WIDTHS = ("column", "wide", "page")
STYLE = "html, body { margin: 0; background: #fff; } #figure { overflow: hidden; }"


def figure_page(spec: FigureSpec, width: str) -> str:
    """The page: the figure as data, the drawing library, and a policy that allows no more."""
    if width not in WIDTHS:
        raise ValueError(f"there is no width {width!r}")
    scripts = [static_text(name) for name in (PLOTLY, "js/figure-look.js", "js/figure-print.js")]
    styles = [STYLE, static_text("css/tokens.css")]
    context = {
        "title": spec.title,
        "policy": policy(scripts, [*styles, PLOTLY_STYLE]),
        "styles": [*(style_tag(text) for text in styles), plotly_style_tag()],
        "data": data_tag({"spec": json.loads(spec.json), "width": width}, "figure-data"),
        "scripts": [script_tag(text) for text in scripts],
    }
    return render_to_string("analysis/report_file_print.html", context)
