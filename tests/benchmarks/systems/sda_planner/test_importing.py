"""Trials from files: prepared rows, original files in folders and archives, and what is refused."""

import copy
import gzip
import io
import json
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from benchmarks.core.digests import digest
from benchmarks.core.errors import CoreError
from benchmarks.core.problems import Problems
from benchmarks.jobs.services import perform
from benchmarks.models import Dataset, Job
from benchmarks.systems.sda_planner.dataset import files
from benchmarks.systems.sda_planner.dataset.importer import IMPORTER
from benchmarks.systems.sda_planner.dataset.placement import find_parent
from benchmarks.systems.sda_planner.dataset.sample_house import sample_rows
from benchmarks.systems.sda_planner.dataset.traj_data import demonstrated, read_original
from benchmarks.systems.sda_planner.dataset.trials import check_scene
from benchmarks.systems.sda_planner.repair.graph import builtin_graph
from tests.benchmarks.systems.sda_planner.originals import (
    layout_files,
    low_actions,
    original_files,
    published_tree,
    trial_without_plan,
    write_folder,
    write_tar,
    write_zip,
)
from tests.benchmarks.systems.sda_planner.stage import alfred_tasks, play
from tests.shared_data import shared_data


def read(*paths: Path, **options):
    return IMPORTER.find_format(paths).read_files(paths, options)


def refused(*paths: Path, **options) -> str:
    with pytest.raises(CoreError) as caught:
        read(*paths, **options)
    return str(caught.value)


def write_lines(path: Path, rows) -> Path:
    text = "\n".join(json.dumps(row) for row in rows).encode()
    path.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
    return path


@pytest.fixture
def rows():
    """The rows of the sample house, to be spoilt."""
    scenes, tasks = sample_rows()
    return copy.deepcopy(list(scenes)), copy.deepcopy(list(tasks))


@pytest.fixture
def prepared(tmp_path, rows):
    """Writes the rows as files and reads them."""

    def write(packed: bool = False) -> tuple[Path, Path]:
        end = ".jsonl.gz" if packed else ".jsonl"
        scenes, tasks = rows
        return (
            write_lines(tmp_path / f"tasks{end}", tasks),
            write_lines(tmp_path / f"scenes{end}", scenes),
        )

    return write


# --- prepared -------------------------------------------------------------------------------------


def test_plain_and_packed_rows_are_the_same_dataset(prepared):
    plain, packed = read(*prepared()), read(*prepared(packed=True))

    assert plain.checksum == packed.checksum
    assert len(plain.tasks) == 24
    assert "20 valid_seen, 4 valid_unseen" in plain.notes
    assert plain.warnings == ()


def test_scenes_may_be_given_as_an_option(prepared, tmp_path):
    tasks, scenes = prepared()
    other = scenes.rename(tmp_path / "places.jsonl")

    assert len(read(tasks, scenes=str(other)).tasks) == 24
    assert "needs scenes" in refused(tasks)


def test_the_shared_trials_are_read_without_a_warning():
    folder = shared_data("alfred", "tasks.jsonl.gz").parent
    file = read(folder / "tasks.jsonl.gz", folder / "scenes.jsonl.gz")

    assert file.warnings == ()
    assert len(file.tasks) == 60
    assert len(file.shared["scenes"]) == 34  # of 120: those that no trial needs are left out


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda s, t: t[0]["scene"].update(floor_plan="FloorPlan999"),
         "line 1 (salt-on-shelf), scene.floor_plan: expected a floor plan whose scene is given"),
        (lambda s, t: t[0]["objects"][0].update(type="Dragon"), "objects[0].type: expected a type"),
        (lambda s, t: t[0]["objects"].append(t[0]["objects"][0]),
         "objects[26].id: expected each object in one place"),
        (lambda s, t: t[0]["objects"][0].update(parent="Nowhere|1|2|3"),
         "expected a receptacle of the scene"),
        (lambda s, t: (t[0]["objects"][0].update(parent=t[0]["objects"][1]["id"]),
                       t[0]["objects"][1].update(parent=t[0]["objects"][0]["id"])),
         "expected no circle of objects"),
        (lambda s, t: t[0]["objects"][0].update(pos=[1, 2]), "objects[0].pos: expected three"),
        (lambda s, t: t[0].update(task_type="juggle"), "task_type: expected one of"),
        (lambda s, t: t[0]["pddl_params"].update(parent_target=""), "pddl_params.parent_target"),
        (lambda s, t: t[0].update(anns=[]), "anns: expected at least one annotation"),
        (lambda s, t: t[0]["gold_skills"].append(["fly", "Mug", "x"]),
         "gold_skills[4][0]: expected a skill among find, pick up"),
        (lambda s, t: t[0]["gold_skills"].append(["find", "Dragon", "x"]),
         "gold_skills[4][1]: expected a type of ALFRED"),
        (lambda s, t: t[0].update(gold_skills=[["find", "Mug", ""]] * 201), "at most 200"),
        (lambda s, t: t[1].update(task_id=t[0]["task_id"]), "expected each task_id once"),
        (lambda s, t: s.append(s[0]), "expected each floor plan once"),
        (lambda s, t: s[0]["receptacles"].append(s[0]["receptacles"][0]), "expected each id once"),
        (lambda s, t: s[0]["receptacles"][0].update(type="Castle"), "receptacles[0].type"),
        (lambda s, t: s[0].update(points=[[0, 0, 0, 99]]), "points: expected a list"),
        (lambda s, t: t.__setitem__(0, 5), "expected fields such as task_id, split"),
    ],
)  # fmt: skip
def test_faults_are_named_with_file_line_and_field(rows, prepared, spoil, said):
    spoil(*rows)

    assert said in refused(*prepared())


def test_a_demonstration_that_falls_short_is_a_warning_with_its_reason(rows, prepared):
    rows[1][0]["gold_skills"] = rows[1][0]["gold_skills"][1:]
    file = read(*prepared())

    (warning,) = file.warnings
    assert warning.startswith("salt-on-shelf: the demonstration falls short: 0 of 1 goal")
    assert "step 1, pick up the salt shaker: Cannot find salt shaker to pick up" in warning


def test_files_that_are_no_json_lines_are_refused(tmp_path, prepared):
    tasks, scenes = prepared()
    tasks.write_text("{\n" + "[" * 100_000)
    assert "line 1: expected JSON" in refused(tasks, scenes)
    tasks.write_bytes(b"\x1f\x8b broken")
    assert "expected a file that can be read" in refused(tasks, scenes)
    tasks.write_bytes(gzip.compress(b" " * (64 << 20)))
    assert "times its packed size" in refused(tasks, scenes) or "a line of at most" in refused(
        tasks, scenes
    )


def test_a_graph_is_checked_and_kept_with_the_dataset(prepared, tmp_path):
    graph = builtin_graph().to_json()
    graph["version"] = "mine-1"
    graph["skills"]["close"]["needs"].pop()
    (tmp_path / "graph.json").write_text(json.dumps(graph))
    plain = read(*prepared())
    file = read(*prepared(), tmp_path / "graph.json")

    assert file.checksum != plain.checksum
    assert file.shared["graph"]["version"] == "mine-1"
    assert "State-dependency graph mine-1" in file.notes
    about = play(file.tasks[0][0], "errors-100", graph="dataset").outcome.payload["graph"]
    assert about["source"] == "dataset"
    assert about["differences"] == ["close: no longer needs agent.pos = $o"]
    (tmp_path / "graph.json").write_text("{}")
    assert "version and skills" in refused(*prepared(), tmp_path / "graph.json")


# --- original -------------------------------------------------------------------------------------


def as_dataset(file):
    """Return what matters of tasks: where everything is, what is asked for, and how it is done."""
    return {
        task.id: (
            sorted((o["id"], o["parent"]) for o in task.payload["objects"]),
            task.payload["pddl_params"], task.payload["split"], task.payload["gold"],
        )
        for task, _ in file.tasks
    }  # fmt: skip


def test_folders_and_archives_give_the_same_trials(tmp_path, prepared):
    scenes = prepared()[1]
    given = original_files()
    folder = write_folder(tmp_path / "folder", given)
    read_all = [
        read(folder, scenes=str(scenes)),
        read(write_zip(tmp_path / "a.zip", given), scenes),
        read(write_tar(tmp_path / "a.tar.gz", given), scenes),
    ]

    assert len({digest(as_dataset(file)) for file in read_all}) == 1
    (first, *_) = read_all
    assert len(first.tasks) == 24
    assert "No scenes file" not in first.notes
    assert first.warnings == ()


def test_the_rows_come_back_as_they_were_prepared(tmp_path, prepared):
    tasks, scenes = prepared()
    made = as_dataset(read(write_folder(tmp_path / "o", original_files()), scenes=str(scenes)))
    given = as_dataset(read(tasks, scenes))

    assert {id: row[1:3] for id, row in made.items()} == {id: r[1:3] for id, r in given.items()}
    parents = Counter(
        mine == its
        for id in given
        for mine, its in zip(made[id][0], given[id][0], strict=True)
    )  # fmt: skip
    assert parents[True] / parents.total() > 0.9


def test_without_scenes_the_inventory_comes_from_the_trials_and_the_notes_say_so(tmp_path):
    file = read(
        write_folder(tmp_path / "o", original_files()),
        layouts=str(write_folder(tmp_path / "l", layout_files())),
    )

    assert "No scenes file was given: fixed receptacles are those that the trials" in file.notes
    assert "objects placed:" in file.notes
    assert len(file.tasks) == 24
    kitchen = file.shared["scenes"]["SampleKitchen"]
    assert {"Fridge", "Microwave", "Drawer"} <= {one["type"] for one in kitchen["receptacles"]}
    short = [line for line in file.warnings if "falls short" in line]
    assert len(short) <= 6, short

    scenes, _ = sample_rows()
    others = tmp_path / "scenes.jsonl"
    others.write_text(json.dumps(scenes[0]))
    some = read(tmp_path / "o", scenes=str(others))
    assert "The scenes given lack SampleBathroom, SampleLivingRoom: fixed" in some.notes


def test_the_demonstrations_of_the_shared_trials_survive_the_way_through_low_actions():
    """Their low-level actions were not kept; written anew they give the same skills."""
    same = Counter(
        demonstrated(
            [
                (a["api_action"]["action"], a["api_action"].get("objectId", ""),
                 a["api_action"].get("receptacleObjectId", ""))
                for a in low_actions(task.payload["gold"])
                if a["api_action"]["action"] != "MoveAhead"
            ]
        )
        == task.payload["gold"]
        for task in alfred_tasks()
    )  # fmt: skip

    assert same[True] >= 55


def test_placement_agrees_with_the_shared_trials():
    """Of the objects that no demonstration places at least 97 % start in the same place."""
    scenes = {
        row["floor_plan"]: row
        for where, line in files.read_lines(shared_data("alfred", "scenes.jsonl.gz"), Problems())
        if (row := check_scene(where, line, Problems()))
    }
    same: Counter[bool] = Counter()
    for task in alfred_tasks():
        scene = scenes[task.payload["scene"]["floor_plan"]]
        for one in task.payload["objects"]:
            if one["parent_src"] != "gold":
                parent, _ = find_parent(one["type"], tuple(one["pos"]), scene)
                same[parent == one["parent"]] += 1

    assert same[True] / same.total() > 0.97
    assert same.total() > 1900


@pytest.mark.django_db
@pytest.mark.either
def test_the_whole_published_tree_is_imported_without_its_test_splits(tmp_path, prepared):
    """All five splits in one archive, by the documented command; the tests have no plan."""
    archive = write_tar(tmp_path / "json_2.1.0.tar.gz", published_tree(tests=3))
    layouts = write_folder(tmp_path / "l", layout_files())
    out = io.StringIO()
    call_command(
        "import_dataset", "sda_planner", str(archive), layouts=str(layouts),
        scenes=str(prepared()[1]), name="ALFRED", stdout=out,
    )  # fmt: skip

    dataset = Dataset.objects.get(name="ALFRED")
    splits = Counter(task.payload["split"] for task in dataset.tasks.all())
    assert splits == {"train": 8, "valid_seen": 8, "valid_unseen": 8}
    said = "6 trials were left out, without a demonstrated plan: 3 tests_seen, 3 tests_unseen."
    assert said in dataset.notes and said in out.getvalue()
    assert "24 of 24 demonstrations reach every goal condition." in dataset.notes


def test_what_a_file_without_a_plan_may_hold_is_left_out_and_a_broken_plan_is_refused(tmp_path):
    one = dict(list(original_files().items())[:1])
    for number, plan in enumerate(({}, None, [], {"low_actions": []}, {"high_pddl": [{}]})):
        one[f"tests_seen/{number}/traj_data.json"] = json.dumps({"plan": plan}).encode()
    assert "5 trials were left out" in read(write_folder(tmp_path / "a", one)).notes

    only = write_folder(tmp_path / "b", dict([trial_without_plan("t", "tests_seen")]))
    assert "no traj_data.json with a demonstrated plan was found" in refused(only)

    broken = {**one, "train/x/traj_data.json": b'{"plan": {"low_actions": [5]}}'}
    assert "plan.low_actions[0]: expected fields such as" in refused(
        write_folder(tmp_path / "c", broken)
    )


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "expected fields such as"),
        ({"task_id": "t"}, "plan: expected a demonstrated plan"),
        ({"plan": {}, "scene": {}}, "scene.object_poses: expected a list"),
        ({"plan": {"low_actions": [5]}, "scene": {"object_poses": [], "floor_plan": "F"},
          "turk_annotations": {"anns": []}}, "plan.low_actions[0]: expected fields such as"),
        ({"plan": {"low_actions": []}, "scene": {"object_poses": [{"objectName": "Unicorn_1"}]},
          "turk_annotations": {"anns": []}}, "scene.object_poses[0].objectName"),
    ],
)  # fmt: skip
def test_original_files_are_checked_field_by_field(data, said):
    problems = Problems()

    assert read_original("a/traj_data.json", data, problems) is None
    assert any(said in line for line in problems.lines()), problems.lines()


# --- archives -------------------------------------------------------------------------------------


def test_archives_with_paths_outside_links_or_too_much_are_refused(tmp_path, monkeypatch):
    bad = write_zip(tmp_path / "out.zip", {"../../etc/traj_data.json": b"{}"})
    assert "expected a path inside the archive" in refused(bad)
    assert "expected a path inside" in refused(
        write_tar(tmp_path / "abs.tar.gz", {"/etc/traj_data.json": b"{}"})
    )
    assert "found a link" in refused(
        write_tar(tmp_path / "link.tar.gz", {"b/traj_data.json": b"{}"}, link="/etc/passwd")
    )
    linked = tmp_path / "sym.zip"
    with zipfile.ZipFile(linked, "w") as archive:
        info = zipfile.ZipInfo("traj_data.json")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    assert "found a link" in refused(linked)
    bomb = write_zip(tmp_path / "bomb.zip", {"a/traj_data.json": b" " * (7 << 20)})
    assert "times its packed size" in refused(bomb)
    large = write_folder(tmp_path / "large", {"traj_data.json": b" " * (9 << 20)})
    assert "a file of at most 8 MB" in refused(large)
    monkeypatch.setattr(files, "MOST_MEMBERS", 3)
    many = write_folder(tmp_path / "many", {f"{n}/traj_data.json": b"{}" for n in range(5)})
    assert "at most 3 files" in refused(many)


def test_folders_with_links_and_other_files_are_refused(tmp_path):
    folder = write_folder(tmp_path / "f", {"a/traj_data.json": b"{}"})
    (folder / "b").symlink_to(tmp_path)
    assert "found a link" in refused(folder)
    text = tmp_path / "notes.zip"
    text.write_text("no archive")
    assert "expected a folder, a .zip" in refused(text)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "no traj_data.json was found" in refused(empty)


# --- the command ----------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.either
def test_the_command_imports_both_forms_and_nothing_twice(tmp_path, prepared):
    tasks, scenes = prepared()
    out = io.StringIO()
    call_command("import_dataset", "sda_planner", str(tasks), str(scenes), name="A", stdout=out)
    assert "A 1: 24 tasks, 3 floor plans" in out.getvalue()
    call_command("import_dataset", "sda_planner", str(tasks), str(scenes), name="A", stdout=out)
    assert "already imported" in out.getvalue()
    archive = write_zip(tmp_path / "alfred.zip", original_files())
    layouts = write_folder(tmp_path / "l", layout_files())
    call_command(
        "import_dataset", "sda_planner", str(archive), layouts=str(layouts), name="B", stdout=out,
        stderr=io.StringIO(),
    )  # fmt: skip
    assert "less sure" in out.getvalue()
    assert Dataset.objects.filter(system="sda_planner").count() == 2
    tasks.write_text("{}")
    with pytest.raises(CommandError, match="nothing imported"):
        call_command("import_dataset", "sda_planner", str(tasks), str(scenes), name="C")
    assert Dataset.objects.count() == 2


@pytest.mark.django_db
@pytest.mark.either
def test_the_import_page_takes_an_archive_with_its_scenes(tmp_path, prepared, researcher):
    """Files are recognised by their names and read in a process of its own."""
    archive = write_zip(tmp_path / "alfred.zip", original_files())
    sent = [
        SimpleUploadedFile(path.name, path.read_bytes()) for path in (archive, prepared()[1])
    ]  # fmt: skip
    form = researcher.get("/datasets/import/").content.decode()
    assert "SDA-Planner: original alfred trials" in form
    page = researcher.post("/datasets/import/", {"file": sent, "name": "Uploaded"})
    assert page.status_code == 302
    perform(job_id=Job.objects.get().pk, owner="test")

    dataset = Dataset.objects.get(name="Uploaded")
    assert (dataset.system, dataset.tasks.count()) == ("sda_planner", 24)
    assert "less sure" not in dataset.notes
