"""Before runs start: can their judges read what their agents write, and are recordings there?"""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.core.errors import CoreError
from benchmarks.core.registry import get_system
from benchmarks.core.system import read_settings
from benchmarks.models import Agent, Dataset
from benchmarks.roles.judge_fit import Misfit, judge_misfits, misfit_words, unrecorded
from benchmarks.roles.services import assign_roles


class JudgesUnfit(CoreError):
    """Judges that cannot do their part; ``misfits`` say which and why."""

    def __init__(self, misfits: Sequence[Misfit], remedy: str) -> None:
        self.misfits = tuple(misfits)
        told = " ".join(misfit_words(misfits))
        super().__init__(f"{told} {consequence(misfits)} {remedy}")


def consequence(misfits: Sequence[Misfit]) -> str:
    """What comes of such judges, in a sentence."""
    if any(misfit.role.decides for misfit in misfits):
        return "Validity would be a guess or undefined, and so would every metric that rests on it."
    return "Metrics that rest on their scores would be undefined for every trajectory."


def unfit_judges(
    *,
    dataset: Dataset,
    agents: Sequence[Agent],
    levels: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    roles: Mapping[str, Sequence[str]] | None = None,
) -> list[Misfit]:
    """The judges of runs to be that cannot read what some agent writes, each once."""
    system = get_system(dataset.system)
    complete = read_settings(system.settings, settings or {})
    found: dict[str, Misfit] = {}
    for agent in agents:
        fillers = assign_roles(system, dataset, agent, complete, roles or {})
        for misfit in judge_misfits(system, dataset, levels, fillers):
            found.setdefault(misfit.policy.name, misfit)
    return list(found.values())


def refuse_unfit_judges(*, remedy: str, **runs: Any) -> None:
    """Raise ``JudgesUnfit`` where ``unfit_judges`` finds any; ``remedy`` says what to do."""
    if misfits := unfit_judges(**runs):
        raise JudgesUnfit(misfits, remedy)


class NoRecordings(CoreError):
    """A recorded agent was chosen for a dataset that holds none of its answers."""


def refuse_unrecorded(dataset: Dataset, agents: Sequence[Agent]) -> None:
    """Raise ``NoRecordings`` for recorded agents whose answers the dataset does not hold."""
    if missing := unrecorded(get_system(dataset.system), dataset, agents):
        names = ", ".join(agent.title for agent in missing)
        raise NoRecordings(
            f"{dataset} holds no recorded answers of {names}, so there would be nothing to "
            "propose. Choose a dataset that was imported with these answers, or another agent."
        )
