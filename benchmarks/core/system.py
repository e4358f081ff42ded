"""The declaration of a benchmark system: its protocol, and the ports that it may fill.

A port is an attribute with a type and a default. Shared code asks the system through these ports
and never imports from a system's folder.
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from benchmarks.core.answerers import Answerer
from benchmarks.core.errors import SettingError
from benchmarks.core.ports.comparability import PublishedSetting
from benchmarks.core.ports.comparisons import Comparisons
from benchmarks.core.ports.demo import DemoDataset
from benchmarks.core.ports.disclosures import Disclosures
from benchmarks.core.ports.display import View
from benchmarks.core.ports.faults import Faults
from benchmarks.core.ports.importer import Importer
from benchmarks.core.ports.labels import Labels, plain
from benchmarks.core.ports.making import Making
from benchmarks.core.ports.people import Mode, People, Place
from benchmarks.core.ports.prompts import Prompts
from benchmarks.core.ports.published import PaperPreset, PaperStatements, Published
from benchmarks.core.ports.training_rows import TrainingRows
from benchmarks.core.ports.validity import Validity
from benchmarks.core.types import Constraint, Episode, Json, Outcome, Profile, Task, Turn

# Under this name the settings of an episode say which version of its prompts it uses, where a run
# is pinned to one; without it the newest.
PROMPTS = "prompts"
# Under this name the settings of an episode say which earlier version of its scorer a run is pinned
# to; absent for the newest.
SCORER = "scorer"
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
    """One setting of a condition, enough to validate it and to draw its form field.

    ``title`` is what pages call it, where that is not its name in words.
    """

    name: str
    kind: Literal["choice", "int", "float", "bool"]
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    title: str = ""

    @property
    def label(self) -> str:
        """The title of the setting on pages."""
        return self.title or plain(self.name)

    def words(self, value: str) -> str:
        """Return a stored value in words: ``on`` for a switch, ``world only`` for a choice."""
        if self.kind == "bool":
            return {"True": "on", "False": "off"}.get(value, value)
        return plain(value).lower() if self.kind == "choice" else value

    def read(self, raw: Any) -> Any:
        """Read ``raw`` (a string from a form or a terminal, or a JSON value) as a value of this
        kind.
        """
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
    """Return every setting with its value; unknown names are refused, missing ones take their
    default.
    """
    names = [setting.name for setting in known]
    for name, raw in given.items():
        if name not in names:
            raise SettingError(name, "a setting among " + ", ".join(names), raw)
    return {s.name: s.read(given[s.name]) if s.name in given else s.default for s in known}


@dataclass(frozen=True)
class Dimension:
    """A rubric dimension: definition, and anchors and an example for the scores 1, 3 and 5.

    ``note`` says in codebooks how it relates to its source; raters do not read it.
    """

    key: str
    title: str
    definition: str
    anchors: Mapping[int, str] = field(default_factory=dict)
    examples: Mapping[int, str] = field(default_factory=dict)
    main: bool = False
    note: str = ""


@dataclass(frozen=True)
class ScriptedPolicy:
    """A scripted answerer that can be chosen for a role.

    ``build`` binds it to a task (its pool of plans, say); ``parameters`` are its defaults.

    A judge with ``pool_only`` knows the plans of the task's own pool; any other text it cannot
    read. ``can_decide`` says of a constraint whether a judge can decide about it (None: of each).
    A ``machine`` computes what is right by rules that are known, and stands in for nobody.
    ``unscored`` are dimensions that a judge never scores. ``has_recordings`` says of a task whether
    a recorded agent has an answer to it, ``pool_size`` how many different ones.
    """

    name: str
    role: str
    title: str
    version: str
    build: Callable[[Task, Json], Answerer]
    parameters: Json = field(default_factory=dict)
    label: Literal["scripted", "lexicon", "recorded", "machine"] = "scripted"
    pool_only: bool = False
    can_decide: Callable[[Constraint], bool] | None = None
    unscored: tuple[str, ...] = ()
    has_recordings: Callable[[Task], bool] | None = None
    pool_size: Callable[[Task], int] | None = None


class System:
    """A benchmark system. Modules named in the registry expose one instance as ``SYSTEM``.

    What must be filled comes first; every port after it is optional.
    """

    key: str = ""
    title: str = ""
    protocol_version: str = "1"
    prompt_version: str = ""
    parser_version: str = "1"
    scorer_version: str = "1"
    # Versions of the scorer by which episodes of earlier runs are still scored, if they are told.
    earlier_scorers: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    settings: tuple[Setting, ...] = ()
    parsers: Mapping[str, Callable[[str, Mapping[str, Any]], Any]] = MappingProxyType({})
    scripted: Mapping[str, ScriptedPolicy] = MappingProxyType({})

    dimensions: tuple[Dimension, ...] = ()
    # The rubric by version, for questionnaires that name one; ``dimensions`` is what judges read.
    rubrics: Mapping[int, tuple[Dimension, ...]] = MappingProxyType({})
    published: tuple[Published, ...] = ()
    paper: PaperStatements = PaperStatements()
    presets: tuple[PaperPreset, ...] = ()
    # The setting of its paper's figures, for certificates of comparability.
    comparability: tuple[PublishedSetting, ...] = ()
    # What its datasets are certified by; None where agents are not ranked on them.
    validity: Validity | None = None
    prompts: Prompts | None = None
    importer: Importer | None = None
    labels: Labels = Labels()
    people: People = People()
    comparisons: Comparisons = Comparisons()
    # What goes wrong in its trajectories, for failure profiles.
    faults: Faults = Faults()
    # What agents are told on the way, for forgetting curves; None where they are told nothing.
    disclosures: Disclosures | None = None
    # What the system's own templates show beyond what is stored, by name (``core.display``).
    displays: Mapping[str, View] = MappingProxyType({})
    # Datasets of our own writing that ship with the product, and what the demo runs on them.
    demo: tuple[DemoDataset, ...] = ()
    making: Making | None = None
    # How its trajectories propose rows of training data, which people review.
    training_rows: TrainingRows | None = None
    # JSON schemas of replies by kind, for endpoints that can be held to them.
    reply_schemas: Mapping[str, Callable[[Mapping[str, Any]], Json]] = MappingProxyType({})
    # How judges look again at stored turns; None where they cannot.
    rejudging: "Rejudging | None" = None
    # What commands of the product do for this system alone, by the name of the command.
    commands: Mapping[str, Callable[..., Any]] = MappingProxyType({})

    def seats(self, role: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the seats of a role under these settings; empty where the role is not asked."""
        return ("",)

    def check_settings(self, settings: Mapping[str, Any], shared: Json) -> None:
        """Raise ``SettingError`` for complete settings that a dataset cannot be run with.

        ``shared`` is what all tasks of the dataset have in common.
        """

    def episode(self, task: Task, settings: Mapping[str, Any], rng: random.Random) -> Episode:
        """Play the protocol as a generator; no clock, no I/O, no randomness but ``rng``."""
        raise NotImplementedError

    def summarise(self, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
        """Return a run's metrics over its ended trajectories, with denominators and exclusions."""
        raise NotImplementedError

    def sample_tasks(self) -> Sequence[tuple[Task, Sequence[Profile]]]:
        """Return a few small tasks of our own, on which contract tests run every policy."""
        raise NotImplementedError

    def modes(self) -> tuple[Mode, ...]:
        """Return the ways in which people take part: the system's own, or one for each role."""
        return self.people.modes or tuple(
            Mode(role.name, role.title, "", (Place(role.title, (role.name,)),))
            for role in self.roles
        )


@dataclass(frozen=True)
class RecordedTrajectory:
    """A trajectory as it is stored: its turns in order, how it ended, and the run's settings.

    ``turns`` have the violations that were found while it was played; their scores are left out.
    """

    turns: tuple[Turn, ...]
    outcome: Outcome
    settings: Json


class Rejudging(System):
    """The port by which the judges of a system look at stored trajectories once more.

    It is cast and stored as a system is, but its roles are those of judges alone, its settings say
    how they are asked, and its episode plays nothing: the turns are there.
    """

    def rejudge(
        self,
        task: Task,
        stored: RecordedTrajectory,
        settings: Mapping[str, Any],
        rng: random.Random,
    ) -> Episode:
        """Ask judges about turns that are stored; nobody else is asked.

        Each turn that was looked at is yielded under its stored index, without text, with scores
        and, in its payload, what else was found. The outcome is that of the stored trajectory with
        those metrics changed that follow from what the judges now say.
        """
        raise NotImplementedError

    def calls_per_turn(
        self, played: Mapping[str, Any], settings: Mapping[str, Any]
    ) -> Mapping[str, int]:
        """Return how many replies each role gives about a turn at most.

        ``played`` are the settings of the stored run.
        """
        raise NotImplementedError

    def one_ask(
        self,
        task: Task,
        stored: RecordedTrajectory,
        index: int,
        role: str,
        settings: Mapping[str, Any],
    ) -> Any:
        """Return the ask of a role about one turn, to be tried; None where there is none."""
        raise NotImplementedError
