#!/bin/sh
# Make static/fonts/planjury-sans.woff2: IBM Plex Sans, cut down to the characters and weights that pages use.
# Only who changes the typeface needs this: the file lies in the repository. Needs npm and Python.
# The licence reserves the name "Plex" for the whole font, so the part has a name of its own.
set -eu
cd "$(dirname "$0")/../.."
PACKAGE=@ibm/plex-sans-variable@0.2.0
TOOLS="fonttools==4.68.0 brotli==1.2.1"
here=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent "$PACKAGE" >/dev/null
tar xzf ./*.tgz
"${PYTHON:-python3}" -m venv tools
# shellcheck disable=SC2086 # two packages
tools/bin/pip install --quiet $TOOLS
tools/bin/fonttools varLib.instancer --quiet "package/fonts/complete/ttf/IBM Plex Sans Var-Roman.ttf" \
    wdth=100 wght=400:700 --output range.ttf
cut() {
    tools/bin/pyftsubset range.ttf --flavor=woff2 --output-file="$1" --no-hinting --desubroutinize \
        --layout-features=ccmp,kern,locl,mark,mkmk,rvrn,zero --name-IDs=0,1,2,3,4,5,6,13,14 --unicodes="$2"
    tools/bin/python - "$1" "$here/static/fonts/$1" <<'PYTHON'
import sys

from fontTools.ttLib import TTFont

font = TTFont(sys.argv[1], recalcTimestamp=False)
for record in font["name"].names:
    if record.nameID in (1, 3, 4, 6):
        record.string = "PlanJurySans" if record.nameID == 6 else "PlanJury Sans"
font["head"].modified = font["head"].created  # The same bytes from every build.
font.save(sys.argv[2])
PYTHON
}
# Every page needs the first; a browser fetches the second where a page has one of its characters: letters of
# European names, Greek of formulas, signs of mathematics. The same lists stand in static/css/fonts.css.
cut planjury-sans.woff2 "U+20-7E,U+A0-FF,U+131,U+152-153,U+2010-2026,U+2030,U+2032-2033,U+2039-203A,U+2044,U+20AC,U+2122,U+2190-2193,U+2195,U+2212,U+221A,U+2248,U+2260,U+2264-2265,U+25B2,U+2713"
cut planjury-sans-more.woff2 "U+100-130,U+132-151,U+154-17F,U+192,U+218-21B,U+237,U+2C6-2DD,U+300-304,U+308,U+391-3C9,U+2070-208E,U+2150-215E,U+2194,U+2196-2199,U+21D2,U+2202,U+2206,U+220F,U+2211,U+221E,U+2229,U+222B,U+25CA"
# Figures in files have fonts of one weight (static/css/figure-fonts.css): a browser prints variable ones as Type 3.
for name in planjury-sans planjury-sans-more; do
    for weight in 400 700; do
        tools/bin/fonttools varLib.instancer --quiet --no-recalc-timestamp "$here/static/fonts/$name.woff2" \
            "wght=$weight" --output "$here/static/fonts/$name-$weight.woff2"
    done
done
install -m 644 package/LICENSE.txt "$here/static/fonts/planjury-sans.LICENSE.txt"
ls -l "$here/static/fonts"
