"""Clusters of failures that a model named: start them, read them with their evidence, edit them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from analysis.browser.clusters import services
from analysis.browser.clusters.edits import (
    Cluster,
    Edit,
    current_clusters,
    last_edit,
    model_clusters,
)
from analysis.browser.groups.failure_groups import (
    GroupOptions,
    choose,
    read_group_options,
    sample_ids,
)
from analysis.filters import with_query
from analysis.frames.questions import visible
from analysis.models import ClusterCall, ClusterEdit, FailureClustering
from annotation.access import person
from benchmarks.access import START, VIEW, allow, fetch, signed_in, visibility
from benchmarks.calls.use import use_of_calls
from benchmarks.core.errors import CoreError
from benchmarks.models import Endpoint, StoredMessage, Trajectory
from benchmarks.paging import as_id
from benchmarks.responses import add_error_message
from benchmarks.visibility import Visibility

STOP_POLLING = 286
LISTED = 10


class ClusterForm(forms.Form):
    """The form for naming clusters: the model, their number, and the cap."""

    use_required_attribute = False
    endpoint = forms.ModelChoiceField(
        label="Model", queryset=Endpoint.objects.none(), empty_label=None
    )
    most_clusters = forms.IntegerField(
        label="Clusters at most",
        initial=8,
        min_value=services.FEWEST_CLUSTERS,
        max_value=services.MOST_CLUSTERS,
    )
    token_cap = forms.IntegerField(
        label="Cap on tokens", initial=200_000, required=False, min_value=1,
        max_value=services.LARGEST_TOKEN_CAP,
    )  # fmt: skip
    cost_cap = forms.FloatField(
        label="Cap on cost", required=False, min_value=0,
        help_text="In the model’s currency; needs its prices.",
        widget=forms.NumberInput(attrs={"min": "0", "step": "any", "inputmode": "decimal"}),
    )  # fmt: skip

    def __init__(self, data: Any = None, *, seen: Visibility) -> None:
        super().__init__(data)
        field = self.fields["endpoint"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = seen.of(Endpoint.objects.filter(retired=False))


class CapsForm(forms.Form):
    """New caps for a clustering that goes on."""

    use_required_attribute = False
    token_cap = forms.IntegerField(label="Cap on tokens", required=False, min_value=1)
    cost_cap = forms.FloatField(label="Cap on cost", required=False, min_value=0)


@dataclass(frozen=True)
class Evidence:
    """A failure in a cluster, with the model's note on it."""

    trajectory: Trajectory
    note: Mapping[str, Any]


@dataclass(frozen=True)
class ShownCluster:
    """A cluster with its evidence, and the list of its trajectories."""

    cluster: Cluster
    rows: Sequence[Evidence]
    url: str
    share: float


def clusterings_of(query: str, seen: Visibility) -> list[FailureClustering]:
    """Return the newest clusterings of a list, as far as all their trajectories may be seen."""
    rows = FailureClustering.objects.filter(query=query, question="")
    rows = rows.select_related("endpoint", "job")
    return [row for row in rows[:LISTED] if visible(row, seen)]


def fetch_clustering(
    request: HttpRequest,
    rows: QuerySet[FailureClustering],
    clustering_id: int,
    permission: str = VIEW,
) -> FailureClustering:
    """Return one of ``rows``, or raise ``Http404`` where it does not exist or may not be seen."""
    allow(request, permission)
    allow(request, VIEW)
    row = rows.select_related("endpoint", "job", "created_by").filter(pk=clustering_id).first()
    if row is None or not visible(row, visibility(request)):
        raise Http404("There are no clusters and no question under this number.")
    return row


def _fetch(request: HttpRequest, clustering_id: int, permission: str = VIEW) -> FailureClustering:
    rows = FailureClustering.objects.filter(question="")
    return fetch_clustering(request, rows, clustering_id, permission)


def start(
    request: HttpRequest,
    form_class: type[ClusterForm],
    page: str,
    tab: str,
    wish: Callable[[GroupOptions, Sequence[int], Mapping[str, Any]], Mapping[str, Any]],
) -> HttpResponseBase:
    """Start a job in which a model reads failures of a list, and lead to its ``page``.

    A refusal leads back to a ``tab`` of the list's groups.
    ``wish`` takes the options of the list, the ids of its failures and what the form was given,
    and returns what is asked of the model.
    """
    # Arrays are slow to import: not when the server starts.
    from analysis.trajectory_index.listing import listing

    allow(request, START)
    allow(request, VIEW)
    asked = read_group_options(request.GET)
    seen = visibility(request)
    form = form_class(request.POST, seen=seen)
    back = with_query(reverse("analysis:trajectory_groups"), asked.full_query) + f"#{tab}"
    if not form.is_valid():
        for name, errors in form.errors.items():
            words = " ".join(map(str, errors))
            messages.error(request, f"{form.fields[name].label or name}: {words}")
        return redirect(back)
    chosen = choose(listing(QueryDict(asked.query), seen), asked)
    given = form.cleaned_data
    try:
        row = services.start_clustering(
            query=asked.query,
            endpoint=given["endpoint"],
            cost_cap=given["cost_cap"],
            token_cap=given["token_cap"],
            seed=asked.seed,
            created_by=person(request),
            **wish(asked, chosen.ids, given),
        )
    except CoreError as error:
        add_error_message(request, error)
        return redirect(back)
    return redirect(f"analysis:{page}", row.pk)


@require_POST
@signed_in
def clusters_new(request: HttpRequest) -> HttpResponseBase:
    """Start a job in which a model names clusters of a list's failures."""
    return start(request, ClusterForm, "clusters", "clusters", _clusters_wish)


def _clusters_wish(
    asked: GroupOptions, ids: Sequence[int], given: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "trajectories": sample_ids(ids, services.MOST_FAILURES, asked.seed),
        "most_clusters": given["most_clusters"],
    }


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def clusters(request: HttpRequest, clustering_id: int) -> HttpResponseBase:
    """Show the clusters with their evidence; POST changes them (``do``)."""
    if request.method == "POST":
        return _change(request, _fetch(request, clustering_id, START))
    row = _fetch(request, clustering_id)
    edits = services.edits_of(row)
    as_named = request.GET.get("as") == "model"
    context = {
        "row": row,
        "under_way": services.is_under_way(row),
        "as_named": as_named,
        "use": use_of_calls(row.calls.all(), row.currency),
        "may_edit": request.user.has_perm(START) and not as_named,
        "history": _history(row, edits),
        "last": last_edit(edits),
        "calls": _calls(row),
        "reported": sorted(
            set(row.calls.exclude(model_reported="").values_list("model_reported", flat=True))
        ),
        "list_url": with_query(reverse("analysis:trajectory_list"), row.query),
        "groups_url": with_query(reverse("analysis:trajectory_groups"), row.query),
        "caps_form": CapsForm(initial={"token_cap": row.token_cap, "cost_cap": row.cost_cap}),
    }
    if row.result is not None:
        shown = (
            model_clusters(row.result)
            if as_named
            else current_clusters(row.result, row.trajectories, edits)
        )
        context |= _shown(row, shown)
    return render(request, "analysis/clusters/clusters.html", context)


@require_safe
@signed_in
def clusters_progress(request: HttpRequest, clustering_id: int) -> HttpResponseBase:
    """Return how far a clustering is; reload the page once it is over."""
    row = _fetch(request, clustering_id)
    context = {
        "row": row,
        "under_way": services.is_under_way(row),
        "use": use_of_calls(row.calls.all(), row.currency),
    }
    response = render(request, "analysis/clusters/_progress.html", context)
    if not context["under_way"]:
        response = HttpResponse(status=STOP_POLLING)
        response["HX-Refresh"] = "true"
    return response


def _shown(row: FailureClustering, clusters: Sequence[Cluster]) -> dict[str, Any]:
    rows = Trajectory.objects.select_related("run__agent", "run__dataset", "task").in_bulk(
        row.trajectories
    )
    notes = row.result["notes"] if row.result else {}

    def evidence(ids: Sequence[int]) -> list[Evidence]:
        return [Evidence(rows[pk], notes.get(str(pk), {})) for pk in ids if pk in rows]

    placed = {pk for cluster in clusters for pk in cluster.members}
    rest = [pk for pk in row.trajectories if pk not in placed]
    listed = reverse("analysis:trajectory_list")
    shown = [
        ShownCluster(
            cluster,
            evidence(cluster.members),
            f"{listed}?ids={','.join(map(str, cluster.members))}",
            len(cluster.members) / len(row.trajectories),
        )
        for cluster in sorted(clusters, key=lambda one: -len(one.members))
    ]
    return {"shown": shown, "rest": evidence(rest), "total": len(row.trajectories)}


def _history(row: FailureClustering, edits: Sequence[Edit]) -> list[dict[str, Any]]:
    """Return the edits in words, the newest first."""
    undone = {edit.detail["edit"] for edit in edits if edit.kind == "undo"}
    names = _names(row, edits)
    rows = ClusterEdit.objects.filter(clustering=row).select_related("by").order_by("-pk")
    return [{"row": one, "words": _words(one, names), "undone": one.pk in undone} for one in rows]


def _names(row: FailureClustering, edits: Sequence[Edit]) -> dict[str, str]:
    """Return the first name of every cluster that there ever was, by key."""
    names = {c.key: c.name for c in model_clusters(row.result)} if row.result else {}
    split = {f"e{edit.pk}": str(edit.detail["name"]) for edit in edits if edit.kind == "split"}
    return names | split


def _words(edit: ClusterEdit, names: Mapping[str, str]) -> str:
    given = edit.detail
    name = names.get(given.get("cluster", ""), "")
    ids = given.get("trajectories", [])
    trajectories = f"{len(ids)} trajector{'y' if len(ids) == 1 else 'ies'}"
    match edit.kind:
        case "rename":
            return f"renamed “{name}” to “{given['name']}”"
        case "merge":
            return f"merged “{name}” into “{names.get(given['into'], '')}”"
        case "split":
            return f"split {trajectories} off into “{given['name']}”"
        case "move":
            to = names.get(given.get("to", ""), "")
            return f"moved {trajectories} " + (f"to “{to}”" if to else "out of their clusters")
    return "undid the last change"


def _calls(row: FailureClustering) -> list[dict[str, Any]]:
    """Return every stored call with what was asked and what came back."""
    rows = list(row.calls.all())
    digests = {digest for call in rows for digest in call.messages}
    messages_by_digest = StoredMessage.objects.in_bulk(list(digests), field_name="digest")
    return [
        {
            "row": call,
            "messages": [messages_by_digest[d] for d in call.messages if d in messages_by_digest],
        }
        for call in rows
    ]


def _change(request: HttpRequest, row: FailureClustering) -> HttpResponseBase:
    """Do what a form of the page asks for; a refusal becomes a message."""
    do, post, user = request.POST.get("do", ""), request.POST, person(request)
    try:
        if do == "resume":
            form = CapsForm(post)
            if not form.is_valid():
                raise services.ClusteringError("the caps are numbers above 0")
            services.resume_clustering(clustering=row, by=user, **form.cleaned_data)
        elif do == "recompute":
            problem = services.recompute(row)
            if problem:
                raise services.ClusteringError(f"Not as stored: {problem}")
            messages.success(request, "The stored replies give the same clusters.")
        else:
            services.edit_clusters(clustering=row, kind=do, detail=_detail(do, post), by=user)
            messages.success(request, "Changed. What the model said is kept.")
    except CoreError as error:
        add_error_message(request, error)
    return redirect("analysis:clusters", row.pk)


def _detail(do: str, post: QueryDict) -> dict[str, Any]:
    ids = [pk for text in post.getlist("trajectory") if (pk := as_id(text)) is not None]
    cluster, name = post.get("cluster", "")[:20], post.get("name", "")
    match do:
        case "rename":
            return {"cluster": cluster, "name": " ".join(name.split())}
        case "merge":
            return {"cluster": cluster, "into": post.get("to", "")[:20]}
        case "split":
            return {"trajectories": ids, "name": " ".join(name.split())}
        case "move":
            return {"trajectories": ids, "to": post.get("to", "")[:20]}
    return {}


@require_safe
@signed_in
def endpoint_clusters(request: HttpRequest, endpoint_id: int) -> HttpResponseBase:
    """Show what naming clusters has used of an endpoint, as a part of the endpoint's page."""
    endpoint = fetch(request, Endpoint.objects.all(), VIEW, pk=endpoint_id)
    calls = ClusterCall.objects.filter(clustering__endpoint=endpoint)
    context = {"use": use_of_calls(calls, endpoint.currency)}
    return render(request, "analysis/_endpoint_clusters.html", context)
