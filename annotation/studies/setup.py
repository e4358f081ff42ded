"""Store a study: its items, its members, and assignments made in advance."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef

from annotation.assignments.gold import GOLD, gold_ranks
from annotation.assignments.services import EVERYBODY, lock_study
from annotation.errors import Refused
from annotation.models import Assignment, Item, Membership, Participant, Study, StudyEvent
from annotation.questionnaires import Questionnaire, load_questionnaire
from annotation.questionnaires.requirements import (
    task_content,
    task_parts,
    trajectory_content,
    trajectory_parts,
)
from annotation.record.events import record_event
from benchmarks.models import Trajectory

CHUNK = 500
Use, Part, Role = Item.Use, Assignment.Part, Membership.Role
PARTS = {
    Use.MAIN: Part.MAIN,
    Use.GOLD: Part.MAIN,
    Use.TRAINING: Part.TRAINING,
    Use.BACKGROUND: Part.BACKGROUND,
    Use.PLAYED: Part.MAIN,
}
# Those that so many people shall judge as is wanted; all others are for everybody.
WANTED = (Use.MAIN, Use.PLAYED)


@dataclass(frozen=True)
class NewItem:
    """An item to store in a study; ``wanted`` people shall judge it.

    Exactly one of ``trajectory`` and ``task`` is given. Gold and training items are for everybody,
    whatever ``wanted`` says, and hold what is ``expected``: slot → values or marks, and why.
    """

    trajectory: int | None = None
    task: int | None = None
    wanted: int = 1
    use: str = Use.MAIN
    expected: Mapping[str, Any] = field(default_factory=dict)


def store_study(
    *,
    study: Study,
    items: Sequence[NewItem],
    people: Sequence[User] = (),
    dealt: Mapping[int, Sequence[int]] | None = None,
    by: User | None = None,
) -> Study:
    """Store a study with its items in their order: all of it or nothing.

    ``study`` is not saved yet. ``dealt`` says which items (by place in ``items``) each of
    ``people`` (by id) gets, in their order; in a pool nobody gets any beforehand. Who makes the
    study becomes its manager.
    """
    with transaction.atomic():
        begin_study(study=study, items=items, by=by)
        stored = add_items(study=study, items=items)
        for user in people:
            add_member(study=study, user=user, role=Role.ANNOTATOR, by=by)
        if dealt:
            assign_items(study=study, items=stored, dealt=dealt, by=by)
    return study


def begin_study(*, study: Study, items: Sequence[NewItem], by: User | None) -> None:
    """Store a study that is to have these items, without them yet, within a transaction."""
    study.kind = load_questionnaire(study.questionnaire).kind
    study.trains = any(item.use == Use.TRAINING for item in items)
    study.settings = {**study.settings, GOLD: []}
    study.save()
    record_event(
        study=study, kind=StudyEvent.Kind.CREATED, by=by,
        detail={
            "name": study.name, "questionnaire": study.questionnaire, "seed": study.seed,
            "dealing": study.dealing, "blinded": study.blinded, "items": len(items),
        },
    )  # fmt: skip
    if by is not None:
        add_member(study=study, user=by, role=Role.MANAGER, by=by)
    if study.background:
        _store_background(study)


def add_items(*, study: Study, items: Sequence[NewItem]) -> list[Item]:
    """Add items behind those that the study has; what each is asked is fixed here."""
    return insert_items(study=study, rows=new_items(study=study, items=items))


def new_items(*, study: Study, items: Sequence[NewItem]) -> list[Item]:
    """Return the rows that items would be, behind those that the study has. Reads only."""
    questionnaire = load_questionnaire(study.questionnaire)
    asked, parts = _about(questionnaire, items)
    last = last_rank(study)
    tasks = _tasks([item.trajectory for item in items if item.trajectory is not None])
    rows = [
        Item(
            study=study,
            use=item.use,
            trajectory_id=item.trajectory,
            task_id=item.task if item.trajectory is None else tasks[item.trajectory],
            asked=asked[item.trajectory, item.task],
            subjects=parts[item.trajectory, item.task],
            expected=dict(item.expected),
            rank=rank,
            wanted=item.wanted if item.use in WANTED else EVERYBODY,
        )
        for rank, item in enumerate(items, last + 1)
    ]
    empty = sum(not row.asked for row in rows)
    if empty:
        raise Refused(
            "invalid",
            f"{empty} of {len(rows)} items have nothing that {questionnaire.title!r} asks about",
        )
    return rows


def last_rank(study: Study) -> int:
    """Return the rank of the last item of a study, 0 where it has none; by an index."""
    return study.items.aggregate(last=Max("rank"))["last"] or 0


def insert_items(*, study: Study, rows: Sequence[Item]) -> list[Item]:
    """Store the rows that `new_items` made, within a transaction."""
    stored = Item.objects.bulk_create(rows, batch_size=CHUNK)
    _keep_gold(study, [row.rank for row in rows if row.use == Use.GOLD])
    return stored


def _keep_gold(study: Study, ranks: Sequence[int]) -> None:
    """Remember which items are gold, so that they are found among a hundred thousand."""
    if not ranks:
        return
    fresh = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    kept = fresh.settings.get(GOLD)
    fresh.settings[GOLD] = gold_ranks(fresh) if kept is None else [*kept, *ranks]
    fresh.save(update_fields=["settings"])
    study.settings = fresh.settings


def assign_items(
    *,
    study: Study,
    items: Sequence[Item],
    dealt: Mapping[int, Sequence[int]],
    by: User | None,
) -> None:
    """Give each person (by id) items (by place in ``items``), in order, behind what they have.

    The counters of assignments and people are brought up to date in the same transaction.
    """
    with transaction.atomic():
        _deal(study, items, dealt, by)


def _deal(
    study: Study, items: Sequence[Item], dealt: Mapping[int, Sequence[int]], by: User | None
) -> None:
    lock_study(study)  # items of two deals would else be locked in two orders
    people = {
        p.user_id: p
        for p in study.participants.filter(user__in=dealt).select_for_update(no_key=True)
    }
    last: dict[tuple[int, str], int] = {}
    parts = {PARTS[Use(items[place].use)] for places in dealt.values() for place in places}
    for user, part in product(dealt, {Part.MAIN, *parts}):
        last[user, part] = last_position(study, user, part)
    assignments: Counter[int] = Counter()
    assigned: list[Assignment] = []
    for user, places in dealt.items():
        for place in places:
            item = items[place]
            part = PARTS[Use(item.use)]
            last[user, part] += 1
            assignments[item.pk] += 1
            assigned.append(
                Assignment(
                    study=study,
                    item=item,
                    annotator_id=user,
                    trajectory_id=item.trajectory_id,
                    part=part,
                    position=last[user, part],
                )  # fmt: skip
            )
    Assignment.objects.bulk_create(assigned, batch_size=CHUNK)
    _count_given(assignments)
    for user, places in dealt.items():
        people[user].assigned = last[user, Part.MAIN]
        people[user].save(update_fields=["assigned"])
        record_event(
            study=study, kind=StudyEvent.Kind.ASSIGNED, by=by, about=user,
            detail={"items": len(places)},
        )  # fmt: skip


def last_position(study: Study, user: int, part: str) -> int:
    """Return the position of somebody's last assignment in a part, 0 where they have none; by an
    index.
    """
    rows = Assignment.objects.filter(study=study, annotator=user, part=part)
    return rows.aggregate(last=Max("position"))["last"] or 0


def _count_given(assignments: Mapping[int, int]) -> None:
    """Take so many assignments of each item (by id), as they are now and not as they were read."""
    for count in sorted(set(assignments.values())):
        ids = [pk for pk, wanted in assignments.items() if wanted == count]
        for start in range(0, len(ids), CHUNK):
            rows = Item.objects.filter(
                pk__in=ids[start : start + CHUNK], given__lte=F("wanted") - count
            )
            if rows.update(given=F("given") + count) < len(ids[start : start + CHUNK]):
                raise Refused("invalid", "an item was given to more people than it allows")


def add_member(*, study: Study, user: User, role: str, by: User | None = None) -> Membership:
    """Give a person a role in a study; giving it twice is harmless.

    Annotators get a number, and an assignment at every training item and at the background
    questions. Whoever withdrew comes back by `withdrawal.restore_annotator` alone.
    """
    with transaction.atomic():
        left = study.participants.filter(user=user, state__in=Participant.GONE)
        if role == Role.ANNOTATOR and left.exists():
            raise Refused("invalid", "this person left the study; a manager can readmit them")
        member, made = Membership.objects.get_or_create(study=study, user=user, role=role)
        if made:
            record_event(
                study=study, kind=StudyEvent.Kind.ROLE, by=by, about=user, detail={"given": role}
            )
        if role == Role.ANNOTATOR:
            _add_participant(study, user)
    return member


def _add_participant(study: Study, user: User) -> None:
    # Locked, so that two people who come at once do not get the same number.
    lock_study(study)
    if Participant.objects.filter(study=study, user=user).exists():
        return
    number = (study.participants.aggregate(last=Max("number"))["last"] or 0) + 1
    # Whoever comes into a study that is not blind any more is not blind either.
    unblinded_at = study.settings.get("unblinded_at")
    Participant.objects.create(study=study, user=user, number=number, unblinded_at=unblinded_at)
    deal_for_all(study=study, user=user)


def deal_for_all(*, study: Study, user: User) -> None:
    """Give somebody the training items and background questions that they have not had."""
    rows = study.items.filter(use__in=[Use.TRAINING, Use.BACKGROUND]).order_by("rank")
    had = Assignment.objects.filter(item=OuterRef("pk"), annotator=user)
    items = list(rows.exclude(Exists(had)))
    if items:
        assign_items(study=study, items=items, dealt={user.pk: range(len(items))}, by=None)


def _store_background(study: Study) -> None:
    """Store the background questions as an item like others, with the annotator as its subject."""
    questionnaire = load_questionnaire(study.background)
    if questionnaire.unit != "person":
        raise Refused("invalid", f"{study.background} does not ask about annotators")
    Item.objects.create(
        study=study, use=Use.BACKGROUND, rank=last_rank(study) + 1, wanted=EVERYBODY,
        asked=questionnaire.asked(frozenset()),
    )  # fmt: skip


Key = tuple[int | None, int | None]


def _about(
    questionnaire: Questionnaire, items: Iterable[NewItem]
) -> tuple[dict[Key, list[str]], dict[Key, dict[str, list[str]]]]:
    """Return what each item is asked, and the parts of it that questions are asked of."""
    keys = [(item.trajectory, item.task) for item in items]
    if questionnaire.unit == "task":
        tasks = [task for trajectory, task in keys if task is not None and trajectory is None]
        if len(tasks) < len(keys):
            raise Refused("invalid", f"{questionnaire.title!r} is about tasks, not trajectories")
        has, parts = task_content(tasks), task_parts(tasks, questionnaire.wants)
        return (
            {key: questionnaire.asked(has[key[1] or 0]) for key in keys},
            {key: parts[key[1] or 0] for key in keys},
        )
    trajectories = [pk for pk, _ in keys if pk is not None]
    if len(trajectories) < len(keys):
        raise Refused("invalid", f"{questionnaire.title!r} is about trajectories, not tasks")
    has = trajectory_content(trajectories)
    parts = trajectory_parts(trajectories, questionnaire.wants)
    return (
        {key: questionnaire.asked(has[key[0] or 0]) for key in keys},
        {key: parts[key[0] or 0] for key in keys},
    )


def _tasks(trajectories: Sequence[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for start in range(0, len(trajectories), CHUNK):
        rows = Trajectory.objects.filter(pk__in=trajectories[start : start + CHUNK])
        found |= dict(rows.values_list("pk", "task"))
    return found
