"""Labels and notes on the page of a trajectory, and the page of the labels themselves."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.models import FailureLabel, Remark, RemarkText, TrajectoryLabel
from annotation.remarks.selectors import labels_of, notes_of
from annotation.remarks.services import add_remark, put_label
from benchmarks.models import Trajectory
from tests.annotation.judged import make_judged
from tests.annotation.rows import make_person
from tests.factories.benchmarks import TrajectoryFactory, TurnFactory

pytestmark = pytest.mark.django_db
FROM_SCRIPT = {"HX-Request": "true"}
HOSTILE = "<script>alert('x')</script>"


@pytest.fixture
def row(db: None) -> Trajectory:
    row = TrajectoryFactory(turn_count=2)
    for index in (1, 2):
        TurnFactory(trajectory=row, index=index, is_final=index == 2, feedback="We have none.")
    return row


def post(client: Client, name: str, *args: int, script: bool = False, **data: Any) -> Any:
    url = reverse(f"analysis:{name}", args=args)
    return client.post(url, data, headers=FROM_SCRIPT if script else {})


def test_a_label_is_put_and_taken_off_without_a_script(researcher: Client, row: Trajectory) -> None:
    answer = post(researcher, "label_put", row.pk, label="format_error", turn="2", query="run=7")
    assert answer["Location"] == f"/trajectories/{row.pk}/?run=7#labels"
    (put,) = labels_of([row.pk])[row.pk]
    assert (put.key, put.turn) == ("format_error", 2)
    text = researcher.get(f"/trajectories/{row.pk}/").content.decode()
    assert "Take off" in text and 'data-turn-link="2">turn 2</a>' in text
    post(researcher, "label_off", row.pk, put.pk)
    assert labels_of([row.pk]) == {}


def test_filters_too_long_for_an_address_are_dropped(researcher: Client, row: Trajectory) -> None:
    answer = post(researcher, "label_put", row.pk, label="format_error", query="x" * 20_000)
    assert answer.status_code == 302
    assert answer["Location"] == f"/trajectories/{row.pk}/#labels"
    assert [put.key for put in labels_of([row.pk])[row.pk]] == ["format_error"]


def test_a_script_gets_the_card_and_the_turn(researcher: Client, row: Trajectory) -> None:
    answer = post(researcher, "label_put", row.pk, script=True, label="format_error", turn="2")
    text = answer.content.decode()
    assert "<html" not in text and 'id="labels"' in text
    assert '<div class="turn-remarks" id="said-2" hx-swap-oob="true">' in text
    assert text.count("Format error") >= 3  # in the list, in the menu, under the turn
    whole = post(researcher, "label_put", row.pk, script=True, label="format_error", turn="")
    assert 'id="label-chips" hx-swap-oob="true"' in whole.content.decode()
    assert "said-" not in whole.content.decode()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"label": "format_error", "turn": "9"}, "This trajectory has no turn 9."),
        ({"label": "format_error", "turn": "-1"}, "“-1” is no turn."),
        ({"label": "none", "turn": ""}, "There is no such label"),
        ({"label": "a\x00b", "turn": ""}, "There is no such label"),
    ],
    ids=["far", "no number", "unknown", "NUL"],
)
@pytest.mark.parametrize("script", [True, False], ids=["script", "page"])
@pytest.mark.engines  # PostgreSQL raises an error where it is asked for NUL
def test_a_label_that_is_refused(
    researcher: Client, row: Trajectory, data: dict[str, str], words: str, script: bool
) -> None:
    answer = post(researcher, "label_put", row.pk, script=script, **data)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not TrajectoryLabel.objects.exists()


def test_notes_are_written_changed_and_deleted(researcher: Client, row: Trajectory) -> None:
    post(researcher, "note_add", row.pk, text=f"Look:\r\n{HOSTILE}", turn="1", quote="have none")
    (note,) = notes_of(row.pk)
    assert (note.where, note.quote, note.turn) == ("feedback", "have none", 1)
    text = researcher.get(f"/trajectories/{row.pk}/").content.decode()
    assert "<script>alert" not in text and "&lt;script&gt;alert" in text
    assert f'data-remark="{note.pk}" data-turn="1" data-where="feedback" data-start="3"' in text
    post(researcher, "note_change", row.pk, note.pk, text="Better words.")
    assert "Better words." in researcher.get(f"/trajectories/{row.pk}/").content.decode()
    answer = post(researcher, "note_change", row.pk, note.pk, script=True, delete="1")
    assert "was deleted by" in answer.content.decode()
    assert "Better words." not in answer.content.decode()
    assert RemarkText.objects.count() == 3


@pytest.mark.parametrize("script", [True, False], ids=["script", "page"])
def test_what_was_written_is_not_lost(researcher: Client, row: Trajectory, script: bool) -> None:
    data = {"text": "A long thought.", "turn": "1", "quote": "not in it", "where": "", "start": ""}
    answer = post(researcher, "note_add", row.pk, script=script, **data)
    text = answer.content.decode()
    assert answer.status_code == 422 and "are not in turn 1" in text
    assert ">A long thought.</textarea>" in text and ">not in it</textarea>" in text
    assert not Remark.objects.exists()


def test_others_read_and_do_not_change(researcher: Client, reader: Client, row: Trajectory) -> None:
    mia = make_person("mia", "view_results")
    note = add_remark(trajectory=row, by=mia, text="Mia's note.")
    put = put_label(trajectory=row, key="format_error", by=mia)
    text = researcher.get(f"/trajectories/{row.pk}/").content.decode()
    assert "Mia&#x27;s note." in text and "Take off" not in text
    changed = post(researcher, "note_change", row.pk, note.pk, script=True, text="Mine.")
    assert (changed.status_code, notes_of(row.pk)[0].text) == (422, "Mia's note.")
    assert "only who wrote a note" in changed.content.decode().lower()
    assert post(researcher, "label_off", row.pk, put.pk, script=True).status_code == 422
    other = TrajectoryFactory()
    assert post(researcher, "note_change", other.pk, note.pk, text="x").status_code == 404
    assert post(researcher, "label_off", other.pk, put.pk).status_code == 404


def test_who_annotates_blind_neither_reads_nor_writes(client: Client) -> None:
    ann = make_person("ann", "view_results")
    study = make_judged([ann], make_person("mia"))
    row = study.items.get(rank=1).trajectory
    assert row is not None
    client.force_login(ann)
    for name, method in (
        ("trajectory", "get"), ("trajectory_turns", "get"), ("trajectory_scores", "get"),
        ("label_put", "post"), ("note_add", "post"),
    ):  # fmt: skip
        url = reverse(f"analysis:{name}", args=[row.pk])
        assert getattr(client, method)(url).status_code == 404, name
    assert not Remark.objects.exists()


class TestFailureLabels:
    URL = "/failure-labels/"

    def test_all_labels_with_their_use(self, researcher: Client, row: Trajectory) -> None:
        put_label(trajectory=row, key="format_error", by=make_person("mia"), turn=1)
        put_label(trajectory=row, key="format_error", by=make_person("noa"), turn=2)
        view = researcher.get(self.URL)
        uses = {use.label.key: use for use in view.context["uses"]}
        assert (uses["format_error"].trajectories, uses["format_error"].puts) == (1, 2)
        assert "Irrecoverable drift" in view.content.decode()

    def test_adding_rewording_and_retiring(self, researcher: Client) -> None:
        words = {"title": "Talks in circles", "definition": "Says it again and again."}
        assert researcher.post(self.URL, {**words, "system": "adapt"}).status_code == 302
        label = FailureLabel.objects.get(key="talks_in_circles")
        assert label.system == "adapt"
        assert label.made_by == User.objects.get(username="researcher")
        at = f"{self.URL}{label.key}/"
        researcher.post(at, {**words, "title": "Circles"})
        researcher.post(at, {"retired": "1"})
        text = researcher.get(at).content.decode()
        for shown in ("Circles", "Talks in circles", "version 3", "Offer again"):
            assert shown in text
        researcher.post(at, {"retired": "0"})
        label.refresh_from_db()
        assert (label.title, label.retired) == ("Circles", False)

    @pytest.mark.parametrize(
        "data", [{}, {"title": "Format error", "definition": "Again."}], ids=["empty", "twice"]
    )
    def test_what_is_refused(self, researcher: Client, data: dict[str, str]) -> None:
        count = FailureLabel.objects.count()
        assert researcher.post(self.URL, data).status_code == 422
        assert FailureLabel.objects.count() == count

    def test_no_such_label(self, researcher: Client) -> None:
        assert researcher.get(f"{self.URL}no-such/").status_code == 404

    def test_closed_trajectories_are_not_counted(self, client: Client) -> None:
        ann = make_person("ann", "view_results")
        study = make_judged([ann], make_person("mia"))
        row = study.items.get(rank=1).trajectory
        assert row is not None
        put_label(trajectory=row, key="format_error", by=make_person("noa"))
        client.force_login(ann)
        uses = {use.label.key: use for use in client.get(self.URL).context["uses"]}
        assert uses["format_error"].trajectories == 0
