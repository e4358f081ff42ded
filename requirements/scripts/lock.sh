#!/bin/sh
# Pin the dependencies of pyproject.toml with hashes; arguments go to uv (--upgrade, --upgrade-package NAME).
# The lock files name no package index, so that any mirror will do.
set -eu
cd "$(dirname "$0")/../.."
if ! uv --version >/dev/null 2>&1; then
    echo "make lock needs uv." >&2
    exit 1
fi
compile() {
    name="$1"
    shift
    uv pip compile --quiet --generate-hashes --no-header --no-emit-index-url --no-emit-find-links \
        --python-version 3.11 "$@" pyproject.toml --output-file "requirements/$name.lock" >/dev/null
}
compile core "$@"
compile dev --group dev "$@"
compile parquet --extra parquet --constraint requirements/core.lock "$@"
compile errors --extra errors --constraint requirements/core.lock "$@"
# torch brings libraries of graphics cards on some platforms, so this one is for every platform.
compile train --universal --extra train --constraint requirements/core.lock "$@"
