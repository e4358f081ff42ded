"""The page on which administrators see how the server does, retry jobs and try the mail server."""

import platform
from typing import Any

import django
from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.mail import send_mail
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from benchmarks.access import signed_in
from benchmarks.core import plugins
from benchmarks.jobs.selectors import worker_states
from benchmarks.jobs.services import retry_job
from benchmarks.mail import mail_problem
from benchmarks.models import Dataset, Job, Run, Trajectory
from benchmarks.source_digest import sealed_plug_in
from config.operations.probes import readiness

FAILED_SHOWN = 50


class TestMailForm(forms.Form):
    """The address that a test message goes to."""

    to = forms.EmailField(label="Send a test message to", max_length=254)


def _for_administrators(request: HttpRequest) -> None:
    if not request.user.is_superuser:
        raise PermissionDenied("This page is for administrators.")


@signed_in
@require_safe
def server(request: HttpRequest) -> HttpResponse:
    """Show workers, queue, failed jobs, database, disk, versions and plug-ins."""
    _for_administrators(request)
    return _page(request, TestMailForm(initial={"to": getattr(request.user, "email", "")}))


def _page(request: HttpRequest, form: TestMailForm, status: int = 200) -> HttpResponse:
    failed = Job.objects.filter(status=Job.Status.FAILED).select_related("created_by")
    context = {
        "readiness": readiness(),
        "workers": worker_states(),
        "jobs": _counts(Job, Job.Status.QUEUED, Job.Status.RUNNING, Job.Status.FAILED),
        "trajectories": _counts(Trajectory, Trajectory.Status.PENDING, Trajectory.Status.RUNNING),
        "runs": _counts(Run, Run.Status.QUEUED, Run.Status.RUNNING, Run.Status.WAITING),
        "failed": failed[:FAILED_SHOWN],
        "failed_shown": FAILED_SHOWN,
        "versions": (
            ("PlanJury", settings.VERSION),
            ("Python", platform.python_version()),
            ("Django", django.get_version()),
        ),
        "plug_ins": [
            (plug_in, sealed_plug_in(plug_in))
            for plug_in in plugins.loaded
            if plug_in.title not in {one.title for one in plugins.broken}
        ],
        "broken_plug_ins": plugins.broken,
        "has_demo": Dataset.objects.filter(is_demo=True, removed_at=None).exists(),
        "mail_form": form,
        "mail_backend": settings.EMAIL_BACKEND,
        "mail_is_sent": settings.SENDS_MAIL,
        "mail_server": f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}",
        "mail_from": settings.DEFAULT_FROM_EMAIL,
    }
    return render(request, "operations/server.html", context, status=status)


def _counts(model: Any, *statuses: Any) -> list[tuple[str, int]]:
    rows = model.objects.filter(status__in=statuses).order_by().values_list("status")
    counts = dict(rows.annotate(n=Count("pk")))
    return [(status.label, counts.get(status.value, 0)) for status in statuses]


@signed_in
@require_POST
def job_retry(request: HttpRequest, job_id: int) -> HttpResponse:
    """Put a failed job back into the queue."""
    _for_administrators(request)
    job = get_object_or_404(Job, pk=job_id)
    if retry_job(job=job):
        messages.success(request, f"“{job.title}” is queued again.")
    else:
        messages.warning(request, f"“{job.title}” has not failed, so it was left as it is.")
    return redirect("server")


@signed_in
@require_POST
def mail_try(request: HttpRequest) -> HttpResponse:
    """Send one message, and say what the mail server answered."""
    _for_administrators(request)
    form = TestMailForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    to = form.cleaned_data["to"]
    try:
        send_mail(
            "PlanJury: test message",
            f"{request.user.get_username()} tried the mail settings of PlanJury. They work.",
            None,
            [to],
        )
    except (OSError, ValueError) as error:
        # smtplib's errors are OSErrors, too.
        form.add_error("to", f"The message was not sent: {mail_problem(error)}.")
        return _page(request, form, status=422)
    if settings.SENDS_MAIL:
        messages.success(request, f"The mail server accepted the message to {to}.")
    else:
        messages.warning(
            request, "No mail server is set, so the message was written to the server's log."
        )
    return redirect("server")
