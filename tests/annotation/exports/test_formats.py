"""The files of a study: each readable by the tools that it is for."""

import csv
import io
import json
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
import yaml
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.errors import Refused
from annotation.exports.columns import RATING_COLUMNS
from annotation.exports.scope import Scope
from annotation.exports.services import FORMATS, ExportRequest, export_stream, write_study
from annotation.imports.services import import_study
from annotation.models import Participant, Study, StudyEvent
from annotation.planning.planned_study import plan_study
from annotation.planning.services import create_planned_study
from annotation.plans.plan_files import read_plan
from annotation.studies.design import study_certificate, study_design
from benchmarks.models import Dataset
from tests.annotation.exports.valid_exports import assert_sound_folder
from tests.annotation.exports.worlds import SPAN, World, make_world, rating_rows

pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture
def world(db: None) -> World:
    return make_world()


def test_parquet_has_types_and_the_design_inside(world: World, tmp_path: Path) -> None:
    (path,) = write_study(
        wish=ExportRequest(Scope(world.study)), formats=["parquet"], target=tmp_path / "a"
    )
    table = pyarrow.parquet.read_table(path)
    rows = list(rating_rows(Scope(world.study)))
    assert table.to_pylist() == rows
    assert str(table.schema.field("answered_at").type) == "timestamp[us, tz=UTC]"
    head = json.loads(table.schema.metadata[b"planjury-study"])
    assert (head["schema_version"], head["study"]["seed"]) == (1, 11)
    assert head["study"]["settings"]["design"]["kind"] == "queries"
    assert head["questionnaires"][0]["id"] == "violation_check@1"


def test_a_data_set_folder_has_a_card_that_says_how_it_was_judged(
    world: World, tmp_path: Path
) -> None:
    Participant.objects.filter(user=world.bob).update(state="withdrawn")
    Dataset.objects.update(licence="MIT")
    wish = ExportRequest(Scope(world.study, names=True), licence="cc-by-4.0")
    (folder,) = write_study(wish=wish, formats=["huggingface"], target=tmp_path / "a")
    assert {path.name for path in folder.iterdir()} == {
        "README.md", "ratings.jsonl", "items.jsonl", "study.json", "codebook.csv", "schemas",
        ".zenodo.json", "SHA256SUMS",
    }  # fmt: skip
    _, front, text = (folder / "README.md").read_text().split("---\n", 2)
    head = yaml.safe_load(front)
    assert (head["license"], head["size_categories"]) == ("cc-by-4.0", ["n<1K"])
    rows = [json.loads(line) for line in (folder / "ratings.jsonl").read_text().splitlines()]
    items = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    features = {info["config_name"]: info["features"] for info in head["dataset_info"]}
    for config, found in (("ratings", rows), ("items", items)):
        assert [feature["name"] for feature in features[config]] == list(found[0])
    for one in head["configs"]:
        assert (folder / one["data_files"]).is_file()
    # ann's three places and her skipped item; nothing of bob, nothing about themselves
    assert len(rows) == 4 and {row["use"] for row in rows} == {"main"}
    assert rows[0]["evidence"] == [SPAN]
    for said in (
        "`violation_check@1`", "seed 11", "* Raters: 1 (0 of them programs",
        "* Rows: 4, of 4 items.", "1 who withdrew", "* The tasks of Tests 1: MIT.",
    ):  # fmt: skip
        assert said in text, said
    assert json.loads((folder / ".zenodo.json").read_text())["license"] == "cc-by-4.0"
    assert_sound_folder(folder, hidden=['"ann"', '"mia"', '"bob"'])
    head_only = json.loads((folder / "study.json").read_text())
    assert head_only["study"]["seed"] == 11 and "people" not in head_only


def test_the_archive_holds_the_same_files(world: World) -> None:
    parts = export_stream(
        wish=ExportRequest(Scope(world.study)), format="huggingface", by=world.mia
    )
    with zipfile.ZipFile(io.BytesIO(b"".join(map(bytes, parts)))) as archive:  # type: ignore[arg-type]
        assert archive.testzip() is None
        assert sorted(archive.namelist()) == [
            ".zenodo.json", "README.md", "SHA256SUMS", "codebook.csv", "items.jsonl",
            "ratings.jsonl", "schemas/study-item.v1.json", "schemas/study-rating.v1.json",
            "study.json",
        ]  # fmt: skip


def test_every_export_is_on_record(world: World, tmp_path: Path) -> None:
    b"".join(
        map(
            _bytes,
            export_stream(wish=ExportRequest(Scope(world.study)), format="csv", by=world.mia),
        )
    )
    write_study(
        wish=ExportRequest(Scope(world.study, names=True)),
        formats=["csv", "json"],
        target=tmp_path / "a",
    )
    first, second = StudyEvent.objects.filter(kind="exported").order_by("pk")
    assert first.by == world.mia and first.detail["formats"] == ["csv"]
    assert not first.detail["names"]
    assert second.by is None and second.detail["names"]
    assert second.detail["formats"] == ["csv", "json"]


def _bytes(piece: Any) -> bytes:
    return piece.encode() if isinstance(piece, str) else piece


def test_without_pyarrow_the_extra_is_named_and_nothing_is_made(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(CommandError, match="extra 'parquet'"):
        call_command(
            "export_study", str(world.study.pk), out=tmp_path / "a", formats=["csv", "parquet"]
        )
    assert not (tmp_path / "a").exists() and not StudyEvent.objects.filter(kind="exported").exists()
    out = io.StringIO()
    call_command("export_study", str(world.study.pk), out=tmp_path / "b", stdout=out)
    assert "Parquet is left out" in out.getvalue()
    assert {path.name for path in (tmp_path / "b").iterdir()} == {
        "ratings.csv", "study.json", "huggingface",
    }  # fmt: skip


def test_the_command_writes_what_can_be_imported(world: World, tmp_path: Path) -> None:
    out = io.StringIO()
    Participant.objects.filter(user=world.bob).update(state="withdrawn")
    call_command("export_study", str(world.study.pk), out=tmp_path / "a", stdout=out)
    assert "ratings.parquet" in out.getvalue() and "Left out: 1 withdrawn." in out.getvalue()
    made = import_study(path=tmp_path / "a")
    assert made.created and made.study and made.study.name == "Marks, all"


def test_nothing_is_overwritten(world: World, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="exists; name a new folder"):
        write_study(wish=ExportRequest(Scope(world.study)), formats=["csv"], target=tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(CommandError, match="there is no study 99"):
        call_command("export_study", "99", out=tmp_path / "a")


def test_questions_say_how_often_they_were_asked(world: World) -> None:
    text = "".join(map(str, FORMATS["questions"].write(ExportRequest(Scope(world.study)))))
    first, second = csv.DictReader(io.StringIO(text))
    assert (first["question"], first["about"], first["scale"]) == (
        "world_violated",
        "turn",
        "marks",
    )
    # each item counts once, however many have it
    assert (first["items_asked"], first["items_not_asked"]) == ("4", "0")
    assert (second["items_asked"], second["items_not_asked"]) == ("0", "4")
    assert second["not_asked_because"] == "these items have no hidden preferences"


def test_the_documents_list_every_column() -> None:
    text = (Path(__file__).parents[3] / "docs" / "study-export.md").read_text()
    for column in RATING_COLUMNS:
        assert f"| `{column.name}` | {column.says} |" in text, column.name
    for format in FORMATS.values():
        assert format.ending in text


def test_the_plan_can_be_carried_out_again(study: Study, manager: User) -> None:
    """``study`` was made from a plan; that of ``world`` was not."""
    wish = ExportRequest(Scope(study, names=True))
    plan = read_plan("".join(map(str, FORMATS["plan"].write(wish))))
    assert plan == study_design(study).plan and plan.annotators == ("ann", "bob")
    again = create_planned_study(planned=plan_study(replace(plan, name="Again")), by=manager)
    assert study_certificate(again).sha256 == study_certificate(study).sha256
    shared = read_plan("".join(map(str, FORMATS["plan"].write(ExportRequest(Scope(study))))))
    assert shared == replace(plan, annotators=())


def test_without_a_plan_that_is_said(world: World) -> None:
    with pytest.raises(Refused, match="was not made from a plan"):
        export_stream(wish=ExportRequest(Scope(world.study)), format="plan", by=world.mia)


def test_a_planned_study_goes_round_with_its_certificate(study: Study, tmp_path: Path) -> None:
    (path,) = write_study(wish=ExportRequest(Scope(study)), formats=["json"], target=tmp_path / "a")
    data = json.loads(path.read_text())
    assert data["local"]["certificate"]["seats"] == 4
    assert data["study"]["settings"]["design"]["plan"]["items"]["runs"] == [1, 2]
    assert '"ann"' not in path.read_text() and '"bob"' not in path.read_text()
    made = import_study(path=path)
    assert made.study and study_design(made.study).plan is not None
    (again,) = write_study(
        wish=ExportRequest(Scope(made.study)), formats=["json"], target=tmp_path / "b"
    )
    one, two = (json.loads(p.read_text()) for p in (path, again))
    assert {k: v for k, v in one.items() if k != "local"} == {
        k: v for k, v in two.items() if k != "local"
    }
