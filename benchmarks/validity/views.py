"""The page of a dataset's certificate of validity, and the button that has it computed."""

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from benchmarks.access import START, VIEW, fetch, signed_in, visibility
from benchmarks.core.errors import CoreError
from benchmarks.models import Dataset
from benchmarks.responses import STOP_POLLING, add_error_message, respond, wants_fragment
from benchmarks.validity.selectors import certificate_view
from benchmarks.validity.services import start_certificate


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def dataset_validity(request: HttpRequest, dataset_id: int) -> HttpResponse:
    """Show the certificate of a dataset; a POST has a worker compute it.

    The panel polls this every second while that is under way.
    """
    right = START if request.method == "POST" else VIEW
    dataset = fetch(request, Dataset.objects.all(), right, pk=dataset_id)
    if request.method == "POST":
        assert isinstance(request.user, User)
        try:
            start_certificate(dataset=dataset, asked_by=request.user)
        except CoreError as error:
            add_error_message(request, error)
        else:
            messages.success(request, "The dataset is being certified. The result appears here.")
        return HttpResponseRedirect(reverse("benchmarks:dataset_validity", args=[dataset.pk]))
    view = certificate_view(dataset)
    if view is None:
        raise Http404
    if wants_fragment(request) and view.moving and request.GET.get("v") == view.mark:
        return HttpResponse(status=204)
    context = {
        "dataset": dataset,
        "validity": view,
        "may_start": request.user.has_perm(START),
        "closed_tasks": visibility(request).tasks,
        "whole": True,
    }
    response = respond(
        request, "benchmarks/validity/validity.html", "benchmarks/validity/_validity.html", context
    )
    if wants_fragment(request) and not view.moving:
        response.status_code = STOP_POLLING
        response["HX-Refresh"] = "true"
    return response
