"""Questions made of files in PDDL, and written in the published form."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from benchmarks.core.errors import CoreError, UnknownName
from benchmarks.core.problems import FileRefused, Problems, Unquoted
from benchmarks.systems.acpbench_hard.dataset import row_of
from benchmarks.systems.acpbench_hard.generation.bounded_space import MOST_NODES, SearchedSpace
from benchmarks.systems.acpbench_hard.generation.new_questions import (
    Difficulty,
    MadeQuestion,
    Source,
    make_questions,
)
from benchmarks.systems.acpbench_hard.generation.space import (
    MOST_STATES,
    KnownSpace,
    SpaceUndecided,
    StateSpace,
    TooLarge,
)
from benchmarks.systems.acpbench_hard.generation.text import (
    Describer,
    Templates,
    TextError,
    read_templates,
)
from benchmarks.systems.acpbench_hard.pddl.domain import Domain, read_domain
from benchmarks.systems.acpbench_hard.pddl.expressions import PddlError
from benchmarks.systems.acpbench_hard.pddl.grounding import Declined
from benchmarks.systems.acpbench_hard.pddl.instance import read_instance
from benchmarks.systems.acpbench_hard.tasks import TASKS

MOST_BYTES = 8 << 20
TEXT = "text.yaml"


class GenerationReport(NamedTuple):
    """The number of questions made of each task, and why others were not."""

    questions: int
    by_task: Mapping[str, int]
    left_out: Sequence[str]

    def lines(self, wanted: int) -> list[str]:
        """Return the report in words."""
        lines = [f"{self.questions} questions"]
        lines += [
            f"  {TASKS[task].title}: {n}" + (f" of {wanted} wanted" if n < wanted else "")
            for task, n in self.by_task.items()
        ]
        return lines + [f"  left out: {reason}" for reason in self.left_out]


def generate_acpbench(
    domain: Path,
    problems: Sequence[Path],
    out: Path,
    *,
    seed: int,
    per_task: int,
    tasks: Sequence[str] = (),
    difficulty: Mapping[str, int] = MappingProxyType({}),
    most_states: int = MOST_STATES,
    nodes: int = MOST_NODES,
) -> GenerationReport:
    """Make questions of problems and write them to a file, all or none.

    Problems of at most ``most_states`` states are explored to their end. Larger ones are searched,
    each search for at most ``nodes`` states; questions that this does not settle are declined. A
    problem without a known plan is left out and named. Raises ``FileRefused`` for PDDL or templates
    with a fault, and `CoreError` where nothing can be made.
    """
    for task in tasks:
        if task not in TASKS:
            raise UnknownName("task", task, list(TASKS))
    sources, left_out = _load(domain, problems, Difficulty(**difficulty), most_states, nodes)
    made = list(make_questions(sources, seed, per_task, tasks or tuple(TASKS)))
    if not made:
        declined = [why[-1] for one in sources for why in one.declined.values()]
        why = "".join(f": {reason}" for reason in [*left_out, *declined][:1])
        raise CoreError(f"no question can be made of these problems{why}")
    write_questions(made, out)
    counts = Counter(one.question.task for one in made)
    declined = [
        f"{source.instance.name}, {TASKS[task].title}: {len(why)} "
        f"question{'s' * (len(why) > 1)} declined, the last because {why[-1]}"
        for source in sources
        for task, why in source.declined.items()
    ]
    wanted = {task: counts[task] for task in tasks or TASKS}
    return GenerationReport(len(made), wanted, [*left_out, *declined])


def write_questions(made: Sequence[MadeQuestion], out: Path) -> None:
    """Write questions as a JSON list in the published form, each with the record of its making."""
    rows: list[dict[str, Any]] = [
        {**row_of(one.question), "generated": dict(one.record)} for one in made
    ]
    part = out.with_name(f"{out.name}.part")
    part.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    part.replace(out)


def load_source(
    domain: Path,
    problem: Path,
    difficulty: Difficulty = Difficulty(),  # noqa: B008
    most_states: int = MOST_STATES,
    nodes: int = MOST_NODES,
) -> Source:
    """Return a problem that questions can be made of; templates lie beside the domain, or there are
    none.

    Raises ``PddlError``, ``TextError``, ``TooLarge`` or ``Declined`` with what is wrong.
    """
    text = _read(domain)
    templates = _load_templates(domain.parent / TEXT, read_domain(text))
    return _load_problem(text, templates, problem, difficulty, most_states, nodes)


def _read(path: Path) -> str:
    if path.stat().st_size > MOST_BYTES:
        raise PddlError(f"the file has more than {MOST_BYTES >> 20} MB")
    return path.read_text(encoding="utf-8")


def _load_templates(path: Path, domain: Domain) -> Templates:
    return read_templates(path, domain) if path.is_file() else Templates()


def _load_problem(
    domain_text: str,
    templates: Templates,
    path: Path,
    difficulty: Difficulty,
    most_states: int,
    nodes: int,
) -> Source:
    text = _read(path)
    instance = read_instance(domain_text, text)
    named = instance.of_domain
    if named and named != instance.domain.name:
        raise PddlError(f"problem, :domain: it is of {named}, not of {instance.domain.name}")
    space: KnownSpace
    try:
        space = StateSpace(instance, most_states)
    except TooLarge:
        space = SearchedSpace(instance, nodes)
    return Source(domain_text, text, space, Describer(instance.domain, templates), difficulty)


_FAULTS = FileRefused, PddlError, TextError, UnicodeDecodeError, OSError


def _note_fault(path: Path, error: Exception, faults: Problems) -> None:
    """Note a fault of a file under the name of that file."""
    if isinstance(error, OSError):
        faults.add(path.name, "a file that can be read", Unquoted(error.strerror or "none"))
    else:
        expected = "phrases that fit the domain" if path.name == TEXT else "PDDL that can be read"
        faults.add(path.name, expected, Unquoted(str(error)))


def _load(
    domain: Path, problems: Sequence[Path], difficulty: Difficulty, most_states: int, nodes: int
) -> tuple[list[Source], list[str]]:
    faults, sources, left_out = Problems(), [], []
    phrases, templates = domain.parent / TEXT, Templates()
    try:
        domain_text = _read(domain)
        parsed = read_domain(domain_text)
    except _FAULTS as error:
        _note_fault(domain, error, faults)
        faults.check()
    try:
        templates = _load_templates(phrases, parsed)
    except _FAULTS as error:
        _note_fault(phrases, error, faults)
    for path in problems:
        try:
            source = _load_problem(domain_text, templates, path, difficulty, most_states, nodes)
        except (TooLarge, Declined) as error:
            left_out.append(f"{path.name}: {error}")
        except _FAULTS as error:
            _note_fault(path, error, faults)
        else:
            try:
                solvable = source.space.solvable
            except SpaceUndecided as error:
                left_out.append(f"{path.name}: {error}")
                continue
            if solvable:
                sources.append(source)
            else:
                left_out.append(f"{path.name}: no plan reaches its goal")
    faults.check()
    return sources, left_out
