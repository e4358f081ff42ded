"""One query: the environment's side of an episode, a reply at a time."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from benchmarks.core.types import Json, Task
from benchmarks.systems.planbench_xl.environment.actions import (
    ANSWER,
    CALL,
    RETRIEVE,
    AgentAction,
    ParsedCall,
    read_call,
    read_request,
)
from benchmarks.systems.planbench_xl.environment.blockers import UNBLOCKED, Plan, plan_for
from benchmarks.systems.planbench_xl.environment.catalogue import (
    Ambiguous,
    CatalogueTool,
    ToolWorld,
)
from benchmarks.systems.planbench_xl.environment.evaluation import Tally
from benchmarks.systems.planbench_xl.environment.feedback import (
    called_text,
    say,
    search_result_text,
    shown_request,
)
from benchmarks.systems.planbench_xl.environment.retrieval import (
    Arrangement,
    RequestRefused,
    check_request,
    select,
)
from benchmarks.systems.planbench_xl.environment.tools import (
    NOTHING,
    TRUSTED,
    UNTRUSTED,
    ToolResult,
    execute,
)
from benchmarks.systems.planbench_xl.environment.values import is_correct, normalise, text_of
from benchmarks.systems.planbench_xl.settings import Conditions

# --- What is known --------------------------------------------------------------------------------


class HeldData:
    """The data types that are held, and the values seen of each, reliable and not.

    ``values`` are those that the query states in structured form, by data type: they are reliable.
    """

    def __init__(self, given: Iterable[str], values: Mapping[str, Any] = MappingProxyType({})):
        self.held = set(given)
        self.trusted = {datatype: {text_of(value)} for datatype, value in values.items()}
        self.untrusted: dict[str, set[str]] = {}
        # By data type, the kinds of tool that returned a value, by the value as answers have it.
        self.sources: dict[str, dict[str, list[str]]] = {}

    def trust(self, datatype: str, value: Any) -> None:
        """Hold a data type from now on, because a reliable tool returned a value."""
        self.held.add(datatype)
        self.trusted.setdefault(datatype, set()).add(text_of(value))

    def distrust(self, datatype: str, value: Any, source: str) -> None:
        """Note that a noisy or blocking tool returned a value, by which nothing is held."""
        self.untrusted.setdefault(datatype, set()).add(text_of(value))
        if plain := normalise(value):
            kinds = self.sources.setdefault(datatype, {}).setdefault(plain, [])
            if source not in kinds:
                kinds.append(source)

    def is_untrusted(self, datatype: str, value: Any) -> bool:
        """Return whether a value of a data type is known from unreliable tools alone."""
        text = text_of(value)
        unreliable = text in self.untrusted.get(datatype, ())
        return unreliable and text not in self.trusted.get(datatype, ())

    def sources_in(self, datatype: str, answer: str, unless_trusted: bool) -> list[str]:
        """Return the kinds of unreliable tool whose values of a data type stand in an answer."""
        given = normalise(answer)
        known = {normalise(text) for text in self.trusted.get(datatype, ())}
        sources = {
            kind
            for plain, kinds in self.sources.get(datatype, {}).items()
            if plain in given and not (unless_trusted and plain in known)
            for kind in kinds
        }
        return sorted(sources)

    def record(self) -> dict[str, Any]:
        """Return the end state as JSON values."""
        return {
            "current_datatypes": sorted(self.held),
            "trusted": {key: sorted(texts) for key, texts in self.trusted.items()},
            "untrusted": {key: sorted(texts) for key, texts in self.untrusted.items()},
            "untrusted_sources": {
                key: {plain: list(kinds) for plain, kinds in found.items()}
                for key, found in self.sources.items()
            },
        }


class Reach:
    """The data types that could be come by with the tools shown so far, kept closed step by step.

    Each tool waits for the inputs that are out of reach; a new data type wakes those that wait for
    it. So an episode costs as much as its tools have inputs, however long it is.
    """

    def __init__(self, given: Iterable[str]) -> None:
        self.start = frozenset(given)
        self.reached = set(self.start)
        self._waiting: dict[str, list[CatalogueTool]] = defaultdict(list)
        self._known: set[str] = set()

    def show(self, tools: Iterable[CatalogueTool]) -> None:
        for tool in tools:
            if tool.name not in self._known:
                self._known.add(tool.name)
                self._try(tool)

    def add(self, datatype: str) -> None:
        fresh = [datatype]
        while fresh:
            reached = fresh.pop()
            if reached in self.reached:
                continue
            self.reached.add(reached)
            for tool in self._waiting.pop(reached, ()):
                if missing := self._missing(tool):
                    self._waiting[missing].append(tool)
                else:
                    fresh.append(tool.output)

    def _try(self, tool: CatalogueTool) -> None:
        if missing := self._missing(tool):
            self._waiting[missing].append(tool)
        else:
            self.add(tool.output)

    def _missing(self, tool: CatalogueTool) -> str:
        """Return an input of a tool that is out of reach, or ''."""
        return next((datatype for datatype in tool.inputs if datatype not in self.reached), "")

    @property
    def explored(self) -> int:
        return len(self.reached - self.start)


ANSWERED, MAX_STEPS, AMBIGUOUS = "answered", "max_steps", "ambiguous_record"
LABEL_ERRORS, RETRIEVAL_ERRORS, CALL_ERRORS = "label_errors", "retrieval_errors", "call_errors"
NOT_REACHED, WRONG = "target_datatype_not_reached", "final_answer_wrong"
# Endings by the name that the reference gives them.
DETAILS = {
    MAX_STEPS: "exceeded_max_steps",
    LABEL_ERRORS: "exceeded_max_label_errors",
    RETRIEVAL_ERRORS: "exceeded_max_retrieval_errors",
    CALL_ERRORS: "exceeded_max_tool_call_errors",
}


@dataclass(frozen=True)
class StepResult:
    """The result of a reply: its category, the words for the agent, and the facts for the record.

    ``end`` is the termination that it brings, ``told`` what the agent learned in structured form.
    """

    category: str
    feedback: str
    facts: Json = field(default_factory=dict)
    request: Any = None
    details: Json = field(default_factory=dict)
    end: str = ""


class _Refused(Exception):
    """A call that is not carried out: its category, words and facts."""

    def __init__(self, category: str, words: str, **facts: Any) -> None:
        self.category, self.words, self.facts = category, words, facts
        super().__init__(category)


class Query:
    """A query in the course of being worked on. ``step`` takes a reply and says what comes of it.

    Nothing here looks back over what has happened: each step costs what its own action costs.
    """

    def __init__(self, world: ToolWorld, task: Task, conditions: Conditions) -> None:
        self.world, self.conditions = world, conditions
        self.version: str = conditions.prompts
        payload = task.payload
        self.query_text = task.prompt
        self.given: tuple[str, ...] = tuple(payload["input_datatypes"])
        self.target: str = payload["target_datatype"]
        self.expected = payload["correct_answer"]
        paths = tuple(tuple(path) for path in payload["paths"])
        rules = conditions.rules
        self.plan: Plan = plan_for(payload["task_id"], paths, rules) if rules else UNBLOCKED
        self.arrangement = Arrangement(
            self.plan.standing_in(world),
            conditions["noise"],
            conditions.most_tools,
            conditions["blocker_seed"],
            payload["task_id"],
            task.id,
        )
        self.holdings = HeldData(self.given, payload.get("input_values") or {})
        self.reach = Reach(self.given)
        # By name, the tools shown so far; by name, their ids; by id, their names.
        self.shown: dict[str, CatalogueTool] = {}
        self.ids: dict[str, str] = {}
        self.named: dict[str, str] = {}
        self.errors = {LABEL_ERRORS: 0, RETRIEVAL_ERRORS: 0, CALL_ERRORS: 0}
        self.steps = self.retries = 0
        self.answer: str | None = None
        self.checked = False
        self.tally = Tally(world, paths)

    def step(self, action: AgentAction) -> StepResult:
        """Carry out one reply's action."""
        self.steps += 1
        steps: dict[str, Callable[[str], StepResult]] = {
            RETRIEVE: self._retrieve,
            CALL: self._call,
            ANSWER: self._answer,
        }
        carry_out = steps.get(action.kind)
        if carry_out is None:
            return self._error(LABEL_ERRORS, "err_label", "", counted=True)
        self.errors[LABEL_ERRORS] = 0
        seen = carry_out(action.content)
        if not seen.end and self.steps >= self.conditions["max_steps"]:
            return _ending(seen, MAX_STEPS)
        return seen

    # --- searching ---------------------------------------------------------------------------

    def _retrieve(self, content: str) -> StepResult:
        self.tally.searches += 1
        request = read_request(content)
        if request is None:
            return self._error(RETRIEVAL_ERRORS, "err_retrieve_json", "", counted=True)
        try:
            checked = check_request(request, self.world.domain)
        except RequestRefused as refused:
            words = say(refused.code, self.version)
            return self._error(
                RETRIEVAL_ERRORS, "err_retrieve_request", words, facts={"code": refused.code}
            )
        self._reset(RETRIEVAL_ERRORS)
        self.tally.searches_run += 1
        retrieved = select(self.world, checked)
        tools = self.arrangement.arrange(self.world, retrieved)
        for tool in tools:
            if tool.name not in self.shown:
                self.shown[tool.name] = tool
                if self.conditions["tool_ids"]:
                    self.ids[tool.name] = tool_id = f"T{len(self.shown)}"
                    self.named[tool_id] = tool.name
        self.reach.show(tools)
        names = [tool.name for tool in tools]
        facts = {
            "matched": dict(retrieved.matched),
            "note": retrieved.note,
            "tool_count": len(tools),
            "tools": names,
        }
        asked = shown_request(checked)
        return StepResult(
            "retrieve_ok",
            search_result_text(retrieved, tools, self.ids, self.version),
            facts,
            asked,
            {"request": asked, "tools": names},
        )

    # --- calling -----------------------------------------------------------------------------

    def _call(self, content: str) -> StepResult:
        self.tally.calls += 1
        call = read_call(content)
        if call is None:
            self.tally.invalid += 1
            return self._error(CALL_ERRORS, "err_call_json", "", counted=True)
        name = self.named.get(call.tool_id or "") or call.name or ""
        self.tally.name_called(name)
        asked = {"name": name, "arguments": dict(call.arguments)}
        try:
            result = self._execute(name, call)
        except _Refused as refused:
            if refused.facts.get("why") == "untrusted_input_rejected":
                self.tally.rejected += 1
            else:
                self.tally.invalid += 1
            return self._error(
                CALL_ERRORS, refused.category, refused.words, request=asked, facts=refused.facts
            )
        except Ambiguous as ambiguous:
            facts = {"tool": name, "values": list(ambiguous.values)}
            return StepResult("ambiguous", "", facts, asked, end=AMBIGUOUS)
        self.tally.calls_run += 1
        self._reset(CALL_ERRORS)
        tool = result.tool
        if result.provenance == TRUSTED:
            self.holdings.trust(tool.output, result.value)
            self.reach.add(tool.output)
            self.tally.executed.add(tool.output)
        elif result.provenance == UNTRUSTED:
            self.holdings.distrust(tool.output, result.value, tool.kind)
        details = {"request": asked, "success": result.success, "value": result.value}
        category = "tool_no_result" if result.provenance == NOTHING else "tool_ok"
        return StepResult(
            category,
            called_text(asked, result.value, result.success, self.version),
            result.record,
            asked,
            details,
        )

    def _execute(self, name: str, call: ParsedCall) -> ToolResult:
        tool = self.shown.get(name)
        if tool is None:
            shown = name if len(name) <= 200 else name[:199] + "…"
            words = say("err_call_unavailable", self.version, tool=shown)
            raise _Refused("err_call_unavailable", words)
        if set(call.arguments) != set(tool.arguments):
            wanted = ", ".join(sorted(tool.arguments))
            words = say("err_call_arguments", self.version, tool=name, wanted=wanted)
            raise _Refused("err_call_arguments", words)
        untrusted, missing = self._unheld(tool, call.arguments)
        if untrusted or missing:
            why = "untrusted_input_rejected" if untrusted else "missing_required_input"
            raise _Refused(
                "err_call_inputs",
                say("err_call_inputs", self.version, tool=name),
                why=why,
                untrusted=untrusted,
                missing=missing,
            )
        try:
            return execute(self.world, tool, call.arguments)
        except Ambiguous:
            if self.conditions["ambiguous_record"] == "leave_out":
                raise
            return ToolResult(tool, None, NOTHING, False)

    def _unheld(
        self, tool: CatalogueTool, arguments: Mapping[str, Any]
    ) -> tuple[list[str], list[str]]:
        """Return the data types of which a call brings unreliable values, and those not held at
        all.
        """
        untrusted, missing = [], []
        surfaces = {datatype: surface for surface, datatype in tool.arguments.items()}
        for datatype in tool.inputs:
            value = arguments[surfaces[datatype]]
            strange = self.conditions["trust"] == "value" and not self._known(datatype, value)
            if strange or self.holdings.is_untrusted(datatype, value):
                untrusted.append(datatype)
            if datatype not in self.holdings.held:
                missing.append(datatype)
        return untrusted, missing

    def _known(self, datatype: str, value: Any) -> bool:
        """Return whether a value was given by the query or by a reliable tool."""
        text = text_of(value)
        given = datatype in self.given and text.casefold() in self.query_text.casefold()
        return given or text in self.holdings.trusted.get(datatype, ())

    # --- answering ---------------------------------------------------------------------------

    def _answer(self, content: str) -> StepResult:
        self.answer = content
        if self.conditions["errors_reset"] == "any_action":
            self._reset(RETRIEVAL_ERRORS)
        reached = self.target in self.holdings.held
        sources = self.holdings.sources_in(
            self.target, content, self.conditions["untrusted_match"] == "unless_trusted"
        )
        correct = is_correct(self.expected, content, self.conditions["answer_match"])
        self.checked = reached and not sources
        facts = {
            "correct": correct,
            "reached": reached,
            "untrusted_sources": sources,
            "datatype_check": self.checked,
        }
        details = {"request": content}
        right = correct and self.checked
        again = (
            self.conditions["answer_feedback"]
            and self.retries < self.conditions["feedback_budget"]
            and self.steps < self.conditions["max_steps"]
        )
        if right or not again:
            return StepResult("answer_end", "", facts, content, details, ANSWERED)
        self.retries += 1
        words = say("answer_retry", self.version)
        return StepResult("answer_retry", words, facts, content, details)

    # --- errors and the end ------------------------------------------------------------------

    def _reset(self, counter: str) -> None:
        self.errors[counter] = 0
        if self.conditions["errors_reset"] == "any_action":
            self.errors[RETRIEVAL_ERRORS] = self.errors[CALL_ERRORS] = 0

    def _error(
        self,
        counter: str,
        category: str,
        words: str,
        *,
        counted: bool = False,
        request: Any = None,
        facts: Json | None = None,
    ) -> StepResult:
        """Return a mistake: it is counted, and too many of a kind end the query.

        Where the agent is told how many of them it has made, the words are made here.
        """
        self.errors[counter] += 1
        attempt, limit = self.errors[counter], self.conditions[f"max_{counter}"]
        known = dict(facts or {})
        if counted:
            known |= {"attempt": attempt, "of": limit}
            native = self.conditions["calling"] == "native" and category == "err_label"
            occasion = f"{category}_native" if native else category
            words = say(occasion, self.version, attempt=attempt, of=limit)
        end = ""
        if attempt >= limit:
            end = counter
        elif self.steps >= self.conditions["max_steps"]:
            end = MAX_STEPS
        return StepResult(
            category, words, known, request, {"request": request, "error": words}, end
        )

    def failure(self, termination: str) -> str | None:
        """Return why a query that ended did not succeed, in the reference's word; None if it
        did.
        """
        if termination != ANSWERED:
            return DETAILS.get(termination, termination)
        if not self.checked:
            return NOT_REACHED
        return None if self.right else WRONG

    @property
    def right(self) -> bool:
        """Return whether the last answer is correct under the setting ``answer_match``."""
        return is_correct(self.expected, self.answer, self.conditions["answer_match"])

    def record(self, termination: str) -> dict[str, Any]:
        """Return the result of a query that ended, as the reference keeps it."""
        failure = self.failure(termination)
        tally = self.tally
        return {
            "status": "failed" if failure else "success",
            "failure": failure,
            "stop_reason": "normal",
            "steps": self.steps,
            "final_answer": self.answer if termination == ANSWERED else None,
            "discovered": len(self.shown),
            "counts": [
                tally.searches,
                tally.searches_run,
                tally.calls,
                tally.calls_run,
                self.retries,
            ],
            **self.holdings.record(),
        }


def _ending(seen: StepResult, end: str) -> StepResult:
    return StepResult(seen.category, seen.feedback, seen.facts, seen.request, seen.details, end)
