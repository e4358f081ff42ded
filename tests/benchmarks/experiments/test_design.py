"""Designs: what a file may say, what is said of one that cannot be read, and the way back."""

import pytest

from benchmarks.core.problems import FileRefused
from benchmarks.experiments.design import Design, design_of, read_design

WHOLE = """\
name: Main table
dataset: adaplanbench-demo@1
agents: [careful-tracker, explorer]
levels: [low, high]
conditions:
  - {}
  - {constraints: world_only, refinement: 6}
temperatures: [null, 0.0, 0.5]
seeds: [1, 2, 3]
roles: {rubric_judge: [judge-even, judge-strict], simulator: plain-words}
tasks: 12
cost_cap: 5
"""


def _faults(text: str) -> list[str]:
    with pytest.raises(FileRefused) as refused:
        read_design(text)
    return [str(problem) for problem in refused.value.problems]


def test_a_file_is_read_and_written_back_as_it_was() -> None:
    design = read_design(WHOLE)
    assert design == Design(
        name="Main table",
        dataset="adaplanbench-demo@1",
        agents=("careful-tracker", "explorer"),
        levels=("low", "high"),
        conditions=({}, {"constraints": "world_only", "refinement": 6}),
        temperatures=(None, 0.0, 0.5),
        seeds=(1, 2, 3),
        roles={"rubric_judge": ("judge-even", "judge-strict"), "simulator": ("plain-words",)},
        tasks=12,
        cost_cap=5.0,
    )
    assert read_design(design.text) == design_of(design.data) == design
    assert read_design(design.text).digest == design.digest
    least = read_design("name: A\ndataset: 7\nagents: [x]\ntasks: all\n")
    assert least.data == {"name": "A", "dataset": "7", "agents": ["x"]}
    assert least.seeds == (0,) and least.conditions == ({},) and least.digest != design.digest


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ("5", "endpoint_parameters: expected fields such as temperature, max_tokens"),
        ("{top_p: 1}", "endpoint_parameters, top_p: expected a field among temperature"),
        ("{temperature: 3}", "endpoint_parameters, temperature: expected a number from 0 to 2"),
        ("{temperature: null}", "endpoint_parameters, temperature: expected a number from 0 to 2"),
        ("{max_tokens: 0}", "endpoint_parameters, max_tokens: expected a whole number from 1"),
        ("{max_tokens: 1.5}", "endpoint_parameters, max_tokens: expected a whole number from 1"),
    ],
)
def test_parameters_for_endpoints_are_read(parameters: str, said: str) -> None:
    least = "name: A\ndataset: 7\nagents: [x]\n"
    design = read_design(least + "endpoint_parameters: {temperature: 0, max_tokens: 16000}\n")
    assert design.endpoint_parameters == {"temperature": 0.0, "max_tokens": 16000}
    assert read_design(design.text) == design
    (fault,) = _faults(least + f"endpoint_parameters: {parameters}\n")
    assert fault.startswith(f"line 4, {said}")


def test_every_fault_is_named_with_its_line() -> None:
    text = WHOLE.replace("name: Main table\n", "").replace("[1, 2, 3]", "[1, -2]")
    text = text.replace("0.0, 0.5", "hot").replace("12", "0").replace("cost_cap: 5", "budget: 5")
    faults = _faults(text)
    assert len(faults) == 5
    for expected in (
        "line 11, budget: expected a field among name, dataset, agents",
        "name: expected a text of at most 160 characters, found nothing",
        "line 7, temperatures 2: expected null, or a number from 0 to 2, found the text 'hot'",
        "line 8, seeds 2: expected a whole number from 0, found the number -2",
        "line 10, tasks: expected all, a number from 1, or a list of task ids",
    ):
        assert any(fault.startswith(expected) for fault in faults), expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file: expected fields such as name"),
        ("name: [", "line 2: expected YAML, found something other than node content"),
        ("name: A\nname: B\n", "line 2: expected each name once"),
        ("name: &a A\ndataset: *a\nagents: [x]\n", "a reference to another one"),
        ("name: !!python/object:os.system {}\n", "line 1: expected a list or fields without a tag"),
        ("[" * 1000, "expected"),
        ("name: " + "a" * 200_001, "at most 200,000 characters"),
        ("name: A\ndataset: D\nagents: []\n", "line 3, agents: expected a list of 1 to 500"),
        ("name: A\ndataset: D\nagents: [x]\nconditions: [{a: [1]}]\n", "conditions 1, a"),
        (
            "name: A\ndataset: D\nagents: [x]\ncost_cap: .nan\n",
            "line 4: expected a number that is finite",
        ),
    ],
)
def test_what_is_no_design_is_refused_in_words(text: str, said: str) -> None:
    assert said in "\n".join(_faults(text))
