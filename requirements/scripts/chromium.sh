#!/bin/sh
# See to it that the browser tests have a browser; without one they are skipped, so this never fails.
set -eu
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then
        exit 0
    fi
done
if ! "$(dirname "$0")/apt.sh" chromium fonts-dejavu-core; then
    echo "No chromium here, and it could not be installed: browser tests will be skipped."
fi
