import json
import re
import subprocess
import sys
from itertools import combinations

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.figures.layout.theme import (
    ACCENT,
    HUES,
    JUDGES_SYMBOL,
    NEUTRAL,
    PEOPLE_SYMBOL,
    TRACE_TYPES,
    assign_styles,
    figure_json,
    make_figure,
    styles_for,
)
from tests.analysis.figures.results import NASTY, every_figure
from tests.shared_data import ROOT

FIGURES = every_figure()
NAMED_COLOUR = re.compile(r"var\(--([\w-]+)\)")

# Light and dark value of each colour that the stylesheet names.
TOKENS: dict[str, tuple[str, str]] = {
    name: (light, dark)
    for name, light, dark in re.findall(
        r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)",
        (ROOT / "static" / "css" / "tokens.css").read_text(encoding="utf-8"),
    )
}


def in_theme(colour: str, theme: int) -> str:
    named = NAMED_COLOUR.fullmatch(colour)
    assert named
    return TOKENS[named[1]][theme]


@pytest.mark.parametrize("name", FIGURES)
def test_sent_as_the_bundle_can_draw_it(name: str) -> None:
    sent = json.loads(figure_json(FIGURES[name]))
    assert {trace["type"] for trace in sent["data"]} <= TRACE_TYPES
    assert "template" not in sent["layout"]
    # plotly refuses properties and values that plotly.js does not know; the page fills in colours.
    go.Figure(json.loads(NAMED_COLOUR.sub("#123456", figure_json(FIGURES[name]))))
    # Names from outside are text, never tags.
    assert NASTY not in figure_json(FIGURES[name])


@pytest.mark.parametrize("name", FIGURES)
def test_every_colour_has_a_name_in_the_stylesheet(name: str) -> None:
    text = figure_json(FIGURES[name])
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b|rgba?\(|hsl", text)
    assert set(NAMED_COLOUR.findall(text)) <= set(TOKENS)


@pytest.mark.parametrize("name", FIGURES)
def test_the_page_decides_the_rest(name: str) -> None:
    layout = FIGURES[name]["layout"]
    assert not {"paper_bgcolor", "plot_bgcolor", "font", "title"} & set(layout)
    assert layout["height"] >= 90


def test_the_served_bundle_has_the_types() -> None:
    (bundle,) = (ROOT / "static" / "vendor").glob("plotly-cartesian-*.min.js")
    drawn = set(re.findall(r'moduleType:"trace",name:"(\w+)"', bundle.read_text(encoding="utf-8")))
    assert drawn >= TRACE_TYPES


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="'scattergl' is not in the served bundle"):
        figure_json(make_figure([{"type": "scattergl"}], {}))
    with pytest.raises(ValueError, match="not JSON compliant"):
        figure_json(make_figure([{"type": "bar", "y": [float("nan")]}], {}))


def test_a_template_is_left_out() -> None:
    figure = go.Figure(go.Bar(y=[1])).to_plotly_json()
    assert "template" in figure["layout"]
    assert json.loads(figure_json({**figure, "data": [{"type": "bar", "y": [1]}]})) == {
        "data": [{"type": "bar", "y": [1]}],
        "layout": {},
    }


@given(st.lists(st.text(), unique=True, max_size=64))
def test_models_never_look_alike(names: list[str]) -> None:
    styles = assign_styles(names)
    looks = [(style.colour, style.symbol) for style in styles.values()]
    assert list(styles) == names and len(set(looks)) == len(names)
    assert len({style.colour for style in styles.values()}) == min(len(names), len(HUES))
    # Within one round of hues, symbol and dash differ as well: colour never stands alone.
    first = list(styles.values())[: len(HUES)]
    assert len({s.symbol for s in first}) == len({s.dash for s in first}) == len(first)
    # In grey the marks alone tell twice as many apart.
    marks = [style.symbol for style in styles.values()][: 2 * len(HUES)]
    assert len(set(marks)) == len(marks)
    # Names added later move none.
    assert list(assign_styles([*names, "another"]).items())[: len(names)] == list(styles.items())


def test_given_styles_are_kept() -> None:
    known = assign_styles(["alpha", "beta"])
    assert styles_for(["beta"], known)["beta"] == known["beta"]
    filled = styles_for(["gamma", "beta"], known)
    assert filled["beta"] == known["beta"] and filled["alpha"] == known["alpha"]
    assert filled["gamma"].colour not in {known["alpha"].colour, known["beta"].colour}


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colour", [*HUES, ACCENT, NEUTRAL])
@pytest.mark.parametrize("theme", [0, 1])
def test_contrast_on_both_pages(colour: str, theme: int) -> None:
    # WCAG 2.2, 1.4.11: 3:1 for what is needed to read a figure.
    shown, page = in_theme(colour, theme), TOKENS["page"][theme]
    dark, light = sorted((luminance(shown), luminance(page)))
    assert (light + 0.05) / (dark + 0.05) >= 3


# Machado, Oliveira & Fernandes 2009, full severity, on linear RGB.
VISION = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def oklab(colour: str, vision: str) -> list[float]:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    seen = [
        min(1.0, max(0.0, sum(a * b for a, b in zip(row, linear, strict=True))))
        for row in VISION[vision]
    ]
    cones = [
        sum(a * b for a, b in zip(row, seen, strict=True)) ** (1 / 3)
        for row in (
            (0.4122214708, 0.5363325363, 0.0514459929),
            (0.2119034982, 0.6806995451, 0.1073969566),
            (0.0883024619, 0.2817188376, 0.6299787005),
        )
    ]
    return [
        sum(a * b for a, b in zip(row, cones, strict=True))
        for row in (
            (0.2104542553, 0.7936177850, -0.0040720468),
            (1.9779984951, -2.4285922050, 0.4505937099),
            (0.0259040371, 0.7827717662, -0.8086757660),
        )
    ]


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("theme", [0, 1])
def test_hues_stay_apart_for_all_eyes(vision: str, theme: int) -> None:
    # About 0.02 is just noticeable in OKLab; twice that is asked of any two models' hues.
    seen = [oklab(in_theme(hue, theme), vision) for hue in HUES]
    for one, other in combinations(seen, 2):
        assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 > 0.04


def test_people_and_judges_differ_by_mark() -> None:
    assert PEOPLE_SYMBOL.split("-")[0] != JUDGES_SYMBOL.split("-")[0]


def test_importing_draws_in_nothing_slow() -> None:
    modules = sorted((ROOT / "analysis").glob("stats/*.py"))
    modules += sorted((ROOT / "analysis").glob("figures/*.py"))
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in modules
        if path.stem != "__init__"
    ]
    code = (
        f"import sys, {', '.join(names)}\n"
        "print(*{'scipy', 'pandas', 'plotly', 'django'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == ""
