"""Export a study as files, streamed to the browser or written to a folder."""

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from annotation.audit_log.events import record_event
from annotation.errors import Refused
from annotation.exports.card import study_card
from annotation.exports.codebook import (
    CODEBOOK,
    ITEMS,
    QUESTIONS,
    RATINGS,
    codebook_rows,
    item_texts,
    question_texts,
    read_me,
)
from annotation.exports.columns import FORMAT, SPAN, ExportColumn
from annotation.exports.document import document_text, item_rows
from annotation.exports.head import study_head
from annotation.exports.schemas import DATASET_SCHEMAS
from annotation.exports.scope import Scope, is_simulated
from annotation.exports.sources import SOURCES, source_lines
from annotation.exports.table import (
    Parts,
    history_columns,
    history_parts,
    question_rows,
    rating_columns,
    rating_parts,
)
from annotation.exports.writing import (
    LINE_END,
    arrow_tables,
    csv_row_writer,
    dumped,
    json_row_writer,
)
from annotation.models import Item, Study, StudyEvent
from annotation.plans.plan_files import write_plan
from annotation.ratings.duel_votes import votes_of
from annotation.ratings.selectors import left_out
from annotation.studies.design import study_design
from benchmarks.exports.publishing import NOTE, UNKNOWN, published
from benchmarks.exports.streams import zipped
from benchmarks.formats.parquet import MissingExtra, pyarrow, write_tables
from benchmarks.tables import csv_lines

GROUP = 5_000
PIECE = 1 << 18


@dataclass(frozen=True)
class ExportRequest:
    """The options of an export, beside its scope."""

    scope: Scope
    events: bool = False
    licence: str = ""


# --- Streams --------------------------------------------------------------------------------------


def _csv(columns: Iterable[ExportColumn], rows: Iterable[Parts]) -> Iterator[str]:
    yield from csv_lines([[column.name for column in columns]])
    written = csv_row_writer()
    for parts in rows:
        yield written.line(parts) + LINE_END


def _ratings_csv(wish: ExportRequest) -> Iterator[str]:
    return _csv(rating_columns(wish.scope), rating_parts(wish.scope))


def _history_csv(wish: ExportRequest) -> Iterator[str]:
    return _csv(history_columns(wish.scope), history_parts(wish.scope))


def _questions_csv(wish: ExportRequest) -> Iterator[str]:
    return csv_lines(question_rows(wish.scope.study))


VOTE_COLUMNS = (
    "duel", "task", "turn", "choice", "rater", "simulated", "left_agent", "right_agent",
    "left_trajectory", "right_trajectory", "at", "counts",
)  # fmt: skip


def _votes_csv(wish: ExportRequest) -> Iterator[str]:
    """Send the votes in duels; ``turn`` 0 is the end."""
    scope = wish.scope
    raters = {person.user_id: scope.pseudonyms.rater(person.user_id) for person in scope.people}
    votes = (vote for vote in votes_of(scope.study.pk) if vote.by in raters)
    yield from csv_lines([VOTE_COLUMNS])
    yield from csv_lines(
        [raters[vote.by] if name == "rater" else getattr(vote, name) for name in VOTE_COLUMNS]
        for vote in votes
    )


def _plan(wish: ExportRequest) -> Iterator[str]:
    plan = study_design(wish.scope.study).plan
    assert plan is not None  # `unavailable` says so first
    yield write_plan(plan if wish.scope.names else replace(plan, annotators=()))


def _json(wish: ExportRequest) -> Iterator[str]:
    return document_text(wish.scope, events=wish.events)


def _parquet(wish: ExportRequest) -> Iterator[bytes]:
    """Send a Parquet file, which is written first because it cannot be read from its beginning."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ratings.parquet"
        _write_parquet(wish, path)
        with path.open("rb") as file:
            while piece := file.read(PIECE):
                yield piece


def _write_parquet(wish: ExportRequest, target: Path) -> int:
    head = {FORMAT: dumped(study_head(wish.scope))} if not wish.scope.blind else {}
    schema = _schema(rating_columns(wish.scope)).with_metadata(head)
    return write_tables(arrow_tables(rating_parts(wish.scope), schema, GROUP), target, schema)


def _schema(columns: Iterable[ExportColumn]) -> Any:
    arrow = pyarrow()
    kinds = {
        "text": arrow.string(),
        "whole": arrow.int64(),
        "share": arrow.float64(),
        "truth": arrow.bool_(),
        "time": arrow.timestamp("us", tz="UTC"),
        "texts": arrow.list_(arrow.string()),
    }
    kinds["spans"] = arrow.list_(arrow.struct([(name, kinds[kind]) for name, kind in SPAN]))
    return arrow.schema([(column.name, kinds[column.kind]) for column in columns])


def dataset_texts(wish: ExportRequest) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield (name, text piece by piece) of the files of a folder that can be published.

    Names are never in it, nor what raters said about themselves.
    """
    scope = Scope(wish.scope.study, withdrawn=wish.scope.withdrawn)
    licence = wish.licence or UNKNOWN
    return published(_dataset_files(scope, licence), DATASET_SCHEMAS, scope.study.name, licence)


def _dataset_files(scope: Scope, licence: str) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the data, and the card, which counts them, last."""
    counts, raters, written = Counter[str](), dict[str, bool](), json_row_writer()

    def ratings() -> Iterator[str]:
        for parts in rating_parts(scope):
            front = parts[0]
            if front["use"] == Item.Use.BACKGROUND:
                continue
            counts["rows"] += 1
            raters[front["rater"]] = front["simulated"]
            yield f"{{{written.line(parts)}}}\n"

    def items() -> Iterator[str]:
        for row in item_rows(scope):
            counts["items"] += 1
            yield dumped(row) + "\n"

    yield "ratings.jsonl", ratings()
    yield "items.jsonl", items()
    yield "study.json", [dumped(study_head(scope)), "\n"]
    counted = {**dict.fromkeys(("rows", "items"), 0), **counts, "raters": len(raters),
            "simulated": sum(raters.values())}  # fmt: skip
    yield (
        "README.md",
        [study_card(scope, rating_columns(scope), counts=counted, licence=licence) + NOTE],
    )


def _dataset(wish: ExportRequest) -> Iterator[bytes]:
    return zipped(dataset_texts(wish))


def archive_texts(wish: ExportRequest) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield (name, text piece by piece) of the files of the archive, which needs nothing beside
    it.
    """
    scope = wish.scope
    yield (
        "README.md",
        [
            read_me(
                scope,
                items=scope.study.items.exclude(use=Item.Use.BACKGROUND).count(),
                voided=left_out(scope.study).voided,
                simulated=sum(is_simulated(person) for person in scope.people),
            )
        ],
    )
    yield CODEBOOK, csv_lines(codebook_rows(scope))
    yield RATINGS, _ratings_csv(wish)
    yield ITEMS, csv_lines(item_texts(scope))
    yield QUESTIONS, csv_lines(question_texts(scope))
    yield "study.json", _json(wish)
    yield SOURCES, source_lines(scope)


def _archive(wish: ExportRequest) -> Iterator[bytes]:
    return zipped(archive_texts(wish))


def _codebook(wish: ExportRequest) -> Iterator[str]:
    return csv_lines(codebook_rows(wish.scope))


@dataclass(frozen=True)
class ExportFormat:
    """A format: what it is, the kind and ending of its file, and what writes it."""

    title: str
    says: str
    content_type: str
    ending: str
    write: Callable[[ExportRequest], Iterator[str] | Iterator[bytes]]


FORMATS: dict[str, ExportFormat] = {
    "archive": ExportFormat(
        "Archive (ZIP)",
        "Everything: the table, a codebook, the texts of questions and tasks, the whole study, and "
        "its datasets and trajectories. manage.py import_study makes the study anew from it on any "
        "PlanJury.",
        "application/zip", "study.zip", _archive,
    ),
    "csv": ExportFormat(
        "Table (CSV)", "One row for each rater, item, turn and question; opens in a spreadsheet.",
        "text/csv; charset=utf-8", "ratings.csv", _ratings_csv,
    ),
    "json": ExportFormat(
        "Whole study (JSON)",
        "The study with design, questionnaires, items, people, every edit and the table. "
        "manage.py import_study makes the study anew from it where its datasets and trajectories "
        "are.",
        "application/json", "study.json", _json,
    ),
    "parquet": ExportFormat(
        "Table (Parquet)", "The same table with typed columns, for data frames.",
        "application/vnd.apache.parquet", "ratings.parquet", _parquet,
    ),
    "huggingface": ExportFormat(
        "Folder to publish (ZIP)",
        "For Hugging Face or Zenodo: the table and the items, a card that says how it was judged, "
        "a codebook, JSON schemas and checksums; the licence is yours to state, the DOI blank. "
        "Nothing is uploaded.",
        "application/zip", "huggingface.zip", _dataset,
    ),
    "codebook": ExportFormat(
        "Codebook (CSV)", "Type, values and meaning of each column of the tables.",
        "text/csv; charset=utf-8", "codebook.csv", _codebook,
    ),
    "history": ExportFormat(
        "History (CSV)", "Every edit of every answer, with undone ones.",
        "text/csv; charset=utf-8", "history.csv", _history_csv,
    ),
    "questions": ExportFormat(
        "Questions (CSV)", "How many items were asked each question, and why others were not.",
        "text/csv; charset=utf-8", "questions.csv", _questions_csv,
    ),
    "votes": ExportFormat(
        "Votes (CSV)", "One row for each vote in a blind duel, with the agents of both sides.",
        "text/csv; charset=utf-8", "votes.csv", _votes_csv,
    ),
    "plan": ExportFormat(
        "Plan (YAML)",
        "The plan that the study was made from, for manage.py create_study; annotators only where "
        "names are asked for.",
        "application/yaml; charset=utf-8", "plan.yaml", _plan,
    ),
}  # fmt: skip


def usual_formats() -> list[str]:
    """Return what a folder holds unless something else is asked for."""
    try:
        pyarrow()
    except MissingExtra:
        return ["csv", "json", "huggingface"]
    return ["csv", "json", "parquet", "huggingface"]


def unavailable(wish: ExportRequest, format: str) -> str:
    """Return why a format cannot be had; empty where it can."""
    if format == "huggingface" and wish.scope.blind:
        return (
            "a data set names who made each item, and you still annotate in this study; it opens "
            "when your items are done"
        )
    if format == "archive" and wish.scope.blind:
        return "it names who made each item, and you still annotate in this study"
    if format == "votes" and wish.scope.blind:
        return "votes name agents, and you still take part in this study"
    if format == "votes" and not wish.scope.study.has_duels:
        return "this study has no duels"
    if format == "plan" and wish.scope.blind:
        return "a plan names agents, and you still annotate in this study"
    if format == "plan" and study_design(wish.scope.study).plan is None:
        return "this study was not made from a plan"
    if format == "parquet":
        try:
            pyarrow()
        except MissingExtra as error:
            return str(error)
    return ""


def refuse_unless_possible(wish: ExportRequest, format: str) -> None:
    """Refuse before anything is sent or written."""
    if format not in FORMATS:
        raise Refused("invalid", f"formats are {', '.join(FORMATS)}, not {format!r}")
    if why := unavailable(wish, format):
        raise Refused("invalid", why)


def export_stream(*, wish: ExportRequest, format: str, by: User) -> Iterator[str] | Iterator[bytes]:
    """Yield a file of a study while it is written. That somebody took it is put on record first."""
    refuse_unless_possible(wish, format)
    record_export(wish, [format], by)
    return FORMATS[format].write(wish)


def record_export(wish: ExportRequest, formats: list[str], by: User | None) -> None:
    """Put on record that somebody took a part of a study, and in which form."""
    scope = wish.scope
    record_event(
        study=scope.study, kind=StudyEvent.Kind.EXPORTED, by=by,
        detail={
            "formats": formats, "names": scope.names, "withdrawn": scope.withdrawn,
            "events": wish.events, "own_only": scope.blind,
        },
    )  # fmt: skip


# --- Folders --------------------------------------------------------------------------------------


def write_study(
    *, wish: ExportRequest, formats: Iterable[str], target: Path, by: User | None = None
) -> list[Path]:
    """Write a study into a new folder; the files and folders made. Nothing is overwritten."""
    wanted = list(dict.fromkeys(formats))
    for format in wanted:
        refuse_unless_possible(wish, format)
    with _file_errors(target):
        target.mkdir(parents=True)
        paths = [_write(wish, format, target) for format in wanted]
    record_export(wish, wanted, by)
    return paths


def archive_study(study: Study, *, folder: Path, names: bool = False) -> Path:
    """Write everything of a study, as it is now, into a new folder of an archive; its path.

    With ``names`` the accounts of its people are in it. What a killed attempt left is replaced.
    """
    part = folder / f"study-{study.pk}.part"
    target = folder / f"study-{study.pk}-{timezone.now():%Y%m%dT%H%M%SZ}"
    wish = ExportRequest(Scope(study, names=names, withdrawn=True), events=True)
    with _file_errors(target):
        shutil.rmtree(part, ignore_errors=True)
        write_study(wish=wish, formats=["archive"], target=part)
        part.rename(target)
    return target


@contextmanager
def _file_errors(target: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise Refused("invalid", f"{target} exists; name a new folder") from None
    except OSError as error:
        raise Refused("invalid", f"{target} cannot be written: {error.strerror}") from None


def _write(wish: ExportRequest, format: str, target: Path) -> Path:
    if format == "huggingface":
        folder = target / "huggingface"
        (folder / "schemas").mkdir(parents=True)
        for name, texts in dataset_texts(wish):
            _write_text(texts, folder / name)
        return folder
    path = target / FORMATS[format].ending
    if format == "parquet":
        _write_parquet(wish, path)
    elif format == "archive":
        with path.open("xb") as file:
            file.writelines(_archive(wish))
    else:
        _write_text(FORMATS[format].write(wish), path)
    return path


def _write_text(texts: Iterable[Any], path: Path) -> None:
    with path.open("x", encoding="utf-8", newline="") as file:
        file.writelines(texts)
