"""The report on an uploaded table: what leads, what is folded, and where numbers lead."""

import json

from analysis.pages.own_table.page import overview_page, section_page
from tests.analysis.agreement.test_report import made_rows, report

Row = tuple[object, ...]


def with_constant(rows: list[Row]) -> list[Row]:
    """Have the second judge always answer 4."""
    return [(*row[:-1], 4) if row[3] == "l1" else row for row in rows]


def test_a_section_leads_with_the_verdict_its_figure_and_its_table() -> None:
    page = section_page(report(with_constant(made_rows(people=4))), 0, has_tasks=False)
    assert page.sentence.startswith("No judge may stand in for a person yet: ")
    assert "Shown worse than a person: l1 (always answers 4)." in page.sentence
    assert "Among people, ordinal alpha is 0." in page.sentence
    assert (page.figures[0].name, page.tables[0].name) == ("gap", "alternative")
    # The figure has the answer: the differences, and the margin as a second line.
    lines = json.loads(page.figures[0].json)["layout"]["shapes"]
    assert [line["x0"] for line in lines] == [0, -0.15]
    assert [figure.name for figure in page.figures[1:]] == [
        "shares", "estimates", "differences", "bland-altman", "scores",
    ]  # fmt: skip
    assert "12 p-values adjusted together" in page.tables[0].note
    for name in ("alternative", "judges", "chance", "correlations", "people", "judges-alone"):
        table = page.table(name)
        assert table is not None and table.rows and table.note, name
    assert "add the column task" in " ".join(page.how) and page.methods


def test_without_a_test_the_closeness_of_judges_leads() -> None:
    page = section_page(report(made_rows(people=2, judges=1)), 0, has_tasks=True)
    assert page.sentence.startswith("l0 equals a person's score on ")
    assert "testable yet" in page.sentence and "1 more person with 30 shared items" in page.sentence
    assert (page.figures[0].name, page.tables[0].name) == ("shares", "judges")
    assert page.table("alternative") is not None and page.table("people-tested") is None
    # One judge agrees with nobody of its kind: no empty table, but the reason.
    assert page.table("judges-alone") is None
    assert any("judges among themselves: none, one rater only" in line for line in page.how)
    assert "add the column task" not in " ".join(page.how)


def test_a_section_without_scores_says_so() -> None:
    rows: list[Row] = [(*row[:-1], "") for row in made_rows(items=3)]
    page = section_page(report(rows), 0, has_tasks=False)
    assert page.empty is not None and "section d, safety" in page.empty.text
    assert page.empty.action_url and not page.sentence


def test_sections_side_by_side_lead_to_their_pages() -> None:
    rows = with_constant(made_rows())
    rows += [(row[0], row[1], "tone", *row[3:]) for row in rows]
    page = overview_page(report(rows), ["/1/", "/2/"], has_tasks=False)
    assert page.sentence.startswith("No judge may stand in for a person yet: ")
    assert "l1 (always answers 4) on 2 of 2 sections" in page.sentence
    assert (page.figures[0].name, page.tables[0].name) == ("gap", "overview")
    for name, times in (("overview", 1), ("alternative", 3), ("judges", 3), ("scores", 2)):
        table = page.table(name)
        assert table is not None
        urls = [{cell.url for cell in row if cell.url} for row in table.rows]
        assert urls == [{"/1/"}] * times + [{"/2/"}] * times, name
    # Marks lead there too, those of the second judge among them.
    marks = [
        trace["customdata"]
        for trace in json.loads(page.figures[0].json)["data"]
        if trace.get("customdata")
    ]
    assert marks == [["/1/", "/2/"]] * 3
