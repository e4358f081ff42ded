"""Reports on given runs: what the analysis pages say of these and of no others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from django.urls import reverse

from analysis.comparing_choice import with_measure
from analysis.dataset_choice import in_words_of, with_dimensions
from analysis.exports.report_file import Section
from analysis.factor_choice import choose_factor
from analysis.filters import Filters, with_query
from analysis.later import kept_later
from analysis.pages import PAGES, Page, later_of, make_report, report_key, write_later
from analysis.reports.common import banners
from analysis.reports.parts import Report
from analysis.reproducing.presets import Part
from analysis.selection import Selection, narrow
from analysis.views.reports import subject_of
from benchmarks.blinding import EVERYTHING, Visibility
from benchmarks.models import Run

LATER = "What takes longer on this page is not in this file; the command reproduce computes it."


@dataclass(frozen=True)
class About:
    """The runs that a report is about, oldest first, and whose eyes it is for.

    ``experiment`` is theirs, where they have one in common; ``patient``: what takes longer than a
    page is computed too, not only taken where it was kept. ``server`` stands before the addresses
    of pages, where a server was asked.
    """

    runs: tuple[Run, ...]
    experiment: int | None = None
    seen: Visibility = EVERYTHING
    patient: bool = True
    server: str = ""


def sections_of(parts: Sequence[Part], about: About) -> Iterator[Section]:
    """A section for each part; where runs are replicates, one for each seed."""
    system = about.runs[0].dataset.system
    fits = [PAGES[part.page].fits for part in parts]
    parts = [part for part, fit in zip(parts, fits, strict=True) if fit is None or fit(system)]
    seeds = sorted({run.seed for run in about.runs})
    for seed in seeds:
        runs = tuple(run for run in about.runs if run.seed == seed)
        for part in parts:
            section = _section(part, replace(about, runs=runs))
            if len(seeds) > 1:
                section = replace(
                    section,
                    name=f"{section.name}-seed-{seed}",
                    title=f"{section.title}, seed {seed}",
                )
            yield section


def _section(part: Part, about: About) -> Section:
    page = PAGES[part.page]
    selection = select_these(page, Filters(**part.filters), about)
    key = report_key(page, selection)
    report = make_report(page, selection, key)
    wanted = later_of(page, selection, key) if part.later else None
    later = None
    if wanted is not None:
        later = kept_later(wanted.key)
        if later is None and about.patient:
            later = write_later(page, selection, wanted)
    measures = {option.value: option.label for option in selection.options.get("measure", ())}
    measure = measures.get(part.filters.get("measure", ""), "")
    # Runs that were taken from elsewhere are no part of the experiment there.
    own = {run.experiment_id for run in about.runs} == {about.experiment}
    filters = replace(selection.filters, experiment=str(about.experiment or "") if own else "")
    query = filters.only(page.filters).query()
    return Section(
        part.name,
        f"{page.title}: {measure}" if measure else page.title,
        page.question,
        subject_of(selection),
        about.server + with_query(reverse(f"analysis:{page.name}"), query),
        report,
        later,
        banners(selection),
        LATER if wanted is not None and later is None else "",
    )


def reports_of(section: Section) -> list[Report]:
    """The reports of a section, figures and tables named so that no other section has the name."""
    found = (section.report, section.later)
    return [_renamed(report, section.name) for report in found if report is not None]


def _renamed(report: Report, name: str) -> Report:
    tables = tuple(replace(table, name=f"{name}-{table.name}") for table in report.tables)
    figures = []
    for figure in report.figures:
        holds = report.numbers_of(figure)
        table = f"{name}-{holds.name}" if holds is not None else ""
        figures.append(replace(figure, name=f"{name}-{figure.name}", table=table))
    return replace(report, figures=tuple(figures), tables=tables)


def select_these(page: Page, filters: Filters, about: About) -> Selection:
    """These runs as what a page is about; all are of one dataset."""
    dataset = about.runs[0].dataset
    rows = [run for run in about.runs if page.about is None or page.about(run)]
    notes: list[str] = []
    varied = "factor" in page.filters
    factor = choose_factor(dataset.system, filters.factor, rows, notes) if varied else None
    narrowed = narrow(
        replace(filters, dataset=str(dataset.pk)),
        rows,
        notes,
        one_each=True,
        every_condition=page.every_condition,
        factor=factor,
    )
    found = in_words_of(with_dimensions(narrowed, dataset.system), dataset.system)
    found = replace(
        found,
        dataset=dataset,
        filters=replace(found.filters, factor=factor.name if factor is not None else ""),
        closed=about.seen.closed,
        closed_tasks=about.seen.tasks,
    )
    if "measure" in page.filters:
        found = with_measure(found)
    return replace(found, filters=found.filters.only(page.filters))
