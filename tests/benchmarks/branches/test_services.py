"""A branch shares the log of its parent up to a turn, and changes nothing of it."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchmarks.branches import services
from benchmarks.branches.services import (
    BranchRefused,
    answers_in,
    branch_with_answer,
    replay_every_turn,
)
from benchmarks.calls.whole_log import whole_log
from benchmarks.core.errors import SettingError, UnknownName, UnreadableReply
from benchmarks.deletion.plans import plan_run
from benchmarks.deletion.services import begin_deletion
from benchmarks.exports.selectors import exported
from benchmarks.jobs.services import perform
from benchmarks.models import Branch, Exchange, JudgeScore, OpenAsk, Run, Trajectory, Turn
from benchmarks.trajectories.exchanges import exchanges_of, turn_steps
from benchmarks.trajectories.turns import turn_views
from benchmarks.verification.seals import seal_run
from benchmarks.verification.services import SAME, verify_run
from tests.factories.benchmarks import make_user, play, save_sample_dataset, start_sample_runs

pytestmark = [pytest.mark.django_db, pytest.mark.either]
PLAN = "1. Fill the kettle.\n2. Switch the kettle on.\n3. Pour the water."


@pytest.fixture
def run() -> Run:
    """One trajectory of several turns, carried to its end."""
    settings = {"max_turns": 4, "rubric_judges": 1}
    (run,) = start_sample_runs(
        "creature-of-habit", dataset=save_sample_dataset(1), settings=settings
    )
    play(run)
    return run


@pytest.fixture
def parent(run: Run) -> Trajectory:
    return run.trajectories.get()


@pytest.fixture
def user() -> User:
    return make_user("researcher")


def stored(run: Run) -> list[Any]:
    """Return every row of a run's log and of what follows from it."""
    return [
        list(rows.order_by("pk").values())
        for rows in (
            run.trajectories,
            Exchange.objects.filter(trajectory__run=run),
            Turn.objects.filter(trajectory__run=run),
            JudgeScore.objects.filter(run=run),
        )
    ]


def same(run: Run) -> bool:
    """Return whether all ended trajectories of a run follow from their log."""
    report = verify_run(run=run)
    assert not report.differs, report.findings or report.of_run
    return report.counts == {SAME: run.trajectories.count()}


def test_a_branch_shares_the_log_and_goes_its_own_way(
    run: Run, parent: Trajectory, user: User
) -> None:
    before, seal = stored(run), seal_run(run)
    branches = branch_with_answer(trajectory=parent, turn=2, text=PLAN, by=user)
    play(branches)
    branch = branches.trajectories.get()
    turns, others = list(branch.turns.all()), list(parent.turns.all())
    assert turns[0].text == others[0].text
    assert "kettle" in turns[1].text and turns[1].text != others[1].text
    # Nothing is copied: its own exchanges begin with the edit.
    first = Exchange.objects.filter(trajectory=branch).order_by("step", "slot").first()
    assert first is not None and first.text == PLAN
    assert first.step == turn_steps(parent)[1].first
    assert first.answerer.kind == "human"
    shared = Exchange.objects.filter(trajectory=parent, step__lt=first.step)
    assert set(shared) < set(whole_log(branch))
    assert stored(run) == before and seal_run(run) == seal
    assert same(run) and same(branches)


def test_pages_and_exports_of_a_branch_are_whole(run: Run, parent: Trajectory, user: User) -> None:
    branches = branch_with_answer(trajectory=parent, turn=2, text=PLAN, by=user)
    play(branches)
    branch = branches.trajectories.select_related("run__dataset").get()
    assert [steps.turn for steps in turn_steps(branch)] == list(range(1, branch.turn_count + 1))
    texts = [view.row.text for view in exchanges_of(branch, None)]
    assert PLAN in texts
    assert parent.turns.all()[0].text in " ".join(texts)
    first = turn_views([parent])[parent.pk][0]
    again = turn_views([branch])[branch.pk][0]
    assert [v.reasons for v in again.findings] == [v.reasons for v in first.findings]
    assert any(v.reasons for v in first.findings)
    (row,) = exported(branches)
    (of_parent,) = exported(run)
    opening = len(of_parent.messages) - 2 * parent.turn_count
    assert row.messages[: opening + 2] == of_parent.messages[: opening + 2]


def test_a_branch_of_a_branch_shares_both_logs(run: Run, parent: Trajectory, user: User) -> None:
    text = answers_in(parent, 1)[0].given.text
    first = branch_with_answer(trajectory=parent, turn=1, text=text, by=user)
    play(first)
    middle = first.trajectories.get()
    assert middle.turn_count > 1
    later = branch_with_answer(trajectory=middle, turn=2, text=PLAN, by=user)
    sooner = branch_with_answer(trajectory=middle, turn=1, text=f"{PLAN}\n4. Sit.", by=user)
    for each in (later, sooner):
        play(each)
        assert same(each)
    turns = list(later.trajectories.get().turns.all())
    assert turns[0].text == middle.turns.all()[0].text
    assert "kettle" in turns[1].text
    assert "Sit" in sooner.trajectories.get().turns.all()[0].text
    assert same(first)


def test_replays_of_one_turn_are_compared_with_the_same_turn_unedited(
    parent: Trajectory, user: User
) -> None:
    run = branch_with_answer(
        trajectory=parent, turn=2, text=PLAN, by=user, replays=3, compare=True, seed=7
    )
    play(run)
    arms = list(Branch.objects.filter(trajectory__run=run).values_list("arm", flat=True))
    assert arms == ["edited"] * 3 + ["kept"] * 3
    assert same(run)
    seeds = set(Exchange.objects.filter(trajectory__run=run, role="agent").values_list("seed"))
    assert len(seeds) > 3  # each replay has its own


def test_every_turn_is_asked_again(parent: Trajectory, user: User) -> None:
    run = replay_every_turn(trajectory=parent, by=user, replays=2)
    play(run)
    assert run.trajectories.count() == 2 * (parent.turn_count + 1)
    assert same(run)
    last = Branch.objects.filter(trajectory__run=run).last()
    assert last is not None and (last.arm, last.turn) == ("kept", parent.turn_count)


def test_feedback_is_edited_and_a_person_continues(parent: Trajectory, user: User) -> None:
    simulator = next(
        a for a in answers_in(parent, 1) if "judge" not in a.name and a.name != "agent"
    )
    branches = branch_with_answer(
        trajectory=parent, turn=1, role=simulator.asked.role, text="No oven.", by=user,
        roles={"agent": ["human"]},
    )  # fmt: skip
    play(branches)
    branch = branches.trajectories.get()
    assert branch.status == Trajectory.Status.WAITING
    ask = OpenAsk.objects.get(trajectory=branch)
    assert ask.role == "agent" and "No oven." in str(branch.turns.get().feedback)
    # While it waits it can be branched itself, at what is answered.
    again = branch_with_answer(
        trajectory=branch, turn=1, text=PLAN, by=user, roles={"agent": ["creature-of-habit"]}
    )
    play(again)
    assert same(again)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"turn": 99}, "There is no turn 99: this trajectory has"),
        ({"turn": 0}, "There is no turn 0"),
        ({"role": "nobody"}, "has no answer of nobody. It has: agent"),
        ({"text": "  "}, "Write the other answer."),
        ({"replays": 0}, "Ask for 1 to 50 replays."),
        ({"replays": 51}, "Ask for 1 to 50 replays."),
        ({"roles": {"nobody": ["human"]}}, "There is no role nobody"),
        ({"replays": 2, "roles": {"agent": ["human"]}}, "would have to play 2 replays"),
    ],
)
def test_what_cannot_be_branched_is_refused(
    parent: Trajectory, user: User, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(BranchRefused, match=message):
        branch_with_answer(**{"trajectory": parent, "turn": 1, "text": PLAN, "by": user} | given)
    assert not Branch.objects.exists() and Run.objects.count() == 1


def test_a_cap_of_nothing_and_unknown_names_are_refused(parent: Trajectory, user: User) -> None:
    with pytest.raises(SettingError, match="cost cap"):
        branch_with_answer(trajectory=parent, turn=1, text=PLAN, by=user, cost_cap=0)
    with pytest.raises(UnknownName):
        branch_with_answer(
            trajectory=parent, turn=1, text=PLAN, by=user, roles={"agent": ["nobody"]}
        )
    with pytest.raises(UnreadableReply):
        branch_with_answer(trajectory=parent, turn=1, role="world_judge", text="perhaps", by=user)
    assert not Branch.objects.exists()


@pytest.mark.parametrize(
    ("of", "change", "message"),
    [
        ("trajectory", {"status": "running"}, "is under way"),
        ("trajectory", {"status": "pending"}, "has not begun"),
        ("run", {"kind": "imported"}, "was imported. It has no log of calls"),
        ("run", {"kind": "practice"}, "of the kind “practice round”"),
        ("run", {"pins": {"protocol": "0"}}, "pinned to protocol version 0"),
    ],
)
def test_trajectories_that_cannot_be_continued_are_refused(
    run: Run, parent: Trajectory, user: User, of: str, change: dict[str, Any], message: str
) -> None:
    rows: Any = run.trajectories if of == "trajectory" else Run.objects.filter(pk=run.pk)
    rows.update(**change)
    with pytest.raises(BranchRefused, match=message):
        branch_with_answer(
            trajectory=Trajectory.objects.get(pk=parent.pk), turn=1, text=PLAN, by=user
        )
    with pytest.raises(BranchRefused):
        replay_every_turn(trajectory=Trajectory.objects.get(pk=parent.pk), by=user)


def test_a_script_of_another_version_is_refused_before_it_starts(
    run: Run, parent: Trajectory, user: User
) -> None:
    (assignment,) = run.roles["agent"]
    Run.objects.filter(pk=run.pk).update(
        roles={**run.roles, "agent": [{**assignment, "version": "0"}]}
    )
    old = Trajectory.objects.get(pk=parent.pk)
    with pytest.raises(BranchRefused, match="'creature-of-habit 0'; known: creature-of-habit "):
        branch_with_answer(trajectory=old, turn=1, text=PLAN, by=user)
    with pytest.raises(BranchRefused, match="Choose somebody else to continue"):
        replay_every_turn(trajectory=old, by=user)
    assert not Branch.objects.exists() and Run.objects.count() == 1
    roles = {"agent": ["creature-of-habit"]}
    branches = branch_with_answer(trajectory=old, turn=1, text=PLAN, by=user, roles=roles)
    play(branches)
    assert branches.trajectories.get().status == Trajectory.Status.DONE


def test_branches_go_with_the_run_whose_log_they_share(
    run: Run, parent: Trajectory, user: User
) -> None:
    first = branch_with_answer(trajectory=parent, turn=1, text=PLAN, by=user)
    play(first)
    second = branch_with_answer(trajectory=first.trajectories.get(), turn=1, text=PLAN, by=user)
    plan = plan_run(run)
    assert list(plan.runs) == [run.pk, first.pk, second.pk]
    assert plan.counts["Of these, branches of others"] == 2
    assert any(f"Run {second.pk} is queued" in refusal.words for refusal in plan.refusals)
    play(second)
    branch = second.trajectories.get()
    assert list(plan_run(second).runs) == [second.pk]
    perform(job_id=begin_deletion(plan_run(run), by=None).pk, owner="test")
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    for gone in (parent, branch):
        assert client.get(f"/analysis/trajectories/{gone.pk}/").status_code == 404
        again = {"turn": 1, "answer": "agent", "text": PLAN, "replays": 1, "seed": 3}
        assert client.post(f"/trajectories/{gone.pk}/branches/new/", again).status_code == 404
    assert not Run.objects.exists() and not Branch.objects.exists()


def test_a_run_that_is_deleted_at_that_instant_gets_no_branch(
    run: Run, parent: Trajectory, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The turn was read, then the run was deleted, then the branch was to be stored."""

    def deleted(pk: int) -> None:
        perform(job_id=begin_deletion(plan_run(run), by=None).pk, owner="test")

    monkeypatch.setattr(services, "lock_trajectory", deleted)
    with pytest.raises(BranchRefused, match="has been deleted"):
        branch_with_answer(trajectory=parent, turn=1, text=PLAN, by=user)
    assert not Branch.objects.exists()
