"""The views of pages that somebody has and that others share with them."""

from collections.abc import Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Q
from django.http import QueryDict
from django.urls import reverse

from analysis.filters import with_query
from analysis.models import SavedView
from analysis.pages.catalogue import PAGES
from benchmarks.visibility import Visibility

TRAJECTORIES, GROUPS = "trajectories", "groups"
_OTHERS = {
    TRAJECTORIES: ("analysis:trajectory_list", "Trajectories"),
    GROUPS: ("analysis:trajectory_groups", "Groups of failures"),
}


class SavedViewLink(NamedTuple):
    """A view with its address; ``current``: it shows what the page shows now."""

    row: SavedView
    url: str
    current: bool


class SavedViews(NamedTuple):
    """The block of saved views on a page: ``query`` is that of the page now, in its usual order.

    ``closed`` says that views which others share are not shown for now: their names, too, may tell
    what somebody who annotates blind must not know.
    """

    page: str
    query: str
    here: str
    mine: Sequence[SavedViewLink]
    shared: Sequence[SavedViewLink]
    closed: bool

    @property
    def current(self) -> bool:
        """Return whether one of these is what the page shows."""
        return any(view.current for view in (*self.mine, *self.shared))


def is_page(name: str) -> bool:
    """Return whether views are kept of a page of this name."""
    return name in _OTHERS or name in PAGES


def page_url(page: str, query: str = "") -> str:
    """Return the address of a page with these filters."""
    return with_query(reverse(_OTHERS[page][0] if page in _OTHERS else f"analysis:{page}"), query)


def page_title(page: str) -> str:
    """Return what a page is called."""
    return _OTHERS[page][1] if page in _OTHERS else PAGES[page].title


def usual_query(query: str) -> str:
    """Return a query string in one order and without empty fields, so that equal ones are equal."""
    params = QueryDict(query.replace("\x00", ""), mutable=True)
    for name, values in params.lists():
        params.setlist(name, [value for value in values if value])
    ordered = QueryDict(mutable=True)
    for name in sorted(name for name, values in params.lists() if values):
        ordered.setlist(name, params.getlist(name))
    return ordered.urlencode()


def saved_views(*, page: str, query: str, user: User, seen: Visibility) -> SavedViews:
    """Return the views of a page that this person may see, in one question."""
    rows = SavedView.objects.filter(page=page).select_related("owner").order_by("name", "pk")
    closed = bool(seen.closed or seen.tasks)
    theirs = Q(shared=True, owner__is_active=True)
    rows = rows.filter(Q(owner=user) if closed else Q(owner=user) | theirs)
    query = usual_query(query)
    kept = [SavedViewLink(row, page_url(page, row.query), row.query == query) for row in rows]
    return SavedViews(
        page,
        query,
        page_url(page, query),
        [view for view in kept if view.row.owner_id == user.pk],
        [view for view in kept if view.row.owner_id != user.pk],
        closed,
    )
