"""Studies as their pages show them: whose they are and how far they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Exists, F, OuterRef, QuerySet, Sum
from django.http import QueryDict

from annotation.assignments.gold import gold_given
from annotation.models import Item, Membership, Participant, Study
from annotation.studies.sizes import study_sizes
from benchmarks.paging import Page, page_by_id

Status = Study.Status
SIZE = 30


@dataclass(frozen=True)
class Counts:
    """How many items are in which state."""

    total: int = 0
    submitted: int = 0
    skipped: int = 0

    @property
    def open(self) -> int:
        return self.total - self.ended

    @property
    def ended(self) -> int:
        return self.submitted + self.skipped

    @property
    def percent(self) -> int:
        """Rounded down, so that 100 means that nothing is left."""
        return 100 * self.ended // self.total if self.total else 0


@dataclass(frozen=True)
class StudyRow:
    """A study in a list: this person's roles, their own items, and, where they may know, all."""

    study: Study
    roles: Sequence[str]
    own: Counts
    everybody: Counts | None

    @property
    def shown(self) -> Counts:
        """What the progress bar shows: one's own items first."""
        return self.own if self.own.total else self.everybody or Counts()


class Shown(NamedTuple):
    """A choice of studies in the list: its words, and which states it shows (all where empty)."""

    words: str
    states: tuple[str, ...] = ()


CURRENT, MINE = "", "mine"
SHOWN = {
    CURRENT: Shown("Current", (Status.DRAFT, Status.OPEN, Status.PAUSED, Status.CLOSED)),
    MINE: Shown("Mine"),
    "open": Shown("Open", (Status.OPEN, Status.PAUSED)),
    "drafts": Shown("Drafts", (Status.DRAFT,)),
    "archived": Shown("Archived", (Status.ARCHIVED,)),
}


def studies_of(user: User, *, limit: int | None = None) -> list[StudyRow]:
    """The current studies that this person takes part in, newest first; all for administrators."""
    rows = visible_studies(user).filter(status__in=SHOWN[CURRENT].states)
    return study_rows(user, list(rows.order_by("-pk")[:limit]))


def visible_studies(user: User) -> QuerySet[Study]:
    """The studies that somebody takes part in; all for administrators."""
    return Study.objects.all() if user.is_superuser else own_studies(user)


def own_studies(user: User) -> QuerySet[Study]:
    """The studies in which somebody has a role."""
    here = Membership.objects.filter(study=OuterRef("pk"), user=user)
    return Study.objects.filter(Exists(here.order_by()))


def study_page(user: User, params: QueryDict) -> tuple[list[StudyRow], Page[Study]]:
    """A page of the list of studies, as its filter asks for."""
    chosen = params.get("show", CURRENT)
    rows = own_studies(user) if chosen == MINE else visible_studies(user)
    states = SHOWN.get(chosen, SHOWN[CURRENT]).states
    page = page_by_id(rows.filter(status__in=states) if states else rows, params, size=SIZE)
    return study_rows(user, page.rows), page


def study_rows(user: User, studies: Sequence[Study]) -> list[StudyRow]:
    """These studies with one's roles and how far they are, from counters; six queries."""
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
            own.get(study.pk, Counts()) if annotator in roles.get(study.pk, ()) else Counts(),
            everybody.get(study.pk),
        )
        for study in studies
    ]


def _everybody(studies: Sequence[Study]) -> dict[int, Counts]:
    """How many judgements were made of those that are wanted, as the study's own page counts them.

    Of a pool by what it wants and the gold that was given out, otherwise by what is dealt and what
    is free still: an item that somebody skipped or gave back waits for somebody else.
    """
    people = Participant.objects.filter(study__in=studies).order_by().values("study")
    sums = {
        row["study"]: row
        for row in people.annotate(
            held=Sum("assigned") - Sum("returned"),
            done=Sum("submitted"),
            left_out=Sum("skipped"),
        )
    }
    pools = [study for study in studies if study.dealing == Study.Dealing.POOL]
    free = _free_seats([study for study in studies if study.dealing == Study.Dealing.NAMED])
    sizes = study_sizes(pools) if pools else {}
    gold = gold_given(pools)
    found = {}
    for study in studies:
        row = sums.get(study.pk, {"held": 0, "done": 0, "left_out": 0})
        if study.pk in sizes:
            wanted = max(row["done"], sizes[study.pk].wanted + gold[study.pk])
            found[study.pk] = Counts(wanted, row["done"])
        else:
            held = row["held"] - row["left_out"]
            found[study.pk] = Counts(held + free.get(study.pk, 0), row["done"])
    return found


def _free_seats(studies: Sequence[Study]) -> dict[int, int]:
    """How many judgements nobody makes yet, by an index of what is free."""
    if not studies:
        return {}
    rows = Item.objects.filter(study__in=studies, given__lt=F("wanted"), use=Item.Use.MAIN)
    return dict(rows.order_by().values_list("study").annotate(free=Sum(F("wanted") - F("given"))))


def own_counts(participant: Participant | None) -> Counts:
    """How far this person is in a study, as counted; seats that they gave back are not theirs."""
    if participant is None:
        return Counts()
    held = participant.assigned - participant.returned
    return Counts(held, participant.submitted, participant.skipped)
