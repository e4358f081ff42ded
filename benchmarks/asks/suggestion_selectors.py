"""Read the suggestions that scripts or models made to people.

Players may be blinded, so they see what kind of answerer suggests and never its name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.core.ports.labels import plain
from benchmarks.core.registry import find_system, system_of
from benchmarks.endpoints.selectors import agent_title
from benchmarks.models import Endpoint, Exchange, OpenAsk, Suggestion, Trajectory
from benchmarks.models.role_assignments import all_assignments
from benchmarks.roles.selectors import LABELS, policy_title
from benchmarks.trajectories.exchanges import turn_steps

_KINDS = {"scripted": "A script", "endpoint": "A language model"}
_NOT_YET = "none has come yet"
S = Exchange.State


@dataclass(frozen=True)
class SuggestedView:
    """A suggestion beside the person's answer; ``given`` is None while there is none."""

    row: Suggestion
    turn: int
    role: str
    by: str
    label: str
    given: Any

    @property
    def value(self) -> Any:
        """Return the parsed suggestion, or None if there is none."""
        return self.row.value if self.row.state == S.ANSWERED else None

    @property
    def why_not(self) -> str:
        return "" if self.row.state == S.ANSWERED else self.row.reason or _NOT_YET


def suggestion_on(ask: OpenAsk) -> Mapping[str, Any] | None:
    """Return the suggestion to show beside an ask, as reply forms take it."""
    rows = Suggestion.objects.filter(trajectory=ask.trajectory_id, step=ask.step, slot=ask.slot)
    rows = rows.filter(ask_digest__in=["", ask.ask_digest])  # not of an ask that was withdrawn
    row = rows.select_related("answerer").order_by("attempt").last()
    if row is None:
        return None
    made, waits = row.state == S.ANSWERED, row.state == S.SENT
    # The reason is left out, because it may name the endpoint.
    why_not = "" if made or waits else "nothing came that could be read"
    by = _kind_of(ask, row)
    return {"by": by, "value": row.value if made else None, "why_not": why_not, "waits": waits}


def _kind_of(ask: OpenAsk, row: Suggestion) -> str:
    """Return the kind of the suggesting answerer in words; a fake endpoint is no model."""
    name = row.answerer.name
    assignments = all_assignments(ask.trajectory.run.roles)
    assignment = next((each for each in assignments if each.get("endpoint") == name), {})
    if assignment.get("label") == "simulated":
        return "A fake endpoint"
    if assignment.get("local"):
        return "An endpoint on this machine"
    return _KINDS.get(row.answerer.kind, "Something else")


def suggestions_of(trajectory: Trajectory) -> list[SuggestedView]:
    """Return all suggestions of a trajectory in order, without a query if its run has none."""
    if not any("suggests" in assignment for assignment in all_assignments(trajectory.run.roles)):
        return []
    attempts = Suggestion.objects.filter(trajectory=trajectory).select_related("answerer")
    newest = {(row.step, row.slot): row for row in attempts.order_by("step", "slot", "attempt")}
    suggestions = list(newest.values())
    people = Exchange.objects.filter(
        trajectory=trajectory,
        state=S.ANSWERED,
        answerer__kind="human",
        role__in={row.role for row in suggestions},
    )
    given = {
        (step, slot): value for step, slot, value in people.values_list("step", "slot", "value")
    }
    starts = {steps.turn: steps.first for steps in turn_steps(trajectory)}
    system = system_of(trajectory.run.dataset.system)
    titles = {role.name: role.title for role in system.roles} if system else {}
    asked = {row.answerer.name for row in suggestions if row.answerer.kind == "endpoint"}
    endpoints = Endpoint.objects.filter(name__in=asked) if asked else ()
    models = {row.name: agent_title(row) for row in endpoints}
    return [
        SuggestedView(
            row,
            max((turn for turn, first in starts.items() if first <= row.step), default=1),
            titles.get(row.role, plain(row.role)),
            models.get(row.answerer.name) or policy_title(system, row.answerer.name),
            LABELS.get(row.answerer.kind, row.answerer.kind),
            given.get((row.step, row.slot)),
        )
        for row in suggestions
    ]


@dataclass(frozen=True)
class VerdictPair:
    """A suggested verdict and a person's: the texts of the constraints that both or one marked."""

    turn: int
    role: str
    by: str
    label: str
    both: Sequence[str] = ()
    person: Sequence[str] = ()
    suggested: Sequence[str] = ()
    why_not: str = ""

    @property
    def same(self) -> bool:
        return not (self.why_not or self.person or self.suggested)


@dataclass(frozen=True)
class SuggestedVerdicts:
    """Suggested verdicts of a trajectory. Counts are of constraints in verdicts that both gave."""

    rows: Sequence[VerdictPair]

    @property
    def compared(self) -> list[VerdictPair]:
        return [row for row in self.rows if not row.why_not]

    @property
    def same(self) -> int:
        return sum(row.same for row in self.compared)

    @property
    def both(self) -> int:
        return sum(len(row.both) for row in self.compared)

    @property
    def marked(self) -> int:
        """Constraints that the person marked."""
        return self.both + sum(len(row.person) for row in self.compared)

    @property
    def suggested(self) -> int:
        """Constraints that were suggested."""
        return self.both + sum(len(row.suggested) for row in self.compared)


def suggested_verdicts_of(trajectory: Trajectory) -> SuggestedVerdicts:
    """Return what scripts or models would have marked as violated where a person judged."""
    given = suggestions_of(trajectory)
    if not given:
        return SuggestedVerdicts(())
    roles = find_system(trajectory.run.dataset.system).roles
    deciding = {role.name for role in roles if role.decides}
    verdicts = [row for row in given if row.row.role in deciding]
    profile = trajectory.profile
    rows = profile.constraints.values_list("key", "text") if profile is not None else ()
    texts = dict(rows)
    return SuggestedVerdicts([_pair_verdicts(row, texts) for row in verdicts])


def _pair_verdicts(row: SuggestedView, texts: Mapping[str, str]) -> VerdictPair:
    about = (row.turn, row.role, row.by, row.label)
    if row.value is None or row.given is None:
        why = row.why_not or "nobody has judged this by hand"
        return VerdictPair(*about, why_not=why)
    suggested, given = row.value["violated"], row.given["violated"]
    return VerdictPair(
        *about,
        [texts.get(key, key) for key in given if key in suggested],
        [texts.get(key, key) for key in given if key not in suggested],
        [texts.get(key, key) for key in suggested if key not in given],
    )
