"""Spans of turns of a run's trajectories: of one length each, or as somebody chose them.

Chosen spans are lines such as ``1-12, 30-45``, which hold for every trajectory that has these
turns, or ``7: 3-9`` for trajectory 7 alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from benchmarks.core.errors import CoreError

MOST_SPANS = 1000
# The number of turns of each span, or chosen spans as a text.
Spans = int | str


class BadSpans(CoreError):
    """Raised for spans that cannot be read, or that no trajectory has; names the line."""


@dataclass(frozen=True)
class ChosenSpan:
    """The turns from ``first`` to ``last``, of one trajectory or of each that has them."""

    line: int
    first: int
    last: int
    trajectory: int | None


def read_spans(text: str) -> list[ChosenSpan]:
    """Return the spans of a text, line by line; at most ``MOST_SPANS``."""
    spans = [
        span
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip()
        for span in _read_line(number, line)
    ]
    if not spans:
        raise BadSpans("no span is given; write the first and the last turn, such as 1-12")
    if len(spans) > MOST_SPANS:
        raise BadSpans(f"at most {MOST_SPANS:,} spans, and these are {len(spans):,}")
    return spans


def _read_line(number: int, line: str) -> Iterator[ChosenSpan]:
    head, colon, rest = line.rpartition(":")
    trajectory = _whole(head) if colon else None
    if colon and trajectory is None:
        raise BadSpans(f"line {number}: {head.strip()[:40]!r} is no number of a trajectory")
    for piece in rest.split(","):
        start, _, end = piece.partition("-")
        first, last = _whole(start), _whole(end or start)
        if first is None or last is None or not 1 <= first <= last:
            raise BadSpans(
                f"line {number}: {piece.strip()[:40]!r} is no span; write the first and the last "
                "turn, such as 1-12"
            )
        yield ChosenSpan(number, first, last, trajectory)


def _whole(text: str) -> int | None:
    plain = text.strip()
    return int(plain) if plain.isascii() and plain.isdigit() and len(plain) < 10 else None


def check_spans(spans: Spans, counts: Mapping[int, int]) -> None:
    """Refuse spans that no trajectory has; ``counts`` are the turns of each trajectory."""
    if isinstance(spans, int):
        if spans < 1:
            raise BadSpans("a span has one turn or more")
        return
    for span in read_spans(spans):
        known = counts.get(span.trajectory) if span.trajectory else max(counts.values(), default=0)
        if known is None:
            raise BadSpans(f"line {span.line}: the run has no trajectory {span.trajectory}")
        if span.last > known:
            whose = f"trajectory {span.trajectory}" if span.trajectory else "the longest trajectory"
            raise BadSpans(f"line {span.line}: {whose} has {known} turns, not {span.last}")


def bounds(spans: Spans, trajectory: int, turns: int) -> list[tuple[int, int]]:
    """Return the first and the last turn of each span of a trajectory with so many turns."""
    if isinstance(spans, int):
        return [(at, min(at + spans - 1, turns)) for at in range(1, turns + 1, spans)]
    return [
        (span.first, span.last)
        for span in read_spans(spans)
        if span.trajectory in (None, trajectory) and span.last <= turns
    ]
