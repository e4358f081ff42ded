"""The published prompt: read from task files, shown as the harness joins it, refused without."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.core.errors import SettingError
from benchmarks.core.problems import FileRefused
from benchmarks.core.system import read_settings
from benchmarks.core.types import Task
from benchmarks.datasets.files import import_dataset
from benchmarks.models import Agent
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.services import start_runs
from benchmarks.systems.acpbench_hard.dataset import IMPORTER, row_of
from benchmarks.systems.acpbench_hard.prompts.task_files import SHARED
from benchmarks.systems.acpbench_hard.system import SYSTEM
from benchmarks.systems.acpbench_hard.tasks import TASKS
from tests.benchmarks.systems.acpbench_hard.test_episode import FIRST, play

COMMON = """tag:
  - some_tag
output_type: generate_until
num_fewshot: 2
doc_to_target: "{{answer}}"
process_results: !function utils.process
generation_kwargs:
  until:
    - "\\n\\n\\n"
    - "STOP:"
  do_sample: false
  max_gen_toks: 900
  temperature: 0.0
"""
FILES = {"areach": "act_reach", "nexta": "next_act"}
TASK_FILE = """task: acp_%(task)s_gen
include: _gen_yaml_2shot
fewshot_config:
  sampler: first_n
  samples:
  - context: "A lamp hangs in a hall.\\nIt is dark."
    question: "What of %(task)s?"
    answer: "(light lamp)"
  - context: "A kite lies in a field."
    question: "And what of %(task)s?"
    answer: "None"
doc_to_text: "{{context}} {{ question }} Reply in the form for %(task)s."
"""


def checkout(folder: Path) -> Path:
    """A checkout of a repository in the published form, with words of our own."""
    configs = folder / "configs" / "tasks" / "acp_gen_chat"
    configs.mkdir(parents=True)
    (configs / "_gen_yaml_2shot").write_text(COMMON)
    for task, question in FIRST.items():
        (configs / f"{FILES.get(task, task)}.yaml").write_text(TASK_FILE % {"task": task})
        data = folder / "dataset" / task
        data.mkdir(parents=True)
        (data / "dev.gen.json").write_text(json.dumps([row_of(question)]))
        (data / "dev.bool.json").write_text("[]")
    other = folder / "configs" / "tasks" / "boolq_cot_2shot"
    other.mkdir()
    (other / "prog.yaml").write_text("task: acp_prog_bool\nfewshot_config: {samples: []}\n")
    (folder / "static").mkdir()
    (folder / "static" / "app_example.gen.json").write_text("{}")
    (folder / ".github.yaml").write_text("a: *nothing\n")
    return folder


def read(*paths: Path):
    return IMPORTER.find_format(paths).read_files(paths, {})


def tasks_of(folder: Path) -> dict[str, Task]:
    file = read(folder)
    return {task.payload["task"]: replace(task, shared=file.shared) for task, _ in file.tasks}


def first_ask(task: Task, **settings):
    complete = read_settings(SYSTEM.settings, {"prompt": "paper", **settings})
    (ask,) = next(SYSTEM.episode(task, complete, random.Random(1)))
    return ask


def test_every_task_is_asked_in_the_published_words(tmp_path):
    tasks = tasks_of(checkout(tmp_path))
    assert tasks.keys() == TASKS.keys()
    for kind, task in tasks.items():
        item = task.payload
        (message,) = first_ask(task).messages
        assert (message.speaker, message.text) == (
            "user",
            f"A lamp hangs in a hall.\nIt is dark. What of {kind}? Reply in the form for {kind}. "
            "(light lamp)\n\n"
            f"A kite lies in a field. And what of {kind}? Reply in the form for {kind}. None\n\n"
            f"{item['context']} {item['question']} Reply in the form for {kind}.",
        )
        (alone,) = first_ask(task, shots=0).messages
        assert message.text.endswith(alone.text) and "lamp" not in alone.text
    assert tasks["app"].shared[SHARED]["nl"]["app"]["decoding"] == {
        "temperature": 0.0, "do_sample": False, "max_gen_toks": 900,
    }  # fmt: skip


def test_a_reply_is_read_up_to_a_stop_of_the_configuration(tmp_path):
    task = tasks_of(checkout(tmp_path))["val"]
    right = task.payload["answer"]
    read_whole, _ = play("val", f"STOP: {right + 1}\n\n\n\nThe answer is {right}")
    assert read_whole.termination != "unparsed"

    outcome, _ = play(
        "val", f"{right}\n\n\nSTOP: The answer is {right + 1}", own=task, prompt="paper"
    )

    assert outcome.termination == "right"
    assert "published configuration stops" in outcome.payload["reasons"][-1]


def test_files_may_come_one_by_one_and_for_each_form_of_the_context(tmp_path):
    folder = checkout(tmp_path)
    configs = folder / "configs" / "tasks" / "acp_gen_chat"
    pddl = configs / "with_pddl.yaml"
    text = (TASK_FILE % {"task": "app"}).replace("acp_app_gen", "acp_app_gen_with_pddl")
    text = text.replace('answer: "', 'PDDL_domain: "(d)"\n    answer: "')
    pddl.write_text(text.replace("{{context}}", "{{PDDL_domain}} {{context}}"))
    data = folder / "dataset" / "app" / "dev.gen.json"

    file = read(data, configs / "app.yaml", pddl, configs / "_gen_yaml_2shot")

    assert {form: list(found) for form, found in file.shared[SHARED].items()} == {
        "nl": ["app"], "nl+pddl": ["app"],
    }  # fmt: skip
    assert file.checksum != read(data).checksum and read(data).shared is None
    ((task, _),) = file.tasks
    (message,) = first_ask(replace(task, shared=file.shared), context="nl+pddl").messages
    assert message.text.startswith("(d) A lamp")
    assert f"\n\n{task.payload['pddl_domain']} {task.payload['context']} " in message.text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{{context}}", "{{context|upper}}", "doc_to_text"),
        ("{{context}}", "{{context}} {{answer}}", "doc_to_text"),
        ("{{context}}", "{% if context %}", "doc_to_text"),
        ("_gen_yaml_2shot", "../../secret", "include: expected the file ../../secret beside it"),
        ('    answer: "None"\n', "", "sample 2, answer"),
        ("samples:", "others:", "a list of samples"),
        ("task: acp_val_gen", "task: acp_riddle_gen", "none of val"),
        ("task: acp_val_gen", "task: acp_app_gen", "one prompt for app"),
        ("sampler: first_n", "sampler: *first", "val.yaml, line"),
    ],
)
def test_what_is_wrong_with_a_task_file_is_said(tmp_path, old, new, message):
    path = checkout(tmp_path) / "configs" / "tasks" / "acp_gen_chat" / "val.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(FileRefused, match=message.replace("../..", r"\.\./\.\.")):
        read(tmp_path)


def test_a_file_that_all_include_is_one_fault_where_it_cannot_be_read(tmp_path):
    configs = checkout(tmp_path) / "configs" / "tasks" / "acp_gen_chat"
    (configs / "_gen_yaml_2shot").write_text(COMMON.replace("until:", "until: ["))
    with pytest.raises(FileRefused) as refused:
        read(tmp_path)

    (problem,) = refused.value.problems
    assert problem.where.startswith("_gen_yaml_2shot, line ")


@pytest.mark.django_db
def test_a_run_needs_the_files_and_says_so(tmp_path):
    folder = checkout(tmp_path)
    with_files = import_dataset(system="acpbench_hard", paths=[folder], name="A").saved.dataset
    without = import_dataset(
        system="acpbench_hard", paths=[folder / "dataset"], name="B"
    ).saved.dataset
    ensure_scripted_agents()
    agents = [Agent.objects.get(name="acp-perfect")]

    with pytest.raises(SettingError, match="configs/tasks"):
        start_runs(dataset=without, agents=agents, settings={"prompt": "paper"})
    with pytest.raises(SettingError, match=r"context pddl \(imported: nl\)"):
        start_runs(
            dataset=with_files, agents=agents, settings={"prompt": "paper", "context": "pddl"}
        )
    (run,) = start_runs(dataset=with_files, agents=agents, settings={"prompt": "paper"})

    assert run.condition == "prompt=paper"
