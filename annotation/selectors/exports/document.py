"""A study as one JSON document, from which another installation can make the same study.

What has a meaning here alone stands under ``local``; everything else is equal when the study is
exported from where it was imported.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from tempfile import TemporaryFile
from typing import Any

from django.db.models import QuerySet

from annotation.models import Adjudication, Item, StudyEvent
from annotation.selectors.exports.fingerprints import fingerprints
from annotation.selectors.exports.head import (
    Json,
    aliased,
    aliases_of,
    datasets_of,
    own_head,
    runs_of,
    whole_head,
)
from annotation.selectors.exports.scope import Scope
from annotation.selectors.exports.seats import CHUNK, Seat, seats
from annotation.selectors.exports.table import Tabled, rating_columns

SEAT_FIELDS = (
    "item", "part", "position", "state", "skip_reason", "active_ms", "opened_at", "submitted_at",
)  # fmt: skip
_ITEM_PARTS = ("task__dataset", "trajectory__profile", "trajectory__run__agent")


def document_text(scope: Scope, *, events: bool = False) -> Iterator[str]:
    """The document, piece by piece; parts that grow with the study are never held as a whole.

    Who annotates blind gets the table of their own answers alone, which cannot be imported.
    """
    head = own_head(scope) if scope.blind else whole_head(scope)
    yield "{\n" + ",\n".join(f"{dumped(name)}: {dumped(part)}" for name, part in head.items())
    with TemporaryFile("w+", encoding="utf-8") as spool:
        # Rows come last but are read together with the seats, so that both tell of one moment.
        if scope.blind:
            for _ in _seats(scope, spool):
                pass
        else:
            yield from _list("items", _items(scope, runs_of(scope)))
            yield from _list("seats", _seats(scope, spool))
            yield from _list("adjudications", _adjudications(scope))
            if events:
                yield from _list("events", _events(scope))
        columns = [column.name for column in rating_columns(scope)]
        yield f',\n"columns": {dumped(columns)},\n"rows": ['
        spool.seek(0)
        while piece := spool.read(1 << 16):
            yield piece
    yield "\n]\n}\n"


def dumped(value: Any, indent: int | None = None) -> str:
    """A value as JSON, with times as ISO 8601."""
    return json.dumps(value, ensure_ascii=False, default=_plain, indent=indent)


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no place in an export")


def _list(name: str, rows: Iterable[Json]) -> Iterator[str]:
    """A list of the document, a row a line."""
    yield f',\n"{name}": ['
    before = "\n"
    for row in rows:
        yield before + dumped(row)
        before = ",\n"
    yield "\n]"


# --- What grows with the study --------------------------------------------------------------------


def _items(scope: Scope, runs: Mapping[int, int]) -> Iterator[Json]:
    datasets = datasets_of(scope)
    after = 0
    while chunk := list(_item_chunk(scope, after)):
        after = chunk[-1].rank
        prints = fingerprints(chunk)
        for item in chunk:
            row: Json = {
                "number": item.rank,
                "use": item.use,
                "wanted": item.wanted,
                "asked": item.asked,
                "subjects": item.subjects,
                "expected": item.expected,
                "task": None,
                "trajectory": None,
                "fingerprint": prints.get(item.pk),
            }
            if item.task is not None:
                row["task"] = {
                    "dataset": datasets[item.task.dataset_id], "id": item.task.external_id
                }  # fmt: skip
            if item.trajectory is not None:
                profile = item.trajectory.profile
                row["trajectory"] = {
                    "run": runs[item.trajectory.run_id],
                    "level": profile.level if profile else "",
                    "attempt": item.trajectory.attempt,
                }
            yield row


def _item_chunk(scope: Scope, after: int) -> QuerySet[Item]:
    rows = scope.study.items.filter(rank__gt=after).order_by("rank")
    return rows.select_related("task", "trajectory__profile").defer("task__payload")[:CHUNK]


def item_rows(scope: Scope) -> Iterator[Json]:
    """The items as a table: what was judged, and what it was made of."""
    after = 0
    while chunk := list(_item_chunk(scope, after).select_related(*_ITEM_PARTS)):
        after = chunk[-1].rank
        prints = fingerprints(chunk)
        for item in chunk:
            if item.task is None:
                continue
            talk, dataset = item.trajectory, item.task.dataset
            yield {
                "item": item.rank,
                "use": item.use,
                "system": dataset.system,
                "dataset": str(dataset),
                "task": item.task.external_id,
                "prompt": item.task.prompt,
                "level": talk.run.level if talk else None,
                "attempt": talk.attempt if talk else None,
                "model": talk.run.agent.name if talk else None,
                "ending": talk.termination if talk else None,
                "fingerprint": prints[item.pk],
            }


def _seats(scope: Scope, spool: Any) -> Iterator[Json]:
    """The seats, while the rows of the table are put aside."""
    tabled, before = Tabled(scope), "\n"
    for seat in seats(scope):
        for row in tabled.ratings(seat):
            spool.write(before + dumped(row))
            before = ",\n"
        yield {
            "rater": scope.pseudonyms.rater(seat.person.user_id),
            **{name: getattr(seat, name) for name in SEAT_FIELDS},
            "edits": _edits(seat),
        }


def _edits(seat: Seat) -> list[Json]:
    """The edits of a seat; what an edit does not say is left out."""
    made = []
    for edit in seat.edits:
        row: Json = {"question": edit.question}
        if edit.subject:
            row["subject"] = edit.subject
        if edit.aspect != "answer":
            row["aspect"] = edit.aspect
        if edit.value is not None:
            row["value"] = edit.value
        if edit.chosen is not None:
            row["chosen"] = edit.chosen
        if edit.text:
            row["text"] = edit.text
        if edit.undoes is not None:
            row["undoes"] = edit.undoes
        if edit.unblinded:
            row["unblinded"] = True
        if edit.client_time is not None:
            row["client_time"] = edit.client_time
        row["at"] = edit.edited_at
        made.append(row)
    return made


def _adjudications(scope: Scope) -> Iterator[Json]:
    rows = Adjudication.objects.filter(item__study=scope.study).select_related("item")
    for row in rows.order_by("pk").iterator(CHUNK):
        yield {
            "item": row.item.rank,
            "question": row.question,
            "subject": row.subject,
            "value": row.value,
            "chosen": row.chosen,
            "reason": row.reason,
            "revealed": row.revealed,
            "by": scope.pseudonyms.staff(row.by_id),
            "at": row.at,
        }


def _events(scope: Scope) -> Iterator[Json]:
    """The record of the study; names of accounts become pseudonyms wherever they stand alone."""
    seen = {person.user_id for person in scope.people}
    everybody = scope.study.participants.values_list("user", flat=True)
    gone = set(everybody) - seen
    aliases = aliases_of(scope)
    rows = StudyEvent.objects.filter(study=scope.study).exclude(about__in=gone)
    rows = rows.exclude(by__in=gone).select_related("assignment__item", "by", "about")
    for row in rows.order_by("pk").iterator(CHUNK):
        yield {
            "kind": row.kind,
            "at": row.at,
            "by": _who(scope, row.by_id, seen),
            "about": _who(scope, row.about_id, seen),
            "item": row.assignment.item.rank if row.assignment else None,
            "reason": row.reason,
            "detail": aliased(row.detail, aliases),
        }


def _who(scope: Scope, user: int | None, raters: set[int]) -> str | None:
    if user is None:
        return None
    return scope.pseudonyms.rater(user) if user in raters else scope.pseudonyms.staff(user)
