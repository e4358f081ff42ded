"""People fill each role of AdaPlanBench through the page of an ask, without script."""

import html
import re
from typing import Any

import pytest
from django.test import Client

from benchmarks.models import Exchange, OpenAsk, Run
from tests.factories.benchmarks import make_user, play, start_sample_runs

pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture
def player(db: None) -> Client:
    client = Client()
    client.force_login(make_user("player", ["answer_asks"]))
    return client


def waiting(role: str, **more: Any) -> tuple[Run, OpenAsk]:
    (run,) = start_sample_runs("coin-flipper", level="high", roles={role: ["human"]}, **more)
    play(run)
    return run, OpenAsk.objects.filter(trajectory__run=run, answered_at=None).order_by("pk")[0]


def text(response: Any) -> str:
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split()))


def send(player: Client, ask: OpenAsk, **fields: str) -> Any:
    return player.post(f"/asks/{ask.pk}/", {"from_fields": "1", **fields})


def test_the_user(player: Client) -> None:
    _, ask = waiting("simulator")
    page = player.get(f"/asks/{ask.pk}/")
    for point in ask.context["points"]:
        assert point["text"] in text(page)
    assert "Tell the agent now" in text(page) and "What the agent does not know" in text(page)
    refused = send(player, ask, text=" ")
    assert refused.status_code == 422 and "Write a message" in text(refused)
    assert send(player, ask, text="Not with me.").status_code == 302
    assert Exchange.objects.get(role="simulator").value == "Not with me."


def test_a_judge_of_constraints(player: Client) -> None:
    _, ask = waiting("world_judge")
    key = ask.context["constraints"][1]["key"]
    refused = send(player, ask, **{f"violates-{key}": "1", f"none-{ask.context['kind']}": "1"})
    assert refused.status_code == 422 and f'name="violates-{key}" value="1" checked' in (
        refused.content.decode()
    )
    assert send(player, ask, **{f"violates-{key}": "1"}).status_code == 302
    assert Exchange.objects.get(role="world_judge").value["violated"] == [key]


def test_a_judge_of_the_rubric(player: Client) -> None:
    _, ask = waiting("rubric_judge")
    dimensions = ask.expect["params"]["dimensions"]
    given = {f"score-{key}": "4" for key in dimensions[1:]}
    refused = send(player, ask, **given)
    assert refused.status_code == 422 and refused.content.decode().count(">Missing<") == 1
    assert send(player, ask, **given, **{f"score-{dimensions[0]}": "unknown"}).status_code == 302
    found = Exchange.objects.filter(role="rubric_judge", answerer__kind="human").get()
    assert found.value["scores"][dimensions[0]] is None
