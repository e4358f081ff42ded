"""The pages on which an adjudicator decides between disagreeing annotators, and their filter."""

from dataclasses import replace
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_safe

from annotation.access import StudyAccess, fetch_managed_study
from annotation.adjudication.disagreement import (
    COMPARED,
    Disagreement,
    compared_assignments,
    disagreement_at,
)
from annotation.adjudication.queue import Queue, QueueSelection, disagreement_queue
from annotation.adjudication.selectors import (
    decided_count,
    find_slot,
    judge_verdicts,
    place_ratings,
    queue_rows,
    raters_of,
    sees_raters,
    tallies_of,
    texts_of,
    vote_text,
    was_revealed,
)
from annotation.adjudication.services import decide_place, reveal_judges
from annotation.desk.form import NOTHING, DeskAnswer, FormRow, build_form
from annotation.desk.posted_form import typed_places
from annotation.desk.selectors import DeskPage, load_desk
from annotation.desk.trajectories import (
    Statement,
    load_candidates,
    load_conditions,
    load_dialogue,
)
from annotation.desk.views import STATUS
from annotation.errors import Refused
from annotation.models import Adjudication, Assignment, Item, Rating
from annotation.plans.adjudication_rule import adjudicate_from
from annotation.questionnaires import Questionnaire, Slot, load_questionnaire
from annotation.ratings.checks import answer_text
from annotation.ratings.selectors import left_out
from annotation.study_frame.context import study_context
from benchmarks.access import signed_in
from benchmarks.core.digests import storable
from benchmarks.filters import AddressForm
from benchmarks.paging import as_id
from benchmarks.trajectories.images import image_response

OPEN, DECIDED, ALL = "open", "decided", "all"


PAGE = 25


class QueueFilter(AddressForm):
    """The filters of an adjudicator's queue."""

    question = forms.ChoiceField(label="Question", required=False)
    state = forms.ChoiceField(
        label="State",
        required=False,
        choices=[("", "To decide"), (DECIDED, "Decided"), (ALL, "All")],
    )

    def __init__(self, data: Any, *, questionnaire: Questionnaire) -> None:
        super().__init__(data)
        asked = [q for q in questionnaire.questions if q.scale.kind in COMPARED]
        field = self.fields["question"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", "All questions"), *((q.key, f"{q.number} {q.title}") for q in asked)]

    def narrowed(self) -> QueueSelection:
        """Return what is asked for; places to decide where nothing else is."""
        chosen = self.chosen()
        states = {DECIDED: True, ALL: None}
        return QueueSelection(
            chosen.get("question", ""), states.get(chosen.get("state", OPEN), False)
        )


def _fetch(request: HttpRequest, pk: int) -> tuple[StudyAccess, Questionnaire]:
    """Return a study for its managers, but not while they annotate in it blind."""
    access = fetch_managed_study(request, pk)
    if access.blind:
        raise PermissionDenied(
            "You annotate in this study. You can see what others answered when your own items are "
            "finished."
        )
    return access, load_questionnaire(access.study.questionnaire)


@require_GET
@signed_in
def queue(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show where people disagree, most first."""
    access, questionnaire = _fetch(request, pk)
    study, form = access.study, QueueFilter(request.GET, questionnaire=questionnaire)
    places = disagreement_queue(study, questionnaire, form.narrowed())
    after = _anchor(access, questionnaire, request.GET.get("after", ""))
    before = _anchor(access, questionnaire, request.GET.get("before", ""))
    backwards, anchor = before is not None, before or after
    shown = places.page(size=PAGE + 1, beyond=anchor, backwards=backwards)
    more, shown = len(shown) > PAGE, shown[:PAGE]
    if backwards:
        shown.reverse()
    context = {
        **study_context(access, "adjudication"),
        "form": form,
        "rows": queue_rows(study, questionnaire, shown, access.user),
        "total": len(places),
        "decided": decided_count(study),
        "left_out": left_out(study),
        "points": adjudicate_from(study),
        "query": _query(request.GET),
        "previous_url": _page(request.GET, "before", shown[0])
        if shown and (more if backwards else anchor is not None)
        else "",
        "next_url": _page(request.GET, "after", shown[-1]) if shown and (backwards or more) else "",
    }
    return render(request, "annotation/adjudication.html", context)


@require_http_methods(["GET", "POST"])
@signed_in
def place(request: HttpRequest, pk: int, rank: int, name: str) -> HttpResponseBase:
    """Show one place: what the raters said, the adjudicator's decision, then the judges'."""
    access, questionnaire = _fetch(request, pk)
    item, slot = _find(access, questionnaire, rank, name)
    if request.method == "GET":
        return _show(request, access, questionnaire, item, slot)
    answer = typed_places([slot], request.POST).get(slot.name, NOTHING)
    try:
        if request.POST.get("action") == "reveal":
            reveal_judges(item=item, slot=slot, by=access.user)
        else:
            chosen = None if answer.chosen is None else list(answer.chosen)
            decide_place(
                item=item, slot=slot, by=access.user, value=answer.value, chosen=chosen,
                reason=storable(request.POST.get("reason", "")),
            )  # fmt: skip
            messages.success(request, "Your decision is stored.")
    except Refused as refused:
        return _show(request, access, questionnaire, item, slot, answer=answer, refused=refused)
    return redirect(_url(access, rank, slot.name) + _query(request.GET))


@require_safe
@signed_in
def image(request: HttpRequest, pk: int, rank: int, digest: str) -> HttpResponse:
    """Send an image of a message that the raters of an item saw on their desks."""
    access, _ = _fetch(request, pk)
    rows = compared_assignments(access.study).filter(item__rank=rank)
    for row in rows.select_related("study", "item__task"):
        for trajectory in row.item.trajectory_ids:
            if load_dialogue(row, trajectory).shows_image(digest):
                return image_response(trajectory, digest)
    raise Http404("There is no such image.")


def _find(
    access: StudyAccess, questionnaire: Questionnaire, rank: int, name: str
) -> tuple[Item, Slot]:
    rows = Item.objects.filter(study=access.study, use=Item.Use.MAIN)
    item = rows.filter(rank=rank).select_related("task", "trajectory__run").first()
    slot = find_slot(item, questionnaire, name) if item is not None else None
    if item is None or slot is None:
        raise Http404
    item.study = access.study
    return item, slot


def _show(
    request: HttpRequest,
    access: StudyAccess,
    questionnaire: Questionnaire,
    item: Item,
    slot: Slot,
    *,
    answer: DeskAnswer | None = None,
    refused: Refused | None = None,
) -> HttpResponse:
    ratings = list(place_ratings(item, slot))
    if not ratings:
        raise Http404
    texts = texts_of(item, slot)
    decisions = list(
        Adjudication.objects.filter(item=item, question=slot.question.key, subject=slot.subject)
        .select_related("by")
        .order_by("pk")
    )
    own = [row for row in decisions if row.by_id == access.user.pk]
    if answer is None and own:
        answer = DeskAnswer(own[-1].value, own[-1].chosen)
    revealed = was_revealed(item, slot, access.user)
    sees = sees_raters(item, slot, access.user)
    narrowed = QueueFilter(request.GET, questionnaire=questionnaire).narrowed()
    places = disagreement_queue(access.study, questionnaire, narrowed)
    here = disagreement_at(item, slot, ratings)
    page = _desk(item, ratings)
    row, form = _field(questionnaire, item, slot, answer or NOTHING)
    context = {
        **study_context(access, "adjudication"),
        "item": item,
        "slot": slot,
        "candidate": texts.get(slot.part, "") if slot.question.about == "candidate" else "",
        "desk": page,
        "reading": page.reading,
        "images": reverse("annotation:study_adjudication", args=[item.study_id])
        + f"{item.rank}/images/",
        "reading_templates": page.reading_templates,
        "rated": len(ratings),
        "raters": raters_of(item, slot, texts, access.user) if sees else [],
        "sees": sees,
        "rated_it": item.assignments.filter(annotator=access.user).exists(),
        "vote": vote_text(slot, ratings) if sees else "",
        "tallies": tallies_of(slot, ratings, texts) if sees else [],
        "row": row,
        "form": form,
        "reason": request.POST.get("reason", own[-1].reason if own else ""),
        "refused": refused,
        "own": own,
        "others": sum(row.by_id != access.user.pk for row in decisions),
        "decisions": [(row, answer_text(slot.question, row, texts)) for row in decisions],
        "revealed": revealed,
        "judges": judge_verdicts(item, slot) if revealed else [],
        "queue_url": reverse("annotation:study_adjudication", args=[item.study_id])
        + _query(request.GET),
        "previous_url": _neighbour(request, access, places, here, backwards=True),
        "next_url": _neighbour(request, access, places, here, backwards=False),
    }
    status = 200 if refused is None else STATUS[refused.code]
    return render(request, "annotation/adjudicate.html", context, status=status)


def _desk(item: Item, ratings: list[Rating]) -> DeskPage:
    """Return the item as its raters saw it: of one of their desks only what there is to read is
    shown. Of two trajectories, the first is A.
    """
    rows = Assignment.objects.select_related("study", "item__task", "trajectory", "annotator")
    assignment = rows.get(pk=ratings[0].assignment_id)
    assignment.swapped = False
    return load_desk(assignment, locked=True)


def _field(
    questionnaire: Questionnaire, item: Item, slot: Slot, answer: DeskAnswer
) -> tuple[FormRow, Any]:
    """Return the field in which the adjudicator answers, as it stands on the annotators' desk."""
    candidates: dict[str, Statement] = {}
    conditions: list[Statement] = []
    if slot.question.about == "candidate":
        candidates = load_candidates(item)
    if slot.question.scale.kind == "marks":
        conditions = load_conditions(item.trajectory_id, item.subjects)
    slot = slot.as_shown(False)
    slot = replace(slot, question=replace(slot.question, when=None))
    form = build_form(
        questionnaire, [slot], {slot.name: answer}, candidates=candidates, conditions=conditions
    )
    (row,) = form.rows
    return replace(row, remarked=False, current=True), form


# --- Addresses ------------------------------------------------------------------------------------


def _anchor(access: StudyAccess, questionnaire: Questionnaire, text: str) -> Disagreement | None:
    """Return where a page begins, from the place that its address names; None for anything else."""
    rank, _, name = text.partition(".")
    if as_id(rank) is None or not name:
        return None
    item = Item.objects.filter(study=access.study, rank=int(rank)).first()
    slot = find_slot(item, questionnaire, name) if item is not None else None
    if item is None or slot is None:
        return None
    item.study = access.study
    return disagreement_at(item, slot, list(place_ratings(item, slot)))


def _neighbour(
    request: HttpRequest,
    access: StudyAccess,
    places: Queue,
    here: Disagreement,
    *,
    backwards: bool,
) -> str:
    nearest = places.page(size=1, beyond=here, backwards=backwards)
    return _url(access, nearest[0].rank, nearest[0].name) + _query(request.GET) if nearest else ""


def _url(access: StudyAccess, rank: int, name: str) -> str:
    return reverse("annotation:adjudicate", args=[access.study.pk, rank, name])


def _query(params: QueryDict) -> str:
    """Return the filters of the queue, to be kept from place to place."""
    kept = {name: str(params[name]) for name in ("question", "state") if params.get(name)}
    if not kept:
        return ""
    query = QueryDict(mutable=True)
    query.update(kept)
    return f"?{query.urlencode()}"


def _page(params: QueryDict, name: str, row: Disagreement) -> str:
    query = QueryDict(_query(params).removeprefix("?"), mutable=True)
    query[name] = f"{row.rank}.{row.name}"
    return f"?{query.urlencode()}"
