#!/bin/sh
# Install the lock file $2 for the interpreter $1. Every file must match its hash.
# The lock file is complete, so nothing is resolved: pip would look at newer releases of what is
# asked for with an extra (coverage[toml]), and refuse them for want of a hash.
set -eu
echo "Installing $2 …"
if uv --version >/dev/null 2>&1; then
    uv pip install --quiet --python "$1" --no-deps --require-hashes --requirement "$2"
    exec uv pip check --quiet --python "$1"
fi
"$1" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement "$2"
"$1" -m pip check --disable-pip-version-check
