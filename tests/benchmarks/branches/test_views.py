"""Branching on the page, by the API and from the terminal."""

import json
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse

from analysis.browser.comparison.address import ComparisonAddress
from analysis.browser.comparison.candidates import choose
from analysis.browser.comparison.differences import tokens_of
from analysis.pages.branches.replays import ReplayGroup
from benchmarks.models import Branch, Exchange, Run, Trajectory
from benchmarks.visibility import Visibility
from tests.benchmarks.api.conftest import Caller, bearer
from tests.factories.benchmarks import play, save_sample_dataset, start_sample_runs

pytestmark = pytest.mark.django_db
PLAN = "1. Fill the kettle.\n2. Switch the kettle on."


@pytest.fixture
def parent(db: None) -> Trajectory:
    """An ended trajectory of a few turns."""
    settings = {"max_turns": 3, "rubric_judges": 1}
    (run,) = start_sample_runs(
        "creature-of-habit", dataset=save_sample_dataset(1), settings=settings
    )
    play(run)
    return run.trajectories.get()


def page(trajectory: Trajectory) -> str:
    return reverse("benchmarks:branch_new", args=[trajectory.pk])


def test_a_researcher_branches_on_the_page(researcher: Client, parent: Trajectory) -> None:
    own = researcher.get(reverse("analysis:trajectory", args=[parent.pk])).content.decode()
    assert f"{page(parent)}?turn=1" in own and "Which turn decided it?" in own
    shown = researcher.get(page(parent), {"turn": 1}).content.decode()
    assert parent.turns.all()[0].text.splitlines()[0][:20] in shown.replace("&#x27;", "'")
    given = {"turn": 1, "answer": "agent", "text": PLAN, "replays": 1, "seed": 3}
    response = researcher.post(page(parent), given)
    assert response.status_code == 302
    run = Run.objects.get(kind=Run.Kind.BRANCH)
    assert response["Location"] == reverse("analysis:branches", args=[run.pk])
    assert run.seed == 3 and run.created_by is not None
    play(run)
    branch = run.trajectories.get()
    result = researcher.get(response["Location"])
    assert result["Location"] == reverse("analysis:trajectory", args=[branch.pk])
    for each in (parent, branch):
        tree = researcher.get(reverse("analysis:trajectory", args=[each.pk])).content.decode()
        assert "Turn 1: another answer" in tree and "Original" in tree


def test_the_effect_of_an_answer_is_shown(researcher: Client, parent: Trajectory) -> None:
    given = {"turn": 1, "answer": "agent", "text": PLAN, "replays": 3, "seed": 0, "compare": "on"}
    address = researcher.post(page(parent), given)["Location"]
    assert "Replays are under way" in researcher.get(address).content.decode()
    play(Run.objects.get(kind=Run.Kind.BRANCH))
    shown = researcher.get(address).content.decode()
    assert "another answer at turn 1" in shown.lower() and "Same answer" in shown
    table = researcher.get(f"{address}effect.csv").content.decode()
    assert table.splitlines()[0].startswith("measure") and "Turns" in table


def test_replays_without_verdict_are_not_called_wrong(
    researcher: Client, parent: Trajectory
) -> None:
    """Scripted judges score no free plan, so replays with one have no verdict."""
    given = {"turn": 1, "answer": "agent", "text": PLAN, "replays": 2, "seed": 0, "compare": "on"}
    address = researcher.post(page(parent), given)["Location"]
    own = reverse("analysis:trajectory", args=[parent.pk])
    assert "2 started" in researcher.get(own).content.decode()
    play(Run.objects.get(kind=Run.Kind.BRANCH))
    tree = researcher.get(own).content.decode()
    assert (tree.count("2 without verdict"), tree.count("of 2 right")) == (1, 1)
    shown = researcher.get(address).content.decode()
    assert "no replay with another answer has a verdict (valid plan, scores are missing)." in shown
    head, right = researcher.get(f"{address}effect.csv").content.decode().splitlines()[:2]
    assert head.endswith("p adjusted,p alone,clear") and right.endswith(",,,")


def test_results_have_a_figure_and_are_in_the_api(
    researcher: Client, parent: Trajectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ReplayGroup, "copies", False)  # scripts leave nothing to chance
    given = {"turn": 1, "answer": "agent", "text": PLAN, "replays": 2, "seed": 0, "compare": "on"}
    effect = researcher.post(page(parent), given)["Location"]
    every = {"every": "1", "every-replays": 2, "every-seed": 0}
    turns = researcher.post(page(parent), every)["Location"]
    runs = list(Run.objects.filter(kind=Run.Kind.BRANCH).order_by("pk"))
    play(*runs)
    program = Caller(bearer(User.objects.get(username="researcher")))
    for address, run, name, rows in (
        (effect, runs[0], "effect", ["Another answer", "Same answer"]),
        (turns, runs[1], "turns", [f"Turn {n}" for n in range(1, parent.turn_count + 1)]),
    ):
        assert f"{address}{name}.json" in researcher.get(address).content.decode()
        drawn = json.loads(researcher.get(f"{address}{name}.json").content)
        assert [row for row in rows if row in json.dumps(drawn)] == rows
        told = program.get(f"/branches/{run.pk}").json()
        assert (told["run"], told["trajectory"], told["url"]) == (run.pk, parent.pk, address)
        assert [figure["name"] for figure in told["figures"]] == [name]
        assert told["answer"] and told["tables"][0]["name"] == name
    assert program.get(f"/branches/{parent.run_id}").status_code == 404, "no run of branches"
    assert researcher.get(f"{effect}nothing.json").status_code == 404


def test_tokens_of_a_branch_are_those_of_its_whole_log(
    researcher: Client, parent: Trajectory
) -> None:
    Exchange.objects.filter(trajectory=parent, role="agent").update(tokens_in=5, tokens_out=7)
    given = {"turn": 2, "answer": "agent", "text": PLAN, "replays": 1, "seed": 0}
    researcher.post(page(parent), given)
    run = Run.objects.get(kind=Run.Kind.BRANCH)
    play(run)
    branch = run.trajectories.get()
    Exchange.objects.filter(trajectory=branch, role="agent").update(tokens_in=1, tokens_out=2)
    own = Exchange.objects.filter(trajectory=branch, role="agent").count()
    seen = Visibility.to(User.objects.get(username="researcher"))
    chosen = choose(ComparisonAddress(ids=(parent.pk, branch.pk)), seen)
    assert tokens_of(chosen.columns)[branch.pk].out == 7 + 2 * own, "turn 1 is shared"


def test_every_turn_is_replayed_and_tested(researcher: Client, parent: Trajectory) -> None:
    given = {"every": "1", "every-replays": 2, "every-seed": 0}
    address = researcher.post(page(parent), given)["Location"]
    play(Run.objects.get(kind=Run.Kind.BRANCH))
    shown = researcher.get(address).content.decode()
    assert "Holm" in shown and "Turn 1" in shown
    assert "decided it" in shown or "could be tested" in shown


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"text": ""}, "Write the other answer."),
        ({"replays": 0}, "greater than or equal to 1"),
        ({"cost_cap": 0}, "Expected an amount above 0"),
        ({"turn": 9}, "There is no turn 9"),
        ({"agent": "human", "replays": 2}, "would have to play 2 replays"),
        ({"answer": "world_judge", "text": "perhaps"}, ""),
    ],
)
def test_bad_input_is_refused_on_the_page(
    researcher: Client, parent: Trajectory, given: dict[str, Any], message: str
) -> None:
    sent = {"turn": 1, "answer": "agent", "text": PLAN, "replays": 1, "seed": 0} | given
    response = researcher.post(page(parent), sent)
    assert response.status_code == 422 and message in response.content.decode()
    assert not Branch.objects.exists()


def test_imported_trajectories_say_that_they_cannot_be_branched(
    researcher: Client, parent: Trajectory
) -> None:
    Run.objects.filter(pk=parent.run_id).update(kind=Run.Kind.IMPORTED)
    assert "has no log of calls" in researcher.get(page(parent)).content.decode()
    own = researcher.get(reverse("analysis:trajectory", args=[parent.pk])).content.decode()
    assert page(parent) not in own


def outdated(trajectory: Trajectory, role: str) -> None:
    """Have a role filled by a version of its script that is not installed."""
    roles = trajectory.run.roles
    old = [{**assignment, "version": "0"} for assignment in roles[role]]
    Run.objects.filter(pk=trajectory.run_id).update(roles={**roles, role: old})


def test_an_agent_of_another_version_is_replaced_on_the_page(
    researcher: Client, parent: Trajectory
) -> None:
    outdated(parent, "agent")
    shown = researcher.get(page(parent)).content.decode()
    assert "creature-of-habit 0" in shown and "As before:" not in shown
    assert 'name="every"' not in shown and "Run the task again" in shown
    given = {"turn": 1, "answer": "agent", "text": PLAN, "replays": 1, "seed": 0}
    assert researcher.post(page(parent), given).status_code == 422
    assert not Branch.objects.exists()
    assert researcher.post(page(parent), given | {"agent": "creature-of-habit"}).status_code == 302


def test_other_roles_of_another_version_are_named_by_command(
    researcher: Client, parent: Trajectory
) -> None:
    outdated(parent, "world_judge")
    shown = researcher.get(page(parent)).content.decode()
    assert "cannot continue as before" in shown and "branch_trajectory --fill" in shown


def test_who_may_not_start_runs_cannot_branch(
    reader: Client, stranger: Client, parent: Trajectory
) -> None:
    for client in (reader, stranger):
        assert client.get(page(parent)).status_code == 403
        assert client.post(page(parent), {"turn": 1, "text": PLAN}).status_code == 403
    own = reader.get(reverse("analysis:trajectory", args=[parent.pk])).content.decode()
    assert page(parent) not in own


def test_branches_are_no_ordinary_trajectories(researcher: Client, parent: Trajectory) -> None:
    given = {"turn": 1, "answer": "agent", "text": PLAN, "replays": 2, "seed": 0}
    researcher.post(page(parent), given)
    run = Run.objects.get(kind=Run.Kind.BRANCH)
    play(run)
    listed = researcher.get(reverse("analysis:trajectory_list")).content.decode()
    for row in run.trajectories.all():
        assert f"/trajectories/{row.pk}/" not in listed


def test_the_command_branches(parent: Trajectory, researcher: Client) -> None:
    out = StringIO()
    options = {"turn": 1, "text": PLAN, "replays": 2, "user": "researcher"}
    call_command("branch_trajectory", parent.pk, **options, wait=True, stdout=out)
    assert "2 branches of" in out.getvalue() and "turn 1, another answer: 2 ×" in out.getvalue()
    out = StringIO()
    call_command("branch_trajectory", parent.pk, **options, as_json=True, stdout=out)
    assert len(json.loads(out.getvalue())["branches"]) == 2
    for wrong, message in (
        ({"turn": 77}, "There is no turn 77"),
        ({"user": "nobody"}, "no account"),
        ({"text": ""}, "Write the other answer"),
    ):
        with pytest.raises(CommandError, match=message):
            call_command("branch_trajectory", parent.pk, **{**options, **wrong})
    with pytest.raises(CommandError, match="no trajectory 999999"):
        call_command("branch_trajectory", 999999, **options)


def test_pages_of_agents_say_how_many_branches_they_leave_out(
    researcher: Client, parent: Trajectory
) -> None:
    board = reverse("analysis:leaderboard")
    assert "Branches are not counted" not in researcher.get(board).content.decode()
    given = {"turn": 1, "answer": "agent", "text": PLAN, "replays": 2, "seed": 0}
    researcher.post(page(parent), given)
    play(Run.objects.get(kind=Run.Kind.BRANCH))
    shown = researcher.get(board).content.decode()
    runs = f"{reverse('benchmarks:run_list')}?kind=branch"
    assert "Branches are not counted: 2 of these trajectories." in shown and runs in shown
    listed = researcher.get(runs).content.decode()
    assert f"Run {Run.objects.get(kind=Run.Kind.BRANCH).pk}" in listed
    assert f"Run {parent.run_id}<" not in listed
