"""Roles in studies, for administrators. Answers cannot be changed here."""

from typing import TYPE_CHECKING

from django.contrib import admin

from annotation.models import Annotator, Membership

# Django's class takes parameters in its stubs only.
if TYPE_CHECKING:
    MembershipBase = admin.ModelAdmin[Membership]
    AnnotatorBase = admin.ModelAdmin[Annotator]
else:
    MembershipBase = AnnotatorBase = admin.ModelAdmin


@admin.register(Membership)
class MembershipAdmin(MembershipBase):
    """Who has which role in which study."""

    list_display = ("user", "role", "study")
    list_filter = ("study", "role")
    autocomplete_fields = ("user",)


@admin.register(Annotator)
class AnnotatorAdmin(AnnotatorBase):
    """Which accounts are simulated."""

    list_display = ("user", "is_simulated")
    readonly_fields = ("user", "is_simulated")
