"""Pages of open asks: the list, and the page on which a person answers one."""

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks.access import ANSWER, START, VIEW, allow, signed_in, visibility
from benchmarks.asks import selectors as asks
from benchmarks.asks.forms import FROM_FIELDS, TypedReplyForm, read_fields
from benchmarks.asks.services import answer_open_ask
from benchmarks.core.errors import CoreError, UnreadableReply
from benchmarks.core.ports.people import FieldsRefused
from benchmarks.models import OpenAsk
from benchmarks.responses import STOP_POLLING, wants_fragment


@signed_in
@require_safe
def ask_list(request: HttpRequest) -> HttpResponse:
    """List the open asks; the page polls this every few seconds (204 if unchanged)."""
    allow(request, START, ANSWER)
    rows = asks.open_asks(visibility(request))
    run_id = request.GET.get("run", "")
    if run_id.isascii() and run_id.isdigit() and len(run_id) < 19:
        rows = rows.filter(trajectory__run=int(run_id))
    else:
        run_id = ""
    open_asks = list(rows[: asks.MOST + 1])
    shown = asks.ask_rows(open_asks[: asks.MOST])
    version = "-".join(f"{item.row.pk}{'p' * item.paused}" for item in shown[:20])
    version = f"{len(open_asks)}.{version}"
    if wants_fragment(request) and request.GET.get("v") == version:
        return HttpResponse(status=204)
    context = {
        "rows": shown,
        "more": len(open_asks) > asks.MOST,
        "run_id": run_id,
        "version": version,
        "sees_results": request.user.has_perm(VIEW),
    }
    part = (
        "benchmarks/asks/_ask_rows.html"
        if wants_fragment(request)
        else "benchmarks/asks/ask_list.html"
    )
    response = render(request, part, context)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _asks() -> QuerySet[OpenAsk]:
    rows = OpenAsk.objects.filter(trajectory__reserved=False)
    return rows.select_related("trajectory__run__dataset", "trajectory__task")


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def ask(request: HttpRequest, ask_id: int) -> HttpResponse:
    """Show one ask. The first reply counts; a refused text stays in the form.

    If the system has a form of its own, ``?as=text`` shows the messages and a text area.
    """
    allow(request, START, ANSWER)
    ask = get_object_or_404(visibility(request).of(_asks()), pk=ask_id)
    form, fields, errors = TypedReplyForm(), {}, {}
    status, late = 200, False
    if request.method == "POST":
        status = 422
        try:
            if FROM_FIELDS in request.POST:
                fields = request.POST.dict()
                form = TypedReplyForm({"text": asks.composed_text(ask, read_fields(fields))})
            else:
                form = TypedReplyForm(request.POST)
            if form.is_valid() and isinstance(request.user, User):
                answer_open_ask(ask=ask, by=request.user, text=form.cleaned_data["text"])
                return _on(request, ask)
        except FieldsRefused as refused:
            errors = refused.errors
        except UnreadableReply as error:
            form.add_error("text", f"This could not be read: {error}")
        except CoreError:
            ask.refresh_from_db()
            status, late = 409, True
    own = asks.system_form(ask, fields, errors)
    as_text = request.GET.get("as") == "text" or form.errors
    context = {
        "ask": asks.ask_view(ask),
        "own": None if as_text else own,
        "action": reverse("benchmarks:ask", args=[ask.pk]),
        "has_own": own is not None,
        "form": form,
        "errors": errors,
        "refusal": errors.get("", ""),
        "late": late,
        "sees_results": request.user.has_perm(VIEW),
    }
    return render(request, "benchmarks/asks/ask.html", context, status=status)


def _on(request: HttpRequest, answered: OpenAsk) -> HttpResponse:
    """Redirect to the next ask of the trajectory, or to the page that waits for it."""
    following = asks.open_asks().filter(trajectory=answered.trajectory_id).first()
    if following is not None:
        messages.success(request, "Your reply is stored, and the run continues.")
        return HttpResponseRedirect(reverse("benchmarks:ask", args=[following.pk]))
    return HttpResponseRedirect(reverse("benchmarks:ask_next", args=[answered.pk]))


@signed_in
@require_safe
def ask_next(request: HttpRequest, ask_id: int) -> HttpResponse:
    """Go to the next ask of a trajectory once there is one; until then, show its state.

    The page polls this every second: 204 if unchanged, 286 at the end.
    """
    allow(request, START, ANSWER)
    ask = get_object_or_404(visibility(request).of(_asks()), pk=ask_id)
    follows, part = asks.after_reply(ask), wants_fragment(request)
    if follows.ask is not None:
        url = reverse("benchmarks:ask", args=[follows.ask.pk])
        return HttpResponse(headers={"HX-Redirect": url}) if part else HttpResponseRedirect(url)
    if part and follows.moving and request.GET.get("v") == follows.state:
        return HttpResponse(status=204)
    context = {
        "ask": ask,
        "follows": follows,
        "others": asks.open_asks(visibility(request)).count(),
        "sees_results": request.user.has_perm(VIEW),
    }
    template = "benchmarks/asks/_ask_next.html" if part else "benchmarks/asks/ask_next.html"
    response = render(request, template, context)
    if part and not follows.moving:
        response.status_code = STOP_POLLING
    patch_vary_headers(response, ["HX-Request"])
    return response
