"""The page of one trajectory."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from benchmarks.models import Run, Trajectory
from tests.factories.benchmarks import (
    AnswererVersionFactory,
    ConstraintFactory,
    ExchangeFactory,
    JudgeScoreFactory,
    RunFactory,
    StoredMessageFactory,
    TrajectoryFactory,
    TurnFactory,
    ViolationFactory,
)

S = Trajectory.Status
LIST = "/trajectories/"
HOSTILE = "</textarea><script>alert('x')</script><img src=x onerror=\"y\">"


class TestTrajectory:
    def page(self, client: Client, row: Trajectory, **query: Any) -> str:
        url = reverse("analysis:trajectory", args=[row.pk])
        return client.get(url, query).content.decode()

    def test_everything_about_a_played_trajectory(self, researcher: Client, played: Run) -> None:
        row = played.trajectories.order_by("-turn_count")[0]
        page = self.page(researcher, row)
        for words in (
            "Explorer", "Demo data", "What was hidden", "never violated", "Even-handed judge",
            "What the judges wrote", 'id="turn-1"', f'id="turn-{row.turn_count}"',
            f"Last plan, turn {row.turn_count}", str(row.seed), "Metrics as stored",
        ):  # fmt: skip
            assert words in page, words

    def test_a_valid_plan_that_fails_the_rubric_is_wrong_and_says_why(
        self, researcher: Client
    ) -> None:
        """The header gives the verdict, not the ending: that one is the same for both."""
        row = TrajectoryFactory(
            status=S.DONE, termination="valid_plan", metrics={"valid": 1.0, "accurate": 0.0}
        )
        turn = TurnFactory(trajectory=row, text="1. Open it.\n2. Air it.", is_final=True)
        JudgeScoreFactory(turn=turn, dimension="autonomy", value=2, is_final=True)
        page = self.page(researcher, row)
        line = page[page.index('class="result-line"') : page.index('class="outcome"')]
        for words in (
            'class="badge bad">Wrong', "plan of 2 steps, turn 1", "Too low: Autonomy 2.00",
            row.run.agent.title, row.task.external_id,
        ):  # fmt: skip
            assert words in line, words
        assert "badge ok" not in line
        assert 'class="badge bad">Wrong' in researcher.get(LIST).content.decode()

    def test_marks_of_violations(self, researcher: Client) -> None:
        turn = TurnFactory(payload={"valid": False})
        ViolationFactory(turn=turn, text="No hammer.")
        ViolationFactory(turn=turn, text="No nails.", new=False, repeated=True, revealed=False)
        ViolationFactory(turn=turn, text="No noise.", kind="user", new=False, revealed=False)
        page = self.page(researcher, turn.trajectory)
        for words in ("1 new", "1 repeated", "1 withheld", "(not said again)", "No noise."):
            assert words in page, words
        view = researcher.get(reverse("analysis:trajectory", args=[turn.trajectory_id]))
        (shown_turn,) = view.context["turns"]
        assert [f.mark for f in shown_turn.findings] == ["new", "repeated", "withheld"]

    def test_what_was_hidden_and_when_it_was_told(self, researcher: Client) -> None:
        row = TrajectoryFactory(turn_count=2)
        constraints = [ConstraintFactory(profile=row.profile) for _ in range(3)]
        turns = [TurnFactory(trajectory=row, index=n, is_final=n == 2) for n in (1, 2)]
        ViolationFactory(turn=turns[0], key=constraints[0].key, revealed=False, new=False)
        ViolationFactory(turn=turns[1], key=constraints[0].key)
        ViolationFactory(turn=turns[1], key=constraints[1].key, revealed=False, new=False)
        (kind,) = researcher.get(reverse("analysis:trajectory", args=[row.pk])).context["hidden"]
        assert [(h.revealed_in, h.violated) for h in kind.met] == [(2, (1, 2)), (None, (2,))]
        assert len(kind.untouched) == 1
        page = self.page(researcher, row)
        assert "violated in turns 1 and 2" in page
        assert "never told, violated in turn 2" in page

    def test_scores_with_reasons_and_scores_that_are_missing(self, researcher: Client) -> None:
        turn = TurnFactory()
        judge = AnswererVersionFactory(name="judge-even")
        exchange = ExchangeFactory(
            trajectory=turn.trajectory, answerer=judge, role="rubric_judge",
            value={"scores": {}, "reasons": {"safety": "Gloves are <worn>."}},
        )  # fmt: skip
        JudgeScoreFactory(turn=turn, judge=judge, dimension="safety", exchange=exchange, value=5)
        JudgeScoreFactory(turn=turn, judge=judge, value=None, reason="reply unreadable: no JSON")
        page = self.page(researcher, turn.trajectory)
        assert "Gloves are &lt;worn&gt;." in page
        assert "unscored, because reply unreadable: no JSON" in page
        assert "1 unscored" in page

    def test_scores_of_a_later_judging_are_not_mixed_in(self, researcher: Client) -> None:
        score = JudgeScoreFactory(value=2)
        again = score.run.judgings.create(name="again")
        JudgeScoreFactory(turn=score.turn, value=5, judging=again)
        view = researcher.get(reverse("analysis:trajectory", args=[score.trajectory_id]))
        assert [mark["mean"] for mark in view.context["marks"]] == [2]

    def test_recorded_answers_show_their_pool_and_what_people_said(
        self, researcher: Client
    ) -> None:
        plans = [
            {"key": f"p{n}", "steps": [f"Use thing {n}."], "author": "Prolific", "verdict": verdict}
            for n, verdict in enumerate(["inefficient", "infeasible"])
        ]
        roles = {"agent": [{"kind": "scripted", "policy": "people", "label": "recorded"}]}
        row = TrajectoryFactory(run=RunFactory(roles=roles), task__payload={"plans": plans})
        TurnFactory(trajectory=row, text="1.  Use  thing 1.")
        page = self.page(researcher, row)
        assert "Recorded answer of Prolific, people’s verdict: <strong>infeasible</strong>" in page
        assert "The pool holds 2 answers." in page
        assert "Recorded answers" in page

    def test_changes_since_the_turn_before(self, researcher: Client) -> None:
        row = TrajectoryFactory(turn_count=3)
        for index, text in enumerate(
            ["1. Fetch a hammer.\n2. Hit the nail hard.",
             "1. Fetch a hammer.\n2. Hit the nail softly.",
             "1. Fetch a hammer.\n2. Hit the nail softly."], 1
        ):  # fmt: skip
            TurnFactory(trajectory=row, index=index, text=text, is_final=index == 3)
        page = self.page(researcher, row)
        assert "1 step kept, 1 reworded since turn 1" in page
        assert "<del>hard</del><ins>softly</ins>" in page
        assert "the same as turn 2" in page

    def test_neighbours_are_those_of_the_list_it_was_opened_from(self, researcher: Client) -> None:
        run = RunFactory()
        first, _, second, _, third = (
            TrajectoryFactory(**({"run": run} if n % 2 == 0 else {})) for n in range(5)
        )
        url = reverse("analysis:trajectory", args=[second.pk])
        view = researcher.get(url, {"run": run.pk, "after": 99, "q": ""}).context
        assert (view["previous"], view["next"]) == (third.pk, first.pk)
        assert view["query"] == f"run={run.pk}"
        view = researcher.get(url, {"run": run.pk, "order": "oldest"}).context
        assert (view["previous"], view["next"]) == (first.pk, third.pk)
        page = self.page(researcher, second, run=run.pk)
        assert f'href="/trajectories/{first.pk}/?run={run.pk}" rel="next"' in page

    def test_the_last_of_a_list_has_no_next(self, researcher: Client) -> None:
        row = TrajectoryFactory()
        assert 'rel="next"' not in self.page(researcher, row)

    @pytest.mark.parametrize(
        ("termination", "metrics", "words"),
        [
            ("valid_plan", {"accurate": 1.0}, "valid and accurate"),
            ("valid_plan", {"accurate": 0.0}, "valid, not accurate"),
            ("valid_plan", {"accurate": None}, "whether it passes the rubric is undefined"),
            ("early_stop", {}, "2 turns in a row violated constraints"),
            ("max_turns", {}, "The budget of 20 turns was used up"),
            ("pool_exhausted", {}, "No recorded answer was left"),
            ("judge_failure", {}, "Reason given: world judge: no JSON"),
            ("something_new", {}, "Something new"),
        ],
    )
    def test_why_it_ended(
        self, researcher: Client, termination: str, metrics: dict[str, Any], words: str
    ) -> None:
        row = TrajectoryFactory(
            termination=termination, metrics=metrics, payload={"reason": "world judge: no JSON"}
        )
        assert words in self.page(researcher, row)

    @pytest.mark.parametrize("status", [s for s in S if s != S.DONE])
    def test_one_that_has_not_ended(self, researcher: Client, status: str) -> None:
        row = TrajectoryFactory(
            run__status=Run.Status.ATTENTION, status=status, termination="", metrics={},
            turn_count=0, problem="the endpoint was gone" if status == S.FAILED else "",
        )  # fmt: skip
        page = self.page(researcher, row)
        assert "No turn yet" in page
        assert ("Retry" in page) == (status == S.FAILED)
        assert ("Continue" in page) == (status == S.DECISION)

    def test_texts_are_escaped(self, researcher: Client) -> None:
        plans = [{"key": "p", "steps": [HOSTILE], "author": HOSTILE, "verdict": HOSTILE}]
        row = TrajectoryFactory(
            task__prompt=HOSTILE, task__external_id=HOSTILE, task__payload={"plans": plans},
            run__agent__title=HOSTILE, run__condition=HOSTILE, payload={"reason": HOSTILE},
            termination="judge_failure", undefined={HOSTILE: HOSTILE}, turn_count=2,
        )  # fmt: skip
        ConstraintFactory(profile=row.profile, text=HOSTILE)
        for index in (1, 2):
            turn = TurnFactory(
                trajectory=row, index=index, text=HOSTILE * index, feedback=HOSTILE,
                is_final=index == 2,
            )  # fmt: skip
            ViolationFactory(turn=turn, text=HOSTILE)
            JudgeScoreFactory(turn=turn, value=None, reason=HOSTILE)
        message = StoredMessageFactory(text=HOSTILE)
        ExchangeFactory(
            trajectory=row, text=HOSTILE, value={"text": HOSTILE}, messages=[message.digest]
        )
        for url in (
            LIST,
            reverse("analysis:trajectory", args=[row.pk]),
            reverse("benchmarks:trajectory_exchanges", args=[row.pk]),
            reverse("analysis:compare") + f"?t={row.pk}",
            reverse("benchmarks:run", args=[row.run_id]),
        ):
            page = researcher.get(url).content.decode()
            assert "<script>alert" not in page, url
            assert "<img src=x" not in page, url
            assert "&lt;script&gt;" in page, url

    def test_a_system_without_templates_of_its_own(self, researcher: Client) -> None:
        turn = TurnFactory(
            trajectory__run__dataset__system="external", text="move(a, b)", feedback="Done."
        )
        page = self.page(researcher, turn.trajectory)
        assert "move(a, b)" in page
        assert "What came back" in page

    def test_queries_do_not_grow_with_turns(
        self, researcher: Client, django_assert_max_num_queries: Any
    ) -> None:
        row = TrajectoryFactory(turn_count=12)
        for index in range(1, 13):
            turn = TurnFactory(trajectory=row, index=index, is_final=index == 12)
            ViolationFactory(turn=turn)
            JudgeScoreFactory(turn=turn)
        self.page(researcher, row, agent=row.run.agent_id)  # what the list knows is read once
        with django_assert_max_num_queries(31):
            self.page(researcher, row, agent=row.run.agent_id)
