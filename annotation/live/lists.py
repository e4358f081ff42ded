"""Lists of sessions: those that somebody plays, and those of a study, with whose turn it is."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from django.contrib.auth.models import User
from django.db.models import Case, Count, Exists, OuterRef, QuerySet, When, Window
from django.db.models.functions import RowNumber

from annotation.annotator_quality.unanswered import unanswered_places
from annotation.blinding import blind_studies
from annotation.live.duels.selectors import duels_of
from annotation.live.turns import SessionTurn, places_of, whose_turns
from annotation.models import Duel, LiveEvent, LivePlace, LivePlan, LiveSession, Membership, Study
from benchmarks.core.registry import find_system

State = LiveSession.State
OVERSEERS = (Membership.Role.MANAGER, Membership.Role.RESEARCHER, Membership.Role.OBSERVER)
# In a list: all that wait, and so many of those that are over.
MOST_OPEN, MOST_OVER = 200, 20
# Of studies that somebody runs: so many with a table, and so many sessions in each.
MOST_STUDIES, MOST_OF_STUDY = 10, 20


@dataclass(frozen=True)
class SessionRow:
    """A session in a list. ``agent`` and ``task`` are empty where the reader must not know them.

    ``place`` is the reader's own; ``words`` say what it waits for, ``asked`` that it is the reader.
    ``more`` is how many of the same study come after it. ``duel`` is the one of which it is a side.
    ``draft_distance`` is the mean share of words in which replies differ from a draft that was
    offered (0 to 1), None where none was or the list does not say.
    """

    session: LiveSession
    places: Sequence[LivePlace]
    turn: SessionTurn
    words: str
    tone: str
    place: LivePlace | None = None
    asked: bool = False
    agent: str = ""
    task: str = ""
    more: int = 0
    duel: Duel | None = None
    draft_distance: float | None = None

    @property
    def title(self) -> str:
        """Return the session in words, with its side where it is one of a duel."""
        if self.duel is None:
            return f"session {self.session.number}"
        side = "left" if self.duel.left_id == self.session.pk else "right"
        return f"session {self.session.number}, {side} in duel {self.duel.pk}"

    @property
    def over(self) -> bool:
        return self.session.state in LiveSession.OVER

    @property
    def untouched(self) -> bool:
        """Return whether the reader has not begun it."""
        return not self.over and self.place is not None and self.place.ready_at is None

    @property
    def free(self) -> list[LivePlace]:
        """Places that nobody has taken yet."""
        if self.over:
            return []
        return [p for p in self.places if p.player_id is None and not p.stand_in]


def place_words(place: LivePlace) -> str:
    """Return the title of a place, and who plays it."""
    if place.player is not None:
        who = place.player.get_username()
    elif place.stand_in:
        who = f"{place.stand_in} stands in"
    else:
        who = "free"
    return f"{place.title}: {who}"


def live_plan(study: Study) -> LivePlan | None:
    """Return how the sessions of a study are played; None where it has none."""
    return LivePlan.objects.filter(study=study).first()


def mode_title(plan: LivePlan) -> str:
    """Return the mode of a plan in words; its key where the system does not know it any more."""
    titles = (mode.title for mode in find_system(plan.system).modes() if mode.key == plan.mode)
    return next(titles, plan.mode)


@dataclass(frozen=True)
class SessionCounts:
    """The number of a study's sessions in each state; practice rounds count nowhere."""

    waiting: int
    under_way: int
    paused: int
    ended: int
    cancelled: int

    @property
    def all(self) -> int:
        return self.waiting + self.under_way + self.paused + self.ended + self.cancelled


def session_counts(study: Study) -> SessionCounts:
    """Return how far the sessions of a study are, in one query."""
    rows = LiveSession.objects.filter(study=study, practice=False).order_by()
    counts = dict(rows.values_list("state").annotate(count=Count("pk")))
    states = (State.GATHERING, State.RUNNING, State.PAUSED, State.ENDED, State.CANCELLED)
    return SessionCounts(*(counts.get(state, 0) for state in states))


def free_rows(plan: LivePlan, rows: Sequence[SessionRow]) -> int:
    """Return how many more people can join a study whose players are not named."""
    numbers = {row.session.number: row for row in rows}
    firsts = (numbers.get(row[0]) for row in plan.settings.get("rows", []) if row)
    return sum(len(first.free) for first in firsts if first is not None)


def own_rows(user: User) -> list[SessionRow]:
    """Return the sessions in which somebody has a place: what waits for them, then the newest
    ended.

    Of those in a study that they have not begun the next one alone.
    """
    mine = LiveSession.objects.filter(places__player=user).prefetch_related("study").order_by()
    under_way = mine.exclude(state__in=LiveSession.OVER).order_by(
        "-practice", "places__order", "study_id", "number"
    )
    over = mine.filter(state__in=LiveSession.OVER, practice=False).order_by("-ended_at", "-pk")
    rows = session_rows([*under_way[:MOST_OPEN], *over[:MOST_OVER]], reader=user, named=())
    rows = _one_of_each_duel(rows)
    return sorted(_next_ones(rows), key=lambda row: (row.over, not row.asked))


def waiting_rows(user: User) -> list[SessionRow]:
    """Return the sessions that wait for somebody, or go on without them for the moment."""
    return [row for row in own_rows(user) if not row.over]


def _one_of_each_duel(rows: Sequence[SessionRow]) -> list[SessionRow]:
    """Return the rows with one side of each duel: the one that asks its player, or that goes on."""
    duels = [row.duel for row in rows if row.duel is not None]
    if not duels:
        return list(rows)
    sides = {row.session.pk: row for row in rows}
    hidden: set[int] = set()
    for duel in duels:
        left, right = sides.get(duel.left_id), sides.get(duel.right_id)
        if left is not None and right is not None:
            keeps_right = (right.asked, not right.over) > (left.asked, not left.over)
            hidden.add(duel.left_id if keeps_right else duel.right_id)
    return [row for row in rows if row.session.pk not in hidden]


def _next_ones(rows: Sequence[SessionRow]) -> list[SessionRow]:
    """Return the rows without those that come after another one of their study."""
    later = Counter(row.session.study_id for row in rows if row.untouched)
    next_rows: list[SessionRow] = []
    for row in rows:
        study = row.session.study_id
        if row.untouched:
            if study not in later:
                continue
            row = replace(row, more=later.pop(study) - 1)
        next_rows.append(row)
    return next_rows


def study_rows(study: Study, reader: User, *, named: bool) -> list[SessionRow]:
    """Return the sessions of a study; ``named``: the reader may know agents and tasks."""
    sessions = LiveSession.objects.filter(study=study, practice=False).order_by("number")
    rows = session_rows(
        sessions.prefetch_related("study"), reader=reader, named=[study.pk] if named else []
    )
    offered = LiveEvent.objects.filter(session__study=study, kind=LiveEvent.Kind.OFFERED)
    distances: dict[int, list[float]] = {}
    for pk, detail in offered.order_by().values_list("session", "detail"):
        distances.setdefault(pk, []).append(detail["distance"])
    means = {pk: fmean(values) for pk, values in distances.items()}
    return [replace(row, draft_distance=means.get(row.session.pk)) for row in rows]


@dataclass
class OverseenStudy:
    """A study with the first of its sessions that are not over, and the number of all of those.

    There are no ``rows`` where the list has enough studies before it.
    """

    study: Study
    rows: list[SessionRow]
    open: int


def overseen_rows(user: User) -> list[OverseenStudy]:
    """Return the sessions that are not over of the studies that somebody runs or looks on.

    The newest study comes first, and of each the sessions that are in progress. The first
    `MOST_STUDIES` have rows, at most `MOST_OF_STUDY` each; the others follow with their number.
    """
    rows = LiveSession.objects.filter(practice=False, study__in=overseen_studies(user))
    rows = rows.exclude(state__in=LiveSession.OVER).exclude(study__status=Study.Status.ARCHIVED)
    counts = dict(rows.order_by().values_list("study").annotate(count=Count("pk")))
    newest = sorted(counts, reverse=True)
    shown, others = newest[:MOST_STUDIES], newest[MOST_STUDIES:]
    begun = Case(When(state=State.GATHERING, then=1), default=0)
    place = Window(RowNumber(), partition_by="study", order_by=[begun, "number"])
    firsts = rows.filter(study__in=shown).annotate(place=place).filter(place__lte=MOST_OF_STUDY)
    sessions = list(firsts.prefetch_related("study").order_by("-study_id", "place"))
    named = set(shown) - blind_studies(user)
    overseen: dict[int, OverseenStudy] = {}
    for row in session_rows(sessions, reader=user, named=named):
        study = row.session.study
        known = overseen.setdefault(study.pk, OverseenStudy(study, [], counts[study.pk]))
        known.rows.append(row)
    further = Study.objects.in_bulk(others) if others else {}
    return [
        *overseen.values(),
        *(OverseenStudy(further[pk], [], counts[pk]) for pk in others if pk in further),
    ]


def overseen_studies(user: User) -> QuerySet[Study]:
    """Return the studies of sessions that somebody runs or looks on; all for administrators."""
    rows = Study.objects.filter(live__isnull=False)
    if user.is_superuser:
        return rows
    here = Membership.objects.filter(study=OuterRef("pk"), user=user, role__in=OVERSEERS)
    return rows.filter(Exists(here.order_by()))


def session_rows(
    sessions: Iterable[LiveSession], *, reader: User, named: Collection[int]
) -> list[SessionRow]:
    """Return rows of these sessions in six queries, two more where some are over, and one where
    some are sides of duels.

    ``named`` are studies whose agents may be named.
    """
    listed = list(sessions)
    places = places_of(listed)
    turns = whose_turns(listed, places)
    names = _names([session.pk for session in listed if session.study_id in named])
    duels = duels_of(listed)
    over = [session.trajectory_id for session in listed if session.state in LiveSession.OVER]
    unanswered = unanswered_places(over) if over else {}
    return [
        _row(
            session, places.get(session.pk, []), turns[session.pk], reader, names,
            unanswered.get(session.trajectory_id, []), duels.get(session.pk),
        )
        for session in listed
    ]  # fmt: skip


def _names(sessions: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Return the agent and task of sessions by their ids."""
    if not sessions:
        return {}
    rows = LiveSession.objects.filter(pk__in=sessions).order_by()
    names = rows.values_list("pk", "trajectory__run__agent__title", "trajectory__task__external_id")
    return {pk: (agent, task) for pk, agent, task in names}


def _row(
    session: LiveSession,
    places: Sequence[LivePlace],
    turn: SessionTurn,
    reader: User,
    names: dict[int, tuple[str, str]],
    unanswered: Sequence[LivePlace],
    duel: Duel | None,
) -> SessionRow:
    place = next((p for p in places if p.player_id == reader.pk), None)
    words, tone, asked = _words(session, places, turn, place)
    if unanswered:
        silent = " and ".join(each.title.lower() for each in unanswered)
        words, tone = f"{words}, no reply from the {silent}", "warn"
    agent, task = names.get(session.pk, ("", ""))
    return SessionRow(session, places, turn, words, tone, place, asked, agent, task, 0, duel)


def _words(
    session: LiveSession, places: Sequence[LivePlace], turn: SessionTurn, own: LivePlace | None
) -> tuple[str, str, bool]:
    """Return what a session waits for, the tone of its badge, and whether that is the reader."""
    numbers = {place.number for place in turn.places}
    mine = own is not None and own.number in numbers
    others = ", ".join(p.title.lower() for p in places if p.number in numbers)
    match turn.standing:
        case "over":
            return session.get_state_display().lower(), "idle", False
        case "paused":
            return "paused", "idle", False
        case "stuck":
            return "waiting for the manager", "bad", False
        case "background":
            return "the other side is writing", "info", False
        case "gathering" if mine and own is not None and own.ready_at is None:
            return "ready to start", "info", True
        case "gathering":
            free = all(p.player_id is None for p in places if p.number in numbers)
            return f"{'free' if free else 'waiting for'}: {others or 'nobody'}", "idle", False
        case _ if mine:
            return "your turn", "info", True
        case _ if any(p.player_id is None and not p.stand_in for p in turn.places):
            return f"nobody plays the {others}", "warn", False
        case _:
            return f"{others}’s turn", "ok", False
