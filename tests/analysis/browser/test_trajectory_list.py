"""The list of trajectories: filters, pages, counts."""

from typing import Any

import pytest
from django.test import Client

from analysis.browser import list_views as views
from benchmarks.models import Run, Trajectory
from tests.factories.benchmarks import (
    JudgeScoreFactory,
    RunFactory,
    TrajectoryFactory,
    TurnFactory,
    ViolationFactory,
)
from tests.visitors import without_tokens

S = Trajectory.Status
LIST = "/trajectories/"


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
        assert ">Right</span>" in page
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

    def test_imported_trajectories_have_the_columns_that_their_files_fill(
        self, researcher: Client
    ) -> None:
        run = RunFactory(dataset__system="external")
        poor, rich = (
            TrajectoryFactory(run=run, status=S.DONE, metrics={"reward": reward}, turn_count=1)
            for reward in (0.25, 1.0)
        )
        page = researcher.get(LIST).content.decode()
        head = page[page.index("<thead>") : page.index("</thead>")]
        assert "Reward" in head
        for empty in ("Valid", "Passes", "Violations", "Mean score", "Tokens"):
            assert empty not in head
        assert shown(researcher, order="worst") == [poor.pk, rich.pk]
        assert shown(researcher, order="best") == [rich.pk, poor.pk]

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

    def test_choices_that_are_not_on_offer_are_left_out(self, researcher: Client) -> None:
        row = TrajectoryFactory()
        for name in ("agent", "end", "valid", "min_turns", "run", "order", "level"):
            assert shown(researcher, **{name: "no'such"}) == [row.pk], name

    def test_the_list_as_a_fragment(self, researcher: Client) -> None:
        TrajectoryFactory()
        query = {"q": "", "agent": "", "valid": "yes"}
        response = researcher.get(LIST, query, headers={"HX-Request": "true"})
        part = response.content.decode()
        assert "<html" not in part
        assert response["HX-Push-Url"] == f"{LIST}?valid=yes"
        assert response["Vary"] == "HX-Request, Cookie, Accept-Encoding"
        # The rows as on the page, and the facets to be put in the place of those there.
        rows, _, facets = part.partition('<div id="facets"')
        page = researcher.get(LIST, query).content.decode()
        assert without_tokens(rows.strip()) in without_tokens(page)
        assert facets.startswith(' hx-swap-oob="innerHTML"')

    @pytest.mark.parametrize("rows", [3, 30])
    def test_queries_do_not_grow_with_rows(
        self, researcher: Client, rows: int, django_assert_max_num_queries: Any
    ) -> None:
        for _ in range(rows):
            JudgeScoreFactory()
        query = {"valid": "yes", "repeated": "no", "unscored": "no", "q": "thing"}
        with django_assert_max_num_queries(42):  # the facts of every run are read and kept
            assert len(shown(researcher, **query)) == rows
        with django_assert_max_num_queries(27):  # usable tasks, wordings of labels, columns
            researcher.get(LIST, query)
