"""The refinement page shows how many plans extra turns with rubric feedback recover or lose."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.db.models.fields.json import KeyTransform

from analysis.figures.layout.theme import Figure
from analysis.figures.lines import number_lines
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.outcomes import counted, unfinished
from analysis.kit.links import Link
from analysis.pages.declaration import (
    ColumnOf,
    DeclaredPage,
    FigureOf,
    NothingToShow,
    TableOf,
    UrlOf,
    agent_of,
    count_of,
    estimate_of,
    text_of,
)
from analysis.pages.empty import why_no_runs
from analysis.reports import chosen_runs, figure_specs, run_marks
from analysis.reports.addresses import new_run_url
from analysis.reports.content import (
    estimate_column,
    how_interval,
    points_cell,
    text_cell,
    text_column,
    words_column,
)
from analysis.reports.extremes import clear_changes
from analysis.reports.formatting import plural
from analysis.stats.comparison.refinement import (
    BY_CONSTRUCTION,
    Among,
    RefinementCurve,
    RefinementPoint,
    State,
    refinement_curves,
)
from benchmarks.access import START
from benchmarks.core.registry import find_system, get_system
from benchmarks.models import Trajectory

NO_VERDICT = "whether the last plan is valid is unknown"
NO_STATES = "the states of its plans were not recorded"


STATEMENT_COLUMNS = (
    "Figure 5",
    "Over one to six extra turns accuracy rises by about 10 points, while the valid plan rate "
    "falls by about 40 points for the two open models and 20 for the two closed ones; among "
    "trajectories that had neither stopped early nor succeeded.",
)


@dataclass(frozen=True)
class Chains:
    """A chain per trajectory, with its agent and task; ``left_out`` counts those without one."""

    labels: list[str] = field(default_factory=list)
    tasks: list[int] = field(default_factory=list)
    chains: list[tuple[State, ...]] = field(default_factory=list)
    left_out: Mapping[str, int] = field(default_factory=dict)


def refinement_chains(runs: Sequence[ChosenRun], most: int) -> Chains:
    """Return the states of every finished trajectory from its first valid plan on, or its last
    alone.

    Refinement begins after the first valid plan, so that plan is the state before any extra turn.
    """
    judged = {run.rejudged_by or run.pk: run for run in runs}
    rows = (
        Trajectory.objects.filter(counted(judged), status=Trajectory.Status.DONE)
        .annotate(states=KeyTransform("states", "payload"))
        .order_by("pk")
        .values_list("run", "task", "metrics", "states")
    )
    found = Chains()
    left: Counter[str] = Counter()
    for run, task, metrics, states in rows:
        if metrics.get("valid") is None:
            left[NO_VERDICT] += 1
        elif not states:
            left[NO_STATES] += 1
        else:
            first = next((i for i, s in enumerate(states) if s["valid"]), len(states) - 1)
            chain = tuple((bool(s["valid"]), s["passed"]) for s in states[first:])
            found.labels.append(judged[run].label)
            found.tasks.append(task)
            found.chains.append(chain[: most + 1])
    return Chains(found.labels, found.tasks, found.chains, dict(left.most_common()))


@dataclass(frozen=True)
class RefinementData:
    """The states of plans after each extra turn; ``most`` extra turns were granted.

    ``agents`` counts those that the chosen data compare.
    """

    runs: tuple[ChosenRun, ...]
    most: int
    among: Among
    chains: Chains
    with_published: bool
    agents: int


@dataclass(frozen=True)
class CurveRow:
    """The curve of an agent, before any extra turn and after all."""

    run: ChosenRun
    curve: RefinementCurve

    @property
    def link(self) -> Link:
        return Link(runs=(self.run.pk,))

    @property
    def first(self) -> RefinementPoint:
        return self.curve.points[0]

    @property
    def last(self) -> RefinementPoint:
        return self.curve.points[-1]


@dataclass(frozen=True)
class RefinementRow:
    """An agent after so many extra turns."""

    of: CurveRow
    point: RefinementPoint


@dataclass(frozen=True)
class RefinementResult:
    """The curves of all agents."""

    data: RefinementData
    rows: tuple[CurveRow, ...]

    @property
    def most(self) -> int:
        return self.data.most

    @property
    def refined_alone(self) -> bool:
        """Return whether only trajectories that used an extra turn are counted."""
        return self.data.among == "refined"

    @property
    def known(self) -> list[CurveRow]:
        """The agents with anything counted."""
        return [row for row in self.rows if row.curve.counted]

    @property
    def any_chain(self) -> bool:
        return bool(self.data.chains.chains)

    @property
    def counted(self) -> int:
        return sum(row.curve.counted for row in self.known)

    @property
    def any_refined(self) -> bool:
        return any(row.curve.refined for row in self.known)

    @property
    def accuracy(self) -> str:
        """How accuracy changes; empty where it is defined for nobody."""
        changes = [(row.curve.model, row.last.accuracy_change) for row in self.known]
        return clear_changes(changes, "share")

    @property
    def valid(self) -> str:
        """How the valid plan rate changes."""
        return clear_changes(
            [(row.curve.model, row.last.valid_change) for row in self.known], "share"
        )

    @property
    def family_size(self) -> int:
        """How many changes the intervals hold for together."""
        return 2 * self.data.agents

    @property
    def recovered(self) -> int:
        """The number of trajectories that became accurate."""
        return sum(row.last.recovered for row in self.known)

    @property
    def lost(self) -> int:
        """The number of trajectories that lost a valid plan."""
        return sum(row.last.lost for row in self.known)

    @property
    def by_construction(self) -> str:
        """The facts that hold among refined trajectories whatever the agents do."""
        if not self.refined_alone or not any(row.curve.warnings for row in self.rows):
            return ""
        return f"{BY_CONSTRUCTION[:1].upper()}{BY_CONSTRUCTION[1:]}"

    @property
    def shares(self) -> str:
        """The intervals of shares."""
        found = [point for row in self.rows for point in row.curve.points]
        return how_interval([one.accuracy for one in found] + [one.valid for one in found])

    @property
    def changes(self) -> str:
        """The intervals of changes."""
        found = [point for row in self.rows for point in row.curve.points]
        return how_interval([one.accuracy_change for one in found])

    @property
    def left_out(self) -> Mapping[str, int]:
        left = dict(self.data.chains.left_out)
        for run in self.data.runs:
            for why, count in unfinished(run).items():
                left[why] = left.get(why, 0) + count
        return left

    @property
    def not_counted(self) -> Mapping[str, int]:
        """The reason why no trajectory is counted."""
        return self.data.chains.left_out

    @property
    def unscored(self) -> int:
        """The number of trajectories that have no accuracy, a rubric score being missing."""
        return sum(sum(row.last.accuracy.excluded.values()) for row in self.rows)


def load(selection: Selection) -> RefinementData | NothingToShow:
    """Load the states of plans, of runs that grant extra turns."""
    if not selection.runs:
        return why_no_runs(selection)
    name = chosen_runs.dataset_name(selection)
    setting = find_system(selection.system).comparisons.refinement
    if not setting:
        facts = {"dataset": selection.filters.dataset, "dataset_name": name}
        return NothingToShow("no refinement", facts)
    most = max(int(run.settings.get(setting, 0)) for run in selection.runs)
    published = selection.filters.published != "hide"
    if not most:
        known = next(s for s in get_system(selection.system).settings if s.name == setting)
        wanted = int(known.maximum or 1)
        return NothingToShow(
            "no extra turns",
            {
                "most": wanted,
                "agents": [run.label for run in selection.runs],
                "url": new_run_url(selection, selection.runs, {setting: wanted}),
                "needs": START,
                "published": STATEMENT_COLUMNS if published else None,
            },
        )
    among: Among = "refined" if selection.filters.among == "refined" else "all"
    chains = refinement_chains(selection.runs, most)
    return RefinementData(selection.runs, most, among, chains, published, selection.agents_here)


def compute(data: RefinementData) -> RefinementResult:
    """Compute accuracy and the valid plan rate after each extra turn."""
    chains, runs = data.chains, {run.label: run for run in data.runs}
    curves = refinement_curves(
        chains.labels,
        chains.tasks,
        chains.chains,
        most=data.most,
        among=data.among,
        comparisons=2 * data.agents,
    )
    return RefinementResult(data, tuple(CurveRow(runs[one.model], one) for one in curves))


def _lines(name: str) -> Callable[[RefinementResult, UrlOf], Figure | None]:
    def draw(result: RefinementResult, url: UrlOf) -> Figure | None:
        curves = {
            row.curve.model: [(one.extra_turns, getattr(one, name)) for one in row.curve.points]
            for row in result.known
        }
        if not curves:
            return None
        title = "accuracy" if name == "accuracy" else "valid plan rate"
        return number_lines(
            curves,
            "extra turns",
            title,
            styles=figure_specs.styles([row.curve.model for row in result.rows]),
            about="extra turns: ",
            urls={row.curve.model: url(row.link) for row in result.known},
        )

    return draw


def end_columns(_: RefinementResult) -> Sequence[ColumnOf[CurveRow]]:
    """Give the shares before and after all extra turns."""
    help = "On the same tasks; n counts tasks"
    return (
        agent_of(lambda row: row.run),
        count_of("Counted", lambda row: row.curve.counted, help="Trajectories"),
        count_of(
            "Refined", lambda row: row.curve.refined, help="Trajectories that used an extra turn"
        ),
        estimate_of("Acc before", lambda row: row.first.accuracy, "share", part="acc before"),
        estimate_of("after", lambda row: row.last.accuracy, "share", part="acc after"),
        ColumnOf(
            estimate_column("Change", "acc change", help),
            lambda row: points_cell(row.last.accuracy_change),
        ),
        count_of("Recovered", lambda row: row.last.recovered, help="Accurate after, not before"),
        estimate_of("VPR before", lambda row: row.first.valid, "share", part="vpr before"),
        estimate_of("after", lambda row: row.last.valid, "share", part="vpr after"),
        ColumnOf(
            estimate_column("Change", "vpr change", help),
            lambda row: points_cell(row.last.valid_change),
        ),
        count_of("Lost", lambda row: row.last.lost, help="Valid before, not after"),
    )


def point_columns(_: RefinementResult) -> Sequence[ColumnOf[RefinementRow]]:
    """Give the shares after every number of extra turns."""
    return (
        text_of("Agent", lambda row: row.of.curve.model),
        count_of("Extra turns", lambda row: row.point.extra_turns),
        count_of(
            "Refining",
            lambda row: row.point.refining,
            help="Trajectories that used this extra turn",
        ),
        estimate_of("Acc", lambda row: row.point.accuracy, "share", show_n=True),
        ColumnOf(
            estimate_column("Change", "acc change"),
            lambda row: points_cell(row.point.accuracy_change),
        ),
        count_of("Recovered", lambda row: row.point.recovered),
        estimate_of("VPR", lambda row: row.point.valid, "share", show_n=True),
        ColumnOf(
            estimate_column("Change", "vpr change"),
            lambda row: points_cell(row.point.valid_change),
        ),
        count_of("Lost", lambda row: row.point.lost),
    )


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    figure=FigureOf("accuracy", "Accuracy after extra turns", _lines("accuracy"), table="points"),
    compared=lambda result: (
        [one for row in result.known for one in (row.last.accuracy_change, row.last.valid_change)],
        "share",
    ),
    table=TableOf(
        "ends",
        lambda result: f"Before and after {plural(result.most, 'extra turn')}",
        rows=lambda result: result.rows,
        columns=end_columns,
        link=lambda row: row.link,
    ),
    folded=(
        FigureOf("valid", "Valid plan rate after extra turns", _lines("valid"), table="points"),
        TableOf(
            "points",
            "By extra turn",
            rows=lambda result: [
                RefinementRow(row, point) for row in result.rows for point in row.curve.points
            ],
            columns=point_columns,
            link=lambda row: row.of.link,
            folded=True,
        ),
        TableOf(
            "said",
            "Published: in words",
            rows=lambda result: [STATEMENT_COLUMNS] if result.data.with_published else [],
            columns=lambda _: (
                ColumnOf(
                    text_column("Source"),
                    lambda row: text_cell(row[0], badges=(run_marks.PUBLISHED_BADGE,)),
                ),
                ColumnOf(
                    words_column("What the paper reports", "reported"),
                    lambda row: replace(text_cell(row[1]), source=row[0]),
                ),
            ),
        ),
    ),
)
