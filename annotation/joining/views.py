"""Join a study by an invitation link.

The token is moved into the session at once (as a digest), and the next page has a URL without it.
So the token is in no referrer and in no log of refused requests.
"""

from allauth.decorators import rate_limit
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.cache import add_never_cache_headers
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods

from annotation.errors import Refused
from annotation.joining.invitations import (
    accept_invite,
    accept_invite_as_new,
    find_invite,
    refuse_unless_good,
)
from annotation.models import Invite, Membership, Study
from annotation.people.forms import NewAccountForm
from annotation.people.invitations import digest_of

KEPT = "invite"


@require_GET
def join_link(request: HttpRequest, token: str) -> HttpResponseBase:
    """Put the token of a link away and go to the page.

    Never refused, for a refusal would be logged with the address; trying links is limited there.
    """
    request.session[KEPT] = digest_of(token)
    response = redirect("annotation:join")
    response["Referrer-Policy"] = "no-referrer"
    add_never_cache_headers(response)
    return response


@require_http_methods(["GET", "POST"])
@sensitive_post_parameters("password1", "password2")
@rate_limit(action="join", limit_get=True)  # type: ignore[untyped-decorator]  # has no types
def join(request: HttpRequest) -> HttpResponseBase:
    """Show which study and role a link leads to; a POST accepts, with a new account for a
    stranger.
    """
    user = request.user if isinstance(request.user, User) else None
    digest = str(request.session.get(KEPT, ""))
    form = NewAccountForm(request.POST if request.method == "POST" and user is None else None)
    try:
        invited = find_invite(digest)
        if user is not None and invited is not None and invited.used_by_id == user.pk:
            return _welcome(request, invited.study)
        invite = refuse_unless_good(invited)
        if request.method == "POST":
            if user is not None:
                return _welcome(request, accept_invite(digest=digest, user=user))
            if form.is_valid():
                return _come_in(request, form, digest)
    except Refused as refused:
        return _no(request, refused)
    except IntegrityError:
        form.add_error("username", "Somebody else has just taken this name. Choose another one.")
    return _page(request, invite, form)


def _come_in(request: HttpRequest, form: NewAccountForm, digest: str) -> HttpResponseBase:
    given = form.cleaned_data
    user, study = accept_invite_as_new(
        digest=digest, username=given["username"], password=given["password1"]
    )
    # By the installation's first way to sign in, which is by password.
    login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])
    return _welcome(request, study)


def _welcome(request: HttpRequest, study: Study) -> HttpResponseBase:
    request.session.pop(KEPT, None)
    messages.success(request, f"You have joined the study “{study.name}”.")
    if study.is_live:  # to what comes first, without a page in between
        return redirect("annotation:next_item", pk=study.pk)
    return redirect("annotation:study", pk=study.pk)


def _page(request: HttpRequest, invite: Invite, form: NewAccountForm) -> HttpResponse:
    plays = invite.study.is_live and invite.role == Membership.Role.ANNOTATOR
    context = {"invite": invite, "plays": plays, "form": form}
    response = render(request, "annotation/join.html", context, status=422 if form.errors else 200)
    add_never_cache_headers(response)
    return response


def _no(request: HttpRequest, refused: Refused) -> HttpResponse:
    status = {"conflict": 409, "invalid": 404}.get(refused.code, 410)
    return render(request, "annotation/join_refused.html", {"refused": refused}, status=status)
