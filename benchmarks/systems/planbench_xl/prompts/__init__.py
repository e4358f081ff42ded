"""Prompt files with versions. A changed prompt is a new file; old ones stay loadable."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

import yaml

from benchmarks.core.digests import digest_text

FOLDER = Path(__file__).parent
VERSION = "1"


@cache
def load_prompt(name: str, version: str = VERSION) -> Template:
    """The prompt ``NAME.vVERSION.txt``."""
    return Template((FOLDER / f"{name}.v{version}.txt").read_text(encoding="utf-8").strip())


@cache
def load_feedback(version: str = VERSION) -> Mapping[str, Template]:
    """What the environment says, by occasion."""
    text = (FOLDER / f"feedback.v{version}.yaml").read_text(encoding="utf-8")
    return {name: Template(said.strip()) for name, said in yaml.safe_load(text).items()}


def fill(name: str, values: Mapping[str, Any], version: str = VERSION) -> str:
    """The prompt with its places filled; a missing value is an error, not a blank."""
    return load_prompt(name, version).substitute(values)


def prompt_digests(version: str = VERSION) -> dict[str, str]:
    """Digest of each prompt file of a version, for a run's record of what it used."""
    return {
        path.name: digest_text(path.read_text(encoding="utf-8"))
        for path in sorted(FOLDER.glob(f"*.v{version}.*"))
    }
