"""The prompts of the builder, by version, and which version of ADAPT's prompts each goes with."""

from collections.abc import Mapping
from pathlib import Path

from benchmarks.core.ports.prompts import Prompts

VERSION = "1"
PROMPTS = Prompts(Path(__file__).parent, VERSION)
# Student, teacher and persona are prompted as in ADAPT. A changed prompt there is a new version
# here, so that stored runs are played back with the words that they were made with.
ADAPT_VERSIONS: Mapping[str, str] = {"1": "1"}
