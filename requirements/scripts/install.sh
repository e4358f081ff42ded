#!/bin/sh
# Install the lock file $2 for the interpreter $1. Every file must match its hash.
# The lock file is complete, so nothing is resolved: pip would look at newer releases of what is
# asked for with an extra (coverage[toml]), and refuse them for want of a hash.
set -eu
echo "Installing $2 …"

# All packages have wheels for Linux and macOS; elsewhere one may have to be built.
stop() {
    if ! command -v "${CC:-cc}" >/dev/null; then
        echo "The packages were not installed, and this machine has no compiler for one without a wheel." >&2
        echo "If a build failed above, install one and run this again. On Debian and Ubuntu:" >&2
        echo "    apt-get install build-essential python3-dev" >&2
    fi
    exit 1
}

if uv --version >/dev/null 2>&1; then
    uv pip install --quiet --python "$1" --no-deps --require-hashes --requirement "$2" || stop
    exec uv pip check --quiet --python "$1"
fi
"$1" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement "$2" || stop
"$1" -m pip check --disable-pip-version-check
