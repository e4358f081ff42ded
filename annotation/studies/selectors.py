"""Studies as pages show them: roles, counts, size and banner."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Sum
from django.http import QueryDict

from annotation.assignments.gold import GoldCounts, gold_counts
from annotation.models import Item, Membership, Participant, Study, StudyEvent
from annotation.questionnaires import Questionnaire
from annotation.questionnaires.requirements import QuestionUse, asked_counts, asked_questions
from benchmarks.paging import RowPage, page_by_id

Status = Study.Status
SIZE = 30


@dataclass(frozen=True)
class ItemCounts:
    """The number of items by state. Where gold items are told apart, ``gold`` of them were
    submitted, and the other numbers are without them.
    """

    total: int = 0
    submitted: int = 0
    skipped: int = 0
    gold: int = 0

    def without(self, gold: GoldCounts) -> "ItemCounts":
        """Return these counts with gold items apart."""
        return ItemCounts(
            self.total - gold.total, self.submitted - gold.submitted, self.skipped - gold.skipped,
            gold.submitted,
        )  # fmt: skip

    @property
    def open(self) -> int:
        return self.total - self.ended

    @property
    def ended(self) -> int:
        return self.submitted + self.skipped

    @property
    def words(self) -> str:
        """The progress in words, such as "4 of 20 items"."""
        return f"{self.ended} of {self.total} item{'s' * (self.total != 1)}"

    @property
    def percent(self) -> int:
        """Rounded down, so that 100 means that nothing is left."""
        return 100 * self.ended // self.total if self.total else 0


@dataclass(frozen=True)
class StudyRow:
    """A study in a list: this person's roles, their own items, and, where they may know, all."""

    study: Study
    roles: Sequence[str]
    own: ItemCounts
    everybody: ItemCounts | None

    @property
    def shown(self) -> ItemCounts:
        """The counts that the progress bar shows: one's own items first."""
        return self.own if self.own.total else self.everybody or ItemCounts()


class StatusChoice(NamedTuple):
    """A choice of studies in the list: its words, and which states it shows (all where empty)."""

    words: str
    states: tuple[str, ...] = ()


CURRENT, MINE = "", "mine"
SHOWN = {
    CURRENT: StatusChoice("Current", (Status.DRAFT, Status.OPEN, Status.PAUSED, Status.CLOSED)),
    MINE: StatusChoice("Mine"),
    "open": StatusChoice("Open", (Status.OPEN, Status.PAUSED)),
    "drafts": StatusChoice("Drafts", (Status.DRAFT,)),
    "archived": StatusChoice("Archived", (Status.ARCHIVED,)),
}


def studies_of(user: User, *, limit: int | None = None) -> list[StudyRow]:
    """Return the current studies that this person takes part in, newest first; all for
    administrators.
    """
    rows = visible_studies(user).filter(status__in=SHOWN[CURRENT].states)
    return study_rows(user, list(rows.order_by("-pk")[:limit]))


def visible_studies(user: User) -> QuerySet[Study]:
    """Return the studies that somebody takes part in; all for administrators."""
    return Study.objects.filter(removed_at=None) if user.is_superuser else own_studies(user)


def own_studies(user: User) -> QuerySet[Study]:
    """Return the studies in which somebody has a role."""
    here = Membership.objects.filter(study=OuterRef("pk"), user=user)
    return Study.objects.filter(Exists(here.order_by()))


def listed_studies(user: User, chosen: str) -> QuerySet[Study]:
    """Return the studies of the list under one of its choices (``SHOWN``)."""
    rows = own_studies(user) if chosen == MINE else visible_studies(user)
    states = SHOWN.get(chosen, SHOWN[CURRENT]).states
    return rows.filter(status__in=states) if states else rows


def study_page(user: User, params: QueryDict) -> tuple[list[StudyRow], RowPage[Study]]:
    """Return a page of the list of studies, as its filter asks for."""
    page = page_by_id(listed_studies(user, params.get("show", CURRENT)), params, size=SIZE)
    return study_rows(user, page.rows), page


def study_rows(user: User, studies: Sequence[Study]) -> list[StudyRow]:
    """Return these studies with one's roles and how far they are, from counters; six queries."""
    roles: dict[int, list[str]] = {}
    memberships = Membership.objects.filter(user=user, study__in=studies).order_by("pk")
    for pk, role in memberships.values_list("study", "role"):
        roles.setdefault(pk, []).append(Membership.Role(role).label.lower())
    people = Participant.objects.filter(study__in=studies)
    own = {row.study_id: own_counts(row) for row in people.filter(user=user)}
    annotator = Membership.Role.ANNOTATOR.label.lower()
    overseen = [s for s in studies if user.is_superuser or set(roles.get(s.pk, ())) - {annotator}]
    everybody = _everybody(overseen)
    return [
        StudyRow(
            study,
            roles.get(study.pk, ["administrator"]),
            own.get(study.pk, ItemCounts())
            if annotator in roles.get(study.pk, ())
            else ItemCounts(),
            everybody.get(study.pk),
        )
        for study in studies
    ]


def _everybody(studies: Sequence[Study]) -> dict[int, ItemCounts]:
    """Return how many judgements were made of those that are wanted, as the study's own page counts
    them, with gold items apart.

    Of a pool by what it wants, otherwise by what is dealt and what is free still: an item that
    somebody skipped or gave back waits for somebody else. What people submitted who have left
    counts no more.
    """
    gone = Q(state__in=Participant.GONE)
    people = Participant.objects.filter(study__in=studies).order_by().values("study")
    sums = {
        row["study"]: row
        for row in people.annotate(
            held=Sum(F("assigned") - F("returned"), filter=~gone, default=0),
            done=Sum("submitted", filter=~gone, default=0),
            left_out=Sum("skipped", filter=~gone, default=0),
            gone=Sum("submitted", filter=gone, default=0),
        )
    }
    pools = [study for study in studies if study.dealing == Study.Dealing.POOL]
    free = _free_assignments([study for study in studies if study.dealing == Study.Dealing.NAMED])
    sizes = study_sizes(pools) if pools else {}
    gold = gold_counts(studies)
    left: set[tuple[int, int]] = set()
    if any(gold.values()):
        rows = Participant.objects.filter(gone, study__in=gold.keys()).order_by()
        left = set(rows.values_list("study", "user"))
    counts_of = {}
    for study in studies:
        row = sums.get(study.pk, {"held": 0, "done": 0, "left_out": 0, "gone": 0})
        apart = [n for user, n in gold[study.pk].items() if (study.pk, user) not in left]
        hidden = sum(counts.submitted for counts in apart)
        done = row["done"] - hidden
        if study.pk in sizes:
            away = [n for user, n in gold[study.pk].items() if (study.pk, user) in left]
            uncounted = row["gone"] - sum(counts.submitted for counts in away)
            total = max(done, sizes[study.pk].wanted - uncounted)
        else:
            held = row["held"] - row["left_out"]
            held -= sum(counts.total - counts.skipped for counts in apart)
            total = held + free.get(study.pk, 0)
        counts_of[study.pk] = ItemCounts(total, done, gold=hidden)
    return counts_of


def _free_assignments(studies: Sequence[Study]) -> dict[int, int]:
    """Return how many judgements nobody makes yet, by an index of what is free."""
    if not studies:
        return {}
    rows = Item.objects.filter(study__in=studies, given__lt=F("wanted"), use=Item.Use.MAIN)
    return dict(rows.order_by().values_list("study").annotate(free=Sum(F("wanted") - F("given"))))


def own_counts(participant: Participant | None) -> ItemCounts:
    """Return how far this person is in a study, as counted; assignments that they gave back are not
    theirs.
    """
    if participant is None:
        return ItemCounts()
    held = participant.assigned - participant.returned
    return ItemCounts(held, participant.submitted, participant.skipped)


Kind, Use = StudyEvent.Kind, Item.Use
DAY = 24 * 3600


class StudySize(NamedTuple):
    """The number of a study's items, gold apart, and of the judgements they want in all."""

    items: int = 0
    wanted: int = 0
    gold: int = 0


def study_sizes(studies: Sequence[Study]) -> dict[int, StudySize]:
    """Return how much each study asks for.

    Kept until a study's items change, which its record tells; one query where all is kept.
    """
    ids = [study.pk for study in studies]
    keys = _keys(ids, "study-size")
    kept = cache.get_many(list(keys.values()))
    sizes = {pk: StudySize(*kept[key]) for pk, key in keys.items() if key in kept}
    missing = [pk for pk in ids if pk not in sizes]
    if missing:
        rows = Item.objects.filter(study__in=missing, use__in=(Use.MAIN, Use.GOLD))
        counted = rows.order_by().values("study").annotate(
            items=Count("pk", filter=Q(use=Use.MAIN)),
            wanted=Sum("wanted", filter=Q(use=Use.MAIN), default=0),
            gold=Count("pk", filter=Q(use=Use.GOLD)),
        )  # fmt: skip
        sums = {
            row["study"]: StudySize(row["items"], row["wanted"], row["gold"]) for row in counted
        }
        sizes |= {pk: sums.get(pk, StudySize()) for pk in missing}
        cache.set_many({keys[pk]: tuple(sizes[pk]) for pk in missing if pk in keys}, DAY)
    return sizes


def questions_left_out(study: Study, questionnaire: Questionnaire) -> list[QuestionUse]:
    """Return the questions that are not asked of every item, and why; kept like the sizes."""
    key = _keys([study.pk], "study-asked").get(study.pk)
    counts: dict[tuple[str, ...], int] | None = cache.get(key) if key else None
    if counts is None:
        counts = asked_counts(study)
        if key:
            cache.set(key, counts, DAY)
    return [row for row in asked_questions(questionnaire, counts) if row.left_out]


def _keys(studies: Sequence[int], name: str) -> dict[int, str]:
    """Return where something about the items of a study is kept, until its record tells of a
    change.
    """
    events = StudyEvent.objects.filter(study__in=studies, kind__in=(Kind.CREATED, Kind.CHANGED))
    latest = events.order_by().values("study").annotate(last=Max("pk"))
    return {pk: f"{name}:{pk}:{last}" for pk, last in latest.values_list("study", "last")}
