"""The way to the server. The way back is allauth's."""

from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.providers.openid_connect import views
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST


@require_POST
def leave(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Send a person to the server, to sign in or, signed in already, to link their identity.

    The browser is sent on by a header of a page of ours and not by a redirect: forms may be sent to
    this site alone (form-action), and browsers hold redirects of a form to that.
    """
    try:
        answer: HttpResponse = views.login(request, provider_id)
    except (OSError, KeyError):
        # Not there (what requests raises are OSErrors), or it does not say where people sign in.
        name = get_adapter().get_provider(request, provider_id).name
        return render(request, "socialaccount/unreachable.html", {"name": name}, status=503)
    target = answer.headers.get("Location", "")
    if answer.status_code != 302 or not target.startswith(("https://", "http://")):
        return answer
    page = render(request, "socialaccount/leaving.html", {"target": target})
    page["Refresh"] = f"0; url={target}"
    return page
