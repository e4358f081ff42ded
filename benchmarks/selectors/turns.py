"""Trajectories as pages show them: turns, what they violated, how judges scored them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from django.db.models import F

from benchmarks.core.words import plain
from benchmarks.diffs import Line, diff_steps
from benchmarks.models import Constraint, Exchange, JudgeScore, Trajectory, Turn, Violation
from benchmarks.selectors.casting import policy_title, system_of

NEW, REPEATED, WITHHELD = "new", "repeated", "withheld"


@dataclass(frozen=True)
class Finding:
    """A constraint that a turn violated. ``reasons`` are what judges gave for finding so.

    ``mark``: new (told for the first time), repeated (the agent had been told before) or
    withheld (not told yet, because one kind is told at a time).
    """

    key: str
    kind: str
    text: str
    mark: str
    revealed: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class GivenScore:
    """One judge's score with its reason; without a value the reason says why there is none."""

    judge: str
    value: float | None
    reason: str


@dataclass(frozen=True)
class DimensionScores:
    """A dimension with all judges' scores, in the order of their seats."""

    key: str
    title: str
    given: tuple[GivenScore, ...]

    @cached_property
    def values(self) -> list[float]:
        return [score.value for score in self.given if score.value is not None]

    @property
    def mean(self) -> float | None:
        return fmean(self.values) if self.values else None

    @property
    def missing(self) -> list[GivenScore]:
        return [score for score in self.given if score.value is None]


@dataclass(frozen=True)
class TurnView:
    """One turn with everything that was found about it."""

    row: Turn
    previous: Turn | None
    findings: tuple[Finding, ...]
    dimensions: tuple[DimensionScores, ...]

    @property
    def judges(self) -> list[str]:
        return [score.judge for score in self.dimensions[0].given] if self.dimensions else []

    @property
    def mean(self) -> float | None:
        """The mean over the dimensions that have a score."""
        means = [d.mean for d in self.dimensions if d.mean is not None]
        return fmean(means) if means else None

    @property
    def unscored(self) -> int:
        return sum(len(dimension.missing) for dimension in self.dimensions)

    def _count(self, mark: str) -> int:
        return sum(finding.mark == mark for finding in self.findings)

    @property
    def new(self) -> int:
        return self._count(NEW)

    @property
    def repeated(self) -> int:
        return self._count(REPEATED)

    @property
    def withheld(self) -> int:
        return self._count(WITHHELD)


@dataclass(frozen=True)
class Hidden:
    """A hidden constraint and what came of it: the turns that violated it, and the first told."""

    text: str
    violated: tuple[int, ...]
    told: int | None


@dataclass(frozen=True)
class HiddenKind:
    """The hidden constraints of a kind; ``untouched`` are those that no plan violated."""

    title: str
    met: tuple[Hidden, ...]
    untouched: tuple[Hidden, ...]


def turn_views(trajectories: Sequence[Trajectory]) -> dict[int, list[TurnView]]:
    """The turns of some trajectories, by trajectory; the queries do not grow with their number."""
    ids = [trajectory.pk for trajectory in trajectories]
    turns: dict[int, list[Turn]] = {pk: [] for pk in ids}
    for turn in Turn.objects.filter(trajectory__in=ids).order_by("trajectory", "index"):
        turns[turn.trajectory_id].append(turn)
    violations: dict[int, list[Violation]] = defaultdict(list)
    for violation in Violation.objects.filter(turn__trajectory__in=ids).order_by("pk"):
        violations[violation.turn_id].append(violation)
    scores: dict[int, list[JudgeScore]] = defaultdict(list)
    for score in (
        JudgeScore.objects.filter(trajectory__in=ids, judging=F("run__primary_judging"))
        .select_related("judge")
        .order_by("pk")
    ):
        scores[score.turn_id].append(score)
    said = _Reasons(ids)
    views = {}
    for trajectory in trajectories:
        made: list[TurnView] = []
        for turn in turns[trajectory.pk]:
            given = scores[turn.pk]
            made.append(
                TurnView(
                    turn,
                    made[-1].row if made else None,
                    tuple(
                        _finding(row, said.of_violation(trajectory.pk, turn, row.key))
                        for row in violations[turn.pk]
                    ),
                    _dimensions(trajectory, given, said),
                )
            )
        views[trajectory.pk] = made
    return views


def _finding(row: Violation, reasons: tuple[str, ...]) -> Finding:
    mark = REPEATED if row.repeated else NEW if row.new else WITHHELD
    return Finding(row.key, row.kind, row.text, mark, row.revealed, reasons)


class _Reasons:
    """What judges said for their verdicts and scores; it stands in their parsed replies."""

    def __init__(self, ids: Sequence[int]) -> None:
        self.by_exchange: dict[int, Mapping[str, Any]] = {}
        self.verdicts: dict[tuple[int, int], list[Mapping[str, Any]]] = defaultdict(list)
        rows = Exchange.objects.filter(
            trajectory__in=ids, state=Exchange.State.ANSWERED, value__has_key="reasons"
        ).order_by("trajectory", "step", "slot")
        turn: dict[int, int] = defaultdict(int)
        step_of_turn: dict[int, int] = {}
        for pk, trajectory, step, value in rows.values_list("pk", "trajectory", "step", "value"):
            reasons = value.get("reasons") if isinstance(value, dict) else None
            if not isinstance(value, dict) or not isinstance(reasons, dict):
                continue
            self.by_exchange[pk] = reasons
            if "violated" in value:
                if step_of_turn.get(trajectory) != step:  # judges of one turn share a step
                    step_of_turn[trajectory] = step
                    turn[trajectory] += 1
                self.verdicts[trajectory, turn[trajectory]].append(reasons)

    def of_violation(self, trajectory: int, turn: Turn, key: str) -> tuple[str, ...]:
        given = self.verdicts.get((trajectory, turn.index), [])
        return tuple(str(reasons[key]) for reasons in given if reasons.get(key))

    def of_score(self, score: JudgeScore) -> str:
        if score.value is None or score.exchange_id is None:
            return score.reason
        return score.reason or str(
            self.by_exchange.get(score.exchange_id, {}).get(score.dimension, "")
        )


def _dimensions(
    trajectory: Trajectory, scores: Sequence[JudgeScore], said: _Reasons
) -> tuple[DimensionScores, ...]:
    system = system_of(trajectory.run.dataset.system)
    titles = {d.key: d.title for d in system.dimensions} if system else {}
    grouped: dict[str, list[JudgeScore]] = defaultdict(list)
    for score in scores:
        grouped[score.dimension].append(score)
    keys = [key for key in titles if key in grouped]
    keys += [key for key in grouped if key not in titles]
    return tuple(
        DimensionScores(
            key,
            titles.get(key, plain(key)),
            tuple(
                GivenScore(policy_title(system, row.judge.name), row.value, said.of_score(row))
                for row in grouped[key]
            ),
        )
        for key in keys
    )


def hidden_constraints(trajectory: Trajectory, turns: Sequence[TurnView]) -> list[HiddenKind]:
    """The profile's constraints by kind, each with when it was violated and when it was told."""
    violated: dict[str, list[int]] = defaultdict(list)
    told: dict[str, int] = {}
    for turn in turns:
        for finding in turn.findings:
            violated[finding.key].append(turn.row.index)
            if finding.revealed:
                told.setdefault(finding.key, turn.row.index)
    kinds: dict[str, list[Hidden]] = defaultdict(list)
    for row in Constraint.objects.filter(profile=trajectory.profile_id).order_by("pk"):
        kinds[row.kind].append(Hidden(row.text, tuple(violated[row.key]), told.get(row.key)))
    return [
        HiddenKind(
            plain(kind),
            tuple(sorted((h for h in rows if h.violated), key=lambda h: h.violated)),
            tuple(h for h in rows if not h.violated),
        )
        for kind, rows in sorted(kinds.items(), key=lambda pair: pair[0] != "world")
    ]


@dataclass(frozen=True)
class PlanChange:
    """A plan against the one before, step by step."""

    lines: tuple[Line, ...]

    def _count(self, op: str) -> int:
        return sum(line.op == op for line in self.lines)

    @property
    def same(self) -> bool:
        return all(line.op == "same" for line in self.lines)

    @property
    def shares(self) -> bool:
        """Whether a quarter of the new plan lived on, so that a comparison is of use."""
        new = [line.op for line in self.lines if line.op != "removed"]
        return len(new) - new.count("added") >= max(1, len(new) / 4)

    @property
    def words(self) -> str:
        """Such as ``2 steps kept, 1 reworded, 3 new, 1 gone``."""
        if self.same:
            return "the same plan"
        if not self.shares:
            return "another plan"
        named = (("same", "kept"), ("changed", "reworded"), ("added", "new"), ("removed", "gone"))
        counts = [(self._count(op), word) for op, word in named if self._count(op)]
        first, *rest = [f"{n} {word}" for n, word in counts]
        n, word = counts[0]
        first = f"{n} step{'' if n == 1 else 's'} {word}"
        return ", ".join([first, *rest])


def plan_change(before: Sequence[str], after: Sequence[str]) -> PlanChange:
    """What became of the steps of a plan."""
    return PlanChange(tuple(diff_steps(before, after)))
