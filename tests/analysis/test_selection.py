"""Which runs a page is about, and what it says where the address asks for something else."""

import pytest

from analysis.dataset_choice import select_runs
from analysis.filters import Filters
from analysis.study_choice import select_study
from annotation.models import Assignment, Membership
from benchmarks.models import Experiment, Judging, Run, Trajectory
from tests.analysis.rows import (
    make_dataset,
    make_member,
    make_person,
    make_ratings,
    make_run,
    make_study,
    make_trajectory,
)

pytestmark = pytest.mark.django_db


def test_nothing_at_all() -> None:
    selection = select_runs(Filters())
    assert selection.dataset is None and selection.runs == () and selection.system == ""


def test_newest_finished_runs_decide_the_dataset() -> None:
    old, new = make_dataset("Old"), make_dataset("New")
    for dataset, day in ((old, 5), (new, 9)):
        make_trajectory(make_run(dataset, "ada", finished=day), 1)
    # A run that is still going on says nothing about where results are.
    make_run(old, "bob", status=Run.Status.RUNNING)
    assert select_runs(Filters()).dataset == new
    assert select_runs(Filters(dataset=str(old.pk))).dataset == old


def test_level_with_most_runs_and_standard_condition() -> None:
    dataset = make_dataset()
    make_trajectory(make_run(dataset, "ada", level="low"), 1)
    for agent in ("ada", "bob"):
        make_trajectory(make_run(dataset, agent, level="mid"), 1)
    for agent in ("ada", "bob", "cleo"):
        make_trajectory(make_run(dataset, agent, level="mid", condition="tracking=True"), 1)
    selection = select_runs(Filters())
    assert (selection.filters.level, selection.filters.condition) == ("mid", "standard")
    assert [run.agent for run in selection.runs] == ["ada", "bob"]
    counts = {option.value: option.count for option in selection.options["level"]}
    assert counts == {"low": 1, "mid": 5}


def test_of_each_agent_the_newest_finished_run() -> None:
    dataset = make_dataset()
    first, second = make_run(dataset, "ada"), make_run(dataset, "ada")
    going = make_run(dataset, "ada", status=Run.Status.RUNNING)
    empty = make_run(dataset, "bob", status=Run.Status.QUEUED)
    for run in (first, second, going):
        make_trajectory(run, 1)
    selection = select_runs(Filters())
    assert [run.pk for run in selection.runs] == [second.pk]
    assert selection.left_out == (
        f"Ada: runs {first.pk}, {going.pk}; shown is {second.pk}",
        f"Bob: run {empty.pk} has finished nothing yet",
    )


def test_experiment_and_agents_narrow() -> None:
    dataset = make_dataset()
    experiment = Experiment.objects.create(name="Pair")
    chosen = make_run(dataset, "ada", experiment=experiment)
    other = make_run(dataset, "bob", experiment=experiment)
    for run in (chosen, other, make_run(dataset, "ada")):
        make_trajectory(run, 1)
    filters = Filters(experiment=str(experiment.pk), agents=("ada",))
    selection = select_runs(filters)
    assert [run.pk for run in selection.runs] == [chosen.pk]
    assert [option.label for option in selection.options["agents"]] == ["Ada", "Bob"]


def test_an_address_that_asks_for_what_is_not_there_says_so() -> None:
    dataset = make_dataset()
    make_trajectory(make_run(dataset, "ada"), 1)
    asked = Filters(
        dataset="99", level="x", condition="y", agents=("eve",), experiment="5", judging="z"
    )
    selection = select_runs(asked)
    assert [run.agent for run in selection.runs] == ["ada"]
    said = " ".join(selection.notes)
    for word in ("dataset 99", "level x", "condition y", "eve", "experiment 5", "judging z"):
        assert word in said
    assert selection.filters.level == "mid" and selection.filters.judging == ""


def test_another_judging_by_name() -> None:
    run = make_run(make_dataset(), "ada")
    make_trajectory(run, 1)
    again = Judging.objects.create(run=run, name="again")
    assert select_runs(Filters()).judgings == [run.primary_judging.pk]  # type: ignore[union-attr]
    assert select_runs(Filters(judging="again")).judgings == [again.pk]


def test_version_follows_the_data() -> None:
    run = make_run(make_dataset(), "ada", status=Run.Status.RUNNING)
    make_trajectory(run, 1)
    before = select_runs(Filters()).runs[0]
    make_trajectory(run, 2, status=Trajectory.Status.PENDING)
    waiting = select_runs(Filters()).runs[0]
    assert waiting.version == before.version and (waiting.done, waiting.total) == (1, 2)
    make_trajectory(run, 3)
    assert select_runs(Filters()).runs[0].version != before.version


def test_titles_that_two_agents_share_are_told_apart() -> None:
    dataset = make_dataset()
    for name in ("ada", "ada-2"):
        make_trajectory(make_run(dataset, name, title="Ada"), 1)
    assert [run.label for run in select_runs(Filters()).runs] == ["Ada (ada)", "Ada (ada-2)"]


def test_studies_are_for_those_who_take_part_in_running_them() -> None:
    run = make_run(make_dataset(), "ada")
    item = make_trajectory(run, 1)
    study = make_study()
    make_ratings(study, make_person("ann"), item, {"safety": 4})
    stranger, boss = make_person("stranger", "view_results"), make_person("root", superuser=True)
    observer, annotator = make_person("otto"), make_person("anna")
    make_member(study, observer, Membership.Role.OBSERVER)
    make_member(study, annotator, Membership.Role.ANNOTATOR)
    found = {user.username: select_study(Filters(), user).study for user in
             (stranger, boss, observer, annotator)}  # fmt: skip
    assert found == {"stranger": None, "root": study, "otto": study, "anna": None}


def test_who_still_judges_blindly_does_not_see_the_results() -> None:
    run = make_run(make_dataset(), "ada")
    first, second = make_trajectory(run, 1), make_trajectory(run, 2)
    study, user = make_study(), make_person("both")
    make_member(study, user)
    make_ratings(study, user, first, {"safety": 4})
    waiting = make_ratings(study, user, second, {}, state=Assignment.State.OPEN)
    selection = select_study(Filters(), user)
    assert selection.study is None and "blinded" in selection.notes[0]
    Assignment.objects.filter(pk=waiting.pk).update(state=Assignment.State.SUBMITTED)
    assert select_study(Filters(), user).study == study


def test_simulated_annotators_count_in_demos_only_unless_told_otherwise() -> None:
    run = make_run(make_dataset(), "ada")
    root = make_person("root", superuser=True)
    for is_demo, expected in ((False, "exclude"), (True, "include")):
        study = make_study(str(is_demo), is_demo=is_demo)
        make_ratings(study, make_person(f"ann{is_demo}"), make_trajectory(run, 1 + is_demo), {})
        chosen = select_study(Filters(study=str(study.pk)), root)
        assert chosen.filters.simulated == expected
        other = select_study(Filters(study=str(study.pk), simulated="include"), root)
        assert other.filters.simulated == "include"
