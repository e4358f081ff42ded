"""Tests of search: stored texts that it finds and shows, the same on both database engines."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse

from analysis.models import IndexedRun
from analysis.search import index
from analysis.search import services as search_index
from analysis.search.matches import find_trajectories, ignored_words
from analysis.search.query import SearchTerm, read_words
from analysis.search.services import enqueue_index, forget_index, is_behind, unsearched
from analysis.search.snippets import LENGTH, Snippet, excerpt, snippets
from benchmarks.core.errors import ImportRefused
from benchmarks.imports.services import import_trajectories
from benchmarks.jobs.services import perform
from benchmarks.models import Job, Run, Trajectory, Turn
from benchmarks.visibility import Visibility
from tests.benchmarks.api.conftest import Caller, bearer
from tests.benchmarks.formats import samples
from tests.factories.benchmarks import (
    RunFactory,
    TaskFactory,
    TrajectoryFactory,
    TurnFactory,
    make_user,
)

pytestmark = pytest.mark.django_db

MEND = ("1. Fetch a hammer.\n2. Hit the nail.", "The hammer is broken.")
GLUE = ("1. Fetch low-fat glue.", "It does not hold: crème brûlée is no glue.")


def make(run: Run, *turns: tuple[str, str], prompt: str = "How do I mend it?") -> Trajectory:
    n = run.trajectories.count()
    found = TrajectoryFactory(
        run=run,
        turn_count=len(turns),
        task=TaskFactory(dataset=run.dataset, prompt=prompt, external_id=f"task-{prompt[:3]}-{n}"),
    )
    for number, (text, feedback) in enumerate(turns, start=1):
        TurnFactory(trajectory=found, index=number, text=text, feedback=feedback)
    return found


def fill() -> Job:
    job = enqueue_index()
    assert job is not None
    perform(job_id=job.pk, owner="test")
    job.refresh_from_db()
    assert job.status == Job.Status.DONE, job.message
    return job


def found(words: str) -> list[int]:
    return find_trajectories(words=words).tolist()


@pytest.fixture
def three() -> list[Trajectory]:
    """One mends, one mends and then glues, one has no turn yet."""
    run = RunFactory()
    rows = [
        make(run, MEND),
        make(run, MEND, GLUE, prompt="Why does the chair squeak?"),
        make(run, prompt="Oil the hammer."),
    ]
    fill()
    return rows


@pytest.mark.parametrize(
    "words",
    [
        "glue", "HAMMER", '"fetch a hammer"', "glu*", "hammer -glue", "-glue", "brulee", "squeak",
        "task-Oil", "e hammer", "zeppelin", "", "  ", "glue !!",
    ],
)  # fmt: skip
def test_the_api_finds_what_the_page_finds(
    words: str, three: list[Trajectory], client: Client
) -> None:
    reader = make_user("reader", ["view_results"])
    client.force_login(reader)
    page = client.get(reverse("analysis:trajectory_list"), {"q": words}).context["rows"]
    answer = Caller(bearer(reader)).get("/trajectories", q=words)
    assert answer.status_code == 200, answer.content
    assert [row["id"] for row in answer.json()["items"]] == [row.trajectory.pk for row in page]


def test_the_api_refuses_words_that_cannot_be_searched_for(three: list[Trajectory]) -> None:
    answer = Caller(bearer(make_user("reader", ["view_results"]))).get("/trajectories", q="!!")
    assert answer.status_code == 422
    assert answer.json()["error"]["message"] == ignored_words("!!")[0]


@pytest.mark.parametrize(
    ("words", "places"),
    [
        ("hammer", [0, 1, 2]),
        ("HAMMER broken", [0, 1]),
        ("nail glue", [1]),  # in two turns of one trajectory
        ("squeak hold", [1]),  # in a task and in feedback
        ('"hammer is broken"', [0, 1]),
        ('"is hammer"', []),
        ('"nail the hammer"', []),  # from the plan into the feedback
        ("hammer -glue", [0, 2]),
        ("-glue", [0, 2]),
        ("-hammer", []),
        ("ham* -squ*", [0, 2]),
        ('"fetch low"*', [1]),
        ("low-fat", [1]),
        ("fat-low", []),
        ("creme", [1]),
        ("Brûlée", [1]),
        ("hamm", []),
        ("task-oil", [2]),
        ("nothing", []),
        ("", []),
        ('"', []),
        ("hammer '; DROP", []),
        ("hammer ''' \\ :* & | ! <->", [0, 1, 2]),
    ],
)
def test_words_are_found_wherever_they_stand(
    three: list[Trajectory], words: str, places: list[int]
) -> None:
    assert found(words) == [three[place].pk for place in places]


def test_what_is_ignored_is_said() -> None:
    assert ignored_words("hammer ? a*") == [
        "“?” is not searched for: there is no letter or digit in it.",
        "“a*” is not searched for: a beginning needs at least 2 letters.",
    ]


def plain(snippet: Snippet) -> str:
    return "".join(f"[{part.text}]" if part.marked else part.text for part in snippet.parts)


def test_an_excerpt_shows_the_turn_with_most_of_the_words(three: list[Trajectory]) -> None:
    shown = snippets(words="glue brulee nail -x", trajectory_ids=[row.pk for row in three])
    assert set(shown) == {three[0].pk, three[1].pk}
    assert plain(shown[three[0].pk]) == "1. Fetch a hammer. 2. Hit the [nail]."
    second = shown[three[1].pk]
    assert (second.turn, second.place, second.turns) == (2, "feedback", 2)
    assert plain(second) == "It does not hold: crème [brûlée] is no [glue]."


def test_what_only_the_task_has_is_shown_from_there(
    three: list[Trajectory], django_assert_max_num_queries: Any
) -> None:
    ids = [row.pk for row in three]
    with django_assert_max_num_queries(6):
        shown = snippets(words="squ* oil", trajectory_ids=ids)
    assert {pk: (s.turn, s.place, plain(s)) for pk, s in shown.items()} == {
        ids[1]: (None, "task", "Why does the chair [squeak]?"),
        ids[2]: (None, "task", "[Oil] the hammer."),
    }
    assert snippets(words="-oil", trajectory_ids=ids) == {}


def test_calls_of_tools_are_found_and_an_older_index_is_made_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = make(RunFactory(), MEND)
    call = {"name": "book_flight", "id": "1", "arguments": {"to": "Lisbon", "bags": [2]}}
    rows = [{"speaker": "assistant", "text": "Fetch.", "calls": [call]}, {"speaker": "tool"}]
    Turn.objects.filter(trajectory=row).update(payload={"messages": rows})
    fill()
    assert found('lisbon "book_flight"') == [row.pk] and found('"broken book"') == []
    shown = snippets(words="lisbon", trajectory_ids=[row.pk])[row.pk]
    assert shown.place == "calls of tools" and "[Lisbon]" in plain(shown)

    monkeypatch.setattr(search_index, "PAUSE", -search_index.PAUSE)
    monkeypatch.setattr(index, "FORMAT", "another")
    assert is_behind()
    fill()
    assert found("lisbon") == [row.pk] and not is_behind()


def test_an_excerpt_of_a_long_text_is_short_and_about_the_words() -> None:
    text = f"{'before ' * 500}the <b>first word</b> and the\n second {'after ' * 500}"
    terms, parts = excerpt(text, read_words("second first").wanted)
    assert terms == 2
    assert [part.text for part in parts if part.marked] == ["first", "second"]
    shown = "".join(part.text for part in parts)
    assert "first word</b> and the second" in shown
    assert (shown[:2], shown[-2:]) == ("… ", " …")
    assert len(shown) <= LENGTH + 4


def test_long_texts_are_found_to_their_end() -> None:
    """In pieces of 3,000 words, one of them very long and one 300 times in a row."""
    text = " ".join(["more"] * 300 + ["x" * 5000] + [f"w{n:05d}" for n in range(20_000)])
    row = make(RunFactory(), (f"{text} most last", ""))
    fill()
    for words in ("last", '"most last"', "w199*", "x" * 5000):
        assert found(words) == [row.pk]
    assert plain(snippets(words="w00000", trajectory_ids=[row.pk])[row.pk]).count("[w00000]") == 1


def test_a_phrase_is_found_across_the_edge_of_a_piece() -> None:
    row = make(RunFactory(), ("w " * (index.PIECE - 1) + "over the edge", ""))
    fill()
    assert found('"over the edge"') == [row.pk]


# --- How it is filled -----------------------------------------------------------------------------


def test_only_what_is_missing_is_taken_in(monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunFactory()
    row = make(run, MEND)
    assert is_behind()
    assert unsearched() == 1
    fill()
    assert not is_behind()
    assert enqueue_index() is None
    assert unsearched() == 0

    monkeypatch.setattr(search_index, "PAUSE", -search_index.PAUSE)
    TurnFactory(trajectory=row, index=2, text="Glue.", feedback="", is_final=False)
    Trajectory.objects.filter(pk=row.pk).update(turn_count=2)
    assert unsearched() == 1
    assert found("glue") == []
    fill()
    assert found("glue") == [row.pk]
    assert found("hammer") == [row.pk]
    assert Job.objects.filter(kind=search_index.KIND).count() == 1
    # its turns were there when it settled
    Run.objects.filter(pk=run.pk).update(data_version=run.data_version + 1)
    assert is_behind()
    assert unsearched() == 0


def test_a_job_that_was_killed_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_index, "PORTION_TURNS", 2)
    run = RunFactory()
    rows = [make(run, MEND, GLUE) for _ in range(3)]
    write, written = search_index._write, []

    def killed(run_id: int, version: int, portion: list[int]) -> bool:
        written.append(len(portion))
        if len(written) == 2:
            raise RuntimeError("killed")
        return write(run_id, version, portion)

    monkeypatch.setattr(search_index, "_write", killed)
    with pytest.raises(RuntimeError):
        search_index.index_run(run_id=run.pk)
    assert found("glue") == [rows[0].pk]
    assert is_behind()
    search_index.index_run(run_id=run.pk)
    assert written == [2, 2, 2, 2]
    assert found("glue") == [row.pk for row in rows]
    assert IndexedRun.objects.get().trajectories == 3


def test_a_failed_import_leaves_no_words(tmp_path: Path) -> None:
    while_hidden: list[bool] = []

    def look(turns: int) -> None:
        while_hidden.append(Turn.objects.exists() and not is_behind() and enqueue_index() is None)
        if len(while_hidden) == 1:
            raise ImportRefused("broken")

    path = samples.write_sample(tmp_path, "tau2")
    with pytest.raises(ImportRefused, match="broken"):
        import_trajectories(path=path, progress=look)
    saved = import_trajectories(path=path, progress=look)
    assert len(while_hidden) > 1 and all(while_hidden)
    newest = Trajectory.objects.latest("pk").pk
    assert index.turns_there(0, newest) == {}
    fill()
    assert len(index.turns_there(0, newest)) == saved.trajectories


def test_a_failed_job_is_not_repeated_at_once() -> None:
    make(RunFactory(), MEND)
    job = enqueue_index()
    assert job is not None
    assert enqueue_index() is None  # it waits
    Job.objects.filter(pk=job.pk).update(status=Job.Status.FAILED, finished_at=job.created_at)
    assert enqueue_index() is None
    long_ago = job.created_at - search_index.RETRY
    Job.objects.filter(pk=job.pk).update(finished_at=long_ago)
    assert enqueue_index() is not None


def test_rows_that_are_there_are_not_counted_twice() -> None:
    rows = [(index.first_row(7, 1), ["hammer"])]
    index.add_rows(index.TURNS, rows)
    index.add_rows(index.TURNS, rows)
    assert found("hammer") == [7]
    assert index.rows_with(read_words("hammer").wanted, [7]) == [(0, index.first_row(7, 1))]


def test_after_a_restore_nothing_old_is_found(three: list[Trajectory]) -> None:
    forget_index()
    Turn.objects.filter(trajectory=three[0]).update(text="Paint.", feedback="")
    assert found("hammer") == []
    for run in Run.objects.all():
        search_index.index_run(run_id=run.pk)
    assert found("hammer") == [three[1].pk, three[2].pk]
    assert found("paint") == [three[0].pk]


def test_closed_runs_are_not_counted_among_the_unsearched(django_user_model: type[User]) -> None:
    run = make(RunFactory(), MEND).run
    make(RunFactory(), MEND)
    assert unsearched(Visibility(None, [run.pk])) == 1


def test_the_index_has_no_texts_and_belongs_to_no_model() -> None:
    tables = set(connection.introspection.table_names())
    assert {index.TURNS, index.TASKS} <= tables
    assert not {index.TURNS, index.TASKS} & set(connection.introspection.django_table_names())


@pytest.mark.parametrize("gap", [" ", "\n"])
def test_excerpts_begin_and_end_at_words(gap: str) -> None:
    """Also where lines are short, and where a word is longer than the usual excerpt has room."""
    word = "extraordinarily"
    for before in range(55, 75):
        text = gap.join([word] * before + ["hammer"] + [word] * 40)
        shown = "".join(part.text for part in excerpt(text, [SearchTerm(("hammer",))])[1])
        words = shown.strip("… ").split()
        assert "hammer" in words and set(words) == {word, "hammer"}
    long = "hammer " + "x" * 250 + " nail"
    shown = "".join(part.text for part in excerpt(long, [SearchTerm(("hammer",))])[1])
    assert shown in ("hammer …", "hammer " + "x" * 250 + " …")
