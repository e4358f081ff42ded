"""Addresses of a desk: those of the main part, of the training and of the background questions."""

from django.urls import reverse

from annotation.models import Assignment

Part = Assignment.Part
PREFIX = {Part.MAIN: "", Part.TRAINING: "training_", Part.BACKGROUND: "background_"}


def desk_url(item: Assignment, position: int | None = None, *, name: str = "desk") -> str:
    """The desk of an item, or of another position of its part; ``name`` says which address."""
    place = {"pk": item.study_id, "position": position or item.position}
    return reverse(f"annotation:{PREFIX[Part(item.part)]}{name}", kwargs=place)


def after(item: Assignment) -> str:
    """Where to go when an item is done with: from training to what was expected."""
    if item.part == Part.TRAINING:
        return desk_url(item, name="feedback")
    address = reverse("annotation:next_item", kwargs={"pk": item.study_id})
    return f"{address}?after={item.position}" if item.part == Part.MAIN else address
