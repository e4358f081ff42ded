"""Questions as tasks: one task per question, and the importer of published files.

Dev and test files, and those that ``generate_acpbench`` writes, are alike. Files of recorded
answers (JSON lines) may come along, and task files with the published prompt.
"""

import gzip
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.core.digests import digest, digest_text, storable
from benchmarks.core.errors import SettingError
from benchmarks.core.ports.importer import Importer, ImportOption, TaskFile, TaskFormat
from benchmarks.core.problems import FileRefused, Problems, Unquoted
from benchmarks.core.types import Json, Task
from benchmarks.formats.source import File, read_line
from benchmarks.systems.acpbench_hard.pddl.domain import read_domain
from benchmarks.systems.acpbench_hard.pddl.expressions import PddlError
from benchmarks.systems.acpbench_hard.pddl.instance import read_instance
from benchmarks.systems.acpbench_hard.prompts.task_files import (
    FORMS,
    GENERATIVE,
    SHARED,
    find_task_files,
    is_task_file,
    read_task_files,
)
from benchmarks.systems.acpbench_hard.questions import PlanningQuestion, find_files, read_questions
from benchmarks.systems.acpbench_hard.tasks import BOOL, KINDS, MCQ, TASKS, is_choice

FORMS_OPTION = "forms"
LONGEST_RESPONSE = 1 << 20
LONGEST_MODEL = 200
PUBLISHED_NAMES = (".gen.json", ".gen.json.gz")
# Bytes of a file, and files of a folder, that are looked at to tell what they hold.
BEGINNING, FILES_LOOKED_AT = 1 << 10, 8
_LINES = (".jsonl", ".jsonl.gz")
_FIELDS = ("task", "split", "group", "context", "question", "answer", "pddl_domain", "pddl_problem")


def is_answers(path: Path) -> bool:
    """Return whether a file's name says that it holds recorded answers."""
    return path.name.lower().endswith(_LINES)


def read_files(paths: Sequence[Path], options: Mapping[str, Any]) -> TaskFile:
    """Read and check all files as a whole; raise ``FileRefused`` with their first faults."""
    forms = _forms(options)
    files, answers, prompts = [], [], []
    for path in paths:
        if path.is_dir():
            files += find_files(path, forms)
            answers += sorted(one for one in path.rglob("*") if is_answers(one))
            prompts += find_task_files(path)
        elif is_task_file(path):
            prompts.append(path)
        else:
            (answers if is_answers(path) else files).append(path)
    questions = read_questions(files)
    problems = Problems()
    _check_pddl(questions, problems)
    recorded: dict[str, list[Json]] = {}
    known = {key_of(question) for question in questions}
    for path in answers:
        try:
            _read_answers(path, known, recorded, problems)
        except FileRefused as refused:
            problems.extend(refused)
    published: Json = {}
    try:
        published = read_task_files(prompts)
    except FileRefused as refused:
        problems.extend(refused)
    asked: dict[str, set[str]] = {}
    for question in questions:
        task, _, given = question.task.partition(".")
        asked.setdefault(given or GENERATIVE, set()).add(task)
    published = _complete(published, asked, problems)
    problems.check()
    checksums = [File(path).checksum() for path in (*files, *answers)]
    if published:
        checksums.append(digest(published))
    source = ", ".join(path.name for path in paths)
    shared = {SHARED: published, FORMS: sorted(asked)} if published else None
    return task_file(questions, source, digest(sorted(checksums)), recorded, shared)


def _complete(published: Json, asked: Mapping[str, set[str]], problems: Problems) -> Json:
    """Return the published prompts that have every task that is asked.

    One of the generative form that has not is a fault. Of the other forms the repository has files
    of some tasks alone, so these are left out.
    """
    whole = {}
    for form, prompts in published.items():
        wanted = asked.get(form if form in (BOOL, MCQ) else GENERATIVE, set())
        missing = [task for task in TASKS if task in wanted and task not in prompts]
        if not missing:
            whole[form] = prompts
        elif form not in (BOOL, MCQ):
            where = f"task files ({form})"
            problems.add(where, "one of each task", Unquoted(f"none of {', '.join(missing)}"))
    return whole


def _forms(options: Mapping[str, Any]) -> list[str]:
    """Return the forms of questions that are taken from folders, beside the generative one."""
    wanted = str(options.get(FORMS_OPTION, "")).replace(",", " ").split()
    if unknown := [form for form in wanted if form not in (GENERATIVE, BOOL, MCQ)]:
        raise SettingError(FORMS_OPTION, f"{GENERATIVE}, {BOOL} and {MCQ}", unknown[0])
    return wanted


def task_file(
    questions: Sequence[PlanningQuestion],
    source: str,
    checksum: str,
    recorded: Mapping[str, Sequence[Json]] | None = None,
    shared: Json | None = None,
) -> TaskFile:
    """Return questions as they are stored, with recorded answers by the key of their question.

    ``shared`` has the published prompt, if it was imported.
    """
    kinds = Counter(question.task for question in questions)
    domains = sorted({question.domain for question in questions} - {""})
    tasks = {key.partition(".")[0] for key in kinds}
    notes = f"{len(tasks)} of {len(TASKS)} tasks; domains: {', '.join(domains) or 'not named'}."
    if recorded:
        notes += f" {sum(map(len, recorded.values()))} recorded answers."
    if shared:
        prompts = shared[SHARED].items()
        forms = "; ".join(
            f"{form}: {', '.join(task for task in TASKS if task in prompts_of_form)}"
            for form, prompts_of_form in prompts
        )
        notes += f" Published prompt ({forms})."
    return TaskFile(
        shared=shared,
        tasks=[(task_of(question, recorded), ()) for question in questions],
        checksum=checksum,
        source=source,
        notes=notes[:2000],
        summary=f". {notes}",
        details=tuple(f"{KINDS[key].title}: {kinds[key]}" for key in KINDS if key in kinds),
    )


def key_of(question: PlanningQuestion) -> str:
    """Return what a question is found by; ids are their own within a task alone."""
    return f"{question.task}:{question.question_id}"


def task_of(
    question: PlanningQuestion, recorded: Mapping[str, Sequence[Json]] | None = None
) -> Task:
    """Return a question as a task: what it asks, and what only the validator knows of it.

    The id is text, because it is beyond what JavaScript and some stores take for a whole number.
    """
    key = key_of(question)
    payload = {
        **{name: getattr(question, name) for name in _FIELDS},
        "question_id": str(question.question_id),
        "domain": question.domain or "unknown",
    }
    if question.choices:
        payload["choices"] = [list(choice) for choice in question.choices]
    if answers := (recorded or {}).get(key):
        payload["recordings"] = list(answers)
    name = f"{question.task}:{payload['domain']}:{question.question_id}"
    return Task(name, question.question, KINDS[question.task].title, payload)


def question_of(task: Task) -> PlanningQuestion:
    """Return the question behind a task."""
    payload = task.payload
    return PlanningQuestion(
        question_id=int(payload["question_id"]),
        choices=tuple((letter, text) for letter, text in payload.get("choices", ())),
        **{name: payload[name] for name in _FIELDS},
    )


def row_of(question: PlanningQuestion) -> dict[str, Any]:
    """Return a question in the published form."""
    return {
        "id": question.question_id,
        "group": question.group,
        "context": question.context,
        "question": question.question,
        "answer": question.answer,
        "PDDL_domain": question.pddl_domain,
        "PDDL_problem": question.pddl_problem,
    }


def _check_pddl(questions: Iterable[PlanningQuestion], problems: Problems) -> None:
    """Note what is wrong with the PDDL of questions; texts that they share are read once."""
    seen: dict[str, str] = {}
    for question in questions:
        if is_choice(question.task):
            continue
        for text, problem in (("PDDL_domain", ""), ("PDDL_problem", question.pddl_problem)):
            mark = digest_text(f"{question.pddl_domain}\x1f{problem}")
            if mark not in seen:
                seen[mark] = _pddl_fault(question.pddl_domain, problem)
            if seen[mark]:
                where = f"{question.task}, id {question.question_id}, {text}"
                problems.add(where, "PDDL that can be read", Unquoted(seen[mark]))
                break


def _pddl_fault(domain: str, problem: str = "") -> str:
    """Return what is wrong with a domain, or with a problem of it; empty where nothing is."""
    try:
        read_instance(domain, problem) if problem else read_domain(domain)
    except PddlError as error:
        return str(error)
    return ""


def _read_answers(
    path: Path, known: set[str], recorded: dict[str, list[Json]], problems: Problems
) -> None:
    """Return recorded answers, a JSON object a line: task, question_id, response_text, model."""
    for number, line in File(path).lines():
        row = read_line(path.name, number, line, problems)
        if row is None:
            continue
        place = f"{path.name}, line {number}"
        if not isinstance(row, dict):
            problems.add(place, "a JSON object", row)
            continue
        text, model = row.get("response_text"), row.get("model") or ""
        key = f"{row.get('task')}:{row.get('question_id')}"
        if key not in known:
            problems.add(f"{place}, task and question_id", "a question of these files", key)
        elif not isinstance(text, str) or len(text) > LONGEST_RESPONSE:
            problems.add(f"{place}, response_text", "a text of at most 1 MB", text)
        elif not isinstance(model, str) or len(model) > LONGEST_MODEL:
            problems.add(f"{place}, model", f"at most {LONGEST_MODEL} characters", model)
        else:
            recorded.setdefault(key, []).append({"model": model, "text": storable(text)})


def recognises(paths: Sequence[Path]) -> bool:
    """Return whether files may be questions of ACPBench Hard, by their names or beginnings."""
    files = [path for path in paths if not is_answers(path) and not is_task_file(path)]
    return bool(files) and all(map(_holds_questions, files))


def _holds_questions(path: Path) -> bool:
    if path.name.lower().endswith(PUBLISHED_NAMES):
        return True
    if path.is_dir():
        files = (each for each in sorted(path.rglob("*.json*")) if each.is_file())
        return any(map(_holds_questions, islice(files, FILES_LOOKED_AT)))
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opened(path, "rb") as file:
            beginning = file.read(BEGINNING)
    except (OSError, EOFError, zlib.error):
        return False  # the reader says what is wrong with it, where the format is named
    return beginning.lstrip().startswith(b"[")


IMPORTER = Importer(
    (
        TaskFormat(
            "published",
            "Questions",
            "JSON files of questions, such as app/dev.gen.json or app.dev.gen.json.gz, or a folder "
            "with them; recorded answers as .jsonl may come along, and the repository's task files "
            "of configs/tasks (.yaml) for the published prompt",
            "ACPBench Hard",
            read_files,
            recognises,
            (
                ImportOption(
                    FORMS_OPTION,
                    GENERATIVE,
                    f"forms of questions that are taken from folders: {GENERATIVE} always, "
                    f"{BOOL} (yes or no), {MCQ} (multiple choice)",
                ),
            ),
            uploads=40,
            accept=".json,.jsonl,.gz,.yaml",
        ),
    )
)
