#!/bin/sh
# Pin requirements/*.in with hashes; arguments go to uv (--upgrade, --upgrade-package NAME).
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
        --python-version 3.11 "$@" "requirements/$name.in" \
        --output-file "requirements/$name.lock" >/dev/null
}
for name in core parquet errors dev; do
    compile "$name" "$@"
done
# torch brings libraries of graphics cards on some platforms, so this one is for every platform.
compile train --universal "$@"
