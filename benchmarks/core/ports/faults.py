"""The faults port: facts on what goes wrong in trajectories, for failure profiles of agents."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from benchmarks.core.types import Json

# What every system with several turns has: a turn that says what an earlier one said.
UNCHANGED, RETURNED = "unchanged", "returned"


@dataclass(frozen=True)
class Fault:
    """One kind of thing that goes wrong.

    ``does`` says what trajectories with it do: "break a world constraint", as in "18 of them …".
    """

    title: str
    does: str
    help: str = ""


@dataclass(frozen=True)
class Case:
    """A kind of failure of which a paper prints examples, by fault and, if it matters, ending.

    ``source`` is where they stand: "Figure 11".
    """

    source: str
    title: str
    fault: str
    ending: str = ""


def _none(_: Json) -> Iterable[str]:
    return ()


@dataclass(frozen=True)
class Faults:
    """The faults that a system's turns and outcomes show; every part is optional.

    ``kinds`` are all faults by key, in the order of pages. ``violations`` gives the fault of a
    violated constraint by its kind, ``violated_again`` that of one which had been disclosed.
    ``in_turn`` returns the faults of a turn from those parts of its payload that ``turn_parts``
    name (None where a turn lacks one), ``at_end`` those of a whole trajectory from
    ``outcome_parts`` of its outcome's payload. ``answer`` names what the agent writes in a turn.
    ``cases`` are the failures that the system's paper shows.
    """

    kinds: Mapping[str, Fault] = field(default_factory=dict)
    violations: Mapping[str, str] = field(default_factory=dict)
    violated_again: str = ""
    turn_parts: tuple[str, ...] = ()
    in_turn: Callable[[Json], Iterable[str]] = _none
    outcome_parts: tuple[str, ...] = ()
    at_end: Callable[[Json], Iterable[str]] = _none
    answer: str = "plan"
    cases: tuple[Case, ...] = ()

    @property
    def repeats(self) -> dict[str, Fault]:
        """Return the faults of turns that repeat an earlier one, which need no payload."""
        return {
            UNCHANGED: Fault(
                f"Same {self.answer} twice in a row",
                f"submit the same {self.answer} twice in a row",
                "The text of a turn equals that of the turn before, sign by sign.",
            ),
            RETURNED: Fault(
                f"Back to an earlier {self.answer}",
                f"go back to an earlier {self.answer}",
                "The text of a turn equals that of an earlier turn, with another one in between.",
            ),
        }

    @property
    def all(self) -> dict[str, Fault]:
        """Return all faults by key, those of repeated turns first."""
        return self.repeats | dict(self.kinds)
