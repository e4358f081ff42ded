"""The choices of a page in its address: read by the page's model, and written back."""

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

from django.http import QueryDict
from pydantic import BeforeValidator, Field

from benchmarks.core.schemas import Checked

T = TypeVar("T")
Id = Annotated[int, Field(ge=0, lt=10**18)]
# Words that were typed; what is longer is cut.
Words = Annotated[str, BeforeValidator(lambda text: text[:200].strip())]
_checked: Callable[[Any], Checked[Any]] = cache(Checked)


def read_address(
    kind: type[T],
    params: QueryDict,
    fault: Callable[[str, str, Any], None] = lambda name, expected, found: None,
) -> T:
    """Return the choices of an address; what does not fit is told to ``fault`` and left out."""
    checked: Checked[T] = _checked(kind)
    given: dict[str, Any] = {}
    for name, field in checked.schema["properties"].items():
        if values := [text for text in params.getlist(name) if text.strip()]:
            given[name] = values if field.get("type") == "array" else values[-1].strip()
    for path, expected, found in reversed(checked.faults(given)):
        fault(str(path[0]), expected, found)
        if len(path) > 1:
            del given[str(path[0])][path[1]]
        else:
            del given[str(path[0])]
    value = checked.read(given, lambda *unknown: None)
    assert value is not None
    return value


def write_address(value: Any) -> str:
    """Return the query string of choices; what is as usual is left out."""
    pairs = _checked(type(value)).write(value)
    return urlencode({k: v for k, v in pairs.items() if v is not None}, doseq=True)
