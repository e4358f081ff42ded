"""An external planner, asked only where our own search gave up.

It is Fast Downward or a program with the same command line, named by ``PLANJURY_PLANNER`` or found
on the path; without one, nothing changes. Each call runs in a process and a folder of its own, with
limits on CPU time, memory and the size of files, and the whole group of processes is ended
afterwards. A plan counts only if our own simulation confirms it; a program that hangs, crashes or
writes nonsense leaves the question undecided.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks.systems.acpbench_hard.pddl.conditions import Atom
from benchmarks.systems.acpbench_hard.pddl.grounding import Ground
from benchmarks.systems.acpbench_hard.pddl.instance import State, parse_plan, show_atom
from benchmarks.systems.acpbench_hard.pddl.operators import OperatorCondition
from benchmarks.systems.acpbench_hard.search.result import Limits, SearchResult

VARIABLE = "PLANJURY_PLANNER"
OFF = "off"
NAMES = ("fast-downward", "fast-downward.py")
# How Fast Downward says that there is no plan: found out by its translator or by its search.
UNSOLVABLE = (10, 11)
OUT_OF_TIME = (23, -signal.SIGXCPU, 128 + signal.SIGXCPU)
SHORTEST = "astar(lmcut())"
ANY = "lazy_greedy([ff()], preferred=[ff()])"
# So many times its CPU time may a planner take on a busy machine.
PATIENCE = 3
MOST_BYTES = 1 << 30
LONGEST_PLAN = 1 << 20
_LINE = re.compile(r"^[^\S\n]*\([^;()]*\)[^\S\n]*$", re.MULTILINE)
# Limits are set in the new process, and inherited by all that it starts.
_LIMITED = """
import os, resource, sys
for kind, most in zip(("CPU", "AS", "FSIZE", "CORE"), map(int, sys.argv[1:5])):
    # A second after its CPU time, the process is killed even if it ignores the signal.
    resource.setrlimit(getattr(resource, "RLIMIT_" + kind), (most, most + (kind == "CPU")))
os.execv(sys.argv[5], sys.argv[5:])
"""


def find_planner(environ: Mapping[str, str] = os.environ) -> str:
    """Return the planner's path; empty where there is none or the variable says ``off``."""
    given = environ.get(VARIABLE, "").strip()
    if given == OFF:
        return ""
    path = environ.get("PATH", os.defpath)
    names = (given,) if given else NAMES
    programs = (shutil.which(name, path=path) for name in names)
    return next((str(Path(one).resolve()) for one in programs if one), "")


def ask_planner(
    planner: str,
    domain_text: str,
    ground: Ground,
    state: State,
    goal: Sequence[OperatorCondition],
    limits: Limits,
    *,
    bound: int | None = None,
    wall_seconds: float | None = None,
) -> SearchResult:
    """Ask for a plan from a state, or for a shortest one where ``bound`` is given.

    ``domain_text`` is the domain of the grounded problem in PDDL. With a bound, a confirmed
    shortest plan that is longer shows that none is within it.
    """
    with tempfile.TemporaryDirectory(prefix="planner-") as name:
        folder = Path(name)
        (folder / "domain.pddl").write_text(domain_text, encoding="utf-8")
        (folder / "problem.pddl").write_text(problem_text(ground, state, goal), encoding="utf-8")
        search = ANY if bound is None else SHORTEST
        command = [planner, "--plan-file", "plan", "domain.pddl", "problem.pddl"]
        code = _run([*command, "--search", search], folder, limits, wall_seconds)
        if code is None or code in OUT_OF_TIME:
            return SearchResult("timed_out")
        if code in UNSOLVABLE:
            return SearchResult("unsolvable", None, "planner")
        plan = _read_plan(folder / "plan")
    if plan is None or not _reaches(ground, state, goal, plan):
        return SearchResult("gave_up")
    if bound is not None and len(plan) > bound:
        return SearchResult("unsolvable", None, "planner")
    return SearchResult("solved", plan, "planner")


def _run(
    command: Sequence[str], folder: Path, limits: Limits, wall_seconds: float | None
) -> int | None:
    """Return the exit code, or None after too long a time."""
    seconds, memory = limits.planner_seconds, limits.planner_megabytes << 20
    most = (seconds, memory, MOST_BYTES, 0)
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", _LIMITED, *map(str, most), *command],
        cwd=folder,
        env={**kept, "TMPDIR": str(folder), "HOME": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(wall_seconds or seconds * PATIENCE)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _read_plan(path: Path) -> tuple[Atom, ...] | None:
    try:
        with path.open("rb") as file:
            text = file.read(LONGEST_PLAN + 1)
    except OSError:
        return None
    if len(text) > LONGEST_PLAN:
        return None
    return parse_plan("".join(_LINE.findall(text.decode("utf-8", errors="replace"))))


def _reaches(
    ground: Ground, state: State, goal: Sequence[OperatorCondition], plan: Sequence[Atom]
) -> bool:
    instance = ground.instance
    for action in plan:
        if instance.fault_of_action(action) or instance.unmet(action, state):
            return False
        state = instance.apply(action, state)
    return any(condition.holds(ground.state(state)) for condition in goal)


def problem_text(ground: Ground, state: State, goal: Sequence[OperatorCondition]) -> str:
    """Return a problem in PDDL with another state at the beginning and another goal."""
    instance = ground.instance
    constants = instance.domain.constants
    objects = " ".join(
        f"{name} - {_type_of(types)}"
        for name, types in instance.objects.items()
        if name not in constants
    )
    cases = []
    for condition in goal:
        parts = [show_atom(atom) for atom in ground.atoms(condition.pos)]
        parts += [f"(not {show_atom(atom)})" for atom in ground.atoms(condition.neg)]
        cases.append(f"(and {' '.join(parts)})")
    condition_text = cases[0] if len(cases) == 1 else f"(or {' '.join(cases)})"
    init = " ".join(map(show_atom, sorted(state)))
    return (
        f"(define (problem {instance.name}) (:domain {instance.domain.name})\n"
        f"(:objects {objects})\n(:init {init})\n(:goal {condition_text}))\n"
    )


def _type_of(types: Sequence[str]) -> str:
    return types[0] if len(types) == 1 else f"(either {' '.join(types)})"
