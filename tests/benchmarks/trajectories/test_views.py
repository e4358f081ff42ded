"""Tests of the pages of asks and replies."""

import pytest
from django.test import Client
from django.urls import reverse

from benchmarks.models import Exchange, Run
from tests.factories.benchmarks import (
    ExchangeFactory,
    TrajectoryFactory,
    play,
    start_sample_runs,
)


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
