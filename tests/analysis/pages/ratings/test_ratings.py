"""The ratings page: means of questions, agreement between people, what was not asked."""

import re

import pytest
from django.contrib.auth.models import User

from analysis.filters import Filters
from analysis.filters.studies import select_study
from analysis.reports.content import Report, Table
from annotation.models import Study
from tests.analysis.page_reports import report_of
from tests.analysis.rows import (
    make_imported,
    make_member,
    make_person,
    make_ratings,
    make_study,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader() -> User:
    return make_person("rita", "view_results")


@pytest.fixture
def study(reader: User) -> Study:
    """Two people on the four dialogues of two agents: ann is one point above bob on one of them."""
    made = make_study()
    Study.objects.update(questionnaire="tool_dialogues@1", kind="dialogue")
    made.refresh_from_db()
    make_member(made, reader)
    runs = make_imported(("elsewhere", "otherwise"), rewards={1: (1.0,), 2: (0.0,)})
    ann, bob = make_person("ann"), make_person("bob")
    for place, item in enumerate(t for run in runs for t in run.trajectories.order_by("pk")):
        score = 2 + place % 3
        make_ratings(made, ann, item, {"task_completed": score + (place == 0), "efficient": 4})
        make_ratings(made, bob, item, {"task_completed": score, "efficient": 4})
    return made


def report(reader: User, **words: str) -> Report:
    return report_of("ratings", select_study(Filters(**words), reader))  # type: ignore[arg-type]


def lines(table: Table | None) -> dict[object, dict[str, object]]:
    assert table is not None
    rows = [dict(zip(table.header, row, strict=True)) for row in table.records()]
    return {row[table.header[0]]: row for row in rows}


def test_means_and_agreement(reader: User, study: Study) -> None:
    found = report(reader)
    rows = lines(found.table("questions"))
    # bob: 2, 3, 4, 2; ann: 3, 3, 4, 2: mean 23/8.
    assert rows["1 Task completed as asked"]["mean"] == 2.875
    assert rows["1 Task completed as asked"]["mean n"] == 8
    assert rows["2 Rules kept"]["mean"] is None
    people = lines(found.table("people"))
    assert people["1 Task completed as asked"]["equal"] == 0.75
    assert people["1 Task completed as asked"]["within one"] == 1
    alpha = people["1 Task completed as asked"]["alpha"]
    assert isinstance(alpha, float) and 0.5 < alpha < 1
    # All answers are equal: nothing by which chance could be told.
    assert people["9 No needless effort"]["alpha"] is None
    assert people["9 No needless effort"]["equal"] == 1
    assert re.match(
        r"2 people gave \d\.\d\d \(“.+”\) to \d\.\d\d \(“.+”\) on average, in", found.sentence
    )
    assert f"0 for chance, is {alpha:.2f}." in found.sentence
    assert {figure.name for figure in found.figures} == {"questions", "agents"}
    agents = lines(found.table("agents"))
    # elsewhere: 3, 2, 3, 3; otherwise: 4, 4, 2, 2.
    assert agents["elsewhere"]["1 task completed as asked"] == 2.75
    assert agents["otherwise"]["1 task completed as asked"] == 3


def test_what_was_not_asked_is_said(reader: User, study: Study) -> None:
    rows = lines(report(reader).table("questions"))
    # Items were asked two questions only; nothing asked needs tools, so that is what they lack.
    assert rows["4 Right tools in the right order"]["items asked"] == 0
    assert rows["4 Right tools in the right order"]["not asked because"] == (
        "have no calls of tools by the agent"
    )
    assert any("Not asked of some items" in line for line in report(reader).how)


def test_one_person_per_item_is_no_agreement(reader: User, study: Study) -> None:
    study.assignments.filter(annotator__username="bob").delete()
    found = report(reader)
    assert "how far people agree is not known" in found.sentence
    assert any("two annotators or more" in notice.text for notice in found.notices)
    people = lines(found.table("people"))
    assert people["1 Task completed as asked"]["alpha"] is None


def test_simulated_annotators_are_left_out_unless_asked_for(reader: User, study: Study) -> None:
    robot = make_person("robot")
    item = study.assignments.order_by("pk")[0].trajectory
    make_ratings(study, robot, item, {"task_completed": 5}, simulated=True)
    assert "2 people gave" in report(reader).sentence
    found = report(reader, simulated="include")
    assert "2 people and 1 simulated annotator" in found.sentence
    assert found.banners


def test_agreement_with_judges_leads_to_ratings(reader: User, study: Study) -> None:
    found = report_of("agreement", select_study(Filters(), reader))
    assert found.empty is not None and not found.figures
    assert "asks for scores of whole items" in found.empty.text
    assert found.empty.action_url == f"/analysis/ratings/?study={study.pk}"


def test_no_study_and_no_answers(reader: User) -> None:
    assert report(reader).empty is not None
    made = make_study()
    make_member(made, reader)
    found = report(reader)
    assert found.empty is not None and found.empty.title == "No answers yet"
