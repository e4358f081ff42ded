"""The map of a session: what kinds of steps its messages are, and where each turn begins.

Messages are numbered through the whole trajectory, so that a number names the same message however
the trajectory is divided into turns.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from django.core.cache import caches

from benchmarks.formats.plan_commits import committed_plan
from benchmarks.models import Trajectory, Turn
from benchmarks.trajectories.messages import (
    MessageView,
    called_tools,
    message_part,
    stored_rows,
    went_wrong,
)

KINDS = ("messages", "thinking", "calls", "results", "errors", "plans")
MESSAGE, THINKING, CALL, RESULT, ERROR, PLAN = (1 << place for place in range(len(KINDS)))
# The kinds of a message are the bits of a character, from this one on.
BASE = ord("0")
# Shorter texts repeat by chance, and folding them would save nothing.
REPEATED = 200
KEPT_SECONDS = 3600
# So many messages of a turn are shown at once, fewer at first where there are more turns than
# SPARE; around one that is asked for, so many before it.
PART, FIRST, SPARE, BEFORE = 24, 4, 5, 4


@dataclass(frozen=True)
class SessionMap:
    """Kinds of all messages, a character each; how many messages each turn has.

    ``repeats`` gives for a message with the same text as an earlier one the number of that.
    ``unanswered`` are the ids of the agent's calls without a result.
    """

    kinds: str
    counts: Mapping[int, int]
    repeats: Mapping[int, int]
    unanswered: frozenset[str]

    @cached_property
    def starts(self) -> dict[int, int]:
        """Return the number of the first message of each turn."""
        starts, at = {}, 1
        for turn, count in self.counts.items():
            starts[turn] = at
            at += count
        return starts

    def turn_of(self, number: int) -> int | None:
        """Return the turn of a message; None where there is no such message."""
        if not 1 <= number <= len(self.kinds):
            return None
        return max(turn for turn, start in self.starts.items() if start <= number)

    @cached_property
    def totals(self) -> list[tuple[str, int]]:
        """Return how many messages are of each kind."""
        counts = Counter(self.kinds)
        return [
            (name, sum(count for char, count in counts.items() if ord(char) - BASE & 1 << place))
            for place, name in enumerate(KINDS)
        ]

    @property
    def errors(self) -> int:
        """Return how many messages are results of calls or commands that failed."""
        return dict(self.totals)["errors"]

    def lanes(self, columns: int) -> list[list[int]]:
        """Return for each kind the columns, of at most so many, that have a message of it."""
        count = len(self.kinds)
        columns = max(1, min(columns, count))
        starts = [-(-column * count // columns) for column in range(columns + 1)]
        chars = [set(self.kinds[start:end]) for start, end in pairwise(starts)]
        return [
            [
                column
                for column, within in enumerate(chars)
                if any(ord(char) - BASE & 1 << lane for char in within)
            ]
            for lane in range(len(KINDS))
        ]


def session_map(trajectory: Trajectory) -> SessionMap:
    """Return the map of a trajectory whose turns hold messages; kept until its turns change."""
    version = trajectory.run.data_version
    key = f"session-map-2-{trajectory.pk}-{version}-{trajectory.turn_count}"
    cache = caches["template_fragments"]
    known: tuple[str, SessionMap] | None = vars(trajectory).get("_session_map")
    if known is None or known[0] != key:  # a page asks once for each turn that it shows
        kept = cache.get(key)
        if kept is None:
            rows = trajectory.turns.order_by("index").values_list("index", "payload")
            kept = read_map((index, stored_rows(payload)) for index, payload in rows.iterator())
            cache.set(key, kept, KEPT_SECONDS)
        known = key, SessionMap(*kept)
        vars(trajectory)["_session_map"] = known
    return known[1]


def read_map(
    turns: Iterable[tuple[int, Sequence[Mapping[str, Any]]]],
) -> tuple[str, dict[int, int], dict[int, int], frozenset[str]]:
    """Return what a map holds from the stored messages of each turn."""
    kinds: list[str] = []
    counts: dict[int, int] = {}
    repeats: dict[int, int] = {}
    first: dict[tuple[str, str], int] = {}
    called: set[str] = set()
    answered: set[str] = set()
    plan: tuple[str, ...] = ()
    for index, rows in turns:
        counts[index] = len(rows)
        tools = called_tools(rows)
        for row in rows:
            bits, plan = _kinds(row, plan, tools)
            kinds.append(chr(BASE + bits))
            called |= {
                call.get("id", "")
                for call in row.get("calls", ())
                if call.get("by", "agent") == "agent"
            }
            answered.add(row.get("call_id", ""))
            text = row.get("text", "")
            if len(text) >= REPEATED:
                earlier = first.setdefault((row["speaker"], text), len(kinds))
                if earlier != len(kinds):
                    repeats[len(kinds)] = earlier
    return "".join(kinds), counts, repeats, frozenset(called - answered - {""})


def _kinds(
    row: Mapping[str, Any], plan: tuple[str, ...], tools: Mapping[str, str]
) -> tuple[int, tuple[str, ...]]:
    """Return the kinds of a message as bits, and the last plan that was committed."""
    bits = 0
    if row["speaker"] == "tool":
        bits |= RESULT | (ERROR if went_wrong(row, tools) else 0)
    elif row.get("text", "").strip() or row["speaker"] != "assistant":
        bits |= MESSAGE
    if row.get("reasoning") or (row.get("extra") or {}).get("encrypted"):
        bits |= THINKING
    for call in row.get("calls", ()):
        bits |= CALL
        steps = committed_plan(call["name"], call["arguments"])
        if steps and steps != plan:
            bits |= PLAN
            plan = steps
    return bits, plan


class MessageGap(NamedTuple):
    """Messages of a turn that are not shown, by their places in it, from 1."""

    first: int
    last: int

    @property
    def part(self) -> "MessageGap":
        """Return the messages that come first when the gap is asked for."""
        return MessageGap(self.first, min(self.last, self.first + PART - 1))


class MessageWindow(NamedTuple):
    """The messages of a turn that are shown, and what is left out before and after them.

    A message comes with its number in the trajectory, and with that of an earlier one with the
    same text, if there is one.
    """

    turn: int
    messages: Sequence[tuple[int, int | None, MessageView]]
    before: MessageGap | None
    after: MessageGap | None
    unanswered: frozenset[str]


def message_window(
    trajectory: Trajectory, turn: Turn, *, at: int = 1, within: MessageGap | None = None
) -> MessageWindow:
    """Return the messages that are shown together with the one at a place of a turn.

    ``within`` bounds them and the gaps that are left, where a part of a gap is asked for.
    """
    known = session_map(trajectory)
    count = known.counts.get(turn.index, 0)
    first, last = (within.first, min(within.last, count)) if within else (1, count)
    size = PART if within or len(known.counts) <= SPARE else FIRST
    start = first if at < first + size else max(first, min(at, last) - BEFORE)
    end = min(last, start + size - 1)
    offset = known.starts.get(turn.index, 1) - 1
    return MessageWindow(
        turn.index,
        [
            (number, known.repeats.get(number), view)
            for number, view in enumerate(message_part(turn, start, end), offset + start)
        ],
        MessageGap(first, start - 1) if start > first else None,
        MessageGap(end + 1, last) if end < last else None,
        known.unanswered,
    )
