"""The page that groups a list's failures by their words, with its figures and tables."""

from typing import TYPE_CHECKING

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from analysis.browser.clusters.views import ClusterForm, clusterings_of
from analysis.browser.groups.failure_groups import (
    AMONG,
    FEWEST,
    LARGEST_SEED,
    MOST,
    TEXTS,
    GroupedTrajectories,
    GroupOptions,
    choose,
    read_group_options,
    wanted_groups,
)
from analysis.browser.questions.views import QuestionForm, questions_of
from analysis.exports.responses import answer_figure, answer_table, poll_deferred
from analysis.filters import with_query
from analysis.pages.saved_views.selectors import GROUPS, saved_views
from analysis.reports.content import Report
from analysis.reports.deferred_reports import (
    DeferredReport,
    ReportRequest,
    find_deferred,
    kept_deferred,
)
from analysis.reports.stored_reports import with_state
from analysis.trajectory_index.services import index_job
from annotation.access import person
from benchmarks.access import START, VIEW, allow, signed_in, visibility
from benchmarks.responses import wants_fragment

if TYPE_CHECKING:
    from analysis.trajectory_index.listing import Listing

WORDS = "Reading and grouping the texts takes some seconds, so it is done in the background."


@require_safe
@signed_in
def trajectory_groups(request: HttpRequest) -> HttpResponseBase:
    """Show one sentence, each group with its words, models and typical turns."""
    asked, chosen, wanted, listed = _open(request)
    context = {
        "asked": asked,
        "chosen": chosen,
        "chips": listed.query.chips,
        "state": listed.state,
        "job": index_job() if listed.state.unread else None,
        "list_url": with_query(reverse("analysis:trajectory_list"), asked.query),
        "plain_url": reverse("analysis:trajectory_groups"),
        "kept": list(QueryDict(asked.query).lists()),
        "among": AMONG.items(),
        "texts": TEXTS.items(),
        "numbers": range(FEWEST, MOST + 1),
        "largest_seed": LARGEST_SEED,
        "saved": saved_views(
            page=GROUPS, query=asked.full_query, user=person(request), seen=visibility(request)
        ),
        "clusterings": clusterings_of(asked.query, visibility(request)),
        "cluster_form": ClusterForm(seen=visibility(request))
        if request.user.has_perm(START)
        else None,
        "questions": questions_of(asked.query, visibility(request)),
        "question_form": QuestionForm(seen=visibility(request))
        if request.user.has_perm(START)
        else None,
        "question_url": with_query(reverse("analysis:question_new"), asked.full_query),
        "cluster_url": with_query(reverse("analysis:clusters_new"), asked.full_query),
        **_context(asked, chosen, find_deferred(wanted)),
    }
    return render(request, "analysis/groups.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def trajectory_groups_later(request: HttpRequest) -> HttpResponseBase:
    """Start making the groups on POST; tell on GET how far they are."""
    asked, chosen, wanted, _ = _open(request)
    state = poll_deferred(request, wanted)
    if state is None:
        return HttpResponse(status=204)
    if not wants_fragment(request):
        return redirect(_url("trajectory_groups", asked))
    return render(request, "analysis/_deferred.html", _context(asked, chosen, state))


@require_safe
@signed_in
def trajectory_groups_figure(request: HttpRequest, part: str) -> HttpResponseBase:
    """Show a figure as JSON."""
    _, _, wanted, _ = _open(request)
    return answer_figure(
        request,
        wanted.key,
        part,
        lambda: _ready_report(wanted),
        lambda state: (kept_deferred(state),),
    )


@require_safe
@signed_in
def trajectory_groups_table(request: HttpRequest, part: str) -> HttpResponseBase:
    """Show a table as CSV."""
    asked, _, wanted, _ = _open(request)
    return answer_table(_ready_report(wanted), part, ["groups", part, f"seed-{asked.seed}"])


def _open(
    request: HttpRequest,
) -> tuple[GroupOptions, GroupedTrajectories, ReportRequest, "Listing"]:
    """Authorise, then find what the address is about, and its list."""
    # Arrays are slow to import: not when the server starts.
    from analysis.trajectory_index.listing import listing

    allow(request, VIEW)
    asked = read_group_options(request.GET)
    listed = listing(QueryDict(asked.query), visibility(request))
    chosen = choose(listed, asked)
    return asked, chosen, wanted_groups(asked, chosen, visibility(request)), listed


def _ready_report(wanted: ReportRequest) -> Report:
    report = find_deferred(wanted).report
    if report is None:
        raise Http404("This is not computed yet.")
    return report


def _url(name: str, asked: GroupOptions, **more: str) -> str:
    return with_query(reverse(f"analysis:{name}", kwargs=more), asked.full_query)


def _context(
    asked: GroupOptions, chosen: GroupedTrajectories, state: DeferredReport
) -> dict[str, object]:
    """Return what the fragment shows: the report, or how far it is."""
    context: dict[str, object] = {
        "deferred": state,
        "deferred_url": _url("trajectory_groups_later", asked),
        "deferred_folded": True,
        "deferred_settled": chosen.settled,
        "deferred_words": WORDS if chosen.settled else "",
    }
    report, key = state.report, state.wanted.key
    if report is not None:
        context |= {
            "deferred_figures": [
                (f, with_state(_url("trajectory_groups_figure", asked, part=f.name), key))
                for f in report.figures
            ],
            "deferred_tables": [
                (t, _url("trajectory_groups_table", asked, part=t.name)) for t in report.tables
            ],
        }
    return context
