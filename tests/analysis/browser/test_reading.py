"""The page of a trajectory: long ones in parts, drawings turn by turn, search, what turns took."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoDbBlocker

from analysis.browser.reading import TurnRange, part_of
from benchmarks.models import Run, Trajectory
from tests.analysis.long_rows import make_long
from tests.annotation.judged import make_judged, say
from tests.annotation.rows import make_person
from tests.databases import standing_rows
from tests.factories.benchmarks import (
    ExchangeFactory,
    JudgeScoreFactory,
    RunFactory,
    TrajectoryFactory,
    TurnFactory,
)

pytestmark = pytest.mark.django_db
FROM_SCRIPT = {"HX-Request": "true"}


def page(client: Client, row: Trajectory, **query: Any) -> str:
    return client.get(reverse("analysis:trajectory", args=[row.pk]), query).content.decode()


def part(client: Client, row: Trajectory, name: str = "turns", **query: Any) -> str:
    url = reverse(f"analysis:trajectory_{name}", args=[row.pk])
    answer = client.get(url, query, headers=FROM_SCRIPT)
    assert answer.status_code == 200
    return answer.content.decode()


def turns_in(text: str) -> list[int]:
    return [int(n) for n in re.findall(r'<details class="turn[^"]*" open id="turn-(\d+)"', text)]


def gaps_in(text: str) -> list[tuple[int, int]]:
    found = re.findall(r'class="turn-gap[^"]*" data-first="(\d+)" data-last="(\d+)"', text)
    return [(int(first), int(last)) for first, last in found]


@pytest.fixture(scope="module")
def kept(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Trajectory]:
    """Making it takes longer than to read it."""
    with standing_rows(django_db_blocker):
        yield make_long(90)


@pytest.fixture
def long(kept: Trajectory, db: None) -> Trajectory:
    return Trajectory.objects.get(pk=kept.pk)


def test_parts_cover_every_turn_once() -> None:
    parts = {part_of(index) for index in range(1, 111)}
    assert sorted(p.first for p in parts) == [1, 11, 31, 51, 71, 91]
    assert sum(p.count for p in parts) == 110
    assert TurnRange(21, 30).parts == [TurnRange(21, 30)]
    assert [(p.first, p.last) for p in TurnRange(35, 90).parts] == [(35, 50), (71, 90)]


class TestLongOnes:
    def test_the_first_and_the_last_at_once(self, researcher: Client, long: Trajectory) -> None:
        text = page(researcher, long)
        assert turns_in(text) == [*range(1, 11), 90]
        assert gaps_in(text) == [(11, 89)]
        # without a script the link leads on; the line of turns is folded in groups of 20
        assert f'href="/trajectories/{long.pk}/?from=11#turn-11"' in text
        groups = re.findall(r'class="line-group" data-first="(\d+)"', text)
        assert groups == ["1", "21", "41", "61", "81"]
        assert text.count("data-turn-link") > 20

    @pytest.mark.parametrize(
        ("query", "turns", "gaps"),
        [
            ({"turn": "50"}, range(47, 59), [(1, 46), (59, 89)]),
            ({"from": "41"}, range(41, 61), [(1, 40), (61, 89)]),
            ({"turn": "10"}, range(1, 11), [(11, 89)]),
            ({"turn": "89"}, range(86, 90), [(1, 85)]),
            ({"turn": "900"}, range(1, 11), [(11, 89)]),  # there is none
        ],
        ids=["turn", "from", "an early one", "a late one", "none"],
    )
    def test_or_those_around_one_that_is_named(
        self,
        researcher: Client,
        long: Trajectory,
        query: dict[str, str],
        turns: range,
        gaps: list[tuple[int, int]],
    ) -> None:
        text = page(researcher, long, **query)
        assert turns_in(text) == [*turns, 90]
        assert gaps_in(text) == gaps

    def test_the_line_of_turns_is_open_where_one_reads(
        self, researcher: Client, long: Trajectory
    ) -> None:
        for query, first in (({}, "1"), ({"turn": "50"}, "41"), ({"from": "61"}, "61")):
            groups = re.findall(
                r'data-first="(\d+)" data-last="\d+" open', page(researcher, long, **query)
            )
            assert groups == [first]

    def test_a_gap_is_filled_from_either_end_or_between(
        self, researcher: Client, long: Trajectory
    ) -> None:
        text = part(researcher, long, stretch="21-89", turn=50)
        assert (turns_in(text), gaps_in(text)) == ([*range(31, 51)], [(21, 30), (51, 89)])
        text = part(researcher, long, stretch="21-89", turn=85)
        assert (turns_in(text), gaps_in(text)) == ([*range(71, 90)], [(21, 70)])

    def test_the_plan_before_a_part_is_known(self, researcher: Client, long: Trajectory) -> None:
        text = part(researcher, long, stretch="21-89", turn=21)
        assert "since turn 20" in text  # turn 21 against the one that is not in this part
        assert "Because of 21." in text and "Because of 20." not in text

    def test_a_group_of_the_line(self, researcher: Client, long: Trajectory) -> None:
        text = part(researcher, long, stretch="41-60", line=1)
        assert len(re.findall(r'data-turn-link="\d+"', text)) == 20
        assert "turn=41#turn-41" in text

    @pytest.mark.parametrize("stretch", ["", "x", "500-600", "9-1", "1-" + "9" * 40])
    def test_no_such_turns(self, researcher: Client, long: Trajectory, stretch: str) -> None:
        url = reverse("analysis:trajectory_turns", args=[long.pk])
        answer = researcher.get(url, {"stretch": stretch}, headers=FROM_SCRIPT)
        assert answer.status_code == 404

    def test_without_a_script_the_part_is_the_page(
        self, researcher: Client, long: Trajectory
    ) -> None:
        url = reverse("analysis:trajectory_turns", args=[long.pk])
        answer = researcher.get(url, {"stretch": "21-89", "turn": 50, "run": 3})
        assert answer["Location"] == f"/trajectories/{long.pk}/?run=3&turn=50#turn-50"

    def test_queries_and_size_do_not_grow(
        self, researcher: Client, long: Trajectory, django_assert_max_num_queries: Any
    ) -> None:
        with django_assert_max_num_queries(26):  # one for its branches
            text = page(researcher, long)
        assert len(text) < 250_000
        with django_assert_max_num_queries(22):
            part(researcher, long, stretch="21-89", turn=21)


class TestTurnByTurn:
    def test_judges_and_people_at_their_turns(self, researcher: Client) -> None:
        row = TrajectoryFactory(turn_count=2)
        for index, values in ((1, (2, 4)), (2, (5, 5))):
            turn = TurnFactory(trajectory=row, index=index, is_final=index == 2)
            for value in values:
                JudgeScoreFactory(turn=turn, dimension="safety", value=value)
        view = researcher.get(reverse("analysis:trajectory", args=[row.pk]))
        (panel,) = view.context["multiples"].panels
        assert [p.words for p in panel.points] == [
            "Turn 1: judges 3.00, from 2 to 4", "Turn 2: judges 5.00, from 5 to 5",
        ]  # fmt: skip
        assert panel.words == "Safety: judges from 3.00 to 5.00"
        text = view.content.decode()
        assert "in the judging “live”" in text
        assert '<a href="#turn-2"' in text and "<title>Turn 1: judges 3.00" in text

    def test_many_turns_share_a_point(self, researcher: Client, long: Trajectory) -> None:
        view = researcher.get(reverse("analysis:trajectory", args=[long.pk]))
        drawn = view.context["multiples"]
        # 90 turns in at most 40 points: 3 turns each
        assert (drawn.size, len(drawn.bins)) == (3, 30)
        first = drawn.bins[3]  # turns 10 to 12: one new, two repeated; scores 2, 3 and 4
        assert (first.words, dict(first.marks)) == (
            "Turns 10–12", {"new": 1, "repeated": 2, "withheld": 0},
        )  # fmt: skip
        assert {(s.mean, s.low, s.high) for s in first.spreads.values()} == {(3, 2, 4)}
        assert "Each point holds 3 turns." in view.content.decode()

    def test_the_table_says_the_same(self, researcher: Client, long: Trajectory) -> None:
        text = part(researcher, long, "scores")
        assert text.count("<tr>") == 91 and "2–4" in text and "<html" not in text
        whole = researcher.get(reverse("analysis:trajectory_scores", args=[long.pk]))
        assert "<html" in whole.content.decode()

    def test_none_with_one_turn_or_without_scores(self, researcher: Client) -> None:
        one = JudgeScoreFactory().trajectory
        two = TrajectoryFactory(turn_count=2)
        for index in (1, 2):
            TurnFactory(trajectory=two, index=index)
        for row in (one, two):
            assert "Turn by turn" not in page(researcher, row)


class TestPeople:
    def test_dots_answers_and_the_studies_one_may_see(
        self, client: Client, researcher: Client
    ) -> None:
        ann, bob = make_person("ann"), make_person("bob")
        lead = make_person("lead", "view_results")
        study = make_judged([ann, bob], lead)
        say(study, ann, 1, {"safety": 2})
        say(study, bob, 1, {"safety": 5})
        row = study.items.get(rank=1).trajectory
        assert row is not None
        client.force_login(lead)
        view = client.get(reverse("analysis:trajectory", args=[row.pk]))
        marks = {mark["key"]: mark for mark in view.context["marks"]}
        assert (marks["safety"]["person"], marks["safety"]["mean"]) == (3.5, None)
        text = view.content.decode()
        assert "Annotator 1" in text and "2 answers of people 3.50, from 2 to 5" in text
        other = page(researcher, row)
        assert "Annotator 1" not in other and study.name not in other
        assert "No study that you may see" in other


class TestUse:
    def test_tokens_and_time_of_agent_and_others(self, researcher: Client) -> None:
        row = TrajectoryFactory(turn_count=2)
        for index in (1, 2):
            TurnFactory(trajectory=row, index=index, is_final=index == 2)
        make = {"trajectory": row, "latency": 0.5}
        ExchangeFactory(**make, step=0, tokens_in=100, tokens_out=20)
        ExchangeFactory(**make, step=1, role="world_judge", tokens_in=70, tokens_out=None)
        ExchangeFactory(**make, step=2, tokens_in=300, tokens_out=30)
        ExchangeFactory(**make, step=2, attempt=2, tokens_in=300, tokens_out=30)
        text = page(researcher, row)
        feet = re.findall(
            r'<span class="turn-use">(.*?)</span>\s*<span class="row turn-acts">', text, re.S
        )
        first, second = (" ".join(re.sub(r"<[^>]+>", "", foot).split()) for foot in feet)
        assert first == "Agent 0.5 s, 100 tokens in, 20 out · 1 other call, 0.5 s, 70 tokens in"
        assert second == "Agent 1 s, 600 tokens in, 60 out"  # both attempts were paid for

    @pytest.mark.parametrize(
        ("stated", "words"),
        [
            ({"tokens_in": 40, "tokens_out": 4}, "Agent 40 tokens in, 4 out"),
            ({}, "undefined: the file does not state them"),
        ],
        ids=["stated", "not stated"],
    )
    def test_of_imported_turns_what_the_file_states(
        self, researcher: Client, stated: dict[str, int], words: str
    ) -> None:
        run = RunFactory(kind=Run.Kind.IMPORTED, dataset__system="external")
        row = TrajectoryFactory(run=run)
        message = {"speaker": "assistant", "text": "Done.", **stated}
        TurnFactory(trajectory=row, payload={"messages": [message]})
        assert words in " ".join(page(researcher, row).split())


class TestSearch:
    def test_words_are_found_in_turns_that_are_not_shown(
        self, researcher: Client, long: Trajectory
    ) -> None:
        text = page(researcher, long, find="FOR  reason 55")
        assert "occurs in 1 place" in text
        assert 'turn=55#turn-55" data-turn-link="55"' in text
        assert "<mark>for reason 55</mark>" in text
        alone = researcher.get(
            reverse("analysis:trajectory", args=[long.pk]), {"find": "no such"}, headers=FROM_SCRIPT
        ).content.decode()
        assert "occurs in no turn" in alone and "<html" not in alone

    def test_messages_made_elsewhere_and_hostile_words(self, researcher: Client) -> None:
        row = TrajectoryFactory(run__dataset__system="external")
        said = {"speaker": "tool", "name": "look", "text": "a <b>bold</b> shelf"}
        TurnFactory(trajectory=row, payload={"messages": [said]})
        text = page(researcher, row, find="<b>bold")
        assert "<mark>&lt;b&gt;bold</mark>" in text and "<b>bold" not in text
