"""Files: imports of both naming schemes, faults with their places, and the command that writes."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from benchmarks.core.problems import FileRefused
from benchmarks.models import Agent, Dataset
from benchmarks.roles.cautions import run_caution
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.services import start_runs
from benchmarks.systems.acpbench_hard.dataset import IMPORTER, question_of, row_of, task_of
from benchmarks.systems.acpbench_hard.generation import build_examples
from benchmarks.systems.acpbench_hard.generation.space import StateSpace, TooLarge
from benchmarks.systems.acpbench_hard.generation.text import TextError, read_templates
from benchmarks.systems.acpbench_hard.pddl.domain import read_domain
from benchmarks.systems.acpbench_hard.pddl.instance import read_instance
from benchmarks.systems.acpbench_hard.prompts import load_examples
from benchmarks.systems.acpbench_hard.samples import WORLDS, sample_questions
from benchmarks.systems.acpbench_hard.tasks import TASKS
from tests.benchmarks.systems.acpbench_hard.domains import Texts, port, tunnel, yard
from tests.shared_data import shared_data

GARDEN = WORLDS / "garden"
FIRST = {question.task: question for question in reversed(sample_questions())}


def rows() -> list[dict[str, Any]]:
    return [row_of(question) for question in FIRST.values()]


def read(*paths: Path) -> Any:
    return IMPORTER.find_format(paths).read_files(paths, {})


def faults(*paths: Path) -> str:
    with pytest.raises(FileRefused) as refused:
        read(*paths)
    return str(refused.value)


def test_a_question_comes_back_from_its_task():
    for question in FIRST.values():
        assert question_of(task_of(question)) == question
        assert json.loads(json.dumps(dict(task_of(question).payload)))


def test_both_naming_schemes_and_gzip(tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "dev.gen.json").write_text(json.dumps([row_of(FIRST["app"])]))
    packed = gzip.compress(json.dumps([row_of(FIRST["val"])]).encode())
    (tmp_path / "val.test.gen.json.gz").write_bytes(packed)
    found = {task.payload["task"]: task for task, _ in read(tmp_path).tasks}

    assert {kind: task.payload["split"] for kind, task in found.items()} == {
        "app": "dev",
        "val": "test",
    }
    assert found["app"].id == f"app:{FIRST['app'].domain}:{FIRST['app'].question_id}"


def test_faults_name_the_folder_of_files_with_one_name(tmp_path):
    for task in ("app", "val"):
        (tmp_path / task).mkdir()
        row = row_of(FIRST[task])
        if task == "val":
            del row["answer"]
        (tmp_path / task / "dev.gen.json").write_text(json.dumps([row]))

    assert faults(tmp_path).startswith("val/dev.gen.json, row 1, answer: expected")


def test_recorded_answers_come_along(tmp_path):
    questions, answers = tmp_path / "all.json", tmp_path / "answers.jsonl"
    questions.write_text(json.dumps(rows()))
    row = {"task": "val", "question_id": str(FIRST["val"].question_id), "response_text": "4"}
    answers.write_text(json.dumps({**row, "model": "m"}) + "\n\n" + json.dumps(row) + "\n")
    file = read(questions, answers)
    recorded = {task.payload["task"]: task.payload.get("recordings") for task, _ in file.tasks}

    assert recorded["val"] == [{"model": "m", "text": "4"}, {"model": "", "text": "4"}]
    assert recorded["app"] is None
    answers.write_text('{"task": "val", "question_id": 5, "response_text": "4"}\nno\n[]\n')
    said = faults(questions, answers)
    assert "line 1, task and question_id" in said
    assert "line 2" in said and "line 3: expected a JSON object" in said


def test_broken_questions_are_named_and_nothing_is_taken(tmp_path):
    path = tmp_path / "dev.json"
    broken = rows()
    broken[0]["answer"] = "x"
    broken[1]["group"] = "riddles"
    path.write_text(json.dumps(broken))
    said = faults(path)
    assert "answer" in said and "group" in said
    bad = rows()
    bad[0]["PDDL_domain"] = bad[0]["PDDL_domain"].replace("(:predicates", "(:predicates ((")
    bad[1]["PDDL_problem"] = bad[1]["PDDL_problem"].replace("(:init", "(:init (flies a)")
    path.write_text(json.dumps(bad))
    said = faults(path)
    assert "PDDL_domain: expected PDDL that can be read" in said
    assert "PDDL_problem: expected PDDL that can be read" in said


def test_only_the_first_twenty_faults_are_named(tmp_path):
    path = tmp_path / "dev.json"
    path.write_text(json.dumps([{"id": n} for n in range(50)]))
    assert "more" in faults(path).splitlines()[-1]


def test_the_published_questions():
    file = read(shared_data("acpbench", "dev"))
    kinds = [task.payload["task"] for task, _ in file.tasks]
    assert {kind: kinds.count(kind) for kind in TASKS} == dict.fromkeys(TASKS, 40)
    assert {task.payload["split"] for task, _ in file.tasks} == {"dev"}


@pytest.mark.django_db
@pytest.mark.either
def test_the_commands_make_and_import_questions(tmp_path):
    out, said = tmp_path / "questions.json", io.StringIO()
    problems = [str(GARDEN / "p1.pddl"), str(GARDEN / "p2.pddl")]
    call_command("generate_acpbench", str(GARDEN / "domain.pddl"), *problems, out=out, per_task=3,
                 seed=5, stdout=said)  # fmt: skip
    assert said.getvalue().startswith("24 questions")
    made = json.loads(out.read_text())
    assert {row["generated"]["seed"] for row in made} == {5}
    call_command("import_dataset", "acpbench_hard", str(out), name="Garden", stdout=io.StringIO())
    dataset = Dataset.objects.get(name="Garden")
    assert dataset.tasks.count() == 24
    assert set(dataset.tasks.values_list("category", flat=True)) == {
        t.title for t in TASKS.values()
    }


def test_the_command_says_what_is_wrong_and_writes_nothing(tmp_path):
    out = tmp_path / "questions.json"

    def refused(*problems: Path, domain: Path = GARDEN / "domain.pddl", **options: Any) -> str:
        with pytest.raises(CommandError) as error:
            call_command("generate_acpbench", str(domain), *map(str, problems), out=out, **options)
        assert not out.exists()
        return str(error.value)

    broken = tmp_path / "broken.pddl"
    broken.write_text("(define (problem p) (:domain garden) (:objects a - bird)")
    assert "broken.pddl: expected PDDL" in refused(broken)
    assert "nothing.pddl" in refused(tmp_path / "nothing.pddl")
    words = "no state along a plan has a wanted distance to the goal and at most 0 applicable"
    assert words in refused(GARDEN / "p1.pddl", max_applicable=0)
    assert "unknown task" in refused(GARDEN / "p1.pddl", task=["riddle"])
    unsolvable = tmp_path / "unsolvable.pddl"
    text = (
        (GARDEN / "p1.pddl")
        .read_text()
        .replace("(:goal (and", "(:goal (and (can-full) (can-empty)")
    )
    unsolvable.write_text(text)
    assert "no plan reaches its goal" in refused(unsolvable)


def test_problems_that_are_too_large_to_explore_are_searched(tmp_path):
    """What a search settles is asked; the rest is declined in words."""

    def generate(texts: Texts, **options: Any) -> str:
        (tmp_path / "d.pddl").write_text(texts.domain)
        (tmp_path / "p.pddl").write_text(texts.problem)
        said = io.StringIO()
        files = [str(tmp_path / f"{name}.pddl") for name in ("d", "p")]
        call_command(
            "generate_acpbench", *files, out=tmp_path / "made.json", stdout=said, **options
        )
        return said.getvalue()

    # About 6^7 states.
    assert generate(port(7, 6, 1), per_task=2, max_states=500).startswith("16 questions")
    made = json.loads((tmp_path / "made.json").read_text())
    assert all(row["generated"]["nodes"] == 5_000 for row in made)
    assert {row["group"] for row in made} == {task.group for task in TASKS.values()}
    said = generate(yard(4, 4, 3, 1), per_task=1, task=["nexta", "app"], nodes=3, max_states=9)
    assert "Applicability: 1\n" in said and "Next action: 0 of 1 wanted" in said
    assert "declined, the last because the length of a shortest plan was not decided within" in said
    with pytest.raises(CommandError, match="whether there is a plan was not decided within 20"):
        generate(tunnel(6, 8, 1), per_task=1, nodes=200, max_states=9)


def test_a_domain_without_templates_is_described_by_its_names(tmp_path):
    for name in ("domain", "p2"):
        (tmp_path / f"{name}.pddl").write_text((GARDEN / f"{name}.pddl").read_text())
    out = tmp_path / "questions.json"
    options = {"out": out, "per_task": 1, "task": ["nexta"], "min_distance": 3}
    files = [str(tmp_path / f"{name}.pddl") for name in ("domain", "p2")]
    call_command("generate_acpbench", *files, **options, stdout=io.StringIO())
    (row,) = json.loads(out.read_text())
    assert "“robot at” holds for" in row["context"]
    assert int(row["answer"]["opt"]) >= 3


@pytest.mark.parametrize("text", ["predicates: {flies: x}", "actions: {go: 'from {0} to {2}'}",
    "colours: {a: b}", "types: [a]", "predicates: {dry: {a: b}}"])  # fmt: skip
def test_templates_that_do_not_fit_are_refused(tmp_path, text):
    path = tmp_path / "text.yaml"
    path.write_text(text)
    with pytest.raises(TextError):
        read_templates(path, read_domain((GARDEN / "domain.pddl").read_text()))


def test_constants_alternatives_and_equality_are_grounded():
    domain = """(define (domain hop) (:requirements :strips :typing :equality)
      (:types stone - object) (:constants bank - stone)
      (:predicates (on ?s - stone) (wet ?s - stone) (dry ?s - stone))
      (:action hop :parameters (?a ?b - stone)
        :precondition (and (on ?a) (not (= ?a ?b)) (or (dry ?b) (= ?b bank)) (not (wet ?a)))
        :effect (and (on ?b) (not (on ?a)))))"""
    problem = """(define (problem p) (:domain hop) (:objects s t - stone)
      (:init (on s) (dry t) (wet bank)) (:goal (on bank)))"""
    space = StateSpace(read_instance(domain, problem))
    names = {" ".join(action) for moves in space.moves.values() for action in moves}
    assert names == {"hop s bank", "hop s t", "hop t bank"}
    assert space.distances[space.instance.init] == 1
    with pytest.raises(TooLarge):
        StateSpace(read_instance(domain, problem), most=2)


def test_the_worked_examples_are_those_that_would_be_written():
    assert build_examples.FILE.read_text(encoding="utf-8") == build_examples.text()
    assert {task: len(found) for task, found in load_examples().items()} == dict.fromkeys(TASKS, 2)
    shipped = {question.domain for question in sample_questions()}
    assert not any(name in example["pddl_domain"] for name in shipped
                   for found in load_examples().values() for example in found)  # fmt: skip


@pytest.mark.django_db
@pytest.mark.either
def test_a_validator_stands_in_for_nobody(tmp_path):
    """A person's answers are a person's, although a machine checks them; a script's are not."""
    path = tmp_path / "questions.json"
    path.write_text(json.dumps([row_of(FIRST["val"])]))
    call_command("import_dataset", "acpbench_hard", str(path), name="One", stdout=io.StringIO())
    ensure_scripted_agents()
    dataset = Dataset.objects.get(name="One")
    cautions = []
    for name in ("person", "acp-noisy"):
        (run,) = start_runs(dataset=dataset, agents=[Agent.objects.get(name=name)], wake=False)
        cautions.append(run_caution(run))
    assert cautions[0] is None
    assert cautions[1] is not None and cautions[1].title == "Scripted agent"
