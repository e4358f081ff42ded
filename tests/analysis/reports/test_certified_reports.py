"""Published values never stand without a certificate: on pages, in tables, and in every file."""

import csv
from io import StringIO

import pytest

from analysis.exports.latex import TableSource, latex_table
from analysis.filters import Filters
from analysis.pages.catalogue import PAGES, select
from analysis.pages.reports import answer_report, details_report, make_report, report_key
from analysis.reports.content import Report
from benchmarks.models import Dataset, Experiment, Task
from tests.analysis.rows import make_dataset, make_run, make_trajectory
from tests.factories.benchmarks import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset() -> Dataset:
    found = make_dataset()
    together = Experiment.objects.create(name="Two agents")
    for agent in ("ada", "bob"):
        run = make_run(found, agent, experiment=together)
        make_trajectory(run, 1)
        make_trajectory(run, 2)
    return found


def report_of(page: str, **filters: str) -> Report:
    found, user = PAGES[page], make_user(f"reader of {page}", ["view_results", "start_runs"])
    selection = select(found, Filters(**filters), user)
    return make_report(found, selection, report_key(found, selection))


def test_the_leaderboard_says_how_its_runs_compare(dataset: Dataset) -> None:
    made = report_of("leaderboard", published="show")
    (certificate,) = made.certificates
    assert "Table 3" in certificate.sources
    decoding = next(row for row in certificate.rows if row.aspect == "decoding")
    assert decoding.verdict == "different" and decoding.here == "a script"

    board = made.table("board")
    assert board is not None and board.certificates
    rows = list(csv.DictReader(StringIO(board.csv())))
    beginning = "Compared with the AdaPlanBench paper"
    assert all(row["comparability"].startswith(beginning) for row in rows)
    text = latex_table(board, TableSource("leaderboard"))
    assert "Compared with the AdaPlanBench" in text


def test_nothing_is_certified_where_published_rows_are_hidden(dataset: Dataset) -> None:
    user = make_user("reader", ["view_results"])
    found = PAGES["leaderboard"]
    selection = select(found, Filters(published="hide"), user)
    made = answer_report(found, selection, report_key(found, selection))
    assert made.certificates == ()
    board = made.table("board")
    assert board is not None and "comparability" not in board.header
    # The published correlation in the details has one all the same.
    details = details_report(found, selection, report_key(found, selection))
    table = details.table("correlation")
    assert table is not None and table.certificates


@pytest.mark.parametrize("key", PAGES)
def test_no_table_has_published_values_without_a_certificate(key: str, dataset: Dataset) -> None:
    made = report_of(key, published="show", dataset=str(dataset.pk))
    for table in made.tables:
        published = any(
            badge.text == "published" for row in table.rows for cell in row for badge in cell.badges
        ) or any(column.label == "Published" for column in table.columns)
        if published:
            assert table.sources and table.certificates, table.name
    if PAGES[key].cites and made.empty is None:
        assert made.certificates


def test_printed_standard_errors_are_shown() -> None:
    found = Dataset.objects.create(system="adapt", name="Breakfast", checksum="x")
    Task.objects.create(dataset=found, external_id="t1", prompt="Make toast.")
    run = make_run(found, "cook", level="")
    run.settings = {"method": "baseline"}
    run.save()
    make_trajectory(run, 1, satisfaction=0.5, satisfaction_unseen=0.5)
    made = report_of("effects", factor="method", measure="satisfaction_seen", published="show")
    table = made.table("published")
    assert table is not None
    shown = [cell for row in table.rows for cell in row if "SE" in cell.sub]
    assert shown and shown[0].sub.startswith("± 0.7 SE")
    assert any("± 0.7 SE" in str(value) for row in table.records() for value in row)
