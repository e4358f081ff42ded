"""Processes that see plug-ins: they are loaded when a process starts."""

import os
import subprocess
import sys
from pathlib import Path

from django.conf import settings


def run(*command: str | Path, **environment: str) -> str:
    """Run a command of this Python in the checkout and return what it says; it must end well."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=settings.BASE_DIR,
        env={**outside, **environment},
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def run_tests(folders: str | Path, *arguments: str | Path) -> str:
    """Run tests in a process that has the plug-ins of these folders."""
    options = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    return run(*options, *arguments, PLANJURY_PLUGIN_DIRS=str(folders))
