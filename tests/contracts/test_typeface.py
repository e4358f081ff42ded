"""The typeface: files, character lists and licence belong together."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FONTS = ROOT / "static" / "fonts"
FACE = re.compile(r'fonts/([\w-]+\.woff2)".*?font-display: (\w+).*?unicode-range: ([^;}]+)', re.S)
CUT = re.compile(r'^cut ([\w-]+\.woff2) "([^"]+)"$', re.M)


def test_stylesheet_names_the_characters_that_the_files_were_made_of() -> None:
    faces = {
        name: (display, "".join(ranges.split()))
        for name, display, ranges in FACE.findall((ROOT / "static/css/fonts.css").read_text())
    }
    script = (ROOT / "requirements/scripts/typeface.sh").read_text()
    assert faces == {name: ("optional", ranges) for name, ranges in CUT.findall(script)}
    # Figures in files have one file for each weight: a browser prints variable fonts as Type 3.
    drawn = {
        name: ranges.replace(" ", "")
        for name, _, ranges in FACE.findall((ROOT / "static/css/figure-fonts.css").read_text())
    }
    assert drawn == {
        name.replace(".woff2", f"-{weight}.woff2"): ranges
        for name, (_, ranges) in faces.items()
        for weight in (400, 700)
    }
    assert {*faces, *drawn} == {file.name for file in FONTS.glob("*.woff2")}


def test_files_are_small_and_have_their_licence() -> None:
    assert (FONTS / "planjury-sans.woff2").stat().st_size < 25_000
    assert "SIL Open Font License, Version 1.1" in (FONTS / "planjury-sans.LICENSE.txt").read_text(
        encoding="utf-8"
    )
