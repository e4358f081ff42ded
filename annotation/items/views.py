"""The items of a study: their list, one item with its assignments, and adding items."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import StudyAccess, fetch_managed_study, fetch_overseen_study
from annotation.assignments.selectors import active_annotators
from annotation.assignments.services import assign_item
from annotation.errors import Refused
from annotation.items.forms import DealForm, MoreItemsForm, RatersForm
from annotation.items.selectors import (
    FILTERS,
    chosen_items,
    counted_items,
    item_assignments,
    item_page,
    item_rows,
)
from annotation.items.services import (
    add_from_source,
    assign_free_items,
    raise_raters,
    set_raters,
)
from annotation.models import Assignment, Item, Study
from annotation.people.forms import GiveForm
from annotation.planning.source_choices import agents_of, source_of
from annotation.studies.places import free_places
from annotation.studies.progress import count_unassigned, study_progress
from annotation.study_frame.context import attempt, blind_reader, live, stop_polling, study_context
from benchmarks.access import signed_in, visibility
from benchmarks.lists.columns import (
    ColumnChoice,
    ListColumn,
    column_choice,
    every_row,
    list_csv,
    wants_csv,
)
from benchmarks.paging import as_id

ITEM_COLUMNS = (
    ListColumn("about", "About", {"item": "rank", "about": "title", "use": "use"}, fixed=True),
    ListColumn("annotators", "Annotators", {"annotators": "wanted"}),
    ListColumn("assigned", "Assigned", {"assigned": "given"}),
    ListColumn("submitted", "Submitted", {"submitted": "done"}),
    ListColumn(
        "skipped", "Skipped", {"skipped": "skipped", "reasons": lambda row: "; ".join(row.reasons)}
    ),
)
# What only those see who may read answers; empty for agents of one's own items.
ANSWER_COLUMNS = (
    ListColumn("agent", "Agent", {"agent": "agent"}),
    ListColumn("flags", "Flags", {"flags": "flags"}),
)


@require_GET
@signed_in
def items(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show the items of a study by their numbers. Whoever annotates blind sees how many, not which:
    the list would tell them which of their items are there to check them.
    """
    access = fetch_overseen_study(request, pk)
    if wants_csv(request) and not access.blind:
        parts = every_row(chosen_items(access.study, request.GET).order_by("rank"))
        rows = (row for part in parts for row in item_rows(access, part, visibility(request)))
        return list_csv(f"study-{pk}-items", _item_columns(access), rows)
    context = {
        **study_context(access, "items"),
        "progress": study_progress(access.study, blind=blind_reader(access)),
    }
    if not access.blind:
        wanted = as_id(request.GET.get("item", ""))
        if wanted is not None and counted_items(access.study).filter(rank=wanted).exists():
            return redirect("annotation:study_item", pk=pk, rank=wanted)
        context |= {
            "page": item_page(access, request.GET, visibility(request)),
            "filters": FILTERS,
            "shown": request.GET.get("show", ""),
            "sought": wanted,
            "query": _query(request),
            **_shown(column_choice(request, "items", _item_columns(access))),
        }
    return render(request, "annotation/study_items.html", context)


@require_GET
@signed_in
def item_list(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show a page of the list again, as a fragment."""
    access = fetch_overseen_study(request, pk)
    if access.blind:
        return stop_polling()
    page = item_page(access, request.GET, visibility(request))
    context = {
        "study": access.study,
        "access": access,
        "page": page,
        "shown": request.GET.get("show", ""),
        "query": _query(request),
        **_shown(column_choice(request, "items", _item_columns(access))),
    }
    return live(request, access, "annotation/partials/_item_rows.html", context, page.mark)


def _item_columns(access: StudyAccess) -> tuple[ListColumn, ...]:
    return (*ITEM_COLUMNS, *ANSWER_COLUMNS) if access.reads_answers else ITEM_COLUMNS


def _shown(columns: ColumnChoice) -> dict[str, Any]:
    return {"columns": columns, "hidden": columns.hidden}


def _query(request: HttpRequest) -> str:
    """Return what names this page of the list."""
    params = request.GET.copy()
    params.pop("v", None)
    return params.urlencode()


# --- More to judge --------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
@signed_in
def more(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Add further items, more annotators for each, or annotators to free assignments."""
    access = fetch_managed_study(request, pk)
    action = request.POST.get("action", "") if request.method == "POST" else ""
    forms_ = _forms(request, access, action)
    status = 200
    if request.method == "POST":
        status = 422
        form = forms_.get(action)
        if form is not None and form.is_valid():
            try:
                message = _more(request, access, form)
            except Refused as refused:
                form.add_error(None, f"Nothing was changed: {refused.reason}.")
            else:
                messages.success(request, message)
                return redirect("annotation:study_more", pk=pk)
    context = {
        **study_context(access, "items"),
        **{f"{name}_form": form for name, form in forms_.items()},
        "free": count_unassigned(access.study),
        "free_lists": free_places(access.study).count(),
    }
    return render(request, "annotation/study_more.html", context, status=status)


def _forms(request: HttpRequest, access: StudyAccess, action: str) -> dict[str, forms.Form]:
    """Return what this person may do here; whoever is blind may not see agents to choose from."""
    study = access.study
    makers: dict[str, Callable[[Any], forms.Form]] = {"raters": RatersForm}
    if not access.blind:
        agents = agents_of(source_of(study), visibility(request))
        makers["add"] = lambda data: MoreItemsForm(data, agents=agents)
    if study.dealing == Study.Dealing.NAMED:
        people = active_annotators(study)
        makers["deal"] = lambda data: DealForm(data, people=people)
    return {name: make(request.POST if name == action else None) for name, make in makers.items()}


def _more(request: HttpRequest, access: StudyAccess, form: forms.Form) -> str:
    study, by, given = access.study, access.user, form.cleaned_data
    if isinstance(form, DealForm):
        dealt = assign_free_items(study=study, people=form.chosen, by=by)
        left = f" {dealt.left:,} could not be assigned to them." if dealt.left else ""
        return f"{_count(dealt.total, 'place')} assigned.{left}"
    if isinstance(form, RatersForm):
        count = raise_raters(study=study, wanted=given["raters"], by=by)
        return f"{_count(count, 'item')} changed; none has fewer annotators than before."
    count = add_from_source(
        study=study,
        source=replace(
            source_of(study), agents=tuple(given.get("agents", ())), tasks=given["tasks"]
        ),
        count=given["count"],
        raters=given["raters"],
        by=by,
        seen=visibility(request),
    )
    pool = study.dealing == Study.Dealing.POOL
    onward = "" if pool else " Now assign them to annotators."
    return f"{_count(count, 'item')} added.{onward}"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{' was' if number == 1 else 's were'}"


# --- One item -------------------------------------------------------------------------------------


@require_GET
@signed_in
def item(request: HttpRequest, pk: int, rank: int) -> HttpResponseBase:
    """Show one item and everybody who holds or held it."""
    access = fetch_overseen_study(request, pk)
    return _item(request, access, _fetch_item(access, rank))


def _fetch_item(access: StudyAccess, rank: int) -> Item:
    item = counted_items(access.study).filter(rank=rank).first()
    if item is None or access.blind:
        raise Http404
    return item


def _item(
    request: HttpRequest, access: StudyAccess, item: Item, *, give: GiveForm | None = None
) -> HttpResponse:
    (row,) = item_rows(access, [item], visibility(request))
    assignments = item_assignments(access, item, closed=row.agent is None)
    context = {**study_context(access, "items"), "row": row, "assignments": assignments}
    if access.manages and row.wanted is not None:
        have = {
            assignment.number
            for assignment in assignments
            if assignment.state != Assignment.State.RETURNED
        }
        others = [p for p in active_annotators(access.study) if p.number not in have]
        context |= {
            "give": give or GiveForm(people=others),
            "others": others,
            "raters": RatersForm(initial={"raters": row.wanted}),
        }
    failed = give is not None and bool(give.errors)
    return render(request, "annotation/study_item.html", context, status=422 if failed else 200)


@require_POST
@signed_in
def item_change(request: HttpRequest, pk: int, rank: int) -> HttpResponseBase:
    """Say how many annotators an item shall have, or give it to one."""
    access = fetch_managed_study(request, pk)
    item = _fetch_item(access, rank)
    if request.POST.get("action") == "give":
        form = GiveForm(request.POST, people=active_annotators(access.study))
        if not form.is_valid():
            return _item(request, access, item, give=form)
        attempt(request, lambda: _give(access, item, form))
    else:
        attempt(request, lambda: _raters(access, item, request.POST))
    return redirect("annotation:study_item", pk=pk, rank=rank)


def _give(access: StudyAccess, item: Item, form: GiveForm) -> str:
    to = form.recipient
    assign_item(
        study=access.study, item=item, to=to, by=access.user, reason=form.cleaned_data["reason"]
    )
    return f"Item {item.rank} is {to.get_username()}’s now."


def _raters(access: StudyAccess, item: Item, data: Any) -> str:
    form = RatersForm(data)
    if not form.is_valid():
        raise Refused("invalid", "enter the number of annotators as a whole number")
    wanted = form.cleaned_data["raters"]
    set_raters(item=item, wanted=wanted, by=access.user)
    return f"Item {item.rank} shall have {wanted} annotator{'s' if wanted != 1 else ''}."
