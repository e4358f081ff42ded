"""The record of one study and of all studies: its filter, pages and downloads."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from annotation.access import LARGEST, StudyAccess, fetch_managed_study, person
from annotation.audit_log.selectors import (
    ITEM,
    KINDS,
    PERSON,
    RecordSelection,
    people_of_record,
    record_cells,
    record_entries,
    record_groups,
    record_lines,
    record_page,
)
from annotation.blinding import blind_studies
from annotation.models import Study
from annotation.study_frame.context import study_context
from benchmarks.access import signed_in
from benchmarks.filters import AddressForm
from benchmarks.tables import csv_lines

MOMENTS = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d", "%Y-%m-%d %H:%M"]


class RecordFilter(AddressForm):
    """The filters of the record."""

    group = forms.ChoiceField(
        label="Show as", required=False,
        choices=[("", "One list, newest first"), (PERSON, "By person"), (ITEM, "By item")],
    )  # fmt: skip
    who = forms.ChoiceField(label="Who", required=False)
    kind = forms.ChoiceField(label="Action", required=False, choices=[("", "All actions"), *KINDS])
    rank = forms.IntegerField(label="Item (number)", required=False, min_value=1, max_value=LARGEST)
    item = forms.IntegerField(
        label="Item (position)", required=False, min_value=1, max_value=LARGEST
    )
    since = forms.DateTimeField(
        label="From",
        required=False,
        input_formats=MOMENTS,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    until = forms.DateTimeField(
        label="To",
        required=False,
        input_formats=MOMENTS,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    words = forms.CharField(label="Words", required=False, max_length=100)

    def __init__(self, data: Any, *, study: Study | None, blind: bool) -> None:
        super().__init__(data)
        if study is None or blind:
            # Which item of the study a position is, is not told to who annotates blind.
            del self.fields["group"], self.fields["rank"]
        field = self.fields["who"]
        assert isinstance(field, forms.ChoiceField)
        people = [(str(pk), name) for pk, name in people_of_record(study)]
        field.choices = [("", "Anybody"), *people]

    def asked(self) -> RecordSelection:
        """Return what is asked for, as far as it can be read."""
        chosen = self.chosen()
        since, until = chosen.get("since"), chosen.get("until")
        return RecordSelection(
            who=int(chosen["who"]) if "who" in chosen else None,
            kind=chosen.get("kind", ""),
            item=chosen.get("item"),
            rank=chosen.get("rank"),
            since=since if isinstance(since, datetime) else None,
            until=until if isinstance(until, datetime) else None,
            words=chosen.get("words", ""),
        )


@require_GET
@signed_in
def study_record(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show everything that was done in a study, newest first."""
    access = fetch_managed_study(request, pk)
    return _page(request, access)


@require_GET
@signed_in
def all_records(request: HttpRequest) -> HttpResponseBase:
    """Show everything that was done in all studies, for administrators."""
    _administrators(request)
    return _page(request, None)


@require_GET
@signed_in
def study_record_file(request: HttpRequest, pk: int, ending: str) -> HttpResponseBase:
    """Show the record of a study as CSV or JSON lines, narrowed as the page is."""
    access = fetch_managed_study(request, pk)
    return _file(request, access, ending)


@require_GET
@signed_in
def all_records_file(request: HttpRequest, ending: str) -> HttpResponseBase:
    """Show the record of all studies as CSV or JSON lines."""
    _administrators(request)
    return _file(request, None, ending)


def _administrators(request: HttpRequest) -> None:
    if not person(request).is_superuser:
        raise PermissionDenied("The record of all studies is for administrators.")


def _asked(request: HttpRequest, form: RecordFilter, access: StudyAccess | None) -> RecordSelection:
    """Return the filters of the record; whoever annotates blind sees their own part alone."""
    reader = person(request)
    blind = blind_studies(reader)
    if access is not None:
        blind &= {access.study.pk}
    return replace(form.asked(), reader=reader, blind_in=blind)


def _study(access: StudyAccess | None) -> Study | None:
    return access.study if access is not None else None


def _page(request: HttpRequest, access: StudyAccess | None) -> HttpResponseBase:
    study = _study(access)
    form = _form(request, access)
    asked = _asked(request, form, access)
    by = form.chosen().get("group", "")
    if study is not None and by:
        return _groups(request, access, form, asked, by)
    after = request.GET.get("after", "")
    page = record_page(study, asked, after=after)
    query = request.GET.copy()
    query.pop("after", None)
    narrowed = query.urlencode()
    query["after"] = page.next
    head = {"study": None} if access is None else study_context(access, "record")
    context = {
        **head,
        "form": form,
        "active": form.active(),
        "own_only": bool(asked.blind_in),
        "entries": page.entries,
        "narrowed": f"?{narrowed}" if narrowed else "",
        "newest_url": f"?{narrowed}" if after else "",
        "next_url": f"?{query.urlencode()}" if page.next else "",
    }
    page_of = "records" if access is None else "record"
    return render(request, f"annotation/{page_of}.html", context)


def _form(request: HttpRequest, access: StudyAccess | None) -> RecordFilter:
    blind = access is not None and access.study.pk in blind_studies(person(request))
    return RecordFilter(request.GET, study=_study(access), blind=blind)


def _groups(
    request: HttpRequest,
    access: StudyAccess | None,
    form: RecordFilter,
    asked: RecordSelection,
    by: str,
) -> HttpResponseBase:
    """Show how much of the record is about each person or item, with links to it."""
    assert access is not None  # the record of all studies has no groups
    groups, total = record_groups(access.study, asked, by)
    query = request.GET.copy()
    query.pop("group", None)
    narrowed = query.urlencode()
    key = "rank" if by == ITEM else "who"
    rows = []
    for group in groups:
        query[key] = str(group.key)
        rows.append((group, f"?{query.urlencode()}"))
    context = {
        **study_context(access, "record"),
        "form": form,
        "active": form.active(),
        "groups": rows,
        "head": "Item" if by == ITEM else "Person",
        "total": total,
        "narrowed": f"?{narrowed}" if narrowed else "",
    }
    return render(request, "annotation/record.html", context)


def _file(request: HttpRequest, access: StudyAccess | None, ending: str) -> HttpResponseBase:
    if ending not in ("csv", "jsonl"):
        raise Http404
    study = _study(access)
    asked = _asked(request, _form(request, access), access)
    entries = record_entries(study, asked)
    lines: Iterator[str]
    if ending == "csv":
        lines, kind = csv_lines(record_cells(entries)), "text/csv"
    else:
        lines, kind = record_lines(entries), "application/x-ndjson"
    response = StreamingHttpResponse(lines, content_type=f"{kind}; charset=utf-8")
    name = f"{slugify(study.name) or 'study'}-record" if study else "record"
    response["Content-Disposition"] = f'attachment; filename="{name}.{ending}"'
    return response
