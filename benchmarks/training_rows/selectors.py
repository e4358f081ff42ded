"""Reading proposed rows of training data with what people decided about them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchmarks.core.ports.training_rows import ProposedRow, Reviews, RowKind, RowReview
from benchmarks.core.ports.training_rows import TrainingRows as Port
from benchmarks.core.registry import find_system
from benchmarks.core.types import Json
from benchmarks.models import RowDecision, Run, Trajectory, Turn

Verdict = RowDecision.Verdict
# A row as (trajectory, index of the turn, choice).
Key = tuple[int, int, str]
OPEN = "open"
STATES = (
    (OPEN, "To review"),
    (Verdict.ACCEPTED.value, "Accepted"),
    (Verdict.EDITED.value, "Edited"),
    (Verdict.VETOED.value, "Vetoed"),
)


@dataclass(frozen=True)
class RowPlace:
    """A proposed row of a run, or a step that proposes none."""

    trajectory: int
    index: int
    kind: str
    choice: str
    state: str

    @property
    def key(self) -> Key:
        return (self.trajectory, self.index, self.choice)

    @property
    def name(self) -> str:
        """Its place among the rows of a run, for addresses: ``TRAJECTORY-INDEX``."""
        return f"{self.trajectory}-{self.index}"


class RowHistory(NamedTuple):
    """The decisions about a row, oldest first; ``current`` is in force."""

    decisions: Sequence[RowDecision] = ()
    current: RowDecision | None = None

    @property
    def last(self) -> int:
        """The id of the newest decision, 0 for none: by it a stale page is noticed."""
        return self.decisions[-1].pk if self.decisions else 0


class RowCard(NamedTuple):
    """A row as the page shows it."""

    place: RowPlace
    trajectory: Trajectory
    row: ProposedRow
    kind: RowKind
    history: RowHistory
    before: str

    @property
    def chosen(self) -> str:
        """The text that would be exported: the proposed one, or what it was edited to."""
        current = self.history.current
        proposed = self.row.chosen.text if self.row.chosen else ""
        return current.text if current and current.text else proposed


@dataclass(frozen=True)
class RowCounts:
    """The number of rows that the settings propose, by state, and of steps of each kind."""

    states: Mapping[str, int] = field(default_factory=dict)
    kinds: Mapping[str, int] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return sum(self.states.values())

    @property
    def reviewed(self) -> int:
        return self.rows - self.states.get(OPEN, 0)


def port_of(run: Run) -> Port | None:
    """Return how the system of a run proposes rows; None where it proposes none."""
    return find_system(run.dataset.system).training_rows


def row_places(run: Run, port: Port, settings: Json) -> list[RowPlace]:
    """Return every step of the run's finished trajectories, in their order."""
    histories = histories_of(RowDecision.objects.filter(trajectory__run=run))
    done = run.trajectories.filter(status=Trajectory.Status.DONE).order_by("pk")
    return [
        RowPlace(
            pk,
            choice_row.index,
            choice_row.kind,
            choice_row.choice,
            _state(histories, pk, choice_row),
        )
        for pk, payload in done.values_list("pk", "payload").iterator()
        for choice_row in port.decide(payload, settings)
    ]


def _state(histories: Mapping[Key, RowHistory], trajectory: int, choice_row: Any) -> str:
    if not choice_row.choice:
        return ""
    history = histories.get((trajectory, choice_row.index, choice_row.choice))
    return history.current.verdict if history and history.current else OPEN


def count_places(places: Iterable[RowPlace]) -> RowCounts:
    """Return the numbers of rows by state, and of steps by kind."""
    states: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for place in places:
        kinds[place.kind] += 1
        states[place.state] += bool(place.choice)
    return RowCounts({name: states[name] for name, _ in STATES}, kinds)


def histories_of(rows: Iterable[RowDecision]) -> dict[Key, RowHistory]:
    """Return the history of each row that somebody decided about."""
    decisions: dict[Key, list[RowDecision]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.pk):
        decisions[row.trajectory_id, row.index, row.choice].append(row)
    return {key: RowHistory(each, _in_force(each)) for key, each in decisions.items()}


def _in_force(decisions: Sequence[RowDecision]) -> RowDecision | None:
    undone = {row.undoes_id for row in decisions}
    left = [row for row in decisions if row.undoes_id is None and row.pk not in undone]
    return left[-1] if left else None


def row_cards(run: Run, port: Port, places: Sequence[RowPlace], settings: Json) -> list[RowCard]:
    """Return what the page shows of these steps, in their order, in four queries."""
    ids = {place.trajectory for place in places}
    trajectories = Trajectory.objects.select_related("task", "run__dataset").in_bulk(ids)
    decisions = RowDecision.objects.filter(trajectory__in=ids).select_related("person")
    histories = histories_of(decisions)
    wanted = {(p.trajectory, index) for p in places for index in (p.index, p.index - 1)}
    turns = {
        (turn.trajectory_id, turn.index): turn
        for turn in Turn.objects.filter(
            trajectory__in=ids, index__in={index for _, index in wanted}
        )
    }
    cards = []
    for place in places:
        earlier = turns.get((place.trajectory, place.index - 1))
        trajectory = trajectories[place.trajectory]
        row = port.propose(turns[place.trajectory, place.index].payload, settings)
        cards.append(
            RowCard(
                place,
                trajectory,
                row,
                port.kinds[row.kind],
                histories.get(place.key, RowHistory()),
                earlier.feedback if earlier else "",
            )
        )
    return cards


def run_reviews(runs: Iterable[Run]) -> Reviews:
    """Return the decisions in force about rows of these runs, for an export."""
    rows = RowDecision.objects.filter(trajectory__run__in=runs).select_related("person")
    return {
        (str(trajectory), index, choice): RowReview(
            current.verdict,  # type: ignore[arg-type]
            current.proposed,
            current.text,
            current.person.get_username() if current.person else "",
            current.created_at.isoformat(),
        )
        for (trajectory, index, choice), history in histories_of(rows).items()
        if (current := history.current) is not None
    }
