"""Tests of failures grouped by their words: members, figures, and the list of one group."""

import csv
import io
import re

import pytest
from django.core.cache import caches
from django.http import QueryDict
from django.test import Client

from analysis.browser.groups.failure_groups import (
    MOST_TEXTS,
    GroupOptions,
    choose,
    drawn,
    read_group_options,
)
from analysis.frames.failure_texts import FEEDBACK, PLAN, end_texts
from analysis.models import RunFacts
from analysis.stats.descriptive.means import mean_by_cluster
from analysis.trajectory_index import table as index_table
from analysis.trajectory_index.similar_groups import kept_group
from benchmarks.jobs.services import perform
from benchmarks.models import Job, Run, Trajectory
from benchmarks.visibility import EVERYTHING, Visibility
from tests.analysis.rows import make_person
from tests.factories.benchmarks import (
    AgentFactory,
    ExperimentFactory,
    RunFactory,
    TrajectoryFactory,
    TurnFactory,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_stored_reports")]

PAGE = "/trajectories/groups/"
WATER = "The pipe leaks water under the kitchen sink."
POWER = "The lamp flickers when current falls."


@pytest.fixture
def reader(client: Client) -> Client:
    client.force_login(make_person("rita", "view_results"))
    return client


def end(
    run: Run, feedback: str, plan: str = "", *, accurate: float | None = 0.0, ending: str = ""
) -> Trajectory:
    metrics = {"valid": 1.0, "accurate": accurate}
    more = {"termination": ending} if ending else {}
    row = TrajectoryFactory(run=run, metrics=metrics, turn_count=2, **more)
    TurnFactory(trajectory=row, index=1, text="Begin somewhere.", feedback=feedback, is_final=False)
    TurnFactory(trajectory=row, index=2, text=plan or feedback, feedback="")
    return row


@pytest.fixture
def two_kinds() -> tuple[Run, Run]:
    """Make 6 failures about water and 2 about power of one agent, and 8 about power of another.

    All have the same fault: none, and the same ending.
    """
    first = RunFactory(agent=AgentFactory(title="Plumber"))
    second = RunFactory(agent=AgentFactory(title="Electrician"))
    for _ in range(6):
        end(first, WATER)
    for run, count in ((first, 2), (second, 8)):
        for _ in range(count):
            end(run, POWER)
    end(second, "All is well.", accurate=1.0)
    return first, second


def make(reader: Client, query: str = "") -> str:
    """The page once its groups are there."""
    reader.post(f"{PAGE}later/{query}")
    job = Job.objects.latest("pk")
    perform(job_id=job.pk, owner="test")
    job.refresh_from_db()
    assert job.status == Job.Status.DONE, job.message
    return reader.get(f"{PAGE}{query}").content.decode()


def table(reader: Client, name: str, query: str) -> list[dict[str, str]]:
    answer = reader.get(f"{PAGE}{name}.csv{query}")
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def test_the_page_says_what_fails_alike_and_of_whom(
    reader: Client, two_kinds: tuple[Run, Run]
) -> None:
    query = "?groups=2&seed=7"
    assert "Compute" in reader.get(f"{PAGE}{query}").content.decode()
    shown = make(reader, query)
    # 16 failed of 17; power has 2 + 8 = 10 of them
    assert "16 of 17 trajectories of this list failed" in shown
    assert "in one way: Valid plan, no fault noted (100.0\u00a0%, " in shown
    assert "n\u00a0=\u00a016)." in shown
    assert "seed 7" in shown
    (group,) = table(reader, "groups", query)
    assert group["sequence"] == "Valid plan, no fault noted" and group["median turns"] == "2"
    assert (group["trajectories"], group["share"]) == ("16", "1.0")
    power, water = table(reader, "words", query)
    assert (power["group"], water["group"]) == ("Group 1a", "Group 1b")
    assert (power["trajectories"], water["trajectories"]) == ("10", "6")
    assert {"flickers", "lamp"} <= set(power["words"].split(", "))
    agents = {row["agent"]: row for row in table(reader, "agents", query)}
    assert {agent: row["trajectories"] for agent, row in agents.items()} == {
        "Plumber": "8",
        "Electrician": "8",
    }
    typical = table(reader, "typical", query)[0]
    assert f'/trajectories/{typical["trajectory"]}/#turn-2"' in shown
    assert "lamp" in typical["excerpt"]


def test_groups_divide_by_what_happened_before_words(reader: Client) -> None:
    """Equal words with two sequences of faults are two groups, told in the order of turns."""
    run = RunFactory(agent=AgentFactory(title="Plumber"))
    for number in range(6):
        stopped = end(run, WATER, ending="early_stop")
        stopped.turns.update(text="1. Mop up the water.")
        TurnFactory(trajectory=stopped, index=3, text="1. Mop up the water.", feedback="")
        back = end(run, WATER, f"{number}. Mop up the water.", ending="max_turns")
        for index in (3, 4, 5):
            text = f"{number}. Mop up the water." if index == 5 else f"{number}.{index} Look."
            TurnFactory(trajectory=back, index=index, text=text, feedback="")
    shown = make(reader)
    returned, same = table(reader, "groups", "")
    assert {same["sequence"], returned["sequence"]} == {
        "Same plan twice in a row → early stop",
        "Back to an earlier plan → out of turns",
    }
    assert {same["median turns"], returned["median turns"]} == {"2 → 3", "5 → 5"}
    assert {same["trajectories"], returned["trajectories"]} == {"6"}
    assert "Not divided by words (fewer than 10 texts with shared words)" in shown
    listed = re.search(r"similar=([0-9a-f]{16}\.1)\"", shown)
    assert listed is not None
    kept = kept_group(listed[1])
    assert kept is not None and kept.title.startswith(f"Failures: {returned['sequence']}")


def test_shares_have_intervals_by_task(reader: Client) -> None:
    """Six failures on two tasks are two clusters, not six independent trials."""
    run, tasks, inside = RunFactory(agent=AgentFactory(title="Plumber")), [], []
    for ending in ("early_stop", "max_turns"):
        first = end(run, WATER, ending=ending)
        for row in [first, end(run, WATER, ending=ending), end(run, POWER, ending="early_stop")]:
            Trajectory.objects.filter(pk=row.pk).update(task=first.task)
            row.refresh_from_db()
            tasks.append(row.task_id)
            inside.append(row.termination == "early_stop")
    make(reader)
    group = table(reader, "groups", "")[0]
    expected = mean_by_cluster(inside, tasks)
    assert group["sequence"] == "Early stop, no fault noted" and group["trajectories"] == "4"
    assert expected.interval is not None
    shown = [float(group[f"share{side}"]) for side in (" low", " high")]
    assert shown == pytest.approx([expected.interval.low, expected.interval.high], abs=1e-5)


def test_one_click_leads_to_the_list_of_a_group(reader: Client, two_kinds: tuple[Run, Run]) -> None:
    shown = make(reader, "?groups=2")
    value = re.search(r"similar=([0-9a-f]{16}\.1)\"", shown)
    assert value is not None
    listed = reader.get(f"/trajectories/?similar={value[1]}").content.decode()
    assert "<strong>16</strong> of 17" in listed
    assert "Failures: Valid plan, no fault noted" in listed
    # Behind the one sequence come its groups by words, the larger one first.
    words = reader.get(f"/trajectories/?similar={value[1][:-1]}2").content.decode()
    assert "<strong>10</strong> of 17" in words
    assert "Failures: Valid plan, no fault noted (" in words
    caches["kept"].clear()
    listed = reader.get(f"/trajectories/?similar={value[1]}").content.decode()
    assert "no such group of similar texts any more" in listed


@pytest.mark.parametrize("value", ["", "x", "0" * 16, f"{'0' * 16}.1", "../x.1"])
def test_what_names_no_group_is_none(value: str) -> None:
    assert kept_group(value) is None


def test_the_same_seed_gives_the_same_groups_and_is_asked_for_once(
    reader: Client, two_kinds: tuple[Run, Run]
) -> None:
    make(reader, "?seed=3")
    first = table(reader, "typical", "?seed=3")
    reader.post(f"{PAGE}later/?seed=3")
    assert Job.objects.count() == 1
    caches["kept"].clear()
    make(reader, "?seed=3")
    assert table(reader, "typical", "?seed=3") == first


def test_another_failure_asks_for_another_report(
    reader: Client, two_kinds: tuple[Run, Run]
) -> None:
    make(reader)
    end(two_kinds[0], WATER)
    assert "Compute" in reader.get(PAGE).content.decode()


def test_a_figure_keeps_the_state_of_its_page(reader: Client, two_kinds: tuple[Run, Run]) -> None:
    for _ in range(3):
        end(two_kinds[0], WATER, ending="early_stop")
    make(reader)
    (_, source), *_ = reader.get(PAGE).context["deferred_figures"]
    before = reader.get(source).json()
    end(two_kinds[0], WATER)
    start, _, state = source.partition("state=")
    assert reader.get(start).status_code == 404
    assert reader.get(source).json() == before
    assert reader.get(f"{start}state={'0' * len(state)}").status_code == 409


def test_too_few_texts_are_said(reader: Client) -> None:
    end(RunFactory(), WATER)
    shown = make(reader)
    assert "Too little to group" in shown
    assert "The list has 1 failed trajectory, 1 of them with a turn. 2 are needed." in shown


def test_no_link_to_groups_where_there_is_nothing_to_group(reader: Client) -> None:
    """The list, the failure profile and the experiment say so in the link's place."""
    run = RunFactory(agent=AgentFactory(title="Plumber"), experiment=ExperimentFactory())
    pages = (
        "/trajectories/",
        f"/analysis/failures/?run={run.pk}",
        f"/experiments/{run.experiment_id}/",
    )

    def shown() -> list[str]:
        return [reader.get(page).content.decode() for page in pages]

    end(run, WATER, accurate=1.0)
    listed, profile, experiment = shown()
    assert not any(PAGE in page for page in (listed, profile, experiment))
    assert "None failed: there is nothing to group." in listed
    assert "None failed: there is nothing to group." in experiment
    end(run, WATER)
    listed, profile, experiment = shown()
    assert not any(PAGE in page for page in (listed, profile, experiment))
    assert "One failed: there is nothing to group it with." in listed
    assert "One failed: there is nothing to group it with." in experiment
    end(run, POWER)
    for page in shown():
        assert f'href="{PAGE}' in page and "Group the 2 failures by what happened and words" in page


def test_a_list_without_failures_says_so(reader: Client) -> None:
    end(RunFactory(), WATER, accurate=1.0)
    shown = make(reader)
    assert "No failed trajectory in this list" in shown
    assert "left out: 1 (did not fail)" in shown


def test_who_failed() -> None:
    from analysis.trajectory_index.listing import listing

    run = RunFactory()
    wrong = end(run, WATER)
    end(run, WATER, accurate=1.0)
    invalid, unknown = end(run, WATER, accurate=None), end(run, WATER, accurate=None)
    unrewarded = end(run, WATER, accurate=None)
    for row, metrics in (
        (invalid, {"valid": 0.0}),
        (unknown, {}),
        (unrewarded, {"reward": 0.5}),
    ):
        Trajectory.objects.filter(pk=row.pk).update(metrics=metrics)
    TrajectoryFactory(run=run, status="running", metrics={})
    found = listing(QueryDict(""), EVERYTHING)
    chosen = choose(found, GroupOptions())
    assert chosen.ids == (wrong.pk, invalid.pk, unrewarded.pk)
    assert chosen.left_out == {"not ended": 1, "did not fail": 1, "no verdict": 1}
    assert len(choose(found, GroupOptions(among="all")).ids) == 5


def test_closed_runs_are_in_no_group(two_kinds: tuple[Run, Run]) -> None:
    from analysis.trajectory_index.listing import listing

    first, second = two_kinds
    seen = Visibility(None, [first.pk])
    chosen = choose(listing(QueryDict(""), seen), GroupOptions())
    assert set(chosen.agents) == {"Electrician"}
    assert set(chosen.ids) <= set(second.trajectories.values_list("pk", flat=True))


def test_the_address_says_how_and_nonsense_is_named() -> None:
    asked = read_group_options(QueryDict("agent=3&seed=x&groups=99&texts=y&order=oldest&after=7"))
    assert (asked.query, asked.seed, asked.groups, asked.texts) == ("agent=3", 1, None, "both")
    assert len(asked.problems) == 3
    assert asked.full_query == "agent=3&among=failed&seed=1&texts=both"
    assert read_group_options(QueryDict(asked.full_query)).full_query == asked.full_query


def test_very_many_are_drawn_from_with_the_seed() -> None:
    ids = range(10, 10 + MOST_TEXTS + 1)
    first = drawn(ids, 1)
    assert len(first) == MOST_TEXTS
    assert first == drawn(ids, 1) == sorted(set(first))
    assert first != drawn(ids, 2)
    assert drawn(ids[:-1], 1) == ids[:-1]


def test_texts_are_feedback_and_the_last_plan() -> None:
    row, empty = end(RunFactory(), WATER, "Mend it."), TrajectoryFactory(turn_count=0)
    ids = [row.pk, empty.pk]
    assert [(t.trajectory, t.turn, t.text) for t in end_texts(ids)] == [
        (row.pk, 2, f"{WATER}\nMend it.")
    ]
    assert [t.text for t in end_texts(ids, FEEDBACK)] == [WATER]
    assert [t.text for t in end_texts(ids, PLAN)] == ["Mend it."]


def test_the_page_says_what_its_list_has_not_read_yet(
    reader: Client, two_kinds: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "have not been read" not in reader.get(PAGE).content.decode()
    index_table._known.clear()
    RunFacts.objects.all().delete()
    monkeypatch.setattr(index_table, "AT_ONCE", 0)
    page = reader.get(PAGE).content.decode()
    assert re.search(r"(\d+) of \1 trajectories have not been read", page)
