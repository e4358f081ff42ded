"""Tests of the runs that a page selects, and its message where the address asks for others."""

from typing import Any

import pytest
from django.db.models import F

from analysis.filters import Filters, studies
from analysis.filters.datasets import select_runs
from analysis.filters.selection import Selection
from analysis.filters.studies import select_study
from analysis.pages.catalogue import PAGES, select
from analysis.pages.file_names import file_name
from analysis.pages.reports import deferred_request, make_page_part, open_selection
from analysis.reports.chosen_runs import selection_notices
from annotation.models import Assignment, Item, Membership, Study
from benchmarks.models import Dataset, Experiment, Judging, Run, Task, Trajectory
from benchmarks.visibility import Visibility
from tests.analysis.human_rows import make_kind_study, make_people, make_turn_scores
from tests.analysis.rows import (
    flat,
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
        dataset="99", level="x", condition="y", agents=("eve", "ada"), experiment="5", judging="z",
        published="loud", runs=("999",),
    )  # fmt: skip
    root = make_person("root", superuser=True)
    selection = select(PAGES["leaderboard"], asked, root)
    assert [run.agent for run in selection.runs] == ["ada"]
    assert list(selection.notes) == [
        f"There is no dataset “99” here; “{dataset}” is shown.",
        "There is no level “x” here; “mid” is shown.",
        "There is no condition “y” here; “standard” is shown.",
        "There is no experiment “5” here; all are shown.",
        "There is no judging “z” here; “Primary judging” is shown.",
        "There is no agent “eve” here; the others are shown.",
        "The filter “Published rows” has no choice “loud”; “Hidden” is shown.",
        "There is no run “999” here; the newest comparison is shown.",
    ]
    assert selection.filters.level == "mid" and selection.filters.judging == ""
    nobody = select(PAGES["leaderboard"], Filters(agents=("eve",)), root)
    assert nobody.notes == ("There is no agent “eve” here; all are shown.",)
    # On every page alike; what a page does not filter by is no word of its address.
    for page, words, note in (
        ("effects", {"factor": "weather"}, "There is no factor “weather” here"),
        ("compare-models", {"measure": "beauty"}, "There is no measure “beauty” here"),
        ("failures", {"profile": "eve"}, "“The one that fails most often” is shown"),
        ("rubric", {"dimensions": ("charm",)}, ""),
    ):
        found = select(PAGES[page], Filters(**words), root).notes  # type: ignore[arg-type]
        assert note in " ".join(found) and bool(found) == bool(note)


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


def experiment_of(dataset: Dataset, name: str, agents: str, **words: Any) -> list[Run]:
    """Runs of these agents that were started together, each with a trajectory."""
    experiment = Experiment.objects.create(name=name)
    runs = [make_run(dataset, agent, experiment=experiment, **words) for agent in agents.split()]
    for run in runs:
        make_trajectory(run, 1)
    return runs


def test_an_experiment_that_is_being_made_moves_no_page() -> None:
    dataset = make_dataset()
    ada, bob = experiment_of(dataset, "Both", "ada bob")
    # Of a newer one two agents have finished, and a third is still going on: here and elsewhere.
    for place in (dataset, make_dataset("Other")):
        newer = experiment_of(place, "Newer", "ada bob cleo", finished=20)
        Run.objects.filter(pk=newer[2].pk).update(status=Run.Status.RUNNING, finished_at=None)
        for filters in (Filters(), Filters(dataset=str(dataset.pk))):
            again = select_runs(filters)
            assert [run.pk for run in again.runs] == [ada.pk, bob.pk]
    # It opens on the newest once all of it has ended.
    Run.objects.filter(pk=newer[2].pk).update(status=Run.Status.DONE)
    assert [run.pk for run in select_runs(Filters()).runs] == [run.pk for run in newer]


def test_no_page_moves_while_a_demo_is_made() -> None:
    first = make_dataset("First demo")
    Dataset.objects.filter(pk=first.pk).update(is_demo=True)
    experiment_of(first, "One", "ada bob")
    second = make_dataset("Second demo")
    Dataset.objects.filter(pk=second.pk).update(is_demo=True)
    experiment_of(second, "Two", "ada bob", finished=20)
    assert select_runs(Filters()).dataset == first
    # Data of one's own go before every demo, however old they are.
    own = make_dataset("Own")
    experiment_of(own, "Three", "ada bob")
    third = make_dataset("Third demo")
    Dataset.objects.filter(pk=third.pk).update(is_demo=True)
    experiment_of(third, "Four", "ada bob", finished=25)
    assert select_runs(Filters()).dataset == own


def test_a_casual_run_changes_no_page() -> None:
    dataset = make_dataset()
    ada, bob = experiment_of(dataset, "Both", "ada bob")
    before = select_runs(Filters())
    assert [run.pk for run in before.runs] == [ada.pk, bob.pk]
    assert before.filters.experiment == str(ada.experiment_id)
    # Each start is an experiment of its own: one agent, another seed, another dataset.
    for place in (dataset, make_dataset("Other")):
        experiment_of(place, "Casual", "ada", finished=20)
    for filters in (Filters(), before.filters, Filters(dataset=str(dataset.pk))):
        again = select_runs(filters)
        assert [run.pk for run in again.runs] == [ada.pk, bob.pk]
        assert again.dataset == dataset
    assert "Shown is “Both”, the newest experiment here that compares agents; 1 more" in " ".join(
        select_runs(Filters()).notes
    )
    # What was chosen stays, without a word, also when a newer experiment comes.
    experiment_of(dataset, "Newer", "ada bob")
    stays = select_runs(before.filters)
    assert [run.pk for run in stays.runs] == [ada.pk, bob.pk] and stays.notes == ()
    assert "Shown is “Newer”" in " ".join(select_runs(Filters()).notes)


def test_the_newest_experiment_is_one_with_results() -> None:
    dataset = make_dataset()
    done = experiment_of(dataset, "Done", "ada bob")
    experiment_of(dataset, "Going on", "ada bob", status=Run.Status.RUNNING)
    assert [run.pk for run in select_runs(Filters()).runs] == [run.pk for run in done]
    low = experiment_of(dataset, "Low", "ada bob", level="low")
    assert [run.pk for run in select_runs(Filters()).runs] == [run.pk for run in low]
    mid = select_runs(Filters(level="mid"))
    assert [run.pk for run in mid.runs] == [run.pk for run in done]


def test_a_level_that_no_experiment_compares_is_shown_all_the_same() -> None:
    dataset = make_dataset()
    experiment_of(dataset, "Mid", "ada bob", level="mid")
    (alone,) = experiment_of(dataset, "Casual", "ada", level="low")
    asked = select_runs(Filters(dataset=str(dataset.pk), level="low"))
    assert [run.pk for run in asked.runs] == [alone.pk]
    assert asked.filters.level == "low"
    # A level that is nowhere leaves the choice to the page.
    assert select_runs(Filters(dataset=str(dataset.pk), level="x")).filters.level == "mid"


def test_runs_that_an_experiment_took_belong_to_it() -> None:
    dataset = make_dataset()
    (taken,) = experiment_of(dataset, "Before", "ada")
    (own,) = experiment_of(dataset, "Design", "bob")
    Experiment.objects.filter(pk=own.experiment_id).update(design={"made": {"taken": [taken.pk]}})
    selection = select_runs(Filters(experiment=str(own.experiment_id)))
    assert {run.pk for run in selection.runs} == {taken.pk, own.pk}


def test_replaced_and_mixed_runs_are_announced() -> None:
    dataset = make_dataset()
    first, _ = experiment_of(dataset, "Both", "ada bob")
    (casual,) = experiment_of(dataset, "Casual", "ada")
    experiment_of(dataset, "Another", "cleo")
    selection = select_runs(Filters(experiment="all"))
    assert "Mixed runs: these were started separately, in 2 experiments." in selection.notes
    assert [run.pk for run in selection.runs if run.agent == "ada"] == [first.pk]
    said = " ".join(notice.text for notice in selection_notices(selection))
    assert f"one of each is shown. Ada: run {casual.pk}; shown is {first.pk}." in said
    # The same among runs of one experiment that differ in their seed alone.
    again = make_run(dataset, "ada", experiment=first.experiment)
    make_trajectory(again, 1)
    said = " ".join(notice.text for notice in selection_notices(select_runs(Filters())))
    assert f"Ada: run {first.pk}; shown is {again.pk}" in said


def test_pages_on_conditions_need_an_experiment_that_varies_them() -> None:
    dataset = make_dataset()
    (run, _) = experiment_of(dataset, "Standard", "ada bob")
    experiment_of(dataset, "Tracking", "ada bob", condition="tracking=True")
    chosen = select_runs(Filters(experiment=str(run.experiment_id)), every_condition=True)
    assert {one.condition for one in chosen.runs} == {"standard", "tracking=True"}
    assert any("“Standard” varies nothing" in note for note in chosen.notes)
    assert len(select_runs(Filters(), every_condition=True).runs) == 4


def test_constructions_are_no_results() -> None:
    made = make_dataset("Made")
    make_trajectory(make_run(made, "ada"), 1)
    problems = make_dataset("Problems")
    run = make_run(problems, "ada", finished=9)
    Run.objects.filter(pk=run.pk).update(kind=Run.Kind.CONSTRUCTION)
    selection = select_runs(Filters())
    assert selection.dataset == made
    assert [option.label for option in selection.options["dataset"]] == [str(made)]
    # Outcomes are those of files made elsewhere: nothing here, and no other dataset instead.
    assert select_runs(Filters(), imported=True).dataset is None


def test_published_rows_stand_beside_runs_on_the_papers_tasks_alone() -> None:
    dataset, person = make_dataset(), make_person("reader", superuser=True)
    run = make_run(dataset, "ada")
    make_trajectory(run, 1)

    def published(name: str, **words: str) -> str:
        return select(PAGES[name], Filters(**words), person).filters.published  # type: ignore[arg-type]

    assert (
        published("leaderboard") == "hide" and published("leaderboard", published="show") == "show"
    )
    assert published("effects") == "show"
    Task.objects.bulk_create(
        Task(dataset=dataset, external_id=f"more{n}", prompt="Mend it.") for n in range(303)
    )
    done = Trajectory.Status.DONE
    Trajectory.objects.bulk_create(
        Trajectory(run=run, task=task, status=done)
        for task in dataset.tasks.exclude(external_id="t1")
    )
    assert published("leaderboard") == "show"  # 307 trajectories, as in Table 3


def test_a_page_opens_on_the_newest_choice_that_has_something_to_show() -> None:
    root = make_person("root", superuser=True)
    people = make_people("ann", "bob", "cat")
    scored = make_turn_scores(people)
    # Newer, and asked for scores of turns, too, but nobody has answered.
    make_kind_study("turn_scores@1", "Newer")
    judged, other = make_dataset("Judged"), make_dataset("Other")
    run = make_run(judged, "ada", finished=2)
    make_trajectory(run, 1, scores=[flat(4), flat(5)])
    make_trajectory(make_run(other, "bob", finished=9), 1)
    everything = Visibility.to(root)

    def opened(name: str, filters: Filters) -> Selection:
        return open_selection(PAGES[name], filters, root, everything)[0]

    assert opened("turn-scores", Filters()).study == scored
    assert select(PAGES["rubric"], Filters(), root).dataset == other
    assert opened("rubric", Filters()).dataset == judged
    # What the address names stays, with the reason why nothing is there.
    assert opened("rubric", Filters(dataset=str(other.pk))).dataset == other
    assert opened("leaderboard", Filters()).dataset == other


def test_a_page_opens_on_data_that_answer_its_question() -> None:
    root = make_person("root", superuser=True)
    known, newer = make_dataset("Known"), make_dataset("Newer")
    for number, name in enumerate(("ada", "bob")):
        make_trajectory(make_run(known, name, finished=2), 1, accurate=float(number))
        # The newest results, drawn by validity, have no accuracy.
        make_trajectory(make_run(newer, name, finished=9), 1, accurate=None)

    def opened(name: str, **named: str) -> Selection:
        return open_selection(PAGES[name], Filters(**named), root, Visibility.to(root))[0]

    for name in ("leaderboard", "compare-models", "failures"):
        assert select(PAGES[name], Filters(), root).dataset == newer
        assert opened(name).dataset == known, name
        assert opened(name, dataset=str(newer.pk)).dataset == newer


def test_the_long_part_of_a_page_that_chose_is_the_one_that_its_job_computes() -> None:
    root, dataset = make_person("root", superuser=True), make_dataset()
    for name in ("First", "Second"):
        experiment_of(dataset, name, "ada bob")
    page, seen = PAGES["dispersion"], Visibility.to(root)
    selection, _ = open_selection(page, Filters(), root, seen)
    assert selection.notes  # which experiment it chose
    wanted = deferred_request(page, selection)
    assert wanted is not None and make_page_part(wanted.params, seen)[0] == wanted.key


def test_pages_on_several_raters_open_on_a_study_that_has_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(studies, "SHARED_ITEMS", 2)
    root, dataset = make_person("root", superuser=True), make_dataset()
    run, people = make_run(dataset, "ada"), make_people("ann", "bob", "cat")
    items = [make_trajectory(run, number, scores=[flat(4)]) for number in (1, 2)]
    shared, single = make_study("Shared"), make_study("Single")
    for item in items:
        for person in people:
            make_ratings(shared, person, item, {"safety": 4})
    make_ratings(single, people[0], items[0], {"safety": 4})
    Item.objects.filter(study=shared).update(done=3, given=3)
    chosen = {name: select(PAGES[name], Filters(), root).study for name in
              ("judges", "ratings", "agreement")}  # fmt: skip
    assert chosen == {"judges": shared, "ratings": shared, "agreement": single}
    Item.objects.filter(study=shared, rank=1).update(done=2, given=2)
    assert select(PAGES["judges"], Filters(), root).study == single
    assert select(PAGES["ratings"], Filters(), root).study == shared


def test_no_page_on_people_moves_while_a_demo_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo makes its first study, fills the shared one, and fills the first one then."""
    monkeypatch.setattr(studies, "SHARED_ITEMS", 2)
    root, dataset = make_person("root", superuser=True), make_dataset()
    run, people = make_run(dataset, "ada"), make_people("ann", "bob", "cat")
    items = [make_trajectory(run, number, scores=[flat(4)]) for number in (1, 2)]
    first, shared = make_study("First"), make_study("Shared")
    Study.objects.update(is_demo=True)
    shown: dict[str, list[Study]] = {"judges": [], "ratings": [], "agreement": []}

    def look() -> None:
        for name, seen in shown.items():
            study = select(PAGES[name], Filters(), root).study
            assert study is not None
            if study.assignments.exists() and study not in seen:
                seen.append(study)

    look()
    for study, raters in ((shared, people), (first, people[:1])):
        for person in raters:
            for item in items:
                make_ratings(study, person, item, {"safety": 4})
            done = {"done": F("done") + 1, "given": F("done") + 1}
            Item.objects.filter(study=study).update(**done)
        look()
    assert shown == {"judges": [shared], "ratings": [shared], "agreement": [first]}


def test_files_are_named_after_what_they_show() -> None:
    root, dataset = make_person("root", superuser=True), make_dataset("Household: demo/1")
    for level in ("low", "mid"):
        for agent in ("ada", "bob", "cleo"):
            make_trajectory(make_run(dataset, agent, level=level), 1)

    def named(page: str, part: str = "", **words: Any) -> str:
        filters = Filters(level="mid", **words)
        return file_name(PAGES[page], select(PAGES[page], filters, root), part)

    assert named("leaderboard") == "leaderboard-household-demo-1-mid"
    assert named("leaderboard", "board") == "leaderboard-household-demo-1-mid-board"
    assert named("sweeps", "sweep") == "thresholds-household-demo-1-mid-sweep"
    # Few agents by title, many by their number; what the page shows by itself is left out.
    assert named("rubric", agents=("ada", "bob")) == "rubric-household-demo-1-mid-ada-bob"
    assert named("rubric", agents=("ada", "bob", "cleo")) == "rubric-household-demo-1-mid-3-agents"
    assert named("rubric", turns="all") == "rubric-household-demo-1-mid-turns-all"
    assert named("leaderboard", published="show").endswith("mid-published-show")
    assert named("leaderboard", published="hide") == "leaderboard-household-demo-1-mid"
    dataset.name = "../" + "long name " * 10 + "/etc"
    dataset.save()
    name = named("leaderboard", "board")
    assert len(name) <= 86 and name.startswith("leaderboard-long-name") and "/" not in name
    assert name.endswith("-board") and "--" not in name
