"""Tests of the contract that every registered system keeps."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.core.digests import canonical_json
from benchmarks.core.driver import Finished
from benchmarks.core.log import turn_facts
from benchmarks.core.registry import SYSTEMS, get_system
from benchmarks.core.replay import play_as_far
from benchmarks.core.types import Ask, Constraint, Turn
from tests.benchmarks.core.toys import Death, DyingLog
from tests.contracts.episodes import (
    AGENT,
    Case,
    Played,
    cases,
    conditions,
    play,
    settled,
    through_json,
    watch,
)

# Kill points of one episode: all of a short one, evenly spread ones of a long one. Episodes differ
# in length, so those of all policies together fall on every kind of write.
KILLS = 24

every_system = pytest.mark.parametrize("key", SYSTEMS)
every_policy = pytest.mark.parametrize("case", list(cases()), ids=str)


def undisturbed(case: Case) -> Played:
    return play(case.key, case.policy, case.sample, case.level)


def is_json(value: Any) -> bool:
    """Return whether a value is JSON as it is: no tuples, no keys that are not texts, no NaN."""
    return json.loads(canonical_json(value)) == value


@every_system
class TestDeclared:
    def test_names_and_versions(self, key):
        system = get_system(key)

        assert (system.key, system.title) == (key, SYSTEMS[key][0])
        versions = (
            system.protocol_version,
            system.prompt_version,
            system.parser_version,
            system.scorer_version,
        )
        assert all(isinstance(version, str) and version for version in versions)

    def test_the_party_under_test_is_the_role_agent(self, key):
        roles = [role.name for role in get_system(key).roles]

        assert AGENT in roles
        assert len(set(roles)) == len(roles)

    def test_every_role_has_titles_and_stand_ins_that_need_no_key(self, key):
        system = get_system(key)
        for role in system.roles:
            assert role.title
            assert role.default
            assert {system.scripted[name].role for name in role.default} == {role.name}

    def test_policies_are_found_by_their_own_name(self, key):
        roles = {role.name for role in get_system(key).roles}
        for name, policy in get_system(key).scripted.items():
            assert policy.name == name
            assert policy.role in roles
            assert policy.title
            assert policy.version
            assert is_json(policy.parameters)

    def test_settings_read_their_own_defaults(self, key):
        settings = get_system(key).settings

        assert len({setting.name for setting in settings}) == len(settings)
        for setting in settings:
            assert setting.help
            assert setting.read(setting.default) == setting.default
            assert bool(setting.choices) == (setting.kind == "choice")

    def test_seats_are_apart(self, key):
        case = Case(key, "")
        for role in case.system.roles:
            seats = case.system.seats(role.name, case.all_settings())
            assert len(set(seats)) == len(seats)
        assert case.system.seats(AGENT, case.all_settings())

    def test_dimensions_have_anchors_for_one_three_and_five(self, key):
        dimensions = get_system(key).dimensions

        assert len({d.key for d in dimensions}) == len(dimensions)
        for dimension in dimensions:
            assert dimension.title
            assert dimension.definition
            assert set(dimension.anchors) == set(dimension.examples) == {1, 3, 5}

    def test_published_figures_say_where_they_stand(self, key):
        rows = get_system(key).published

        assert all(row.model and row.metric and row.source for row in rows)
        assert len({(r.model, r.metric, r.source) for r in rows}) == len(rows)

    def test_sample_tasks_are_small_and_plain(self, key):
        samples = get_system(key).sample_tasks()

        assert 1 <= len(samples) <= 10
        for task, profiles in samples:
            assert task.id
            assert task.prompt
            assert is_json(task.payload)
            assert is_json(task.shared)
            assert len({profile.level for profile in profiles}) == len(profiles)
            for profile in profiles:
                keys = [constraint.key for constraint in profile.constraints]
                assert len(set(keys)) == len(keys)

    def test_nothing_is_summarised_as_nothing(self, key):
        """No trajectory, no figure: undefined is neither zero nor an error."""
        assert is_json(get_system(key).summarise([]))


@every_policy
class TestEpisodes:
    def test_asks_are_well_formed(self, case):
        system, settings = case.system, case.all_settings()
        for item in undisturbed(case).items:
            for ask in () if isinstance(item, Turn) else item:
                assert ask.seat in system.seats(ask.role, settings)
                assert ask.expect.kind in system.parsers
                assert ask.messages
                assert is_json(ask.context)
                assert is_json(ask.expect.params)
                assert all(is_json(tool) for tool in ask.tools)

    def test_parsers_return_json(self, case):
        for row in undisturbed(case).log.exchanges():
            assert is_json(row.value), row

    def test_scripts_of_ours_are_readable(self, case):
        assert "unreadable" not in {row.state for row in undisturbed(case).log.exchanges()}

    def test_turns_are_numbered_from_one_and_hold_json(self, case):
        turns = [item for item in undisturbed(case).items if isinstance(item, Turn)]

        assert [turn.index for turn in turns] == list(range(1, len(turns) + 1))
        assert all(is_json(turn.payload) for turn in turns)

    def test_scores_name_the_exchange_in_which_they_were_given(self, case):
        log = undisturbed(case).log
        for turn in log.turns.values():
            for score in turn.scores:
                assert (score.step, score.slot, 1) in log.rows
                assert score.value is not None or score.reason

    def test_outcomes_are_json_and_say_why_a_metric_is_undefined(self, case):
        outcome = undisturbed(case).result.outcome

        assert outcome.termination
        assert is_json(outcome.payload)
        assert is_json(dict(outcome.metrics))
        undefined = {name for name, value in outcome.metrics.items() if value is None}
        assert undefined == set(outcome.undefined)
        assert all(outcome.undefined.values())
        assert is_json(case.system.summarise([outcome, outcome]))

    def test_a_result_follows_from_the_verdict_not_from_the_ending(self, case):
        """No failure looks like a success, and its header names the answer and the fault."""
        played, labels = undisturbed(case), case.system.labels
        outcome = played.result.outcome
        result = labels.result_of(outcome)
        verdict = outcome.metrics.get(next(iter(labels.headlines), ""))
        assert result.title
        if verdict is not None:
            best = 100 if labels.measures[labels.headlines[0]].kind == "percent" else 1
            assert (result.tone == "ok") == (verdict == best), (outcome.termination, verdict)
        if labels.answer is not None and played.log.turns:
            last = played.log.turns[max(played.log.turns)]
            answer = labels.answer(case.task(), last, outcome, case.all_settings())
            shown = (answer.given, answer.expected, answer.fault)
            assert all("\n" not in words for words in shown)
            assert answer.given
            if verdict == 0:
                assert answer.expected or answer.fault, outcome

    def test_answerers_keep_nothing_between_calls(self, case):
        """Asked again in the opposite order, and freshly built for each ask, all say the same."""
        for ask, seed, answer in reversed(undisturbed(case).spoken):
            assert case.answerer(ask.role, ask.seat).answer(ask, seed) == answer

    def test_the_agent_does_not_look_at_the_profile(self, case):
        """Built without the hidden conditions it says the same: it knows what it is told."""
        blind = replace(case.task(), profile=None)
        for ask, seed, answer in undisturbed(case).spoken:
            if ask.role == AGENT:
                assert case.answerer(AGENT, ask.seat, blind).answer(ask, seed) == answer

    def test_nothing_undisclosed_reaches_the_agent(self, case):
        profile = case.task().profile
        hidden = {c.key: c for c in profile.constraints} if profile else {}
        for item in undisturbed(case).items:
            if isinstance(item, Turn):
                told = {v.key for v in item.violations if v.revealed}
                told |= {str(key) for key in item.payload.get("disclosed", ())}
                hidden = {key: c for key, c in hidden.items() if key not in told}
                continue
            for ask in item:
                if ask.role == AGENT:
                    assert list(leaks(ask, hidden.values())) == []

    def test_wherever_it_is_killed_it_comes_to_the_same(self, case):
        whole = undisturbed(case)
        for last in kill_points(whole.writes):
            log = DyingLog(last)
            with pytest.raises(Death):
                case.driver(log).run(case.episode())
            rest = DyingLog(0, through_json(log))
            result = case.driver(rest).run(case.episode())

            assert result == whole.result, f"killed after write {last}"
            assert settled(rest) == settled(whole.log), f"killed after write {last}"
            assert same_turns(rest, whole), f"killed after write {last}"

    def test_dying_again_and_again_it_comes_to_the_same(self, case):
        """Each process lives for a few writes only, and the next one takes over.

        Two at least: one that dies with every call in flight never gets anywhere.
        """
        whole = undisturbed(case)
        lifetime = 2 + whole.writes // KILLS
        log, deaths = DyingLog(lifetime), 0
        while True:
            try:
                result = case.driver(log).run(case.episode())
                break
            except Death:
                deaths += 1
                assert deaths <= 3 * whole.writes, "it makes no progress"
                log = DyingLog(lifetime, through_json(log))

        assert deaths > 0
        assert result == whole.result
        assert settled(log) == settled(whole.log)
        assert same_turns(log, whole)


@every_policy
def test_rolled_back_it_comes_to_the_same(case):
    """What is withdrawn from a step on is asked again, and the rest of the log is played back."""
    whole = undisturbed(case)
    last = max(key[0] for key in whole.log.rows)
    for step in sorted({0, last // 2, last}):
        log = through_json(DyingLog(0, whole.log))
        for key, row in log.rows.items():
            if key[0] >= step:
                log.rows[key] = replace(row, state="withdrawn")
        rows = log.exchanges()
        again = play_as_far(case.episode(), rows, case.system.parsers, case.driver(log).seed_for, 3)
        log.turns = {turn.index: turn for turn in again.turns}
        result = case.driver(log).run(case.episode())

        assert result == whole.result, f"rolled back to step {step}"
        assert same_turns(log, whole)
        withdrawn = [row for row in log.exchanges() if row.state == "withdrawn"]
        assert withdrawn == [row for row in rows if row.step >= step]


@pytest.mark.parametrize("case", list(conditions()), ids=str)
def test_every_condition_comes_to_an_end(case):
    played = watch(case)

    assert isinstance(played.result, Finished)
    assert is_json(case.system.summarise([played.result.outcome]))


@every_policy
def test_a_task_from_a_database_is_played_like_the_one_that_was_put_in(case):
    """Keys of JSON may come back in another order."""
    whole, again = undisturbed(case), watch(replace(case, stored=True))

    assert settled(again.log) == settled(whole.log)
    assert same_turns(again.log, whole)
    assert again.result.outcome == whole.result.outcome


def test_nothing_depends_on_the_order_of_sets():
    """Texts hash differently in every process; replay in another one must not notice."""
    found = {_digest_of_all_episodes(seed) for seed in ("1", "2")}

    assert len(found) == 1


def _digest_of_all_episodes(hash_seed: str) -> str:
    program = """
from benchmarks.core.digests import digest
from benchmarks.core.log import turn_facts
from tests.contracts.episodes import cases, settled, watch
rows = []
for case in cases():
    played = watch(case)
    rows.append([str(case), played.result.outcome.termination, dict(played.result.outcome.metrics),
                 sorted(settled(played.log).items()),
                 [turn_facts(turn) for turn in played.log.turns.values()]])
print(digest(rows))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.strip()


def kill_points(writes: int) -> list[int]:
    """Return which writes are the last before death: all, or ``KILLS`` of them with both ends."""
    if writes <= KILLS:
        return list(range(1, writes + 1))
    return sorted({1 + round(n * (writes - 1) / (KILLS - 1)) for n in range(KILLS)})


def same_turns(log: DyingLog, whole: Played) -> bool:
    now = [turn_facts(turn) for turn in log.turns.values()]
    return now == [turn_facts(turn) for turn in whole.log.turns.values()]


def leaks(ask: Ask, hidden: Any) -> Iterator[tuple[str, str]]:
    """(constraint, where) for every hidden constraint that an ask gives away."""
    prose = "\n".join(message.text for message in ask.messages).casefold()
    strings = list(strings_in(ask.context)) + list(strings_in(ask.expect.params))
    structured = {text.casefold() for text in strings}
    everything = prose + "\n" + "\n".join(structured)
    constraint: Constraint
    for constraint in hidden:
        if constraint.text.casefold() in everything:
            yield constraint.key, "its text"
        if constraint.key.casefold() in structured:
            yield constraint.key, "its key in the context"
        if constraint.about and constraint.about.casefold() in structured:
            yield constraint.key, "what it is about in the context"
        # keys of one or two characters turn up in prose by chance
        if len(constraint.key) > 2 and re.search(
            rf"(?<![\w-]){re.escape(constraint.key.casefold())}(?![\w-])", prose
        ):
            yield constraint.key, "its key in a message"


def strings_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from strings_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings_in(item)


def test_the_search_for_leaks_finds_them():
    """A guard of the guard: each way of giving a constraint away is seen."""
    ask = next(
        item[0]
        for case in cases()
        for item in undisturbed(case).items
        if not isinstance(item, Turn) and item[0].role == AGENT
    )
    constraint = Constraint("w-oven", "world", "There is no oven.", "tool:oven")
    assert list(leaks(ask, [constraint])) == []

    def told(text: str) -> Ask:
        newest = replace(ask.messages[-1], text=text)
        return replace(ask, messages=(*ask.messages[:-1], newest))

    assert list(leaks(told("Mind: there is no oven. Thanks."), [constraint]))
    assert list(leaks(told("Mind w-oven."), [constraint]))
    assert list(leaks(replace(ask, context={"n": [{"key": "w-oven"}]}), [constraint]))
    assert list(leaks(replace(ask, context={"about": "tool:oven"}), [constraint]))
