"""Plug-ins: systems, formats, questionnaires, label sets and pages from outside the product.

A plug-in is an object in a module. A package names it by an entry point of the group
``planjury.systems``, ``.formats``, ``.questionnaires``, ``.label_sets`` or ``.pages``. A folder on
the path, such as those in ``PLANJURY_PLUGIN_DIRS``, holds it as a module of the namespace package
``planjury_systems``, ``planjury_formats`` or ``planjury_pages``, or as a file in
``planjury_questionnaires`` or ``planjury_label_sets``. Each registry loads its kind when it is
imported, so web processes, workers and commands have the same.

A plug-in that cannot be used is left out and listed in ``broken``; it stops nothing else.
"""

import logging
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from benchmarks.core.errors import CoreError

# The version of what plug-ins may use: the kit of pages, systems with their ports, formats. It
# rises when a plug-in written for it would have to be changed.
INTERFACE = 1
# Under this name the pins of a run have the plug-in that made it.
PLUG_IN = "plug_in"
Kind = Literal["systems", "formats", "questionnaires", "label_sets", "pages"]
# Kinds whose plug-in is a YAML file, not an object of a module.
FILE_KINDS = ("questionnaires", "label_sets")
# The object of a module in a folder, by kind; a format is the module itself.
ATTRIBUTES: dict[Kind, str] = {"systems": ":SYSTEM", "formats": "", "pages": ":PAGE"}
NOUNS: dict[Kind, str] = {
    "systems": "system",
    "formats": "format",
    "questionnaires": "questionnaire",
    "label_sets": "label set",
    "pages": "page",
}
logger = logging.getLogger(__name__)


class PlugInFault(CoreError):
    """Something that makes a plug-in unusable: one sentence, and what to do about it."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.problem, self.remedy = problem, remedy


@dataclass(frozen=True)
class PlugIn:
    """A plug-in by kind and name.

    ``target`` is its object as ``module:ATTRIBUTE``, or the path of a YAML file.
    ``package`` and ``version`` are those of the installed distribution; of a plug-in in a folder,
    the path of its file, and no version.
    """

    kind: Kind
    name: str
    target: str
    package: str
    version: str = ""

    @property
    def title(self) -> str:
        """Return what it is, in words: ``page lengths``."""
        return f"{NOUNS[self.kind]} {self.name}"

    @property
    def origin(self) -> str:
        """Return the package with its version, or the file."""
        return f"{self.package} {self.version}".strip()

    @property
    def module(self) -> str:
        """Return the name of its module."""
        return self.target.partition(":")[0]


@dataclass(frozen=True)
class BrokenPlugIn:
    """A plug-in or a folder of plug-ins that cannot be used, why, and what to do."""

    title: str
    origin: str
    problem: str
    remedy: str


loaded: list[PlugIn] = []
broken: list[BrokenPlugIn] = []


def add_folders(folders: Sequence[Path]) -> None:
    """Put folders of plug-ins at the end of the path, so that they hide no other module."""
    for folder in folders:
        kept = (*(f"planjury_{kind}" for kind in NOUNS), "*.dist-info")
        if any(any(folder.glob(pattern)) for pattern in kept):
            sys.path.append(str(folder))
            continue
        problem = "has no plug-ins" if folder.is_dir() else "does not exist"
        remedy = (
            f"Put them into {', '.join(kept[:-1])}, install packages into it with pip install "
            "--target, or take the folder out of PLANJURY_PLUGIN_DIRS."
        )
        broken.append(BrokenPlugIn("folder", str(folder), f"The folder {problem}.", remedy))


def load(kind: Kind, add: Callable[[PlugIn, Any], None]) -> None:
    """Load the plug-ins of a kind; ``add`` registers an object, or raises `PlugInFault`."""
    for plug_in in sorted(_discover(kind), key=lambda plug_in: (plug_in.name, plug_in.origin)):
        try:
            add(plug_in, _object(plug_in))
        except PlugInFault as fault:
            _leave_out(plug_in, fault.problem, fault.remedy)
        # The code of a plug-in may raise anything, and may try to end the process.
        except (Exception, SystemExit) as error:
            logger.debug("%s of %s failed", plug_in.title, plug_in.origin, exc_info=True)
            _leave_out(
                plug_in,
                f"Loading it raises {_words(error)}.",
                "Mend the module and restart, or uninstall it.",
            )
        else:
            loaded.append(plug_in)


def find_plug_in(kind: Kind, name: str) -> PlugIn | None:
    """Return the plug-in of this kind and name; None for what ships with the product."""
    return next((one for one in loaded if (one.kind, one.name) == (kind, name)), None)


def note_failure(plug_in: PlugIn, error: BaseException) -> None:
    """Log an error that a plug-in raised when it was used; its first one is listed as broken."""
    logger.error("%s of %s failed", plug_in.title, plug_in.origin, exc_info=error)
    problem = f"Using it raised {_words(error)}."
    if not any(one.title == plug_in.title for one in broken):
        remedy = "Mend the module and restart; the log has the traceback."
        broken.append(BrokenPlugIn(plug_in.title, plug_in.origin, problem, remedy))


def check_name(plug_in: PlugIn, pattern: str, taken: bool) -> None:
    """Refuse a name that addresses and tables cannot hold, or that is taken."""
    if not re.fullmatch(pattern, plug_in.name):
        raise PlugInFault(
            f"Its name does not match {pattern}.", "Give it a name of small letters and digits."
        )
    if taken:
        raise PlugInFault(
            f"There is already a {plug_in.title}.", "Rename one of them, or uninstall one."
        )


def resolve(target: str) -> Any:
    """Return the object that ``module:ATTRIBUTE`` names; its module is imported on first use."""
    return pkgutil.resolve_name(target)


def folder_of(target: str) -> Path:
    """Return the folder of the module of ``module:ATTRIBUTE``, which is not imported."""
    spec = find_spec(target.partition(":")[0])
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent


def source_roots(plug_in: PlugIn) -> list[Path]:
    """Return the files and folders of which a plug-in consists.

    That is all of an installed package; in a folder, its module or its file alone.
    """
    if plug_in.kind in FILE_KINDS and not plug_in.version:
        return [Path(plug_in.target)]
    name = plug_in.module.partition(".")[0] if plug_in.version else plug_in.module
    spec = find_spec(name)
    assert spec is not None
    return [Path(path) for path in spec.submodule_search_locations or [spec.origin or ""]]


def _discover(kind: Kind) -> Iterator[PlugIn]:
    for point in _entry_points().select(group=f"planjury.{kind}"):
        package = point.dist
        assert package is not None  # of all that importlib.metadata reads from the path
        yield PlugIn(kind, point.name, point.value, package.name, package.version)
    for path in sys.path:
        for file in sorted(Path(path).glob(f"planjury_{kind}/[!_.]*")):
            if kind in FILE_KINDS and file.suffix == ".yaml":
                yield PlugIn(kind, file.stem, str(file), str(file))
            elif kind not in FILE_KINDS and (file.suffix == ".py" or file.is_dir()):
                name = file.stem if kind == "systems" else file.stem.replace("_", "-")
                target = f"planjury_{kind}.{file.stem}{ATTRIBUTES[kind]}"
                yield PlugIn(kind, name, target, str(file))


@cache
def _entry_points() -> Any:
    """Return all entry points: reading those of an environment takes longer than choosing."""
    return entry_points()


def _object(plug_in: PlugIn) -> Any:
    if plug_in.kind in FILE_KINDS and not plug_in.version:
        return Path(plug_in.target)
    module = import_module(plug_in.module)
    interface = getattr(module, "INTERFACE", None)
    if interface != INTERFACE:
        states = "names no INTERFACE" if interface is None else f"has INTERFACE = {interface!r}"
        raise PlugInFault(
            f"Its module {states}; this PlanJury has version {INTERFACE} of the interface.",
            f"Write INTERFACE = {INTERFACE} into {plug_in.module}, once it fits, or install a "
            "version of the package that does.",
        )
    return resolve(plug_in.target)


def _leave_out(plug_in: PlugIn, problem: str, remedy: str) -> None:
    broken.append(BrokenPlugIn(plug_in.title, plug_in.origin, problem, remedy))


def _words(error: BaseException) -> str:
    """Return an error's type and the first line of its text."""
    text = str(error).strip().partition("\n")[0][:200].rstrip(".")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
