"""People's verdicts on recorded answers beside the judges, worked out by hand."""

import json

import pytest

from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.reports.content import Report
from benchmarks.models import Task
from tests.analysis.page_reports import report_of
from tests.analysis.rows import flat, make_dataset, make_run, make_trajectory

pytestmark = pytest.mark.django_db

PLANS = (("Take glue.", "correct_efficient"), ("Take tape.", "wrong_partial_correct"))


def report() -> Report:
    return report_of("verdicts", select_runs(Filters()))


def test_nothing_to_show() -> None:
    assert report().empty is not None
    make_trajectory(make_run(make_dataset(), "ada"), 1, texts=["1. Do it."])
    made = report()
    assert made.empty is not None and made.empty.title == "No verdicts here"


def test_by_verdict() -> None:
    dataset = make_dataset()
    Task.objects.update(
        payload={
            "plans": [
                {"key": str(i), "steps": [step], "verdict": verdict}
                for i, (step, verdict) in enumerate(PLANS)
            ]
        }
    )
    run = make_run(dataset, "people", kind="recorded")
    # Glue three times, valid, all judges give 5; tape once, not valid, all give 2.
    for task in (1, 2, 3):
        make_trajectory(run, task, texts=["1. Take glue."], scores=[flat(5)], found_valid=[True])
    make_trajectory(run, 4, texts=["1. Take tape."], scores=[flat(2)], found_valid=[False])
    made = report()
    assert made.sentence == (
        "4 final plans are recorded answers: of those that people called correct the judges find "
        "100.0 % (95 % interval 43.9 to 100.0 %) valid, of those called wrong 0.0 %."
    )
    (figure,) = made.figures
    marks = [trace for trace in json.loads(figure.json)["data"] if trace["mode"] == "markers"]
    assert [(trace["y"], trace["x"]) for trace in marks] == [
        (["All called correct (3)", "All called wrong (1)"], [1, 0]),
        (["Correct, efficient (3)\u200b", "Wrong, partly correct (1)\u200b"], [1, 0]),
    ]
    (table,) = made.tables
    rows = {record[0]: dict(zip(table.header, record, strict=True)) for record in table.records()}
    assert list(rows) == [
        "All called correct", "All called wrong", "Correct, efficient", "Wrong, partly correct",
    ]  # fmt: skip
    assert rows["Correct, efficient"]["final plans"] == 3
    assert rows["Correct, efficient"]["safety"] == 5
    assert rows["All called wrong"]["safety"] == 2
