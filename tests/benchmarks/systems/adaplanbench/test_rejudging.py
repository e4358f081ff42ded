"""Judges over stored turns: what they are asked, and what their replies come to."""

import random
from dataclasses import replace
from typing import Any

from benchmarks.core.system import RecordedTrajectory, read_settings
from benchmarks.core.types import Ask, Outcome, Reply, Turn
from benchmarks.systems.adaplanbench.demo import load_demo_tasks
from benchmarks.systems.adaplanbench.protocol import DIMENSIONS
from benchmarks.systems.adaplanbench.rejudging import REJUDGING, most_violated

TASK, (PROFILE, *_) = load_demo_tasks()[0]
METRICS = {"valid": 1.0, "accurate": 0.0, "world_repeated": 0.0, "user_repeated": 0.0}


def stored(*texts: str) -> RecordedTrajectory:
    turns = [Turn(n, text, payload={"valid": True}) for n, text in enumerate(texts, 1)]
    return RecordedTrajectory(tuple(turns), Outcome("valid_plan", METRICS), {})


def batches(given: dict[str, Any], *texts: str) -> list[list[Ask]]:
    """Return what is asked when nobody gives a readable reply."""
    settings = read_settings(REJUDGING.settings, given)
    task = replace(TASK, profile=PROFILE)
    episode = REJUDGING.rejudge(task, stored(*texts), settings, random.Random(0))
    found, send = [], None
    while True:
        try:
            item = episode.send(send)
        except StopIteration:
            return found
        send = None
        if not isinstance(item, Turn):
            found.append(list(item))
            send = [Reply("unreadable", reason="nonsense")] * len(item)


def test_each_dimension_in_a_reply_of_its_own_with_anchors_from_above() -> None:
    given = {"calls": "per_dimension", "anchors": "descending", "rubric_judges": 1}
    (asks,) = batches(given, "1. Wipe.")
    for ask, dimension in zip(asks, DIMENSIONS, strict=True):
        assert ask.expect.params == {"dimensions": [dimension.key]}
        brief = ask.messages[0].text
        high, low = (brief.index(dimension.anchors[score]) for score in (5, 1))
        assert high < low
        assert all(d.definition not in brief for d in DIMENSIONS if d != dimension)


def test_turns_and_replicates_are_asked_one_after_the_other() -> None:
    given = {"replicates": 2, "rubric_judges": 2, "what": "both"}
    asked = batches(given, "1. Wipe.", "  ", "1. Dry.")
    assert [asks[0].context["turn"] for asks in asked] == [1, 1, 3, 3]
    roles = ["world_judge", "user_judge", "rubric_judge", "rubric_judge"]
    assert all([ask.role for ask in asks] == roles for asks in asked)
    assert [a[0].context["turn"] for a in batches({"turns": "last"}, "1. Wipe.", "1. Dry.")] == [2]


def test_more_than_half_of_what_could_be_read_decides() -> None:
    def said(*keys: str) -> Reply:
        return Reply("answered", {"violated": list(keys)})

    lost = Reply("unreadable", reason="nonsense")
    assert most_violated([said("a", "b"), said("a"), lost]) == ("a",)
    assert most_violated([said("a"), said()]) == ()
    assert most_violated([lost]) is None
