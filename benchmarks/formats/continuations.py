"""ATIF documents in whichever wrap they come, and which of them continue which.

A continuation is known by its session id (``…-cont-2``), or by the name of its file, where what it
continues gives that. Only documents that wait for their other parts are held in memory.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.core.problems import FileRefused, Problems, Unquoted
from benchmarks.formats.messages import MOST_MESSAGES
from benchmarks.formats.shape import shape_of
from benchmarks.formats.source import FileSource, Spot, read_line

_CONTINUED = re.compile(r"\A(.+)-cont-?(\d{1,4})")


@dataclass(frozen=True)
class Document:
    """One ATIF document and its place; ``file`` is empty where it has none of its own."""

    spot: Spot
    root: Mapping[str, Any]
    file: str = ""


def documents(source: FileSource, problems: Problems) -> Iterator[Document]:
    """Yield the documents of a file or of several, in their order."""
    for name in sorted(source.members):
        for document in documents(source.members[name], problems):
            yield Document(document.spot, document.root, name)
    if source.members:
        return
    top = Spot(problems, source.name)
    kind = shape_of(source).kind
    if kind == "lines":
        for number, line in source.lines():
            before = problems.total
            value = read_line(source.name, number, line, problems)
            if problems.total == before:
                yield from _document(Spot(problems, f"{source.name}, line {number}"), value)
    elif kind == "list":
        for _, index, item in source.entries():
            yield from _document(top if index is None else top.at(index), item)
    else:
        yield Document(top, source.document(MOST_MESSAGES))


def _document(spot: Spot, value: Any) -> Iterator[Document]:
    if isinstance(value, dict):
        yield Document(spot, value)
    else:
        spot.fault("an object with schema_version, agent and steps", value)


def chains(
    source: FileSource, problems: Problems, roots: Iterator[Document]
) -> Iterator[Sequence[Document]]:
    """Yield each document with those that continue it."""
    places = _placed(list(_heads(source)))
    lengths: dict[str, list[int]] = {}
    for base, number in places:
        lengths.setdefault(base, []).append(number)
    waiting: dict[str, dict[int, Document]] = {}
    for (base, number), document in zip(places, roots, strict=False):
        numbers = sorted(lengths[base])
        if numbers[-1] == 0 or len(numbers) == 1:
            yield [document]
        elif numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            parts = ", ".join(map(str, numbers))
            document.spot.at("session_id").fault(
                f"one document for each part of {base[:60]}, none left out",
                Unquoted(f"parts {parts}"),
            )
        else:
            parts_known = waiting.setdefault(base, {})
            parts_known[number] = document
            if len(parts_known) == len(numbers):
                yield [part for _, part in sorted(waiting.pop(base).items())]


def groups(source: FileSource) -> list[list[str]]:
    """Return the names of the members, those together that continue one another."""
    heads: list[_Head] = []
    for name, member in sorted(source.members.items()):
        try:
            known = [replace(head, file=name) for head in _heads(member)]
        except FileRefused:  # it will be refused with its reason when it is read
            known = []
        heads += known if len(known) == 1 else [_Head("", "", name)]
    names_by_base: dict[str, list[str]] = {}
    for head, (base, _) in zip(heads, _placed(heads), strict=True):
        names_by_base.setdefault(base, []).append(head.file)
    return list(names_by_base.values())


@dataclass(frozen=True)
class _Head:
    """The ids in a document: its own, that of its continuation, and its position."""

    session: str
    continued: str
    file: str


def _heads(source: FileSource) -> Iterator[_Head]:
    for document in documents(source, Problems()):
        given = (document.root.get(key) for key in ("session_id", "continued_trajectory_ref"))
        session, ref = (value if isinstance(value, str) else "" for value in given)
        yield _Head(session, ref, document.file)


def _placed(heads: Sequence[_Head]) -> list[tuple[str, int]]:
    """Return (what it belongs to, which part of it) for every document; 0 is the beginning."""
    places: list[tuple[str, int]] = []
    follows: dict[str, int] = {}
    for index, head in enumerate(heads):
        known = _CONTINUED.fullmatch(head.session)
        base = known[1] if known else head.session or f"\x1f{index}"
        places.append((base, int(known[2]) if known else 0))
        if head.continued:  # the file lies beside the one that names it
            folder, slash, _ = head.file.rpartition("/")
            follows[f"{folder}{slash}{head.continued.rpartition('/')[2]}"] = index
    for index, head in enumerate(heads):
        before = follows.get(head.file, index) if head.file else index
        if before != index and places[index][1] == 0 and places[index][0] != places[before][0]:
            places[index] = (places[before][0], places[before][1] + 1)
    return places
