"""The prompts of PlanBench-XL, by version."""

from collections.abc import Mapping
from pathlib import Path
from string import Template

from benchmarks.core.ports.prompts import Prompts

VERSION = "1"
FOLDER = Path(__file__).parent
PROMPTS = Prompts(FOLDER, VERSION)

fill = PROMPTS.fill


def load_feedback(version: str = "") -> Mapping[str, Template]:
    """Return what the environment says, by occasion."""
    return PROMPTS.load_set("feedback", version)
