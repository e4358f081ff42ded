"""The web process starts without what only analyses need."""

import subprocess
import sys

HEAVY = ("numpy", "pandas", "scipy", "plotly")
CODE = f"""
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.test"
import django
django.setup()
import config.urls
print([name for name in {HEAVY!r} if name in sys.modules])
"""


def test_addresses_import_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
