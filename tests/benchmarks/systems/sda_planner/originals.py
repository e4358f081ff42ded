"""Files in ALFRED's published form, made of rows that we have: what a download would hold."""

import io
import json
import re
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.systems.sda_planner.dataset.sample_house import sample_rows
from benchmarks.systems.sda_planner.dataset.trials import id_at, place_of

_ACTIONS = {
    "open": "OpenObject", "close": "CloseObject", "turn on": "ToggleObjectOn",
    "turn off": "ToggleObjectOff", "slice": "SliceObject",
}  # fmt: skip


def low_actions(gold: Iterable[list[str]]) -> list[dict[str, Any]]:
    """Return the low-level actions of a demonstration, with moves between them."""
    found, target = [], ""
    for skill, _, id in gold:
        api: dict[str, Any] = {"action": "MoveAhead", "moveMagnitude": 0.25}
        if skill == "find":
            target = id
        elif skill == "pick up":
            api = {"action": "PickupObject", "objectId": id}
        elif skill == "put down":
            api = {"action": "PutObject", "objectId": id, "receptacleObjectId": target}
        else:
            api = {"action": _ACTIONS[skill], "objectId": id}
        found.append({"high_idx": 0, "api_action": api, "discrete_action": {"action": "x"}})
    return found


def traj_data(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row in the form of ``traj_data.json``.

    The plan names where an object is taken from if the row has that from a plan. Positions of
    stored rows are rounded; where an id says another one, that one is written.
    """
    parents = {
        one["id"]: one["parent"] for one in row["objects"]
        if one.get("parent_src", "given") in ("gold", "given")
    }  # fmt: skip
    high = [
        {
            "high_idx": n,
            "discrete_action": {"action": "PickupObject", "args": [type.lower()]},
            "planner_action": {
                "action": "PickupObject", "objectId": id,
                "coordinateReceptacleObjectId": coordinates(parents[id]),
            },
        }
        for n, (skill, type, id) in enumerate(row["gold_skills"])
        if skill == "pick up" and parents.get(id, "Floor") != "Floor"
    ]  # fmt: skip
    return {
        "task_id": row["task_id"],
        "task_type": row["task_type"],
        "pddl_params": row["pddl_params"],
        "images": [{"image_name": "000.png"}],
        "plan": {"high_pddl": high, "low_actions": low_actions(row["gold_skills"])},
        "scene": {
            "floor_plan": row["scene"]["floor_plan"],
            "init_action": {"action": "TeleportFull", **row["scene"]["init_action"]},
            "dirty_and_empty": row["scene"]["dirty_and_empty"],
            "object_poses": [
                {
                    "objectName": f"{one['type']}_0a1b2c{n}",
                    "position": dict(zip("xyz", _position(one), strict=True)),
                    "rotation": {"x": 0, "y": 0, "z": 0},
                }
                for n, one in enumerate(row["objects"])
            ],
            "object_toggles": [],
        },
        "turk_annotations": {"anns": [{**one, "votes": [1, 1]} for one in row["anns"]]},
    }


def _position(one: Mapping[str, Any]) -> tuple[float, ...]:
    at = tuple(one["pos"])
    return at if id_at(one["type"], at) == one["id"] else place_of(one["id"]) or at


def trial_without_plan(task_id: str, split: str) -> tuple[str, bytes]:
    """Return a trial of a test split as it is published: annotations, and no demonstration."""
    data = {
        "task_id": task_id,
        "task_type": "pick_and_place_simple",
        "turk_annotations": {"anns": [{"task_desc": "Put a mug away.", "high_descs": []}]},
    }
    return f"json_2.1.0/{split}/{task_id}/traj_data.json", json.dumps(data).encode()


def coordinates(id: str) -> list[Any]:
    """Return a receptacle as the plan names it: type, and 4 times the bounds of x, z, height."""
    parts = id.split("|")
    type = parts[-1] if re.match(r"[A-Z]", parts[-1]) else parts[0]
    x, y, z = (4 * float(one) for one in parts[1:4])
    return [type, [x, x, z, z, y, y]]


def original_files(rows: Iterable[Mapping[str, Any]] = ()) -> dict[str, bytes]:
    """Return rows, or the sample house, as files of the published form, by name."""
    return {
        f"json_2.1.0/{row['split']}/{row['task_type']}-{row['task_id']}/{row['task_id']}"
        "/traj_data.json": json.dumps(traj_data(row)).encode()
        for row in rows or sample_rows()[1]
    }


def published_tree(tests: int = 3) -> dict[str, bytes]:
    """Return a tree with every published split: trials of the sample house, and of the tests."""
    splits = ("train", "valid_seen", "valid_unseen")
    rows = [
        {**row, "split": splits[number % 3]} for number, row in enumerate(sample_rows()[1])
    ]  # fmt: skip
    without = (
        trial_without_plan(f"trial_{split}_{number}", split)
        for split in ("tests_seen", "tests_unseen") for number in range(tests)
    )  # fmt: skip
    return {**original_files(rows), **dict(without)}


def layout_files(scenes: Iterable[Mapping[str, Any]] = ()) -> dict[str, bytes]:
    """Return where openable things are used from, as the layouts have it."""
    return {
        f"layouts/{scene['floor_plan']}-openable.json": json.dumps(
            {
                one["id"]: one.get("nav") or [one["pos"][0], one["pos"][2], 90, 30]
                for one in scene["receptacles"]
                if one["openable"]
            }
        ).encode()
        for scene in scenes or sample_rows()[0]
    }


def write_folder(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def write_zip(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def write_tar(path: Path, files: Mapping[str, bytes], link: str = "") -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        if link:
            member = tarfile.TarInfo("a/traj_data.json")
            member.type, member.linkname = tarfile.SYMTYPE, link
            archive.addfile(member)
    return path
