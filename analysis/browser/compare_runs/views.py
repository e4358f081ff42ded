"""Two runs task by task, and the form that chooses them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe
from pydantic import Field

from analysis.browser.compare_runs.page import (
    RunPair,
    TaskPair,
    TaskSide,
    pair_report,
    pair_runs,
    value_words,
)
from analysis.browser.compare_runs.run_measures import (
    MEAN,
    Attempt,
    AttemptDetails,
    RunMeasure,
    attempts_of,
    details_of,
    measures_for,
    task_texts,
)
from analysis.browser.compare_runs.run_pairs import differences, find_runs, run_groups
from analysis.browser.comparison.address import END, MOST, PORTION
from analysis.filters import ALL_TASKS
from analysis.filters.addresses import Id, Words, read_address, write_address
from analysis.filters.runs import FINISHED
from benchmarks.access import VIEW, allow, signed_in, visibility
from benchmarks.core.registry import EXTERNAL, find_system
from benchmarks.models import Run, Trajectory
from benchmarks.roles.cautions import runs_caution
from benchmarks.runs.selectors import TONES
from benchmarks.tables import csv_lines
from benchmarks.trajectories.selectors import STATES
from benchmarks.validity.selectors import unusable_tasks
from benchmarks.visibility import Visibility

FLIPS = ("won", "lost", "both_pass", "both_fail", "tie", "undefined", "one_sided")
SORTS: Mapping[str, str] = {
    "": "as in the dataset",
    "difference": "A furthest ahead first",
    "-difference": "B furthest ahead first",
    "size": "largest difference first",
}


_SIDE = ("trajectories", "endings", "value", "without a value", "turns", "violations", "mean score")
HEADER = (
    "task", "prompt", "flip", *(f"a {name}" for name in _SIDE), *(f"b {name}" for name in _SIDE),
    "difference",
)  # fmt: skip
ROWS = 50


def chosen_rows(
    pair: RunPair, *, flip: str = "", words: str = "", order: str = ""
) -> list[TaskPair]:
    """Return the tasks of a choice: flip, words in the task, and order."""
    words = words.casefold()
    rows = [
        row
        for row in pair.rows
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


def flip_words(pair: RunPair) -> dict[str, str]:
    """Return what each flip means for these two runs and this measure."""
    a, b = pair.names
    words = {
        "won": f"{a} higher",
        "lost": f"{b} higher",
        "tie": "Equal",
        "undefined": "Undefined for one or both",
        "one_sided": "Only one has it",
    }
    if pair.measured.binary:
        words |= {"both_pass": "Both succeed", "both_fail": "Neither succeeds"}
        if pair.comparison.table is not None:
            words |= {"won": f"Only {a} succeeds", "lost": f"Only {b} succeeds"}
        else:
            words |= {
                "both_pass": "Both succeed every time",
                "both_fail": "Neither ever succeeds",
                "tie": "Equal shares between",
            }
    return words


def attempts_of_side(row: TaskPair, place: int) -> tuple[Attempt, ...]:
    """Return the attempts of A (0) or B (1) at a task."""
    side = (row.a, row.b)[place]
    return side.attempts if side is not None else ()


def attempts_of_row(row: TaskPair) -> list[Attempt]:
    """Return the attempts of both at a task."""
    return [*attempts_of_side(row, 0), *attempts_of_side(row, 1)]


def line_of(
    row: TaskPair, measured: RunMeasure, details: AttemptDetails, system: str
) -> dict[str, Any]:
    """Return a task as the list shows it."""
    attempts = [one for two in zip(*_evened(row), strict=True) for one in two if one is not None]
    ids = [one.pk for one in attempts][:MOST]
    return {
        "row": row,
        "sides": [_cell(side, measured, details, system) for side in (row.a, row.b)],
        "difference": _difference_words(row, measured),
        "ahead": row.difference or 0.0,
        "url": _side_by_side(ids, attempts, measured),
    }


def _side_by_side(ids: Sequence[int], attempts: Sequence[Attempt], measured: RunMeasure) -> str:
    """Return the attempts beside each other; where they are compared by a score, at the plans
    scored.
    """
    pairs: list[tuple[str, object]] = [("t", pk) for pk in ids]
    longest = max((one.turns for one in attempts), default=0)
    place = ""
    if measured.scores:
        pairs += [("align", END)]
        pairs += [("dim", measured.name)] if measured.name != MEAN else []
        place = f"#turn-{longest}" if 0 < longest <= PORTION else ""
    return f"{reverse('analysis:compare')}?{urlencode(pairs)}{place}"


def _difference_words(row: TaskPair, measured: RunMeasure) -> str:
    """Return a minus B: of one attempt each +1, 0 or −1, else in points or the measure's unit."""
    if row.difference is None:
        return ""
    if measured.binary and len(attempts_of_row(row)) == 2:
        return {1.0: "+1", 0.0: "0", -1.0: "−1"}.get(row.difference, "")
    return value_words(row.difference, measured, signed=True).removesuffix(" %")


def _evened(row: TaskPair) -> tuple[list[Attempt | None], list[Attempt | None]]:
    """Reduce both sides to equally many attempts."""
    a: list[Attempt | None] = list(attempts_of_side(row, 0))
    b: list[Attempt | None] = list(attempts_of_side(row, 1))
    most = max(len(a), len(b))
    return a + [None] * (most - len(a)), b + [None] * (most - len(b))


def _cell(
    side: TaskSide | None, measured: RunMeasure, details: AttemptDetails, system: str
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
    """Return the trajectory at its last turn, which is what verdicts and scores are about."""
    url = reverse("analysis:trajectory", args=[attempt.pk])
    return f"{url}?turn={attempt.turns}#turn-{attempt.turns}" if attempt.turns else url


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def record_of(
    row: TaskPair, measured: RunMeasure, details: AttemptDetails, system: str
) -> list[object]:
    """Return a task as a row of the CSV, in the order of `HEADER`."""
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


@dataclass(frozen=True)
class ComparisonQuery:
    """The query of an address of a comparison; anything that it cannot mean is left out."""

    a: Id | None = None
    b: Id | None = None
    measure: Words = ""
    flip: Literal[("", *FLIPS)] = ""  # type: ignore[valid-type]
    words: Annotated[Words, Field(alias="q")] = ""
    sort: Literal[tuple(SORTS)] = ""  # type: ignore[valid-type]
    page: Annotated[int, Field(ge=1, le=100_000)] = 1
    tasks: Literal["all", ""] = ""

    def query(self, **changes: Any) -> str:
        """Return the query string, with some things changed; what is usual is left out."""
        return "?" + write_address(replace(self, **changes))


@signed_in
@require_safe
def compare_runs(request: HttpRequest) -> HttpResponse:
    """Show the sentence, who succeeds where, and the tasks with both outcomes."""
    allow(request, VIEW)
    seen, wanted = visibility(request), read_address(ComparisonQuery, request.GET)
    runs = find_runs([pk for pk in (wanted.a, wanted.b) if pk is not None], seen)
    a, b = runs.get(wanted.a or 0), runs.get(wanted.b or 0)
    context: dict[str, Any] = {
        "wanted": wanted,
        "a": a,
        "b": b,
        "missing": [pk for pk in (wanted.a, wanted.b) if pk is not None and pk not in runs],
        "groups_a": run_groups(seen, None),
        "groups_b": run_groups(seen, a),
        "swap": wanted.query(a=wanted.b, b=wanted.a, flip=_turned(wanted.flip), page=1),
        "same": a is not None and a == b,
        "caution": runs_caution(run for run in (a, b) if run is not None),
    }
    if a is not None and b is not None and a != b:
        context |= _compared(wanted, a, b, seen)
    return render(request, "analysis/flips.html", context)


@signed_in
@require_safe
def compare_runs_table(request: HttpRequest) -> HttpResponseBase:
    """Show the tasks of the page as CSV: all pages of them, numbers not rounded for reading."""
    allow(request, VIEW)
    seen, wanted = visibility(request), read_address(ComparisonQuery, request.GET)
    runs = find_runs([pk for pk in (wanted.a, wanted.b) if pk is not None], seen)
    a, b = runs.get(wanted.a or 0), runs.get(wanted.b or 0)
    lines: list[Sequence[object]] = [HEADER]
    if a is not None and b is not None and a != b:
        pair = _pair(wanted, a, b, seen)
        rows = chosen_rows(pair, flip=wanted.flip, words=wanted.words, order=wanted.sort)
        details = details_of([one.pk for row in rows for one in attempts_of_row(row)])
        lines += [record_of(row, pair.measured, details, a.dataset.system) for row in rows]
    response = HttpResponse("".join(csv_lines(lines)), content_type="text/csv; charset=utf-8")
    name = f"runs-{wanted.a}-{wanted.b}-tasks.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "private, no-cache"
    return response


def _pair(wanted: ComparisonQuery, a: Run, b: Run, seen: Visibility) -> RunPair:
    measured = measure_of(wanted, a)
    attempts = attempts_of((a, b), measured, seen)
    tasks = {one.task for rows in attempts.values() for one in rows}
    unusable = unusable_tasks([a.dataset_id, b.dataset_id])
    out = {task for run in (a, b) for task in unusable.get((run.dataset_id, run.level), ())} & tasks
    texts = task_texts(tasks if wanted.tasks else tasks - out)
    names = names_of(a, b)
    return pair_runs(measured, names, attempts[a.pk], attempts[b.pk], texts, len(out))


def measure_of(wanted: ComparisonQuery, run: Run) -> RunMeasure:
    """Return the measure of the address, or the usual one: the first verdict, else the reward."""
    known = {one.name: one for one in measures_for(run.dataset.system)}
    usual = "reward" if run.dataset.system == EXTERNAL else "accurate"
    return known.get(wanted.measure) or known.get(usual) or next(iter(known.values()))


def names_of(a: Run, b: Run) -> tuple[str, str]:
    """Return a name for each of two runs, and not for the other."""
    if a.agent_id != b.agent_id and a.agent.title != b.agent.title:
        return a.agent.title, b.agent.title
    return f"{a.agent.title} (run {a.pk})", f"{b.agent.title} (run {b.pk})"


def _turned(flip: str) -> str:
    return {"won": "lost", "lost": "won"}.get(flip, flip)


def _compared(wanted: ComparisonQuery, a: Run, b: Run, seen: Visibility) -> dict[str, Any]:
    pair = _pair(wanted, a, b, seen)
    measured = pair.measured
    rows = chosen_rows(pair, flip=wanted.flip, words=wanted.words, order=wanted.sort)
    pages = max(1, -(-len(rows) // ROWS))
    page = min(wanted.page, pages)
    shown = rows[(page - 1) * ROWS : page * ROWS]
    details = details_of([setting.pk for row in shown for setting in attempts_of_row(row)])
    now = replace(wanted, measure=measured.name)
    settings = differences(a, b)
    table_url = reverse("analysis:compare_runs_table") + now.query(page=1)
    return {
        "pair": pair,
        "report": pair_report(pair),
        "now": now,
        "sides": [_head(run, name, pair, place) for place, (run, name) in
                  enumerate(zip((a, b), pair.names, strict=True))],
        "warnings": [setting for setting in settings if setting.warns],
        "remarks": [setting for setting in settings if not setting.warns],
        "measures": measures_for(a.dataset.system),
        "unknown_measure": wanted.measure and wanted.measure != measured.name,
        "flips": _flip_links(pair, now),
        "cells": {flip: (pair.counts.get(flip, 0), now.query(flip=flip, page=1))
                  for flip in FLIPS},
        "sorts": SORTS,
        "total": len(rows),
        "lines": [line_of(row, measured, details, a.dataset.system) for row in shown],
        "first": (page - 1) * ROWS + 1,
        "last": (page - 1) * ROWS + len(shown),
        "previous_url": now.query(page=page - 1) if page > 1 else "",
        "next_url": now.query(page=page + 1) if page < pages else "",
        "tasks_url": now.query(tasks="" if now.tasks else ALL_TASKS, page=1),
        "clear_url": now.query(flip="", words="", sort="", page=1),
        "table_url": table_url,
    }  # fmt: skip


def _flip_links(pair: RunPair, now: ComparisonQuery) -> list[dict[str, object]]:
    words = flip_words(pair)
    shown = [flip for flip in FLIPS if flip in words and (pair.counts.get(flip) or
             flip == now.flip or flip in ("won", "lost"))]  # fmt: skip
    links: list[dict[str, object]] = [
        {"title": "All", "count": len(pair.rows), "url": now.query(flip="", page=1),
         "current": not now.flip}
    ]  # fmt: skip
    for flip in shown:
        links.append(
            {
                "title": words[flip],
                "count": pair.counts.get(flip, 0),
                "url": now.query(flip=flip, page=1),
                "current": flip == now.flip,
            }
        )
    return links


def _head(run: Run, name: str, pair: RunPair, place: int) -> dict[str, Any]:
    """Return what stands at the top of a run: its facts, how far it is, and its mean."""
    comparison = pair.comparison
    value = (comparison.first, comparison.second)[place]
    attempts = [one for row in pair.rows for one in attempts_of_side(row, place)]
    done = sum(one.status == Trajectory.Status.DONE for one in attempts)
    return {
        "run": run,
        "letter": "AB"[place],
        "name": name,
        "tone": TONES[run.status],
        "done": done,
        "total": len(attempts),
        "unfinished": run.status not in FINISHED or done < len(attempts),
        "value": "" if value is None else value_words(value, pair.measured),
    }
