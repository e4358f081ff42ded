"""What a pin shows: part of the report of an analysis page, a dataset's certificate, or turns.

Everything is read as the person who looks may see it now.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256

from django.contrib.auth.models import User
from django.http import QueryDict
from django.urls import reverse
from pydantic import TypeAdapter

from analysis.filters import read_filters, with_query
from analysis.filters.selection import ChosenRun
from analysis.pages.catalogue import PAGES
from analysis.pages.reports import deferred_request, make_report, open_selection
from analysis.pages.views import subject_of
from analysis.papers.blocks import Source
from analysis.reports.content import (
    Report,
    Table,
    join_reports,
    number_column,
    text_cell,
    text_column,
    words_column,
)
from analysis.reports.deferred_reports import kept_deferred
from analysis.reports.run_marks import banners
from benchmarks.comparability.certificates import Certificate, dataset_certificates
from benchmarks.core.digests import storable
from benchmarks.core.errors import CoreError
from benchmarks.models import Dataset, Trajectory, Turn
from benchmarks.trajectories.turn_texts import turn_texts
from benchmarks.validity.selectors import CertifiedValidity, current_certificate
from benchmarks.visibility import Visibility

# An excerpt has at most so many turns.
MOST_TURNS = 40
# Part of a report of which only the sentence is shown.
ANSWER = "answer"
_REPORT: TypeAdapter[Report] = TypeAdapter(Report)


class SourceGone(CoreError):
    """Raised if a source shows no longer what was pinned; the text says why."""


@dataclass(frozen=True)
class SourceReport:
    """All that can be pinned of a source, and the ids of what it was made from.

    ``url`` is its address on the server.
    """

    source: Source
    title: str
    subject: str
    url: str
    report: Report
    runs: frozenset[int] = frozenset()
    studies: frozenset[int] = frozenset()
    trajectory: int | None = None

    def parts(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the title of every part that can be pinned."""
        report = self.report
        if _answers(report):
            yield ANSWER, report.sentence
        yield from ((f"figure:{one.name}", one.title) for one in report.figures)
        yield from ((f"table:{one.name}", one.title) for one in report.tables)


def open_source(source: Source, user: User, seen: Visibility) -> SourceReport:
    """Return what a source shows this person now; raises ``SourceGone``."""
    if source.kind == "page":
        return _page(source, user, seen)
    try:
        number = int(source.name)
    except ValueError:
        raise SourceGone(f"there is no {source.kind} {source.name[:40]}") from None
    if source.kind == "dataset":
        return _dataset(source, number, seen)
    return _trajectory(source, number, seen)


def part_of(found: SourceReport, part: str) -> Report:
    """Return one part as a report of its own, with what limits how it may be read.

    A figure has the table of its numbers beside it. Raises ``SourceGone`` where there is no such
    part.
    """
    report = found.report
    kind, _, name = part.partition(":")
    alone = Report(banners=report.banners, methods=report.methods, answers=report.answers)
    figure, table = report.figure(name), report.table(name)
    if kind == ANSWER and _answers(report):
        # Its table says how it was computed. Where it cites a paper, it says how far it compares.
        cites = found.source.kind == "page" and PAGES[found.source.name].cites
        return replace(
            alone,
            sentence=report.sentence,
            notices=(*report.marks, *(one for one in report.notices if one.tone == "warning")),
            tables=report.tables[:1],
            certificates=report.certificates if cites else (),
        )
    if kind == "figure" and figure is not None:
        numbers = report.numbers_of(figure)
        return replace(alone, figures=(figure,), tables=(numbers,) if numbers is not None else ())
    if kind == "table" and table is not None:
        return replace(alone, tables=(table,), certificates=table.certificates)
    if report.empty is not None:
        raise SourceGone(f"the page shows nothing with these filters: {report.empty.title}")
    if report.waits or _is_deferred(found.source):
        raise SourceGone(
            "this part is computed in the background and is not stored now; open the page and have "
            "it computed, then look again"
        )
    raise SourceGone(f"“{found.title}” shows no such {kind or 'part'} with these filters")


def _answers(report: Report) -> bool:
    """Return whether the sentence of a report is an answer, and not that it is being computed."""
    return bool(report.sentence) and report.empty is None and not report.waits


def report_json(report: Report) -> str:
    """Return a report as JSON, which `read_report` reads back."""
    return _REPORT.dump_json(report).decode()


def read_report(text: str) -> Report:
    """Return a stored report."""
    return _REPORT.validate_json(text)


def digest_of(source: Source, content: str) -> str:
    """Return the name of stored content: the same only for the same content of one source."""
    return sha256(f"{source.model_dump_json()}\n{content}".encode()).hexdigest()


def _is_deferred(source: Source) -> bool:
    return source.kind == "page" and PAGES[source.name].deferred


def _page(source: Source, user: User, seen: Visibility) -> SourceReport:
    if source.name not in PAGES:
        raise SourceGone(f"this version of PlanJury has no page “{source.name[:40]}”")
    page = PAGES[source.name]
    selection, key = open_selection(page, read_filters(QueryDict(source.query)), user, seen)
    report = make_report(page, selection, key)
    wanted = deferred_request(page, selection)
    deferred = kept_deferred(wanted.key) if wanted is not None else None
    if deferred is not None:
        report = join_reports(report, deferred)
    marks = tuple(dict.fromkeys((*banners(selection), *report.banners)))
    query = selection.filters.query()
    studies = {*selection.people, *([selection.study.pk] if selection.study is not None else [])}
    return SourceReport(
        Source(kind="page", name=page.key, query=query),
        page.title,
        subject_of(selection),
        with_query(reverse(f"analysis:{page.key}"), query),
        replace(report, banners=marks),
        frozenset(_run_ids(selection.runs)),
        frozenset(studies),
    )


def _run_ids(runs: Iterable[ChosenRun]) -> Iterator[int]:
    """Yield the ids of runs and of those that judged them again."""
    for run in runs:
        yield run.pk
        for judging in (run.judged, run.beside):
            if judging is not None and judging.made_by is not None:
                yield judging.made_by


def _dataset(source: Source, number: int, seen: Visibility) -> SourceReport:
    dataset = seen.of(Dataset.objects.select_related("made_by")).filter(pk=number).first()
    if dataset is None:
        raise SourceGone(f"dataset {number} was deleted, or is closed to you")
    tables = [
        _comparability(certificate, place)
        for place, certificate in enumerate(dataset_certificates(dataset, ()), 1)
    ]
    validity = current_certificate(dataset)
    tables += [_validity(validity)] if validity is not None else []
    made_by = [dataset.made_by_id] if dataset.made_by_id is not None else []
    return SourceReport(
        Source(kind="dataset", name=str(number)),
        f"Certificates of {dataset}",
        str(dataset),
        reverse("benchmarks:dataset", args=[number]),
        Report(tables=tuple(tables)),
        frozenset(made_by),
    )


def _comparability(certificate: Certificate, place: int) -> Table:
    rows = tuple(
        tuple(map(text_cell, (row.title, row.verdict, row.here, row.published)))
        for row in certificate.rows
    )
    columns = (
        text_column("Aspect"), text_column("Verdict"), words_column("Here"),
        words_column("In the paper", "published"),
    )  # fmt: skip
    title = f"Comparability with the {certificate.title}"
    return Table(f"comparability-{place}", title, columns, rows)


def _validity(validity: CertifiedValidity) -> Table:
    unit = validity.unit
    facts = (
        (f"{unit}s that the reference played", f"{validity.checked:,}"),
        (f"{unit}s that it solved", f"{validity.solved:,}"),
        (f"{unit}s that count by default", f"{validity.usable:,}"),
    )
    rows = tuple((text_cell(what), text_cell(count)) for what, count in facts)
    columns = (text_column("Certificate of validity", "fact"), number_column("Number"))
    return Table("validity", f"Validity of {validity.row.dataset}", columns, rows)


def _trajectory(source: Source, number: int, seen: Visibility) -> SourceReport:
    rows = seen.of(Trajectory.objects.select_related("run__agent", "run__dataset", "task"))
    trajectory = rows.filter(pk=number).first()
    if trajectory is None:
        raise SourceGone(f"trajectory {number} was deleted, or is closed to you")
    turns = list(Turn.objects.filter(trajectory=trajectory).order_by("index"))
    first, last = turn_range(QueryDict(source.query), max((t.index for t in turns), default=1))
    cells = tuple(
        (text_cell(str(turn.index)), text_cell(storable(who)), text_cell(storable(text)))
        for turn in turns
        if first <= turn.index <= last
        for who, text in turn_texts(turn)
        if text.strip()
    )
    columns = (text_column("Turn"), text_column("Who"), words_column("Text"))
    run = trajectory.run
    span = f"turn {first}" if first == last else f"turns {first} to {last}"
    subject = f"{run.agent.title} on {trajectory.task}, {span}"
    return SourceReport(
        Source(kind="trajectory", name=str(number), query=f"from={first}&to={last}"),
        f"Trajectory {number}",
        subject,
        f"{reverse('analysis:trajectory', args=[number])}?turn={first}",
        Report(tables=(Table("turns", f"Excerpt of trajectory {number}", columns, cells),)),
        frozenset([run.pk]),
        trajectory=number,
    )


def turn_range(params: QueryDict, count: int) -> tuple[int, int]:
    """Return the first and the last turn of an excerpt, within those from 1 to ``count``."""

    def read(name: str, otherwise: int) -> int:
        text = params.get(name, "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else otherwise

    first = min(max(1, read("from", 1)), max(1, count))
    last = min(max(first, read("to", first)), max(first, count), first + MOST_TURNS - 1)
    return first, last
