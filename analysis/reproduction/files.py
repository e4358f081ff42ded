"""The files of a reproduction: tables, figures, metrics, a report, and a manifest of it all."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from django.urls import reverse

from analysis.exports.about import about_file, made_at, version
from analysis.exports.latex import Source, latex_table
from analysis.exports.report_file import ReportFile, Section, render_file
from analysis.exports.table_csv import table_csv
from analysis.reports.content import FigureSpec, Report
from analysis.reports.formatting import plural
from analysis.reports.leading import PUBLISHED
from analysis.reproduction.figure_files import Drawings
from analysis.reproduction.manifest import banners_of, metrics_of, product_now, run_record
from analysis.reproduction.presets import known_presets, parts_of
from analysis.reproduction.sections import About, reports_of, sections_of
from benchmarks.core.registry import get_system
from benchmarks.experiments.design import Design

FORMAT = "planjury-reproduction/1"
MANIFEST, METRICS = "manifest.json", "metrics.json"


@dataclass(frozen=True)
class Reproduction:
    """A design, its runs, and the shipped preset that it is, if it is one."""

    design: Design
    preset: str
    about: About

    @property
    def title(self) -> str:
        return self.design.name

    @property
    def lead(self) -> str:
        """What this is, in one line."""
        preset = known_presets().get(self.preset)
        dataset = self.about.runs[0].dataset
        paper = f"{preset.paper} of the {preset.of} paper, on " if preset else ""
        name = dataset.name if dataset.version == "1" else str(dataset)
        return f"{paper}{name}: {plural(len(self.about.runs), 'run')}."


def made_files(made: Reproduction, *, pdf: bool, person: str) -> Iterator[tuple[str, bytes]]:
    """(name, content) of every file, the manifest last: whoever finds it has all the others.

    ``pdf``: figures as PDF too, which takes a second or two each.
    """
    sections = list(sections_of(parts_of(made.preset, made.design), made.about))
    digests: dict[str, str] = {}
    drawings = Drawings(dict(_figures(sections)), dict(_notes(sections)), pdf=pdf)
    for name, content in _contents(made, sections, drawings, person):
        digests[name] = sha256(content).hexdigest()
        yield name, content
    yield MANIFEST, as_json(_manifest(made, sections, drawings, digests))


def _contents(
    made: Reproduction, sections: Sequence[Section], drawings: Drawings, person: str
) -> Iterator[tuple[str, bytes]]:
    yield "design.yaml", made.design.text.encode()
    yield METRICS, as_json(metrics_of(made.design, made.preset, made.about.runs))
    yield from table_files(sections)
    for name, spec in drawings.specs.items():
        yield f"figures/{name}.json", spec.json.encode()
    yield from ((f"figures/{name}", content) for name, content in drawings.files())
    yield "report.html", report_page(made, sections, person).encode()
    yield "README.md", _readme(made, sections, drawings).encode()


def report_page(made: Reproduction, sections: Sequence[Section], person: str) -> str:
    """Everything in one HTML file; without a server it leads to none."""
    about = made.about
    url = ""
    if about.server and about.experiment is not None:
        url = about.server + reverse("analysis:experiment_report", args=[about.experiment])
    shown = tuple(sections if about.server else (replace(one, url="") for one in sections))
    marks = banners_of(sections)
    return render_file(ReportFile(made.title, made.lead, url, person, shown, marks))


def table_files(sections: Sequence[Section]) -> Iterator[tuple[str, bytes]]:
    """Every table as CSV and as LaTeX; the paper's rows stand in it, marked as published."""
    for section in sections:
        for report in reports_of(section):
            for table in report.tables:
                text = latex_table(table, source_of(section, report))
                yield f"tables/{table.name}.csv", table_csv(table).encode()
                yield f"tables/{table.name}.tex", text.encode()


def source_of(section: Section, report: Report) -> Source:
    """Where the tables of a report come from, for LaTeX."""
    marks = tuple(dict.fromkeys([*section.banners, *report.banners]))
    return Source("reproduced", section.subject, about_file(section.url), marks)


def _figures(sections: Sequence[Section]) -> Iterator[tuple[str, FigureSpec]]:
    for section in sections:
        for report in reports_of(section):
            yield from ((figure.name, figure) for figure in report.figures)


def _notes(sections: Sequence[Section]) -> Iterator[tuple[str, str]]:
    """What marks each figure as not the real thing; what the paper published is real."""
    for section in sections:
        note = " ".join(f"{mark.title}. {mark.text}" for mark in banners_of([section]))
        for name, _ in _figures([section]):
            if not name.startswith(f"{section.name}-{PUBLISHED}"):
                yield name, note


def as_json(value: Any) -> bytes:
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def _manifest(
    made: Reproduction,
    sections: Sequence[Section],
    drawings: Drawings,
    digests: Mapping[str, str],
) -> dict[str, Any]:
    runs = made.about.runs
    dataset = runs[0].dataset
    system = get_system(dataset.system)
    return {
        "format": FORMAT,
        "made_at": made_at(),
        "product": {"name": "PlanJury", "version": version(), **product_now()},
        "preset": made.preset,
        "title": made.title,
        "paper": known_presets()[made.preset].paper if made.preset in known_presets() else "",
        "labels": [f"{mark.title}: {mark.text}" for mark in banners_of(sections)],
        "design": made.design.data,
        "design_digest": made.design.digest,
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
        "experiment": made.about.experiment,
        "runs": [run_record(run) for run in runs],
        "left_out": [line for one in sections if one.report for line in one.report.how
                     if line.startswith("Runs left out")],
        "figures_missing": drawings.missing,
        "parts_missing": [f"{one.title}: {one.missing}" for one in sections if one.missing],
        "files": dict(sorted(digests.items())),
    }  # fmt: skip


def _readme(made: Reproduction, sections: Sequence[Section], drawings: Drawings) -> str:
    """What lies in the folder, for whoever opens it without the server."""
    lines = [f"# {made.title}", "", made.lead, ""]
    lines += [f"**{mark.title}.** {mark.text}\n" for mark in banners_of(sections)]
    for section in sections:
        lines += [f"## {section.title}", "", f"{section.question} {section.subject}", ""]
        for report in reports_of(section):
            lines += [report.sentence, ""] * bool(report.sentence)
            lines += [f"- `tables/{table.name}`: {table.title}" for table in report.tables]
            lines += [f"- `figures/{figure.name}`: {figure.title}" for figure in report.figures]
            lines += [""]
    lines += ["## All files", "",
        "- `report.html`: everything in one file that opens without a server",
        "- `tables/`: CSV in numbers that are not rounded, LaTeX as on the page",
        "- `figures/`: each figure as data (JSON) and as files",
        "- `metrics.json`: the metrics of every run, and what the paper reports",
        "- `design.yaml`: the matrix of the runs",
        "- `manifest.json`: versions, runs, who judged, and the SHA-256 of every file",
        ""]  # fmt: skip
    return "\n".join([*lines, *([f"{drawings.missing}\n"] if drawings.missing else [])])
