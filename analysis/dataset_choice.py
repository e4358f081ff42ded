"""The dataset that a page on agents is about, and its runs.

Sensible without any words: the dataset with the newest finished runs, its level with most runs,
the standard condition, and of each agent its newest finished run.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from django.db.models import Count, F, Max, Q

from analysis.factor_choice import choose_factor
from analysis.filters import Filters
from analysis.options import Option
from analysis.run_choice import FINISHED, is_judged
from analysis.selection import Selection, narrow
from benchmarks.blinding import EVERYTHING, Visibility
from benchmarks.core.comparisons import contrasts_of, factors_of
from benchmarks.core.registry import EXTERNAL, SYSTEMS, get_system
from benchmarks.models import COUNTED, Dataset, Run


def select_runs(
    filters: Filters,
    *,
    imported: bool = False,
    every_condition: bool = False,
    fits: Callable[[str], bool] | None = None,
    about: Callable[[Run], bool] | None = None,
    varied: bool = False,
    seen: Visibility = EVERYTHING,
) -> Selection:
    """The runs of a page on agents: one per agent, all of one dataset, level and condition.

    ``every_condition``: one per agent and condition instead. ``varied``: one per agent and value of
    the factor that the address names, all else being alike. ``about`` says which runs count, as
    long as there are any such.

    Without a dataset in the address it takes the newest that was made here, or, where a page is
    about ``imported`` ones, the newest of those, or the newest whose system ``fits``; if there is
    none, the newest of all.
    """
    datasets = list(
        seen.of(Dataset.objects.all())
        .annotate(
            run_count=Count("runs", filter=seen.counted("runs")),
            newest=Max(
                "runs__finished_at", filter=Q(runs__status__in=FINISHED) & seen.counted("runs")
            ),
        )
        .filter(run_count__gt=0)
        .order_by(F("newest").desc(nulls_last=True), "-pk")
    )
    if not datasets:
        return Selection(filters, closed=seen.closed, closed_tasks=seen.tasks)
    notes: list[str] = []
    fitting = fits or (lambda system: (system == EXTERNAL) is imported)
    dataset = _dataset(datasets, filters, notes, fitting)
    rows = list(runs_in_order(seen.of(Run.objects.filter(COUNTED).filter(dataset=dataset))))
    if about is not None:
        rows = [run for run in rows if about(run)] or rows
    factor = choose_factor(dataset.system, filters.factor, rows, notes) if varied else None
    selection = narrow(
        replace(filters, dataset=str(dataset.pk)),
        rows,
        notes,
        one_each=True,
        every_condition=every_condition,
        factor=factor,
    )
    selection = in_words_of(with_dimensions(selection, dataset.system), dataset.system)
    options = {
        "dataset": tuple(Option(str(d.pk), str(d), number_of(d, "run_count")) for d in datasets),
        **selection.options,
    }
    if factor is not None:
        known = factors_of(dataset.system)
        options["factor"] = tuple(Option(f.name, f.title) for f in known)
    return replace(
        selection,
        filters=replace(selection.filters, factor=factor.name if factor is not None else ""),
        dataset=dataset,
        options=options,
        closed=seen.closed,
        closed_tasks=seen.tasks,
    )


def with_dimensions(selection: Selection, system: str) -> Selection:
    """The rubric dimensions among which a page may choose; by default the main ones."""
    known = get_system(system).dimensions if system in SYSTEMS else ()
    wanted = tuple(d.key for d in known if d.key in selection.filters.dimensions)
    main = tuple(d.key for d in known if d.main) or tuple(d.key for d in known)
    return replace(
        selection,
        filters=replace(selection.filters, dimensions=wanted or main),
        options={
            **selection.options,
            "dimensions": tuple(Option(d.key, d.title) for d in known),
        },
    )


def in_words_of(selection: Selection, system: str) -> Selection:
    """Conditions as the system calls them; no judgings to choose from where nobody judges."""
    options = dict(selection.options)
    contrasts = contrasts_of(system)
    if contrasts is not None:
        words = contrasts.conditions
        options["condition"] = tuple(
            replace(o, label=words[o.value].title if o.value in words else o.label)
            for o in options.get("condition", ())
        )
    if system in SYSTEMS and not is_judged(system):
        options["judging"] = ()
    return replace(selection, options=options)


def runs_in_order(rows: Any) -> Iterable[Run]:
    """Runs, oldest first, with what names them."""
    found: Iterable[Run] = rows.select_related(
        "agent__endpoint", "experiment", "primary_judging", "dataset"
    ).order_by("pk")
    return found


def _dataset(
    datasets: Sequence[Dataset],
    filters: Filters,
    notes: list[str],
    fits: Callable[[str], bool],
) -> Dataset:
    for dataset in datasets:
        if filters.dataset == str(dataset.pk):
            return dataset
    default = next((d for d in datasets if fits(d.system)), datasets[0])
    if filters.dataset:
        notes.append(f"There is no dataset {filters.dataset} with runs; this is {default}.")
    return default


def number_of(row: Any, name: str) -> int:
    """A count that a query added to a row."""
    value: int = getattr(row, name)
    return value
