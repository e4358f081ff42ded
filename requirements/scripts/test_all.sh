#!/bin/sh
# Run the three parts of the tests at once, and print one after the other.
#
# Each part waits for something most of the time: a browser, a killed process, a database. What
# drives a browser has deadlines, so it goes first wherever processors are short. All parts run even
# when one fails; the last one's closing line is that of most tests.
set -u
logs=$(mktemp -d)
told() { cat "$logs/postgres" "$logs/unit" 2>/dev/null; rm -rf "$logs"; }
trap 'told; exit 1' TERM INT
nice -n 10 "$MAKE" --no-print-directory test-postgres >"$logs/postgres" 2>&1 &
postgres=$!
nice -n 10 "$MAKE" --no-print-directory test-unit >"$logs/unit" 2>&1 &
unit=$!
code=0
"$MAKE" --no-print-directory test-browser || code=1
wait "$postgres" || code=1
wait "$unit" || code=1
told
exit "$code"
