"""The prompts of AdaPlanBench, by version."""

from pathlib import Path

from benchmarks.core.ports.prompts import Prompts

VERSION = "1"
FOLDER = Path(__file__).parent
PROMPTS = Prompts(FOLDER, VERSION)

load_prompt = PROMPTS.load
fill = PROMPTS.fill
