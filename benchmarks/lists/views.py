"""Choosing the columns of a list."""

from django.http import Http404, HttpRequest, HttpResponseBase
from django.views.decorators.http import require_POST

from benchmarks.access import signed_in
from benchmarks.lists.columns import LISTS, choose_columns
from benchmarks.responses import go_back

# More, or longer ones, no list of ours offers.
MOST_COLUMNS, LONGEST_KEY = 100, 80


@signed_in
@require_POST
def columns(request: HttpRequest, name: str) -> HttpResponseBase:
    """Keep which columns this person sees; ``offered`` says which the form had."""
    if name not in LISTS:
        raise Http404("There is no such list.")
    ticked = set(request.POST.getlist("column"))
    offered = [
        key
        for key in request.POST.getlist("offered")
        if 0 < len(key) <= LONGEST_KEY and "\x00" not in key
    ]
    choose_columns(
        user_id=request.user.pk or 0,
        name=name,
        shown={key: key in ticked for key in offered[:MOST_COLUMNS]},
    )
    return go_back(request, "/")
