"""Membership in studies on the administration pages. Answers cannot be changed here.

Roles are granted and removed by the same services as on the study's pages, so the record has them.
"""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

from annotation.errors import Refused
from annotation.models import Annotator, Membership, Participant
from annotation.people.withdrawal import remove_member
from annotation.studies.setup import add_member

# Django's class takes parameters in its stubs only.
if TYPE_CHECKING:
    MembershipBase = admin.ModelAdmin[Membership]
    AnnotatorBase = admin.ModelAdmin[Annotator]
    FormBase = forms.ModelForm[Membership]
else:
    MembershipBase = AnnotatorBase = admin.ModelAdmin
    FormBase = forms.ModelForm

REASON = "on the administration pages"


class MembershipForm(FormBase):
    """Refuses what the service would refuse, where it can still be mended."""

    def clean(self) -> dict[str, Any]:
        """Return the annotators who left come back on the study's pages, with a reason."""
        given = super().clean() or {}
        study, user, role = (given.get(name) for name in ("study", "user", "role"))
        if study is not None and user is not None and role == Membership.Role.ANNOTATOR:
            gone = study.participants.filter(user=user, state__in=Participant.GONE)
            if gone.exists():
                raise forms.ValidationError(
                    "This person left the study. A manager can take them back on its pages."
                )
        return given


@admin.register(Membership)
class MembershipAdmin(MembershipBase):
    """The administration of roles in studies."""

    form = MembershipForm
    list_display = ("user", "role", "study")
    list_filter = ("study", "role")
    autocomplete_fields = ("user",)

    def has_change_permission(self, request: HttpRequest, obj: Membership | None = None) -> bool:
        """Refuse changes: a role is taken and another one given, so it is only looked at here."""
        return False

    def has_view_permission(self, request: HttpRequest, obj: Membership | None = None) -> bool:
        """Allow those who may change rows elsewhere."""
        return super().has_change_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        """Give the role."""
        by = request.user if isinstance(request.user, User) else None
        added = add_member(study=obj.study, user=obj.user, role=obj.role, by=by)
        obj.pk = added.pk
        obj._state.adding = False

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        """Take the role; an annotator is withdrawn by that."""
        by = request.user if isinstance(request.user, User) else None
        try:
            remove_member(study=obj.study, user=obj.user, role=obj.role, by=by, reason=REASON)
        except Refused as refused:
            messages.error(request, f"{obj} stays: {refused.reason}.")

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Membership]) -> None:
        """Take several roles, one after the other."""
        for row in queryset.select_related("study", "user"):
            self.delete_model(request, row)


@admin.register(Annotator)
class AnnotatorAdmin(AnnotatorBase):
    """The administration of simulated accounts. Simulated ones are made by the simulation alone."""

    list_display = ("user", "is_simulated")
    readonly_fields = ("user", "is_simulated")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: nothing can be said here about an account that has no such row."""
        return False
