"""Prompt files with versions. A changed prompt is a new file; old ones stay loadable.

A version of a system's prompts has, of each prompt, the newest file up to that version. So whoever
changes one prompt adds one file, ``NAME.v2.txt``, and makes ``2`` the system's version.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from benchmarks.core.digests import digest_text
from benchmarks.core.yaml_files import read_yaml_file

_NAME = re.compile(r"\A(\w+)\.v(\d+)\.(?:txt|yaml)")


@dataclass(frozen=True)
class Prompts:
    """The prompts of a system: files ``NAME.vVERSION.txt`` and ``NAME.vVERSION.yaml`` of a folder.

    ``version`` is the one that is used where none is asked for.
    """

    folder: Path
    version: str

    def files(self, version: str = "") -> dict[str, Path]:
        """Return the file of each prompt of a version, by name; none where there is no such
        version.
        """
        return _files(self.folder, version or self.version)

    def versions(self) -> list[str]:
        """Return the versions that are here, in order."""
        matches = (_NAME.fullmatch(path.name) for path in self.folder.iterdir())
        return [str(number) for number in sorted({int(name[2]) for name in matches if name})]

    def load(self, name: str, version: str = "") -> Template:
        """Return a prompt in the wording of a version; ``KeyError`` where that has none."""
        return _read(self.files(version)[name])

    def load_set(self, name: str, version: str = "") -> Mapping[str, Template]:
        """Return short texts by occasion, in the wording of a version."""
        return _read_set(self.files(version)[name])

    def texts(self, version: str = "") -> dict[str, str]:
        """Return what stands in each prompt file of a version, by the file's name."""
        return {
            path.name: path.read_text(encoding="utf-8") for path in self.files(version).values()
        }

    def fill(self, name: str, values: Mapping[str, Any], version: str = "") -> str:
        """Return the prompt with its places filled; a missing value is an error, not a blank."""
        return self.load(name, version).substitute(values)

    def digests(self, version: str = "") -> dict[str, str]:
        """Return the digest of each prompt file of a version, for a run's record of what it
        used.
        """
        return {name: digest_text(text) for name, text in self.texts(version).items()}


@cache
def _files(folder: Path, version: str) -> dict[str, Path]:
    numbered: dict[str, list[tuple[int, Path]]] = {}
    for path in sorted(folder.iterdir()):
        if match := _NAME.fullmatch(path.name):
            numbered.setdefault(match[1], []).append((int(match[2]), path))
    numbers = {str(number) for paths in numbered.values() for number, _ in paths}
    if version not in numbers:
        return {}
    upto = {name: [p for p in paths if p[0] <= int(version)] for name, paths in numbered.items()}
    return {name: max(paths)[1] for name, paths in upto.items() if paths}


@cache
def _read(path: Path) -> Template:
    return Template(path.read_text(encoding="utf-8").strip())


@cache
def _read_set(path: Path) -> Mapping[str, Template]:
    texts = read_yaml_file(path)
    return {name: Template(text.strip()) for name, text in texts.items()}
