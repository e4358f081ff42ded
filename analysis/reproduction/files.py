"""The files of a reproduction: tables, figures, metrics, a report, and a manifest of it all."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal

from django.conf import settings
from django.urls import reverse

from analysis.exports.about import about_file, made_at
from analysis.exports.chromium import NotPrinted, print_to_pdf, read_drawn
from analysis.exports.figure_page import drawn_in, figures_page, picture_page
from analysis.exports.figure_pdf import chromium
from analysis.exports.latex import TableSource, latex_table
from analysis.exports.report_file import FileSection, ReportFile, render_file
from analysis.exports.table_choice import TableChoice
from analysis.reports.content import FigureSpec, Report
from analysis.reports.deferred_reports import note_progress
from analysis.reports.formatting import plural
from analysis.reports.run_marks import PUBLISHED_BADGE
from analysis.reproduction.manifest import banners_of, metrics_of, product_now, run_record
from analysis.reproduction.presets import known_presets, parts_of
from analysis.reproduction.sections import ReportedRuns, reports_of, sections_of
from benchmarks.core.registry import get_system
from benchmarks.experiments.design import Design

WIDTH = "wide"
# One figure, on a busy machine.
SECONDS = 120
ABSENT = "no Chromium is installed here; install it, or take figures as data alone"
# Figures as data (JSON) alone, as pictures too (SVG, PNG), or as PDF too.
FigureForms = Literal["data", "pictures", "pdf"]


class FigureImages:
    """The files of figures by name, each drawn by itself: one that fails costs no other.

    A figure too high for its ``width`` is drawn in parts: NAME, NAME-part-2 and so on. ``notes``
    stand under those that are not of the real thing. ``missing`` says why a figure was not drawn,
    by name, and ``figures`` has what was drawn as JSON, with sizes and colours.
    """

    def __init__(
        self,
        specs: Mapping[str, FigureSpec],
        notes: Mapping[str, str],
        forms: FigureForms,
        width: str = WIDTH,
    ) -> None:
        self.specs, self.notes, self.forms, self.width = specs, notes, forms, width
        absent = forms != "data" and not chromium()
        self.missing = dict.fromkeys(specs, ABSENT) if absent else {}
        self.figures: dict[str, str] = {}

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield (name with ending, content) of every file that can be drawn."""
        wanted = [] if self.forms == "data" or self.missing else list(self.specs)
        for place, name in enumerate(wanted, 1):
            note_progress(f"drawing figure {place} of {len(wanted)}")
            try:
                yield from self._drawn(name)
            except (NotPrinted, ValueError) as problem:
                self.missing[name] = str(problem)

    def _drawn(self, name: str) -> Iterator[tuple[str, bytes]]:
        spec = self.specs[name]
        notes = {name: self.notes[name]} if name in self.notes else {}
        page = figures_page({name: spec}, self.width, notes)
        parts = drawn_in(read_drawn(page, chromium=chromium(), seconds=SECONDS))
        for part, drawn in parts.items():
            self.figures[part] = drawn.figure
            yield f"{part}.svg", drawn.svg.encode()
            yield f"{part}.png", drawn.png
            if self.forms == "pdf":
                sheet = picture_page(drawn, spec.title)
                yield f"{part}.pdf", print_to_pdf(sheet, chromium=chromium(), seconds=SECONDS)


FORMAT = "planjury-reproduction/1"
MANIFEST, METRICS = "manifest.json", "metrics.json"


@dataclass(frozen=True)
class Reproduction:
    """A design, its runs, and the shipped preset that it is, if it is one."""

    design: Design
    preset: str
    about: ReportedRuns

    @property
    def title(self) -> str:
        return self.design.name

    @property
    def lead(self) -> str:
        """One line that says which paper, dataset and runs it is about."""
        preset = known_presets().get(self.preset)
        dataset = self.about.runs[0].dataset
        paper = f"{preset.paper} of the {preset.of} paper, on " if preset else ""
        name = dataset.name if dataset.version == "1" else str(dataset)
        return f"{paper}{name}: {plural(len(self.about.runs), 'run')}."


def folder_files(
    reproduction: Reproduction, *, figures: FigureForms, person: str
) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of every file, the manifest last: whoever finds it has all the others.

    Each figure takes a second or two as pictures, and as long again as PDF.
    """
    sections = list(
        sections_of(parts_of(reproduction.preset, reproduction.design), reproduction.about)
    )
    digests: dict[str, str] = {}
    drawings = FigureImages(dict(_figures(sections)), dict(_notes(sections)), figures)
    for name, content in _contents(reproduction, sections, drawings, person):
        digests[name] = sha256(content).hexdigest()
        yield name, content
    yield MANIFEST, as_json(_manifest(reproduction, sections, drawings, digests))


def _contents(
    reproduction: Reproduction, sections: Sequence[FileSection], drawings: FigureImages, person: str
) -> Iterator[tuple[str, bytes]]:
    yield "design.yaml", reproduction.design.text.encode()
    yield (
        METRICS,
        as_json(metrics_of(reproduction.design, reproduction.preset, reproduction.about.runs)),
    )
    yield from table_files(sections)
    for name, spec in drawings.specs.items():
        yield f"figures/{name}.json", spec.json.encode()
    yield from ((f"figures/{name}", content) for name, content in drawings.files())
    yield "report.html", report_page(reproduction, sections, person).encode()
    yield "README.md", _readme(reproduction, sections, drawings).encode()


def report_page(reproduction: Reproduction, sections: Sequence[FileSection], person: str) -> str:
    """Return everything in one HTML file; without a server it leads to none."""
    about = reproduction.about
    url = ""
    if about.server and about.experiment is not None:
        url = about.server + reverse("analysis:experiment_report", args=[about.experiment])
    shown = tuple(sections if about.server else (replace(one, url="") for one in sections))
    marks = banners_of(sections)
    return render_file(ReportFile(reproduction.title, reproduction.lead, url, person, shown, marks))


def table_files(sections: Sequence[FileSection]) -> Iterator[tuple[str, bytes]]:
    """Yield every table as CSV and as LaTeX; the paper's rows stand in it, marked as published."""
    for section in sections:
        for report in reports_of(section):
            for table in report.tables:
                text = latex_table(table, source_of(section, report))
                yield f"tables/{table.name}.csv", table.csv().encode()
                yield f"tables/{table.name}.tex", text.encode()


def source_of(section: FileSection, report: Report) -> TableSource:
    """Return the origin of the tables of a report, for LaTeX."""
    marks = tuple(dict.fromkeys([*section.banners, *report.banners]))
    about, choice = about_file(section.url), TableChoice(every=True)
    return TableSource("reproduced", section.subject, about, marks, choice)


def _figures(sections: Sequence[FileSection]) -> Iterator[tuple[str, FigureSpec]]:
    for section in sections:
        for report in reports_of(section):
            yield from ((figure.name, figure) for figure in report.figures)


def _notes(sections: Sequence[FileSection]) -> Iterator[tuple[str, str]]:
    """Return the note under each figure that is demo, scripted or simulated data."""
    for section in sections:
        note = " ".join(f"{mark.title}. {mark.text}" for mark in banners_of([section]))
        for name, _ in _figures([section]):
            if not name.startswith(f"{section.name}-{PUBLISHED_BADGE.text}"):
                yield name, note


def as_json(value: Any) -> bytes:
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def _manifest(
    reproduction: Reproduction,
    sections: Sequence[FileSection],
    drawings: FigureImages,
    digests: Mapping[str, str],
) -> dict[str, Any]:
    runs = reproduction.about.runs
    dataset = runs[0].dataset
    system = get_system(dataset.system)
    preset = known_presets().get(reproduction.preset)
    return {
        "format": FORMAT,
        "made_at": made_at(),
        "product": {"name": "PlanJury", "version": settings.VERSION, **product_now()},
        "preset": reproduction.preset,
        "title": reproduction.title,
        "paper": preset.paper if preset is not None else "",
        "labels": [f"{mark.title}: {mark.text}" for mark in banners_of(sections)],
        "design": reproduction.design.data,
        "design_digest": reproduction.design.digest,
        "dataset": {
            "id": dataset.pk,
            "name": dataset.name,
            "version": dataset.version,
            "checksum": dataset.checksum,
            "source": dataset.source,
            "licence": dataset.licence,
            "is_demo": dataset.is_demo,
            "tasks": dataset.tasks.count(),
        },
        "system": {"key": system.key, "title": system.title},
        "experiment": reproduction.about.experiment,
        "runs": [run_record(run) for run in runs],
        "left_out": [line for one in sections if one.report for line in one.report.how
                     if line.startswith("Runs left out")],
        "figures_missing": drawings.missing,
        "parts_missing": [f"{one.title}: {why}" for one in sections
                          if not one.needs_people and (why := _lacks(one))],
        "needs_people": [f"{one.title}: {one.missing}" for one in sections if one.needs_people],
        "files": dict(sorted(digests.items())),
    }  # fmt: skip


def _lacks(section: FileSection) -> str:
    """Return why a section has nothing to show, or not all of it; else nothing."""
    empty = section.report.empty if section.report is not None else None
    return section.missing or (f"{empty.title}. {empty.text}" if empty is not None else "")


def missing_lines(manifest: Mapping[str, Any]) -> list[str]:
    """Return what a reproduction lacks that it should have, one line each."""
    figures = [f"figure {name}: {why}" for name, why in manifest["figures_missing"].items()]
    return [*figures, *manifest["parts_missing"]]


def _readme(
    reproduction: Reproduction, sections: Sequence[FileSection], drawings: FigureImages
) -> str:
    """Return the README of the folder, for readers without the server."""
    lines = [f"# {reproduction.title}", "", reproduction.lead, ""]
    lines += [f"**{mark.title}.** {mark.text}\n" for mark in banners_of(sections)]
    for section in sections:
        lines += [f"## {section.title}", "", f"{section.question} {section.subject}", ""]
        for report in reports_of(section):
            lines += [report.sentence, ""] * bool(report.sentence)
            lines += [f"- `tables/{table.name}`: {table.title}" for table in report.tables]
            lines += [f"- `figures/{figure.name}`: {figure.title}" for figure in report.figures]
            lines += [""]
        lines += [section.missing, ""] * bool(section.missing)
    lines += ["## All files", "",
        "- `report.html`: everything in one file that opens without a server",
        "- `tables/`: CSV in numbers that are not rounded, LaTeX as on the page",
        "- `figures/`: each figure as data (JSON) and as files",
        "- `metrics.json`: the metrics of every run, and what the paper reports",
        "- `design.yaml`: the matrix of the runs",
        "- `manifest.json`: versions, runs, who judged, and the SHA-256 of every file",
        ""]  # fmt: skip
    lines += [f"- {name} was not drawn: {why}" for name, why in drawings.missing.items()]
    return "\n".join([*lines, ""] if drawings.missing else lines)
