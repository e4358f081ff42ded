"""Colours that the stylesheets put together have the contrast that WCAG AA asks for."""

import itertools
import math
import re
from pathlib import Path

import pytest

TOKENS = Path(__file__).parents[2] / "static" / "css" / "tokens.css"
PAIRS: dict[str, tuple[str, str]] = {
    name: (light, dark)
    for name, light, dark in re.findall(
        r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", TOKENS.read_text()
    )
}
PAIRS["on-accent"] = ("#ffffff", "#ffffff")

TONES = ("ok", "warn", "bad", "aside")
GROUNDS = ("page", "sunk", "raised", "hover")
WORDS = [
    *((ink, ground) for ink in ("ink", "ink-2", "ink-3") for ground in (*GROUNDS, "accent-soft")),
    *((ink, ground) for ink in ("accent", "accent-hover") for ground in (*GROUNDS, "accent-soft")),
    *((tone, ground) for tone in TONES for ground in (*GROUNDS, f"{tone}-soft")),
    *((ink, f"{tone}-soft") for ink in ("ink", "ink-2") for tone in TONES),
    ("ink", "heat"),
    *(("on-accent", fill) for fill in ("accent-fill", "accent-fill-hover", "bad-fill")),
]
MARKS = [
    *(("edge", ground) for ground in GROUNDS),
    ("accent-fill", "page"),
    *((f"series-{i}", ground) for i in range(1, 9) for ground in ("page", "raised")),
]


def luminance(colour: str) -> float:
    """Return the relative luminance by WCAG 2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio by WCAG 2."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_of_black_on_white_is_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("front", "ground", "least"),
    [*((*pair, 4.5) for pair in WORDS), *((*pair, 3.0) for pair in MARKS)],
)
def test_contrast(theme: int, front: str, ground: str, least: float) -> None:
    assert contrast(PAIRS[front][theme], PAIRS[ground][theme]) >= least


# Machado, Oliveira and Fernandes 2009, table 1: complete loss of one kind of cone, in linear RGB.
SIGHTS = {
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.011820, 0.042940, 0.968881)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
                   (0.004733, 0.691367, 0.303900)),
}  # fmt: skip
XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
WHITE = (0.95047, 1.0, 1.08883)


def seen_as(colour: str, sight: str) -> tuple[float, float, float]:
    """Return L*, a*, b* of a colour as somebody with this sight sees it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    rows = [sum(a * b for a, b in zip(row, linear, strict=True)) for row in SIGHTS[sight]]
    rgb = [min(1.0, max(0.0, value)) for value in rows]
    xyz = [sum(a * b for a, b in zip(row, rgb, strict=True)) for row in XYZ]
    x, y, z = (
        ratio ** (1 / 3) if (ratio := value / white) > 0.008856 else 7.787 * ratio + 16 / 116
        for value, white in zip(xyz, WHITE, strict=True)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("sight", SIGHTS)
def test_series_differ_for_colour_blind_readers(theme: int, sight: str) -> None:
    """A difference of about 2.3 is just noticeable; dashes and marks differ besides, for grey."""
    seen = [seen_as(PAIRS[f"series-{i}"][theme], sight) for i in range(1, 9)]
    for one, other in itertools.combinations(seen, 2):
        assert math.dist(one, other) > 9
