"""ACPBench Hard as a generator: one question, one answer, one verdict."""

import random
from collections.abc import Mapping
from typing import Any

from benchmarks.core.system import PROMPTS
from benchmarks.core.types import Ask, Episode, Expect, Json, Message, Outcome, Reply, Task, Turn
from benchmarks.systems.acpbench_hard.labels import (
    DECLINED,
    GRANTED,
    LOST,
    NOT_VALIDATED,
    RIGHT,
    UNDECIDED,
)
from benchmarks.systems.acpbench_hard.metrics import outcome_metrics
from benchmarks.systems.acpbench_hard.pddl.instance import instance_of
from benchmarks.systems.acpbench_hard.prompts import (
    fill,
    load_choices,
    load_examples,
    load_forms,
)
from benchmarks.systems.acpbench_hard.prompts.task_files import cut_at_stop, fill_prompt, prompt_of
from benchmarks.systems.acpbench_hard.settings import NL, PAPER, PDDL
from benchmarks.systems.acpbench_hard.tasks import is_choice
from benchmarks.systems.acpbench_hard.verdicts import EMPTY

VALIDATOR = "validator"
STOPPED = "there the published configuration stops the model"
_PDDL_KEYS = ("pddl_domain", "pddl_problem")


def episode(task: Task, settings: Mapping[str, Any], rng: random.Random) -> Episode:
    """Play one trajectory. ``rng`` is not used: nothing here is left to chance."""
    groups = groups_of(task, settings)
    (reply,) = (yield [_agent(task, settings)]) or ()
    if not reply.readable:
        reason = "the agent gave no reply"
        return Outcome(
            DECLINED,
            *outcome_metrics(task.payload["task"], None, settings["counts"], reason),
            {"reason": reply.reason, "groups": groups},
        )
    answer, stop = reply.text, ""
    if settings.get("prompt") == PAPER:
        published = prompt_of(task.shared, settings["context"], task.payload["task"])
        answer, stop = cut_at_stop(reply.text, published["until"])
    (verdict,) = (yield [_validator(task, settings, answer)]) or ()
    verdicts = _validation(verdict)
    if stop:
        verdicts["reasons"] = [
            *verdicts["reasons"],
            f"The reply is read up to {stop!r}: {STOPPED}.",
        ]
    yield Turn(1, reply.text, "", verdicts)
    metrics, undefined = outcome_metrics(
        task.payload["task"], verdicts, settings["counts"], _why(verdicts), reply.text
    )
    termination = _termination(verdicts)
    payload = {
        "groups": groups,
        "failure_category": None if termination == RIGHT else termination,
        **{name: verdicts[name] for name in ("reasons", "quirks", "reference", "corrected")},
    }
    return Outcome(termination, metrics, undefined, payload)


def _termination(verdicts: Json) -> str:
    """Return how it ended: right, how the answer failed, or how the two scores differ."""
    reference, corrected = verdicts["reference"], verdicts["corrected"]
    if corrected == 1:
        return LOST if reference == 0 else RIGHT
    if corrected == 0 and reference == 1:
        return GRANTED
    return verdicts["failure"] or UNDECIDED


def _why(verdicts: Json) -> str:
    """Return why a score is undefined, or '' where it is defined."""
    if verdicts["failure"] == NOT_VALIDATED:
        return "the validator gave no verdict"
    return "the search gave up before the answer was known"


def _validation(reply: Reply) -> dict[str, Any]:
    """Return what the validator said, in full; without a verdict both scores are undefined."""
    if reply.readable:
        return dict(reply.value)
    return {**EMPTY, "reasons": [reply.reason or "the validator gave no verdict"]}


def groups_of(task: Task, settings: Mapping[str, Any]) -> dict[str, str]:
    """Return what a question is like, for figures by group."""
    payload = task.payload
    groups = {
        "task": payload["task"],
        "domain": payload["domain"],
        "context": settings["context"],
    }
    if payload["task"] == "nexta":
        groups["distance"] = str(payload["answer"]["opt"])
    return groups


# --- What is asked --------------------------------------------------------------------------------


def _agent(task: Task, settings: Mapping[str, Any]) -> Ask:
    """Return the question as the agent is shown it, after worked examples."""
    version = str(settings.get(PROMPTS, ""))
    kind, form = task.payload["task"], settings["context"]
    if settings.get("prompt") == PAPER:
        return _published_agent(task, form, settings["shots"])
    if is_choice(kind):
        return _choice_agent(task, version)
    forms = load_forms(version)
    brief = fill("agent", {"form": forms[kind].template.strip()}, version)
    messages = [Message("system", brief)]
    shots = load_examples(version)[kind][: settings["shots"]] if settings["shots"] else ()
    examples = [
        {"question": _question(shot, form, forms), "answer": shot["answer"]} for shot in shots
    ]
    for example in examples:
        messages.append(Message("user", example["question"]))
        messages.append(Message("assistant", example["answer"]))
    messages.append(Message("user", _question(task.payload, form, forms)))
    return Ask(
        "agent",
        tuple(messages),
        Expect("answer", {"task": kind}),
        context={**visible(task, form), "examples": examples},
    )


def _choice_agent(task: Task, version: str) -> Ask:
    """Return a question whose possible answers are given, after what the agent is told of them."""
    kind, payload = task.payload["task"], task.payload
    brief = load_choices(version)[kind.partition(".")[2]].template.strip()
    text = f"{payload['context'].strip()}\n\nQuestion: {payload['question'].strip()}"
    messages = (Message("system", brief), Message("user", text))
    return Ask("agent", messages, Expect("answer", {"task": kind}), context=visible(task, NL))


def _published_agent(task: Task, form: str, shots: int) -> Ask:
    """Return the question in the published prompt: one message, as the harness sends it."""
    kind = task.payload["task"]
    prompt = prompt_of(task.shared, form, kind)
    examples = [
        {"question": f"{shot['context']} {shot['question']}", "answer": shot["answer"]}
        for shot in prompt["shots"][:shots]
    ]
    return Ask(
        "agent",
        (Message("user", fill_prompt(prompt, task.payload, shots)),),
        Expect("answer", {"task": kind}),
        context={**visible(task, form), "examples": examples},
    )


def _question(item: Mapping[str, str], form: str, forms: Mapping[str, Any]) -> str:
    parts = []
    if form != PDDL:
        parts.append(item["context"].strip())
    if form != NL:
        parts.append(f"{forms['domain'].template}\n{item['pddl_domain'].strip()}")
        parts.append(f"{forms['problem'].template}\n{item['pddl_problem'].strip()}")
    return "\n\n".join([*parts, f"{forms['question'].template} {item['question'].strip()}"])


def visible(task: Task, form: str) -> dict[str, Any]:
    """Return the question in structured form: what the agent is shown, and the names it can use.

    The stored answer is no part of it. The names of actions, propositions and objects stand in the
    context as well; they are here so that a person's form can offer them.
    """
    payload = task.payload
    shown: dict[str, Any] = {
        "task": payload["task"],
        "form": form,
        "question": payload["question"],
        "names": _vocabulary_of(payload["pddl_domain"], payload["pddl_problem"]),
    }
    if is_choice(payload["task"]):
        return {**shown, "context": payload["context"], "choices": payload.get("choices", [])}
    if form != PDDL:
        shown["context"] = payload["context"]
    if form != NL:
        shown |= {name: payload[name] for name in _PDDL_KEYS}
    return shown


def _vocabulary_of(domain: str, problem: str) -> dict[str, Any]:
    """Return the names that an answer may use: actions, propositions that change, and objects.

    Actions and propositions come with how many objects they take.
    """
    if not domain:
        return {"actions": [], "propositions": [], "objects": []}
    instance = instance_of(domain, problem)
    known = instance.domain
    return {
        "actions": [
            {"name": action.name, "size": len(action.parameters)}
            for action in known.actions.values()
        ],
        "propositions": [
            {"name": name, "size": len(kinds)}
            for name, kinds in known.predicates.items()
            if name in known.fluents
        ],
        "objects": list(instance.objects),
    }


def _validator(task: Task, settings: Mapping[str, Any], answer: str) -> Ask:
    """Return the answer as the validator gets it; it knows the task, its stored answer included."""
    payload = task.payload
    text = "\n\n".join(
        [
            f"Is this answer right? Task: {payload['task']}, question {payload['question_id']}.",
            payload["context"].strip(),
            payload["question"].strip(),
            f"Answer:\n{answer}",
        ]
    )
    return Ask(
        VALIDATOR,
        (Message("user", text),),
        Expect("verdict", {"nodes": settings["nodes"]}),
        context={"answer": answer, "task": payload["task"], "question": payload["question"]},
    )
