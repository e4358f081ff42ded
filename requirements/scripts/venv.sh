#!/bin/sh
# Make the virtual environment $1, or say what is missing.
set -eu
python=${PYTHON:-python3}
if ! command -v "$python" >/dev/null; then
    echo "Python was not found ($python). PlanJury needs Python 3.11 or later." >&2
    exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "PlanJury needs Python 3.11 or later; $python is $("$python" -V)." >&2
    echo "Name another one: make PYTHON=/path/to/python3.11 …" >&2
    exit 1
fi
if uv --version >/dev/null 2>&1; then
    exec uv venv --quiet --python "$(command -v "$python")" "$1"
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    echo "This Python cannot make virtual environments. On Debian and Ubuntu:" >&2
    echo "    apt-get install python3-venv" >&2
    exit 1
fi
exec "$python" -m venv "$1"
