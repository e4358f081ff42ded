"""Two runs task by task, and the form that chooses them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from analysis.browser.comparison.run_measures import (
    RunMeasure,
    attempts_of,
    details_of,
    measures_for,
    task_texts,
)
from analysis.browser.comparison.run_pairs import differences, find_runs, run_groups
from analysis.filters.runs import FINISHED
from analysis.pages.compare_runs.page import FlipReport, flips_report, value_words
from analysis.pages.compare_runs.rows import (
    FLIPS,
    HEADER,
    SORTS,
    attempts_of_row,
    attempts_of_side,
    chosen_rows,
    flip_words,
    line_of,
    record_of,
)
from benchmarks.access import VIEW, allow, signed_in, visibility
from benchmarks.core.registry import EXTERNAL
from benchmarks.models import Run, Trajectory
from benchmarks.paging import as_id
from benchmarks.runs.cautions import runs_caution
from benchmarks.runs.selectors import TONES
from benchmarks.tables import csv_lines
from benchmarks.visibility import Visibility

ROWS = 50


@dataclass(frozen=True)
class Wanted:
    """What an address asks for; anything that it cannot mean is left out."""

    a: int | None
    b: int | None
    measure: str
    flip: str
    words: str
    sort: str
    page: int

    def query(self, **changes: Any) -> str:
        """The query string, with some things changed; what is usual is left out."""
        now = replace(self, **changes)
        pairs = (
            ("a", now.a), ("b", now.b), ("measure", now.measure), ("flip", now.flip),
            ("q", now.words), ("sort", now.sort), ("page", now.page if now.page > 1 else ""),
        )  # fmt: skip
        return "?" + urlencode([(name, value) for name, value in pairs if value not in ("", None)])


def read_wanted(params: QueryDict) -> Wanted:
    """What an address says."""
    flip, sort = params.get("flip", ""), params.get("sort", "")
    page = as_id(params.get("page", "")) or 1
    return Wanted(
        as_id(params.get("a", "")),
        as_id(params.get("b", "")),
        params.get("measure", "")[:100],
        flip if flip in FLIPS else "",
        params.get("q", "")[:200].strip(),
        sort if sort in SORTS else "",
        min(page, 100_000),
    )


@signed_in
@require_safe
def compare_runs(request: HttpRequest) -> HttpResponse:
    """The sentence, who succeeds where, and the tasks with both outcomes."""
    allow(request, VIEW)
    seen, wanted = visibility(request), read_wanted(request.GET)
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
    """The tasks of the page as CSV: all pages of them, numbers not rounded for reading."""
    allow(request, VIEW)
    seen, wanted = visibility(request), read_wanted(request.GET)
    runs = find_runs([pk for pk in (wanted.a, wanted.b) if pk is not None], seen)
    a, b = runs.get(wanted.a or 0), runs.get(wanted.b or 0)
    lines: list[Sequence[object]] = [HEADER]
    if a is not None and b is not None and a != b:
        report = _report(wanted, a, b, seen)
        rows = chosen_rows(report, flip=wanted.flip, words=wanted.words, order=wanted.sort)
        details = details_of([one.pk for row in rows for one in attempts_of_row(row)])
        lines += [record_of(row, report.measured, details, a.dataset.system) for row in rows]
    response = HttpResponse("".join(csv_lines(lines)), content_type="text/csv; charset=utf-8")
    name = f"runs-{wanted.a}-{wanted.b}-tasks.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "private, no-cache"
    return response


def _report(wanted: Wanted, a: Run, b: Run, seen: Visibility) -> FlipReport:
    measured = measure_of(wanted, a)
    found = attempts_of((a, b), measured, seen)
    tasks = {one.task for rows in found.values() for one in rows}
    return flips_report(measured, names_of(a, b), found[a.pk], found[b.pk], task_texts(tasks))


def measure_of(wanted: Wanted, run: Run) -> RunMeasure:
    """The measure of the address, or the usual one: the first verdict, else the reward."""
    known = {one.name: one for one in measures_for(run.dataset.system)}
    usual = "reward" if run.dataset.system == EXTERNAL else "accurate"
    return known.get(wanted.measure) or known.get(usual) or next(iter(known.values()))


def names_of(a: Run, b: Run) -> tuple[str, str]:
    """A name for each of two runs, and not for the other."""
    if a.agent_id != b.agent_id and a.agent.title != b.agent.title:
        return a.agent.title, b.agent.title
    return f"{a.agent.title} (run {a.pk})", f"{b.agent.title} (run {b.pk})"


def _turned(flip: str) -> str:
    return {"won": "lost", "lost": "won"}.get(flip, flip)


def _compared(wanted: Wanted, a: Run, b: Run, seen: Visibility) -> dict[str, Any]:
    report = _report(wanted, a, b, seen)
    measured = report.measured
    rows = chosen_rows(report, flip=wanted.flip, words=wanted.words, order=wanted.sort)
    pages = max(1, -(-len(rows) // ROWS))
    page = min(wanted.page, pages)
    shown = rows[(page - 1) * ROWS : page * ROWS]
    details = details_of([one.pk for row in shown for one in attempts_of_row(row)])
    now = replace(wanted, measure=measured.name)
    found = differences(a, b)
    table_url = reverse("analysis:compare_runs_table") + now.query(page=1)
    return {
        "report": report,
        "now": now,
        "sides": [_head(run, name, report, place) for place, (run, name) in
                  enumerate(zip((a, b), report.names, strict=True))],
        "warnings": [one for one in found if one.warns],
        "remarks": [one for one in found if not one.warns],
        "measures": measures_for(a.dataset.system),
        "unknown_measure": wanted.measure and wanted.measure != measured.name,
        "flips": _flip_links(report, now),
        "cells": {flip: (report.counts.get(flip, 0), now.query(flip=flip, page=1))
                  for flip in FLIPS},
        "sorts": SORTS,
        "total": len(rows),
        "lines": [line_of(row, measured, details, a.dataset.system) for row in shown],
        "first": (page - 1) * ROWS + 1,
        "last": (page - 1) * ROWS + len(shown),
        "previous_url": now.query(page=page - 1) if page > 1 else "",
        "next_url": now.query(page=page + 1) if page < pages else "",
        "clear_url": now.query(flip="", words="", sort="", page=1),
        "table_url": table_url,
    }  # fmt: skip


def _flip_links(report: FlipReport, now: Wanted) -> list[dict[str, object]]:
    words = flip_words(report)
    shown = [flip for flip in FLIPS if flip in words and (report.counts.get(flip) or
             flip == now.flip or flip in ("won", "lost"))]  # fmt: skip
    links: list[dict[str, object]] = [
        {"title": "All", "count": len(report.rows), "url": now.query(flip="", page=1),
         "current": not now.flip}
    ]  # fmt: skip
    for flip in shown:
        links.append(
            {
                "title": words[flip],
                "count": report.counts.get(flip, 0),
                "url": now.query(flip=flip, page=1),
                "current": flip == now.flip,
            }
        )
    return links


def _head(run: Run, name: str, report: FlipReport, place: int) -> dict[str, Any]:
    """What stands at the top of a run: its facts, how far it is, and its mean."""
    comparison = report.comparison
    value = (comparison.first, comparison.second)[place]
    attempts = [one for row in report.rows for one in attempts_of_side(row, place)]
    done = sum(one.status == Trajectory.Status.DONE for one in attempts)
    return {
        "run": run,
        "letter": "AB"[place],
        "name": name,
        "tone": TONES[run.status],
        "done": done,
        "total": len(attempts),
        "unfinished": run.status not in FINISHED or done < len(attempts),
        "value": "" if value is None else value_words(value, report.measured),
    }
