#!/bin/sh
# Install PlanJury in a Debian that has nothing yet; runs as root. The Dockerfile calls both steps.
#
#   install.sh environment SOURCES    make /opt/planjury from the sources (needs PyPI)
#   install.sh system                 what it needs of Debian, the account, and the folder /data
set -eu
packages() {
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null
    rm -rf /var/lib/apt/lists/*
}
case "$1" in
environment)
    sources="$2"
    packages ca-certificates python3 python3-venv
    python3 -m venv /opt/planjury
    "$sources/requirements/scripts/install.sh" /opt/planjury/bin/python "$sources/requirements/core.lock"
    /opt/planjury/bin/pip install --quiet --disable-pip-version-check --no-deps "$sources"
    ;;
system)
    # The client of PostgreSQL is for backups of the scaled profile.
    packages ca-certificates postgresql-client python3
    useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin planjury
    install -d -o planjury -g planjury -m 700 /data
    ;;
*)
    echo "install.sh environment SOURCES, or install.sh system" >&2
    exit 2
    ;;
esac
