"""Digests, seeds and the values that are told apart by them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.core.digests import canonical_json, derive_seed, digest, digest_text, storable
from benchmarks.core.types import Ask, Constraint, Expect, Message, Profile, Reply

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


class TestDigests:
    def test_the_order_of_keys_does_not_count(self):
        assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1})

    def test_the_order_of_a_list_does(self):
        assert digest([1, 2]) != digest([2, 1])

    def test_canonical_json_is_compact_and_keeps_letters(self):
        assert canonical_json({"b": "ü", "a": [1, None]}) == '{"a":[1,null],"b":"ü"}'

    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
    def test_what_is_no_json_is_refused(self, value):
        with pytest.raises(ValueError, match="JSON"):
            digest([value])

    def test_known_value(self):
        """BLAKE2b with 16 bytes; ``printf '%s' '"x"' | b2sum -l 128`` gives the same."""
        assert digest("x") == digest_text('"x"') == "ee8b79dab5015bd04784f08f5b0bb660"


class TestStorable:
    @given(json_values)
    def test_what_utf8_can_hold_stays_as_it_is(self, value):
        clean = storable(value)

        assert "\x00" not in canonical_json(clean)
        canonical_json(clean).encode()
        assert storable(clean) == clean

    def test_nul_and_lone_surrogates_are_replaced_at_any_depth(self):
        assert storable({"a\x00": ["b\ud800", 1, None, {"c": "\udc00"}]}) == {
            "a�": ["b�", 1, None, {"c": "�"}]
        }

    def test_real_characters_beyond_the_basic_plane_stay(self):
        assert storable("\U0001f600") == "\U0001f600"


class TestSeeds:
    def test_is_stable_between_machines_and_versions(self):
        """A change would make every stored run irreproducible.

        Derived apart: half of the number that ``b2sum -l 64`` gives for the parts joined by 0x1f.
        """
        assert derive_seed(1, "task", "low", 1, 0, 0) == 9109931752935198572

    def test_fits_a_signed_column_of_64_bits(self):
        assert all(0 <= derive_seed(n) < 2**63 for n in range(1000))

    def test_parts_do_not_run_into_each_other(self):
        assert derive_seed("a", 11, 1) != derive_seed("a", 1, 11) != derive_seed("a1", 1, 1)

    def test_neighbours_differ(self):
        seeds = {derive_seed(7, "task", "low", 1, step, slot) for step in range(50)
                 for slot in range(10)}  # fmt: skip
        assert len(seeds) == 500


class TestAsks:
    BASE = Ask("judge", (Message("user", "hello"),), Expect("scores", {"low": 1}), "2")

    def test_context_does_not_change_the_digest(self):
        assert Ask(
            "judge", self.BASE.messages, self.BASE.expect, "2", context={"any": "thing"}
        ).digest == self.BASE.digest  # fmt: skip

    @pytest.mark.parametrize(
        "other",
        [
            Ask("agent", BASE.messages, BASE.expect, "2"),
            Ask("judge", BASE.messages, BASE.expect, "1"),
            Ask("judge", (Message("system", "hello"),), BASE.expect, "2"),
            Ask("judge", (*BASE.messages, *BASE.messages), BASE.expect, "2"),
            Ask("judge", BASE.messages, Expect("scores", {"low": 2}), "2"),
            Ask("judge", BASE.messages, Expect("plan", {"low": 1}), "2"),
            Ask("judge", BASE.messages, BASE.expect, "2", ({"name": "hammer"},)),
        ],
    )
    def test_everything_else_does(self, other):
        assert other.digest != self.BASE.digest

    def test_tool_calls_are_part_of_a_message(self):
        call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}

        digests = {
            Message("assistant", "").digest,
            Message("assistant", "", (call,)).digest,
            Message("assistant", "", (), "1").digest,
        }
        assert len(digests) == 3


def test_a_profile_gives_its_constraints_by_kind_in_order():
    a, b, c = (Constraint(key, kind, key) for key, kind in (("1", "w"), ("2", "u"), ("3", "w")))

    assert Profile("low", (a, b, c)).of_kind("w") == (a, c)
    assert Profile("low", (a, b, c)).of_kind("x") == ()


@pytest.mark.parametrize(
    ("state", "readable"), [("answered", True), ("unreadable", False), ("declined", False)]
)
def test_only_answered_replies_are_readable(state, readable):
    assert Reply(state).readable is readable
