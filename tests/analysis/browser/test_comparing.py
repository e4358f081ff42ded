"""Trajectories side by side: alignment, differences to the base, portions, candidates."""

from typing import Any

import pytest
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from analysis.browser.comparison import alignment as aligned
from analysis.browser.comparison import differences as facts
from analysis.browser.comparison.address import MOST, ComparisonAddress
from analysis.filters.addresses import read_address
from benchmarks import visibility as blinding
from benchmarks.models import Dataset, Trajectory
from tests.analysis.rows import flat, make_dataset, make_imported, make_run, make_trajectory
from tests.factories.benchmarks import (
    ConstraintFactory,
    ExchangeFactory,
    TrajectoryFactory,
    TurnFactory,
    ViolationFactory,
    play,
    start_sample_runs,
)

URL = "/compare/"
PLAN = "1. Fetch the ladder from the shed.\n2. Climb up and mend the gutter."
OTHER = "1. Fetch the ladder from the cellar.\n2. Climb up and mend the gutter.\n3. Sweep the yard."


@pytest.fixture
def dataset(db: None) -> Dataset:
    return make_dataset(tasks=2)


def make_three(dataset: Dataset) -> list[int]:
    """Make trajectories of one task: three turns by Ada, one by Bob, two by Eve; scores rise."""
    made = []
    for name, turns in (("ada", 3), ("bob", 1), ("eve", 2)):
        texts = [PLAN if name == "ada" else OTHER] * turns
        scores = [flat(1 + index) for index in range(turns)]
        made.append(make_trajectory(make_run(dataset, name), 1, texts=texts, scores=scores).pk)
    return made


def get(client: Client, ids: list[int], **more: Any) -> Any:
    return client.get(URL, {"t": ids, **more})


def places(page: Any) -> list[tuple[str, list[int | None]]]:
    """(title of a row, index of each trajectory's turn in it)."""
    return [
        (row.title, [cell.turn.row.index if cell.turn else None for cell in row.cells])
        for row in page.context["portion"].rows
    ]


class TestAlignment:
    def test_by_the_number_of_the_turn(self, researcher: Client, dataset: Dataset) -> None:
        assert places(get(researcher, make_three(dataset))) == [
            ("Turn 1", [1, 1, 1]), ("Turn 2", [2, None, 2]), ("Turn 3", [3, None, None]),
        ]  # fmt: skip

    def test_from_the_end(self, researcher: Client, dataset: Dataset) -> None:
        assert places(get(researcher, make_three(dataset), align="end")) == [
            ("2 before the last", [1, None, None]),
            ("1 before the last", [2, None, 1]),
            ("Last turn", [3, 1, 2]),
        ]

    def test_played_ones(self, researcher: Client) -> None:
        first, second = start_sample_runs("explorer", "coin-flipper")
        play(first, second)
        rows = [run.trajectories.order_by("task")[0] for run in (first, second)]
        page = get(researcher, [row.pk for row in rows])
        for place, (_, turns) in enumerate(places(page), 1):
            assert turns == [place if place <= row.turn_count else None for row in rows]


class TestPortions:
    @pytest.fixture
    def ids(self, dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        monkeypatch.setattr(aligned, "PORTION", 2)
        return make_three(dataset)

    def test_the_next_turns_come_alone(self, researcher: Client, ids: list[int]) -> None:
        page = get(researcher, ids)
        assert [title for title, _ in places(page)] == ["Turn 1", "Turn 2"]
        assert "Show turns 3 to 3 of 3" in page.content.decode()
        rest = researcher.get(
            URL + page.context["more_url"],
            headers={"HX-Request": "true", "HX-Target": "more-turns"},
        )
        assert "<html" not in rest.content.decode()
        assert [title for title, _ in places(rest)] == ["Turn 3"]
        assert not rest.context["more_url"]

    def test_without_script_it_is_a_page(self, researcher: Client, ids: list[int]) -> None:
        page = get(researcher, ids, **{"from": 3})
        assert "<html" in page.content.decode()
        assert places(page) == [("Turn 3", [3, None, None])]
        assert "Earlier turns" in page.content.decode()

    @pytest.mark.parametrize("place", ["", "0", "99", "x", "-1", "9" * 30])
    def test_a_turn_that_is_not_there(self, researcher: Client, ids: list[int], place: str) -> None:
        assert places(get(researcher, ids, **{"from": place}))[0][0] == "Turn 1"


class TestDifferences:
    def test_plans_against_the_base(self, researcher: Client, dataset: Dataset) -> None:
        ada, bob, _ = make_three(dataset)
        cells = get(researcher, [ada, bob]).context["portion"].rows[0].cells
        assert cells[0].against is None
        # Of Bob's three steps one is Ada's, one is hers reworded, and one is new.
        assert cells[1].against.change.words == "1 step kept, 1 reworded, 1 new"
        cells = get(researcher, [ada, bob], base=bob).context["portion"].rows[0].cells
        assert cells[1].against is None
        assert cells[0].against.change.words == "1 step kept, 1 reworded, 1 gone"
        page = get(researcher, [ada, bob], base=bob).content.decode()
        assert "against Bob" in page and "<del>" in page

    def test_the_difference_can_be_turned_off(self, researcher: Client, dataset: Dataset) -> None:
        ids = make_three(dataset)
        for diff in ("off", "before"):
            cells = get(researcher, ids, diff=diff).context["portion"].rows[1].cells
            assert [cell.against for cell in cells] == [None] * 3
            assert (cells[0].turn.previous is not None) == (diff == "before")

    def test_where_the_base_had_ended(self, researcher: Client, dataset: Dataset) -> None:
        ada, bob, _ = make_three(dataset)
        cells = get(researcher, [bob, ada]).context["portion"].rows[1].cells
        assert (cells[1].alone, cells[1].against) == (True, None)

    def test_what_a_model_wrote_stays_text(self, researcher: Client, dataset: Dataset) -> None:
        texts = (["1. Do it."], ["1. Do <b>it</b> at once."])
        ids = [
            make_trajectory(make_run(dataset, name), 1, texts=text).pk
            for name, text in zip(("ada", "bob"), texts, strict=True)
        ]
        assert "<b>it" not in get(researcher, ids).content.decode()

    def test_scores_with_their_difference(self, researcher: Client, dataset: Dataset) -> None:
        ada, bob, eve = make_three(dataset)
        page = get(researcher, [ada, bob, eve], view="scores", base=eve)
        # Scores are 1, 2, 3 turn by turn: the last ones are 3, 1 and 2; Eve's is the base.
        *_, mean = page.context["final_rows"]
        assert [(cell.value, cell.difference) for cell in mean.cells] == [
            (3.0, 1.0), (1.0, -1.0), (2.0, None),
        ]  # fmt: skip
        assert mean.cells[1].series == (1.0, None, None)
        second = page.context["place_rows"][1]
        assert [(c.value, c.difference) for c in second.cells] == [
            (2.0, 0.0), (None, None), (2.0, None),
        ]  # fmt: skip
        one = get(researcher, [ada, bob], view="scores", dim="safety").context
        assert one["dimension_title"] == "Safety"

    def test_violations_by_constraint_trajectory_and_turn(self, researcher: Client) -> None:
        first = TrajectoryFactory(turn_count=4)
        second = TrajectoryFactory(
            run__dataset=first.run.dataset, task=first.task, profile=first.profile
        )
        ConstraintFactory(profile=first.profile, text="There is no saw.")
        turns = [TurnFactory(trajectory=first, index=n, is_final=n == 4) for n in range(1, 5)]
        hammer, glue = {"text": "There is no hammer."}, {"text": "Glue is dear.", "kind": "user"}
        ViolationFactory(turn=turns[0], **hammer)
        for turn in turns[1:3]:
            ViolationFactory(turn=turn, new=False, repeated=True, **hammer)
        ViolationFactory(turn=turns[3], new=False, revealed=False, **glue)
        ViolationFactory(turn=TurnFactory(trajectory=second), **hammer)
        page = get(researcher, [first.pk, second.pk], view="violations")
        found = page.context["matrix"]
        assert [
            (row.kind, row.text, [[(m.mark, m.words) for m in cell] for cell in row.cells])
            for row in found.rows
        ] == [
            ("World", "There is no hammer.", [[("new", "1"), ("repeated", "2–3")], [("new", "1")]]),
            ("User", "Glue is dear.", [[("withheld", "4")], []]),
        ]
        late = facts.ViolationSpan("new", 21, 25)
        assert (found.rows[0].cells[0][1].shown_from, late.shown_from) == (1, 21)
        assert (found.differing, found.untouched) == (1, ("There is no saw.",))
        line = page.context["lines"][0][0]
        assert (line.counts, line.constraints) == ({"new": 1, "repeated": 2, "withheld": 1}, 2)

    def test_summary(self, researcher: Client, dataset: Dataset) -> None:
        ada, bob, _ = make_three(dataset)
        row = Trajectory.objects.get(pk=bob)
        ExchangeFactory(trajectory=row, tokens_in=1200, tokens_out=30)
        ExchangeFactory(trajectory=row, step=1, tokens_in=None, tokens_out=None)
        ExchangeFactory(trajectory=row, step=2, role="world_judge", tokens_in=9, tokens_out=9)
        page = get(researcher, [ada, bob])
        text = page.content.decode()
        assert page.context["sentence"] == (
            "2 trajectories: 2 right, after 1 (Bob) to 3 turns (Ada); the means of their "
            "last plans lie between 1.00 (Bob) and 3.00 (Ada)."
        )
        assert "1,200 in, 30 out" in text
        assert "1 call without a count" in text


class TestChoice:
    def test_one_alone_offers_others_of_its_task(self, researcher: Client) -> None:
        row = TrajectoryFactory()
        other = TrajectoryFactory(run__dataset=row.run.dataset, task=row.task, profile=row.profile)
        TrajectoryFactory()
        page = get(researcher, [row.pk])
        assert [added.trajectory.pk for added, _ in page.context["adds"]] == [other.pk]
        assert f"?t={row.pk}&amp;t={other.pk}" in page.content.decode()

    def test_others_are_searched_and_the_comparable_stand_first(
        self, researcher: Client, dataset: Dataset
    ) -> None:
        first = make_trajectory(make_run(dataset, "ada"), 1)
        alike = make_trajectory(make_run(dataset, "bob"), 1)
        high = make_trajectory(make_run(dataset, "eve", level="high"), 1)
        make_trajectory(make_run(dataset, "kim"), 2)

        def offered(**more: Any) -> list[int]:
            adds = get(researcher, [first.pk], **more).context["adds"]
            return [row.trajectory.pk for row, _ in adds]

        assert offered() == [alike.pk, high.pk]
        for words in ("EVE", "high", f"run {high.run_id}"):
            assert offered(q=words) == [high.pk], words
        assert offered(agent=alike.run.agent_id) == [alike.pk]
        assert offered(q="nobody") == []

    def test_all_agents_on_a_task(self, researcher: Client, dataset: Dataset) -> None:
        older = make_run(dataset, "ada")
        runs = [make_run(dataset, name) for name in ("ada", "bob")]
        rows = [make_trajectory(run, 1) for run in (older, *runs)]
        high = make_trajectory(make_run(dataset, "bob", level="high"), 1)
        make_trajectory(make_run(dataset, "eve"), 1, status="running")
        task = rows[0].task_id

        def chosen(**query: Any) -> list[int]:
            page = researcher.get(URL, query)
            return [column.pk for column in page.context["chosen"].columns]

        assert chosen(task=task) == [rows[1].pk, rows[2].pk]  # the newest of each, level mid
        assert chosen(like=rows[0].pk) == [rows[0].pk, rows[2].pk]  # itself, then the others
        assert chosen(like=high.pk) == [high.pk]
        assert chosen(task=999_999) == chosen(like=999_999) == []
        assert f"?task={task}" in researcher.get(f"/tasks/{task}/").content.decode()
        page = researcher.get(reverse("analysis:trajectory", args=[rows[0].pk]))
        assert f"?like={rows[0].pk}" in page.content.decode()

    def test_nothing_chosen(self, researcher: Client) -> None:
        assert "Nothing to compare yet" in researcher.get(URL).content.decode()

    def test_what_is_missing_or_too_much_is_said(self, researcher: Client) -> None:
        dataset = make_dataset()
        run = make_run(dataset, "ada")
        ids = [make_trajectory(run, 1, attempt=n).pk for n in range(1, MOST + 2)]
        page = get(researcher, [ids[0], 999_999, ids[0], "x"])  # type: ignore[list-item]
        assert "There is no trajectory 999999" in page.content.decode()
        assert len(page.context["chosen"].columns) == 1
        page = get(researcher, ids)
        assert "Of 9 trajectories 8 are shown" in page.content.decode()
        names = [column.label for column in page.context["chosen"].columns]
        assert names[1] == f"Ada, run {run.pk}, attempt 2"
        assert len(set(names)) == MOST

    def test_tasks_that_differ_are_said(self, researcher: Client) -> None:
        text = get(researcher, [TrajectoryFactory().pk, TrajectoryFactory().pk]).content.decode()
        assert "These trajectories are of different tasks." in text

    def test_imported_ones_have_no_verdicts(self, researcher: Client) -> None:
        runs = make_imported(("gpt-9", "bard-2"))
        ids = [run.trajectories.all()[0].pk for run in runs]
        for view in ("turns", "violations", "scores"):
            assert get(researcher, ids, view=view).status_code == 200
        assert (
            "Nobody looked for violations"
            in get(researcher, ids, view="violations").content.decode()
        )

    def test_closed_runs_are_not_there(
        self, researcher: Client, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ada, bob, eve = make_three(dataset)
        hidden = Trajectory.objects.get(pk=bob).run_id
        monkeypatch.setattr(blinding, "_rules", [lambda user: blinding.ClosedRows(runs=[hidden])])
        page = get(researcher, [ada, bob])
        assert [column.pk for column in page.context["chosen"].columns] == [ada]
        assert [row.trajectory.pk for row, _ in page.context["adds"]] == [eve]
        assert "Bob" not in page.content.decode()
        assert researcher.get(URL, {"like": bob}).context["chosen"].columns == ()


@pytest.mark.parametrize("view", ["turns", "violations", "scores"])
def test_queries_do_not_grow_with_turns_or_trajectories(
    researcher: Client, dataset: Dataset, view: str
) -> None:
    def queries(ids: list[int]) -> int:
        with CaptureQueriesContext(connection) as found:
            get(researcher, ids, view=view)
        return len(found)

    rows = [
        make_trajectory(make_run(dataset, name), 1, scores=[flat(3)] * turns).pk
        for name, turns in (("ada", 1), ("bob", 1), ("eve", 9), ("kim", 9), ("lou", 9))
    ]
    get(researcher, rows[:1])  # what a process keeps after its first page
    assert queries(rows[:2]) == queries(rows[2:]) <= 21


def test_an_address_keeps_what_was_chosen() -> None:
    address = ComparisonAddress(ids=(4, 2), base=2, view="scores", align="end", dimension="safety")
    assert address.query() == "?t=4&t=2&base=2&view=scores&align=end&dim=safety"
    assert read_address(ComparisonAddress, QueryDict(address.query()[1:])) == address
    assert address.query(view="turns", base=4) == "?t=4&t=2&align=end&dim=safety"
    assert address.without(2) == "?t=4&view=scores&align=end&dim=safety"
    assert address.with_more(9) == "?t=4&t=2&t=9&base=2&view=scores&align=end&dim=safety"
