"""Pages of ADAPT: ledger, dialogue, household, run, task, and the analysis of methods."""

import json
import re
from statistics import fmean
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.filters.page_filters import with_group
from benchmarks.demo import save_demo_dataset
from benchmarks.models import Agent, Dataset, Run, Trajectory
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.services import start_runs
from benchmarks.runs.versions import missing_version
from benchmarks.systems.adapt.demo import DEMO
from benchmarks.systems.adapt.system import SYSTEM
from benchmarks.verification.services import verify_run
from tests.analysis.page_reports import report_of
from tests.factories.benchmarks import TurnFactory, play

HOSTILE = "<script>alert('x')</script>"
TASKS = ("persona_02-cereal", "persona_10-tea_eggs")


@pytest.fixture
def breakfast(db: None) -> Dataset:
    return save_demo_dataset("adapt", DEMO[1])


def run_of(breakfast: Dataset, **settings: Any) -> Run:
    """A run of the scripted cook, carried to its end."""
    ensure_scripted_agents()
    (run,) = start_runs(
        dataset=breakfast,
        agents=[Agent.objects.get(system="adapt", policy="cook")],
        settings=settings,
        tasks=TASKS,
        wake=False,
    )
    play(run)
    run.refresh_from_db()
    return run


def shown(client: Client, name: str, *args: Any, **query: Any) -> str:
    response = client.get(reverse(name, args=args), query, follow=True)
    assert response.status_code == 200
    return response.content.decode()


def test_a_trajectory_and_its_run(researcher: Client, breakfast: Dataset) -> None:
    run = run_of(breakfast, method="baseline", fold="0")
    row = run.trajectories.get(task__external_id=TASKS[1])
    page = shown(researcher, "analysis:trajectory", row.pk)
    for words in (
        "Preferences of Persona 10", "Squeeze some lemon into my tea.", "do not apply here",
        "The agent asks", "The person answers", "Told: “", "Household at the end", "Outdoor patio",
        "Search fridge_0", "provisional",
    ):  # fmt: skip
        assert words in page, words
    assert (
        f"{row.payload['satisfied']} of {row.payload['applicable']} preferences that apply" in page
    )
    page = shown(researcher, "benchmarks:run", run.pk)
    for words in (
        "Satisfied %", "Progress over time", "By persona", "By type of preference",
        "Questions by applicable preferences", "not levels with Table 1",
    ):  # fmt: skip
        assert words in page, words
    page = shown(researcher, "benchmarks:task", row.task_id)
    assert "persona_10" in page and "tea, eggs" in page
    assert "learns of a preference by asking" in page and "only after violating" not in page


def test_text_of_agents_and_people_is_escaped(researcher: Client, breakfast: Dataset) -> None:
    ensure_scripted_agents()
    agent = Agent.objects.get(system="adapt", policy="cook")
    (run,) = start_runs(dataset=breakfast, agents=[agent], tasks=TASKS[:1], wake=False)
    row = run.trajectories.get()
    asked = {"question": HOSTILE, "answer": HOSTILE, "disclosed": [], "ok": True, "prefs": {}}
    TurnFactory(trajectory=row, index=1, text=HOSTILE, payload=asked, is_final=False)
    acted = {"action_text": HOSTILE, "message": HOSTILE, "thought": HOSTILE, "ok": False}
    changes = [{"node": HOSTILE, "field": "made", "before": HOSTILE, "after": HOSTILE}]
    TurnFactory(
        trajectory=row, index=2, text=HOSTILE, feedback=HOSTILE * 20, is_final=False,
        payload={**acted, "changes": changes, "prefs": {HOSTILE: HOSTILE}},
    )  # fmt: skip
    Trajectory.objects.filter(pk=row.pk).update(
        payload={
            "persona_name": HOSTILE,
            "satisfied": 1,
            "applicable": 1,
            "preferences": [
                {"n": 1, "text": HOSTILE, "type": HOSTILE, "value": "satisfied", "why": HOSTILE,
                 "objects": [HOSTILE], "step": 1, "disclosed": 1},
            ],
        }
    )  # fmt: skip
    page = shown(researcher, "analysis:trajectory", row.pk)
    assert HOSTILE not in page and "&lt;script&gt;alert" in page


def test_methods_are_compared(researcher: Client, breakfast: Dataset) -> None:
    for method in ("never_ask", "teacher"):
        run_of(breakfast, method=method)
    query = {"dataset": breakfast.pk, "factor": "method", "measure": "satisfaction"}
    page = shown(researcher, "analysis:effects", **query)
    assert "Teacher" in page and "Never ask" in page and "Satisfied %" in page


def test_agents_are_ranked_by_satisfaction(researcher: Client, breakfast: Dataset) -> None:
    run = run_of(breakfast)
    values = [row.metrics["satisfaction"] for row in run.trajectories.all()]
    said = f"preference satisfaction {fmean(values):.1f} % over {len(values)} trajectories (95 % t "
    said = said.replace(" %", "\u00a0%")
    page = shown(researcher, "analysis:leaderboard", dataset=breakfast.pk)
    _, _, main = page.partition("<main")
    assert said in main
    # Nothing of measures that this system has not.
    assert not {"VPR", "Acc", "Wald"} & set(re.findall(r"\w+", main))


def test_table_1_is_complete() -> None:
    """Seven methods, four figures each, and the page on methods finds all of them."""
    rows = {row.metric: row for row in SYSTEM.published if row.source == "Table 1"}
    assert len(rows) == 28 and set(SYSTEM.comparisons.factors[0].published.values()) == set(rows)
    assert rows["satisfaction_unseen@method=teacher"].printed_error == "± 1.9 SE"
    assert rows["satisfaction_unseen@method=teacher"].printed == "65.5"
    assert rows["questions_seen@method=always_ask"].printed == "22.2"


def test_a_run_that_nothing_applies_to_has_no_zero(researcher: Client, breakfast: Dataset) -> None:
    run = run_of(breakfast)
    metrics = json.loads(json.dumps(run.trajectories.first().metrics))
    Trajectory.objects.filter(run=run).update(
        metrics={**metrics, "satisfaction": None},
        undefined={"satisfaction": "no preference applies"},
    )
    page = shown(researcher, "analysis:trajectory", run.trajectories.first().pk)
    assert "no preference applies" in page


def test_methods_by_persona(researcher: Client, breakfast: Dataset) -> None:
    """The heat map has a row per method and a column per persona, in the order of their numbers."""
    runs = [run_of(breakfast, method=method) for method in ("never_ask", "teacher")]
    found = report_of(
        "breakdown",
        with_group(select_runs(Filters(dataset=str(breakfast.pk)), every_condition=True)),
    )
    figure = found.figure("grid")
    assert figure is not None
    (trace,) = json.loads(figure.json)["data"]
    rows = list(runs[0].trajectories.all())
    assert trace["x"] == sorted({row.payload["persona_name"] for row in rows}, key=len)
    assert [name.split(": ")[-1] for name in trace["y"]] == ["Never ask", "Teacher"]
    first = [
        row.metrics["satisfaction"] for row in rows
        if row.payload["persona_name"] == trace["x"][0]
    ]  # fmt: skip
    assert trace["z"][0][0] == pytest.approx(fmean(first))
    assert (trace["zmin"], trace["zmax"]) == (0, 100)
    assert found.sentence.startswith("By persona, no two kinds of task differ clearly")


def test_a_run_of_the_first_scorer_is_verified(breakfast: Dataset) -> None:
    ensure_scripted_agents()
    agent = Agent.objects.get(system="adapt", policy="cook")
    (run,) = start_runs(dataset=breakfast, agents=[agent], tasks=TASKS[:1], wake=False)
    run.pins = {**run.pins, "scorer": "1"}
    run.save(update_fields=["pins"])
    play(run)
    report = verify_run(run=run)
    assert not report.missing and not report.differs and report.counts["same"] == 1
    assert "unasked" not in run.trajectories.get().metrics
    run.pins = {**run.pins, "scorer": "0"}
    assert missing_version(run, SYSTEM) == "scorer version 0 (available is 2)"


def test_the_tables_and_figures_of_the_paper(researcher: Client, breakfast: Dataset) -> None:
    """Tables 1 and 2 with both ablations as rows, and Figures 3 to 5 with all methods in one."""
    conditions = [{"method": "baseline"}, {"method": "always_ask"}, {"method": "reflection_dpo"},
                  {"method": "reflection_dpo", "ablation": "no_reflection"},
                  {"method": "reflection_dpo", "ablation": "no_dpo"}]  # fmt: skip
    runs = [run_of(breakfast, fold="0", **condition) for condition in conditions]
    filters = Filters(dataset=str(breakfast.pk), published="on")
    found = report_of("asking", select_runs(filters, every_condition=True))
    titles = ["Baseline", "Reflection-DPO", "Always ask", "Without reflection", "Without DPO"]
    one, two = found.table("table-1"), found.table("table-2")
    assert [row[0].text for row in one.rows][:3] == ["Baseline", "Reflection-DPO", "Always ask"]
    assert [row[0].text for row in two.rows] == 2 * ["Baseline", "Reflection-DPO", *titles[3:]]
    assert two.header[1:4] == [
        "satisfaction_seen", "satisfaction_seen_se", "satisfaction_seen_n",
    ]  # fmt: skip
    published = two.rows[6]
    assert published[1].data[:2] == (17.5, 0.7) and published[1].sub == "± 0.7 SE"
    # Persona 2 is of fold 0, persona 10 is not.
    values = {t.task.external_id: t.metrics for t in runs[0].trajectories.select_related("task")}
    own = next(row for row in one.rows if row[0].text == "Baseline")
    assert own[1].data == (values[TASKS[1]]["satisfaction"], None, 1)
    assert own[2].data == (values[TASKS[0]]["satisfaction"], None, 1)
    figures = {figure.name: json.loads(figure.json)["data"] for figure in found.figures}
    for name in ("curves", "questions"):
        assert {t["name"] for t in figures[name] if t.get("name")} == set(titles)
    course = [trace for trace in figures["curves"] if trace.get("name") == "Baseline"]
    assert len(course[0]["x"]) == 101
    assert course[0]["y"][-1] == pytest.approx(fmean(m["satisfaction"] for m in values.values()))
    marks = {t["name"]: t for t in figures["example"] if t.get("name") and "hovertext" in t}
    assert marks["told"]["x"] and marks["met"]["x"]
    example = found.table("example")
    assert {row[0].text for row in example.rows} == set(titles)
    assert any("satisfied" in row[4].text or "violated" in row[4].text for row in example.rows)
    page = shown(researcher, "analysis:asking", dataset=breakfast.pk)
    assert "Methods (as Table 1)" in page and "Unasked food" in page


def test_the_ablation_is_a_factor(researcher: Client, breakfast: Dataset) -> None:
    for ablation in ("none", "no_reflection"):
        run_of(breakfast, method="reflection_dpo", ablation=ablation)
    query = {"dataset": breakfast.pk, "factor": "ablation", "measure": "questions"}
    page = shown(researcher, "analysis:effects", **query)
    assert "Without reflection" in page and "Left out in training" in page
    rows = {row.metric for row in SYSTEM.published if row.source == "Table 2"}
    (factor,) = [one for one in SYSTEM.comparisons.factors if one.name == "ablation"]
    assert rows <= set(factor.published.values())
