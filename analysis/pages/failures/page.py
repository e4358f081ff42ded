"""The failures page shows how often an agent fails and among failures how, beside the others."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.figures.forest import CLEAR_LOOK, UNCLEAR_LOOK, ForestRows, forest
from analysis.figures.layout.theme import Figure
from analysis.figures.rubric import rubric_heatmap
from analysis.filters.runs import NEARLY, pass_threshold
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.failures import find_faults
from analysis.frames.outcomes import by_id, counted, outcome_frame
from analysis.frames.scores import turn_scores
from analysis.kit.links import Link
from analysis.pages.declaration import (
    ColumnOf,
    DeclaredPage,
    FigureOf,
    NothingToShow,
    TableOf,
    UrlOf,
    count_of,
    estimate_of,
    text_of,
)
from analysis.pages.empty import why_no_runs
from analysis.pages.failures.rows import (
    DIMENSION,
    ENDING,
    FAULT,
    AgentSummary,
    CaseRow,
    Fact,
    FactRow,
    FailureData,
    FailureResult,
    add_facts,
    case_rows,
    compute,
    known_facts,
)
from analysis.reports import addresses, run_marks
from analysis.reports.content import (
    Cell,
    Column,
    estimate_column,
    number_column,
    points_cell,
    text_cell,
    text_column,
)
from analysis.reports.formatting import plural
from benchmarks.core.ports.labels import Measure
from benchmarks.core.registry import find_system
from benchmarks.models import Trajectory

# A link names trajectories one by one; a number that counts more of them has no link.
MOST_IDS = 200
# Rows of the figure; the table has all.
MOST_ROWS = 10


def load(selection: Selection) -> FailureData | NothingToShow:
    """Load outcomes, faults and scores of all agents."""
    if not selection.runs:
        return why_no_runs(selection)
    system = find_system(selection.system)
    labels = system.labels
    if not labels.headlines:
        return why_no_runs(selection)
    # The family is that of all agents of the data, whichever of them are shown.
    runs, metric = selection.family or selection.runs, labels.headlines[0]
    measure = labels.measures[metric]
    frame = outcome_frame(runs, [metric])
    if not len(frame):
        return NothingToShow("not finished")
    frame = frame.assign(failed=_failed(frame[metric], measure))
    ids = frame["trajectory"].tolist()
    bars = {run.pk: bar.threshold for run in runs if (bar := pass_threshold(run.settings))}
    dimensions = [(one.key, one.title) for one in system.dimensions]
    scored = turn_scores(runs, [key for key, _ in dimensions], final=True) if bars else None
    scores: dict[tuple[int, str], float] = {}
    if scored is not None:
        known = scored[scored["score"].notna()]
        names = known["trajectory"], known["dimension"], known["score"]
        scores = {(pk, key): score for pk, key, score in zip(*names, strict=True)}
    faults = find_faults(ids, system.faults)
    rows = list(zip(ids, frame["run"], frame["termination"], strict=True))

    def values(fact: Fact) -> list[float | None]:
        match fact.kind:
            case "ending":
                return [float(end == fact.code) for _, _, end in rows]
            case "fault":
                return [float(fact.code in faults[pk].turns) for pk, *_ in rows]
        below = [
            None if (score := scores.get((pk, fact.code))) is None or run not in bars
            else float(score < bars[run] - NEARLY)
            for pk, run, _ in rows
        ]  # fmt: skip
        return below

    facts = known_facts(labels, system.faults, dimensions, frame, list(bars.values()))
    columns = {fact.key: values(fact) for fact in facts}
    failures = (frame["failed"] == 1).tolist()
    shown = tuple(
        fact
        for fact in facts
        if any(value and failed for value, failed in zip(columns[fact.key], failures, strict=True))
    )
    several = Trajectory.objects.filter(counted(by_id(runs)), turn_count__gt=1).exists()
    return FailureData(
        runs,
        selection.runs,
        measure,
        metric,
        add_facts(frame, shown, columns),
        shown,
        len(facts),
        tuple(one for one in facts if one not in shown and one.kind == FAULT) if several else (),
        faults,
        dict(Trajectory.objects.filter(pk__in=ids).order_by().values_list("pk", "turn_count")),
        scores,
        system.faults.answer,
        selection.filters.profile,
        system.faults.cases,
    )


def _failed(values: Any, measure: Measure) -> Any:
    """Return 1 where a trajectory falls short of the most that the measure can be, NaN unknown."""
    most = measure.most if measure.most is not None else values.max()
    return (values < most - NEARLY).astype("float64").where(values.notna())


def link(row: FactRow) -> Link | None:
    """Return the agent's failures that show a fact, or all of them where none does."""
    return _named(row.ids, row.failures)


def link_others(row: FactRow) -> Link | None:
    """Return the other agents' failures that show a fact, or all of them where none does."""
    return _named(row.other_ids, row.other_failures)


def link_both(row: FactRow) -> Link | None:
    """Return the failures of both sides that show a fact."""
    return _named((*row.ids, *row.other_ids))


def _named(*choices: Sequence[int]) -> Link | None:
    """Return the first of some trajectories; None where there are none or too many to name."""
    chosen: Sequence[int] = next(filter(len, choices), ())
    if 0 < len(chosen) <= MOST_IDS:
        return Link(more={"ids": ",".join(map(str, chosen))})
    return None


def draw(result: FailureResult, url: UrlOf) -> Figure | None:
    """Draw the differences from the other agents, those that set the agent apart most first."""
    shown = [row for row in result.rows if row.difference.value is not None]
    if not shown:
        return None
    apart = sorted(shown, key=lambda row: (not row.clear, -abs(row.excess)))[:MOST_ROWS]
    kept = [row for row in shown if row in apart]
    groups = []
    for name, clear, look in (
        ("clear: the interval excludes 0", True, CLEAR_LOOK),
        ("not clear", False, UNCLEAR_LOOK),
    ):
        those = [row for row in kept if row.clear == clear]
        rows = [(row.fact.title, row.difference) for row in those]
        groups.append(
            ForestRows(name, rows, [url(to) if (to := link(row)) else "" for row in those], look)
        )
    return forest(
        groups,
        title="Difference in share of failures",
        unit="share",
        differences=True,
        least=-0.1,
        most=0.1,
    )


def draw_profiles(result: FailureResult, url: UrlOf) -> Figure | None:
    """Draw the share of every agent's failures that show each fact."""
    table, links = result.profiles, {}
    failures = result.data.failures
    for agent in result.agents:
        mine = failures[failures["run"] == agent.run.pk]
        for fact in result.data.facts:
            ids = mine.loc[mine[fact.key] == 1, "trajectory"].tolist()
            if to := _named(ids, mine["trajectory"].tolist()):
                links[agent.run.label, fact.title] = url(to)
    return rubric_heatmap(table, (0, 1), links, unit="share")


def profiles_width(result: FailureResult) -> int:
    """Return how wide the grid of all agents has to be, in pixels."""
    return 200 + 84 * len(result.data.facts)


def draw_turns(result: FailureResult, url: UrlOf) -> Figure | None:
    """Draw at which turns the agent shows each fault."""
    table = result.by_turn
    links = {
        (row, column): url(
            Link(runs=(result.agent.run.pk,), more={"reached_turn": column.removesuffix("+")})
        )
        for row in table.rows
        for column in table.columns
    }
    return rubric_heatmap(table, (0, 1), links, unit="share")


def _first_turn(row: FactRow) -> Cell:
    if row.first is None:
        return Cell(data=(None,), reason="of the whole trajectory" if row.ids else "not seen")
    return Cell(f"{row.first:g}", (row.first,))


def columns(result: FailureResult) -> Sequence[ColumnOf[FactRow]]:
    """Give each fact its shares, its difference, and its turn."""
    kinds: Mapping[str, str] = {ENDING: "Ending", FAULT: "Fault", DIMENSION: "Low score"}
    compared: tuple[ColumnOf[FactRow], ...] = (
        estimate_of("Other agents", lambda row: row.others, "share", part="others", show_n=True,
                    help="Share of the other agents’ failures",
                    link=link_others),
        ColumnOf(
            estimate_column(
                "Difference", "difference", "On tasks that both failed; intervals hold together"
            ),
            lambda row: points_cell(row.difference),
            link_both,
        ),
        text_of("Clear", lambda row: "yes" if row.clear else "no", "clear"),
    )  # fmt: skip
    return (
        text_of("What", lambda row: row.fact.title, "fact", sub=lambda row: kinds[row.fact.kind]),
        estimate_of(result.agent.run.label, lambda row: row.mine, "share", part="share",
                    help="Share of the agent’s failures, with a 95 % interval", show_n=True),
        *(compared if result.compared else ()),
        ColumnOf(
            number_column("Turn", "first turn", "Median of the turn that first shows it"),
            _first_turn,
        ),
    )  # fmt: skip


def summary_columns(result: FailureResult) -> Sequence[ColumnOf[AgentSummary]]:
    """Give each agent how often it fails and why."""

    def agent(one: AgentSummary) -> Cell:
        return run_marks.agent_cell(one.run)

    more: tuple[ColumnOf[AgentSummary], ...] = (
        ColumnOf(
            estimate_column(
                "Than the others", "difference", "Paired by task; intervals hold together"
            ),
            lambda one: points_cell(one.more),
        ),
    )

    return (
        ColumnOf(Column("Agent", ("agent", "kind", "run"), num=False), agent),
        estimate_of("Fails", lambda one: one.failed, "share", part="fails", show_n=True),
        *(more if result.others else ()),
        count_of("Failures", lambda one: one.failures),
        ColumnOf(
            Column("Why most of them fail", ("cause",), num=False, words=True),
            lambda one: text_cell(result.cause_of(one) or _no_cause(one.failures)),
        ),
    )


def case_columns(result: FailureResult) -> Sequence[ColumnOf[CaseRow]]:
    """Give each case of the paper an example and the number of failures like it."""

    def example(row: CaseRow) -> Cell:
        if row.example is None:
            return Cell(data=(None,), reason="no failure of this kind here")
        url = addresses.address("analysis:trajectory", trajectory_id=row.example)
        turns = plural(result.data.lengths[row.example], "turn")
        return text_cell(f"Trajectory {row.example}", url=url, sub=f"{row.agent}, {turns}")

    return (
        text_of("In the paper", lambda row: row.case.source, "source"),
        text_of("Kind of failure", lambda row: row.case.title, "case"),
        ColumnOf(text_column("Example here", "example"), example),
        count_of("Failures", lambda row: len(row.ids)),
    )


def _no_cause(failures: int) -> str:
    if failures > 1:
        return "no ending is shared by half of them"
    return "one failure" if failures else "no failure"


def profile_title(result: FailureResult) -> str:
    """Name the figure after its agent."""
    return f"How the failures of {result.agent.run.label} differ"


def of_run(run: ChosenRun) -> Link:
    """Return all trajectories of an agent."""
    return Link(runs=(run.pk,))


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    answers=lambda result: result.agent.failed.value is not None,
    figure=FigureOf("profile", profile_title, draw, fits=lambda result: result.compared),
    table=TableOf(
        "profile",
        lambda result: f"Failure profile of {result.agent.run.label}",
        rows=lambda result: result.rows,
        columns=columns,
        link=link,
    ),
    folded=(
        FigureOf(
            "turns",
            lambda result: f"When {result.agent.run.label} shows each fault",
            draw_turns,
            table="profile",
            fits=lambda result: bool(result.by_turn.rows) and len(result.by_turn.columns) > 1,
        ),
        FigureOf(
            "agents",
            "Profiles of all agents",
            draw_profiles,
            table="agents",
            least_width=profiles_width,
        ),
        TableOf(
            "agents",
            "All agents",
            rows=lambda result: result.agents,
            columns=summary_columns,
            link=lambda one: of_run(one.run),
        ),
        TableOf(
            "cases",
            "Cases as in the paper",
            rows=case_rows,
            columns=case_columns,
            link=lambda row: _named(row.ids),
        ),
    ),
)
