"""Import trajectories made elsewhere: a file is stored as a whole, or not at all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, Sum
from django.utils import timezone

from benchmarks.core.digests import storable
from benchmarks.core.errors import CoreError, ImportRefused
from benchmarks.core.problems import FileRefused, Unquoted
from benchmarks.core.registry import EXTERNAL
from benchmarks.formats.registry import (
    FORMATS,
    check_file,
    formats_in,
    open_source,
    read_source,
    settle,
)
from benchmarks.formats.source import refused
from benchmarks.formats.trajectory import ImportedTrajectory
from benchmarks.imports.rows import RowSaver, chunks
from benchmarks.imports.unfinished import (
    LOCK,
    delete_imports,
    others_under_way,
    unfinished_runs,
    wait_for_others,
)
from benchmarks.locks import named_lock
from benchmarks.models import Dataset, Run

_SUFFIXES = (".gz", ".json", ".jsonl", ".ndjson", ".eval", ".zip", ".parquet", ".slice")


@dataclass(frozen=True)
class SavedImport:
    """The runs of a file, one for each agent in it, and whether this call stored them."""

    created: bool
    runs: tuple[Run, ...]
    trajectories: int
    turns: int
    format: str = ""

    @property
    def dataset(self) -> Dataset:
        return self.runs[0].dataset


def import_trajectories(
    *,
    path: Path,
    format: str = "",
    name: str = "",
    agent: str = "",
    created_by: User | None = None,
    others: Sequence[Path] = (),
    progress: Callable[[int], None] | None = None,
    turns_by: str = "user",
    wait: bool = True,
) -> SavedImport:
    """Import a file or a folder; the same content a second time adds nothing.

    Without a ``format`` it is detected. Files of one format under one ``name`` share their
    dataset, so that their agents can be compared on the same tasks. ``agent`` names the
    agent if the file does not. ``others`` are files that belong to the first one. ``progress`` is
    called with the number of turns stored so far; until the last one is stored, no page shows any.
    ``turns_by`` is a key of ``TURNS``: what begins a turn. Without ``wait``,
    ``ImportUnderWay`` is raised where another import must end first.
    """
    format, source = settle(open_source(path, others), format)
    checksum = source.checksum()
    if stored := _stored(checksum):
        return stored
    stem, file = plain_stem(path), str(storable(path.name))
    unnamed = str(storable(agent)) or stem
    title = (str(storable(name)) or stem)[:120]
    header: dict[str, Any] = {}
    saver = RowSaver(
        format=format,
        file=file,
        checksum=checksum,
        header=header,
        agent=unnamed,
        agent_note="" if agent else "Its file names no model; this is the file's name.",
        created_by=created_by,
        turns_by=turns_by,
    )
    try:
        # The file is read between the transactions, so that others can write meanwhile.
        pieces = chunks(read_source(source, format, header, unnamed))
        if stored := _begin(saver, title, next(pieces, []), wait):
            return stored
        saver.save_turns()
        if progress:
            progress(saver.turns)
        for chunk in pieces:
            with named_lock(LOCK):
                saver.save(chunk)
            saver.save_turns()
            if progress:
                progress(saver.turns)
        if source.checksum() != checksum:
            raise refused(file, "the same content to the end", Unquoted("it changed meanwhile"))
        with named_lock(LOCK):
            return SavedImport(True, saver.finish(), saver.trajectories, saver.turns, format)
    except BaseException as error:
        # Its checksum, too: SQLite gives the id of a run that was rolled back to another import.
        delete_imports(unfinished_runs().filter(pk__in=saver.pks, checksum=checksum))
        if isinstance(error, FileRefused):
            check_file(path, format, others, unnamed)  # tells all faults, not just the first
        raise


def _begin(
    saver: RowSaver, title: str, chunk: Sequence[ImportedTrajectory], wait: bool
) -> SavedImport | None:
    """Store the first chunk in the dataset of this title, or return what another process stored."""
    while True:
        wait_for_others(saver.checksum, title, wait)
        with named_lock(LOCK):
            if stored := _stored(saver.checksum):
                return stored
            if not others_under_way(saver.checksum, title).exists():
                saver.dataset = _dataset(saver, title)
                saver.save(chunk)
                return None


def import_parts(
    path: Path, others: Sequence[Path] = (), format: str = "", name: str = ""
) -> list[tuple[str, str]]:
    """Return (format, dataset) for each import that a path needs: a folder or an archive needs one
    for each format in it.
    """
    try:
        formats = formats_in(open_source(path, others), format)
    except CoreError:
        return [(format, name)]  # the import is refused with the same reason
    if len(formats) < 2:
        return [(formats[0], name)]
    return [(one, f"{name or path.name} ({FORMATS[one][0]})") for one in formats]


def plain_stem(path: Path) -> str:
    """Return a file name without its endings: ``gpt-4o-airline`` for ``gpt-4o-airline.json.gz``."""
    stem = str(storable(path.name))
    while (suffix := Path(stem).suffix) in _SUFFIXES:
        stem = stem.removesuffix(suffix)
    return stem[:120] or "imported"


def _stored(checksum: str) -> SavedImport | None:
    rows = Run.objects.filter(kind=Run.Kind.IMPORTED, checksum=checksum)
    rows = rows.exclude(pk__in=unfinished_runs())
    runs = tuple(rows.select_related("dataset", "agent").order_by("pk"))
    if not runs:
        return None
    if any(run.removed_at is not None for run in runs):
        raise ImportRefused(f"run {runs[0].pk} of this file is being deleted; try again later")
    counts = rows.aggregate(number=Count("trajectories"), turns=Sum("trajectories__turn_count"))
    format = str(runs[0].settings.get("format", ""))
    return SavedImport(False, runs, counts["number"], counts["turns"] or 0, format)


def _dataset(saver: RowSaver, title: str) -> Dataset:
    """Return the dataset of this title, which holds one format only; a new one is hidden."""
    source = FORMATS[saver.format][0]
    dataset, created = Dataset.objects.get_or_create(
        system=EXTERNAL,
        name=title,
        version="1",
        defaults={
            "source": source,
            "checksum": saver.checksum,
            "notes": f"Tasks of trajectories made elsewhere, first seen in {saver.file[:200]}.",
            "removed_at": timezone.now(),
        },
    )
    if created:
        return dataset
    if dataset.removed_at is not None:
        raise ImportRefused(f"the dataset {title!r} is being deleted; try again later")
    if dataset.source != source:
        raise ImportRefused(
            f"the dataset {title!r} holds tasks of {dataset.source}; give another name than that "
            f"for {source}"
        )
    return dataset
