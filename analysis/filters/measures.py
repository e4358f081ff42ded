"""Which measure a page compares, and which agent all others are held against."""

from dataclasses import replace

from analysis.filters.options import Option
from analysis.filters.selection import Selection
from analysis.frames.measures import measures_here


def with_measure(selection: Selection) -> Selection:
    """The selection with a measure of its system, and with an agent to compare with, if any."""
    filters, notes = selection.filters, list(selection.notes)
    measures = measures_here(selection.system)
    measure = filters.measure if filters.measure in measures else next(iter(measures), "")
    if filters.measure and filters.measure != measure:
        notes.append(f"There is no measure {filters.measure} here; this is {_title(selection)}.")
    agents = {run.agent: run.label for run in selection.runs}
    against = filters.against if filters.against in agents else ""
    if filters.against and not against:
        notes.append(f"There is no run of {filters.against} here; all pairs are compared.")
    return replace(
        selection,
        filters=replace(filters, measure=measure, against=against),
        notes=tuple(notes),
        options={
            **selection.options,
            "measure": tuple(Option(name, one.title) for name, one in measures.items()),
            "against": tuple(Option(name, f"Against {label}") for name, label in agents.items()),
        },
    )


def _title(selection: Selection) -> str:
    return next((one.title for one in measures_here(selection.system).values()), "none")
