"""Packages that are not installed for the product, in an interpreter of their own.

`PLANJURY_PACKAGES_PYTHON` names one that has inspect-ai, opentelemetry-sdk and
opentelemetry-exporter-otlp-json-file; without it, tests with these packages are skipped.
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest


def run_with(module: str, script: Path | str, *arguments: Any) -> str:
    """Run a script, or code, where a module is installed; what it prints."""
    python = os.environ.get("PLANJURY_PACKAGES_PYTHON", "")
    if not python:
        try:
            here = find_spec(module) is not None
        except ModuleNotFoundError:
            here = False
        if not here:
            pytest.skip(f"{module} is not installed; see tests/benchmarks/formats/packages.py")
        python = sys.executable
    code = [str(script)] if isinstance(script, Path) else ["-c", script]
    done = subprocess.run(
        [python, *code, *map(str, arguments)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
