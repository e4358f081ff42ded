"""Questions about trajectories: ask a model, check its answers without seeing them, read both."""

import csv
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from analysis.browser.clusters import services
from analysis.browser.clusters.views import ClusterForm, fetch_clustering, start
from analysis.browser.groups.failure_groups import MOST_TEXTS, GroupOptions
from analysis.browser.questions.episode import ANSWERS
from analysis.browser.questions.texts import question_texts
from analysis.filters import with_query
from analysis.frames.questions import LEAST_CHECKED, answered_question, visible
from analysis.models import FailureClustering, QuestionCheck
from annotation.access import person
from benchmarks.access import START, VIEW, signed_in
from benchmarks.calls.use import use_of_calls
from benchmarks.core.errors import CoreError
from benchmarks.models import Trajectory
from benchmarks.responses import add_error_message
from benchmarks.tables import cell
from benchmarks.visibility import Visibility

LISTED = 10
STOP_POLLING = 286


class QuestionForm(ClusterForm):
    """The form for a question: its words, the model, how many are asked about first, the cap."""

    field_order = ("question", "endpoint", "part", "token_cap", "cost_cap")
    question = forms.CharField(
        max_length=services.LONGEST_QUESTION,
        help_text="A statement that holds of a trajectory or not, such as: ends politely without "
        "a plan.",
    )
    part = forms.IntegerField(
        label="Ask about, at random",
        initial=40,
        min_value=1,
        max_value=services.MOST_ASKED,
        help_text="People check these first; the others can be asked about later.",
    )

    def __init__(self, data: Any = None, *, seen: Visibility) -> None:
        super().__init__(data, seen=seen)
        del self.fields["most_clusters"]


class MoreForm(forms.Form):
    """How many trajectories are to be asked about in all, under which caps."""

    use_required_attribute = False
    part = forms.IntegerField(label="Ask about, in all", min_value=1)
    token_cap = forms.IntegerField(label="Cap on tokens", required=False, min_value=1)
    cost_cap = forms.FloatField(label="Cap on cost", required=False, min_value=0)


def questions_of(query: str, seen: Visibility) -> list[FailureClustering]:
    """Return the newest questions about a list, as far as all its trajectories may be seen."""
    rows = FailureClustering.objects.filter(query=query).exclude(question="")
    return [row for row in rows.select_related("endpoint")[:LISTED] if visible(row, seen)]


def _fetch(request: HttpRequest, question_id: int, permission: str = VIEW) -> FailureClustering:
    rows = FailureClustering.objects.exclude(question="")
    return fetch_clustering(request, rows, question_id, permission)


@require_POST
@signed_in
def question_new(request: HttpRequest) -> HttpResponseBase:
    """Have a model asked a question about a random part of a list's failures."""
    return start(request, QuestionForm, "question", "questions", question_wish)


def question_wish(
    asked: GroupOptions, ids: Sequence[int], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what is asked about these failures: the first ``part`` in an order by the seed."""
    # Arrays are slow to import: not when the server starts.
    import numpy as np

    order = np.random.default_rng(asked.seed).permutation(np.array(ids, dtype=np.int64))
    return {
        "trajectories": order[:MOST_TEXTS].tolist(),
        "question": " ".join(given["question"].split()),
        "part": min(given["part"], len(order)),
    }


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def question(request: HttpRequest, question_id: int) -> HttpResponseBase:
    """Show a question: how far it is, how right the model is, what is missing; POST acts."""
    if request.method == "POST":
        return _act(request, question_id)
    row = _fetch(request, question_id)
    answered = answered_question(row)
    looked = _looked(row, request)
    given = (row.result or {}).get("answers", {})
    mine = dict(
        row.checks.filter(by=person(request), trajectory__isnull=False)
        .order_by("pk")
        .values_list("trajectory", "answer")
    )
    shown = [pk for pk in row.trajectories if str(pk) in given and (looked or pk in mine)]
    rows = Trajectory.objects.select_related("run__agent", "task").in_bulk(shown)
    counts = dict.fromkeys((*ANSWERS, "undefined"), 0)
    for one in given.values():
        counts[one["answer"] or "undefined"] += 1
    context = {
        "row": row,
        "answered": answered,
        "quality": answered.quality,
        "rates": [
            ("Precision", answered.quality.precision),
            ("Recall", answered.quality.recall),
            ("Accuracy", answered.quality.accuracy),
        ],
        "least": LEAST_CHECKED,
        "counts": counts.items(),
        "total": len(given),
        "population": len(row.trajectories),
        "under_way": services.is_under_way(row),
        "use": use_of_calls(row.calls.all(), row.currency),
        "looked": looked,
        "answers": [(rows[pk], given[str(pk)], mine.get(pk, "")) for pk in shown if pk in rows],
        "next": None if looked else _next(row, request),
        "may_change": request.user.has_perm(START),
        "more_form": MoreForm(
            initial={
                "part": len(row.trajectories),
                "token_cap": row.token_cap,
                "cost_cap": row.cost_cap,
            }
        ),
        "groups_url": with_query(reverse("analysis:trajectory_groups"), row.query),
    }
    return render(request, "analysis/questions/question.html", context)


def _act(request: HttpRequest, question_id: int) -> HttpResponseBase:
    """Show the answers to somebody (who checks no more), ask about more, go on, recompute."""
    do = request.POST.get("do", "")
    if do == "look":
        row = _fetch(request, question_id)
        if not _looked(row, request):
            QuestionCheck.objects.create(question=row, by=person(request), answer="looked")
        return redirect("analysis:question", row.pk)
    row = _fetch(request, question_id, START)
    try:
        if do == "recompute":
            if problem := services.recompute(row):
                raise services.ClusteringError(f"Not as stored: {problem}")
            messages.success(request, "The stored replies give the same answers.")
        else:
            form = MoreForm(request.POST)
            form.fields["part"].required = do == "more"
            if not form.is_valid():
                raise services.ClusteringError("the number and the caps are numbers above 0")
            caps = {name: form.cleaned_data[name] for name in ("token_cap", "cost_cap")}
            if do == "more":
                part = form.cleaned_data["part"]
                services.ask_more(question=row, part=part, by=person(request), **caps)
            else:
                services.resume_clustering(clustering=row, by=person(request), **caps)
    except CoreError as error:
        add_error_message(request, error)
    return redirect("analysis:question", row.pk)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def question_check(request: HttpRequest, question_id: int) -> HttpResponseBase:
    """Show the next trajectory without the model's answer; POST stores the person's."""
    row = _fetch(request, question_id)
    if request.method == "POST":
        answer, pk = request.POST.get("answer", ""), request.POST.get("trajectory", "")
        asked = {str(one): one for one in row.trajectories[: row.part]}
        if answer not in ANSWERS or pk not in asked:
            raise Http404("There is no such answer.")
        QuestionCheck.objects.create(
            question=row, trajectory_id=asked[pk], by=person(request), answer=answer
        )
        return redirect("analysis:question_check", row.pk)
    following = None if _looked(row, request) else _next(row, request)
    if following is None:
        return redirect("analysis:question", row.pk)
    texts = question_texts([following])
    checked = row.checks.filter(by=person(request), trajectory__isnull=False)
    context = {
        "row": row,
        "trajectory": following,
        "text": texts[0].text if texts else "",
        "answers": ANSWERS,
        "checked": checked.values("trajectory").distinct().count(),
        "total": len(row.trajectories[: row.part]),
    }
    return render(request, "analysis/questions/check.html", context)


@require_safe
@signed_in
def question_progress(request: HttpRequest, question_id: int) -> HttpResponseBase:
    """Return how far a question is; reload the page once it is over."""
    row = _fetch(request, question_id)
    context = {
        "row": row,
        "under_way": services.is_under_way(row),
        "use": use_of_calls(row.calls.all(), row.currency),
    }
    if context["under_way"]:
        return render(request, "analysis/questions/_progress.html", context)
    response = HttpResponse(status=STOP_POLLING)
    response["HX-Refresh"] = "true"
    return response


@require_safe
@signed_in
def question_csv(request: HttpRequest, question_id: int) -> HttpResponseBase:
    """Return the model's answers and people's as CSV, for somebody who has looked at them."""
    row = _fetch(request, question_id)
    if not _looked(row, request):
        raise Http404("Look at the answers first: whoever has seen them checks no more.")
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="question-{row.pk}.csv"'
    response["Cache-Control"] = "private, no-cache"
    writer = csv.writer(response)
    writer.writerow(["trajectory", "who", "answer", "quote", "turn", "reason"])
    for pk, one in (row.result or {}).get("answers", {}).items():
        values = (pk, "model", one["answer"] or "", one["quote"], one["turn"], one["reason"])
        writer.writerow([cell(value) for value in values])
    checks = row.checks.filter(trajectory__isnull=False).select_related("by").order_by("pk")
    for check in checks:
        who = check.by.get_username() if check.by else ""
        writer.writerow([cell(value) for value in (check.trajectory_id, who, check.answer)])
    return response


def _looked(row: FailureClustering, request: HttpRequest) -> bool:
    """Return whether this person has looked at the model's answers."""
    return row.checks.filter(by=person(request), trajectory=None).exists()


def _next(row: FailureClustering, request: HttpRequest) -> int | None:
    """Return the first trajectory of the random order that this person has not answered."""
    mine = row.checks.filter(by=person(request), trajectory__isnull=False)
    checked = set(mine.values_list("trajectory", flat=True))
    return next((pk for pk in row.trajectories[: row.part] if pk not in checked), None)
