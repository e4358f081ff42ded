"""How a system speaks of its endings and figures on pages: a module ``words`` in its folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Literal

from benchmarks.core.registry import EXTERNAL, SYSTEMS
from benchmarks.core.types import Outcome

Tone = Literal["ok", "warn", "bad", "info", "aside", "idle", ""]


@dataclass(frozen=True)
class Ending:
    """A way in which an episode can end: a few words, a sentence, and how it looks."""

    title: str
    sentence: str
    tone: Tone = ""


@dataclass(frozen=True)
class Measure:
    """A metric of runs. A ``rate`` is a share of trajectories, shown in percent."""

    title: str
    help: str
    kind: Literal["rate", "mean"] = "mean"


def system_part(system: str, name: str) -> ModuleType | None:
    """A module of a system's folder, or None where it has none (or the system is not known)."""
    if system not in SYSTEMS and system != EXTERNAL:
        return None
    folder = (
        "benchmarks.systems.external"
        if system == EXTERNAL
        else SYSTEMS[system][1].rpartition(".")[0]
    )
    path = f"{folder}.{name}"
    return import_module(path) if find_spec(path) else None


def plain(code: str) -> str:
    """A code as words, for what nobody has put into words."""
    words = code.replace("_", " ").replace("-", " ").strip()
    return words[:1].upper() + words[1:]


def endings_of(system: str) -> Mapping[str, Ending]:
    """The endings of a system by termination code."""
    endings: Mapping[str, Ending] = getattr(system_part(system, "words"), "ENDINGS", {})
    return endings


def ending(system: str, termination: str) -> Ending:
    """One ending in words; a code that is not known speaks for itself."""
    return endings_of(system).get(termination) or Ending(plain(termination), "")


def measures_of(system: str) -> Mapping[str, Measure]:
    """The metrics that pages show, in their order."""
    measures: Mapping[str, Measure] = getattr(system_part(system, "words"), "MEASURES", {})
    return measures


def verdicts_of(system: str) -> Mapping[str, str]:
    """The yes-or-no metrics that pages show of a trajectory, with their titles."""
    usual = {"valid": "Valid", "accurate": "Passes"}
    verdicts: Mapping[str, str] = getattr(system_part(system, "words"), "VERDICTS", usual)
    return verdicts


def columns_of(system: str) -> Mapping[str, Measure]:
    """The metrics of single trajectories that lists of this system's trajectories show."""
    names = getattr(system_part(system, "words"), "COLUMNS", ())
    return {name: measures_of(system)[name] for name in names}


def hidden_of(system: str) -> str:
    """What is hidden from agents beside constraints, in a sentence; empty for nothing."""
    text: str = getattr(system_part(system, "words"), "HIDDEN", "")
    return text


def choices_of(system: str, setting: str) -> Mapping[str, str]:
    """What each choice of a setting means; empty where the names say it."""
    choices: Mapping[str, Mapping[str, str]] = getattr(system_part(system, "words"), "CHOICES", {})
    return choices.get(setting, {})


def first_settings(system: str) -> Sequence[str]:
    """The settings that one chooses first; forms fold the others away."""
    names: Sequence[str] = getattr(system_part(system, "words"), "FIRST_SETTINGS", ())
    return names


def explain(system: str, outcome: Outcome, settings: Mapping[str, Any]) -> str:
    """Why a trajectory ended, in a sentence or two."""
    tell = getattr(system_part(system, "words"), "explain", None)
    if tell is None:
        return ending(system, outcome.termination).sentence
    text: str = tell(outcome, settings)
    return text


def reason_words(system: str, reason: str) -> str:
    """Why a metric is undefined, with the system's titles in place of its keys."""
    tell = getattr(system_part(system, "words"), "in_words", None)
    return str(tell(reason)) if tell else reason


def prompt_digests(system: str, version: str) -> Mapping[str, str]:
    """The digest of each prompt file of a version; empty for systems without prompts."""
    give = getattr(system_part(system, "prompts"), "prompt_digests", None)
    digests: Mapping[str, str] = give(version) if give else {}
    return digests
