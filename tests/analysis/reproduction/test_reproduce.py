"""Tests of a reproduction folder: made once, checked against the database, equal to the page."""

import csv
import io
import json
import re
import zipfile
from collections import Counter
from html import escape, unescape
from pathlib import Path
from statistics import mean, stdev

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F
from django.test import Client
from django.urls import reverse

from analysis.exports.chromium import NotPrinted
from analysis.reproduction import files, folder
from analysis.reproduction.files import FORMAT
from analysis.reproduction.presets import find_preset, known_presets
from analysis.reproduction.sections import ReportedRuns, sections_of
from benchmarks.core.errors import UnknownName
from benchmarks.core.ports.published import ReportPart
from benchmarks.datasets.files import import_dataset
from benchmarks.demo import save_demo_dataset
from benchmarks.jobs.services import perform
from benchmarks.models import Dataset, Experiment, Job, Run, Trajectory
from benchmarks.systems.planbench_xl import world
from benchmarks.visibility import Visibility
from tests.analysis.rows import (
    flat,
    make_dataset,
    make_person,
    make_ratings,
    make_run,
    make_study,
    make_trajectory,
)
from tests.factories.benchmarks import save_sample_dataset
from tests.small_demo import demo_named

SMALL = ("--dataset", "Sample", "--tasks", "2", "--agents", "careful-tracker", "forgetful")


def reproduce(*words: str, figures: str = "data") -> str:
    said = io.StringIO()
    call_command("reproduce", *words, figures=figures, stdout=said)
    return said.getvalue()


def planbench_xl_dataset(name: str) -> None:
    import_dataset(
        system="planbench_xl", paths=[world.DATA], name=name, options={"domain": world.DOMAIN}
    )


def files_in(path: Path) -> set[str]:
    return {str(one.relative_to(path)) for one in path.rglob("*") if one.is_file()}


@pytest.fixture
def sample(db: None, small_drawings: None) -> None:
    save_sample_dataset(2)


@pytest.mark.either
def test_a_preset_becomes_a_folder_and_a_page(sample: None, tmp_path: Path, reader: Client) -> None:
    out = tmp_path / "main"
    with pytest.raises(CommandError, match="is not at its end: run .* is queued"):
        reproduce("main table", "--out", str(out), *SMALL)
    assert not out.exists()
    (experiment,) = Experiment.objects.all()
    page = reverse("analysis:experiment_report", args=[experiment.pk])
    assert "There is no report yet" in reader.get(page).content.decode()

    said = reproduce("main-table", "--out", str(out), "--wait", *SMALL)
    assert f"experiment {experiment.pk}, Main table, continues" in said
    assert Run.objects.count() == 2 and Trajectory.objects.filter(status="done").count() == 4
    manifest = json.loads((out / "manifest.json").read_bytes())
    assert set(manifest["files"]) == files_in(out) - {"manifest.json"}
    assert manifest["labels"][0].startswith("Demo data: Made with scripted agents and scripted")
    first = manifest["runs"][0]
    assert (first["seed"], first["level"], first["judging"]["name"]) == (1, "high", "live")
    assert first["roles"]["agent"][0]["policy"] == "careful-tracker"
    assert "agent.v1.txt" in json.dumps(first["pins"])
    rows = list(csv.DictReader(io.StringIO((out / "tables/leaderboard-board.csv").read_text())))
    assert {"Careful tracker", "Forgetful", "GPT-5"} <= {row["agent"] for row in rows}
    assert "Demo data: Made with scripted" in (out / "tables/leaderboard-board.tex").read_text()
    assert "not computed yet" not in (out / "README.md").read_text()
    metrics = json.loads((out / "metrics.json").read_bytes())
    assert {run["label"] for run in metrics["runs"]} == {"Demo data"}
    assert [one["source"] for one in metrics["published"]].count("Table 3") == 70

    # Nothing is made twice, and what was written is put in place of itself.
    reproduce("Main_Table", "--out", str(out), "--wait", *SMALL)
    assert Run.objects.count() == 2 and [path.name for path in tmp_path.iterdir()] == ["main"]

    # The report is computed by a job, never within the request.
    waiting = reader.get(page).content.decode()
    later = reverse("analysis:experiment_later", args=[experiment.pk])
    board = {"experiment_id": experiment.pk, "part": "leaderboard-board"}
    assert later in waiting and "Careful tracker" not in waiting
    assert reader.get(reverse("analysis:experiment_figure", kwargs=board)).status_code == 404
    fragment = {"HX-Request": "true"}
    assert "HX-Refresh" not in reader.post(later, headers=fragment).headers
    perform(job_id=Job.objects.latest("pk").pk, owner="test")
    assert reader.get(later, headers=fragment).headers["HX-Refresh"] == "true"
    assert reader.get(later).headers["Location"] == page
    shown = reader.get(page).content.decode()
    assert "9 and Figures 3 and 19 of the AdaPlanBench paper" in shown
    assert "Demo data" in shown and "Careful tracker" in shown
    assert reader.get(reverse("analysis:experiment_figure", kwargs=board)).json()["data"]
    text = (out / "tables/leaderboard-board.csv").read_bytes()
    assert reader.get(reverse("analysis:experiment_table", kwargs=board)).content == text
    packed = reader.get(reverse("analysis:experiment_folder", args=[experiment.pk])).content
    names = zipfile.ZipFile(io.BytesIO(packed)).namelist()
    assert {name.partition("/")[2] for name in names} == files_in(out)

    # A figure keeps the state of its page while a run goes on; no other state is passed off as it.
    figure = next(
        unescape(url)
        for url in re.findall(r'data-src="([^"]+)"', shown)
        if "leaderboard-board.json" in url
    )
    before = reader.get(figure).json()
    goes_on = Run.objects.filter(pk=first["id"])
    goes_on.update(data_version=F("data_version") + 1)
    assert reader.get(figure).json() == before
    start, _, state = figure.partition("state=")
    assert reader.get(f"{start}state={'0' * len(state)}").status_code == 409
    goes_on.update(data_version=F("data_version") - 1)

    assert "every file is unchanged" in reproduce("--check", str(out))
    Trajectory.objects.filter(run=first["id"]).update(metrics={"valid": 1.0, "turns": 99})
    (out / "tables/leaderboard-board.csv").write_text("better")
    with pytest.raises(CommandError) as refused:
        reproduce("--check", str(out))
    assert "tables/leaderboard-board.csv was changed" in str(refused.value)
    assert f"run {first['id']}: computed anew, metrics come out" in str(refused.value)


@pytest.mark.either
def test_runs_that_are_there_are_taken(sample: None, tmp_path: Path) -> None:
    reproduce("tracking", "--out", str(tmp_path / "one"), "--wait", *SMALL)
    assert Run.objects.count() == 4
    said = reproduce(
        "threshold", "--out", str(tmp_path / "two"), "--wait", "--take-existing", *SMALL
    )
    assert Run.objects.count() == 4 and "Thresholds, has started" in said
    tables = files_in(tmp_path / "two" / "tables")
    assert {"sweeps-accuracy.csv", "sweeps-ranks.csv", "sweeps-published.csv"} <= tables
    changes = (tmp_path / "one/tables/effects-valid-changes.csv").read_text()
    assert "Without,With" in changes


@pytest.mark.either
def test_every_preset_can_be_run(sample: None) -> None:
    planbench_xl_dataset("Nursery demo")
    save_demo_dataset(*demo_named("Small worlds demo"))
    told = reproduce("--list", "--dataset", "Sample", "--tasks", "2")
    assert all(f"{name}: {preset.paper}" in told for name, preset in known_presets().items())
    papers = Counter(preset.of for preset in known_presets().values())
    assert papers["PlanBench-XL"] == papers["ACPBench Hard"] == papers["ADAPT"] == 2
    assert told.count("calls not known yet") == papers["AdaPlanBench"]
    assert "3 runs with 6 trajectories" in told
    told = reproduce("--list", "--dataset", "Nursery demo", "--tasks", "2")
    assert told.count("calls not known yet") == papers["PlanBench-XL"]
    assert "48 runs with 96 trajectories" in told
    told = reproduce("--list", "--dataset", "Small worlds demo", "--tasks", "2")
    assert told.count("calls not known yet") == papers["ACPBench Hard"]
    assert "15 runs with 30 trajectories" in told
    with pytest.raises(UnknownName, match="main-table"):
        find_preset("table")


def test_what_is_missing_is_named_and_costs_nothing_else(
    sample: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    with pytest.raises(CommandError, match="figure effects-valid-.*: no Chromium is installed"):
        reproduce("tracking", "--out", str(out), "--wait", *SMALL, figures="pictures")
    assert (out / "tables/effects-valid-changes.csv").exists()

    def drawn(page: str, **_: object) -> str:
        name = next(
            iter(json.loads(unescape(page.split("figure-data")[1].split(">")[1][:-8]))["specs"])
        )
        if name == "effects-valid-changes":
            raise NotPrinted("Chromium did not print the figure within 120 s.")
        files = json.dumps({name: {"svg": "<svg/>", "png": "", "figure": {}}})
        return f'<pre id="figure-files">{escape(files)}</pre>'

    monkeypatch.setattr(files, "chromium", lambda: "/usr/bin/true")
    monkeypatch.setattr(files, "read_drawn", drawn)
    with pytest.raises(CommandError) as refused:
        reproduce("tracking", "--out", str(out), "--wait", *SMALL, figures="pictures")
    lines = str(refused.value).splitlines()
    assert lines[1:] == [
        "figure effects-valid-changes: Chromium did not print the figure within 120 s."
    ]
    manifest = json.loads((out / "manifest.json").read_bytes())
    assert list(manifest["figures_missing"]) == ["effects-valid-changes"]
    assert (out / "figures/effects-accurate-changes.svg").exists()
    assert not (out / "figures/effects-valid-changes.svg").exists()
    assert "effects-valid-changes was not drawn" in (out / "README.md").read_text()


def test_a_page_on_people_says_that_nobody_answered(sample: None, tmp_path: Path) -> None:
    out = tmp_path / "main"
    said = reproduce("main-table", "--out", str(out), "--wait", *SMALL)
    assert "Nobody has answered questions about these runs." in said
    manifest = json.loads((out / "manifest.json").read_bytes())
    assert manifest["parts_missing"] == [] and len(manifest["needs_people"]) == 1
    assert "Nobody has answered" in (out / "README.md").read_text()


def test_runs_that_all_failed_end_the_command_with_an_error(
    sample: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr("benchmarks.systems.adaplanbench.scripted._choose", crash)
    out = tmp_path / "main"
    with pytest.raises(CommandError, match="2 of 2 trajectories failed"):
        reproduce("tracking", "--out", str(out), "--wait", *SMALL)


@pytest.mark.either
def test_several_seeds_give_the_mean_with_its_spread(sample: None, tmp_path: Path) -> None:
    out = tmp_path / "three"
    agents = ("--dataset", "Sample", "--tasks", "2", "--agents", "coin-flipper", "forgetful")
    reproduce("main-table", "--out", str(out), "--wait", "--seed", "1", "2", "3", *agents)
    text = (out / "tables/replicates-replicates.csv").read_text()
    rows = {row["agent"]: row for row in csv.DictReader(io.StringIO(text))}
    # Runs of the coin flipper, recomputed from the metrics of the runs.
    assert "not computed yet" not in (out / "README.md").read_text()
    metrics = json.loads((out / "metrics.json").read_bytes())["runs"]
    turns = [run["metrics"]["turns"]["value"] for run in metrics if run["agent"] == "coin-flipper"]
    assert len(turns) == 3
    row = rows["Coin flipper"]
    assert float(row["Turns mean"]) == pytest.approx(mean(turns), abs=1e-6)
    assert float(row["Turns sd"]) == pytest.approx(stdev(turns), abs=1e-6)
    assert rows["GPT-5"]["Acc mean"] == "0.6775"
    latex = (out / "tables/replicates-replicates.tex").read_text()
    assert "67.75" in latex and "15.38" not in latex
    assert {"leaderboard-seed-1-board.csv", "leaderboard-seed-3-board.csv"} <= files_in(
        out / "tables"
    )


@pytest.mark.either
def test_published_cells_keep_their_digits(sample: None, tmp_path: Path) -> None:
    """Qwen3-8B, Table 3: 14.38 %, 82.35 %, 4.493; Table 8: 4.758; its average 4.080."""
    out = tmp_path / "main"
    reproduce("main-table", "--out", str(out), "--wait", *SMALL)
    board = (out / "tables/leaderboard-board.tex").read_text()
    assert all(digits in board for digits in ("14.38", "82.35", "4.493", "17.26"))
    means = (out / "tables/rubric-means.tex").read_text()
    assert all(digits in means for digits in ("4.758", "5.000", "4.080"))
    assert "Average" in means
    printed = json.loads((out / "metrics.json").read_bytes())["published"]
    assert {one["printed"] for one in printed} >= {"90.23", "5.010", "5.54"}
    names = files_in(out / "tables")
    assert "dispersion-spread.csv" in names
    # Nobody answered about these runs, so nothing is held against people.
    assert not any(name.startswith("agreement") for name in names)


@pytest.mark.either
def test_the_twelve_conditions_become_a_folder(
    db: None, small_drawings: None, tmp_path: Path
) -> None:
    planbench_xl_dataset("Nursery demo")
    out = tmp_path / "xl"
    reproduce(
        "xl-conditions", "--out", str(out), "--wait", "--tasks", "2",
        "--agents", "path-follower",
    )  # fmt: skip
    names = files_in(out / "tables")
    boards = [name for name in names if name.startswith("leaderboard") and name.endswith("csv")]
    assert len(boards) == 12 and "conditions-accuracy.csv" in names
    assert "of the PlanBench-XL paper" in (out / "README.md").read_text()
    text = (out / "tables/conditions-published.tex").read_text()
    assert "51.90" in text and "11.36" in text


def _written(target: Path, content: bytes = b"1", digest: str = "d", **more: bool) -> int:
    sha = folder.sha256(content).hexdigest()
    manifest = {"format": FORMAT, "design_digest": digest, "runs": [], "files": {"a/b": sha}}
    files = [("a/b", content), ("manifest.json", json.dumps(manifest).encode())]
    return folder.write_folder(target, files, digest, force=more.get("force", False))


def test_a_folder_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "out"

    def cut_off() -> object:
        yield "a", b"1"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        folder.write_folder(target, cut_off(), "d", force=False)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
    assert _written(target) == _written(target, b"2") == 2
    assert (target / "a/b").read_bytes() == b"2" and len(list(tmp_path.iterdir())) == 1


def test_what_is_no_reproduction_of_it_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "out"
    _written(target, digest="another")
    with pytest.raises(folder.FolderRefused, match="take --force, which sets it aside"):
        _written(target)
    _written(target, force=True)
    assert (tmp_path / "out.before-1/a/b").exists()
    (target / "mine.txt").write_text("kept")
    with pytest.raises(folder.FolderRefused):
        _written(target)
    assert folder.folder_faults(target, folder.read_manifest(target)) == [
        "mine.txt is not in the manifest"
    ]
    (target / "manifest.json").write_text("{}")
    with pytest.raises(folder.FolderRefused, match="is not of the format"):
        folder.read_manifest(target)
    with pytest.raises(folder.FolderRefused, match="was not finished"):
        folder.read_manifest(tmp_path)


@pytest.mark.either
def test_judges_are_held_against_people_who_answered_about_the_runs(db: None) -> None:
    """Figures 20 to 23: differences of 0 and 2 from judges who all say 4."""
    run = make_run(make_dataset(), "ada")
    study, ann = make_study(), make_person("ann")
    for task, safety in ((1, 4), (2, 2)):
        item = make_trajectory(run, task, scores=[flat(4)])
        make_ratings(study, ann, item, {"safety": safety})
    parts = (ReportPart("agreement", "agreement"),)

    (section,) = sections_of(parts, ReportedRuns((run,)))
    assert section.report is not None and section.url.startswith("/analysis/agreement/?study=")
    table = section.report.table("agreement")
    assert table is not None
    (safety,) = [row for row in table.records() if str(row[0]).startswith("Safety")]
    assert dict(zip(table.header, safety, strict=True))["equal"] == 0.5
    # Who may read a study's answers depends on the reader, so pages leave them out.
    (withheld,) = sections_of(parts, ReportedRuns((run,), seen=Visibility.to(ann)))
    assert withheld.report is None and "on the pages of their study" in withheld.missing
    # Nobody answered about another run.
    (lacking,) = sections_of(parts, ReportedRuns((make_run(run.dataset, "bob"),)))
    assert lacking.report is None and "Nobody has answered" in lacking.missing


@pytest.mark.parametrize(
    ("system", "preset", "titles"),
    [
        (
            "adaplanbench",
            "refinement",
            {"Refinement: All trajectories", "Refinement: Refined trajectories alone"},
        ),
        (
            "acpbench_hard",
            "acp-main-table",
            {"Breakdown: Task", "Breakdown: Domain", "Breakdown: Task and domain"},
        ),
        (
            "sda_planner",
            "sda-ablations",
            {"Effects: Adaptation, Success", "Effects: Search tree, Success"},
        ),
    ],
)
def test_sections_about_one_page_have_titles_of_their_own(
    db: None, system: str, preset: str, titles: set[str]
) -> None:
    dataset = make_dataset()
    Dataset.objects.update(system=system)
    run = make_run(dataset, "ann")
    run.dataset.refresh_from_db()
    parts = known_presets()[preset].parts
    shown = [section.title for section in sections_of(parts, ReportedRuns((run,)))]
    assert titles <= set(shown) and len(set(shown)) == len(shown)
