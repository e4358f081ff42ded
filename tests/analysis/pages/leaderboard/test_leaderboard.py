"""The leaderboard's sentences, ranks and tables on runs that are counted by hand."""

import numpy as np
import pandas as pd
import pytest

from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.filters.page_filters import with_measure
from analysis.pages.outcome_estimates import estimate_measure
from analysis.reports.content import Report, Table
from analysis.stats.descriptive.proportions import share
from benchmarks.core.ports.labels import Measure
from benchmarks.models import Agent, Dataset, Run, Task, Trajectory
from tests.analysis.page_reports import report_of
from tests.analysis.rows import make_dataset, make_run, make_trajectory

pytestmark = pytest.mark.django_db


def report(**words: str) -> Report:
    return report_of("leaderboard", select_runs(Filters(**words)))


def cells(table: Table, row: str) -> dict[str, object]:
    """A row of the CSV by column."""
    (found,) = [record for record in table.records() if record[0] == row]
    return dict(zip(table.header, found, strict=True))


def board(made: Report) -> Table:
    table = made.table("board")
    assert table is not None
    return table


def make_agent(dataset: Dataset, name: str, accurate: list[float], **more: object) -> Run:
    """A run with one trajectory per value, on tasks 1, 2, …"""
    run = make_run(dataset, name, **more)  # type: ignore[arg-type]
    for task, value in enumerate(accurate, 1):
        make_trajectory(run, task, accurate=value, accurate_all=value, accurate_main=value)
    return run


def test_nothing_yet() -> None:
    made = report()
    assert made.empty is not None and made.empty.title == "No runs yet"
    assert not made.figures and not made.tables and made.sentence == ""


def test_one_agent_has_nobody_to_be_compared_with() -> None:
    make_agent(make_dataset(), "ada", [1, 1, 1, 0])
    assert report().sentence == (
        "Ada is accurate on 75.0 % of 4 trajectories (95 % Wilson interval 30.1 to 95.4 %); "
        "no other agent is here to compare it with."
    )


def test_the_leader_and_how_far_ahead() -> None:
    dataset = make_dataset(tasks=8)
    make_agent(dataset, "ada", [1, 1, 1, 1, 1, 1, 1, 0])
    make_agent(dataset, "bob", [1, 1, 1, 1, 1, 0, 0, 0])
    said = report().sentence
    # 7/8 and 5/8; on the eight common tasks the difference is 2/8 = 25 points.
    assert said.startswith(
        "No agent clearly leads. Ada is accurate on 87.5 % of 8 trajectories (95 % Wilson interval "
    )
    assert ", 25.0 points above Bob (95 % interval −15.6 to " in said
    assert said.endswith("n = 8 tasks): not a clear difference.")


def test_who_leads_is_named_only_where_it_is_clear_of_every_other() -> None:
    dataset = make_dataset(tasks=20)
    make_agent(dataset, "ada", [1] * 20)
    make_agent(dataset, "bob", [0] * 20)
    assert report().sentence.startswith("Ada leads: accurate on 100.0 % of 20 trajectories")
    # Cleo ties with Ada, so both lead; with Dan nearly as good, nobody does.
    make_agent(dataset, "cleo", [1] * 20)
    assert report().sentence.startswith("Ada and Cleo lead together: they are each accurate on")
    make_agent(dataset, "dan", [1] * 19 + [0])
    assert report().sentence.startswith("No agent clearly leads. Ada and Cleo are each accurate on")


def test_nobody_leads_at_nothing() -> None:
    dataset = make_dataset(tasks=20)
    for name in ("ada", "bob"):
        make_agent(dataset, name, [0] * 20)
    said = report().sentence
    assert said.startswith("No agent leads: Ada and Bob are each accurate on 0.0 % of 20")


def test_a_tie_is_said_to_be_one() -> None:
    dataset = make_dataset()
    for name in ("ada", "bob"):
        make_agent(dataset, name, [1, 1, 0, 0])
    made = report()
    assert made.sentence.startswith("No agent leads: Ada and Bob are each accurate on 50.0 % of 4")
    assert [cells(board(made), name)["rank"] for name in ("Ada", "Bob")] == [1, 1]


def test_left_out_by_reason_and_never_zero() -> None:
    dataset = make_dataset(tasks=5)
    run = make_agent(dataset, "ada", [1, 0])
    why = "not every judge scored: physical_plausibility"
    make_trajectory(run, 3, undefined={"accurate": why})
    failed = dict.fromkeys(("accurate", "valid", "turns"), "ended as judge_failure")
    make_trajectory(run, 4, termination="judge_failure", undefined=failed)
    make_trajectory(run, 5, status=Trajectory.Status.FAILED)
    made = report()
    row = cells(board(made), "Ada")
    assert (row["acc"], row["acc n"], row["trajectories"]) == (0.5, 2, 2)
    # VPR counts the trajectory that was only unscored.
    assert (row["vpr"], row["vpr n"]) == (1, 3)
    for reason in ("not every judge scored physical plausibility", "ended as judge failure",
                   "failed for technical reasons"):  # fmt: skip
        assert f"1 ({reason})" in str(row["left out"])
        assert any(reason in line for line in made.how)


def test_wald_beside_wilson() -> None:
    make_agent(make_dataset(), "ada", [1, 1, 1, 0])
    row = cells(board(report()), "Ada")
    # Wald: 0.75 ± 1.959964 · sqrt(0.75 · 0.25 / 4) = 0.75 ± 0.424345, cut off at 1.
    assert row["acc wald low"] == pytest.approx(0.325655, abs=1e-6)
    assert row["acc wald high"] == 1


def test_published_rows_beside_and_without_rank() -> None:
    make_agent(make_dataset(), "ada", [1, 0])
    row = cells(board(report()), "GPT-5")
    assert (row["acc"], row["acc n"], row["rank"], row["kind"]) == (0.6775, 307, None, "published")
    assert "Table 3" in str(row["run"]) and row["turns"] == 6.212
    hidden = board(report(published="hide"))
    assert [record[0] for record in hidden.records()] == ["Ada"]


def test_correlation_across_agents_beside_the_published_one() -> None:
    dataset = make_dataset()
    for name, accurate, triggered in (("ada", 1.0, 3.0), ("bob", 0.0, 1.0), ("cleo", 1.0, 3.0)):
        run = make_run(dataset, name)
        make_trajectory(run, 1, accurate=accurate, world_triggered=triggered, user_triggered=1.0)
    table = report().table("correlation")
    assert table is not None
    world, user = (dict(zip(table.header, record, strict=True)) for record in table.records())
    assert (world["here"], world["here n"], world["published"]) == (1, 3, 0.898)
    # One of the two is constant: no number, but the reason.
    assert user["here"] is None and "constant" in str(user["here note"])
    assert (user["published"], user["published n"]) == (0.919, 10)


def test_both_accuracies_where_they_differ() -> None:
    dataset = make_dataset()
    make_agent(dataset, "same", [1, 0])
    run = make_run(dataset, "other")
    make_trajectory(run, 1, accurate=0.0, accurate_all=0.0, accurate_main=1.0)
    table = report().table("counted")
    assert table is not None
    assert [(r[0], r[1], r[6]) for r in table.records()] == [("Other", 0, 1)]


def test_readings_of_the_early_stop_that_differ_are_counted() -> None:
    run = make_run(make_dataset(), "ada")
    for task, differs in ((1, 1.0), (2, 0.0), (3, 1.0)):
        make_trajectory(run, task, readings_differ=differs)
    assert cells(board(report()), "Ada")["readings differ"] == 2


def test_recorded_agents_are_not_ranked() -> None:
    dataset = make_dataset()
    Task.objects.update(
        payload={"plans": [{"key": "a", "steps": ["One way."], "author": "Prolific"}]}
    )
    people = make_agent(dataset, "people", [1, 0], kind="recorded", policy="people")
    dry = dict.fromkeys(("accurate", "valid"), "the pool ran out")
    make_trajectory(people, 3, termination="pool_exhausted", undefined=dry)
    make_agent(dataset, "bob", [0, 0], kind="recorded", policy="gpt4")
    made = report()
    row = cells(board(made), "People")
    assert (row["rank"], row["pool"], row["pool ran dry"]) == (None, 1, 1)
    assert any("have no rank" in notice.text for notice in made.notices)
    assert made.sentence == (
        "Accuracy lies between 0.0 % (Bob) and 50.0 % (People), but these agents cannot be ranked: "
        "recorded answers: authors whose pools differ in size are not ranked."
    )


def test_unfinished_runs_and_other_judges_have_no_rank() -> None:
    dataset = make_dataset()
    for name in ("ada", "bob"):
        make_agent(dataset, name, [1, 1])
    going = make_agent(dataset, "cleo", [1, 1], status=Run.Status.RUNNING)
    make_trajectory(going, 3, status=Trajectory.Status.PENDING)
    other = make_agent(dataset, "dan", [1, 1])
    other.settings = {"tau": 4.5}
    other.save()
    made = report()
    ranks = {name: cells(board(made), name)["rank"] for name in ("Ada", "Bob", "Cleo", "Dan")}
    assert ranks == {"Ada": 1, "Bob": 1, "Cleo": None, "Dan": None}
    said = " ".join(notice.text for notice in made.notices)
    assert "Cleo (2 of 3)" in said and "Dan" in said


def test_accuracy_that_nobody_could_score() -> None:
    dataset = make_dataset()
    why = {"accurate": "not every judge scored: physical_plausibility"}
    for name, valid in (("ada", 1.0), ("bob", 0.0)):
        make_trajectory(make_run(dataset, name, labels="lexicon"), 1, undefined=why, valid=valid)
    assert report().sentence == (
        "Accuracy is undefined for every agent here: not every judge scored physical plausibility. "
        "The share of valid last plans lies between 0.0 % (Bob) and 100.0 % (Ada)."
    )


def test_names_reach_the_figure_escaped() -> None:
    make_agent(make_dataset(), "evil", [1], title="<b>Bold</b> & co")
    assert Agent.objects.get(name="evil").title == "<b>Bold</b> & co"
    figure = report().figure("board")
    assert figure is not None
    assert "<b>Bold" not in figure.json and "&lt;b&gt;Bold&lt;/b&gt; &amp; co" in figure.json


def test_how_names_runs_judges_seed_and_versions() -> None:
    run = make_agent(make_dataset(), "ada", [1])
    how = "\n".join(report().how)
    for words in (f"Ada (run {run.pk})", "Seed of the runs: 7", "Judging: live", "even 1, strict 1",
                  "Scorer version 1", "level mid"):  # fmt: skip
        assert words in how


def test_people_stand_among_agents_and_are_marked() -> None:
    dataset = make_dataset()
    make_agent(dataset, "ada", [1, 0, 1, 0])
    run = make_agent(dataset, "person", [1, 1, 1, 0], title="People", kind="human")
    people, ada = (row[0] for row in board(report()).rows[:2])
    assert [badge.text for badge in people.badges] == ["person"]
    assert [badge.text for badge in ada.badges] == ["scripted"]
    # Whose place somebody else took on the way is nobody's result.
    run.trajectories.filter(task__external_id="t4").update(
        role_changes={"agent": [{"kind": "human"}]}
    )
    row = cells(board(report()), "People")
    assert (row["acc"], row["trajectories"]) == (1, 3)
    assert row["left out"] == "1 (mixed: somebody else took a role over on the way)"


def test_ranks_have_the_ranks_that_pairs_leave() -> None:
    dataset = make_dataset(tasks=30)
    for name, right in (("ada", 30), ("bob", 29), ("cleo", 0)):
        run = make_run(dataset, name)
        for task in range(1, 31):
            make_trajectory(run, task, accurate=float(task <= right))
    made = report()
    found = {name: cells(board(made), name) for name in ("Ada", "Bob", "Cleo")}
    # Ada and Bob differ on one task of thirty; Cleo is behind both on nearly all.
    assert [found["Ada"][part] for part in ("rank", "rank low", "rank high")] == [1, 1, 2]
    assert [found["Bob"][part] for part in ("rank", "rank low", "rank high")] == [2, 1, 2]
    assert [found["Cleo"][part] for part in ("rank", "rank low", "rank high")] == [3, 3, 3]
    assert "95 % for all agents together, Bonferroni over 3 pairs" in board(made).note


def test_runs_that_are_chosen_stand_in_place_of_an_experiment() -> None:
    dataset = make_dataset()
    runs = [make_run(dataset, name) for name in ("ada", "bob", "cleo")]
    for run in runs:
        make_trajectory(run, 1, accurate=1.0)
    other = make_run(make_dataset("Other"), "dan")
    make_trajectory(other, 1, accurate=0.0)
    # The dataset follows from the runs.
    made = report(runs=(str(runs[0].pk), str(runs[2].pk), "999"))
    assert {row[0].text for row in board(made).rows if row[0].data[1] != "published"} == {
        "Ada", "Cleo",
    }  # fmt: skip
    said = " ".join(notice.text for notice in made.notices)
    assert f"Ada (run {runs[0].pk}), Cleo (run {runs[2].pk})" in said
    assert "in place of an experiment" in said
    # Nothing that can be found: the page is what it would be without.
    everything = report(runs=("999",), dataset=str(dataset.pk))
    assert len([row for row in board(everything).rows if row[0].data[1] != "published"]) == 3


def test_agents_are_ranked_by_what_their_system_names() -> None:
    """A mean in percent decides ranks: no share, so neither Wilson nor Wald."""
    dataset = make_dataset()
    Dataset.objects.filter(pk=dataset.pk).update(system="adapt")
    for name, values in (("ada", (100.0, 80.0, 60.0, 60.0)), ("bob", (50.0, 60.0, 50.0, 40.0))):
        run = make_run(dataset, name)
        for task, value in enumerate(values, 1):
            make_trajectory(run, task, satisfaction=value, completed=float(task < 3))
    made = report()
    # Means 75 and 50; t of 3 degrees of freedom is 3.182446, and s of 100, 80, 60, 60 is 19.1485:
    # 75 ± 3.182446 · 19.1485 / 2 = 75 ± 30.47, cut off at 100.
    assert made.sentence.startswith(
        "No agent clearly leads. Ada has preference satisfaction 75.0 % over 4 trajectories "
        "(95 % t interval 44.5 to 100 %), 25.0 points above Bob (95 % interval "
    )
    row = cells(board(made), "Ada")
    assert (row["satisfied %"], row["satisfied % n"], row["rank"]) == (75, 4, 1)
    assert (row["completed"], row["completed n"]) == (0.5, 4)
    assert not any("wald" in name or "acc" in name.split() for name in row)
    figure = made.figure("board")
    assert figure is not None and figure.title == (
        "Preference satisfaction and share of completed tasks, with 95 % intervals"
    )


def test_a_fraction_of_each_trajectory_is_no_share_of_trajectories() -> None:
    dataset = make_dataset()
    Dataset.objects.filter(pk=dataset.pk).update(system="sda_planner")
    for name, met in (("ada", (1.0, 0.5, 0.5, 1.0)), ("bob", (0.0, 0.5, 0.5, 1.0))):
        run = make_run(dataset, name)
        for task, value in enumerate(met, 1):
            make_trajectory(run, task, accurate=float(value == 1), goal_conditions=value)
    made = report()
    assert made.sentence.startswith(
        "No agent clearly leads. Ada is successful on 50.0 % of 4 trajectories (95 % Wilson"
    )
    row = cells(board(made), "Ada")
    # 0.75 ± 3.182446 · 0.288675 / 2 = 0.75 ± 0.459347, cut off at 1: t, not Wilson.
    assert row["goal conditions"] == 0.75
    assert row["goal conditions low"] == pytest.approx(0.290653, abs=1e-6)
    assert row["goal conditions high"] == 1
    chosen = with_measure(select_runs(Filters(measure="goal_conditions")))
    compared = report_of("compare-models", chosen)
    assert "Ada and Bob do not differ clearly on Goal conditions" in compared.sentence


def test_tries_of_a_task_are_no_independent_trajectories() -> None:
    dataset = make_dataset()
    run = make_run(dataset, "ada")
    for task, (accurate, turns) in enumerate(((1, 2), (1, 3), (1, 5), (0, 6)), 1):
        for attempt in (1, 2, 3):
            make_trajectory(run, task, attempt=attempt, accurate=float(accurate), turns=turns)
    made = report()
    row = cells(board(made), "Ada")
    assert (row["trajectories"], row["turns"]) == (12, 4)
    # Tries that all agree say no more than one: 4 ± t(3) · s/2 of the tasks' means 2, 3, 5, 6.
    half = 3.182446 * (10 / 3) ** 0.5 / 2
    assert row["turns low"] == pytest.approx(4 - half, abs=1e-5)
    assert row["turns high"] == pytest.approx(4 + half, abs=1e-5)
    # Wider than Wilson's of 9 of 12 independent trajectories, 46.8 to 91.1 %.
    assert float(str(row["acc low"])) < 0.4
    assert row["acc wald low"] is None
    assert any("Tasks were tried several times" in line for line in made.how)
    assert not any(one.text.startswith("Few ") for one in made.notices)


def test_intervals_hold_where_tasks_were_tried_several_times() -> None:
    """Of 400 sets of 30 tasks with 5 tries each, about 95 % of intervals hold the true rate."""
    rng = np.random.default_rng(20261123)
    tasks = np.repeat(np.arange(30), 5)
    measure = Measure("Accurate", "", "rate")
    by_task, by_try = 0, 0
    for _ in range(400):
        # Hard and easy tasks around a rate of 0.6.
        chances = rng.beta(1.2, 0.8, 30)
        frame = pd.DataFrame({"task": tasks, "accurate": rng.binomial(1, chances[tasks])})
        found = estimate_measure(frame.assign(**{"why accurate": ""}), "accurate", measure).interval
        plain = share(int(frame["accurate"].sum()), len(frame)).interval
        assert found is not None and plain is not None
        by_task += found.low <= 0.6 <= found.high
        by_try += plain.low <= 0.6 <= plain.high
    assert 0.92 <= by_task / 400 <= 0.98
    assert by_try / 400 < 0.85
