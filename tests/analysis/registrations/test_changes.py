"""A registered comparison is as registered until anything changes; each change is named."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from analysis.filters import Filters
from analysis.models import Registration
from analysis.pages.catalogue import PAGES, select
from analysis.registrations.document import sha256
from analysis.registrations.marks import page_standing
from analysis.registrations.services import freeze, withdraw
from annotation.models import Assignment, Item, Participant, Rating, RatingEdit, Study
from benchmarks.core.problems import FileRefused
from benchmarks.core.registry import get_system
from benchmarks.models import Agent, Dataset, Experiment, Judging, Run, Task, Trajectory
from benchmarks.runs.versions import current_pins
from tests.analysis.human_rows import answer, make_item, make_kind_study, make_people
from tests.analysis.rows import (
    JUDGES,
    flat,
    make_certificate,
    make_dataset,
    make_person,
    make_ratings,
    make_run,
    make_study,
    make_trajectory,
)

pytestmark = pytest.mark.django_db
NAMES = ("ada", "bob")


@dataclass
class World:
    """A registration with its data; ``query`` are the filters that the page is opened with."""

    row: Registration
    root: User
    page: str
    query: dict[str, Any]
    dataset: Dataset
    experiment: Experiment | None = None
    study: Study | None = None

    def standing(self, **changes: Any) -> tuple[str, list[str], str]:
        """Status, named aspects and reason, as the page with these filters has them."""
        selection = select(PAGES[self.page], Filters(**{**self.query, **changes}), self.root)
        assert self.row in selection.registrations
        found = page_standing(self.page, selection, Registration.objects.get(pk=self.row.pk))
        assert found is not None
        return found.status, [one.aspect for one in found.differences], found.reason

    @property
    def runs(self) -> list[Run]:
        return list(Run.objects.filter(experiment=self.experiment).order_by("agent__name"))


def play(dataset: Dataset, name: str, experiment: Experiment | None, **about: Any) -> Run:
    """A finished run on all tasks, under the versions of today."""
    run = make_run(dataset, name, experiment=experiment, **about)
    run.pins = current_pins(get_system(dataset.system))
    run.created_trajectories = 4
    run.save()
    for task in range(1, 5):
        one = make_trajectory(run, task, accurate=float(name == "ada"))
        Trajectory.objects.filter(pk=one.pk).update(started_at=timezone.now() + timedelta(days=1))
    return run


def frozen(dataset: Dataset, by: User, **more: Any) -> Registration:
    for name in NAMES:
        Agent.objects.get_or_create(name=name, defaults={"title": name.title(), "kind": "scripted"})
    values: dict[str, Any] = {
        "title": "Ada leads", "question": "mean", "measure": "accurate",
        "comparisons": [{"first": "ada", "direction": ">", "second": "Bob"}],
        "stopping": "When all tasks are done.", "experiment": "Main", "level": "mid",
        "judges": list(JUDGES),
    }  # fmt: skip
    return freeze(values=values | more, by=by, dataset=dataset)


def agents_world(question: str = "mean", page: str = "compare-models", **more: Any) -> World:
    root, dataset = make_person("root", superuser=True), make_dataset(tasks=4)
    row = frozen(dataset, root, question=question, **more)
    experiment = Experiment.objects.create(name="Main")
    for name in NAMES:
        play(dataset, name, experiment)
    query = {"dataset": str(dataset.pk), "experiment": str(experiment.pk)}
    if page == "compare-models":
        query["measure"] = "accurate"
    return World(row, root, page, query, dataset, experiment)


@pytest.fixture
def world(db: None) -> World:
    return agents_world()


@pytest.mark.parametrize("key", ["compare-models", "leaderboard"])
def test_what_was_planned_is_as_registered(key: str) -> None:
    assert agents_world(page=key).standing() == ("registered", [], "")


def pooled_world() -> World:
    """Scores of all agents together are to fall from turn to turn."""
    return agents_world("slope", "decline", measure="safety",
                        comparisons=[{"first": "all", "direction": "<", "second": "0"}],
                        agents=list(NAMES))  # fmt: skip


def test_a_decline_is_as_registered_with_its_own_correction() -> None:
    planned = pooled_world()
    assert planned.standing() == ("registered", [], "")
    assert planned.standing(align="end")[:2] == ("exploratory", ["turns"])
    other = {"dimensions": ("feasibility",)}
    assert planned.standing(**other)[:2] == ("exploratory", ["measure"])


# --- Changes of what the address chooses ----------------------------------------------------------

FILTERS: Mapping[str, tuple[dict[str, Any], str]] = {
    "measure": ({"measure": "valid"}, "measure"),
    "all runs": ({"experiment": "all"}, "experiment"),
    "one agent left away": ({"agents": ("ada",)}, "agents shown"),
}


@pytest.mark.parametrize("name", FILTERS)
def test_a_changed_filter_is_named(world: World, name: str) -> None:
    changes, aspect = FILTERS[name]
    status, named, _ = world.standing(**changes)
    assert status == "exploratory" and aspect in named


def test_runs_picked_one_by_one_are_named(world: World) -> None:
    status, named, _ = world.standing(runs=tuple(str(run.pk) for run in world.runs))
    assert status == "exploratory" and "runs" in named


def test_scores_of_people_are_named(world: World) -> None:
    study = make_study()
    one = Trajectory.objects.filter(run__in=world.runs).first()
    assert one is not None
    make_ratings(study, make_people()[0], one, {"q1": 4})
    assert world.standing(scores="people")[:2] == ("exploratory", ["scores of"])


# --- Changes of the data --------------------------------------------------------------------------


def new_version(world: World) -> None:
    Dataset.objects.filter(pk=world.dataset.pk).update(version="2")


def other_checksum(world: World) -> None:
    Dataset.objects.filter(pk=world.dataset.pk).update(checksum="ab" * 32)
    document = {**world.row.document, "checksum": "cd" * 32}
    Registration.objects.filter(pk=world.row.pk).update(document=document, digest=sha256(document))


def other_level(world: World) -> None:
    Run.objects.filter(experiment=world.experiment).update(level="high")


def other_condition(world: World) -> None:
    Run.objects.filter(experiment=world.experiment).update(condition="own")


def other_judging(world: World) -> None:
    for run in world.runs:
        Judging.objects.create(run=run, name="again", made_by=make_run(world.dataset, "judge"))
    world.query["judging"] = "again"


def third_agent(world: World) -> None:
    play(world.dataset, "cy", world.experiment)


def second_experiment(world: World) -> None:
    again = Experiment.objects.create(name="Main")
    for name in NAMES:
        play(world.dataset, name, again)


def other_judges(world: World) -> None:
    run = world.runs[0]
    run.roles["rubric_judge"] = run.roles["rubric_judge"][:2] + [{"policy": "lenient"}]
    run.save()


def another_scorer(world: World) -> None:
    run = world.runs[0]
    run.pins = {**run.pins, "scorer": "0"}
    run.save()


def other_prompts(world: World) -> None:
    run = world.runs[1]
    run.pins = {**run.pins, "prompts": "0"}
    run.save()


def more_tasks(world: World) -> None:
    Task.objects.create(dataset=world.dataset, external_id="t5", prompt="Mend 5.")
    make_trajectory(world.runs[0], 5)


def more_attempts(world: World) -> None:
    make_trajectory(world.runs[0], 1, attempt=2)


def a_task_never_run(world: World) -> None:
    Trajectory.objects.filter(run=world.runs[0], task__external_id="t4").delete()
    Run.objects.filter(pk=world.runs[0].pk).update(created_trajectories=3)


def another_task(world: World) -> None:
    Trajectory.objects.filter(run=world.runs[0], task__external_id="t4").delete()
    Task.objects.create(dataset=world.dataset, external_id="t5", prompt="Mend 5.")
    make_trajectory(world.runs[0], 5)


def stopped_early(world: World) -> None:
    one = Trajectory.objects.filter(run=world.runs[0]).first()
    Trajectory.objects.filter(pk=one.pk).update(status="pending")  # type: ignore[union-attr]


def answered_before(world: World) -> None:
    early = timezone.now() - timedelta(days=30)
    Trajectory.objects.filter(run=world.runs[0]).update(started_at=early)


def imported_elsewhere(world: World) -> None:
    Run.objects.filter(pk=world.runs[0].pk).update(kind="imported")


def tasks_that_do_not_count(world: World) -> None:
    make_certificate(world.dataset, ("t1", "mid"))
    world.query["tasks"] = "all"


def withdrawn(world: World) -> None:
    withdraw(row=world.row, reason="The design was wrong.", by=world.root)


def altered(world: World) -> None:
    document = dict(world.row.document)
    document["comparisons"] = [{"first": "ada", "direction": "<", "second": "bob"}]
    Registration.objects.filter(pk=world.row.pk).update(document=document)


CHANGES: Mapping[str, tuple[Callable[[World], None], str]] = {
    "version of the dataset": (new_version, "version of the dataset"),
    "content of the dataset": (other_checksum, "content of the dataset"),
    "level": (other_level, "level"),
    "condition": (other_condition, "condition"),
    "judging": (other_judging, "judging"),
    "agent added": (third_agent, "agents"),
    "family": (third_agent, "family"),
    "experiment run twice": (second_experiment, "experiments of this name"),
    "judges": (other_judges, "judges"),
    "scorer": (another_scorer, "version of scorer"),
    "prompts": (other_prompts, "version of prompts"),
    "tasks added": (more_tasks, "data added later: tasks"),
    "attempts added": (more_attempts, "data added later: trajectories"),
    "task never run": (a_task_never_run, "data missing: tasks"),
    "task exchanged": (another_task, "set of tasks"),
    "stopped early": (stopped_early, "stopping: finished so far"),
    "answered before": (answered_before, "data from before"),
    "imported": (imported_elsewhere, "imported data"),
    "exclusion of tasks": (tasks_that_do_not_count, "tasks that count"),
    "withdrawn": (withdrawn, "registration"),
    "altered": (altered, "document"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_the_data_is_named(world: World, name: str) -> None:
    change, aspect = CHANGES[name]
    change(world)
    status, named, _ = world.standing()
    assert status == "exploratory" and aspect in named


# --- Changes of the plan, as another choice before the first answer -------------------------------

PLANS: Mapping[str, tuple[dict[str, Any], str]] = {
    "correction": ({"correction": "holm"}, "correction"),
    "level of the tests": ({"alpha": 0.01}, "α"),
    "family of one": ({"agents": ["cy"]}, "family"),
    "sample": ({"trajectories": 8}, "data missing: trajectories"),
    "settings": ({"settings": "ab" * 16}, "settings of the runs"),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_page_that_does_otherwise_than_planned_says_so(name: str) -> None:
    more, aspect = PLANS[name]
    Agent.objects.create(name="cy", title="Cy", kind="scripted")
    status, named, _ = agents_world(**more).standing()
    assert status == "exploratory" and aspect in named


# --- Deleted data ---------------------------------------------------------------------------------


def test_without_the_runs_of_an_agent_it_is_undefined(world: World) -> None:
    run = world.runs[1]
    Run.objects.filter(pk=run.pk).update(primary_judging=None)
    Trajectory.objects.filter(run=run).delete()
    run.delete()
    status, named, reason = world.standing()
    assert (status, named) == ("undefined", [])
    assert reason == "no finished run of bob is here: deleted, or not made yet"


def test_without_some_trajectories_of_a_compared_agent_it_is_undefined(world: World) -> None:
    Trajectory.objects.filter(run=world.runs[1], task__external_id="t4").delete()
    reason = "1 of 4 registered trajectories of bob is gone"
    assert world.standing() == ("undefined", [], reason)
    status, named, _ = world.standing(deleted="show")
    assert (status, named[0]) == ("exploratory", "deleted data")
    # Another measure was not registered: it is exploratory, as before.
    status, named, _ = world.standing(measure="valid")
    assert status == "exploratory" and "data missing: tasks" in named


def test_deleted_trajectories_of_agents_that_are_not_compared_leave_it_exploratory() -> None:
    Agent.objects.create(name="cy", title="Cy", kind="scripted")
    world = agents_world(agents=["ada", "bob", "cy"])
    run = play(world.dataset, "cy", world.experiment)
    assert world.standing() == ("registered", [], "")
    Trajectory.objects.filter(run=run, task__external_id="t4").delete()
    assert world.standing()[0] == "exploratory"


def test_a_change_over_all_agents_is_undefined_without_one_of_them() -> None:
    world = pooled_world()
    run = world.runs[1]
    Run.objects.filter(pk=run.pk).update(primary_judging=None)
    Trajectory.objects.filter(run=run).delete()
    run.delete()
    assert world.standing() == (
        "undefined", [], "no run of bob is here: deleted, or not made yet",
    )  # fmt: skip


def test_a_change_over_all_agents_is_of_the_judges_scores() -> None:
    world = pooled_world()
    assert world.row.document["scores"] == "judges"
    item = make_item(
        make_kind_study("turn_scores@1"), asked=("safety",), subjects={"turn": ["1"]},
        trajectory=Trajectory.objects.filter(run__in=world.runs).first(),
    )  # fmt: skip
    answer(item, make_people()[0], {"safety.turn-1": 4})
    # The page now leads with each agent's change, in scores that people corrected.
    status, named, _ = world.standing()
    assert status == "exploratory" and named == ["scores of", "measure"]
    assert world.standing(scores="judges") == ("registered", [], "")


def test_a_change_over_all_agents_in_scores_of_people_is_refused() -> None:
    compared = [{"first": "all", "direction": "<", "second": "0"}]
    with pytest.raises(FileRefused, match="scores: expected judges"):
        frozen(make_dataset(), make_person("root", superuser=True), question="slope",
               measure="safety", comparisons=compared, scores="people")  # fmt: skip


# --- Studies --------------------------------------------------------------------------------------


def study_world(page: str = "judges", **more: Any) -> World:
    """Three people rate four plans of one agent, which three judges scored."""
    root, dataset = make_person("root", superuser=True), make_dataset(tasks=4)
    study = make_study()
    run = make_run(dataset, "ada")
    plans = [make_trajectory(run, task, scores=[flat(4)]) for task in range(1, 5)]
    for rank, plan in enumerate(plans):
        Item.objects.create(study=study, trajectory=plan, task=plan.task, asked=["q1"],
                            rank=rank + 1, wanted=3)  # fmt: skip
    values: dict[str, Any] = {
        "title": "Strict may stand in", "question": "judge", "measure": "all",
        "comparisons": [{"first": "strict", "direction": "=", "second": "people"}],
        "stopping": "When every item has three raters.", "judges": list(JUDGES),
    }  # fmt: skip
    row = freeze(values=values | more, by=root, study=study)
    later = timezone.now() + timedelta(days=1)
    for user in make_people():
        for plan in plans:
            make_ratings(study, user, plan, {"q1": 4})
    Assignment.objects.filter(study=study).update(submitted_at=later)
    Item.objects.filter(study=study).update(given=3, done=3)
    return World(row, root, page, {"study": str(study.pk)}, dataset, study=study)


@pytest.mark.parametrize("key", ["judges", "agreement"])
def test_a_study_is_as_registered(key: str) -> None:
    assert study_world(key).standing() == ("registered", [], "")


def with_simulated(world: World) -> None:
    world.query["simulated"] = "include"


def with_epsilon(world: World) -> None:
    world.query["epsilon"] = "0.2"


def item_added(world: World) -> None:
    plan = make_trajectory(Run.objects.get(), 1, attempt=2, scores=[flat(4)])
    Item.objects.create(study=world.study, trajectory=plan, task=plan.task, asked=["q1"], rank=9,
                        wanted=3)  # fmt: skip


def another_rater(world: World) -> None:
    Item.objects.filter(study=world.study, rank=1).update(wanted=4, given=4, done=4)
    first = Trajectory.objects.filter(items__study=world.study, items__rank=1).get()
    assert world.study is not None
    fourth = make_ratings(world.study, make_person("dora"), first, {"q1": 4})
    Assignment.objects.filter(pk=fourth.pk).update(submitted_at=timezone.now() + timedelta(days=1))


def answers_missing(world: World) -> None:
    """Two of three people have not answered an item yet."""
    opened = Assignment.objects.filter(study=world.study, item__rank=1).order_by("pk")[1:]
    Assignment.objects.filter(pk__in=[one.pk for one in opened]).update(state="open")
    Item.objects.filter(study=world.study, rank=1).update(done=1)


def questionnaire_changed(world: World) -> None:
    Study.objects.filter(pk=world.study.pk).update(questionnaire="ten_questions@2")  # type: ignore[union-attr]


def void(world: World) -> None:
    one = Assignment.objects.filter(study=world.study).first()
    Assignment.objects.filter(pk=one.pk).update(state="voided")  # type: ignore[union-attr]


def answer_voided_and_given_again(world: World) -> None:
    void(world)
    another_rater(world)
    Item.objects.filter(study=world.study, rank=1).update(done=3, given=3, wanted=3)


def answered_before_registering(world: World) -> None:
    early = timezone.now() - timedelta(days=9)
    Assignment.objects.filter(study=world.study).update(submitted_at=early)


def judge_replaced(world: World) -> None:
    run = Run.objects.get()
    run.roles["rubric_judge"][1] = {"policy": "strict"}
    run.roles["rubric_judge"][2] = {"policy": "lenient"}
    run.save()


STUDY_CHANGES: Mapping[str, tuple[Callable[[World], None], str]] = {
    "simulated annotators": (with_simulated, "simulated annotators"),
    "ε": (with_epsilon, "ε"),
    "items added": (item_added, "data added later: items"),
    "raters": (another_rater, "raters of an item"),
    "answers added": (another_rater, "data added later: answers"),
    "answers missing": (answers_missing, "stopping: answers so far"),
    "answers left out": (answer_voided_and_given_again, "exclusions"),
    "answered before": (answered_before_registering, "data from before"),
    "judges": (judge_replaced, "judges"),
}


@pytest.mark.parametrize("name", STUDY_CHANGES)
def test_a_change_of_a_study_is_named(name: str) -> None:
    world = study_world()
    change, aspect = STUDY_CHANGES[name]
    change(world)
    status, named, _ = world.standing()
    assert status == "exploratory" and aspect in named


def test_a_study_without_answers_is_undefined() -> None:
    world = study_world()
    Item.objects.filter(study=world.study).update(done=0)
    Assignment.objects.filter(study=world.study).update(state="open")
    assert world.standing() == (
        "undefined", [], "no answer of this study is left, or none was given yet",
    )  # fmt: skip


def one_voided_at_the_end(world: World) -> None:
    Study.objects.filter(pk=world.study.pk).update(status="closed")  # type: ignore[union-attr]
    void(world)
    Item.objects.filter(study=world.study, rank=1).update(done=2)


def a_person_left(world: World) -> None:
    for user in User.objects.filter(assignments__study=world.study).distinct()[:1]:
        Participant.objects.create(study=world.study, user=user, number=1, state="withdrawn")


def ratings_deleted(world: World) -> None:
    rows = Assignment.objects.filter(study=world.study, item__rank__lte=2)
    Rating.objects.filter(assignment__in=rows).delete()


def submissions_deleted(world: World) -> None:
    one = Assignment.objects.filter(study=world.study).first()
    assert one is not None
    Rating.objects.filter(assignment=one).delete()
    RatingEdit._base_manager.filter(assignment=one).delete()
    one.delete()


def an_item_deleted(world: World) -> None:
    rows = Assignment.objects.filter(study=world.study, item__rank=4)
    Rating.objects.filter(assignment__in=rows).delete()
    RatingEdit._base_manager.filter(assignment__in=rows).delete()
    rows.delete()
    Item.objects.filter(study=world.study, rank=4).delete()


GONE: Mapping[str, tuple[Callable[[World], None], str]] = {
    "voided": (one_voided_at_the_end,
               "1 of 12 registered ratings is gone: 1 submission that a manager voided"),
    "left": (a_person_left,
             "4 of 12 registered ratings are gone: 4 submissions of 1 person who left"),
    "ratings": (ratings_deleted, "6 of 12 registered ratings are gone, deleted"),
    "submissions": (submissions_deleted, "1 of 12 registered ratings is gone, deleted"),
    "items": (an_item_deleted,
              "1 of 4 registered items are not in the study: deleted, or never added"),
}  # fmt: skip


@pytest.mark.parametrize("name", GONE)
def test_a_study_of_which_some_answers_are_gone_is_undefined(name: str) -> None:
    world = study_world()
    change, reason = GONE[name]
    change(world)
    assert world.standing() == ("undefined", [], reason)
    status, named, _ = world.standing(deleted="show")
    assert status == "exploratory" and "deleted data" in named


def test_at_least_twenty_five_kinds_of_change_are_tried() -> None:
    aspects = {aspect for _, aspect in (*FILTERS.values(), *CHANGES.values(), *PLANS.values(),
                                        *STUDY_CHANGES.values())}  # fmt: skip
    assert len(aspects) >= 25
