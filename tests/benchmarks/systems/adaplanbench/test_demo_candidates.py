"""The candidates of the demo tasks: sound, and as many wrong decisions as are stated."""

from collections import Counter

import pytest

from benchmarks.core.candidates import KEPT, REMOVED, candidate_faults
from benchmarks.systems.adaplanbench.demo import load_demo_tasks
from benchmarks.systems.adaplanbench.demo_datasets import REASONS, demo_candidates, problems


@pytest.fixture(scope="module")
def rows():
    return list(demo_candidates(load_demo_tasks()))


def test_they_are_sound(rows):
    assert list(problems(load_demo_tasks())) == []
    assert [list(candidate_faults(vars(row.candidate))) for row in rows] == [[]] * len(rows)


def test_no_text_and_no_key_stands_twice_in_a_task(rows):
    keys = Counter((row.task, row.candidate.key) for row in rows)
    texts = Counter((row.task, row.candidate.text.casefold()) for row in rows)
    assert set(keys.values()) == set(texts.values()) == {1}


def test_what_was_kept_is_the_profile(rows):
    kept = {
        (row.task, row.candidate.kind, row.candidate.text)
        for row in rows
        if row.candidate.decision == KEPT
    }
    assert kept == {
        (task.id, c.kind, c.text)
        for task, profiles in load_demo_tasks()
        for c in next(p for p in profiles if p.level == "mid").constraints
    }


def test_nothing_removed_comes_back_at_another_level(rows):
    high = {(t.id, c.text) for t, profiles in load_demo_tasks() for c in profiles[-1].constraints}
    removed = {(r.task, r.candidate.text) for r in rows if r.candidate.decision == REMOVED}
    assert not high & removed


def test_about_two_in_five_are_removed_for_every_ground(rows):
    removed = [row.candidate for row in rows if row.candidate.decision == REMOVED]
    assert 0.38 < len(removed) / len(rows) < 0.42
    assert {c.payload["ground"] for c in removed} == set(REASONS)
    assert all(c.reason for c in removed)


def test_the_checker_errs_both_ways_and_seldom(rows):
    counts = Counter((row.candidate.payload["truth"], row.candidate.decision) for row in rows)
    wrongly_removed = counts["keep", REMOVED] / (counts["keep", KEPT] + counts["keep", REMOVED])
    wrongly_kept = counts["remove", KEPT] / (counts["remove", KEPT] + counts["remove", REMOVED])
    assert 0.02 < wrongly_removed < 0.06
    assert 0.02 < wrongly_kept < 0.06


def test_keys_tell_nothing_of_decisions(rows):
    """The kind and twelve hexadecimal digits of the text, for kept and removed alike."""
    for row in rows:
        letter, _, digits = row.candidate.key.partition("-")
        assert letter == row.candidate.kind[0]
        assert len(digits) == 12 and set(digits) <= set("0123456789abcdef")
