"""Decide who may do what in a study. Every view of a study begins with one of these."""

from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from annotation.blinding import blind_studies
from annotation.models import Membership, Participant, Study
from benchmarks.access import START, VIEW
from benchmarks.models.statements import find_row

Role = Membership.Role
# Who sees how far everybody is, and who sees every answer.
OVERSEERS = frozenset({Role.MANAGER, Role.RESEARCHER, Role.OBSERVER})
# The right to make studies: nobody is granted it as such, `StudyMakers` says who has it.
MAKE_STUDIES = "annotation.make_studies"
# The largest number that a database column for positions holds.
LARGEST = 2**31 - 1
READERS = frozenset({Role.MANAGER, Role.RESEARCHER})


class StudyMakers(BaseBackend):
    """Say who may make studies, so that views and templates ask as for any other permission.

    These are people who may start runs, and managers of any study who may see results: a study
    shows its manager whole trajectories, which a manager of one study alone may not see.
    """

    def has_perm(
        self, user_obj: AbstractBaseUser | AnonymousUser, perm: str, obj: Any = None
    ) -> bool:
        if perm != MAKE_STUDIES or not isinstance(user_obj, User) or not user_obj.is_active:
            return False
        if user_obj.has_perm(START):
            return True
        managed = Membership.objects.filter(user=user_obj, role=Role.MANAGER)
        return user_obj.has_perm(VIEW) and managed.exists()


@dataclass(frozen=True)
class StudyAccess:
    """A study together with what this person may do in it."""

    study: Study
    user: User
    roles: frozenset[str] = field(default_factory=frozenset)
    # Their place in the study, where a page of the desk has looked it up.
    participant: Participant | None = None

    @property
    def takes_part(self) -> bool:
        return self.user.is_superuser or bool(self.roles)

    @property
    def oversees(self) -> bool:
        return self.user.is_superuser or bool(self.roles & OVERSEERS)

    @property
    def reads_answers(self) -> bool:
        return self.user.is_superuser or bool(self.roles & READERS)

    @property
    def manages(self) -> bool:
        return self.user.is_superuser or Role.MANAGER in self.roles

    @property
    def annotates(self) -> bool:
        return Role.ANNOTATOR in self.roles

    @property
    def blind(self) -> bool:
        """Return whether names of models are kept from this person, whatever their other roles."""
        if not self.study.blinded or not self.annotates:
            return False
        return self.study.pk in blind_studies(self.user)


def person(request: HttpRequest) -> User:
    """Return the person behind a request; views are reached by people who are signed in."""
    if not isinstance(request.user, User):
        raise PermissionDenied("Sign in first.")
    return request.user


def roles_in(study: int, user: int) -> frozenset[str]:
    """Return what somebody is in a study, by the ids of both."""
    rows = Membership.objects.filter(study=study, user=user).order_by()
    return frozenset(rows.values_list("role", flat=True))


def fetch_study(request: HttpRequest, pk: int) -> StudyAccess:
    """Return a study for anybody who takes part in it; for others it does not exist."""
    user = person(request)
    if pk > LARGEST:
        raise Http404
    here = Membership.objects.filter(study=pk, user=user).select_related("study").order_by()
    memberships = list(here)
    if memberships:
        study = memberships[0].study
        return StudyAccess(study, user, frozenset(each.role for each in memberships))
    if not user.is_superuser:
        raise Http404
    return StudyAccess(get_object_or_404(Study, pk=pk, removed_at=None), user)


def fetch_overseen_study(request: HttpRequest, pk: int) -> StudyAccess:
    """Return a study for those who look on from outside the annotators."""
    access = fetch_study(request, pk)
    if not access.oversees:
        raise PermissionDenied("This page is for those who run the study.")
    return access


def fetch_read_study(request: HttpRequest, pk: int) -> StudyAccess:
    """Return a study for those who may see everybody's answers."""
    access = fetch_study(request, pk)
    if not access.reads_answers:
        raise PermissionDenied("Answers are open to the study's managers and researchers.")
    return access


def fetch_managed_study(request: HttpRequest, pk: int) -> StudyAccess:
    """Return a study for its managers."""
    access = fetch_study(request, pk)
    if not access.manages:
        raise PermissionDenied("Only a manager of the study may change it.")
    return access


def fetch_annotator(request: HttpRequest, pk: int) -> tuple[StudyAccess, Participant]:
    """Return a study for its annotators, with this person's place in it."""
    access = fetch_study(request, pk)
    if not access.annotates:
        raise Http404
    return access, participant_of(access)


def participant_of(access: StudyAccess) -> Participant:
    """Return an annotator's place in the study; `add_member` gives it together with the role."""
    participant = find_row(Participant, study_id=access.study.pk, user_id=access.user.pk)
    if participant is None:
        raise PermissionDenied("A manager of the study must add you as an annotator again.")
    participant.study, participant.user = access.study, access.user
    return participant
