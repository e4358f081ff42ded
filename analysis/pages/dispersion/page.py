"""How far judges differ from each other: spread of their means, and who is strict or lenient."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from analysis.figures.dispersion import dispersion_bars, severity_dots
from analysis.filters.selection import Selection
from analysis.frames.scores import UnreadableScores, judge_cells, unread
from analysis.pages.declaration import WrittenPage
from analysis.pages.dispersion.panels import dispersion_later
from analysis.pages.dispersion.tables import (
    NOBODY,
    means_table,
    severity_table,
    spread_table,
    unread_table,
    without_table,
)
from analysis.pages.empty import no_runs
from analysis.reports import common
from analysis.reports.content import (
    Notice,
    Report,
)
from analysis.reports.formatting import listed, number, plural, stated
from analysis.stats.judges.dispersion import (
    DimensionSpread,
    Dispersion,
    JudgeMean,
    JudgeSeverity,
    ModelSpread,
    judge_dispersion,
    leave_one_judge_out,
)
from analysis.stats.results import Estimate
from benchmarks.core.published import PaperStatements
from benchmarks.core.registry import find_system

PURPOSE = "The dispersion page shows how far the judges differ from each other."


def dispersion_report(selection: Selection) -> Report:
    """Everything on the page about the spread between judges."""
    dimensions = common.dimensions_of(selection.system)
    if not selection.runs or not dimensions:
        return Report(empty=no_runs(PURPOSE, selection))
    final = selection.filters.turns != "all"
    frame = judge_cells(selection.runs, [d.key for d in dimensions], final=final)
    if frame.empty:
        return Report(empty=no_runs(PURPOSE, selection))
    titles = {dimension.key: dimension.title for dimension in dimensions}
    result = spread_of(
        [
            JudgeMean(
                row["label"],
                titles[row["dimension"]],
                row["judge"],
                _number(row["mean"]),
                int(row["n"]),
            )
            for row in frame.to_dict("records")
        ]
    )
    scored = [cell for cell in result.means if cell.n]
    without = leave_one_judge_out(scored) if len(result.judges) > 1 else ()
    gone = unread(selection.runs, [d.key for d in dimensions], final=final)
    reference = find_system(selection.system).paper
    labels = [run.label for run in selection.runs]
    bars = dispersion_bars(result, reference.dispersion, common.styles(labels))
    dots = severity_dots(result)
    turns = "final turns" if final else "all turns"
    return Report(
        sentence=sentence(result, reference),
        figures=(
            common.figure_spec(
                "spread",
                f"Standard deviation between judges' means, {turns}",
                "Bar: mean over agents with its 95 % interval. Marks: each agent.",
                bars,
                urls=common.run_links(selection),
            ),
            common.figure_spec(
                "severity",
                "How much higher each judge scores than all judges together",
                "Mean over agents with its 95 % interval; left of the line is stricter.",
                dots,
            ),
        ),
        tables=(
            spread_table(result, reference),
            severity_table(result),
            *without_table(result, without),
            *unread_table(gone, selection),
            means_table(result),
        ),
        notices=(
            *common.selection_notices(selection),
            *_unscored(result),
            *_shrunk(gone),
            *(Notice(f"{warning[:1].upper()}{warning[1:]}.") for warning in result.warnings),
        ),
        how=(*common.how_runs(selection), *_how(result, turns)),
        methods="Dispersion is the population standard deviation, over judges, of each judge's "
        f"mean score ({turns}) for an agent, averaged over agents; severity is a judge's mean "
        "minus the mean of all judges.",
    )


def spread_of(means: Sequence[JudgeMean]) -> Dispersion:
    """The dispersion over the dimensions that somebody scored; the others follow as undefined.

    A dimension that no judge scored says nothing about any judge, so it must not take a judge's
    overall severity away.
    """
    names = list(dict.fromkeys(cell.dimension for cell in means))
    scored = {cell.dimension for cell in means if cell.n}
    result = judge_dispersion([cell for cell in means if cell.dimension in scored])
    models = list(dict.fromkeys(cell.model for cell in means))
    empty = Estimate.without_value(NOBODY, excluded={NOBODY: len(models)})
    found = {row.dimension: row for row in result.dimensions}
    for name in names:
        if name not in scored:
            spreads = tuple(ModelSpread(m, name, Estimate.without_value(NOBODY)) for m in models)
            found[name] = DimensionSpread(name, empty, spreads)
    ordered = tuple(found[name] for name in names)
    return replace(result, models=tuple(models), dimensions=ordered, means=tuple(means))


def _unscored(result: Dispersion) -> list[Notice]:
    names = [row.dimension.lower() for row in result.dimensions if row.mean_sd.undefined == NOBODY]
    if not names:
        return []
    return [Notice(f"No judge scored {listed(names, most=8)}: the spread is undefined there.")]


def _number(value: float) -> float | None:
    return (
        None if value != value else float(value)
    )  # the frame's missing value is not equal to itself


def sentence(result: Dispersion, reference: PaperStatements) -> str:
    """The widest spread, beside the paper's bound, and the strictest and most lenient judge."""
    known = [row for row in result.dimensions if row.mean_sd.value is not None]
    if not known:
        why = listed(list(dict.fromkeys(row.mean_sd.undefined for row in result.dimensions)))
        return f"How far judges differ cannot be said: {why}."
    widest = max(known, key=lambda row: row.mean_sd.value or 0)
    value = widest.mean_sd.value or 0.0
    judges = plural(len(result.judges), "judge")
    if reference.dispersion is not None:
        above = [row for row in known if (row.mean_sd.value or 0) >= reference.dispersion]
        bound = number(reference.dispersion, "points")
        if above:
            names = listed([row.dimension.lower() for row in above])
            text = (
                f"The {judges} differ by {bound} points or more on {len(above)} of "
                f"{len(known)} dimensions ({names}), where the paper's stay below {bound}; most on "
                f"{widest.dimension.lower()}, {stated(widest.mean_sd, 'points')}"
            )
        else:
            text = (
                f"On all {len(known)} dimensions the {judges} differ by less than {bound} points, "
                f"as in the paper; most on {widest.dimension.lower()}, "
                f"{stated(widest.mean_sd, 'points')}"
            )
    else:
        text = (
            f"The {judges} differ most on {widest.dimension.lower()}, by {number(value, 'points')}"
        )
    lacking = [row.dimension.lower() for row in result.dimensions if row.mean_sd.value is None]
    if lacking:
        text += f"; {listed(lacking)} cannot be compared, because a judge's scores are missing"
    return f"{text}{_strictest(result)}."


def _overall(result: Dispersion) -> list[JudgeSeverity]:
    return [
        row
        for row in result.severity
        if row.dimension == "all dimensions" and row.bias.value is not None
    ]


def _strictest(result: Dispersion) -> str:
    rows = _overall(result)
    if len(rows) < 2:
        return ""
    low = min(rows, key=lambda row: row.bias.value or 0)
    high = max(rows, key=lambda row: row.bias.value or 0)
    return (
        f". {low.judge} is the strictest ({number(low.bias.value or 0, 'points', signed=True)}), "
        f"{high.judge} the most lenient ({number(high.bias.value or 0, 'points', signed=True)})"
    )


def _shrunk(gone: Mapping[str, UnreadableScores]) -> list[Notice]:
    if not gone:
        return []
    turns, of = sum(one.turns for one in gone.values()), sum(one.of for one in gone.values())
    return [
        Notice(
            f"The panel shrank on {turns:,} of {of:,} turns of {plural(len(gone), 'run')}, because "
            "a judge's reply could not be read there: what remains is another panel. The table "
            "below leads to the trajectories."
        )
    ]


def _how(result: Dispersion, turns: str) -> Sequence[str]:
    scores = sum(cell.n for cell in result.means)
    return (
        f"{scores:,} scores of {turns} by {listed(list(result.judges))}.",
        "σ of an agent and dimension is the population standard deviation over judges of their "
        "mean "
        "scores; the bar is the mean of σ over agents, with a 95 % t interval over agents. Where a "
        "judge scored nothing, σ is undefined and the agent is left out of the mean.",
        "Severity: mean over agents of (judge's mean − mean of all judges' means). The spread of "
        "means "
        "hides disagreement that cancels out over turns.",
    )


CONTENT = WrittenPage(dispersion_report, later=dispersion_later)
