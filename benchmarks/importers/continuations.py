"""ATIF documents in whichever wrap they come, and which of them continue which.

A continuation is known by its session id (``…-cont-2``), or by the name of its file, where what it
continues gives that. Only documents that wait for their other parts are held in memory.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.core.problems import Problems, Said
from benchmarks.importers.messages import MOST_MESSAGES
from benchmarks.importers.shape import shape_of
from benchmarks.importers.source import Source, Spot, read_line

_CONTINUED = re.compile(r"(.+)-cont-?(\d{1,4})")


@dataclass(frozen=True)
class Document:
    """One ATIF document and its place; ``file`` is empty where it has none of its own."""

    spot: Spot
    root: Mapping[str, Any]
    file: str = ""


def documents(source: Source, problems: Problems) -> Iterator[Document]:
    """The documents of a file or of several, in their order."""
    for name in sorted(source.members):
        for found in documents(source.members[name], problems):
            yield Document(found.spot, found.root, name)
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
    source: Source, problems: Problems, found: Iterator[Document]
) -> Iterator[Sequence[Document]]:
    """Each document with those that continue it."""
    places = _places(source)
    lengths: dict[str, list[int]] = {}
    for base, number in places:
        lengths.setdefault(base, []).append(number)
    waiting: dict[str, dict[int, Document]] = {}
    for (base, number), document in zip(places, found, strict=False):
        numbers = sorted(lengths[base])
        if numbers[-1] == 0 or len(numbers) == 1:
            yield [document]
        elif numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            parts = ", ".join(map(str, numbers))
            document.spot.at("session_id").fault(
                f"one document for each part of {base[:60]}, none left out", Said(f"parts {parts}")
            )
        else:
            parts_known = waiting.setdefault(base, {})
            parts_known[number] = document
            if len(parts_known) == len(numbers):
                yield [part for _, part in sorted(waiting.pop(base).items())]


def _places(source: Source) -> list[tuple[str, int]]:
    """(what it belongs to, which part of it) for every document; 0 is the beginning."""
    places: list[tuple[str, int]] = []
    names: dict[str, int] = {}
    follows: dict[str, int] = {}
    for index, document in enumerate(documents(source, Problems())):
        session = document.root.get("session_id")
        known = _CONTINUED.fullmatch(session) if isinstance(session, str) else None
        base = known[1] if known else session if isinstance(session, str) and session else ""
        places.append((base or f"\x1f{index}", int(known[2]) if known else 0))
        ref = document.root.get("continued_trajectory_ref")
        if document.file:
            names[document.file.rpartition("/")[2]] = index
        if isinstance(ref, str):
            follows[ref.rpartition("/")[2]] = index
    for name, before in sorted(follows.items()):
        index = names.get(name, before)
        if index != before and places[index][1] == 0 and places[index][0] != places[before][0]:
            places[index] = (places[before][0], places[before][1] + 1)
    return places
