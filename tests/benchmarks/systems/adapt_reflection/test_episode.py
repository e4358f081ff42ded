"""Episodes of the builder: who is asked what, each decision, what is stored, and going on."""

import json
from collections import Counter
from dataclasses import replace

import pytest

from benchmarks.core.answerers import Answer, Scripted
from benchmarks.core.driver import Failed, Finished
from benchmarks.core.errors import AnswererFailed
from benchmarks.core.log import MemoryLog
from benchmarks.core.types import Message
from benchmarks.systems.adapt_reflection.decisions import KINDS, Thresholds, decide
from benchmarks.systems.adapt_reflection.rows import BuiltTrajectory, Policy, preference_rows
from benchmarks.systems.adapt_reflection.system import SYSTEM
from tests.benchmarks.core.toys import Death, DyingLog
from tests.benchmarks.systems.adapt.stage import saying, task_named
from tests.benchmarks.systems.adapt_reflection.stage import build, cast

TASK = task_named("persona_02-cereal")
PREFERENCE = "Eggs are not complete without cheese."
LAST = "Declare Done"


def scorer(numbers, heard=None):
    """Somebody who knows a number for each action, and another one after a question."""

    def rule(ask, seed):
        text = ask.expect.params["continuation"]
        asked = any(m.text.startswith("The person says:") for m in ask.messages)
        if heard is not None:
            heard.append(ask)
        before, after = numbers[text] if isinstance(numbers[text], tuple) else [numbers[text]] * 2
        return Answer(json.dumps({"probabilities": [after if asked else before]}))

    return Scripted("numbers", "1", rule)


def student(actions, question="Which milk?", heard=None):
    """A student with these actions in turn, and one question."""
    given = iter(actions)

    def rule(ask, seed):
        if heard is not None:
            heard.append(ask)
        return Answer(question if ask.expect.kind == "question" else next(given))

    return Scripted("said", "1", rule)


def played(actions, teacher, numbers, question="Which milk?", persona=None, **more):
    log = MemoryLog()
    persona = persona or saying(['{"answer": "Oat milk.", "preferences": []}'])
    who = cast(
        TASK, agent=student(actions, question, more.pop("heard", None)), teacher=saying(teacher),
        scorer=scorer(numbers, more.pop("scored", None)), persona=persona,
    )  # fmt: skip
    result = build(TASK, log, who, **more)
    assert isinstance(result, Finished), result
    return [turn.payload["builder"] for turn in log.turns.values()], result.outcome, log


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        ((0.4, 0.5), "likely_teacher"),
        ((0.5, (0.4, 0.6)), "question"),
        ((0.5, (0.4, 0.44)), "teacher"),
        ((0.9, (0.4, 0.44)), "unexplained"),
    ],
)
def test_each_decision(numbers, kind):
    mine, theirs = "Open fridge_0", "Search fridge_0"
    scores = dict(zip((mine, theirs), numbers, strict=True))
    steps, outcome, log = played([mine, LAST], [theirs, LAST], scores)
    assert [decide(step, Thresholds()).kind for step in steps] == [kind, "agree"]
    assert outcome.metrics[kind] == outcome.metrics["agree"] == 50.0
    asked = kind != "likely_teacher"
    assert steps[0]["question"] == ("Which milk?" if asked else None)
    # Student, teacher, two scores; then a question, its answer, one more score; and the end.
    assert len(log.exchanges()) == (4 + 3 if asked else 4) + 2
    assert len(outcome.payload["found"]) == 2 and outcome.payload["thresholds"]["tau_u"] == 0.05


def test_a_question_is_scored_with_its_answer_and_changes_nothing_in_the_household():
    heard, scored = [], []
    steps, outcome, log = played(
        ["Open fridge_0", LAST], ["Search fridge_0", LAST],
        {"Open fridge_0": 0.5, "Search fridge_0": (0.4, 0.6)}, heard=heard, scored=scored,
    )  # fmt: skip
    first, reflecting, last = heard
    assert [ask.expect.kind for ask in heard] == ["action", "question", "action"]
    # The reflection shows both actions, and neither it nor its answer is told afterwards.
    assert "Open fridge_0" in reflecting.messages[-1].text
    assert "Search fridge_0" in reflecting.messages[-1].text
    assert reflecting.messages[:-1] == first.messages[:-1]
    assert not any("Which milk?" in m.text or "Oat milk" in m.text for m in last.messages)
    assert scored[0].messages == scored[1].messages == first.messages
    assert scored[2].messages[-2:] == (
        Message("assistant", "Ask Which milk?"), Message("user", "The person says: Oat milk."),
    )  # fmt: skip
    assert [turn.payload["ok"] for turn in log.turns.values()] == [True, True]
    assert outcome.payload["asked"] == 0 and steps[0]["answer"] == "Oat milk."


def test_the_teacher_knows_what_the_student_does_not():
    student_heard, teacher_heard = [], []
    teacher = saying(lambda ask: teacher_heard.append(ask) or "Search fridge_0")
    who = cast(TASK, agent=student(["Search fridge_0", LAST], heard=student_heard), teacher=teacher,
               scorer=scorer({LAST: 0.4, "Search fridge_0": 0.5}))  # fmt: skip
    log = MemoryLog()
    assert isinstance(build(TASK, log, who), Finished)
    for mine, theirs in zip(student_heard, teacher_heard, strict=True):
        assert PREFERENCE in "\n".join(m.text for m in theirs.messages)
        assert PREFERENCE not in "\n".join(m.text for m in mine.messages)
        assert mine.messages[2:] == theirs.messages[2:]  # the same history
        assert not mine.context["told"] and theirs.context["told"]
        assert mine.context["may_ask"] and not theirs.context["may_ask"]


@pytest.mark.parametrize(
    ("teacher", "why"),
    [("Let me think.", "is no action"), ("Ask Which milk?", "asked a question")],
)
def test_a_teacher_who_does_not_act_makes_no_row(teacher, why):
    steps, outcome, log = played(["Open fridge_0", LAST], [teacher, LAST], {})
    assert why in steps[0]["unusable"]
    assert outcome.metrics["unusable"] == 50.0 and outcome.metrics["rows"] == 0
    assert len(log.exchanges()) == 4


def test_same_action_in_other_words_agrees():
    steps, _, _ = played(["open the fridge_0", LAST], ["Open fridge_0.", LAST], {})
    assert [step["same"] for step in steps] == [True, True]


def test_what_is_no_question_or_no_answer_is_no_question():
    scores = {"Open fridge_0": 0.5, "Search fridge_0": (0.4, 0.6)}
    told = ["Open fridge_0", LAST], ["Search fridge_0", LAST], scores
    steps, _, _ = played(*told, question="?!")
    assert "no question" in steps[0]["no_question"]
    assert decide(steps[0], Thresholds()).kind == "teacher"
    steps, _, _ = played(*told, persona=saying(["mumble"]))
    assert "no answer" in steps[0]["no_question"] and steps[0]["question"] == "Which milk?"


def test_a_student_who_asks_is_answered_and_still_corrected():
    ask = "Ask Would you like nuts?"
    steps, outcome, log = played(
        [ask, LAST], ["Search fridge_0", LAST], {ask: 0.4, "Search fridge_0": 0.5},
        persona=saying(['{"answer": "Yes.", "preferences": [4]}']),
    )  # fmt: skip
    assert steps[0]["student"] == ask and not steps[0]["same"]
    assert log.turns[1].payload["disclosed"] == ["n4"] and outcome.payload["asked"] == 1


def test_a_scorer_without_numbers_stops_the_run_and_nothing_is_guessed():
    def rule(ask, seed):
        raise AnswererFailed("endpoint 'plain': its reply has no log probabilities of tokens")

    log = MemoryLog()
    failed = build(TASK, log, cast(TASK, scorer=Scripted("none", "1", rule)))
    assert isinstance(failed, Failed) and "no log probabilities" in failed.reason
    before = len([row for row in log.exchanges() if row.state == "answered"])
    # With another scorer it goes on where it was.
    done = build(TASK, log)
    assert isinstance(done, Finished)
    whole = MemoryLog()
    assert build(TASK, whole).outcome == done.outcome and before > 0

    unread = MemoryLog()
    result = build(TASK, unread, cast(TASK, scorer=saying(["0.5"])))
    assert isinstance(result, Finished)
    assert result.outcome.termination == "scorer_gave_nothing"
    assert result.outcome.metrics["rows"] is None and not unread.turns


def test_killed_at_every_step_it_repeats_no_call():
    settings = {"max_actions": 4}
    whole = MemoryLog()
    done = build(TASK, whole, **settings)
    last = 0
    while True:
        last += 1
        calls = Counter()

        def counted(policy, calls=calls):
            def rule(ask, seed):
                calls[ask.digest] += 1
                return policy.answer(ask, seed)

            return Scripted("counted", "1", rule)

        who = cast(TASK)
        who = replace(who, roles={r: {"": counted(s[""])} for r, s in who.roles.items()})
        log = DyingLog(last)
        try:
            build(TASK, log, who, **settings)
            break
        except Death:
            rest = DyingLog(0, log)
            assert build(TASK, rest, who, **settings) == done
            stored = {row.ask_digest for row in rest.exchanges()}
            # At most the one under way when the process died.
            assert sum(calls.values()) <= len(rest.exchanges()) + 2 and stored == set(calls)
    assert last > 10


def test_a_whole_trajectory_by_scripts():
    """All prompts of rows are what the student saw, and the shares add up."""
    heard = []
    inner = cast(TASK).roles["agent"][""]

    def rule(ask, seed):
        heard.append(ask)
        return inner.answer(ask, seed)

    log = MemoryLog()
    result = build(TASK, log, cast(TASK, agent=Scripted("heard", "1", rule)))
    outcome = result.outcome
    assert outcome.termination == "done" and outcome.metrics["rows"] > 0
    shares = [outcome.metrics[kind] for kind in KINDS if kind != "undecided"]
    assert sum(shares) == pytest.approx(100)
    turns = list(log.turns.values())
    built = BuiltTrajectory("1", "persona_02", "cereal", 0, outcome.payload["opening"], turns, 50.0)
    acted = [ask for ask in heard if ask.expect.kind == "action"]
    for row, meta in preference_rows([built], Policy(Thresholds())):
        saw = [{"role": m.speaker, "content": m.text} for m in acted[meta["t"] - 1].messages]
        assert row["prompt"] == saw
    summary = SYSTEM.summarise([outcome, outcome])
    assert summary["rows"] == 2 * outcome.metrics["rows"]
    assert sum(row["n"] for row in summary["decisions"]) == summary["steps"] == 2 * len(turns)
    assert summary["grid"] and SYSTEM.summarise([])["grid"] == []


def test_what_a_persona_tells_unasked_in_reflections():
    """Answers to the student's questions and to its reflections count together."""
    task = task_named("persona_05-tea_eggs")
    reply = json.dumps({"answer": "Milk, please.", "preferences": [1, 4, 11]})
    ended = build(task, MemoryLog(), cast(task, persona=saying([reply])))
    assert isinstance(ended, Finished)
    record = ended.outcome.payload
    assert record["reflection"]["leaked"] <= record["reflection"]["told"] > 0
    told = record["told"] + record["reflection"]["told"]
    leaked = len(record["leaked"]) + record["reflection"]["leaked"]
    assert ended.outcome.metrics["leaked"] == 100 * leaked / told > 0
    assert all("student_asks" in step for step in record["found"])
