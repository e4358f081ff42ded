"""Export a study as one JSON document, from which another installation can recreate it.

Values with a meaning only here are under ``local``. Everything else is the same when the study is
exported again from where it was imported.
"""

from collections.abc import Iterable, Iterator, Mapping
from tempfile import TemporaryFile
from typing import Any

from annotation.exports.assignments import ANSWER, CHUNK, TIMES, ExportedEdit, iterate_assignments
from annotation.exports.fingerprints import fingerprints
from annotation.exports.head import (
    Json,
    aliased,
    aliases_of,
    datasets_of,
    own_head,
    runs_of,
    whole_head,
)
from annotation.exports.scope import Scope
from annotation.exports.table import AssignmentTables, rating_columns
from annotation.exports.writing import dumped, json_row_writer, members
from annotation.models import Adjudication, StudyEvent
from annotation.ratings.selectors import meant_annotators

ASSIGNMENT_FIELDS = (
    "item", "part", "position", "state", "skip_reason", "note", "active_ms", "opened_at",
    "submitted_at", "verdicts", "rotation", "revealed", "swapped",
)  # fmt: skip


def document_text(scope: Scope, *, events: bool = False) -> Iterator[str]:
    """Yield the document, piece by piece; parts that grow with the study are never held as a whole.

    Who annotates blind gets the table of their own answers alone, which cannot be imported.
    """
    head = own_head(scope) if scope.blind else whole_head(scope)
    yield "{\n" + ",\n".join(f"{dumped(name)}: {dumped(part)}" for name, part in head.items())
    with TemporaryFile("w+", encoding="utf-8") as spool:
        # Rows come last but are read together with the assignments, so that both tell of one
        # moment.
        if scope.blind:
            for _ in _assignments(scope, spool):
                pass
        else:
            yield from _list("items", map(dumped, _items(scope, runs_of(scope))))
            yield from _list("seats", _assignments(scope, spool))
            yield from _list("adjudications", map(dumped, _adjudications(scope)))
            if events:
                yield from _list("events", map(dumped, _events(scope)))
        columns = [column.name for column in rating_columns(scope)]
        yield f',\n"columns": {dumped(columns)},\n"rows": ['
        spool.seek(0)
        while piece := spool.read(1 << 16):
            yield piece
    yield "\n]\n}\n"


def _list(name: str, rows: Iterable[str]) -> Iterator[str]:
    """Yield a list of the document, a row a line."""
    yield f',\n"{name}": ['
    before = "\n"
    for row in rows:
        yield before + row
        before = ",\n"
    yield "\n]"


# --- What grows with the study --------------------------------------------------------------------


_ITEM = (
    "use", "meant", "asked", "subjects", "expected", "task__dataset", "task__external_id",
    "trajectory__run", "trajectory__profile__level", "trajectory__attempt",
    "other", "other__run", "other__profile__level", "other__attempt",
)  # fmt: skip
_ITEM_ROW = {
    "rank": "item",
    "use": "use",
    "task__dataset__system": "system",
    "task__dataset__name": "dataset",
    "task__dataset__version": "version",
    "task__external_id": "task",
    "task__prompt": "prompt",
    "trajectory__run__level": "level",
    "trajectory__attempt": "attempt",
    "trajectory__run__agent__name": "model",
    "trajectory__termination": "ending",
    "other__run__agent__name": "other_model",
}


def _chunks(scope: Scope, *fields: str) -> Iterator[list[Json]]:
    """Yield the items in their order, some hundreds at a time, with ``fields``."""
    after = 0
    while True:
        rows = scope.study.items.filter(rank__gt=after).order_by("rank")
        rows = rows.annotate(meant=meant_annotators(left_out=scope.gone))
        chunk = list(rows.values("pk", "rank", "task", "trajectory", *fields)[:CHUNK])
        if not chunk:
            return
        yield chunk
        after = chunk[-1]["rank"]


def _items(scope: Scope, runs: Mapping[int, int]) -> Iterator[Json]:
    datasets = datasets_of(scope)
    for chunk in _chunks(scope, *_ITEM):
        prints = fingerprints(chunk)
        for row in chunk:
            task = row["task"]
            yield {
                "number": row["rank"],
                "use": row["use"],
                # With those who withdrew, their submissions and those in their place are all held.
                "wanted": row["meant"],
                **{name: row[name] for name in ("asked", "subjects", "expected")},
                "task": task
                and {"dataset": datasets[row["task__dataset"]], "id": row["task__external_id"]},
                "trajectory": _trajectory(row, "trajectory", runs),
                "other": _trajectory(row, "other", runs),
                "fingerprint": prints.get(row["pk"]),
            }


def _trajectory(row: Mapping[str, Any], name: str, runs: Mapping[int, int]) -> Json | None:
    if row[name] is None:
        return None
    return {
        "run": runs[row[f"{name}__run"]],
        "level": row[f"{name}__profile__level"] or "",
        "attempt": row[f"{name}__attempt"],
    }


def item_rows(scope: Scope) -> Iterator[Json]:
    """Yield the items as a table: what was judged, and what it was made of."""
    for chunk in _chunks(scope, *_ITEM_ROW):
        prints = fingerprints(chunk)
        for row in chunk:
            if row["task"] is not None:
                values = {name: row[field] for field, name in _ITEM_ROW.items()}
                values["dataset"] = f"{values['dataset']} {values.pop('version')}"
                yield {**values, "fingerprint": prints[row["pk"]]}


def _assignments(scope: Scope, spool: Any) -> Iterator[str]:
    """Yield the assignments, while the rows of the table are put aside."""
    tabled, written, before = AssignmentTables(scope), json_row_writer(), "\n"
    where: dict[tuple[str, str, str], str] = {}
    for assignment in iterate_assignments(scope, clients=TIMES):
        for parts in tabled.ratings(assignment):
            spool.write(f"{before}{{{written.line(parts)}}}")
            before = ",\n"
        row = {
            "rater": scope.pseudonyms.rater(assignment.person.user_id),
            **{name: getattr(assignment, name) for name in ASSIGNMENT_FIELDS},
        }
        edits = ", ".join([_edit(edit, where) for edit in assignment.edits])
        yield f'{{{members(row)}, "edits": [{edits}]}}'


def _edit(edit: ExportedEdit, where: dict[tuple[str, str, str], str]) -> str:
    """Return an edit of an assignment; what it does not say is left out. ``where``: places in
    words.
    """
    place = edit.question, edit.subject, edit.aspect
    if place not in where:
        named = {"question": edit.question}
        if edit.subject:
            named["subject"] = edit.subject
        if edit.aspect != ANSWER:
            named["aspect"] = edit.aspect
        where[place] = members(named)
    text = where[place]
    if edit.value is not None:
        text += f', "value": {edit.value}'
    if edit.chosen is not None:
        text += f', "chosen": {dumped(edit.chosen)}'
    if edit.text:
        text += f', "text": {dumped(edit.text)}'
    if edit.undoes is not None:
        text += f', "undoes": {edit.undoes}'
    if edit.unblinded:
        text += ', "unblinded": true'
    if edit.client_time is not None:
        text += f', "client_time": "{edit.client_time.isoformat()}"'
    return f'{{{text}, "at": "{edit.edited_at.isoformat()}"}}'


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
            "saw_raters": row.saw_raters,
            "by": scope.pseudonyms.staff(row.by_id),
            "at": row.at,
        }


def _events(scope: Scope) -> Iterator[Json]:
    """Yield the record of the study; names of accounts become pseudonyms wherever they stand
    alone.
    """
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
