"""PlanBench-XL as a generator: ask, act, observe, until an answer or a limit."""

import random
from collections.abc import Collection, Generator, Mapping, Sequence
from itertools import islice
from typing import Any

from benchmarks.core.types import Ask, Episode, Expect, Json, Message, Outcome, Reply, Task, Turn
from benchmarks.systems.planbench_xl.environment.actions import FUNCTIONS, AgentAction
from benchmarks.systems.planbench_xl.environment.blockers import plan_record
from benchmarks.systems.planbench_xl.environment.catalogue import CatalogueTool, world_of
from benchmarks.systems.planbench_xl.environment.feedback import say
from benchmarks.systems.planbench_xl.environment.query import (
    AMBIGUOUS,
    ANSWERED,
    CALL_ERRORS,
    LABEL_ERRORS,
    MAX_STEPS,
    RETRIEVAL_ERRORS,
    WRONG,
    Query,
    StepResult,
)
from benchmarks.systems.planbench_xl.environment.tools import TRUSTED, UNTRUSTED
from benchmarks.systems.planbench_xl.environment.values import is_correct, normalise
from benchmarks.systems.planbench_xl.metrics import outcome_metrics
from benchmarks.systems.planbench_xl.prompts import fill
from benchmarks.systems.planbench_xl.settings import Conditions, resolve

DECLINED = "agent_declined"
LEFT_OUT = "a lookup fitted records with different values"
_TAGGED, _NATIVE = Expect("tagged_action"), Expect("native_action")
_EMPTY = "(empty reply)"  # endpoints refuse blanks
# Failure categories.
FORMAT_ERROR, NOISY_ADOPTED = "format_error", "noisy_response_adopted"
PREMATURE, DRIFT = "premature_answering", "irrecoverable_drift"
UNRESOLVED, MISREPORTED = "unresolved_execution", "misreported_answer"
CATEGORIES = (FORMAT_ERROR, NOISY_ADOPTED, PREMATURE, DRIFT, UNRESOLVED, MISREPORTED)
# "Still being made": within the last quarter of the steps.
_RECENT = 4


class Trace:
    """Collects from the trace of an episode why its query failed: the paper's failure categories.

    The paper names five categories and shows cases of each; the rules by which they are told apart
    here are ours. They are tried in this order:

    ``format_error``
        The query was closed because of too many replies without an action, or too many refused
        searches or calls.
    ``noisy_response_adopted``
        The answer holds a value that only noisy or blocking tools returned.
    ``premature_answering``
        The answer holds a value found on the way to the target, or nothing that was found at all:
        the agent stopped before it had what was asked.
    ``irrecoverable_drift``
        The answer holds a reliable value that lies on no catalogued path; or the steps ran out long
        after the last find that lies on one.
    ``unresolved_execution``
        The steps ran out while finds on a path were still being made, or with the target in hand.
    ``misreported_answer``
        Ours: the target was found, and the answer does not hold it.
    """

    def __init__(self, on_paths: Collection[str], target: str) -> None:
        self.on_paths, self.target = on_paths, target
        self.steps = self.last_find = 0
        self.answer: str | None = None
        self.spoilt = False
        # By value as answers have it, the data types under which it was returned.
        self.reliable: dict[str, set[str]] = {}
        self.unreliable: set[str] = set()
        self.found: set[str] = set()

    def add(self, turn: Json, step: int) -> None:
        """Take up the payload of a turn, fresh or stored."""
        self.steps = step
        if "untrusted_sources" in turn:
            self.answer, self.spoilt = turn["request"], bool(turn["untrusted_sources"])
        elif turn.get("provenance") == TRUSTED:
            datatype = turn["datatype"]
            if datatype in self.on_paths and datatype not in self.found:
                self.last_find = step
            self.found.add(datatype)
            self.reliable.setdefault(normalise(turn["value"]), set()).add(datatype)
        elif turn.get("provenance") == UNTRUSTED:
            self.unreliable.add(normalise(turn["value"]))

    def category(self, termination: str, failure: str | None) -> str | None:
        """Return the category of a query that ended; None where it succeeded or is left out."""
        if failure is None or termination == AMBIGUOUS:
            return None
        if termination in (LABEL_ERRORS, RETRIEVAL_ERRORS, CALL_ERRORS):
            return FORMAT_ERROR
        if termination == MAX_STEPS:
            recent = self.last_find and (self.steps - self.last_find) * _RECENT <= self.steps
            return UNRESOLVED if recent or self.target in self.found else DRIFT
        return self._of_answer(failure)

    def _of_answer(self, failure: str) -> str:
        adopted = (value for value in self.unreliable if value not in self.reliable)
        if self.spoilt or any(self._answers(value) for value in adopted):
            return NOISY_ADOPTED
        if failure == WRONG:
            return MISREPORTED
        matching = [kinds for value, kinds in self.reliable.items() if self._answers(value)]
        if matching and not any(kind in self.on_paths for kinds in matching for kind in kinds):
            return DRIFT
        return PREMATURE

    def _answers(self, value: str) -> bool:
        return is_correct(value, self.answer, "words")


def episode(task: Task, settings: Mapping[str, Any], rng: random.Random) -> Episode:
    """Play one trajectory. ``rng`` is not used: what looks like chance is derived from the task."""
    conditions = resolve(settings)
    query = Query(world_of(task.shared), task, conditions)
    table = _Dialogue(task, query, conditions)
    trace = Trace(query.tally.ground_truth, query.target)
    while True:
        reply = yield from _put(table.ask())
        if not reply.readable:
            return Outcome(
                DECLINED,
                *outcome_metrics(None, "the agent gave no reply"),
                {"reason": reply.reason, "groups": _groups(task)},
            )
        held = set(query.holdings.held)
        seen = query.step(AgentAction(reply.value["kind"], reply.value["content"]))
        gained = sorted(query.holdings.held - held)
        payload = _payload(reply, seen, gained)
        trace.add(payload, query.steps)
        table.answer(reply, seen)
        yield Turn(query.steps, reply.text, seen.feedback, payload)
        if seen.end:
            return _outcome(task, query, trace, seen.end)


def _put(ask: Ask) -> Generator[Sequence[Ask], Sequence[Reply], Reply]:
    """Yield an ask and hand on its reply."""
    (reply,) = yield [ask]
    return reply


class _Dialogue:
    """The dialogue with the agent, in messages and in structured form."""

    def __init__(self, task: Task, query: Query, conditions: Conditions) -> None:
        self.task, self.query, self.conditions = task, query, conditions
        self.native = conditions["calling"] == "native"
        self.brief = fill(
            "agent_native" if self.native else "agent",
            {
                "domain": query.world.domain,
                "ids": say("ids", conditions.prompts) if conditions["tool_ids"] else "",
                "max_steps": conditions["max_steps"],
                "label_errors": conditions["max_label_errors"],
                "call_errors": conditions["max_call_errors"],
                "retrieval_errors": conditions["max_retrieval_errors"],
            },
            conditions.prompts,
        )
        self.messages = [Message("system", self.brief), Message("user", task.prompt)]
        self.events: list[Json] = []
        self.tools: list[Json] = []

    def ask(self) -> Ask:
        """Ask for the next reply. The lists are copied: an ask is a value, and the dialogue goes
        on.
        """
        context = {
            "query": self.task.prompt,
            "step": self.query.steps + 1,
            "steps_left": self.conditions["max_steps"] - self.query.steps,
            "limits": {name: self.conditions[f"max_{name}"] for name in self.query.errors},
            "tools": list(self.tools),
            "events": list(self.events),
            "feedback": self.events[-1]["feedback"] if self.events else "",
        }
        return Ask(
            "agent",
            tuple(self.messages),
            _NATIVE if self.native else _TAGGED,
            tools=FUNCTIONS if self.native else (),
            context=context,
        )

    def answer(self, reply: Reply, seen: StepResult) -> None:
        """Take up a reply and what came of it."""
        new = islice(self.query.shown.values(), len(self.tools), None)
        self.tools += [_shown_tool(tool, self.query.ids.get(tool.name)) for tool in new]
        event = {
            "action": reply.value["kind"],
            "category": seen.category,
            "feedback": seen.feedback,
            **seen.details,
        }
        self.events.append(event)
        calls: Sequence[Json] = reply.value.get("calls", ())
        if not calls:
            text = reply.value.get("said") or reply.text if self.native else reply.text
            self.messages.append(Message("assistant", text if text.strip() else _EMPTY))
            self.messages.append(Message("user", seen.feedback))
            return
        self.messages.append(Message("assistant", reply.value["said"], tuple(calls)))
        for number, call in enumerate(calls):
            text = say("one_call", self.conditions.prompts) if number else seen.feedback
            self.messages.append(Message("tool", text, tool_call_id=call["id"]))


def _shown_tool(tool: CatalogueTool, tool_id: str | None) -> Json:
    """Return a tool as the agent was shown it, for those who do not read messages."""
    description: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    return {**description, "tool_id": tool_id} if tool_id else description


def _payload(reply: Reply, seen: StepResult, gained: Sequence[str]) -> Json:
    return {
        "action": reply.value["kind"],
        "category": seen.category,
        "request": seen.request,
        "gained": list(gained),
        **seen.facts,
    }


def _outcome(task: Task, query: Query, trace: Trace, termination: str) -> Outcome:
    result = query.record(termination)
    figures = query.tally.figures(
        steps=query.steps,
        explored=query.reach.explored,
        correct=termination == ANSWERED and query.right,
        # The last answer's check counts also where it was turned down and another failure followed.
        checked=query.checked,
    )
    metrics, undefined = outcome_metrics(None if termination == AMBIGUOUS else figures, LEFT_OUT)
    category = trace.category(termination, result["failure"])
    payload = {
        "result": result,
        "evaluation": figures,
        "failure_category": category,
        "blocked": plan_record(query.plan),
        "groups": _groups(task),
    }
    return Outcome(termination, metrics, undefined, payload)


def _groups(task: Task) -> dict[str, str]:
    """Return what a task is like, for figures by group."""
    shortest = min((len(path) for path in task.payload["paths"]), default=0)
    return {
        "input_type": task.payload.get("input_type") or "unknown",
        "shortest_path": str(shortest),
        "paths": str(len(task.payload["paths"])),
    }
