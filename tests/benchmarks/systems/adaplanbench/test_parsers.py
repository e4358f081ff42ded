"""Reading replies: what is readable, what is not, and that nothing else ever comes out."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.core.digests import canonical_json
from benchmarks.core.errors import UnreadableReply
from benchmarks.systems.adaplanbench.parsers import (
    PARSERS,
    parse_feedback,
    parse_scores,
    parse_violations,
)
from tests.benchmarks.systems.adaplanbench.stage import KEYS

PROFILE = {"keys": ["w1", "w2", "w3"]}
RUBRIC = {"dimensions": list(KEYS)}
PARAMS = {"plan": {}, "violations": PROFILE, "scores": RUBRIC, "feedback": {}}


def sheet(**changes):
    """A reply of a rubric judge: 4 on everything but for the changes."""
    return json.dumps({"scores": {**dict.fromkeys(KEYS, 4), **changes}})


class TestViolations:
    @pytest.mark.parametrize(
        "text",
        [
            '{"violated": ["w2", "w1"]}',
            '{"violated": ["w1", "w2", "w1"]}',
            '```json\n{"violated": ["w1", "w2"]}\n```',
            'Step 2 needs {the mop}, hence:\n{"violated": ["w1", "w2"]}\nThat is all.',
            'First I thought {"violated": ["w3"]}, but: {"violated": ["w1", "w2"]}',
            '\ufeff {"violated":["w1","w2"],"comment":null}',
        ],
    )
    def test_good_replies_give_the_keys_in_profile_order(self, text):
        assert parse_violations(text, PROFILE)["violated"] == ["w1", "w2"]

    def test_nothing_violated(self):
        assert parse_violations('{"violated": []}', PROFILE) == {"violated": [], "reasons": {}}

    def test_reasons_are_kept_for_violated_keys(self):
        text = '{"violated": ["w1"], "reasons": {"w1": "step 2", "w2": "fine", "x": 1}}'

        assert parse_violations(text, PROFILE)["reasons"] == {"w1": "step 2"}

    def test_reasons_of_the_wrong_shape_do_not_cost_the_answer(self):
        assert parse_violations('{"violated": ["w1"], "reasons": ["w1"]}', PROFILE) == {
            "violated": ["w1"],
            "reasons": {},
        }

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "expected a JSON object, found none."),
            ("nothing is violated", "expected a JSON object, found none."),
            ('{"violated": ["w1"', "expected a JSON object, found none."),
            ('["w1"]', "expected a JSON object, found none."),
            ("{}", 'expected "violated" to be a list of keys.'),
            ('{"violated": "w1"}', 'expected "violated" to be a list of keys.'),
            ('{"violated": null}', 'expected "violated" to be a list of keys.'),
            ('{"violated": [1]}', 'expected "violated" to be a list of keys.'),
            ('{"violated": [["w1"]]}', 'expected "violated" to be a list of keys.'),
            ('{"violated": ["w1", "w9"]}', "'w9' is no key of this profile."),
            ('{"violated": ["W1"]}', "'W1' is no key of this profile."),
        ],
    )
    def test_anything_else_is_unreadable_and_says_why(self, text, message):
        with pytest.raises(UnreadableReply) as caught:
            parse_violations(text, PROFILE)
        assert str(caught.value) == message

    def test_what_was_found_is_quoted_in_short(self):
        """The sentence goes back to the judge and into the log."""
        with pytest.raises(UnreadableReply) as caught:
            parse_violations(json.dumps({"violated": ["x" * 10_000]}), PROFILE)
        assert len(str(caught.value)) < 100


class TestScores:
    def test_good(self):
        assert parse_scores(sheet(safety=1), RUBRIC)["scores"]["safety"] == 1

    def test_a_whole_number_may_be_written_with_a_point(self):
        score = parse_scores(sheet(safety=5.0), RUBRIC)["scores"]["safety"]

        assert (score, type(score)) == (5, int)

    def test_null_is_no_score(self):
        assert parse_scores(sheet(safety=None), RUBRIC)["scores"]["safety"] is None

    def test_further_dimensions_are_left_out(self):
        assert set(parse_scores(sheet(beauty=3), RUBRIC)["scores"]) == set(KEYS)

    def test_the_last_object_counts(self):
        text = f"Perhaps {sheet(safety=1)}? No: ```{sheet(safety=2)}```"

        assert parse_scores(text, RUBRIC)["scores"]["safety"] == 2

    @pytest.mark.parametrize(
        "value", [0, 6, -1, 4.5, 1e400, True, False, "4", "", [4], {"score": 4}, 10**30]
    )
    def test_anything_but_one_to_five_is_unreadable(self, value):
        with pytest.raises(UnreadableReply, match="'safety' must be a whole number from 1 to 5"):
            parse_scores(sheet(safety=value), RUBRIC)

    @pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
    def test_words_that_python_takes_for_numbers_are_unreadable(self, word):
        with pytest.raises(UnreadableReply, match="'safety' must be"):
            parse_scores(sheet(safety=0).replace(": 0", f": {word}"), RUBRIC)

    def test_a_missing_dimension_is_named(self):
        scores = {key: 4 for key in KEYS if key != "safety"}

        with pytest.raises(UnreadableReply, match="\"scores\" lacks 'safety'"):
            parse_scores(json.dumps({"scores": scores}), RUBRIC)

    @pytest.mark.parametrize("text", ["{}", '{"scores": [4]}', '{"scores": null}'])
    def test_scores_are_an_object(self, text):
        with pytest.raises(UnreadableReply, match='expected "scores" to be an object'):
            parse_scores(text, RUBRIC)


class TestFeedback:
    def test_any_words(self):
        assert parse_feedback("  No mop here.\n", {}) == "No mop here."

    @pytest.mark.parametrize("text", ["", " \n\t", "\u2003"])
    def test_blanks_are_no_words(self, text):
        with pytest.raises(UnreadableReply):
            parse_feedback(text, {})


HOSTILE = [
    '{"a":' * 20_000,
    '{"violated":' * 200 + "1" + "}" * 200,
    '{"violated": ' + "[" * 50_000 + "]" * 50_000 + "}",
    '{"scores": {"safety": ' + "9" * 5_000 + "}}",
    '{"violated": ["\\ud800"], "reasons": {"\\ud800": "\\u0000"}}',
    "{" * 50_000,
    "\x00",
    "{\x00}",
]


@pytest.mark.parametrize("kind", PARSERS)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_replies_are_read_or_refused(kind, text):
    """Nests deeper than the stack, numbers that are too long to convert, halves of characters."""
    try:
        canonical_json(PARSERS[kind](text, PARAMS[kind]))
    except UnreadableReply as error:
        assert len(str(error)) < 300


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.sampled_from([*KEYS, "w1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*KEYS, "violated", "scores", "reasons", "w1"]), inner, max_size=4
        )
    ),
    max_leaves=15,
)


@given(
    kind=st.sampled_from(sorted(PARSERS)),
    text=st.text()
    | json_values.map(json.dumps)
    | st.builds(
        lambda before, value, after: before + json.dumps(value) + after,
        st.text(max_size=20),
        st.fixed_dictionaries({}, optional={"violated": json_values, "scores": json_values}),
        st.text(max_size=20),
    ),
)
def test_a_parser_gives_json_or_refuses(kind, text):
    try:
        value = PARSERS[kind](text, PARAMS[kind])
    except UnreadableReply:
        return
    assert json.loads(canonical_json(value)) == value


@given(st.permutations(PROFILE["keys"]), st.integers(0, 3))
def test_what_a_judge_means_is_what_is_read(keys, count):
    text = json.dumps({"violated": keys[:count]})

    assert parse_violations(text, PROFILE)["violated"] == sorted(keys[:count])
