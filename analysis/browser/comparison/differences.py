"""Differences between compared trajectories: outcome, violations, scores and tokens."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from django.db.models import Avg, Count, F, Q, Sum

from analysis.browser.comparison.address import PORTION
from analysis.browser.comparison.alignment import place_title, turn_at
from analysis.browser.comparison.candidates import ComparedTrajectories, ComparedTrajectory
from benchmarks.calls.whole_log import whole_log
from benchmarks.core.ports.labels import plain
from benchmarks.core.registry import system_of
from benchmarks.models import Constraint, Exchange, JudgeScore, Run, Trajectory, Violation
from benchmarks.trajectories import selectors as trajectories
from benchmarks.trajectories.turns import NEW, REPEATED, WITHHELD

MARKS = (NEW, REPEATED, WITHHELD)
AGENT = "agent"


@dataclass(frozen=True)
class ViolationText:
    """A violation with the text that the matrix shows."""

    trajectory: int
    turn: int
    kind: str
    text: str
    mark: str


def violations_of(columns: Sequence[ComparedTrajectory]) -> list[ViolationText]:
    """Return every violation of these trajectories, turn by turn, in one query."""
    rows = Violation.objects.filter(turn__trajectory__in=[c.pk for c in columns])
    return [
        ViolationText(pk, turn, kind, text, REPEATED if repeated else NEW if new else WITHHELD)
        for pk, turn, kind, text, new, repeated in rows.order_by("turn__index", "pk").values_list(
            "turn__trajectory", "turn__index", "kind", "text", "new", "repeated"
        )
    ]


@dataclass(frozen=True)
class ViolationSpan:
    """The state of a constraint on one turn or several in a row: new, repeated or withheld."""

    mark: str
    first: int
    last: int

    @property
    def words(self) -> str:
        """The turn, or the first and the last of them."""
        return f"{self.first}" if self.first == self.last else f"{self.first}–{self.last}"

    @property
    def shown_from(self) -> int:
        """The first turn of the portion that shows this mark."""
        return (self.first - 1) // PORTION * PORTION + 1


@dataclass(frozen=True)
class ConstraintRow:
    """A constraint with its marks in every trajectory, in the order of the columns."""

    kind: str
    text: str
    cells: tuple[tuple[ViolationSpan, ...], ...]

    @property
    def violated_by(self) -> int:
        return sum(bool(cell) for cell in self.cells)


@dataclass(frozen=True)
class ViolationMatrix:
    """Constraints by trajectory and turn. ``untouched`` are those that none of them violated."""

    rows: tuple[ConstraintRow, ...]
    untouched: tuple[str, ...]

    @property
    def differing(self) -> int:
        return sum(row.violated_by < len(row.cells) for row in self.rows)


def matrix(
    columns: Sequence[ComparedTrajectory], violations: Iterable[ViolationText]
) -> ViolationMatrix:
    """Return the constraints that each trajectory violated, and when.

    A constraint is the same where kind and words are the same: levels share constraints. What most
    trajectories violated stands first, then what was violated earliest.
    """
    marks: dict[tuple[str, str], dict[int, list[ViolationSpan]]] = {}
    for row in violations:
        mine = marks.setdefault((row.kind, row.text), {}).setdefault(row.trajectory, [])
        if mine and mine[-1].mark == row.mark and mine[-1].last == row.turn - 1:
            mine[-1] = ViolationSpan(row.mark, mine[-1].first, row.turn)
        else:
            mine.append(ViolationSpan(row.mark, row.turn, row.turn))
    rows = [
        ConstraintRow(plain(kind), text, tuple(tuple(by.get(c.pk, ())) for c in columns))
        for (kind, text), by in marks.items()
    ]
    rows.sort(key=lambda row: (row.kind != "World", -row.violated_by))
    profiles = {c.trajectory.profile_id for c in columns if c.trajectory.profile_id}
    hidden = Constraint.objects.filter(profile__in=profiles).order_by("pk")
    untouched = dict.fromkeys(
        text for kind, text in hidden.values_list("kind", "text") if (kind, text) not in marks
    )
    return ViolationMatrix(tuple(rows), tuple(untouched))


@dataclass(frozen=True)
class Scores:
    """Means over judges by trajectory and turn, then dimension, of each run's own judging."""

    dimensions: tuple[tuple[str, str], ...]
    means: Mapping[tuple[int, int], Mapping[str, float]]

    def value(self, pk: int, turn: int | None, dimension: str = "") -> float | None:
        """Return a dimension's mean at a turn; without one, the mean over those with a score."""
        means = self.means.get((pk, turn)) if turn is not None else None
        if not means:
            return None
        return means.get(dimension) if dimension else fmean(means.values())


def scores_of(columns: Sequence[ComparedTrajectory]) -> Scores:
    """Return the scores of these trajectories in one query, averaged over judges in the
    database.
    """
    rows = (
        JudgeScore.objects.filter(
            trajectory__in=[c.pk for c in columns], judging=F("run__primary_judging")
        )
        .order_by()
        .values_list("trajectory", "turn_index", "dimension")
        .annotate(mean=Avg("value"))
    )
    means: dict[tuple[int, int], dict[str, float]] = defaultdict(dict)
    seen: dict[str, None] = {}
    for pk, turn, dimension, mean in rows:
        seen[dimension] = None
        if mean is not None:
            means[pk, turn][dimension] = float(mean)
    titles: dict[str, str] = {}
    for column in columns:
        system = system_of(column.trajectory.run.dataset.system)
        titles |= {d.key: d.title for d in system.dimensions} if system else {}
    keys = [key for key in titles if key in seen] + sorted(set(seen) - set(titles))
    return Scores(tuple((key, titles.get(key, plain(key))) for key in keys), means)


@dataclass(frozen=True)
class ComparedValue:
    """A number, how far it is from the base's, and the same turn by turn for a small drawing."""

    value: float | None
    difference: float | None
    is_base: bool
    series: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class ScoreRow:
    """A dimension (or a place in the alignment) with one value for each trajectory."""

    title: str
    cells: tuple[ComparedValue, ...]


def _minus(value: float | None, base: float | None) -> float | None:
    return None if value is None or base is None else value - base


def final_rows(chosen: ComparedTrajectories, scores: Scores) -> list[ScoreRow]:
    """Return the scores of last plans by dimension, and their mean last, each beside its course."""
    base, longest, align = chosen.base, chosen.longest, chosen.address.align
    if base is None:
        return []
    rows = []
    for key, title in (*scores.dimensions, ("", "Mean of these")):
        held = scores.value(base.pk, _last(base), key)
        rows.append(
            ScoreRow(
                title,
                tuple(
                    ComparedValue(
                        value := scores.value(c.pk, _last(c), key),
                        None if c.is_base else _minus(value, held),
                        c.is_base,
                        tuple(
                            scores.value(c.pk, turn_at(c, place, longest, align), key)
                            for place in range(1, longest + 1)
                        ),
                    )
                    for c in chosen.columns
                ),
            )
        )
    return rows


def _last(column: ComparedTrajectory) -> int | None:
    return column.turns[-1] if column.turns else None


def place_rows(chosen: ComparedTrajectories, scores: Scores, dimension: str) -> list[ScoreRow]:
    """Return one dimension's scores (or their mean) place by place, with the difference to the
    base.
    """
    base, longest, align = chosen.base, chosen.longest, chosen.address.align
    if base is None:
        return []
    rows = []
    for place in range(1, longest + 1):
        held = scores.value(base.pk, turn_at(base, place, longest, align), dimension)
        cells = []
        for column in chosen.columns:
            value = scores.value(column.pk, turn_at(column, place, longest, align), dimension)
            difference = None if column.is_base else _minus(value, held)
            cells.append(ComparedValue(value, difference, column.is_base))
        rows.append(ScoreRow(place_title(place, longest, align), tuple(cells)))
    return rows


@dataclass(frozen=True)
class Tokens:
    """The tokens of the agent's calls; None where no call states them, as ``silent`` calls do."""

    into: int | None
    out: int | None
    silent: int


def tokens_of(columns: Sequence[ComparedTrajectory]) -> dict[int, Tokens]:
    """Return tokens of the agent's calls by trajectory, in one query; imported ones state their
    own.
    """
    sums = {
        "into": Sum("tokens_in"),
        "out": Sum("tokens_out"),
        "silent": Count("pk", filter=Q(tokens_out=None)),
    }
    rows = (
        Exchange.objects.filter(trajectory__in=[c.pk for c in columns], role=AGENT)
        .order_by()
        .values_list("trajectory")
        .annotate(**sums)
    )
    tokens = {pk: Tokens(into, out, silent) for pk, into, out, silent in rows}
    for column in columns:
        if column.trajectory.run.kind == Run.Kind.BRANCH:
            calls = whole_log(column.trajectory).filter(role=AGENT)
            tokens[column.pk] = Tokens(**calls.aggregate(**sums))
    for column in columns:
        stated = column.trajectory.metrics.get("tokens")
        if column.pk not in tokens and stated is not None:
            tokens[column.pk] = Tokens(None, round(stated), 0)
    return tokens


@dataclass(frozen=True)
class TrajectorySummary:
    """One trajectory in one line; ``counts`` of violations by mark, None where nobody looked.

    ``constraints`` are different ones; ``course`` is the mean turn by turn.
    """

    column: ComparedTrajectory
    verdicts: tuple[tuple[str, trajectories.MetricVerdict], ...]
    turns_more: int
    counts: Mapping[str, int] | None
    constraints: int
    mean: float | None
    mean_more: float | None
    course: tuple[float | None, ...]
    tokens: Tokens


def summaries(
    chosen: ComparedTrajectories,
    violations: Sequence[ViolationText],
    scores: Scores,
    tokens: Mapping[int, Tokens],
) -> list[TrajectorySummary]:
    """Return a line for each trajectory, with its differences to the base."""
    base = chosen.base
    if base is None:
        return []
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    different: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for violation in violations:
        counts[violation.trajectory][violation.mark] += 1
        different[violation.trajectory].add((violation.kind, violation.text))
    held = scores.value(base.pk, _last(base))
    lines = []
    for column in chosen.columns:
        row = column.trajectory
        judged = trajectories.is_scored(row.run.dataset.system)
        mean = scores.value(column.pk, _last(column))
        names = trajectories.verdicts(row) if not _imported(row) else []
        lines.append(
            TrajectorySummary(
                column,
                tuple(names),
                len(column.turns) - len(base.turns),
                {mark: counts[column.pk][mark] for mark in MARKS} if judged else None,
                len(different[column.pk]),
                mean,
                None if column.is_base else _minus(mean, held),
                tuple(scores.value(column.pk, turn) for turn in column.turns),
                tokens.get(column.pk, Tokens(None, None, 0)),
            )
        )
    return lines


def _imported(row: Trajectory) -> bool:
    return row.run.kind == "imported"


def sentence(chosen: ComparedTrajectories, lines: Sequence[TrajectorySummary]) -> str:
    """Return how many are right, after how many turns, and the range of their last plans' means."""
    if len(lines) < 2:
        return ""
    results = Counter(line.column.result.title.lower() for line in lines)
    listed = [f"{n} {title}" for title, n in results.most_common()]
    counts = listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
    fewest = min(lines, key=lambda line: len(line.column.turns))
    most = max(lines, key=lambda line: len(line.column.turns))
    low, high = len(fewest.column.turns), len(most.column.turns)
    after = f"after {low} turn{'' if low == 1 else 's'}"
    if low != high:
        after = f"after {low} ({fewest.column.label}) to {high} turns ({most.column.label})"
    text = f"{len(lines)} trajectories: {counts}, {after}"
    known = [(line.mean, line) for line in lines if line.mean is not None]
    if len(known) > 1:
        worst, best = min(known, key=lambda pair: pair[0]), max(known, key=lambda pair: pair[0])
        if best[0] - worst[0] > 1e-9:
            text += (
                f"; the means of their last plans lie between {worst[0]:.2f} "
                f"({worst[1].column.label}) and {best[0]:.2f} ({best[1].column.label})"
            )
        else:
            text += f"; the mean of every last plan is {best[0]:.2f}"
    return f"{text}."
