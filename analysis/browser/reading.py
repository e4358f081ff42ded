"""The content of a trajectory's page: the turns that it shows and what is beside them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from annotation.ratings.trajectory_ratings import RatedPlace, StudyRatings
from annotation.remarks.selectors import Note, PutLabel
from benchmarks.trajectories.timeline import ScoreSpread, Timeline, TurnBin, TurnLine, bins_of
from benchmarks.trajectories.turn_use import TurnUse
from benchmarks.trajectories.turns import TurnView, final_marks

# All turns are shown where there are no more than ALL, otherwise the last and the first FIRST, or
# in place of these one that is named, with so many BEFORE and AFTER it; the others come MORE at a
# time as they are reached, in both directions.
FIRST, MORE, ALL = 10, 20, 30
BEFORE, AFTER = 3, 8
# The line of turns is folded in groups of GROUP beyond this many.
UNFOLDED, GROUP = 60, 20
# Small drawings show each turn up to this many; then neighbours are put together.
POINTS = 40


# --- Which turns are shown ------------------------------------------------------------------------


@dataclass(frozen=True)
class TurnRange:
    """The turns from ``first`` to ``last``, and how they are asked for."""

    first: int
    last: int

    @property
    def count(self) -> int:
        return self.last - self.first + 1

    @property
    def parts(self) -> list["TurnRange"]:
        """The parts that can be asked for first: the beginning, and the end where that is
        another part.
        """
        begin = part_of(self.first).within(self)
        end = part_of(self.last).within(self)
        return [begin] if begin == end else [begin, end]

    @property
    def far(self) -> bool:
        """Return whether it has so many turns that its end can be asked for apart."""
        return len(self.parts) > 1

    def within(self, other: "TurnRange") -> "TurnRange":
        """Return what both have in common."""
        return TurnRange(max(self.first, other.first), min(self.last, other.last))

    def __contains__(self, index: int) -> bool:
        return self.first <= index <= self.last


def part_of(index: int) -> TurnRange:
    """Return the turns that come together with one: 1 to 10, 11 to 30, 31 to 50 and so on."""
    if index <= FIRST:
        return TurnRange(1, FIRST)
    first = FIRST + 1 + (index - FIRST - 1) // MORE * MORE
    return TurnRange(first, first + MORE - 1)


def around(index: int) -> TurnRange:
    """Return the turns that come at first with one that an address names."""
    return part_of(1) if index <= FIRST else TurnRange(index - BEFORE, index + AFTER)


def onwards(index: int) -> TurnRange:
    """Return the turns that a page goes on with from one, where no script brings more."""
    return TurnRange(index, index + MORE - 1)


def shown_at_first(indices: Sequence[int], asked: TurnRange | None) -> set[int]:
    """Return the turns that a page shows without being asked for more: the last, and the first
    ones.

    In place of the first ones those that are ``asked`` for, if there are any.
    """
    if len(indices) <= ALL:
        return set(indices)
    begin = {index for index in indices if asked is not None and index in asked}
    return (begin or {index for index in indices if index in part_of(1)}) | {indices[-1]}


@dataclass
class ShownTurn:
    """A turn with what was said about it and what it took.

    ``brief``: the line with its number tells enough, so that it is folded unless somebody put a
    label or note on it.
    """

    turn: TurnView
    use: TurnUse | None = None
    labels: Sequence[PutLabel] = ()
    notes: Sequence[Note] = ()
    brief: bool = False

    @property
    def folded(self) -> bool:
        return self.brief and not self.labels and not self.notes

    @property
    def index(self) -> int:
        return self.turn.row.index


@dataclass
class TurnBlock:
    """Turns that are shown, or a gap of turns that are not."""

    turns: list[ShownTurn] = field(default_factory=list)
    gap: TurnRange | None = None


def pieces_of(indices: Sequence[int], shown: Mapping[int, ShownTurn]) -> list[TurnBlock]:
    """Return all turns in order: those that are shown, and a gap for each run of others."""
    pieces: list[TurnBlock] = []
    for index in indices:
        row = shown.get(index)
        if row is not None:
            if not pieces or pieces[-1].gap is not None:
                pieces.append(TurnBlock())
            pieces[-1].turns.append(row)
        elif pieces and pieces[-1].gap is not None:
            pieces[-1].gap = TurnRange(pieces[-1].gap.first, index)
        else:
            pieces.append(TurnBlock(gap=TurnRange(index, index)))
    return pieces


@dataclass(frozen=True)
class LineGroup:
    """Turns in the line of turns; folded with their sums where there are many."""

    turn_range: TurnRange
    lines: Sequence[TurnLine] | None
    total: TurnBin | None = None


def line_groups(lines: Sequence[TurnLine], open_at: int) -> list[LineGroup]:
    """Return the line of turns: one group, or beyond ``UNFOLDED`` several, open the one with a
    turn.
    """
    if not lines:
        return []
    if len(lines) <= UNFOLDED:
        return [LineGroup(TurnRange(lines[0].index, lines[-1].index), lines)]
    groups = []
    for at in range(0, len(lines), GROUP):
        part = lines[at : at + GROUP]
        turn_range = TurnRange(part[0].index, part[-1].index)
        lines_shown = part if open_at in turn_range else None
        groups.append(LineGroup(turn_range, lines_shown, bins_of(part, 1)[0]))
    return groups


# --- Scores as small drawings ---------------------------------------------------------------------


@dataclass(frozen=True)
class PeopleSpread:
    """The spread of people's scores: mean, lowest, highest, and their number."""

    mean: float
    low: int
    high: int
    count: int

    @property
    def words(self) -> str:
        if self.count == 1:
            return f"one person {self.low}"
        return f"{self.count} answers of people {self.mean:.2f}, from {self.low} to {self.high}"


@dataclass(frozen=True)
class DrawnTurn:
    """One place of a drawing: scores of judges and people for a turn, or for neighbours."""

    bin: TurnBin
    judges: ScoreSpread | None
    people: PeopleSpread | None

    @property
    def words(self) -> str:
        """The turn in words, such as ``Turn 3: judges 3.67, from 3 to 4; one person 4``."""
        parts = []
        if self.judges is not None and self.judges.mean is not None:
            low, high = self.judges.low, self.judges.high
            parts.append(f"judges {self.judges.mean:.2f}, from {low:g} to {high:g}")
        else:
            parts.append("no score of judges")
        if self.judges is not None and self.judges.missing:
            parts.append(f"{self.judges.missing} without a score")
        if self.people is not None:
            parts.append(self.people.words)
        return f"{self.bin.words}: {'; '.join(parts)}"


@dataclass(frozen=True)
class Panel:
    """A dimension turn by turn."""

    key: str
    title: str
    points: Sequence[DrawnTurn]

    @property
    def words(self) -> str:
        """The drawing in one sentence."""
        known = [p.judges.mean for p in self.points if p.judges and p.judges.mean is not None]
        if not known:
            scores = "no scores of judges"
        elif len(known) == 1:
            scores = f"judges {known[0]:.2f}"
        else:
            scores = f"judges from {known[0]:.2f} to {known[-1]:.2f}"
        people = [p for p in self.points if p.people]
        return f"{self.title}: {scores}" + (
            f"; people at {len(people)} of {len(self.points)} places" if people else ""
        )


@dataclass(frozen=True)
class Multiples:
    """All panels over the same turns; ``size`` turns make one point."""

    bins: Sequence[TurnBin]
    panels: Sequence[Panel]
    size: int

    @property
    def marked(self) -> bool:
        return any(any(b.marks.values()) for b in self.bins)

    @property
    def people(self) -> bool:
        return any(point.people for panel in self.panels for point in panel.points)


def multiples_of(timeline: Timeline, ratings: Sequence[StudyRatings]) -> Multiples | None:
    """Return the drawings of a trajectory's scores; none with a single turn or without any
    score.
    """
    if len(timeline.lines) < 2 or not timeline.dimensions:
        return None
    bins = bins_of(timeline.lines, POINTS)
    given = people_by_turn(timeline, ratings)
    panels = []
    for key, title in timeline.dimensions:
        points = []
        for one in bins:
            turns = range(one.first, one.last + 1) if given else ()
            values = [value for turn in turns for value in given.get((key, turn), ())]
            points.append(DrawnTurn(one, one.spreads.get(key), people_of(values)))
        panels.append(Panel(key, title, points))
    return Multiples(bins, panels, bins[0].last - bins[0].first + 1)


def people_by_turn(
    timeline: Timeline, ratings: Sequence[StudyRatings]
) -> dict[tuple[str, int], list[int]]:
    """Return the people's scores by dimension and turn; what was said of the last plan is at the
    last turn.
    """
    scores: dict[tuple[str, int], list[int]] = defaultdict(list)
    for place in _scored(ratings):
        turn = place.turn
        if turn is None and timeline.lines:
            turn = timeline.lines[-1].index
        if turn is not None:
            scores[place.question.dimension, turn] += place.values
    return scores


def people_of(values: Sequence[int]) -> PeopleSpread | None:
    """Return these scores together; none without any."""
    return PeopleSpread(fmean(values), min(values), max(values), len(values)) if values else None


def _scored(ratings: Sequence[StudyRatings]) -> list[RatedPlace]:
    return [p for study in ratings for p in study.places if p.question.dimension and p.values]


def header_marks(last: TurnView | None, ratings: Sequence[StudyRatings]) -> list[dict[str, Any]]:
    """Return the small marks of the last plan: judges by dimension with people's mean as a dot.

    Questions that are answered with a score by people alone (such as those on the feedback) follow
    with their dot; scores of single turns before the last are left to the drawings.
    """
    marks = final_marks(last) if last is not None else []
    final = last.row.index if last is not None else None
    given: dict[str, list[int]] = defaultdict(list)
    own: dict[str, tuple[str, list[int]]] = {}
    for study in ratings:
        for place in study.places:
            if not place.values or place.turn not in (None, final):
                continue
            if place.question.dimension:
                given[place.question.dimension] += place.values
            else:
                own.setdefault(place.question.key, (place.question.title, []))[1].extend(
                    place.values
                )
    for mark in marks:
        people = people_of(given.pop(mark["key"], []))
        if people is not None:
            mark["person"] = people.mean
            mark["title"] = f"{mark['title']}. People: {people.words}"
    rest = [(key, key.replace("_", " ").capitalize(), given[key]) for key in given]
    rest += [(key, title, values) for key, (title, values) in own.items()]
    for key, title, values in rest:
        people = people_of(values)
        if people is not None:
            marks.append(
                {
                    "key": key, "name": title, "mean": None, "mean_text": f"{people.mean:.2f}",
                    "lo": None, "hi": None, "person": people.mean,
                    "title": f"Asked of people alone: {people.words}",
                }
            )  # fmt: skip
    return marks
