"""Episodes: methods, limits, disclosure, what is recorded, and the scripted agent."""

import json
from statistics import fmean

import pytest

from benchmarks.core.errors import UnreadableReply
from benchmarks.core.types import Ask
from benchmarks.systems.adapt.metrics import resample, summarise
from benchmarks.systems.adapt.settings import METHODS
from benchmarks.systems.adapt.system import SYSTEM
from tests.benchmarks.systems.adapt.stage import every_task, play, saying, task_named
from tests.benchmarks.systems.adapt.test_traces import CEREAL

TASK = "persona_02-cereal"


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_played(method):
    """In both forms of reply; questions are asked as often as the method stands for."""
    turns, outcome, _ = play(task_named("persona_05-tea_eggs"), method=method)
    again, same, _ = play(task_named("persona_05-tea_eggs"), method=method, reply_format="json")
    asked = {"never_ask": 0, "teacher": 0, "baseline": 2, "react": 2, "star_gate": 2}
    asked["reflection_dpo"] = 10
    assert outcome.termination == same.termination == "done"
    assert outcome.metrics == same.metrics and len(turns) == len(again)
    if method == "always_ask":
        acted = sum("question" not in turn.payload for turn in turns)
        assert outcome.metrics["questions"] == acted - 1  # none before the end
    else:
        assert outcome.metrics["questions"] == asked[method]
    assert ("thought" in turns[0].payload) == (method == "react")


def test_methods_differ_in_what_the_agent_is_told():
    def first_ask(method):
        seen = []
        stop = saying(lambda ask: seen.append(ask) or "Declare Done")
        play(task_named(TASK), stop, method=method)
        return seen[0]

    ask: dict[str, Ask] = {method: first_ask(method) for method in METHODS}
    prose = {name: "\n".join(m.text for m in one.messages) for name, one in ask.items()}
    preference = "Eggs are not complete without cheese."
    assert [name for name, text in prose.items() if preference in text] == ["teacher"]
    assert [name for name, text in prose.items() if "Ask QUESTION" not in text] == [
        "never_ask", "teacher",
    ]  # fmt: skip
    assert "Thought:" in prose["react"] and "Thought:" not in prose["baseline"]
    # The layout has furniture, and no object.
    assert "fridge_0 (large two-door fridge)" in prose["baseline"]
    assert "egg_0 (" not in prose["baseline"] and "oat_milk_0" not in prose["baseline"]


def test_nobody_is_asked_who_cannot_be():
    turns, outcome, log = play(
        task_named(TASK), saying(["Ask What do you like?", "Declare Done"]), method="never_ask"
    )
    assert turns[0].feedback == "You cannot ask questions here." and not turns[0].payload["ok"]
    assert outcome.metrics["questions"] == 0 and outcome.metrics["invalid"] == 1
    assert len(log.exchanges()) == len(turns)  # nobody but the agent


def test_always_ask_alternates():
    texts = ["Search fridge_0", "Ask Milk?", "Search fridge_0", "Search fridge_0", "Declare Done"]
    turns, _, _ = play(task_named(TASK), saying(texts), method="always_ask")
    assert [turn.payload["ok"] for turn in turns] == [False, True, True, False, True]
    assert turns[0].feedback == "Ask the person a question before this action."


@pytest.mark.parametrize(
    ("texts", "settings", "ending", "steps"),
    [
        (["Search fridge_0"], {"max_actions": 7}, "max_actions", 7),
        (["Ask Would you like nuts?"], {"max_questions": 3}, "max_questions", 3),
        (["Let me think about it.", "x" * 10_000], {}, "unparsable", 5),
        (["", "", "Search fridge_0", "Declare Done"], {}, "done", 4),
        (["Dance the egg_0 to get joy", "Declare Done"], {}, "done", 2),
    ],
)
def test_limits(texts, settings, ending, steps):
    turns, outcome, _ = play(task_named(TASK), saying(texts), **settings)
    assert (outcome.termination, len(turns)) == (ending, steps)
    assert all(len(turn.payload["action_text"]) < 500 for turn in turns)


def test_the_record_of_an_episode():
    """Disclosure, provisional values, evidence, progress; f(T) is the satisfaction rate."""
    texts = ["Ask Would you like nuts on your cereal?", *CEREAL, "Declare Done"]
    # The first scene that holds all of the ingredients.
    played = (play(task_named(TASK), saying(texts), seed=seed) for seed in range(200))
    turns, outcome, _ = next(p for p in played if not p[1].metrics["invalid"])
    record = outcome.payload
    rows = {row["n"]: row for row in record["preferences"]}
    assert turns[0].payload["disclosed"] == ["n4"] and rows[4]["disclosed"] == 1
    # What the last values are can be put together from the changes of all turns.
    values = {f"n{n}": "?" for n in rows}
    for turn in turns:
        values |= turn.payload["prefs"]
    final = {f"n{n}": row["value"] for n, row in rows.items()}
    assert {key: v for key, v in values.items() if v != "?"}.items() <= final.items()
    progress = record["progress"]
    assert len(progress) == len(turns) + 1 == len(record["asked_by"])
    assert progress[-1] == record["satisfied"]
    assert outcome.metrics["satisfaction"] == 100 * progress[-1] / record["applicable"]
    (run,) = [summarise([outcome, outcome])]
    curve = run["progress"]["satisfaction"]
    assert len(curve) == 101 and curve[100][0] == outcome.metrics["satisfaction"]
    patio = next(room for room in record["kitchen"] if "patio" in room["name"].lower())
    (table,) = [piece for piece in patio["furniture"] if piece["touched"]]
    assert table["inside"][0]["name"] == "bowl_0" and table["inside"][0]["step"]


def test_resampling_holds_until_the_next_step():
    assert resample([0, 1]) == [0] * 100 + [1]
    assert resample([0, 1, 2])[49:52] == [0, 1, 1]
    assert resample([5]) == [5] * 101


def test_seen_and_unseen_personas():
    task = task_named(TASK)  # of fold 0
    done = saying(["Declare Done"])
    for fold, mine, other in (("0", "unseen", "seen"), ("1", "seen", "unseen"),
                              ("none", "unseen", "seen")):  # fmt: skip
        _, outcome, _ = play(task, done, fold=fold)
        assert outcome.metrics[f"satisfaction_{mine}"] == 0
        assert f"satisfaction_{other}" not in outcome.metrics
    figures = summarise([outcome])["metrics"]
    assert figures["satisfaction_seen"]["value"] is None
    assert figures["satisfaction_unseen"]["se"] is None  # of one value


def test_no_preference_applies_is_no_zero():
    _, outcome, _ = play(task_named("persona_15-cereal"), saying(["Declare Done"]))
    assert outcome.metrics["satisfaction"] is None
    assert outcome.undefined["satisfaction"] == "no preference applies"
    assert outcome.metrics["completed"] == 0


def test_a_persona_that_gives_no_answer_stops_nobody():
    turns, outcome, _ = play(
        task_named(TASK), saying(["Ask Milk?", "Declare Done"]), saying(["no JSON here"])
    )
    assert "The person does not answer." in turns[0].feedback
    assert outcome.termination == "done" and outcome.metrics["questions"] == 1


def test_a_model_as_persona_says_what_it_disclosed():
    reply = json.dumps({"answer": "Nuts and cinnamon, please.", "preferences": [4, 5]})
    turns, _, _ = play(task_named(TASK), saying(["Ask Toppings?", "Declare Done"]), saying([reply]))
    assert turns[0].payload["disclosed"] == ["n4", "n5"]
    assert turns[0].feedback == "The person says: Nuts and cinnamon, please."


def test_a_teacher_without_slips_beats_never_asking():
    """Without slips the teacher is better on the mean of all 128 pairs; scenes are the same."""
    tasks = every_task()
    assert len(tasks) == 128
    outcomes = {
        method: [play(task, method=method, slip=0.0)[1] for task in tasks]
        for method in ("never_ask", "teacher")
    }
    scenes = [[o.payload["scene"] for o in found] for found in outcomes.values()]
    assert scenes[0] == scenes[1]
    means = {
        method: fmean(o.metrics["satisfaction"] for o in found if o.payload["applicable"])
        for method, found in outcomes.items()
    }
    assert means["teacher"] > means["never_ask"] + 20
    assert all(not o.metrics["questions"] for found in outcomes.values() for o in found)


def test_replies_that_endpoints_can_be_held_to():
    schema = SYSTEM.reply_schemas["json_action"]
    seen = []
    agent = saying(lambda ask: seen.append(ask) or json.dumps({"action": "done"}))
    play(task_named(TASK), agent, reply_format="json")
    made = schema(seen[0].expect.params)
    assert "fridge_0" in made["properties"]["y"]["enum"]
    assert set(made["required"]) == set(made["properties"])
    assert "ask" in made["properties"]["action"]["enum"]
    asked = {"action": "ask", "text": "Nuts?", "x": ""}
    parse = SYSTEM.parsers["json_action"]
    assert parse(json.dumps(asked), seen[0].expect.params)["action"] == "Ask Nuts?"
    for wrong in ({"action": "dance"}, {"action": "open", "x": 3}, {"action": "ask", "text": [1]}):
        with pytest.raises(UnreadableReply):
            parse(json.dumps(wrong), seen[0].expect.params)
