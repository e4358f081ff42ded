"""The plan of a study: read from a file, filled in on pages, and kept with the study.

A plan refers to things by name (usernames, agents, a seed) and stores nothing. Its fields are
named as in a plan's file, so that both can report a problem by its path.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from annotation.annotator_quality.rule import GoldRule
from annotation.designs.sampling import Sample
from annotation.plans.retention_rule import RetentionRule

Dealing = Literal["named", "pool"]
Order = Literal["random", "blocks", "latin", "queries"]
Trials = Literal["all", "first"]
Verdicts = Literal["earlier", "none", "all"]
QuestionOrder = Literal["fixed", "rotated"]
DEALINGS: Mapping[str, str] = {
    "named": "Balanced lists: each annotator gets a list of their own",
    "pool": "Pool: whoever is free takes the next item",
}
ORDERS: Mapping[str, str] = {
    "random": "Random: everybody’s items in an order drawn by seed",
    "blocks": "Balanced blocks: each model once in a block, items of a task apart",
    "latin": "Latin square: task by task, models in the rows of a balanced square",
    "queries": "As in the AdaPlanBench paper: whole queries for each annotator, in random order",
}
MOST_ANNOTATORS = 200
# Least and most of wishes that are numbers; times are in the unit that they name.
BOUNDS: Mapping[str, tuple[int, int]] = {
    "lease_minutes": (5, 10_080),
    "idle_seconds": (10, 3_600),
    "break_minutes": (0, 1_440),
    "raters": (1, MOST_ANNOTATORS),
    "places": (0, MOST_ANNOTATORS),
    "seed": (0, 2**62),
    "gold_each": (0, 1_000),
}


class PlanProblem(NamedTuple):
    """A problem of a plan and its place: a path such as ``items.sample.count``.

    ``line`` is where that stands in the plan's file; None where there is no file.
    """

    path: str
    words: str
    line: int | None = None

    def __str__(self) -> str:
        where = [f"line {self.line}"] * (self.line is not None) + [self.path] * bool(self.path)
        return f"{', '.join(where)}: {self.words}" if where else self.words


class PlanError(Exception):
    """A plan that cannot be carried out; nothing was stored. Every problem is named."""

    def __init__(self, problems: Iterable[PlanProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


@dataclass(frozen=True)
class ItemSource:
    """The source of items, and the filters on it.

    At least one of ``trajectories``, ``runs``, ``experiment`` and ``dataset`` is named; with
    several, what all of them hold is meant. Trajectories and runs go by id, an experiment by id or
    name, a dataset by id, name or name@version. Empty lists leave everything in. Of several
    ``trials`` of a task by a run, all or the first.
    """

    trajectories: tuple[int, ...] = ()
    runs: tuple[int, ...] = ()
    experiment: str = ""
    dataset: str = ""
    levels: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    trials: Trials = "all"


@dataclass(frozen=True)
class SpecialItem:
    """A training or gold item: a trajectory by id, or what makes it one, or a task.

    ``expected`` is as `Item.expected` holds it: slot → values or marks that are right, and why.
    """

    trajectory: int | None = None
    task: str = ""
    agent: str = ""
    level: str = ""
    attempt: int | None = None
    expected: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StudyPlan:
    """Everything that is decided about a study before its first answer.

    Items are dealt in lists to ``places``; the accounts of ``annotators`` claim the first of them.
    Each item is to have ``raters`` annotators. ``whole_tasks`` deals all items of a task to the
    same people. ``queries_each`` gives each of them so many whole tasks and no more; the order
    ``queries`` deals these in rounds as the paper did. ``pass_mark`` is a share from 0 to 1; times
    are in the unit they name.
    """

    name: str
    questionnaire: str
    items: ItemSource = field(default_factory=ItemSource)
    sample: Sample = field(default_factory=Sample)
    raters: int = 1
    places: int = 0
    annotators: tuple[str, ...] = ()
    dealing: Dealing = "named"
    lease_minutes: int = 120
    order: Order = "blocks"
    whole_tasks: bool = False
    queries_each: int | None = None
    seed: int = 1
    training: tuple[SpecialItem, ...] = ()
    gold: tuple[SpecialItem, ...] = ()
    gold_each: int = 0
    gold_rule: GoldRule = field(default_factory=GoldRule)
    pass_mark: float = 0.75
    background: str = ""
    information: str = ""
    consent: str = ""
    idle_seconds: int = 60
    break_minutes: int = 45
    closes_at: datetime | None = None
    retention: RetentionRule = field(default_factory=RetentionRule)
    blinded: bool = True
    shows_hidden: bool = True
    verdicts: Verdicts = "earlier"
    question_order: QuestionOrder = "fixed"
    gold_feedback: bool = False

    @property
    def lists(self) -> int:
        """The number of lists: at least one for each account that is named, none in a pool."""
        return max(self.places, len(self.annotators)) if self.dealing == "named" else 0
