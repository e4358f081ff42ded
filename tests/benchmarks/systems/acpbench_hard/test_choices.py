"""Questions whose possible answers are given: imported, asked, read, scored, and shown by form."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.template.loader import render_to_string

from benchmarks.core.answerers import Answer
from benchmarks.core.errors import SettingError
from benchmarks.core.ports.people import FieldsRefused
from benchmarks.core.problems import FileRefused
from benchmarks.core.types import Task
from benchmarks.systems.acpbench_hard import people
from benchmarks.systems.acpbench_hard.corrected_reading import read_choice
from benchmarks.systems.acpbench_hard.dataset import IMPORTER, question_of, row_of
from benchmarks.systems.acpbench_hard.prompts.task_files import SHARED
from benchmarks.systems.acpbench_hard.scoring.choices import NO_REFERENCE
from benchmarks.systems.acpbench_hard.scripted import POLICIES
from benchmarks.systems.acpbench_hard.system import SYSTEM
from benchmarks.systems.acpbench_hard.tasks import BY_GROUP, KINDS
from benchmarks.systems.acpbench_hard.validity import everything
from tests.benchmarks.systems.acpbench_hard.test_episode import FIRST, play
from tests.benchmarks.systems.acpbench_hard.test_paper_prompt import TASK_FILE, first_ask

YES_NO, LETTERS = ("yes", "no"), ("A", "B", "C", "D")
TEXTS = ["open the gate", "shut the gate", "paint the gate", "climb the gate"]


def bool_row(group: str = "applicable_actions_bool", **changed: Any) -> dict[str, Any]:
    return {
        "id": -(2**62), "group": group, "context": "A gate is shut.",
        "question": "Can this be performed: open the gate?", "answer": "yes", **changed,
    }  # fmt: skip


def mcq_row(group: str = "applicable_actions_mc", **changed: Any) -> dict[str, Any]:
    listed = " ".join(f"{letter}. {text}." for letter, text in zip(LETTERS, TEXTS, strict=True))
    return {
        "id": 7, "group": group, "context": "A gate is open.",
        "question": f"Which of these can be performed? {listed}", "query": "Which can?",
        "choices": {"text": TEXTS, "label": list(LETTERS)}, "answer": "B", **changed,
    }  # fmt: skip


def repository(folder: Path) -> Path:
    """Files of all three forms of one task, as the benchmark's repository has them."""
    data = folder / "dataset" / "app"
    data.mkdir(parents=True)
    (data / "dev.gen.json").write_text(json.dumps([row_of(FIRST["app"])]))
    (data / "dev.bool.json").write_text(json.dumps([bool_row(), bool_row(id=3, answer="no")]))
    (data / "dev.mcq.json").write_text(json.dumps([mcq_row()]))
    return folder


def read(*paths: Path, **options: Any):
    return IMPORTER.find_format(paths).read_files(paths, options)


def tasks_of(*paths: Path, **options: Any) -> dict[str, Task]:
    file = read(*paths, **options)
    shared = file.shared or {}
    return {task.payload["task"]: replace(task, shared=shared) for task, _ in file.tasks}


def test_forms_are_taken_where_they_are_wanted(tmp_path):
    folder = repository(tmp_path)
    data = folder / "dataset" / "app"

    assert set(tasks_of(folder)) == {"app"}
    assert set(tasks_of(folder, forms="bool")) == {"app", "app.bool"}
    assert set(tasks_of(folder, forms="bool,mcq")) == {"app", "app.bool", "app.mcq"}
    alone = read(data / "dev.bool.json", data / "dev.mcq.json")
    ids = [task.id for task, _ in alone.tasks]
    assert ids == [f"app.bool:unknown:{-(2**62)}", "app.bool:unknown:3", "app.mcq:unknown:7"]
    assert [task.category for task, _ in alone.tasks][1:] == [
        "Applicability, yes or no", "Applicability, multiple choice",
    ]  # fmt: skip
    (_, _, (task, _)) = alone.tasks
    assert question_of(task).choices == tuple(zip(LETTERS, TEXTS, strict=True))
    with pytest.raises(SettingError, match="gen, bool and mcq"):
        read(folder, forms="essay")


def test_seven_tasks_have_two_further_forms_each():
    assert len(KINDS) == 8 + 2 * 7 and "nexta.bool" not in KINDS
    assert BY_GROUP["validation_mcq"] == "val.mcq" == BY_GROUP["validation_mc"]
    assert BY_GROUP["reachable_atom_bool"] == "reach.bool"
    assert list(KINDS)[:3] == ["app", "app.bool", "app.mcq"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (bool_row(answer="perhaps"), "answer: expected one of yes, no"),
        (bool_row(answer=None), "answer: expected one of yes, no"),
        (bool_row("riddle_bool"), "group: expected one of"),
        (bool_row("goal_closer_bool"), "group: expected one of"),
        (mcq_row(answer="E"), "answer: expected one of A, B, C, D"),
        (mcq_row(choices=None), "choices: expected fields such as text, label"),
        (mcq_row(choices={"text": TEXTS, "label": ["A"]}), "choices: expected a text for each"),
        (
            mcq_row(choices={"text": TEXTS, "label": [*"ABC.*"][:4]}),
            "choices.label[3]: expected a letter",
        ),
    ],
)
def test_what_is_wrong_with_a_question_is_said(tmp_path, row, message):
    path = tmp_path / "dev.bool.json"
    path.write_text(json.dumps([row]))
    with pytest.raises(FileRefused) as refused:
        read(path)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("response", "options", "expected"),
    [
        ("Yes", YES_NO, "yes"),
        ("**No.**", YES_NO, "no"),
        ("no, because the gate is shut. Yes, it is.", YES_NO, "no"),
        ("Step 1: there is no gate. **Final Answer**: Yes.", YES_NO, "yes"),
        ("No gate is open. The answer is yes", YES_NO, "yes"),
        ("The answer is no. Wait. The answer is yes.", YES_NO, "yes"),
        ("The gate is shut; nothing else is needed.\nYes", YES_NO, "yes"),
        ("There is no reason to think so", YES_NO, None),
        ("I cannot know", YES_NO, None),
        ("B", LETTERS, "B"),
        ("(c)", LETTERS, "C"),
        ("D. climb the gate", LETTERS, "D"),
        ("A robot opens it, so the answer is C.", LETTERS, "C"),
        ("A. is wrong, B. is wrong. **Final Answer**: D.", LETTERS, "D"),
        ("A gate must be open.\n\nThe answer is b", LETTERS, "B"),
        (r"A fails; $\boxed{C}$", LETTERS, "C"),
        ("A gate is a thing", LETTERS, None),
        ("The answer is a gate that opens", LETTERS, None),
    ],
)
def test_the_option_is_read_wherever_it_is_given(response, options, expected):
    assert read_choice(response, options) == expected


def test_long_replies_are_read_at_once():
    for part in ("answer is ", "a ", "A", "(", "* ", "no ", "answer: the ", "\n"):
        for options in (YES_NO, LETTERS):
            read_choice(part * (200_000 // len(part)), options)


@pytest.mark.parametrize(
    ("kind", "reply", "ending"),
    [
        ("app.bool", "The answer is no", "right"),
        ("app.bool", "Yes.", "wrong_value"),
        ("app.bool", "Who knows", "unparsed"),
        ("app.mcq", "B. shut the gate", "right"),
        ("app.mcq", "C", "wrong_value"),
    ],
)
def test_the_stored_option_is_right_and_there_is_no_reference_score(tmp_path, kind, reply, ending):
    task = tasks_of(repository(tmp_path), forms="bool,mcq")[kind]

    outcome, _ = play("app", reply, own=task)

    assert outcome.termination == ending
    assert outcome.metrics["accurate"] == outcome.metrics["corrected"] == (ending == "right")
    assert outcome.metrics["reference"] is outcome.metrics["app"] is None
    assert outcome.undefined["reference"] == outcome.undefined["differs"] == NO_REFERENCE
    assert outcome.payload["groups"]["task"] == kind


def test_every_agent_answers_in_the_form_of_the_question(tmp_path):
    for task in tasks_of(repository(tmp_path), forms="bool,mcq").values():
        options = question_of(task).options
        for name, policy in POLICIES.items():
            if policy.role == "agent" and policy.label == "scripted" and options:
                agent = policy.build(task, policy.parameters)
                text = agent.answer(first_ask(task, prompt="own"), 1)
                assert isinstance(text, Answer) and read_choice(text.text, options), (name, text)
        if options:
            assert everything(task, ()).answer(first_ask(task, prompt="own"), 1).text == " ".join(
                options
            )


def test_the_question_is_asked_alone_or_in_the_published_prompt(tmp_path):
    folder = repository(tmp_path)
    configs = folder / "configs" / "tasks"
    configs.mkdir(parents=True)
    text = TASK_FILE.replace("include: _gen_yaml_2shot\n", "") % {"task": "app"}
    (configs / "app.yaml").write_text(text)
    (configs / "b.yaml").write_text(text.replace("acp_app_gen", "acp_app_bool"))
    (configs / "m.yaml").write_text("task: acp_app_mcq_cot_2shot\nfewshot_config: {samples: []}\n")
    tasks = tasks_of(folder, forms="bool,mcq")

    brief, question = first_ask(tasks["app.mcq"], prompt="own").messages
    assert "letter" in brief.text and question.text.endswith("D. climb the gate.")
    assert "pddl_domain" not in first_ask(tasks["app.mcq"], prompt="own", context="pddl").context
    (message,) = first_ask(tasks["app.bool"]).messages
    assert "What of app?" in message.text and "open the gate? Reply" in message.text
    assert set(tasks["app"].shared[SHARED]) == {"nl", "bool"}
    with pytest.raises(SettingError, match="mcq questions"):
        SYSTEM.check_settings({"prompt": "paper", "context": "nl"}, tasks["app"].shared)


def test_people_choose_among_the_options(tmp_path):
    tasks = tasks_of(repository(tmp_path), forms="bool,mcq")
    context = first_ask(tasks["app.mcq"], prompt="own").context
    page = people.show(context, {}, {})

    assert [value for value, _ in page.fields[0].options] == list(LETTERS)
    assert page.fields[0].options[1] == ("B", "B. shut the gate") and not page.picks
    ask = SimpleNamespace(row=SimpleNamespace(pk=1))
    html = render_to_string(
        "systems/acpbench_hard/_reply_answer.html", {"page": page, "ask": ask, "action": "/"}
    )
    assert html.count("<option") == 5 and "data-term-picker" not in html
    assert people.compose(context, {"answer": "B"}) == "B"
    with pytest.raises(FieldsRefused):
        people.compose(context, {"answer": "(open gate)"})
    yes_no = first_ask(tasks["app.bool"], prompt="own").context
    assert people.show(yes_no, {}, {}).fields[0].options == [("yes", "Yes"), ("no", "No")]
    assert people.hints(yes_no, "yes") == []
