"""Studies in which several people judge the same items, for adjudication and what follows it."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User

from annotation.desk.services import slots_of, submit_assignment
from annotation.models import Assignment, Study
from annotation.ratings.services import EditRequest, StoredEdit, record_edits
from annotation.studies.setup import NewItem, store_study
from benchmarks.models import (
    AnswererVersion,
    Candidate,
    Constraint,
    JudgeScore,
    Judging,
    Task,
    Trajectory,
)
from tests.annotation.rows import make_runs


def make_judged(
    people: Sequence[User],
    manager: User,
    *,
    questionnaire: str = "ten_questions@1",
    items: int = 2,
    name: str = "Judged",
) -> Study:
    """Everybody judges the same items: trajectories, or tasks with two candidates each."""
    runs = make_runs(tasks=max(items, 2))
    if questionnaire.startswith("filter_check"):
        tasks = list(Task.objects.order_by("pk")[:items])
        for task in tasks:
            for n, decision in ((1, "kept"), (2, "removed")):
                Candidate.objects.create(
                    task=task, key=f"c{n}", kind="world", text=f"Candidate {n}.",
                    decision=decision, reason="As the checker sees it.", decided_by="checker-1",
                )  # fmt: skip
        new = [NewItem(task=task.pk, wanted=len(people)) for task in tasks]
    else:
        for constraint in Constraint.objects.filter(key="w1"):
            Constraint.objects.create(
                profile=constraint.profile, kind="world", key="w2", text="No noise after ten."
            )
        rows = Trajectory.objects.filter(run=runs[0]).order_by("pk")[:items]
        new = [NewItem(trajectory=row.pk, wanted=len(people)) for row in rows]
    study = Study(name=name, questionnaire=questionnaire, seed=5, status=Study.Status.OPEN)
    return store_study(
        study=study, items=new, people=people, by=manager,
        lists=[range(len(new))] * len(people),
    )  # fmt: skip


def say(
    study: Study,
    user: User,
    position: int,
    said: Mapping[str, Any] | None = None,
    *,
    submit: bool = True,
    remarks: Sequence[EditRequest] = (),
) -> Assignment:
    """Answer an item: the places in ``said`` as it says, all others alike."""
    seat = study.assignments.get(annotator=user, position=position, part="main")
    edits = []
    for slot in slots_of(seat):
        answer = (said or {}).get(slot.name, [] if slot.question.scale.kind == "marks" else 1)
        listed = isinstance(answer, list)
        edits.append(
            EditRequest(
                uuid.uuid4(),
                slot.question.key,
                None if listed else answer,
                subject=slot.subject,
                chosen=answer if listed else None,
            )  # fmt: skip
        )
    outcomes = record_edits(assignment=seat, by=user, edits=[*edits, *remarks])
    assert all(isinstance(outcome, StoredEdit) for outcome in outcomes), outcomes
    if submit:
        submit_assignment(assignment=seat, by=user)
    return seat


def judge(study: Study, dimension: str, value: float, *, name: str = "quokka-judge") -> None:
    """Let a judge have scored the last plan of the study's first item."""
    item = study.items.order_by("rank").first()
    assert item is not None and item.trajectory is not None
    run = item.trajectory.run
    judging = run.primary_judging or Judging.objects.create(run=run)
    run.primary_judging = judging
    run.save(update_fields=["primary_judging"])
    turn = item.trajectory.turns.get(is_final=True)
    version, _ = AnswererVersion.objects.get_or_create(
        kind="scripted", name=name, version="1", digest=name
    )
    JudgeScore.objects.create(
        judging=judging, turn=turn, judge=version, seat="rubric_1", dimension=dimension,
        value=value, trajectory=item.trajectory, run=run, agent=run.agent,
        turn_index=turn.index, is_final=True,
    )  # fmt: skip
