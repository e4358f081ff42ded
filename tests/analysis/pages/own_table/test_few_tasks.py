"""An uploaded table whose items share few tasks says so on its pages."""

from analysis.pages.own_table.page import overview_page, section_page
from tests.analysis.agreement.test_report import made_rows, report


def test_few_tasks_are_said_on_the_page() -> None:
    # 40 items, two of each task.
    rows = [(*row, f"t{int(str(row[1])[1:]) // 2}") for row in made_rows()]
    found = report(rows, "task")
    for page in (
        section_page(found, 0, has_tasks=True),
        overview_page(found, ["/1/"], has_tasks=True),
    ):
        assert any(
            notice.tone == "warning" and "rest on 20 tasks" in notice.text
            for notice in page.notices
        )
