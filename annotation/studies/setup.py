"""Store a study: its items, its members, and assignments made in advance."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, Max, OuterRef

from annotation.assignments.dealing import CHUNK, assign_items
from annotation.assignments.gold import GOLD, gold_ranks
from annotation.assignments.services import EVERYBODY, lock_study
from annotation.audit_log.events import record_event
from annotation.designs.pairs import pair_id
from annotation.errors import Refused
from annotation.models import (
    Assignment,
    Item,
    Membership,
    Participant,
    Study,
    StudyEvent,
    StudyPlace,
)
from annotation.questionnaires import Questionnaire, load_questionnaire
from annotation.questionnaires.requirements import item_contents
from annotation.questionnaires.services import keep_questionnaire
from annotation.studies.places import claim_place, deal_place, first_places, store_places
from benchmarks.models import Trajectory

Use, Role = Item.Use, Membership.Role
# Those that so many people shall judge as is wanted; all others are for everybody.
WANTED = (Use.MAIN, Use.PLAYED)


@dataclass(frozen=True)
class NewItem:
    """An item to store in a study; ``wanted`` people shall judge it.

    Exactly one of ``trajectory`` and ``task`` is given, and with a trajectory perhaps the ``other``
    that it is compared with. Gold and training items are for everybody,
    whatever ``wanted`` says, and hold what is ``expected``: slot → values or marks, and why.
    """

    trajectory: int | None = None
    task: int | None = None
    wanted: int = 1
    use: str = Use.MAIN
    expected: Mapping[str, Any] = field(default_factory=dict)
    other: int | None = None

    @property
    def unit(self) -> str:
        """What it is, as questionnaires name their units."""
        if self.trajectory is None:
            return "task"
        return "trajectory" if self.other is None else "pair"

    @property
    def key(self) -> int:
        """The id of its trajectory, task or pair, as designs name it."""
        if self.trajectory is None:
            return self.task or 0
        return self.trajectory if self.other is None else pair_id(self.trajectory, self.other)


def store_study(
    *,
    study: Study,
    items: Sequence[NewItem],
    lists: Sequence[Sequence[int]] = (),
    people: Sequence[User] = (),
    by: User | None = None,
) -> Study:
    """Store a study with its items in their order: all of it or nothing.

    ``study`` is not saved yet. Each of ``lists`` (indices of ``items``, in their order) becomes a
    place, and ``people`` claim the first of them; a pool has no lists. Who makes the study becomes
    its manager.
    """
    with transaction.atomic():
        begin_study(study=study, items=items, by=by)
        before = last_rank(study)
        add_items(study=study, items=items)
        store_places(study=study, lists=lists, before=before)
        for place, user in zip(first_places(study, len(people)), people, strict=True):
            add_member(study=study, user=user, role=Role.ANNOTATOR, by=by, place=place)
    return study


def begin_study(*, study: Study, items: Sequence[NewItem], by: User | None) -> None:
    """Store a study that is to have these items, without them yet, within a transaction."""
    study.kind = load_questionnaire(study.questionnaire).kind
    keep_questionnaire(study.questionnaire)
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
            other_id=item.other,
            task_id=item.task if item.trajectory is None else tasks[item.trajectory],
            asked=asked[item.key],
            subjects=parts[item.key],
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


def add_member(
    *,
    study: Study,
    user: User,
    role: str,
    by: User | None = None,
    place: StudyPlace | None = None,
    needs_place: bool = False,
    deals: bool = True,
) -> Membership:
    """Give a person a role in a study; giving it twice is harmless.

    Annotators get a number, an assignment at every training item and at the background questions,
    and ``place``, or the next free one where it is taken; ``needs_place`` refuses them where none
    is left. Without ``deals`` the items of the place are left to be dealt. Whoever withdrew comes
    back by `withdrawal.restore_annotator` alone.
    """
    with transaction.atomic():
        left = study.participants.filter(user=user, state__in=Participant.GONE)
        if role == Role.ANNOTATOR and left.exists():
            raise Refused("invalid", "this person left the study; a manager can readmit them")
        member, created = Membership.objects.get_or_create(study=study, user=user, role=role)
        if created:
            record_event(
                study=study, kind=StudyEvent.Kind.ROLE, by=by, about=user, detail={"given": role}
            )
        if role == Role.ANNOTATOR:
            claimed = _add_participant(study, user, place, needs_place)
            if claimed is not None and deals:
                deal_place(study=study, place=claimed, user=user, by=by)
    return member


def _add_participant(
    study: Study, user: User, place: StudyPlace | None, needs_place: bool
) -> StudyPlace | None:
    """Return the place that a new participant claimed, whose items are to be dealt."""
    # Locked, so that two people who come at once get neither the same number nor the same place.
    lock_study(study)
    if Participant.objects.filter(study=study, user=user).exists():
        return None
    claimed = claim_place(study=study, user=user, place=place)
    if claimed is None and needs_place:
        raise Refused("gone", "all places of this study are taken")
    # Whoever comes into a study that is not blind any more is not blind either.
    unblinded_at = study.settings.get("unblinded_at")
    Participant.objects.create(
        study=study, user=user, number=_number(study, claimed), unblinded_at=unblinded_at
    )
    deal_for_all(study=study, user=user)
    return claimed


def _number(study: Study, place: StudyPlace | None) -> int:
    """Return the number of a new participant: that of their place, unless somebody had it before
    them, so that "Annotator 3" is annotator 3.
    """
    if place is not None and not study.participants.filter(number=place.number).exists():
        return place.number
    last = (study.participants, study.places)
    return 1 + max(rows.aggregate(last=Max("number"))["last"] or 0 for rows in last)


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
    keep_questionnaire(study.background)
    if questionnaire.unit != "person":
        raise Refused("invalid", f"{study.background} does not ask about annotators")
    Item.objects.create(
        study=study, use=Use.BACKGROUND, rank=last_rank(study) + 1, wanted=EVERYBODY,
        asked=questionnaire.asked(frozenset()),
    )  # fmt: skip


def _about(
    questionnaire: Questionnaire, items: Iterable[NewItem]
) -> tuple[dict[int, list[str]], dict[int, dict[str, list[str]]]]:
    """Return what each item is asked by its key, and the parts of it that questions are asked
    of.
    """
    rows = list(items)
    kinds = {row.unit for row in rows} - {questionnaire.unit}
    if kinds:
        nouns = {"task": "tasks", "pair": "pairs of trajectories"}
        about, are = (nouns.get(unit, "trajectories") for unit in (questionnaire.unit, kinds.pop()))
        raise Refused("invalid", f"{questionnaire.title!r} is about {about}, not {are}")
    has, parts = item_contents(questionnaire, [row.key for row in rows])
    return {key: questionnaire.asked(has[key]) for key in has}, parts


def _tasks(trajectories: Sequence[int]) -> dict[int, int]:
    tasks: dict[int, int] = {}
    for start in range(0, len(trajectories), CHUNK):
        rows = Trajectory.objects.filter(pk__in=trajectories[start : start + CHUNK])
        tasks |= dict(rows.values_list("pk", "task"))
    return tasks
