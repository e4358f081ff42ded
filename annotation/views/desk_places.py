"""Addresses of a desk: those of the main part, of the training and of the background questions."""

from functools import lru_cache

from django.urls import get_script_prefix, reverse

from annotation.models import Assignment

Part = Assignment.Part
# Numbers that stand in an address for those of an item.
_STUDY, _POSITION = 7_315_070_001, 7_315_070_002
PREFIX = {Part.MAIN: "", Part.TRAINING: "training_", Part.BACKGROUND: "background_"}


def desk_url(item: Assignment, position: int | None = None, *, name: str = "desk") -> str:
    """The desk of an item, or of another position of its part; ``name`` says which address."""
    address = _address(f"{PREFIX[Part(item.part)]}{name}", get_script_prefix())
    place = str(position or item.position)
    return address.replace(str(_STUDY), str(item.study_id)).replace(str(_POSITION), place)


@lru_cache(maxsize=64)
def _address(name: str, prefix: str) -> str:
    """An address of an item; a page has half a dozen. ``prefix`` is what all of them begin with."""
    return reverse(f"annotation:{name}", kwargs={"pk": _STUDY, "position": _POSITION})


def after(item: Assignment) -> str:
    """Where to go when an item is done with: from training to what was expected."""
    if item.part == Part.TRAINING:
        return desk_url(item, name="feedback")
    address = reverse("annotation:next_item", kwargs={"pk": item.study_id})
    return f"{address}?after={item.position}" if item.part == Part.MAIN else address
