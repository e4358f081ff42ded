"""Words and numbers on pages."""

import pytest

from benchmarks.core.registry import SYSTEMS, find_system, get_system
from benchmarks.core.types import Outcome
from benchmarks.systems.adaplanbench import episode, metrics
from benchmarks.templatetags.planjury import docs_links, duration, number, percent, sparkline, turns


def test_every_ending_of_adaplanbench_is_put_into_words() -> None:
    codes = {
        episode.VALID, episode.EARLY, episode.MAXED, episode.SPENT, episode.JUDGE,
        episode.SIMULATOR, episode.UNREADABLE, episode.EXHAUSTED, episode.DECLINED,
    }  # fmt: skip
    assert set(find_system("adaplanbench").labels.endings) == codes
    for code in codes:
        assert find_system("adaplanbench").labels.explain_outcome(Outcome(code, {}), {})


def test_measures_are_metrics_of_the_system() -> None:
    assert set(find_system("adaplanbench").labels.measures) <= {
        *metrics.RATES,
        *metrics.MEANS,
        *metrics.FLAGS,
    }


def test_a_system_without_words_speaks_by_its_codes() -> None:
    assert find_system("unknown").labels.ending("ran_out-of_time").title == "Ran out of time"
    assert find_system("unknown").labels.explain_outcome(Outcome("x", {}), {}) == ""
    assert find_system("unknown").labels.measures == {}
    assert find_system("unknown").prompts is None


@pytest.mark.parametrize("key", SYSTEMS)
def test_prompts_have_digests(key: str) -> None:
    prompts = get_system(key).prompts
    assert prompts and all(len(digest) == 32 for digest in prompts.digests("1").values())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""), (0, "0"), (2.84375, "2.84"), (31.0, "31"), (0.0938, "0.0938"),
        (466.2, "466"), (12345.6, "12,346"), (0.0001, "0.0001"), (0.00001234, "< 0.0001"),
        (-2.5, "-2.5"),
    ],
)  # fmt: skip
def test_numbers_have_three_digits(value: float | None, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""), (0.2, "less than a second"), (1, "1 second"), (59, "59 seconds"),
        (90, "2 minutes"), (3600, "1 hour"), (200_000, "2 days"),
    ],
)  # fmt: skip
def test_durations_in_words(seconds: float | None, words: str) -> None:
    assert duration(seconds) == words


def test_shares_and_turns_in_words() -> None:
    assert (percent(0.78125), percent(None)) == ("78.1 %", "")
    assert [turns([2]), turns([2, 4]), turns([1, 2, 4])] == [
        "turn 2", "turns 2 and 4", "turns 1, 2 and 4",
    ]  # fmt: skip


def test_a_gap_in_the_scores_is_a_gap_in_the_line() -> None:
    drawn = sparkline([1.0, 5.0, None, 3.0, 3.0])
    assert drawn["lines"] == ["4.0,32.0 32.0,4.0", "88.0,18.0 116.0,18.0"]
    assert drawn["last"] == (116.0, 18.0)
    assert drawn["words"] == "from 1.00 to 3.00"
    assert sparkline([None])["words"] == "no scores"


def test_names_of_documentation_pages_become_links() -> None:
    text = "Sources: docs/agreement.md (a < b); not /old-docs/x.md."
    assert docs_links(text) == (
        'Sources: <a href="/docs/agreement/">docs/agreement.md</a> (a &lt; b); not /old-docs/x.md.'
    )
