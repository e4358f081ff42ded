"""Labels and notes beside trajectories: what is kept, what is refused, who may change it."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from annotation.errors import Refused
from annotation.models import FailureLabel, LabelRemoval, Remark, RemarkText, TrajectoryLabel
from annotation.remarks.selectors import (
    label_menu,
    label_uses,
    labels_of,
    notes_of,
    wordings_of,
)
from annotation.remarks.services import (
    add_remark,
    delete_remark,
    make_failure_label,
    put_label,
    retire_failure_label,
    reword_failure_label,
    reword_remark,
    take_label_off,
)
from benchmarks.core.registry import EXTERNAL
from benchmarks.models import Trajectory, Turn
from tests.annotation.rows import make_person, make_runs

pytestmark = [pytest.mark.django_db, pytest.mark.either]
KEY = "locally_repetitive"


@pytest.fixture
def row(db: None) -> Trajectory:
    """Two turns; the first plan is ``1. Take the hammer. 2. Hit it.``"""
    return make_runs(tasks=2)[0].trajectories.order_by("pk")[0]


def test_a_label_is_put_once_and_taken_off_by_a_row(row: Trajectory, ann: User, bob: User) -> None:
    put = put_label(trajectory=row, key=KEY, by=ann, turn=2)
    assert put_label(trajectory=row, key=KEY, by=ann, turn=2) == put
    put_label(trajectory=row, key=KEY, by=bob, turn=2)  # two people say the same apart
    put_label(trajectory=row, key=KEY, by=ann)
    found = labels_of([row.pk])[row.pk]
    assert [(label.turn, label.by) for label in found] == [(2, "ann"), (2, "bob"), (None, "ann")]
    take_label_off(put=put, by=ann)
    take_label_off(put=put, by=ann)
    assert [label.by for label in labels_of([row.pk])[row.pk]] == ["bob", "ann"]
    assert (TrajectoryLabel.objects.count(), LabelRemoval.objects.count()) == (3, 1)
    again = put_label(trajectory=row, key=KEY, by=ann, turn=2)
    assert again.pk != put.pk


def test_only_who_put_a_label_takes_it_off(row: Trajectory, ann: User, bob: User) -> None:
    put = put_label(trajectory=row, key=KEY, by=ann)
    with pytest.raises(Refused, match="only who put a label"):
        take_label_off(put=put, by=bob)
    take_label_off(put=put, by=make_person("root", superuser=True))
    assert labels_of([row.pk]) == {}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param({"key": "no_such"}, "no such label", id="unknown"),
        pytest.param({"turn": 3}, "no turn 3", id="no such turn"),
        pytest.param({"key": "irrecoverable_drift"}, "label of PlanBench-XL", id="other system"),
    ],
)
def test_labels_that_are_refused(
    row: Trajectory, ann: User, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(Refused, match=told):
        put_label(**{"trajectory": row, "key": KEY, "by": ann, **given})
    assert not TrajectoryLabel.objects.exists()


def test_notes_are_reworded_and_deleted_by_rows(row: Trajectory, ann: User, bob: User) -> None:
    note = add_remark(trajectory=row, by=ann, text=" First thought. ")
    reword_remark(remark=note, by=ann, text="Second thought.")
    reword_remark(remark=note, by=ann, text="Second thought.")
    (shown,) = notes_of(row.pk)
    assert (shown.text, shown.versions, shown.edited is None) == ("Second thought.", 2, False)
    for act in (lambda: reword_remark(remark=note, by=bob, text="Mine."),
                lambda: delete_remark(remark=note, by=bob)):  # fmt: skip
        with pytest.raises(Refused, match="only who wrote a note"):
            act()
    delete_remark(remark=note, by=ann)
    (gone,) = notes_of(row.pk)
    assert gone.deleted and gone.text == ""
    with pytest.raises(Refused, match="was deleted"):
        reword_remark(remark=note, by=ann, text="Back.")
    kept = list(RemarkText.objects.values_list("text", flat=True))
    assert kept == ["First thought.", "Second thought.", ""]


# The plan's readable text is "Take the hammer.\nHit it.", the feedback "I have no hammer."
@pytest.mark.parametrize(
    ("given", "place"),
    [
        pytest.param({"quote": "Hit it."}, ("plan", 17, 24), id="found in the plan"),
        pytest.param({"quote": "no hammer"}, ("feedback", 7, 16), id="found in the feedback"),
        pytest.param(
            {"quote": "hammer", "where": "feedback", "start": 10, "end": 16},
            ("feedback", 10, 16), id="which of several",
        ),
        pytest.param(
            {"quote": "hammer", "where": "plan", "start": 0, "end": 6}, ("plan", 9, 15),
            id="a wrong place is mended",
        ),
        pytest.param({"quote": "hammer. Hit"}, ("", None, None), id="over a line, other space"),
    ],
)  # fmt: skip
def test_where_a_quote_stands(
    row: Trajectory, ann: User, given: dict[str, Any], place: tuple[str, int | None, int | None]
) -> None:
    # numbers stand between the steps as written, so "hammer. Hit" is no part of the plan itself
    if place[0] == "":
        Turn.objects.filter(trajectory=row, index=1).update(text="Take the hammer.\n\nHit it.")
    note = add_remark(trajectory=row, by=ann, text="So.", turn=1, **given)
    assert (note.where, note.start, note.end) == place


@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param({"text": " "}, "write something", id="empty"),
        pytest.param({"text": "x" * 5001}, "at most 5000", id="too long"),
        pytest.param({"quote": "Take"}, "which turn", id="quote without turn"),
        pytest.param({"quote": "No such words", "turn": 1}, "are not in turn 1", id="invented"),
        pytest.param({"turn": 9}, "no turn 9", id="no such turn"),
    ],
)
def test_notes_that_are_refused(
    row: Trajectory, ann: User, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(Refused, match=told):
        add_remark(**{"trajectory": row, "by": ann, "text": "So.", **given})
    assert not Remark.objects.exists()


def test_the_labels_of_the_papers_are_there(ann: User) -> None:
    keys = set(FailureLabel.objects.values_list("key", flat=True))
    assert {
        "premature_answer", "irrecoverable_drift", "unresolved_execution", "noisy_value_adopted",
        "format_error", "physical_implausibility", "ineffective_plan", "forgotten_constraint",
    } <= keys  # fmt: skip
    for label in FailureLabel.objects.all():
        (wording,) = wordings_of(label)
        assert (wording.definition, wording.by) == (label.definition, None), label.key


def test_a_label_belongs_to_a_system(ann: User) -> None:
    words = {"title": "Wrong pan", "definition": "Takes another pan than the one that was asked."}
    made = make_failure_label(**words, by=ann, system="adapt")

    def offered(system: str) -> dict[str, set[str]]:
        return {g.title: {label.key for label in g.labels} for g in label_menu(system)}

    assert list(offered("planbench_xl")) == ["PlanBench-XL", "General"]
    assert list(offered("adapt")) == ["ADAPT", "General"]
    assert made.key in offered("adapt")["ADAPT"]
    # An imported trajectory may be of any benchmark.
    assert {"ADAPT", "PlanBench-XL", "General"} <= offered(EXTERNAL).keys()
    with pytest.raises(Refused, match="no system"):
        make_failure_label(title="Another", definition="So.", by=ann, system="no_such")


def test_a_label_is_reworded_retired_and_kept(row: Trajectory, ann: User, bob: User) -> None:
    label = make_failure_label(title="Talks  in circles", definition="Says it again.", by=ann)
    assert (label.key, label.title) == ("talks_in_circles", "Talks in circles")
    put_label(trajectory=row, key=label.key, by=bob)
    reword_failure_label(label=label, title="Circles", definition="Says it again.", by=bob)
    retire_failure_label(label=label, by=bob)
    retire_failure_label(label=label, by=bob)
    history = [(w.version, w.title, w.retired) for w in wordings_of(label)]
    assert history == [(3, "Circles", True), (2, "Circles", False), (1, "Talks in circles", False)]
    (shown,) = labels_of([row.pk])[row.pk]
    assert (shown.title, shown.retired) == ("Circles", True)
    assert label.key not in {one.key for group in label_menu("") for one in group.labels}
    with pytest.raises(Refused, match="retired"):
        put_label(trajectory=row, key=label.key, by=ann)
    (use,) = [use for use in label_uses() if use.label.key == label.key]
    assert (use.puts, use.trajectories) == (1, 1)


def test_titles_are_unique_and_keys_too(ann: User) -> None:
    with pytest.raises(Refused, match="already"):
        make_failure_label(title="format ERROR", definition="The same.", by=ann)
    first = make_failure_label(title="A b", definition="One.", by=ann)
    second = make_failure_label(title="A-b", definition="Two.", by=ann)
    assert (first.key, second.key) == ("a_b", "a_b_2")
    with pytest.raises(Refused, match="needs a title"):
        make_failure_label(title=" ", definition="One.", by=ann)


def test_a_run_goes_with_its_remarks(row: Trajectory, ann: User) -> None:
    take_label_off(put=put_label(trajectory=row, key=KEY, by=ann), by=ann)
    add_remark(trajectory=row, by=ann, text="So.")
    row.run.delete()
    assert not TrajectoryLabel.objects.exists() and not RemarkText.objects.exists()
    assert FailureLabel.objects.filter(key=KEY).exists()
