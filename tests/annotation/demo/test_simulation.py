"""Simulated annotators judge by what plans are really like, and can be stopped anywhere."""

import pytest
from django.contrib.auth.models import User

from annotation.demo.simulation import ensure_simulated_annotator, simulate_annotator
from annotation.desk.services import reopen_assignment
from annotation.models import Rating, RatingEdit, Study
from annotation.planning.planned_study import plan_study
from annotation.planning.services import create_planned_study
from annotation.plans.study_plan import ItemSource, SpecialItem
from benchmarks.models import Candidate, Constraint, Task
from tests.annotation.rows import make_runs, make_study, plan_for

pytestmark = [pytest.mark.django_db, pytest.mark.either]
GOOD = {"safety": 5, "autonomy": 5, "feasibility": 5, "effectiveness": 5}
POOR = {"safety": 1, "autonomy": 1, "feasibility": 1, "effectiveness": 1}


@pytest.fixture
def robot(db: None) -> User:
    return ensure_simulated_annotator(number=1)


@pytest.fixture
def large(robot: User) -> Study:
    """Twenty queries by two agents; even tasks' final plans are good, odd ones poor."""
    study = make_study(annotators=[robot], tasks=20, each=20)
    for item in study.assignments.select_related("trajectory__task"):
        task = item.trajectory.task
        quality = GOOD if int(task.external_id.partition("-")[2]) % 2 == 0 else POOR
        task.payload = {
            "plans": [{"key": "glue", "steps": ["Take the glue.", "Hit it."], "quality": quality}]
        }
        task.save()
    return study


def test_the_account_is_flagged_and_cannot_sign_in(robot: User) -> None:
    assert robot.annotator.is_simulated
    assert not robot.has_usable_password()
    assert ensure_simulated_annotator(number=1) == robot


def test_scores_follow_the_plans_quality(large: Study, robot: User) -> None:
    assert simulate_annotator(study=large, user=robot) == 40
    means = {}
    for odd in (False, True):
        values = [
            rating.value
            for rating in Rating.objects.filter(question="safety").select_related(
                "assignment__trajectory__task"
            )
            if (int(rating.assignment.trajectory.task.external_id.partition("-")[2]) % 2 == 1)
            is odd
        ]
        means[odd] = sum(v for v in values if v is not None) / len(values)
    assert means[False] > 4
    assert means[True] < 2


def test_a_share_can_be_done_and_the_rest_later_with_the_same_result(
    large: Study, robot: User
) -> None:
    assert simulate_annotator(study=large, user=robot, share=0.25) == 10
    assert large.assignments.exclude(state="open").count() == 10
    assert simulate_annotator(study=large, user=robot) == 30
    assert simulate_annotator(study=large, user=robot) == 0
    done = list(Rating.objects.order_by("assignment", "question").values_list("value"))
    edits = RatingEdit.objects.count()
    assert edits == len(done)

    for item in large.assignments.all():
        reopen_assignment(assignment=item, by=robot)
    Rating.objects.all().delete()
    RatingEdit._base_manager.all().delete()  # what its own manager refuses
    simulate_annotator(study=large, user=robot)
    assert list(Rating.objects.order_by("assignment", "question").values_list("value")) == done


def test_some_items_are_skipped_with_a_reason(large: Study, robot: User) -> None:
    simulate_annotator(study=large, user=robot)
    for item in large.assignments.all():
        assert item.state in ("submitted", "skipped")
        assert bool(item.skip_reason) == (item.state == "skipped")
        assert item.active_ms > 0
        assert [event.kind for event in item.events.all()] == [item.state]


def test_marks_and_decisions_follow_the_truth(robot: User) -> None:
    """Known plans and candidates say what is right; of many answers most are so."""
    runs = make_runs(tasks=30)
    plan = {"key": "hammer", "steps": ["Take the hammer.", "Hit it."], "tools": ["hammer"]}
    Task.objects.update(payload={"plans": [plan]})
    Constraint.objects.update(about="tool:hammer")
    for task in Task.objects.all():
        for key, truth in (("c1", "keep"), ("c2", "remove")):
            Candidate.objects.create(
                task=task, key=key, kind="world", text=key, payload={"truth": truth}
            )
    wishes = {"order": "random", "queries_each": None}
    marks = plan_study(plan_for(runs, [robot], questionnaire="violation_check@1", **wishes))
    study = create_planned_study(planned=marks)
    assert simulate_annotator(study=study, user=robot) == 60
    first = Rating.objects.filter(question="world_violated", subject="turn-1")
    marked = sum(row.chosen == ["w1"] for row in first)
    assert first.count() == 60 and 48 <= marked < 60  # the hammer is used; some overlook it
    source = ItemSource(dataset="Tests")
    checks = plan_for(runs, [robot], questionnaire="filter_check@1", items=source, **wishes)
    simulate_annotator(study=create_planned_study(planned=plan_study(checks)), user=robot)
    kept = Rating.objects.filter(question="keep")
    assert sum(row.value == (row.subject == "candidate-c1") for row in kept) >= 50
    assert kept.count() == 60


def test_what_comes_before_the_first_item_is_done_too(robot: User) -> None:
    runs = make_runs(tasks=2)
    lesson = SpecialItem(task="task-0", agent="zebra-7b", expected={"safety": {"values": [2]}})
    plan = plan_for(
        runs, [robot], consent="I agree.", information="Read.", training=(lesson,),
        background="about_annotators@1",
    )  # fmt: skip
    study = create_planned_study(planned=plan_study(plan))
    assert simulate_annotator(study=study, user=robot) > 0
    assert simulate_annotator(study=study, user=robot) == 0
    participant = study.participants.get()
    assert (participant.training, participant.told_background) == ("passed", True)
    assert participant.consent_version == 1
