"""Readers of environment variables."""

from pathlib import Path

import pytest

from config.settings import env

NAME = "PLANJURY_SOMETHING"


@pytest.fixture
def variable(monkeypatch: pytest.MonkeyPatch):
    """Sets the variable."""
    monkeypatch.delenv(NAME, raising=False)
    return lambda value: monkeypatch.setenv(NAME, value)


def test_defaults_hold_where_nothing_is_set(variable) -> None:
    assert env.text(NAME, default="here") == "here"
    assert env.flag(NAME, default=True) is True
    assert env.integer(NAME, default=3) == 3
    assert env.words(NAME, default=["a"]) == ["a"]
    assert env.folder(NAME, default=Path("/x")) == Path("/x")


def test_an_empty_variable_is_not_set(variable) -> None:
    variable("  ")
    assert env.text(NAME, default="here") == "here"
    assert env.flag(NAME, default=True) is True
    assert env.integer(NAME, default=3) == 3


@pytest.mark.parametrize("value", ["1", "true", "YES", " on "])
def test_switches_on(variable, value: str) -> None:
    variable(value)
    assert env.flag(NAME, default=False) is True


@pytest.mark.parametrize("value", ["0", "False", "no", "off"])
def test_switches_off(variable, value: str) -> None:
    variable(value)
    assert env.flag(NAME, default=True) is False


@pytest.mark.parametrize("value", ["2", "yess", "y e s"])
def test_a_switch_refuses_other_words(variable, value: str) -> None:
    variable(value)
    with pytest.raises(env.BadVariable, match=f"{NAME} must be one of 1, true"):
        env.flag(NAME, default=False)


@pytest.mark.parametrize("value", ["x", "1.5", "1_000", "٣", "-1", "11", "--5"])
def test_a_number_refuses_nonsense(variable, value: str) -> None:
    variable(value)
    with pytest.raises(env.BadVariable, match="a whole number from 0 to 10"):
        env.integer(NAME, default=3, most=10)


def test_a_number_within_its_limits(variable) -> None:
    variable("10")
    assert env.integer(NAME, default=3, most=10) == 10


def test_words_are_separated_by_commas(variable) -> None:
    variable("a, b,c")
    assert env.words(NAME) == ["a", "b", "c"]


@pytest.mark.parametrize("value", ["a,,b", "a,", "a b"])
def test_words_refuse_gaps(variable, value: str) -> None:
    variable(value)
    with pytest.raises(env.BadVariable):
        env.words(NAME)


def test_a_choice_refuses_the_unknown(variable) -> None:
    variable("C")
    with pytest.raises(env.BadVariable, match="one of A, B"):
        env.choice(NAME, default="A", among={"A", "B"})


def test_a_folder_is_no_file(variable, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    variable(str(tmp_path / "file"))
    with pytest.raises(env.BadVariable, match="must name a folder"):
        env.folder(NAME, default=tmp_path)


def test_a_message_does_not_repeat_the_value(variable) -> None:
    variable("secret words")
    with pytest.raises(env.BadVariable) as caught:
        env.words(NAME)
    assert "secret" not in str(caught.value)


def test_a_program_is_one_that_can_be_run(variable, tmp_path: Path) -> None:
    assert env.program("PLANJURY_NOT_SET") == ""
    variable("off")
    assert env.program(NAME) == "off"
    path = tmp_path / "browser"
    path.write_text("")
    for nonsense in ("chromium", str(tmp_path), str(path)):
        variable(nonsense)
        with pytest.raises(env.BadVariable, match="must be the absolute path of a program"):
            env.program(NAME)
    path.chmod(0o755)
    variable(str(path))
    assert env.program(NAME) == str(path)
