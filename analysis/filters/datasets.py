"""The dataset that a page on agents is about, and its runs.

A page that compares agents belongs to an experiment. Without any words it is the newest whose runs
have all ended, of two agents or more: neither a run that somebody starts by itself nor an
experiment that is being made moves a page. Demos come after everything else, the first one first,
so that no page moves while a demo is made. Where there is no such experiment, all runs count, of
each agent the newest finished one, and the page says which it left out.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery

from analysis.filters import ALL_RUNS, Filters
from analysis.filters.factors import choose_factor, condition_titles, who_speaks
from analysis.filters.options import FilterOption
from analysis.filters.runs import (
    BRANCHES,
    FINISHED,
    SHOWN,
    UNFINISHED,
    comparing,
    experiments_of,
    is_judged,
)
from analysis.filters.selection import ChosenRun, Selection, narrow, with_certificate
from analysis.models import Registration
from benchmarks.core.registry import EXTERNAL, SYSTEMS, find_system, get_system
from benchmarks.models import COUNTED, Branch, Dataset, Run
from benchmarks.paging import as_id
from benchmarks.visibility import EVERYTHING, Visibility

# So many runs are offered to be chosen one by one.
MOST_RUNS = 12


def select_runs(
    filters: Filters,
    *,
    imported: bool = False,
    every_condition: bool = False,
    fits: Callable[[str], bool] | None = None,
    about: Callable[[Run], bool] | None = None,
    varied: bool = False,
    by_user: bool = False,
    seen: Visibility = EVERYTHING,
) -> Selection:
    """Return the runs of a page on agents: one per agent, all of one dataset, level and condition.

    ``every_condition``: one per agent and condition instead. ``varied``: one per agent and value of
    the factor that the address names, all else being alike. ``by_user``: all runs that differ in
    their agent and in who speaks for the user alone. ``about`` says which runs count, as
    long as there are any such.

    Without a dataset in the address it takes that of the newest experiment which compares agents,
    else the one with the newest results, among those made here, those whose system ``fits``, or
    the ``imported`` ones; if there is none, the newest of all, which says why it does not fit.
    """
    tried = Q(runs__kind__in=[Run.Kind.MADE, Run.Kind.IMPORTED]) & seen.counted("runs")
    datasets = list(
        seen.of(Dataset.objects.all())
        .annotate(
            run_count=Count("runs", filter=tried),
            newest=Max("runs__finished_at", filter=tried & Q(runs__status__in=FINISHED)),
        )
        .annotate(comparing=_newest_comparing(seen), registered=Exists(_registrations()))
        .filter(run_count__gt=0)
        .order_by(F("comparing").desc(nulls_last=True), F("newest").desc(nulls_last=True), "-pk")
    )
    datasets.sort(key=_demo_order)
    fitting = fits or (lambda system: (system == EXTERNAL) is imported)
    if filters.runs and not filters.dataset:
        filters = replace(filters, dataset=_dataset_of(filters.runs, seen))
    if imported and not filters.dataset:
        datasets = [dataset for dataset in datasets if fitting(dataset.system)]
    if not datasets:
        return Selection(filters, closed=seen.closed, closed_tasks=seen.tasks)
    notes: list[str] = []
    dataset = _dataset(datasets, filters, fitting)
    rows = list(runs_in_order(seen.of(Run.objects.filter(COUNTED).filter(dataset=dataset))))
    if about is not None:
        rows = [run for run in rows if about(run)] or rows
    choices = run_options(rows, filters)
    if filters.runs:
        filters, rows = _with_runs(filters, rows, notes)
    factor = choose_factor(dataset.system, filters.factor, rows) if varied else None
    if by_user:
        factor = who_speaks(dataset.system, rows)
    if not every_condition and factor is None:
        filters = _with_experiment(filters, rows, notes)
    elif filters.experiment == ALL_RUNS:
        filters = replace(filters, experiment="")
    selection = narrow(
        replace(filters, dataset=str(dataset.pk)),
        rows,
        notes,
        one_each=True,
        every_condition=every_condition,
        factor=factor,
        every_run=by_user,
    )
    selection = in_words_of(with_dimensions(selection, dataset.system), dataset.system)
    selection = with_certificate(selection, dataset)
    selection = replace(selection, notes=(*selection.notes, *_branches(selection.runs)))
    options = {
        "dataset": tuple(
            FilterOption(str(d.pk), str(d), number_of(d, "run_count")) for d in datasets
        ),
        **selection.options,
        "runs": choices,
    }
    if not every_condition and factor is None and options["experiment"]:
        every = FilterOption(ALL_RUNS, "All runs of the dataset")
        options["experiment"] = (*options["experiment"], every)
        selection = _all_or_one(selection)
    if varied and factor is not None:
        known = find_system(dataset.system).comparisons.factors
        options["factor"] = tuple(FilterOption(f.name, f.title) for f in known)
    return replace(
        selection,
        filters=replace(selection.filters, factor=factor.name if varied and factor else ""),
        dataset=dataset,
        options=options,
        closed=seen.closed,
        closed_tasks=seen.tasks,
    )


def _registrations() -> QuerySet[Registration]:
    """Return the registrations about a dataset, whichever its version."""
    about = {"system": OuterRef("system"), "dataset": OuterRef("name")}
    return Registration.objects.filter(**about, withdraws=None)


def _demo_order(dataset: Dataset) -> tuple[int, int]:
    """Return the key that puts data that compare agents first, and of demos the first one first."""
    if getattr(dataset, "comparing", None) is None:
        return 2, 0
    return (1, dataset.pk) if dataset.is_demo else (0, 0)


def _newest_comparing(seen: Visibility) -> Subquery:
    """Return the newest experiment of a dataset that has ended and compares two agents or more."""
    rows = seen.of(Run.objects.filter(COUNTED, status__in=FINISHED, experiment__isnull=False))
    going = Run.objects.filter(COUNTED, experiment=OuterRef("experiment"), status__in=UNFINISHED)
    compare = (
        rows.filter(~Exists(going), dataset=OuterRef("pk"))
        .order_by("-experiment")
        .values("experiment")
        .annotate(agents=Count("agent", distinct=True))
        .filter(agents__gt=1)
    )
    return Subquery(compare.values("experiment")[:1])


def _with_runs(
    filters: Filters, rows: Sequence[Run], notes: list[str]
) -> tuple[Filters, list[Run]]:
    """Return the runs that an address names, in place of an experiment; the page says which they
    are.
    """
    wanted = {as_id(pk) for pk in filters.runs}
    chosen = [run for run in rows if run.pk in wanted]
    if not chosen:
        return replace(filters, runs=()), list(rows)
    names = ", ".join(f"{run.agent.title or run.agent.name} (run {run.pk})" for run in chosen[:8])
    more = f" and {len(chosen) - 8} more" if len(chosen) > 8 else ""
    notes.append(f"{SHOWN}your choice of runs, in place of an experiment: {names}{more}.")
    apart = {(run.level, run.condition) for run in chosen}
    if len(apart) > 1:
        notes.append(
            "The runs of your choice differ in level or condition; those that differ from the "
            "level and condition shown are left out."
        )
    kept = tuple(str(run.pk) for run in chosen)
    return replace(filters, runs=kept, experiment=ALL_RUNS), chosen


def _dataset_of(runs: Sequence[str], seen: Visibility) -> str:
    """Return the dataset of the first of these runs that may be seen; empty without any."""
    readable = seen.of(Run.objects.filter(COUNTED, pk__in=filter(None, map(as_id, runs))))
    dataset = readable.order_by("pk").values_list("dataset", flat=True).first()
    return str(dataset) if dataset is not None else ""


def run_options(rows: Sequence[Run], filters: Filters) -> tuple[FilterOption, ...]:
    """Return the runs that can be chosen: those of the address, and the newest finished ones
    beside.
    """
    wanted = {as_id(pk) for pk in filters.runs}
    finished = [run for run in rows if run.status in FINISHED and run.pk not in wanted]
    newest = sorted(finished, key=lambda run: -run.pk)[:MOST_RUNS]
    shown = [*(run for run in rows if run.pk in wanted), *newest]
    return tuple(
        FilterOption(
            str(run.pk),
            f"{run.agent.title or run.agent.name}, run {run.pk}"
            f"{f', {run.level}' if run.level else ''}",
        )
        for run in shown
    )


def _with_experiment(filters: Filters, rows: Sequence[Run], notes: list[str]) -> Filters:
    """Return the experiment of an address, or the newest that compares agents on what it asks for.

    A page that chose says so, as long as there was a choice.
    """
    known = experiments_of(rows)
    if filters.experiment in (ALL_RUNS, *(str(experiment.pk) for experiment in known)):
        return filters
    words = {name: getattr(filters, name) for name in ("level", "condition")}
    wanted = [
        run
        for run in rows
        if all(not value or getattr(run, name) == value for name, value in words.items())
    ]
    # What the address asks for is shown, even where it compares nobody.
    experiments = comparing(wanted or rows)
    if not experiments:
        return filters
    if len(known) > 1:
        notes.append(
            f"{SHOWN}“{experiments[-1].name}”, the newest experiment here that compares agents; "
            f"{len(known) - 1} more can be chosen under Experiment."
        )
    return replace(filters, experiment=str(experiments[-1].pk))


def with_dimensions(selection: Selection, system: str) -> Selection:
    """Return the rubric dimensions among which a page may choose; by default the main ones."""
    known = get_system(system).dimensions if system in SYSTEMS else ()
    wanted = tuple(d.key for d in known if d.key in selection.filters.dimensions)
    main = tuple(d.key for d in known if d.main) or tuple(d.key for d in known)
    return replace(
        selection,
        filters=replace(selection.filters, dimensions=wanted or main),
        options={
            **selection.options,
            "dimensions": tuple(FilterOption(d.key, d.title) for d in known),
        },
    )


def _all_or_one(selection: Selection) -> Selection:
    """Return the selection with its experiment named, and a notice where runs of several are
    mixed.
    """
    if selection.filters.experiment not in ("", ALL_RUNS):
        return selection
    mixed = len({run.experiment for run in selection.runs})
    notes = selection.notes
    if mixed > 1:
        notes = (*notes, f"Mixed runs: these were started separately, in {mixed} experiments.")
    filters = replace(selection.filters, experiment=ALL_RUNS)
    return replace(selection, filters=filters, notes=notes)


def _branches(runs: Sequence[ChosenRun]) -> Iterator[str]:
    """Yield a note on the branches of these runs, which no page of agents counts, if any."""
    ids = [run.pk for run in runs]
    if count := Branch.objects.filter(parent__run__in=ids).count():
        yield f"{BRANCHES}{count:,} of these trajectories."


def with_published(selection: Selection, *, beside: bool) -> Selection:
    """Return whether published figures are shown, where the address does not say.

    Where they would stand ``beside`` those of runs they are left away unless the runs are on as
    many tasks as the paper's: figures on other tasks are no comparison.
    """
    if selection.filters.published in ("show", "hide"):
        return selection
    system, shown = selection.system, "show"
    if beside and system in SYSTEMS:
        papers = {entry.n for entry in get_system(system).published if entry.n}
        shown = "show" if any(run.total in papers for run in selection.runs) else "hide"
    return replace(selection, filters=replace(selection.filters, published=shown))


def in_words_of(selection: Selection, system: str) -> Selection:
    """Return conditions as the system calls them; no judgings to choose from where nobody
    judges.
    """
    options = dict(selection.options)
    offered = options.get("condition", ())
    words = condition_titles(find_system(system), [o.value for o in offered if o.value])
    options["condition"] = tuple(
        replace(o, label=words[o.value]) if words.get(o.value, o.value) != o.value else o
        for o in offered
    )
    if system in SYSTEMS and not is_judged(system):
        options["judging"] = ()
    return replace(selection, options=options)


def runs_in_order(rows: Any) -> Iterable[Run]:
    """Yield runs, oldest first, with what names them."""
    named: Iterable[Run] = rows.select_related(
        "agent__endpoint", "experiment", "primary_judging", "dataset"
    ).order_by("pk")
    return named


def _dataset(datasets: Sequence[Dataset], filters: Filters, fits: Callable[[str], bool]) -> Dataset:
    for dataset in datasets:
        if filters.dataset == str(dataset.pk):
            return dataset
    return next((d for d in datasets if fits(d.system)), datasets[0])


def number_of(row: Any, name: str) -> int:
    """Return a count that a query added to a row."""
    value: int = getattr(row, name)
    return value
