"""Send invitations and reminders by mail, after they were shown."""

from collections.abc import Sequence
from functools import partial

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import StudyAccess, fetch_managed_study
from annotation.models import Study
from annotation.people.forms import MailForm
from annotation.people.mail import (
    RENEWED_DAYS,
    NewLink,
    OutgoingMail,
    ReminderRow,
    SentMail,
    address_in,
    keep_one,
    note_mailed,
    note_reminded,
    open_invites,
    reminder_rows,
    reminder_subject,
    reminder_text,
    renew_invite,
    send_letters,
    sends_mail,
)
from annotation.people.views import show_people
from annotation.plans.study_plan import MOST_ANNOTATORS
from annotation.study_frame.context import study_context
from benchmarks.access import signed_in

NO_SERVER = "no mail server is configured (PLANJURY_SMTP_URL)"


@require_POST
@never_cache
@sensitive_post_parameters("token")
@signed_in
def invite_mail(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send the links that were made a moment ago, whose tokens the page has and nobody else."""
    access = fetch_managed_study(request, pk)
    invites = open_invites(access.study, request.POST.getlist("token")[:MOST_ANNOTATORS])
    links = [
        NewLink(invite.label, token, _join_url(request, token)) for token, invite in invites.items()
    ]
    form = MailForm(request.POST, auto_id="id_mail_%s")
    if not sends_mail():
        form.add_error(None, f"Nothing was sent: {NO_SERVER}.")
    if not form.is_valid():
        return show_people(request, access, links=links, mail=form)
    mail = _send(
        access, [OutgoingMail(link.address, partial(str, link.url)) for link in links], form
    )
    for invite in invites.values():
        if address_in(invite.label) in mail.sent:
            note_mailed(invite=invite, by=access.user)
    _tell(request, mail)
    left = [link for link in links if link.address in mail.failed]
    if left:  # their links are shown nowhere else
        return show_people(request, access, links=left, mail=form)
    return redirect("annotation:study_people", pk=pk)


@require_http_methods(["GET", "POST"])
@never_cache
@signed_in
def reminders(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show who has not begun or has stopped, and what a reminder says; a POST sends it."""
    access = fetch_managed_study(request, pk)
    study = access.study
    rows = reminder_rows(study)
    proposed = {"subject": reminder_subject(study), "text": reminder_text(study)}
    form = MailForm(request.POST if request.method == "POST" else None, initial=proposed)
    chosen = {row.key for row in rows if row.proposed}
    if request.method == "POST":
        chosen = {row.key for row in rows if row.address} & set(request.POST.getlist("to"))
        if not chosen:
            form.add_error(None, "Choose somebody whose address is known.")
        if not sends_mail():
            form.add_error(None, f"Nothing was sent: {NO_SERVER}.")
        if study.status in Study.OVER:
            word = study.get_status_display().lower()
            form.add_error(None, f"Nothing was sent: the study is {word}.")
        if form.is_valid():
            _remind(request, access, [row for row in rows if row.key in chosen], form)
            return redirect("annotation:study_reminders", pk=pk)
    context = {
        **study_context(access, "people"),
        "form": form,
        "rows": rows,
        "chosen": chosen,
        "sends_mail": sends_mail(),
        "renewed_days": RENEWED_DAYS,
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/study_reminders.html", context, status=status)


def _remind(
    request: HttpRequest, access: StudyAccess, rows: Sequence[ReminderRow], form: MailForm
) -> None:
    """Send the reminders; a person who did not join yet gets a new link."""
    links: dict[str, str] = {}
    onward = request.build_absolute_uri(reverse("annotation:next_item", args=[access.study.pk]))

    def link_of(row: ReminderRow) -> str:
        if row.invite is None:
            return onward
        links[row.key] = renew_invite(invite=row.invite, by=access.user)
        return _join_url(request, links[row.key])

    mail = _send(access, [OutgoingMail(row.address, partial(link_of, row)) for row in rows], form)
    for row in rows:
        sent = row.address in mail.sent
        if row.user is not None and sent:
            note_reminded(study=access.study, row=row, by=access.user)
        elif row.invite is not None and row.key in links:
            keep_one(old=row.invite, token=links[row.key], sent=sent, by=access.user)
    _tell(request, mail)


def _send(access: StudyAccess, letters: Sequence[OutgoingMail], form: MailForm) -> SentMail:
    given = form.cleaned_data
    return send_letters(letters, subject=given["subject"], text=given["text"], by=access.user)


def _tell(request: HttpRequest, mail: SentMail) -> None:
    if mail.sent:
        count = len(mail.sent)
        messages.success(request, f"{count} mail{'s were' if count > 1 else ' was'} sent.")
    for address, reason in mail.failed.items():
        messages.error(request, f"The mail to {address} was not sent: {reason}.")


def _join_url(request: HttpRequest, token: str) -> str:
    return request.build_absolute_uri(reverse("annotation:join_link", args=[token]))
