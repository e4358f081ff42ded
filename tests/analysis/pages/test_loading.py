"""Modules that a web server loads after its start."""

import subprocess
import sys

CODE = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.test"
import django
django.setup()
from analysis.pages import catalogue
assert "numpy" not in sys.modules
catalogue.HEAVY, catalogue.PAGES = ("numpy",), {}
catalogue.load_reports()
assert "numpy" in sys.modules
"""


def test_reports_are_loaded_when_asked_for_and_not_at_the_start() -> None:
    subprocess.run([sys.executable, "-c", CODE], check=True)
