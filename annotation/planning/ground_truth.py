"""Correct answers about items made by scripts, read from known plans and candidates.

Simulated annotators judge by them, and training items of the demo expect them. No page shows them.
"""

from collections.abc import Mapping

from annotation.models import Item
from annotation.plans.study_plan import ExpectedAnswer
from benchmarks.core.plans import KnownPlans, PoolPlan
from benchmarks.mappers import core_task
from benchmarks.models import Candidate, Constraint, Task, Trajectory, Turn

KEEP, REMOVE = 1, 0


def known_plan(task: Task, text: str) -> PoolPlan | None:
    """Return the task's known plan that reads like this; None where it is nobody's."""
    return KnownPlans(core_task(task, None)).find(text)


def true_violations(trajectory: Trajectory) -> dict[str, dict[str, list[str]]]:
    """Turn → key of each violated condition → what of the plan violates it.

    A known plan names its tools and traits; for other plans the judges are taken at their word,
    which says nothing of why.
    """
    known = KnownPlans(core_task(trajectory.task, None))
    about = {row.key: row.about for row in Constraint.objects.filter(profile=trajectory.profile_id)}
    violations: dict[str, dict[str, list[str]]] = {}
    for turn in Turn.objects.filter(trajectory=trajectory).prefetch_related("violations"):
        plan = known.find(turn.text)
        if plan is None:
            violations[str(turn.index)] = {row.key: [] for row in turn.violations.all()}
        else:
            violations[str(turn.index)] = {
                key: [_reason(name)] for key, name in about.items() if name and plan.uses(name)
            }
    return violations


def _reason(name: str) -> str:
    """Return what of a plan breaks a condition: "uses tin foil", or its attribute as it stands."""
    kind, _, word = name.partition(":")
    return f"uses {word}" if kind == "tool" else word


def true_decisions(task: int) -> dict[str, int]:
    """Return candidate → keep (1) or remove (0), of those of which it is known."""
    rows = Candidate.objects.filter(task=task).values_list("key", "payload")
    known = {"keep": KEEP, "remove": REMOVE}
    return {key: known[p["truth"]] for key, p in rows if p.get("truth") in known}


def true_levels(trajectory: Trajectory) -> Mapping[str, float]:
    """Return the true quality of the final plan by dimension, where it is one of the known
    plans.
    """
    final = Turn.objects.filter(trajectory=trajectory, is_final=True).first()
    plan = known_plan(trajectory.task, final.text) if final is not None else None
    return {key: float(level) for key, level in plan.quality.items()} if plan else {}


def turn_levels(trajectory: Trajectory) -> dict[str, Mapping[str, float]]:
    """Turn → the true quality of its plan by dimension."""
    known = KnownPlans(core_task(trajectory.task, None))
    levels: dict[str, Mapping[str, float]] = {}
    for index, text in Turn.objects.filter(trajectory=trajectory).values_list("index", "text"):
        plan = known.find(text)
        levels[str(index)] = {k: float(v) for k, v in plan.quality.items()} if plan else {}
    return levels


def feedback_levels(trajectory: Trajectory) -> Mapping[str, float]:
    """Return how reasonable and how clear the feedback is.

    Clear: the share of revealed conditions whose words stand in it. Reasonable: a little less
    where somebody has to say the same thing again and again.
    """
    revealed = stated = repeats = 0
    for turn in Turn.objects.filter(trajectory=trajectory).prefetch_related("violations"):
        for violation in turn.violations.all():
            if violation.revealed:
                revealed += 1
                stated += violation.text.lower() in turn.feedback.lower()
            repeats += violation.repeated
    clear = 4.7 - 2.5 * (1 - stated / revealed) if revealed else 4.0
    return {"feedback_reasonable": 4.6 - min(1.0, 0.15 * repeats), "feedback_clear": clear}


def expected_violations(item: Item, trajectory: Trajectory) -> dict[str, ExpectedAnswer]:
    """Return what is expected of an item of a violation check, place by place, with reasons."""
    texts = dict(
        Constraint.objects.filter(profile=trajectory.profile_id).values_list("key", "text")
    )
    truth = true_violations(trajectory)
    expected: dict[str, ExpectedAnswer] = {}
    for question, kind in (("world_violated", "world"), ("user_violated", "user")):
        allowed = item.subjects.get(kind, [])
        for turn in item.subjects.get("turn", []) if question in item.asked else []:
            marks = {key: why for key, why in truth[turn].items() if key in allowed}
            stated = [
                f"“{texts[key]}” is violated: {', '.join(why)}."
                if why
                else f"“{texts[key]}” is violated."
                for key, why in marks.items()
            ]
            expected[f"{question}.turn-{turn}"] = {
                "chosen": [*sorted(marks)],
                "why": " ".join(stated)
                or "Nothing in this plan needs what the conditions rule out.",
            }
    return expected
