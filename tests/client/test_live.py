"""The client against the server as it is shipped, on the newest kept demo: what a researcher does
without a browser.

The server is started once for all of this, so it is one test with several parts.
"""

import json
import lzma
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from planjury_client import JobFailed, PlanJury, PlanJuryError
from tests.installations import Install, Installation
from tests.servers import serving, wait_until_answered

pytestmark = [pytest.mark.slow, pytest.mark.embedded]

HERE = Path(__file__)
ROOT = HERE.parents[2]
DEMO = max((ROOT / "tests" / "upgrade").glob("demo-*.sqlite3.xz"))
SPANS = ROOT / "tests" / "benchmarks" / "formats" / "otel_spans.jsonl"
NOTEBOOK = ROOT / "client" / "examples" / "results.ipynb"


def manage(there: Installation, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT, env=there.environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


@pytest.fixture
def served(install: Install) -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a server with the demo, and tokens of its people."""
    there = install("served", migrated=False)
    (there.folder / "planjury.sqlite3").write_bytes(lzma.decompress(DEMO.read_bytes()))
    with serving(**there.environment()) as running:
        wait_until_answered(running)
        tokens = {
            name: manage(there, "api_token", name, "--name", "test").split()[-1]
            for name in ("researcher", "annotator", "admin")
        }
        yield f"http://localhost:{running.port}", tokens


def test_all_of_it_without_a_browser(
    served: tuple[str, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, tokens = served
    jury = PlanJury(url, tokens["researcher"])
    runs = start_a_run(jury)
    study = import_and_make_a_study(jury, runs)
    why_an_agent_fails(jury)
    which_judge_is_off(jury)
    figure_and_table_for_a_paper(jury, tmp_path)
    compare_two_models(jury)
    export_a_human_study(jury, tmp_path)
    own_endpoint_with_a_cap(jury, PlanJury(url, tokens["admin"]))
    rate_and_undo(jury, PlanJury(url, tokens["annotator"]), study)
    refusals_are_errors(url, tokens, tmp_path)
    run_the_notebook(url, tokens["researcher"], monkeypatch)


def start_a_run(jury: PlanJury) -> list[int]:
    dataset = jury.find_dataset("Household demo")
    tasks = [task["external_id"] for task in jury.tasks(dataset["id"])][:2]
    started = jury.start_runs(
        dataset["id"], ["explorer", "forgetful"], levels=["mid"], tasks=tasks, seed=7
    )
    assert len(started["runs"]) == 2
    for run in started["runs"]:
        done = jury.wait_for_run(run, seconds=120, every=0.2)
        assert done["progress"]["done"] == 2
        assert jury.metrics(run)["trajectories"] == 2
    found = list(jury.trajectories(run=started["runs"][0]))
    assert len(found) == 2 and jury.trajectory(found[0]["id"])["turn_list"]
    return list(started["runs"])


def import_and_make_a_study(jury: PlanJury, runs: list[int]) -> int:
    assert "otel" in {one["name"] for one in jury.formats()}
    made = jury.import_file(SPANS, name="Spans")
    assert (made["created"], made["trajectories"]) == (True, 2)
    assert jury.import_file(SPANS, name="Spans")["created"] is False
    plan = {
        "name": "From a program", "questionnaire": "ten_questions@1", "items": {"runs": runs},
        "annotators": ["annotator"], "order": "random", "seed": 3,
    }  # fmt: skip
    preview = jury.plan_study(plan)
    assert (preview["items"], preview["loads"]) == (4, {"Annotator 1": 4})
    study = jury.create_study(plan)
    assert jury.progress(study["id"])["open"] == 4
    assert jury.find_study("From a program")["id"] == study["id"]
    return int(study["id"])


def why_an_agent_fails(jury: PlanJury) -> None:
    page = jury.analysis("failures")
    assert page.data["question"].startswith("Why does") and (page.answer or page.empty)
    run = next(run for run in jury.runs(status="done", limit=100) if run["kind"] == "made")
    groups = jury.failure_groups(f"dataset={run['dataset']['id']}", every=0.2)
    assert groups.data["failed"] > 0
    assert groups.answer or groups.data["empty"]


def which_judge_is_off(jury: PlanJury) -> None:
    page = jury.analysis("judges")
    assert page.answer and page.tables and len(page.frame()) > 0
    assert page.data["question"].startswith("Which judge")
    later = jury.analysis("agreement", wait=True, every=0.2)
    assert later.later is not None and later.later.tables


def figure_and_table_for_a_paper(jury: PlanJury, folder: Path) -> None:
    page = jury.analysis("leaderboard")
    table = page.tables[0]
    assert page.rows(table)[0]["agent"]
    text = jury.save_table(
        "leaderboard", folder / "board.tex", table=table, format="latex", **page.filters
    ).read_text()
    assert "\\begin{tab" in text
    lines = jury.save_table("leaderboard", folder / "board.csv", table=table, **page.filters)
    assert len(lines.read_text().splitlines()) == len(page.rows(table)) + 1
    assert page.figure()["data"] and "interval" in page.methods
    assert page.save_csv(folder / "own.csv").stat().st_size > 100
    try:
        pdf = jury.save_figure("leaderboard", folder / "board.pdf", figure=page.figures[0])
    except PlanJuryError as error:
        assert error.status in (501, 503), error  # no browser here that prints
    else:
        assert pdf.read_bytes().startswith(b"%PDF")


def compare_two_models(jury: PlanJury) -> None:
    board = jury.analysis("leaderboard", details=False)
    two = [option["value"] for option in board.data["choices"]["agents"]][:2]
    page = jury.analysis("compare-models", agents=two, dataset=board.filters["dataset"])
    assert page.filters["agents"] == two and page.answer


def export_a_human_study(jury: PlanJury, folder: Path) -> None:
    study = max(jury.studies(), key=lambda one: jury.progress(one["id"])["submitted"])
    document = json.loads(jury.save_study(study["id"], folder / "study.json").read_text())
    ratings = jury.ratings_frame(study["id"])
    assert len(ratings) == len(document["rows"]) > 0
    assert set(ratings["rater"]) == {row["rater"] for row in document["rows"]}
    assert jury.export_study(study["id"], folder / "s.zip", format="huggingface").stat().st_size
    edits = list(jury.rating_edits(study["id"]))
    assert len(edits) >= len(ratings[ratings["edits"] > 0])


def own_endpoint_with_a_cap(jury: PlanJury, admin: PlanJury) -> None:
    fields = {"parameters": {"max_tokens": 64}, "price_in": 1, "price_out": 1, "simulated": True}
    with pytest.raises(PlanJuryError) as refused:
        jury.create_endpoint("Mine", "http://127.0.0.1:9/v1", "m", **fields)
    assert (refused.value.status, refused.value.code) == (403, "forbidden")
    made = admin.create_endpoint("Mine", "http://127.0.0.1:9/v1", "m", **fields)
    assert jury.endpoint(made["id"])["name"] == "mine"
    dataset = jury.find_dataset("Household demo")["id"]
    judges = {"world_judge": ["endpoint:mine"], "user_judge": ["endpoint:mine"]}
    task = next(jury.tasks(dataset))["external_id"]
    started = jury.start_runs(
        dataset, "mine", tasks=[task], roles=judges, cost_cap=0.01, accept_undefined=True
    )
    (run,) = started["runs"]
    assert jury.run(run)["cost_cap"] == 0.01
    assert jury.cancel_run(run)["status"] == "cancelled"
    with pytest.raises(JobFailed, match="cancelled"):
        jury.wait_for_run(run)


def rate_and_undo(jury: PlanJury, annotator: PlanJury, study: int) -> None:
    step = annotator.next_step(study)
    assert (step["step"], step["position"]) == ("item", 1)
    item = annotator.open_assignment(study, 1)
    answers = [
        {
            "question": one["question"],
            "subject": one["subject"],
            "value": one["options"][0]["value"],
        }
        for one in item["questions"]
    ]
    first = annotator.rate(study, 1, answers)
    annotator.rate(study, 1, [{**answers[0], "value": item["questions"][0]["options"][1]["value"]}])
    assert (
        annotator.undo(study, 1, annotator.assignment(study, 1)["edits"][-1]["id"])["version"] == 3
    )
    assert annotator.submit(study, 1)["state"] == "submitted"
    rows = [row for row in jury.ratings(study) if row["question"] == first[0]["question"]]
    assert [(row["value"], row["edits"]) for row in rows] == [(first[0]["value"], 3)]
    assert len(list(annotator.assignments(study, state="open"))) == 3


def refusals_are_errors(url: str, tokens: dict[str, str], folder: Path) -> None:
    jury = PlanJury(url, tokens["researcher"])
    with pytest.raises(PlanJuryError) as error:
        jury.run(999_999)
    assert (error.value.status, error.value.code) == (404, "not_found")
    with pytest.raises(PlanJuryError) as error:
        list(jury.runs(colour="red"))
    assert (error.value.code, error.value.field) == ("unknown", "colour")
    with pytest.raises(PlanJuryError) as error:
        PlanJury(url, "pj_" + "x" * 43).systems()
    assert error.value.status == 401
    with pytest.raises(PlanJuryError) as error:
        PlanJury("http://127.0.0.1:9", "pj_x", retries=0).systems()
    assert (error.value.status, error.value.code) == (0, "no_answer")
    broken = folder / "broken.jsonl"
    broken.write_text('{"resourceSpans": [{"scopeSpans": 3}]}\n')
    with pytest.raises(PlanJuryError, match="scopeSpans"):
        jury.import_file(broken, format="otel")
    for wrong in ("localhost:8000", "ftp://localhost"):
        with pytest.raises(ValueError, match="address"):
            PlanJury(wrong, "pj_x")


def run_the_notebook(url: str, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cells in their order; the last line of a cell is its value, as in a notebook."""
    monkeypatch.setenv("PLANJURY_URL", url)
    monkeypatch.setenv("PLANJURY_TOKEN", token)
    names: dict[str, object] = {}
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec(compile(cell["source"], str(NOTEBOOK), "exec"), names)
    for frame in ("ratings", "scores", "turns"):
        assert len(names[frame]) > 0, frame  # type: ignore[arg-type]
    assert names["figure"]["data"]  # type: ignore[index]
