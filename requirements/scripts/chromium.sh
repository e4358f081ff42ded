#!/bin/sh
# See to it that the browser tests have a browser; without one they are skipped, so this never fails.
set -eu
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then
        exit 0
    fi
done
if ! command -v apt-get >/dev/null; then
    echo "No chromium here, and no apt-get to install it: browser tests will be skipped."
    exit 0
fi
if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=sudo
else
    echo "No chromium here, and installing it needs root: browser tests will be skipped."
    exit 0
fi
echo "Installing chromium for the browser tests …"
export DEBIAN_FRONTEND=noninteractive
if ! { $as_root apt-get update -qq &&
    $as_root apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core; } >/dev/null
then
    echo "Chromium could not be installed: browser tests will be skipped."
fi
