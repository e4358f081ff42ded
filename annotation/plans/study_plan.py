"""The plan of a study: read from a file, filled in on pages, and kept with the study.

A plan refers to things by name (usernames, agents, a seed) and stores nothing. Its fields are
named as in a plan's file, so that both can report a problem by its path.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Annotated, Any, Literal, NamedTuple

from django.utils import timezone
from pydantic import BeforeValidator, Field, StrictBool, StrictFloat, StrictInt, with_config
from typing_extensions import TypedDict

from annotation.annotator_quality.rule import GoldRule
from annotation.designs.sampling import Sample
from annotation.plans.retention_rule import RetentionRule
from benchmarks.core.schemas import STRICT, ShortText, Whole, Word, expect, expects

Dealing = Literal["named", "pool"]
Order = Literal["random", "blocks", "latin", "queries"]
Trials = Literal["all", "first"]
Verdicts = Literal["earlier", "none", "all", "random"]
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
MOST_ANNOTATORS, MOST_QUERIES = 200, 1_000
LONGEST_NAME, LONGEST_TEXT = 160, 20_000
# Moments beyond these cannot be shown in every time zone.
FIRST_YEAR, LAST_YEAR = 1900, 2900
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


def within(name: str) -> Any:
    """Return the check of a number in `BOUNDS`."""
    least, most = BOUNDS[name]
    return Field(strict=True, ge=least, le=most)


def _moment(value: Any) -> datetime | None:
    """Return a moment in a time zone, from a day or a time as it is written."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = datetime.fromisoformat(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if value is None or isinstance(value, datetime) and FIRST_YEAR <= value.year <= LAST_YEAR:
        return timezone.make_aware(value) if value and timezone.is_naive(value) else value
    raise expect(_MOMENT)


_MOMENT = "a day or a time, such as 2027-03-01 or 2027-03-01T18:00"
Text = Annotated[str, Field(strict=True, max_length=LONGEST_TEXT)]
Answers = Annotated[list[str | StrictInt | StrictFloat], expects("a list of what is right")]
Moment = Annotated[
    datetime | None,
    BeforeValidator(_moment, json_schema_input_type=Annotated[str | None, expects(_MOMENT)]),
]


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


@with_config(STRICT)
@dataclass(frozen=True)
class ItemSource:
    """The source of items, the filters on it, and the sample that is taken.

    At least one of ``trajectories``, ``runs``, ``experiment`` and ``dataset`` is named; with
    several, what all of them hold is meant. Trajectories and runs go by id, an experiment by id or
    name, a dataset by id, name or name@version. Empty lists leave everything in. Of several
    ``trials`` of a task by a run, all or the first.
    """

    trajectories: tuple[Whole, ...] = ()
    runs: tuple[Whole, ...] = ()
    experiment: Word = ""
    dataset: Word = ""
    levels: tuple[Word, ...] = ()
    agents: tuple[Word, ...] = ()
    endings: tuple[Word, ...] = ()
    tasks: tuple[Word, ...] = ()
    trials: Trials = "all"
    sample: Sample = field(default_factory=Sample)


@with_config(STRICT)
class ExpectedAnswer(TypedDict, total=False):
    """What is right at a place, and why."""

    values: Answers
    chosen: Answers
    why: Text


@with_config(STRICT)
@dataclass(frozen=True)
class SpecialItem:
    """A training or gold item: a trajectory by id, or what makes it one, or a task.

    Of a pair both trajectories are named by their ids, ``other`` being the second one.
    ``expected`` is as `Item.expected` holds it: slot → values or marks that are right, and why.
    """

    trajectory: Whole | None = None
    task: Word = ""
    agent: Word = ""
    level: Word = ""
    attempt: Whole | None = None
    other: Whole | None = None
    expected: Mapping[str, ExpectedAnswer] = field(default_factory=dict)


@with_config(STRICT)
@dataclass(frozen=True)
class StudyPlan:
    """Everything that is decided about a study before its first answer.

    Items are dealt in lists to ``places``; the accounts of ``annotators`` claim the first of them.
    Each item is to have ``raters`` annotators. ``whole_tasks`` deals all items of a task to the
    same people. ``queries_each`` gives each of them so many whole tasks and no more; the order
    ``queries`` deals these in rounds as the paper did. ``pass_mark`` is a share from 0 to 1; times
    are in the unit they name.
    """

    name: Annotated[str, ShortText(LONGEST_NAME)]
    questionnaire: Word
    items: ItemSource
    raters: Annotated[int, within("raters")] = 1
    places: Annotated[int, within("places")] = 0
    annotators: Annotated[tuple[Word, ...], Field(max_length=MOST_ANNOTATORS)] = ()
    dealing: Dealing = "named"
    lease_minutes: Annotated[int, within("lease_minutes")] = 120
    order: Order = "blocks"
    whole_tasks: StrictBool = False
    queries_each: Annotated[int, Field(strict=True, ge=1, le=MOST_QUERIES)] | None = None
    seed: Annotated[int, within("seed")] = 1
    training: tuple[SpecialItem, ...] = ()
    gold: tuple[SpecialItem, ...] = ()
    gold_each: Annotated[int, within("gold_each")] = 0
    gold_rule: GoldRule = field(default_factory=GoldRule)
    pass_mark: Annotated[float, expects("a share from 0 to 1", strict=True, ge=0, le=1)] = 0.75
    background: Word = ""
    information: Text = ""
    consent: Text = ""
    idle_seconds: Annotated[int, within("idle_seconds")] = 60
    break_minutes: Annotated[int, within("break_minutes")] = 45
    closes_at: Moment = None
    retention: RetentionRule = field(default_factory=RetentionRule)
    blinded: StrictBool = True
    shows_hidden: StrictBool = True
    verdicts: Verdicts = "earlier"
    question_order: QuestionOrder = "fixed"
    gold_feedback: StrictBool = False
    turn_by_turn: StrictBool = False

    @property
    def lists(self) -> int:
        """The number of lists: at least one for each account that is named, none in a pool."""
        return max(self.places, len(self.annotators)) if self.dealing == "named" else 0
