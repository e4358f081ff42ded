"""The wizard for a new study, and its preview."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import MAKE_STUDIES, person
from annotation.errors import Refused
from annotation.models import Study
from annotation.planning.draft import BY_KEY, USES, Draft, Planner, place_of
from annotation.planning.expected_answers import ExpectedForm
from annotation.planning.forms import STEPS, StepForm
from annotation.planning.outlook import outlook_lines
from annotation.planning.planned_study import PlannedStudy, plan_study
from annotation.planning.presets import PRESETS, fill_in, fill_in_filter_check, presets_for
from annotation.planning.services import (
    create_planned_study,
    enqueue_planned_study,
    is_large,
)
from annotation.planning.source_choices import MOST_SELECTED, read_selection, source_choices
from annotation.planning.special_items import choosable_items, special_rows
from annotation.plans.study_plan import PlanError
from annotation.studies.design import balance_tables
from benchmarks.access import allow, fetch, signed_in, visibility
from benchmarks.models import Dataset
from benchmarks.responses import wants_fragment
from benchmarks.visibility import Visibility

FIRST, LAST, PREVIEW = STEPS[0].key, STEPS[-1].key, "preview"
ORDER = [step.key for step in STEPS]
HERE = "New study"
# Larger studies take longer to plan than a page may take.
MOST_ITEMS = 100_000


@require_http_methods(["GET", "POST"])
@signed_in
def study_new(request: HttpRequest) -> HttpResponseBase:
    """Show the steps of a new study at one address: what was given so far travels with the page."""
    allow(request, MAKE_STUDIES)
    seen = visibility(request)
    if request.method == "GET":
        draft, problem = _selected(request, seen)
    else:
        draft, problem = Draft.read(request.POST.get("draft", "")), ""
    sources = source_choices(seen, draft.selection)
    if not sources:
        status = 422 if request.method == "POST" else 200
        return render(request, "annotation/study_new_empty.html", status=status)
    planner = Planner(draft, sources, seen)
    if request.method == "GET":
        if problem:
            messages.warning(request, problem)
        return _show(request, planner, planner.form(FIRST, check=False))
    step = request.POST.get("step", "")
    verb, _, rest = request.POST.get("go", "next").partition(":")
    if step in BY_KEY:
        cleared = planner.take(step, request.POST)
        if wants_fragment(request):  # a part of the step that has no room for messages
            return _show(request, planner, planner.form(step, check=False))
        for words in cleared:
            messages.info(request, words)
        if cleared and verb == "next" and step == FIRST:
            verb = "stay"
    return _go(request, planner, step if step in BY_KEY else FIRST, verb, rest)


def _selected(request: HttpRequest, seen: Visibility) -> tuple[Draft, str]:
    """Return a draft of what the address selects, and what is wrong with the selection."""
    if not any(name in request.GET for name in ("run", "id", "list")):
        return Draft(), ""
    selection = read_selection(request.GET, seen)
    if selection.too_many:
        return Draft(), (
            f"A study can be made of at most {MOST_SELECTED:,} chosen trajectories. Narrow the "
            "list with filters, or choose a source here."
        )
    if not any(True for _ in selection.choices(seen)):
        return Draft(), "None of the chosen trajectories can be judged. Choose a source here."
    return Draft(selection=selection), ""


def _go(
    request: HttpRequest, planner: Planner, step: str, verb: str, rest: str
) -> HttpResponseBase:
    """Carry out the button that was pressed."""
    match verb:
        case "to" if rest in BY_KEY:
            return _show(request, planner, planner.form(rest, check=False))
        case "stay":
            return _show(request, planner, planner.form(step, check=False))
        case "preset" if rest in PRESETS:
            return _preset(request, planner, rest)
        case "to" | "create" | "draft":
            return _preview(request, planner, verb if verb != "to" else "")
        case "pick":
            return _pick(request, planner)
        case "add" | "expect" | "keep" | "drop":
            return _special(request, planner, verb, rest)
        case _:
            return _next(request, planner, step)


def _next(request: HttpRequest, planner: Planner, step: str) -> HttpResponseBase:
    form = planner.form(step, check=True)
    if not form.is_valid():
        return _show(request, planner, form, status=422)
    if step == LAST:
        return _preview(request, planner, "")
    following = ORDER[ORDER.index(step) + 1]
    return _show(request, planner, planner.form(following, check=False))


def _preset(request: HttpRequest, planner: Planner, key: str) -> HttpResponseBase:
    draft = fill_in(PRESETS[key], planner.sources)
    if draft is None:
        form = planner.form(FIRST, check=True)
        form.add_error(
            None, "The runs or tasks of this preset do not exist, or are hidden from you."
        )
        return _show(request, planner, form, status=422)
    return _preview(request, Planner(draft, planner.sources, planner.seen), "")


@require_safe
@signed_in
def filter_check(request: HttpRequest, dataset_id: int) -> HttpResponseBase:
    """Show a filter check over a dataset, drawn and shown; nothing is stored before it is
    created.
    """
    dataset = fetch(request, Dataset.objects.all(), MAKE_STUDIES, pk=dataset_id)
    seen = visibility(request)
    sources = source_choices(seen)
    draft = fill_in_filter_check(dataset, sources)
    if draft is None:
        raise Http404
    return _preview(request, Planner(draft, sources, seen), "")


# --- Pages ----------------------------------------------------------------------------------------


def _steps(current: str) -> list[dict[str, Any]]:
    rows = [{"key": s.key, "title": s.short, "current": s.key == current} for s in STEPS]
    return [*rows, {"key": PREVIEW, "title": "Preview", "current": current == PREVIEW}]


def _show(
    request: HttpRequest, planner: Planner, form: StepForm, *, status: int = 200
) -> HttpResponseBase:
    """Show the page of one step."""
    context = {
        "draft": planner.draft,
        "form": form,
        "steps": _steps(form.key),
        "last": form.key == LAST,
        "before": ORDER[ORDER.index(form.key) - 1] if form.key != FIRST else "",
        "template": f"annotation/partials/_plan_{form.key}.html",
    }
    if form.key == FIRST and not planner.draft.selection:
        context["presets"] = presets_for(planner.sources)
    if form.key == LAST:
        context["specials"] = special_rows(planner.draft.specials, planner.chosen, planner.seen)
    return render(request, "annotation/study_new.html", context, status=status)


def _checked(
    request: HttpRequest, planner: Planner
) -> tuple[PlannedStudy | None, HttpResponseBase | None]:
    """Show the planned study, or the page of the step where something is wrong."""
    forms = planner.forms()
    for form in forms:
        if not form.is_valid():
            return None, _show(request, planner, form, status=422)
    try:
        planned = plan_study(planner.plan(forms), seen=planner.seen)
    except PlanError as error:
        return None, _show(request, planner, _blame(forms, error), status=422)
    if len(planned.items) > MOST_ITEMS:
        form = forms[0]
        form.add_error(
            "count",
            f"{len(planned.items):,} items are more than a page can plan at once "
            f"({MOST_ITEMS:,}): take a sample, or use manage.py create_study.",
        )
        return None, _show(request, planner, form, status=422)
    return planned, None


def _blame(forms: Sequence[StepForm], error: PlanError) -> StepForm:
    """Return the first step at which something is wrong, with each of its problems at its field."""
    by_key = {form.key: form for form in forms}
    blamed: dict[str, StepForm] = {}
    for problem in error.problems:
        step, field = place_of(problem)
        form = by_key[step]
        words = problem.words[:1].upper() + problem.words[1:]
        number = problem.path.partition("[")[2].partition("]")[0]
        if number:
            words = f"{problem.path.partition('[')[0].capitalize()} item {number}: {words}"
        form.add_error(field if field in form.fields else None, f"{words}.")
        blamed[step] = form
    return next(form for key, form in by_key.items() if key in blamed)


def _preview(request: HttpRequest, planner: Planner, make: str) -> HttpResponseBase:
    """Show what the plan comes to; with ``make`` it is created, open or as a draft."""
    planned, wrong = _checked(request, planner)
    if planned is None:
        assert wrong is not None
        return wrong
    user = person(request)
    if make and is_large(planned):
        study = enqueue_planned_study(planned=planned, by=user, launch=make == "create")
        return redirect("annotation:study", pk=study.pk)
    if make:
        try:
            study = create_planned_study(planned=planned, by=user, launch=make == "create")
        except Refused as refused:
            form = planner.form(FIRST, check=True)
            form.add_error(None, f"Nothing was created: {refused.reason}.")
            return _show(request, planner, form, status=422)
        return _made(request, study, planned)
    hide = planned.plan.blinded and user.get_username() in planned.plan.annotators
    context = {
        "draft": planner.draft,
        "steps": _steps(PREVIEW),
        "planned": planned,
        "plan": planned.plan,
        "source": planner.chosen,
        "outlook": outlook_lines(planned),
        "certificate": planned.certificate,
        "tables": balance_tables(planned.certificate, hide_models=hide),
        "hide": hide,
        "questions": planned.questions,
    }
    return render(request, "annotation/study_new_preview.html", context)


def _made(request: HttpRequest, study: Study, planned: PlannedStudy) -> HttpResponseBase:
    if study.status == Study.Status.DRAFT:
        messages.success(request, "The draft is stored.")
        return redirect("annotation:study_design", pk=study.pk)
    where = "in the pool" if planned.plan.dealing == "pool" else "dealt"
    count = f"{planned.assignments:,} assignment{pluralize(planned.assignments)}"
    messages.success(request, f"The study is open, with {count} {where}.")
    free = planned.plan.lists > len(planned.people)
    return redirect("annotation:study_people" if free else "annotation:study", pk=study.pk)


# --- Training and gold items ----------------------------------------------------------------------


def _pick(request: HttpRequest, planner: Planner) -> HttpResponseBase:
    """Show items of the source, to choose from."""
    form = planner.form("form", check=True)
    items = planner.form(FIRST, check=True)
    for checked in (items, form):
        if not checked.is_valid():
            return _show(request, planner, checked, status=422)
    wanted = request.POST.get("find", "").strip()
    rows = choosable_items(
        planner.chosen, form.cleaned_data["questionnaire"], planner.seen,
        taken={row["item"] for row in planner.draft.specials}, find=wanted,
    )  # fmt: skip
    context = {
        "draft": planner.draft, "steps": _steps(LAST), "rows": rows, "find": wanted, "uses": USES,
        "here": HERE,
    }  # fmt: skip
    return render(request, "annotation/study_new_pick.html", context)


def _special(request: HttpRequest, planner: Planner, verb: str, rest: str) -> HttpResponseBase:
    """Choose an item, say what is expected of it, or drop it."""
    use, _, number = rest.rpartition(":")
    item = int(number) if number.isdecimal() and len(number) < 19 else 0
    if verb == "drop":
        planner.draft.drop_special(item)
        return _show(request, planner, planner.form(LAST, check=False))
    if verb == "add":
        planner.draft.add_special(use, item)
    row = planner.draft.special(item)
    form = planner.form("form", check=True)
    if row is None or not form.is_valid():
        return _show(request, planner, planner.form(LAST, check=False), status=422)
    expected = ExpectedForm.of(row, form.cleaned_data["questionnaire"], planner.seen)
    if expected is None:  # it is not there, or closed to whoever plans
        planner.draft.drop_special(item)
        return _show(request, planner, planner.form(LAST, check=False), status=422)
    status = 200
    if verb == "keep":
        row["expected"] = expected.read(request.POST)
        if not expected.problems:
            return _show(request, planner, planner.form(LAST, check=False))
        status = 422
    context: Mapping[str, Any] = {
        "draft": planner.draft, "steps": _steps(LAST), "expected": expected, "row": row,
        "here": HERE,
    }  # fmt: skip
    return render(request, "annotation/study_new_expected.html", context, status=status)
