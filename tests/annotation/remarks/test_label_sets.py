"""Label sets: what a file may say, what a newer version does, and labels from elsewhere."""

import json

import pytest
from django.contrib.auth.models import User

from annotation.errors import Refused
from annotation.imports.labels import import_labels
from annotation.models import FailureLabel, LabelSet, TrajectoryLabel
from annotation.remarks.label_sets import (
    add_label_set,
    file_text,
    files_to_add,
    labels_of,
    read_label_set,
    retire_label_set,
)
from annotation.remarks.selectors import label_menu, label_uses, wordings_of
from annotation.remarks.services import put_label, reword_failure_label, take_label_off
from benchmarks.core.problems import FileRefused
from benchmarks.models import Trajectory
from benchmarks.visibility import EVERYTHING
from tests.annotation.rows import make_runs

pytestmark = [pytest.mark.django_db, pytest.mark.either]
SET = """key: ends
title: Endings
version: 1
source: A note
labels:
  - key: polite
    name: Ends politely
    definition: The last turn thanks.
    example: Thank you.
  - key: kinds
    name: Kinds
    definition: A heading.
  - key: silent
    name: Ends silently
    definition: The last turn is empty.
    parent: kinds
"""


@pytest.fixture
def rows(db: None) -> list[Trajectory]:
    return list(make_runs(tasks=2)[0].trajectories.order_by("pk"))


def faults(text: str) -> str:
    with pytest.raises(FileRefused) as refused:
        read_label_set(text)
    return str(refused.value)


def test_mast_has_14_kinds_in_3_categories() -> None:
    (file,) = files_to_add()
    heads = {label.parent for label in file.labels} - {None}
    assert file.id == "mast@1" and "arXiv 2503.13657" in file.source
    assert len(heads) == 3 and len(file.labels) == 3 + 14
    assert all(label.example for label in file.labels if label.key not in heads)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("key: ends", "key: Ends", "line 1, key: expected up to 20 lowercase letters"),
        ("version: 1", "version: one", "line 3, version: expected a whole number"),
        ("    name: Ends politely\n", "", ", labels 1, name: expected a text of 1 to 80"),
        ("key: silent", "key: polite", "line 13, labels 3, key: expected each key once"),
        ("key: silent", "key: none", "expected a key other than none, found the text 'none'"),
        ("name: Kinds", "name: ends POLITELY", "expected a name that no other label of the set"),
        ("parent: kinds", "parent: nothing", "expected the key of a label above it"),
        ("example:", "sample:", "expected a field among key, name, definition, example, parent"),
        ("version: 1", "version: 1\nkey: b", "expected each name once"),
    ],
)
def test_a_fault_is_told_with_its_line(before: str, after: str, told: str) -> None:
    assert before in SET and told in faults(SET.replace(before, after, 1))


def test_a_set_is_offered_by_heading_and_only_added_once(ann: User) -> None:
    row = add_label_set(text=SET, by=ann)
    assert add_label_set(text=SET, by=ann) == row and LabelSet.objects.count() == 1
    menu = {group.title: [label.title for label in group.labels] for group in label_menu("adapt")}
    assert menu["Endings"] == ["Ends politely", "None of these"]
    assert menu["Endings: Kinds"] == ["Ends silently"]
    assert not {use.label.key for use in label_uses()} & {label.key for label in labels_of("ends")}
    with pytest.raises(Refused, match="version 1 of ends is here with other words"):
        add_label_set(text=SET.replace("thanks", "greets"), by=ann)


def test_a_newer_version_rewords_adds_and_retires(rows: list[Trajectory], ann: User) -> None:
    add_label_set(text=SET, by=ann)
    put = put_label(trajectory=rows[0], key="ends_silent", by=ann)
    newer = SET.replace("version: 1", "version: 2").replace("thanks.", "thanks warmly.")
    newer = newer.replace("key: silent", "key: abrupt").replace("Ends silently", "Ends abruptly")
    add_label_set(text=newer, by=ann)
    polite = FailureLabel.objects.get(key="ends_polite")
    assert polite.definition == "The last turn thanks warmly."
    assert [one.version for one in wordings_of(polite)] == [2, 1]
    state = {label.key: label.retired for label in labels_of("ends")}
    assert state["ends_silent"] and not state["ends_abrupt"]
    put.refresh_from_db()
    assert put.label.key == "ends_silent"  # what was put stays
    with pytest.raises(Refused, match="version 9 of ends is in use, a newer one"):
        add_label_set(text=SET.replace("version: 1", "version: 9"), by=ann)
        add_label_set(text=SET.replace("version: 1", "version: 5"), by=ann)
    with pytest.raises(Refused, match="the words of a set’s labels come from its file"):
        reword_failure_label(label=polite, title="X", definition="Y", by=ann)


def test_a_set_may_be_offered_no_more_and_again(ann: User) -> None:
    add_label_set(text=SET, by=ann)
    retire_label_set(key="ends", by=ann, retired=True)
    assert "Endings" not in {group.title for group in label_menu("adapt")}
    retire_label_set(key="ends", by=ann, retired=False)
    assert "Endings" in {group.title for group in label_menu("adapt")}


def test_exclusive_labels_leave_no_room(rows: list[Trajectory], ann: User, bob: User) -> None:
    add_label_set(text=SET, by=ann)
    none = put_label(trajectory=rows[0], key="ends_none", by=ann)
    with pytest.raises(Refused, match="“Ends politely” and “None of these” exclude each other"):
        put_label(trajectory=rows[0], key="ends_polite", by=ann)
    put_label(trajectory=rows[0], key="ends_polite", by=bob)  # another person may differ
    put_label(trajectory=rows[1], key="ends_polite", by=ann)  # elsewhere there is room
    take_label_off(put=none, by=ann)
    put_label(trajectory=rows[0], key="ends_polite", by=ann)
    with pytest.raises(Refused, match="exclude each other"):
        put_label(trajectory=rows[0], key="ends_none", by=ann)
    with pytest.raises(Refused, match="“Kinds” is a heading"):
        put_label(trajectory=rows[0], key="ends_kinds", by=ann)


def test_labels_from_elsewhere_are_stored_once(rows: list[Trajectory], ann: User) -> None:
    add_label_set(text=SET, by=ann)
    one, two = rows[0].pk, rows[1].pk
    text = f"Trajectory,label,who,turn,note\n{one},polite,rater 1,1,so kind\n"
    text += f"{two},Ends silently,ann,,\n"

    def put(raw: str, name: str = "labels.csv") -> int:
        return import_labels(name=name, raw=raw.encode(), set_key="ends", by=ann, seen=EVERYTHING)

    assert put(text) == 2 and put(text) == 0
    first, second = TrajectoryLabel.objects.order_by("pk")
    assert (first.by.username, first.turn, first.note) == ("rater 1", 1, "so kind")
    assert not first.by.is_active and not first.by.has_usable_password()
    assert (second.by, second.turn) == (ann, None)
    lines = [{"trajectory": one, "label": "ends_silent", "who": "rater 1", "turn": None}]
    assert put("\n".join(map(json.dumps, lines)), "labels.jsonl") == 1


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{one},sad,x,", "line 3, label: expected a label of the set (Ends politely, "),
        ("{one},kinds,x,", "line 3, label: expected a label of the set"),
        ("999,polite,x,", "line 3, trajectory: expected a trajectory that is here, found the"),
        ("{one},polite,x,77", "line 3, turn: expected a turn of trajectory"),
        ("{one},polite,,", "line 3, who: expected a name of at most 100 characters"),
        ("x,polite,x,", "line 3, trajectory: expected the number of a trajectory"),
        ("{one},polite,x,y", "line 3, turn: expected the number of a turn, or nothing"),
        ("{one},polite,bob,", "line 3: expected a label that this person can put there, found the"),
        ("{one},none,x,\n{one},polite,x,", "line 4: expected a label that this person can put"),
        ("{one},polite", "line 3: expected 4 cells, found 2"),
    ],
)
def test_a_file_with_a_fault_stores_nothing(
    rows: list[Trajectory], ann: User, bob: User, line: str, told: str
) -> None:
    add_label_set(text=SET, by=ann)
    text = f"trajectory,label,who,turn\n{rows[1].pk},polite,y,\n{line.format(one=rows[0].pk)}\n"
    with pytest.raises(FileRefused) as refused:
        import_labels(name="a.csv", raw=text.encode(), set_key="ends", by=ann, seen=EVERYTHING)
    assert told in str(refused.value)
    assert not TrajectoryLabel.objects.exists() and not User.objects.filter(username="y").exists()


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"", "expected at least one label"),
        (b"trajectory,label\n1,a\n", "columns trajectory, label, who, turn, note"),
        (b"\xff\xfe", "a byte that is no UTF-8 (byte 1)"),
        (b'{"trajectory": 1', "line 1: expected a JSON object"),
        (b'{"a": 1}\n', "line 1, trajectory: expected the number of a trajectory"),
        (b'{"a": 1}\n[2]', "line 2: expected a JSON object"),
        (b"{" * 5000, "line 1: expected a JSON object"),
        (b'trajectory,label,who\n1,"a,b', "expected a line of CSV"),
    ],
)
def test_what_is_no_file_of_labels_is_refused(ann: User, raw: bytes, told: str) -> None:
    add_label_set(text=SET, by=ann)
    with pytest.raises(FileRefused) as refused:
        import_labels(name="a", raw=raw, set_key="ends", by=ann, seen=EVERYTHING)
    assert told in str(refused.value)


def test_what_ships_is_what_its_name_says() -> None:
    assert read_label_set(file_text("mast@1")).title == "MAST"
    with pytest.raises(Refused):
        file_text("../secret")
