#!/bin/sh
# Install Debian packages, as root or through sudo without a password; else say why not and fail.
set -eu
if ! command -v apt-get >/dev/null; then
    echo "There is no apt-get here to install: $*" >&2
    exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    echo "Installing needs root (or sudo without a password): $*" >&2
    exit 1
fi
echo "Installing $* …" >&2
export DEBIAN_FRONTEND=noninteractive
{
    $as_root apt-get update -qq
    $as_root apt-get install -qq -y --no-install-recommends "$@"
} >/dev/null
