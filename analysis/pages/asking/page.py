"""Which way of asking meets more of what people want? The paper's tables and Figures 3 to 5."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple, TypeVar

from analysis.figures.asking import BandPoint, ExampleMark, banded_lines, example_steps
from analysis.figures.layout.theme import Figure, Style
from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import by_id, counted
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.empty import no_runs
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.reports import addresses, figure_specs, run_marks
from analysis.reports import content as parts
from analysis.reports.content import Cell, text_cell
from benchmarks.core.means import standard_error
from benchmarks.core.ports.comparisons import Asking
from benchmarks.core.ports.labels import Measure
from benchmarks.core.ports.published import Published
from benchmarks.models import Trajectory

PURPOSE = "This page compares ways of asking a person about preferences."
# More rows make a page that nobody reads; the CSV has all.
MOST_POINTS = 101
SATISFIED = "satisfied"
NO_VALUE = "no trajectory has it"
Row = TypeVar("Row")
_PARTS = ("asked", "applicable", "progress", "preferences", "task")


class Played(NamedTuple):
    """A trajectory that ended, as far as this page needs it."""

    pk: int
    task: str
    metrics: Mapping[str, float | None]
    payload: Mapping[str, Any]


class AskingRow(NamedTuple):
    """What one run plays, with its trajectories; ``name`` is no other row's."""

    key: str
    name: str
    run: ChosenRun
    played: Sequence[Played]


class TableRow(NamedTuple):
    """A row of a paper's table: a run, or the published figures by metric."""

    name: str
    row: AskingRow | None
    published: Mapping[str, Published]


class NumberRow(NamedTuple):
    """The questions of a row's trajectories with so many applicable preferences."""

    row: AskingRow
    applicable: int
    questions: list[float]


class ExampleRow(NamedTuple):
    """A question in an example, with its answer and what became of the preferences it told."""

    method: str
    step: int
    question: str
    answer: str
    told: str
    trajectory: int


def content(page: Page) -> Content:
    """Compare runs by what they play, in the order of the system."""
    asking = page.system.comparisons.asking
    played = _played(page.runs) if asking is not None else {}
    if asking is None or not played:
        no_runs(page, PURPOSE)
        return
    order, measures = list(asking.titles), page.system.labels.measures
    runs = [(asking.key_of(run.settings), run) for run in page.runs if played.get(run.pk)]
    runs.sort(key=lambda pair: order.index(pair[0]))
    rows = [
        AskingRow(key, name, run, played[run.pk])
        for (key, run), name in zip(runs, _names(asking, runs), strict=True)
    ]
    hidden = page.selection.filters.published == "hide"
    published = {} if hidden else _published(asking, page.system.published)
    styles = figure_specs.styles([row.name for row in rows])
    urls = {row.name: page.url(runs=(row.run.pk,)) for row in rows}

    result = asking.result
    scored = [row for row in rows if _values(row, result)]
    scored.sort(key=lambda row: -fmean(_values(row, result)))
    reached = [
        f"{row.name} {fmean(_values(row, result)):.1f} % "
        f"({fmean([one.payload['asked'] for one in row.played]):.1f} questions)"
        for row in scored
    ]
    page.answer(f"{', '.join(reached)}.")
    courses = [(row, asking.curves([one.payload for one in row.played])) for row in rows]

    def draw_courses() -> Figure | None:
        bands = {
            row.name: [
                (x, mean, low, high)
                for x, (mean, low, high) in enumerate(points)
                if mean is not None
            ]
            for row, points in courses
            if points
        }
        title = measures[result].title
        return banded_lines(bands, "course of the trajectory (%)", title, styles=styles, urls=urls)

    page.figure(
        "curves",
        "Course of trajectories (as Figure 4)",
        draw_courses,
        subtitle="Preferences that are satisfied at the end and were by then, in percent of those "
        "that apply; bands are ± 1 standard error. A violated preference never counts early.",
    )
    first, *others = asking.tables
    of_paper = _paper_columns(asking, measures)
    page.table(
        "table-1",
        f"{first.title} (as {first.name})",
        _table_rows(asking, first.rows, rows, published),
        of_paper,
        link=lambda _: None,
        note="Means ± standard error over trajectories; seen and unseen personas by the fold left "
        "out. A ranking by satisfaction alone rewards adding everything: read it beside unasked "
        "food.",
    )
    page.onward("Which differences between methods are clear?", page.other("effects"))
    yield

    for table in others:
        page.table(
            table.name.lower().replace(" ", "-"),
            f"{table.title} (as {table.name} of the paper)",
            _table_rows(asking, table.rows, rows, published),
            of_paper,
            link=lambda _: None,
            note=NOTES.get(table.name, ""),
        )
    numbers = _numbers(rows)

    def draw_numbers() -> Figure | None:
        curves: dict[str, list[BandPoint]] = {row.name: [] for row in rows}
        for row, applicable, questions in numbers:
            mean, error = fmean(questions), standard_error(questions)
            ends = (None, None) if error is None else (mean - error, mean + error)
            curves[row.name].append((float(applicable), mean, *ends))
        return banded_lines(
            curves, "applicable preferences", "questions", marks=True, styles=styles, urls=urls
        )

    page.figure(
        "questions",
        "Questions by applicable preferences (as Figure 3)",
        draw_numbers,
        subtitle="Mean questions of trajectories with so many applicable preferences, of all "
        "methods; lines at points are ± 1 standard error, points without one rest on one "
        "trajectory or on equal numbers.",
    )
    page.table(
        "questions",
        "Questions by applicable preferences",
        numbers,
        [
            columns.text("Method", lambda row: row.row.name),
            _whole("Applicable", lambda row: row.applicable),
            Column(
                parts.Column("Questions", ("questions", "questions_se", "n")),
                lambda row: _mean_cell(row.questions),
            ),
        ],
        link=lambda row: Link(runs=(row.row.run.pk,)),
        folded=True,
    )
    page.table(
        "curves",
        "Course of trajectories",
        [(row, x, point) for row, points in courses for x, point in enumerate(points)],
        [
            columns.text("Method", lambda point: point[0].name),
            _whole("Course %", lambda point: point[1], "course"),
            Column(
                parts.Column(
                    "Result", ("mean", "low", "high"), help="Mean, and ± 1 standard error"
                ),
                lambda point: _course_cell(point[2]),
            ),
        ],
        link=lambda point: Link(runs=(point[0].run.pk,)),
        folded=True,
        most=MOST_POINTS,
    )
    _add_example(page, asking, rows, styles)
    page.how(
        "Values are means over trajectories that ended, with standard error s/√n. Seen and unseen "
        "personas are told apart by the setting “fold left out” of each run. Trajectories in which "
        "a role was handed over are left out.",
        "The course is f(t), the share of applicable preferences that are satisfied after step t "
        "and at the end, held from step to step and read at 0, 1, …, 100 % of each trajectory.",
    )
    page.methods(
        "We report preference satisfaction and questions per trajectory as means with standard "
        "errors, the course of satisfaction at 101 points, and questions by the number of "
        "applicable preferences."
    )


NOTES = {
    "Table 2": "Means ± standard error over trajectories. Each ablation is a model of its own; "
    "without an endpoint, scripts stand in with questions fixed beforehand."
}


def _values(row: AskingRow, metric: str) -> list[float]:
    return [value for one in row.played if (value := one.metrics.get(metric)) is not None]


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


def _played(runs: Sequence[ChosenRun]) -> dict[int, list[Played]]:
    rows = Trajectory.objects.filter(counted(by_id(runs)), status=Trajectory.Status.DONE).order_by(
        "pk"
    )
    by_run: dict[int, list[Played]] = {}
    for run, pk, task, metrics, changes, *values in rows.values_list(
        "run", "pk", "task__external_id", "metrics", "role_changes",
        *(f"payload__{part}" for part in _PARTS),
    ):  # fmt: skip
        # Where a role was handed over on the way, nobody's behaviour can be told.
        if not changes and values[2]:
            payload = dict(zip(_PARTS, values, strict=True))
            by_run.setdefault(run, []).append(Played(pk, task, metrics, payload))
    return by_run


def _published(asking: Asking, entries: Sequence[Published]) -> dict[str, dict[str, Published]]:
    """Return published figures by key and metric."""
    wanted = {name: pair for pair, name in asking.published.items()}
    by_agent: dict[str, dict[str, Published]] = {}
    for entry in entries:
        if entry.metric in wanted:
            metric, key = wanted[entry.metric]
            by_agent.setdefault(key, {})[metric] = entry
    return by_agent


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


def _questions(example: Mapping[str, Played]) -> list[ExampleRow]:
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
    return sorted(rows, key=lambda row: (order.index(row.method), row.step))


def _table_rows(
    asking: Asking,
    keys: Sequence[str],
    rows: Sequence[AskingRow],
    published: Mapping[str, Mapping[str, Published]],
) -> list[TableRow]:
    """Return the rows of a table: those of runs, if there are any, then the published ones."""
    own = [TableRow(row.name, row, {}) for key in keys for row in rows if row.key == key]
    if not own:
        return []
    return own + [
        TableRow(asking.titles[key].title, None, published[key]) for key in keys if key in published
    ]


def _paper_columns(asking: Asking, measures: Mapping[str, Measure]) -> list[Column[TableRow]]:
    """Give a row's metrics as mean ± standard error, as the paper prints them."""

    def name(row: TableRow) -> Cell:
        if row.row is not None:
            return text_cell(row.name, badges=run_marks.agent_badges(row.row.run))
        return text_cell(row.name, badges=(run_marks.PUBLISHED_BADGE,))

    def column(metric: str) -> Column[TableRow]:
        ends = tuple(f"{metric}{end}" for end in ("", "_se", "_n"))
        help = f"Mean ± standard error. {measures[metric].help}"
        return Column(
            parts.Column(measures[metric].title, ends, help=help),
            lambda row: (
                _mean_cell(_values(row.row, metric))
                if row.row is not None
                else _published_cell(row.published.get(metric))
            ),
            lambda row: Link(runs=(row.row.run.pk,)) if row.row is not None else None,
        )

    method = parts.Column("Method", ("method",), num=False)
    return [Column(method, name), *map(column, asking.metrics)]


def _published_cell(entry: Published | None) -> Cell:
    if entry is None:
        return Cell(data=(None,) * 3, reason="not published")
    return Cell(
        entry.printed, (entry.value, entry.error, entry.n), sub=entry.printed_error,
        tip=f"{entry.source}; {entry.note}", source=entry.source,
    )  # fmt: skip


def _mean_cell(values: Sequence[float]) -> Cell:
    """Return a mean ± standard error with its n."""
    if not values:
        return Cell(data=(None, None, 0), reason=NO_VALUE)
    mean, error = fmean(values), standard_error(values)
    n = f"n = {len(values)}"
    sub = n if error is None else f"± {error:.1f} SE\n{n}"
    return Cell(f"{mean:.1f}", (mean, error, len(values)), sub=sub)


def _course_cell(point: Sequence[float | None]) -> Cell:
    mean, low, high = point
    if mean is None:
        return Cell(data=(None,) * 3, reason=NO_VALUE)
    sub = "" if low is None or high is None else f"{low:.1f} to {high:.1f}"
    return Cell(f"{mean:.1f}", (mean, low, high), sub=sub)


def _whole(label: str, value: Callable[[Row], int], part: str = "") -> Column[Row]:
    head = parts.Column(label, (part or label.lower(),))
    return Column(head, lambda row: Cell(str(value(row)), (value(row),)))


def _numbers(rows: Sequence[AskingRow]) -> list[NumberRow]:
    """Return the questions of Figure 3, by row and number of applicable preferences."""
    numbers = []
    for row in rows:
        asked: dict[int, list[float]] = {}
        for one in row.played:
            asked.setdefault(one.payload["applicable"], []).append(one.payload["asked"])
        numbers += [NumberRow(row, number, asked[number]) for number in sorted(asked)]
    return numbers


def _add_example(
    page: Page, asking: Asking, rows: Sequence[AskingRow], styles: Mapping[str, Style]
) -> None:
    """Add Figure 5: on one task, where each row was told preferences and where it met them."""
    example = _example(asking, rows)
    questions = _questions(example)

    def draw() -> Figure | None:
        if not example:
            return None
        steps = {}
        for name, one in example.items():
            met = [
                ExampleMark(
                    p["text"], p["disclosed"], p["step"] if p["value"] == SATISFIED else None
                )
                for p in one.payload["preferences"]
                if p["disclosed"] is not None or p["value"] == SATISFIED
            ]
            vain = [
                ExampleMark(row.question, row.step, vain=True)
                for row in questions
                if row.method == name and not row.told
            ]
            last = len(one.payload["progress"]) - 1
            steps[name] = (last, [*met, *vain], _trajectory(one.pk).url)
        return example_steps(steps, styles)

    page.figure(
        "example",
        "From question to preference (as Figure 5)",
        draw,
        subtitle="One task that these runs share. A ring is the step at which an answer told a "
        "preference, a diamond the step at which it was met; a thick line leads from one to the "
        "other. A cross is a question that told nothing new, and a diamond without a ring was met "
        "without being told.",
    )
    page.table(
        "example",
        "Questions of the example",
        questions,
        [
            columns.text("Method", lambda row: row.method),
            _whole("Step", lambda row: row.step),
            columns.text("Question", lambda row: row.question),
            columns.text("Answer", lambda row: row.answer),
            columns.text("Preferences told", lambda row: row.told or "none", "told"),
        ],
        link=lambda row: _trajectory(row.trajectory, row.step),
        note="The value behind each preference is the one at the end of the trajectory.",
    )


def _trajectory(pk: int, turn: int = 0) -> Link:
    """Return the link to a trajectory, or to a turn of it."""
    here = addresses.address("analysis:trajectory", trajectory_id=pk)
    return Link(url=f"{here}#turn-{turn}" if turn else here)
