"""Making studies: what is assigned, what is asked, what is refused."""

import pytest
from django.contrib.auth.models import User

from annotation.models import Assignment, Membership, Study
from annotation.services.errors import Refused
from annotation.services.studies import (
    create_study,
    fillers_of,
    plan_design,
    set_study_status,
    what_trajectories_have,
)
from benchmarks.models import Profile, Run, Trajectory, Turn
from tests.annotation.rows import make_person, make_runs, make_trajectory

pytestmark = pytest.mark.django_db


def test_all_agents_of_a_query_go_to_one_annotator(study: Study, ann: User, bob: User) -> None:
    for user in (ann, bob):
        items = study.assignments.filter(annotator=user)
        assert [item.position for item in items] == [1, 2]
        assert len({item.trajectory.task_id for item in items}) == 1
        assert len({item.trajectory.run_id for item in items}) == 2
    assert study.assignments.values("trajectory").distinct().count() == 4


def test_the_maker_manages_and_annotators_are_members(study: Study, manager: User) -> None:
    roles = set(study.memberships.values_list("user__username", "role"))
    assert roles == {("mia", "manager"), ("ann", "annotator"), ("bob", "annotator")}
    assert study.settings["design"]["queries_each"] == 1
    assert study.settings["labels"] == {"agents": ["scripted"], "others": ["lexicon"]}


def test_items_are_asked_only_what_they_have(ann: User) -> None:
    run = make_runs(tasks=1)[0]
    profile = Profile.objects.get()
    Trajectory.objects.all().delete()
    full = make_trajectory(run=run, profile=profile)
    run.trajectories.filter(pk=full.pk).update(attempt=2)
    silent = make_trajectory(run=run, profile=profile, feedback="", violated=False)
    has = what_trajectories_have([full.pk, silent.pk])
    assert has == {
        full.pk: {"feedback", "violations", "final_plan", "profile", "world_constraints"},
        silent.pk: {"final_plan", "profile", "world_constraints"},
    }
    design = plan_design(runs=[run], annotators=["ann"], each=1, seed=1)
    study = create_study(name="S", design=design, people={"ann": ann})
    asked = {item.trajectory_id: len(item.item.asked) for item in study.assignments.all()}
    assert asked == {full.pk: 10, silent.pk: 8}


def test_what_has_not_ended_with_a_plan_is_left_out_and_counted() -> None:
    runs = make_runs(tasks=2)
    first, second = Trajectory.objects.order_by("pk")[:2]
    Trajectory.objects.filter(pk=first.pk).update(status="failed")
    Turn.objects.filter(trajectory=second).delete()
    design = plan_design(runs=runs, annotators=["ann"], each=5, seed=1)
    assert (design.items, design.unusable, design.queries) == (2, 2, 2)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"annotators": []}, "at least one annotator"),
        ({"annotators": ["ann", "ann"]}, "nobody twice"),
        ({"each": 0}, "at least one query"),
        ({"runs": []}, "at least one run"),
        ({"raters": 2}, "1 to 1 of the annotators named here, not 2"),
        ({"raters": 0}, "not 0"),
        ({"trials": "last"}, "trials are all or first, not 'last'"),
    ],
)
def test_designs_that_make_no_sense_are_refused(change: dict[str, object], said: str) -> None:
    given = {"runs": make_runs(tasks=1), "annotators": ["ann"], "each": 1, "seed": 1, **change}
    with pytest.raises(Refused, match=said):
        plan_design(**given)  # type: ignore[arg-type]


def test_runs_of_another_system_are_refused() -> None:
    runs = make_runs(tasks=1)
    runs[0].dataset.system = "other"
    with pytest.raises(Refused, match="is for adaplanbench, not for other"):
        plan_design(runs=runs, annotators=["ann"], each=1, seed=1)


def test_nothing_to_assign_makes_no_study() -> None:
    runs = make_runs(tasks=1)
    Turn.objects.all().delete()
    design = plan_design(runs=runs, annotators=["ann"], each=1, seed=1)
    with pytest.raises(Refused, match="nothing to assign"):
        create_study(name="S", design=design, people={"ann": make_person("ann")})
    assert not Study.objects.exists()


def test_a_study_that_fails_half_way_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    design = plan_design(runs=make_runs(), annotators=["ann"], each=1, seed=1)

    def fail(*args: object, **kwargs: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Assignment.objects.__class__, "bulk_create", fail, raising=False)
    with pytest.raises(OSError, match="disk full"):
        create_study(name="S", design=design, people={"ann": make_person("ann")})
    assert not Study.objects.exists()
    assert not Membership.objects.exists()


def test_status_goes_between_open_and_closed_only(study: Study) -> None:
    set_study_status(study=study, status="closed")
    assert study.status == "closed"
    with pytest.raises(Refused):
        set_study_status(study=study, status="draft")
    assert Study.objects.get().status == "closed"


def test_fillers_are_told_over_all_runs_together() -> None:
    runs = make_runs(tasks=1)
    Run.objects.filter(pk=runs[1].pk).update(roles={"agent": [{"label": "recorded"}]})
    labels = fillers_of([run.pk for run in runs])
    assert labels == {"agents": ["recorded", "scripted"], "others": ["lexicon"]}
