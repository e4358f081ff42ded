"""The results port: whether a trajectory is right, what it answered, and what was expected."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Tone = Literal["ok", "warn", "bad", "info", "aside", "idle", ""]

RIGHT, PARTLY_RIGHT, WRONG, NO_VERDICT = "Right", "Partly right", "Wrong", "No verdict"
# Entries of a list that a header names, and signs of each; the page has all of them below.
MOST_ENTRIES, MOST_SIGNS = 3, 200
# A reward this close to 1 counts as full.
NEARLY = 1e-6


@dataclass(frozen=True)
class TrajectoryResult:
    """Whether a trajectory is right or wrong, in a word or two, and in ``detail`` how it ended.

    An ending says how an episode stopped; only a result says whether the agent did what was asked.
    """

    title: str
    tone: Tone = ""
    detail: str = ""


def verdict_result(value: float | None, detail: str) -> TrajectoryResult:
    """Return the result of a yes-or-no metric: 1 is right, 0 is wrong, None is undefined."""
    if value is None:
        return TrajectoryResult(NO_VERDICT, "idle", detail)
    shown = (
        TrajectoryResult(RIGHT, "ok", detail) if value else TrajectoryResult(WRONG, "bad", detail)
    )
    return shown if shown.title != detail else TrajectoryResult(shown.title, shown.tone)


@dataclass(frozen=True)
class HeaderAnswer:
    """The answer that decides a result, what was ``expected``, and in ``fault`` what it violates
    or misses ("Not met: …"). Each is one line of text, and empty where there is none.
    """

    given: str = ""
    expected: str = ""
    fault: str = ""


def one_line(text: str) -> str:
    """Return a text as one line of at most ``MOST_SIGNS`` signs."""
    words = " ".join(text[: 4 * MOST_SIGNS].split())
    return words if len(words) <= MOST_SIGNS else words[: MOST_SIGNS - 1].rstrip() + "…"


def listed(entries: Sequence[str], lead: str = "") -> str:
    """Return the first entries of a list as one line, with the number of the others.

    ``lead`` stands before them; of an empty list nothing is left.
    """
    more = len(entries) - MOST_ENTRIES
    words = "; ".join(one_line(entry).rstrip(".") for entry in entries[:MOST_ENTRIES])
    line = f"{words}; {more} more" if more > 0 else words
    return f"{lead}: {line}" if lead and line else line
