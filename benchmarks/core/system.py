"""What a benchmark system offers: its roles, settings, protocol, parsers and figures."""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from benchmarks.core.answerers import Answerer
from benchmarks.core.errors import SettingError
from benchmarks.core.types import Constraint, Episode, Json, Outcome, Profile, Task

# Under this name the settings of an episode say which version of its prompts it uses, where a run
# is pinned to one; without it the newest.
PROMPTS = "prompts"
# Beside that, what a run is pinned to has the digest of each prompt file.
PROMPT_FILES = "prompt_files"


@dataclass(frozen=True)
class Role:
    """A role that somebody fills; ``seats`` is how many fill it unless a run says otherwise.

    The party under test always has the name ``agent``, whatever its title. A role that ``decides``
    judges whether a plan is valid, and so how the episode goes on.
    """

    name: str
    title: str
    default: tuple[str, ...] = ()
    judges: bool = False
    decides: bool = False

    @property
    def seats(self) -> int:
        return max(1, len(self.default))


@dataclass(frozen=True)
class Setting:
    """One setting of a condition, enough to validate it and to draw its form field."""

    name: str
    kind: Literal["choice", "int", "float", "bool"]
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None

    def read(self, raw: Any) -> Any:
        """``raw`` (a string from a form or a terminal, or a JSON value) as a value of this kind."""
        value = self._cast(raw)
        if self.choices and value not in self.choices:
            raise SettingError(self.name, "one of " + ", ".join(self.choices), raw)
        below = self.minimum is not None and value < self.minimum
        above = self.maximum is not None and value > self.maximum
        if below or above:
            bounds = f"at least {self.minimum}" if below else f"at most {self.maximum}"
            raise SettingError(self.name, bounds, raw)
        return value

    def _cast(self, raw: Any) -> Any:
        text = str(raw).strip()
        try:
            match self.kind:
                case "int":
                    return int(text)
                case "float":
                    number = float(text)
                    if not math.isfinite(number):
                        raise ValueError
                    return number
                case "bool":
                    return {
                        "true": True,
                        "1": True,
                        "on": True,
                        "yes": True,
                        "false": False,
                        "0": False,
                        "off": False,
                        "no": False,
                    }[text.lower()]
                case _:
                    return text
        except (ValueError, KeyError):
            wanted = {"int": "a whole number", "float": "a number", "bool": "true or false"}
            raise SettingError(self.name, wanted[self.kind], raw) from None


def read_settings(known: Sequence[Setting], given: Mapping[str, Any]) -> dict[str, Any]:
    """Every setting with its value; unknown names are refused, missing ones take their default."""
    names = [setting.name for setting in known]
    for name, raw in given.items():
        if name not in names:
            raise SettingError(name, "a setting among " + ", ".join(names), raw)
    return {s.name: s.read(given[s.name]) if s.name in given else s.default for s in known}


@dataclass(frozen=True)
class Dimension:
    """A rubric dimension: definition, and anchors and an example for the scores 1, 3 and 5."""

    key: str
    title: str
    definition: str
    anchors: Mapping[int, str] = field(default_factory=dict)
    examples: Mapping[int, str] = field(default_factory=dict)
    main: bool = False


@dataclass(frozen=True)
class ScriptedPolicy:
    """A scripted answerer that can be chosen for a role.

    ``build`` binds it to a task (its pool of plans, say); ``parameters`` are its defaults.

    A judge with ``pool_only`` knows the plans of the task's own pool; any other text it cannot
    read. ``can_decide`` says of a constraint whether a judge can decide about it (None: of each).
    ``unscored`` are dimensions that a judge never scores. ``has_recordings`` says of a task whether
    a recorded agent has an answer to it.
    """

    name: str
    role: str
    title: str
    version: str
    build: Callable[[Task, Json], Answerer]
    parameters: Json = field(default_factory=dict)
    label: Literal["scripted", "lexicon", "recorded"] = "scripted"
    pool_only: bool = False
    can_decide: Callable[[Constraint], bool] | None = None
    unscored: tuple[str, ...] = ()
    has_recordings: Callable[[Task], bool] | None = None


@dataclass(frozen=True)
class Published:
    """A figure from a paper, with where it stands there and with how many decimals."""

    model: str
    metric: str
    value: float
    n: int | None
    source: str
    note: str = ""
    digits: int = 2

    @property
    def printed(self) -> str:
        """The number with the digits that the paper prints."""
        return f"{self.value:.{self.digits}f}"


class System(Protocol):
    """A benchmark system. Modules named in the registry expose one instance as ``SYSTEM``."""

    key: str
    title: str
    protocol_version: str
    prompt_version: str
    parser_version: str
    scorer_version: str
    roles: tuple[Role, ...]
    settings: tuple[Setting, ...]
    parsers: Mapping[str, Callable[[str, Mapping[str, Any]], Any]]
    scripted: Mapping[str, ScriptedPolicy]
    dimensions: tuple[Dimension, ...]
    published: tuple[Published, ...]

    def seats(self, role: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """The seats of a role under these settings; empty where the role is not asked."""

    def episode(self, task: Task, settings: Mapping[str, Any], rng: random.Random) -> Episode:
        """The protocol as a generator; no clock, no I/O, no randomness but ``rng``."""

    def summarise(self, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
        """Metrics of a run over its ended trajectories, with denominators and exclusions."""

    def sample_tasks(self) -> Sequence[tuple[Task, Sequence[Profile]]]:
        """A few small tasks of our own, on which the contract tests run every policy."""
