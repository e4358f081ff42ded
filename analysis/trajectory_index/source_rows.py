"""Reading the index columns of trajectories from the database, in a fixed number of queries."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Count, Q, QuerySet, Sum

from analysis.filters.runs import NEARLY, PassThreshold, pass_threshold
from analysis.frames.outcomes import rejudged_metrics
from analysis.trajectory_index.columns import NONE, STATES, IndexColumns, empty
from annotation.bulk_numbers import BETWEEN, aggregate_numbers
from benchmarks.core.registry import find_system
from benchmarks.models import Exchange, JudgeScore, Judging, Run, Trajectory, Violation

# At most this many trajectories are named in one query.
CHUNK = 2000
METRICS = ("valid", "accurate", "reward")


class _RunFacts(NamedTuple):
    """The data that the columns of a run depend on.

    ``carrier`` is the run of judges that holds its metrics after a re-judging; ``headline`` the
    measure by which its system ranks agents, ``most`` its largest value (else 1).
    """

    bar: PassThreshold | None
    judging: int | None
    carrier: int | None
    headline: str
    most: float


class _Coder:
    """Assigns codes to names, in order of first appearance."""

    def __init__(self) -> None:
        self.codes: dict[Any, int] = {}

    def __call__(self, name: Any) -> int:
        return self.codes.setdefault(name, len(self.codes)) if name else NONE

    @property
    def names(self) -> tuple[Any, ...]:
        return tuple(self.codes)


def read_columns(runs: Sequence[int], only: Sequence[int] | None = None) -> IndexColumns:
    """Read the columns of these runs' trajectories, or of those in ``only``."""
    rows = Trajectory.objects.filter(run__in=runs).order_by("pk")
    if only is not None and len(only) > CHUNK:
        only = None  # naming so many costs more than reading all
    about: dict[int, _RunFacts] = {
        pk: _RunFacts(pass_threshold(settings), judging, carrier, *_headline(system))
        for pk, settings, judging, carrier, system in Run.objects.filter(pk__in=runs)
        .order_by()
        .values_list(
            "pk", "settings", "primary_judging", "primary_judging__made_by", "dataset__system"
        )
    }
    columns = _outcomes(rows if only is None else rows.filter(pk__in=only), about)
    if not len(columns["id"]):
        return empty()

    def mine(model: Any, key: str) -> QuerySet[Any, Any]:
        """Return rows that belong to these trajectories by ``key``, in no order."""
        where = {f"{key}__run__in": runs} if only is None else {f"{key}__in": only}
        rows: QuerySet[Any, Any] = model.objects.filter(**where).order_by()
        return rows

    place = RowPositions(columns["id"])
    bars = [about[run].bar for run in columns["run"].tolist()]
    scores = JudgeScore.objects.order_by()
    scores = scores.filter(trajectory__in=only) if only is not None else scores
    primary = [facts.judging for facts in about.values()]
    columns |= _scores(scores.filter(judging__in=primary, is_final=True), place, bars)
    judgings = list(Judging.objects.filter(run__in=runs).order_by().values_list("pk", flat=True))
    absent = scores.filter(judging__in=judgings, value=None).values_list("trajectory")
    columns["unscored"] = place.fill(absent.annotate(n=Count("pk")))
    columns |= _violations(mine(Violation, "turn__trajectory"), place)
    columns["tokens"] = _tokens(mine(Exchange, "trajectory"), place, columns.pop("stated"))
    return IndexColumns(**columns)


class RowPositions:
    """Finds the rows of trajectories by their ids."""

    def __init__(self, ids: Any) -> None:
        self.ids = ids

    def __len__(self) -> int:
        return len(self.ids)

    def __call__(self, ids: Any) -> Any:
        return np.searchsorted(self.ids, np.asarray(ids, dtype=np.int64))

    def fill(self, pairs: Iterable[tuple[Any, ...]]) -> Any:
        """Return a whole number for each row from pairs (id, number); 0 without a pair."""
        filled = np.zeros(len(self), dtype=np.int64)
        table = np.array(list(pairs), dtype=np.int64).reshape(-1, 2)
        filled[self(table[:, 0])] = table[:, 1]
        return filled


def _headline(system: str) -> tuple[str, float]:
    """Return the measure by which a system's trajectories are sorted, and its largest value."""
    labels = find_system(system).labels
    name = labels.list_order
    return name, (labels.measures[name].most or 1.0) if name else 1.0


def _outcomes(rows: QuerySet[Trajectory], about: Mapping[int, _RunFacts]) -> dict[str, Any]:
    """Return how each ended."""
    anew = rejudged_metrics(facts.carrier for facts in about.values())
    states = {state: code for code, state in enumerate(STATES)}
    ends, failures = _Coder(), _Coder()
    done = str(Trajectory.Status.DONE)
    table: list[tuple[Any, ...]] = []
    measures: list[tuple[float | None, ...]] = []
    fields = ("pk", "run", "task", "status", "termination", "turn_count", "metrics",
              "payload__failure_category")  # fmt: skip
    for pk, run, task, status, end, turns, metrics, why in rows.values_list(*fields).iterator():
        code = ends(end) if status == done else NONE
        table.append((pk, run, task, states[status], code, failures(_word(why)), turns))
        carried = about[run].carrier is not None
        metrics = (anew.get(pk, ({}, {}))[0] if carried else metrics) or {}
        main = _number(metrics.get(about[run].headline))
        measures.append(
            (
                *(_number(metrics.get(name)) for name in (*METRICS, "tokens")),
                None if main is None else main / about[run].most,
            )
        )
    names = ("id", "run", "task", "state", "end", "failure", "turns")
    columns = np.array(table, dtype=np.int64).reshape(-1, 7).T
    table_of = np.array(measures, dtype=np.float64).reshape(-1, len(METRICS) + 2)
    valid, accurate, reward, stated, headline_values = table_of.T
    return {
        **dict(zip(names, columns, strict=True)),
        "valid": _verdicts(valid),
        "accurate": _verdicts(accurate),
        "reward": reward,
        "headline": headline_values,
        "stated": stated,
        "ends": ends.names,
        "failures": failures.names,
    }


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> float | None:
    """Return a stored number; None for anything else, which an import may hold."""
    return float(value) if isinstance(value, int | float) else None


def _verdicts(values: Any) -> Any:
    """Return 1 and 0 as they are; anything else is undefined."""
    return np.where(values == 1, 1, np.where(values == 0, 0, NONE)).astype(np.int8)


def _scores(
    rows: QuerySet[JudgeScore], place: RowPositions, bars: Sequence[PassThreshold | None]
) -> dict[str, Any]:
    """Return means of the last turn by dimension, over all, and the spread between judges."""
    size = len(place)
    groups = list(
        rows.filter(value__isnull=False)
        .values_list("dimension", "seat")
        .annotate(text=aggregate_numbers("trajectory", "value"))
    )
    missing = list(
        rows.filter(value=None).values_list("dimension", "trajectory").annotate(n=Count("pk"))
    )
    dimensions = sorted({name for name, *_ in [*groups, *missing]})
    seats = sorted({seat for _, seat, _ in groups})
    sums, counts = np.zeros((2, size, len(dimensions)))
    by_seat, of_seat = np.zeros((2, size, len(seats)))
    for dimension, seat, text in groups:
        pairs = np.fromstring(text, dtype=np.float64, sep=BETWEEN).reshape(-1, 2)
        at = place(pairs[:, 0])
        total = np.bincount(at, weights=pairs[:, 1], minlength=size)
        number = np.bincount(at, minlength=size)
        for table, column, part in (
            (sums, dimensions.index(dimension), total),
            (counts, dimensions.index(dimension), number),
            (by_seat, seats.index(seat), total),
            (of_seat, seats.index(seat), number),
        ):
            table[:, column] += part
    absent = np.zeros((size, len(dimensions)))
    for dimension, trajectory, number in missing:
        absent[place(trajectory), dimensions.index(dimension)] += number
    means = _ratio(sums, counts)
    return {
        "mean": _ratio(sums.sum(axis=1), counts.sum(axis=1)),
        "dimension": means.astype(np.float32),
        "dimensions": tuple(dimensions),
        "passes": _passes(means, absent, bars),
        "spread": _spread(_ratio(by_seat, of_seat)),
    }


def _ratio(total: Any, number: Any) -> Any:
    """Return means; NaN where there is nothing to average."""
    return np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)


def _passes(means: Any, absent: Any, bars: Sequence[PassThreshold | None]) -> Any:
    """Return whether each mean reaches its run's threshold: 1, 0, or `NONE` where that is
    undefined.
    """
    threshold = np.array([np.nan if bar is None else bar.threshold for bar in bars])[:, None]
    everybody = np.array([bar is not None and bar.everybody for bar in bars])[:, None]
    known = ~np.isnan(means) & ~np.isnan(threshold) & ~(everybody & (absent > 0))
    return np.where(known, means >= threshold - NEARLY, NONE).astype(np.int8)


def _spread(means: Any) -> Any:
    """Return the population SD over judges of their means; NaN unless two of them scored."""
    there = ~np.isnan(means)
    number = there.sum(axis=1)
    filled = np.where(there, means, 0.0)
    centre = _ratio(filled.sum(axis=1), number)
    squares = np.where(there, (filled - centre[:, None]) ** 2, 0.0)
    return np.where(number > 1, np.sqrt(_ratio(squares.sum(axis=1), number)), np.nan)


def _violations(rows: QuerySet[Violation], place: RowPositions) -> dict[str, Any]:
    """Return how often constraints were violated in all turns, in which way, and which."""
    constraints = _Coder()
    table = [
        (trajectory, constraints((kind, key)), *numbers)
        for trajectory, kind, key, *numbers in rows.values_list(
            "turn__trajectory", "kind", "key"
        ).annotate(
            n=Count("pk"),
            fresh=Count("pk", filter=Q(new=True)),
            again=Count("pk", filter=Q(repeated=True)),
            withheld=Count("pk", filter=Q(revealed=False, repeated=False)),
        )
    ]
    trajectory, code, *numbers = np.array(table, dtype=np.int64).reshape(-1, 6).T
    at = place(trajectory)
    names = ("violations", "new", "repeated", "withheld")
    return {
        **{
            name: np.bincount(at, weights=number, minlength=len(place)).astype(np.int64)
            for name, number in zip(names, numbers, strict=True)
        },
        "broken": np.column_stack([at, code]),
        "constraints": constraints.names,
    }


def _tokens(rows: QuerySet[Exchange], place: RowPositions, stated: Any) -> Any:
    """Return tokens read and written in all calls of a trajectory; for imports what the file
    states.
    """
    tokens = np.where(np.isnan(stated), NONE, stated).astype(np.int64)
    sums = rows.values_list("trajectory").annotate(read=Sum("tokens_in"), wrote=Sum("tokens_out"))
    for trajectory, read, wrote in sums:
        if read is not None or wrote is not None:
            tokens[place(trajectory)] = (read or 0) + (wrote or 0)
    return tokens
