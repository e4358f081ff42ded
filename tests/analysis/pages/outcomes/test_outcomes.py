"""The outcomes page: rewards, several trials, what is left out, and what has none."""

import pytest

from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.reports.content import Report, Table
from benchmarks.imports.services import import_trajectories
from benchmarks.models import Run, Trajectory
from tests.analysis.page_reports import report_of
from tests.analysis.rows import flat, make_dataset, make_imported, make_run, make_trajectory
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db


def report(**words: str) -> Report:
    return report_of("outcomes", select_runs(Filters(**words), imported=True))  # type: ignore[arg-type]


def lines(table: Table | None) -> list[dict[str, object]]:
    """The rows of a table as its CSV has them."""
    assert table is not None
    return [dict(zip(table.header, row, strict=True)) for row in table.records()]


def test_rewards_of_several_trials() -> None:
    make_imported(rewards={1: (1.0, 0.0), 2: (1.0, 1.0), 3: (0.0, 0.0)})
    found = report()
    (row,) = lines(found.table("outcomes"))
    # 3 of 6 trajectories; pass^2: task 2 alone of three tasks.
    assert (row["trajectories"], row["tasks"], row["trials least"]) == (6, 3, 2)
    assert row["reward"] == 0.5
    assert row["reward low"] is not None
    assert row["pass^2"] == pytest.approx(1 / 3, abs=1e-6)
    assert (row["turns median"], row["messages median"], row["tool calls median"]) == (2, 5, 1)
    assert row["user cost"] == 0.5 and "cost" not in row
    assert found.sentence.startswith(
        "gpt-9 gets a reward of 1 in 50.0 % of 6 trajectories on 3 tasks (95 % interval "
    )
    assert found.sentence.endswith(
        "; 2 trials of a task all succeed with probability 33.3 % (pass^2)."
    )
    assert [figure.name for figure in found.figures] == ["reward", "pass"]
    assert any("Wilson by task (CR2)" in line for line in found.how)


def test_one_trial_each_has_wilsons_interval_and_no_pass_power() -> None:
    # 1 of 4: Wilson's interval 4.6 to 69.9 % (x = 1, n = 4, z = 1.96: (1 + 1.92)/(4 + 3.84) ±
    # 1.96/(4 + 3.84)·√(0.75 + 0.96) = 0.372 ± 0.327).
    make_imported(rewards={n: (float(n == 1),) for n in (1, 2, 3, 4)})
    found = report()
    (row,) = lines(found.table("outcomes"))
    assert (row["reward"], row["reward low"]) == (0.25, pytest.approx(0.0456, abs=1e-4))
    assert row["reward high"] == pytest.approx(0.6994, abs=1e-4)
    assert found.table("pass") is None
    assert [figure.name for figure in found.figures] == ["reward"]
    assert "Wilson" in " ".join(found.how)


def test_rewards_between_are_means_with_their_spread() -> None:
    make_imported(rewards={n: (0.1 * n,) for n in range(1, 9)})
    found = report()
    (row,) = lines(found.table("outcomes"))
    assert row["reward"] == pytest.approx(0.45)
    assert "mean reward of 0.45 over 8 trajectories" in found.sentence
    assert [figure.name for figure in found.figures] == ["reward", "spread"]
    assert any("Intervals of rewards (95 %): t." in line for line in found.how)


def test_rewards_on_another_scale_have_no_pass_power() -> None:
    make_imported(rewards={1: (7.0, 3.0), 2: (10.0, 0.0)})
    found = report()
    assert found.table("pass") is None
    assert any("do not lie between 0 and 1" in notice.text for notice in found.notices)


def test_a_reward_that_is_not_stated_is_counted_and_not_0() -> None:
    make_imported(rewards={1: (1.0, None), 2: (1.0, None)})
    found = report()
    (row,) = lines(found.table("outcomes"))
    assert row["reward"] == 1.0 and row["reward n"] == 2
    assert row["without reward"] == "2 (the file does not state it)"
    assert any("left out, not counted as 0: gpt-9 (2)" in n.text for n in found.notices)
    (rewards,) = lines(found.table("rewards"))
    assert (rewards["reward 1"], rewards["not stated"]) == (2, 2)


def test_no_reward_at_all_is_said() -> None:
    make_imported(rewards={1: (None,)})
    found = report()
    assert found.sentence == "No mean reward can be given: the file does not state it."
    assert found.figures == () and found.table("endings") is not None
    assert lines(found.table("endings"))[0]["ended user_stop"] == 1


def test_the_lead_is_on_common_tasks() -> None:
    first, second = make_imported(("ada", "bob"), rewards=dict.fromkeys(range(1, 7), (1.0,)))
    Trajectory.objects.filter(run=second, task__external_id__in=["e1", "e2", "e3"]).update(
        metrics={"reward": 0.0}
    )
    found = report()
    assert found.sentence.startswith(
        "No agent clearly leads. ada gets a reward of 1 in 100.0 % of 6 trajectories"
    )
    # Differences on the six tasks: 1, 1, 1, 0, 0, 0; half a point of share.
    assert "50.0 points above bob (95 % interval" in found.sentence
    assert "n = 6 tasks): not a clear difference" in found.sentence
    table = found.table("outcomes")
    assert table is not None
    reward = table.rows[1][4]
    assert f"run={second.pk}" in reward.url and "reward=full" in reward.url


def test_equal_leaders_lead_together() -> None:
    make_imported(("ada", "bob"))
    assert report().sentence.startswith("No agent leads: ada and bob each get a")


def test_other_numbers_of_tasks_and_trials_are_said() -> None:
    first, second = make_imported(("ada", "bob"), rewards={1: (1.0, 0.0), 2: (1.0, 0.0)})
    Trajectory.objects.filter(run=second, task__external_id="e2").delete()
    Trajectory.objects.filter(run=first, task__external_id="e1", attempt=2).delete()
    said = " ".join(notice.text for notice in report().notices)
    assert "not tried equally often by ada" in said
    assert "different numbers of tasks" in said


def test_an_imported_dataset_is_taken_before_a_newer_one_made_here() -> None:
    made = make_dataset()
    make_trajectory(make_run(made, "ada", finished=9), 1, scores=[flat(4)])
    assert report().empty is not None
    make_imported(finished=2)
    assert report().empty is None
    newer = make_imported(("later",), name="Newer", finished=12)[0]
    assert "later" in report().sentence
    # Pages about judges take what was made here, however new an import is.
    assert select_runs(Filters()).dataset == made
    assert select_runs(Filters(dataset=str(newer.dataset_id))).system == "external"
    there = report(dataset=str(made.pk))
    assert there.empty is not None
    assert there.empty.title == "Made here, without rewards"
    assert there.empty.action_url == f"/analysis/leaderboard/?dataset={made.pk}"


def test_without_imports_it_says_what_to_do() -> None:
    found = report()
    assert found.empty is not None and found.empty.title == "Nothing was imported yet"


def test_pages_about_judges_lead_here() -> None:
    (run,) = make_imported()
    for key in ("leaderboard", "verdicts"):
        found = report_of(key, select_runs(Filters(dataset=str(run.dataset_id))))
        assert found.empty is not None and not found.figures
        assert "scores of judges" in found.empty.text
        assert found.empty.action_url == f"/analysis/leaderboard/outcomes/?dataset={run.dataset_id}"


def test_a_real_slice_of_tau_bench() -> None:
    # 12 tasks with four trials each; six tasks have one success, none has two: mean 6/48, and
    # pass^1 = 6·(1/4)/12 = 1/8, pass^2 = 0.
    path = shared_data("tau_bench", "gpt-4o-airline.slice.json.gz")
    import_trajectories(path=path, format="tau-bench", agent="gpt-4o")
    found = report()
    (row,) = lines(found.table("outcomes"))
    assert (row["trajectories"], row["tasks"], row["trials most"]) == (48, 12, 4)
    assert row["reward"] == 0.125
    (passes,) = lines(found.table("pass"))
    assert [passes[f"pass^{k}"] for k in (1, 2, 3, 4)] == [0.125, 0, 0, 0]
    total = sum(v for k, v in lines(found.table("endings"))[0].items() if k.startswith("ended"))  # type: ignore[misc]
    assert total == 48
    assert Run.objects.count() == 1
