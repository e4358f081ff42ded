"""A MacGyver problem with its recorded answers, as a task with three profiles."""

import hashlib
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from benchmarks.core.digests import derive_seed
from benchmarks.core.plans import PoolPlan, normal_words, number_steps
from benchmarks.core.types import Profile, Task
from benchmarks.systems.adaplanbench.macgyver import lexicon, vocabulary
from benchmarks.systems.adaplanbench.macgyver.answers import VERDICTS, read_answer
from benchmarks.systems.adaplanbench.macgyver.constraints import (
    Mentions,
    derive_profiles,
    goal_of,
    named_in,
    needed_by,
    phrases,
)
from benchmarks.systems.adaplanbench.macgyver.queries import read_problem
from benchmarks.systems.adaplanbench.macgyver.reader import MacGyverProblem, RecordedAnswer
from benchmarks.systems.adaplanbench.macgyver.words import sentences

BUILD_VERSION = "2"
SEED = 1


def build_task(
    entry: MacGyverProblem, recorded: Sequence[RecordedAnswer], seed: int = SEED
) -> tuple[Task, tuple[Profile, ...]]:
    """Return the task of a problem; the same problem, answers and seed give the same task."""
    problem = read_problem(entry.problem, entry.id)
    listed = lexicon.named(problem.offers)
    plans, verdicts, others = _plans(recorded, listed)
    reference, source = _reference(entry, plans, listed)
    rng = random.Random(derive_seed("macgyver", BUILD_VERSION, seed, entry.id))
    theme = theme_of(problem.query)
    spared = [goal_of(problem.query, theme), reference]
    derived = derive_profiles(plans, listed, spared, rng, needed_by(problem.query))
    payload: dict[str, Any] = {
        "plans": [_plan_row(plan, verdicts[plan.key]) for plan in plans],
        "others": others,
        "counts": {
            "answers": len(recorded),
            "plans": len(plans),
            "unsolvable": sum(row["kind"] == "unsolvable" for row in others),
            "empty": sum(row["kind"] == "empty" for row in others),
            "merged": len(recorded) - len(plans) - len(others),
        },
        "problem": entry.problem,
        "listed": list(listed),
        "solution": entry.solution,
        "solvable": entry.solvable,
        "unconventional": entry.unconventional,
        "label": entry.label,
        "reference": source,
        "contradictory": dict(derived.contradictory),
        "lexicon": vocabulary.VERSION,
        "build": BUILD_VERSION,
        "seed": seed,
    }
    return Task(f"macgyver-{entry.id}", problem.query, theme, payload), derived.profiles


def dataset_checksum(files: str, seed: int = SEED, kept: str = "") -> str:
    """Return the checksum of what the files become: other rules make other tasks of the same files.

    ``kept`` names the filter, where not every problem becomes a task.
    """
    made_by = f"{files} build-{BUILD_VERSION} lexicon-{vocabulary.VERSION} seed-{seed}{kept}"
    return hashlib.sha256(made_by.encode()).hexdigest()


def theme_of(query: str) -> str:
    """Return the main theme of a query, by the words in it."""
    words = [word for tokens in sentences(query) for word in tokens]
    hits = {
        name: sum(word in known for word in words) for name, known in phrases()["themes"].items()
    }
    best = max(hits, key=lambda name: hits[name])
    return best if hits[best] else "other"


def plan_of(steps: Sequence[str], key: str, listed: Sequence[str]) -> PoolPlan:
    """Make a plan of the pool of steps, with the tools and attributes that their words name."""
    found = lexicon.uses(number_steps(steps), listed)
    return PoolPlan(key, tuple(steps), found.tools, found.attributes)


def slug(author: str) -> str:
    """Return a name as it may stand in a key."""
    return re.sub(r"[^a-z0-9]+", "-", author.lower()).strip("-")


def _plans(
    recorded: Sequence[RecordedAnswer], listed: Sequence[str]
) -> tuple[list[PoolPlan], dict[str, list[str]], list[dict[str, str]]]:
    """Return plans, the verdicts on each by its key, and the answers that are no plans.

    An answer that stands twice with one author is one plan with two verdicts.
    """
    plans: dict[tuple[str, str], PoolPlan] = {}
    verdicts: dict[str, list[str]] = {}
    others: list[dict[str, str]] = []
    counts: dict[str, int] = {}
    for row in recorded:
        answer = read_answer(row.text)
        if answer.kind != "plan":
            others.append(
                {
                    "author": row.author,
                    "verdict": row.verdict,
                    "kind": answer.kind,
                    "text": answer.remark,
                }
            )
            continue
        same = (row.author, normal_words(number_steps(answer.steps)))
        if same not in plans:
            counts[row.author] = counts.get(row.author, 0) + 1
            plan = plan_of(answer.steps, f"{slug(row.author)}-{counts[row.author]}", listed)
            plans[same] = replace(plan, author=row.author)
        verdicts.setdefault(plans[same].key, []).append(row.verdict)
    return list(plans.values()), verdicts, others


def _plan_row(plan: PoolPlan, verdicts: Sequence[str]) -> dict[str, Any]:
    given = sorted({verdict for verdict in verdicts if verdict}, key=list(VERDICTS).index)
    return {
        "key": plan.key,
        "steps": list(plan.steps),
        "tools": list(plan.tools),
        "attributes": list(plan.attributes),
        "author": plan.author,
        "verdict": " / ".join(given),
        "verdicts": [verdict for verdict in verdicts if verdict],
    }


def _reference(
    entry: MacGyverProblem, plans: Sequence[PoolPlan], listed: Sequence[str]
) -> tuple[Mentions, str]:
    """Return what the reference names, and which text it is: the solution, a plan's key, or none.

    Where the recorded solution says that there is none, the plan that names fewest tools stands
    in, so that every profile leaves a way open.
    """
    answer = read_answer(entry.solution)
    if answer.kind == "plan":
        return named_in(number_steps(answer.steps), listed), "solution"
    if plans:
        plan = min(plans, key=lambda p: (len(p.tools) + len(p.attributes), p.key))
        return named_in(plan.text, listed), plan.key
    return Mentions(frozenset(), frozenset()), ""
