"""Grammar, blocking plans, lookups, reach and similarity against second implementations."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.systems.planbench_xl.environment.actions import parse_tagged, tagged
from benchmarks.systems.planbench_xl.environment.blockers import (
    EDGES,
    LENGTHS,
    NOISE_MODES,
    SELECTIONS,
    Rules,
    plan_for,
)
from benchmarks.systems.planbench_xl.environment.catalogue import (
    BASELINE,
    Ambiguous,
    CatalogueTool,
    ToolWorld,
    world_of,
)
from benchmarks.systems.planbench_xl.environment.query import Reach
from benchmarks.systems.planbench_xl.environment.similarity import DataType, Matcher
from benchmarks.systems.planbench_xl.settings import CONDITIONS, resolve
from benchmarks.systems.planbench_xl.world import load_world
from tests.benchmarks.systems.planbench_xl import naive

marks = [f"<{slash}{tag}>" for slash in ("", "/") for tag in naive.TAGS]
pieces = st.one_of(
    st.sampled_from([*marks, *(mark.upper() for mark in marks), "<tool_call >", "<", ">", "\n"]),
    st.text(alphabet='ab {}"<>/\n', max_size=6),
)


@given(st.lists(pieces, max_size=14).map("".join))
@settings(max_examples=400)
def test_grammar(text):
    wanted = naive.pairs(text)

    assert [(action.kind, action.content) for action in tagged(text)] == wanted
    read = parse_tagged(text, {})
    if len(wanted) == 1:
        assert (read["kind"], read["content"]) == wanted[0]
    else:
        assert read == {"kind": "label_error", "content": ""}


def test_grammar_takes_linear_time():
    """Regular expressions for pairs need minutes for this."""
    assert tagged("<tool_call>" * 200_000) == []


names = [f"tool-{letter}" for letter in "abcdefgh"]
some_paths = st.lists(
    st.lists(st.sampled_from(names), min_size=1, max_size=5, unique=True), min_size=1, max_size=9
)
some_rules = st.builds(
    Rules,
    selection=st.sampled_from(SELECTIONS),
    block_paths=st.integers(0, 6),
    remaining_paths=st.integers(0, 6),
    remaining_ratio=st.sampled_from([0.0, 0.2, 0.25, 0.5, 0.6, 1.0]),
    tolerance=st.integers(0, 2),
    min_remaining=st.integers(1, 3),
    length_objective=st.sampled_from(LENGTHS),
    tools_objective=st.sampled_from(EDGES),
    seed=st.integers(0, 100),
    noise_mode=st.sampled_from(NOISE_MODES),
    noise_types=st.sampled_from(
        [("implicit failures",), ("semantic misleading", "explicit failures")]
    ),
    noise_count=st.integers(1, 3),
    max_candidates=st.sampled_from([1, 7, 40, 1000]),
    max_tools=st.integers(0, 4),
)


@given(some_paths, some_rules, st.sampled_from(["task-1", "task-2"]))
@settings(max_examples=400)
def test_blocking_plans(paths, rules, task_id):
    found = plan_for(task_id, tuple(map(tuple, paths)), rules)
    wanted = naive.plan(task_id, paths, rules)

    if wanted is None:
        assert not found.resolved
        assert found.tools == ()
    else:
        assert (found.tools, found.noise, found.paths) == wanted


def test_plans_for_the_shipped_world():
    """Real paths in place of made ones, under the published rules."""
    for name in CONDITIONS:
        rules = resolve({"condition": name}).rules
        for task in load_world().tasks if rules else ():
            paths = tuple(map(tuple, task.payload["paths"]))
            found = plan_for(task.payload["task_id"], paths, rules)
            wanted = naive.plan(task.payload["task_id"], paths, rules)
            assert (found.tools, found.noise, found.paths) == wanted, (name, task.id)


def tool(name, inputs, output):
    arguments = {f"the_{one}": one for one in inputs}
    return CatalogueTool(name, BASELINE, tuple(inputs), output, arguments, "", {})


some_types = [f"d{n}" for n in range(7)]
some_tools = st.lists(
    st.tuples(
        st.lists(st.sampled_from(some_types), min_size=1, max_size=3, unique=True),
        st.sampled_from(some_types),
    ),
    max_size=12,
)


@given(some_tools, st.lists(st.sampled_from(some_types), max_size=2), st.randoms())
def test_reach(made, start, chance):
    """Whatever the order in which tools are shown and values found."""
    tools = [tool(f"t{n}", inputs, output) for n, (inputs, output) in enumerate(made)]
    reach, shown, found = Reach(start), [], set(start)
    for one in tools:
        if chance.random() < 0.3:
            extra = chance.choice(some_types)
            reach.add(extra)
            found.add(extra)
        shown.append(one)
        reach.show([one, *shown])
        assert reach.reached == naive.closure(found, shown)
    assert reach.explored == len(reach.reached - set(start))


values = st.sampled_from(["a", "b", None, 1, 1.0, True])


@given(
    st.lists(st.fixed_dictionaries(dict.fromkeys(some_types, values)), min_size=1, max_size=8),
    st.lists(st.sampled_from(some_types), min_size=1, max_size=3, unique=True),
    st.sampled_from(some_types),
    st.lists(st.one_of(values, st.just("None"), st.just("1")), min_size=3, max_size=3),
)
def test_lookups(rows, inputs, output, given_values):
    one = tool("t", inputs, output)
    world = ToolWorld("test", (), tuple(rows), {"t": one})
    arguments = dict(zip(one.arguments, given_values, strict=False))
    wanted = naive.look_up(rows, one, arguments)

    if len(wanted) > 1:
        with pytest.raises(Ambiguous):
            world.look_up(one, arguments)
    else:
        found = world.look_up(one, arguments)
        assert ([] if found is None else [str(found)]) == wanted


words = ["order", "number", "id", "box", "paid", "Date", "no.", "of the", "xy"]


@given(
    st.lists(
        st.lists(st.sampled_from(words), min_size=1, max_size=4).map(" ".join),
        min_size=3,
        max_size=9,
        unique_by=lambda text: text.lower(),
    ),
    st.lists(st.sampled_from(words), min_size=1, max_size=5).map(" ".join),
)
@settings(max_examples=40)
def test_similarity(forms, phrase):
    datatypes = [DataType(f"type_{n}", (form,), "") for n, form in enumerate(forms)]
    matcher = Matcher(datatypes)

    for asked in (phrase, "type_1", phrase.upper(), "???"):
        assert matcher.match(asked).name == naive.best_datatype(asked, datatypes)


def test_similarity_on_the_shipped_world():
    """Every name and alias means its own data type; and so says the plain implementation."""
    world = world_of(load_world().shared)
    chance = random.Random(5)
    for datatype in world.datatypes:
        for form in datatype.forms:
            assert world.matcher.match(form).name == datatype.name
        blurred = " ".join(chance.sample(datatype.description.split(), 3))
        wanted = naive.best_datatype(blurred, world.datatypes)
        assert world.matcher.match(blurred).name == wanted


def test_what_means_nothing_is_the_first_data_type():
    first = DataType("first", ("aaa",), "bbb")
    assert Matcher([first, first._replace(name="second")]).match("()").name == "first"
