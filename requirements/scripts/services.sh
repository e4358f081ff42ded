#!/bin/sh
# A PostgreSQL and a Redis of our own: services.sh start|stop [FOLDER]
#
# Everything lies in FOLDER (default: services in the data folder). Both listen on 127.0.0.1 alone,
# on free ports, and want a password that is made here. Standard output is what a shell can eval.
# POSTGRES_OPTIONS are given to the PostgreSQL server when it starts. Exit code 3: a server is not
# installed and could not be.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
given=${2:-}
folder=${2:-${PLANJURY_DATA_DIR:-$here/../../var}/services}
export PGCONNECT_TIMEOUT=5

say() { echo "$*" >&2; }

# PostgreSQL refuses to run as root, and Redis should not: each gets its package's user.
as() { # as USER COMMAND…
    user=$1
    shift
    if [ "$(id -u)" -ne 0 ]; then
        "$@"
    elif id "$user" >/dev/null 2>&1; then
        runuser -u "$user" -- "$@"
    else
        runuser -u nobody -- "$@"
    fi
}

owned() { # owned USER PATH: a folder for that user alone
    mkdir -p "$2"
    [ "$(id -u)" -ne 0 ] || chown "$(as "$1" id -u)" "$2"
    chmod 700 "$2"
}

# Debian keeps each version in a folder of its own; data want the version that made them.
postgres_programs() {
    version=$(cat "$folder/postgres/PG_VERSION" 2>/dev/null || echo '*')
    for place in $(ls -d /usr/lib/postgresql/$version/bin 2>/dev/null | sort -rV); do
        if [ -x "$place/initdb" ]; then
            PATH=$place:$PATH
            break
        fi
    done
}

find_programs() {
    postgres_programs
    command -v initdb >/dev/null && command -v redis-server >/dev/null
}

free_port() {
    python3 -c 'import socket as s; t = s.socket(); t.bind(("127.0.0.1", 0)); print(t.getsockname()[1])'
}

secret() { # secret NAME: made once, then kept
    [ -s "$folder/$1" ] || od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$folder/$1"
    cat "$folder/$1"
}

port_of() { cat "$folder/$1-port" 2>/dev/null || true; }

postgres_answers() { [ -n "$(port_of postgres)" ] && psql_ -c 'select 1' postgres >/dev/null 2>&1; }
psql_() { PGPASSWORD=$password psql -qtAX -h 127.0.0.1 -p "$(port_of postgres)" -U planjury "$@"; }

redis_answers() { [ -n "$(port_of redis)" ] && [ "$(redis_ ping 2>/dev/null)" = PONG ]; }
redis_() { REDISCLI_AUTH=$password redis-cli -h 127.0.0.1 -p "$(port_of redis)" "$@"; }

make_cluster() {
    # Through a pipe that the server's user made itself, which alone it may open by name.
    echo "$password" | as postgres sh -c 'cat | initdb --pgdata "$1" --username planjury \
        --encoding UTF8 --locale C.UTF-8 --auth scram-sha-256 --pwfile /dev/stdin' \
        initdb "$folder/postgres" >/dev/null
}

start_postgres() { # start_postgres PORT
    data=$folder/postgres
    owned postgres "$data"
    if [ ! -e "$data/PG_VERSION" ]; then
        make_cluster || return
    fi
    as postgres pg_ctl start --wait --silent --pgdata "$data" --log "$data/log" \
        -o "-h 127.0.0.1 -p $1 -k '' ${POSTGRES_OPTIONS:-}" >/dev/null || return
    echo "$1" >"$folder/postgres-port"
    postgres_answers
}

start_redis() { # start_redis PORT
    data=$folder/redis
    owned redis "$data"
    # A configuration on standard input, so that the password is seen in no list of processes.
    as redis redis-server - >/dev/null <<END || return
bind 127.0.0.1
port $1
requirepass $password
dir "$data"
pidfile "$data/pid"
logfile "$data/log"
daemonize yes
END
    echo "$1" >"$folder/redis-port"
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        redis_answers && return
        sleep 0.2
    done
    return 1
}

# The port of the last time first, so that the addresses stay; then others, if it is taken.
start_server() { # start_server NAME
    if "$1_answers"; then
        return
    fi
    for port in $(port_of "$1") $(free_port) $(free_port) $(free_port); do
        if "start_$1" "$port"; then
            return
        fi
    done
    say "$1 did not start; its log is $folder/$1/log"
    tail -n 5 "$folder/$1/log" >&2 || true
    exit 1
}

start() {
    if ! find_programs; then
        "$here/apt.sh" postgresql redis-server || exit 3
        find_programs || { say "PostgreSQL or Redis is not there after all."; exit 3; }
    fi
    mkdir -p "$folder"
    umask 077
    folder=$(cd "$folder" && pwd)
    # Another user's server must be able to come to its own folder in it.
    [ "$(id -u)" -ne 0 ] || chmod 711 "$folder"
    # The data folder itself is closed to others by the first start of PlanJury.
    [ "$(id -u)" -ne 0 ] || [ -n "$given" ] || chmod 711 "$(dirname "$folder")"
    for user in postgres redis; do
        if ! (cd / && as "$user" test -x "$folder"); then
            say "The user $user cannot enter $folder: name another folder in PLANJURY_DATA_DIR."
            exit 1
        fi
    done
    cd /
    password=$(secret password)
    start_server postgres
    start_server redis
    if [ -z "$(psql_ -c "select 1 from pg_database where datname = 'planjury'" postgres)" ]; then
        psql_ -c 'create database planjury' postgres
    fi
    cat >"$folder/env" <<END
export DATABASE_URL=postgresql://planjury:$password@127.0.0.1:$(port_of postgres)/planjury
export PLANJURY_BROKER_URL=redis://:$password@127.0.0.1:$(port_of redis)/0
END
    say "PostgreSQL and Redis run; these lines are also in $folder/env:"
    cat "$folder/env"
}

stop() {
    find_programs || exit 0
    cd "$folder" 2>/dev/null || { say "Nothing runs: there is no $folder."; exit 0; }
    folder=$(pwd)
    cd /
    password=$(secret password)
    if as postgres pg_ctl status --pgdata "$folder/postgres" >/dev/null 2>&1; then
        as postgres pg_ctl stop --wait --silent --mode fast --pgdata "$folder/postgres"
    fi
    ! redis_answers || redis_ shutdown
    say "PostgreSQL and Redis are stopped; their data stay in $folder."
}

case ${1:-} in
start) start ;;
stop) stop ;;
*)
    say "usage: services.sh start|stop [FOLDER]"
    exit 2
    ;;
esac
