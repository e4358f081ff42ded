"""The reader of YAML by people: plain values with lines; every limit is a fault with its line."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.core import yaml_files
from benchmarks.core.problems import FileRefused
from benchmarks.core.yaml_files import DEEPEST, LONGEST, MOST_VALUES, read_yaml

LOADERS = [pytest.param(yaml.SafeLoader, id="python")]
if hasattr(yaml, "CSafeLoader"):
    LOADERS.append(pytest.param(yaml.CSafeLoader, id="libyaml"))


@pytest.fixture(params=LOADERS)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either parser: which one is there depends on the machine."""
    monkeypatch.setattr(yaml_files, "_LOADER", request.param)


def test_values_come_with_their_lines(loader: None) -> None:
    read = read_yaml("a: 1\nb:\n  - x\n  - {c: 2.5, d: yes}\ne: ~\nf: '7'\n1: one\n")
    assert read.value == {
        "a": 1, "b": ["x", {"c": 2.5, "d": True}], "e": None, "f": "7", "1": "one",
    }  # fmt: skip
    assert [read.lines[path] for path in [("a",), ("b", 1, "d"), ("e",), ("1",)]] == [1, 4, 5, 7]


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "---\n"])
def test_nothing_is_none(loader: None, text: str) -> None:
    assert read_yaml(text).value is None


@pytest.mark.parametrize("text", ["2001-99-99", "2027-03-01", "2001-12-14t21:59:43.10-05:00", "="])
def test_dates_and_other_rarities_are_texts_as_they_are_written(loader: None, text: str) -> None:
    assert read_yaml(f"a: {text}").value == {"a": text}


HOSTILE = {
    "deep list": ("[" * 100_000, 1, f"at most {DEEPEST} levels"),
    "deep fields": ("{a: " * 40_000, 1, f"at most {DEEPEST} levels"),
    "deep dashes": ("- " * 90_000, 1, f"at most {DEEPEST} levels"),
    "deep lines": ("\n".join(" " * n + "a:" for n in range(500)), 32, f"at most {DEEPEST} levels"),
    "deep keys": ("? " * 90_000, 1, "a name before the colon"),
    "many seeds": ("seeds: [" + "1, " * 60_000 + "1]", 1, f"at most {MOST_VALUES:,} values"),
    "digits": ("\na: " + "9" * 190_000, 2, "numbers of at most 40 digits"),
    "hexadecimal": ("a: 0x" + "f" * 190_000, 1, "numbers of at most 40 digits"),
    "sexagesimal": ("a: " + "1:" * 90_000 + "1", 1, "numbers of at most 40 digits"),
    "timestamp": ("b: 1\na: !!timestamp 2001-99-99", 2, "a value without a tag"),
    "binary": ("a: !!binary eA==", 1, "a value without a tag"),
    "object": ("a: !!python/object/apply:os.system [ls]", 1, "without a tag"),
    "set": ("a: !!set {b, c}", 1, "without a tag"),
    "no number": ("a: !!int abc", 1, "a whole number"),
    "no truth": ("a: !!bool maybe", 1, "true or false"),
    "infinite": ("a: .inf", 1, "a number that is finite"),
    "too large": ("a: 1.0e+400", 1, "a number that is finite"),
    "no one": ("a: .nan", 1, "a number that is finite"),
    "reference": ("a: &x [1]\nb: *x", 2, "a value of its own"),
    "recursion": ("&x [*x]", 1, "a value of its own"),
    "twice": ("a: 1\nb: 2\na: 3", 3, "each name once"),
    "key": ("[1]: 2", 1, "a name before the colon"),
    "documents": ("a: 1\n---\nb: 2", 2, "one document"),
    "nul": ('a: "\\0"', 1, "text without NUL"),
    "raw nul": ("a: 1\nb: \x00", 2, "text without NUL"),
    "half character": ("a: \ud800", 1, "half characters"),
    "control": ("a: 1\nb: \x01", 2, "YAML"),
    "not YAML": ("a: 1\nb: [", 2, "YAML"),
    "quotes": ('"' * 90_000, 1, "YAML"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_each_hostile_text_is_refused_with_its_line(loader: None, name: str) -> None:
    text, line, expected = HOSTILE[name]
    with pytest.raises(FileRefused) as refused:
        read_yaml(text)
    (fault,) = refused.value.problems
    # An unclosed list is found out at the end of the file.
    assert fault.where in {f"line {line}", f"line {line + 1}"}
    assert expected in fault.expected
    assert len(str(fault)) < 300


@pytest.mark.parametrize("escape", ["\\ud800", "\\UFFFFFFFF", "\\U00110000"])
def test_an_escape_that_is_no_character_is_refused(loader: None, escape: str) -> None:
    with pytest.raises(FileRefused):
        read_yaml(f'a: "{escape}"')


def test_a_text_beyond_the_limit_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_files, "_EventReader", None)
    with pytest.raises(FileRefused, match=f"at most {LONGEST:,} characters, found"):
        read_yaml("a" * (LONGEST + 1))


def test_a_stored_text_may_name_a_field_twice() -> None:
    assert read_yaml("a: 1\na: 2", repeated=True).value == {"a": 2}


PIECES = st.sampled_from(
    ["a", "b:", ": ", "- ", "\n", "  ", "[", "]", "{", "}", ",", "'", '"', "#", "&x ", "*x",
     "!!int ", "!", "|", ">", "? ", "---", "...", "%", "\\", "\\0", "1e999", "-0", "~",
     "<<: ", "\t", "\x00", "\ud800", "\ufeff", "é", "2001-99-99", "0x", "0b", "1:1", ".", "+", "=",
     "\r", "\x85", "\u2028"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30).map("".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    for loader in (yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(yaml_files, "_LOADER", loader)
            try:
                read_yaml(text)
            except FileRefused as refused:
                assert refused.problems[0].where.startswith(("line ", "the file"))
