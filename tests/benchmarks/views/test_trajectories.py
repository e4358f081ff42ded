"""The list of trajectories, one of them, its log, and several side by side."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from benchmarks.models import Exchange, Run, Trajectory
from benchmarks.views import trajectories as views
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
    play,
    start_sample_runs,
)

S = Trajectory.Status
LIST = "/trajectories/"
HOSTILE = "</textarea><script>alert('x')</script><img src=x onerror=\"y\">"


def shown(client: Client, **query: Any) -> list[int]:
    """The ids that the list shows."""
    rows = client.get(LIST, query).context["rows"]
    return [row.trajectory.pk for row in rows]


class TestList:
    def test_an_empty_list_says_where_trajectories_come_from(self, researcher: Client) -> None:
        assert "No trajectories yet" in researcher.get(LIST).content.decode()

    def test_a_line_tells_how_it_ended(self, researcher: Client, played: Run) -> None:
        page = researcher.get(LIST).content.decode()
        assert "Explorer" in page
        assert "Valid plan" in page
        assert shown(researcher) == list(
            played.trajectories.order_by("-pk").values_list("pk", flat=True)
        )

    def test_what_has_not_begun_is_left_out_unless_asked_for(self, researcher: Client) -> None:
        done, pending, failed = (TrajectoryFactory(status=s) for s in (S.DONE, S.PENDING, S.FAILED))
        given_up = TrajectoryFactory(status=S.CANCELLED, turn_count=0)
        half = TrajectoryFactory(status=S.CANCELLED, turn_count=2)
        assert shown(researcher) == [half.pk, failed.pk, done.pk]
        assert shown(researcher, end=["pending", "cancelled"]) == [
            half.pk, given_up.pk, pending.pk,
        ]  # fmt: skip

    def test_filters_of_runs_and_tasks(self, researcher: Client) -> None:
        run = RunFactory(level="mid", condition="tracking=True")
        wanted = TrajectoryFactory(run=run, task__prompt="How do I cool a melon?")
        TrajectoryFactory()
        for query in (
            {"dataset": run.dataset_id},
            {"agent": run.agent_id},
            {"level": "mid"},
            {"condition": "tracking=True"},
            {"run": run.pk},
            {"task": wanted.task_id},
            {"q": "MELON"},
            {"q": wanted.task.external_id},
        ):
            assert shown(researcher, **query) == [wanted.pk], query

    def test_filters_of_outcomes(self, researcher: Client) -> None:
        valid = TrajectoryFactory(metrics={"valid": 1.0, "accurate": 0.0}, turn_count=2)
        stopped = TrajectoryFactory(
            termination="early_stop", metrics={"valid": 0.0, "accurate": 0.0}, turn_count=5
        )
        unknown = TrajectoryFactory(
            termination="judge_failure", metrics={"valid": None, "accurate": None}, turn_count=3
        )
        running = TrajectoryFactory(status=S.RUNNING, termination="", metrics={}, turn_count=1)
        for query, expected in (
            ({"end": "early_stop"}, [stopped]),
            ({"end": ["early_stop", "running"]}, [running, stopped]),
            ({"valid": "yes"}, [valid]),
            ({"valid": "no"}, [stopped]),
            ({"valid": "undefined"}, [unknown]),
            ({"accurate": "no"}, [stopped, valid]),
            ({"min_turns": 3}, [unknown, stopped]),
            ({"max_turns": 2}, [running, valid]),
            ({"min_turns": 2, "max_turns": 3}, [unknown, valid]),
            ({"min_turns": 0}, [running, unknown, stopped, valid]),
            ({"order": "oldest"}, [valid, stopped, unknown, running]),
        ):
            assert shown(researcher, **query) == [row.pk for row in expected], query

    def test_filters_of_violations_and_scores(self, researcher: Client) -> None:
        clean, twice = TurnFactory(), TurnFactory()
        ViolationFactory(turn=clean)
        ViolationFactory.create_batch(2, turn=twice, repeated=True, new=False)
        JudgeScoreFactory(turn=clean)
        JudgeScoreFactory(turn=twice)
        JudgeScoreFactory(turn=twice, value=None, dimension="safety", reason="no reply")
        for name in ("repeated", "unscored"):
            assert shown(researcher, **{name: "yes"}) == [twice.trajectory_id], name
            assert shown(researcher, **{name: "no"}) == [clean.trajectory_id], name

    def test_the_mean_leaves_missing_scores_out_and_counts_them(self, researcher: Client) -> None:
        """The last turn has 4, 3 and none: the mean is 3.5, not 2.33."""
        last = TurnFactory(index=2)
        first = TurnFactory(trajectory=last.trajectory, index=1, is_final=False)
        JudgeScoreFactory(turn=first, value=1)
        for value, dimension in ((4, "feasibility"), (3, "safety"), (None, "autonomy")):
            JudgeScoreFactory(turn=last, value=value, dimension=dimension)
        (row,) = researcher.get(LIST).context["rows"]
        assert (row.scores.mean, row.scores.missing) == (3.5, 1)
        assert "1 unscored" in researcher.get(LIST).content.decode()

    def test_pages_by_key_carry_the_choice(
        self, researcher: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(views, "ROWS", 2)
        run = RunFactory()
        ids = [TrajectoryFactory(run=run).pk for _ in range(5)]
        TrajectoryFactory()
        for order, expected in (("", ids[::-1]), ("oldest", ids)):
            address, seen = f"{LIST}?run={run.pk}&order={order}", []
            for _ in range(3):
                page = researcher.get(address).context["page"]
                seen += [row.pk for row in page.rows]
                address = LIST + page.next_url
            assert seen == expected
            assert page.next_url == ""
            back = researcher.get(LIST + page.previous_url).context["page"]
            assert [row.pk for row in back.rows] == expected[2:4]

    def test_a_count_beyond_the_cap_is_not_counted(
        self, researcher: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        TrajectoryFactory.create_batch(3)
        monkeypatch.setattr("benchmarks.selectors.paging.count_up_to.__defaults__", (2,))
        assert researcher.get(LIST).context["matching"] == "more than 2 trajectories"

    def test_choices_that_are_not_on_offer_are_left_out(self, researcher: Client) -> None:
        row = TrajectoryFactory()
        for name in ("agent", "end", "valid", "min_turns", "run", "order", "level"):
            assert shown(researcher, **{name: "no'such"}) == [row.pk], name

    def test_the_list_as_a_fragment(self, researcher: Client) -> None:
        TrajectoryFactory()
        query = {"q": "", "agent": "", "valid": "yes"}
        response = researcher.get(LIST, query, headers={"HX-Request": "true"})
        assert "<html" not in response.content.decode()
        assert response["HX-Push-Url"] == f"{LIST}?valid=yes"
        assert response["Vary"] == "HX-Request, Cookie"
        assert response.content.decode().strip() in researcher.get(LIST, query).content.decode()

    @pytest.mark.parametrize("rows", [3, 30])
    def test_queries_do_not_grow_with_rows(
        self, researcher: Client, rows: int, django_assert_max_num_queries: Any
    ) -> None:
        for _ in range(rows):
            JudgeScoreFactory()
        with django_assert_max_num_queries(12):
            researcher.get(LIST, {"valid": "yes", "repeated": "no", "unscored": "no", "q": "thing"})


class TestTrajectory:
    def page(self, client: Client, row: Trajectory, **query: Any) -> str:
        url = reverse("benchmarks:trajectory", args=[row.pk])
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

    def test_marks_of_violations(self, researcher: Client) -> None:
        turn = TurnFactory(payload={"valid": False})
        ViolationFactory(turn=turn, text="No hammer.")
        ViolationFactory(turn=turn, text="No nails.", new=False, repeated=True, revealed=False)
        ViolationFactory(turn=turn, text="No noise.", kind="user", new=False, revealed=False)
        page = self.page(researcher, turn.trajectory)
        for words in ("1 new", "1 repeated", "1 withheld", "(not said again)", "No noise."):
            assert words in page, words
        view = researcher.get(reverse("benchmarks:trajectory", args=[turn.trajectory_id]))
        (shown_turn,) = view.context["turns"]
        assert [f.mark for f in shown_turn.findings] == ["new", "repeated", "withheld"]

    def test_what_was_hidden_and_when_it_was_told(self, researcher: Client) -> None:
        row = TrajectoryFactory(turn_count=2)
        constraints = [ConstraintFactory(profile=row.profile) for _ in range(3)]
        turns = [TurnFactory(trajectory=row, index=n, is_final=n == 2) for n in (1, 2)]
        ViolationFactory(turn=turns[0], key=constraints[0].key, revealed=False, new=False)
        ViolationFactory(turn=turns[1], key=constraints[0].key)
        ViolationFactory(turn=turns[1], key=constraints[1].key, revealed=False, new=False)
        (kind,) = researcher.get(reverse("benchmarks:trajectory", args=[row.pk])).context["hidden"]
        assert [(h.told, h.violated) for h in kind.met] == [(2, (1, 2)), (None, (2,))]
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
        view = researcher.get(reverse("benchmarks:trajectory", args=[score.trajectory_id]))
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
        url = reverse("benchmarks:trajectory", args=[second.pk])
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
            reverse("benchmarks:trajectory", args=[row.pk]),
            reverse("benchmarks:trajectory_exchanges", args=[row.pk]),
            reverse("benchmarks:compare") + f"?t={row.pk}",
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
        with django_assert_max_num_queries(16):
            self.page(researcher, row, agent=row.run.agent_id)


class TestExchanges:
    def test_what_was_told_and_what_came_back(self, researcher: Client, played: Run) -> None:
        row = played.trajectories.order_by("-turn_count")[0]
        url = reverse("benchmarks:trajectory_exchanges", args=[row.pk])
        page = researcher.get(url, {"turn": 1}).content.decode()
        exchange = row.exchanges.order_by("step", "slot")[0]
        for words in ("Rubric judge 2", "Told", "Reply as received", "Read as", str(exchange.seed),
                      exchange.ask_digest, "version 1", "Turn 1"):  # fmt: skip
            assert words in page, words
        part = researcher.get(url, {"turn": 1}, headers={"HX-Request": "true"}).content.decode()
        assert "<html" not in part
        assert "Rubric judge 2" in part

    def test_each_turn_has_its_own_steps(self, researcher: Client) -> None:
        (run,) = start_sample_runs("coin-flipper", level="high")
        play(run)
        row = run.trajectories.order_by("-turn_count")[0]
        url = reverse("benchmarks:trajectory_exchanges", args=[row.pk])
        seen: list[int] = []
        for part in researcher.get(url).context["parts"]:
            shown_turn = researcher.get(url, {"turn": part.turn}).context["exchanges"]
            assert shown_turn[0].row.role == "agent"
            seen += [item.row.pk for item in shown_turn]
        in_order = row.exchanges.order_by("step", "slot", "attempt")
        assert seen == list(in_order.values_list("pk", flat=True))

    def test_why_a_reply_was_not_read(self, researcher: Client) -> None:
        row = TrajectoryFactory()
        for attempt, state, text, reason in (
            (1, "lost", "", ""),
            (2, "unreadable", "Well <b>", "expected a plan in numbered steps"),
            (3, "declined", "", "pool_exhausted: 3 of 3 answers proposed"),
        ):
            ExchangeFactory(
                trajectory=row, attempt=attempt, state=state, text=text, reason=reason,
                repeats=attempt == 2,
            )  # fmt: skip
        url = reverse("benchmarks:trajectory_exchanges", args=[row.pk])
        page = researcher.get(url).content.decode()
        for words in (
            "Lost in flight",
            "repeats 1",
            "Well &lt;b&gt;",
            "numbered steps",
            "Declined",
        ):
            assert words in page, words

    @pytest.mark.parametrize("turn", ["", "0", "7", "x", "9" * 30])
    def test_a_turn_that_is_not_there(self, researcher: Client, played: Run, turn: str) -> None:
        row = played.trajectories.order_by("turn_count")[0]
        url = reverse("benchmarks:trajectory_exchanges", args=[row.pk])
        assert researcher.get(url, {"turn": turn}).status_code == 200

    def test_nothing_was_asked_yet(self, researcher: Client) -> None:
        row = TrajectoryFactory()
        assert not Exchange.objects.exists()
        url = reverse("benchmarks:trajectory_exchanges", args=[row.pk])
        assert "Nothing is stored" in researcher.get(url).content.decode()


class TestCompare:
    def test_turns_side_by_side(self, researcher: Client) -> None:
        first, second = start_sample_runs("explorer", "coin-flipper")
        play(first, second)
        rows = [run.trajectories.order_by("task")[0] for run in (first, second)]
        response = researcher.get("/compare/", {"t": [row.pk for row in rows]})
        assert response.context["same_task"]
        longest = max(row.turn_count for row in rows)
        assert [index for index, _ in response.context["rows"]] == [*range(1, longest + 1)]
        for index, cells in response.context["rows"]:
            for (_, turn), row in zip(cells, rows, strict=True):
                assert (turn is not None) == (index <= row.turn_count)

    def test_one_alone_offers_others_of_its_task(self, researcher: Client) -> None:
        row = TrajectoryFactory()
        other = TrajectoryFactory(run__dataset=row.run.dataset, task=row.task, profile=row.profile)
        TrajectoryFactory()
        page = researcher.get("/compare/", {"t": row.pk})
        assert [c.trajectory.pk for c in page.context["candidates"]] == [other.pk]
        assert f"?t={row.pk}&amp;t={other.pk}" in page.content.decode()

    def test_nothing_chosen(self, researcher: Client) -> None:
        assert "Nothing to compare yet" in researcher.get("/compare/").content.decode()

    def test_what_is_missing_or_too_much_is_said(self, researcher: Client) -> None:
        rows = [TrajectoryFactory().pk for _ in range(4)]
        page = researcher.get("/compare/", {"t": [rows[0], 999_999, rows[0], "x"]})
        assert "There is no trajectory 999999" in page.content.decode()
        assert len(page.context["columns"]) == 1
        page = researcher.get("/compare/", {"t": rows})
        assert "Only three fit" in page.content.decode()
        assert len(page.context["columns"]) == 3

    def test_queries(self, researcher: Client, django_assert_max_num_queries: Any) -> None:
        rows = [JudgeScoreFactory().trajectory_id for _ in range(3)]
        with django_assert_max_num_queries(12):
            researcher.get("/compare/", {"t": rows})
