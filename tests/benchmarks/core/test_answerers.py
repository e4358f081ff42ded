"""The stand-ins that answer without a model: scripts and recordings."""

import pytest

from benchmarks.core.answerers import Answer, Human, Identity, Recorded, Scripted, person
from benchmarks.core.driver import Failed
from benchmarks.core.errors import AnswererFailed
from benchmarks.core.log import MemoryLog
from tests.benchmarks.core.toys import ask, batches, driver


def test_a_script_is_its_rule():
    script = Scripted("echo", "3", lambda asked, seed: Answer(f"{asked.role} {seed}"), {"p": 0.5})

    assert script.answer(ask("agent"), 7).text == "agent 7"
    assert script.identity == Identity("scripted", "echo", "3", {"p": 0.5})
    assert script.instant


def test_a_machine_is_a_script_that_takes_its_time():
    planner = Scripted("planner", "1", lambda a, s: Answer("plan"), kind="machine", instant=False)

    assert planner.identity.kind == "machine"
    assert not planner.instant


class TestRecorded:
    def test_finds_the_reply_by_what_is_asked(self):
        question = ask("agent", "what?")
        recording = Recorded("trial", "1", {question.digest: Answer("this")})

        assert recording.answer(ask("agent", "what?"), 1).text == "this"
        assert recording.identity == Identity("recorded", "trial", "1")

    def test_an_ask_that_it_does_not_know_fails_loudly(self):
        recording = Recorded("trial", "1", {})

        with pytest.raises(AnswererFailed, match="'trial' holds no reply to this ask of role 'a'"):
            recording.answer(ask("a"), 1)

    def test_which_ends_the_run_as_failed(self):
        log = MemoryLog()

        result = driver(log, {"a": Recorded("trial", "1", {})}).run(batches([ask("a")]))

        assert isinstance(result, Failed)
        assert log.rows[0, 0, 1].state == "failed"


class TestIdentity:
    BASE = Identity("endpoint", "model", "1", {"temperature": 0.0})

    def test_equal_identities_have_equal_digests(self):
        assert self.BASE.digest == Identity("endpoint", "model", "1", {"temperature": 0.0}).digest

    @pytest.mark.parametrize(
        "other",
        [
            Identity("recorded", "model", "1", {"temperature": 0.0}),
            Identity("endpoint", "model-2", "1", {"temperature": 0.0}),
            Identity("endpoint", "model", "2", {"temperature": 0.0}),
            Identity("endpoint", "model", "1", {"temperature": 0.7}),
        ],
    )
    def test_every_part_counts(self, other):
        assert other.digest != self.BASE.digest


def test_only_humans_are_people():
    assert person(Human())
    assert not person(Scripted("echo", "1", lambda asked, seed: Answer("")))
