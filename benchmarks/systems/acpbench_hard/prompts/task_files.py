"""The published prompt: wording, shots and stops from task files of the LM Evaluation Harness.

The benchmark's repository holds one file for each task in ``configs/tasks``, with what all of them
share in a file that they include. They are imported beside the questions and kept as what all tasks
of a dataset share; nothing of their wording is part of this product. Which description of domain
and state a file is for follows from the fields that its template names.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.core.errors import SettingError
from benchmarks.core.problems import FileRefused, Problem, Problems, Unquoted, text_fault
from benchmarks.core.types import Json
from benchmarks.core.yaml_files import LONGEST, read_yaml
from benchmarks.systems.acpbench_hard.settings import BOTH, MOST_SHOTS, NL, PAPER, PDDL
from benchmarks.systems.acpbench_hard.tasks import TASKS

# Under this name datasets hold the published prompt, by form of the context and task.
SHARED = "published_prompt"
# And under this one the forms of their questions: ``gen``, ``bool``, ``mcq``.
FORMS, GENERATIVE = "question_forms", "gen"
MOST_FILES, MOST_STOPS = 200, 20
# How the harness joins the parts of a prompt where a file does not say otherwise.
BETWEEN, BEFORE_ANSWER = "\n\n", " "
DECODING = ("temperature", "do_sample", "max_gen_toks")
_TASK = re.compile(r"acp_([a-z]+)_(gen|bool|mcq)(?:_\w+)?")
_FIELD = re.compile(r"\{\{\s*(\w+)\s*\}\}")
# A task file may name Python functions of the harness, none of which is needed here.
_FUNCTION = re.compile(r"!function\s+")
_FIELDS = {"context", "question", "PDDL_domain", "PDDL_problem"}
_STATED = ("context", "question", "answer")


def is_task_file(path: Path) -> bool:
    """Return whether a file's name says that it holds prompts."""
    return path.suffix.lower() in (".yaml", ".yml") or path.name.endswith(("_yaml", "shot"))


def find_task_files(folder: Path) -> list[Path]:
    """Return the files in a folder, at any depth, whose names say that they hold prompts."""
    files = (path for path in folder.rglob("*") if is_task_file(path) and path.is_file())
    return sorted(files)[:MOST_FILES]


def read_task_files(paths: Sequence[Path]) -> Json:
    """Return the published prompt by form and task; empty where no file has one.

    The form is that of the context, or ``bool`` or ``mcq`` where the possible answers are given.
    Files about something else are passed over. ``FileRefused`` names the first faults of others.
    """
    problems = Problems()
    texts = {path: read for path in paths if (read := _read(path, problems)) is not None}
    # A file that could not be read is missing for those that include it: one fault, named once.
    problems.check()
    prompts: dict[str, dict[str, Json]] = {}
    for path, own in texts.items():
        key = _TASK.fullmatch(str(own.get("task", "")))
        if key is None or key[1] not in TASKS or "fewshot_config" not in own:
            continue
        base = own.get("include")
        try:
            shared = _included(path, str(base), texts) if base else {}
            form, prompt = _prompt(path.name, {**shared, **own})
        except FileRefused as refused:
            # The repository's files for given answers are not complete.
            if key[2] == GENERATIVE:
                problems.extend(refused)
            continue
        form = form if key[2] == GENERATIVE else key[2]
        if prompts.setdefault(form, {}).setdefault(key[1], prompt) != prompt:
            problems.add(path.name, f"one prompt for {key[1]}", Unquoted("another one"))
    problems.check()
    return prompts


def _read(path: Path, problems: Problems) -> Mapping[str, Any] | None:
    """Return the content of a file that may be a task file, else None."""
    with path.open("rb") as file:
        raw = file.read(4 * LONGEST)
    text = raw.decode("utf-8", errors="replace")
    if not any(name in text for name in ("fewshot_config", "generation_kwargs")):
        return None
    try:
        value = read_yaml(_FUNCTION.sub("", text)).value
    except FileRefused as refused:
        for one in refused.problems:
            problems.add(f"{path.name}, {one.where}", one.expected, Unquoted(one.found))
        return None
    return value if isinstance(value, dict) else None


def _included(path: Path, name: str, texts: Mapping[Path, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the file that another one includes: beside it, else the only one of that name."""
    beside = texts.get(path.parent / name)
    if beside is not None:
        return beside
    named = [text for other, text in texts.items() if other.name == name]
    if len(named) != 1:
        raise FileRefused([Problem(f"{path.name}, include", f"the file {name} beside it", "none")])
    return named[0]


def _prompt(name: str, whole: Mapping[str, Any]) -> tuple[str, Json]:
    """Return a prompt with the form of the context that its template shows."""
    problems = Problems()
    text, config = whole.get("doc_to_text"), whole.get("fewshot_config")
    samples = config.get("samples") if isinstance(config, dict) else None
    fields = set(_FIELD.findall(text)) if isinstance(text, str) else set()
    plain = isinstance(text, str) and not re.search(r"\{[{%]", _FIELD.sub("", text))
    if not plain or "question" not in fields or not fields <= _FIELDS:
        problems.add(
            f"{name}, doc_to_text",
            "a text with {{question}} and, of other fields, only " + ", ".join(sorted(_FIELDS)),
            text,
        )
    if not isinstance(samples, list) or not samples:
        problems.add(f"{name}, fewshot_config", "a list of samples", samples)
        samples = []
    shots = []
    for place, sample in enumerate(samples[:MOST_SHOTS]):
        given = sample if isinstance(sample, dict) else {}
        for field in sorted({*_STATED, *fields}):
            if expected := text_fault(given.get(field), LONGEST):
                problems.add(f"{name}, sample {place + 1}, {field}", expected, given.get(field))
        shots.append({field: given.get(field) for field in sorted({*_STATED, *fields})})
    decoding = whole.get("generation_kwargs")
    decoding = decoding if isinstance(decoding, dict) else {}
    stops = decoding.get("until", [])
    if not isinstance(stops, list) or not all(isinstance(one, str) and one for one in stops):
        problems.add(f"{name}, until", "a list of texts", stops)
        stops = []
    problems.check()
    shown = ("context" in fields, bool(fields & {"PDDL_domain", "PDDL_problem"}))
    form = {(True, True): BOTH, (False, True): PDDL}.get(shown, NL)
    return form, {
        "file": name,
        "text": text,
        "description": str(whole.get("description", "")),
        "between": str(whole.get("fewshot_delimiter", BETWEEN)),
        "before_answer": str(whole.get("target_delimiter", BEFORE_ANSWER)),
        "shots": shots,
        "until": stops[:MOST_STOPS],
        "decoding": {key: decoding[key] for key in DECODING if key in decoding},
    }


def check_published_prompt(settings: Mapping[str, Any], shared: Json) -> None:
    """Raise ``SettingError`` where the published prompt is wanted but was not imported."""
    if settings["prompt"] != PAPER:
        return
    known = shared.get(SHARED, {})
    for form in shared.get(FORMS, [GENERATIVE]):
        wanted = settings["context"] if form == GENERATIVE else form
        if wanted not in known:
            what = f"the context {wanted}" if form == GENERATIVE else f"{form} questions"
            raise SettingError(
                "prompt",
                f"a dataset that was imported with the task files of configs/tasks for {what} "
                f"(imported: {', '.join(known) or 'none'})",
                PAPER,
            )


def prompt_of(shared: Json, context: str, kind: str) -> Json:
    """Return the published prompt of a kind of question; ``SettingError`` where there is none."""
    task, _, form = kind.partition(".")
    stored = shared.get(SHARED, {}).get(form or context, {}).get(task)
    if stored is None:
        raise SettingError("prompt", f"a task file of {kind} in the dataset", PAPER)
    prompt: Json = stored
    return prompt


def fill_prompt(prompt: Json, item: Mapping[str, Any], shots: int) -> str:
    """Return the whole text of a prompt, as the harness joins it: description, shots, question."""
    parts = [
        f"{_fill(prompt['text'], shot)}{prompt['before_answer']}{shot['answer']}{prompt['between']}"
        for shot in prompt["shots"][:shots]
    ]
    fields = {**item, "PDDL_domain": item["pddl_domain"], "PDDL_problem": item["pddl_problem"]}
    return "".join([prompt["description"], *parts, _fill(prompt["text"], fields)])


def _fill(template: str, fields: Mapping[str, Any]) -> str:
    return _FIELD.sub(lambda field: str(fields[field[1]]), template)


def cut_at_stop(text: str, stops: Iterable[str]) -> tuple[str, str]:
    """Return a reply up to the first stop of the published decoding, and that stop, if any."""
    places = [(place, stop) for stop in stops if (place := text.find(stop)) >= 0]
    if not places:
        return text, ""
    place, stop = min(places)
    return text[:place], stop
