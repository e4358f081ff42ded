"""A reply form of a system's own, and what comes after a reply: a query played without script."""

import html
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import Client

from benchmarks.core.registry import SYSTEMS, find_system, get_system
from benchmarks.mappers import core_messages
from benchmarks.models import Exchange, OpenAsk, Run, Trajectory
from benchmarks.runs.services import cancel_run, pause_run
from benchmarks.systems.planbench_xl.environment.catalogue import world_of
from benchmarks.systems.planbench_xl.scripted import given_values
from benchmarks.systems.planbench_xl.world import load_world
from tests.factories.benchmarks import make_user, play
from tests.factories.planbench_xl import TASK, start_for_person, waiting_ask

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
SEARCH = {"from_fields": "1", "do": "search", "gives": "wish list"}


def text(response: Any) -> str:
    words = re.sub(r"<[^>]+>", " ", response.content.decode())
    return html.unescape(" ".join(words.split()))


@pytest.fixture
def player(db: None) -> Client:
    """May answer, and see nothing else."""
    client = Client()
    client.force_login(make_user("player", ["answer_asks"]))
    return client


@pytest.fixture
def run(db: None) -> Run:
    return start_for_person()


@pytest.fixture
def ask(run: Run) -> OpenAsk:
    return waiting_ask(run)


@pytest.fixture
def url(ask: OpenAsk) -> str:
    return f"/asks/{ask.pk}/"


def reply(client: Client, run: Run, **fields: str) -> Any:
    """Fill in the form of what waits, let the run go on, and follow to the page that comes."""
    ask = waiting_ask(run)
    posted = client.post(f"/asks/{ask.pk}/", {"from_fields": "1", **fields})
    assert posted.status_code == 302, text(posted)
    play(run)
    return client.get(posted["Location"], follow=True)


class TestAQuery:
    def test_is_played_to_its_end_without_script(self, player: Client, run: Run) -> None:
        task = next(task for task in load_world().tasks if task.id == TASK)
        tools = {tool["name"]: tool for tool in task.shared["tools"]["baseline"]}
        held = given_values(task, world_of(task.shared))
        seen = ""
        for name in task.payload["example_path"]:
            tool = tools[name]
            page = reply(player, run, do="search", gives=tool["output_datatype"].replace("_", " "))
            assert name in text(page)
            arguments = {
                f"arg-{argument}": str(held[datatype])
                for argument, datatype in tool["surface_argument_to_datatype"].items()
            }
            page = reply(player, run, do="call", tool=name, **arguments)
            (value,) = [v for v in page.context["own"].page.values if name in v.tools]
            held[tool["output_datatype"]] = value.text
            assert value.text in text(page)
            seen += page.content.decode()
        steps = 2 * len(task.payload["example_path"])
        assert f"{steps + 1} of 100" in text(page)
        found = held[task.payload["target_datatype"]]
        assert found == task.payload["correct_answer"]
        end = reply(player, run, do="answer", answer=found, sure="1")
        assert "You gave the final answer" in text(end)
        run.refresh_from_db()
        trajectory = run.trajectories.get()
        assert (run.status, trajectory.termination) == (Run.Status.DONE, "answered")
        assert trajectory.metrics["accurate"] == 1
        for hidden in ("baseline", "noisy", "misleading", "surface", "datatype", "trusted"):
            assert hidden not in seen.lower()

    def test_the_page_shows_what_was_told_and_nothing_else(self, player: Client, run: Run) -> None:
        page = reply(player, run, do="search", gives="wish list")
        ask = waiting_ask(run)
        told = "\n".join(message.text for message in core_messages(ask.messages))
        shared = load_world().tasks[0].shared
        body = html.unescape(page.content.decode())
        names = [t["name"] for kind in shared["tools"].values() for t in kind]
        for name in names:
            assert bool(re.search(rf"\b{name}\b", body)) == bool(re.search(rf"\b{name}\b", told))
        (task,) = (task for task in load_world().tasks if task.id == TASK)
        assert task.payload["correct_answer"] not in body
        assert run.agent.title not in body and TASK not in body

    def test_replies_may_be_written_instead(self, player: Client, run: Run, url: str) -> None:
        assert f'href="{url}?as=text"' in player.get(url).content.decode()
        page = player.get(url, {"as": "text"})
        assert "Prompt" in text(page) and "by_output_info" in text(page)
        assert f'href="{url}"' in page.content.decode()
        assert player.post(f"{url}?as=text", {"text": ""}).status_code == 422
        typed = "<final_answer>nobody</final_answer>"
        assert player.post(f"{url}?as=text", {"text": typed}).status_code == 302
        assert Exchange.objects.get().text == typed

    def test_native_calls_are_written_for_the_person(self, player: Client) -> None:
        run = start_for_person(calling="native", tool_ids=True)
        page = reply(player, run, do="search", gives="wish list")
        assert "T1" in text(page)
        assert Exchange.objects.get().value["kind"] == "retrieve_tools"


class TestRefusals:
    def test_what_was_filled_in_stays(self, player: Client, run: Run) -> None:
        reply(player, run, do="search", takes="wish list entry")
        url = f"/asks/{waiting_ask(run).pk}/"
        stored = Exchange.objects.count()
        response = player.post(url, {"from_fields": "1", "do": "answer", "answer": '"><b>x'})
        assert response.status_code == 422
        assert "Confirm that this is your final answer" in text(response)
        assert "Nothing was sent" in text(response)
        assert 'value="&quot;&gt;&lt;b&gt;x"' in response.content.decode()
        tool = waiting_ask(run).context["tools"][0]["name"]
        response = player.post(url, {"from_fields": "1", "do": "call", "tool": tool})
        assert response.status_code == 422
        assert "Give a value" in text(response)
        assert Exchange.objects.count() == stored

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({}, "Choose what to do"),
            ({"do": "call", "tool": "x"}, "your searches have shown"),
            ({"do": "search", "gives": "a\x00b"}, "Null characters"),
            ({"do": "search", "gives": "x" * 100_001}, "at most 100000"),
            ({"do": "answer", "answer": "</final_answer>", "sure": "1"}, "cannot hold the tags"),
        ],
    )
    def test_what_makes_no_reply(
        self, player: Client, url: str, fields: dict[str, str], words: str
    ) -> None:
        response = player.post(url, {"from_fields": "1", **fields})
        assert response.status_code == 422
        assert words in text(response)
        assert not Exchange.objects.exists()

    def test_of_two_tabs_the_first_one_answers(self, player: Client, url: str) -> None:
        first = player.post(url, SEARCH)
        second = player.post(url, {**SEARCH, "gives": "buyer number"})
        assert (first.status_code, second.status_code) == (302, 409)
        assert "Somebody else answered first" in text(second) and '"buyer number"' in text(second)
        assert "buyer number" not in Exchange.objects.get().text
        for page in (second, player.get(url)):
            assert f'href="{url}next/">Continue' in page.content.decode()

    def test_an_ask_without_the_form_is_answered_in_text(
        self, player: Client, ask: OpenAsk, url: str
    ) -> None:
        OpenAsk.objects.filter(pk=ask.pk).update(context={"query": "Old?"})
        assert "Prompt" in text(player.get(url))
        response = player.post(url, SEARCH)
        assert response.status_code == 422
        assert "has to be written as text" in text(response)
        assert not Exchange.objects.exists()


class TestWhatFollows:
    @pytest.mark.parametrize(
        ("person", "may"),
        [("stranger", False), ("reader", False), ("player", True), ("researcher", True),
         ("admin", True)],
    )  # fmt: skip
    def test_access(self, person: str, may: bool, url: str, request: Any) -> None:
        client: Client = request.getfixturevalue(person)
        assert client.get(f"{url}next/").status_code == (302 if may else 403)
        assert client.get(f"{url}next/", headers=HTMX).status_code == (200 if may else 403)
        assert client.post(f"{url}next/").status_code == 405
        assert client.get("/asks/999/next/").status_code == (404 if may else 403)
        assert client.post(url, SEARCH).status_code == (302 if may else 403)

    def test_nobody_signs_in_first(self, client: Client, url: str) -> None:
        assert "/accounts/login/" in client.get(f"{url}next/")["Location"]

    def test_it_waits_until_the_next_ask_is_there(self, player: Client, run: Run, url: str) -> None:
        assert player.post(url, SEARCH)["Location"] == f"{url}next/"
        page = player.get(f"{url}next/")
        assert "the run continues" in text(page) and "Waiting since" in text(page)
        assert f'href="{url}next/">Look again' in page.content.decode()
        asked_again = f"{url}next/?v=moving"
        assert asked_again in page.content.decode()
        assert player.get(asked_again, headers=HTMX).status_code == 204
        pause_run(run=run)
        part = player.get(asked_again, headers=HTMX)
        assert part.status_code == 200 and "<html" not in part.content.decode()
        assert "The run is paused" in text(part)
        Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING)
        play(run)
        following = f"/asks/{waiting_ask(run).pk}/"
        assert player.get(asked_again, headers=HTMX)["HX-Redirect"] == following
        assert player.get(f"{url}next/")["Location"] == following

    def test_the_end_tells_players_no_more_than_agents(
        self, player: Client, researcher: Client, run: Run, url: str
    ) -> None:
        end = reply(player, run, do="answer", answer="nobody at all", sure="1")
        assert "you gave the final answer" in text(end).lower()
        assert "/trajectories/" not in end.content.decode()
        assert "Look again" not in text(end)
        assert "hx-get" not in end.content.decode()
        assert player.get(f"{url}next/", headers=HTMX).status_code == 286
        trajectory = run.trajectories.get()
        assert f"/trajectories/{trajectory.pk}/" in researcher.get(f"{url}next/").content.decode()
        correct = load_world().tasks[0].payload["correct_answer"]
        assert correct not in end.content.decode()
        assert "wrong" not in text(end).lower() and "not reached" not in text(end).lower()

    def test_a_cancelled_run_ends_the_waiting(self, player: Client, run: Run, url: str) -> None:
        player.post(url, SEARCH)
        cancel_run(run=run)
        Trajectory.objects.filter(run=run).update(status=Trajectory.Status.CANCELLED)
        page = player.get(f"{url}next/", headers=HTMX)
        assert page.status_code == 286
        assert "has stopped" in text(page) and "was cancelled" in text(page)

    def test_queries(self, player: Client, url: str, django_assert_max_num_queries: Any) -> None:
        player.post(url, SEARCH)
        with django_assert_max_num_queries(9):
            player.get(f"{url}next/?v=moving", headers=HTMX)


class TestSystemsWithForms:
    @pytest.mark.parametrize("key", list(SYSTEMS))
    def test_forms_and_templates_belong_together(self, key: str) -> None:
        forms = get_system(key).people.reply_forms
        folder = (
            Path(django_settings.BASE_DIR) / f"benchmarks/systems/{key}/templates/systems/{key}"
        )
        kinds = set(get_system(key).parsers)
        assert set(forms) <= kinds
        shown = {path.stem.removeprefix("_reply_") for path in folder.glob("_reply_*.html")}
        assert set(forms) == shown & kinds

    @pytest.mark.parametrize("key", list(SYSTEMS))
    def test_words_of_an_end_are_for_ends_that_exist(self, key: str) -> None:
        words = get_system(key).people.end_messages
        assert set(words) <= set(find_system(key).labels.endings)
        assert find_system(key).people.end_message("no such end", {}) == ""
