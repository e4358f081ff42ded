"""Pages for members, invitations and messages, and the page of one annotator."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import StudyAccess, fetch_managed_study, fetch_overseen_study
from annotation.annotator_quality.rule import PAUSE, TRAIN, WARN
from annotation.annotator_quality.services import act_on_work
from annotation.assignments.selectors import active_annotators
from annotation.designs.types import NAMED, name_some
from annotation.errors import Refused
from annotation.messages.forms import MessageForm
from annotation.messages.services import send_message
from annotation.models import Assignment, Membership, Participant, Study
from annotation.people.forms import InviteForm, MailForm, MemberForm, ReassignForm
from annotation.people.invitations import (
    USUAL_DAYS,
    make_invite,
    make_place_links,
    revoke_invite,
)
from annotation.people.mail import NewLink, invitation_subject, invitation_text, sends_mail
from annotation.people.selectors import invite_rows, overseers_of
from annotation.people.services import (
    pause_annotator,
    reassign_items,
    resume_annotator,
    return_open_items,
)
from annotation.people.withdrawal import remove_member
from annotation.studies.places import free_lists, place_name
from annotation.studies.progress import annotator_progress, count_unassigned, study_progress
from annotation.studies.setup import add_member
from annotation.study_frame.context import attempt, blind_reader, study_context
from annotation.submissions.selectors import submissions_of
from annotation.submissions.services import (
    refill_assignments,
    submitted_items,
    void_submissions,
)
from annotation.training.services import release_training
from benchmarks.access import signed_in
from benchmarks.core.digests import storable
from benchmarks.lists.columns import ListColumn, column_choice, list_csv, wants_csv

Role = Membership.Role
ANNOTATOR_COLUMNS = (
    ListColumn(
        "annotator",
        "Annotator",
        {"number": "number", "annotator": "username", "simulated": "is_simulated"},
        fixed=True,
    ),
    ListColumn("stage", "Stage", {"stage": "stage"}),
    ListColumn("submitted", "Submitted", {"submitted": "counts.submitted"}),
    ListColumn("gold", "Gold", {"gold": "counts.gold"}),
    ListColumn("open", "Open", {"open": "counts.open"}),
    ListColumn("seen", "Last seen", {"last_seen": "last_seen"}),
)
# Of somebody with more open items than this the first ones are listed.
MOST_LISTED = 200


@require_http_methods(["GET", "POST"])
@never_cache
@signed_in
def people(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show everybody with their roles; a POST adds people who have accounts."""
    access = fetch_overseen_study(request, pk)
    if request.method == "GET" and wants_csv(request):
        progress = study_progress(access.study, blind=blind_reader(access))
        return list_csv(f"study-{pk}-people", ANNOTATOR_COLUMNS, progress.people)
    if request.method == "GET":
        return show_people(request, access)
    access = fetch_managed_study(request, pk)
    form = MemberForm(request.POST)
    if form.is_valid():
        try:
            added = _add(access, form.cleaned_data["names"], form.cleaned_data["role"])
        except Refused as refused:
            form.add_error(None, f"Nobody was added: {refused.reason}.")
        else:
            role = Role(form.cleaned_data["role"]).label.lower()
            an = "an" if role[0] in "ao" else "a"
            message = (
                f"{name_some(added)} {f'is {an} {role}' if len(added) == 1 else f'are {role}s'}"
            )
            message = f"{message} now." if added else f"They are {role}s already."
            if role == "annotator":
                message += "".join(_told_places(access.study, added))
            messages.success(request, message)
            return redirect("annotation:study_people", pk=pk)
    return show_people(request, access, members=form)


def _add(access: StudyAccess, users: list[User], role: str) -> list[str]:
    """Give a role; returns the names of those who did not have it."""
    before = set(access.study.memberships.filter(role=role).values_list("user", flat=True))
    with transaction.atomic():
        for user in users:
            add_member(study=access.study, user=user, role=role, by=access.user)
    return [user.get_username() for user in users if user.pk not in before]


def _told_places(study: Study, added: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each of a few new annotators of a study with lists: whose they got."""
    claimed = dict(study.places.filter(user__username__in=added).values_list(
        "user__username", "number"
    ))  # fmt: skip
    for name in added[:NAMED] if study.places.exists() else ():
        yield (
            f" {name} has the list of {place_name(claimed[name])}."
            if name in claimed
            else f" {name} has no list: none was free."
        )


def show_people(
    request: HttpRequest,
    access: StudyAccess,
    *,
    members: MemberForm | None = None,
    invites: InviteForm | None = None,
    links: Sequence[NewLink] = (),
    mail: MailForm | None = None,
) -> HttpResponse:
    """Show the page of a study's people, with links that were made a moment ago."""
    columns = column_choice(request, "annotators", ANNOTATOR_COLUMNS)
    context = {
        **study_context(access, "people"),
        "columns": columns,
        "hidden": columns.hidden,
        "live": access.study.is_live,
        "progress": study_progress(access.study, blind=blind_reader(access)),
        "overseers": overseers_of(access.study),
    }
    if access.manages:
        lists = free_lists(access.study)
        context |= {
            "members": members or MemberForm(initial={"role": Role.ANNOTATOR}),
            "invite_form": invites or InviteForm(auto_id="id_invite_%s"),
            "invites": invite_rows(access.study),
            "links": links,
            "mail": mail,
            "mailed_to": [link for link in links if link.address],
            "sends_mail": sends_mail(),
            "free": count_unassigned(access.study) if _fixed(access) else None,
            "places": lists,
            "unlinked": sum(not row.linked for row in lists),
        }
    failed = any(form is not None and form.errors for form in (members, invites, mail))
    return render(request, "annotation/study_people.html", context, status=422 if failed else 200)


def _fixed(access: StudyAccess) -> bool:
    """Return whether everybody has a list of their own, so that people who join later have none."""
    named = access.study.dealing == Study.Dealing.NAMED
    return named and not access.study.is_live


@require_POST
@signed_in
def member_remove(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Take a role from somebody who is no annotator; annotators leave by a page of their own."""
    access = fetch_managed_study(request, pk)
    role, user = (storable(request.POST.get(name, "")) for name in ("role", "user"))
    rows = access.study.memberships.exclude(role=Role.ANNOTATOR).select_related("user")
    membership = get_object_or_404(rows, role=role, user__username=user)

    def do() -> str:
        remove_member(study=access.study, user=membership.user, role=role, by=access.user)
        return f"{membership.user.get_username()} is {Role(role).label.lower()} no more."

    attempt(request, do)
    left = membership.user_id == access.user.pk and not access.user.is_superuser
    return redirect("annotation:study_list") if left else redirect("annotation:study_people", pk=pk)


# --- Invites --------------------------------------------------------------------------------------


@require_POST
@never_cache
@signed_in
def invite_make(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Make links, all or none; they are in the answer to the form and nowhere after that."""
    access = fetch_managed_study(request, pk)
    if "lists" in request.POST:
        return _link_places(request, access)
    if "shared" in request.POST:
        return _link_for_all(request, access)
    form = InviteForm(request.POST, auto_id="id_invite_%s")
    links: list[NewLink] = []
    if form.is_valid():
        given = form.cleaned_data
        try:
            with transaction.atomic():
                for label in given["label"]:
                    token = make_invite(
                        study=access.study, by=access.user, role=given["role"], label=label,
                        days=given["days"],
                    )  # fmt: skip
                    links.append(_new_link(request, label, token))
        except Refused as refused:
            links = []
            form.add_error(None, f"No link was made: {refused.reason}.")
    mail = None
    if sends_mail() and any(link.address for link in links):
        text = invitation_text(access.study, access.user, form.cleaned_data["days"])
        proposed = {"subject": invitation_subject(access.study), "text": text}
        mail = MailForm(initial=proposed, auto_id="id_mail_%s")
    return show_people(request, access, invites=None if links else form, links=links, mail=mail)


def _link_places(request: HttpRequest, access: StudyAccess) -> HttpResponseBase:
    """Make a link for each free list that has none."""
    try:
        links = make_place_links(study=access.study, days=USUAL_DAYS, by=access.user)
    except Refused as refused:
        messages.error(request, f"No link was made: {refused.reason}.")
        return redirect("annotation:study_people", pk=access.study.pk)
    return show_people(request, access, links=[_new_link(request, *row) for row in links])


def _link_for_all(request: HttpRequest, access: StudyAccess) -> HttpResponseBase:
    """Make one link for everybody who comes to the sessions of a study."""
    label = "everybody who comes"
    try:
        token = make_invite(
            study=access.study, role=Membership.Role.ANNOTATOR, label=label, days=USUAL_DAYS,
            by=access.user, shared=True,
        )  # fmt: skip
    except Refused as refused:
        messages.error(request, f"No link was made: {refused.reason}.")
        return redirect("annotation:study_people", pk=access.study.pk)
    return show_people(request, access, links=[_new_link(request, label, token)])


def _new_link(request: HttpRequest, label: str, token: str) -> NewLink:
    url = request.build_absolute_uri(reverse("annotation:join_link", args=[token]))
    return NewLink(label, token, url)


@require_POST
@signed_in
def invite_revoke(request: HttpRequest, pk: int, invite_id: int) -> HttpResponseBase:
    """Make a link that nobody has used useless."""
    access = fetch_managed_study(request, pk)
    invite = get_object_or_404(access.study.invites, pk=invite_id)

    def do() -> str:
        revoke_invite(invite=invite, by=access.user)
        return "The link is revoked: it lets nobody in any more."

    attempt(request, do)
    return redirect("annotation:study_people", pk=pk)


# --- One annotator --------------------------------------------------------------------------------


@require_GET
@signed_in
def annotator(request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
    """Show where one annotator stands, and what can be done about it."""
    access = fetch_overseen_study(request, pk)
    return _annotator(request, access, _fetch_participant(access, number))


def _annotator(
    request: HttpRequest,
    access: StudyAccess,
    annotator: Participant,
    *,
    reassign: ReassignForm | None = None,
    message: MessageForm | None = None,
) -> HttpResponse:
    assignments = _open_assignments(access, annotator)
    row = annotator_progress(access.study, annotator, blind=access.blind)
    if annotator.user_id == access.user.pk and access.blind:
        row = replace(row, signs=())
    context = {
        **study_context(access, "people"),
        "annotator": annotator,
        "row": row,
        "assignments": assignments,
        "submissions": [] if access.blind else submissions_of(access.study, annotator),
        "now": timezone.now(),
    }
    if annotator.state == Participant.State.WITHDRAWN and not annotator.refilled:
        context["refills"] = len(submitted_items(access.study, annotator.user))
    if access.manages:
        context |= {
            "message": message
            or MessageForm(people=[annotator], initial={"to": str(annotator.number)}),
            "reassign": reassign or _reassign_form(access, annotator, assignments),
        }
    failed = any(form is not None and form.errors for form in (reassign, message))
    return render(request, "annotation/annotator.html", context, status=422 if failed else 200)


def _fetch_participant(access: StudyAccess, number: int) -> Participant:
    rows = access.study.participants.select_related("user__annotator")
    annotator = rows.filter(number=number).first()
    if annotator is None:
        raise Http404
    return annotator


def _open_assignments(access: StudyAccess, annotator: Participant) -> list[Assignment]:
    rows = Assignment.objects.filter(
        study=access.study, annotator=annotator.user, part=Assignment.Part.MAIN,
        state=Assignment.State.OPEN,
    )  # fmt: skip
    return list(rows.select_related("item__task").order_by("position")[:MOST_LISTED])


def _reassign_form(
    access: StudyAccess, annotator: Participant, assignments: list[Assignment], data: Any = None
) -> ReassignForm:
    others = [person for person in active_annotators(access.study) if person.pk != annotator.pk]
    return ReassignForm(
        data, positions=[assignment.position for assignment in assignments], people=others
    )


@require_POST
@signed_in
def annotator_change(request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
    """Do what the pressed button says about one annotator."""
    access = fetch_managed_study(request, pk)
    annotator = _fetch_participant(access, number)
    action = request.POST.get("action", "")
    if action == "reassign":
        return _reassign(request, access, annotator)
    if action == "message":
        return _message(request, access, annotator)
    reason = storable(request.POST.get("reason", ""))
    if action == "void":
        attempt(request, lambda: _void(request, access, annotator, reason))
    else:
        attempt(request, lambda: _act(access, annotator, action, reason))
    if request.POST.get("back") == "study":
        return redirect("annotation:study", pk=pk)
    return redirect("annotation:annotator", pk=pk, number=number)


def _act(access: StudyAccess, annotator: Participant, action: str, reason: str) -> str:
    study, user, by = access.study, annotator.user, access.user
    name = user.get_username()
    match action:
        case "pause":
            pause_annotator(study=study, user=user, by=by, reason=reason)
            return f"{name} is paused. What they answer waits in their browser."
        case "resume":
            resume_annotator(study=study, user=user, by=by, reason=reason)
            return f"{name} can go on."
        case "warn":
            act_on_work(study=study, user=user, action=WARN, by=by, reason=reason)
            return f"{name} is warned by a message."
        case "train":
            act_on_work(study=study, user=user, action=TRAIN, by=by, reason=reason)
            return f"{name} goes through the training again before they continue."
        case "stop":
            act_on_work(study=study, user=user, action=PAUSE, by=by, reason=reason)
            return f"{name} is paused, and told why by a message."
        case "refill":
            count = refill_assignments(study=study, user=user, by=by, reason=reason)
            return f"{count} item{'s' if count > 1 else ''} can be judged by others."
        case "return":
            count = return_open_items(study=study, user=user, by=by, reason=reason)
            return f"{count} item{'s' if count > 1 else ''} came back, and {name} is paused."
        case "release":
            release_training(study=study, user=user, by=by, reason=reason)
            return f"{name} may begin with the items."
    raise Refused("invalid", "the form does not say what to do")


def _void(request: HttpRequest, access: StudyAccess, annotator: Participant, reason: str) -> str:
    """Void the selected submissions, unless the manager annotates the study blind."""
    if access.blind:
        raise Refused("not_yours", "you annotate this study blind and do not see other answers")
    chosen = set(request.POST.getlist("submitted"))
    rows = [row for row in submissions_of(access.study, annotator) if str(row.position) in chosen]
    count = void_submissions(assignments=rows, by=access.user, reason=reason)
    are = "submission is" if count == 1 else "submissions are"
    return f"{count} {are} voided. {'Its item is' if count == 1 else 'Their items are'} free again."


def _reassign(
    request: HttpRequest, access: StudyAccess, annotator: Participant
) -> HttpResponseBase:
    assignments = _open_assignments(access, annotator)
    form = _reassign_form(access, annotator, assignments, request.POST)
    if not form.is_valid():
        return _annotator(request, access, annotator, reassign=form)
    chosen = set(form.cleaned_data["items"])
    try:
        count = reassign_items(
            study=access.study,
            assignments=[assignment for assignment in assignments if assignment.position in chosen],
            to=form.recipient,
            by=access.user,
            reason=form.cleaned_data["reason"],
        )
    except Refused as refused:
        form.add_error(None, f"Nothing was changed: {refused.reason}.")
        return _annotator(request, access, annotator, reassign=form)
    message = f"{count} item{'s' if count > 1 else ''} went to {form.recipient.get_username()}."
    messages.success(request, message)
    return redirect("annotation:annotator", pk=access.study.pk, number=annotator.number)


def _message(request: HttpRequest, access: StudyAccess, annotator: Participant) -> HttpResponseBase:
    form = MessageForm({**request.POST.dict(), "to": str(annotator.number)}, people=[annotator])
    if form.is_valid():
        try:
            send_message(
                study=access.study,
                to=annotator.user,
                text=form.cleaned_data["text"],
                by=access.user,
            )
        except Refused as refused:
            form.add_error("text", f"Not sent: {refused.reason}.")
    if form.errors:
        return _annotator(request, access, annotator, message=form)
    messages.success(request, f"The message to {annotator.user.get_username()} is sent.")
    return redirect("annotation:annotator", pk=access.study.pk, number=annotator.number)
