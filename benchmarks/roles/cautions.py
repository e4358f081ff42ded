"""Banners that warn readers: scripted answerers, simulated models, imported or demo data."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from benchmarks.core.digests import canonical_json
from benchmarks.core.registry import system_of
from benchmarks.models import Dataset, Run
from benchmarks.models.role_assignments import Roles, all_assignments, with_replacements
from benchmarks.roles.selectors import is_local, judged_run, roles_behind
from benchmarks.visibility import role_changes_in


class Caution(NamedTuple):
    """The title and text of a warning banner."""

    title: str
    text: str


_SAYS = {
    "recorded": Caution(
        "Recorded answers",
        "The agent proposes answers that were given elsewhere, without knowing the feedback.",
    ),
    "lexicon": Caution("Lexicon judges", "Violations are found by matching words."),
    "rules": Caution("Scripted judges", "Judges follow rules, not a model."),
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
        "Tasks were written for this demo, and scripts fill the roles. "
        "Nothing here says anything about a real model.",
    ),
}
_UNREAL = (_SAYS["simulated"], _SAYS["local"])
# The same of those who constructed the tasks that a run is about.
_CONSTRUCTED = {
    "scripted": Caution(
        "Tasks constructed by scripts",
        "What is hidden in these tasks was proposed, merged or checked by rules, not by a model.",
    ),
    "simulated": Caution(
        "Tasks constructed with simulated answers",
        "A fake endpoint, a program that makes answers up, took part when these tasks were made.",
    ),
    "local": Caution(
        "Tasks constructed at an endpoint on this machine",
        "A server on this machine took part when these tasks were made; PlanJury cannot tell "
        "whether a model stands behind it.",
    ),
}


def run_caution(run: Run, role_changes: Roles | None = None) -> Caution | None:
    """Return one caution for the results of a run; None if real models did everything.

    ``role_changes`` names who took over in the one trajectory that is shown; without it, the
    caution is about all trajectories of the run.
    """
    return _in_one(_role_cautions(run, role_changes))


def runs_caution(runs: Iterable[Run]) -> Caution | None:
    """Return one caution for the results of several runs, each point once."""
    # The many runs of an experiment differ in few of the points that matter here.
    differing = {
        (
            canonical_json([run.roles, run.kind, run.is_demo, run.primary_judging_id]),
            run.dataset_id,
            # What people took over, and what judges look at, is of this run and no other.
            run.pk if _played(run) or run.kind == Run.Kind.JUDGING else None,
        ): run
        for run in runs
    }
    return _in_one(one for run in differing.values() for one in _role_cautions(run))


def tasks_cautions(dataset: Dataset) -> list[Caution]:
    """Return the cautions about how tasks were constructed, if models did not do it."""
    if dataset.made_by is None:
        return []
    assignments = list(all_assignments(_roles(dataset.made_by)))
    labels = {
        "scripted": any(row["kind"] == "scripted" for row in assignments),
        "simulated": any(row.get("label") == "simulated" for row in assignments),
        "local": any(map(is_local, assignments)),
    }
    return [_CONSTRUCTED[label] for label, applies in labels.items() if applies]


def _in_one(cautions: Iterable[Caution]) -> Caution | None:
    each = list(dict.fromkeys(cautions))
    if not each:
        return None
    return Caution(" · ".join(c.title for c in each), " ".join(c.text for c in each))


def _role_cautions(run: Run, role_changes: Roles | None = None) -> list[Caution]:
    roles = _roles(run, role_changes)
    labels = {name: {row.get("label", row["kind"]) for row in rows} for name, rows in roles.items()}
    system = system_of(run.dataset.system)
    judging = {role.name for role in system.roles if role.judges} if system else set()
    titles = {role.name: role.title.lower() for role in system.roles} if system else {}
    agent = labels.pop("agent", set())
    judges: set[str] = set().union(*(labels[name] for name in labels if name in judging))
    others = {name: labels[name] for name in labels if name not in judging}
    sentences = [_SAYS["recorded"]] * ("recorded" in agent)
    sentences += _filled_by("scripted", {"agent": agent}, titles)
    sentences += [_SAYS["imported"]] * ("imported" in agent)
    sentences += [_SAYS["lexicon"]] * ("lexicon" in judges)
    sentences += [_SAYS["rules"]] * ("scripted" in judges)
    sentences += _filled_by("scripted", others, titles) + _filled_by("lexicon", others, titles)
    assignments = list(all_assignments(roles))
    beside = [row["suggests"] for row in assignments if "suggests" in row]
    sentences += [_SAYS["suggestions"]] * any(row["kind"] == "scripted" for row in beside)
    asked = [row for row in assignments if row["kind"] in ("endpoint", "human")]
    simulated = any(row.get("label") == "simulated" for row in asked)
    sentences += [_SAYS["simulated"]] * simulated + [_SAYS["local"]] * any(map(is_local, asked))
    if run.kind == Run.Kind.CONSTRUCTION:
        ruled = any(row["kind"] == "scripted" for row in assignments)
        sentences = [_SAYS["construction"]] * ruled + [one for one in sentences if one in _UNREAL]
    if (judged_run(run) or run).is_demo:
        sentences = [_SAYS["demo tasks"], *sentences] if asked else [_SAYS["demo"]]
    return [*sentences, *tasks_cautions(run.dataset)]


def _filled_by(
    label: str, roles: Mapping[str, set[str]], titles: Mapping[str, str]
) -> list[Caution]:
    """Return a caution that names the roles with this label; none where there is no such role."""
    names = [titles.get(name, name.replace("_", " ")) for name in roles if label in roles[name]]
    if not names:
        return []
    *first, last = names
    words = f"{', '.join(first)} and {last}" if first else last
    how = "Rules fill" if label == "scripted" else "Word matching fills"
    what = "these roles, not models." if first else "this role, not a model."
    return [Caution(f"{label.capitalize()} {words}", f"{how} {what}")]


def _roles(run: Run, role_changes: Roles | None = None) -> Roles:
    return with_replacements(
        roles_behind(run), [role_changes] if role_changes is not None else _role_changes(run)
    )


def _played(run: Run) -> bool:
    return any(row["kind"] == "human" for row in all_assignments(run.roles))


def _role_changes(run: Run) -> Iterable[Roles]:
    """Return who took over in a run; only runs with people can have such a change."""
    return role_changes_in([run.pk]) if _played(run) else ()
