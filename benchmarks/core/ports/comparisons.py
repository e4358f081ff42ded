"""The comparisons port: conditions, factors and tool use that analysis pages compare."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from benchmarks.core.ports.labels import Measure
from benchmarks.core.types import Json, Task


@dataclass(frozen=True)
class Caption:
    """A condition, or a published metric, in a few words and a sentence."""

    title: str
    help: str = ""


@dataclass(frozen=True)
class Contrasts:
    """The conditions of a system by the name that runs have, in their order, and what they vary.

    Tasks are compared between ``baseline`` and ``contrast``. Each of ``kinds`` is a condition with
    one kind of disturbance alone; ``lengths`` are conditions that differ in the length of what is
    left to do, which ``remaining`` tells from a task's and an outcome's payload (None: not known).
    ``published`` has the metrics of reference figures that belong here.
    """

    conditions: Mapping[str, Caption]
    baseline: str
    contrast: str
    kinds: tuple[str, ...] = ()
    lengths: tuple[str, ...] = ()
    remaining: Callable[[Json, Json], float | None] | None = None
    remaining_title: str = ""
    published: Mapping[str, Caption] = field(default_factory=dict)


@dataclass(frozen=True)
class ToolUse:
    """The names of metrics and payloads that describe an agent's way through its tools.

    ``searches`` and ``calls`` are metrics; ``mishaps`` are metrics that count calls gone wrong.
    An outcome's ``failure_category`` is one of ``categories`` (title, sentence). A turn found a
    part where its payload is as in ``found_where``; it is called ``found_part`` there, and
    ``parts`` are those that a task asks for.
    """

    searches: str
    calls: str
    mishaps: tuple[str, ...]
    categories: Mapping[str, tuple[str, str]]
    parts: Callable[[Task], frozenset[str]]
    parts_title: str
    found_part: str
    found_where: Mapping[str, str]


@dataclass(frozen=True)
class Factor:
    """One thing that runs are varied in to see what it does, all else being alike.

    ``kind`` says what it is: the level, a setting of the run, a parameter that the agent's endpoint
    is sent, or which of ``roles`` people fill (its values name them, as ``filled`` writes it);
    ``name`` is its name there and in addresses. ``values`` are in their order,
    the first is the baseline; without any they are numbers, in theirs. With ``steps`` each value is
    held against the one before it. ``pairs`` are further changes to look at, each from a value to
    another, such as from one ablation to the other. ``where`` is where the paper has it,
    ``published`` gives the metric of published rows by (measure, value), ``finding`` what the paper
    says in words, and ``advice`` how to make such runs where a setting does not do it.
    """

    name: str
    title: str
    kind: Literal["level", "setting", "parameter", "people"]
    values: Mapping[Any, Caption] = field(default_factory=dict)
    steps: bool = False
    pairs: tuple[tuple[Any, Any], ...] = ()
    where: str = ""
    published: Mapping[tuple[str, Any], str] = field(default_factory=dict)
    finding: str = ""
    advice: str = ""
    roles: tuple[str, ...] = ()


@dataclass(frozen=True)
class Grouping:
    """A property by which tasks are grouped; ``values`` are titles of what outcomes have there.

    An outcome has its value in its payload under ``groups``, by the grouping's name, or directly
    under ``key`` where that is given. A name such as ``task+domain`` crosses two of them.
    ``cautions`` are remarks on figures of single values. Where values are ``counts``, pages put
    neighbouring ones together until each kind has enough tasks, and draw a curve over them for each
    value of another grouping, ``curves_by``; ``axis`` names them in little room.
    """

    title: str
    values: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    cautions: Mapping[str, str] = field(default_factory=dict)
    counts: bool = False
    curves_by: str = ""
    axis: str = ""

    def caution(self, title: str) -> str:
        """Return the remark on the value with a title; empty where there is none."""
        return next((text for key, text in self.cautions.items()
                     if self.values.get(key, key) == title), "")  # fmt: skip


@dataclass(frozen=True)
class BracketSide:
    """One assumption about agents, and the scripts that act by it."""

    name: str
    title: str
    help: str
    scripts: tuple[str, ...]


@dataclass(frozen=True)
class Bracket:
    """Scripts with opposite assumptions about agents: an order holds only where all sides have it.

    ``factors`` names the factors whose values are ranked so. The scripts of the sides correspond by
    their place: the n-th of each differ in the assumption alone.
    """

    factors: tuple[str, ...]
    sides: tuple[BracketSide, ...]

    def side_of(self, script: str) -> BracketSide | None:
        """Return the side that a script is on; None where it is on none."""
        return next((side for side in self.sides if script in side.scripts), None)


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper that runs fill: its name there, its title here, and the keys of its
    rows.
    """

    name: str
    title: str
    rows: tuple[str, ...]


@dataclass(frozen=True)
class Asking:
    """How agents ask a person who has preferences, for the page on asking.

    ``key_of`` names what a run plays by its settings, and ``titles`` have the keys in their order.
    ``metrics`` are the columns of ``tables``; ``published`` has the metric of published rows by
    (metric, key). ``curves`` gives, of the payloads of outcomes, the course of ``result`` as
    [mean, low, high] at 0 to 100 %. Payloads have ``asked`` and ``applicable`` (numbers), and
    ``preferences`` with text, value, and the steps at which each was disclosed and decided.
    ``example`` is the task that an example is taken from where runs share it, by its payload.
    """

    key_of: Callable[[Json], str]
    titles: Mapping[str, Caption]
    metrics: tuple[str, ...]
    result: str
    tables: tuple[PaperTable, ...]
    published: Mapping[tuple[str, str], str]
    curves: Callable[[Sequence[Json]], Sequence[Sequence[float | None]]]
    example: str = ""


@dataclass(frozen=True)
class SimulatedUser:
    """The role that plays the user, whom models simulate and people may play.

    ``metrics`` are those metrics of a trajectory that its user's replies make.
    """

    role: str
    metrics: tuple[str, ...] = ()


def filled(roles: Iterable[str]) -> str:
    """Return roles that people fill, as the value of a factor; empty for none."""
    return " + ".join(roles)


@dataclass(frozen=True)
class Comparisons:
    """The comparisons that a system's runs allow; every part is optional.

    ``factors`` are what runs are varied in, ``contrasts`` what conditions vary. ``refinement`` is
    the setting that grants extra turns with feedback on the rubric. ``feedback_ratings`` are
    questions to people on how good the feedback to agents is, by key. ``groups`` are what tasks
    differ in, by name. ``bracket`` are scripts that must agree before a sentence ranks. ``asking``
    is how agents ask people, ``user`` the role of the user with whom agents talk.
    """

    factors: tuple[Factor, ...] = ()
    contrasts: Contrasts | None = None
    tool_use: ToolUse | None = None
    refinement: str = ""
    feedback_ratings: Mapping[str, Measure] = field(default_factory=dict)
    groups: Mapping[str, Grouping] = field(default_factory=dict)
    bracket: Bracket | None = None
    asking: Asking | None = None
    user: SimulatedUser | None = None
