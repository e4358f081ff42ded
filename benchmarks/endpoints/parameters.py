"""Parameters of endpoints as a form takes them: JSON in a text, refused with line and column."""

import json
from typing import Any

from django import forms

from benchmarks.core.digests import storable
from benchmarks.core.errors import SettingError
from benchmarks.llm.config import check_parameters


class ParametersField(forms.CharField):
    """Parameters as a JSON object; errors say where in the text they are."""

    widget = forms.Textarea(attrs={"rows": 6, "spellcheck": "false", "class": "code"})

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return json.dumps(value, indent=2, ensure_ascii=False) if value else ""

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.prepare_value(initial) != data)

    def clean(self, value: Any) -> dict[str, Any]:
        if isinstance(value, dict):  # of a field that is locked
            return value
        text = super().clean(value).strip()
        found = read_parameters(text) if text else {}
        try:
            check_parameters(found)
        except SettingError as error:
            raise forms.ValidationError(in_words(error)) from None
        return found


def read_parameters(text: str) -> dict[str, Any]:
    """A JSON object in which every name stands once; errors name line and column."""
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise forms.ValidationError(
            f"Line {error.lineno}, column {error.colno}: this is no JSON. {error.msg}."
        ) from None
    except _NoParameter as error:
        raise forms.ValidationError(str(error)) from None
    except (ValueError, RecursionError):
        raise forms.ValidationError("Expected JSON of a usual size and depth.") from None
    if not isinstance(found, dict):
        raise forms.ValidationError(
            'Expected a JSON object such as {"temperature": 0, "max_tokens": 1024}, '
            f"found {_KINDS.get(type(found).__name__, 'something else')}."
        )
    if storable(found) != found:
        raise forms.ValidationError("It holds a character that cannot be stored (such as \\u0000).")
    return found


_KINDS = {
    "list": "a list", "str": "a text", "int": "a number", "float": "a number", "bool": "a truth",
    "NoneType": "null",
}  # fmt: skip


class _NoParameter(Exception):
    """Something that JSON readers let pass and endpoints do not."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise _NoParameter(f"The name {name!r} stands there twice.")
        found[name] = value
    return found


def _no_number(name: str) -> None:
    raise _NoParameter(f"{name} is no JSON value.")


def in_words(error: SettingError) -> str:
    """A refused setting, its name first."""
    return f"{error.name}: expected {error.expected}, found {error.found!r}."
