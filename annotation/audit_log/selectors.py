"""The record: every edit of an answer and every other action, as one list.

Answers have a table of their own, so two tables are read in id order and merged by time. A page
starts where the last one ended in each table, without counting or sorting, however long the record
is.
"""

import heapq
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, F, Max, OuterRef, Q, QuerySet, Subquery, TextField
from django.db.models.functions import Cast, Coalesce

from annotation.models import Aspect, Invite, Item, Participant, RatingEdit, Study, StudyEvent
from benchmarks.core.ports.labels import plain

ANSWER = "answer"
# What can be asked for: changes of answers, and every kind of event.
KINDS = [(ANSWER, "Answer changed"), *StudyEvent.Kind.choices]
CHUNK = 500
CURSOR = re.compile(r"e(\d{1,18})-a(\d{1,18})")


@dataclass(frozen=True)
class RecordSelection:
    """The filters of the record. ``item`` is a position among somebody's items, ``rank`` the
    number of an item in the study.

    Of the studies in ``blind_in`` there is what concerns ``reader`` alone, who annotates in them.
    """

    who: int | None = None
    kind: str = ""
    item: int | None = None
    rank: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    words: str = ""
    reader: User | None = None
    blind_in: frozenset[int] = frozenset()


@dataclass(frozen=True)
class RecordEntry:
    """One line of the record. ``before`` and ``after`` are as they were stored."""

    id: str
    at: datetime
    study: int
    study_name: str
    kind: str
    by: str
    about: str
    number: int | None
    part: str
    position: int | None
    place: str
    before: Any
    after: Any
    reason: str
    detail: dict[str, Any]
    simulated: bool = False

    @property
    def title(self) -> str:
        """The action in words."""
        if self.kind == StudyEvent.Kind.WITHDRAWN and self.after == Participant.State.ACTIVE:
            return "Annotator readmitted"
        if self.kind == ANSWER and self.before is None:
            return "Answer given"
        return dict(KINDS).get(self.kind, self.kind)

    @property
    def more(self) -> list[tuple[str, str]]:
        """The other facts of the event, name by name."""
        return [(plain(name), as_text(value)) for name, value in self.detail.items()]


@dataclass(frozen=True)
class RecordPage:
    """A page, and where the next one begins (empty at the end)."""

    entries: Sequence[RecordEntry]
    next: str


@dataclass(frozen=True)
class RecordGroup:
    """The events of one person or one item; ``key`` narrows the record to it."""

    key: int
    title: str
    answers: int
    events: int
    last: datetime


PERSON, ITEM = "person", "item"
MOST_GROUPS = 500
COLUMNS = tuple(field.name for field in fields(RecordEntry))


def record_page(
    study: Study | None, asked: RecordSelection, *, after: str = "", size: int = 50
) -> RecordPage:
    """Return one page, newest first, of a study or of all; ``after`` is a page's ``next``."""
    match = CURSOR.fullmatch(after)
    last_event, last_edit = (int(n) for n in match.groups()) if match else (None, None)
    events, edits = _events(study, asked).order_by("-pk"), _edits(study, asked).order_by("-pk")
    if last_event is not None:
        events = events.filter(pk__lt=last_event)
    if last_edit is not None:
        edits = edits.filter(pk__lt=last_edit)
    # Ids order each table; between the two it is the time.
    woven = list(
        heapq.merge(
            _event_entries(events[: size + 1]),
            _edit_entries(edits[: size + 1]),
            key=lambda entry: entry.at,
            reverse=True,
        )
    )
    shown = woven[:size]
    if len(woven) <= size:
        return RecordPage(shown, "")
    seen = {"e": last_event, "a": last_edit}
    for entry in shown:
        seen[entry.id[0]] = int(entry.id[1:])
    top = 10**18 - 1  # of a table that this page showed nothing of, all is still to come
    return RecordPage(shown, f"e{seen['e'] or top}-a{seen['a'] or top}")


def record_groups(study: Study, asked: RecordSelection, by: str) -> tuple[list[RecordGroup], int]:
    """Return how much of the record is about each person or item, the latest changed first, at
    most `MOST_GROUPS`, and how many groups there are.
    """
    events, edits = _event_rows(study, asked), _edit_rows(study, asked)
    if by == ITEM:
        events = events.filter(assignment__isnull=False).annotate(group=F("assignment__item"))
        edits = edits.annotate(group=F("assignment__item"))
    else:
        events = events.annotate(group=Coalesce("about", "by")).exclude(group=None)
        edits = edits.annotate(group=F("assignment__annotator"))
    answers = _count_groups(edits, "edited_at")
    others = _count_groups(events, "at")
    keys = answers.keys() | others.keys()
    none = (0, datetime.min.replace(tzinfo=UTC))
    last = {key: max(answers.get(key, none)[1], others.get(key, none)[1]) for key in keys}
    shown = sorted(keys, key=lambda key: (last[key], key), reverse=True)[:MOST_GROUPS]
    titles = _item_titles(shown) if by == ITEM else _person_titles(study, shown)
    return [
        RecordGroup(
            titles[key][0], titles[key][1], answers.get(key, none)[0], others.get(key, none)[0],
            last[key],
        )
        for key in shown
    ], len(keys)  # fmt: skip


def _count_groups(rows: QuerySet[Any], moment: str) -> dict[int, tuple[int, datetime]]:
    groups = rows.order_by().values_list("group")
    counts = groups.annotate(count=Count("pk"), last=Max(moment))
    return {group: (count, last) for group, count, last in counts}


def _item_titles(keys: Sequence[int]) -> dict[int, tuple[int, str]]:
    rows = Item.objects.filter(pk__in=keys).values_list("pk", "rank", "use", "task__prompt")
    return {
        pk: (
            rank,
            f"Item {rank}{'' if use == Item.Use.MAIN else f' ({use})'}: {prompt or ''}"[:120],
        )
        for pk, rank, use, prompt in rows
    }


def _person_titles(study: Study, keys: Sequence[int]) -> dict[int, tuple[int, str]]:
    people = Participant.objects.filter(study=study, user__in=keys)
    numbers = dict(people.values_list("user", "number"))
    names = User.objects.filter(pk__in=keys).values_list("pk", "username")
    return {pk: (pk, f"{numbers[pk]} {name}" if pk in numbers else name) for pk, name in names}


def record_entries(study: Study | None, asked: RecordSelection) -> Iterator[RecordEntry]:
    """Yield the whole record, oldest first, a few rows at a time."""
    return heapq.merge(
        _in_chunks(_events(study, asked), _event_entries),
        _in_chunks(_edits(study, asked), _edit_entries),
        key=lambda entry: entry.at,
    )


def record_cells(entries: Iterable[RecordEntry]) -> Iterator[Sequence[Any]]:
    """Yield a heading, then one row per entry, for spreadsheets."""
    yield COLUMNS
    for entry in entries:
        values = (getattr(entry, name) for name in COLUMNS)
        yield [as_text(v) if isinstance(v, list | dict) else v for v in values]


def record_lines(entries: Iterable[RecordEntry]) -> Iterator[str]:
    """Yield one JSON object a line."""
    for entry in entries:
        row = {name: getattr(entry, name) for name in COLUMNS}
        yield json.dumps({**row, "at": entry.at.isoformat()}, ensure_ascii=False) + "\n"


def as_text(value: Any) -> str:
    """Return a stored value as it is read."""
    if value is None or value == "":
        return ""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def people_of_record(study: Study | None) -> list[tuple[int, str]]:
    """Return who can be asked for: annotators and members of the study, by id and name."""
    rows = User.objects.all()
    if study is not None:
        here = Q(participations__study=study) | Q(memberships__study=study)
        rows = rows.filter(here | Q(pk=study.created_by_id))
    return list(rows.order_by("username").distinct().values_list("pk", "username")[:500])


# --- Events ---------------------------------------------------------------------------------------


def _number(user: str, study: str) -> Subquery:
    people = Participant.objects.filter(user=OuterRef(user), study=OuterRef(study))
    return Subquery(people.values("number")[:1])


def _event_rows(study: Study | None, asked: RecordSelection) -> QuerySet[StudyEvent]:
    rows = StudyEvent.objects.all() if study is None else StudyEvent.objects.filter(study=study)
    if asked.kind:
        rows = rows.filter(kind=asked.kind) if asked.kind != ANSWER else rows.none()
    if asked.who is not None:
        rows = rows.filter(Q(by=asked.who) | Q(about=asked.who))
    if asked.blind_in:
        own = Q(by=asked.reader) | Q(about=asked.reader)
        rows = rows.filter(~Q(study__in=asked.blind_in) | own)
    if asked.item is not None:
        rows = rows.filter(assignment__position=asked.item)
    if asked.rank is not None:
        rows = rows.filter(assignment__item__rank=asked.rank)
    if asked.since is not None:
        rows = rows.filter(at__gte=asked.since)
    if asked.until is not None:
        rows = rows.filter(at__lte=asked.until)
    if asked.words:
        with_text = rows.alias(detail_text=Cast("detail", TextField())).order_by()
        matches = with_text.filter(detail_text__icontains=asked.words).values("pk")
        invited = Invite.objects.filter(label__icontains=asked.words).values_list("pk", flat=True)
        rows = rows.filter(
            Q(reason__icontains=asked.words)
            | Q(pk__in=matches)
            | Q(kind=StudyEvent.Kind.INVITED, detail__invite__in=list(invited))
        )
    return rows


def _events(study: Study | None, asked: RecordSelection) -> QuerySet[StudyEvent]:
    return (
        _event_rows(study, asked)
        .select_related("study", "by", "about__annotator", "assignment")
        .annotate(number=_number("about", "study"))
    )


def _event_entries(rows: Iterable[StudyEvent]) -> list[RecordEntry]:
    events = list(rows)
    ids = {row.detail["invite"] for row in events if "invite" in row.detail}
    labels = dict(Invite.objects.filter(pk__in=ids).values_list("pk", "label")) if ids else {}
    return [_event_entry(row, labels) for row in events]


def _event_entry(row: StudyEvent, labels: Mapping[int, str]) -> RecordEntry:
    detail = dict(row.detail)
    if label := labels.get(detail.get("invite", 0)):
        detail["label"] = label
    question, subject = detail.pop("question", ""), detail.pop("subject", "")
    about = getattr(row.about, "annotator", None)
    return RecordEntry(
        id=f"e{row.pk}",
        at=row.at,
        study=row.study_id,
        study_name=row.study.name,
        kind=row.kind,
        by=row.by.get_username() if row.by else "",
        about=row.about.get_username() if row.about else "",
        number=vars(row)["number"],
        part=row.assignment.part if row.assignment else "",
        position=row.assignment.position if row.assignment else None,
        place=" ".join(filter(None, (question, subject))),
        before=detail.pop("before", None),
        after=detail.pop("after", None),
        reason=row.reason,
        detail=detail,
        simulated=bool(about and about.is_simulated),
    )


# --- Answers --------------------------------------------------------------------------------------


def _edit_rows(study: Study | None, asked: RecordSelection) -> QuerySet[RatingEdit]:
    rows = RatingEdit.objects.all()
    if study is not None:
        rows = rows.filter(assignment__study=study)
    if asked.kind and asked.kind != ANSWER:
        rows = rows.none()
    if asked.who is not None:
        rows = rows.filter(assignment__annotator=asked.who)
    if asked.blind_in:
        own = Q(assignment__annotator=asked.reader)
        rows = rows.filter(~Q(assignment__study__in=asked.blind_in) | own)
    if asked.item is not None:
        rows = rows.filter(assignment__position=asked.item)
    if asked.rank is not None:
        rows = rows.filter(assignment__item__rank=asked.rank)
    if asked.since is not None:
        rows = rows.filter(edited_at__gte=asked.since)
    if asked.until is not None:
        rows = rows.filter(edited_at__lte=asked.until)
    if asked.words:
        rows = rows.filter(Q(text__icontains=asked.words) | Q(question__icontains=asked.words))
    return rows


def _edits(study: Study | None, asked: RecordSelection) -> QuerySet[RatingEdit]:
    rows = _edit_rows(study, asked)
    rows = rows.select_related("assignment__study", "assignment__annotator__annotator", "by")
    return rows.annotate(
        number=_number("assignment__annotator", "assignment__study"),
        earlier=_earlier(),
    )


def _earlier() -> Subquery:
    """Return the edit that stood in the same place before."""
    place = {name: OuterRef(name) for name in ("assignment", "question", "subject", "aspect")}
    before = RatingEdit.objects.filter(pk__lt=OuterRef("pk"), **place)
    return Subquery(before.order_by("-pk").values("pk")[:1])


def _edit_entries(rows: Iterable[RatingEdit]) -> list[RecordEntry]:
    edits = list(rows)
    ids = [vars(row)["earlier"] for row in edits]
    before = RatingEdit.objects.in_bulk([pk for pk in ids if pk is not None])
    return [_edit_entry(row, before.get(earlier)) for row, earlier in zip(edits, ids, strict=True)]


def _edit_entry(row: RatingEdit, before: RatingEdit | None) -> RecordEntry:
    assignment = row.assignment
    about = getattr(assignment.annotator, "annotator", None)
    aspect = "" if row.aspect == Aspect.ANSWER else row.aspect
    detail: dict[str, Any] = {}
    if row.undoes_id is not None:
        detail["undo"] = True
    if row.unblinded:
        detail["unblinded"] = True
    return RecordEntry(
        id=f"a{row.pk}",
        at=row.edited_at,
        study=assignment.study_id,
        study_name=assignment.study.name,
        kind=ANSWER,
        by=row.by.get_username(),
        about=assignment.annotator.get_username(),
        number=vars(row)["number"],
        part=assignment.part,
        position=assignment.position,
        place=" ".join(filter(None, (row.question, row.subject, aspect))),
        before=_stored_answer(before) if before is not None else None,
        after=_stored_answer(row),
        reason="",
        detail=detail,
        simulated=bool(about and about.is_simulated),
    )


def _stored_answer(row: RatingEdit) -> Any:
    if row.chosen is not None:
        return row.chosen
    if row.value is not None and not row.text:
        return row.value
    return row.text or None


def _in_chunks(
    rows: QuerySet[Any], entries: Callable[[Iterable[Any]], list[RecordEntry]]
) -> Iterator[RecordEntry]:
    stream = rows.order_by("pk").iterator(chunk_size=CHUNK)
    while chunk := list(islice(stream, CHUNK)):
        yield from entries(chunk)
