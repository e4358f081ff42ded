"""By what a page groups tasks."""

from dataclasses import replace

from analysis.filters.options import Option
from analysis.filters.selection import Selection
from benchmarks.core.registry import find_system


def with_group(selection: Selection) -> Selection:
    """Return the selection with one of the groupings that its system has, the first by default."""
    known = find_system(selection.system).comparisons.groups if selection.system else {}
    wanted, notes = selection.filters.by, list(selection.notes)
    by = wanted if wanted in known else next(iter(known), "")
    if wanted and wanted != by and known:
        notes.append(f"Tasks here do not differ in {wanted}; this is by {known[by].title.lower()}.")
    return replace(
        selection,
        filters=replace(selection.filters, by=by),
        notes=tuple(notes),
        options={
            **selection.options,
            "by": tuple(Option(name, one.title) for name, one in known.items()),
        },
    )
