"""Tests of the search syntax: typed text is split into words, phrases and exclusions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.search.query import (
    MOST_IN_PHRASE,
    MOST_TERMS,
    NO_WORD,
    TOO_LONG,
    TOO_MANY,
    TOO_SHORT,
    SearchTerm,
    read_words,
    words_of,
)


@pytest.mark.parametrize(
    ("typed", "wanted", "without"),
    [
        ("", [], []),
        ("Broken  HAMMER", [("broken",), ("hammer",)], []),
        ('"broken hammer" nail', [("broken", "hammer"), ("nail",)], []),
        ("hammer -nail", [("hammer",)], [("nail",)]),
        ('-"a nail"', [], [("a", "nail")]),
        ("low-fat gpt-4.1", [("low", "fat"), ("gpt", "4", "1")], []),
        ('hammer "broken ha', [("hammer",), ("broken", "ha")], []),
        ("hammer hammer", [("hammer",)], []),
        ("Crème BRÛLÉE straße", [("creme",), ("brulee",), ("strasse",)], []),
        ("打开门", [("打", "开", "门")], []),
        ("AND or NOT", [("and",), ("or",), ("not",)], []),
    ],
    ids=["nothing", "words", "phrase", "without", "without-phrase", "hyphens", "open-quote",
         "twice", "accents", "no-spaces", "no-operators"],
)  # fmt: skip
def test_words_phrases_and_what_is_left_out(
    typed: str, wanted: list[tuple[str, ...]], without: list[tuple[str, ...]]
) -> None:
    query = read_words(typed)
    assert [term.words for term in query.wanted] == wanted
    assert [term.words for term in query.without] == without
    assert not query.ignored


def test_beginnings() -> None:
    assert read_words('hamm* -na* "broken ha*" "old na"*').terms == (
        SearchTerm(("hamm",), True),
        SearchTerm(("broken", "ha"), True),
        SearchTerm(("old", "na"), True),
        SearchTerm(("na",), True),
    )


@pytest.mark.parametrize(
    ("typed", "shown", "why"),
    [
        ("hammer ??? ", "???", NO_WORD),
        ("hammer *", "*", NO_WORD),
        ("hammer n*", "n*", TOO_SHORT),
        (" ".join(f"w{n}" for n in range(MOST_TERMS + 1)), f"w{MOST_TERMS}", TOO_MANY),
        (
            f'"{" ".join("w" * (MOST_IN_PHRASE + 1))}"',
            f'"{" ".join("w" * (MOST_IN_PHRASE + 1))}"',
            TOO_LONG,
        ),
    ],
    ids=["signs", "star", "short", "many", "long"],
)
def test_what_cannot_be_searched_for_is_named_and_the_rest_is_searched(
    typed: str, shown: str, why: str
) -> None:
    query = read_words(typed)
    assert [(part.typed, part.why) for part in query.ignored] == [(shown, why)]
    assert query.wanted


@given(st.text(max_size=60) | st.text(alphabet="a b\"-*\x00'¶", max_size=20))
def test_nothing_typed_is_an_error(typed: str) -> None:
    for term in read_words(typed).terms:
        assert all(word and word.isalnum() for word in term.words)


@given(st.text(max_size=80))
def test_a_text_is_found_by_its_own_words(text: str) -> None:
    words = words_of(text)
    assert words_of(" ".join(words)) == words
