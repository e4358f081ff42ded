"""Storing a planned study, and launching one that was looked at as a draft."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Assignment, Study, StudyEvent, StudyText
from annotation.plan_files import plan_document
from annotation.services.errors import Refused
from annotation.services.events import record_event
from annotation.services.planning import PlannedStudy
from annotation.services.setup import store_study
from annotation.services.studies import fillers_of
from annotation.services.texts import set_study_text
from benchmarks.selectors.players import players


def create_planned_study(
    *,
    planned: PlannedStudy,
    by: User | None = None,
    launch: bool = True,
    is_demo: bool = False,
    settings: Mapping[str, Any] | None = None,
) -> Study:
    """Store a study as it was planned, open or as a draft: all of it or nothing.

    Who creates it becomes its manager. Its settings keep the plan, the seed and the fingerprint of
    the balance certificate, from which it can be seen whether the assignments are still as planned.
    """
    plan = planned.plan
    study = Study(
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
        seed=plan.seed,
        status=Study.Status.OPEN if launch else Study.Status.DRAFT,
        closes_at=plan.closes_at,
        is_demo=is_demo,
        settings={
            "design": design_record(planned),
            "labels": fillers_of(planned.found.runs),
            **(settings or {}),
        },
        created_by=by,
    )
    with transaction.atomic():
        store_study(
            study=study,
            items=planned.items,
            people=list(planned.people.values()),
            dealt={planned.people[name].pk: places for name, places in planned.dealt.items()},
            by=by,
        )
        for kind, text in (
            (StudyText.Kind.INFORMATION, plan.information),
            (StudyText.Kind.CONSENT, plan.consent),
        ):
            if text.strip():
                set_study_text(study=study, kind=kind, text=text, by=by)
    return study


def design_record(planned: PlannedStudy) -> dict[str, Any]:
    """What is kept of a design. Everything in it is fixed when the study is made."""
    return {
        "plan": plan_document(planned.plan),
        "method": planned.method,
        "seed": planned.plan.seed,
        "raters": planned.plan.raters,
        "items": len(planned.options),
        "seats": planned.seats,
        "warnings": list(planned.warnings),
        "exclusions": {name: sorted(ids) for name, ids in planned.exclusions.items()},
        "sha256": planned.digest,
    }


def launch_study(*, study: Study, by: User | None) -> None:
    """Open a draft. Refused where somebody has meanwhile played in what was dealt to them."""
    with transaction.atomic():
        fresh = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if fresh.status != Study.Status.DRAFT:
            word = fresh.get_status_display().lower()
            raise Refused("conflict", f"the study is {word} already, not a draft")
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
    people = User.objects.filter(assignments__study=study).distinct()
    played = players(people)
    names = {user.pk: user.get_username() for user in people}
    for user, trajectories in played.items():
        if trajectories and rows.filter(annotator=user, trajectory__in=trajectories).exists():
            raise Refused(
                "conflict",
                f"{names[user]} has meanwhile played in a trajectory that was dealt to them; make "
                "the study anew from its plan",
            )
