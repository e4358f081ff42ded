"""The seconds and tokens that turns took, for the agent and for all other roles."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, Sum

from benchmarks.calls.whole_log import whole_log
from benchmarks.models import Run, Trajectory, Turn
from benchmarks.trajectories.exchanges import TurnSteps, agent_role, turn_steps
from benchmarks.trajectories.messages import stored_rows


@dataclass(frozen=True)
class SideUse:
    """The use of the agent or the others in a turn; None if a call or the file does not say."""

    calls: int
    seconds: float | None
    tokens_in: int | None
    tokens_out: int | None

    @property
    def stated(self) -> bool:
        return any(v is not None for v in (self.seconds, self.tokens_in, self.tokens_out))


@dataclass(frozen=True)
class TurnUse:
    """The use of a turn. ``others`` are judges and simulators; None if none was asked."""

    agent: SideUse | None
    others: SideUse | None


def turn_use(
    trajectory: Trajectory, turns: Sequence[Turn], steps: Sequence[TurnSteps] | None = None
) -> dict[int, TurnUse]:
    """Return the use of turns by index, in two queries; for imported turns, what they state."""
    if trajectory.run.kind == Run.Kind.IMPORTED:
        return {turn.index: TurnUse(_stated(turn), None) for turn in turns}
    shown = {turn.index for turn in turns}
    parts = [part for part in (steps or turn_steps(trajectory)) if part.turn in shown]
    if not parts:
        return {}
    rows = whole_log(trajectory).filter(_within(parts)).order_by()
    agent = agent_role(trajectory)
    made: dict[int, dict[bool, list[SideUse]]] = {
        part.turn: {True: [], False: []} for part in parts
    }
    for row in rows.values("step", "role").annotate(
        n=Count("pk"),
        took=Sum("latency"), read=Sum("tokens_in"), written=Sum("tokens_out"),
        took_n=Count("latency"), read_n=Count("tokens_in"), written_n=Count("tokens_out"),
    ):  # fmt: skip
        turn = next(p.turn for p in reversed(parts) if p.first <= row["step"])
        made[turn][row["role"] == agent].append(
            SideUse(
                row["n"],
                row["took"] if row["took_n"] == row["n"] else None,
                row["read"] if row["read_n"] == row["n"] else None,
                row["written"] if row["written_n"] == row["n"] else None,
            )
        )
    return {
        turn: TurnUse(_together(sides[True]), _together(sides[False]))
        for turn, sides in made.items()
    }


def _within(parts: Sequence[TurnSteps]) -> Q:
    """Match the steps of these turns, with neighbouring turns as one range."""
    ranges: list[tuple[int, int | None]] = []
    for part in parts:
        if ranges and ranges[-1][1] == part.first:
            ranges[-1] = (ranges[-1][0], part.end)
        else:
            ranges.append((part.first, part.end))
    wanted = Q()
    for first, end in ranges:
        wanted |= Q(step__gte=first) if end is None else Q(step__gte=first, step__lt=end)
    return wanted


def _together(uses: Sequence[SideUse]) -> SideUse | None:
    if not uses:
        return None
    return SideUse(
        sum(use.calls for use in uses),
        _sum([use.seconds for use in uses]),
        _whole([use.tokens_in for use in uses]),
        _whole([use.tokens_out for use in uses]),
    )


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _whole(values: Sequence[int | None]) -> int | None:
    total = _sum(values)
    return None if total is None else int(total)


def _stated(turn: Turn) -> SideUse | None:
    rows = [row for row in stored_rows(turn.payload) if row.get("speaker") == "assistant"]
    if not rows:
        return None
    return SideUse(
        len(rows), None,
        _whole([row.get("tokens_in") for row in rows]),
        _whole([row.get("tokens_out") for row in rows]),
    )  # fmt: skip
