"""Stream exports without holding a whole file in memory or on disk."""

import io
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from benchmarks.core.errors import UnknownName
from benchmarks.exports.publishing import UNKNOWN
from benchmarks.exports.services import (
    Ids,
    Member,
    atif_members,
    folder_texts,
    inspect_members,
    json_lines,
    trace_members,
    trajectory_rows,
)
from benchmarks.models import Run

# The number of bytes to compress at once.
PIECE = 1 << 16
# Rows are so repetitive that a higher level saves little.
LEVEL = 3
# The format whose card states a licence.
PUBLISHED = "huggingface"


def _stream_chat(run: Run, ids: Ids = None, licence: str = UNKNOWN) -> Iterator[bytes]:
    return (line.encode() for line in json_lines(trajectory_rows(run, ids)))


def _stream_atif(run: Run, ids: Ids = None, licence: str = UNKNOWN) -> Iterator[bytes]:
    return zipped(atif_members(run, ids))


def _stream_traces(run: Run, ids: Ids = None, licence: str = UNKNOWN) -> Iterator[bytes]:
    return zipped(trace_members(run, ids))


def _stream_inspect(run: Run, ids: Ids = None, licence: str = UNKNOWN) -> Iterator[bytes]:
    return zipped(inspect_members(run, ids))


def _stream_folder(run: Run, ids: Ids = None, licence: str = UNKNOWN) -> Iterator[bytes]:
    return zipped(folder_texts(run, f"Run {run.pk}", ids, licence))


@dataclass(frozen=True)
class Stream:
    """The form in which a format is sent: its title on pages, media type, file ending, and the
    function that writes it under a licence.
    """

    title: str
    content_type: str
    ending: str
    write: Callable[[Run, Ids, str], Iterator[bytes]]


STREAMS: dict[str, Stream] = {
    "openai-chat": Stream(
        "Chat messages (JSON lines)", "application/x-ndjson", ".jsonl", _stream_chat
    ),
    "atif": Stream("ATIF (Harbor)", "application/zip", "-atif.zip", _stream_atif),
    "inspect": Stream("Inspect log", "application/zip", ".eval", _stream_inspect),
    "session-traces": Stream(
        "Session traces (Hugging Face Hub)",
        "application/zip",
        "-session-traces.zip",
        _stream_traces,
    ),
    PUBLISHED: Stream(
        "Folder to publish (ZIP)",
        "application/zip",
        "-huggingface.zip",
        _stream_folder,
    ),
}


def stream_of(format: str) -> Stream:
    """Return how a format is sent."""
    if format not in STREAMS:
        raise UnknownName("format", format, sorted(STREAMS))
    return STREAMS[format]


class _Sink(io.RawIOBase):
    """Collect what the archive writes until it is sent."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        part = bytes(data)  # type: ignore[call-overload]  # any buffer
        self.parts.append(part)
        return len(part)

    def taken(self) -> bytes:
        content = b"".join(self.parts)
        self.parts.clear()
        return content


def _pieces(parts: Iterable[str | bytes]) -> Iterator[bytes]:
    """Join texts or bytes into larger pieces: compressing line by line takes twice the time."""
    waiting: list[bytes] = []
    size = 0
    for part in parts:
        waiting.append(part if isinstance(part, bytes) else part.encode())
        size += len(waiting[-1])
        if size >= PIECE:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)


def zipped(members: Iterable[Member]) -> Iterator[bytes]:
    """Yield the members as a ZIP archive, piece by piece."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        for name, texts in members:
            with archive.open(name, "w", force_zip64=True) as file:
                for piece in _pieces(texts):
                    file.write(piece)
                    if part := sink.taken():
                        yield part
            yield sink.taken()
    yield sink.taken()
