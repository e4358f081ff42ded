"""Labels that people put elsewhere, from a CSV or JSONL file: all of it is stored, or nothing.

The columns are trajectory (its number here), label, who, turn and note; turn and note may be left
out. The same file once more adds nothing, for what a person has put at a place stays there.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.errors import Refused
from annotation.imports.services import pseudonym_account
from annotation.models import FailureLabel
from annotation.remarks.label_sets import headings, labels_of, names_of_labels
from annotation.remarks.selectors import standing_labels
from annotation.remarks.services import put_label
from benchmarks.core.problems import FileRefused, Problem, Problems, Unquoted, json_fault
from benchmarks.core.schemas import MISSING, RowSchema, must, read_row
from benchmarks.models import Trajectory, Turn
from benchmarks.visibility import Visibility

COLUMNS = ("trajectory", "label", "who", "turn", "note")
REQUIRED = COLUMNS[:3]
# Each label is checked and stored by itself, so that more would take a request too long.
MOST_BYTES, MOST_ROWS = 5_000_000, 5_000
LONGEST_NAME, LONGEST_NOTE = 100, 2000
CHUNK = 500


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**31


def _is_text(value: Any, longest: int) -> bool:
    return isinstance(value, str) and len(value) <= longest and "\x00" not in value


class ImportedLabel(RowSchema):
    """One label of a file: on which trajectory or turn, and who put it."""

    trajectory: Annotated[int, must("the number of a trajectory", _is_number)] = MISSING
    label: Annotated[
        str, must("a label of the set", lambda value: _is_text(value, LONGEST_NAME))
    ] = MISSING
    who: Annotated[
        str,
        must(
            f"a name of at most {LONGEST_NAME} characters",
            lambda value: _is_text(value, LONGEST_NAME) and value.strip() and value.isprintable(),
        ),
    ] = MISSING
    turn: Annotated[
        int | None,
        must("the number of a turn, or nothing", lambda value: value is None or _is_number(value)),
    ] = None
    note: Annotated[
        str,
        must(
            f"a text of at most {LONGEST_NOTE:,} characters",
            lambda value: _is_text(value, LONGEST_NOTE),
        ),
    ] = ""


def import_labels(*, name: str, raw: bytes, set_key: str, by: User, seen: Visibility) -> int:
    """Put the labels of a file on trajectories that ``seen`` allows; return how many are new.

    A name that is not the importer's becomes an account with which nobody can sign in. Raises
    `FileRefused` with the line and field of each fault; then nothing is stored.
    """
    problems = Problems()
    rows = [
        (place, row)
        for place, given in _rows(name, raw)
        if (row := read_row(ImportedLabel, place, given, problems)) is not None
    ]
    problems.check()
    if not rows:
        raise FileRefused([Problem(name, "at least one label", "none")])
    labels = labels_of(set_key)
    usable = _checked(rows, labels, seen, problems)
    problems.check()
    people: dict[str, User] = {by.username: by}
    added = 0
    with transaction.atomic():
        for place, row, trajectory, label in usable:
            try:
                who = row.who.strip()
                person = people.get(who) or people.setdefault(who, pseudonym_account(who, False))
                before = standing_labels().filter(
                    trajectory=trajectory, turn=row.turn, label=label, by=person
                )
                if not before.exists():
                    put_label(
                        trajectory=trajectory, key=label.key, by=person, turn=row.turn,
                        note=row.note.strip(),
                    )  # fmt: skip
                    added += 1
            except Refused as error:
                problems.add(place, "a label that this person can put there", Unquoted(str(error)))
        problems.check()
    return added


def _checked(
    rows: list[tuple[str, ImportedLabel]],
    labels: list[FailureLabel],
    seen: Visibility,
    problems: Problems,
) -> list[tuple[str, ImportedLabel, Trajectory, FailureLabel]]:
    """Return the rows with what they name here; what is not here is noted with its place."""
    names, heads = names_of_labels(labels), headings(labels)
    ids = sorted({row.trajectory for _, row in rows})
    trajectories: dict[int, Trajectory] = {}
    turns: set[tuple[int, int]] = set()
    for at in range(0, len(ids), CHUNK):
        some = seen.of(Trajectory.objects.filter(pk__in=ids[at : at + CHUNK]))
        trajectories |= {one.pk: one for one in some.select_related("run__dataset")}
        there = Turn.objects.filter(trajectory__in=ids[at : at + CHUNK]).order_by()
        turns |= set(there.values_list("trajectory", "index"))
    usable = []
    for place, row in rows:
        label = names.get(" ".join(row.label.split()).casefold())
        trajectory = trajectories.get(row.trajectory)
        if trajectory is None:
            problems.add(f"{place}, trajectory", "a trajectory that is here", row.trajectory)
        elif row.turn is not None and (row.trajectory, row.turn) not in turns:
            problems.add(f"{place}, turn", f"a turn of trajectory {row.trajectory}", row.turn)
        elif label is None or label.pk in heads or label.retired:
            known = ", ".join(one.title for one in labels if one.pk not in heads)[:300]
            problems.add(f"{place}, label", f"a label of the set ({known})", row.label)
        else:
            usable.append((place, row, trajectory, label))
    return usable


def _rows(name: str, raw: bytes) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows of a file with their places; JSON lines begin with a brace."""
    if len(raw) > MOST_BYTES:
        raise FileRefused([Problem(name, f"at most {MOST_BYTES:,} bytes", f"{len(raw):,}")])
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        fault = f"a byte that is no UTF-8 (byte {error.start + 1})"
        raise FileRefused([Problem(name, "UTF-8 text", fault)]) from None
    read = _json_rows if text.lstrip()[:1] == "{" else _csv_rows
    for count, row in enumerate(read(name, text), 1):
        if count > MOST_ROWS:
            raise FileRefused([Problem(name, f"at most {MOST_ROWS:,} labels", "more")])
        yield row


def _json_rows(name: str, text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"{name} line {number}"
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FileRefused([Problem(place, "a JSON object", json_fault(error))]) from None
        if not isinstance(value, dict):
            raise FileRefused([Problem(place, "a JSON object", type(value).__name__)])
        yield place, value


def _csv_rows(name: str, text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    head: list[str] | None = None
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            place = f"{name} line {reader.line_num}"
            if head is None:
                head = [cell.strip().lower() for cell in cells]
                missing = [column for column in REQUIRED if column not in head]
                if missing or len(set(head)) < len(head):
                    expected = f"columns {', '.join(COLUMNS)}, each once"
                    raise FileRefused([Problem(place, expected, ", ".join(cells)[:200])])
                continue
            if len(cells) != len(head):
                raise FileRefused([Problem(place, f"{len(head)} cells", str(len(cells)))])
            yield place, _typed(dict(zip(head, cells, strict=True)))
    except csv.Error as error:
        where = f"{name} line {reader.line_num}"
        raise FileRefused([Problem(where, "a line of CSV", str(error))]) from None


def _typed(row: dict[str, str]) -> dict[str, Any]:
    """Return a row with its numbers as such; other text stays, to be refused by name."""
    typed: dict[str, Any] = dict(row)
    for column in ("trajectory", "turn"):
        text = row.get(column, "").strip()
        if text.isascii() and text.isdigit() and len(text) < 11:
            typed[column] = int(text)
        elif column == "turn" and not text:
            typed[column] = None
    return typed
