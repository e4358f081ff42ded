"""People review rows of training data: decisions, undo, thresholds, and what exports follow."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from benchmarks.core.ports.training_rows import TrainingRows
from benchmarks.models import Exchange, RowDecision, Run, Trajectory
from benchmarks.training_rows.selectors import RowPlace, port_of, row_places, run_reviews
from benchmarks.training_rows.services import RowChanged, RowRefused, decide_row
from tests.factories.benchmarks import RunFactory, make_user, reflection_run

EDIT = "Ask  Which fat do you cook eggs in? "
FRAGMENT = {"HX-Request": "true"}


@pytest.fixture
def run(db: None) -> Run:
    return reflection_run()


@pytest.fixture
def port(run: Run) -> TrainingRows:
    found = port_of(run)
    assert found is not None
    return found


def places(run: Run, **changes: Any) -> list[RowPlace]:
    found = port_of(run)
    assert found is not None
    return [p for p in row_places(run, found, {**run.settings, **changes}) if p.choice]


def decide(run: Run, port: TrainingRows, place: RowPlace, verdict: str, **more: Any) -> RowDecision:
    trajectory = Trajectory.objects.get(pk=place.trajectory)
    settings = {**run.settings, **more.pop("settings", {})}
    return decide_row(
        port=port, trajectory=trajectory, index=place.index, settings=settings,
        verdict=verdict, **more,
    )  # fmt: skip


def state(run: Run, place: RowPlace) -> str:
    return {p.key: p.state for p in places(run)}[place.key]


def export(run: Run, folder: Path, **options: Any) -> tuple[dict[str, Any], list[Any], list[Any]]:
    call_command("export_reflection", str(run.pk), out=folder, **options)
    rows, side = (
        [json.loads(line) for line in (folder / f"preference{end}.jsonl").read_text().splitlines()]
        for end in ("", ".meta")
    )
    return json.loads((folder / "about.json").read_text()), rows, side


def test_nothing_is_overwritten_and_undo_goes_back(run: Run, port: TrainingRows) -> None:
    place = places(run)[0]
    person = make_user("ruth")
    first = decide(run, port, place, "accepted", person=person)
    with pytest.raises(RowChanged, match="meanwhile"):
        decide(run, port, place, "vetoed")
    second = decide(run, port, place, "edited", text=EDIT, seen=first.pk, person=person)
    assert (second.text, second.proposed) == (" ".join(EDIT.split()), first.proposed)
    assert state(run, place) == "edited"
    third = decide(run, port, place, "undone", seen=second.pk)
    assert state(run, place) == "accepted"
    fourth = decide(run, port, place, "undone", seen=third.pk)
    assert state(run, place) == "open"
    with pytest.raises(RowRefused, match="nothing|no decision"):
        decide(run, port, place, "undone", seen=fourth.pk)
    decide(run, port, place, "vetoed", seen=fourth.pk)
    assert state(run, place) == "vetoed"
    stored = RowDecision.objects.values_list("verdict", "undoes")
    assert list(stored) == [
        ("accepted", None), ("edited", None), ("undone", second.pk), ("undone", first.pk),
        ("vetoed", None),
    ]  # fmt: skip


def test_what_cannot_be_decided(run: Run, port: TrainingRows) -> None:
    place = places(run)[0]
    student = run.trajectories.get().turns.get(index=place.index).payload["builder"]["student"]
    for text, words in (
        ("flurble the eggs", "no action"),
        ("", "no action"),
        ("x" * 5000, "no action"),
        (student.upper(), "student's own action"),
    ):
        with pytest.raises(Exception, match=words):
            decide(run, port, place, "edited", text=text)
    without = next(p for p in row_places(run, port, run.settings) if not p.choice)
    for found in (without, RowPlace(place.trajectory, 999, "", "", "")):
        with pytest.raises(RowRefused, match="proposes no row"):
            decide(run, port, found, "accepted")
    with pytest.raises(RowRefused, match="expected one of"):
        decide(run, port, place, "burnt")
    assert not RowDecision.objects.exists()


def test_a_decision_belongs_to_the_text_that_was_proposed(run: Run, port: TrainingRows) -> None:
    other = {"tau_u": -1.0, "tau_d": 1.0}
    lenient = {p.key: p for p in places(run, **other)}
    usual = {p.key: p for p in places(run)}
    # The same step proposes the teacher's action or the question.
    asks, acts = next(
        (one, two)
        for one in lenient.values()
        for two in usual.values()
        if (one.trajectory, one.index) == (two.trajectory, two.index) and one.choice != two.choice
    )
    calls = Exchange.objects.count()
    decide(run, port, asks, "vetoed", settings=other)
    assert state(run, acts) == "open"
    assert {p.key: p.state for p in places(run, **other)}[asks.key] == "vetoed"
    assert Exchange.objects.count() == calls


def test_exports_follow_the_decisions(run: Run, port: TrainingRows, tmp_path: Path) -> None:
    person = make_user("ruth")
    accepted, vetoed, edited, *rest = places(run)
    decide(run, port, accepted, "accepted", person=person)
    decide(run, port, vetoed, "vetoed", person=person)
    decide(run, port, edited, "edited", text=EDIT, person=person)
    total = 3 + len(rest)

    about, rows, side = export(run, tmp_path / "a")
    assert about["reviews_followed"] is True
    assert about["reviews"] == {
        "only_reviewed": False, "accepted": 1, "edited": 1, "vetoed": 1, "not_reviewed": len(rest),
    }  # fmt: skip
    assert len(rows) == total - 1 == about["rows"]["sft"]
    assert [meta["t"] for meta in side[:2]] == [accepted.index, edited.index]
    assert rows[1]["chosen"] == [{"role": "assistant", "content": " ".join(EDIT.split())}]
    review = side[1]["review"]
    assert review["person"] == "ruth" and review["at"] and review["verdict"] == "edited"
    assert review["proposed"] != review["text"] == " ".join(EDIT.split())
    assert side[2]["review"] is None

    about, rows, side = export(run, tmp_path / "b", only_reviewed=True)
    assert [meta["review"]["verdict"] for meta in side] == ["accepted", "edited"]
    assert about["reviews"]["only_reviewed"] is True
    about, rows, side = export(run, tmp_path / "c", ignore_reviews=True)
    assert len(rows) == total and about["reviews_followed"] is False
    assert {json.dumps(meta["review"]) for meta in side} == {"null"}
    with pytest.raises(CommandError, match="not both"):
        export(run, tmp_path / "d", ignore_reviews=True, only_reviewed=True)


def test_the_page(researcher: Client, run: Run) -> None:
    url = reverse("benchmarks:training_rows", args=[run.pk])
    found = places(run)
    text = researcher.get(url).content.decode()
    assert f"0 of {len(found)} rows reviewed" in text and "Rejected" in text
    assert text.count("data-row ") == min(20, len(found))
    place = found[0]
    post = reverse("benchmarks:row_decide", args=[run.pk, place.trajectory, place.index])
    answer = researcher.post(post, {"verdict": "vetoed", "seen": "0"}, headers=FRAGMENT)
    text = answer.content.decode()
    assert answer.status_code == 200 and 'data-state="vetoed"' in text
    assert f"1 of {len(found)} rows reviewed" in text and 'hx-swap-oob="true"' in text

    stale = researcher.post(post, {"verdict": "accepted", "seen": "0"}, headers=FRAGMENT)
    assert stale.status_code == 422 and "meanwhile" in stale.content.decode()
    bad = {"verdict": "edited", "text": "<b>flurble</b>", "seen": RowDecision.objects.get().pk}
    answer = researcher.post(post, bad, headers=FRAGMENT)
    assert answer.status_code == 422 and "&lt;b&gt;flurble" in answer.content.decode()
    # Without a script a form leads back to the page.
    answer = researcher.post(post, bad, follow=True)
    assert "no action of the household" in answer.content.decode()
    assert RowDecision.objects.count() == 1

    shown = researcher.get(url, {"state": "vetoed"}).content.decode()
    assert shown.count("data-row ") == 1 and "History (1)" in shown
    rest = researcher.get(url, {"after": place.name}).content.decode()
    assert f'id="row-{place.name}"' not in rest and "Previous" in rest
    other = researcher.get(url, {"tau_u": "1", "tau_d": "0.1"}).content.decode()
    assert "decided again from the stored probabilities" in other
    assert f"export_reflection {run.pk} --out rows --tau-u 1.0 --tau-d 0.1" in other
    for odd in ({"tau_u": "x"}, {"state": "y"}, {"after": "9-9-9"}, {"kind": "unexplained"}):
        assert researcher.get(url, odd).status_code == 200


def test_who_may_decide(client: Client, researcher: Client, run: Run) -> None:
    place = places(run)[0]
    post = reverse("benchmarks:row_decide", args=[run.pk, place.trajectory, place.index])
    client.force_login(make_user("vera", ["view_results"]))
    page = client.get(reverse("benchmarks:training_rows", args=[run.pk]))
    assert page.status_code == 200 and 'name="verdict"' not in page.content.decode()
    assert client.post(post, {"verdict": "vetoed"}).status_code == 403
    other = RunFactory()
    assert researcher.get(reverse("benchmarks:training_rows", args=[other.pk])).status_code == 404
    elsewhere = reverse("benchmarks:row_decide", args=[run.pk, place.trajectory + 99, place.index])
    assert researcher.post(elsewhere, {"verdict": "vetoed"}).status_code == 404
    assert not RowDecision.objects.exists() and not run_reviews([run])
