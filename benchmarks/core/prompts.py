"""Prompt files with versions. A changed prompt is a new file; old ones stay loadable."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

import yaml

from benchmarks.core.digests import digest_text


@dataclass(frozen=True)
class Prompts:
    """The prompts of a system: files ``NAME.vVERSION.txt`` and ``NAME.vVERSION.yaml`` of a folder.

    ``version`` is the one that is used where none is asked for.
    """

    folder: Path
    version: str

    def load(self, name: str, version: str = "") -> Template:
        """The prompt ``NAME.vVERSION.txt``."""
        return _read(self.folder / f"{name}.v{version or self.version}.txt")

    def load_set(self, name: str, version: str = "") -> Mapping[str, Template]:
        """Short texts by occasion, of ``NAME.vVERSION.yaml``."""
        return _read_set(self.folder / f"{name}.v{version or self.version}.yaml")

    def fill(self, name: str, values: Mapping[str, Any], version: str = "") -> str:
        """The prompt with its places filled; a missing value is an error, not a blank."""
        return self.load(name, version).substitute(values)

    def digests(self, version: str = "") -> dict[str, str]:
        """Digest of each prompt file of a version, for a run's record of what it used."""
        found = sorted(self.folder.glob(f"*.v{version or self.version}.*"))
        return {path.name: digest_text(path.read_text(encoding="utf-8")) for path in found}


@cache
def _read(path: Path) -> Template:
    return Template(path.read_text(encoding="utf-8").strip())


@cache
def _read_set(path: Path) -> Mapping[str, Template]:
    texts = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {name: Template(text.strip()) for name, text in texts.items()}
