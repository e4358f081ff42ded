"""The studies that a person was withdrawn from, as they read it themselves: when, and why."""

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import render

from annotation.models import Membership, Participant, Study, StudyEvent

View = TypeVar("View", bound=Callable[..., HttpResponseBase])
# Of a record's event: the person was told the reason. Reasons from before that was said to managers
# stay in the record.
SHOWN = "shown"


class Withdrawal(NamedTuple):
    """A study that a person no longer takes part in: since when, and the manager's reason.

    ``own``: they withdrew themselves. ``at`` is None where the record does not say when.
    """

    study: Study
    at: datetime | None = None
    own: bool = False
    reason: str = ""


def withdrawals_of(user: User, *, study: int | None = None) -> list[Withdrawal]:
    """Return the studies that this person withdrew or was withdrawn from, the latest first."""
    rows = Participant.objects.filter(user=user, state=Participant.State.WITHDRAWN)
    if study is not None:
        rows = rows.filter(study=study)
    here = Membership.objects.filter(user=user).order_by().values("study")
    people = list(rows.exclude(study__in=here).select_related("study").order_by("-study"))
    return [_withdrawal(person.study, user) for person in people]


def _withdrawal(study: Study, user: User) -> Withdrawal:
    events = StudyEvent.objects.filter(study=study, about=user, kind=StudyEvent.Kind.WITHDRAWN)
    event = events.order_by("-pk").first()
    if event is None:
        return Withdrawal(study)
    own = event.by_id == user.pk
    return Withdrawal(study, event.at, own, event.reason if event.detail.get(SHOWN) else "")


def explain_withdrawal(view: View) -> View:
    """Show people who were withdrawn from a study when and why, where others get 404."""

    @wraps(view)
    def explained(request: HttpRequest, pk: int, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, pk, *args, **kwargs)
        except Http404:
            user = request.user
            withdrawals = withdrawals_of(user, study=pk) if isinstance(user, User) else []
            if not withdrawals:
                raise
        return render(request, "annotation/withdrawn.html", {"left": withdrawals[0]}, status=404)

    return cast(View, explained)
