#!/bin/sh
# See to it that the browser tests have a browser; without one they are skipped, so this never fails.
# What prints figures needs one as well: that with a window, as people have it.
set -eu
has() {
    for name in "$@"; do
        ! command -v "$name" >/dev/null || return 0
    done
    return 1
}
apt="$(dirname "$0")/apt.sh"
if ! has chromium chromium-browser google-chrome && ! "$apt" chromium fonts-dejavu-core; then
    echo "No chromium here, and it could not be installed: browser tests will be skipped."
elif ! has chromium-headless-shell google-chrome && ! "$apt" chromium-headless-shell; then
    echo "No chromium-headless-shell here: browser tests take chromium itself, and longer."
fi
