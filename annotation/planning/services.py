"""Create a planned study, in the background if it is large, and open a draft."""

import json
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from annotation.annotator_quality.rule import GOLD_RULE, GoldRule
from annotation.audit_log.events import record_event
from annotation.consent.services import set_study_text
from annotation.designs.draws import write_draws
from annotation.errors import Refused
from annotation.models import Assignment, Study, StudyEvent, StudyText
from annotation.planning.planned_study import PlannedStudy, plan_study
from annotation.plans.plan_files import plan_document
from annotation.plans.retention_rule import RETENTION
from annotation.plans.study_plan import PlanError, StudyPlan
from annotation.studies.design import DRAWN, study_design
from annotation.studies.services import refuse_unless_stored, role_labels_of
from annotation.studies.setup import store_study
from annotation.studies.storage import (
    WHOLE,
    Report,
    begin_storing,
    find_begun,
    give_up_storing,
    store_rest,
)
from annotation.study_frame.storing import STORE, is_stored, storing_of
from benchmarks.asks.players import players
from benchmarks.core.errors import CoreError
from benchmarks.jobs.services import Progress, enqueue_job, job_kind
from benchmarks.models import Job
from benchmarks.visibility import EVERYTHING, Visibility


def create_planned_study(
    *,
    planned: PlannedStudy,
    by: User | None = None,
    launch: bool = True,
    is_demo: bool = False,
    settings: Mapping[str, Any] | None = None,
) -> Study:
    """Store a study as it was planned, open or as a draft: all of it or nothing.

    A large one is stored in portions. Where that is stopped in between, a draft is left that is
    plainly unfinished, and the same once more goes on with it. Who creates a study becomes its
    manager. Its settings keep the plan, the seed and the fingerprint of the balance certificate,
    from which it can be seen whether the assignments are still as planned.
    """
    study = _unsaved(planned, by, is_demo, settings or {})
    if not is_large(planned):
        study.status = Study.Status.OPEN if launch else Study.Status.DRAFT
        with transaction.atomic():
            store_study(
                study=study,
                items=planned.items,
                lists=list(planned.lists.values()),
                people=list(planned.people.values()),
                by=by,
            )
            _store_texts(study, planned.plan, by)
        return study
    begun = find_begun(study=study, by=by)
    if begun is None:
        _begin(study, planned, by, launch)
    study = begun or study
    try:
        _store_rest(study, planned, by)
    except Refused:
        give_up_storing(study)
        raise
    return study


def is_large(planned: PlannedStudy) -> bool:
    """Return whether a study is stored in portions, which may take minutes."""
    return _rows(planned) > WHOLE


def enqueue_planned_study(*, planned: PlannedStudy, by: User, launch: bool) -> Study:
    """Begin a large study; the rest of it is stored in the background."""
    study = _unsaved(planned, by, False, {})
    with transaction.atomic():
        _begin(study, planned, by, launch)
        _enqueue(study, by)
    return study


def enqueue_again(*, study: Study, by: User) -> None:
    """Go on in the background with a study whose storing came to a halt."""
    with transaction.atomic():
        fresh = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        storing = storing_of(fresh)
        if storing is None:
            raise Refused("conflict", "the study is stored already")
        if storing.removed:
            raise Refused("conflict", "the study is being deleted")
        if not storing.moving:  # pressing twice is harmless
            _enqueue(fresh, by)


def _enqueue(study: Study, by: User) -> None:
    enqueue_job(
        kind=STORE, title=f"Storing {study.name}"[:200], payload={"study": study.pk}, created_by=by
    )


@job_kind(STORE)
def store_in_background(job: Job, progress: Progress) -> None:
    """Plan a study anew from what was kept of it, and store what is missing."""
    study = Study.objects.select_related("created_by").filter(pk=job.payload["study"]).first()
    if study is None or is_stored(study):
        return
    by = study.created_by
    plan = study_design(study).plan
    try:
        assert plan is not None  # it was made from one
        planned = plan_study(plan, seen=Visibility.to(by) if by is not None else EVERYTHING)
    except PlanError as error:
        raise CoreError(f"{error}; delete this draft and plan the study anew") from None
    if _as_kept(planned) != study.settings["design"]:
        words = "what the study is made of has changed since it was begun; delete this draft and "
        raise CoreError(f"{words}plan it anew")
    total = _rows(planned)
    try:
        _store_rest(study, planned, by, lambda done: progress.report(done=done, total=total))
    except Refused as refused:
        raise CoreError(refused.reason) from None


def _rows(planned: PlannedStudy) -> int:
    """Return how many items and assignments there are to store."""
    return len(planned.items) + sum(items for _, account, items in planned.claimed if account)


def _unsaved(
    planned: PlannedStudy, by: User | None, is_demo: bool, settings: Mapping[str, Any]
) -> Study:
    plan = planned.plan
    return Study(
        name=plan.name.strip(),
        questionnaire=plan.questionnaire,
        background=plan.background,
        dealing=plan.dealing,
        lease_minutes=plan.lease_minutes,
        idle_seconds=plan.idle_seconds,
        break_minutes=plan.break_minutes,
        pass_mark=plan.pass_mark,
        blinded=plan.blinded,
        shows_hidden=plan.shows_hidden,
        verdicts=plan.verdicts,
        question_order=plan.question_order,
        gold_feedback=plan.gold_feedback,
        turn_by_turn=plan.turn_by_turn,
        seed=plan.seed,
        closes_at=plan.closes_at,
        is_demo=is_demo,
        settings={
            "design": _as_kept(planned), "labels": role_labels_of(planned.source_items.runs),
            **({GOLD_RULE: plan.gold_rule.stored} if plan.gold_rule != GoldRule() else {}),
            **({RETENTION: plan.retention.stored} if plan.retention.days else {}),
            **settings,
        },
        created_by=by,
    )  # fmt: skip


def _begin(study: Study, planned: PlannedStudy, by: User | None, launch: bool) -> None:
    begin_storing(study=study, items=planned.items, total=_rows(planned), launch=launch, by=by)


def _store_rest(
    study: Study, planned: PlannedStudy, by: User | None, report: Report = lambda done: None
) -> None:
    store_rest(
        study=study,
        items=planned.items,
        lists=list(planned.lists.values()),
        people=list(planned.people.values()),
        by=by,
        finish=lambda fresh: _store_texts(fresh, planned.plan, by),
        report=report,
    )


def _store_texts(study: Study, plan: StudyPlan, by: User | None) -> None:
    for kind, text in (
        (StudyText.Kind.INFORMATION, plan.information),
        (StudyText.Kind.CONSENT, plan.consent),
    ):
        if text.strip():
            set_study_text(study=study, kind=kind, text=text, by=by)


def _as_kept(planned: PlannedStudy) -> Any:
    """Return the record of a design as the database gives it back."""
    return json.loads(json.dumps(design_record(planned)))


def design_record(planned: PlannedStudy) -> dict[str, Any]:
    """Return what is kept of a design. Everything in it is fixed when the study is made."""
    return {
        "plan": plan_document(planned.plan),
        "method": planned.method,
        "seed": planned.plan.seed,
        "raters": planned.plan.raters,
        "places": planned.plan.lists,
        "items": len(planned.options),
        "seats": planned.assignments,
        "warnings": list(planned.warnings),
        "exclusions": {name: sorted(ids) for name, ids in planned.exclusions.items()},
        "sha256": planned.digest,
        DRAWN: write_draws(planned.drawn),
    }


def launch_study(*, study: Study, by: User | None) -> None:
    """Open a draft. Refused where somebody has meanwhile played in what was dealt to them."""
    with transaction.atomic():
        fresh = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if fresh.status != Study.Status.DRAFT:
            word = fresh.get_status_display().lower()
            raise Refused("conflict", f"the study is {word} already, not a draft")
        refuse_unless_stored(fresh)
        _refuse_played(fresh)
        fresh.status = Study.Status.OPEN
        fresh.save(update_fields=["status"])
        record_event(
            study=fresh, kind=StudyEvent.Kind.STATUS, by=by,
            detail={"before": Study.Status.DRAFT, "after": Study.Status.OPEN},
        )  # fmt: skip
    study.status = fresh.status


def _refuse_played(study: Study) -> None:
    rows = Assignment.objects.filter(study=study, trajectory__isnull=False).order_by()
    people = User.objects.filter(assignments__study=study).order_by("pk").distinct()
    played = players(people)
    for user in people:
        trajectories = played[user.pk]
        mine = Q(trajectory__in=trajectories) | Q(item__other__in=trajectories)
        if trajectories and rows.filter(mine, annotator=user).exists():
            raise Refused(
                "conflict",
                f"{user.get_username()} has meanwhile played in a trajectory that was dealt to "
                "them; make the study anew from its plan",
            )
