"""Plans: what they come to, what they refuse, and that what is stored is what was planned."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User

from annotation.assignments.services import claim_next_item
from annotation.designs.sampling import Sample
from annotation.errors import Refused
from annotation.models import Assignment, Item, Membership, Study
from annotation.planning.planned_study import plan_study
from annotation.planning.services import create_planned_study, launch_study
from annotation.plans.plan_files import read_document
from annotation.plans.study_plan import ItemSource, PlanError, SpecialItem, StudyPlan
from annotation.questionnaires.requirements import trajectory_content
from annotation.studies.design import study_certificate, study_design
from benchmarks.models import Candidate, Dataset, Profile, Task, Trajectory, Turn
from tests.annotation.rows import make_person, make_runs, make_trajectory, plan_for, play_in

pytestmark = [pytest.mark.django_db, pytest.mark.either]


def refused(plan: StudyPlan) -> dict[str, str]:
    """Path → words of the problems of a plan that cannot be carried out."""
    with pytest.raises(PlanError) as caught:
        plan_study(plan)
    return {problem.path: problem.words for problem in caught.value.problems}


# --- The paper's design, as before ----------------------------------------------------------------


def test_all_agents_of_a_query_go_to_one_annotator(study: Study, ann: User, bob: User) -> None:
    for user in (ann, bob):
        items = study.assignments.filter(annotator=user)
        assert [item.position for item in items] == [1, 2]
        assert len({item.trajectory.task_id for item in items if item.trajectory}) == 1
        assert len({item.trajectory.run_id for item in items if item.trajectory}) == 2
    assert study.assignments.values("trajectory").distinct().count() == 4


def test_the_maker_manages_and_annotators_are_members(study: Study) -> None:
    roles = set(study.memberships.values_list("user__username", "role"))
    assert roles == {("mia", "manager"), ("ann", "annotator"), ("bob", "annotator")}
    assert study.settings["design"]["plan"]["queries_each"] == 1
    assert study.settings["labels"] == {"agents": ["scripted"], "others": ["lexicon"]}


def test_items_are_asked_only_what_they_have(ann: User) -> None:
    run = make_runs(tasks=1)[0]
    profile = Profile.objects.get()
    Trajectory.objects.all().delete()
    full = make_trajectory(run=run, profile=profile)
    run.trajectories.filter(pk=full.pk).update(attempt=2)
    silent = make_trajectory(run=run, profile=profile, feedback="", violated=False)
    has = trajectory_content([full.pk, silent.pk])
    assert has == {
        full.pk: {"feedback", "violations", "final_plan", "profile", "world_constraints"},
        silent.pk: {"final_plan", "profile", "world_constraints"},
    }
    planned = plan_study(plan_for([run], [ann]))
    lacking = [(row.question.key, row.why) for row in planned.questions if row.left_out]
    assert lacking == [
        ("feedback_reasonable", "have no feedback on a plan"),
        ("feedback_clear", "have no feedback on a plan or no violations found by judges"),
    ]
    study = create_planned_study(planned=planned)
    asked = {item.trajectory_id: len(item.item.asked) for item in study.assignments.all()}
    assert asked == {full.pk: 10, silent.pk: 8}


def test_what_has_not_ended_with_a_plan_is_left_out_and_counted(ann: User) -> None:
    runs = make_runs(tasks=2)
    first, second = Trajectory.objects.order_by("pk")[:2]
    Trajectory.objects.filter(pk=first.pk).update(status="failed")
    Turn.objects.filter(trajectory=second).delete()
    planned = plan_study(plan_for(runs, [ann], queries_each=5))
    assert (planned.assignments, planned.source_items.unusable, planned.tasks) == (2, 2, 2)


def sampled(count: int) -> dict[str, Any]:
    """So many items of each model."""
    return {"items": ItemSource(dataset="Tests", sample=Sample(way="per_model", count=count))}


# One row for each wish that makes no sense: the change, where it is told, and words of it.
NONSENSE: list[tuple[dict[str, Any], str, str]] = [
    ({"annotators": ()}, "places", "at least one annotator"),
    ({"annotators": ("ann", "ann")}, "annotators", "nobody can have two places"),
    ({"annotators": ("ann", "zoe")}, "annotators", "no account with this name: zoe"),
    ({"queries_each": 0}, "queries_each", "from 1 to 1,000"),
    ({"queries_each": None}, "queries_each", "how many queries"),
    ({"items": ItemSource()}, "items", "say where the items come from"),
    ({"items": ItemSource(runs=(10**9,))}, "items.runs", "there is no run 1000000000"),
    ({"items": ItemSource(experiment="nothing")}, "items.experiment", "no experiment 'nothing'"),
    ({"items": ItemSource(dataset="nothing")}, "items.dataset", "nothing"),
    ({"items": ItemSource(dataset="Tests", agents=("x",))}, "items.agents", "not found: x"),
    ({"items": ItemSource(dataset="Tests", levels=("x",))}, "items.levels", "there are mid"),
    ({"items": ItemSource(dataset="Tests", endings=("x",))}, "items.endings", "valid_plan"),
    ({"items": ItemSource(dataset="Tests", tasks=("x",))}, "items.tasks", "there are task-0"),
    ({"raters": 2}, "raters", "1 to 1 of the annotators, not 2"),
    ({"raters": 0}, "raters", "from 1 to"),
    ({"dealing": "pool"}, "order", "a pool cannot keep queries together"),
    ({"dealing": "pool", "order": "blocks"}, "queries_each", "choose “balanced lists”"),
    ({"dealing": "pool", "order": "blocks", "whole_tasks": True}, "whole_tasks", "a pool cannot"),
    ({"places": 201}, "places", "from 0 to 200"),
    ({"name": " "}, "name", "a text that is not blank"),
    ({"questionnaire": "none@1"}, "questionnaire", "there is no questionnaire"),
    ({"questionnaire": "about_annotators@1"}, "questionnaire", "asks about annotators"),
    ({"questionnaire": "tool_dialogues@1"}, "questionnaire", "not for adaplanbench"),
    ({"background": "ten_questions@1"}, "background", "does not ask about annotators"),
    ({"pass_mark": 75.0}, "pass_mark", "a share from 0 to 1"),
    ({"gold_each": 2}, "gold", "there are no gold items"),
    (sampled(9), "items.sample.count", "9 items are asked"),
]


def test_plans_that_make_no_sense_are_refused_with_the_place(ann: User) -> None:
    plan = plan_for(make_runs(tasks=1), [ann])
    for change, path, said in NONSENSE:
        found = refused(replace(plan, **change))
        assert said in found.get(path, ""), (change, found)
    assert not Study.objects.exists()


def test_several_problems_are_told_at_once(ann: User) -> None:
    plan = plan_for(make_runs(tasks=1), [ann], name="", raters=0, seed=-1, idle_seconds=1)
    assert set(refused(plan)) == {"name", "raters", "seed", "idle_seconds"}


def test_nothing_to_assign_makes_no_plan(ann: User) -> None:
    runs = make_runs(tasks=1)
    Turn.objects.all().delete()
    assert "nothing to assign" in refused(plan_for(runs, [ann]))["items"]


def test_a_study_that_fails_half_way_leaves_nothing(
    ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = plan_study(plan_for(make_runs(), [ann]))

    def fail(*args: object, **kwargs: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Assignment.objects.__class__, "bulk_create", fail, raising=False)
    with pytest.raises(OSError, match="disk full"):
        create_planned_study(planned=planned)
    assert not Study.objects.exists()
    assert not Membership.objects.exists()


# --- Filters, samples, raters, orders -------------------------------------------------------------


def test_a_sample_with_three_raters_each_in_blocks(ann: User, bob: User) -> None:
    cat = make_person("cat")
    plan = plan_for(
        make_runs(tasks=4), [ann, bob, cat], raters=3, order="blocks", queries_each=None,
        **sampled(2),
    )  # fmt: skip
    study = create_planned_study(planned=plan_study(plan))
    assert study.items.count() == 4
    assert set(study.items.values_list("wanted", "given")) == {(3, 3)}
    assert Counter(study.assignments.values_list("annotator__username", flat=True)) == {
        "ann": 4, "bob": 4, "cat": 4,
    }  # fmt: skip
    models = Counter(study.items.values_list("trajectory__run__agent__name", flat=True))
    assert set(models.values()) == {2}


def test_filters_narrow_the_source(ann: User) -> None:
    runs = make_runs(tasks=3)
    Trajectory.objects.filter(run=runs[0]).order_by("pk")[0].delete()
    last = Trajectory.objects.order_by("pk").last()
    assert last is not None
    Trajectory.objects.filter(pk=last.pk).update(termination="turn_limit")
    plan = plan_for(runs, [ann], order="random", queries_each=None)
    by_agent = replace(plan, items=ItemSource(dataset="Tests", agents=(runs[0].agent.name,)))
    assert len(plan_study(by_agent).options) == 2
    by_ending = replace(plan, items=ItemSource(experiment="Pair", endings=("turn_limit",)))
    assert [option.id for option in plan_study(by_ending).options] == [last.pk]
    by_task = replace(plan, items=ItemSource(dataset="Tests", tasks=("task-1",), levels=("mid",)))
    assert plan_study(by_task).tasks == 1


def test_who_played_in_a_trajectory_is_not_given_it(ann: User, bob: User) -> None:
    runs = make_runs(tasks=2)
    played = Trajectory.objects.order_by("pk")[0]
    play_in(ann, played)
    plan = plan_for(runs, [ann, bob], order="random", queries_each=None)
    planned = plan_study(plan)
    assert planned.exclusions == {"Annotator 1": {played.pk}}
    assert planned.certificate.exclusions_broken == ()
    study = create_planned_study(planned=planned)
    assert not study.assignments.filter(annotator=ann, trajectory=played).exists()
    assert study.assignments.filter(annotator=bob, trajectory=played).exists()
    both = refused(replace(plan, raters=2))
    assert "needs 2 raters" in both["annotators"]
    # The paper's design knows no way round, so it is refused rather than broken.
    alone = refused(plan_for(runs, [ann], queries_each=2))
    assert "in which they played" in alone["order"]


def test_lists_need_no_accounts(ann: User) -> None:
    """What is on a list does not depend on who claims it."""
    runs = make_runs(tasks=8)
    free = plan_study(replace(plan_for(runs, []), places=8))
    assert (free.loads, free.people) == ({f"Annotator {n}": 2 for n in range(1, 9)}, {})
    some = plan_study(replace(plan_for(runs, [ann]), places=8))
    assert some.digest == free.digest
    assert some.claimed[:2] == [("Annotator 1", "ann", 2), ("Annotator 2", "", 2)]
    study = create_planned_study(planned=some)
    assert study.assignments.filter(annotator=ann).count() == study.assignments.count() == 2
    assert study_certificate(study).sha256 == some.digest


@pytest.mark.parametrize("order", ["queries", "blocks", "latin", "random"])
def test_so_many_queries_for_each_whatever_the_order(order: str) -> None:
    """In any order eight lists of one query each are 16 items of 20, never all of them."""
    runs = make_runs(tasks=10)
    plan = replace(plan_for(runs, [], order=order, queries_each=1, seed=4), places=8)
    planned = plan_study(plan)
    assert (len(planned.options), planned.tasks, set(planned.loads.values())) == (16, 8, {2})
    twice = plan_study(replace(plan, raters=2))
    assert (twice.tasks, set(twice.loads.values())) == (4, {2})
    assert planned.options == plan_study(plan).options
    if order != "queries":
        everything = plan_study(replace(plan, queries_each=None))
        assert len(everything.options) == 20


def test_tasks_are_judged_with_their_candidates(ann: User, bob: User) -> None:
    make_runs(tasks=4)
    for task in Task.objects.order_by("pk")[:3]:
        Candidate.objects.create(task=task, key="c1", kind="world", text="No hammer.")
    plan = StudyPlan(
        name="Filter", questionnaire="filter_check@1", items=ItemSource(dataset="Tests"),
        annotators=("ann", "bob"), raters=2, order="random",
    )  # fmt: skip
    planned = plan_study(plan)
    assert (len(planned.options), planned.source_items.unasked, planned.models) == (3, 1, 0)
    study = create_planned_study(planned=planned)
    item = study.items.all()[0]
    assert (item.trajectory_id, item.asked) == (None, ["keep"])
    assert item.subjects == {"candidate": ["c1"]}
    strange = refused(replace(plan, items=ItemSource(dataset="Tests", agents=("zebra-7b",))))
    assert "is about tasks" in strange["items.agents"]


def test_a_pool_lends_items_in_the_planned_order(ann: User) -> None:
    plan = plan_for(
        make_runs(tasks=3), [ann], dealing="pool", lease_minutes=30, order="blocks", raters=2,
        queries_each=None,
    )  # fmt: skip
    planned = plan_study(plan)
    assert (planned.assignments, planned.lists) == (12, {})
    study = create_planned_study(planned=planned)
    assert (study.dealing, study.lease_minutes) == ("pool", 30)
    assert not study.assignments.exists()
    taken = claim_next_item(study=study, user=ann)
    assert taken is not None
    assert taken.trajectory_id == planned.items[0].trajectory
    assert study_certificate(study).sha256 == planned.digest


# --- Training and gold ----------------------------------------------------------------------------

RIGHT = {"safety": {"values": [4, 5], "why": "Nothing can happen."}}


def test_training_and_gold_are_taken_out_of_the_items(ann: User, bob: User) -> None:
    runs = make_runs(tasks=8)
    ids = list(Trajectory.objects.order_by("pk").values_list("pk", flat=True))
    plan = plan_for(
        runs, [ann, bob], order="random", queries_each=None, gold_each=2,
        training=(SpecialItem(trajectory=ids[0], expected=RIGHT),),
        gold=tuple(SpecialItem(trajectory=pk, expected=RIGHT) for pk in ids[1:3]),
    )  # fmt: skip
    planned = plan_study(plan)
    study = create_planned_study(planned=planned)
    uses = Counter(study.items.values_list("use", flat=True))
    assert uses == {"main": 13, "training": 1, "gold": 2}
    assert study.trains
    lesson = study.items.get(use=Item.Use.TRAINING)
    assert (lesson.trajectory_id, lesson.expected, lesson.given) == (ids[0], RIGHT, 2)
    for user in (ann, bob):
        own = study.assignments.filter(annotator=user)
        assert own.filter(part="training").count() == 1
        main = own.filter(part="main").order_by("position")
        gold = [row.position for row in main if row.item.use == "gold"]
        assert len(gold) == 2
        assert [row.position for row in main] == list(range(1, len(main) + 1))
    certificate = study_certificate(study)
    assert certificate.sha256 == planned.digest == study_design(study).planned_digest
    assert all(len(places) == 2 for places in certificate.gold.values())


MISFITS: list[tuple[dict[str, Any], str, str]] = [
    ({"expected": RIGHT}, "training[1]", "say which item"),
    ({"trajectory": 10**9, "expected": RIGHT}, "training[1]", "no such trajectory"),
    ({"task": "task-0", "expected": RIGHT}, "training[1]", "2 trajectories are meant"),
    ({"trajectory": 1, "agent": "x", "expected": RIGHT}, "training[1]", "not both"),
    ({"task": "task-0", "agent": "zebra-7b"}, "training[1]", "at least one expected answer"),
    ({"task": "task-0", "agent": "zebra-7b", "expected": {"nothing": {"values": [1]}}},
     "training[1].expected.nothing", "no such place"),
    ({"task": "task-0", "agent": "zebra-7b", "expected": {"safety": {"values": [6]}}},
     "training[1].expected.safety.values", "from 1 to 5, found 6"),
    ({"task": "task-0", "agent": "zebra-7b", "expected": {"safety": {"chosen": []}}},
     "training[1].expected.safety", "give values"),
]  # fmt: skip


def test_training_items_that_do_not_fit_are_named(ann: User) -> None:
    plan = plan_for(make_runs(tasks=2), [ann])
    for special, path, said in MISFITS:
        found = refused(replace(plan, training=(SpecialItem(**special),)))
        assert said in found.get(path, ""), (special, found)


def test_nobody_trains_with_a_trajectory_of_their_own(ann: User) -> None:
    runs = make_runs(tasks=2)
    played = Trajectory.objects.order_by("pk")[0]
    play_in(ann, played)
    lesson = SpecialItem(trajectory=played.pk, expected=RIGHT)
    found = refused(plan_for(runs, [ann], training=(lesson,)))
    assert "ann played in this trajectory" in found["training[1]"]


# --- What is kept, drafts, launching --------------------------------------------------------------


def test_the_plan_the_texts_and_the_times_are_kept(ann: User) -> None:
    plan = plan_for(
        make_runs(), [ann], information="Read this.", consent="I agree.", pass_mark=0.5,
        background="about_annotators@1", idle_seconds=30, break_minutes=0, blinded=False,
        shows_hidden=False, verdicts="none", question_order="rotated", gold_feedback=True,
    )  # fmt: skip
    study = create_planned_study(planned=plan_study(plan), launch=False)
    assert study.status == Study.Status.DRAFT
    assert read_document(study.settings["design"]["plan"]) == plan
    assert {(row.kind, row.text) for row in study.texts.all()} == {
        ("information", "Read this."), ("consent", "I agree."),
    }  # fmt: skip
    assert study.consent_version == 1
    stored = Study.objects.get()
    assert (stored.idle_seconds, stored.break_minutes, stored.pass_mark) == (30, 0, 0.5)
    assert (stored.blinded, stored.shows_hidden) == (False, False)
    told = (stored.verdicts, stored.question_order, stored.gold_feedback)
    assert told == ("none", "rotated", True)
    assert stored.items.filter(use="background").count() == 1


def test_a_draft_takes_no_answers_until_it_is_launched(ann: User, manager: User) -> None:
    study = create_planned_study(
        planned=plan_study(plan_for(make_runs(), [ann])), by=manager, launch=False
    )
    with pytest.raises(Refused):
        claim_next_item(study=study, user=ann)
    launch_study(study=study, by=manager)
    assert claim_next_item(study=study, user=ann) is not None
    with pytest.raises(Refused, match="open already"):
        launch_study(study=study, by=manager)
    event = study.events.get(kind="status")
    assert event.detail == {"before": "draft", "after": "open"}


def test_who_played_meanwhile_stops_the_launch(ann: User) -> None:
    planned = plan_study(plan_for(make_runs(), [ann]))
    study = create_planned_study(planned=planned, launch=False)
    first = study.assignments.all()[0].trajectory
    assert first is not None
    play_in(ann, first)
    with pytest.raises(Refused, match="ann has meanwhile played"):
        launch_study(study=study, by=None)
    assert Study.objects.get().status == Study.Status.DRAFT


def test_the_certificate_tells_of_changes_since_the_plan(study: Study, ann: User) -> None:
    planned = study_design(study).planned_digest
    assert study_certificate(study).sha256 == planned
    first = study.assignments.filter(annotator=ann)[0]
    Assignment.objects.filter(pk=first.pk).update(state="returned")
    assert study_certificate(study).sha256 != planned


def test_the_same_plan_gives_the_same_study(ann: User, bob: User) -> None:
    plan = plan_for(make_runs(tasks=5), [ann, bob], order="latin", queries_each=None, seed=9)
    first, second = plan_study(plan), plan_study(replace(plan, annotators=("bob", "ann")))
    assert first.digest == second.digest
    assert first.digest != plan_study(replace(plan, seed=10)).digest
    assert Dataset.objects.count() == 1
