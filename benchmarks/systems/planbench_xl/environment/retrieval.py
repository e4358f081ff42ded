"""Searching the catalogue: requests, what they mean, and the list of tools that they bring."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from random import Random
from typing import Any, NamedTuple

from benchmarks.systems.planbench_xl.environment.catalogue import BLOCKER, CatalogueTool, ToolWorld

# So many siblings does a group get before the groups that are blocked get any.
_FIRST = 2


@dataclass
class _Group:
    """The tools found for one baseline tool, the siblings that it may get, and those it got."""

    source: str
    primaries: list[CatalogueTool] = field(default_factory=list)
    pool: list[CatalogueTool] = field(default_factory=list)
    chosen: list[CatalogueTool] = field(default_factory=list)

    @property
    def blocked(self) -> bool:
        return any(tool.kind == BLOCKER for tool in self.primaries)

    @property
    def label(self) -> str:
        state = "blocked" if self.blocked else "baseline"
        return f"{self.source}:{state}:{len(self.primaries)}"


def with_siblings(
    world: ToolWorld, primary: Iterable[CatalogueTool], most: int | None
) -> list[CatalogueTool]:
    """Return the tools found, each followed by siblings, ``most`` tools in all (None: without
    limit).

    The draw depends on the tools alone, not on the query. Tools that were found are never dropped.
    """
    primaries = list({tool.name: tool for tool in primary}.values())
    groups: dict[str, _Group] = {}
    for tool in primaries:
        groups.setdefault(tool.source, _Group(tool.source)).primaries.append(tool)
    seen = {tool.name for tool in primaries}
    for group in groups.values():
        group.pool = [t for t in world.siblings.get(group.source, ()) if t.name not in seen]
        seen.update(tool.name for tool in group.pool)
    budget = sum(len(group.pool) for group in groups.values())
    if most is not None:
        budget = min(budget, max(0, most - len(primaries)))
    if not budget:
        return primaries
    _draw(list(groups.values()), budget, _rng(world.domain, budget, groups.values()))
    return [tool for group in groups.values() for tool in (*group.primaries, *group.chosen)]


def _rng(domain: str, budget: int, groups: Iterable[_Group]) -> Random:
    label = "||".join([domain, str(budget), *(group.label for group in groups)])
    return Random(int.from_bytes(blake2b(label.encode(), digest_size=16).digest(), "big"))


def _draw(groups: Sequence[_Group], budget: int, rng: Random) -> None:
    """Move siblings from the groups' pools to what they show."""
    for group in groups:
        rng.shuffle(group.pool)
    free = [group for group in groups if not group.blocked]
    first = min(budget, _FIRST * len(free))
    spent = 0
    while spent < first:
        eligible = [group for group in free if group.pool and len(group.chosen) < _FIRST]
        if not eligible:
            break
        spent += _round(eligible, first - spent, rng)
    while spent < budget:
        waiting = [group for group in groups if group.pool]
        if not waiting:
            break
        fewest = min(len(group.chosen) for group in waiting)
        eligible = [group for group in waiting if len(group.chosen) == fewest]
        spent += _round(eligible, budget - spent, rng)


def _round(groups: list[_Group], budget: int, rng: Random) -> int:
    """Return one tool for each group, in chance order, as far as the budget goes."""
    rng.shuffle(groups)
    for group in groups[:budget]:
        group.chosen.append(group.pool.pop())
    return min(budget, len(groups))


BY_INPUTS, BY_OUTPUT, BY_BOTH = "by_inputs", "by_output_info", "by_io_info"
META_TOOLS = (BY_INPUTS, BY_OUTPUT, BY_BOTH)
OUTPUT, INPUTS = "output_information", "input_information"
NO_PAIR, NO_IO = "no_pair_match", "no_io_match"


class RequestRefused(Exception):
    """A well-formed request that asks for nothing that can be searched; ``code`` says why."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


def check_request(request: Mapping[str, Any], domain: str) -> dict[str, Any]:
    """Return the request as it is carried out: trimmed, without fields that it does not need."""
    meta_tool = _collapsed(request["meta_tool"])
    if meta_tool not in META_TOOLS:
        raise RequestRefused("invalid_meta_tool")
    checked: dict[str, Any] = {"domain": domain, "meta_tool": meta_tool}
    if meta_tool != BY_INPUTS:
        phrase = request.get(OUTPUT)
        if not isinstance(phrase, str) or not phrase.strip():
            raise RequestRefused("missing_or_invalid_output_information")
        checked[OUTPUT] = _collapsed(phrase)
    if meta_tool != BY_OUTPUT:
        given = request.get(INPUTS)
        if not isinstance(given, list):
            raise RequestRefused("missing_or_invalid_input_information")
        phrases = [_collapsed(one) for one in given if isinstance(one, str) and one.strip()]
        if not 1 <= len(phrases) <= 2:
            raise RequestRefused("invalid_input_count")
        checked[INPUTS] = phrases
    return checked


def _collapsed(text: str) -> str:
    return " ".join(text.split())


class RetrievalResult(NamedTuple):
    """The tools that a search found. ``matched`` and ``note`` are for the record, not for the
    agent.
    """

    request: Mapping[str, Any]
    matched: Mapping[str, Any]
    note: str | None
    tools: tuple[CatalogueTool, ...]


def select(world: ToolWorld, request: Mapping[str, Any]) -> RetrievalResult:
    """Return the baseline tools that a checked request means, sorted by name."""
    matched: dict[str, Any] = {}
    tools: tuple[CatalogueTool, ...] = ()
    if OUTPUT in request:
        matched[OUTPUT] = world.matcher.match(request[OUTPUT]).name
        tools = world.by_output.get(matched[OUTPUT], ())
    if INPUTS in request:
        matched[INPUTS] = [world.matcher.match(phrase).name for phrase in request[INPUTS]]
        fitting = world.by_inputs.get(tuple(sorted(matched[INPUTS])), ())
        if len(set(matched[INPUTS])) < len(matched[INPUTS]):
            fitting = ()
        if OUTPUT in request:
            tools = tuple(tool for tool in fitting if tool.output == matched[OUTPUT])
        else:
            tools = fitting
    note = None
    if not tools and request["meta_tool"] == BY_BOTH:
        note = NO_IO
    elif not tools and len(matched.get(INPUTS, ())) == 2:
        note = NO_PAIR
    return RetrievalResult(request, matched, note, tools)


class Arrangement(NamedTuple):
    """The treatment of the tools that a search finds: blocks, siblings, order."""

    blocked: Mapping[str, Sequence[CatalogueTool]]
    noisy: bool
    most: int | None
    seed: int
    task_id: str
    query_id: str

    def arrange(self, world: ToolWorld, retrieved: RetrievalResult) -> tuple[CatalogueTool, ...]:
        """Return the tools as the agent gets to see them."""
        tools: list[CatalogueTool] = []
        for tool in retrieved.tools:
            tools += self.blocked.get(tool.name, (tool,))
        if self.noisy:
            tools = with_siblings(world, tools, self.most)
        if len(tools) > 1:
            self._rng(retrieved.request, tools).shuffle(tools)
        return tuple(tools)

    def _rng(self, request: Mapping[str, Any], tools: Sequence[CatalogueTool]) -> Random:
        """Return a generator that gives the same order for the same request in the same query."""
        about = {
            "global_seed": self.seed,
            "task_id": self.task_id,
            "query_id": self.query_id,
            "request": request,
            "tools": [{"name": tool.name, "tool_type": tool.tool_type} for tool in tools],
        }
        return seeded(json.dumps(about, sort_keys=True, ensure_ascii=False))


def seeded(text: str) -> Random:
    """Return a Mersenne Twister seeded with a digest of a text."""
    return Random(int.from_bytes(blake2b(text.encode(), digest_size=16).digest(), "big"))
