"""The prompts of ADAPT, by version."""

from pathlib import Path

from benchmarks.core.ports.prompts import Prompts

VERSION = "1"
PROMPTS = Prompts(Path(__file__).parent, VERSION)
