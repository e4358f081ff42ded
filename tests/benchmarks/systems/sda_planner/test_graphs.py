"""Graphs from files and models: what is refused, what is kept, and what an episode does then."""

import copy
import json

import pytest

from benchmarks.core.errors import UnreadableReply
from benchmarks.core.problems import FileRefused, Problems
from benchmarks.systems.sda_planner.repair.graph import Graph, builtin_graph
from benchmarks.systems.sda_planner.repair.graph_files import check_graph, differences, parse_edges
from benchmarks.systems.sda_planner.scripted import POLICIES, VERSION
from tests.benchmarks.systems.sda_planner.stage import by_rule, play, sample


@pytest.fixture
def value():
    return copy.deepcopy(builtin_graph().to_json())


def refused(value):
    with pytest.raises(FileRefused) as caught:
        check_graph("graph.json", value, Problems())
    return str(caught.value)


def test_the_shipped_graph_is_valid_and_survives_json(value):
    assert check_graph("graph.json", value, Problems()) == builtin_graph()
    assert Graph.of(json.loads(json.dumps(value))).digest == builtin_graph().digest
    assert differences(builtin_graph(), builtin_graph()) == []


def test_a_graph_with_a_circle_is_refused_and_the_circle_named(value):
    """Open needs a key that only close gives, and close needs what only open sets."""
    value["skills"]["open"]["needs"].append({"state": "agent.key", "value": "gold"})
    value["skills"]["close"]["sets"].append({"state": "agent.key", "value": "gold"})
    said = refused(value)

    assert "graph.json, open, agent.key" in said
    assert "a circle: it is set by close, which cannot be carried out first" in said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: s["open"]["needs"].append({"state": "item.locked", "of": "$o", "value": "no"}),
         "no skill that sets it"),
        (lambda s: s["open"]["needs"].append({"state": "weather", "value": "dry"}),
         "expected agent.NAME or item.NAME"),
        (lambda s: s["open"]["sets"].append({"state": "item.open", "value": True}), "expected $o"),
        (lambda s: s["open"]["sets"].append({"state": "item.open", "of": "$o", "value": "$x"}),
         "expected $o or $r"),
        (lambda s: s["slice"]["needs"].append({"state": "agent.hold", "type": ["Sword"]}),
         "a list of types of ALFRED"),
        (lambda s: s.update(fly={"needs": [], "sets": []}), "a skill among"),
        (lambda s: s.pop("find"), "an object with needs and sets"),
        (lambda s: s["open"].update(needs=[{"state": "agent.hold", "value": "none"}] * 13),
         "a list of at most 12"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_graph_is_named(value, change, said):
    change(value["skills"])

    assert said in refused(value)


def test_something_else_than_a_graph_is_refused():
    for other in (None, [], {"skills": []}, {"version": "x"}):
        assert "an object with the fields version and skills" in refused(other)


def test_replies_of_models_are_read_strictly():
    good = 'These: [{"state": "agent.pos", "value": "$o"}]'
    assert parse_edges(good, {"kind": "sets"}) == [{"state": "agent.pos", "value": "$o"}]
    for text in ("", "[", "{}", "[1]", '[{"state": "moon", "value": true}]', "[" * 5000):
        with pytest.raises(UnreadableReply):
            parse_edges(text, {"kind": "sets"})


def test_an_agent_that_writes_the_shipped_graph_plays_like_with_it():
    task = sample("fork-in-bowl-on-table")
    own, shipped = (play(task, "errors-100", graph=source) for source in ("model", "builtin"))
    about = own.outcome.payload["graph"]

    assert POLICIES["errors-100"].version == VERSION
    assert about["source"] == "model"
    assert about["differences"] == []
    assert own.outcome.metrics["calls"] >= 17
    assert shipped.outcome.payload["graph"] == {"source": "builtin", "version": "builtin-1"}


def test_an_invalid_graph_of_an_agent_falls_back_to_the_shipped_one_and_says_why():
    def rule(ask):
        if ask.context["purpose"] != "graph":
            return "1. find a fork\n2. pick up the fork\n3. find a sink\n4. put down the fork"
        needs = '[{"state": "agent.mood", "value": "good"}]'
        return "[]" if ask.context["kind"] == "sets" else needs

    played = play(sample("fork-in-sink"), by_rule(rule), graph="model")
    about = played.outcome.payload["graph"]

    assert about["source"] == "builtin"
    assert "no skill that sets it" in about["problem"]
    assert played.outcome.metrics["accurate"] == 1


def test_a_dataset_without_a_graph_says_so():
    played = play(sample("fork-in-sink"), "demonstration", graph="dataset")

    assert "no graph of its own" in played.outcome.payload["graph"]["problem"]
