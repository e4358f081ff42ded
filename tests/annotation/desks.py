"""Studies of every kind of form, small: one annotator, two items."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User

from annotation.models import Assignment, Study
from annotation.studies.setup import NewItem, store_study
from benchmarks.models import Candidate, Constraint, Profile, Task, Trajectory
from tests.annotation.rows import make_runs

# What a checker decided and why; none of it may reach those who decide about the same candidates.
DECISIONS = {"decision": "removed", "reason": "Vague-77 it is.", "decided_by": "checker-77"}
WISH = "Nothing that smells."
PROPOSED = ("There is no ladder.", "It should be nice.", "I own no drill.")


def make_kind(questionnaire: str, ann: User, manager: User | None = None, **more: Any) -> Study:
    """An open study of that questionnaire with two items for ann, over the usual rows."""
    runs = make_runs()
    tasks = list(Task.objects.order_by("pk")[:2])
    for profile in Profile.objects.all():
        Constraint.objects.create(profile=profile, kind="user", key="u1", text=WISH)
    for task in tasks:
        task.payload = {"plans": [{"key": "glue", "steps": ["Take glue.", "Wait."]}],
                        "reference": "glue"}  # fmt: skip
        task.save()
        for n, text in enumerate(PROPOSED):
            kind = "user" if n == 1 else "world"
            Candidate.objects.create(task=task, key=f"c{n}", kind=kind, text=text, **DECISIONS)
    if questionnaire.startswith("filter_check"):
        items = [NewItem(task=task.pk) for task in tasks]
    else:
        found: Sequence[Trajectory] = Trajectory.objects.filter(run=runs[0]).order_by("pk")[:2]
        items = [NewItem(trajectory=trajectory.pk) for trajectory in found]
    study = Study(name="Check", questionnaire=questionnaire, status=Study.Status.OPEN, **more)
    store_study(study=study, items=items, people=[ann], lists=[range(2)], by=manager)
    return study


def first_item(study: Study) -> Assignment:
    """The first of the annotator's items."""
    return study.assignments.get(part="main", position=1)
