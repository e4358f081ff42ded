"""One count of judgements with gold apart, and one word for where somebody stands, everywhere."""

import csv
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Study
from annotation.people.services import pause_annotator
from annotation.people.withdrawal import withdraw_annotator
from annotation.studies.selectors import study_rows
from annotation.studies.setup import NewItem, store_study
from benchmarks.models import Trajectory
from tests.annotation.entered import answer
from tests.annotation.rows import make_runs
from tests.benchmarks.api.conftest import Caller, bearer

pytestmark = pytest.mark.django_db
RIGHT = {"safety": {"values": [4, 5]}}


@pytest.fixture(params=["named", "pool"])
def gold(request: pytest.FixtureRequest, ann: User, bob: User, manager: User) -> Study:
    """Two items for two annotators each: ann has both and a gold item, bob has one of them."""
    make_runs(tasks=3)
    rows = list(Trajectory.objects.order_by("pk").values_list("pk", flat=True))
    study = store_study(
        study=Study(
            name="Same", questionnaire="ten_questions@1", status=Study.Status.OPEN,
            dealing=request.param, settings={"gold": [1, 2]},
        ),
        items=[
            *[NewItem(trajectory=pk, use="gold", expected=RIGHT) for pk in rows[:2]],
            *[NewItem(trajectory=pk, wanted=2) for pk in rows[2:4]],
        ],
        people=[ann, bob],
        lists=[[1, 2, 3], [3]],
        by=manager,
    )  # fmt: skip
    study.items.update(asked=["safety"])
    answer(study, ann, "main", 1, safety=5)
    answer(study, ann, "main", 3, safety=5)
    pause_annotator(study=study, user=bob, by=manager, reason="Away.")
    return study


def words(client: Client, address: str) -> str:
    """The text of a page, without its tags."""
    text = re.sub(r"<[^>]+>", " ", client.get(address).content.decode())
    return re.sub(r"\s+", " ", text)


def test_everybody_is_told_the_same(gold: Study, manager: User) -> None:
    boss, at = Client(), f"/studies/{gold.pk}"
    boss.force_login(manager)
    told = Caller(bearer(manager)).get(f"/studies/{gold.pk}/progress").json()
    assert [told[key] for key in ("submitted", "gold", "open", "free", "wanted", "items")] == [
        1, 1, 2, 1, 4, 2,
    ]  # fmt: skip
    ann, bob = told["annotators"]
    assert (ann["submitted"], ann["gold"], ann["assigned"]) == (1, 1, 2)
    (row,) = study_rows(manager, [gold])
    assert row.everybody is not None
    assert (row.everybody.submitted, row.everybody.total, row.everybody.gold) == (1, 4, 1)
    overview, people = words(boss, f"{at}/"), words(boss, f"{at}/people/")
    assert "Submitted 1 25 % of 4 judgements." in overview
    assert "1 known-answer item is counted apart." in overview
    pages = {"overview": overview, "people": people, "payment": words(boss, f"{at}/payment/")}
    for page in pages.values():
        assert "1 ann judging items" in page and "2 bob paused" in page
    assert "1 submitted, 0 skipped, 1 open. 1 known-answer item" in words(boss, f"{at}/people/1/")
    assert (ann["stage"], bob["stage"]) == ("judging items", "paused")
    assert "Stage paused" in words(boss, f"{at}/people/2/")


def test_who_annotates_blind_is_not_told_gold_apart(gold: Study, ann: User) -> None:
    gold.memberships.create(user=ann, role="manager")
    client = Client()
    client.force_login(ann)
    overview = words(client, f"/studies/{gold.pk}/")
    assert "Submitted 2" in overview and "gold" not in overview
    assert "2 submitted" in words(client, f"/studies/{gold.pk}/people/1/")


def test_minutes_and_pay_need_no_platform(gold: Study, manager: User) -> None:
    gold.participants.filter(number=1).update(active_ms=90_000)
    boss, at = Client(), f"/studies/{gold.pk}/payment"
    boss.force_login(manager)
    assert "no rate is entered" in boss.get(f"{at}/").content.decode()
    page = words(boss, f"{at}/?per_hour=12&per_item=0.5")
    assert "1 ann judging items 1 1 0 1.5 not known none 1.30" in page and "All 1.30" in page
    file = boss.get(f"{at}.csv?per_hour=12&per_item=0.5")
    lines = b"".join(file.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    ann, bob = csv.DictReader(lines)
    assert (ann["items_submitted"], ann["gold_submitted"], ann["pay"]) == ("1", "1", "1.30")
    assert (bob["stage"], bob["active_minutes"], bob["pay"]) == ("paused", "", "0.00")
    # Of hours that nobody knows nobody knows the pay: it is neither 0 nor a dash.
    gold.participants.filter(number=1).update(active_ms=0)
    page = words(boss, f"{at}/?per_hour=12")
    assert "1 ann judging items 1 1 0 not known not known none not known" in page
    assert "All but 1 whose time is not known 0.00" in page
    assert "Enter a number" in boss.get(f"{at}/?per_hour=x").content.decode()


@pytest.mark.parametrize("refill", [False, True])
def test_who_left_counts_no_more(gold: Study, ann: User, manager: User, refill: bool) -> None:
    withdraw_annotator(study=gold, user=ann, by=manager, reason="Careless.", refill=refill)
    told = Caller(bearer(manager)).get(f"/studies/{gold.pk}/progress").json()
    assert (told["submitted"], told["gone"], told["gold"]) == (0, 1, 0)
    # Bob has one; the items that ann left open, and the one she judged where others take it again.
    assert (told["open"], told["free"], told["wanted"]) == (1, 2 + refill, 3 + refill)
    (row,) = study_rows(manager, [gold])
    assert row.everybody is not None
    assert (row.everybody.submitted, row.everybody.total) == (0, told["wanted"])
    assert told["annotators"][-1]["stage"] == "withdrawn"
