"""The tasks of two runs as lines: which are shown, in what order, and what each says."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from analysis.browser.comparison.address import END, MOST, PORTION
from analysis.browser.comparison.run_measures import MEAN, Attempt, AttemptDetails, RunMeasure
from analysis.pages.compare_runs.page import FlipReport, Side, TaskRow, value_words
from benchmarks.core.registry import find_system
from benchmarks.models import Trajectory
from benchmarks.trajectories.selectors import STATES

FLIPS = ("won", "lost", "both_pass", "both_fail", "tie", "undefined", "one_sided")
SORTS: Mapping[str, str] = {
    "": "as in the dataset",
    "difference": "A furthest ahead first",
    "-difference": "B furthest ahead first",
    "size": "largest difference first",
}


def chosen_rows(
    report: FlipReport, *, flip: str = "", words: str = "", order: str = ""
) -> list[TaskRow]:
    """The tasks of a choice: flip, words in the task, and order."""
    words = words.casefold()
    rows = [
        row
        for row in report.rows
        if (not flip or row.flip == flip)
        and (not words or words in f"{row.task.name}\n{row.task.prompt}".casefold())
    ]
    if not order:
        return rows
    signs = {"difference": -1.0, "-difference": 1.0}
    known = [(row.difference, row) for row in rows if row.difference is not None]
    sign = signs.get(order)
    known.sort(key=lambda pair: sign * pair[0] if sign is not None else -abs(pair[0]))
    return [row for _, row in known] + [row for row in rows if row.difference is None]


def flip_words(report: FlipReport) -> dict[str, str]:
    """What each flip means for these two runs and this measure."""
    a, b = report.names
    words = {
        "won": f"{a} higher",
        "lost": f"{b} higher",
        "tie": "Equal",
        "undefined": "Undefined for one or both",
        "one_sided": "Only one has it",
    }
    if report.measured.binary:
        words |= {"both_pass": "Both succeed", "both_fail": "Neither succeeds"}
        if report.has_table:
            words |= {"won": f"Only {a} succeeds", "lost": f"Only {b} succeeds"}
        else:
            words |= {
                "both_pass": "Both succeed every time",
                "both_fail": "Neither ever succeeds",
                "tie": "Equal shares between",
            }
    return words


def attempts_of_side(row: TaskRow, place: int) -> tuple[Attempt, ...]:
    """The attempts of A (0) or B (1) at a task."""
    side = (row.a, row.b)[place]
    return side.attempts if side is not None else ()


def attempts_of_row(row: TaskRow) -> list[Attempt]:
    """The attempts of both at a task."""
    return [*attempts_of_side(row, 0), *attempts_of_side(row, 1)]


def line_of(
    row: TaskRow, measured: RunMeasure, details: AttemptDetails, system: str
) -> dict[str, Any]:
    """A task as the list shows it."""
    pair = [one for two in zip(*_evened(row), strict=True) for one in two if one is not None]
    ids = [one.pk for one in pair][:MOST]
    return {
        "row": row,
        "sides": [_cell(side, measured, details, system) for side in (row.a, row.b)],
        "difference": _difference_words(row, measured),
        "ahead": row.difference or 0.0,
        "url": _side_by_side(ids, pair, measured),
    }


def _side_by_side(ids: Sequence[int], attempts: Sequence[Attempt], measured: RunMeasure) -> str:
    """The attempts beside each other; where they are compared by a score, at the plans scored."""
    pairs: list[tuple[str, object]] = [("t", pk) for pk in ids]
    longest = max((one.turns for one in attempts), default=0)
    place = ""
    if measured.scores:
        pairs += [("align", END)]
        pairs += [("dim", measured.name)] if measured.name != MEAN else []
        place = f"#turn-{longest}" if 0 < longest <= PORTION else ""
    return f"{reverse('analysis:compare')}?{urlencode(pairs)}{place}"


def _difference_words(row: TaskRow, measured: RunMeasure) -> str:
    """A minus B: of one attempt each +1, 0 or −1, else in points or the measure's unit."""
    if row.difference is None:
        return ""
    if measured.binary and len(attempts_of_row(row)) == 2:
        return {1.0: "+1", 0.0: "0", -1.0: "−1"}.get(row.difference, "")
    return value_words(row.difference, measured, signed=True).removesuffix(" %")


def _evened(row: TaskRow) -> tuple[list[Attempt | None], list[Attempt | None]]:
    """Attempts of both sides, made equally many."""
    a: list[Attempt | None] = list(attempts_of_side(row, 0))
    b: list[Attempt | None] = list(attempts_of_side(row, 1))
    most = max(len(a), len(b))
    return a + [None] * (most - len(a)), b + [None] * (most - len(b))


def _cell(
    side: Side | None, measured: RunMeasure, details: AttemptDetails, system: str
) -> dict[str, Any] | None:
    if side is None:
        return None
    ended = [one for one in side.attempts if one.status == Trajectory.Status.DONE]
    ends = [
        find_system(system).labels.ending(one.termination) if one in ended else STATES[one.status]
        for one in side.attempts
    ]
    means = [m for one in side.attempts if (m := details.means.get(one.pk)) is not None]
    violations = [details.violations.get(one.pk, 0) for one in ended]
    return {
        "ends": [(end, ends.count(end)) for end in dict.fromkeys(ends)],
        "attempts": len(side.attempts),
        "turns": _mean([one.turns for one in ended]),
        "violations": _mean(violations),
        "mean": _mean(means),
        "value": "" if side.value is None else value_words(side.value, measured),
        "passes": side.value == 1 if measured.binary and len(side.attempts) == 1 else None,
        "why": side.why or "no value",
        "url": _last_turn(side.attempts[0]),
    }


def _last_turn(attempt: Attempt) -> str:
    """The trajectory at its last turn, which is what verdicts and scores are about."""
    url = reverse("analysis:trajectory", args=[attempt.pk])
    return f"{url}?turn={attempt.turns}#turn-{attempt.turns}" if attempt.turns else url


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


_SIDE = ("trajectories", "endings", "value", "without a value", "turns", "violations", "mean score")
HEADER = (
    "task", "prompt", "flip", *(f"a {name}" for name in _SIDE), *(f"b {name}" for name in _SIDE),
    "difference",
)  # fmt: skip


def record_of(
    row: TaskRow, measured: RunMeasure, details: AttemptDetails, system: str
) -> list[object]:
    """A task as a row of the CSV, in the order of `HEADER`."""
    cells: list[object] = [row.task.name, row.task.prompt, row.flip]
    for side in (row.a, row.b):
        cell = _cell(side, measured, details, system)
        if side is None or cell is None:
            cells += ["", "", None, "no attempt", None, None, None]
            continue
        cells += [
            " ".join(str(one.pk) for one in side.attempts),
            "; ".join(f"{end.title} × {n}" if n > 1 else end.title for end, n in cell["ends"]),
            side.value,
            side.why,
            cell["turns"],
            cell["violations"],
            cell["mean"],
        ]
    return [*cells, row.difference]
