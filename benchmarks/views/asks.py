"""Open asks: what waits for a person, and the page on which a person answers."""

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks.access import ANSWER, START, VIEW, allow, signed_in
from benchmarks.core.errors import CoreError, UnreadableReply
from benchmarks.forms.asks import ReplyForm
from benchmarks.models import OpenAsk
from benchmarks.selectors import asks
from benchmarks.services.people import answer_open_ask
from benchmarks.views.parts import wants_part


@signed_in
@require_safe
def ask_list(request: HttpRequest) -> HttpResponse:
    """What waits. Asked for by itself every few seconds: 204 while nothing has changed."""
    allow(request, START, ANSWER)
    rows = asks.open_asks()
    run_id = request.GET.get("run", "")
    if run_id.isascii() and run_id.isdigit() and len(run_id) < 19:
        rows = rows.filter(trajectory__run=int(run_id))
    else:
        run_id = ""
    found = list(rows[: asks.MOST + 1])
    shown = asks.ask_rows(found[: asks.MOST])
    version = "-".join(f"{item.row.pk}{'p' * item.paused}" for item in shown[:20])
    version = f"{len(found)}.{version}"
    if wants_part(request) and request.GET.get("v") == version:
        return HttpResponse(status=204)
    context = {
        "rows": shown,
        "more": len(found) > asks.MOST,
        "run_id": run_id,
        "version": version,
        "sees_results": request.user.has_perm(VIEW),
    }
    part = "benchmarks/_ask_rows.html" if wants_part(request) else "benchmarks/ask_list.html"
    response = render(request, part, context)
    patch_vary_headers(response, ["HX-Request"])
    return response


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def ask(request: HttpRequest, ask_id: int) -> HttpResponse:
    """One ask. Who posts first answers it; a text that was not taken stays in the form."""
    allow(request, START, ANSWER)
    found = get_object_or_404(OpenAsk.objects.select_related("trajectory__run__dataset"), pk=ask_id)
    form = ReplyForm(request.POST if request.method == "POST" else None)
    status, late = 200, False
    if form.is_bound:
        status = 422
        if form.is_valid() and isinstance(request.user, User):
            try:
                answer_open_ask(ask=found, by=request.user, text=form.cleaned_data["text"])
            except UnreadableReply as error:
                form.add_error("text", f"This could not be read: {error}")
            except CoreError:
                found.refresh_from_db()
                status, late = 409, True
            else:
                return _on(request, found)
    context = {
        "ask": asks.ask_view(found),
        "form": form,
        "late": late,
        "sees_results": request.user.has_perm(VIEW),
    }
    return render(request, "benchmarks/ask.html", context, status=status)


def _on(request: HttpRequest, answered: OpenAsk) -> HttpResponse:
    """To what waits next in the same trajectory, else to the list."""
    messages.success(request, "Your reply is stored, and the run goes on with it.")
    following = asks.open_asks().filter(trajectory=answered.trajectory_id).first()
    if following is not None:
        return HttpResponseRedirect(reverse("benchmarks:ask", args=[following.pk]))
    return HttpResponseRedirect(reverse("benchmarks:ask_list"))
