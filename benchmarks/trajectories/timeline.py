"""A trajectory turn by turn in numbers, without texts, so that hundreds of turns are quick."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import NamedTuple

from django.db.models import Avg, Count, Max, Min

from benchmarks.core.ports.labels import plain
from benchmarks.core.registry import system_of
from benchmarks.models import JudgeScore, Trajectory, Turn, Violation
from benchmarks.trajectories.turns import NEW, REPEATED, WITHHELD

KINDS = (NEW, REPEATED, WITHHELD)


class FindingMark(NamedTuple):
    """A violation by its kind alone: new, repeated or withheld."""

    mark: str


MARKS = {kind: FindingMark(kind) for kind in KINDS}


class ScoreSpread(NamedTuple):
    """The scores of a turn on a dimension: mean, lowest, highest, and how many are missing.

    It is a tuple, because a long trajectory has thousands and a dataclass is three times slower.
    """

    mean: float | None
    low: float | None
    high: float | None
    given: int
    missing: int


@dataclass
class TurnLine:
    """A turn as the timeline shows it, with the attributes that turn marks need."""

    index: int
    is_final: bool
    findings: list[FindingMark] = field(default_factory=list)
    spreads: dict[str, ScoreSpread] = field(default_factory=dict)

    @property
    def row(self) -> "TurnLine":
        return self

    @cached_property
    def mean(self) -> float | None:
        """Return the mean over the dimensions that have a score."""
        means = [spread.mean for spread in self.spreads.values() if spread.mean is not None]
        return fmean(means) if means else None

    def count(self, mark: str) -> int:
        """Count its violations of a kind."""
        return sum(finding.mark == mark for finding in self.findings)

    @property
    def new(self) -> int:
        return self.count(NEW)

    @property
    def repeated(self) -> int:
        return self.count(REPEATED)

    @property
    def withheld(self) -> int:
        return self.count(WITHHELD)


class Timeline(NamedTuple):
    """All turns in order; ``dimensions`` are the (key, title) of those with scores.

    ``violations`` are (turn, key, revealed) in the order in which they were found.
    """

    lines: Sequence[TurnLine]
    dimensions: Sequence[tuple[str, str]]
    violations: Sequence[tuple[int, str, bool]]

    @property
    def means(self) -> list[float | None]:
        return [line.mean for line in self.lines]


def turn_indices(trajectory: Trajectory, *, first: int, last: int) -> list[int]:
    """Return the indices of a trajectory's turns from ``first`` to ``last``."""
    rows = Turn.objects.filter(trajectory=trajectory, index__gte=first, index__lte=last)
    return list(rows.order_by("index").values_list("index", flat=True))


def timeline_of(trajectory: Trajectory) -> Timeline:
    """Return the turns of a trajectory in numbers, in three queries; scores of the run's own
    judging.
    """
    turns = Turn.objects.filter(trajectory=trajectory).order_by("index")
    lines = {n: TurnLine(n, final) for n, final in turns.values_list("index", "is_final")}
    violated = Violation.objects.filter(turn__trajectory=trajectory).order_by("turn__index", "pk")
    violations = []
    for index, key, revealed, new, repeated in violated.values_list(
        "turn__index", "key", "revealed", "new", "repeated"
    ):
        lines[index].findings.append(MARKS[REPEATED if repeated else NEW if new else WITHHELD])
        violations.append((index, key, revealed))
    scores = JudgeScore.objects.filter(
        trajectory=trajectory, judging=trajectory.run.primary_judging_id
    ).order_by()
    groups = ("turn_index", "dimension")
    numbers = scores.values(*groups).annotate(
        mean=Avg("value"),
        low=Min("value"),
        high=Max("value"),
        given=Count("value"),
        asked=Count("pk"),
    )
    fields = (*groups, "mean", "low", "high", "given", "asked")
    for index, dimension, mean, low, high, given, asked in numbers.values_list(*fields):
        lines[index].spreads[dimension] = ScoreSpread(mean, low, high, given, asked - given)
    return Timeline(list(lines.values()), _dimensions(trajectory, lines.values()), violations)


def _dimensions(trajectory: Trajectory, lines: Iterable[TurnLine]) -> list[tuple[str, str]]:
    system = system_of(trajectory.run.dataset.system)
    titles = {d.key: d.title for d in system.dimensions} if system else {}
    seen = {key for line in lines for key in line.spreads}
    keys = [key for key in titles if key in seen] + sorted(seen - set(titles))
    return [(key, titles.get(key, plain(key))) for key in keys]


# --- Bins, for trajectories with too many turns to draw each --------------------------------------


@dataclass(frozen=True)
class TurnBin:
    """Neighbouring turns drawn as one point, with their mean, lowest and highest score."""

    lines: Sequence[TurnLine]

    @property
    def first(self) -> int:
        return self.lines[0].index

    @property
    def last(self) -> int:
        return self.lines[-1].index

    @cached_property
    def spreads(self) -> Mapping[str, ScoreSpread]:
        """Return the scores by dimension; computed only when drawn, because it is slow."""
        together: dict[str, list[ScoreSpread]] = defaultdict(list)
        for line in self.lines:
            for key, spread in line.spreads.items():
                together[key].append(spread)
        return {key: _joined(spreads) for key, spreads in together.items()}

    @cached_property
    def marks(self) -> Mapping[str, int]:
        """Count the violations of each kind."""
        counts = Counter(finding.mark for line in self.lines for finding in line.findings)
        return {kind: counts[kind] for kind in KINDS}

    @property
    def words(self) -> str:
        return (
            f"Turn {self.first}" if self.first == self.last else f"Turns {self.first}–{self.last}"
        )


def bins_of(lines: Sequence[TurnLine], most: int) -> list[TurnBin]:
    """Group turns into at most ``most`` bins of equal size; the last may be smaller."""
    size = max(1, -(-len(lines) // most))
    return [TurnBin(lines[at : at + size]) for at in range(0, len(lines), size)]


def _joined(spreads: Sequence[ScoreSpread]) -> ScoreSpread:
    means = [spread.mean for spread in spreads if spread.mean is not None]
    return ScoreSpread(
        fmean(means) if means else None,
        min((s.low for s in spreads if s.low is not None), default=None),
        max((s.high for s in spreads if s.high is not None), default=None),
        sum(spread.given for spread in spreads),
        sum(spread.missing for spread in spreads),
    )
