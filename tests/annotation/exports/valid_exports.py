"""Checks of exports against the schemas in the docs, by a validator that is not ours."""

import json
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import jsonschema_rs
import yaml
from django.conf import settings

from annotation.exports.scope import Scope
from annotation.exports.services import ExportRequest, write_study
from annotation.models import Study
from annotation.plans.plan_files import plan_document
from annotation.studies.design import study_design
from benchmarks.experiments.services import stored_design
from benchmarks.exports.services import export_run
from benchmarks.models import Experiment, Run

FOLDER = Path(settings.BASE_DIR) / "docs" / "schemas"


@cache
def validator(name: str) -> Any:
    schema = json.loads((FOLDER / name).read_text())
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True)


def assert_valid(name: str, value: Any) -> None:
    faults = [f"{error.instance_path}: {error.message[:200]}"
              for error in validator(name).iter_errors(value)]  # fmt: skip
    assert not faults, (name, faults[:5])


def assert_valid_lines(name: str, path: Path) -> None:
    for line in path.read_text().splitlines():
        assert_valid(name, json.loads(line))


def assert_sound_folder(folder: Path, hidden: Iterable[str]) -> None:
    """All that belongs into a folder to publish is there, and nothing of people."""
    sums = dict(line.split("  ")[::-1] for line in (folder / "SHA256SUMS").read_text().splitlines())
    files = {str(path.relative_to(folder)): path.read_bytes()
             for path in folder.rglob("*") if path.is_file()}  # fmt: skip
    assert sums == {name: sha256(content).hexdigest() for name, content in files.items()
                    if name != "SHA256SUMS"}  # fmt: skip
    head = yaml.safe_load((folder / "README.md").read_text().split("---\n")[1])
    assert head["doi"] == "" and head["license"]
    assert json.loads(files[".zenodo.json"])["doi"] == ""
    codebook = files["codebook.csv"].decode()
    for data in folder.glob("*.jsonl"):
        for name in json.loads(data.read_text().partition("\n")[0] or "{}"):
            assert f"\n{data.name},{name}," in codebook.replace("\r", "")
    for name in files:
        if name.startswith("schemas/"):
            assert files[name] == (FOLDER / Path(name).name).read_bytes()
    everything = b"".join(files.values()).decode()
    assert [name for name in hidden if name in everything] == []


def assert_valid_run(run: Run, target: Path, hidden: Iterable[str] = ()) -> None:
    export_run(run=run, format="huggingface", target=target)
    assert_valid_lines("trajectory-row.v1.json", target / "trajectories.jsonl")
    if (target / "ratings.jsonl").exists():
        assert_valid_lines("trajectory-rating.v1.json", target / "ratings.jsonl")
    assert_sound_folder(target, hidden)


def assert_valid_study(study: Study, target: Path, hidden: Iterable[str] = ()) -> None:
    wish = ExportRequest(Scope(study))
    write_study(wish=wish, formats=["json", "huggingface"], target=target)
    assert_valid("study.v1.json", json.loads((target / "study.json").read_text()))
    folder = target / "huggingface"
    assert_valid_lines("study-rating.v1.json", folder / "ratings.jsonl")
    assert_valid_lines("study-item.v1.json", folder / "items.jsonl")
    assert_sound_folder(folder, hidden)
    if plan := study_design(study).plan:
        assert_valid("study-plan.v1.json", plan_document(plan))


def assert_valid_exports(folder: Path, hidden: Iterable[str] = ()) -> None:
    """Export every run, study and design of the database, and hold each against its schema."""
    for run in Run.objects.all():
        assert_valid_run(run, folder / f"run-{run.pk}", hidden)
    for study in Study.objects.all():
        assert_valid_study(study, folder / f"study-{study.pk}", hidden)
    for experiment in Experiment.objects.all():
        if (stored := stored_design(experiment)) is not None:
            assert_valid("experiment.v1.json", stored[0].data)
