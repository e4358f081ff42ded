"""Datasets of trials: prepared rows, original ALFRED files, and how both become tasks."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.core.digests import digest
from benchmarks.core.errors import CoreError
from benchmarks.core.ports.importer import Importer, ImportOption, TaskFile, TaskFormat
from benchmarks.core.problems import Problems, Unquoted
from benchmarks.core.types import Json, Task
from benchmarks.systems.sda_planner.dataset.files import (
    LARGEST_MEMBER,
    is_archive,
    read_json,
    read_lines,
    read_members,
    refuse,
)
from benchmarks.systems.sda_planner.dataset.traj_data import (
    LAYOUT,
    TRIAL,
    Original,
    as_row,
    complete_scenes,
    counted,
    is_demonstrated,
    read_layout,
    read_original,
    split_of,
)
from benchmarks.systems.sda_planner.dataset.trials import (
    Trials,
    check_scene,
    check_task,
    replay_demonstration,
    stored_scene,
)
from benchmarks.systems.sda_planner.house.goals import TASK_TYPES
from benchmarks.systems.sda_planner.repair.graph_files import read_graph_file

MOST_WARNINGS = 100
LESS_SURE = (
    "{missing}: fixed receptacles are those that the trials themselves touch, so where objects "
    "start is less sure."
)


def read_prepared(paths: Sequence[Path], options: Mapping[str, Any]) -> TaskFile:
    """Read ``tasks.jsonl`` with ``scenes.jsonl``, plain or as .gz."""
    scenes, graphs, tasks = _split(paths, options)
    if len(tasks) != 1:
        names = ", ".join(path.name for path in tasks) or "none"
        raise CoreError(f"expected one file tasks.jsonl or tasks.jsonl.gz, found {names}")
    if not scenes:
        raise CoreError(f"{tasks[0].name} needs scenes: give scenes.jsonl or scenes.jsonl.gz, too")
    problems = Problems()
    trials = Trials(scenes=_read_scenes(scenes, problems))
    problems.check()
    for where, row in read_lines(tasks[0], problems):
        _add(trials, where, check_task(where, row, trials.scenes, problems), problems)
    problems.check()
    return task_file(trials, tasks[0].name, read_graph_file(graphs), f" {_reached_words(trials)}")


def read_originals(paths: Sequence[Path], options: Mapping[str, Any]) -> TaskFile:
    """Read folders, archives or single files of ``traj_data.json``."""
    scene_files, graphs, sources = _split(paths, options)
    layout = Path(options["layouts"]) if options.get("layouts") else None
    problems = Problems()
    found = Trials(scenes=_read_scenes(scene_files, problems))
    layouts: dict[str, dict[str, tuple[float, float]]] = {}
    trials: list[Original] = []
    left_out: Counter[str] = Counter()
    for path in [*([layout] if layout else []), *sources]:
        for name, data in _members(path):
            value = read_json(name, data, problems)
            if value is None:
                continue
            if name.endswith(LAYOUT):
                plan = Path(name).name.removesuffix(LAYOUT)
                layouts[plan] = read_layout(name, value, problems)
            elif not is_demonstrated(value):
                left_out[split_of(name)] += 1
            elif trial := read_original(name, value, problems):
                trials.append(trial)
    problems.check()
    if not trials:
        what = f"{TRIAL} with a demonstrated plan" if left_out else TRIAL
        raise CoreError(f"no {what} was found in {', '.join(path.name for path in sources)}")
    complete = complete_scenes(trials, layouts, found.scenes)
    without = sorted(set(complete) - set(found.scenes))
    for plan, row in complete.items():
        if scene := check_scene(f"floor plan {plan}", row, problems):
            found.scenes[plan] = scene
    problems.check()
    for trial in trials:
        row, odd = as_row(trial, found.scenes[trial.row["scene"]["floor_plan"]])
        found.warnings += odd
        _add(found, trial.name, check_task(trial.name, row, found.scenes, problems), problems)
    problems.check()
    name = ", ".join(path.name for path in sources)
    missing = f"The scenes given lack {', '.join(without[:5])}{' and more' * (len(without) > 5)}"
    if not scene_files:
        missing = "No scenes file was given"
    note = f" {LESS_SURE.format(missing=missing)}" if without else ""
    note += f" {counted(found.rows.values()).words}. {_reached_words(found)}"
    if left_out:
        note += f" {_left_out_words(left_out)}"
    return task_file(found, name, read_graph_file(graphs), note)


def _reached_words(trials: Trials) -> str:
    reached = len(trials.rows) - trials.falling_short
    return f"{reached:,} of {len(trials.rows):,} demonstrations reach every goal condition."


def _left_out_words(left_out: Mapping[str, int]) -> str:
    total = sum(left_out.values())
    parts = ", ".join(f"{n:,} {split}" for split, n in sorted(left_out.items()))
    trials = "trial was" if total == 1 else "trials were"
    return f"{total:,} {trials} left out, without a demonstrated plan: {parts}."


def _split(
    paths: Sequence[Path], options: Mapping[str, Any]
) -> tuple[list[Path], list[Path], list[Path]]:
    """Return files of scenes, of a graph, and the others."""
    scenes = [Path(options["scenes"])] if options.get("scenes") else []
    graphs = [Path(options["graph"])] if options.get("graph") else []
    others = []
    for path in paths:
        name = path.name.lower()
        if name.startswith("scenes") and ".jsonl" in name:
            scenes.append(path)
        elif name.startswith("graph") and name.endswith(".json"):
            graphs.append(path)
        else:
            others.append(path)
    if len(graphs) > 1:
        raise CoreError("expected one state-dependency graph, found several")
    return scenes, graphs, others


def _read_scenes(paths: Sequence[Path], problems: Problems) -> dict[str, Json]:
    scene_by_plan: dict[str, Json] = {}
    for path in paths:
        for where, row in read_lines(path, problems):
            scene = check_scene(where, row, problems)
            if scene is None:
                continue
            if scene["floor_plan"] in scene_by_plan:
                problems.add(
                    where, "each floor plan once", Unquoted(f"{scene['floor_plan']} again")
                )
            scene_by_plan[scene["floor_plan"]] = scene
    return scene_by_plan


def _members(path: Path) -> Any:
    if path.is_file() and not is_archive(path):
        with path.open("rb") as file:
            data = file.read(LARGEST_MEMBER + 1)
        if len(data) > LARGEST_MEMBER:
            raise refuse(path.name, f"a file of at most {LARGEST_MEMBER >> 20} MB", "a larger one")
        yield path.name, data
        return
    yield from read_members(path, (TRIAL, LAYOUT))


def _add(trials: Trials, where: str, row: Json | None, problems: Problems) -> None:
    if row is None:
        return
    if row["task_id"] in trials.rows:
        problems.add(where, "each task_id once", Unquoted(f"{row['task_id']} again"))
        return
    trials.rows[row["task_id"]] = row
    if why := replay_demonstration(row, trials.scenes[row["scene"]["floor_plan"]]):
        trials.falling_short += 1
        trials.warnings.append(f"{row['task_id']}: the demonstration falls short: {why}")


def task_file(
    trials: Trials, source: str, graph: Json | None = None, note: str = "", licence: str = ""
) -> TaskFile:
    """Return checked trials as they are stored; scenes that no trial needs are left out."""
    needed = {row["scene"]["floor_plan"] for row in trials.rows.values()}
    shared: dict[str, Any] = {
        "scenes": {n: stored_scene(s) for n, s in sorted(trials.scenes.items()) if n in needed}
    }
    if graph is not None:
        shared["graph"] = graph
    tasks = [(make_task(row, shared), ()) for row in trials.rows.values()]
    shared["checksum"] = digest([list(trials.rows.values()), shared])
    splits = Counter(row["split"] for row in trials.rows.values())
    parts = ", ".join(f"{n} {name}" for name, n in sorted(splits.items()))
    warnings = trials.warnings[:MOST_WARNINGS]
    if len(trials.warnings) > MOST_WARNINGS:
        warnings.append(f"… and {len(trials.warnings) - MOST_WARNINGS:,} more")
    notes = f"{len(needed)} floor plans; {parts}.{note}"
    if graph is not None:
        notes += f" State-dependency graph {graph['version']} is part of the dataset."
    return TaskFile(
        tasks=tasks, checksum=shared["checksum"], source=source, licence=licence, shared=shared,
        notes=notes, summary=f", {notes}", warnings=tuple(warnings),
    )  # fmt: skip


def make_task(row: Json, shared: Json) -> Task:
    """Return a trial as a task; its first annotation is the prompt."""
    prompt = row["anns"][0]["task_desc"]
    return Task(row["task_id"], prompt, TASK_TYPES[row["task_type"]], row, shared=shared)


def _is_prepared(paths: Sequence[Path]) -> bool:
    return any(path.name.lower().startswith("tasks") and ".jsonl" in path.name for path in paths)


def _is_original(paths: Sequence[Path]) -> bool:
    return any(
        path.is_dir() or is_archive(path) or path.name == TRIAL for path in paths
    )  # fmt: skip


_GRAPH = ImportOption("graph", "", "a JSON file with a state-dependency graph to keep with it")
_SCENES = ImportOption("scenes", "", "a file scenes.jsonl or scenes.jsonl.gz")
IMPORTER = Importer(
    (
        TaskFormat(
            "prepared",
            "Prepared trials",
            "tasks.jsonl and scenes.jsonl, plain or as .gz",
            "ALFRED trials",
            read_prepared,
            _is_prepared,
            options=(_SCENES, _GRAPH),
            uploads=3,
            accept=".jsonl,.gz,.json",
        ),
        TaskFormat(
            "original",
            "Original ALFRED trials",
            "folders or archives (.zip, .tar, .tar.gz) of traj_data.json",
            "ALFRED",
            read_originals,
            _is_original,
            options=(
                _SCENES,
                ImportOption("layouts", "", "a folder or archive with FloorPlan…-openable.json"),
                _GRAPH,
            ),
            uploads=4,
            accept=".zip,.tar,.gz,.tgz,.json,.jsonl",
        ),
    )
)
