"""Pages of runs made elsewhere: what there is, and in words what there is not."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.urls import PAGES
from benchmarks.core.errors import CoreError, MadeElsewhere
from benchmarks.imports.services import import_trajectories
from benchmarks.models import Run, Task, Trajectory
from benchmarks.runs.services import restart_trajectory, retry_trajectory, start_runs
from tests.benchmarks.formats import samples
from tests.factories.benchmarks import TrajectoryFactory


@pytest.fixture
def imported(db: None, tmp_path: Path) -> Run:
    """Two tasks of tau-bench, twice each."""
    path = samples.write(tmp_path / "gpt-9-bags.json", samples.tau_bench())
    return import_trajectories(path=path, format="tau-bench", name="Bags").runs[0]


def text_of(client: Client, name: str, *args: Any, **query: Any) -> str:
    response = client.get(reverse(name if ":" in name else f"benchmarks:{name}", args=args), query)
    assert response.status_code == 200
    return response.content.decode()


def test_the_run_tells_reward_ending_and_turns(researcher: Client, imported: Run) -> None:
    page = text_of(researcher, "run", imported.pk)
    for words in ("Reward", "Full reward", "100.0 %", "User was done", "4 of 4", "Made elsewhere"):
        assert words in page, words
    assert "rubric scores are not known here" in page
    assert "gpt-9-bags.json" in page and imported.checksum in page


def test_the_list_tells_rewards(researcher: Client, imported: Run) -> None:
    page = text_of(researcher, "analysis:trajectory_list", run=imported.pk)
    rewards = re.findall(r'<td class="num">\d+</td>\s*<td class="num">([^<]*)</td>', page)
    assert rewards == ["1"] * 4  # behind the number of turns
    assert page.count("Right") >= 4
    # Beside trajectories of other systems, what no judge looked for is not said to be missing.
    TrajectoryFactory(status="done")
    mixed = text_of(researcher, "analysis:trajectory_list")
    assert mixed.count("reward 1<") == 4
    assert "made elsewhere: no judge looked for violations" in mixed


def test_a_trajectory_shows_messages_calls_and_what_was_hidden(
    researcher: Client, imported: Run
) -> None:
    found = Trajectory.objects.order_by("pk")[0]
    page = text_of(researcher, "analysis:trajectory", found.pk)
    for words in (
        "Be brief.", "Where is my bag?", "calls look_up", "&quot;a&quot;: 1", "in Oslo", "In Oslo.",
        "Hidden from the agent", "You lost a bag.", "Reward 1.", "Reward info",
    ):  # fmt: skip
        assert words in page, words
    assert "Last plan, turn" not in page


def test_what_the_user_did_alone_is_marked(researcher: Client, tmp_path: Path) -> None:
    import_trajectories(path=samples.write_sample(tmp_path, "tau2"), format="tau2")
    page = text_of(researcher, "analysis:trajectory", Trajectory.objects.get().pk)
    assert page.count("hidden from the agent</span>") == 2
    assert "calls toggle for the user" in page


def test_the_dataset_cannot_be_run(researcher: Client, imported: Run) -> None:
    page = text_of(researcher, "dataset", imported.dataset_id)
    assert "Start runs on it" not in page
    assert "cannot be run here" in page
    assert "Bags" not in text_of(researcher, "run_new")


def test_a_task_shows_what_was_hidden(researcher: Client, imported: Run) -> None:
    page = text_of(researcher, "task", Task.objects.order_by("pk")[0].pk)
    assert "You lost a bag." in page
    assert "No hidden constraints" not in page


def test_other_pages_stand(researcher: Client, imported: Run) -> None:
    ids = list(Trajectory.objects.values_list("pk", flat=True)[:2])
    assert "In Oslo." in text_of(researcher, "analysis:compare", t=ids)
    assert "gpt-9-bags" in text_of(researcher, "agent_list")
    assert "Bags" in text_of(researcher, "run_list")
    assert "Nothing is stored" in text_of(researcher, "trajectory_exchanges", ids[0])


@pytest.mark.parametrize("name", PAGES)
def test_analysis_says_what_is_missing(admin: Client, imported: Run, name: str) -> None:
    response = admin.get(reverse(f"analysis:{name}"), {"dataset": imported.dataset_id})
    assert response.status_code == 200
    page = response.content.decode()
    if name in ("leaderboard", "rubric", "decline", "dispersion"):
        assert "Not known of trajectories made elsewhere" in page
        assert "scores of judges" in page


def test_queries_do_not_grow(
    researcher: Client, imported: Run, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(25):
        text_of(researcher, "analysis:trajectory", Trajectory.objects.order_by("pk")[0].pk)
    with django_assert_max_num_queries(20):
        text_of(researcher, "run", imported.pk)


def test_the_run_leads_to_its_outcomes(researcher: Client, imported: Run) -> None:
    page = text_of(researcher, "run", imported.pk)
    assert f"/analysis/leaderboard/outcomes/?dataset={imported.dataset_id}" in page


def test_the_list_can_be_narrowed_by_reward_ending_and_words(
    researcher: Client, imported: Run
) -> None:
    first, second, third, fourth = Trajectory.objects.order_by("pk")
    for row, reward in ((second, 0.5), (third, 0.0), (fourth, None)):
        row.metrics["reward"] = reward
        row.save()
    Trajectory.objects.filter(pk=first.pk).update(termination="max_steps")

    def shown(**query: str) -> set[int]:
        page = text_of(researcher, "analysis:trajectory_list", **query)
        rows = Trajectory.objects.values_list("pk", flat=True)
        return {pk for pk in rows if f"/trajectories/{pk}/" in page}

    assert shown(reward="full") == {first.pk}
    assert shown(reward="part") == {second.pk}
    assert shown(reward="zero") == {third.pk}
    assert shown(reward="undefined") == {fourth.pk}
    assert shown(end="user_stop", reward="part") == {second.pk}
    assert shown(end="max_steps") == {first.pk}
    assert len(shown(q="where is my BAG")) == 4 and not shown(q="umbrella")
    assert "Reward, as stated: Full (1)" in text_of(
        researcher, "analysis:trajectory_list", reward="full"
    )


def test_nothing_made_here_counts_as_without_reward(researcher: Client, imported: Run) -> None:
    made = TrajectoryFactory(status="done", termination="valid_plan", metrics={})
    assert f"/trajectories/{made.pk}/" in text_of(researcher, "analysis:trajectory_list")
    page = text_of(researcher, "analysis:trajectory_list", reward="undefined")
    assert f"/trajectories/{made.pk}/" not in page


def test_no_run_and_no_judge_takes_imported_trajectories(imported: Run) -> None:
    with pytest.raises(MadeElsewhere, match="no protocol, script or judge here knows their tasks"):
        start_runs(dataset=imported.dataset, agents=[imported.agent], levels=[])
    found = Trajectory.objects.order_by("pk")[0]
    for refuse in (retry_trajectory, restart_trajectory):
        with pytest.raises(CoreError):
            refuse(trajectory=found)
    found.refresh_from_db()
    assert found.status == "done" and Trajectory.objects.count() == 4


@pytest.mark.django_db
def test_a_long_prompt_is_no_heading(researcher: Client, tmp_path: Path) -> None:
    prompt = "Mend the parser. " + "It fails on nested lists. " * 200
    chat = [{"role": "user", "content": prompt}, {"role": "assistant", "content": "Done."}]
    path = tmp_path / "long.json"
    path.write_text(json.dumps(chat))
    trajectory = import_trajectories(path=path).runs[0].trajectories.get()
    for name, key in (("analysis:trajectory", trajectory.pk), ("task", trajectory.task_id)):
        page = text_of(researcher, name, key)
        heading = page.partition("<h1")[2].partition("</h1>")[0]
        assert heading.count("nested lists") < 15
        assert "Whole task</summary>" in page and page.count("nested lists") >= 200


def test_a_session_and_its_sub_agents_lead_to_each_other(
    db: None, researcher: Client, tmp_path: Path
) -> None:
    path = samples.write_sample(tmp_path, "claude-code")
    import_trajectories(path=path, format="claude-code", name="Sessions")
    alone = import_trajectories(path=samples.write_sample(tmp_path, "codex"), format="codex")
    (side,) = Trajectory.objects.filter(payload__metadata__session__parent="s1")
    main = Trajectory.objects.get(
        payload__metadata__session__id="s1", run__dataset__name="Sessions"
    )
    page = text_of(researcher, "analysis:trajectory", main.pk)
    assert f'Its sub-agent: <a href="/trajectories/{side.pk}/">' in page
    assert "This is a sub-agent of" not in page
    page = text_of(researcher, "analysis:trajectory", side.pk)
    assert f'This is a sub-agent of <a href="/trajectories/{main.pk}/">' in page
    assert "Its sub-agent" not in page
    other = alone.runs[0].trajectories.get()  # a session of another file with the same id
    assert other.payload["metadata"]["session"]["id"] == "s1"
    assert "sub-agent" not in text_of(researcher, "analysis:trajectory", other.pk)
