"""Recruiting links and the people who came by them, as managers see them, and payment lists."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.contrib.auth.models import User

from annotation.annotator_quality.checks import elapsed_by_person
from annotation.models import Participant, Recruit, RecruitingLink, Study
from annotation.studies.progress import AnnotatorProgress, study_progress
from annotation.studies.selectors import ItemCounts

# Stages of people who came by a link, besides those of all annotators.
AWAITS_CHECK, REJECTED = "work being checked", "code refused"
TONES = {AWAITS_CHECK: "warn", REJECTED: "idle"}


class LinkRow(NamedTuple):
    """A link with how many people came by it."""

    link: RecruitingLink
    joined: int
    finished: int
    screened_out: int
    places_left: int

    @property
    def state(self) -> str:
        return "full" if self.link.state == "open" and not self.places_left else self.link.state

    @property
    def tone(self) -> str:
        return {"open": "info", "full": "ok"}.get(self.state, "idle")


class RecruitRow(NamedTuple):
    """Somebody who came by a link, and how far they are (None for who was screened out).

    ``shared``: others used their browser. ``elapsed`` are the seconds that they had submitted items
    open, by the server's clock; None where that is not known.
    """

    recruit: Recruit
    participant: Participant | None
    progress: AnnotatorProgress | None
    shared: bool = False
    elapsed: float | None = None

    @property
    def stage(self) -> str:
        if self.progress is None:
            return "screened out"
        if self.takes_part and self.recruit.awaits_check:
            return AWAITS_CHECK
        if self.takes_part and self.recruit.rejected_at is not None:
            return REJECTED
        return self.progress.stage

    @property
    def tone(self) -> str:
        return TONES.get(self.stage, self.progress.tone if self.progress else "idle")

    @property
    def awaits_check(self) -> bool:
        """Whether a manager decides about the completion code now."""
        return self.stage == AWAITS_CHECK

    @property
    def reasons(self) -> list[str]:
        """Why their work is checked before they get the code."""
        return self.recruit.held_for.splitlines()

    @property
    def takes_part(self) -> bool:
        return self.progress is not None and not self.progress.gone

    @property
    def counts(self) -> ItemCounts:
        return self.progress.counts if self.progress else ItemCounts()

    @property
    def minutes(self) -> float | None:
        """Active minutes on submitted items; None where there are none."""
        if self.participant is None or not self.participant.active_ms:
            return None
        return self.participant.active_ms / 60_000

    @property
    def elapsed_minutes(self) -> float | None:
        """Minutes that they had submitted items open, by the server's clock; None: not known."""
        return None if self.elapsed is None else self.elapsed / 60

    @property
    def signs(self) -> Sequence[str]:
        """The signs of careless work, or why it is checked."""
        shown = self.progress.signs if self.progress else ()
        return list(dict.fromkeys([*self.reasons, *shown]))


def link_of_digest(digest: str) -> RecruitingLink | None:
    """Return the link of a token's digest, with its study."""
    rows = RecruitingLink.objects.select_related("study", "by")
    return rows.filter(digest=digest).first()


def recruit_of(study: Study, user: User) -> Recruit | None:
    """Return how this account came into the study by a recruiting link; None if otherwise."""
    rows = Recruit.objects.select_related("link", "study", "user")
    return rows.filter(study=study, user=user).first()


def recruit_rows(study: Study) -> list[RecruitRow]:
    """Return who came by recruiting links, the newest first."""
    rows = Recruit.objects.filter(study=study).select_related("link", "user")
    recruits = list(rows.order_by("-pk"))
    people = {person.user_id: person for person in Participant.objects.filter(study=study)}
    progress = {row.number: row for row in study_progress(study).people} if recruits else {}
    browsers = Counter(row.browser for row in recruits if row.browser)
    elapsed = elapsed_by_person(study) if recruits else {}
    recruited = []
    for row in recruits:
        person = people.get(row.user_id or 0)
        far = progress.get(person.number) if person is not None else None
        seconds = elapsed.get(row.user_id or 0)
        recruited.append(RecruitRow(row, person, far, browsers[row.browser] > 1, seconds))
    return recruited


def link_rows(study: Study, people: Sequence[RecruitRow]) -> list[LinkRow]:
    """Return the links of a study, the newest first, with how many of the people came by each."""
    joined: Counter[int] = Counter()
    finished: Counter[int] = Counter()
    out: Counter[int] = Counter()
    gone: Counter[int] = Counter()
    for row in people:
        link = row.recruit.link_id
        joined[link] += row.participant is not None
        out[link] += row.participant is None
        finished[link] += row.recruit.finished_at is not None
        gone[link] += row.participant is not None and row.participant.state in Participant.GONE
    links = RecruitingLink.objects.filter(study=study).select_related("by")
    return [
        LinkRow(
            link, joined[link.pk], finished[link.pk], out[link.pk],
            max(0, link.places - joined[link.pk] + gone[link.pk]),
        )
        for link in links
    ]  # fmt: skip


# --- Payment --------------------------------------------------------------------------------------

PAYMENT_COLUMNS = (
    "participant_id", "platform", "platform_study", "platform_session", "annotator", "stage",
    "completion_code", "joined_at", "finished_at", "active_minutes", "elapsed_minutes",
    "items_submitted", "gold_submitted", "items_skipped", "signs", "bonus",
)  # fmt: skip


def payment_rows(people: Sequence[RecruitRow]) -> Iterator[Sequence[Any]]:
    """Yield the payment export, a line for each person in the order in which they came."""
    yield PAYMENT_COLUMNS
    for row in reversed(people):
        came, person = row.recruit, row.participant
        yield (
            came.external_id, came.link.platform, came.platform_study, came.platform_session,
            person.number if person else None, row.stage, came.code, came.at, came.finished_at,
            _rounded(row.minutes), _rounded(row.elapsed_minutes),
            row.counts.submitted, row.counts.gold, row.counts.skipped, "; ".join(row.signs),
            came.bonus,
        )  # fmt: skip


def _rounded(minutes: float | None) -> float | None:
    return None if minutes is None else round(minutes, 1)


class PaymentLists(NamedTuple):
    """The lines to paste at a platform: ids to approve, lines ``id,amount`` and lines
    ``id,code``.
    """

    platform: str
    approve: str
    bonuses: str
    codes: str
    finished: int
    held: int = 0


def payment_lists(people: Sequence[RecruitRow]) -> list[PaymentLists]:
    """Return the lists of each platform that people came from."""
    lists = []
    for platform in RecruitingLink.Platform:
        rows = [row for row in reversed(people) if row.recruit.link.platform == platform]
        mine = [row.recruit for row in rows]
        if not mine:
            continue
        done = [recruit for recruit in mine if recruit.finished_at]
        bonuses = [recruit for recruit in mine if recruit.bonus]
        lists.append(
            PaymentLists(
                platform=platform,
                approve="\n".join(recruit.external_id for recruit in done),
                bonuses="\n".join(
                    f"{recruit.external_id},{recruit.bonus:.2f}" for recruit in bonuses
                ),
                codes="\n".join(f"{recruit.external_id},{recruit.code}" for recruit in done),
                finished=len(done),
                held=sum(row.awaits_check for row in rows),
            )
        )
    return lists
