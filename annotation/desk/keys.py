"""The keys that a person chose for the desk, kept beside their columns of lists."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_POST
from pydantic import Field, with_config

from annotation.json_bodies import BadBody, read_json_body
from benchmarks.access import signed_in
from benchmarks.core.schemas import STRICT, Checked, must, one_of
from benchmarks.models import ListColumns

# Where they are among the choices of `ListColumns`; no list of a page has this name.
PLACE = "desk-keys"
MODES = ("alone", "alt", "off")
MOST_KEYS = 200
Key = Annotated[str, must("one character", lambda key: isinstance(key, str) and len(key) == 1)]


@with_config(STRICT)
@dataclass(frozen=True)
class KeyChoice:
    """How keys of one character act: alone, with Alt, or not; ``keys``: usual key → chosen key."""

    mode: Annotated[str, one_of(f"one of {', '.join(MODES)}", MODES)]
    keys: Annotated[dict[Key, Key], Field(max_length=MOST_KEYS)]


CHOICES = Checked[KeyChoice](KeyChoice)


def chosen_keys(user_id: int) -> Mapping[str, Any] | None:
    """Return the choice as `KeyChoice` has it; None where the person never chose."""
    rows = ListColumns.objects.filter(user=user_id, list=PLACE)
    return rows.values_list("shown", flat=True).first()


def keys_of_session(request: HttpRequest) -> Mapping[str, Any] | None:
    """Return the choice of whoever asks, read once after they sign in: the session is at hand with
    every item, and a query more is not.
    """
    if PLACE not in request.session:
        request.session[PLACE] = chosen_keys(request.user.pk or 0)
    choice: Mapping[str, Any] | None = request.session[PLACE]
    return choice


@signed_in
@require_POST
def keys(request: HttpRequest) -> JsonResponse:
    """Keep the keys that this person chose, as JSON: ``{"mode", "keys"}``."""
    faults: list[str] = []
    choice = None
    try:
        choice = CHOICES.read(
            read_json_body(request.body),
            lambda path, expected, _: faults.append(
                f"{'.'.join(map(str, path)) or 'keys'}: expected {expected}"
            ),
        )
    except BadBody as error:
        faults.append(str(error))
    if choice is None:
        return JsonResponse({"refused": "; ".join(faults)}, status=422)
    ListColumns.objects.update_or_create(
        user_id=request.user.pk or 0, list=PLACE, defaults={"shown": asdict(choice)}
    )
    request.session[PLACE] = asdict(choice)
    return JsonResponse({})
