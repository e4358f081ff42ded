"""Two runs task by task: who succeeds where the other does not, and by how much they differ."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from analysis.browser.compare_runs.run_measures import Attempt, RunMeasure, TaskText
from analysis.kit.page import Sheet, report_of
from analysis.reports.content import Report, how_interval
from analysis.reports.extremes import unseen
from analysis.reports.formatting import Unit, counted, ends, level, number, p_words, plural

if TYPE_CHECKING:
    from analysis.stats.comparison.paired import PairComparison, PairedTasks

Flip = Literal["won", "lost", "both_pass", "both_fail", "tie", "undefined", "one_sided"]
EQUAL = 1e-12


class TaskSide(NamedTuple):
    """One run's attempts at a task: their mean on the measure, or why there is none."""

    attempts: tuple[Attempt, ...]
    value: float | None
    why: str = ""


class TaskPair(NamedTuple):
    """A task with both outcomes; a side is None where its run has no attempt at the task."""

    task: TaskText
    a: TaskSide | None
    b: TaskSide | None
    difference: float | None
    flip: Flip


class RunPair(NamedTuple):
    """Two runs on one measure.

    ``counts`` are tasks by flip, those included that only one run has; ``without_value`` are
    trajectories by the reason why they have none. ``unusable`` of the tasks are not solved by their
    own reference, and left out unless the address wants all.
    """

    measured: RunMeasure
    names: tuple[str, str]
    rows: tuple[TaskPair, ...]
    paired: "PairedTasks"
    comparison: "PairComparison"
    counts: Mapping[str, int]
    without_value: Mapping[str, int]
    unusable: int = 0


def pair_runs(
    measured: RunMeasure,
    names: tuple[str, str],
    first: Sequence[Attempt],
    second: Sequence[Attempt],
    texts: Mapping[int, TaskText],
    unusable: int = 0,
) -> RunPair:
    """Compare two runs on a measure.

    Parameters
    ----------
    names
        Of the two, each for one alone.
    first, second
        Their trajectories.
    texts
        The tasks; one that is not in it is not shown.
    unusable
        How many tasks are not solved by their own reference.
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
    gone = Counter(one.why for one in (*first, *second) if one.value is None)
    without = dict(gone.most_common())
    return RunPair(measured, names, rows, paired, comparison, counts, without, unusable)


def pair_report(pair: RunPair) -> Report:
    """Say who succeeds where the other does not, by how much the two differ, and how that is
    computed.
    """
    return report_of(partial(_content, pair=pair))


def _content(sheet: Sheet, pair: RunPair) -> Iterator[None]:
    measured, (first, second), compared = pair.measured, pair.names, pair.comparison
    unit, n = _unit(measured), len(pair.paired.tasks)
    if not n:
        sheet.answer(
            f"{first} and {second} share {plural(pair.counts['undefined'], 'task')}, but on none "
            f"of them do both have a value of “{measured.title}” yet."
            if pair.counts.get("undefined")
            else f"{first} and {second} have no task in common, so they cannot be compared."
        )
        return
    sheet.answer(_who_is_better(pair, plural(n, "common task")))
    difference = value_words(compared.difference.value or 0.0, measured, signed=True)
    if measured.binary:
        difference = f"{difference.removesuffix(' %')} points"
    interval, why_none = compared.difference.interval, compared.difference.no_interval
    certainty = why_none
    if interval is not None:
        inside = ends(interval, unit, signed=True).removesuffix(" %")
        certainty = f"{level(interval)} interval {inside}"
    if compared.p_value is not None:
        between = ", " if interval is not None else "; " if why_none else ""
        certainty = f"{certainty}{between}{p_words(compared.p_value)}"
    sheet.answer(f"Difference ({first} − {second}): {difference} ({certainty}).")
    sheet.warning(unseen([compared.difference], unit))
    yield
    means = [value_words(mean or 0.0, measured) for mean in (compared.first, compared.second)]
    method = how_interval([compared.difference])
    left_out = pair.paired.excluded.get("task that only one of the two has", 0)
    sheet.how(
        f"{measured.title}{f': {measured.help}' if measured.help else ''} {first}: {means[0]}, "
        f"{second}: {means[1]}, both on the {plural(n, 'common task')}.",
        f"Some tasks have several attempts ({pair.paired.attempts:,} in all): a task's value is "
        "the mean of its attempts, and every task has the same weight."
        if not pair.paired.single
        else "",
        f"Difference: mean over common tasks of {first} minus {second}"
        f"{f'; {method}' if method else ''}.",
        "The test is the score test that the interval inverts: the interval excludes 0 exactly "
        "where p < 0.05. With one attempt at each task it is McNemar's χ² without correction."
        if method
        else "",
        f"Trajectories without a value: {counted(pair.without_value)}."
        if pair.without_value
        else "",
        f"Left out: {plural(left_out, 'task')} with a value on one side only." if left_out else "",
    )


def _who_is_better(pair: RunPair, common: str) -> str:
    """Say on how many tasks each is better; ``common`` are all, in words."""
    measured, (first, second), compared = pair.measured, pair.names, pair.comparison
    lost, won, ties = plural(compared.losses, "task"), f"{compared.wins:,}", f"{compared.ties:,}"
    if (table := compared.table) is not None:
        return (
            f"{second} {measured.verb} on {lost} where {first} {measured.verb_not}, {first} on "
            f"{won} where {second} {measured.verb_not}; of {common} both succeed on "
            f"{table.both:,} and neither on {table.neither:,}."
        )
    if measured.binary:
        return (
            f"On {lost} {second} succeeds in a larger share of its attempts than {first}, on {won} "
            f"{first} than {second}; on {ties} of {common} the shares are equal."
        )
    title = measured.title
    # Abbreviations keep their capitals.
    what = title if title[1:2].isupper() else title[:1].lower() + title[1:]
    return (
        f"On {what}, {second} is higher on {lost}, {first} on {won}; on {ties} of {common} they "
        "are equal."
    )


def _unit(measured: RunMeasure) -> Unit:
    """Return the unit in which values are shown."""
    if measured.binary:
        return "share"
    return "points" if measured.scores else "number"


def _rows(
    measured: RunMeasure,
    first: Sequence[Attempt],
    second: Sequence[Attempt],
    texts: Mapping[int, TaskText],
) -> tuple[TaskPair, ...]:
    sides: dict[int, tuple[list[Attempt], list[Attempt]]] = {pk: ([], []) for pk in texts}
    for place, attempts in enumerate((first, second)):
        for one in attempts:
            sides[one.task][place].append(one)
    rows = []
    for pk, (mine, theirs) in sides.items():
        if mine or theirs:
            a, b = _side(mine), _side(theirs)
            rows.append(TaskPair(texts[pk], a, b, _difference(a, b), _flip(measured, a, b)))
    return tuple(rows)


def _side(attempts: Sequence[Attempt]) -> TaskSide | None:
    """Return the mean over the attempts that have a value."""
    if not attempts:
        return None
    known = [one.value for one in attempts if one.value is not None]
    if known:
        return TaskSide(tuple(attempts), sum(known) / len(known))
    reasons = Counter(one.why for one in attempts)
    return TaskSide(tuple(attempts), None, "; ".join(reasons))


def _difference(a: TaskSide | None, b: TaskSide | None) -> float | None:
    if a is None or b is None or a.value is None or b.value is None:
        return None
    return a.value - b.value


def _flip(measured: RunMeasure, a: TaskSide | None, b: TaskSide | None) -> Flip:
    """Return the change between two verdicts; with several attempts, both pass where every
    attempt of both does.
    """
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
    """Return a value, or a difference of values, as the page shows it."""
    return number(value, _unit(measured), signed=signed)
