"""The quick reader says what the careful one says, and leaves to it what is unusual."""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.core import json_files
from benchmarks.core.digests import storable
from benchmarks.core.json_files import ItemFile, JsonFile, finite, load, refuse_constant
from benchmarks.core.problems import FileRefused, json_fault

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
DOCUMENTS = st.lists(VALUES, max_size=6) | st.dictionaries(st.text(max_size=3), VALUES, max_size=5)


def outcome(reader: type[ItemFile] | type[JsonFile], data: bytes, **options: Any) -> Any:
    """Return what a reader makes of some bytes: its entries, or the word of its refusal."""
    try:
        found = list(reader("x.json", io.BytesIO(data)).entries(**options))
    except FileRefused as refused:
        return refused.problems[0].expected
    return [(field, place, storable(value)) for field, place, value in found]


@pytest.fixture(autouse=True, params=[7, 1 << 18])
def _window(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_files, "WINDOW", request.param)


@given(value=DOCUMENTS, indent=st.sampled_from([None, 1]), ascii=st.booleans())
def test_both_read_the_same(value: Any, indent: int | None, ascii: bool) -> None:
    data = json.dumps(storable(value), indent=indent, ensure_ascii=ascii).encode()
    assert outcome(ItemFile, data) == outcome(JsonFile, data)


@given(value=DOCUMENTS, place=st.integers(0, 300), piece=st.sampled_from([b"", b"{", b"\xff"]))
def test_both_refuse_the_same(value: Any, place: int, piece: bytes) -> None:
    # Without escapes: damaged ones are half characters, which the two replace by different signs.
    data = json.dumps(storable(value), ensure_ascii=False).encode()
    place %= len(data)
    data = data[:place] + piece + data[place + 1 :]
    assert outcome(ItemFile, data) == outcome(JsonFile, data)


BY_JSON = json.JSONDecoder(parse_constant=refuse_constant, parse_float=finite)


def as_json_reads(text: str) -> Any:
    """Return what the standard library reads, or the word of its refusal."""
    try:
        return repr(storable(BY_JSON.decode(text)))
    except (ValueError, RecursionError) as error:
        return str(error)


def as_a_line(text: str) -> Any:
    try:
        return repr(load(text))
    except (ValueError, RecursionError) as error:
        return str(error)


@given(value=VALUES, place=st.integers(0, 99), piece=st.sampled_from(["", *'"\\[},-0e', "\ud800"]))
def test_a_line_is_read_and_refused_as_json_does(value: Any, place: int, piece: str) -> None:
    text = json.dumps(value)
    for given_text in (text, text[: place % len(text)] + piece + text[place % len(text) + 1 :]):
        assert as_a_line(given_text) == as_json_reads(given_text)


@pytest.mark.parametrize(
    "text",
    ["-0", "-0.0", "1e999", "1e-999", "18446744073709551616", "-9223372036854775809", "9" * 5000]
    + ["1." + "1" * 500, "9007199254740993", "1e23", "5e-324", "01", "+1", ".5", "5.", "NaN"]
    + [r'"\ud800"', r'"\udc00\ud800"', r'"\u0000"', '"\x01"', "\ufefftrue", r'"\x"']
    + ['{"a":1,"a":2}', "[1,]", "{a:1}", "[]]", "", " null\n", "\x0b1", '"\u2028"', "[" * 2000],
)
def test_odd_lines_are_read_and_refused_as_json_does(text: str) -> None:
    assert as_a_line(text) == as_json_reads(text)


@pytest.mark.parametrize(
    "text",
    ["", " ", "1", '"a"', "[1 2]", "[1,]", '{"a" 1}', '{"a":[1,2}', "[] x", "[NaN]", "[1e999]"]
    + ['{"a":[1', "[" * 60 + "]" * 60, '[{"a":' * 30 + "1" + "}]" * 30, "[" + "9" * 5000 + "]"],
)
def test_what_no_reader_takes(text: str) -> None:
    with pytest.raises(FileRefused):
        list(ItemFile("x.json", io.BytesIO(text.encode())).entries())


def test_places_go_on_where_the_careful_reader_takes_over() -> None:
    rows = [{"n": n} for n in range(5)]
    large = {"n": 5, "events": ["x", 1] * 120_000, "huge": "y" * (3 << 20)}
    data = json.dumps({"a": 1, "rows": [*rows, large, *rows], "b": 2}).encode()
    found = list(ItemFile("x.json", io.BytesIO(data)).entries(skip=("b",), without=("events",)))
    assert found[0] == ("a", None, 1) and len(found) == 12
    assert [place for _, place, _ in found[1:]] == list(range(11))
    assert found[6][2].keys() == {"n", "huge"}, "too large for the quick reader"


@pytest.mark.parametrize("skip", [(), ("rows",)])
def test_a_fault_is_told_with_its_line(skip: tuple[str, ...]) -> None:
    lines = ['{"rows": [', *['{"n": 1},'] * 40, '{"n": tru},', '{"n": 1}]}']
    with pytest.raises(FileRefused) as refused:
        list(ItemFile("x.json", io.BytesIO("\n".join(lines).encode())).entries(skip))
    where = refused.value.problems[0].where
    assert where.startswith("x.json, line"), where
    assert "42" in where or "to 43" in where, where


def test_a_missing_comma_is_not_taken_for_a_shorter_file() -> None:
    for text in ('{"rows": [1, 2 3]}', '{"a": 1 "b": 2}', '[{"a": 1} {"a": 2}]'):
        with pytest.raises(FileRefused):
            list(ItemFile("x.json", io.BytesIO(text.encode())).entries())


def test_nothing_that_a_store_refuses_comes_out() -> None:
    text = '["a\\u0000b", "\\ud800", "\\ud83d\\ude00", {"\\u0000": 1}]'
    values = [value for _, _, value in ItemFile("x.json", io.BytesIO(text.encode())).entries()]
    assert values == ["a\ufffdb", "\ufffd", "😀", {"\ufffd": 1}]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "a value is missing (column 1)"),
        ('{"a": 1} 2', "more text after the value (column 10)"),
        ('{\n "a": 1,\n}', "a name in double quotes is missing (line 3, column 1)"),
        ('{"a" 1}', "a colon is missing (column 6)"),
        ("[1 2]", "a comma or a closing bracket is missing (column 4)"),
        ('["a', "a text without its closing quote (column 2)"),
        ('["a\nb"]', "a line break or control character within a text (line 1, column 4)"),
        (r'["\x"]', "a backslash with an unknown character (column 3)"),
        ("[" * 100_000, "too many levels"),
    ],
)  # fmt: skip
def test_a_fault_of_json_is_in_plain_words(text: str, words: str) -> None:
    with pytest.raises((ValueError, RecursionError)) as raised:
        json.loads(text)
    assert json_fault(raised.value) == words
    with pytest.raises(UnicodeDecodeError) as broken:
        b"a\xff".decode()
    assert json_fault(broken.value) == "a byte that is no UTF-8 (byte 2)"
