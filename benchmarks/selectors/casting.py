"""Who fills the roles of a run, and what readers must be told about them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.blinding import EVERYTHING, Visibility, recasts_in
from benchmarks.core.errors import CoreError, UnknownName
from benchmarks.core.registry import get_system
from benchmarks.core.system import System
from benchmarks.core.words import plain
from benchmarks.fillers import Roles, all_fillers, with_recast
from benchmarks.mappers import system_of_run
from benchmarks.models import Agent, Run

LABELS = {
    "scripted": "scripted",
    "lexicon": "lexicon",
    "recorded": "recorded",
    "human": "person",
    "endpoint": "language model",
    "simulated": "simulated",
    "imported": "made elsewhere",
}


@dataclass(frozen=True)
class FillerView:
    """Somebody who fills a seat; ``label`` says what they are where that is no model or person."""

    title: str
    label: str
    version: str
    seats: tuple[int, ...] = ()


@dataclass(frozen=True)
class RoleView:
    """A role with all who fill it; nobody where the role is not asked under these settings."""

    title: str
    fillers: tuple[FillerView, ...]


@dataclass(frozen=True)
class Caution:
    """What a banner says over everything that is not the real thing."""

    title: str
    text: str


def system_of(key: str) -> System | None:
    """The system, or None for datasets of systems that are not registered (imports)."""
    try:
        return get_system(key)
    except UnknownName:
        return None


def playing_system(run: Run) -> System | None:
    """What a run is played by, its judges alone where it judges anew; None where nobody knows."""
    try:
        return system_of_run(run)
    except CoreError:
        return None


def roles_behind(run: Run) -> Roles:
    """Who stands behind what a run shows: with judges of its own, or those that count instead.

    In a run that judges anew these are its judges, and all others as they played what it looks at.
    """
    if run.kind == Run.Kind.JUDGING:
        first, then = _judged(run) or run, run
    else:
        counting = run.primary_judging
        first, then = run, (counting and counting.made_by) or run
    # A role that a judging does not ask has nobody there.
    roles: Roles = {**first.roles, **{role: rows for role, rows in then.roles.items() if rows}}
    return roles


def _judged(run: Run) -> Run | None:
    """The run that a run of judges looks at; None for others."""
    if run.kind != Run.Kind.JUDGING:
        return None
    return Run.objects.filter(judgings__made_by=run).first()


def policy_title(system: System | None, policy: str) -> str:
    """The title of a scripted policy; its name where it is no longer known."""
    known = system.scripted.get(policy) if system else None
    return known.title if known else plain(policy)


def run_roles(run: Run, recast: Roles | None = None) -> list[RoleView]:
    """Every role of the system with who fills it in this run; and who took over by ``recast``."""
    recast = recast or {}
    system = playing_system(run)
    titles = {role.name: role.title for role in system.roles} if system else {}
    names = [*titles, *(name for name in run.roles if name not in titles)]
    return [
        RoleView(
            titles.get(name, plain(name)),
            (
                *_fillers(system, run.agent if name == "agent" else None, run.roles.get(name, ())),
                *(
                    replace(one, title=f"{one.title}, took over")
                    for one in _fillers(system, None, recast.get(name, ()))
                ),
            ),
        )
        for name in names
    ]


def role_words(run: Run, role: str) -> str:
    """Who fills a role of a run other than the agent's, in words."""
    found = _fillers(system_of(run.dataset.system), None, run.roles.get(role, ()))
    return ", ".join(f"{filler.title} ({filler.label})" for filler in found)


def _fillers(
    system: System | None, agent: Agent | None, rows: Iterable[Mapping[str, Any]]
) -> tuple[FillerView, ...]:
    """Fillers with their seats; one who fills several seats stands once."""
    seats: dict[tuple[str, str, str], list[int]] = {}
    for place, row in enumerate(rows, 1):
        title = agent.title if agent else _title(system, row)
        seats.setdefault((title, _label(row), _version(row)), []).append(place)
        if beside := row.get("suggests"):
            title = f"{_title(system, beside)}, suggests only"
            seats.setdefault((title, _label(beside), _version(beside)), []).append(place)
    return tuple(FillerView(*key, tuple(places)) for key, places in seats.items())


def _label(row: Mapping[str, Any]) -> str:
    """What somebody is, in words."""
    if _local(row):
        return "endpoint on this machine"
    return LABELS.get(row.get("label", row["kind"]), str(row["kind"]))


def _local(row: Mapping[str, Any]) -> bool:
    """Whether something on this machine answers of which nobody knows what it is."""
    return bool(row.get("local")) and row.get("label") != "simulated"


def _title(system: System | None, row: Mapping[str, Any]) -> str:
    if "policy" in row:
        return policy_title(system, row["policy"])
    return str(row.get("title") or "A person")


def _version(row: Mapping[str, Any]) -> str:
    """The version of a script; that of an endpoint is a digest, and says nothing to people."""
    return "" if "endpoint" in row else row.get("version", "")


_SAYS = {
    "recorded": Caution(
        "Recorded answers",
        "The agent proposes answers that were given elsewhere, without knowing the feedback.",
    ),
    "scripted": Caution("Scripted agent", "Plans are chosen by a rule, not by a model."),
    "lexicon": Caution("Lexicon judges", "Violations are found by looking for words."),
    "rules": Caution("Scripted judges", "Judges follow rules, not a model."),
    "feedback": Caution("Scripted user simulator", "Feedback is put together by a rule."),
    "suggestions": Caution(
        "Scripted suggestions", "Rules say what they would have judged; people decide."
    ),
    "imported": Caution("Made elsewhere", "These trajectories were imported from a file."),
    "simulated": Caution(
        "Simulated answers",
        "A fake endpoint took part, a program that makes answers up: "
        "nothing here says anything about a model.",
    ),
    "local": Caution(
        "Endpoint on this machine",
        "A server on this machine answered; PlanJury cannot tell whether a model stands behind it.",
    ),
    "construction": Caution(
        "Scripted construction",
        "Scripts took part: constraints were proposed, merged or checked by rules, not by a model.",
    ),
    "demo tasks": Caution("Demo tasks", "Tasks were written for this demo."),
    "demo": Caution(
        "Demo data",
        "Tasks were written for this demo, agents and judges are scripts. "
        "Nothing here says anything about a real model.",
    ),
}
_UNREAL = (_SAYS["simulated"], _SAYS["local"])


def run_caution(run: Run, recast: Roles | None = None) -> Caution | None:
    """What must be said over results of this run, in one; None where everything is real.

    ``recast`` names who took over in the one trajectory that is shown; without it, it is said of
    all trajectories of the run.
    """
    roles = with_recast(roles_behind(run), [recast] if recast is not None else _recasts(run))
    labels = {name: {row.get("label", row["kind"]) for row in rows} for name, rows in roles.items()}
    system = system_of(run.dataset.system)
    judging = {role.name for role in system.roles if role.judges} if system else set()
    agent = labels.pop("agent", set())
    judges: set[str] = set().union(*(labels[name] for name in labels if name in judging))
    others: set[str] = set().union(*(labels[name] for name in labels if name not in judging))
    said = [_SAYS[label] for label in ("recorded", "scripted", "imported") if label in agent]
    said += [_SAYS["lexicon"]] * ("lexicon" in judges)
    said += [_SAYS["rules"]] * ("scripted" in judges)
    said += [_SAYS["feedback"]] * ("scripted" in others)
    fillers = list(all_fillers(roles))
    beside = [row["suggests"] for row in fillers if "suggests" in row]
    said += [_SAYS["suggestions"]] * any(row["kind"] == "scripted" for row in beside)
    asked = [row for row in fillers if row["kind"] in ("endpoint", "human")]
    simulated = any(row.get("label") == "simulated" for row in asked)
    said += [_SAYS["simulated"]] * simulated + [_SAYS["local"]] * any(map(_local, asked))
    if run.kind == Run.Kind.CONSTRUCTION:
        ruled = any(row["kind"] == "scripted" for row in fillers)
        said = [_SAYS["construction"]] * ruled + [one for one in said if one in _UNREAL]
    if (_judged(run) or run).is_demo:
        said = [_SAYS["demo tasks"], *said] if asked else [_SAYS["demo"]]
    if not said:
        return None
    return Caution(" · ".join(c.title for c in said), " ".join(c.text for c in said))


def _recasts(run: Run) -> Iterable[Roles]:
    """Who took over in a run; asked for only where people play, for nobody else can be followed."""
    played = any(row["kind"] == "human" for row in all_fillers(run.roles))
    return recasts_in([run.pk]) if played else ()


def agents_for(system: str, seen: Visibility = EVERYTHING) -> list[Agent]:
    """Agents that a run on this system can be given."""
    kinds = [Agent.Kind.ENDPOINT, Agent.Kind.SCRIPTED, Agent.Kind.RECORDED, Agent.Kind.HUMAN]
    rows = seen.of(Agent.objects.filter(system__in=[system, ""], kind__in=kinds))
    rows = rows.exclude(endpoint__retired=True).select_related("endpoint")
    return sorted(rows, key=lambda agent: (kinds.index(Agent.Kind(agent.kind)), agent.title))
