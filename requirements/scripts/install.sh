#!/bin/sh
# Install the lock file $2 for the interpreter $1. Every file must match its hash.
set -eu
echo "Installing $2 …"
if uv --version >/dev/null 2>&1; then
    exec uv pip install --quiet --python "$1" --require-hashes --requirement "$2"
fi
exec "$1" -m pip install --quiet --disable-pip-version-check --require-hashes --requirement "$2"
