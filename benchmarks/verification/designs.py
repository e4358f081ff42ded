"""Check that a run has what its design demands: tasks, profiles, attempts, versions, demo mark."""

from collections import defaultdict
from collections.abc import Iterator

from benchmarks.core.registry import find_system
from benchmarks.core.system import PROMPTS
from benchmarks.models import Dataset, Exchange, Run, Trajectory
from benchmarks.runs.services import run_units
from benchmarks.verification.checks import StoredDifference

MOST_NAMED = 10
# Kinds of runs whose design says which tasks they have.
DESIGNED = (Run.Kind.MADE, Run.Kind.CONSTRUCTION)
PINNED = ("protocol", PROMPTS, "parsers", "scorer")


def unstored_design(run: Run) -> str:
    """Say why the tasks of a run cannot be checked; empty where they can be.

    The runs of live sessions get their tasks from people, one by one.
    """
    if run.kind not in DESIGNED or run.design_tasks != []:
        return ""
    if not run.trajectories.filter(reserved=False).exists():
        return ""
    return "which tasks the run's design demands is not stored"


def design_differences(run: Run) -> Iterator[StoredDifference]:
    """Yield what a run lacks of its design, or has beyond it."""
    if run.kind in DESIGNED and run.design_tasks != []:
        yield from _tasks(run)
        yield from _experiment(run)
    yield from _attempts(run)
    yield from _marks(run)
    yield from _pins(run)


def _tasks(run: Run) -> Iterator[StoredDifference]:
    """Compare the tasks and profiles of the trajectories with those that are demanded."""
    wanted = set(run.design_tasks or ())
    units = {
        (task, profile): name
        for task, profile, name in run_units(run.dataset, run.level, ())
        if not wanted or name in wanted
    }
    there = {
        (task, profile): name
        for task, profile, name in run.trajectories.values_list(
            "task", "profile", "task__external_id"
        )
    }
    missing = sorted(name for unit, name in units.items() if unit not in there)
    missing += sorted(wanted - set(units.values()))
    if missing:
        yield StoredDifference(
            "tasks of the design",
            f"{len(units.keys() & there.keys()):,} of {len(wanted) or len(units):,}",
            f"missing: {_named(missing)}",
        )
    beyond = sorted(name for unit, name in there.items() if unit not in units)
    if beyond:
        yield StoredDifference("tasks of the design", _named(beyond), "not part of it")
    if run.status == Run.Status.DONE:
        ended = run.trajectories.filter(status=Trajectory.Status.DONE)
        open_units = there.keys() - set(ended.values_list("task", "profile"))
        if open_units:
            names = sorted(there[unit] for unit in open_units)
            yield StoredDifference(
                "status of the run", "done", f"no attempt has ended: {_named(names)}"
            )


def _experiment(run: Run) -> Iterator[StoredDifference]:
    """Compare the demanded tasks with the design that the run's experiment was made from."""
    design = run.experiment.design if run.experiment is not None else {}
    if "agents" not in design:
        return
    stated = design.get("tasks")
    chosen = run.design_tasks
    stored = "all" if chosen is None else f"{len(chosen):,}: {_named(chosen)}"
    if stated is None and chosen is not None:
        yield StoredDifference("tasks of the run", stored, "all, by the experiment's design")
    elif isinstance(stated, int) and len(chosen or ()) != stated:
        yield StoredDifference("tasks of the run", stored, f"the first {stated:,}, by the design")
    elif isinstance(stated, list) and sorted(stated) != sorted(chosen or ()):
        yield StoredDifference("tasks of the run", stored, f"by the design: {_named(stated)}")


def _attempts(run: Run) -> Iterator[StoredDifference]:
    """Check that the attempts at each task are counted from 1 without a gap."""
    attempts: dict[str, list[int]] = defaultdict(list)
    rows = run.trajectories.values_list("task__external_id", "profile__level", "attempt")
    for name, level, attempt in rows:
        attempts[f"{name} {level or ''}".strip()].append(attempt)
    for name, numbers in sorted(attempts.items()):
        # A re-judging keeps the attempt that it looks at.
        if run.kind != Run.Kind.JUDGING and sorted(numbers) != list(range(1, len(numbers) + 1)):
            there = ", ".join(map(str, sorted(numbers)))
            yield StoredDifference(f"attempts at {name}", there, f"1 to {max(numbers)}")


def _marks(run: Run) -> Iterator[StoredDifference]:
    """Check what marks a run as demo data or as made elsewhere."""
    dataset = run.dataset
    if run.kind in (*DESIGNED, Run.Kind.PRACTICE) and run.is_demo != dataset.is_demo:
        yield StoredDifference("demo mark of the run", str(run.is_demo), str(dataset.is_demo))
    if not dataset.is_demo and _ships(dataset):
        yield StoredDifference("demo mark of the dataset", "False", "True: it ships as a demo")
    logged = Exchange.every.filter(trajectory__run=run)
    if run.kind == Run.Kind.IMPORTED and logged.exists():
        yield StoredDifference("kind of the run", "imported", "made here: it has a log")


def _ships(dataset: Dataset) -> bool:
    """Return whether a dataset is one of the demo, by its content."""
    return any(
        demo.load().checksum == dataset.checksum
        for demo in find_system(dataset.system).demo
        if demo.name == dataset.name
    )


def _pins(run: Run) -> Iterator[StoredDifference]:
    """Check that all versions are pinned, and that the scorer's is that of the trajectories."""
    if run.kind == Run.Kind.IMPORTED:
        return
    absent = [name for name in PINNED if name not in run.pins]
    if absent:
        yield StoredDifference("pinned versions", "not there", ", ".join(absent))
        return
    ended = run.trajectories.filter(status=Trajectory.Status.DONE)
    versions = sorted(set(ended.values_list("scorer_version", flat=True)))
    if versions and run.pins["scorer"] not in versions:
        yield StoredDifference("pinned scorer", str(run.pins["scorer"]), ", ".join(versions))


def _named(names: list[str]) -> str:
    """Name the first of these."""
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
