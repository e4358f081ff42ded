"""Read the turns of trajectories for pages, with violations, scores and reasons."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any, NamedTuple

from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from benchmarks.calls.whole_log import whole_log
from benchmarks.core import types
from benchmarks.core.ports.labels import plain
from benchmarks.core.registry import system_of
from benchmarks.models import Constraint, Exchange, JudgeScore, Run, Trajectory, Turn, Violation
from benchmarks.roles.judge_names import Judge, judge_names
from benchmarks.trajectories.diffs import DiffLine, diff_steps

NEW, REPEATED, WITHHELD = "new", "repeated", "withheld"


@dataclass(frozen=True)
class ViolationView:
    """A constraint that a turn violated, with the judges' ``reasons``.

    ``mark`` is new (revealed for the first time), repeated (revealed before) or withheld (not
    revealed yet, because one kind is revealed at a time).
    """

    key: str
    kind: str
    text: str
    mark: str
    revealed: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class GivenScore:
    """One judge's score with its reason; without a value the reason says why."""

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

    @cached_property
    def mean(self) -> float | None:
        return fmean(self.values) if self.values else None

    @property
    def missing(self) -> list[GivenScore]:
        return [score for score in self.given if score.value is None]


@dataclass(frozen=True)
class TurnView:
    """A turn with its violations and scores.

    ``returns_to`` is the first turn with the same text, where that is not the turn before.
    """

    row: Turn
    previous: Turn | None
    findings: tuple[ViolationView, ...]
    dimensions: tuple[DimensionScores, ...]
    returns_to: int | None = None

    @property
    def core(self) -> types.Turn:
        """The turn as its system knows it, with the scores of the primary judging."""
        return types.Turn(
            self.row.index,
            self.row.text,
            self.row.feedback,
            self.row.payload,
            tuple(
                types.Violation(
                    row.key, row.kind, row.text, row.revealed, row.mark == NEW, row.mark == REPEATED
                )
                for row in self.findings
            ),
            tuple(
                types.Score(score.judge, dimension.key, score.value, score.reason)
                for dimension in self.dimensions
                for score in dimension.given
            ),
        )

    @property
    def judges(self) -> list[str]:
        return [score.judge for score in self.dimensions[0].given] if self.dimensions else []

    @cached_property
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
class HiddenConstraint:
    """A hidden constraint, the turns that violated it, and the turn that first revealed it."""

    text: str
    violated: tuple[int, ...]
    revealed_in: int | None


@dataclass(frozen=True)
class HiddenKind:
    """The hidden constraints of a kind; ``untouched`` are those that no plan violated."""

    title: str
    met: tuple[HiddenConstraint, ...]
    untouched: tuple[HiddenConstraint, ...]


def turn_views(
    trajectories: Sequence[Trajectory], *, only: Collection[int] | None = None
) -> dict[int, list[TurnView]]:
    """Return the turns by trajectory; the number of queries does not depend on their number.

    ``only`` restricts to turns with these indices, for a page with a part of a long trajectory.
    """
    ids = [trajectory.pk for trajectory in trajectories]
    turns: dict[int, list[Turn]] = {pk: [] for pk in ids}
    rows = Turn.objects.filter(trajectory__in=ids)
    if only is not None:  # with the one before each, which its plan is compared with
        rows = rows.filter(index__in={*only, *(index - 1 for index in only)})
        # Earlier turns are not read, so the database compares the texts of these few with theirs.
        same = Turn.objects.filter(trajectory=OuterRef("trajectory"), text=OuterRef("text"))
        rows = rows.annotate(first_index=Subquery(same.order_by("index").values("index")[:1]))
    for turn in rows.order_by("trajectory", "index"):
        turns[turn.trajectory_id].append(turn)
    shown = [turn.pk for found in turns.values() for turn in found]
    violations: dict[int, list[Violation]] = defaultdict(list)
    of_turns = {"turn__trajectory__in": ids} if only is None else {"turn__in": shown}
    for violation in Violation.objects.filter(**of_turns).order_by("pk"):
        violations[violation.turn_id].append(violation)
    scores: dict[int, list[_Score]] = defaultdict(list)
    scored = JudgeScore.objects.filter(trajectory__in=ids, judging=F("run__primary_judging"))
    if only is not None:
        scored = scored.filter(turn__in=shown)
    fields = (
        "turn", "dimension", "judge__name", "judge__version", "seat", "value", "reason", "exchange",
    )  # fmt: skip
    for turn_id, *rest in scored.order_by("pk").values_list(*fields):
        scores[turn_id].append(_Score(*rest))
    given = [score.exchange for found in scores.values() for score in found]
    reasons = _Reasons(trajectories, only, {pk for pk in given if pk})
    views = {}
    for trajectory in trajectories:
        made: list[TurnView] = []
        # Of all its turns: a judge has one name, also in a turn that another did not score.
        names = judge_names(score.by for turn in turns[trajectory.pk] for score in scores[turn.pk])
        before: Turn | None = None
        first: dict[str, int] = {}
        for turn in turns[trajectory.pk]:
            earliest = getattr(turn, "first_index", first.setdefault(turn.text, turn.index))
            if only is None or turn.index in only:
                found = tuple(
                    _violation_view(row, reasons.of_violation(trajectory.pk, turn, row.key))
                    for row in violations[turn.pk]
                )
                near = before if before and before.index == turn.index - 1 else None
                dimensions = _dimensions(trajectory, scores[turn.pk], reasons, names)
                again = bool(turn.text) and earliest < turn.index
                returns = again and not (near and near.text == turn.text)
                to = earliest if returns else None
                made.append(TurnView(turn, near, found, dimensions, to))
            before = turn
        views[trajectory.pk] = made
    return views


class _Score(NamedTuple):
    """A stored score; a page reads hundreds of them, so they are not model instances."""

    dimension: str
    judge: str
    version: str
    seat: str
    value: float | None
    reason: str
    exchange: int | None

    @property
    def by(self) -> Judge:
        return self.judge, self.version, self.seat


def _violation_view(row: Violation, reasons: tuple[str, ...]) -> ViolationView:
    mark = REPEATED if row.repeated else NEW if row.new else WITHHELD
    return ViolationView(row.key, row.kind, row.text, mark, row.revealed, reasons)


class _Reasons:
    """The judges' reasons for verdicts and scores, from their parsed replies.

    With ``turns`` it reads only the replies with ``scores``, or with verdicts about these turns.
    """

    def __init__(
        self,
        trajectories: Sequence[Trajectory],
        turns: Collection[int] | None,
        scores: Collection[int],
    ) -> None:
        self.by_exchange: dict[int, Mapping[str, Any]] = {}
        self.verdicts: dict[tuple[int, int], list[Mapping[str, Any]]] = defaultdict(list)
        self._turns: dict[int, dict[int, int]] = defaultdict(dict)
        branches = [row for row in trajectories if row.run.kind == Run.Kind.BRANCH]
        for branch in branches:
            self._read(whole_log(branch), branch.pk, turns, scores)
        others = {row.pk for row in trajectories} - {row.pk for row in branches}
        if others:
            self._read(Exchange.objects.filter(trajectory__in=others), None, turns, scores)

    def _read(
        self,
        log: QuerySet[Exchange],
        branch: int | None,
        turns: Collection[int] | None,
        scores: Collection[int],
    ) -> None:
        """Read exchanges, all as those of ``branch`` if it is given."""
        order = ("trajectory", "step", "slot") if branch is None else ("step", "slot")
        rows = log.filter(state=Exchange.State.ANSWERED, value__has_key="reasons").order_by(*order)
        if turns is not None:
            judged = rows.filter(value__has_key="violated").values_list("trajectory", "step")
            steps = {step for pk, step in judged if self._turn(branch or pk, step) in turns}
            rows = rows.filter(Q(pk__in=scores) | Q(step__in=steps))
        for pk, owner, step, value in rows.values_list("pk", "trajectory", "step", "value"):
            trajectory = branch or owner
            reasons = value.get("reasons") if isinstance(value, dict) else None
            if not isinstance(value, dict) or not isinstance(reasons, dict):
                continue
            self.by_exchange[pk] = reasons
            if "violated" in value:
                self.verdicts[trajectory, self._turn(trajectory, step)].append(reasons)

    def _turn(self, trajectory: int, step: int) -> int:
        """Return a step's turn: its judges share a step, and every turn is judged."""
        steps = self._turns[trajectory]
        return steps.setdefault(step, len(steps) + 1)

    def of_violation(self, trajectory: int, turn: Turn, key: str) -> tuple[str, ...]:
        given = self.verdicts.get((trajectory, turn.index), [])
        return tuple(str(reasons[key]) for reasons in given if reasons.get(key))

    def of_score(self, score: _Score) -> str:
        if score.value is None or score.exchange is None:
            return score.reason
        return score.reason or str(
            self.by_exchange.get(score.exchange, {}).get(score.dimension, "")
        )


def _dimensions(
    trajectory: Trajectory,
    scores: Sequence[_Score],
    reasons: _Reasons,
    names: Mapping[Judge, str],
) -> tuple[DimensionScores, ...]:
    system = system_of(trajectory.run.dataset.system)
    titles = {d.key: d.title for d in system.dimensions} if system else {}
    grouped: dict[str, list[_Score]] = defaultdict(list)
    for score in scores:
        grouped[score.dimension].append(score)
    keys = [key for key in titles if key in grouped]
    keys += [key for key in grouped if key not in titles]
    return tuple(
        DimensionScores(
            key,
            titles.get(key, plain(key)),
            tuple(
                GivenScore(names[row.by], row.value, reasons.of_score(row)) for row in grouped[key]
            ),
        )
        for key in keys
    )


def hidden_constraints(trajectory: Trajectory, turns: Sequence[TurnView]) -> list[HiddenKind]:
    """Return the profile's constraints by kind, with the turns that violated or revealed each."""
    return hidden_kinds(
        trajectory,
        ((turn.row.index, row.key, row.revealed) for turn in turns for row in turn.findings),
    )


def hidden_kinds(
    trajectory: Trajectory, findings: Iterable[tuple[int, str, bool]]
) -> list[HiddenKind]:
    """Do as ``hidden_constraints``, from (turn, key, revealed) of every violation in order."""
    violated: dict[str, list[int]] = defaultdict(list)
    first_revealed: dict[str, int] = {}
    for turn, key, revealed in findings:
        violated[key].append(turn)
        if revealed:
            first_revealed.setdefault(key, turn)
    kinds: dict[str, list[HiddenConstraint]] = defaultdict(list)
    for row in Constraint.objects.filter(profile=trajectory.profile_id).order_by("pk"):
        kinds[row.kind].append(
            HiddenConstraint(row.text, tuple(violated[row.key]), first_revealed.get(row.key))
        )
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
    """The step-by-step comparison of a plan with the one before."""

    lines: tuple[DiffLine, ...]

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(line.op for line in self.lines)

    @property
    def same(self) -> bool:
        return self._counts["same"] == len(self.lines)

    @property
    def shares(self) -> bool:
        """Return whether at least a quarter of the new plan was kept, so that comparing helps."""
        new = len(self.lines) - self._counts["removed"]
        return new - self._counts["added"] >= max(1, new / 4)

    @property
    def words(self) -> str:
        """Return a summary such as ``2 steps kept, 1 reworded, 3 new, 1 gone``."""
        if self.same:
            return "the same plan"
        if not self.shares:
            return "another plan"
        named = (("same", "kept"), ("changed", "reworded"), ("added", "new"), ("removed", "gone"))
        counts = [(self._counts[op], word) for op, word in named if self._counts[op]]
        first, *rest = [f"{n} {word}" for n, word in counts]
        n, word = counts[0]
        first = f"{n} step{'' if n == 1 else 's'} {word}"
        return ", ".join([first, *rest])


def plan_change(before: Sequence[str], after: Sequence[str]) -> PlanChange:
    """Compare the steps of two plans."""
    return PlanChange(tuple(diff_steps(before, after)))


def final_marks(turn: TurnView) -> list[dict[str, Any]]:
    """Return a mark for each dimension: the judges' mean, lowest and highest score."""
    return [
        {
            "key": d.key,
            "name": d.title,
            "mean": d.mean,
            "mean_text": "–" if d.mean is None else f"{d.mean:.2f}",
            "lo": min(d.values, default=None),
            "hi": max(d.values, default=None),
            "title": _title(d.values, len(d.missing)),
        }
        for d in turn.dimensions
    ]


def _title(values: list[float], missing: int) -> str:
    scores = "Judges: " + ", ".join(f"{value:g}" for value in values) if values else "No score"
    return f"{scores}; {missing} without a score" if missing else scores
