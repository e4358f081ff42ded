"""Open asks: what a person is told, and how a reply carries a run on."""

import json
import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from benchmarks.asks.selectors import reply_form
from benchmarks.core.registry import SYSTEMS, find_system, get_system
from benchmarks.models import Exchange, OpenAsk, Run, Trajectory
from benchmarks.runs.services import cancel_run, pause_run
from tests.factories.benchmarks import make_user, play, start_sample_runs

pytestmark = pytest.mark.django_db
LIST = "/asks/"


def text(response: Any) -> str:
    words = re.sub(r"<[^>]+>", " ", response.content.decode())
    return " ".join(words.replace("&#x27;", "'").replace("&quot;", '"').split())


@pytest.fixture
def player(db: None) -> Client:
    """May answer, and see nothing else."""
    client = Client()
    client.force_login(make_user("player", ["answer_asks"]))
    return client


def waiting_run(role: str = "simulator", agent: str = "coin-flipper") -> Run:
    """A run that waits for a person in a role."""
    roles = {} if role == "agent" else {role: ["human"]}
    (run,) = start_sample_runs(agent, level="high", roles=roles)
    play(run)
    assert run.status == Run.Status.WAITING
    return run


@pytest.fixture
def run() -> Run:
    return waiting_run()


@pytest.fixture
def ask(run: Run) -> OpenAsk:
    found = OpenAsk.objects.filter(trajectory__run=run).first()
    assert found is not None
    return found


@pytest.fixture
def url(ask: OpenAsk) -> str:
    return f"/asks/{ask.pk}/"


class TestAccess:
    @pytest.mark.parametrize(
        ("person", "may"),
        [("stranger", False), ("reader", False), ("player", True), ("researcher", True),
         ("admin", True)],
    )  # fmt: skip
    def test_who_may_answer(self, person: str, may: bool, url: str, request: Any) -> None:
        client: Client = request.getfixturevalue(person)
        for page in (LIST, url):
            assert client.get(page).status_code == (200 if may else 403)
        assert client.post(url, {"text": "No."}).status_code == (302 if may else 403)
        assert OpenAsk.objects.filter(answered_at=None).count() == OpenAsk.objects.count() - may

    def test_nobody_signs_in_first(self, client: Client, url: str) -> None:
        assert client.post(url, {"text": "No."}).status_code == 302
        assert not OpenAsk.objects.exclude(answered_at=None).exists()

    def test_what_is_not_there(self, researcher: Client, stranger: Client) -> None:
        assert researcher.get("/asks/999/").status_code == 404
        assert stranger.get("/asks/999/").status_code == 403

    def test_players_are_told_the_messages_and_nothing_else(
        self, player: Client, ask: OpenAsk, url: str
    ) -> None:
        hidden = list(ask.trajectory.profile.constraints.values_list("text", flat=True))  # type: ignore[union-attr]
        told = {c["text"] for c in ask.context["points"]}
        page = player.get(url, {"as": "text"}).content.decode()
        shown = text(player.get(LIST)) + page + player.get(url).content.decode()
        for constraint in hidden:
            assert (constraint in page.replace("&#x27;", "'")) == (constraint in told)
        assert any(constraint not in told for constraint in hidden)
        assert ask.trajectory.run.agent.title not in shown
        assert ask.trajectory.task.prompt not in text(player.get(LIST))
        assert "/runs/" not in shown and "/trajectories/" not in shown


class TestList:
    def test_what_waits(self, run: Run, researcher: Client) -> None:
        page = text(researcher.get(LIST))
        waiting = run.trajectories.filter(status=Trajectory.Status.WAITING).count()
        assert page.count("User simulator") >= waiting
        assert f"Run {run.pk}" in page
        assert "No open questions" in text(researcher.get(LIST, {"run": run.pk + 1}))
        assert researcher.get(LIST, {"run": "x"}).context["rows"]

    def test_nothing_waits(self, researcher: Client) -> None:
        assert "No open questions" in text(researcher.get(LIST))

    def test_it_keeps_itself_up_to_date(self, run: Run, researcher: Client) -> None:
        version = researcher.get(LIST).context["version"]
        headers = {"HX-Request": "true"}
        assert researcher.get(LIST, {"v": version}, headers=headers).status_code == 204
        cancel_run(run=run)
        part = researcher.get(LIST, {"v": version}, headers=headers)
        assert part.status_code == 200 and "<html" not in part.content.decode()
        assert "No open questions" in text(part)

    def test_run_pages_lead_to_it(self, run: Run, researcher: Client, reader: Client) -> None:
        link = f"/asks/?run={run.pk}"
        assert link in researcher.get(f"/runs/{run.pk}/").content.decode()
        assert "/asks/" in researcher.get("/runs/").content.decode()
        assert link not in reader.get(f"/runs/{run.pk}/").content.decode()

    def test_queries(
        self, run: Run, researcher: Client, django_assert_max_num_queries: Any
    ) -> None:
        with django_assert_max_num_queries(8):
            researcher.get(LIST)


class TestAnswering:
    def test_a_reply_is_stored_under_the_persons_name(
        self, player: Client, ask: OpenAsk, url: str
    ) -> None:
        response = player.post(url, {"text": "I have no ladder."})
        assert response["Location"] == f"/asks/{ask.pk}/next/"
        row = Exchange.objects.get(answerer__kind="human")
        assert (row.text, row.trajectory_id, row.state) == (
            "I have no ladder.", ask.trajectory_id, "answered",
        )  # fmt: skip
        assert "the run continues" in text(player.get(response["Location"]))

    def test_a_reply_that_cannot_be_read_stays_in_the_form(self, player: Client) -> None:
        ask = OpenAsk.objects.filter(trajectory__run=waiting_run("world_judge"))[0]
        typed = '{"violated": ["no-such-key"]} <b>&'
        response = player.post(f"/asks/{ask.pk}/", {"text": typed})
        assert response.status_code == 422
        assert "could not be read: 'no-such-key' is no key" in text(response)
        assert "&lt;b&gt;&amp;</textarea>" in response.content.decode()
        ask.refresh_from_db()
        assert ask.answered_at is None

    @pytest.mark.parametrize(
        ("typed", "words"),
        [
            ("", "Write a reply"),
            ("  \n ", "found an empty reply"),
            ("a\x00b", "Null characters"),
            ("x" * 100_001, "at most 100000"),
        ],
    )
    def test_what_is_no_reply(self, player: Client, url: str, typed: str, words: str) -> None:
        response = player.post(url, {"text": typed})
        assert response.status_code == 422
        assert words in text(response)
        assert not Exchange.objects.filter(answerer__kind="human").exists()

    def test_somebody_was_quicker(self, player: Client, researcher: Client, url: str) -> None:
        researcher.post(url, {"text": "The first."})
        response = player.post(url, {"text": "The second, kept."})
        assert response.status_code == 409
        shown = text(response)
        assert "Somebody else answered first" in shown and "The second, kept." in shown
        assert Exchange.objects.get(answerer__kind="human").text == "The first."
        assert "This has been answered" in text(player.get(url))

    def test_a_cancelled_run_takes_no_reply(self, player: Client, run: Run, url: str) -> None:
        cancel_run(run=run)
        assert "No reply is needed now" in text(player.get(url))
        response = player.post(url, {"text": "Too late."})
        assert response.status_code == 409
        assert "the run was cancelled" in text(response)
        assert not Exchange.objects.filter(answerer__kind="human").exists()

    def test_a_paused_run_keeps_the_reply(self, player: Client, run: Run, url: str) -> None:
        pause_run(run=run)
        assert "The run is paused" in text(player.get(url))
        assert player.post(url, {"text": "For later."}).status_code == 302
        run.refresh_from_db()
        assert run.status == Run.Status.PAUSED
        assert Exchange.objects.filter(text="For later.").exists()


class TestWords:
    """Tests of the stated form of a reply, and of examples that the parsers themselves can read."""

    PARAMS = {
        "violations": {"keys": ["w1", "u2"]},
        "scores": {"dimensions": ["feasibility", "autonomy"]},
    }

    def test_every_kind_has_an_example_that_would_do(self) -> None:
        system = get_system("adaplanbench")
        for kind, parse in system.parsers.items():
            params = self.PARAMS.get(kind, {})
            form = reply_form("adaplanbench", {"kind": kind, "params": params})
            assert len(form.words) > 40
            parse(form.example, params)

    @pytest.mark.parametrize("key", list(SYSTEMS))
    def test_every_system_has_words_for_every_kind(self, key: str) -> None:
        for kind in get_system(key).parsers:
            assert reply_form(key, {"kind": kind, "params": self.PARAMS.get(kind, {})}).words

    def test_a_kind_without_words_is_told_by_its_schema(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        system = find_system("adaplanbench")
        bare = SimpleNamespace(
            labels=SimpleNamespace(replies={}), reply_schemas=system.reply_schemas
        )
        monkeypatch.setattr("benchmarks.asks.selectors.find_system", lambda key: bare)
        expect = {"kind": "violations", "params": {"keys": ["w1"]}}
        found = json.loads(reply_form("adaplanbench", expect).example)
        assert found == {"violated": ["w1"], "reasons": {"w1": "…"}}
        assert "in words" in reply_form("adaplanbench", {"kind": "feedback", "params": {}}).words

    def test_tools_are_named(self, player: Client, ask: OpenAsk, url: str) -> None:
        tool = {
            "type": "function",
            "function": {
                "name": "look_up",
                "description": "Finds a thing.",
                "parameters": {"type": "object", "properties": {"thing": {"type": "string"}}},
            },
        }
        OpenAsk.objects.filter(pk=ask.pk).update(tools=[tool])
        shown = text(player.get(url, {"as": "text"}))
        assert "look_up" in shown and "Finds a thing." in shown and '"thing"' in shown
        assert "tool_calls" in shown
