"""Hints on feedback: what they say, and how often they are right (docs/live-sessions.md)."""

from pathlib import Path

import pytest

from benchmarks.core.types import Json
from benchmarks.systems.adaplanbench.hints import MEASURED, feedback_hints, stem
from tests.benchmarks.systems.adaplanbench.feedback_corpus import (
    Counts,
    count,
    demo_contexts,
    scripted_texts,
    written_texts,
)

DOCS = Path(__file__).parents[4] / "docs" / "live-sessions.md"


def row(key: str, about: str, text: str, disclosed: int | None = None) -> dict[str, object]:
    kind = "world" if about.startswith("tool") else "user"
    return {"key": key, "kind": kind, "about": about, "text": text, "disclosed": disclosed}


KETTLE = row("w-kettle", "tool:kettle", "My kettle leaks.")
LADDER = row("w-ladder", "tool:step ladder", "The step ladder is broken.")
NOISE = row("u-noise", "attribute:noisy work", "The baby sleeps, so no noisy work.")
MONEY = row("u-money", "attribute:spends money", "I do not want to spend money on it.")


def context(points: list[dict[str, object]], *profile: dict[str, object]) -> Json:
    told = [{**point, "repeated": point["disclosed"] is not None} for point in points]
    return {"query": "How do I dry a floor?", "mode": "constraints", "points": told,
            "profile": [*points, *profile]}  # fmt: skip


def codes(context: Json, text: str) -> list[tuple[str, str]]:
    return [(hint.code, hint.about) for hint in feedback_hints(context, text)]


class TestLeftOut:
    def test_a_revealed_constraint_that_no_word_speaks_of(self) -> None:
        (hint,) = feedback_hints(context([KETTLE, LADDER]), "There is no kettle.")

        assert (hint.code, hint.about) == ("left_out", "w-ladder")
        assert "The step ladder is broken." in hint.words
        assert "“step”, “ladder”" in hint.words

    @pytest.mark.parametrize(
        "text", ["No ladders here.", "It is too noisy.", "Be quiet, please.", "It makes NOISE!"]
    )
    def test_inflections_and_like_words_will_do(self, text: str) -> None:
        assert not codes(context([LADDER if "ladder" in text else NOISE]), text)

    def test_the_words_of_its_own_text_will_do(self) -> None:
        assert not codes(context([NOISE]), "Remember that the baby sleeps.")
        assert codes(context([NOISE]), "Remember the baby.") == [("left_out", "u-noise")]


class TestGivesAway:
    def test_a_hidden_constraint_that_the_text_speaks_of(self) -> None:
        (hint,) = feedback_hints(
            context([KETTLE], MONEY),
            "My kettle leaks, and a new one costs money that I would spend.",
        )

        assert (hint.code, hint.about) == ("gives_away", "u-money")
        assert hint.words.startswith("“costs”, “money”, “spend” may give away")

    def test_what_was_disclosed_before_may_be_said(self) -> None:
        said = "My kettle leaks. I do not want to spend money."
        assert not codes(context([KETTLE], {**MONEY, "disclosed": 1}), said)

    def test_words_shared_with_what_is_revealed_are_no_sign(self) -> None:
        stool = row("w-stool", "tool:step stool", "The step stool is broken.")
        assert not codes(context([LADDER], stool), "The step ladder is broken.")

    def test_the_whole_name_is_wanted(self) -> None:
        work = row("u-far", "attribute:far away work", "Nothing that takes me far away.")
        assert not codes(context([KETTLE], work), "Far too much with that kettle.")


def test_a_constraint_that_names_nothing_goes_by_its_text() -> None:
    plain = row("w-1", "", "The garden hose was stolen.")
    assert not codes(context([plain]), "Somebody stole our garden hose, it was stolen.")
    assert codes(context([plain]), "No.") == [("left_out", "w-1")]


def test_feedback_on_the_rubric_gets_none() -> None:
    said = {**context([KETTLE], MONEY), "mode": "refinement"}
    assert not feedback_hints(said, "Spend money.")


@pytest.mark.parametrize(
    "words",
    ["drill drills drilled drilling", "carry carries carried", "glove gloves", "pin pinned pins"],
)
def test_endings_are_cut_alike(words: str) -> None:
    assert len(set(map(stem, words.split()))) == 1


class TestHowOftenTheyAreRight:
    """(Right, wrong, missed) by kind of text; the figures stand in the docs and on the page."""

    SCRIPTED = {
        "as said": (54, Counts(), Counts()),
        "one removed": (16, Counts(15, 0, 1), Counts()),
        "one added": (54, Counts(), Counts(52, 3, 2)),
    }
    WRITTEN = {
        "tuning": (37, Counts(7, 2, 1), Counts(5, 0, 0)),
        "held_out": (44, Counts(8, 4, 0), Counts(5, 1, 1)),
    }

    def test_on_scripted_feedback_of_the_demo(self) -> None:
        found = scripted_texts(list(demo_contexts()))

        measured = {name: (len(texts), *count(texts).values()) for name, texts in found.items()}
        assert measured == self.SCRIPTED

    @pytest.mark.parametrize("half", list(WRITTEN))
    def test_on_texts_written_by_hand(self, half: str) -> None:
        texts = written_texts(half)

        assert (len(texts), *count(texts).values()) == self.WRITTEN[half]

    def test_the_docs_and_the_page_state_these_figures(self) -> None:
        docs = DOCS.read_text(encoding="utf-8")
        for name, (n, left, gives) in {**self.SCRIPTED, **self.WRITTEN}.items():
            cells = [f"{c.right} / {c.wrong} / {c.missed}" for c in (left, gives)]
            assert f"| {name.replace('_', ' ')} | {n} | {' | '.join(cells)} |" in docs
        scripted = [c for _, *both in self.SCRIPTED.values() for c in both]
        n, *held_out = self.WRITTEN["held_out"]
        for counts in (scripted, held_out):
            right, wrong = sum(c.right for c in counts), sum(c.wrong for c in counts)
            assert f"{right} of {right + wrong}" in MEASURED
        assert f"{n} texts" in MEASURED
