"""Tests of who sees the analysis pages, and that page, figure and CSV show the same."""

import csv
import io
import json
from collections.abc import Collection, Sequence
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import DjangoAssertNumQueries

from analysis.filters import Filters
from analysis.pages import reports
from analysis.pages.catalogue import PAGES, select
from analysis.reports.content import Cell, Column, FigureSpec, Table
from annotation.models import Study
from annotation.remarks.label_sets import add_label_set, file_text
from annotation.remarks.services import put_label
from benchmarks.core.registry import SYSTEMS
from benchmarks.datasets.files import save_task_file
from benchmarks.demo import save_demo_dataset
from benchmarks.models import Agent, Dataset, Run, Task, Trajectory
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.services import start_runs
from benchmarks.systems.acpbench_hard.samples import sample_file
from benchmarks.systems.adapt.demo import DEMO as ADAPT_DEMO
from tests.analysis.human_rows import (
    make_filter_check,
    make_people,
    make_preferences,
    make_turn_scores,
    make_violation_check,
)
from tests.analysis.rows import (
    flat,
    make_certificate,
    make_dataset,
    make_imported,
    make_member,
    make_person,
    make_ratings,
    make_run,
    make_study,
    make_trajectory,
)
from tests.analysis.speaking_rows import make_speaking
from tests.analysis.tool_rows import make_query, make_tool_run, make_world
from tests.databases import taken_back
from tests.factories.benchmarks import play

pytestmark = pytest.mark.django_db

# Session, person and permissions take five queries of these.
# Two more look for what takes longer: is it kept, is it being made. Two are of the certificate of
# comparability: the tasks of the dataset, and those of the runs. One is that of validity, and one
# counts branches, which are left out.
MOST_QUERIES = 23
# Two ask whether what takes longer is there, or on its way.
MOST_QUERIES_KEPT = 19
# Columns that count trajectories, but on pages about people's answers.
COUNTED = ("n", "Counted", "Final plans", "Ran dry", "Running", "Scored", "Trajectories")


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    caches["reports"].clear()


@pytest.fixture
def reader(client: Client) -> Client:
    """A researcher who may see results."""
    client.force_login(make_person("rita", "view_results"))
    return client


@pytest.fixture
def dataset(db: None) -> Dataset:
    """Two agents on four tasks, with scores, a study and recorded answers."""
    made = make_dataset(is_demo=True)
    Task.objects.update(
        payload={"plans": [{"key": "a", "steps": ["Do it."], "verdict": "correct_efficient"}]}
    )
    runs = [make_run(made, "ada"), make_run(made, "bob")]
    for run, score in zip(runs, (5, 3), strict=True):
        for task in (1, 2, 3, 4):
            scores = [flat(4), flat(score)]
            make_trajectory(run, task, scores=scores, found_valid=[False, True], accurate=task % 2)
    Run.objects.update(finished_at=datetime(2026, 1, 9, tzinfo=UTC))
    make_imported(("elsewhere", "otherwise"))
    world = make_world()
    for agent in ("tia", "tom"):
        for condition in ("standard", "condition=blocker", "condition=finegrain_long"):
            run = make_tool_run(world, agent, condition)
            for number in (0, 1):
                make_query(run, number, right=number == 0, category=("", "format_error")[number])
    return made


@pytest.fixture
def study(dataset: Dataset) -> Study:
    made, ann = make_study(is_demo=True), make_person("ann")
    for run in Run.objects.filter(dataset=dataset):
        for item in run.trajectories.all():
            make_ratings(made, ann, item, {"safety": 4, "feedback_clear": 5}, simulated=True)
    people = make_people("cat", "dan", "eve")
    checked = make_dataset("Checked", is_demo=True)
    for make in (make_violation_check, make_filter_check, make_turn_scores, make_preferences):
        make(people, dataset=checked)
    return made


def address(name: str, **query: str) -> str:
    return reverse(f"analysis:{name}", query=query)


def show(client: Client, name: str, **query: str) -> str:
    response = client.get(address(name, **query))
    assert response.status_code == 200
    return response.content.decode()


def test_only_those_who_may_see_results(client: Client, dataset: Dataset) -> None:
    pages = {name: address(name) for name in PAGES}
    parts = [
        reverse(f"analysis:{name}_{kind}", kwargs={"part": "board"})
        for name in PAGES
        for kind in ("figure", "table")
    ]
    for url in (*pages.values(), *parts):
        response = client.get(url)
        assert response.status_code == 302 and "/accounts/login/" in response["Location"], url
    client.force_login(make_person("anna"))
    for url in (*pages.values(), *parts):
        assert client.get(url).status_code == 403, url
    client.force_login(make_person("rita", "view_results"))
    assert {name: client.get(url).status_code for name, url in pages.items()} == dict.fromkeys(
        pages, 200
    )


def test_views_only_read(reader: Client) -> None:
    assert {reader.post(address(name)).status_code for name in PAGES} == {405}


def test_the_first_page_says_where_to_go_and_keeps_the_filters(reader: Client) -> None:
    page = reader.get(reverse("analysis:index"), {"dataset": "3"}).content.decode()
    for other in PAGES.values():
        query = "" if other.of_study else "?dataset=3"
        assert f'<a href="/analysis/{other.address}/{query}">{other.question}</a>' in page
    assert page.count('href="/analysis/tables/"') == 1


def test_questions_and_pages_are_marked_and_filters_stay_where_they_mean_something(
    reader: Client, dataset: Dataset
) -> None:
    page = show(reader, "leaderboard", dataset=str(dataset.pk))
    places = page[page.index("place-groups") :]
    places = places[: places.index("</nav>")]
    assert places.count("aria-current") == 2 and 'aria-current="page"' in places
    assert 'aria-current="true" title="Which agent is better?">Leaderboard' in places
    assert f'href="/analysis/decline/rubric/?dataset={dataset.pk}&amp;' in places
    # Nothing was made elsewhere in this dataset.
    assert (
        'href="/analysis/leaderboard/outcomes/"' in places and 'href="/analysis/tables/"' in places
    )


def test_parts_answer_under_the_addresses_that_they_had_as_pages(reader: Client) -> None:
    parts = [page for page in PAGES.values() if page.part_of]
    for page in parts:
        for rest in ("", "details/", "report.html", "any-part.csv"):
            answer = reader.get(f"/analysis/{page.key}/{rest}?level=high&agents=1")
            assert answer.status_code == 301
            assert answer["Location"] == f"/analysis/{page.address}/{rest}?level=high&agents=1"
    assert {page.part_of for page in parts} <= {key for key in PAGES if not PAGES[key].part_of}


@pytest.mark.engines
def test_from_a_dimension_to_what_the_judges_wrote(reader: Client, dataset: Dataset) -> None:
    pair = reader.get(address("rubric", dataset=str(dataset.pk))).context["report"].onward[0]
    assert pair.text.startswith("Why: Bob and Ada on ") and "sort=-difference" in pair.url
    line = reader.get(pair.url).context["lines"][0]
    side = reader.get(line["url"].partition("#")[0]).content.decode()
    title = pair.text.removeprefix("Why: Bob and Ada on ").partition(",")[0]
    assert side.count('class="side-score"') == 4 and f"{title.capitalize()}: 3.00" in side
    turn = line["sides"][0]["url"]
    assert turn.endswith("?turn=2#turn-2") and reader.get(turn).status_code == 200


@pytest.mark.engines
def test_empty_database(reader: Client) -> None:
    for name in PAGES:
        page = show(reader, name)
        assert 'class="empty"' in page and "data-figure" not in page, name


def test_an_empty_page_offers_only_what_one_may_do(reader: Client) -> None:
    assert "Start a run" not in show(reader, "leaderboard")
    reader.force_login(make_person("sam", "view_results", "start_runs"))
    page = show(reader, "leaderboard")
    assert "Start a run" in page and 'class="rail"' not in page


def member(client: Client, study: Study) -> None:
    """The reader is a researcher of this study and of those that check."""
    for one in Study.objects.filter(pk__gte=study.pk):
        make_member(one, User.objects.get(username="rita"))


@pytest.mark.engines
def test_page_figures_and_tables(reader: Client, study: Study, subtests: pytest.Subtests) -> None:
    member(reader, study)
    for name in PAGES:
        with subtests.test(name), taken_back():
            if name == "refinement":
                make_refined(Dataset.objects.get(name="Tests"))
            if name == "breakdown":
                make_questions()
            if name == "asking":
                make_breakfasts()
            if name == "labels":
                make_labels()
            if name == "simulated-users":
                make_speaking(make_dataset("Spoken", tasks=8))
            check_page(reader, name)


def make_questions() -> None:
    """Two questions of each of two kinds, answered by an agent."""
    file = sample_file()
    chosen = [task for task, _ in file.tasks if task.payload["task"] in ("nexta", "val")]
    dataset = save_task_file(system="acpbench_hard", file=file, name="Questions").dataset
    ensure_scripted_agents()
    agents = [Agent.objects.get(name="acp-perfect")]
    tasks = [task.id for task in chosen[:2] + chosen[-2:]]
    for run in start_runs(dataset=dataset, agents=agents, tasks=tasks):
        play(run)


def make_labels() -> None:
    """A set of labels of which somebody has put one on a trajectory."""
    rita = User.objects.get(username="rita")
    add_label_set(text=file_text("mast@1"), by=rita)
    trajectory = Trajectory.objects.filter(run__dataset__name="Tests").order_by("pk")[0]
    put_label(trajectory=trajectory, key="mast_premature_end", by=rita, turn=None)


def make_breakfasts() -> None:
    """Two methods of asking, each at two meals."""
    dataset = save_demo_dataset("adapt", ADAPT_DEMO[1])
    ensure_scripted_agents()
    cook = [Agent.objects.get(system="adapt", policy="cook")]
    tasks = ["persona_02-cereal", "persona_10-tea_eggs"]
    for method in ("never_ask", "baseline"):
        settings = {"method": method, "fold": "0"}
        for run in start_runs(dataset=dataset, agents=cook, tasks=tasks, settings=settings):
            play(run)


def make_refined(dataset: Dataset) -> None:
    """A run that grants extra turns with feedback on the rubric."""
    run = make_run(dataset, "ada", condition="refinement=1", finished=20)
    run.settings = {"refinement": 1}
    run.save()
    trajectory = make_trajectory(run, 1)
    trajectory.payload = {"states": [{"valid": True, "passed": False}] * 2}
    trajectory.save()


def check_page(reader: Client, name: str) -> None:
    """Its figures and tables, shown and fetched alone, are those of its report."""
    response = reader.get(address(name, details="open"))
    shown, report = response.context, response.context["report"]
    page = response.content.decode()
    assert report.empty is None and len(report.figures) <= 1
    assert report.waits or len(report.tables) == 1
    plain = page.replace("&#x27;", "'").replace("\xa0", " ")
    assert f'<p class="lede">{report.sentence[:20]}' in plain
    for figure, url in (*shown["figures"], *shown.get("details_figures", ())):
        assert f'data-src="{url.replace("&", "&amp;")}"' in page
        answer = reader.get(url)
        assert answer["Content-Type"] == "application/json"
        assert json.loads(answer.content) == json.loads(figure.json)
        check_marks(figure)
    for table, url in (*shown["tables"], *shown.get("details_tables", ())):
        answer = reader.get(url)
        assert answer["Content-Type"] == "text/csv; charset=utf-8"
        header, *rows = csv.reader(io.StringIO(answer.content.decode()))
        assert header == table.header and len(rows) == len(table.rows)
        for row, cells in zip(rows, table.records(), strict=True):
            assert len(row) == len(header)
            for text, cell in zip(row, cells, strict=True):
                assert text.lstrip("'") == ("" if cell is None else str(cell))
        check_leads(reader, table, () if PAGES[name].of_study else COUNTED)


def test_details_are_computed_when_they_are_opened(reader: Client, study: Study) -> None:
    member(reader, study)
    for name in ("leaderboard", "agreement"):
        closed = show(reader, name)
        url = reverse(f"analysis:{name}_details")
        assert f'hx-get="{url}?' in closed and "How this was computed" not in closed
        opened = show(reader, name, details="open")
        part = reader.get(url, headers={"HX-Request": "true"}).content.decode()
        for text in ("How this was computed", 'id="how-text-methods"'):
            assert text in opened and text in part
        assert "<html" not in part
        # Without scripts the link leads to the page with its details.
        assert reader.get(url)["Location"].endswith("details=open#details")


def is_published(row: Sequence[Cell]) -> bool:
    """Return whether a row is from a paper, not from runs here."""
    return any(badge.text == "published" for badge in row[0].badges)


def leads_nowhere(cell: Cell, column: Column) -> bool:
    """Return whether a cell shows a number of something, and leads to nothing."""
    return column.num and not cell.url and cell.text not in ("", "0")


def check_leads(reader: Client, table: Table, counted: Collection[str]) -> None:
    """Every number leads somewhere; those of these columns to as many trajectories as they say."""
    if table.name.startswith("published"):
        return
    for number, row in enumerate(table.rows):
        if is_published(row):
            continue
        for cell, column in zip(row, table.columns, strict=True):
            assert not leads_nowhere(cell, column), (table.name, column.label, cell.text)
            if number < 2 and column.label in counted and cell.url:
                found = reader.get(cell.url).context["list"]
                assert found.query.problems == []
                assert found.count == cell.data[0], (table.name, column.label, cell.url)


def lists_of(tables: Collection[Table], figures: Collection[FigureSpec]) -> set[str]:
    """Return the addresses of all lists of trajectories that numbers and marks lead to."""
    found = {cell.url for table in tables for row in table.rows for cell in row if cell.url}
    for figure in figures:
        for trace in json.loads(figure.json)["data"]:
            # A cell of a heatmap stands in a row of cells.
            for mark in trace.get("customdata", ()):
                found |= {mark} if isinstance(mark, str) else {one for one in mark or () if one}
    return {url for url in found if url.startswith("/trajectories/?")}


def test_what_pages_count_and_what_they_lead_to_are_on_usable_tasks(
    reader: Client, dataset: Dataset, subtests: pytest.Subtests
) -> None:
    make_refined(dataset)
    make_questions()
    make_breakfasts()
    out: set[int] = set()
    for one in Dataset.objects.filter(system__in=SYSTEMS):
        first = one.runs.order_by("pk")[0]
        # The task of a trajectory that failed is left out with it.
        gone = first.trajectories.order_by("pk")[0].task
        make_certificate(one, (gone.external_id, first.level))
        out |= set(Trajectory.objects.filter(task=gone).values_list("pk", flat=True))
    checked = 0
    for name in (key for key, page in PAGES.items() if not page.of_study):
        response = reader.get(address(name, details="open"))
        if response.context["report"].empty is not None:
            continue
        with subtests.test(name):
            shown = response.context
            tables = [
                table for part in ("tables", "details_tables") for table, _ in shown.get(part, ())
            ]
            figures = [
                figure
                for part in ("figures", "details_figures")
                for figure, _ in shown.get(part, ())
            ]
            for table in tables:
                check_leads(reader, table, COUNTED)
            for url in lists_of(tables, figures):
                listed = reader.get(url).context["list"]
                assert not out & set(listed.finished_ids), url
                checked += 1
            every = reader.get(address(name, details="open", tasks="all")).context
            for table, _ in (*every["tables"], *every.get("details_tables", ())):
                check_leads(reader, table, COUNTED)
    assert checked > 50
    # The run's own page leads from each ending to the trajectories that it counts.
    run = Run.objects.filter(agent__name="ada").order_by("pk")[0]
    shown = reader.get(reverse("benchmarks:run", args=[run.pk]))
    for code, _, n in shown.context["endings"]:
        url = f"/trajectories/?run={run.pk}&usable=yes&end={code}"
        assert url.replace("&", "&amp;") in shown.content.decode()
        assert reader.get(url).context["list"].count == n


def check_marks(figure: FigureSpec) -> None:
    """Every mark of what was run here leads to something; a computed floor counts nothing."""
    if figure.name.startswith("published"):
        return
    traces = [t for t in json.loads(figure.json)["data"] if t.get("hoverinfo") != "skip"]
    bare = [t for t in traces if "x" in t and "y" in t and "customdata" not in t]
    names = [t.get("name", "") for t in bare]
    assert [name for name in names if "published" not in name and name != "noise alone"] == []


def test_unknown_parts_are_not_found(reader: Client, study: Study) -> None:
    member(reader, study)
    for name in PAGES:
        for kind in ("figure", "table"):
            url = reverse(f"analysis:{name}_{kind}", kwargs={"part": "none-such"})
            assert reader.get(url).status_code == 404, url


def test_csv_has_the_filters_of_the_page(reader: Client, dataset: Dataset) -> None:
    url = reverse("analysis:leaderboard_table", kwargs={"part": "board"},
                  query={"agents": "bob", "published": "hide"})  # fmt: skip
    response = reader.get(url)
    rows = list(csv.reader(io.StringIO(response.content.decode())))
    assert [row[0] for row in rows[1:]] == ["Bob"]
    assert response["Content-Disposition"] == (
        'attachment; filename="leaderboard-tests-bob-board.csv"'
    )


def test_a_figure_stays_in_the_state_of_its_page(reader: Client, dataset: Dataset) -> None:
    """While a run goes on, the table that was sent with the page would show other numbers."""
    before = reader.get(address("leaderboard", dataset=str(dataset.pk))).context
    ((figure, url),) = before["figures"]
    details = before["details_url"]
    run = Run.objects.get(dataset=dataset, agent__name="bob")
    run.trajectories.first().delete()
    Run.objects.filter(pk=run.pk).update(data_version=run.data_version + 1)
    after = reader.get(address("leaderboard", dataset=str(dataset.pk))).context
    assert after["figures"][0][0].json != figure.json

    assert json.loads(reader.get(url).content) == json.loads(figure.json)
    # Details of the new state have no place below the old answer: the page is loaded anew.
    opened = reader.get(details, headers={"HX-Request": "true"})
    assert opened["HX-Redirect"].endswith("details=open#details") and not opened.content

    # A state that is not stored, and one of another page, are not passed off as this page's.
    caches["reports"].clear()
    other = reader.get(address("failures", dataset=str(dataset.pk))).context["figures"][0][1]
    stray = f"{url.partition('state=')[0]}state={other.partition('state=')[2]}"
    for stale in (url, stray):
        refused = reader.get(stale)
        assert refused.status_code == 409 and b"Reload it" in refused.content


def test_a_note_on_the_filters_is_no_other_state(reader: Client, dataset: Dataset) -> None:
    """A page says which filters it did not know; addresses of its parts have those that it took."""
    page = reader.get(address("leaderboard", dataset=str(dataset.pk), agents="nobody")).context
    assert any("nobody" in notice.text for notice in page["report"].notices)
    ((_, url),) = page["figures"]
    assert "nobody" not in url
    opened = reader.get(page["details_url"], headers={"HX-Request": "true"})
    assert opened.content and "HX-Redirect" not in opened
    # Also where the report of the page is not stored, as one is not whose answer is still computed.
    caches["reports"].clear()
    assert reader.get(url).status_code == 200


def test_unchanged_figures_are_not_sent_again(reader: Client, dataset: Dataset) -> None:
    url = reverse("analysis:leaderboard_figure", kwargs={"part": "board"})
    first = reader.get(url)
    tag = first["ETag"]
    again = reader.get(url, headers={"if-none-match": tag})
    assert again.status_code == 304 and not again.content and again["ETag"] == tag
    # Another choice is another figure.
    assert reader.get(f"{url}?agents=bob", headers={"if-none-match": tag}).status_code == 200
    run = Run.objects.get(agent__name="ada")
    Run.objects.filter(pk=run.pk).update(data_version=run.data_version + 1)
    changed = reader.get(url, headers={"if-none-match": tag})
    assert changed.status_code == 200 and changed["ETag"] != tag
    assert "private" in changed["Cache-Control"]


def test_new_answers_make_a_new_agreement(reader: Client, study: Study) -> None:
    member(reader, study)
    before = show(reader, "agreement")
    item = study.assignments.order_by("pk")[0].trajectory
    make_ratings(study, make_person("ben"), item, {"safety": 1}, simulated=True)
    assert "1 simulated annotator" in before and "2 simulated annotators" in show(
        reader, "agreement"
    )


@pytest.fixture
def usual_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages that have nothing to draw stay on their usual choice: a budget is for one."""
    monkeypatch.setattr(reports, "MOST_TRIED", 0)


@pytest.mark.usefixtures("usual_alone")
def test_query_budget(
    reader: Client,
    study: Study,
    django_assert_max_num_queries: DjangoAssertNumQueries,
    subtests: pytest.Subtests,
) -> None:
    member(reader, study)
    rita = User.objects.get(username="rita")
    for name in PAGES:
        caches["reports"].clear()
        if PAGES[name].waits:  # a page that waits for its job is not kept, so the job is first
            waiting = PAGES[name]
            waiting.content.deferred_report(select(waiting, Filters(), rita))
        with subtests.test(name), taken_back():
            with django_assert_max_num_queries(MOST_QUERIES):
                reader.get(address(name))
            with django_assert_max_num_queries(MOST_QUERIES_KEPT):
                reader.get(address(name))


@pytest.mark.usefixtures("usual_alone")
def test_queries_do_not_grow_with_agents(
    reader: Client, dataset: Dataset, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(12):
        make_trajectory(make_run(dataset, f"agent-{number}"), 1, scores=[flat(4)])
    for name in PAGES:
        with django_assert_max_num_queries(MOST_QUERIES):
            reader.get(address(name))


def test_names_are_escaped(reader: Client, dataset: Dataset) -> None:
    run = make_run(dataset, "evil", title='<script>alert("x")</script>')
    make_trajectory(run, 1, scores=[flat(4)])
    sheet = make_run(dataset, "sheet", title="=1+1")
    make_trajectory(sheet, 1, scores=[flat(4)])
    for name in ("leaderboard", "rubric", "decline", "dispersion"):
        page = show(reader, name)
        assert "<script>alert" not in page and "&lt;script&gt;alert" in page
    url = reverse("analysis:leaderboard_table", kwargs={"part": "board"})
    # A spreadsheet must not take a name for a formula.
    assert "'=1+1," in reader.get(url).content.decode()


def test_filters_are_a_plain_form_with_the_choice_made(reader: Client, dataset: Dataset) -> None:
    page = show(reader, "leaderboard", agents="bob")
    assert '<form method="get" action="/analysis/leaderboard/"' in page
    assert 'name="agents" value="bob"' in page and "checked" in page
    assert '<option value="mid" selected>' in page
    # Other pages keep the choice.
    assert "/analysis/decline/rubric/?dataset=" in page and "agents=bob" in page


@pytest.mark.engines
def test_nonsense_in_the_address(reader: Client, dataset: Dataset) -> None:
    nonsense = ("dataset=%00", "dataset=-1", "level=" + "x" * 5000, "experiment=1e9",
                "agents=&agents=%F0%9F%A6%93", "study=99999999999999999999999")  # fmt: skip
    # Pages read their choices in one place: one page has each alone, the others all at once.
    for query in nonsense:
        assert reader.get(f"{address('leaderboard')}?{query}").status_code == 200, query
    for name in PAGES:
        assert reader.get(f"{address(name)}?{'&'.join(nonsense)}").status_code == 200, name


def test_what_is_not_the_real_thing_is_marked(reader: Client, study: Study) -> None:
    member(reader, study)
    assert "Demo data" in show(reader, "leaderboard")
    assert "Simulated annotators" in show(reader, "agreement")
    plain = make_dataset("Plain")
    run = make_run(plain, "people", kind="recorded", labels="lexicon", finished=9)
    make_trajectory(run, 1, scores=[flat(4)])
    page = show(reader, "leaderboard", dataset=str(plain.pk))
    assert "Lexicon judges" in page and "recorded" in page and "Demo data" not in page


@pytest.mark.engines
def test_a_study_leads_to_the_page_about_what_it_asks(reader: Client, study: Study) -> None:
    member(reader, study)
    expected = {"ten_questions@1": "agreement", "violation_check@1": "violation-check",
                "filter_check@1": "filter-check", "turn_scores@1": "turn-scores",
                "compare_plans@1": "preferences"}  # fmt: skip
    for one in Study.objects.all():
        there = reader.get(reverse("analysis:of_study", args=[one.pk]))
        assert there["Location"] == address(expected[one.questionnaire], study=str(one.pk))
    closed = make_study("Somebody else's")
    assert reader.get(reverse("analysis:of_study", args=[closed.pk])).status_code == 404
    # Pages about the same study keep it; others do not.
    page = show(reader, "agreement", study=str(study.pk))
    assert f"/analysis/ratings/?study={study.pk}" in page
    assert f"/analysis/ratings/violation-check/?study={study.pk}" not in page
