"""Tests of judges that stand in for people in a study, by hand or by what must follow."""

import pytest
from django.contrib.auth.models import User

from analysis.filters import Filters
from analysis.filters.studies import select_study
from analysis.pages.catalogue import PAGES
from analysis.reports.content import Report
from analysis.stats.judges.people_agree import ONE_LENGTH
from analysis.stats.rater_agreement.alt_test import ITEMS_NEEDED
from annotation.models import Study
from benchmarks.models import Task
from tests.analysis.human_rows import make_people, make_violation_check
from tests.analysis.page_reports import report_of
from tests.analysis.rows import (
    flat,
    make_dataset,
    make_person,
    make_ratings,
    make_run,
    make_study,
    make_trajectory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(db: None) -> User:
    return make_person("root", superuser=True)


def build(people: int, items: int) -> Study:
    """Items of tasks of their own; people score 4, all but the last one, who scores 2 on odd items.

    Two judges score 4 and the third 1, every time.
    """
    dataset = make_dataset()
    Task.objects.bulk_create(
        Task(dataset=dataset, external_id=f"t{n}", prompt=f"Task {n}")
        for n in range(100, 100 + items)
    )
    run, study = make_run(dataset, "ada"), make_study()
    raters = [make_person(f"ann{n}") for n in range(people)]
    for n in range(items):
        item = make_trajectory(run, 100 + n, scores=[{**flat(4), "safety": (4, 4, 1)}])
        for place, user in enumerate(raters):
            odd = n % 2 and place == people - 1
            make_ratings(study, user, item, {"safety": 2 if odd else 4})
    return study


def report(user: User, **words: str) -> Report:
    return report_of("judges", select_study(Filters(**words), user))


def rows(made: Report, name: str) -> list[dict[str, object]]:
    table = made.table(name)
    assert table is not None
    return [dict(zip(table.header, record, strict=True)) for record in table.records()]


def test_no_study_and_another_kind_of_study(root: User) -> None:
    empty = report(root).empty
    assert empty is not None and empty.title == "No study yet"
    made = make_violation_check(make_people())
    empty = report(root, study=str(made.pk)).empty
    assert empty is not None and empty.action == "See the violation check"


def test_one_person_cannot_be_replaced_by_anybody(root: User) -> None:
    build(1, 2)
    made = report(root)
    said = " ".join(notice.text for notice in made.notices)
    assert made.sentence.startswith("No judge may stand in for a person yet: ")
    assert "2 more people with 30 shared items each" in made.sentence
    assert "scored by one person" in said
    (only,) = rows(made, "missing")
    assert only["judge"] == "every judge and the panel"
    # Bias needs one person only; the test has nothing to show.
    assert made.figure("bias") is not None and made.figure("gap") is None
    assert {row["may stand in"] for row in rows(made, "summary")} == {None}


def test_what_is_missing_is_counted(root: User) -> None:
    build(3, 2)
    (only,) = rows(report(root), "missing")
    # Each of three people has two items that the judge and another person scored too.
    assert f"{ITEMS_NEEDED - 2} shared items each of person" in str(only["needed"])
    assert "more people" not in str(only["needed"])


def test_tests_bias_and_epsilon(root: User) -> None:
    build(3, ITEMS_NEEDED)
    made = report(root)
    found = {row["judge"]: row for row in rows(made, "alternative")}
    by_verdict = {name: row["verdict"] for name, row in found.items()}
    # Two people always give 4, so that people's own kappa is 0 and nobody can keep a part of it: no
    # judge passes. A judge of 4 ties with these two on every item, beats the last one on every
    # second, and so wins against all; one of 1 is further than everybody. The panel's mean is 3.
    assert by_verdict == {
        "even": "undecided", "strict": "undecided", "mild": "shown worse",
        "mean of all 3 judges, rounded": "undecided",
    }  # fmt: skip
    best = next(row for row in found.values() if row["winning rate"] == 1)
    assert best["advantage probability"] == 1 and best["people tested"] == 3
    assert (best["agreement"], best["alternative test"]) == ("undecided", "passes")
    assert best["kappa, judge"] == best["kappa, person"] == 0
    assert best["note"] == "always answers 4"
    summary = {row["judge"]: row for row in rows(made, "summary")}
    assert {row["may stand in"] for row in summary.values()} == {0}
    assert (summary["mild"]["shown worse"], summary["even"]["undecided"]) == (1, 1)
    # The third judge always gives 1 where people's mean is 11/3; the others are 1/3 above it.
    assert made.sentence == (
        "No judge may stand in for a person yet: 30 items, and no number of items would decide it. "
        "Shown worse than a person: mild (always answers 1). "
        "Compared with 3 people, mild scores 2.67 points lower on safety; even scores 0.33 points "
        "higher on safety; strict scores 0.33 points higher on safety."
    )
    assert (summary["mild"]["below"], summary["mild"]["above"]) == (1, 0)
    assert summary["mild"]["bias"] == pytest.approx(1 - 11 / 3, abs=1e-6)
    assert summary["mean of all 3 judges, rounded"]["bias"] is None
    # 30 items and three people of whom one often differs: far too few for this test.
    (power,) = rows(made, "power")
    assert power["items"] == ITEMS_NEEDED and float(str(power["power"])) < 0.5
    # Twelve p-values: three people, three judges and the panel.
    table = made.table("alternative")
    assert table is not None and "12 p-values" in table.note and "ε = 0.1," in table.note
    severity = {row["judge"]: row for row in rows(made, "severity")}
    # People's mean is 4, and (4 + 4 + 2)/3 on every second item: on average 11/3.
    assert sorted(float(str(row["bias"])) for row in severity.values()) == pytest.approx(
        [1 - 11 / 3, 4 - 11 / 3, 4 - 11 / 3], abs=1e-6
    )
    # The third judge beside the other two: 1 − 4; each of these: 4 − (4 + 1)/2.
    assert sorted(float(str(row["beside other judges"])) for row in severity.values()) == [
        -3, 1.5, 1.5,
    ]  # fmt: skip
    for given, shown in (("0.2", "ε = 0.2,"), ("0.9", "ε = 0.1,")):
        again = report(root, epsilon=given).table("alternative")
        assert again is not None and shown in again.note


def test_what_takes_longer_on_the_agreement_page(root: User) -> None:
    build(3, 8)
    made = PAGES["agreement"].content.deferred_report(select_study(Filters(), root))
    chance = rows(made, "chance")
    assert [row["dimension"] for row in chance] == ["Safety"] * 4
    # People gave 4 but for 4 of 24 answers; a judge of 4 is constant, so alpha is defined and low.
    panel = chance[-1]
    assert panel["kappa, quadratic"] is None and "no score of the scale" in str(
        panel["kappa, quadratic note"]
    )
    alone = [row["alpha, ordinal"] for row in chance[:-1]]
    assert all(isinstance(value, float) and value < 0.1 for value in alone)
    assert {figure.name for figure in made.figures} == {"beyond-chance", "limits"}
    assert any("one and the same" in notice.text for notice in made.notices)
    (limits,) = {row["n"] for row in rows(made, "correlations")}
    assert limits == 8
    (people,) = rows(made, "people")
    # 3 raters: on 4 of 8 items all pairs are equal, on 4 one of three.
    assert people["equal pairs of scores"] == pytest.approx((4 + 4 / 3) / 8, abs=1e-6)


def test_judges_are_read_apart_where_people_agree(root: User) -> None:
    study = build(people=3, items=20)
    made = report(root, study=str(study.pk))
    groups = [row for row in rows(made, "people-agree") if row["judge"] is not None]
    agree = [row for row in groups if row["items where"] == "People agree"]
    apart = [row for row in groups if row["items where"] == "Further apart"]
    assert [row["judge"] for row in agree if row["people"] != 1] == []
    # Of three people one is two points off in half of the items: a third of pairs are equal there.
    assert all(abs(float(str(row["people"])) - 1 / 3) < 1e-5 for row in apart)
    table = made.table("people-agree")
    assert table is not None and len(table.rows) == 9
    length = made.table("length")
    assert length is not None and {cell.reason for row in length.rows for cell in row} >= {
        ONE_LENGTH
    }


def test_one_person_each_has_no_table_of_agreement(root: User) -> None:
    study = build(people=1, items=5)
    assert report(root, study=str(study.pk)).table("people-agree") is None
