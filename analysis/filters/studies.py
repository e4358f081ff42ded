"""The study that a page is about, read from its query string, and the other possible choices."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Aggregate, Count, Exists, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from analysis.filters import Filters
from analysis.filters.datasets import number_of, runs_in_order
from analysis.filters.options import FilterOption
from analysis.filters.selection import Selection, narrow
from analysis.models import Registration
from annotation.access import OVERSEERS
from annotation.blinding import blind_studies
from annotation.models import (
    Assignment,
    DuelVote,
    Item,
    LiveSession,
    Membership,
    Participant,
    Study,
    StudyEvent,
)
from annotation.questionnaires import Questionnaire, load_questionnaire
from annotation.ratings.selectors import left_out
from benchmarks.models import Candidate, Dataset, Run
from benchmarks.visibility import Visibility

Fits = Callable[[Questionnaire], bool]
# Whether simulated annotators count: in demos unless told otherwise, elsewhere only if told so.
SIMULATED = ("include", "exclude")
# So many items that several people judged tell how far they agree, and whether judges may stand in.
SHARED_ITEMS = 30
# Whether answers count that were given after unblinding; offered where somebody was unblinded.
UNBLINDED = (FilterOption("", "Counted"), FilterOption("exclude", "Left out"))


def select_study(
    filters: Filters,
    user: User,
    seen: Visibility | None = None,
    fits: Fits | None = None,
    raters: int = 1,
) -> Selection:
    """Return what people judged in a study; by default the newest with answers whose questions
    ``fits`` (of demos the first), before it one in which so many ``raters`` have judged the same
    items.

    A study that does not fit is taken where the address names it, or where there is no other.
    """
    seen = seen or Visibility.to(user)
    nothing = Selection(filters, closed=seen.closed, closed_tasks=seen.tasks)
    studies, notes = readable_studies(user)
    if not studies:
        return replace(nothing, notes=tuple(notes))
    fitting = [s for s in studies if fits is None or fits(load_questionnaire(s.questionnaire))]
    among = fitting or studies
    # Demos come last, the first one first, even before it has answers: no page moves while a demo
    # is made.
    answered = [study for study in among if number_of(study, "answered") or study.is_demo]
    answered.sort(key=lambda study: (study.is_demo, study.pk if study.is_demo else -study.pk))
    default = next(iter(_shared(answered, raters) or answered), among[0])
    study = next((s for s in studies if filters.study == str(s.pk)), default)
    asked = {"trajectories__items__study": study, "trajectories__items__use": Item.Use.MAIN}
    judged = Run.objects.filter(**asked)
    if study.has_duels:
        played = LiveSession.objects.filter(study=study, practice=False)
        judged = Run.objects.filter(pk__in=played.values("trajectory__run"))
    elif load_questionnaire(study.questionnaire).unit == "pair":
        others = Item.objects.filter(study=study, use=Item.Use.MAIN).values("other__run")
        judged = Run.objects.filter(Q(pk__in=judged.order_by().values("pk")) | Q(pk__in=others))
    rows = list(runs_in_order(seen.of(judged.distinct())))
    selection = selection_of_study(study, filters, rows, notes, seen)
    study_options = tuple(
        FilterOption(str(s.pk), s.name, number_of(s, "answered"))
        for s in studies
        if s in among or s == study
    )
    return replace(selection, options={"study": study_options, **selection.options})


def _shared(studies: Sequence[Study], raters: int) -> list[Study]:
    """Return the studies in which at least thirty items have been judged by so many."""
    if raters < 2 or len(studies) < 2:
        return []
    items = Item.objects.filter(study__in=studies, use=Item.Use.MAIN, done__gte=raters)
    counts = dict(items.order_by().values_list("study").annotate(n=Count("pk")))
    return [study for study in studies if counts.get(study.pk, 0) >= SHARED_ITEMS]


def selection_of_study(
    study: Study,
    filters: Filters,
    rows: Sequence[Run],
    notes: list[str],
    seen: Visibility,
) -> Selection:
    """Return what people judged in one study, of the given runs; ``study`` counts who was
    ``told``.
    """
    dataset = rows[0].dataset if rows else _dataset_of_tasks(study, seen)
    unblinded = UNBLINDED if number_of(study, "unblinded") else ()
    words = replace(
        filters,
        study=str(study.pk),
        dataset=str(dataset.pk) if dataset is not None else "",
        simulated=filters.simulated
        if filters.simulated in SIMULATED
        else SIMULATED[0 if study.is_demo else 1],
        unblinded=filters.unblinded if filters.unblinded in {o.value for o in unblinded} else "",
    )
    if out := left_out(study).words:
        notes = [*notes, f"Left out of “{study.name}”: {out}."]
    selection = narrow(words, rows, notes, one_each=False)
    return replace(
        selection,
        dataset=dataset,
        study=study,
        options={**selection.options, "unblinded": unblinded},
        study_version=study_version(study),
        closed=seen.closed,
        closed_tasks=seen.tasks,
    )


def readable_studies(user: User) -> tuple[list[Study], list[str]]:
    """Return the studies whose results this person may read, newest first, and why some are
    missing.

    Whoever still has open items in a blinded study would learn from its results who made what.
    """
    rows = counted_studies()
    if not user.is_superuser:
        mine = Membership.objects.filter(user=user, role__in=OVERSEERS)
        rows = rows.filter(pk__in=mine.values("study"))
    waiting = blind_studies(user)
    studies = list(rows)
    notes = [
        f"“{study.name}” is left out while you have open items in it: it is blinded."
        for study in studies
        if study.pk in waiting
    ]
    return [study for study in studies if study.pk not in waiting], notes


def counted_studies() -> QuerySet[Study]:
    """Return all studies, newest first, with how many answers there are, whether anybody was
    told, and whether there are registrations about it.
    """
    submitted = Q(assignments__state=Assignment.State.SUBMITTED)
    unblinded = Participant.objects.filter(study=OuterRef("pk"), unblinded_at__isnull=False)
    named = Q(study=OuterRef("pk")) | Q(study=None, study_name=OuterRef("name"))
    registered = Registration.objects.filter(named, withdraws=None).exclude(study_name="")
    return (
        Study.objects.filter(removed_at=None)
        .annotate(
            answered=Count("assignments", filter=submitted) + Coalesce(_votes(), 0),
            unblinded=Exists(unblinded),
            registered=Exists(registered),
        )
        .order_by("-pk")
    )


def _votes() -> Subquery:
    """Return the number of votes in the duels of a study."""
    rows = DuelVote.objects.filter(duel__left__study=OuterRef("pk"))
    return _of(rows.values("duel__left__study"), Count("pk"))


def newest_study_of(runs: Sequence[Run], fits: Fits | None) -> Study | None:
    """Return the newest study with answers on trajectories of these runs whose questions
    ``fits``.
    """
    asked = {"items__trajectory__run__in": runs, "items__use": Item.Use.MAIN}
    studies = counted_studies().filter(
        pk__in=Study.objects.filter(**asked).values("pk"), answered__gt=0
    )
    return next(
        (s for s in studies if fits is None or fits(load_questionnaire(s.questionnaire))), None
    )


def study_version(study: Study) -> str:
    """Return a mark that changes whenever the answers that a page shows may have changed.

    Answers change in open items alone, so it is enough to know what was submitted and when. Who
    left, what was recorded last, and what was decided about candidates are told apart too.
    """
    own = {"study": OuterRef("pk")}
    submitted = Assignment.objects.filter(**own, state=Assignment.State.SUBMITTED)
    gone = Participant.objects.filter(**own, state__in=Participant.GONE)
    asked = Candidate.objects.filter(
        task__items__study=OuterRef("pk"), task__items__trajectory=None
    ).values("task__items__study")
    marks = {
        "answered": _of(submitted.values("study"), Count("pk")),
        "latest": _of(submitted.values("study"), Max("submitted_at")),
        "gone": _of(gone.values("study"), Count("pk")),
        "event": _of(StudyEvent.objects.filter(**own).values("study"), Max("pk")),
        "votes": _votes(),
        "decided": _of(asked, Count("decision")),
        "candidate": _of(asked, Max("pk")),
    }
    row = Study.objects.filter(pk=study.pk).annotate(**marks).values(*marks).get()
    return ".".join(str(part) for part in (study.pk, *row.values()))


def _of(rows: QuerySet[Any, Any], aggregate: Aggregate) -> Subquery:
    return Subquery(rows.order_by().annotate(found=aggregate).values("found"))


def _dataset_of_tasks(study: Study, seen: Visibility) -> Dataset | None:
    """Return the dataset of a study about tasks."""
    rows = Dataset.objects.filter(tasks__items__study=study, tasks__items__trajectory=None)
    return seen.of(rows).order_by("pk").first()
