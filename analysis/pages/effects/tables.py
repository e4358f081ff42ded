"""What the effects page shows beside effects: profiles, published figures, and missing runs."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from analysis.figures.layout.theme import Figure
from analysis.figures.tool_use import PointRow
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.sizes import profile_sizes
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.links import Link
from analysis.kit.page import Page
from analysis.pages.effects.figures import value_figure
from analysis.pages.effects.rows import Varied, title_of
from analysis.reports import addresses, run_marks
from analysis.reports import content as parts
from analysis.reports.content import Cell, estimate_cell, text_cell
from analysis.reports.formatting import first_up, listed
from analysis.reports.published import published_estimate
from analysis.stats.descriptive.means import mean_t
from analysis.stats.results import Estimate
from benchmarks.core.ports.comparisons import Factor
from benchmarks.core.ports.labels import plain
from benchmarks.core.ports.published import Published

# Where papers print the sizes of profiles.
TABLE_2 = "Table 2"
# What the form for new runs cannot vary: where it is done, by kind of factor.
ELSEWHERE = {
    "parameter": ("Endpoints", "benchmarks:endpoint_list"),
    "people": ("Sessions", "annotation:session_list"),
}


class MissingRun(NamedTuple):
    """Runs that the comparison lacks, with the page where they are started."""

    title: str
    missing: str
    start: str
    url: str


def profile_table(page: Page, factor: Factor) -> None:
    """Add the mean number of constraints in profiles by level and kind, beside the paper's."""
    dataset = page.selection.dataset
    if factor.kind != "level" or dataset is None:
        return
    levels, sizes = profile_sizes(dataset, page.selection.closed_tasks)
    printed = page.system.paper.profile_sizes
    url = addresses.address("benchmarks:dataset", dataset_id=dataset.pk)

    def mean(level: str, kind: str) -> Estimate:
        known = sizes.get((level, kind))
        return mean_t(known) if known else Estimate.without_value("no constraint of this kind")

    def published(level: str, kind: str) -> Cell:
        value = printed.get((level, kind))
        if value is None:
            return Cell(data=(None,), reason="not published")
        return Cell(f"{value:.2f}", (value,), source=TABLE_2)

    def pair(kind: str) -> list[Column[str]]:
        head = parts.number_column("Published", f"{kind} published", f"{TABLE_2} of the paper")
        return [
            columns.estimate(
                f"{plain(kind)} constraints", lambda level: mean(level, kind), "number",
                part=kind, show_n=True,
            ),
            Column(head, lambda level: published(level, kind)),
        ]  # fmt: skip

    page.table(
        "profiles",
        "Sizes of profiles",
        levels,
        [
            columns.text("Level", lambda level: title_of(factor, level)),
            *(
                one
                for kind in sorted({kind for _, kind in sizes}, reverse=True)
                for one in pair(kind)
            ),
        ],
        link=lambda _: Link(url=url),
        note="Mean number in a profile, with t intervals; n counts profiles. Published: Table 2.",
    )


def published_parts(page: Page, data: Varied) -> None:
    """Add the published figures on this factor and measure, and what a paper says of it."""
    factor, is_rate = data.factor, data.measure.in_percent
    if page.selection.filters.published == "hide":
        return
    value_of = {
        metric: value
        for (measure, value), metric in factor.published.items()
        if measure == data.metric
    }
    by_model: dict[str, dict[Any, Published]] = {}
    for entry in page.system.published:
        if entry.metric in value_of:
            by_model.setdefault(entry.model, {})[value_of[entry.metric]] = entry
    values = list(dict.fromkeys(value for by in by_model.values() for value in by))
    title = f"Published: {data.measure.title} by {factor.title.lower()}"
    where = f"{factor.where} of the paper, not from runs here"

    def source(model: str) -> str:
        entry = next(iter(by_model[model].values()))
        return f"{entry.source}; {entry.note}"

    def column(value: Any) -> Column[str]:
        def cell(model: str) -> Cell:
            estimate = published_estimate(by_model[model].get(value), is_rate=is_rate)
            show_n = is_rate and estimate.interval is not None
            return estimate_cell(estimate, data.unit, show_n=show_n)

        return Column(parts.estimate_column(title_of(factor, value)), cell)

    def printed_range(model: str) -> Cell:
        printed = [entry.value for entry in by_model[model].values()]
        size = max(printed) - min(printed)
        return Cell(f"{size:.2f}", (round(size, 2),))

    def draw() -> Figure:
        panels = {
            title_of(factor, value): [
                PointRow(model, published_estimate(by[value], is_rate=is_rate), model)
                for model, by in by_model.items()
                if value in by
            ]
            for value in values
        }
        return value_figure(data, panels, list(by_model))

    page.figure(
        "published",
        title,
        draw if by_model else None,
        subtitle=f"{where}; Wilson intervals where n can be told.",
    )
    page.table(
        "published",
        title,
        list(by_model),
        [
            columns.published(lambda model: model, source),
            *map(column, values),
            Column(
                parts.number_column("Range", "range", "Highest minus lowest, as printed"),
                printed_range,
            ),
        ],
        link=lambda _: None,
        note=f"{where}. n is inferred where known.",
    )
    page.table(
        "said",
        "Published: in words",
        [factor] if factor.finding else [],
        [
            Column(
                parts.text_column("Source"),
                lambda one: text_cell(one.where, badges=(run_marks.PUBLISHED_BADGE,)),
            ),
            columns.sentences(
                "What the paper reports",
                lambda one: f"{first_up(one.finding)}.",
                "reported",
                source=lambda one: one.where,
            ),
        ],
        note="What the paper says about its own runs.",
    )


def missing_runs(selection: Selection, data: Varied) -> list[MissingRun]:
    """Return the runs that the comparison lacks."""
    factor = data.factor
    if factor.kind in ELSEWHERE:
        if len(data.titles) > 1:
            return []
        name, view = ELSEWHERE[factor.kind]
        words = f"{first_up(factor.advice)}."
        return [MissingRun(factor.title, words, f"{name} →", addresses.address(view))]
    rows = []
    for value in _values_to_run(factor, selection):
        title = title_of(factor, value)
        lacking: dict[str, ChosenRun] = {}
        for run in selection.runs:
            if (run.label, title) not in data.everybody:
                lacking.setdefault(run.label, run)
        if lacking:
            is_level = factor.kind == "level"
            url = addresses.new_run_url(
                selection,
                list(lacking.values()),
                {} if is_level else {factor.name: value},
                level=value if is_level else "",
            )
            rows.append(MissingRun(title, listed(list(lacking), most=5), "Fill in the form →", url))
    return rows


def _values_to_run(factor: Factor, selection: Selection) -> Sequence[Any]:
    """Return the values that can be run: of levels those that the dataset has."""
    if factor.kind != "level" or selection.dataset is None:
        return list(factor.values)
    profiles = selection.dataset.tasks.filter(profiles__isnull=False)
    known = set(profiles.values_list("profiles__level", flat=True).order_by().distinct())
    return [value for value in factor.values if value in known]


def missing_table(page: Page, factor: Factor, rows: Sequence[MissingRun]) -> None:
    """Add the runs that would be needed, with the way to them."""
    page.table(
        "missing",
        "Runs that would be needed",
        rows,
        [
            columns.text(factor.title, lambda row: row.title),
            columns.sentences("Missing", lambda row: row.missing, "missing"),
            columns.text("Start", lambda row: row.start, url=lambda row: row.url),
        ],
    )
