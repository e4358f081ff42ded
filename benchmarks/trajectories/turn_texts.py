"""The words of a turn as they are read: what can be quoted, and what can be searched."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.core.plans import split_steps
from benchmarks.models import Trajectory, Turn
from benchmarks.trajectories.messages import as_text, stored_rows

# Signs of context on either side of what was found.
AROUND = 60
MOST_FOUND = 100


def readable_texts(turn: Turn, where: str) -> list[str]:
    """The ``plan`` or the ``feedback`` of a turn as pages may show it, the likeliest first.

    Of a plan its steps, one a line and without their numbers, which is how evidence counts too;
    then the text as it was written. Places in it are counted in characters.
    """
    if where != "plan":
        return [turn.feedback]
    return ["\n".join(split_steps(turn.text)), turn.text]


def turn_words(turn: Turn) -> Iterator[tuple[str, str]]:
    """(what it is, text) of everything that was written in a turn, messages made elsewhere too."""
    messages = stored_rows(turn.payload)
    for row in messages:
        yield row.get("name") or row["speaker"], row.get("text", "")
        for call in row.get("calls", ()):
            yield f"call of {call['name']}", as_text(call["arguments"])
    if not messages:
        yield "agent", turn.text
        yield "feedback", turn.feedback


def calls_text(*messages: Sequence[Mapping[str, Any]] | None) -> str:
    """The calls of tools in stored messages, with their arguments; of none no text."""
    calls = (call for rows in messages for row in rows or () for call in row.get("calls", ()))
    return "\n".join(f"{call['name']} {as_text(call['arguments'])}" for call in calls)


def stands_in(turn: Turn, quote: str) -> bool:
    """Whether words stand in a turn, whatever the space between them."""
    bare = "".join(quote.split())
    return any(bare in "".join(text.split()) for _, text in turn_words(turn))


@dataclass(frozen=True)
class Found:
    """Words that were found in a turn, with a little of what stands around them."""

    turn: int
    place: str
    before: str
    words: str
    after: str


def find_words(trajectory: Trajectory, wanted: str) -> list[Found]:
    """Where words stand in a trajectory, upper and lower case alike: one line per turn and text.

    At most ``MOST_FOUND``; the texts are read in one query.
    """
    wanted = " ".join(wanted.split()).casefold()
    if not wanted:
        return []
    rows = Turn.objects.filter(trajectory=trajectory).order_by("index")
    found: list[Found] = []
    for turn in rows.only("index", "text", "feedback", "payload", "trajectory").iterator():
        for place, text in turn_words(turn):
            words = " ".join(text.split())
            folded = words.casefold()
            at = folded.find(wanted)
            if at < 0:
                continue
            if len(folded) != len(words):
                words = folded  # some letters are two when folded: show what was compared
            end = at + len(wanted)
            before, after = words[max(0, at - AROUND) : at], words[end : end + AROUND]
            found.append(
                Found(
                    turn.index,
                    place,
                    f"…{before}" if at > AROUND else before,
                    words[at:end],
                    f"{after}…" if end + AROUND < len(words) else after,
                )  # fmt: skip
            )
            if len(found) == MOST_FOUND:
                return found
    return found
