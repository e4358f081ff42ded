"""Simulated annotators: seeded stand-ins who judge by what a plan is really like.

They fill the demo, so that its pages have something to show. Their accounts are flagged, cannot
sign in, and are labelled wherever they appear; analyses can leave them out.
"""

import random
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.models import Annotator, Assignment, Study
from annotation.questionnaires import load_questionnaire
from annotation.services.errors import Refused
from annotation.services.items import skip_assignment, slots_of, submit_assignment
from annotation.services.ratings import Edit, record_edits
from benchmarks.core.registry import SYSTEMS
from benchmarks.core.seeds import derive_seed
from benchmarks.mappers import core_task
from benchmarks.models import Trajectory, Turn
from benchmarks.systems.adaplanbench.plans import pool_of, split_steps

NAMESPACE = uuid.UUID("6f6b1f7e-3c0e-4f0b-9d57-1c7f0c9a2f10")
SKIP_REASON = "I could not tell what the last plan was meant to do."
SKIP_CHANCE = 0.03


@dataclass(frozen=True)
class Character:
    """How a simulated annotator differs from the truth: a shift, a scatter, and one soft spot."""

    bias: float
    spread: float
    soft_on: str
    hurry: float


def ensure_simulated_annotator(*, number: int) -> User:
    """The account of a simulated annotator; nobody can sign in with it."""
    user, created = User.objects.get_or_create(
        username=f"simulated-{number}", defaults={"first_name": f"Simulated annotator {number}"}
    )
    if created:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    Annotator.objects.get_or_create(user=user, defaults={"is_simulated": True})
    return user


def simulate_annotator(*, study: Study, user: User, share: float = 1.0) -> int:
    """Let a simulated annotator do the first ``share`` of their items; returns how many were done.

    Doing it again adds nothing: finished items are passed over, and the answers of one that was
    left half-way have the same ids and values.
    """
    if not Annotator.objects.filter(user=user, is_simulated=True).exists():
        raise ValueError(f"{user} is a person; only flagged accounts may be simulated")
    if load_questionnaire(study.questionnaire).system not in SYSTEMS:
        raise Refused(
            "invalid",
            "these trajectories were made elsewhere: nothing tells a script what they are worth, "
            "so no simulated annotator can judge them",
        )
    items = study.assignments.filter(annotator=user)
    wanted = round(share * items.count())
    character = _character(study.seed, user.get_username())
    done = 0
    for item in items.filter(position__lte=wanted, state=Assignment.State.OPEN).select_related(
        "study", "item", "trajectory__task", "trajectory__run__agent"
    ):
        _judge(item, user, character)
        done += 1
    return done


def _character(seed: int, name: str) -> Character:
    rng = random.Random(derive_seed(seed, "character", name))
    return Character(
        bias=rng.uniform(-0.35, 0.35),
        spread=rng.uniform(0.3, 0.6),
        soft_on=rng.choice(("effectiveness", "concreteness", "safety", "autonomy")),
        hurry=rng.uniform(0.7, 1.4),
    )


def _judge(item: Assignment, user: User, character: Character) -> None:
    """Answer and submit one item, or skip it, in one transaction."""
    trajectory = item.trajectory
    assert trajectory is not None  # only trajectories are simulated
    what = trajectory.task.external_id, trajectory.run.agent.name
    rng = random.Random(derive_seed(item.study.seed, user.get_username(), item.position, *what))
    takes = character.hurry * rng.lognormvariate(11.2, 0.35)  # about 70 s
    levels = {**_feedback_levels(trajectory), **_plan_levels(trajectory)}
    edits = [
        Edit(
            uuid.uuid5(NAMESPACE, f"{item.pk}:{slot.name}"),
            slot.question.key,
            _answer(levels.get(slot.question.key), slot.question.key, character, rng),
            subject=slot.subject,
        )
        for slot in slots_of(item)
    ]
    with transaction.atomic():
        now = timezone.now()
        Assignment.objects.filter(pk=item.pk).update(opened_at=now, active_ms=int(takes))
        if rng.random() < SKIP_CHANCE:
            skip_assignment(assignment=item, by=user, reason=SKIP_REASON)
        else:
            record_edits(assignment=item, by=user, edits=edits)
            submit_assignment(assignment=item, by=user)


def _answer(level: float | None, key: str, character: Character, rng: random.Random) -> int:
    """A score near the true level; where nobody knows that, a guess around the middle."""
    if level is None:
        return min(5, max(1, round(rng.gauss(3.2, 1.0))))
    level += character.bias + (0.4 if key == character.soft_on else 0.0)
    return min(5, max(1, round(level + rng.gauss(0, character.spread))))


def _plan_levels(trajectory: Trajectory) -> Mapping[str, float]:
    """The true quality of the final plan, where it is one of the task's known plans."""
    final = Turn.objects.filter(trajectory=trajectory, is_final=True).first()
    if final is None:
        return {}
    wanted = _normal(final.text)
    for plan in pool_of(core_task(trajectory.task, None)):
        if _normal(plan.text) == wanted:
            return {key: float(level) for key, level in plan.quality.items()}
    return {}


def _normal(text: str) -> list[str]:
    return [" ".join(step.lower().split()) for step in split_steps(text)]


def _feedback_levels(trajectory: Trajectory) -> Mapping[str, float]:
    """How reasonable and how clear the feedback is.

    Clear: the share of revealed conditions whose words stand in it. Reasonable: a little less
    where somebody has to say the same thing again and again.
    """
    revealed = said = repeats = 0
    for turn in Turn.objects.filter(trajectory=trajectory).prefetch_related("violations"):
        for violation in turn.violations.all():
            if violation.revealed:
                revealed += 1
                said += violation.text.lower() in turn.feedback.lower()
            repeats += violation.repeated
    clear = 4.7 - 2.5 * (1 - said / revealed) if revealed else 4.0
    return {"feedback_reasonable": 4.6 - min(1.0, 0.15 * repeats), "feedback_clear": clear}
