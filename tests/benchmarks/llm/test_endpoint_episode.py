"""AdaPlanBench with agent, judges and simulator on the fake endpoint; killed, and gone on with."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from benchmarks.core.answerers import Cast
from benchmarks.core.driver import Capped, Driver, Failed, Finished
from benchmarks.core.log import MemoryLog
from benchmarks.core.registry import find_system
from benchmarks.core.types import Outcome
from devtools.fake_endpoint.server import FakeServer
from tests.benchmarks.core.toys import DyingLog, run_until_death
from tests.benchmarks.llm.stage import QUICK, Play, answerer
from tests.contracts.episodes import Counting, settled

STRUCTURED = ("none", "json_object", "json_schema")
PRICED = {"price_in": 1.0, "price_out": 2.0, "parameters": {"max_tokens": 500}}


def cast(play: Play, server: FakeServer, model: str = "fake", **changes) -> Cast:
    """All roles on the endpoint, each with an answerer of its own."""
    usual = {
        "schemas": find_system("adaplanbench").reply_schemas,
        "policy": replace(QUICK, tries=8),
        **PRICED,
    }
    return Cast(
        {
            role: {
                seat: answerer(server, model, name=f"{role} {seat}", **usual | changes)
                for seat in seats
            }
            for role, seats in play.seats()
        }
    )


def drive(play: Play, log: MemoryLog, who: Cast, pool: ThreadPoolExecutor) -> Driver:
    return Driver(who, log, play.system.parsers, play.seed_for, executor=pool)


def finish(play: Play, log: MemoryLog, who: Cast):
    with ThreadPoolExecutor(8) as pool:
        return drive(play, log, who, pool).run(play.episode())


def states(log: MemoryLog) -> Counter[str]:
    return Counter(row.state for row in log.exchanges())


@pytest.mark.parametrize("structured", STRUCTURED)
def test_an_episode_from_start_to_end(server, structured):
    play, log = Play(), MemoryLog()
    result = finish(play, log, cast(play, server, structured=structured))
    assert isinstance(result, Finished)
    assert len(log.turns) >= 3
    assert set(states(log)) == {"answered"}
    assert server.counts.received == len(log.rows)
    assert any(turn.violations for turn in log.turns.values())
    assert any(score.value for turn in log.turns.values() for score in turn.scores)


def test_the_same_again(serve):
    play = Play()
    logs = [MemoryLog(), MemoryLog()]
    for log in logs:
        finish(play, log, cast(play, serve()))
    assert settled(logs[0]) == settled(logs[1])
    assert logs[0].outcome == logs[1].outcome


def test_a_rough_endpoint_changes_nothing_but_the_number_of_calls(serve):
    play, calm, rough = Play(), MemoryLog(), MemoryLog()
    finish(play, calm, cast(play, serve()))
    shares = {"500": 0.2, "429": 0.1, "hang-up": 0.1, "stall": 0.05}
    server = serve(shares=shares)
    finish(play, rough, cast(play, server, timeout=3.0))
    assert settled(rough) == settled(calm)
    assert rough.outcome == calm.outcome
    assert len(server.counts.faults) >= 3
    assert server.counts.received > len(rough.rows)
    known = len(rough.rows) - states(rough)["lost"]
    assert server.counts.report()["answered"] == known == states(rough)["answered"]
    assert states(rough)["lost"] == server.counts.faults["hang-up"] + server.counts.faults["stall"]


def test_killed_anywhere_and_gone_on_with_it_comes_to_the_same(serve):
    play, undisturbed = Play(), Counting()
    finish(play, undisturbed, cast(play, serve()))
    whole = settled(undisturbed)
    lost = 0
    for writes in range(1, undisturbed.writes, 7):
        server = serve(latency=0.002)
        log = DyingLog(writes)
        with ThreadPoolExecutor(8) as pool:
            died = run_until_death(drive(play, log, cast(play, server), pool), play.episode())
        assert died
        stored = sum(state == "answered" for state in (row.state for row in log.exchanges()))
        under_way = states(log)["sent"]
        received = server.counts.received
        assert stored <= received <= stored + under_way
        log = DyingLog(0, log)
        assert isinstance(finish(play, log, cast(play, server)), Finished)
        assert settled(log) == whole
        assert log.outcome == undisturbed.outcome
        assert states(log)["lost"] == under_way
        # what was stored was not asked again: what the server answered beyond what is stored was
        # lost on the way, or had left when the process died
        beyond = server.counts.report()["answered"] - states(log)["answered"]
        assert beyond == received - stored <= under_way
        lost += under_way
    assert lost > 3


def test_an_endpoint_that_goes_away_leaves_the_episode_to_be_resumed(serve):
    play, log, calm = Play(), MemoryLog(), MemoryLog()
    finish(play, calm, cast(play, serve()))
    roles = dict(cast(play, serve()).roles)
    gone = answerer(serve(), "down", name="world_judge ")
    result = finish(play, log, Cast({**roles, "world_judge": {"": gone}}))
    assert isinstance(result, Failed)
    assert result.reason.startswith("endpoint 'world_judge ': answered 503")
    assert states(log)["failed"] == 1
    kept = states(log)["answered"]
    assert kept >= 4  # the plan, and what the other judges of the batch had said
    server = serve()
    assert isinstance(finish(play, log, cast(play, server)), Finished)
    assert settled(log) == settled(calm)
    assert server.counts.received == len(settled(calm)) - kept


def test_a_model_that_speaks_nonsense_comes_to_an_end_that_says_so(server):
    play, log = Play(), MemoryLog()
    roles = dict(cast(play, server).roles)
    roles["world_judge"] = {"": answerer(server, "garbage")}
    result = finish(play, log, Cast(roles))
    assert isinstance(result, Finished)
    assert result.outcome.termination == "judge_failure"
    assert states(log)["unreadable"] == 3
    assert server.counts.models["garbage"] == 3


def test_an_agent_cut_off_in_the_middle_is_judged_by_what_came(server):
    play, log = Play(), MemoryLog()
    roles = dict(cast(play, server).roles)
    roles["agent"] = {"": answerer(server, "cut-off")}
    assert isinstance(finish(play, log, Cast(roles)), Finished)
    assert log.turns[1].text.startswith("1. ")


def test_a_spent_cap_stops_the_episode_and_more_money_lets_it_go_on(serve):
    play, log, calm = Play(), MemoryLog(cap=0.04), MemoryLog()
    finish(play, calm, cast(play, serve()))
    server = serve()
    result = finish(play, log, cast(play, server))
    assert isinstance(result, Capped)
    assert "of 0.04 used under the cost cap" in result.reason
    assert 0 < log.committed <= 0.04
    assert server.counts.received == states(log)["answered"] > 0
    log.cap = 1.0
    assert isinstance(finish(play, log, cast(play, server)), Finished)
    assert settled(log) == settled(calm)
    assert log.committed == pytest.approx(calm.committed)
    # nothing was paid twice
    answered = states(log)["answered"]
    assert server.counts.report()["answered"] == answered == len(calm.rows)


def test_a_cap_needs_prices_and_a_longest_reply(server):
    play, log = Play(), MemoryLog(cap=1.0)
    result = finish(play, log, cast(play, server, price_in=None))
    assert isinstance(result, Capped)
    assert "both prices and a max_tokens" in result.reason
    assert server.counts.received == 0


@pytest.mark.parametrize(
    ("model", "unknown"),
    [
        ("flaky-429", 0), ("flaky-500", 0), ("refuses", 0), ("redirect", 0), ("fake", 0),
        ("stall-once", 1), ("hang-up-once", 1), ("not-json", 4), ("flood", 1),
    ],
)  # fmt: skip
def test_what_may_have_been_billed_counts_in_full(server, model, unknown):
    play, log = Play(), MemoryLog(cap=1.0)
    roles = dict(cast(play, server).roles)
    limit = 1.0 if model == "stall-once" else 5.0
    roles["agent"] = {"": answerer(server, model, timeout=limit, **PRICED)}
    asked = []

    def agent_alone():
        (opening,) = next(play.episode())
        asked.append(opening)
        yield [opening]
        return Outcome("done", {})

    with ThreadPoolExecutor(8) as pool:
        Driver(Cast(roles), log, play.system.parsers, play.seed_for, executor=pool).run(
            agent_alone()
        )
    assert states(log)["lost"] == unknown
    most = answerer(server, model, **PRICED).most(asked[0], play.seed_for(0, 0))
    answered = states(log)["answered"]
    # an answer costs less than what was put aside for it, and a refusal nothing
    assert unknown * most <= log.committed <= unknown * most + answered * 0.9 * most
    assert (log.committed > 0) == bool(unknown or answered)


def test_a_reply_that_does_not_say_what_it_used_counts_in_full(server):
    play, told, untold = Play(), MemoryLog(cap=9.0), MemoryLog(cap=9.0)
    finish(play, told, cast(play, server))
    finish(play, untold, cast(play, server, "no-usage"))
    assert 0 < told.committed < untold.committed / 2


def test_identities_in_the_log_hold_no_secret(server):
    play = Play()
    for seats in cast(play, server).roles.values():
        for who in seats.values():
            text = json.dumps([who.identity.name, who.identity.parameters])
            assert "KEY" not in text and "pj-" not in text
