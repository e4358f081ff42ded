"""The steps of an agent for pages, read from the stored payloads of turns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchmarks.core.ports.results import Tone
from benchmarks.core.types import Json
from benchmarks.systems.planbench_xl.environment.actions import ANSWER, CALL, RETRIEVE
from benchmarks.systems.planbench_xl.environment.catalogue import BASELINE, NOISY, ToolWorld
from benchmarks.systems.planbench_xl.environment.tools import TRUSTED, UNTRUSTED

# Kinds of steps, and what became of a call.
SEARCH, CALLED, ANSWERED, MALFORMED = "search", "call", "answer", "malformed"
RELIABLE, MISLEADING, NOTHING, REFUSED = "reliable", "misleading", "nothing", "refused"
_KINDS = {RETRIEVE: SEARCH, CALL: CALLED, ANSWER: ANSWERED}
_TITLES = {SEARCH: "Search", CALLED: "Call", ANSWERED: "Answer", MALFORMED: "Malformed"}
# By category of an observation: a few words, how they look, and a sentence.
_SEEN: Mapping[str, tuple[str, Tone, str]] = {
    "retrieve_ok": ("searched", "info", ""),
    "tool_ok": ("returned", "ok", ""),
    "tool_no_result": ("nothing found", "idle", "No record fits these arguments."),
    "answer_end": ("final", "info", ""),
    "answer_retry": ("turned down", "warn", "The agent was told so, and goes on."),
    "ambiguous": ("ambiguous", "idle", "The arguments fit records with different values."),
    "err_label": ("no single action", "bad", "The reply does not hold exactly one action."),
    "err_retrieve_json": (
        "malformed search", "bad", "The search is no JSON object with a meta_tool.",
    ),
    "err_retrieve_request": (
        "refused search", "bad", "The search lacks what its kind needs, or its kind is unknown.",
    ),
    "err_call_json": (
        "malformed call", "bad", "The call is no JSON object with a tool and its arguments.",
    ),
    "err_call_unavailable": (
        "unknown tool", "bad", "No search of this trajectory has shown a tool of this name.",
    ),
    "err_call_arguments": (
        "wrong arguments", "bad", "The arguments are not those that the tool takes.",
    ),
    "err_call_inputs": ("refused inputs", "bad", ""),
    "err_call_blocked": ("blocked call", "bad", "The call was blocked."),
}  # fmt: skip
_FOUND_BY = {
    "by_output_info": "Tools that give {output}",
    "by_inputs": "Tools that take {inputs}",
    "by_io_info": "Tools that give {output} and take {inputs}",
}


class ShownTool(NamedTuple):
    """A tool in a list that the agent saw. It saw neither the kind nor the data types."""

    name: str
    kind: str
    noise: str
    inputs: tuple[str, ...]
    output: str
    on_path: bool
    fresh: bool


class Counters(NamedTuple):
    """The counts up to and with a step."""

    searches: int = 0
    calls: int = 0
    refused: int = 0
    known: int = 0
    tools: int = 0


@dataclass(frozen=True)
class WalkStep:
    """One reply of the agent and what came of it."""

    index: int
    kind: str
    category: str
    badge: str
    tone: Tone
    sentence: str
    request: Any = None
    tools: tuple[ShownTool, ...] = ()
    matched: tuple[tuple[str, str], ...] = ()
    tool: str = ""
    made_by: ShownTool | None = None
    became: str = ""
    payload: Json = field(default_factory=dict)
    gained: tuple[str, ...] = ()
    counters: Counters = Counters()

    @property
    def title(self) -> str:
        return _TITLES[self.kind]

    @property
    def arguments(self) -> list[tuple[str, str]]:
        """Arguments of a call by name."""
        given = self.request.get("arguments", {}) if isinstance(self.request, Mapping) else {}
        return [(str(name), str(value)) for name, value in given.items()]

    @property
    def preview(self) -> str:
        """The step in a line."""
        if self.kind == SEARCH:
            return self.asked or self.badge
        if self.kind == CALLED:
            value = self.payload.get("value")
            came = f" → {value}" if self.became in (RELIABLE, MISLEADING) else f": {self.badge}"
            return (self.tool or "a call") + came
        if self.kind == ANSWERED:
            return str(self.request or "(empty)")
        return self.sentence

    @property
    def asked(self) -> str:
        """A search in words."""
        if self.kind != SEARCH or not isinstance(self.request, Mapping):
            return ""
        inputs = self.request.get("input_information") or []
        words = _FOUND_BY.get(str(self.request.get("meta_tool")), "")
        taken = [inputs] if isinstance(inputs, str) else inputs
        return words.format(
            output=f"“{self.request.get('output_information', '')}”",
            inputs=" and ".join(f"“{one}”" for one in taken),
        )

    @property
    def counts(self) -> list[tuple[str, int]]:
        """The number of tools of each kind in the list."""
        kinds = [tool.kind for tool in self.tools]
        return [(kind, kinds.count(kind)) for kind in dict.fromkeys(sorted(kinds))]


class ToolWalk(NamedTuple):
    """The steps of a trajectory by index of their turn."""

    steps: tuple[WalkStep, ...]

    def at(self, index: int) -> WalkStep | None:
        if 0 < index <= len(self.steps) and self.steps[index - 1].index == index:
            return self.steps[index - 1]
        return next((step for step in self.steps if step.index == index), None)

    def until(self, index: int) -> "ToolWalk":
        """Return the walk up to and with a step."""
        return ToolWalk(tuple(step for step in self.steps if step.index <= index))


def read_walk(
    world: ToolWorld,
    on_paths: Iterable[str],
    turns: Iterable[tuple[int, Json]],
    given: Sequence[str],
) -> ToolWalk:
    """Return the walk that payloads of turns tell of; what they do not hold is left out."""
    paths, shown, known = set(on_paths), set[str](), set(given)
    searches = calls = refused = 0
    steps = []
    for index, payload in turns:
        kind = _KINDS.get(payload.get("action", ""), MALFORMED)
        category = str(payload.get("category", ""))
        badge, tone, sentence = _SEEN.get(category, (category.replace("_", " "), "", ""))
        names = list(payload.get("tools") or ())
        tools = tuple(_shown(world, name, paths, name not in shown) for name in names)
        shown.update(names)
        known.update(payload.get("gained") or ())
        became = _became(kind, category, payload)
        searches += kind == SEARCH
        calls += kind == CALLED
        refused += became == REFUSED
        name = _called(payload) if kind == CALLED else ""
        if became == MISLEADING:
            badge, tone = "unreliable", "warn"
            sentence = "This tool returns the same whatever it is given: the value is not trusted."
        if category == "err_call_inputs":
            sentence = _inputs(payload)
        if kind == ANSWERED:
            badge, tone, sentence = _answered(payload, badge, tone, sentence)
        steps.append(
            WalkStep(
                index, kind, category, badge, tone, sentence, payload.get("request"), tools,
                _matched(payload.get("matched") or {}), name,
                _shown(world, name, paths, False) if name in world.tools else None,
                became, payload, tuple(payload.get("gained") or ()),
                Counters(searches, calls, refused, len(known), len(shown)),
            )
        )  # fmt: skip
    return ToolWalk(tuple(steps))


def _shown(world: ToolWorld, name: str, paths: Iterable[str], fresh: bool) -> ShownTool:
    tool = world.tools.get(name)
    if tool is None:
        return ShownTool(name, "", "", (), "", False, fresh)
    on_path = tool.kind == BASELINE and name in paths
    noise = tool.noise.replace("_", " ")
    return ShownTool(name, tool.kind, noise, tool.inputs, tool.output, on_path, fresh)


def _called(payload: Json) -> str:
    """Return the tool that a call names, refused or not."""
    request = payload.get("request")
    named = request.get("name") if isinstance(request, Mapping) else None
    return str(payload.get("tool") or named or "")


def _became(kind: str, category: str, payload: Json) -> str:
    if kind != CALLED:
        return ""
    if payload.get("provenance") == TRUSTED:
        return RELIABLE
    if payload.get("provenance") == UNTRUSTED:
        return MISLEADING
    return NOTHING if category in ("tool_no_result", "ambiguous") else REFUSED


def _matched(matched: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return (what, data types) as which the phrases of a search were understood."""
    words = {"output_information": "gives", "input_information": "takes"}
    return tuple(
        (words.get(name, name), value if isinstance(value, str) else ", ".join(value))
        for name, value in matched.items()
    )


def _inputs(payload: Json) -> str:
    parts = []
    if untrusted := payload.get("untrusted"):
        parts.append(f"a value that only unreliable tools gave ({', '.join(untrusted)})")
    if missing := payload.get("missing"):
        parts.append(f"a data type that was not known yet ({', '.join(missing)})")
    return f"The call needs {' and '.join(parts)}." if parts else "An input is not to be relied on."


def _answered(payload: Json, badge: str, tone: Tone, sentence: str) -> tuple[str, Tone, str]:
    """Return an answer judged in words: right, or why not."""
    right = payload.get("correct") and payload.get("datatype_check")
    if right:
        return "right", "ok", "It holds the expected value, found by tools that can be relied on."
    parts = []
    if not payload.get("correct"):
        parts.append("it does not hold the expected value")
    if not payload.get("reached"):
        parts.append("no reliable tool had found what was asked for")
    if sources := payload.get("untrusted_sources"):
        kinds = " and ".join("noisy" if kind == NOISY else "blocking" for kind in sources)
        parts.append(f"it holds a value that {kinds} tools returned")
    why = f"Not right: {'; '.join(parts)}." if parts else ""
    return (
        ("not right" if badge == "final" else badge),
        ("bad" if badge == "final" else tone),
        (f"{why} {sentence}".strip()),
    )
