"""Whole episodes of the scripted cast under many conditions: killed, and with people in them."""

import pytest

from benchmarks.core.answerers import Cast, Human
from benchmarks.core.driver import Finished, Suspended
from benchmarks.core.errors import UnreadableReply
from benchmarks.core.log import CallResult, MemoryLog
from tests.benchmarks.core.toys import Death, DyingLog
from tests.contracts.episodes import Case, settled, through_json, watch

CONDITIONS = [
    {"tracking": True},
    {"refinement": 6, "tau": 5.0},
    {"refinement": 2, "tau": 4.5, "quorum": "any", "dimensions": "main"},
    {"constraints": "world_only"},
    {"constraints": "user_only", "rubric_judges": 1},
    {"novelty": "violated", "patience": 3, "max_turns": 6},
]


def case(policy="careful-tracker", level=1, **settings):
    return Case("adaplanbench", policy, sample=1, level=level, settings=settings)


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda c: ",".join(c))
def test_killed_under_any_condition_it_comes_to_the_same(condition):
    played = case(**condition)
    whole = watch(played)
    for last in range(1, whole.writes + 1, 3):
        log = DyingLog(last)
        with pytest.raises(Death):
            played.driver(log).run(played.episode())
        rest = DyingLog(0, through_json(log))

        assert played.driver(rest).run(played.episode()) == whole.result
        assert settled(rest) == settled(whole.log)


def test_refinement_is_reached():
    """Else the condition above would test nothing."""
    turns = watch(case(refinement=6, tau=5.0)).log.turns.values()

    assert any(turn.payload["refining"] for turn in turns)


@pytest.mark.parametrize(
    "role", ["agent", "world_judge", "user_judge", "rubric_judge", "simulator"]
)
def test_a_person_can_play_any_role(role):
    """Saying what the script would have said, the person gets the script's trajectory.

    Each wait is a new process: a fresh generator, fresh answerers and the log out of the store.
    """
    played = case()
    whole = watch(played)
    scripts = played.cast()
    people = Cast({**scripts.roles, role: dict.fromkeys(scripts.roles[role], Human())})
    log = MemoryLog()
    waits = 0
    while isinstance(result := played.driver(log, people).run(played.episode()), Suspended):
        waits += 1
        assert result.asks == len(log.waiting) > 0
        for key in list(log.waiting):
            _post(played, log, log.waiting.pop(key), scripts)
        through_json(log)

    assert isinstance(result, Finished)
    assert result == whole.result
    assert waits == sum(
        any(ask.role == role for ask in item) for item in whole.items if isinstance(item, list)
    )


def _post(played, log, call, scripts):
    answer = scripts.answerer_of(call.ask).answer(call.ask, call.seed)
    value = played.system.parsers[call.ask.expect.kind](answer.text, call.ask.expect.params)
    log.record_sent([call])
    log.record_verdict(call, CallResult("answered", answer, value))


def test_what_a_person_may_post_is_what_the_parser_reads():
    """The parser is the one judge of a reply, whoever gave it."""
    parse = case().system.parsers["plan"]

    assert parse("1. Open a window.", {})["steps"] == ["Open a window."]
    with pytest.raises(UnreadableReply):
        parse(" ", {})
