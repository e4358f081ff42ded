"""The construction at an endpoint: one that works, and ones that are not to be relied on."""

import json
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from benchmarks.core.answerers import Cast
from benchmarks.core.candidates import KEPT, REMOVED
from benchmarks.core.digests import derive_seed
from benchmarks.core.driver import Driver, Finished
from benchmarks.core.log import Call, CallResult, MemoryLog
from benchmarks.core.registry import find_system, get_system
from benchmarks.core.system import read_settings
from benchmarks.core.types import Outcome
from benchmarks.systems.adaplanbench_construction.pools import normal_form
from devtools.fake_endpoint.server import FakeServer
from tests.benchmarks.llm.stage import Play, answerer

SYSTEM = get_system("adaplanbench_construction")
ROLES = tuple(role.name for role in SYSTEM.roles)
# Whose replies have a form in which one can contradict oneself.
WAVERING = ("filter", "extractor", "merger", "checker")


class Problem(Play):
    """A problem, ready to be constructed from any number of times."""

    system = SYSTEM

    def __init__(self, **settings: Any) -> None:
        self.task = SYSTEM.sample_tasks()[0][0]
        usual = {"rounds": 2, "plans_per_ask": 2, "planners": 2}
        self.settings = read_settings(SYSTEM.settings, usual | settings)

    def seed_for(self, step: int, slot: int) -> int:
        return derive_seed("problem", 3, step, slot)


class Protocol(MemoryLog):
    """A log that also keeps who said what, in the order in which it came."""

    def __init__(self) -> None:
        super().__init__()
        self.verdicts: list[tuple[str, CallResult]] = []

    def record_verdict(self, call: Call, verdict: CallResult) -> None:
        super().record_verdict(call, verdict)
        self.verdicts.append((call.ask.role, verdict))

    def states(self, *roles: str) -> Counter[str]:
        return Counter(verdict.state for role, verdict in self.verdicts if role in (roles or ROLES))

    @property
    def end(self) -> Outcome:
        assert self.outcome is not None
        return self.outcome


def construct(
    server: FakeServer, strange: Mapping[str, str] | None = None, structured: str = "none",
    **settings: Any,
) -> Protocol:  # fmt: skip
    """Construct with each role on the model ``fake``, or on the one that ``strange`` gives it."""
    play, log = Problem(**settings), Protocol()
    cast = Cast(
        {
            role: {
                seat: answerer(
                    server, (strange or {}).get(role, "fake"), name=f"{role} {seat}",
                    schemas=find_system(SYSTEM.key).reply_schemas, structured=structured,
                )
                for seat in seats
            }
            for role, seats in play.seats()
        }
    )  # fmt: skip
    with ThreadPoolExecutor(8) as pool:
        driver = Driver(
            cast, log, SYSTEM.parsers, play.seed_for, executor=pool,
            max_attempts=play.settings["reply_attempts"],
        )  # fmt: skip
        assert isinstance(driver.run(play.episode()), Finished)
    # Each call is one line of the log, and none was made beside it.
    assert server.counts.received == len(log.rows) == len(log.verdicts)
    check_books(log.end)
    return log


def check_books(outcome: Outcome) -> None:
    """Every candidate was decided about once, and every level holds those before it."""
    rows, levels = outcome.payload["candidates"], outcome.payload["levels"]
    assert {row["decision"] for row in rows} <= {KEPT, REMOVED}
    assert all(bool(row["ground"]) == (row["decision"] == REMOVED) for row in rows)
    forms = [(row["kind"], normal_form(row["text"])) for row in rows]
    assert len(set(forms)) == len(forms)
    sizes = [set(keys) for keys in levels.values()]
    assert all(a <= b for a, b in zip(sizes, sizes[1:], strict=False))
    kept = [row["key"] for row in rows if row["decision"] == KEPT]
    assert not sizes or sizes[-1] == set(kept) and len(kept) == len(set(kept))


@pytest.mark.parametrize("structured", ["none", "json_object", "json_schema"])
def test_from_the_problem_to_the_profiles(server: FakeServer, structured: str) -> None:
    log = construct(server, structured=structured)
    assert log.end.termination == "constructed"
    assert set(log.states()) == {"answered"}
    low, mid = log.end.payload["levels"].values()
    assert 0 < len(low) < len(mid)
    assert {row["decision"] for row in log.end.payload["candidates"]} == {KEPT, REMOVED}


def test_what_is_said_twice_counts_once(serve: Any) -> None:
    """Every list in every reply holds everything twice, and the whole reply comes twice."""
    log = construct(serve(), dict.fromkeys(ROLES, "repeats"))
    assert log.end.termination == "constructed"
    assert set(log.states()) == {"answered"}
    for role in ("agent", "extractor", "merger", "checker"):
        texts = [verdict.answer.text for name, verdict in log.verdicts if name == role]
        assert texts and all(text.count("To say it again") == 1 for text in texts)
    for role, verdict in log.verdicts:
        for rows in verdict.value.values() if isinstance(verdict.value, dict) else ():
            if isinstance(rows, list):
                said = [json.dumps(row) for row in rows]
                assert len(set(said)) == len(said), role
    assert log.turns[1].payload["plans"] == 2 * 2 * 2  # plans, kinds, planners


@pytest.mark.parametrize("role", WAVERING)
def test_a_contradiction_is_asked_about_again_and_decides_nothing(serve: Any, role: str) -> None:
    server = serve()
    log = construct(server, {role: "wavers"}, reply_attempts=10)
    assert log.end.termination in ("constructed", "filtered_out")
    assert log.end.termination == "constructed" or role == "filter"
    assert set(log.states(*(set(ROLES) - {role}))) == {"answered"}
    spoilt = [v for name, v in log.verdicts if name == role and v.state == "unreadable"]
    assert all(verdict.reason and verdict.value is None for verdict in spoilt)
    assert server.counts.models["wavers"] == sum(log.states(role).values())
    assert role == "filter" or spoilt


@pytest.mark.parametrize("model", ["contradicts", "garbage", "cut-off", "empty"])
@pytest.mark.parametrize("role", WAVERING)
def test_who_is_never_understood_ends_it_with_the_rounds_that_there_are(
    serve: Any, role: str, model: str
) -> None:
    log = construct(serve(), {role: model}, reply_attempts=2)
    assert log.end.termination == f"{role}_unreadable"
    assert set(log.states(role)) == {"unreadable"}
    assert log.end.payload["reason"]
    assert log.end.payload["candidates"] == [] and log.end.payload["levels"] == {}
    assert set(log.end.metrics.values()) == {None}


def test_a_mumbling_cast_gets_there_when_it_is_asked_often_enough(serve: Any) -> None:
    """Every other reply of everybody is nonsense; rewriters are taken at their word."""
    strange = dict.fromkeys((*WAVERING, "agent", "planner"), "mumbles")
    log = construct(serve(), strange, reply_attempts=10)
    assert log.end.termination == "constructed"
    counted = log.states()
    assert counted["unreadable"] > 5
    assert set(counted) == {"answered", "unreadable"}
