"""Stream exports without holding a whole file in memory or on disk."""

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from benchmarks.core.errors import UnknownName
from benchmarks.exports.selectors import exported
from benchmarks.exports.services import (
    folder_texts,
    inspect_members,
    json_lines,
    trajectory_rows,
)
from benchmarks.formats import atif
from benchmarks.models import Run

Member = tuple[str, Iterable[str]]
# The number of characters to compress at once.
PIECE = 1 << 16
# Rows are so repetitive that a higher level saves little.
LEVEL = 3


def _stream_chat(run: Run) -> Iterator[bytes]:
    return (line.encode() for line in json_lines(trajectory_rows(run)))


def _stream_atif(run: Run) -> Iterator[bytes]:
    def members() -> Iterator[Member]:
        for place, trajectory in enumerate(exported(run), 1):
            text = json.dumps(atif.write_document(trajectory), ensure_ascii=False, indent=1)
            yield f"{place:06}.json", [text]

    return zipped(members())


def _stream_inspect(run: Run) -> Iterator[bytes]:
    return zipped(inspect_members(run))


def _stream_folder(run: Run) -> Iterator[bytes]:
    return zipped(folder_texts(run, f"Run {run.pk}"))


@dataclass(frozen=True)
class Stream:
    """The form in which a format is sent: media type, file ending, and the function that writes
    it.
    """

    content_type: str
    ending: str
    write: Callable[[Run], Iterator[bytes]]


STREAMS: dict[str, Stream] = {
    "openai-chat": Stream("application/x-ndjson", ".jsonl", _stream_chat),
    "atif": Stream("application/zip", "-atif.zip", _stream_atif),
    "inspect": Stream("application/zip", ".eval", _stream_inspect),
    "huggingface": Stream("application/zip", "-huggingface.zip", _stream_folder),
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
        found = b"".join(self.parts)
        self.parts.clear()
        return found


def _pieces(texts: Iterable[str]) -> Iterator[bytes]:
    """Join texts into larger pieces: compressing line by line takes twice the time."""
    waiting: list[str] = []
    size = 0
    for text in texts:
        waiting.append(text)
        size += len(text)
        if size >= PIECE:
            yield "".join(waiting).encode()
            waiting, size = [], 0
    yield "".join(waiting).encode()


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
