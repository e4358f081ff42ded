"""The report on one run: outcomes, endings, failures, role assignments and settings."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from analysis.filters import Filters
from analysis.filters.datasets import in_words_of, with_dimensions
from analysis.filters.selection import Selection, narrow, with_certificate
from analysis.pages.catalogue import PAGES, AnalysisPage
from analysis.reports.content import (
    Cell,
    Column,
    Report,
    Table,
    count_cell,
    number_cell,
    number_column,
    text_cell,
    text_column,
    words_column,
)
from analysis.reports.formatting import plural
from benchmarks.mappers import run_condition
from benchmarks.models import Run, Trajectory
from benchmarks.roles.selectors import run_roles
from benchmarks.runs import selectors as runs
from benchmarks.trajectories import selectors as trajectories
from benchmarks.visibility import Visibility

FAILURES = 200


# The pages that say something about a run by itself; others compare runs, or ask people.
ABOUT_A_RUN = ("leaderboard", "rubric", "decline", "dispersion", "tools", "verdicts", "outcomes")


def run_facts(run: Run) -> Report:
    """Return the first part of a run's report."""
    metrics = runs.ended_metrics(run)
    failed = _failures(run)
    tables = [*_results(run, metrics), *failed, _roles(run), _settings(run)]
    return Report(sentence=_sentence(run, metrics), tables=tuple(tables), how=tuple(_how(run)))


def _sentence(run: Run, metrics: Mapping[str, Any] | None) -> str:
    at = f"{run.dataset.name} {run.dataset.version}{f', level {run.level}' if run.level else ''}"
    ended = metrics["trajectories"] if metrics else 0
    return (
        f"Run {run.pk} of {run.agent.title} on {at}, condition {run_condition(run)}: "
        f"{run.get_status_display().lower()}, {plural(ended, 'trajectory', 'trajectories')} ended."
    )


def _results(run: Run, metrics: Mapping[str, Any] | None) -> list[Table]:
    if not metrics:
        return []
    measures = tuple(
        (
            Cell(figure.measure.title, (figure.measure.title,), sub=figure.measure.help),
            number_cell(
                figure.value,
                "share" if figure.measure.in_percent else "number",
                reason=figure.why or "not known",
            ),
            count_cell(figure.n),
            Cell(figure.why or "none", (figure.why,)),
        )
        for figure in runs.run_figures(run.dataset.system, metrics)
    )
    endings = tuple(
        (
            Cell(end.title, (end.title,), sub=end.sentence),
            count_cell(count),
            number_cell(count / metrics["trajectories"], "share"),
        )
        for _, end, count in runs.ending_counts(run, metrics)
    )
    return [
        Table(
            "results",
            "Results of the run",
            (
                text_column("Measure"),
                number_column("Value"),
                number_column("n"),
                words_column("Left out"),
            ),
            measures,
        ),
        Table(
            "endings",
            "How trajectories ended",
            (text_column("Ending"), number_column("Trajectories"), number_column("Share")),
            endings,
        ),
    ]


def _failures(run: Run) -> list[Table]:
    """Return the trajectories that stopped for want of an answer or wait for somebody's
    decision.
    """
    kinds = [Trajectory.Status.FAILED, Trajectory.Status.DECISION]
    stopped = trajectories.with_row_relations(run.trajectories.filter(status__in=kinds)).order_by(
        "pk"
    )
    rows = tuple(
        (
            text_cell(row.task.external_id),
            text_cell(row.get_status_display()),
            count_cell(row.turn_count),
            text_cell(row.problem or "no reason was stored"),
        )
        for row in stopped[:FAILURES]
    )
    if not rows:
        return []
    columns = (
        text_column("Task"),
        text_column("State"),
        number_column("Turns"),
        words_column("What happened", "problem"),
    )
    note = "No score counts them: they did not fail at the task."
    return [Table("failures", "Failures outside the task", columns, rows, note=note)]


def _roles(run: Run) -> Table:
    rows = tuple(
        (
            text_cell(role.title),
            text_cell(assignment.title),
            text_cell(assignment.label),
            text_cell(assignment.version),
            count_cell(max(1, len(assignment.seats))),
        )
        for role in run_roles(run)
        for assignment in role.assignments
    )
    columns = (
        text_column("Role"),
        text_column("Filled by"),
        text_column("Kind"),
        text_column("Version"),
        number_column("Seats"),
    )
    return Table("roles", "Who took part", columns, rows)


def _settings(run: Run) -> Table:
    rows = tuple((text_cell(name), text_cell(str(value))) for name, value in run.settings.items())
    columns: tuple[Column, ...] = (text_column("Setting"), words_column("Value"))
    return Table("settings", "Settings", columns, rows, open=False)


def _how(run: Run) -> list[str]:
    pins = "; ".join(f"{name} version {version}" for name, version in run.versions.items())
    lines = [f"Seed of the run: {run.seed}. Pinned: {pins or 'nothing'}."]
    if run.plug_in:
        lines.append(f"Plug-in: {run.plug_in}.")
    if run.primary_judging is not None:
        lines.append(f"Judging: {run.primary_judging.name}.")
    if run.source or run.checksum:
        lines.append(f"Source: {run.source or 'not stated'}; checksum {run.checksum or 'none'}.")
    ended = f", ended {run.finished_at:%Y-%m-%d %H:%M} UTC" if run.finished_at else ""
    by = f" by {run.created_by}" if run.created_by else ""
    lines.append(f"Begun {run.created_at:%Y-%m-%d %H:%M} UTC{by}{ended}.")
    return lines


def pages_of_run(run: Run) -> list[AnalysisPage]:
    """Return the pages that are about what a run's system records."""
    system = run.dataset.system
    return [
        page
        for name in ABOUT_A_RUN
        if (page := PAGES[name]).imported == (run.kind == Run.Kind.IMPORTED)
        and (page.fits is None or page.fits(system))
    ]


def select_run(run: Run, page: AnalysisPage, seen: Visibility) -> Selection:
    """Return the run alone; published rows are left out, because nothing here is compared with
    them.
    """
    filters = Filters(
        dataset=str(run.dataset_id),
        level=run.level,
        condition=run.condition,
        agents=(run.agent.name,),
        published="hide",
    )
    narrowed = narrow(filters, [run], [], one_each=True)
    system = run.dataset.system
    selection = in_words_of(with_dimensions(narrowed, system), system)
    selection = with_certificate(selection, run.dataset)
    return replace(
        selection,
        dataset=run.dataset,
        filters=selection.filters.only(page.filters),
        closed=seen.closed,
        closed_tasks=seen.tasks,
    )
