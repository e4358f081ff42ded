"""The documentation as a site, built once for all tests of a process."""

import importlib.util
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType

from django.conf import settings

SCRIPT = Path(settings.BASE_DIR) / "requirements" / "scripts" / "build_docs.py"


@cache
def builder() -> ModuleType:
    """The script as a module; it loads nothing of the product before it builds."""
    spec = importlib.util.spec_from_file_location("build_docs", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def built_site() -> Path:
    """The folder of a newly built site."""
    folder = Path(tempfile.mkdtemp(prefix="docs-site-"))
    done = subprocess.run(
        [sys.executable, SCRIPT, folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder
