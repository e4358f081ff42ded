"""The value of a run under a factor that a page varies, and what must be equal otherwise."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.core.conditions import STANDARD, condition_title, setting_factors, value_title
from benchmarks.core.digests import digest_text
from benchmarks.core.ports.comparisons import Factor, filled
from benchmarks.core.registry import SYSTEMS, find_system, get_system
from benchmarks.core.system import System
from benchmarks.models import Run


def value_of(factor: Factor, run: Run) -> Any:
    """Return the value of the factor; None where the run has none, such as most scripts'
    temperature.
    """
    if factor.kind == "level":
        return run.level or None
    if factor.kind == "people":
        return filled(role for role in factor.roles if _by_people(run, role))
    if factor.kind == "setting":
        return run.settings.get(factor.name, _default(run.dataset.system, factor.name))
    value = _parameters(run).get(factor.name)
    return float(value) if isinstance(value, int | float) else None


def _parameters(run: Run) -> Mapping[str, Any]:
    """Return what the run's agent is sent, or where it is a script works with."""
    parameters: Mapping[str, Any]
    if run.agent.endpoint is not None:
        parameters = run.agent.endpoint.parameters
    else:
        assignments = run.roles.get("agent") or [{}]
        parameters = assignments[0].get("parameters") or {}
    return parameters


def _by_people(run: Run, role: str) -> bool:
    return any(assignment.get("kind") == "human" for assignment in run.roles.get(role, ()))


def _default(system: str, name: str) -> Any:
    settings = get_system(system).settings if system in SYSTEMS else ()
    return next((setting.default for setting in settings if setting.name == name), None)


def rest_of(factor: Factor, run: Run) -> str:
    """Return the run's condition without the factor: what must be alike."""
    names = {"setting": (factor.name,), "people": factor.roles}.get(factor.kind, ())
    if not names:
        return run.condition
    starts = tuple(f"{name}=" for name in names)
    parts = run.condition.split(", ")
    return ", ".join(part for part in parts if not part.startswith(starts)) or STANDARD


def model_of(factor: Factor | None, run: Run) -> tuple[str, str]:
    """Return (name, title) of who is compared with itself: the agent, or where a parameter of
    agents varies the model or the script, under all other parameters alike.
    """
    agent, parameters = run.agent, _parameters(run)
    endpoint = agent.endpoint
    if factor is None or factor.kind != "parameter":
        return agent.name, agent.title
    if endpoint is None and factor.name not in parameters:
        return agent.name, agent.title
    others = sorted(((k, v) for k, v in parameters.items() if k != factor.name), key=str)
    if endpoint is None:
        return f"{agent.policy}:{digest_text(str(others))[:6]}", _script(run)
    rest = digest_text(f"{endpoint.base_url} {others}")[:6]
    return f"{endpoint.model}:{rest}", endpoint.model


def _script(run: Run) -> str:
    """Return the title of the script that an agent is, which its variants share."""
    system = run.dataset.system
    known = get_system(system).scripted if system in SYSTEMS else {}
    policy = known.get(run.agent.policy)
    return policy.title if policy is not None else run.agent.title


def choose_factor(system: str, wanted: str, rows: Sequence[Run]) -> Factor | None:
    """Return the factor that is asked for, else the first of the system that any two runs differ
    in.
    """
    known = {factor.name: factor for factor in find_system(system).comparisons.factors}
    if wanted in known or not known:
        return known.get(wanted)
    varied = [f for f in known.values() if len({value_of(f, run) for run in rows} - {None}) > 1]
    return (varied or list(known.values()))[0]


def who_speaks(system: str, rows: Sequence[Run]) -> Factor | None:
    """Return who speaks for the user as a factor; None for a system whose agents talk with nobody.

    Its roles are all that people fill where they take the user's part, so that its values are the
    combinations of roles, which are never pooled.
    """
    user = find_system(system).comparisons.user
    if user is None:
        return None
    roles = dict.fromkeys(
        role
        for run in rows
        if _by_people(run, user.role)
        for role in run.roles
        if role != "agent" and _by_people(run, role)
    )
    return Factor("speaks", "Who speaks for the user", "people", roles=tuple(roles) or (user.role,))


def weights_of(
    factor: Factor | None, rows: Sequence[Run], keys: Sequence[str]
) -> Mapping[str, int]:
    """Return how many values of the factor there are under each key of the rows."""
    if factor is None:
        return {}
    values_by_key: dict[str, set[Any]] = {}
    for run, key in zip(rows, keys, strict=True):
        values_by_key.setdefault(key, set()).add(value_of(factor, run))
    return {key: len(values - {None}) for key, values in values_by_key.items()}


def condition_titles(system: System, conditions: Iterable[str]) -> dict[str, str]:
    """Return the words for each of the conditions that stand together.

    The standard condition is called by what the others vary, where that is one thing: beside
    ``planner=tree`` it is "Planner: SDA-Planner".
    """
    distinct = dict.fromkeys(conditions)
    words = {name: condition_title(system, name) for name in distinct}
    if words.get(STANDARD) == STANDARD:
        parts = {part.partition("=")[0] for name in distinct for part in name.split(", ")}
        varied = [setting for setting in system.settings if setting.name in parts]
        factor = setting_factors(system).get(varied[0].name) if len(varied) == 1 else None
        if factor is not None:
            words[STANDARD] = value_title(factor, str(varied[0].default)) or STANDARD
    return words
