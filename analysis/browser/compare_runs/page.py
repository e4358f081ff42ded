"""Two runs task by task: who succeeds where the other does not, and by how much they differ."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from analysis.browser.compare_runs.run_measures import Attempt, RunMeasure, TaskText
from analysis.pages.prose import Prose, read_prose
from analysis.reports.content import Notice, how_interval
from analysis.reports.extremes import unseen
from analysis.reports.formatting import Unit, ends, number

if TYPE_CHECKING:
    from analysis.stats.comparison.paired import PairComparison, PairedTasks

Flip = Literal["won", "lost", "both_pass", "both_fail", "tie", "undefined", "one_sided"]
EQUAL = 1e-12


@dataclass(frozen=True)
class TaskSide:
    """One run's attempts at a task: their mean on the measure, or why there is none."""

    attempts: tuple[Attempt, ...]
    value: float | None
    why: str = ""

    @property
    def first(self) -> int:
        """The trajectory that stands for the others."""
        return self.attempts[0].pk


@dataclass(frozen=True)
class TaskPair:
    """A task with both outcomes; a side is None where its run has no attempt at the task."""

    task: TaskText
    a: TaskSide | None
    b: TaskSide | None
    difference: float | None
    flip: Flip


@dataclass(frozen=True)
class FlipReport:
    """Everything that the page on two runs says of one measure.

    ``counts`` are tasks by flip, those included that only one run has; ``without_value`` are
    trajectories by the reason why they have none. ``unusable`` of the tasks are not solved by their
    own reference, and left out unless the address wants all. Sentences stand in ``answer.html`` and
    ``details.html``.
    """

    measured: RunMeasure
    names: tuple[str, str]
    rows: tuple[TaskPair, ...]
    paired: "PairedTasks"
    comparison: "PairComparison"
    counts: Mapping[str, int]
    without_value: Mapping[str, int]
    unusable: int = 0

    @property
    def sentence(self) -> str:
        """The sentence on who succeeds where the other does not, and by how much the two differ."""
        return self._prose("answer").text("answer")

    @property
    def how(self) -> tuple[str, ...]:
        """The method: how the difference was computed, and what was left out."""
        return self._prose("details").texts("how")

    def _prose(self, part: str) -> Prose:
        context = {"report": self, "first": self.names[0], "second": self.names[1]}
        return read_prose(f"browser/compare_runs/{part}.html", context)

    @property
    def tasks(self) -> int:
        """The number of tasks of which both have a value."""
        return len(self.paired.tasks)

    @property
    def what(self) -> str:
        """The measure within a sentence; abbreviations keep their capitals."""
        title = self.measured.title
        return title if title[1:2].isupper() else title[:1].lower() + title[1:]

    @property
    def difference(self) -> str:
        """The first run minus the second, with its sign; shares differ by points."""
        text = value_words(self.comparison.difference.value or 0.0, self.measured, signed=True)
        return f"{text.removesuffix(' %')} points" if self.measured.binary else text

    @property
    def ends(self) -> str:
        """Both ends of the interval of the difference, with their signs."""
        interval = self.comparison.difference.interval
        return (
            ends(interval, self.unit, signed=True).removesuffix(" %")
            if interval is not None
            else ""
        )

    @property
    def means(self) -> tuple[str, str]:
        """The mean of each run on the common tasks."""
        values = (self.comparison.first, self.comparison.second)
        return (
            value_words(values[0] or 0.0, self.measured),
            value_words(values[1] or 0.0, self.measured),
        )

    @property
    def interval_method(self) -> str:
        return how_interval([self.comparison.difference])

    @property
    def left_out(self) -> int:
        """The number of tasks that have a value on one side only."""
        return self.paired.excluded.get("task that only one of the two has", 0)

    @property
    def unit(self) -> Unit:
        """The unit in which values are shown."""
        if self.measured.binary:
            return "share"
        return "points" if self.measured.scores else "number"

    @property
    def notices(self) -> tuple[Notice, ...]:
        """How large a difference has to be to show, where that found is not clear."""
        text = unseen([self.comparison.difference], self.unit)
        return (Notice(text),) if text else ()

    @property
    def several(self) -> bool:
        """Return whether any task has more than one attempt on a side."""
        return not self.paired.single and bool(self.paired.tasks)

    @property
    def has_table(self) -> bool:
        """Return whether every common task is won, lost, passed by both or by neither."""
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
    gone = Counter(one.why for one in (*first, *second) if one.value is None)
    return FlipReport(measured, names, rows, paired, comparison, counts, dict(gone.most_common()))


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
    if measured.binary:
        return number(value, "share", signed=signed)
    return number(value, "points" if measured.scores else "number", signed=signed)
