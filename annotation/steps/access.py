"""Open an annotator's own items, as far as their step allows."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect

from annotation.access import LARGEST, StudyAccess, person
from annotation.assignments.preconditions import step_before
from annotation.consent.selectors import has_read_information
from annotation.errors import NoAssignment
from annotation.models import Assignment, Item, Membership, Participant, Study
from annotation.models.statements import find_own_assignment
from benchmarks.models.statements import find_row, read_row

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


class StepNotReached(Exception):
    """The item's part is not reached yet; `redirect_to_next_step` redirects to the next step."""


def fetch_assignment(
    request: HttpRequest, pk: int, position: int, part: str = Assignment.Part.MAIN
) -> tuple[StudyAccess, Assignment]:
    """Return one of this person's own items, in four queries; somebody else's cannot be named.

    At an item nobody is more than its annotator, whatever other roles they have. Raises
    ``StepNotReached`` for an item of a later step than theirs. What they had open when a new step
    (such as a new consent text) came in between may still be sent, so that the page can keep it on
    the screen; the services refuse it.
    """
    item = find_named(name_assignment(request, pk, position, part))
    user = item.annotator
    item.study = read_row(Study, pk)
    item.item = Item.objects.select_related("task").get(pk=item.item_id)
    participant = find_row(Participant, study_id=pk, user_id=user.pk)
    access = StudyAccess(item.study, user, frozenset({Membership.Role.ANNOTATOR}), participant)
    if participant is None:
        return access, item  # they may look at what was theirs, and answer nothing
    participant.study, participant.user = item.study, user
    if (request.method != "POST" or item.opened_at is None) and (
        participant.break_since is not None
        or step_before(item.study, participant, item.part) is not None
        or not has_read_information(item.study, user)
    ):
        raise StepNotReached
    return access, item


def name_assignment(
    request: HttpRequest, pk: int, position: int, part: str = Assignment.Part.MAIN
) -> tuple[User, Assignment]:
    """Name one of this person's own items without a query: services look it up under a lock."""
    user = person(request)
    if max(pk, position) > LARGEST:
        raise NoAssignment
    return user, Assignment(study_id=pk, annotator=user, part=part, position=position)


def find_named(named: tuple[User, Assignment]) -> Assignment:
    """Find what `name_assignment` named; raises ``NoAssignment`` where nothing is there."""
    user, name = named
    item = find_own_assignment(
        study=name.study_id, user=user.pk, part=name.part, position=name.position
    )
    if item is None:
        raise NoAssignment
    item.annotator = user
    return item


def redirect_to_next_step(view: View) -> View:
    """Send on whoever is not there yet, or is taking a break, to what comes first for them."""

    @wraps(view)
    def guarded(request: HttpRequest, pk: int, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, pk, *args, **kwargs)
        except StepNotReached:
            return redirect("annotation:next_item", pk=pk)

    return cast(View, guarded)
