"""The sections of a reproduction: analysis pages computed on given runs and no others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from django.urls import reverse

from analysis.exports.report_file import FileSection
from analysis.filters import FILTERS, Filters, with_query
from analysis.filters.datasets import in_words_of, with_dimensions
from analysis.filters.factors import choose_factor
from analysis.filters.page_filters import with_group, with_measure
from analysis.filters.selection import Selection, narrow, with_certificate
from analysis.filters.studies import newest_study_of, selection_of_study
from analysis.pages.catalogue import PAGES, AnalysisPage
from analysis.pages.reports import deferred_request, make_report, report_key, write_deferred
from analysis.pages.views import subject_of
from analysis.reports.comparability import certified
from analysis.reports.content import Report
from analysis.reports.deferred_reports import ReportRequest, kept_deferred, note_progress
from analysis.reports.run_marks import banners
from benchmarks.core.ports.published import ReportPart
from benchmarks.core.registry import find_system
from benchmarks.models import Run
from benchmarks.visibility import EVERYTHING, Visibility

NOBODY_ANSWERED = "Nobody has answered questions about these runs. Make a study from them."
ON_STUDY_PAGES = "People's answers are on the pages of their study; the command reproduce has them."
# Filters by which sections about the same page differ; an empty value may be a choice, too.
_IN_TITLES = ("condition", "factor", "measure", "by", "among")
LACKS_DEFERRED = "This page lacks a part that takes long; the ZIP and the one-file report have it."


@dataclass(frozen=True)
class ReportedRuns:
    """The runs of a report, oldest first, and the visibility of its reader.

    ``experiment`` is the experiment that they share, if any. ``compute_deferred``: deferred parts
    that are not stored yet are computed now. ``server`` is the origin put before the addresses of
    pages.
    """

    runs: tuple[Run, ...]
    experiment: int | None = None
    seen: Visibility = EVERYTHING
    compute_deferred: bool = True
    server: str = ""


def sections_of(parts: Sequence[ReportPart], about: ReportedRuns) -> Iterator[FileSection]:
    """Yield a section for each page; with several seeds, one for each seed."""
    system = about.runs[0].dataset.system
    fits = [PAGES[part.page].fits for part in parts]
    parts = [part for part, fit in zip(parts, fits, strict=True) if fit is None or fit(system)]
    seeds = sorted({run.seed for run in about.runs})
    if len(seeds) > 1:
        yield _replicates(about)
    for seed in seeds:
        runs = tuple(run for run in about.runs if run.seed == seed)
        for part in parts:
            section = _section(part, replace(about, runs=runs))
            if section is None:
                continue
            if len(seeds) > 1:
                section = replace(
                    section,
                    name=f"{section.name}-seed-{seed}",
                    title=f"{section.title}, seed {seed}",
                )
            yield section


def _replicates(about: ReportedRuns) -> FileSection:
    """Make the section with each agent's mean and spread over seeds, beside published rows."""
    # Arrays are slow to import: not when the server starts.
    from analysis.pages.replicates.page import AgentReplicates, replicates_report

    system = about.runs[0].dataset.system
    runs_of: dict[tuple[int, str, str], list[Run]] = {}
    for run in about.runs:
        runs_of.setdefault((run.agent_id, run.level, run.condition), []).append(run)
    groups = [
        AgentReplicates(runs[0].agent.title, runs[0].level, runs[0].condition, tuple(runs))
        for runs in runs_of.values()
    ]
    marked = select_these(PAGES["leaderboard"], Filters(), about)
    seeds = sorted({run.seed for run in about.runs})
    return FileSection(
        "replicates",
        "Mean over seeds",
        "How much do the runs differ that have another seed alone?",
        f"{marked.dataset} · seeds {', '.join(map(str, seeds))}",
        about.server + reverse("analysis:replicates", args=[about.experiment])
        if about.experiment is not None
        else "",
        certified(replicates_report(groups, system, published=True), marked),
        None,
        banners(marked),
        "",
    )


def _section(part: ReportPart, about: ReportedRuns) -> FileSection | None:
    """Make the section of a page; None for one on a condition that no run has."""
    page = PAGES[part.page]
    if page.of_study:
        return _study_section(part, page, about)
    condition = part.filters.get("condition")
    if condition and condition not in {run.condition for run in about.runs}:
        return None
    note_progress(f"computing {page.title}")
    selection = select_these(page, Filters(**part.filters), about)
    key = report_key(page, selection)
    wanted, deferred = _deferred(part, page, selection, key, compute=about.compute_deferred)
    # After the deferred part, because a page may take its answer from it.
    report = make_report(page, selection, key)
    # Runs reused from elsewhere do not belong to this experiment.
    own = {run.experiment_id for run in about.runs} == {about.experiment}
    filters = replace(selection.filters, experiment=str(about.experiment or "") if own else "")
    query = filters.only(page.filters).query()
    return FileSection(
        part.name,
        _title(page, part, selection),
        page.question,
        subject_of(selection),
        about.server + with_query(reverse(f"analysis:{page.key}"), query),
        report,
        deferred if part.later else None,
        banners(selection),
        LACKS_DEFERRED if wanted is not None and deferred is None else "",
    )


def _title(page: AnalysisPage, part: ReportPart, selection: Selection) -> str:
    """Return the title of a page, with the labels of what the part's filters choose."""
    labels = []
    factors = {one.name: one.title for one in find_system(selection.system).comparisons.factors}
    for name in _IN_TITLES:
        if name in part.filters:
            choices = dict(FILTERS[name].choices)
            choices |= {option.value: option.label for option in selection.options.get(name, ())}
            choices |= factors if name == "factor" else {}
            labels.append(choices.get(part.filters[name], ""))
    chosen = ", ".join(filter(None, labels))
    return f"{page.title}: {chosen}" if chosen else page.title


def _deferred(
    part: ReportPart, page: AnalysisPage, selection: Selection, key: str, *, compute: bool
) -> tuple[ReportRequest | None, Report | None]:
    """Return the request for the deferred part that a section needs, and that part if it is there.

    A page whose answer waits for the deferred part needs it even if the section does not show it.
    """
    wanted = deferred_request(page, selection) if part.later or page.waits else None
    if wanted is None:
        return None, None
    deferred = kept_deferred(wanted.key)
    if deferred is None and compute:
        deferred = write_deferred(page, selection, wanted)
    return wanted, deferred


def _study_section(part: ReportPart, page: AnalysisPage, about: ReportedRuns) -> FileSection:
    """Return a page on people's answers, from the newest study with answers on these runs.

    Only the command writes it: on a page, who may read a study's results depends on the reader.
    """
    study = newest_study_of(about.runs, page.asks) if about.seen.user is None else None
    if study is None:
        why = NOBODY_ANSWERED if about.seen.user is None else ON_STUDY_PAGES
        return FileSection(part.name, page.title, page.question, missing=why, needs_people=True)
    selection = selection_of_study(study, Filters(**part.filters), about.runs, [], about.seen)
    key = report_key(page, selection)
    _, deferred = _deferred(part, page, selection, key, compute=True)
    report = make_report(page, selection, key)
    query = selection.filters.only(page.filters).query()
    return FileSection(
        part.name,
        page.title,
        page.question,
        subject_of(selection),
        about.server + with_query(reverse(f"analysis:{page.key}"), query),
        report,
        deferred if part.later else None,
        banners(selection),
        "",
    )


def reports_of(section: FileSection) -> list[Report]:
    """Return the reports of a section, with names of figures and tables unique over sections."""
    reports = (section.report, section.deferred)
    return [_renamed(report, section.name) for report in reports if report is not None]


def _renamed(report: Report, name: str) -> Report:
    tables = tuple(replace(table, name=f"{name}-{table.name}") for table in report.tables)
    figures = []
    for figure in report.figures:
        holds = report.numbers_of(figure)
        table = f"{name}-{holds.name}" if holds is not None else ""
        figures.append(replace(figure, name=f"{name}-{figure.name}", table=table))
    return replace(report, figures=tuple(figures), tables=tables)


def select_these(page: AnalysisPage, filters: Filters, about: ReportedRuns) -> Selection:
    """Return the selection that holds exactly these runs, all of one dataset."""
    dataset = about.runs[0].dataset
    rows = [run for run in about.runs if page.about is None or page.about(run)]
    notes: list[str] = []
    varied = "factor" in page.filters
    factor = choose_factor(dataset.system, filters.factor, rows) if varied else None
    narrowed = narrow(
        replace(filters, dataset=str(dataset.pk)),
        rows,
        notes,
        one_each=True,
        every_condition=page.every_condition,
        factor=factor,
    )
    selection = in_words_of(with_dimensions(narrowed, dataset.system), dataset.system)
    selection = with_certificate(selection, dataset)
    selection = replace(
        selection,
        dataset=dataset,
        filters=replace(selection.filters, factor=factor.name if factor is not None else ""),
        closed=about.seen.closed,
        closed_tasks=about.seen.tasks,
    )
    if "measure" in page.filters:
        selection = with_measure(selection)
    if "by" in page.filters:
        selection = with_group(selection)
    return replace(selection, filters=selection.filters.only(page.filters))
