"""Views of pages with filters that people keep and share."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from analysis.models import SavedView
from benchmarks.core.errors import CoreError

LONGEST_NAME = 80
# An address that is longer is refused by some proxies on the way.
LONGEST_QUERY = 4000
# For one person and page.
MOST_VIEWS = 50


class ViewRefused(CoreError):
    """A view cannot be kept so; the text says why and what to do."""


@dataclass
class NameTaken(ViewRefused):
    """This person has another view of this page under the name."""

    view: SavedView

    def __str__(self) -> str:
        return f"you have a view “{self.view.name}” of this page already"


def save_view(
    *, owner: User, page: str, name: str, query: str, shared: bool = False, replace: bool = False
) -> SavedView:
    """Keep the filters of a page under a name.

    Where this person has a view of the name, ``replace`` gives it these filters (and leaves it
    shared, or not, as it was); without it ``NameTaken`` is raised and nothing changed.
    """
    name = _clean_name(name)
    if len(query) > LONGEST_QUERY:
        raise ViewRefused("these filters are too long for an address; take some away")
    with transaction.atomic():
        # One at a time: a form that is sent twice must not meet the constraint.
        User.objects.select_for_update().get(pk=owner.pk)
        mine = SavedView.objects.filter(owner=owner, page=page)
        known = mine.filter(name=name).first()
        if known is None:
            if mine.count() >= MOST_VIEWS:
                raise ViewRefused(
                    f"you have {MOST_VIEWS} views of this page; delete one that you do not need"
                )
            return SavedView.objects.create(
                owner=owner, page=page, name=name, query=query, shared=shared
            )
        if known.query != query:
            if not replace:
                raise NameTaken(known)
            known.query = query
            known.save(update_fields=["query", "updated_at"])
    return known


def rename_view(*, view: SavedView, name: str) -> None:
    """Rename a view; raise ``NameTaken`` where another view of the page has the name."""
    name = _clean_name(name)
    with transaction.atomic():
        User.objects.select_for_update().get(pk=view.owner_id)
        others = SavedView.objects.filter(owner=view.owner_id, page=view.page, name=name)
        other = others.exclude(pk=view.pk).first()
        if other is not None:
            raise NameTaken(other)
        _change(view, name=name)


def share_view(*, view: SavedView, shared: bool) -> None:
    """Show a view to others, or to its owner alone again."""
    _change(view, shared=shared)


def delete_view(*, view: SavedView) -> None:
    """Delete a view. What it shows stays."""
    SavedView.objects.filter(pk=view.pk).delete()


def _change(view: SavedView, **changes: object) -> None:
    SavedView.objects.filter(pk=view.pk).update(**changes, updated_at=timezone.now())


def _clean_name(name: str) -> str:
    name = " ".join(name.replace("\x00", "").split())
    if not name:
        raise ViewRefused("a view needs a name")
    if len(name) > LONGEST_NAME:
        raise ViewRefused(f"a name has at most {LONGEST_NAME} characters; this has {len(name)}")
    return name
