"""Check that judges can read what agents write, and that recorded agents have recordings.

A scripted judge knows the plans of a task's own pool. An endpoint or a person writes other plans:
such a judge could only guess about them, and does not score them.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from django.db.models import Min

from benchmarks.core.errors import CoreError
from benchmarks.core.registry import get_system
from benchmarks.core.system import Role, ScriptedPolicy, System, read_settings
from benchmarks.core.types import Constraint
from benchmarks.mappers import core_task
from benchmarks.models import Agent, Dataset
from benchmarks.models import Constraint as ConstraintRow
from benchmarks.models.role_assignments import RoleAssignment, Roles
from benchmarks.roles.services import assign_roles

# The kinds of answerers that write plans of their own.
AUTHORS = ("endpoint", "human")
FREE_PLANS = "Scripts cannot read free plans"
# Constraints without an "about" are decided by their text; so many of them are looked at.
MOST_TEXTS = 2000


class JudgeMisfit(NamedTuple):
    """A judge that does not fit the agents of a run; ``why`` is a sentence."""

    role: Role
    policy: ScriptedPolicy
    why: str


def misfit_words(misfits: Sequence[JudgeMisfit]) -> list[str]:
    """Describe misfits; judges with the same problem share a sentence."""
    unread = [misfit for misfit in misfits if misfit.policy.pool_only]
    parts = []
    if guess := [misfit.policy.title for misfit in unread if misfit.role.decides]:
        verb = "guesses" if len(guess) == 1 else "guess"
        parts.append(f"{_listed(guess)} {verb} whether they are valid")
    if unscored := [misfit.policy.title for misfit in unread if not misfit.role.decides]:
        verb = "scores" if len(unscored) == 1 else "score"
        parts.append(f"{_listed(unscored)} {verb} none of them")
    sentences = [f"{FREE_PLANS}: {'; '.join(parts)}."] if parts else []
    return [*sentences, *(misfit.why for misfit in misfits if not misfit.policy.pool_only)]


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def writes_own_plans(agent: Agent) -> bool:
    """Return whether an agent writes plans that are in no task's pool."""
    return agent.kind in (Agent.Kind.ENDPOINT, Agent.Kind.HUMAN)


def unread_judges(system: System, roles: Roles, *, deciding: bool = False) -> list[JudgeMisfit]:
    """Return the judges that cannot read what the agent of these roles writes.

    With ``deciding``, only those that decide whether a plan is valid.
    """
    if not any(assignment["kind"] in AUTHORS for assignment in roles.get("agent", ())):
        return []
    misfits: dict[str, JudgeMisfit] = {}
    for role in system.roles:
        if not role.judges or deciding and not role.decides:
            continue
        for policy in _policies(system, roles.get(role.name, ())):
            if policy.pool_only:
                does = "guesses whether they are valid" if role.decides else "scores none of them"
                why = f"{FREE_PLANS}: {policy.title} {does}."
                misfits.setdefault(policy.name, JudgeMisfit(role, policy, why))
    return list(misfits.values())


def undecided_judges(
    system: System, dataset: Dataset, levels: Collection[str], roles: Roles
) -> list[JudgeMisfit]:
    """Return the judges without words for some constraint of these levels, which decline."""
    misfits = []
    for role in system.roles:
        for policy in {p.name: p for p in _policies(system, roles.get(role.name, ()))}.values():
            if policy.can_decide is None:
                continue
            kind = role.name.removesuffix("_judge")
            rows = _constraints(dataset, levels, kind)
            left = sum(not policy.can_decide(row) for row in rows)
            if left:
                why = (
                    f"{policy.title} has no words for {left:,} of {len(rows):,} conditions here: "
                    "trajectories with one of them end undecided."
                )
                misfits.append(JudgeMisfit(role, policy, why))
    return misfits


def judge_misfits(
    system: System, dataset: Dataset, levels: Collection[str], roles: Roles
) -> list[JudgeMisfit]:
    """Return all judges that do not fit an agent with plans of its own."""
    unread = unread_judges(system, roles)
    if not any(assignment["kind"] in AUTHORS for assignment in roles.get("agent", ())):
        return []
    return [*unread, *undecided_judges(system, dataset, levels, roles)]


def partial_judges(system: System, roles: Roles) -> list[JudgeMisfit]:
    """Return the judges that leave some dimensions unscored, whatever the plan."""
    titles = {dimension.key: dimension.title.lower() for dimension in system.dimensions}
    misfits: dict[str, JudgeMisfit] = {}
    for role in system.roles:
        for policy in _policies(system, roles.get(role.name, ())):
            if policy.unscored:
                names = ", ".join(titles.get(key, key) for key in policy.unscored)
                why = f"{policy.title} gives no score for {names}."
                misfits.setdefault(policy.name, JudgeMisfit(role, policy, why))
    return list(misfits.values())


def fitting_names(
    system: System,
    dataset: Dataset,
    levels: Collection[str],
    agents: Sequence[Agent],
    usual: Mapping[str, Sequence[str]],
    endpoints: Sequence[str],
) -> dict[str, list[str]]:
    """Return who can judge in each role what these agents write, by name; the usual ones where they
    can.

    Lexicon judges where they have words for all conditions, else an endpoint, if possible one that
    is no agent of the run.
    """
    if not any(map(writes_own_plans, agents)):
        return {role: list(names) for role, names in usual.items()}
    own = {agent.endpoint.name for agent in agents if agent.endpoint is not None}
    others = [name for name in endpoints if name not in own] or [n for n in endpoints if n in own]
    asked = [f"endpoint:{name}" for name in others[:1]]
    chosen: dict[str, list[str]] = {}
    for role in system.roles:
        names = list(usual.get(role.name, ()))
        pool = [name for name in names if _is_pool_only(system, name)]
        if not role.judges or not pool:
            chosen[role.name] = names
            continue
        lexicon = [
            policy.name
            for policy in system.scripted.values()
            if policy.role == role.name and policy.label == "lexicon" and not policy.pool_only
        ]
        if role.decides:
            able = [name for name in lexicon if _decides_all(system, dataset, levels, role, name)]
            chosen[role.name] = able[:1] or asked or names
        else:
            chosen[role.name] = asked or lexicon or names
    return chosen


def _is_pool_only(system: System, name: str) -> bool:
    policy = system.scripted.get(name)
    return policy is not None and policy.pool_only


def _decides_all(
    system: System, dataset: Dataset, levels: Collection[str], role: Role, name: str
) -> bool:
    assignment = {"kind": "scripted", "policy": name}
    return not undecided_judges(system, dataset, levels, {role.name: [assignment]})


def _policies(system: System, assignments: Sequence[RoleAssignment]) -> list[ScriptedPolicy]:
    names = [
        assignment.get("policy", "")
        for assignment in assignments
        if assignment["kind"] == "scripted"
    ]
    return [system.scripted[name] for name in names if name in system.scripted]


def _constraints(dataset: Dataset, levels: Collection[str], kind: str) -> list[Constraint]:
    """Return the different constraints of a kind, by what they are about; by text where they name
    none. They come in the order in which they were stored.
    """
    rows = ConstraintRow.objects.filter(profile__task__dataset=dataset, kind=kind).order_by()
    if levels:
        rows = rows.filter(profile__level__in=list(levels))
    named = rows.exclude(about="").values("about").annotate(first=Min("pk")).order_by("first")
    unnamed = rows.filter(about="").values("text").annotate(first=Min("pk")).order_by("first")
    abouts = named.values_list("about", flat=True)
    texts = unnamed.values_list("text", flat=True)[:MOST_TEXTS]
    return [
        *(Constraint("", kind, "", about) for about in abouts),
        *(Constraint("", kind, text) for text in texts),
    ]


# --- Recorded agents ------------------------------------------------------------------------------


def unrecorded(system: System, dataset: Dataset, agents: Sequence[Agent]) -> list[Agent]:
    """Return the recorded agents without a recording in the dataset."""
    recorded = [agent for agent in agents if agent.kind == Agent.Kind.RECORDED]
    if not recorded:
        return []
    there = _recorded_policies(system.key, dataset.pk, dataset.checksum, dataset.tasks.count())
    return [agent for agent in recorded if agent.policy not in there]


@lru_cache(maxsize=200)
def _recorded_policies(system: str, dataset: int, checksum: str, tasks: int) -> frozenset[str]:
    """Return the recorded policies with an answer to some task; a dataset keeps those that it
    has.
    """
    left = {
        name: policy
        for name, policy in get_system(system).scripted.items()
        if policy.label == "recorded"
    }
    recorded = {name for name, policy in left.items() if policy.has_recordings is None}
    rows = Dataset.objects.get(pk=dataset).tasks.order_by("pk").iterator(chunk_size=50)
    for row in rows:
        task = core_task(row, None)
        recorded |= {
            name
            for name, policy in left.items()
            if name not in recorded and policy.has_recordings and policy.has_recordings(task)
        }
        if len(recorded) == len(left):
            break
    return frozenset(recorded)


class JudgesUnfit(CoreError):
    """Raised for judges that do not fit; ``misfits`` say which and why."""

    def __init__(self, misfits: Sequence[JudgeMisfit], remedy: str) -> None:
        self.misfits = tuple(misfits)
        message = " ".join(misfit_words(misfits))
        super().__init__(f"{message} {consequence(misfits)} {remedy}")


def consequence(misfits: Sequence[JudgeMisfit]) -> str:
    """Say in a sentence what such judges lead to."""
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
) -> list[JudgeMisfit]:
    """Return the judges of new runs that cannot read what some agent writes, each once."""
    system = get_system(dataset.system)
    complete = read_settings(system.settings, settings or {})
    misfits: dict[str, JudgeMisfit] = {}
    for agent in agents:
        assignments = assign_roles(system, dataset, agent, complete, roles or {})
        for misfit in judge_misfits(system, dataset, levels, assignments):
            misfits.setdefault(misfit.policy.name, misfit)
    return list(misfits.values())


def refuse_unfit_judges(*, remedy: str, **runs: Any) -> None:
    """Raise ``JudgesUnfit`` where ``unfit_judges`` finds any; ``remedy`` says what to do."""
    if misfits := unfit_judges(**runs):
        raise JudgesUnfit(misfits, remedy)


class NoRecordings(CoreError):
    """Raised for a recorded agent without answers in the dataset."""


def refuse_unrecorded(dataset: Dataset, agents: Sequence[Agent]) -> None:
    """Raise ``NoRecordings`` for recorded agents whose answers the dataset does not hold."""
    if missing := unrecorded(get_system(dataset.system), dataset, agents):
        names = ", ".join(agent.title for agent in missing)
        raise NoRecordings(
            f"{dataset} holds no recorded answers of {names}, so there would be nothing to "
            "propose. Choose a dataset that was imported with these answers, or another agent."
        )
