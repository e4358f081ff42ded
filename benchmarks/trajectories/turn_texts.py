"""The texts of a turn: what can be quoted, and what can be searched."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.core.plans import split_steps
from benchmarks.models import Trajectory, Turn
from benchmarks.trajectories.messages import as_text, stored_rows

# The characters shown before and after a match.
CONTEXT_CHARACTERS = 60
MAX_MATCHES = 100


def readable_texts(turn: Turn, where: str) -> list[str]:
    """Return the ``plan`` or ``feedback`` of a turn in the forms pages show, the likeliest first.

    A plan comes as its steps, one per line without numbers (evidence offsets refer to this), then
    as it was written. Offsets count characters.
    """
    if where != "plan":
        return [turn.feedback]
    return ["\n".join(split_steps(turn.text)), turn.text]


def turn_texts(turn: Turn) -> Iterator[tuple[str, str]]:
    """Yield (label, text) for every text of a turn, including imported messages."""
    messages = stored_rows(turn.payload)
    for row in messages:
        yield row.get("name") or row["speaker"], row.get("text", "")
        for call in row.get("calls", ()):
            yield f"call of {call['name']}", as_text(call["arguments"])
    if not messages:
        yield "agent", turn.text
        yield "feedback", turn.feedback


def calls_text(*messages: Sequence[Mapping[str, Any]] | None) -> str:
    """Return the tool calls of stored messages with their arguments, as text."""
    calls = (call for rows in messages for row in rows or () for call in row.get("calls", ()))
    return "\n".join(f"{call['name']} {as_text(call['arguments'])}" for call in calls)


def contains_quote(turn: Turn, quote: str) -> bool:
    """Return whether a turn contains a quote, ignoring whitespace."""
    bare = "".join(quote.split())
    return any(bare in "".join(text.split()) for _, text in turn_texts(turn))


class TextMatch(NamedTuple):
    """A match of a text search in a turn, with some context."""

    turn: int
    place: str
    before: str
    words: str
    after: str


def find_text(trajectory: Trajectory, wanted: str) -> list[TextMatch]:
    """Find a text in a trajectory, ignoring case: the first match per turn and text.

    At most ``MAX_MATCHES`` matches; the texts are read in one query.
    """
    wanted = " ".join(wanted.split()).casefold()
    if not wanted:
        return []
    rows = Turn.objects.filter(trajectory=trajectory).order_by("index")
    matches: list[TextMatch] = []
    for turn in rows.only("index", "text", "feedback", "payload", "trajectory").iterator():
        for place, text in turn_texts(turn):
            words = " ".join(text.split())
            folded = words.casefold()
            at = folded.find(wanted)
            if at < 0:
                continue
            if len(folded) != len(words):
                words = folded  # some letters are two when folded: show what was compared
            end = at + len(wanted)
            before, after = (
                words[max(0, at - CONTEXT_CHARACTERS) : at],
                words[end : end + CONTEXT_CHARACTERS],
            )
            matches.append(
                TextMatch(
                    turn.index,
                    place,
                    f"…{before}" if at > CONTEXT_CHARACTERS else before,
                    words[at:end],
                    f"{after}…" if end + CONTEXT_CHARACTERS < len(words) else after,
                )  # fmt: skip
            )
            if len(matches) == MAX_MATCHES:
                return matches
    return matches
