"""Colours that the stylesheets put together have the contrast that WCAG AA asks for."""

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
