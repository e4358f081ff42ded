"""Registrations: the list, the form, one registration with its files, and files from elsewhere."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from analysis.filters import ALL_RUNS, ALL_TASKS, with_query
from analysis.filters.studies import readable_studies
from analysis.models import Registration
from analysis.registrations.document import LARGEST_FILE, Plan, file_text, read_file, sha256
from analysis.registrations.forms import RegistrationForm
from analysis.registrations.gone import gone, registered_study
from analysis.registrations.marks import stored_plan
from analysis.registrations.selectors import registrations_for
from analysis.registrations.services import (
    RegistrationRefused,
    freeze,
    import_registration,
    withdraw,
)
from analysis.registrations.text import as_text, sections
from annotation.access import person
from annotation.models import Study
from benchmarks.access import START, VIEW, allow, signed_in, visibility
from benchmarks.core.problems import FileRefused
from benchmarks.lists.columns import ListColumn, column_choice, list_csv, wants_csv
from benchmarks.models import Dataset, Experiment
from benchmarks.paging import as_id
from benchmarks.responses import add_error_message

MOST_LISTED = 500
COLUMNS = (
    ListColumn("registration", "Registration", {"id": "pk", "registration": "title"}, fixed=True),
    ListColumn("data", "Data", {"dataset": "dataset", "study": "study_name"}),
    ListColumn("digest", "SHA-256", {"sha256": "digest"}),
    ListColumn("registered", "Registered", {"registered": "at"}),
    ListColumn("by", "By", {"by": "by.username"}, usual=False),
)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def registration_list(request: HttpRequest) -> HttpResponseBase:
    """Show all registrations; POST verifies the file of one, or imports it."""
    allow(request, VIEW)
    context: dict[str, Any] = {}
    status = 200
    if request.method == "POST":
        answer = _take_file(request)
        if isinstance(answer, HttpResponseBase):
            return answer
        context, status = answer, 422 if "faults" in answer else 200
    rows = registrations_for(person(request), visibility(request))[:MOST_LISTED]
    if wants_csv(request):
        return list_csv("registrations", COLUMNS, rows)
    columns = column_choice(request, "registrations", COLUMNS)
    context |= {"registrations": rows, "columns": columns, "hidden": columns.hidden}
    return render(request, "analysis/registrations/list.html", context, status=status)


def _take_file(request: HttpRequest) -> HttpResponseBase | dict[str, Any]:
    """Verify or import an uploaded file; return where to go on, or what the page says."""
    upload = request.FILES.get("file")
    if upload is None:
        return {"faults": ["Choose the JSON file of a registration."]}
    data = upload.read(LARGEST_FILE + 1)
    try:
        if request.POST.get("action") == "import":
            allow(request, START)
            row, new = import_registration(data=data, by=person(request))
            word = "Imported" if new else "It is here already"
            messages.success(request, f"{word}: its SHA-256 verifies.")
            return HttpResponseRedirect(registration_url(row))
        document, plan = read_file(data)
    except FileRefused as refused:
        return {"faults": [str(problem) for problem in refused.problems]}
    here = (
        registrations_for(person(request), visibility(request))
        .filter(digest=sha256(document))
        .first()
    )
    context = {"verified": plan, "digest": sha256(document), "here": here}
    return context | {"gone": gone(plan) if here is not None else ""}


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def registration_new(request: HttpRequest) -> HttpResponseBase:
    """Choose the data, then fill in the form; POST freezes the registration."""
    allow(request, VIEW)
    dataset, study = _subject(request)
    if dataset is None and study is None:
        return render(request, "analysis/registrations/choose.html", _subjects(request))
    if dataset is not None:
        allow(request, START)
    form = RegistrationForm(request.POST or None, dataset=dataset, study=study,
                            initial=request.GET.dict())  # fmt: skip
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                row = freeze(values=form.values(), by=person(request), dataset=dataset,
                             study=study)  # fmt: skip
            except FileRefused as refused:
                form.add_faults(refused)
            except RegistrationRefused as error:
                form.add_error(None, str(error))
            else:
                messages.success(request, "Frozen. Pages about these data say how they stand to "
                                 "it from now on.")  # fmt: skip
                return HttpResponseRedirect(registration_url(row))
    context = {"form": form, "dataset": dataset, "study": study}
    return render(request, "analysis/registrations/new.html", context, status=status)


def _subject(request: HttpRequest) -> tuple[Dataset | None, Study | None]:
    """Return the dataset or study that the address names, if the person may see it."""
    if wanted := request.GET.get("dataset", ""):
        rows = visibility(request).of(Dataset.objects.filter(removed_at=None))
        return get_object_or_404(rows, pk=as_id(wanted) or 0), None
    if wanted := request.GET.get("study", ""):
        studies, _ = readable_studies(person(request))
        study = next((study for study in studies if str(study.pk) == wanted), None)
        if study is None:
            raise Http404("There is no such study.")
        return None, study
    return None, None


def _subjects(request: HttpRequest) -> dict[str, Any]:
    """Return the datasets and studies of which the person may register an analysis."""
    datasets = visibility(request).of(Dataset.objects.filter(removed_at=None))
    studies, _ = readable_studies(person(request))
    return {
        "datasets": datasets[:MOST_LISTED] if request.user.has_perm(START) else (),
        "studies": [study for study in studies if not getattr(study, "answered", 0)],
        "answered": sum(bool(getattr(study, "answered", 0)) for study in studies),
    }


@require_safe
@signed_in
def registration(request: HttpRequest, registration_id: int) -> HttpResponseBase:
    """Show what is registered, whether it verifies, and the pages that it is about."""
    row = open_registration(request, registration_id)
    plan, verified = stored_plan(row)
    context = {
        "registration": row,
        "withdrawal": getattr(row, "withdrawal", None),
        "verified": verified,
        "sections": sections(plan) if plan is not None else (),
        "owns": _may_withdraw(request, row),
        **(_pages(row, plan) if plan is not None else {}),
    }
    return render(request, "analysis/registrations/registration.html", context)


def _pages(row: Registration, plan: Plan) -> dict[str, Any]:
    """Return the addresses of pages with the registered filters, or why there are none."""
    query: dict[str, Any] = {"level": plan.level, "condition": plan.condition}
    if plan.study:
        study = registered_study(plan, row.study)
        if study is None:
            return {"gone": f"There is no study “{plan.study}” here: deleted, or not imported."}
        epsilon = plan.epsilon if plan.epsilon in (0.15, 0.2) else ""
        query |= {"study": study.pk, "epsilon": epsilon, "simulated": plan.simulated,
                  "unblinded": plan.unblinded}  # fmt: skip
    else:
        named = {"system": plan.system, "name": plan.dataset, "version": plan.version}
        dataset = Dataset.objects.filter(**named, removed_at=None).first()
        if dataset is None:
            return {"gone": f"There is no {plan.data_name} here: deleted, or not imported."}
        experiment: object = ALL_RUNS
        if plan.experiment:
            rows = Experiment.objects.filter(name=plan.experiment, runs__dataset=dataset)
            experiment = rows.values_list("pk", flat=True).first() or ""
        query |= {"dataset": dataset.pk, "experiment": experiment, "measure": plan.measure,
                  "dimensions": plan.measure if plan.question == "slope" else "",
                  "scores": plan.whose_scores,
                  "tasks": ALL_TASKS if plan.all_tasks else ""}  # fmt: skip
    kept = {name: value for name, value in query.items() if value != ""}
    lost = gone(plan, row.study)
    return {"gone": f"{lost}." if lost else "",
            "pages": [(title, with_query(reverse(f"analysis:{key}"), kept))
                      for key, title in plan.kind.pages.items()]}  # fmt: skip


@require_POST
@signed_in
def registration_withdraw(request: HttpRequest, registration_id: int) -> HttpResponseBase:
    """Withdraw one's own registration, with a reason."""
    row = open_registration(request, registration_id)
    if not _may_withdraw(request, row):
        raise PermissionDenied("Only who registered it withdraws it.")
    try:
        withdraw(row=row, reason=request.POST.get("reason", ""), by=person(request))
    except RegistrationRefused as error:
        add_error_message(request, error)
    else:
        messages.success(request, "Withdrawn. It stays in the list, with your reason.")
    return redirect(registration_url(row))


@require_safe
@signed_in
def registration_file(request: HttpRequest, registration_id: int, ending: str) -> HttpResponseBase:
    """Send a registration as JSON, or as text for a registry."""
    row = open_registration(request, registration_id)
    plan, _ = stored_plan(row)
    if ending == "json":
        response = HttpResponse(
            file_text(row.document, row.digest), content_type="application/json"
        )
    elif plan is None:
        raise Http404("Its document can no longer be read.")
    else:
        response = HttpResponse(as_text(plan, row.digest), content_type="text/plain; charset=utf-8")
    name = f"registration-{row.digest[:12]}.{ending}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def open_registration(request: HttpRequest, registration_id: int) -> Registration:
    """Return a registration that the person may see, or raise 403 or 404."""
    allow(request, VIEW)
    return get_object_or_404(
        registrations_for(person(request), visibility(request)), pk=registration_id
    )


def registration_url(row: Registration) -> str:
    return reverse("analysis:registration", args=[row.pk])


def _may_withdraw(request: HttpRequest, row: Registration) -> bool:
    return row.by_id == request.user.pk or person(request).is_superuser
