"""Pairwise preferences against figures that are computed by hand, on the page and in its report."""

import math

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from analysis.filters import Filters
from analysis.pages.catalogue import PAGES, select
from analysis.reports.content import Report
from annotation.models import Rating, Study
from tests.analysis.human_rows import make_people, make_preferences
from tests.analysis.page_reports import report_of
from tests.analysis.pages.violation_check.test_violation_check import lines
from tests.analysis.rows import make_member, make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader() -> User:
    return make_person("rita", "view_results")


@pytest.fixture
def study(reader: User) -> Study:
    made = make_preferences(make_people())
    make_member(made, reader)
    return made


def report(reader: User, **words: str) -> Report:
    return report_of("preferences", select(PAGES["preferences"], Filters(**words), reader))  # type: ignore[arg-type]


def test_strengths_match_a_hand_computation(reader: User, study: Study) -> None:
    # X is preferred 7 times, Y 3 times, and neither 2 times, whichever of them was the first.
    made = report(reader)
    rows = lines(made.table("better"))
    assert [(rows[a]["won"], rows[a]["tied"], rows[a]["lost"]) for a in ("X", "Y")] == [
        (7, 2, 3), (3, 2, 7),
    ]  # fmt: skip
    share = 1 / (1 + math.exp(-math.log(7 / 3) / 2))
    assert rows["X"]["preferred"] == pytest.approx(share, abs=1e-5)
    assert rows["X"]["log-strength"] == pytest.approx(math.log(7 / 3) / 2, abs=1e-5)
    assert rows["Y"]["log-strength"] == pytest.approx(-math.log(7 / 3) / 2, abs=1e-5)
    pair = lines(made.table("pairs"))["Which plan is better?"]
    assert pair["difference"] == pytest.approx(math.log(7 / 3), abs=1e-5)
    assert pair["p alone"] == pair["p adjusted"] and pair["clear"] in ("yes", "no")
    # ν = 2/sqrt(7·3), and a tie between equals has ν/(2 + ν).
    nu = 2 / math.sqrt(21)
    agreement = lines(made.table("people"))["Which plan is better?"]
    assert agreement["pairs"] == 4 and agreement["tie"] == pytest.approx(nu / (2 + nu), abs=1e-5)
    assert made.sentence.startswith("X is preferred to an average agent in 60.4 %")
    clear = {"yes": "clearly more than Y", "no": "not clearly more"}[str(pair["clear"])]
    assert clear in made.sentence and "3 people compared 12 pairs" in made.sentence


def test_an_agent_that_never_loses_has_no_strength(reader: User, study: Study) -> None:
    Rating.objects.filter(question="better").delete()
    people = make_people(prefix="two-")
    again = make_preferences(people, ((1, 1, 1), (1, 1, 1)), study.items.first().task.dataset)  # type: ignore[union-attr]
    make_member(again, reader)
    made = report(reader, study=str(again.pk))
    assert made.sentence.startswith("No order of the agents: some agents never lost")
    assert made.table("pairs") is None


def test_the_page_is_shown_and_a_study_of_pairs_is_kept_from_pages_of_scores(
    client: Client, reader: User, study: Study
) -> None:
    client.force_login(reader)
    page = client.get(reverse("analysis:preferences")).content.decode()
    assert "X is preferred to an average agent" in page
    elsewhere = client.get(reverse("analysis:ratings", query={"study": study.pk}))
    assert "which of two trajectories is better" in elsewhere.content.decode()
