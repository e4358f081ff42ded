"""SDA-Planner as a generator: a plan carried out step by step, and repaired when a step fails."""

import random
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from benchmarks.core.types import Batch, Episode, Json, Outcome, Reply, Task, Turn
from benchmarks.systems.sda_planner.asks import graph_ask
from benchmarks.systems.sda_planner.house.goals import TWO
from benchmarks.systems.sda_planner.metrics import no_metrics, outcome_metrics
from benchmarks.systems.sda_planner.play import Play
from benchmarks.systems.sda_planner.repair.diagnosis import ENVIRONMENT, PRECONDITION
from benchmarks.systems.sda_planner.repair.graph import BASE_STATES, Graph, builtin_graph
from benchmarks.systems.sda_planner.repair.graph_files import differences, join_edges
from benchmarks.systems.sda_planner.repair.planners import DECLINED, UNREADABLE, SearchStopped, run
from benchmarks.systems.sda_planner.settings import BUILTIN, DATASET, MODEL, SDA
from benchmarks.systems.sda_planner.steps import SKILLS

LEFT_OUT = "left_out"


def episode(task: Task, settings: Mapping[str, Any], rng: random.Random) -> Episode:
    """Play one trial."""
    if settings["exclude_two_obj"] and task.payload["task_type"] == TWO:
        why = "tasks with two objects are left out"
        return Outcome(LEFT_OUT, *no_metrics(why), {"groups": _groups(task.payload, settings)})
    graph, about = yield from _graph(task, settings)
    play = Play(task, settings, rng, graph)
    play.counts["calls"] += about.pop("calls", 0)
    play.about_graph = about
    reason, repairs = "", Counter[str]()
    playing = run(play)
    send: Sequence[Reply] | None = None
    while True:
        try:
            item = playing.send(send)
        except StopIteration as end:
            ending = str(end.value)
            break
        except SearchStopped as stopped:
            ending, reason = stopped.ending, stopped.reason
            break
        if isinstance(item, Turn) and item.payload["correction"]:
            repairs[item.payload["correction"]["kind"]] += 1
        send = yield item
    met, all = play.score()
    if ending == DECLINED:
        metrics = no_metrics("the agent gave no reply")
    else:
        metrics = outcome_metrics(play.counts, met, all, settings["planner"])
    payload = {
        "goal": [met, all],
        "conditions": [c.to_json() for c in play.goal.conditions(play.env.state)],
        "counts": dict(play.counts),
        "repairs": dict(repairs),
        "events": [event.to_json() for event in play.env.events],
        "graph": about,
        "reason": reason,
        "failure_category": _failure(ending, met == all, play.last_cause),
        "groups": _groups(task.payload, settings),
    }
    return Outcome(ending, *metrics, payload)


def _failure(ending: str, success: bool, cause: str) -> str | None:
    """Return the class of a failure by the last step that failed; None for a success."""
    if success or ending == DECLINED:
        return None
    if ending == UNREADABLE:
        return "no_plan"
    classes = {ENVIRONMENT: "environment_state_error", PRECONDITION: "action_precondition_error"}
    return classes.get(cause, "incomplete_plan")


def _groups(trial: Json, settings: Mapping[str, Any]) -> dict[str, str]:
    """Return what a task is like, for figures by group."""
    return {
        "task_type": trial["task_type"],
        "split": trial["split"],
        "injected": settings["env_error"],
    }


def _graph(
    task: Task, settings: Mapping[str, Any]
) -> Generator[Batch | Turn, Sequence[Reply] | None, tuple[Graph, dict[str, Any]]]:
    """Return the graph of an episode, and where it came from."""
    source, builtin = settings["graph"], builtin_graph()
    about: dict[str, Any] = {"source": BUILTIN, "version": builtin.version}
    if settings["planner"] != SDA or source == BUILTIN:
        return builtin, about
    if source == DATASET:
        stored = task.shared.get("graph")
        if stored is None:
            return builtin, {**about, "problem": "the dataset has no graph of its own"}
        graph = Graph.of(stored)
        return graph, _about(DATASET, graph)
    modelled, problem = yield from _modelled(settings)
    if modelled is None:
        return builtin, {**about, "problem": problem, "calls": 2 * len(SKILLS)}
    return modelled, {**_about(MODEL, modelled), "calls": 2 * len(SKILLS)}


def _about(source: str, graph: Graph) -> dict[str, Any]:
    return {
        "source": source, "version": graph.version, "digest": graph.digest,
        "graph": graph.to_json(), "differences": differences(graph, builtin_graph()),
    }  # fmt: skip


def _modelled(
    settings: Mapping[str, Any],
) -> Generator[Batch | Turn, Sequence[Reply] | None, tuple[Graph | None, str]]:
    """Ask the agent for a graph: what each skill sets, then what it needs of those states."""
    replies = yield [graph_ask("sets", skill, BASE_STATES, None, settings) for skill in SKILLS]
    assert replies is not None
    if not all(reply.readable for reply in replies):
        return None, "a reply about effects could not be read"
    sets = {skill: reply.value for skill, reply in zip(SKILLS, replies, strict=True)}
    new = {edge["state"] for edges in sets.values() for edge in edges} - set(BASE_STATES)
    states = [*BASE_STATES, *sorted(new)]
    replies = yield [graph_ask("needs", skill, states, sets[skill], settings) for skill in SKILLS]
    assert replies is not None
    if not all(reply.readable for reply in replies):
        return None, "a reply about needs could not be read"
    needs = {skill: reply.value for skill, reply in zip(SKILLS, replies, strict=True)}
    return join_edges("model", sets, needs)
