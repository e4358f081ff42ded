#!/bin/sh
# Run a command with a PostgreSQL and a Redis that are gone afterwards: throwaway.sh COMMAND…
# The command finds them in DATABASE_URL and PLANJURY_BROKER_URL. Exit code 3: they cannot be had.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/planjury-services.XXXXXX")
chmod 755 "$folder"
trap '"$here/services.sh" stop "$folder" 2>/dev/null; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM HUP
variables=$("$here/services.sh" start "$folder") || exit $?
eval "$variables"
code=0
"$@" || code=$?
exit "$code"
