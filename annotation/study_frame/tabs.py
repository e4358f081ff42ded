"""The tabs of a study.

A tab whose page is not installed is left out. Its view checks access again.
"""

from collections.abc import Iterator
from typing import NamedTuple

from django.urls import NoReverseMatch, reverse

from annotation.access import StudyAccess


class Tab(NamedTuple):
    """A page of a study. ``may`` is the property of `StudyAccess` that opens it."""

    key: str
    label: str
    name: str
    may: str


TABS = (
    Tab("overview", "Overview", "annotation:study", "takes_part"),
    Tab("people", "People", "annotation:study_people", "oversees"),
    Tab("recruiting", "Recruiting", "annotation:study_recruiting", "manages"),
    Tab("payment", "Payment", "annotation:study_payment", "manages"),
    Tab("sessions", "Sessions", "annotation:study_sessions", "oversees"),
    Tab("items", "Items", "annotation:study_items", "oversees"),
    Tab("quality", "Quality", "analysis:study_quality", "reads_answers"),
    Tab("adjudication", "Adjudication", "annotation:study_adjudication", "manages"),
    Tab("messages", "Messages", "annotation:study_messages", "manages"),
    Tab("texts", "Texts", "annotation:study_texts", "manages"),
    Tab("design", "Design", "annotation:study_design", "oversees"),
    Tab("record", "Record", "annotation:study_record", "manages"),
    Tab("export", "Export", "annotation:study_export", "reads_answers"),
    Tab("settings", "Settings", "annotation:study_settings", "manages"),
)


def study_tabs(access: StudyAccess) -> Iterator[tuple[Tab, str]]:
    """Yield the pages that this person may open, with their addresses.

    A study of sessions has a page of these, which says how they were drawn, in place of a design.
    """
    live = access.study.is_live
    for tab in TABS:
        if not getattr(access, tab.may) or tab.key == ("design" if live else "sessions"):
            continue
        if live and tab.key in ("recruiting", "payment"):  # sessions count no active time
            continue
        try:
            yield tab, reverse(tab.name, args=[access.study.pk])
        except NoReverseMatch:
            continue
