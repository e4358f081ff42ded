"""The filter check against figures that are computed by hand, on the page and in its report."""

import csv
import io

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from analysis.filters import Filters
from analysis.pages.catalogue import PAGES, select
from analysis.pages.reports import report_key
from analysis.reports.content import Report
from annotation.models import Study
from benchmarks.models import Candidate, Task
from benchmarks.visibility import Visibility
from tests.analysis.human_rows import make_filter_check, make_people
from tests.analysis.page_reports import report_of
from tests.analysis.pages.violation_check.test_violation_check import lines
from tests.analysis.rows import make_member, make_person

pytestmark = pytest.mark.django_db

PAGE = PAGES["filter-check"]


@pytest.fixture
def reader() -> User:
    return make_person("rita", "view_results")


@pytest.fixture
def study(reader: User) -> Study:
    made = make_filter_check(make_people())
    make_member(made, reader)
    return made


def report(reader: User, **words: str) -> Report:
    return report_of("filter-check", select(PAGE, Filters(**words), reader))  # type: ignore[arg-type]


def test_rates_match_a_hand_computation(reader: User, study: Study, client: Client) -> None:
    # Checker and majority: t1 c1 removed, remove (2 to 1); c2 kept, remove (3 to 0): let through;
    # c3 kept, keep; t2 c1 removed, keep (2 to 1): lost; c2 kept, keep; c3 without decision;
    # t3 c1 tied 1 to 1. So TP 1, FN 1, FP 1, TN 2.
    found = report(reader)
    rows = lines(found.table("rates"))["All candidates"]
    assert (rows["compared"], rows["tasks"]) == (5, 2)
    assert (rows["fnr"], rows["fnr hits"], rows["fnr of"]) == (0.5, 1, 2)
    assert (rows["fpr"], rows["fpr hits"], rows["fpr of"]) == (round(1 / 3, 6), 1, 3)
    assert rows["precision"] == 0.5 and rows["recall"] == 0.5 and rows["same decision"] == 0.6
    # 6 have a decision, 2 were removed; by task 1/3, 1/2 and 0.
    assert (rows["removed"], rows["removed of"]) == (round(1 / 3, 6), 6)
    assert rows["removed on average"] == round((1 / 3 + 1 / 2) / 3, 6)
    # Wilson at 1 of 2, z = 1.959964: 0.5 ± z·sqrt(1/8 + z²/16)/(1 + z²/2).
    assert (rows["fnr wilson low"], rows["fnr wilson high"]) == (0.094531, 0.905469)
    assert rows["left out"] == "1 (no decision to compare), 1 (tied)"
    counts = lines(found.table("counts"))["All candidates"]
    assert list(counts.values())[1:5] == [1, 1, 1, 2] and counts["f1"] == 0.5
    client.force_login(reader)
    url = reverse("analysis:filter-check_table", kwargs={"part": "rates"})
    shown = next(csv.DictReader(io.StringIO(client.get(url).content.decode())))
    assert shown.pop("comparability").startswith("Compared with the AdaPlanBench paper")
    assert shown == {name: "" if v is None else str(v) for name, v in rows.items()}


def test_kinds_votes_and_published(reader: User, study: Study) -> None:
    found = report(reader)
    rows = lines(found.table("rates"))
    # Situation: TP t1 c1, TN t1 c3, FP t2 c1. Preferences: FN t1 c2, TN t2 c2.
    assert rows["Situation"]["fpr"] == 0.5 and rows["Situation"]["fnr"] == 0
    assert rows["Preferences"]["fnr"] == 1 and rows["Preferences"]["fpr"] == 0
    assert rows["Preferences"]["precision"] is None
    assert (rows["Published"]["fnr"], rows["Published"]["fpr"]) == (0.0231, 0.0372)
    assert rows["Published"]["removed on average"] == 0.4218
    votes = lines(found.table("votes"))["All candidates"]
    assert (votes["unanimous"], votes["majority"], votes["tied"], votes["under 2 votes"]) == (
        4, 2, 1, 0,
    )  # fmt: skip


def test_agreement_between_people_matches_a_hand_computation(reader: User, study: Study) -> None:
    found = lines(report(reader).table("people"))["All candidates"]
    # 20 answers, 10 remove. Two are split 1 to 2 (2 disagreeing ordered pairs each), one 1 to 1
    # (2): observed 6/20, expected 2·10·10/(20·19); alpha = 1 − 0.3·1.9.
    assert (found["decided twice"], found["alpha"]) == (7, 0.43)
    # Equal pairs: 1/3, 1, 1, 1/3, 1, 1, 0.
    assert found["equal"] == round((4 + 2 / 3) / 7, 6)


def test_disagreements_with_texts_and_links(reader: User, study: Study, client: Client) -> None:
    table = report(reader).table("differences")
    assert table is not None
    rows = [tuple(cell.text for cell in row) for row in table.rows]
    assert rows == [
        ("t1", "preference", "Candidate c2 of 1", "let through", "3 of 3", "keep"),
        ("t2", "situation", "Candidate c1 of 2", "lost", "1 of 3", "remove"),
        ("t3", "situation", "Candidate c1 of 3", "tied", "1 of 2", "keep"),
    ]
    client.force_login(reader)
    page = (
        client.get(reverse("analysis:filter-check"), {"details": "open"})
        .content.decode()
        .replace("&#x27;", "'")
        .replace("\u00a0", " ")
    )
    task = Task.objects.get(external_id="t1")
    assert f'href="/tasks/{task.pk}/"' in page and "Candidate c2 of 1" in page
    assert (
        "Of what the majority of 3 people would remove, the checker let through 50.0 % (1 of 2; "
        "95 % interval "
    ) in page
    assert "The checker removed 2 of 6 candidates; 1 on which people tie" in page


def test_another_decision_makes_another_report(reader: User, study: Study) -> None:
    before = report_key(PAGE, select(PAGE, Filters(), reader))
    Candidate.objects.filter(decision=None).update(decision="removed")
    assert report_key(PAGE, select(PAGE, Filters(), reader)) != before
    rows = lines(report(reader).table("rates"))["All candidates"]
    assert (rows["compared"], rows["recall of"]) == (6, 3)


def test_closed_tasks_are_left_out(reader: User, study: Study) -> None:
    task = Task.objects.get(external_id="t1")
    selection = select(PAGE, Filters(), reader, Visibility(reader, tasks=[task.pk]))
    found = report_of("filter-check", selection)
    assert lines(found.table("rates"))["All candidates"]["compared"] == 2
    table = found.table("differences")
    assert table is not None and table.rows
    assert not any("of 1" in row[2].text for row in table.rows)


def test_no_study_and_no_decisions(reader: User) -> None:
    assert report(reader).empty is not None
    made = make_filter_check([])
    make_member(made, reader)
    found = report(reader)
    assert found.empty is not None and found.empty.title == "No answers yet"


def test_where_nothing_is_compared_nothing_is_said_to_agree(reader: User) -> None:
    make_member(make_filter_check(make_people()[:1]), reader)
    Candidate.objects.update(decision=None)
    found = report(reader)
    assert lines(found.table("rates"))["All candidates"]["compared"] == 0
    assert found.table("differences") is None
    assert "No decision can be compared yet." in [notice.text for notice in found.notices]
