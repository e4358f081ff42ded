"""Which two judgings of the same turns a page holds against each other."""

from collections import Counter
from dataclasses import replace

from analysis.options import Judged, Option
from analysis.selection import ChosenRun, Selection


def with_beside(selection: Selection) -> Selection:
    """The selection with a second judging beside the one that counts: by default the newest other.

    Of each run it is the newest of that name; runs without one have nothing beside.
    """
    newest: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for run in selection.runs:
        names = {one.name: one.pk for one in run.judgings if one is not run.judged}
        counts.update(names)
        newest |= {name: max(pk, newest.get(name, 0)) for name, pk in names.items()}
    wanted, notes = selection.filters.beside, list(selection.notes)
    name = wanted if wanted in newest else max(newest, key=lambda one: newest[one], default="")
    if wanted and wanted != name:
        shown = f"shown is {name}" if name else "there is no other"
        notes.append(f"There is no judging {wanted} beside the one that counts; {shown}.")
    return replace(
        selection,
        filters=replace(selection.filters, beside=name),
        runs=tuple(replace(run, beside=_beside(run, name)) for run in selection.runs),
        notes=tuple(notes),
        options={
            **selection.options,
            "beside": tuple(Option(name, name, counts[name]) for name in newest),
        },
    )


def _beside(run: ChosenRun, name: str) -> Judged | None:
    found = (one for one in reversed(run.judgings) if one.name == name and one is not run.judged)
    return next(found, None)
