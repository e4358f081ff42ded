"""The archive of a study needs nothing beside it, and explains itself."""

import io
import json
import re
import uuid
import zipfile
from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from annotation.annotator_quality.rule import GoldRule
from annotation.errors import Refused
from annotation.exports.scope import Scope
from annotation.exports.services import ExportRequest, unavailable, write_study
from annotation.exports.sources import SOURCES, source_lines
from annotation.imports.services import import_study
from annotation.live.play.services import ask_players, note_end
from annotation.models import Membership, Rating, Study
from annotation.ratings.services import record_rating
from annotation.studies.services import change_study
from annotation.studies.setup import add_member
from annotation.submissions.services import send_back, void_submission
from benchmarks.models import Dataset, Run, Task, Trajectory, Violation
from tests.annotation.exports.worlds import World, make_world
from tests.annotation.live_sessions import asked, begin, make_live_session, make_live_study, say
from tests.annotation.rows import make_person

pytestmark = pytest.mark.django_db
NOTEBOOK = Path(__file__).parents[3] / "docs" / "examples" / "study-export.ipynb"


@pytest.fixture
def world(db: None) -> World:
    world = make_world()
    assignment = world.study.assignments.select_related("annotator").get(
        annotator=world.bob, part="main", state="submitted"
    )
    void_submission(assignment=assignment, by=world.mia, reason="A mistake.")
    return world


def archived(study: Study, folder: Path) -> Path:
    write_study(wish=ExportRequest(Scope(study)), formats=["archive"], target=folder)
    return folder / "study.zip"


def members(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def portable(files: dict[str, str]) -> dict[str, str]:
    """The files without what is declared to have a meaning on one installation alone."""
    document = re.sub(r'^"local": \{.*\},$', "", files["study.json"], flags=re.MULTILINE)
    document = re.sub(r'"trajectory_id": (\d+|null)', "", document)
    ratings = pd.read_csv(io.StringIO(files["ratings.csv"])).drop(columns="trajectory_id")
    return {**files, "study.json": document, "ratings.csv": ratings.to_csv()}


def elsewhere() -> None:
    """Rename what is here, as on an installation that has none of this."""
    Dataset.objects.update(name="Old", checksum="old")


def test_into_an_empty_instance_and_out_again_is_the_same(world: World, tmp_path: Path) -> None:
    path = archived(world.study, tmp_path / "a")
    violations = Violation.objects.count()
    elsewhere()
    made = import_study(path=path, by=world.mia)
    assert made.created and made.study
    again = archived(made.study, tmp_path / "b")
    before, after = portable(members(path)), portable(members(again))
    assert list(before) == list(after)
    for name in before:
        assert before[name] == after[name], name
    assert Dataset.objects.exclude(name="Old").count() == 1
    assert made.study.assignments.filter(state="voided").count() == 1
    (run, *_) = Run.objects.filter(trajectories__items__study=made.study).distinct()
    assert (run.kind, run.status, run.settings["came_from"]["kind"]) == ("imported", "done", "made")
    assert run.created_trajectories == run.trajectories.count()
    assert Violation.objects.count() <= 2 * violations
    assert import_study(path=path).created is False


@pytest.mark.django_db(transaction=True)
def test_the_instance_may_be_empty(world: World, tmp_path: Path) -> None:
    seat = world.study.assignments.filter(part="main", state="submitted").get()
    send_back(assignment=seat, by=world.mia, note="Look again.")
    change_study(study=world.study, by=world.mia, gold_rule=GoldRule("warn", 3).stored)
    before = portable(members(archived(world.study, tmp_path / "a")))
    call_command("flush", interactive=False, verbosity=0, reset_sequences=False)
    assert not Study.objects.exists() and not User.objects.exists()
    made = import_study(path=tmp_path / "a" / "study.zip", by=make_person("max"))
    assert made.study is not None
    after = portable(members(archived(made.study, tmp_path / "b")))
    assert {name for name in before if before[name] != after.get(name)} == set()
    assert made.study.assignments.filter(note="Look again.").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_study_of_sessions_goes_round_with_what_was_played(tmp_path: Path) -> None:
    ann = make_person("ann")
    study = make_live_study()
    add_member(study=study, user=ann, role=Membership.Role.ANNOTATOR, by=None)
    session = make_live_session(study, [ann])
    begin(session)
    while asked(session):
        say(session, f"Not like that, for reason {session.trajectory.turn_count}.")
    assert note_end(session=session) and not ask_players(session=session)
    record_rating(
        assignment=study.assignments.get(annotator=ann),
        by=ann,
        client_id=uuid.uuid4(),
        question="safety",
        subject="",
        value=4,
    )
    before = portable(members(archived(study, tmp_path / "a")))
    call_command("flush", interactive=False, verbosity=0, reset_sequences=False)
    made = import_study(path=tmp_path / "a" / "study.zip", by=make_person("max"))
    assert made.study is not None
    after = portable(members(archived(made.study, tmp_path / "b")))
    assert {name for name in before if before[name] != after.get(name)} == set()
    (item,) = made.study.items.all()
    (answer,) = Rating.objects.filter(assignment__item=item)
    assert item.use == "played" and answer.value == 4


def test_what_is_here_already_is_used(world: World, tmp_path: Path) -> None:
    path = archived(world.study, tmp_path / "a")
    counts = [model.objects.count() for model in (Dataset, Task, Run, Trajectory)]
    made = import_study(path=path)
    assert made.created
    assert [model.objects.count() for model in (Dataset, Task, Run, Trajectory)] == counts


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 1: is not JSON"),
        ('{"table": "user"}', "line 1: expected a row of"),
        ('{"table": "task", "row": 1}', "line 1: other fields than those of task"),
        (
            '{"table": "profile", "row": 1, "level": "mid", "rank": 1, "task": 7}',
            "line 1: task 7 is not in the file before it",
        ),
    ],
)
def test_faults_are_named_and_nothing_is_stored(
    world: World, tmp_path: Path, line: str, said: str
) -> None:
    files = members(archived(world.study, tmp_path / "a"))
    elsewhere()
    before = Study.objects.count(), Task.objects.count()
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("study.json", files["study.json"])
        archive.writestr(SOURCES, line)
    with pytest.raises(Refused, match=re.escape(said)):
        import_study(path=path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("study.json", files["study.json"])
        rows = files[SOURCES].splitlines()
        archive.writestr(SOURCES, "\n".join(row for row in rows if '"table": "turn"' not in row
                                            and '"table": "violation"' not in row))  # fmt: skip
    result = import_study(path=path)
    assert result.study is None and result.match.missing
    assert (Study.objects.count(), Task.objects.count()) == before


def test_the_codebook_explains_every_column(world: World, tmp_path: Path) -> None:
    files = members(archived(world.study, tmp_path / "a"))
    codebook = pd.read_csv(io.StringIO(files["codebook.csv"]))
    for name in ("ratings.csv", "items.csv", "questions.csv"):
        table = pd.read_csv(io.StringIO(files[name]))
        explained = codebook[codebook["file"] == name]
        assert list(explained["column"]) == list(table.columns), name
        assert explained["meaning"].notna().all()
    assert "voided" in codebook.set_index("column").loc["state", "values"]
    assert "1 voided" in files["README.md"]
    asked = pd.read_csv(io.StringIO(files["ratings.csv"]))["question"].dropna()
    assert set(asked) <= set(pd.read_csv(io.StringIO(files["questions.csv"]))["question"])
    prompts = pd.read_csv(io.StringIO(files["items.csv"]))["prompt"]
    assert set(prompts) <= set(Task.objects.values_list("prompt", flat=True))


def test_the_notebook_opens_it(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = archived(world.study, tmp_path / "a")
    monkeypatch.chdir(path.parent)
    names: dict[str, object] = {}
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), str(NOTEBOOK), "exec"), names)
    ratings, counted = names["ratings"], names["counted"]
    assert isinstance(ratings, pd.DataFrame) and isinstance(counted, pd.DataFrame)
    assert str(ratings["value"].dtype) == "Int64"
    assert str(ratings["submitted_at"].dtype).startswith("datetime64")
    assert 0 < len(counted) < len(ratings)
    assert set(counted["state"]) == {"submitted"}


def test_blind_annotators_get_no_archive_and_commands_write_it(
    world: World, tmp_path: Path
) -> None:
    assert "still annotate" in unavailable(ExportRequest(Scope(world.study, world.ann)), "archive")
    call_command(
        "export_study", world.study.pk, out=tmp_path / "x", formats=["archive", "codebook"],
        stdout=io.StringIO(),
    )  # fmt: skip
    assert sorted(p.name for p in (tmp_path / "x").iterdir()) == ["codebook.csv", "study.zip"]
    elsewhere()
    out = io.StringIO()
    call_command("import_study", str(tmp_path / "x" / "study.zip"), stdout=out)
    assert "closed" in out.getvalue()


def test_its_sources_have_an_order_that_does_not_depend_on_ids(world: World) -> None:
    """Another study that was imported before may have brought the later run first."""
    runs = Run.objects.filter(trajectories__items__study=world.study).distinct().order_by("pk")
    first, second = runs
    assert first.created_at < second.created_at
    Run.objects.filter(pk=first.pk).update(created_at=second.created_at + timedelta(seconds=1))
    rows = [json.loads(line) for line in source_lines(Scope(world.study))]
    agents = [row["agent"] for row in rows if row["table"] == "run"]
    assert agents == [second.agent.name, first.agent.name]
    numbers = [row["run"] for row in rows if row["table"] == "trajectory"]
    assert numbers == sorted(numbers)
