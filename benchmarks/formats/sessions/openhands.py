"""Events of OpenHands: rows of its evaluation (a line for each instance) and of its SDK.

Older rows hold pairs of an action and what was observed. An observation belongs to the call whose
id it names, else to the action that caused it, else to the last one.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.core.problems import Problems, Unquoted
from benchmarks.formats.messages import MOST_MESSAGES
from benchmarks.formats.sessions.lines import session_lines
from benchmarks.formats.sessions.parts import (
    Parts,
    Result,
    amount,
    as_list,
    as_mapping,
    as_text,
    read_parts,
    read_tool_call,
    string,
    total,
)
from benchmarks.formats.sessions.transcript import Transcript, leave_out, tool_definitions
from benchmarks.formats.shape import Shape, shape_of
from benchmarks.formats.source import FileSource, Spot
from benchmarks.formats.trajectory import ImportedTrajectory, ToolCall

THINK, THOUGHT_ENDS = "<think>", "</think>"
# What the program does for itself.
_SKIPPED = ("recall", "state", "agent_state_changed", "change_agent_state", "null", "condensation",
            "condensation_request", "")  # fmt: skip
_ABOUT = ("instance_id", "instruction", "test_result", "metadata", "error", "issue", "git_patch")
_ARGUMENTS_LEFT_OUT = ("thought", "hidden", "confirmation_state", "security_risk")


def recognises(shape: Shape) -> bool:
    if shape.kind == "lines":
        return any(
            isinstance(row.get("history"), list)
            or (string(row.get("kind")).endswith("Event") and "source" in row)
            for row in shape.rows
        ) or ("history" in shape.first and bool({"instance_id", "instruction"} & shape.first))
    if shape.kind == "list":
        return {"source", "message"} <= shape.first and bool({"args", "extras"} & shape.names)
    return shape.kind == "object" and shape.has("history", "instance_id")


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield a trajectory for each instance, or the one of all events; faults are noted."""
    top = Spot(problems, source.name)
    stem = source.name.split(".json")[0]
    kind = shape_of(source).kind
    events: list[tuple[Spot, Any]] = []
    if kind == "object":
        row = source.document(MOST_MESSAGES)
        yield from _instance(top, row, header, stem)
        return
    rows = session_lines(source, problems, header) if kind == "lines" else _list(source, top)
    for number, (spot, row) in enumerate(rows, 1):
        if isinstance(row, dict) and "history" in row:
            before = problems.total
            for trajectory in _instance(spot, row, header, f"{stem}#{number}"):
                if problems.total == before:
                    yield trajectory
            continue
        events.append((spot, row))
        if len(events) > 2 * MOST_MESSAGES:
            spot.fault(f"at most {2 * MOST_MESSAGES} events", Unquoted("more"))
            return
    if events:
        log = _Events(header, stem)
        for spot, event in events:
            log.add(spot, event)
        if not problems.total and (made := log.transcript.trajectory(top)) is not None:
            yield made


def _list(source: FileSource, top: Spot) -> Iterator[tuple[Spot, Any]]:
    for _, index, item in source.entries():
        yield top.at(index or 0), item


def _instance(
    spot: Spot, row: Mapping[str, Any], header: dict[str, Any], id: str
) -> Iterator[ImportedTrajectory]:
    history = row.get("history")
    if not isinstance(history, list):
        spot.at("history").fault("a list of events", history)
        return
    log = _Events(header, string(row.get("instance_id")) or id)
    transcript = log.transcript
    transcript.task = string(row.get("instance_id"))
    for index, event in enumerate(history):
        at = spot.at("history").at(index)
        for one in event if isinstance(event, list) else [event]:
            log.add(at, one)
    metrics = as_mapping(row.get("metrics"))
    usage = as_mapping(metrics.get("accumulated_token_usage"))
    if usage:
        transcript.counts["tokens_in"] = total(usage, "prompt_tokens")
        transcript.counts["tokens_out"] = total(usage, "completion_tokens")
    else:
        used = [as_mapping(one) for one in as_list(metrics.get("token_usages"))]
        for name, field in (("tokens_in", "prompt_tokens"), ("tokens_out", "completion_tokens")):
            counts = [count for one in used if (count := total(one, field)) is not None]
            transcript.counts[name] = sum(counts) if counts else None
    config = as_mapping(as_mapping(row.get("metadata")).get("llm_config"))
    transcript.model = transcript.model or string(config.get("model"))
    transcript.scores = {
        "reward": _resolved(row),
        "cost": amount(metrics.get("accumulated_cost")),
    }
    if row.get("error"):
        transcript.termination = "error"
    transcript.about |= {name: row[name] for name in _ABOUT if row.get(name)}
    if (made := transcript.trajectory(spot)) is not None:
        yield made


def _resolved(row: Mapping[str, Any]) -> float | None:
    """Return whether the instance was solved, where its row says so."""
    inner = as_mapping(as_mapping(row.get("test_result")).get("report"))
    for given in (as_mapping(row.get("report")).get("resolved"), inner.get("resolved"),
                  row.get("resolved"), row.get("success")):  # fmt: skip
        if isinstance(given, bool):
            return float(given)
    return None


class _Events:
    """A conversation as its events come."""

    def __init__(self, header: dict[str, Any], id: str) -> None:
        self.header = header
        self.transcript = Transcript(id)
        self.causes: dict[int, str] = {}  # event -> the call that it made

    def add(self, spot: Spot, event: Any) -> None:
        if not isinstance(event, dict):
            spot.fault("an event: an object", event)
        elif isinstance(event.get("kind"), str):
            self._sdk(event, event["kind"])
        elif isinstance(event.get("observation"), str):
            self._observed(event)
        elif isinstance(event.get("action"), str):
            self._acted(event)
        else:
            leave_out(self.header, "event that is no action and no observation")

    # --- The application (V0) ---------------------------------------------------------------------

    def _acted(self, event: Mapping[str, Any]) -> None:
        action, at = event["action"], string(event.get("timestamp"))
        args = event.get("args")
        args = args if isinstance(args, dict) else event
        content = string(args.get("content"))
        if action == "system":
            self.transcript.say("system", Parts(texts=[content]), at=at)
            self.transcript.tools = tool_definitions(args.get("tools"))
        elif action in _SKIPPED:
            leave_out(self.header, f"action {action}")
        elif action == "message" and event.get("source") != "agent":
            parts = Parts(texts=[content])
            urls = as_list(args.get("image_urls") or args.get("images_urls"))
            parts.attachments += [{"kind": "image"} for _ in urls]
            spoken = any(message.speaker == "assistant" for message in self.transcript.said)
            from_agent = "source" not in event and spoken
            if from_agent:
                self.transcript.agent(parts, at=at)
            else:
                self.transcript.say("user", parts, at=at)
        else:
            self._acted_by_agent(event, action, args, at)

    def _acted_by_agent(
        self, event: Mapping[str, Any], action: str, args: Mapping[str, Any], at: str
    ) -> None:
        about = as_mapping(event.get("tool_call_metadata"))
        response = as_mapping(about.get("model_response"))
        content = string(args.get("content"))
        thought = content if action == "message" else string(args.get("thought"))
        parts = thinking_apart(thought)
        if action == "think" and not about:
            parts = Parts(thoughts=[thought])
        elif action == "finish" and not about:
            words = filter(None, (thought, string(args.get("final_thought"))))
            parts = Parts(texts=["\n".join(words)])
        elif action != "message":
            parts.calls.append(self._call(event, action, args, about, response))
        id = string(response.get("id"))
        answer = self.transcript.agent(parts, id=id, at=at)
        self.transcript.model = string(response.get("model")) or self.transcript.model
        usage = as_mapping(response.get("usage"))
        if usage:
            answer.tokens_in = total(usage, "prompt_tokens")
            answer.tokens_out = total(usage, "completion_tokens")

    def _call(
        self,
        event: Mapping[str, Any],
        action: str,
        args: Mapping[str, Any],
        about: Mapping[str, Any],
        response: Mapping[str, Any],
    ) -> ToolCall:
        id = string(about.get("tool_call_id")) or f"action-{len(self.transcript.called) + 1}"
        number = event.get("id")
        if isinstance(number, int):
            self.causes[number] = id
        choice = next(iter(as_list(response.get("choices"))), None)
        for given in as_list(as_mapping(as_mapping(choice).get("message")).get("tool_calls")):
            if isinstance(given, dict) and given.get("id") == id:
                return read_tool_call(given)
        known = ("id", "timestamp", "source", "action", *_ARGUMENTS_LEFT_OUT)
        arguments = {name: value for name, value in args.items() if name not in known}
        return ToolCall(string(about.get("function_name")) or action, arguments, id)

    def _observed(self, event: Mapping[str, Any]) -> None:
        kind = event["observation"]
        if kind in _SKIPPED:
            leave_out(self.header, f"observation {kind}")
            return
        about = as_mapping(event.get("tool_call_metadata"))
        id, cause = string(about.get("tool_call_id")), event.get("cause")
        if not id and isinstance(cause, int):
            id = self.causes.get(cause, "")
        if not id and self.transcript.waiting:
            id = next(reversed(self.transcript.waiting))
        extras = as_mapping(event.get("extras"))
        code = as_mapping(extras.get("metadata")).get("exit_code", extras.get("exit_code"))
        code = event.get("exit_code") if code is None else code
        failed = kind == "error" or event.get("success") is False
        failed = failed or (isinstance(code, int) and code != 0)
        result = Result(id, string(event.get("content")), failed=failed)
        urls = as_list(extras.get("image_urls"))
        result.attachments += [{"kind": "image"} for _ in urls]
        if self.transcript.result(result, at=string(event.get("timestamp"))) is None:
            leave_out(self.header, "repeated result")

    # --- The SDK (V1) -----------------------------------------------------------------------------

    def _sdk(self, event: Mapping[str, Any], kind: str) -> None:
        at, transcript = string(event.get("timestamp")), self.transcript
        if kind == "SystemPromptEvent":
            prompt = event.get("system_prompt")
            transcript.say("system", read_parts(prompt), at=at)
            transcript.tools = tool_definitions(event.get("tools"))
        elif kind == "MessageEvent":
            message = as_mapping(event.get("llm_message"))
            parts = read_parts(message.get("content"))
            if event.get("source") == "agent":
                self._agent(event, message, thinking_apart(parts.text), at)
            else:
                transcript.say("user", parts, by_program=event.get("source") != "user", at=at)
        elif kind == "ActionEvent":
            parts = thinking_apart(read_parts(event.get("thought")).text)
            call = as_mapping(event.get("tool_call"))
            if call:
                parts.calls.append(read_tool_call(call))
            else:
                name, id = string(event.get("tool_name")), string(event.get("tool_call_id"))
                parts.calls.append(ToolCall(name or "(no name)", event.get("action"), id))
            self._agent(event, event, parts, at)
        elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
            self._sdk_result(event, kind, at)
        elif kind == "ConversationStateUpdateEvent" and event.get("key") == "stats":
            self._sdk_stats(as_mapping(event.get("value")))
            leave_out(self.header, kind)
        else:
            leave_out(self.header, kind)

    def _agent(
        self, event: Mapping[str, Any], message: Mapping[str, Any], parts: Parts, at: str
    ) -> None:
        thought = string(message.get("reasoning_content"))
        blocks = read_parts(as_list(message.get("thinking_blocks")))
        parts.thoughts = [thought] if thought.strip() else parts.thoughts or blocks.thoughts
        parts.encrypted |= blocks.encrypted or bool(message.get("responses_reasoning_item"))
        self.transcript.agent(parts, id=string(event.get("llm_response_id")), at=at)

    def _sdk_result(self, event: Mapping[str, Any], kind: str, at: str) -> None:
        observation = as_mapping(event.get("observation"))
        content = observation.get("content", observation.get("output"))
        parts = read_parts(content)
        text = parts.text
        if kind != "ObservationEvent":
            text = string(event.get("error", event.get("rejection_reason")))
        elif not parts.texts and not parts.attachments:
            text = as_text({k: v for k, v in observation.items() if k != "kind"})
        failed = kind != "ObservationEvent" or observation.get("is_error") is True
        result = Result(
            string(event.get("tool_call_id")), text, string(event.get("tool_name")), failed,
            attachments=parts.attachments,
        )  # fmt: skip
        if self.transcript.result(result, at=at) is None:
            leave_out(self.header, "repeated result")

    def _sdk_stats(self, value: Mapping[str, Any]) -> None:
        """Take running totals of all uses of a model; the last ones stand."""
        metrics = [as_mapping(m) for m in as_mapping(value.get("usage_to_metrics")).values()]
        used = [as_mapping(one.get("accumulated_token_usage")) for one in metrics]
        for name, field in (("tokens_in", "prompt_tokens"), ("tokens_out", "completion_tokens")):
            counts = [count for one in used if (count := total(one, field)) is not None]
            if counts:
                self.transcript.counts[name] = sum(counts)
        if metrics:
            model = string(metrics[0].get("model_name"))
            self.transcript.model = model or self.transcript.model


def thinking_apart(text: str) -> Parts:
    """Return a text whose beginning may be thinking between marks."""
    stripped = text.lstrip()
    if not stripped.startswith(THINK) or THOUGHT_ENDS not in stripped:
        return Parts(texts=[text] if text.strip() else [])
    thought, _, rest = stripped.removeprefix(THINK).partition(THOUGHT_ENDS)
    return Parts(texts=[rest.strip()] if rest.strip() else [], thoughts=[thought.strip()])
