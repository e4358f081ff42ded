"""Confirmation pages: leave or rejoin a study, lift blinding, erase a person.

Each page says what will happen, asks for a reason, and acts on POST.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotation.access import StudyAccess, fetch_managed_study, fetch_study, person
from annotation.errors import Refused
from annotation.models import Assignment, Participant
from annotation.people.erasure import (
    erase_invitee,
    erase_person,
    find_account,
    find_invitee,
    stored_data_of,
    tombstone,
)
from annotation.people.forms import EraseForm, ReasonForm
from annotation.people.services import unblind_annotator, unblind_study
from annotation.people.withdrawal import restore_annotator, withdraw_annotator
from annotation.submissions.services import submitted_items
from benchmarks.access import signed_in


class Confirmation(NamedTuple):
    """A thing to be done: what the page says, what the button does, and where it leads."""

    title: str
    points: Sequence[str]
    button: str
    done: str
    do: Callable[[str, bool], None]
    back: str
    danger: bool = True
    needs_reason: bool = True
    reason_help: str = ""
    # A choice beside the reason: its label and what it means; empty where there is none.
    choice: str = ""
    choice_help: str = ""


@require_http_methods(["GET", "POST"])
@signed_in
def leave(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Withdraw an annotator who asks for it."""
    access = fetch_study(request, pk)
    if not access.annotates:
        raise Http404
    study, user = access.study, access.user
    act = Confirmation(
        title="Withdraw from this study",
        points=[
            "You can stop at any time, without giving a reason and without disadvantage.",
            "Items that you have not submitted can be assigned to somebody else.",
            "Your submitted answers stay stored under your number in the study. Analyses and their "
            "exports leave them out.",
            "To have your name and your texts erased as well, ask a manager of the study. An "
            "administrator can do that.",
            "If you change your mind, a manager can readmit you.",
        ],
        button="Withdraw from the study",
        done=f"You have withdrawn from “{study.name}”. Thank you for your time.",
        do=lambda reason, chosen: withdraw_annotator(
            study=study, user=user, by=user, reason=reason
        ),
        back=reverse("annotation:study", args=[pk]),
        needs_reason=False,
    )
    return _ask(request, access, act, after=reverse("annotation:home"))


@require_http_methods(["GET", "POST"])
@signed_in
def annotator_leave(request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
    """Let a manager withdraw an annotator, or take one back who was withdrawn."""
    access = fetch_managed_study(request, pk)
    annotator = _annotator(access, number)
    study, user, name = access.study, annotator.user, annotator.user.get_username()
    if annotator.state == Participant.State.ERASED:
        raise Http404
    if annotator.state == Participant.State.WITHDRAWN:
        act = Confirmation(
            title=f"Readmit {name}",
            points=[
                "Their submitted answers count again in analyses.",
                "Their open items return to them, unless somebody else has them now.",
            ],
            button="Readmit",
            done=f"{name} is readmitted to the study.",
            do=lambda reason, chosen: restore_annotator(
                study=study, user=user, by=access.user, reason=reason
            ),
            back=_people(access),
            danger=False,
        )
    else:
        assignments = study.assignments.filter(annotator=user)
        still = assignments.filter(state=Assignment.State.OPEN).count()
        refills = len(submitted_items(study, user))
        act = Confirmation(
            title=f"Withdraw {name}",
            points=[
                f"{still} open items are returned and can be reassigned."
                if still
                else "They have no open items.",
                f"Their {annotator.submitted} submitted items stay stored, outside analyses.",
                "They read when and why, and no longer see the study. You can readmit them later.",
            ],
            choice=f"Let others judge {_items_in_words(refills)} again" if refills else "",
            choice_help="Each of these items then wants one annotator more. "
            + (
                "The pool gives them out."
                if study.dealing == study.Dealing.POOL
                else "They become unassigned; assign them under Items → More to judge."
            ),
            button=f"Withdraw {name}",
            done=f"{name} is withdrawn.",
            do=lambda reason, chosen: withdraw_annotator(
                study=study, user=user, by=access.user, reason=reason, refill=chosen
            ),
            back=_people(access),
            reason_help=f"{name} reads it. It is kept in the record, too.",
        )
    return _ask(request, access, act)


@require_http_methods(["GET", "POST"])
@signed_in
def annotator_unblind(request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
    """Let a manager lift the blinding for one annotator."""
    access = fetch_managed_study(request, pk)
    annotator = _annotator(access, number)
    if not access.study.blinded or annotator.unblinded_at is not None:
        raise Http404
    study, user, name = access.study, annotator.user, annotator.user.get_username()
    act = Confirmation(
        title=f"Lift the blinding for {name}",
        points=[
            "They can see which agent made a trajectory, as far as their roles allow.",
            "Their answers from now on are marked, so that analyses can exclude them.",
            "This cannot be undone.",
        ],
        button="Lift the blinding",
        done=f"The blinding is lifted for {name}.",
        do=lambda reason, chosen: unblind_annotator(
            study=study, user=user, by=access.user, reason=reason
        ),
        back=_people(access),
    )
    return _ask(request, access, act)


@require_http_methods(["GET", "POST"])
@signed_in
def study_unblind(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Let a manager lift the blinding of the whole study."""
    access = fetch_managed_study(request, pk)
    if not access.study.blinded:
        raise Http404
    study = access.study
    act = Confirmation(
        title="Lift the blinding of the study",
        points=[
            "Pages no longer hide from any of its annotators who made what, as far as their roles "
            "let them see it. The same holds for those who join later.",
            "Answers from now on are marked, so that analyses can exclude them.",
            "This cannot be undone.",
        ],
        button="Lift the blinding",
        done="The study is no longer blinded.",
        do=lambda reason, chosen: unblind_study(study=study, by=access.user, reason=reason),
        back=reverse("annotation:study", args=[pk]),
    )
    return _ask(request, access, act)


def _ask(
    request: HttpRequest, access: StudyAccess, act: Confirmation, *, after: str = ""
) -> HttpResponseBase:
    posted = request.POST if request.method == "POST" else None
    form = ReasonForm(
        posted, required=act.needs_reason, reason_help=act.reason_help, choice=act.choice,
        choice_help=act.choice_help,
    )  # fmt: skip
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                act.do(form.cleaned_data["reason"], form.cleaned_data.get("choice", False))
            except Refused as refused:
                form.add_error(None, f"Nothing was changed: {refused.reason}.")
            else:
                messages.success(request, act.done)
                return redirect(after or act.back)
    context = {"access": access, "study": access.study, "act": act, "form": form}
    return render(request, "annotation/act.html", context, status=status)


def _items_in_words(count: int) -> str:
    return "the one item that they submitted" if count == 1 else f"the {count} items they submitted"


def _annotator(access: StudyAccess, number: int) -> Participant:
    rows = access.study.participants.select_related("user")
    annotator = rows.filter(number=number).first()
    if annotator is None:
        raise Http404
    return annotator


def _people(access: StudyAccess) -> str:
    return reverse("annotation:study_people", args=[access.study.pk])


# --- Erasure --------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
@signed_in
def erase(request: HttpRequest) -> HttpResponseBase:
    """Let an administrator erase a person, named in the address and typed again to confirm."""
    by = person(request)
    if not by.is_superuser:
        raise PermissionDenied("Only administrators can erase a person.")
    name = request.GET.get("user", "").strip()
    user = find_account(name)
    invitee = find_invitee(name) if user is None else None
    stored = stored_data_of(user) if user is not None else None
    known = stored or invitee
    names = "\n".join(known.names) if known is not None else ""
    posted = request.POST if known is not None and request.method == "POST" else None
    form = EraseForm(posted, initial={"names": names})
    status = 422 if request.method == "POST" else 200
    if form.is_bound and form.is_valid():
        try:
            if user is not None:
                erased = erase_person(user=user, by=by, **form.cleaned_data)
                message = f"The person is erased. Remaining rows refer to {erased}."
            else:
                assert invitee is not None  # the form is bound for one of the two
                erase_invitee(invitee=invitee, by=by, **form.cleaned_data)
                message = "The person is erased. Their links no longer work."
        except Refused as refused:
            form.add_error(None, f"Nothing was changed: {refused.reason}.")
        else:
            messages.success(request, message)
            return redirect("annotation:erase")
    context = {
        "name": name,
        "person": user,
        "invitee": invitee,
        "form": form,
        "holdings": stored,
        "mentions": known.mentions if known is not None else (),
        "confirm": user.get_username() if user is not None else name,
        "tombstone": tombstone(user) if user is not None else "",
    }
    return render(request, "annotation/erase.html", context, status=status)
