#!/bin/sh
# Run pytest on a PostgreSQL and a Redis of its own: test_postgres.sh PYTHON [ARGUMENT…]
set -eu
if [ "${1:-}" != --inside ]; then
    # Processes are killed in tests, machines are not: nothing has to outlive a power cut.
    export POSTGRES_OPTIONS="-c fsync=off -c full_page_writes=off"
    code=0
    "$(dirname "$0")/throwaway.sh" "$0" --inside "$@" || code=$?
    if [ "$code" -eq 3 ]; then
        echo
        echo "=== SKIPPED: the tests on PostgreSQL and Redis. They cannot be installed here (above). ==="
        echo
        exit 0
    fi
    exit "$code"
fi
shift
python=$1
shift
# What the tests start themselves gets databases of its own, made beside this one.
export PLANJURY_TEST_DATABASE_URL="$DATABASE_URL" PLANJURY_TEST_BROKER_URL="$PLANJURY_BROKER_URL"
unset DATABASE_URL PLANJURY_BROKER_URL
code=0
"$python" -m pytest "$@" || code=$?
# 3 is pytest's own word for an internal error; outside it would mean that there are no servers.
[ "$code" -ne 3 ] || code=4
exit "$code"
