"""The prompts of the construction pipeline, by version."""

from pathlib import Path

from benchmarks.core.ports.prompts import Prompts

VERSION = "1"
PROMPTS = Prompts(Path(__file__).parent, VERSION)

fill = PROMPTS.fill
