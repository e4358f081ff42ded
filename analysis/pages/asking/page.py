"""The asking page compares ways of asking a person: the paper's tables and Figures 3 to 5."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

from analysis.figures.asking import BandPoint, ExampleMark, banded_lines, example_steps
from analysis.figures.layout.theme import Figure
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.outcomes import by_id, counted
from analysis.kit.links import Link
from analysis.pages.declaration import (
    ColumnOf,
    DeclaredPage,
    FigureOf,
    NothingToShow,
    PagePart,
    TableOf,
    UrlOf,
    text_of,
)
from analysis.pages.empty import why_no_runs
from analysis.reports import addresses, figure_specs, run_marks
from analysis.reports.content import Cell, Column, text_cell
from benchmarks.core.means import standard_error
from benchmarks.core.ports.comparisons import Asking, PaperTable
from benchmarks.core.ports.labels import Measure
from benchmarks.core.ports.published import Published
from benchmarks.core.registry import find_system
from benchmarks.models import Trajectory

SATISFIED = "satisfied"
NO_VALUE = "no trajectory has it"


def _trajectory(pk: int, turn: int = 0) -> Link:
    """Return the link to a trajectory, or to a turn of it."""
    here = addresses.address("analysis:trajectory", trajectory_id=pk)
    return Link(url=f"{here}#turn-{turn}" if turn else here)


class Played(NamedTuple):
    """A trajectory that ended, as far as this page needs it."""

    pk: int
    task: str
    metrics: Mapping[str, float | None]
    payload: Mapping[str, Any]


@dataclass(frozen=True)
class AskingRow:
    """What one run plays, with its trajectories; ``name`` is no other row's."""

    key: str
    name: str
    run: ChosenRun
    played: Sequence[Played]

    @property
    def link(self) -> Link:
        return Link(runs=(self.run.pk,))

    def values(self, metric: str) -> list[float]:
        return [v for one in self.played if (v := one.metrics.get(metric)) is not None]


class TableRow(NamedTuple):
    """A row of a paper's table: a run, or the published figures by metric."""

    name: str
    row: AskingRow | None
    published: Mapping[str, Published]


@dataclass(frozen=True)
class ExampleRow:
    """A question in an example, with its answer and what became of the preferences it told."""

    method: str
    step: int
    question: str
    answer: str
    told: str
    trajectory: int

    @property
    def link(self) -> Link:
        return _trajectory(self.trajectory, self.step)


@dataclass(frozen=True)
class AskingResult:
    """Runs by what they play, in the order of the system, and the published figures."""

    asking: Asking
    measures: Mapping[str, Measure]
    rows: tuple[AskingRow, ...]
    published: Mapping[str, Mapping[str, Published]]
    example: Mapping[str, Played]
    asked: tuple[ExampleRow, ...]

    @property
    def sentence(self) -> str:
        """The result and the questions of each row, in order of the result."""
        scored = [row for row in self.rows if row.values(self.asking.result)]
        scored.sort(key=lambda row: -fmean(row.values(self.asking.result)))
        parts = [
            f"{row.name} {fmean(row.values(self.asking.result)):.1f} % "
            f"({fmean([one.payload['asked'] for one in row.played]):.1f} questions)"
            for row in scored
        ]
        return ", ".join(parts)

    def table_rows(self, table: PaperTable) -> list[TableRow]:
        """Return the rows of a table: those of runs, then the published ones."""
        own = [TableRow(row.name, row, {}) for key in table.rows for row in self.rows
               if row.key == key]  # fmt: skip
        if not own:
            return []
        titles = self.asking.titles
        return own + [
            TableRow(titles[key].title, None, self.published[key])
            for key in table.rows
            if key in self.published
        ]


def load(selection: Selection) -> AskingResult | NothingToShow:
    """Load the trajectories of all runs, and the questions of one example."""
    system = find_system(selection.system) if selection.system else None
    asking = system.comparisons.asking if system is not None else None
    if system is None or asking is None or not selection.runs:
        return why_no_runs(selection)
    played = _played(selection.runs)
    order = list(asking.titles)
    runs = [(asking.key_of(run.settings), run) for run in selection.runs if played.get(run.pk)]
    runs.sort(key=lambda pair: order.index(pair[0]))
    if not runs:
        return why_no_runs(selection)
    names = _names(asking, runs)
    rows = tuple(
        AskingRow(key, name, run, played[run.pk])
        for (key, run), name in zip(runs, names, strict=True)
    )
    example = _example(asking, rows)
    return AskingResult(
        asking,
        system.labels.measures,
        rows,
        _published(asking, system.published) if selection.filters.published != "hide" else {},
        example,
        _questions(example),
    )


def _names(asking: Asking, runs: Sequence[tuple[str, ChosenRun]]) -> list[str]:
    """Return a name for each run: what it plays, with the agent where several play."""
    several = len({run.label for _, run in runs}) > 1
    titles = [asking.titles[key].title for key, _ in runs]
    names = [
        f"{title} · {run.label}" if several else title
        for title, (_, run) in zip(titles, runs, strict=True)
    ]
    return [
        name if names.count(name) == 1 else f"{name}, run {run.pk}"
        for name, (_, run) in zip(names, runs, strict=True)
    ]


_PARTS = ("asked", "applicable", "progress", "preferences", "task")


def _played(runs: Sequence[ChosenRun]) -> dict[int, list[Played]]:
    rows = Trajectory.objects.filter(counted(by_id(runs)), status=Trajectory.Status.DONE).order_by(
        "pk"
    )
    found: dict[int, list[Played]] = {}
    for run, pk, task, metrics, changes, *parts in rows.values_list(
        "run", "pk", "task__external_id", "metrics", "role_changes",
        *(f"payload__{part}" for part in _PARTS),
    ):  # fmt: skip
        # Where a role was handed over on the way, nobody's behaviour can be told.
        if not changes and parts[2]:
            payload = dict(zip(_PARTS, parts, strict=True))
            found.setdefault(run, []).append(Played(pk, task, metrics, payload))
    return found


def _published(asking: Asking, entries: Sequence[Published]) -> dict[str, dict[str, Published]]:
    """Return published figures by key and metric."""
    wanted = {name: pair for pair, name in asking.published.items()}
    found: dict[str, dict[str, Published]] = {}
    for entry in entries:
        if entry.metric in wanted:
            metric, key = wanted[entry.metric]
            found.setdefault(key, {})[metric] = entry
    return found


def _example(asking: Asking, rows: Sequence[AskingRow]) -> dict[str, Played]:
    """Return a trajectory of each row on one task that most rows share; a task of the example kind
    comes first.
    """
    counts: dict[str, int] = {}
    kinds: dict[str, str] = {}
    for row in rows:
        for one in row.played:
            counts[one.task] = counts.get(one.task, 0) + 1
            kinds[one.task] = str(one.payload["task"])
    if not counts:
        return {}
    chosen = min(counts, key=lambda t: (-counts[t], kinds[t] != asking.example, t))
    return {row.name: one for row in rows for one in row.played if one.task == chosen}


def _questions(example: Mapping[str, Played]) -> tuple[ExampleRow, ...]:
    """Return the questions of the example, with the preferences that each disclosed."""
    names = {one.pk: name for name, one in example.items()}
    turns = (
        Trajectory.objects.filter(pk__in=list(names), turns__payload__question__isnull=False)
        .order_by("turns__index")
        .values_list("pk", "turns__index", "turns__payload__question", "turns__payload__answer")
    )
    rows = []
    for pk, index, question, answer in turns:
        told = [
            f"{row['text']} ({row['value']})"
            for row in example[names[pk]].payload["preferences"]
            if row["disclosed"] == index
        ]
        rows.append(ExampleRow(names[pk], index, question, answer, " ".join(told), pk))
    order = list(example)
    return tuple(sorted(rows, key=lambda row: (order.index(row.method), row.step)))


# --- Figures --------------------------------------------------------------------------------------


def draw_curves(result: AskingResult, url: UrlOf) -> Figure | None:
    """Draw Figure 4: the result over the course of trajectories, all rows in one panel."""
    curves: dict[str, Sequence[BandPoint]] = {}
    for row in result.rows:
        points = result.asking.curves([one.payload for one in row.played])
        if points:
            curves[row.name] = [
                (x, mean, low, high)
                for x, (mean, low, high) in enumerate(points)
                if mean is not None
            ]
    measure = result.measures[result.asking.result]
    return banded_lines(
        curves, "course of the trajectory (%)", measure.title,
        styles=figure_specs.styles([row.name for row in result.rows]), urls=_urls(result, url),
    )  # fmt: skip


def draw_questions(result: AskingResult, url: UrlOf) -> Figure | None:
    """Draw Figure 3: questions by the number of applicable preferences, all rows in one panel."""
    curves: dict[str, Sequence[BandPoint]] = {}
    for row in result.rows:
        asked: dict[int, list[float]] = {}
        for one in row.played:
            asked.setdefault(one.payload["applicable"], []).append(one.payload["asked"])
        points = []
        for number, values in sorted(asked.items()):
            mean, error = fmean(values), standard_error(values)
            ends = (None, None) if error is None else (mean - error, mean + error)
            points.append((float(number), mean, *ends))
        curves[row.name] = points
    return banded_lines(
        curves, "applicable preferences", "questions", marks=True,
        styles=figure_specs.styles([row.name for row in result.rows]), urls=_urls(result, url),
    )  # fmt: skip


def draw_example(result: AskingResult, url: UrlOf) -> Figure | None:
    """Draw Figure 5: on one task, where each row was told preferences and where it met them."""
    if not result.example:
        return None
    rows = {}
    for name, one in result.example.items():
        marks = [
            ExampleMark(p["text"], p["disclosed"], p["step"] if p["value"] == SATISFIED else None)
            for p in one.payload["preferences"]
            if p["disclosed"] is not None or p["value"] == SATISFIED
        ]
        marks += [
            ExampleMark(row.question, row.step, vain=True)
            for row in result.asked
            if row.method == name and not row.told
        ]
        rows[name] = (len(one.payload["progress"]) - 1, marks, url(_trajectory(one.pk)))
    return example_steps(rows, figure_specs.styles([row.name for row in result.rows]))


def _urls(result: AskingResult, url: UrlOf) -> dict[str, str]:
    return {row.name: url(row.link) for row in result.rows}


# --- Tables ---------------------------------------------------------------------------------------


def paper_columns(result: AskingResult) -> Sequence[ColumnOf[TableRow]]:
    """Give a row's metrics as mean ± standard error, as the paper prints them."""

    def name(row: TableRow) -> Cell:
        if row.row is not None:
            return text_cell(row.name, badges=run_marks.agent_badges(row.row.run))
        return text_cell(row.name, badges=(run_marks.PUBLISHED_BADGE,))

    def column(metric: str) -> ColumnOf[TableRow]:
        measure = result.measures[metric]
        parts = tuple(f"{metric}{end}" for end in ("", "_se", "_n"))
        return ColumnOf(
            Column(measure.title, parts, help=f"Mean ± standard error. {measure.help}"),
            lambda row: _mean_cell(row, metric),
            lambda row: row.row.link if row.row is not None else None,
        )

    return (
        ColumnOf(Column("Method", ("method",), num=False), name),
        *(column(metric) for metric in result.asking.metrics),
    )


def _mean_cell(row: TableRow, metric: str) -> Cell:
    if row.row is None:
        entry = row.published.get(metric)
        if entry is None:
            return Cell(data=(None,) * 3, reason="not published")
        return Cell(
            entry.printed, (entry.value, entry.error, entry.n), sub=entry.printed_error,
            tip=f"{entry.source}; {entry.note}", source=entry.source,
        )  # fmt: skip
    values = row.row.values(metric)
    if not values:
        return Cell(data=(None, None, 0), reason=NO_VALUE)
    mean, error = fmean(values), standard_error(values)
    sub = f"± {error:.1f} SE\nn = {len(values)}" if error is not None else f"n = {len(values)}"
    return Cell(f"{mean:.1f}", (mean, error, len(values)), sub=sub)


def _paper_table(table: PaperTable) -> TableOf[AskingResult, TableRow]:
    return TableOf(
        table.name.lower().replace(" ", "-"),
        f"{table.title} (as {table.name} of the paper)",
        rows=lambda result: result.table_rows(table),
        columns=paper_columns,
        link=lambda _: None,
    )


class NumberRow(NamedTuple):
    """The mean questions of a row at a number of applicable preferences."""

    row: AskingRow
    applicable: int
    values: Sequence[float]


def number_rows(result: AskingResult) -> list[NumberRow]:
    """Return the numbers of Figure 3."""
    found: dict[tuple[int, int], list[float]] = {}
    for place, row in enumerate(result.rows):
        for one in row.played:
            found.setdefault((place, one.payload["applicable"]), []).append(one.payload["asked"])
    return [NumberRow(result.rows[p], n, values) for (p, n), values in sorted(found.items())]


def _numbers(row: NumberRow) -> Cell:
    mean, error = fmean(row.values), standard_error(row.values)
    sub = f"n = {len(row.values)}" if error is None else f"± {error:.1f} SE\nn = {len(row.values)}"
    return Cell(f"{mean:.1f}", (mean, error, len(row.values)), sub=sub)


class CurveRow(NamedTuple):
    """A point of a row's curve."""

    row: AskingRow
    at: int
    point: Sequence[float | None]


def curve_rows(result: AskingResult) -> list[CurveRow]:
    """Return the numbers of Figure 4."""
    return [
        CurveRow(row, x, point)
        for row in result.rows
        for x, point in enumerate(result.asking.curves([one.payload for one in row.played]))
    ]


def _curve_cell(row: CurveRow) -> Cell:
    mean, low, high = row.point
    if mean is None:
        return Cell(data=(None,) * 3, reason=NO_VALUE)
    sub = "" if low is None or high is None else f"{low:.1f} to {high:.1f}"
    return Cell(f"{mean:.1f}", (mean, low, high), sub=sub)


def _folded(result: AskingResult) -> Sequence[PagePart[AskingResult]]:
    """Return the details: the further tables of the paper, and Figures 3 and 5."""
    tables = [_paper_table(table) for table in result.asking.tables[1:]]
    number = Column("Questions", ("questions", "questions_se", "n"))
    curve = Column("Result", ("mean", "low", "high"), help="Mean, and ± 1 standard error")
    return [
        *tables,
        FigureOf("questions", "Questions by applicable preferences (as Figure 3)", draw_questions),
        TableOf(
            "questions", "Questions by applicable preferences", number_rows,
            lambda _: (
                text_of("Method", lambda row: row.row.name, "method"),
                ColumnOf(Column("Applicable", ("applicable",)),
                         lambda row: Cell(str(row.applicable), (row.applicable,))),
                ColumnOf(number, _numbers),
            ),
            link=lambda row: row.row.link, folded=True,
        ),
        TableOf(
            "curves", "Course of trajectories", curve_rows,
            lambda _: (
                text_of("Method", lambda row: row.row.name, "method"),
                ColumnOf(Column("Course %", ("course",)), lambda row: Cell(str(row.at), (row.at,))),
                ColumnOf(curve, _curve_cell),
            ),
            link=lambda row: row.row.link, folded=True, most=MOST_POINTS,
        ),
        FigureOf("example", "From question to preference (as Figure 5)", draw_example),
        TableOf(
            "example", "Questions of the example", lambda result: result.asked,
            lambda _: (
                text_of("Method", lambda row: row.method, "method"),
                ColumnOf(Column("Step", ("step",)), lambda row: Cell(str(row.step), (row.step,))),
                text_of("Question", lambda row: row.question, "question"),
                text_of("Answer", lambda row: row.answer, "answer"),
                text_of("Preferences told", lambda row: row.told or "none", "told"),
            ),
            link=lambda row: row.link,
        ),
    ]  # fmt: skip


# More rows make a page that nobody reads; the CSV has all.
MOST_POINTS = 101


def _first_rows(result: AskingResult) -> Sequence[TableRow]:
    return result.table_rows(result.asking.tables[0])


CONTENT = DeclaredPage(
    load=load,
    compute=lambda result: result,
    figure=FigureOf("curves", "Course of trajectories (as Figure 4)", draw_curves, table="curves"),
    table=TableOf(
        "table-1",
        lambda result: f"{result.asking.tables[0].title} (as {result.asking.tables[0].name})",
        _first_rows,
        paper_columns,
        link=lambda _: None,
    ),
    folded=_folded,
)
