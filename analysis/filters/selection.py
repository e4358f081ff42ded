"""The runs that a page is about, read from its query string, and the other possible choices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from analysis.filters import ALL_RUNS, ALL_TASKS, Filters
from analysis.filters.factors import model_of, rest_of, value_of, weights_of
from analysis.filters.options import (
    FilterOption,
    RunJudging,
    choose_judging,
    choose_value,
    judging_named,
    judgings_of,
)
from analysis.filters.runs import (
    FINISHED,
    agent_labels,
    experiments_of,
    newest_each,
    trajectory_counts,
)
from analysis.models import Registration
from annotation.models import Study
from benchmarks.core.digests import digest
from benchmarks.core.ports.comparisons import Factor
from benchmarks.models import Dataset, Run, Trajectory
from benchmarks.validity.selectors import CertifiedValidity, current_certificate


@dataclass(frozen=True)
class ChosenRun:
    """A run that a page is about. ``label`` names its agent, and no other agent on the page.

    ``value`` is what the factor that a page varies is for this run. Of its ``judgings`` one counts
    here, by default the run's ``primary`` one, and on pages that compare two, one is ``beside`` it.
    ``left_out`` are tasks that no figure counts, because their own reference does not solve them;
    with ``every_task`` they count, because the address wants all.
    """

    pk: int
    agent: str
    label: str
    agent_kind: str
    level: str
    condition: str
    status: str
    is_demo: bool
    imported: bool
    seed: int
    settings: Mapping[str, Any]
    roles: Mapping[str, Sequence[Mapping[str, Any]]]
    pins: Mapping[str, str]
    judged: RunJudging | None
    data_version: int
    experiment: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    value: Any = None
    judgings: Sequence[RunJudging] = ()
    primary: int | None = None
    beside: RunJudging | None = None
    left_out: frozenset[int] = frozenset()
    every_task: bool = False

    @property
    def has_players(self) -> bool:
        """Whether a person fills a role."""
        return any(filler.get("kind") == "human" for row in self.roles.values() for filler in row)

    @property
    def judging(self) -> int | None:
        """The judging whose scores and metrics count."""
        return self.judged.pk if self.judged is not None else None

    @property
    def judging_name(self) -> str:
        return self.judged.name if self.judged is not None else ""

    @property
    def rejudged_by(self) -> int | None:
        """The run that carries the judging that counts, where judges looked again."""
        return self.judged.made_by if self.judged is not None else None

    @property
    def casting(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The answerer of each role, with the judges of the judging that counts."""
        again = self.judged.roles if self.judged is not None else {}
        return {
            **self.roles,
            **{role: assignments for role, assignments in again.items() if assignments},
        }

    @property
    def done(self) -> int:
        return self.counts.get(Trajectory.Status.DONE, 0)

    @property
    def total(self) -> int:
        """Trajectories of the run; a cancelled one was replaced by a new attempt or given up."""
        return sum(self.counts.values())

    @property
    def finished(self) -> bool:
        return self.status in FINISHED

    @property
    def version(self) -> str:
        """Changes whenever anything that a page shows of the run may have changed."""
        judged = "/".join(
            judging.version for judging in (self.judged, self.beside) if judging is not None
        )
        without = f".{digest(sorted(self.left_out))[:12]}" if self.left_out else ""
        return f"{self.pk}.{self.data_version}.{self.status}.{self.done}.{judged}{without}"


@dataclass(frozen=True)
class Selection:
    """The subject of a page: the runs, and where they stand among what could be chosen.

    ``family`` are the runs of all agents on the chosen data, whichever agents the page shows: tests
    are corrected for all of them, so that showing fewer agents makes nothing clearer.
    ``closed`` are runs that the reader must not see now; nothing here comes from one.
    ``closed_tasks`` are tasks whose constraints they must not see. ``people`` are the studies whose
    answers a page about runs holds its judges against. ``compared`` counts the agents that the
    chosen data compare, those included that the filter by agents leaves out: families of tests
    are fixed by it. ``certificate`` is that of the dataset's validity, where there is one.
    ``registrations`` are about these data.
    """

    filters: Filters
    dataset: Dataset | None = None
    study: Study | None = None
    runs: tuple[ChosenRun, ...] = ()
    family: tuple[ChosenRun, ...] = ()
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    options: Mapping[str, tuple[FilterOption, ...]] = field(default_factory=dict)
    study_version: str = ""
    people: tuple[int, ...] = ()
    closed: frozenset[int] = frozenset()
    closed_tasks: frozenset[int] = frozenset()
    compared: int = 0
    certificate: CertifiedValidity | None = None
    registrations: tuple[Registration, ...] = ()

    @property
    def system(self) -> str:
        return self.dataset.system if self.dataset else ""

    @property
    def agents_here(self) -> int:
        """The number of agents that the chosen data compare, whichever of them are shown."""
        return max(self.compared, len({run.label for run in self.runs}))

    @property
    def judgings(self) -> list[int]:
        return [run.judging for run in self.runs if run.judging is not None]

    @property
    def by_judging(self) -> dict[int, ChosenRun]:
        return {run.judging: run for run in self.runs if run.judging is not None}


def narrow(
    filters: Filters,
    rows: Sequence[Run],
    notes: list[str],
    *,
    one_each: bool,
    every_condition: bool = False,
    factor: Factor | None = None,
    every_run: bool = False,
) -> Selection:
    """Apply experiment, level, condition, judging and agents, in this order.

    With a ``factor`` conditions are what is left of them without it. ``every_run``: all runs that
    fit, not the newest of each agent.
    """
    experiments = {str(row.pk): (row, runs) for row, runs in experiments_of(rows).items()}
    wanted = filters.experiment if filters.experiment in (*experiments, ALL_RUNS) else ""
    options: dict[str, tuple[FilterOption, ...]] = {
        "experiment": tuple(
            FilterOption(pk, row.name) for pk, (row, _) in reversed(experiments.items())
        )
    }
    if wanted in experiments:
        experiment, own = experiments[wanted]
        if not _varies(own, every_condition, factor):
            wanted = ""
            notes.append(
                f"“{experiment.name}” varies nothing that is compared here; all runs of the "
                "dataset are shown."
            )
        else:
            rows = own
    if factor is not None:
        rows = [run for run in rows if value_of(factor, run) is not None] or rows
    level = ""
    if factor is None or factor.kind != "level":
        levels = [run.level for run in rows]
        level, options["level"] = choose_value(
            filters.level, levels, one_each, weights_of(factor, rows, levels)
        )
        if one_each or level:
            rows = [run for run in rows if run.level == level]
    condition = ""
    if not every_condition:
        conditions = [run.condition if factor is None else rest_of(factor, run) for run in rows]
        condition, options["condition"] = choose_value(
            filters.condition, conditions, one_each, weights_of(factor, rows, conditions)
        )
        if one_each or condition:
            rows = [run for run, own in zip(rows, conditions, strict=True) if own == condition]
    judgings = judgings_of(rows)
    judging, options["judging"] = choose_judging(rows, judgings, filters.judging)
    counted = {run.pk: judging_named(run, judgings[run.pk], judging) for run in rows}
    left_out = [
        f"{run.agent.title or run.agent.name}: run {run.pk} has no judging {judging}"
        for run in rows
        if judging and counted[run.pk] is None
    ]
    if judging:
        rows = [run for run in rows if counted[run.pk] is not None]
    who = {run.pk: model_of(factor, run) for run in rows}
    names = dict(who[run.pk] for run in rows)
    labels = agent_labels(names)
    options["agents"] = tuple(FilterOption(name, labels[name]) for name in names)
    compared = _compared(rows, who, factor)
    agents = tuple(name for name in filters.agents if name in names)
    counts = trajectory_counts([run.pk for run in rows])

    def one_of_each(rows: Sequence[Run]) -> tuple[list[Run], list[str]]:
        groups: dict[str, list[Run]] = {}
        for run in rows:
            apart = "" if factor is None else str(value_of(factor, run))
            groups.setdefault(run.condition if every_condition else apart, []).append(run)
        newest: list[Run] = []
        lines = []
        for name, group in groups.items():
            kept, gone = newest_each(
                group, counts, labels, {pk: name for pk, (name, _) in who.items()}
            )
            newest += kept
            lines += [f"{line} ({name})" if name else line for line in gone]
        return newest, lines

    newest_only = one_each and not every_run
    everyone = one_of_each(rows)[0] if newest_only else rows
    if agents:
        rows = [run for run in rows if who[run.pk][0] in agents]
    if newest_only:
        rows, gone = one_of_each(rows)
        left_out += gone

    def chosen(run: Run) -> ChosenRun:
        return replace(
            _chosen(run, labels[who[run.pk][0]], counts),
            judged=counted[run.pk],
            judgings=judgings[run.pk],
            primary=run.primary_judging_id,
            value=value_of(factor, run) if factor is not None else None,
        )

    family = {run.pk: chosen(run) for run in everyone}
    return Selection(
        replace(
            filters,
            level=level,
            condition=condition,
            experiment=wanted,
            agents=agents,
            judging=judging,
        ),
        runs=tuple(family[run.pk] for run in rows),
        family=tuple(family.values()),
        left_out=tuple(left_out),
        notes=tuple(notes),
        options=options,
        compared=compared,
    )


def with_certificate(selection: Selection, dataset: Dataset) -> Selection:
    """Return the selection of a dataset's runs with its certificate of validity, if there is one.

    Tasks that their own reference does not solve are left out, unless the address wants all.
    """
    certificate = current_certificate(dataset)
    if certificate is None or not certificate.unusable():
        filters = replace(selection.filters, tasks="")
        return replace(selection, filters=filters, certificate=certificate)
    every = selection.filters.tasks == ALL_TASKS
    levels = {run.level for run in (*selection.runs, *selection.family)}
    out = {level: frozenset() if every else certificate.unusable_tasks(level) for level in levels}
    partial = {run.pk: out[run.level] for run in selection.runs if out[run.level]}
    counts = trajectory_counts(list(partial), partial)
    runs = [replace(run, left_out=out[run.level], every_task=every) for run in selection.runs]
    usable = FilterOption("", certificate.usable_words)
    return replace(
        selection,
        filters=replace(selection.filters, tasks=ALL_TASKS if every else ""),
        runs=tuple(replace(run, counts=counts.get(run.pk, run.counts)) for run in runs),
        family=tuple(replace(run, left_out=out[run.level]) for run in selection.family),
        options={**selection.options, "tasks": (usable, FilterOption(ALL_TASKS, "All tasks"))},
        certificate=certificate,
    )


def _varies(rows: Sequence[Run], every_condition: bool, factor: Factor | None) -> bool:
    """Return whether these runs differ in what a page compares; pages on agents compare any."""
    if every_condition:
        return len({run.condition for run in rows}) > 1
    if factor is not None:
        return _compared(rows, {run.pk: model_of(factor, run) for run in rows}, factor) > 0
    return True


def _compared(
    rows: Sequence[Run], who: Mapping[int, tuple[str, str]], factor: Factor | None
) -> int:
    """Return how many agents are compared: all, or with a factor those that have two of its
    values.
    """
    if factor is None:
        return len({who[run.pk][0] for run in rows})
    values: dict[str, set[str]] = {}
    for run in rows:
        values.setdefault(who[run.pk][0], set()).add(repr(value_of(factor, run)))
    return sum(len(levels) > 1 for levels in values.values())


def _chosen(run: Run, label: str, counts: Mapping[int, Mapping[str, int]]) -> ChosenRun:
    return ChosenRun(
        pk=run.pk,
        agent=run.agent.name,
        label=label,
        agent_kind=run.agent.kind,
        level=run.level,
        condition=run.condition,
        status=run.status,
        is_demo=run.is_demo,
        imported=run.kind == Run.Kind.IMPORTED,
        seed=run.seed,
        settings=run.settings,
        roles=run.roles,
        pins=run.versions,
        judged=None,
        data_version=run.data_version,
        experiment=run.experiment_id,
        counts=counts[run.pk],
    )
