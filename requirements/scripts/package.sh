#!/bin/sh
# Build the wheels and source archives of PlanJury and its client into the folder $2, with the tools
# in the environment of the interpreter $1. Each wheel is built from its source archive, which holds
# the documentation as a site.
set -eu
root=$(CDPATH="" cd -- "$(dirname "$0")/../.." && pwd)
"$1" "$root/requirements/scripts/build_docs.py" >/dev/null
for project in "$root" "$root/client"; do
    "$1" -m build --no-isolation --outdir "$2" "$project" >/dev/null
done
ls "$2"
