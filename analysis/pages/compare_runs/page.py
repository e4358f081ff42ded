"""Two runs task by task: who succeeds where the other does not, and by how much they differ."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from analysis.browser.comparison.run_measures import Attempt, RunMeasure, TaskText
from analysis.reports.content import Notice, how_interval
from analysis.reports.formatting import Unit, counted, ends, level, number, plural
from analysis.stats.results import Estimate

if TYPE_CHECKING:
    from analysis.stats.comparison.paired import PairComparison, PairedTasks

Flip = Literal["won", "lost", "both_pass", "both_fail", "tie", "undefined", "one_sided"]
EQUAL = 1e-12


@dataclass(frozen=True)
class Side:
    """One run's attempts at a task: their mean on the measure, or why there is none."""

    attempts: tuple[Attempt, ...]
    value: float | None
    why: str = ""

    @property
    def first(self) -> int:
        """The trajectory that stands for the others."""
        return self.attempts[0].pk


@dataclass(frozen=True)
class TaskRow:
    """A task with both outcomes; a side is None where its run has no attempt at the task."""

    task: TaskText
    a: Side | None
    b: Side | None
    difference: float | None
    flip: Flip


@dataclass(frozen=True)
class FlipReport:
    """Everything that the page on two runs says of one measure.

    ``counts`` are tasks by flip, those included that only one run has.
    """

    measured: RunMeasure
    names: tuple[str, str]
    rows: tuple[TaskRow, ...]
    paired: "PairedTasks"
    comparison: "PairComparison"
    sentence: str
    how: tuple[str, ...]
    counts: Mapping[str, int]

    @property
    def unit(self) -> Unit:
        """In what values are shown."""
        if self.measured.binary:
            return "share"
        return "points" if self.measured.scores else "number"

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What must be known before reading on: that there are few tasks."""
        # Brings numpy, which the start of the web server does without.
        from analysis.pages.few_clusters import few_clusters_notices

        return few_clusters_notices([self.comparison.difference])

    @property
    def several(self) -> bool:
        """Whether any task has more than one attempt on a side."""
        return not self.paired.single and bool(self.paired.tasks)

    @property
    def has_table(self) -> bool:
        """Whether every common task is won, lost, passed by both or by neither."""
        return self.comparison.table is not None


def flips_report(
    measured: RunMeasure,
    names: tuple[str, str],
    first: Sequence[Attempt],
    second: Sequence[Attempt],
    texts: Mapping[int, TaskText],
) -> FlipReport:
    """Compare two runs on a measure.

    Parameters
    ----------
    names
        Of the two, each for one alone.
    first, second
        Their trajectories.
    texts
        The tasks; one that is not in it is not shown.
    """
    # Brings numpy, which the start of the web server does without.
    from analysis.stats.comparison.paired import compare_pair, pair_by_task

    first = [one for one in first if one.task in texts]
    second = [one for one in second if one.task in texts]
    paired = pair_by_task(
        [one.task for one in first], [one.value for one in first],
        [one.task for one in second], [one.value for one in second],
    )  # fmt: skip
    comparison = compare_pair(paired, most=4.0 if measured.scores else None)
    rows = _rows(measured, first, second, texts)
    counts = dict(Counter[str](row.flip for row in rows))
    return FlipReport(
        measured,
        names,
        rows,
        paired,
        comparison,
        _sentence(measured, names, paired, comparison, counts),
        _how(measured, names, paired, comparison, (first, second)),
        counts,
    )


def _rows(
    measured: RunMeasure,
    first: Sequence[Attempt],
    second: Sequence[Attempt],
    texts: Mapping[int, TaskText],
) -> tuple[TaskRow, ...]:
    sides: dict[int, tuple[list[Attempt], list[Attempt]]] = {pk: ([], []) for pk in texts}
    for place, attempts in enumerate((first, second)):
        for one in attempts:
            sides[one.task][place].append(one)
    rows = []
    for pk, (mine, theirs) in sides.items():
        if mine or theirs:
            a, b = _side(mine), _side(theirs)
            rows.append(TaskRow(texts[pk], a, b, _difference(a, b), _flip(measured, a, b)))
    return tuple(rows)


def _side(attempts: Sequence[Attempt]) -> Side | None:
    """The mean over the attempts that have a value."""
    if not attempts:
        return None
    known = [one.value for one in attempts if one.value is not None]
    if known:
        return Side(tuple(attempts), sum(known) / len(known))
    reasons = Counter(one.why for one in attempts)
    return Side(tuple(attempts), None, "; ".join(reasons))


def _difference(a: Side | None, b: Side | None) -> float | None:
    if a is None or b is None or a.value is None or b.value is None:
        return None
    return a.value - b.value


def _flip(measured: RunMeasure, a: Side | None, b: Side | None) -> Flip:
    """Of a verdict with several attempts, both pass where every attempt of both does."""
    if a is None or b is None:
        return "one_sided"
    difference = _difference(a, b)
    if difference is None:
        return "undefined"
    if difference > EQUAL:
        return "won"
    if difference < -EQUAL:
        return "lost"
    if measured.binary and a.value == 1:
        return "both_pass"
    if measured.binary and a.value == 0:
        return "both_fail"
    return "tie"


def value_words(value: float, measured: RunMeasure, *, signed: bool = False) -> str:
    """A value, or a difference of values, as the page shows it."""
    if measured.binary:
        return number(value, "share", signed=signed)
    return number(value, "points" if measured.scores else "number", signed=signed)


def p_words(p: float) -> str:
    """A p-value in a sentence: = 0.012, < 0.001."""
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def _sentence(
    measured: RunMeasure,
    names: tuple[str, str],
    paired: "PairedTasks",
    comparison: "PairComparison",
    counts: Mapping[str, int],
) -> str:
    n = len(paired.tasks)
    if not n:
        return _nothing(names, counts, measured)
    a, b = names
    lost, won = comparison.losses, comparison.wins
    p = f"p {p_words(comparison.p_value)}" if comparison.p_value is not None else ""
    ahead = f"Difference ({a} − {b}): {_points(comparison.difference, measured, p)}"
    table = comparison.table
    if table is not None:
        text = (
            f"{b} {measured.verb} on {plural(lost, 'task')} where {a} {measured.verb_not}, "
            f"{a} on {won:,} where {b} {measured.verb_not}; of {plural(n, 'common task')} "
            f"both succeed on {table.both:,} and neither on {table.neither:,}."
        )
    elif measured.binary:
        text = (
            f"On {plural(lost, 'task')} {b} succeeds in a larger share of its attempts than {a}, "
            f"on {won:,} {a} than {b}; on {comparison.ties:,} of {plural(n, 'common task')} the "
            "shares are equal."
        )
    else:
        what = measured.title[:1].lower() + measured.title[1:]
        what = measured.title if what[1:2].isupper() else what
        text = (
            f"On {what}, {b} is higher on {plural(lost, 'task')}, {a} on {won:,}; on "
            f"{comparison.ties:,} of {plural(n, 'common task')} they are equal."
        )
    return f"{text} {ahead}."


def _points(estimate: Estimate, measured: RunMeasure, p: str) -> str:
    """A difference with its interval and p-value; shares differ by percentage points."""
    value, interval = estimate.value or 0.0, estimate.interval
    unit: Unit = "share" if measured.binary else "points" if measured.scores else "number"
    text = number(value, unit, signed=True)
    if measured.binary:
        text = f"{text.removesuffix(' %')} points"
    if interval is None:
        why = estimate.no_interval
        return f"{text} ({'; '.join(filter(None, (why, p)))})"
    inside = ends(interval, unit, signed=True).removesuffix(" %")
    return f"{text} ({level(interval)} interval {inside}, {p})"


def _nothing(names: tuple[str, str], counts: Mapping[str, int], measured: RunMeasure) -> str:
    """Why the two cannot be compared."""
    undefined = counts.get("undefined", 0)
    if undefined:
        return (
            f"{names[0]} and {names[1]} share {plural(undefined, 'task')}, but on none of them do "
            f"both have a value of “{measured.title}” yet."
        )
    return f"{names[0]} and {names[1]} have no task in common, so they cannot be compared."


def _how(
    measured: RunMeasure,
    names: tuple[str, str],
    paired: "PairedTasks",
    comparison: "PairComparison",
    sides: tuple[Sequence[Attempt], Sequence[Attempt]],
) -> tuple[str, ...]:
    if not paired.tasks:
        return ()
    lines = [
        f"{measured.title}{': ' + measured.help if measured.help else ''} {names[0]}: "
        f"{value_words(comparison.first or 0.0, measured)}, {names[1]}: "
        f"{value_words(comparison.second or 0.0, measured)}, both on the "
        f"{plural(len(paired.tasks), 'common task')}.",
    ]
    if not paired.single:
        lines.append(
            f"Some tasks have several attempts ({paired.attempts:,} in all): a task's value is the "
            "mean of its attempts, and every task has the same weight."
        )
    interval = how_interval([comparison.difference])
    lines.append(
        f"Difference: mean over common tasks of {names[0]} minus {names[1]}"
        + (f"; {interval}." if interval else ".")
    )
    if interval:
        lines.append(
            "The test is the score test that the interval inverts: the interval excludes 0 exactly "
            "where p < 0.05. With one attempt at each task it is McNemar's χ² without correction."
        )
    gone = Counter(one.why for side in sides for one in side if one.value is None)
    if gone:
        lines.append(f"Trajectories without a value: {counted(dict(gone.most_common()))}.")
    alone = paired.excluded.get("task that only one of the two has", 0)
    if alone:
        lines.append(f"Left out: {plural(alone, 'task')} with a value on one side only.")
    return tuple(lines)
