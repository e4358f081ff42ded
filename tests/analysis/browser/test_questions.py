"""Questions that a model answers about failures: evidence, caps, blind checks, use in numbers."""

import csv
import io
import json
from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client

from analysis.browser.clusters.services import (
    ClusteringError,
    ask_more,
    recompute,
    resume_clustering,
    start_clustering,
)
from analysis.browser.questions import episode as protocol
from analysis.browser.questions.texts import CUT, question_texts
from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.filters.page_filters import with_profile
from analysis.frames.questions import LEAST_CHECKED, answered_question
from analysis.models import ClusterCall, FailureClustering, QuestionCheck
from benchmarks.core.errors import UnreadableReply
from benchmarks.core.types import Reply
from benchmarks.endpoints.services import create_endpoint
from benchmarks.jobs.services import perform
from benchmarks.models import Endpoint, Job, Trajectory, Turn
from devtools.fake_endpoint.server import FakeServer
from tests.analysis.page_reports import report_of
from tests.analysis.rows import make_person
from tests.benchmarks.api.conftest import Caller, bearer
from tests.benchmarks.conftest import serve, server  # noqa: F401
from tests.factories.benchmarks import AgentFactory, RunFactory, TrajectoryFactory, TurnFactory

pytestmark = pytest.mark.django_db
QUESTION = "mentions a bucket"
SORRY = "Sorry, <script>alert(1)</script> I cannot help you with that any further."


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.jobs.wake_up.wake_for_job", lambda job_id: None)
    caches["kept"].clear()


@pytest.fixture
def endpoint(server: FakeServer) -> Endpoint:  # noqa: F811
    return create_endpoint(
        name="reader", title="Reader 70B", base_url=server.base_url, model="fake", price_in=1,
        price_out=3, parameters={"max_tokens": 200}, simulated=True,
    )  # fmt: skip


@pytest.fixture
def failures() -> list[int]:
    """Thirty failures, half of which mention a bucket in their last turn."""
    run = RunFactory(agent=AgentFactory(title="Plumber"))
    ids = []
    for number in range(30):
        row = TrajectoryFactory(
            run=run, metrics={"valid": 1.0, "accurate": 0.0}, termination="early_stop", turn_count=2
        )
        TurnFactory(trajectory=row, index=1, text="Look around.", feedback="Too slow.")
        text = f"Put the bucket number {number} under it." if number % 2 else f"{SORRY} {number}"
        TurnFactory(trajectory=row, index=2, text=text, feedback="")
        ids.append(row.pk)
    return ids


def ask(ids: list[int], endpoint: Endpoint, **given: Any) -> FailureClustering:
    given = {"token_cap": 1_000_000, "query": "", "part": 20, **given}
    row = start_clustering(trajectories=ids, endpoint=endpoint, question=QUESTION, **given)
    return carried(row)


def carried(row: FailureClustering) -> FailureClustering:
    job = Job.objects.latest("pk")
    perform(job_id=job.pk, owner="test")
    row.refresh_from_db()
    return row


def check(row: FailureClustering, count: int, by: Any, *, wrong: int = 0) -> None:
    """Answer as the texts say, and the first ``wrong`` the other way round."""
    texts = dict(Turn.objects.filter(index=2).values_list("trajectory", "text"))
    for place, pk in enumerate(row.trajectories[:count]):
        holds = ("bucket" in texts[pk]) != (place < wrong)
        QuestionCheck.objects.create(
            question=row, trajectory_id=pk, by=by, answer="yes" if holds else "no"
        )


# --- Evidence -------------------------------------------------------------------------------------


def checked(reply: Any, turns: dict[int, str]) -> dict[str, Any]:
    text = protocol.TrajectoryText(7, "", turns)
    return protocol._checked(Reply("ok", reply), text)


def test_an_answer_without_evidence_is_undefined() -> None:
    turns = {1: "Look around.", 2: "Put the BUCKET\nunder it."}
    yes = checked({"answer": "yes", "quote": "“put the bucket under”"}, turns)
    assert (yes["answer"], yes["turn"], yes["reason"]) == ("yes", 2, "")
    false = checked({"answer": "yes", "quote": "a broom"}, turns)
    assert (false["answer"], false["said"], false["reason"]) == (None, "yes", protocol.NOT_THERE)
    assert checked({"answer": "no", "quote": " … "}, turns)["reason"] == protocol.NO_QUOTE
    assert checked({"answer": "cannot tell", "quote": ""}, turns)["answer"] == "cannot tell"
    unread = protocol._checked(
        Reply("unreadable", reason="no JSON"), protocol.TrajectoryText(7, "", {})
    )
    assert (unread["answer"], unread["reason"]) == (None, "no JSON")


@pytest.mark.parametrize("text", ["", "yes", '{"answer": "maybe"}', '{"answer": 1}', "[1]"])
def test_replies_without_an_answer_are_unreadable(text: str) -> None:
    with pytest.raises(UnreadableReply):
        protocol.read_answer(text, {})


def test_long_trajectories_are_cut_and_quotes_are_looked_for_in_all(failures: list[int]) -> None:
    row = Trajectory.objects.get(pk=failures[0])
    for index in range(3, 90):
        TurnFactory(trajectory=row, index=index, text=f"Turn text {index}. " * 400, feedback="")
    (text,) = question_texts([row.pk])
    assert len(text.text) < 60_000 and CUT in text.text and "turns are left out here" in text.text
    assert len(text.turns) == 89


# --- Asking ---------------------------------------------------------------------------------------


def test_a_random_part_is_asked_first_and_more_later(
    failures: list[int], endpoint: Endpoint
) -> None:
    row = ask(failures, endpoint, part=10)
    assert row.state == "done" and row.episode_version == protocol.VERSION
    assert set(row.result["answers"]) == {str(pk) for pk in row.trajectories[:10]}
    first, calls = row.result["answers"], ClusterCall.objects.count()
    assert recompute(row) == ""
    with pytest.raises(ClusteringError, match="more than the 10 that are answered"):
        ask_more(question=row, part=10, token_cap=1_000_000)
    ask_more(question=row, part=30, token_cap=1_000_000)
    row = carried(row)
    assert row.state == "done" and len(row.result["answers"]) == 30
    assert {pk: row.result["answers"][pk] for pk in first} == first
    assert ClusterCall.objects.count() == calls + 20  # nothing was asked twice
    assert recompute(row) == ""


def test_a_cap_in_the_middle_keeps_what_was_answered(
    failures: list[int], endpoint: Endpoint
) -> None:
    row = ask(failures, endpoint, token_cap=6000)
    assert row.state == "capped" and "the cap of 6,000 tokens is reached" in row.problem, (
        row.problem
    )
    assert 0 < row.calls.count() < 20, row.problem
    assert answered_question(row).missing.startswith("the model has not answered all")
    resume_clustering(clustering=row, token_cap=1_000_000)
    row = carried(row)
    assert row.state == "done" and row.calls.count() == 20


@pytest.mark.parametrize(
    ("question", "part"), [("x" * 301, 5), ("two\nlines", 5), ("x", 0), ("x", 31)]
)
def test_what_cannot_be_asked(
    failures: list[int], endpoint: Endpoint, question: str, part: int
) -> None:
    with pytest.raises(ClusteringError):
        start_clustering(
            query="", trajectories=failures, endpoint=endpoint, question=question, part=part,
            token_cap=1000,
        )  # fmt: skip


# --- People's answers -----------------------------------------------------------------------------


def test_answers_count_only_with_precision_and_recall(
    failures: list[int], endpoint: Endpoint
) -> None:
    rita, other = make_person("rita", "view_results"), make_person("other", "view_results")
    row = ask(failures, endpoint)
    assert answered_question(row).missing == "nobody has checked an answer yet"
    check(row, 4, rita)
    assert "of at least 10 answers are checked" in answered_question(row).missing
    check(row, 20, rita, wrong=2)
    found = answered_question(row)
    assert found.usable and found.quality.n >= LEAST_CHECKED
    # The two that were answered the other way round are the model's only errors.
    table = found.quality.confusion
    assert table.false_positive + table.false_negative <= 2
    assert found.quality.precision.wilson.interval and found.quality.recall.wilson.interval
    # Whoever has looked at the answers is blind no more.
    QuestionCheck.objects.create(question=row, by=other, answer="looked")
    check(row, 20, other, wrong=20)
    assert answered_question(row).quality == found.quality


def test_no_yes_of_people_is_said(failures: list[int], endpoint: Endpoint) -> None:
    row, rita = ask(failures, endpoint), make_person("rita", "view_results")
    for pk in row.trajectories[:20]:
        QuestionCheck.objects.create(question=row, trajectory_id=pk, by=rita, answer="no")
    assert "people said “yes” to none" in answered_question(row).missing


def test_failures_count_an_answer_once_it_is_checked(
    failures: list[int], endpoint: Endpoint
) -> None:
    row, rita = ask(failures, endpoint), make_person("rita", "view_results")
    dataset = str(Trajectory.objects.get(pk=failures[0]).run.dataset_id)

    def report() -> Any:
        return report_of("failures", with_profile(select_runs(Filters(dataset=dataset))))

    assert report().table("questions") is None
    assert any("is not counted here: nobody has checked" in one.text for one in report().notices)
    check(row, 20, rita)
    (line,) = report().table("questions").records()
    record = dict(zip(report().table("questions").header, line, strict=True))
    answers = [one["answer"] for one in row.result["answers"].values()]
    known = [one for one in answers if one in ("yes", "no")]
    assert record["share"] == pytest.approx(known.count("yes") / len(known), abs=1e-6)
    assert record["precision"] is not None and record["recall"] is not None


# --- Pages ----------------------------------------------------------------------------------------


def test_from_the_question_to_the_checked_answers(
    client: Client, failures: list[int], endpoint: Endpoint
) -> None:
    client.force_login(make_person("rita", "view_results", "start_runs"))
    page = client.get("/trajectories/groups/").content.decode()
    assert "Ask a question about each failure" in page and "Reader 70B" in page
    given = {"question": QUESTION, "endpoint": endpoint.pk, "part": 12, "token_cap": 100_000}
    url = client.post("/trajectories/questions/new/", given)["Location"]
    row = carried(FailureClustering.objects.get())
    assert sorted(row.trajectories) == failures and row.trajectories != failures
    page = client.get(url).content.decode()
    assert "The answers are not counted yet: nobody has checked an answer yet." in page
    for _ in range(12):
        shown = client.get(f"{url}check/").content.decode()
        assert "<script>alert" not in shown and "undefined" not in shown
        pk = int(shown.partition('name="trajectory" value="')[2].partition('"')[0])
        text = Turn.objects.get(trajectory=pk, index=2).text
        answer = "yes" if "bucket" in text else "no"
        client.post(f"{url}check/", {"trajectory": pk, "answer": answer})
    assert client.get(f"{url}check/")["Location"] == url
    assert client.get(f"{url}answers.csv").status_code == 404
    page = client.get(url).content.decode()
    assert "You have checked all" in page and "you: yes" in page
    client.post(url, {"do": "look"})
    rows = list(csv.DictReader(io.StringIO(client.get(f"{url}answers.csv").content.decode())))
    assert len(rows) == 24 and {row["who"] for row in rows} == {"model", "rita"}
    assert "so you check no more" in client.get(url).content.decode()
    assert client.post(f"{url}check/", {"trajectory": 0, "answer": "yes"}).status_code == 404


def test_without_a_model_or_a_cap_nothing_is_asked(client: Client, failures: list[int]) -> None:
    client.force_login(make_person("rita", "view_results", "start_runs"))
    page = client.get("/trajectories/groups/").content.decode()
    assert "No language model is set up." in page
    answer = client.post("/trajectories/questions/new/", {"question": "x"}, follow=True)
    assert not FailureClustering.objects.exists()
    assert "Model: " in answer.content.decode()


def test_readers_check_and_ask_nothing(
    client: Client, failures: list[int], endpoint: Endpoint
) -> None:
    row = ask(failures, endpoint)
    client.force_login(make_person("rita", "view_results"))
    url = f"/trajectories/questions/{row.pk}/"
    assert "Ask about more" not in client.get(url).content.decode()
    assert client.post(url, {"do": "more", "part": 30}).status_code == 403
    assert client.get(f"{url}check/").status_code == 200
    assert client.get(f"/trajectories/clusters/{row.pk}/").status_code == 404
    assert json.loads(json.dumps(row.result))["answers"]


# --- Programs and lists ---------------------------------------------------------------------------


def test_programs_read_a_question_with_intervals_by_task(
    failures: list[int], endpoint: Endpoint
) -> None:
    row = ask(failures, endpoint)
    person = make_person("rita", "view_results", "start_runs")
    api = Caller(bearer(person))
    check(row, 12, make_person("ann", "view_results"))
    (listed,) = api.get("/questions").json()["items"]
    assert api.get(f"/questions/{row.pk}").json() == listed
    assert listed["question"] == QUESTION and listed["part"] == 20 and listed["checked"] == 12
    rate = answered_question(row).quality.precision
    assert listed["precision"]["value"] == rate.clustered.value
    assert listed["precision"]["of"] == rate.of
    assert api.get("/questions/999").status_code == 404
    assert api.get(f"/questions/{row.pk}/answers").status_code == 409
    QuestionCheck.objects.create(question=row, by=person, answer="looked")
    answers = api.get(f"/questions/{row.pk}/answers").json()
    assert {one["trajectory"] for one in answers} == set(row.trajectories[:20])
    assert set(answers[0]) == {"trajectory", "answer", "quote", "turn", "reason"}


def test_programs_ask_under_a_cap(failures: list[int], endpoint: Endpoint) -> None:
    api = Caller(bearer(make_person("rita", "view_results", "start_runs")))
    wish = {"question": QUESTION, "endpoint": "reader", "part": 5, "token_cap": 100_000}
    for change, status in (
        ({"endpoint": "nobody"}, 404),
        ({"part": 0}, 422),
        ({"token_cap": None}, 422),
        ({"question": " "}, 422),
        ({"trajectories": "texts=none"}, 422),
        ({"unknown": 1}, 422),
    ):
        assert api.post("/questions", {**wish, **change}).status_code == status, change
    assert not FailureClustering.objects.exists()
    given = api.post("/questions", wish)
    assert given.status_code == 201
    row = FailureClustering.objects.get(pk=given.json()["id"])
    assert row.part == 5 and sorted(row.trajectories) == failures


def test_lists_filter_by_answers_that_may_be_counted(
    client: Client, failures: list[int], endpoint: Endpoint
) -> None:
    row = ask(failures, endpoint)
    client.force_login(make_person("rita", "view_results"))

    def offered() -> list[str]:
        listed = client.get("/trajectories/").context["list"]
        (facet,) = [one for one in listed.index_facets if one.name == "asked"]
        return [value for value, _ in facet.offers]

    assert offered() == []
    check(row, 20, make_person("ann", "view_results"))
    answered = answered_question(row)
    assert answered.usable
    yes = {pk for pk, answer in answered.answers.items() if answer == "yes"}
    assert f"{row.pk}-yes" in offered()
    for query in ({"asked": f"{row.pk}-yes"}, {"q": f'asked:"{QUESTION}: yes"'}):
        listed = client.get("/trajectories/", query).context["list"]
        assert set(listed.ids) == yes
