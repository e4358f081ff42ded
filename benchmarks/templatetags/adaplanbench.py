"""What pages of AdaPlanBench show: a task's pool of known plans, and suggested verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from django import template

from benchmarks.asks.suggestion_selectors import SuggestedView, suggestions_of
from benchmarks.core.plans import PoolPlan, normal_words, pool_of
from benchmarks.core.types import Task as CoreTask
from benchmarks.mappers import core_task
from benchmarks.models import Task, Trajectory
from benchmarks.systems.adaplanbench.asks import JUDGE_ROLES
from benchmarks.systems.adaplanbench.macgyver.pools import POOLS, pool_for
from benchmarks.systems.adaplanbench.macgyver.verdicts import verdict_words
from benchmarks.systems.adaplanbench.rubric import DIMENSIONS

register = template.Library()
_TITLES = {dimension.key: dimension.title for dimension in DIMENSIONS}


@dataclass(frozen=True)
class KnownPlan:
    """A plan that was known beforehand; ``quality`` by dimension in words."""

    key: str
    steps: Sequence[str]
    tools: Sequence[str]
    attributes: Sequence[str]
    author: str
    verdict: str
    quality: Sequence[tuple[str, int]]

    @property
    def mean(self) -> float | None:
        return fmean(value for _, value in self.quality) if self.quality else None


def _known(plan: PoolPlan) -> KnownPlan:
    words = verdict_words(plan.verdict)
    quality = [(_TITLES.get(key, key).lower(), value) for key, value in plan.quality.items()]
    return KnownPlan(plan.key, plan.steps, plan.tools, plan.attributes, plan.author, words, quality)


@register.simple_tag
def known_plans(task: Task) -> list[KnownPlan]:
    """The known plans of a task, in stored order."""
    return [_known(plan) for plan in pool_of(core_task(task, None))]


@dataclass(frozen=True)
class Record:
    """The pool behind a trajectory: its size where the agent is limited to it, and its texts."""

    size: int | None
    by_text: Mapping[str, KnownPlan]

    def find(self, text: str) -> KnownPlan | None:
        return self.by_text.get(normal_words(text)) if self.by_text else None


@register.simple_tag
def record(trajectory: Trajectory) -> Record:
    """The pool of plans that the agent of a trajectory chose from.

    Where several authors gave the same answer, the one of the agent's own pool stands for it. Made
    once for a page, since every turn's card asks for it.
    """
    made: Record | None = trajectory.__dict__.get("_record")
    if made is not None:
        return made
    task: CoreTask = core_task(trajectory.task, None)
    fillers = trajectory.run.roles.get("agent") or [{}]
    policy = fillers[0].get("policy", "")
    own = pool_for(task, policy) if policy in POOLS else ()
    by_text: dict[str, KnownPlan] = {}
    for plan in (*own, *pool_of(task)):
        by_text.setdefault(normal_words(plan.text), _known(plan))
    made = Record(len(own) if policy in POOLS else None, by_text)
    trajectory.__dict__["_record"] = made
    return made


@register.simple_tag
def recorded_plan(pool: Record, text: str) -> KnownPlan | None:
    """The known plan with this very text, if it has an author or a verdict to tell of."""
    found = pool.find(text)
    return found if found and (found.author or found.verdict) else None


@dataclass(frozen=True)
class BesideVerdict:
    """A suggested verdict beside a person's: the texts of what both, or one of them, marked."""

    turn: int
    role: str
    by: str
    label: str
    both: Sequence[str] = ()
    person: Sequence[str] = ()
    suggested: Sequence[str] = ()
    why_not: str = ""

    @property
    def same(self) -> bool:
        return not (self.why_not or self.person or self.suggested)


@dataclass(frozen=True)
class Suggestions:
    """Suggested verdicts of a trajectory. Counts are of constraints in verdicts that both gave."""

    rows: Sequence[BesideVerdict]

    @property
    def compared(self) -> list[BesideVerdict]:
        return [row for row in self.rows if not row.why_not]

    @property
    def same(self) -> int:
        return sum(row.same for row in self.compared)

    @property
    def both(self) -> int:
        return sum(len(row.both) for row in self.compared)

    @property
    def marked(self) -> int:
        """Constraints that the person marked."""
        return self.both + sum(len(row.person) for row in self.compared)

    @property
    def suggested(self) -> int:
        """Constraints that were suggested."""
        return self.both + sum(len(row.suggested) for row in self.compared)


@register.simple_tag
def suggested_verdicts(trajectory: Trajectory) -> Suggestions:
    """What scripts or models would have marked as violated where a person judged."""
    found = [row for row in suggestions_of(trajectory) if row.row.role in JUDGE_ROLES.values()]
    if not found:
        return Suggestions(())
    profile = trajectory.profile
    rows = profile.constraints.values_list("key", "text") if profile is not None else ()
    texts = dict(rows)
    return Suggestions([_beside(row, texts) for row in found])


def _beside(row: SuggestedView, texts: Mapping[str, str]) -> BesideVerdict:
    about = (row.turn, row.role, row.by, row.label)
    if row.value is None or row.given is None:
        why = row.why_not or "nobody has judged this by hand"
        return BesideVerdict(*about, why_not=why)
    told, given = row.value["violated"], row.given["violated"]
    return BesideVerdict(
        *about,
        [texts.get(key, key) for key in given if key in told],
        [texts.get(key, key) for key in given if key not in told],
        [texts.get(key, key) for key in told if key not in given],
    )
