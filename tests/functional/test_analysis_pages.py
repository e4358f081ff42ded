"""The analysis pages in a real browser: figures are drawn, filters work, axe is content."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.analysis.human_rows import (
    make_filter_check,
    make_people,
    make_turn_scores,
    make_violation_check,
)
from tests.analysis.rows import (
    flat,
    make_dataset,
    make_imported,
    make_person,
    make_ratings,
    make_run,
    make_study,
    make_trajectory,
)
from tests.analysis.tool_rows import make_query, make_tool_run, make_world
from tests.functional.axe import looks, violations
from tests.functional.test_annotation_loop import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = (
    "leaderboard", "rubric", "decline", "agreement", "dispersion", "conditions", "tools",
    "outcomes", "ratings", "turn-scores", "violation-check", "filter-check",
)  # fmt: skip


@pytest.fixture
def at(live_server: Any, page: Page) -> Iterator[str]:
    """An administrator signed in; two agents on four tasks, a study by a simulated annotator."""
    dataset = make_dataset(is_demo=True)
    study, ann = make_study(is_demo=True), make_person("ann")
    make_person("root", superuser=True)
    for agent, score in (("ada", 5), ("bob", 3)):
        run = make_run(dataset, agent, finished=2)
        for task in (1, 2, 3, 4):
            item = make_trajectory(run, task, scores=[flat(4), flat(score)], accurate=task % 2)
            make_ratings(study, ann, item, {"safety": 4, "feedback_clear": 5}, simulated=True)
    people, checked = make_people("cat", "dan", "eve"), make_dataset("Checked")
    for make in (make_violation_check, make_filter_check, make_turn_scores):
        make(people, dataset=checked)
    make_imported(("elsewhere", "otherwise"), rewards={1: (1.0, 0.0), 2: (0.5, 1.0), 3: (None,)})
    world = make_world()
    for condition in ("standard", "condition=blocker"):
        run = make_tool_run(world, "tia", condition)
        for number in (0, 1):
            make_query(run, number, right=number == 0, category=("", "format_error")[number])
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    sign_in(page, live_server.url, "root")
    yield f"{live_server.url}/analysis"
    assert complaints == []


def draw_all(page: Page) -> int:
    """Bring every figure into view and wait until it is drawn; how many there are."""
    figures = page.locator("[data-figure]")
    for number in range(figures.count()):
        # A figure in folded details is drawn when they are opened.
        figures.nth(number).evaluate(
            "(figure) => { const fold = figure.closest('details'); if (fold) fold.open = true; }"
        )
        figures.nth(number).scroll_into_view_if_needed()
        expect(figures.nth(number)).to_have_attribute("data-drawn", "")
    return figures.count()


def test_figures_are_drawn_and_axe_is_content(at: str, page: Page) -> None:
    for name in PAGES:
        page.goto(f"{at}/{name}/")
        # A page that waits for what a worker computes loads itself again when that is there.
        expect(page.locator('#later input[name="waits"], #later[hx-vals*="waits"]')).to_have_count(
            0
        )
        for where in looks(page):
            assert draw_all(page) >= 1
            assert violations(page, serious=True) == [], (name, where)
    # What people marked, said and took: the page of a study beside its other pages.
    page.goto(f"{at}/violation-check/")
    study = page.locator("#filter-study").input_value()
    page.goto(f"{at.removesuffix('/analysis')}/studies/{study}/quality/")
    expect(page.locator(".lede")).to_contain_text("3 annotators submitted")
    for where in looks(page):
        assert violations(page, serious=True) == [], where


def test_a_figure_is_saved_under_the_name_of_what_it_shows(at: str, page: Page) -> None:
    page.goto(f"{at}/leaderboard/?agents=ada&agents=nobody")
    notes = page.locator(".answer .messages").first
    expect(notes).to_contain_text("There is no agent “nobody” here")
    figure = page.locator("[data-figure]").first
    expect(figure).to_have_attribute("data-drawn", "")
    # A screen reader hears what it shows: not its buttons, nor ticks and names without values.
    image = figure.get_by_role("img")
    expect(image).to_have_accessible_name(re.compile("95 % intervals"))
    expect(image).not_to_have_accessible_name(re.compile("Save|Pin"))
    for part in image.locator(":scope > *").all():
        expect(part).to_have_attribute("aria-hidden", "true")
    with page.expect_download() as download:
        figure.locator('[data-save="svg"][data-width="column"]').evaluate("(one) => one.click()")
    name = download.value.suggested_filename
    assert name.startswith("leaderboard-") and name.endswith("-ada-board-85mm.svg")
    svg = download.value.path().read_text()
    # It holds its typeface, which is that of the page, and only the weights that it needs.
    assert (
        "PlanJury Sans Figures" in svg
        and svg.count("@font-face") == svg.count("data:font/woff2") >= 1
    )
    assert 'width="85mm"' in svg and float(svg.partition('height="')[2].partition("mm")[0]) < 150


# Draws each figure of the page for one column; returns the pairs of labels that meet. Their
# boxes hold some room above and below the letters, so these may overlap by 1.7 px.
MEETING_LABELS = """async (typeface) => {
  const { fitToPaper, loadTypeface } = await import("/static/js/figure-look.js");
  await loadTypeface(typeface);
  const found = [];
  for (const figure of document.querySelectorAll("[data-figure]")) {
    const spec = await (await fetch(figure.dataset.src)).json();
    for (const part of fitToPaper(spec, "column")) {
      const box = document.createElement("div");
      document.body.append(box);
      await Plotly.newPlot(box, part.data, part.layout, { staticPlot: true });
      const labels = [...box.querySelectorAll("text")].filter((one) => one.textContent.trim());
      const boxes = labels.map((one) => one.getBoundingClientRect());
      boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b, j) => {
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 1 && high > 1.7) {
          found.push([figure.id, labels[i].textContent, labels[i + 1 + j].textContent]);
        }
      }));
      Plotly.purge(box);
      box.remove();
    }
  }
  return found;
}"""


def test_no_labels_meet_in_a_figure_for_one_column(at: str, page: Page) -> None:
    for name in ("dispersion", "tools", "judges", "leaderboard"):
        page.goto(f"{at}/{name}/")
        expect(page.locator("[data-figure]").first).to_have_attribute("data-drawn", "")
        assert page.evaluate(MEETING_LABELS, "/static/css/figure-fonts.css") == [], name


def test_filters_change_the_page_in_place_and_the_address(at: str, page: Page) -> None:
    page.goto(f"{at}/leaderboard/")
    expect(page.locator("#report tbody").first).to_contain_text("Ada")
    page.get_by_label("Bob", exact=True).check()
    expect(page.locator("#report tbody").first).not_to_contain_text("Ada")
    expect(page).to_have_url(re.compile("agents=bob"))
    # The choice, the focus and the figures are still there.
    expect(page.get_by_label("Bob", exact=True)).to_be_checked()
    expect(page.get_by_label("Bob", exact=True)).to_be_focused()
    assert draw_all(page) == 1
    page.get_by_role("link", name="Failures", exact=True).click()
    expect(page.get_by_role("heading", name="Failures", level=1)).to_be_visible()
    expect(page.get_by_role("heading", name="Failure profile of Bob")).to_be_visible()
    page.go_back()
    expect(page.locator("#report tbody").first).not_to_contain_text("Ada")


def test_points_lead_to_what_they_count(at: str, page: Page) -> None:
    page.goto(f"{at}/leaderboard/?published=hide")
    draw_all(page)
    page.locator("#board .scatterlayer .point").first.wait_for()
    box = page.locator("#board .scatterlayer .point").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url("**/trajectories/?run=*")


def test_simulated_annotators_can_be_left_out(at: str, page: Page) -> None:
    page.goto(f"{at}/agreement/")
    expect(page.locator(".banner", has_text="Simulated annotators")).to_be_visible()
    page.locator(".more-filters > summary").click()
    page.locator("#filter-simulated").select_option("exclude")
    expect(page.locator(".empty")).to_contain_text("No answers by people yet")
    page.get_by_role("link", name="Count them").click()
    expect(page.locator(".lede")).to_contain_text("1 simulated annotator")


def test_a_table_is_sorted_by_its_heads(at: str, page: Page) -> None:
    page.goto(f"{at}/rubric/?published=hide")
    table = page.locator("#table-means")
    head = table.locator("thead th").nth(2)
    names = table.locator("tbody th")
    came = names.all_inner_texts()
    assert len(came) == 3

    def values() -> list[float]:
        cells = table.locator("tbody td:nth-child(3)").all_inner_texts()
        return [float(text.split()[0]) for text in cells]

    for direction, downwards in (("ascending", False), ("descending", True)):
        head.get_by_role("button").press("Enter")
        expect(head).to_have_attribute("aria-sort", direction)
        assert values() == sorted(values(), reverse=downwards)
    head.get_by_role("button").press("Enter")
    assert names.all_inner_texts() == came and head.get_attribute("aria-sort") is None
