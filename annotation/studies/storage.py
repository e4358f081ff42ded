"""Store large studies in portions, so that SQLite's single writer stays available.

Between portions the study is a draft with the setting ``STORING``: it cannot be opened, assigned
or extended. Each portion reads what is already stored, so storing can stop anywhere and continue.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.assignments.dealing import assign_items, last_position
from annotation.audit_log.events import record_event
from annotation.errors import Refused
from annotation.models import (
    Adjudication,
    Assignment,
    Consent,
    Item,
    Membership,
    Participant,
    Study,
    StudyEvent,
    StudyPlace,
)
from annotation.studies.places import first_places, store_places
from annotation.studies.setup import (
    NewItem,
    add_member,
    begin_study,
    insert_items,
    last_rank,
    new_items,
)
from annotation.study_frame.storing import STORING
from benchmarks.locks import pause_writing

# So many items and assignments are stored whole, in one transaction of half a second or so.
WHOLE = 2000
# So many of a larger study are stored in one transaction.
PORTION = 500
Report = Callable[[int], None]


def begin_storing(
    *, study: Study, items: Sequence[NewItem], total: int, launch: bool, by: User | None
) -> None:
    """Store an unsaved study as one that is not stored to its end; ``total`` rows are to follow."""
    study.status = Study.Status.DRAFT
    study.settings = {**study.settings, STORING: {"launch": launch, "total": total}}
    with transaction.atomic():
        begin_study(study=study, items=items, by=by)


def find_begun(*, study: Study, by: User | None) -> Study | None:
    """Return the study that was begun for the same design by the same person and not stored to its
    end.
    """
    begun = Study.objects.filter(
        status=Study.Status.DRAFT, name=study.name, created_by=by, settings__has_key=STORING
    )
    wanted = study.settings["design"]
    same = (s for s in begun.order_by("pk") if _goes_on(s) and s.settings.get("design") == wanted)
    return next(same, None)


def _goes_on(study: Study) -> bool:
    return "launch" in study.settings[STORING]


def store_rest(
    *,
    study: Study,
    items: Sequence[NewItem],
    lists: Sequence[Sequence[int]],
    people: Sequence[User],
    by: User | None,
    finish: Callable[[Study], None],
    report: Report = lambda done: None,
) -> None:
    """Store what is missing of a study that was begun, and open it if it was to be opened.

    ``items``, ``lists`` and ``people`` are as for `setup.store_study` and the same each time;
    ``finish`` does the rest in the last transaction. ``report`` is told how many rows are there.
    """
    before = int(bool(study.background))
    while (there := last_rank(study) - before) < len(items):
        rows = new_items(study=study, items=items[there : there + PORTION])
        with _portion(study):
            if last_rank(study) - before == there:  # else somebody else was quicker
                insert_items(study=study, rows=rows)
        pause_writing()
        report(there)
    done = len(items)
    with _portion(study):
        if not study.places.exists():
            store_places(study=study, lists=lists, before=before)
    for place, user in zip(first_places(study, len(people)), people, strict=True):
        with _portion(study):
            add_member(
                study=study, user=user, role=Membership.Role.ANNOTATOR, by=by, place=place,
                deals=False,
            )  # fmt: skip
        if place is None:
            continue
        while (there := last_position(study, user.pk, Assignment.Part.MAIN)) < len(place.ranks):
            _deal_portion(study, user, place, there, by)
            pause_writing()
            report(done + there)
        done += len(place.ranks)
    with _portion(study) as fresh:
        finish(fresh)
        settings = {key: value for key, value in fresh.settings.items() if key != STORING}
        status = Study.Status.OPEN if fresh.settings[STORING]["launch"] else Study.Status.DRAFT
        Study.objects.filter(pk=study.pk).update(settings=settings, status=status)
        record_event(
            study=study, kind=StudyEvent.Kind.CHANGED, by=by,
            detail={"stored": len(items), "seats": done - len(items)},
        )  # fmt: skip
        if status != fresh.status:
            record_event(
                study=study, kind=StudyEvent.Kind.STATUS, by=by,
                detail={"before": fresh.status, "after": status},
            )  # fmt: skip
    study.refresh_from_db()


def _deal_portion(study: Study, user: User, place: StudyPlace, there: int, by: User | None) -> None:
    """Deal the next assignments of one person, who has ``there`` of them."""
    wanted = place.ranks[there : there + PORTION]
    by_rank = {item.rank: item for item in Item.objects.filter(study=study, rank__in=wanted)}
    items = [by_rank[rank] for rank in wanted]
    with _portion(study):
        if last_position(study, user.pk, Assignment.Part.MAIN) == there:
            assign_items(
                study=study,
                items=items,
                dealt={user.pk: range(len(items))},
                by=by,
                place=place.number,
            )


@contextmanager
def _portion(study: Study) -> Iterator[Study]:
    """Store one portion in one transaction, with the study locked; refused where it is not being
    stored any more.
    """
    with transaction.atomic():
        fresh = Study.objects.select_for_update(no_key=True).filter(pk=study.pk).first()
        if fresh is None or STORING not in fresh.settings or not _goes_on(fresh):
            raise Refused("conflict", "the study was deleted or stored in the meantime")
        yield fresh


def give_up_storing(study: Study) -> None:
    """Remove what was stored of a study, unless it was stored to its end or removed meanwhile."""
    try:
        with _portion(study) as fresh:
            mark_removed(fresh)
    except Refused:
        return
    remove_study(fresh)


def mark_removed(study: Study) -> None:
    """Let nobody begin anything with a study, nor store any more of it."""
    Study.objects.filter(pk=study.pk).update(settings={**study.settings, STORING: {}})


def remove_study(study: Study, report: Callable[[], None] = lambda: None) -> None:
    """Remove a study that was marked as removed, in portions. Stopped halfway it stays marked.

    ``report`` is called after each portion.
    """
    # By the plain manager: the record of a study goes with it, and only then.
    Adjudication._base_manager.filter(item__study=study).delete()
    for rows in (Assignment.objects.filter(study=study), Item.objects.filter(study=study)):
        ordered: Any = rows.order_by("pk").values_list("pk", flat=True)
        while ids := list(ordered[:PORTION]):
            with transaction.atomic():
                rows.filter(pk__in=ids).delete()
            report()
            pause_writing()
    with transaction.atomic():
        # Texts are protected by the consents to them.
        Consent._base_manager.filter(study=study).delete()
        Participant.objects.filter(study=study).delete()
        study.delete()  # its places go with it
