"""Forms for people, drawings and pages: what is shown, refused and escaped."""

import re
from html import unescape
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from benchmarks.core.ports.people import FieldsRefused
from benchmarks.core.types import Json
from benchmarks.datasets.services import save_dataset
from benchmarks.exports.selectors import exported
from benchmarks.models import Agent, Dataset, Run, Trajectory, Turn
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.services import start_runs
from benchmarks.systems.sda_planner.dataset.sample_house import sample_tasks
from benchmarks.systems.sda_planner.pages.drawing import (
    TREE_NODES,
    WIDTH,
    draw_graph,
    draw_tree,
)
from benchmarks.systems.sda_planner.pages.view import name_of, read_walk
from benchmarks.systems.sda_planner.people import (
    compose_choice,
    compose_plan,
    describe_missing,
    dialogue,
    show,
)
from benchmarks.systems.sda_planner.published import PUBLISHED
from benchmarks.systems.sda_planner.repair.graph import Graph, builtin_graph
from benchmarks.systems.sda_planner.repair.graph_files import read_graph_file
from benchmarks.systems.sda_planner.steps import (
    Step,
    number_plan,
    parse_choice,
    parse_corrective,
    parse_plan,
)
from tests.annotation.rows import make_person
from tests.benchmarks.systems.sda_planner.stage import play, sample
from tests.factories.benchmarks import play as carry
from tests.shared_data import shared_data

HOSTILE = "<script>alert('x')</script>"
CONTEXT = {
    "purpose": "plan", "instruction": "Do it.", "objects": ["Mug"], "places": ["Fridge"],
    "known": [], "plan": [], "executed": [], "visible": [], "held": "", "failure": None,
}  # fmt: skip


def rebuilt():
    """An episode with a rebuilt window."""
    for seed in range(20):
        played = play(sample("fork-in-bowl-on-table"), "errors-100", seed=seed)
        for turn in played.turns:
            if (turn.payload["correction"] or {}).get("tree"):
                return played
    raise AssertionError("no window was rebuilt")


# --- forms ----------------------------------------------------------------------------------------


def test_a_plan_from_menus_is_read_as_it_was_put_together():
    fields = {"skill-1": "find", "thing-1": "Mug", "skill-4": "open", "thing-4": "Fridge"}
    text = compose_plan(CONTEXT, fields)

    assert parse_plan(text, {}) == [["find", "Mug", ""], ["open", "Fridge", ""]]
    assert show(CONTEXT, fields, {}).rows[3].thing == "Fridge"


@pytest.mark.parametrize(
    "fields",
    [
        {}, {"skill-1": "find"}, {"thing-1": "Mug"}, {"skill-1": "fly", "thing-1": "Mug"},
        {"skill-1": "find", "thing-1": HOSTILE},
    ],
)  # fmt: skip
def test_half_a_step_is_refused(fields):
    with pytest.raises(FieldsRefused):
        compose_plan(CONTEXT, fields)


def test_no_corrective_step_is_a_reply_and_a_choice_is_one_of_the_options():
    assert parse_corrective(compose_plan({**CONTEXT, "purpose": "corrective"}, {}), {}) == []
    options = {**CONTEXT, "purpose": "choice", "options": [{}, {}]}
    assert parse_choice(compose_choice(options, {"choice": "2"}), {"options": 2}) == 2
    for wrong in ("", "0", "3", "x"):
        with pytest.raises(FieldsRefused):
            compose_choice(options, {"choice": wrong})


def test_a_player_is_told_what_was_done_and_what_failed():
    failure = {"t": 2, "text": "open the fridge", "message": "Open action failed"}
    lines = dialogue({**CONTEXT, "executed": [["find", "Fridge", ""]], "failure": failure})

    assert [line.speaker for line in lines] == ["Task", "Robot", "Robot"]
    assert lines[2].text == "Step 2, open the fridge, failed: Open action failed"


# --- what is drawn --------------------------------------------------------------------------------


def test_the_path_of_a_diagnosis_is_marked_in_the_graph():
    diagnosis = {"state": ["agent.hold", ""]}
    drawn = draw_graph(builtin_graph(), diagnosis, "pick up", "pick up")
    marked = {(box.text, box.tone) for box in drawn.boxes if box.tone}

    assert marked == {("pick up", "source"), ("in the hand", "error"), ("pick up", "error")}
    assert {line.tone for line in drawn.lines if line.tone} == {"source", "error"}
    assert len({(box.x, box.y) for box in drawn.boxes}) == len(drawn.boxes)


def test_a_graph_of_thirty_nodes_has_no_two_in_one_place():
    value = builtin_graph().to_json()
    for n in range(8):
        value["skills"]["find"]["sets"].append(
            {"state": f"agent.state_{chr(97 + n)}", "value": True}
        )
    drawn = draw_graph(Graph.of(value), None, "", "")

    assert len(drawn.boxes) >= 29
    tops = sorted((box.x, box.y) for box in drawn.boxes)
    assert all(b[0] > a[0] or b[1] - a[1] >= 26 for a, b in zip(tops, tops[1:], strict=False))
    assert max(box.y for box in drawn.boxes) < drawn.height


def test_the_graph_is_narrow_enough_for_a_phone():
    """Of 390 px a turn's fold leaves 276: letters of 14 px stay above 10."""
    drawn = draw_graph(builtin_graph(), None, "", "")
    left = min(box.x for box in drawn.boxes) - WIDTH / 2
    right = max(box.x for box in drawn.boxes) + WIDTH / 2

    assert left >= 0 and right <= drawn.width
    assert 14 * 276 / drawn.width > 10


def test_a_large_subtree_is_drawn_in_part_and_says_how_much_is_missing():
    nodes = [[n, 0, ["find", "Mug", f"m{n}"]] for n in range(1, 200)]
    tree = {"nodes": nodes, "paths": [{"nodes": [150]}], "made": 199}
    drawn = draw_tree(tree, 0)

    assert drawn.hidden == 199 - TREE_NODES
    assert [box.tone for box in drawn.boxes].count("chosen") == 1


def test_the_house_after_each_step_follows_from_the_record():
    played = rebuilt()
    task = sample("fork-in-bowl-on-table")
    scene = task.shared["scenes"][task.payload["scene"]["floor_plan"]]
    walk = read_walk(task.payload, scene, [(turn.index, turn.payload) for turn in played.turns])

    assert (
        walk.total
        == played.outcome.payload["counts"]["steps"] + played.outcome.payload["counts"]["fake"]
    )
    final = walk.house_after(walk.total)
    held = final.hand[0].name if final.hand else ""
    assert bool(held) == bool(played.turns[-1].payload["held"])
    fresh = read_walk(task.payload, scene, ())
    assert walk.house_after(0) == fresh.house_after(0)


def test_a_plan_and_its_repair_stand_in_one_list_and_far_steps_are_folded():
    played = rebuilt()
    task = sample("fork-in-bowl-on-table")
    scene = task.shared["scenes"][task.payload["scene"]["floor_plan"]]
    walk = read_walk(task.payload, scene, [(turn.index, turn.payload) for turn in played.turns])
    failures = [page for page in walk.turns.values() if page.failed]
    assert [page.first_failure for page in failures] == [True] + [False] * (len(failures) - 1)
    for page in walk.turns.values():
        rows = [row for part in page.parts for row in part.rows]
        # Without new steps it is the plan, without those left out the repaired one.
        assert [row.text for row in rows if row.t] == [step.text for step in page.steps]
        if page.after:
            kept = [row.text for row in rows if row.change != "left out"]
            assert tuple(kept) == page.after
        for part in page.parts:
            if part.folded and page.failed:
                assert not any(row.matters for row in part.rows)


def test_values_of_states_are_in_plain_words():
    assert name_of("ButterKnife or Knife") == "butter knife or knife"
    assert name_of("CoffeeMachine|+01.00|+00.90|-00.50") == "coffee machine"
    assert (name_of("none"), name_of("true")) == ("none", "true")


# --- pages ----------------------------------------------------------------------------------------


@pytest.fixture
def run(db: None) -> Run:
    tasks = sample_tasks()[:3]
    dataset: Dataset = save_dataset(
        system="sda_planner", name="Small house", version="", source="tests", licence="",
        checksum="three", tasks=[(task, ()) for task in tasks], shared=tasks[0].shared,
    ).dataset  # fmt: skip
    ensure_scripted_agents()
    agent = Agent.objects.get(name="errors-100", system="sda_planner")
    (made,) = start_runs(
        dataset=dataset, agents=[agent], settings={"env_error": "mixed", "env_rate": 1}, wake=False
    )
    carry(made)
    made.refresh_from_db()
    return made


@pytest.fixture
def reader(db: None) -> Client:
    client = Client()
    client.force_login(make_person("rita", superuser=True))
    return client


def page_of(client: Client, row: Trajectory, **query: str) -> str:
    response = client.get(reverse("analysis:trajectory", args=[row.pk]), query)
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.either
def test_exports_end_with_the_repaired_plan(run: Run) -> None:
    """Each version of a plan is a message of its own, after what failed."""
    repaired = [row for row in run.trajectories.all() if any(row.payload["repairs"].values())]
    assert repaired
    sent = {one.task.id: one.messages for one in exported(run)}
    for row in repaired:
        corrections = (turn.payload["correction"] for turn in row.turns.order_by("index"))
        last = [one for one in corrections if one][-1]
        plan = number_plan(Step.of(step) for step in last["plan_after"])
        written = [m.text for m in sent[row.task.external_id] if m.speaker == "assistant"]
        assert written[-1] == plan


@pytest.mark.either
def test_every_page_of_a_run_is_shown(run: Run, reader: Client) -> None:
    for row in run.trajectories.all():
        for step in ("", "0", "1", "99999", "x"):
            assert "House" in page_of(reader, row, step=step)
        assert reader.get(f"/tasks/{row.task_id}/").status_code == 200
    said = reader.get(f"/runs/{run.pk}/").content.decode()
    assert "By task type, split and injected error" in said
    assert all(one.termination for one in run.trajectories.all())


def test_a_graph_of_a_model_is_given_as_a_file_that_an_import_takes_and_draws(
    db: None, reader: Client, tmp_path: Path
) -> None:
    tasks = sample_tasks()[:1]
    ensure_scripted_agents()
    agent = Agent.objects.get(name="errors-100", system="sda_planner")

    def keep(shared: Json, name: str) -> Dataset:
        return save_dataset(
            system="sda_planner", name=name, version="", source="tests", licence="",
            checksum=name, tasks=[(task, ()) for task in tasks], shared=shared,
        ).dataset  # fmt: skip

    (made,) = start_runs(
        dataset=keep(tasks[0].shared, "plain"), agents=[agent], settings={"graph": "model"},
        wake=False,
    )  # fmt: skip
    carry(made)
    said = page_of(reader, made.trajectories.get())
    (text,) = re.findall(r"<pre>(.*?)</pre>", said, flags=re.DOTALL)
    path = tmp_path / "graph.json"
    path.write_text(unescape(text), encoding="utf-8")
    graph = read_graph_file([path])
    assert graph is not None and graph["version"] == "model"

    graph["skills"]["open"]["needs"].append({"state": "agent.hold", "value": "none"})
    own = keep({**tasks[0].shared, "graph": graph}, "own")
    shown = reader.get(f"/tasks/{own.tasks.get().pk}/").content.decode()
    assert "State-dependency graph of the dataset" in shown
    assert "open: also needs agent.hold = none" in shown


@pytest.mark.either
def test_what_an_agent_wrote_is_escaped(run: Run, reader: Client) -> None:
    row = run.trajectories.all()[0]
    turn = Turn.objects.filter(trajectory=row).order_by("index")[0]
    turn.payload["plan"][0] = ["unparsed", HOSTILE, ""]
    turn.payload["steps"][0]["step"] = ["unparsed", HOSTILE, ""]
    turn.payload["steps"][0]["message"] = HOSTILE
    turn.save()

    said = page_of(reader, row)
    assert HOSTILE not in said
    assert "&lt;script&gt;alert" in said


def test_every_published_figure_stands_in_the_paper():
    text = shared_data("..", "papers", "sda_planner.txt").read_text(encoding="utf-8")
    lines = text.splitlines()
    for row in PUBLISHED:
        name = row.model.partition(" (")[0].replace("SDA", "Sda")
        (line,) = [one for one in lines if one.startswith(name) and one.count(".") >= 6]
        assert row.printed in line.split()
    assert len(PUBLISHED) == 3 * (3 * 2 + 3 * 3)


@pytest.mark.parametrize(
    ("state", "needed", "actual", "types", "words"),
    [
        ("agent.hold", "salt shaker", "none", [], "hold the salt shaker. It is empty."),
        ("agent.hold", "none", "bowl", [], "The hand must be empty. It holds the bowl."),
        ("agent.hold", "", "none", ["ButterKnife", "Knife"], "butter knife or knife. It is"),
        ("agent.pos", "fridge", "unknown", [], "be at the fridge. Its place is unknown."),
        ("item.open", "true", "false", [], "The fridge must be open. It is not."),
        ("item.on", "false", "true", [], "The fridge must not be on. It is."),
    ],
)
def test_what_a_step_misses_is_said_in_two_sentences(
    state: str, needed: str, actual: str, types: list[str], words: str
) -> None:
    diagnosis = {
        "state": [state, "Fridge|1"], "needed": needed, "actual": actual, "types": types,
    }  # fmt: skip
    assert words in describe_missing(diagnosis)
