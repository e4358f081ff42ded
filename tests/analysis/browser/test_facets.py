"""Facets of the list of trajectories: counts, orders, what people said, and who may know of it."""

import re
from typing import Any

import pytest
from django.test import Client

from analysis.trajectory_index import table
from analysis.trajectory_index.listing import FacetView
from annotation.models import Adjudication, FailureLabel, LabelRemoval, TrajectoryLabel
from benchmarks.jobs.services import perform
from benchmarks.models import Dataset, Job, Run, Trajectory
from tests.analysis.rows import (
    flat,
    make_dataset,
    make_imported,
    make_member,
    make_person,
    make_ratings,
    make_run,
    make_study,
    make_trajectory,
)
from tests.factories.benchmarks import ExchangeFactory, TrajectoryFactory, ViolationFactory

LIST = "/trajectories/"


def page(client: Client, **query: Any) -> Any:
    return client.get(LIST, query).context


def shown(client: Client, **query: Any) -> list[int]:
    return [row.trajectory.pk for row in page(client, **query)["rows"]]


def counts(client: Client, name: str, **query: Any) -> dict[str, int] | None:
    """The choices of a facet with their counts; None where it is not offered."""
    facets: list[FacetView] = page(client, **query)["list"].facets
    found = next((facet for facet in facets if facet.name == name), None)
    return {offer.label: offer.count for offer in found.offers} if found else None


@pytest.fixture
def world(db: None) -> list[Trajectory]:
    """Two agents at two levels. Mean scores 1, 2, 3 and 4; the last two are valid."""
    dataset = make_dataset()
    found = []
    for number, (agent, level) in enumerate(
        [("alpha", "low"), ("alpha", "mid"), ("beta", "low"), ("beta", "mid")], 1
    ):
        run = make_run(dataset, agent, level=level)
        run.settings = {"tau": 3.0, "quorum": "all"}
        run.save()
        valid = float(number > 2)
        turns = [flat(number)] * number
        found.append(make_trajectory(run, number, scores=turns, valid=valid, accurate=valid))
    return found


class TestCounts:
    def test_a_facet_ignores_its_own_choice_and_heeds_all_others(
        self, researcher: Client, world: list[Trajectory]
    ) -> None:
        assert counts(researcher, "agent") == {"Alpha": 2, "Beta": 2}
        alpha = world[0].run.agent_id
        chosen: dict[str, Any] = {"agent": alpha, "level": "low"}
        assert counts(researcher, "agent", **chosen) == {"Alpha": 1, "Beta": 1}
        assert counts(researcher, "level", **chosen) == {"low": 1, "mid": 1}
        assert counts(researcher, "valid", **chosen) == {"Yes": 0, "No": 1}

    def test_two_choices_of_one_facet_add_up(
        self, researcher: Client, world: list[Trajectory]
    ) -> None:
        both = [world[0].run.agent_id, world[2].run.agent_id]
        assert len(shown(researcher, agent=both)) == 4
        assert shown(researcher, agent=both, score=["under-2", "4"]) == [world[3].pk, world[0].pk]

    def test_the_sentence_says_how_many_of_how_many(
        self, researcher: Client, world: list[Trajectory]
    ) -> None:
        words = researcher.get(LIST, {"valid": "yes"}).content.decode()
        assert "<strong>2</strong> of 4 trajectories" in words
        assert "<strong>4</strong> trajectories" in researcher.get(LIST).content.decode()

    def test_what_does_not_vary_is_not_offered(
        self, researcher: Client, world: list[Trajectory]
    ) -> None:
        for name in ("dataset", "condition", "repeated", "flagged", "label", "reward", "system"):
            assert counts(researcher, name) is None, name
        # A choice that is in force is shown all the same, so that it can be taken back.
        assert counts(researcher, "repeated", repeated="no") == {"Without": 4}

    def test_what_has_not_begun_is_counted_where_it_can_be_chosen(self, researcher: Client) -> None:
        TrajectoryFactory()
        TrajectoryFactory(status="pending", termination="")
        found = counts(researcher, "end")
        assert found == {"Valid plan": 1, "Not started": 1}
        assert page(researcher)["list"].total == 1

    def test_rubric_dimensions_against_the_threshold(
        self, researcher: Client, world: list[Trajectory]
    ) -> None:
        """Three is the threshold: means of 3 and 4 pass."""
        assert counts(researcher, "rubric-safety") == {"passes": 2, "fails": 2}
        assert shown(researcher, **{"rubric-safety": "fail"}) == [world[1].pk, world[0].pk]

    def test_bins_systems_and_sources(self, researcher: Client, world: list[Trajectory]) -> None:
        ExchangeFactory(trajectory=world[0], tokens_in=1_500, tokens_out=500)
        (talks,) = make_imported(rewards={1: (1.0, 0.5, None)})
        assert counts(researcher, "score") == {
            "under 2": 1, "2 to 3": 1, "3 to 3.5": 1, "4 to 4.5": 1,
        }  # fmt: skip
        assert counts(researcher, "tokens") == {"2,000 to 10,000": 1}
        assert counts(researcher, "system") == {"AdaPlanBench": 4, "Made elsewhere": 3}
        assert counts(researcher, "source") == {"Made elsewhere": 3, "Scripted parts": 4}
        assert counts(researcher, "reward", run=talks.pk) == {
            "Full (1)": 1, "Between 0 and 1": 1, "Not stated": 1,
        }  # fmt: skip


class TestMore:
    def test_parameters_that_other_pages_lead_with(
        self, researcher: Client, world: list[Trajectory]
    ) -> None:
        first, second, third, fourth = world
        ViolationFactory(turn=first.turns.get(), kind="user", key="u7", repeated=True)
        ViolationFactory(turn=second.turns.first(), kind="world", key="w1")
        Run.objects.filter(pk=first.run_id).update(experiment=None)
        for query, expected in (
            ({"dimension": "safety", "score_at_most": "2"}, [second, first]),
            ({"dimension": "safety", "score_at_least": "2", "score_at_most": 3}, [third, second]),
            ({"score_at_least": "3.5"}, [fourth]),
            ({"violated": "user"}, [first]),
            ({"violated": "u7"}, [first]),
            ({"violated": ["world", "user"]}, [second, first]),
            ({"repeated": "yes"}, [first]),
            ({"reached_turn": 3}, [fourth, third]),
            ({"ids": f"{third.pk},{first.pk}"}, [third, first]),
            ({"ids": [third.pk, first.pk], "valid": "no"}, [first]),
        ):
            assert shown(researcher, **query) == [row.pk for row in expected], query

    def test_what_is_not_there_is_said(self, researcher: Client, world: list[Trajectory]) -> None:
        for query in (
            {"agent": "777"}, {"valid": "perhaps"}, {"dimension": "charm"}, {"group": "99"},
            {"min_turns": "many"}, {"score_at_most": "nan"}, {"order": "prettiest"}, {"ids": "x"},
            {"max_turns": "1" * 400}, {"task": "x"},
        ):  # fmt: skip
            context = page(researcher, **query)
            assert len(context["list"].query.problems) == 1, query
            assert len(context["rows"]) == 4, query
        words = researcher.get(LIST, {"agent": "<b>"}).content.decode()
        assert "“&lt;b&gt;” is no choice of “Agent” and was left out." in words

    def test_where_nothing_matches_each_filter_can_be_dropped(
        self, researcher: Client, world: list[Trajectory]
    ) -> None:
        query = {"valid": "yes", "max_turns": "2"}
        drops = page(researcher, **query)["list"].removable_filters
        assert [(drop.words, drop.count) for drop in drops] == [
            ("Valid: Yes", 2), ("Turns to 2", 2),
        ]  # fmt: skip
        words = researcher.get(LIST, query).content.decode()
        assert 'href="/trajectories/?max_turns=2">Without “Valid: Yes”' in words

    def test_every_choice_is_a_chip_that_takes_it_away(
        self, researcher: Client, world: list[Trajectory]
    ) -> None:
        words = researcher.get(
            LIST, {"level": ["low", "mid"], "ids": f"{world[0].pk}", "order": "lowest"}
        ).content.decode()
        chips = re.findall(r'<a class="chip" href="([^"]*)">([^<]*)', words)
        assert [(link.replace("&amp;", "&"), text) for link, text in chips] == [
            (f"/trajectories/?level=mid&ids={world[0].pk}&order=lowest", "Level: low"),
            (f"/trajectories/?level=low&ids={world[0].pk}&order=lowest", "Level: mid"),
            ("/trajectories/?level=low&level=mid&order=lowest", "1 picked trajectory"),
        ]


class TestMainMeasure:
    """Tests of a system's ranking measure in the list: filter, order and column."""

    def test_a_verdict(self, researcher: Client, world: list[Trajectory]) -> None:
        Dataset.objects.update(system="sda_planner")
        found = page(researcher)
        titles = {facet.name: facet.title for facet in found["list"].facets}
        # A verdict is its own filter; there is no second one that says the same.
        assert titles["accurate"] == "Success" and "result" not in titles
        assert counts(researcher, "accurate") == {"Yes": 2, "No": 2}
        assert found["table"].headline == "accurate"
        one, two, three, four = (row.pk for row in world)
        assert shown(researcher, order="best") == [four, three, two, one]
        words = researcher.get(LIST, {"order": "best"}).content.decode()
        assert re.search(r'aria-sort="descending"><a class="sort"[^>]*>Success</a>', words)

    def test_a_share_beside_another_system(
        self, researcher: Client, world: list[Trajectory]
    ) -> None:
        house = make_dataset("House", tasks=3)
        Dataset.objects.filter(pk=house.pk).update(system="adapt")
        run = make_run(house, "gamma", level="")
        rows = [
            make_trajectory(run, task, accurate=None, valid=None, satisfaction=value)
            for task, value in enumerate((100.0, 25.0, None), 1)
        ]
        assert {facet.title for facet in page(researcher)["list"].facets} >= {
            "Passes", "Main measure",
        }  # fmt: skip
        # Its own title where the address chooses it, and its own column is the one to sort by.
        chosen = page(researcher, dataset=house.pk)
        (facet,) = (one for one in chosen["list"].facets if one.name == "result")
        assert facet.title == "Satisfied %"
        assert chosen["table"].headline == "satisfaction"
        assert counts(researcher, "result", dataset=house.pk) == {
            "100 %": 1, "above 0 to under 50 %": 1, "0 %": 0, "Undefined": 1,
        }  # fmt: skip
        assert shown(researcher, result="some") == [rows[1].pk]
        assert shown(researcher, order="worst", dataset=house.pk) == [
            rows[1].pk, rows[0].pk, rows[2].pk,
        ]  # fmt: skip


class TestOrder:
    def test_by_measures_with_what_has_none_last(
        self, researcher: Client, world: list[Trajectory]
    ) -> None:
        one, two, three, four = (row.pk for row in world)
        bare = TrajectoryFactory(turn_count=9).pk
        for order, expected in (
            ("lowest", [one, two, three, four, bare]),
            ("highest", [four, three, two, one, bare]),
            ("longest", [bare, four, three, two, one]),
            ("shortest", [one, two, three, four, bare]),
            ("oldest", [one, two, three, four, bare]),
            ("", [bare, four, three, two, one]),
            ("violations", [bare, four, three, two, one]),  # none: the newest first
        ):
            assert shown(researcher, order=order) == expected, order
        assert "1 without this measure come last" in researcher.get(
            LIST, {"order": "lowest"}
        ).content.decode().replace("\n", " ")

    def test_neighbours_follow_the_order(self, researcher: Client, world: list[Trajectory]) -> None:
        one, two, three, _ = world
        for query, before, after in (
            ({"order": "lowest"}, one.pk, three.pk),
            ({"order": "highest"}, three.pk, one.pk),
            ({"order": "lowest", "valid": "yes"}, None, three.pk),  # not itself in the list
        ):
            view = researcher.get(f"{LIST}{two.pk}/", query).context
            assert (view["previous"], view["next"]) == (before, after), query


class TestPeople:
    def test_the_gap_is_people_less_judges_where_both_scored(
        self, world: list[Trajectory], client: Client
    ) -> None:
        """Judges gave 1 everywhere: people's 3 and 2 on two dimensions are 1.5 higher.

        Of the second the judges gave 2, people 2: no gap. A simulated annotator does not count.
        """
        study = make_study()
        people = [make_person(f"annotator-{n}") for n in range(2)]
        make_ratings(study, people[0], world[0], {"feasibility": 3, "safety": 2})
        make_ratings(study, people[0], world[1], {"safety": 2})
        make_ratings(study, people[1], world[2], {"safety": 5}, simulated=True)
        reader = make_person("reader", "view_results")
        client.force_login(reader)
        assert counts(client, "gap") is None  # the study is not theirs to read
        make_member(study, reader)
        assert counts(client, "gap") == {"within 0.5": 1, "people higher by 1.5 or more": 1}
        assert shown(client, gap="far-above") == [world[0].pk]
        assert shown(client, order="people-higher")[:2] == [world[0].pk, world[1].pk]
        gaps = {row.trajectory.pk: row.gap for row in page(client)["rows"]}
        assert gaps == {
            world[0].pk: 1.5, world[1].pk: 0.0, world[2].pk: None, world[3].pk: None,
        }  # fmt: skip

    def test_adjudicated_and_labelled(self, world: list[Trajectory], client: Client) -> None:
        root = make_person("root", superuser=True)
        client.force_login(root)
        study = make_study()
        seat = make_ratings(study, root, world[0], {"safety": 2})
        Adjudication.objects.create(item=seat.item, question="safety", value=3, by=root, reason="x")
        label, other = FailureLabel.objects.order_by("pk")[:2]
        TrajectoryLabel.objects.create(trajectory=world[1], label=label, by=root)
        TrajectoryLabel.objects.create(trajectory=world[1], label=other, turn=1, by=root)
        off = TrajectoryLabel.objects.create(trajectory=world[2], label=label, by=root)
        LabelRemoval.objects.create(put=off, by=root)
        assert counts(client, "adjudicated") == {"Adjudicated": 1, "Not adjudicated": 3}
        assert counts(client, "label") == {label.title: 1, other.title: 1}
        assert shown(client, label=label.key) == [world[1].pk]

    def test_closed_runs_are_out_of_every_count_and_name(
        self, world: list[Trajectory], client: Client
    ) -> None:
        ann = make_person("ann", "view_results")
        client.force_login(ann)
        assert counts(client, "agent") == {"Alpha": 2, "Beta": 2}
        study = make_study()
        make_ratings(study, ann, world[0], {}, state="open")
        # Every run of the agent on this dataset closes.
        assert shown(client) == [world[3].pk, world[2].pk]
        assert page(client)["list"].total == 2
        answer = client.get(LIST, {"agent": world[0].run.agent_id, "run": world[0].run_id})
        assert "Alpha" not in answer.content.decode()
        assert counts(client, "agent") is None
        assert page(client, group=1)["list"].count == 2


class TestReading:
    def test_until_a_worker_has_read_them_it_says_how_many_are_missing(
        self, researcher: Client, world: list[Trajectory], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(table, "AT_ONCE", 0)
        words = researcher.get(LIST).content.decode()
        assert "4 of 4 trajectories have not been read" in words
        assert "No trajectories yet" not in words
        assert 'hx-post="/trajectories/facts/"' in words
        answer = researcher.post(f"{LIST}facts/", headers={"HX-Request": "true"})
        assert 'hx-get="/trajectories/facts/progress/"' in answer.content.decode()
        assert researcher.post(f"{LIST}facts/")["Location"] == LIST
        job = Job.objects.get()  # one, however often it is asked for
        assert "0 of 4" in researcher.get(LIST).content.decode()
        perform(job_id=job.pk, owner="test")
        over = researcher.get(f"{LIST}facts/progress/")
        assert (over.status_code, over["HX-Refresh"]) == (204, "true")
        assert "have not been read" not in researcher.get(LIST).content.decode()
        assert len(shown(researcher)) == 4
