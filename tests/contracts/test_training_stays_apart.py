"""The extra ``train`` is never imported by what the web app and its workers load."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
APART = ("torch", "transformers", "trl", "peft", "datasets", "accelerate")
# Records who asks for a package of the extra, whether it is installed or not.
LOADED = """
import importlib, pkgutil, sys, traceback

class Finder:
    asked = []
    def find_spec(self, name, path=None, target=None):
        if name in {apart!r}:
            files = [frame.filename for frame in traceback.extract_stack()]
            self.asked += [(name, file) for file in files if file.startswith({root!r})][-1:]

sys.meta_path.insert(0, Finder())
import config.wsgi, config.celery
from django.urls import get_resolver
get_resolver().url_patterns
import benchmarks.management.commands as commands
for module in pkgutil.iter_modules(commands.__path__):
    importlib.import_module(commands.__name__ + "." + module.name)
from benchmarks.core.registry import SYSTEMS, get_system
for key in SYSTEMS:
    get_system(key).sample_tasks()
assert "benchmarks.systems.adapt_reflection.training.commands" in sys.modules
print(sorted(set(Finder.asked)), sorted(set({apart!r}) & set(sys.modules)))
"""


def test_nothing_of_the_extra_is_imported() -> None:
    code = LOADED.format(apart=APART, root=str(ROOT / "benchmarks"))
    made = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    assert made.stdout.split("\n")[-2] == "[] []", made.stdout
