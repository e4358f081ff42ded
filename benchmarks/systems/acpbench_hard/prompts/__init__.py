"""The prompts of ACPBench Hard, by version, and the worked examples that go before a question."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from benchmarks.core.ports.prompts import Prompts
from benchmarks.core.yaml_files import read_yaml_file

VERSION = "1"
FOLDER = Path(__file__).parent
PROMPTS = Prompts(FOLDER, VERSION)

fill = PROMPTS.fill


def load_forms(version: str = "") -> Mapping[str, Template]:
    """Load the form in which an answer is wanted, by task, and how the parts of a context are
    headed.
    """
    return PROMPTS.load_set("forms", version)


def load_choices(version: str = "") -> Mapping[str, Template]:
    """Load what the agent is told before questions whose answers are given, by form."""
    return PROMPTS.load_set("choices", version)


def load_examples(version: str = "") -> Mapping[str, Sequence[Mapping[str, str]]]:
    """Load worked examples by task: context, question, answer, and the texts in PDDL.

    They were generated from domains of their own, which no dataset of ours is about.
    """
    examples: Mapping[str, Sequence[Mapping[str, str]]] = _read(PROMPTS.files(version)["examples"])
    return examples


@cache
def _read(path: Path) -> Any:
    return read_yaml_file(path)
