"""Small domains and problems that were written for PlanJury, and questions made of them."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.systems.acpbench_hard.generation.making import Difficulty, Source
from benchmarks.systems.acpbench_hard.generation.space import MOST_STATES, Space
from benchmarks.systems.acpbench_hard.generation.text import Describer, Templates, read_templates
from benchmarks.systems.acpbench_hard.pddl.instance import read_instance

FOLDER = Path(__file__).parent
TEXT = "text.yaml"


def load_source(
    domain: Path,
    problem: Path,
    difficulty: Difficulty = Difficulty(),  # noqa: B008
    most_states: int = MOST_STATES,
) -> Source:
    """A problem that questions can be made of; templates lie beside the domain, or there are none.

    Raises ``PddlError``, ``TextError`` or ``TooLarge`` with what is wrong.
    """
    texts = domain.read_text(encoding="utf-8"), problem.read_text(encoding="utf-8")
    instance = read_instance(*texts)
    phrases = domain.parent / TEXT
    templates = read_templates(phrases, instance.domain) if phrases.is_file() else Templates()
    return Source(
        *texts, Space(instance, most_states), Describer(instance.domain, templates), difficulty
    )


def shipped(*domains: str) -> Iterator[Source]:
    """The shipped problems, of all domains or of those named."""
    for folder in sorted(path for path in FOLDER.iterdir() if path.is_dir()):
        if (folder / "domain.pddl").is_file() and (not domains or folder.name in domains):
            for problem in sorted(folder.glob("p*.pddl")):
                yield load_source(folder / "domain.pddl", problem)
