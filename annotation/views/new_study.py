"""Making a study."""

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_GET

from benchmarks.access import START, allow, signed_in


@require_GET
@signed_in
def study_new(request: HttpRequest) -> HttpResponseBase:
    """The steps in which a study is planned."""
    allow(request, START)
    return redirect("annotation:study_list")
