"""The result of a construction: tasks of AdaPlanBench with their profiles and candidates.

Scripted agents choose from a pool of plans and judges must decide about it, so a task keeps the
recorded answers of its problem, or else what the planners of its construction proposed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchmarks.core.candidates import KINDS
from benchmarks.core.plans import normal_words, number_steps, split_steps
from benchmarks.core.ports.making import ConstructedTask, Making
from benchmarks.core.types import Candidate, Constraint, Json, Outcome, Profile, Task
from benchmarks.systems.adaplanbench.dataset import LEVELS
from benchmarks.systems.adaplanbench.macgyver import judges
from benchmarks.systems.adaplanbench.macgyver.build import plan_of, slug, theme_of
from benchmarks.systems.adaplanbench.scripted import mentions_name
from benchmarks.systems.adaplanbench_construction.planners import offered_tools
from benchmarks.systems.adaplanbench_construction.protocol import CONSTRUCTED, FILTERED_OUT

REFERENCE = "reference"
# What a candidate carries along, so that pages can show how a profile grew.
CARRIED = ("about", "planners", "merged")
_PLACES = {level: place for place, level in LEVELS.items()}
# Who decides from the words of a plan, and who from what its pool says it uses.
LEXICON_JUDGES = {name: judges.ROLES[name] for name in ("world_judge", "user_judge")}
FACT_JUDGES = {"world_judge": ("world-facts",), "user_judge": ("user-facts",)}
RUBRIC_JUDGES = {"rubric_judge": judges.ROLES["rubric_judge"]}


class Construction(Making):
    """Profiles of AdaPlanBench for problems in the manner of MacGyver."""

    system = "adaplanbench"
    termination = CONSTRUCTED
    left_out = FILTERED_OUT
    checker = "checker"
    proposing = ("agent", "planner")

    def made_task(
        self, problem: Task, outcome: Outcome, proposed: Sequence[Any], decided_by: str
    ) -> ConstructedTask:
        constructed = outcome.payload
        rows = {row["key"]: row for row in constructed["candidates"]}
        listed = offered_tools(problem)
        texts = [plan["text"] for reply in proposed for plan in reply["plans"]]
        pool = _pool(problem, constructed["reference"], texts, listed)
        loose = [row["about"] for row in rows.values() if not grounded(row)]
        payload = {
            **{name: value for name, value in problem.payload.items() if name != "plans"},
            "problem": problem.prompt,
            "solution": constructed["reference"],
            "reference": REFERENCE,
            "listed": list(listed),
            "plans": [_with_loose(row, loose) for row in pool],
        }
        category = problem.category or theme_of(constructed["query"])
        return ConstructedTask(
            Task(problem.id, constructed["query"], category, payload),
            tuple(_profiles(constructed["levels"], rows)),
            tuple(_candidate(row, decided_by) for row in rows.values()),
        )

    def fitting_roles(self, made: Iterable[ConstructedTask]) -> Mapping[str, Sequence[str]]:
        """Return the roles that fit: lexicon judges read any plan, but know the constraints of
        their lexicon alone.

        Where one is about something else the scripted judges go by what the plans of the pool use.
        """
        known = all(
            grounded({"about": c.about, "kind": c.kind, "text": c.text})
            for each in made
            for profile in each.profiles[-1:]
            for c in profile.constraints
        )
        return {**(LEXICON_JUDGES if known else FACT_JUDGES), **RUBRIC_JUDGES}

    def calls(self, settings: Json) -> Mapping[str, int]:
        planners, rounds = int(settings["planners"]), int(settings["rounds"])
        per_kind = rounds * len(KINDS)
        return {
            "rewriter": 1,
            "filter": 1,
            "agent": per_kind,
            "planner": per_kind * (planners - 1),
            "extractor": per_kind * planners,
            "merger": per_kind * planners,
            "checker": per_kind,
        }


MAKING = Construction()


def grounded(row: Mapping[str, str]) -> bool:
    """Return whether the lexicon knows what a constraint is about."""
    return bool(row["about"]) and bool(judges.grounds(row))


def _profiles(
    levels: Mapping[str, Sequence[str]], rows: Mapping[str, Mapping[str, Any]]
) -> Iterator[Profile]:
    """Yield profiles by round. Keys are numbered as those of the published file are when it is
    read.
    """
    numbers: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
    for place, keys in sorted((_PLACES[level], keys) for level, keys in levels.items()):
        constraints = []
        for kind, letter in KINDS.items():
            for row in (rows[key] for key in keys if rows[key]["kind"] == kind):
                known = numbers[kind]
                key = known.setdefault(row["text"], f"{letter}{len(known) + 1}")
                constraints.append(Constraint(key, kind, row["text"], row["about"]))
        yield Profile(LEVELS[place], tuple(constraints))


def _candidate(row: Mapping[str, Any], decided_by: str) -> Candidate:
    return Candidate(
        key=row["key"],
        kind=row["kind"],
        text=row["text"],
        round=row["round"],
        decision=row["decision"],
        reason=row["reason"],
        decided_by=decided_by,
        payload={name: row[name] for name in CARRIED},
    )


def _pool(
    problem: Task, reference: str, proposed: Sequence[str], listed: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the answers that were recorded for a problem, else what planners proposed; then a way
    out.

    Every constraint leaves the reference possible. It is nobody's answer, so that no recorded agent
    proposes it.
    """
    recorded = [
        (row["text"], {name: row[name] for name in ("author", "verdict") if row.get(name)})
        for row in problem.payload.get("plans", ())
    ]
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for text, verdicts in [*(recorded or ((text, {}) for text in proposed)), (reference, {})]:
        author = verdicts.get("author", "")
        same = (author, normal_words(text))
        if split_steps(text) and same not in rows:
            number = 1 + sum(of == author for of, _ in rows)
            key = f"{slug(author) if author else 'plan'}-{number}"
            rows[same] = _row(text, key, listed) | verdicts
    last = rows.get(("", normal_words(reference)))
    if last is not None:
        last["key"] = REFERENCE
    return list(rows.values())


def _row(text: str, key: str, listed: Sequence[str]) -> dict[str, Any]:
    """Return a plan as a pool holds it, with the tools and attributes that its words name."""
    plan = plan_of(split_steps(text), key, listed)
    return {
        "key": key,
        "steps": list(plan.steps),
        "tools": list(plan.tools),
        "attributes": list(plan.attributes),
    }


def _with_loose(row: dict[str, Any], loose: Sequence[str]) -> dict[str, Any]:
    """Return a plan that also uses what the lexicon does not know, where its words name it."""
    text = number_steps(row["steps"]).lower()
    parts = [about.partition(":") for about in loose]
    more: dict[str, list[str]] = {"tool": [], "attribute": []}
    for kind, _, name in parts:
        if kind in more and mentions_name(text, name):
            more[kind].append(name)
    return row | {
        "tools": [*dict.fromkeys([*row["tools"], *more["tool"]])],
        "attributes": [*dict.fromkeys([*row["attributes"], *more["attribute"]])],
    }
