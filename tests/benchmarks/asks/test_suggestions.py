"""Suggested verdicts on pages: beside a form where the setting says so, and on the trajectory."""

import html
import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import LiveSession
from benchmarks.asks.suggestion_selectors import (
    suggested_verdicts_of,
    suggestion_on,
    suggestions_of,
)
from benchmarks.exports.services import trajectory_rows
from benchmarks.models import Suggestion
from tests.annotation.live_sessions import asked, begin, make_live_session, make_live_study, say
from tests.annotation.rows import make_person
from tests.benchmarks.api.conftest import bearer

pytestmark = [pytest.mark.django_db, pytest.mark.either]
NONE = '{"violated": [], "reasons": {}}'


def text(response: Any) -> str:
    words = re.sub(r"<[^>]+>", " ", response.content.decode())
    return html.unescape(" ".join(words.split()))


def judged(shows: bool = False) -> tuple[LiveSession, User]:
    ann = make_person("ann")
    study = make_live_study(mode="judge_and_simulator", shows_suggestions=shows)
    session = make_live_session(study, [ann])
    begin(session)
    return session, ann


def page_of(session: LiveSession, user: User) -> Any:
    client = Client()
    client.force_login(user)
    return client.get(f"/sessions/{session.pk}/")


@pytest.mark.parametrize("shows", [True, False])
def test_players_see_them_where_the_setting_says_so(shows: bool) -> None:
    session, ann = judged(shows)
    world = suggestion_on(asked(session)[0])
    assert world is not None and world["value"]["violated"] and world["by"] == "A script"
    page = page_of(session, ann)
    assert page.status_code == 200
    assert ("Your verdict counts." in text(page)) == shows
    assert (" suggested " in text(page)) == shows
    assert "world-facts" not in page.content.decode()
    assert not re.search(r'name="violates-[^>]* checked', page.content.decode())


def test_why_there_is_none_is_no_name_for_players() -> None:
    session, _ = judged()
    ask = asked(session)[0]
    Suggestion.objects.filter(step=ask.step, slot=ask.slot).update(
        state="failed", value=None, reason="the endpoint gpt-secret is away"
    )
    assert suggestion_on(ask) == {
        "by": "A script",
        "value": None,
        "why_not": "nothing came that could be read",
        "waits": False,
    }


def test_one_that_comes_later_is_put_beside_the_form_and_into_no_field() -> None:
    session, ann = judged(shows=True)
    ask = asked(session)[0]
    rows = Suggestion.objects.filter(step=ask.step, slot=ask.slot)
    rows.update(state="sent")
    shown = page_of(session, ann).content.decode()
    assert "is being asked, too" in shown and " suggested " not in shown
    client = Client()
    client.force_login(ann)
    found = re.search(r'hx-get="([^"]+state/[^"]+)"', shown)
    assert found
    url = html.unescape(found[1])
    assert client.get(url, headers={"HX-Request": "true"}).status_code == 204
    rows.update(state="answered")
    brought = client.get(url, headers={"HX-Request": "true"}).content.decode()
    assert 'class="badge plain">suggested<' in brought
    places = re.findall(r'id="(suggested-[^"]+)" ?[^>]*hx-swap-oob="innerHTML"', brought)
    assert len(places) > 2 and all(f'id="{place}"' in shown for place in places)
    assert "session-desk" not in brought and '<input type="checkbox' not in brought


def test_they_are_counted_beside_the_persons_verdicts(reader: Client) -> None:
    session, _ = judged()
    world, user = (row.value["violated"] for row in suggestions_of(session.trajectory))
    say(session, NONE)
    say(session, NONE)
    beside = suggested_verdicts_of(session.trajectory)
    assert (beside.both, beside.marked) == (0, 0)
    assert beside.suggested == len(world) + len(user)
    assert [row.same for row in beside.rows] == [not world, not user]
    page = reader.get(f"/trajectories/{session.trajectory_id}/")
    assert "Suggested verdicts" in text(page)
    assert f"0 of {beside.suggested}" in text(page) and "Scripted world judge" in text(page)


def test_exports_and_api_tell_who_answered_and_what_was_suggested() -> None:
    session, _ = judged()
    say(session, NONE)
    say(session, NONE)
    (row,) = trajectory_rows(session.trajectory.run)
    found = row["metadata"]["played"]
    assert {(r["role"], r["by"], r["first"], r["last"]) for r in found["answered"]} >= {
        ("agent", "coin-flipper", 1, 1),
        ("world_judge", "person 1", 1, 1),
        ("user_judge", "person 1", 1, 1),
    }
    world, user = found["suggested"]
    assert (world["turn"], world["kind"], world["given"]) == (1, "scripted", json.loads(NONE))
    assert world["value"]["violated"] and user["role"] == "user_judge"
    program = Client(headers=bearer(make_person("calm", "view_results")))
    answer = program.get(f"/api/v1/trajectories/{session.trajectory_id}").json()
    assert answer["played"] == found
    assert "ann" not in json.dumps(found)


def test_what_was_not_judged_or_not_suggested_is_not_compared() -> None:
    session, _ = judged()
    assert not suggested_verdicts_of(session.trajectory).compared
    say(session, NONE)
    say(session, NONE)
    Suggestion.objects.filter(role="world_judge").update(state="failed", reason="away")
    world, user = suggested_verdicts_of(session.trajectory).rows
    assert world.why_not == "away" and not user.why_not


def test_runs_without_suggestions_are_not_asked_for_any(
    django_assert_num_queries: Any,
) -> None:
    session = make_live_session(make_live_study(), [make_person("ann")])
    begin(session)
    trajectory = session.trajectory
    assert trajectory.run.roles
    with django_assert_num_queries(0):
        assert not suggested_verdicts_of(trajectory).rows
