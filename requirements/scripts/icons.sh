#!/bin/sh
# Make static/img/icons.svg: the icons that pages use, taken from Lucide (ISC). Only who adds one needs this:
# write its name into the list, run this (npm and Python), and use it as {% icon "NAME" %}.
set -eu
cd "$(dirname "$0")/../.."
PACKAGE=lucide-static@1.62.0
ICONS="circle-check clock list-checks messages-square pause"
here=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent "$PACKAGE" >/dev/null
tar xzf ./*.tgz
# shellcheck disable=SC2086 # one word each
"${PYTHON:-python3}" - $ICONS >"$here/static/img/icons.svg" <<'PYTHON'
import re
import sys
from pathlib import Path

print('<svg xmlns="http://www.w3.org/2000/svg">')
for name in sys.argv[1:]:
    text = Path(f"package/icons/{name}.svg").read_text()
    (inner,) = re.findall(r"<svg[^>]*>(.*)</svg>", text, re.S)
    lines = "".join(line.strip() for line in inner.splitlines())
    print(f'<symbol id="{name}" viewBox="0 0 24 24">{lines}</symbol>')
print("</svg>")
PYTHON
install -m 644 package/LICENSE "$here/static/img/icons.LICENSE.txt"
