"""The judging that counts on a page, and the one that it is compared with."""

from collections import Counter
from dataclasses import dataclass, replace

from analysis.filters import with_query
from analysis.filters.options import FilterOption, RunJudging
from analysis.filters.selection import ChosenRun, Selection


def with_beside(selection: Selection) -> Selection:
    """Return the selection with a second judging beside the one that counts: by default the newest
    other.

    Of each run it is the newest of that name; runs without one have nothing beside.
    """
    newest: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for run in selection.runs:
        names = {judging.name: judging.pk for judging in run.judgings if judging is not run.judged}
        counts.update(names)
        newest |= {name: max(pk, newest.get(name, 0)) for name, pk in names.items()}
    wanted = selection.filters.beside
    name = (
        wanted if wanted in newest else max(newest, key=lambda judging: newest[judging], default="")
    )
    return replace(
        selection,
        filters=replace(selection.filters, beside=name),
        runs=tuple(replace(run, beside=_beside(run, name)) for run in selection.runs),
        options={
            **selection.options,
            "beside": tuple(FilterOption(name, name, counts[name]) for name in newest),
        },
    )


def _beside(run: ChosenRun, name: str) -> RunJudging | None:
    others = (
        judging
        for judging in reversed(run.judgings)
        if judging.name == name and judging is not run.judged
    )
    return next(others, None)


@dataclass(frozen=True)
class JudgingOption:
    """One of the judgings that may count on a page, with its address; empty where it does."""

    name: str
    url: str


def counting_here(selection: Selection, page: str) -> list[JudgingOption]:
    """Return the judgings among which a page chooses, the one that counts without an address.

    Nothing where the runs have one alone. Runs may call different judgings their primary one.
    """
    names = [option.value for option in selection.options.get("judging", ())]
    if len(names) < 2 or not selection.runs:
        return []
    here = dict.fromkeys(run.judging_name for run in selection.runs if run.judging is not None)
    primary = {
        judging.name
        for run in selection.runs
        for judging in run.judgings
        if judging.pk == run.primary
    }
    choices = [JudgingOption(" / ".join(here), "")]
    for name in names:
        if name in here:
            continue
        word = "" if {name} == primary else name
        choices.append(
            JudgingOption(name, with_query(page, selection.filters.query(judging=word, beside="")))
        )
    return choices if len(choices) > 1 else []
