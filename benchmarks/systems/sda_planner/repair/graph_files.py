"""State-dependency graphs from outside: checked, whether a file or a model brings them."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.core.errors import UnreadableReply
from benchmarks.core.json_files import load
from benchmarks.core.problems import FileRefused, Problems, Unquoted, describe, json_fault
from benchmarks.core.types import Json
from benchmarks.systems.sda_planner.house.affordances import TYPES
from benchmarks.systems.sda_planner.repair.graph import (
    CONTAINER,
    HOLD,
    LOC,
    NONE,
    OBJECT,
    POS,
    RECEPTACLE,
    Graph,
)
from benchmarks.systems.sda_planner.steps import SKILLS

LARGEST = 200_000
MOST_EDGES, MOST_STATES = 12, 40
_STATE = re.compile(r"^(agent|item)\.[a-z][a-z_]{0,29}$")
_PLACES = (OBJECT, RECEPTACLE, CONTAINER)


def read_graph_file(paths: Iterable[Path]) -> dict[str, Any] | None:
    """Return the graph in the one file given, or None where there is none."""
    for path in paths:
        problems = Problems()
        try:
            with path.open("rb") as file:
                data = file.read(LARGEST + 1)
            if len(data) > LARGEST:
                problems.add(path.name, f"at most {LARGEST:,} bytes", Unquoted("more"))
                problems.check()
            value = load(data.decode("utf-8-sig"))
        except OSError as error:
            problems.add(path.name, "a file that can be read", Unquoted(error.strerror or "none"))
            problems.check()
        except (ValueError, RecursionError) as error:
            problems.add(path.name, "JSON in UTF-8", Unquoted(json_fault(error)))
            problems.check()
        return check_graph(path.name, value, problems).to_json()
    return None


def check_graph(where: str, value: Any, problems: Problems) -> Graph:
    """Return a graph, or raise ``FileRefused`` with everything that is wrong with it."""
    skills = value.get("skills") if isinstance(value, dict) else None
    if not isinstance(skills, dict):
        problems.add(where, "an object with the fields version and skills", value)
        problems.check()
        raise AssertionError("a problem was noted")
    version = value.get("version")
    if not isinstance(version, str) or not 0 < len(version) <= 60:
        problems.add(f"{where}, version", "a text of at most 60 characters", version)
    for name in skills:
        if name not in SKILLS:
            problems.add(f"{where}, skills", "a skill among " + ", ".join(SKILLS), name)
    for skill in SKILLS:
        edges = skills.get(skill)
        if not isinstance(edges, dict):
            problems.add(f"{where}, {skill}", "an object with needs and sets", edges)
            continue
        for kind in ("needs", "sets"):
            given = edges.get(kind)
            if not isinstance(given, list) or len(given) > MOST_EDGES:
                problems.add(f"{where}, {skill}.{kind}", f"a list of at most {MOST_EDGES}", given)
                continue
            for number, edge in enumerate(given):
                _check_edge(f"{where}, {skill}.{kind}[{number}]", edge, kind, problems)
    problems.check()
    graph = Graph.of({"version": version, "skills": {skill: skills[skill] for skill in SKILLS}})
    if len(graph.states) > MOST_STATES:
        problems.add(where, f"at most {MOST_STATES} states", Unquoted(str(len(graph.states))))
    _check_reachable(where, graph, problems)
    problems.check()
    return graph


def _check_edge(where: str, edge: Any, kind: str, problems: Problems) -> None:
    if not isinstance(edge, dict):
        problems.add(where, "an object with state and value", edge)
        return
    state, of, value = edge.get("state"), edge.get("of", ""), edge.get("value")
    if not isinstance(state, str) or not _STATE.match(state):
        problems.add(f"{where}.state", "agent.NAME or item.NAME", state)
        return
    if state.startswith("agent.") == bool(of) or of not in ("", *_PLACES):
        problems.add(f"{where}.of", "$o, $r or $c for states of items, nothing for the agent", of)
    if kind == "sets" and of == CONTAINER:
        problems.add(f"{where}.of", "$o or $r where a state is set", of)
    unknown = set(edge) - {"state", "of", "value", "type", "for"}
    if unknown:
        problems.add(
            where, "the fields state, of, value, type and for", Unquoted(sorted(unknown)[0])
        )
    if "type" in edge and kind == "needs" and "value" not in edge:
        _check_types(f"{where}.type", edge["type"], problems)
    elif not isinstance(value, bool) and not (isinstance(value, str) and 0 < len(value) <= 40):
        problems.add(f"{where}.value", "true, false, none, hand, $o, $r or a word", value)
    elif isinstance(value, str) and value.startswith("$") and value not in (OBJECT, RECEPTACLE):
        problems.add(f"{where}.value", "$o or $r", value)
    if "for" in edge:
        _check_types(f"{where}.for", edge["for"], problems)


def _check_types(where: str, value: Any, problems: Problems) -> None:
    if not isinstance(value, list) or not value or not all(one in TYPES for one in value):
        problems.add(where, "a list of types of ALFRED", value)


def _check_reachable(where: str, graph: Graph, problems: Problems) -> None:
    """Note skills that can never be carried out: what they need, only they or nobody sets.

    Values of states spread from the start without being taken back, so a skill that is not reached
    here is reached in no house.
    """
    reached = {(LOC, "*"), (HOLD, NONE), *((s, False) for s in graph.states if s[:5] == "item.")}
    reached |= {(s, NONE) for s in graph.states if s.startswith("agent.")}
    open_skills = set(SKILLS)
    while True:
        now = {
            skill for skill in open_skills
            if all(_has(reached, need) for need in graph.needs[skill])
        }  # fmt: skip
        if not now:
            break
        open_skills -= now
        for skill in now:
            reached |= {(e.state, _kind(e.value)) for e in graph.effects[skill]}
    for skill in sorted(open_skills):
        for need in graph.needs[skill]:
            if _has(reached, need):
                continue
            setters = sorted(graph.setters(need.state))
            wanted = "a thing" if need.types else describe(need.value)
            found = (
                f"a circle: it is set by {', '.join(setters)}, which cannot be carried out first"
                if setters
                else "no skill that sets it"
            )
            problems.add(
                f"{where}, {skill}, {need.state} = {wanted}",
                "a state that has this value at the start or is set to it by another skill",
                Unquoted(found),
            )


def _kind(value: Any) -> Any:
    """Return a value as it spreads: any thing is like any other."""
    return "*" if isinstance(value, str) and value.startswith("$") else value


def _has(reached: set[tuple[str, Any]], need: Any) -> bool:
    if need.types or need.value in (OBJECT, RECEPTACLE):
        return (need.state, "*") in reached or (need.state == POS and (POS, "*") in reached)
    return (need.state, need.value) in reached or (need.state, "*") in reached


# --- what a model says of one skill ---------------------------------------------------------------


def parse_edges(text: str, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Read the edges of one skill, a JSON list, as ``params["kind"]`` (sets or needs) asks."""
    text = text[:LARGEST]
    start, end = text.find("["), text.rfind("]")
    try:
        value = json.loads(text[start : end + 1]) if 0 <= start < end else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, list) or len(value) > MOST_EDGES:
        raise UnreadableReply(f"expected a JSON list of at most {MOST_EDGES} states.")
    problems = Problems()
    for number, edge in enumerate(value):
        _check_edge(f"state {number + 1}", edge, str(params["kind"]), problems)
    if problems.total:
        raise UnreadableReply("; ".join(problems.lines()[:3]) + ".")
    return value


def join_edges(
    version: str, sets: Mapping[str, Any], needs: Mapping[str, Any]
) -> tuple[Graph | None, str]:
    """Return the graph that edges by skill make, or None and what is wrong with it."""
    skills = {skill: {"needs": needs.get(skill), "sets": sets.get(skill)} for skill in SKILLS}
    try:
        return check_graph("graph", {"version": version, "skills": skills}, Problems()), ""
    except FileRefused as refused:
        return None, str(refused)


def differences(graph: Graph, other: Graph) -> list[str]:
    """Return in words which edges only one of two graphs has."""
    lines = []
    for skill in SKILLS:
        mine, its = _edges(graph, skill), _edges(other, skill)
        lines += [f"{skill}: also {edge}" for edge in mine if edge not in its]
        lines += [f"{skill}: no longer {edge}" for edge in its if edge not in mine]
    return lines


def _edges(graph: Graph, skill: str) -> list[str]:
    edges: Json = graph.to_json()["skills"].get(skill, {"needs": [], "sets": []})
    rows = [("needs", one) for one in edges["needs"]] + [("sets", one) for one in edges["sets"]]
    return [
        f"{kind} {one['state']}{'[' + one['of'] + ']' if one.get('of') else ''} = "
        + ("/".join(one["type"]) if "type" in one else str(one["value"]).lower())
        for kind, one in rows
    ]
