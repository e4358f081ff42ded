"""Store an adjudicator's decisions. Ratings are never changed."""

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotation.adjudication.selectors import place_ratings, sees_raters, was_revealed
from annotation.audit_log.events import record_event
from annotation.errors import Refused
from annotation.models import Adjudication, Item, Study, StudyEvent
from annotation.questionnaires import Slot, load_questionnaire
from annotation.ratings.checks import check_answer, decides_all

Kind = StudyEvent.Kind
LONGEST_REASON = 2000


def decide_place(
    *,
    item: Item,
    slot: Slot,
    by: User,
    reason: str,
    value: int | None = None,
    chosen: list[Any] | None = None,
) -> Adjudication:
    """Add a decision and its reason beside the ratings; the latest of a place counts.

    It is marked where the answers of raters or judges had been shown to ``by`` before. The same
    decision sent twice in a row is stored once.
    """
    study, reason = item.study, reason.strip()
    if not reason:
        raise Refused("invalid", "enter a reason for your decision")
    if len(reason) > LONGEST_REASON:
        raise Refused("invalid", f"a reason has at most {LONGEST_REASON} characters")
    check_answer(
        item=item, questionnaire=load_questionnaire(study.questionnaire),
        question=slot.question.key, subject=slot.subject, aspect="answer",
        value=value, chosen=chosen, text="",
    )  # fmt: skip
    if slot.question.scale.each and not decides_all(item, slot.question, chosen):
        raise Refused("invalid", "decide every condition")
    with transaction.atomic():
        _lock(item)
        if place_ratings(item, slot).count() < 2:
            raise Refused("invalid", "fewer than two people submitted an answer to this question")
        before = _decisions(item, slot).order_by("-pk").first()
        if before is not None and (before.value, before.chosen, before.reason, before.by_id) == (
            value, chosen, reason, by.pk,
        ):  # fmt: skip
            return before
        row = Adjudication.objects.create(
            item=item, question=slot.question.key, subject=slot.subject, value=value,
            chosen=chosen, reason=reason, by=by, revealed=was_revealed(item, slot, by),
            saw_raters=sees_raters(item, slot, by),
        )  # fmt: skip
        record_event(
            study=study, kind=Kind.ADJUDICATED, by=by, reason=reason,
            detail={
                **where(item, slot),
                "before": None if before is None else _decided_value(before),
                "after": _decided_value(row),
                "revealed": row.revealed,
                "saw_raters": row.saw_raters,
            },
        )  # fmt: skip
    return row


def reveal_judges(*, item: Item, slot: Slot, by: User) -> None:
    """Let an adjudicator see what the judges decided, once their own decision is stored."""
    with transaction.atomic():
        _lock(item)
        if not _decisions(item, slot).filter(by=by).exists():
            raise Refused("invalid", "save your own decision first; then you can see the judges'")
        if not was_revealed(item, slot, by):
            record_event(study=item.study, kind=Kind.REVEALED, by=by, detail=where(item, slot))


def where(item: Item, slot: Slot) -> dict[str, Any]:
    """Return how events name a place."""
    return {"item": item.rank, "question": slot.question.key, "subject": slot.subject}


def _lock(item: Item) -> None:
    """Lock the item: one decision about it at a time; an archived study takes none."""
    Item.objects.select_for_update(no_key=True).get(pk=item.pk)
    status = Study.objects.values_list("status", flat=True).get(pk=item.study_id)
    if status == Study.Status.ARCHIVED:
        raise Refused("closed", "the study is archived, so decisions cannot change")


def _decisions(item: Item, slot: Slot) -> QuerySet[Adjudication]:
    return Adjudication.objects.filter(item=item, question=slot.question.key, subject=slot.subject)


def _decided_value(row: Adjudication) -> Any:
    return row.value if row.chosen is None else row.chosen
