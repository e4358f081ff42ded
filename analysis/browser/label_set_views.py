"""Label sets: add one, read its labels, import labels that were put elsewhere, and export them."""

from itertools import chain
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.db.models import Count, Q, QuerySet
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    StreamingHttpResponse,
)
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from analysis.filters import ALL_RUNS
from annotation.access import person
from annotation.errors import Refused
from annotation.imports.labels import COLUMNS, MOST_BYTES, import_labels
from annotation.models import LabelSet, TrajectoryLabel
from annotation.remarks import label_sets as sets
from annotation.remarks.selectors import label_uses, standing_labels
from benchmarks.access import START, VIEW, allow, signed_in, visibility
from benchmarks.core.problems import FileRefused
from benchmarks.models import Trajectory
from benchmarks.tables import csv_lines


class SetForm(forms.Form):
    """A label set as a file."""

    use_required_attribute = False
    file = forms.FileField(
        label="File",
        help_text="YAML with key, title, version, source and labels.",
        widget=forms.FileInput(attrs={"accept": ".yaml,.yml"}),
    )


class LabelsForm(forms.Form):
    """Labels that people put elsewhere, as a file."""

    use_required_attribute = False
    file = forms.FileField(
        label="File",
        help_text=f"CSV or JSON lines with {', '.join(COLUMNS)}; turn and note may be left out.",
        widget=forms.FileInput(attrs={"accept": ".csv,.jsonl"}),
    )

    def clean_file(self) -> Any:
        """Refuse a file that is too large before it is read."""
        file = self.cleaned_data["file"]
        if file.size > MOST_BYTES:
            raise forms.ValidationError(f"At most {MOST_BYTES // 10**6} MB can be imported.")
        return file


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def label_sets(request: HttpRequest) -> HttpResponse:
    """List the sets and those that can be added; POST adds one, by its id or as a file."""
    allow(request, VIEW)
    form, faults = SetForm(), []
    if request.method == "POST":
        form = SetForm(request.POST, request.FILES)
        try:
            if "id" in request.POST:
                text = sets.file_text(request.POST["id"])
            else:
                text = _text_of(form)
            row = sets.add_label_set(text=text, by=person(request))
        except FileRefused as refused:
            faults = [str(problem) for problem in refused.problems]
        except Refused as error:
            faults = [f"{str(error)[:1].upper()}{str(error)[1:]}."]
        else:
            messages.success(request, f"“{row.title}” is offered on trajectories now.")
            return redirect("analysis:label_set", row.key)
    context = {
        "sets": sets.newest_sets(),
        "files": sets.files_to_add(),
        "form": form if not faults else SetForm(),
        "faults": faults,
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "analysis/label_sets.html", context, status=status)


def _text_of(form: SetForm) -> str:
    if not form.is_valid():
        raise Refused("invalid", "choose a file")
    file = form.cleaned_data["file"]
    if file.size > 4 * sets.LONGEST_FILE:
        raise Refused("invalid", f"the file is longer than {sets.LONGEST_FILE:,} characters")
    try:
        text: str = file.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused("invalid", "the file is no UTF-8 text") from None
    return text.replace("\r\n", "\n")


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def label_set(request: HttpRequest, set_key: str) -> HttpResponse:
    """Show a set with its labels; POST imports labels (``file``), or offers the set no more."""
    allow(request, VIEW)
    row = _fetch(set_key)
    form, faults = LabelsForm(), []
    if request.method == "POST":
        allow(request, START)
        if "retired" in request.POST:
            retired = request.POST["retired"] == "1"
            sets.retire_label_set(key=row.key, by=person(request), retired=retired)
            words = "is offered no more; its labels stay" if retired else "is offered again"
            messages.success(request, f"“{row.title}” {words}.")
            return redirect("analysis:label_set", row.key)
        form = LabelsForm(request.POST, request.FILES)
        if form.is_valid():
            file = form.cleaned_data["file"]
            try:
                added = import_labels(
                    name=file.name[:80], raw=file.read(), set_key=row.key, by=person(request),
                    seen=visibility(request),
                )  # fmt: skip
            except FileRefused as refused:
                faults = str(refused).split("\n")
            else:
                messages.success(
                    request,
                    f"{added:,} label{'' if added == 1 else 's'} imported."
                    if added
                    else "All labels of the file are here already.",
                )
                return redirect("analysis:label_set", row.key)
    labels = sets.labels_of(row.key)
    uses = {use.label.pk: use for use in label_uses(_visible(request), set_key=row.key)}
    heads = sets.headings(labels)
    counted = put_labels(request, row.key).values_list("trajectory__run__dataset").order_by()
    most = counted.annotate(n=Count("pk")).order_by("-n", "trajectory__run__dataset").first()
    choice = {"dataset": str(most[0]), "experiment": ALL_RUNS} if most else {}
    context = {
        "row": row,
        "page_query": urlencode({"label_set": row.key, **choice}),
        "labels": [
            {"label": label, "heading": label.pk in heads, "use": uses[label.pk]}
            for label in labels
        ],
        "offered": any(not label.retired for label in labels),
        "may_change": request.user.has_perm(START),
        "form": form,
        "faults": faults,
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "analysis/label_set.html", context, status=status)


@require_safe
@signed_in
def label_set_csv(request: HttpRequest, set_key: str) -> HttpResponseBase:
    """Return the labels of a set on trajectories that the reader may see, as the import reads."""
    allow(request, VIEW)
    row = _fetch(set_key)
    rows = put_labels(request, row.key)
    lines = (
        (
            put.trajectory_id,
            put.label.key.removeprefix(f"{row.key}_"),
            put.by.get_username(),
            put.turn,
            put.note,
        )
        for put in rows.iterator()
    )
    content = csv_lines(chain([COLUMNS], lines))
    response = StreamingHttpResponse(content, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="labels-{row.key}.csv"'
    response["Cache-Control"] = "private, no-cache"
    return response


def put_labels(request: HttpRequest, set_key: str) -> QuerySet[TrajectoryLabel]:
    """Return the labels of a set that are on now, where the reader may see the trajectory."""
    seen = visibility(request)
    rows = standing_labels().filter(label__label_set__key=set_key).select_related("label", "by")
    if seen.closed:
        rows = rows.filter(trajectory__in=seen.of(Trajectory.objects.all()))
    return rows.order_by("pk")


def _fetch(key: str) -> LabelSet:
    row = LabelSet.objects.filter(key=key).select_related("made_by").order_by("-version").first()
    if row is None:
        raise Http404("There is no such label set.")
    return row


def _visible(request: HttpRequest) -> Any:
    seen = visibility(request)
    return Q(trajectory__in=seen.of(Trajectory.objects.all())) if seen.closed else None
