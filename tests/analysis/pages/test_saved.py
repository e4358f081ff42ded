"""Views of pages that people keep, share, overwrite and delete."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from analysis.models import SavedView
from analysis.pages.saved_views.selectors import TRAJECTORIES, saved_views, usual_query
from analysis.pages.saved_views.services import (
    LONGEST_NAME,
    LONGEST_QUERY,
    MOST_VIEWS,
    NameTaken,
    ViewRefused,
    rename_view,
    save_view,
)
from benchmarks.visibility import EVERYTHING, Visibility
from tests.analysis.rows import make_person

pytestmark = pytest.mark.django_db

SAVE = "/views/save/"
LIST = "/trajectories/"


@pytest.fixture
def rita(db: None) -> User:
    return make_person("rita", "view_results")


@pytest.fixture
def sven(db: None) -> User:
    return make_person("sven", "view_results")


@pytest.fixture
def reader(client: Client, rita: User) -> Client:
    client.force_login(rita)
    return client


def keep(owner: User, name: str = "Kitchen", query: str = "level=low", **more: Any) -> SavedView:
    return save_view(owner=owner, page=TRAJECTORIES, name=name, query=query, **more)


def names(user: User, seen: Visibility = EVERYTHING, page: str = TRAJECTORIES) -> list[str]:
    found = saved_views(page=page, query="", user=user, seen=seen)
    return [view.row.name for view in (*found.mine, *found.shared)]


def change(client: Client, view: SavedView, what: str, **data: str) -> int:
    url = reverse(f"analysis:saved_view_{what}", args=[view.pk])
    return client.post(url, data).status_code


@pytest.mark.parametrize("shown", ["trajectories", "leaderboard"])
def test_the_filters_of_a_page_are_saved_and_lead_back_to_it(reader: Client, shown: str) -> None:
    at = {"trajectories": LIST, "leaderboard": "/analysis/leaderboard/"}[shown]
    given = {"page": shown, "query": "level=low&agents=&agents=3", "name": "  My  view "}
    answer = reader.post(SAVE, given, follow=True)
    assert answer.redirect_chain[0] == (f"{at}?agents=3&level=low", 302)
    assert "Saved as “My view”." in answer.content.decode()
    view = SavedView.objects.get()
    assert (view.name, view.query, view.shared) == ("My view", "agents=3&level=low", False)
    told = reader.get(at).content.decode()
    assert f'<a class="chip" href="{at}?agents=3&amp;level=low">My view</a>' in told


def test_an_open_view_is_marked(rita: User) -> None:
    keep(rita, query=usual_query("level=low&agent=3"))
    found = saved_views(page=TRAJECTORIES, query="agent=3&level=low&x=", user=rita, seen=EVERYTHING)
    assert [view.current for view in found.mine] == [True]
    assert found.current


def test_a_name_that_is_taken_is_asked_about(reader: Client, rita: User) -> None:
    keep(rita, shared=True)
    given = {"page": TRAJECTORIES, "query": "level=high", "name": "Kitchen"}
    answer = reader.post(SAVE, given)
    assert answer.status_code == 409
    told = answer.content.decode()
    assert "You have a view “Kitchen” already" in told
    assert "It is shared: others see the change, too." in told
    assert SavedView.objects.get().query == "level=low"
    reader.post(SAVE, given | {"replace": "1"})
    view = SavedView.objects.get()
    assert (view.query, view.shared) == ("level=high", True)
    # saving the same once more changes nothing and asks nothing
    assert reader.post(SAVE, given).status_code == 302


@pytest.mark.parametrize(
    ("name", "query", "why"),
    [
        ("  ", "", "needs a name"),
        ("x" * (LONGEST_NAME + 1), "", "at most 80 characters"),
        ("x", f"q={'x' * LONGEST_QUERY}", "too long for an address"),
    ],
    ids=["empty", "long-name", "long-query"],
)
def test_what_cannot_be_kept_is_refused_in_words(
    reader: Client, name: str, query: str, why: str
) -> None:
    given = {"page": TRAJECTORIES, "query": query, "name": name}
    messages = list(reader.post(SAVE, given).wsgi_request._messages)  # type: ignore[attr-defined]
    assert why in str(messages[0])
    assert not SavedView.objects.exists()


def test_there_is_a_bound_for_one_person_and_page(rita: User, sven: User) -> None:
    SavedView.objects.bulk_create(
        SavedView(owner=rita, page=TRAJECTORIES, name=f"{n}") for n in range(MOST_VIEWS)
    )
    with pytest.raises(ViewRefused, match="delete one"):
        keep(rita)
    keep(sven)
    keep(rita, name="0", replace=True)
    assert save_view(owner=rita, page="leaderboard", name="Kitchen", query="").pk


def test_an_unknown_page_has_no_views(reader: Client) -> None:
    assert reader.post(SAVE, {"page": "nothing", "name": "x"}).status_code == 404


def test_renaming_sharing_and_deleting(reader: Client, rita: User, sven: User) -> None:
    view, other = keep(rita), keep(rita, name="Bath")
    assert names(sven) == []
    assert change(reader, view, "rename", name="Sink") == 302
    assert change(reader, view, "share", shared="1") == 302
    assert names(sven) == ["Sink"]
    assert names(rita) == ["Bath", "Sink"]
    assert change(reader, view, "share", shared="0") == 302
    assert names(sven) == []
    with pytest.raises(NameTaken):
        rename_view(view=view, name="Bath")
    assert change(reader, other, "delete") == 302  # without the box
    assert names(rita) == ["Bath", "Sink"]
    assert change(reader, other, "delete", sure="1") == 302
    assert names(rita) == ["Sink"]


def test_nobody_changes_the_view_of_another(reader: Client, sven: User) -> None:
    view = keep(sven, shared=True)
    for what in ("rename", "share", "delete"):
        assert change(reader, view, what, name="Mine", sure="1") == 404
    view.refresh_from_db()
    assert (view.name, view.shared) == ("Kitchen", True)


def test_after_a_change_the_reader_is_where_they_were(reader: Client, rita: User) -> None:
    view = keep(rita)
    url = reverse("analysis:saved_view_share", args=[view.pk])
    assert reader.post(url, {"next": f"{LIST}?level=low"})["Location"] == f"{LIST}?level=low"
    assert reader.post(url, {"next": "https://elsewhere.example/"})["Location"] == LIST


def test_names_of_others_are_closed_to_whoever_annotates_blind(rita: User, sven: User) -> None:
    keep(rita, name="Mine")
    keep(sven, name="Where the large model fails", shared=True)
    for closed in (Visibility(rita, [1]), Visibility(rita, tasks=[1])):
        assert names(rita, closed) == ["Mine"]
        assert saved_views(page=TRAJECTORIES, query="", user=rita, seen=closed).closed


def test_views_of_people_who_left_are_shown_to_nobody(rita: User, sven: User) -> None:
    keep(sven, shared=True)
    User.objects.filter(pk=sven.pk).update(
        is_active=False, last_login=datetime(2026, 1, 1, tzinfo=UTC)
    )
    assert names(rita) == []


def test_a_name_is_escaped(reader: Client, sven: User) -> None:
    keep(sven, name="<b>x</b>", shared=True)
    shown = reader.get(LIST).content.decode()
    assert "&lt;b&gt;x&lt;/b&gt;" in shown
    assert "<b>x</b>" not in shown


def test_what_a_view_asks_for_and_is_gone_is_said(reader: Client, rita: User) -> None:
    view = keep(rita, query="agent=999999")
    shown = reader.get(f"{LIST}?{view.query}").content.decode()
    assert "999999" in shown
