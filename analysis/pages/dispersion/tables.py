"""The tables of the dispersion page: spread, severity, panels without a judge, what is missing."""

from collections.abc import Mapping, Sequence

from analysis.filters.selection import Selection
from analysis.frames.scores import UnreadableScores
from analysis.reports import common
from analysis.reports.content import (
    Column,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_cell,
    number_column,
    text_cell,
    text_column,
)
from analysis.reports.formatting import number, plural
from analysis.stats.judges.dispersion import Dispersion, WithoutJudge
from analysis.stats.results import Estimate
from benchmarks.core.published import PaperStatements

NOBODY = "no judge scored it"
NOTHING = Estimate.without_value(NOBODY)
MOST_ROWS = 100


def spread_table(result: Dispersion, reference: PaperStatements) -> Table:
    """The standard deviation between judges by dimension, over all agents and of each."""
    paper = ""
    if reference.dispersion is not None:
        bound = number(reference.dispersion, "points")
        paper = f" Published: below {bound} on every dimension ({reference.dispersion_source})."
    columns = [text_column("Dimension"), estimate_column("Mean SD")]
    columns += [number_column(model) for model in result.models]
    rows = []
    for row in result.dimensions:
        cells = [text_cell(row.dimension), estimate_cell(row.mean_sd, "points", show_n=True)]
        cells += [
            number_cell(model.sd.value, "points", reason=model.sd.undefined) for model in row.models
        ]
        rows.append(tuple(cells))
    return Table(
        "spread",
        "Spread between judges",
        tuple(columns),
        tuple(rows),
        note="Population standard deviation, over judges, of each judge's mean score for an agent; "
        f"mean over agents with a 95 % t interval and n agents.{paper}",
    )


def severity_table(result: Dispersion) -> Table:
    """How much higher each judge scores than all, by dimension."""
    names = list(dict.fromkeys(row.dimension for row in result.severity))
    found = {(row.judge, row.dimension): row.bias for row in result.severity}
    return Table(
        "severity",
        "Strict and lenient judges",
        (text_column("Judge"), *(estimate_column(name[:1].upper() + name[1:]) for name in names)),
        tuple(
            (
                text_cell(judge),
                *(estimate_cell(found[judge, name], "points", signed=True) for name in names),
            )
            for judge in result.judges
        ),
        note="How much higher a judge scores than all judges' mean, over agents, with 95 % t "
        "intervals.",
    )


def without_table(result: Dispersion, without: Sequence[WithoutJudge]) -> list[Table]:
    """The spread and the agents' order if each judge were not on the panel."""
    if not without:
        return []
    found = {
        (one.judge, spread.dimension): (spread.mean_sd, one.kendall[spread.dimension])
        for one in without
        for spread in one.dimensions
    }
    columns = [text_column("Dimension"), number_column("All judges")]
    for judge in result.judges:
        columns.append(estimate_column(f"Without {judge}", help="SD between the judges left"))
        columns.append(number_column("τ_b", f"order without {judge}", help="With the order by all"))
    rows = []
    for row in result.dimensions:
        every = number_cell(row.mean_sd.value, "points", reason=row.mean_sd.undefined)
        cells = [text_cell(row.dimension), every]
        for judge in result.judges:
            spread, order = found.get((judge, row.dimension), (NOTHING, NOTHING))
            cells.append(estimate_cell(spread, "points"))
            cells.append(number_cell(order.value, "points", reason=order.undefined))
        rows.append(tuple(cells))
    return [
        Table(
            "without",
            "The spread of means without each judge",
            tuple(columns),
            tuple(rows),
            note="Kendall's τ_b: how far the agents' order by the judges that are left is their "
            "order by all; 1 is the same order.",
        )
    ]


def unread_table(gone: Mapping[str, UnreadableScores], selection: Selection) -> list[Table]:
    """Where the panel is smaller than it should be, with the trajectories."""
    if not gone:
        return []
    runs = {run.label: run for run in selection.runs}
    rows = []
    for label, one in gone.items():
        url = common.trajectories_of(runs[label], unscored="yes")
        judges = [f"{judge}: {count:,}" for judge, count in one.judges.items()]
        rows.append(
            (
                common.agent_cell(runs[label]),
                count_cell(one.turns, url=url, tip="The run's trajectories that lack a score"),
                count_cell(one.of),
                text_cell("; ".join(judges)),
            )
        )
    return [
        Table(
            "unread",
            "Replies that could not be read",
            (
                Column("Agent", ("agent", "kind", "run"), num=False),
                number_column("Turns", help="With a missing score of some judge"),
                number_column("Of", help="Judged turns"),
                text_column("Missing scores by judge", "judges"),
            ),
            tuple(rows),
        )
    ]


def means_table(result: Dispersion) -> Table:
    """The mean of each judge by agent and dimension, from which all else follows."""
    rows = [
        (
            text_cell(cell.model),
            text_cell(cell.dimension),
            text_cell(cell.judge),
            number_cell(cell.mean, "points", reason="this judge scored nothing here"),
            count_cell(cell.n),
        )
        for cell in result.means
    ]
    return Table(
        "means",
        f"Each judge's means ({plural(len(rows), 'row')})",
        (
            text_column("Agent"),
            text_column("Dimension"),
            text_column("Judge"),
            number_column("Mean"),
            number_column("Scores"),
        ),
        tuple(rows),
        open=False,
        most=MOST_ROWS,
    )
