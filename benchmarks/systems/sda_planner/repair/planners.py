"""The four planners: what each does when a step of its plan fails.

A planner is a generator that carries the plan out, asks the agent where it must, yields a turn for
each version of its plan, and returns how the episode ended.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.core.types import Ask, Batch, Json, Reply, Turn
from benchmarks.systems.sda_planner.asks import Asks
from benchmarks.systems.sda_planner.play import REVERSED, Play, error_of
from benchmarks.systems.sda_planner.repair.diagnosis import (
    ENVIRONMENT,
    Diagnosis,
    diagnose,
    timeline,
)
from benchmarks.systems.sda_planner.repair.graph import IS_OPEN, LOC, POS, Belief
from benchmarks.systems.sda_planner.repair.subtree import search
from benchmarks.systems.sda_planner.settings import GLOBAL, LOCAL, SDA, TREE
from benchmarks.systems.sda_planner.steps import (
    CLOSE,
    FIND,
    OFF,
    ON,
    OPEN,
    PICK,
    PUT,
    SLICE,
    UNPARSED,
    Step,
)

PLAN_END, MAX_STEPS, MAX_CORRECTIONS = "plan_end", "max_steps", "max_corrections"
UNREADABLE, DECLINED, NO_BRANCH = "unreadable", "agent_declined", "no_branch"
_OPPOSITE = {OPEN: CLOSE, CLOSE: OPEN, ON: OFF, OFF: ON}

Doing = Generator[Batch | Turn, Sequence[Reply] | None, str]


class SearchStopped(Exception):
    """The agent gave no plan; ``ending`` says how."""

    def __init__(self, ending: str, reason: str) -> None:
        self.ending, self.reason = ending, reason
        super().__init__(reason)


def _put(play: Play, ask: Ask) -> Generator[Batch | Turn, Sequence[Reply] | None, Reply]:
    replies = yield [ask]
    play.counts["calls"] += 1
    assert replies is not None
    return replies[0]


def _steps(reply: Reply) -> list[Step]:
    """Return the steps of a reply; one that has none ends the episode."""
    if not reply.readable:
        raise SearchStopped(UNREADABLE if reply.state == "unreadable" else DECLINED, reply.reason)
    return [Step.of(step) for step in reply.value]


def run(play: Play) -> Doing:
    """Play an episode with the planner of its settings; return how it ended."""
    asks = Asks(play)
    if play.settings["planner"] == TREE:
        return (yield from _run_tree(play, asks))
    reply = yield from _put(play, asks.plan())
    play.plan = _steps(reply)
    react = _REACTIONS[play.settings["planner"]]
    first, shown = 0, list(play.plan)
    while True:
        if play.at >= len(play.plan):
            yield play.turn(shown, first, None, None)
            return PLAN_END
        if play.out_of_steps:
            yield play.turn(shown, first, None, None)
            return MAX_STEPS
        step = play.plan[play.at]
        seen = play.advance()
        if seen is None or seen.ok:
            continue
        error = error_of(step, play.at + 1, seen)
        play.count_error(seen)
        if step.skill == UNPARSED:
            error["kind"] = UNPARSED
        if play.counts["corrections"] >= play.settings["max_corrections"]:
            yield play.turn(shown, first, error, None)
            return MAX_CORRECTIONS
        try:
            correction = yield from react(play, asks, error)
        except SearchStopped:
            yield play.turn(shown, first, error, None)
            raise
        if correction["kind"] == "skip":
            play.records[-1]["skipped"] = True
            continue
        correction["plan_after"] = [one.to_json() for one in play.plan]
        yield play.turn(shown, first, error, correction)
        first, shown = play.at, list(play.plan)


# --- Local and Global -----------------------------------------------------------------------------

Reaction = Generator[Batch | Turn, Sequence[Reply] | None, dict[str, Any]]


def _correct(play: Play, strategy: str, kind: str) -> dict[str, Any]:
    play.counts["corrections"] += 1
    return {"n": play.counts["corrections"], "strategy": strategy, "kind": kind}


def _local(play: Play, asks: Asks, error: dict[str, Any]) -> Reaction:
    """Ask for a new remainder; nothing is diagnosed and nothing undone."""
    correction = _correct(play, LOCAL, "replan")
    yield from _replan(play, asks, error)
    return correction


def _replan(play: Play, asks: Asks, error: Json) -> Generator[Batch | Turn, Any, None]:
    """Replace the plan from the failed step on."""
    reply = yield from _put(play, asks.remainder(error))
    steps = _steps(reply)
    play.beliefs[-1] = play.seen_belief()
    play.plan = [*play.plan[: play.at], *steps]


def _global(play: Play, asks: Asks, error: dict[str, Any]) -> Reaction:
    """Put the house back to its start and ask for a whole plan."""
    correction = _correct(play, GLOBAL, "restart")
    tried = list(play.plan)
    play.restart()
    play.plan = []
    reply = yield from _put(play, asks.restart(error, tried))
    play.plan = _steps(reply)
    return {**correction, "reset": True}


# --- SDA ------------------------------------------------------------------------------------------


def _sda(play: Play, asks: Asks, error: dict[str, Any]) -> Reaction:
    """Diagnose the failure over the graph, then repair the window that it concerns."""
    t = int(error["t"])
    grounded = [
        *play.executed[: t - 1],
        *play.ground(play.plan[t - 1 :], play.belief),
    ]
    beliefs = play.beliefs
    if grounded[t - 1].skill == UNPARSED:
        diagnosis = Diagnosis(ENVIRONMENT, t)
    else:
        diagnosis = diagnose(play.graph, grounded, t, beliefs)
    error["kind"] = error["kind"] or diagnosis.kind
    error["diagnosis"] = diagnosis.to_json()
    if diagnosis.wanted is not None:
        error["diagnosis"]["timeline"] = timeline(diagnosis.wanted.key, beliefs)
    if not play.settings["adaptation"]:
        play.skip()
        return {"kind": "skip"}
    if diagnosis.kind == ENVIRONMENT or diagnosis.needs_place:
        correction = _correct(play, SDA, "replan")
        yield from _replan(play, asks, error)
        return correction
    if diagnosis.insert is not None:
        correction = _correct(play, SDA, "insert")
        play.beliefs[-1] = play.seen_belief()
        play.plan[t - 1 : t - 1] = [diagnosis.insert]
        return correction
    return (yield from _rebuild(play, asks, error, diagnosis, grounded))


def _rebuild(
    play: Play, asks: Asks, error: Json, diagnosis: Diagnosis, grounded: Sequence[Step]
) -> Reaction:
    """Search the subtree of the window, undo what was done in it, and go on with the best path."""
    correction = _correct(play, SDA, "rebuild")
    start, end = diagnosis.t_start, diagnosis.t_end
    window, rest = grounded[start - 1 : end], grounded[end:]
    chosen: list[Step] | None = None
    if play.settings["search_tree"]:
        reply = yield from _put(play, asks.corrective(error, diagnosis, window))
        given = [Step.of(step) for step in reply.value] if reply.readable else []
        # What was seen since is no part of the belief at the root: the one before the window.
        correctives = play.ground(
            [step for step in given if step.skill != UNPARSED], play.beliefs[start - 1]
        )
        tree = search(
            play.graph, play.beliefs[start - 1], window, grounded[diagnosis.t_error - 1], diagnosis,
            correctives, rest, play.settings["max_nodes"],
        )  # fmt: skip
        correction["tree"] = tree.to_json()
        correction["correctives_unread"] = not reply.readable
        play.counts["tree_limited"] += tree.limited
        number = 0
        if len(tree.paths) > 1:
            reply = yield from _put(play, asks.choice(error, start, tree.paths, rest))
            number = reply.value - 1 if reply.readable else 0
            correction["choice_unread"] = not reply.readable
        if tree.paths:
            chosen = list(tree.paths[number].steps)
            correction["chosen"] = number
        else:
            play.counts["tree_empty"] += 1
    if chosen is None:
        reply = yield from _put(play, asks.window(error, diagnosis, window, rest))
        chosen = _steps(reply)
        correction["soft"] = True
    belief = _reverse(play, start, diagnosis.t_error)
    correction["window"] = [start, end]
    play.plan = [*play.plan[: start - 1], *chosen, *play.plan[end:]]
    play.back_to(start - 1, belief)
    return correction


def _reverse(play: Play, start: int, t_error: int) -> Belief:
    """Undo the window's steps that were carried out, last first; return the belief after it.

    What cannot be undone stays done. A step that fails ends the reversal.
    """
    belief = play.seen_belief()
    for number in range(t_error - 1, start - 1, -1):
        for step in _undo(play, play.executed[number - 1], play.beliefs[number - 1], belief):
            if play.out_of_steps:
                return belief
            seen = play.act(step, REVERSED, prep=step.skill == FIND)
            play.counts["reversed"] += 1
            if seen.ok:
                belief.apply(play.graph, Step(step.skill, step.type, seen.target))
            play.observe(belief, seen)
            if not seen.ok:
                return belief
    return belief


def _undo(play: Play, done: Step, before: Belief, now: Belief) -> list[Step]:
    """Return the steps that undo one; a find stands before them where it is needed."""
    things = play.things
    if (done.skill, done.item) in play.irreversible or done.skill in (FIND, SLICE, UNPARSED):
        return []
    if done.skill == PICK:
        where = before.get((LOC, done.item))
        if now.hold != done.item or not isinstance(where, str) or "|" not in where:
            return []
        type = things.type_of(where)
        shut = _hides(play, where) and now.get((IS_OPEN, where)) is False
        opens = [Step(OPEN, type, where)] if shut else []
        return [Step(FIND, type, where), *opens, Step(PUT, done.type, done.item)]
    if done.skill == PUT:
        if now.hold != "none":
            return []
        return [Step(FIND, done.type, done.item), Step(PICK, done.type, done.item)]
    pos = now.get((POS, ""))
    near = isinstance(pos, str) and (pos == done.item or done.item in now.chain(pos))
    find = [] if near else [Step(FIND, done.type, done.item)]
    return [*find, Step(_OPPOSITE[done.skill], done.type, done.item)]


def _hides(play: Play, id: str) -> bool:
    entity = play.house.entities.get(id)
    return entity is not None and entity.container


_REACTIONS: Mapping[str, Callable[[Play, Asks, dict[str, Any]], Reaction]] = {
    SDA: _sda, LOCAL: _local, GLOBAL: _global,
}  # fmt: skip


# --- Tree Planner ---------------------------------------------------------------------------------


@dataclass
class Branch:
    """A node of the action tree: how many plans pass it, and how many end in it."""

    step: Step | None
    parent: "Branch | None" = None
    votes: int = 0
    ends: int = 0
    dead: bool = False
    children: dict[tuple[str, str], "Branch"] = field(default_factory=dict)

    def best(self) -> "Branch | None":
        """Return the live child with the most votes; the earlier plan decides between equals."""
        live = [child for child in self.children.values() if not child.dead]
        return max(live, key=lambda child: child.votes, default=None)

    def path(self) -> list[Step]:
        """Return the steps from the root to this node."""
        path: list[Step] = []
        node: Branch | None = self
        while node is not None and node.step is not None:
            path.append(node.step)
            node = node.parent
        return path[::-1]


def grow(plans: Sequence[Sequence[Step]]) -> Branch:
    """Return the action tree: plans merged by what they have in common at their start."""
    root = Branch(None)
    for plan in plans:
        node = root
        node.votes += 1
        for step in plan:
            key = (step.skill, step.item)
            node = node.children.setdefault(key, Branch(step, node))
            node.votes += 1
        node.ends += 1
    return root


def _run_tree(play: Play, asks: Asks) -> Doing:
    """Sample plans once and carry out the tree they make; an error leads to another branch."""
    replies = yield asks.samples()
    assert replies is not None
    play.counts["calls"] += len(replies)
    plans = [[Step.of(step) for step in reply.value] for reply in replies if reply.readable]
    if not plans:
        _steps(replies[0])
    node = grow(plans)
    play.plan, first = _onwards(node), 0
    while True:
        child = node.best()
        if child is None or (node.ends and node.ends >= child.votes):
            yield play.turn(play.plan, first, None, None)
            return PLAN_END
        if play.out_of_steps:
            yield play.turn(play.plan, first, None, None)
            return MAX_STEPS
        assert child.step is not None
        seen = play.advance()
        if seen is None or seen.ok:
            node = child
            continue
        error = error_of(child.step, play.at + 1, seen)
        play.count_error(seen)
        child.dead = True
        back = 0
        while node.best() is None and node.parent is not None:
            node.dead = True
            node = node.parent
            back += 1
        if node.best() is None:
            yield play.turn(play.plan, first, error, None)
            return NO_BRANCH
        shown, began = play.plan, first
        start = play.at - back
        play.back_to(start, play.seen_belief())
        play.plan, first = [*node.path(), *_onwards(node)], start
        correction = {
            "n": 0, "strategy": TREE, "kind": "branch", "back": back,
            "plan_after": [one.to_json() for one in play.plan],
        }  # fmt: skip
        yield play.turn(shown, began, error, correction)


def _onwards(node: Branch) -> list[Step]:
    """Return the steps that follow a node along the most votes."""
    onwards: list[Step] = []
    while (child := node.best()) is not None and not (node.ends and node.ends >= child.votes):
        assert child.step is not None
        onwards.append(child.step)
        node = child
    return onwards
