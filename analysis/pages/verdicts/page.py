"""People's verdicts on recorded answers beside what the judges made of the same plans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis.figures.forest import ForestRows, forest
from analysis.figures.layout.theme import ACCENT, NEUTRAL, Figure
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.outcomes import by_id, counted
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
from analysis.reports import system_facts
from analysis.reports.content import exclusions, how_interval
from analysis.stats.descriptive.trials import measure_mean
from analysis.stats.results import Estimate
from benchmarks.core.plans import normal_words
from benchmarks.core.ports.labels import plain
from benchmarks.core.registry import EXTERNAL, find_system
from benchmarks.core.system import Dimension
from benchmarks.models import Task, Trajectory, Turn

if TYPE_CHECKING:
    from pandas import DataFrame


COLUMNS = ("run", "label", "trajectory", "task", "verdict", "valid")
SEVERAL = "several"
TITLES: Mapping[str, str] = {
    SEVERAL: "Several verdicts that differ",
    "": "No verdict recorded",
}
GROUPS = (("All called correct", "correct"), ("All called wrong", "wrong"))
MOST_IDS = 200
UNSCORED = "not every judge scored it"
UNKNOWN = "the judges did not decide on validity"


def verdict_frame(runs: Sequence[ChosenRun]) -> "DataFrame":
    """Return one row per finished trajectory whose last plan is a recorded answer: `COLUMNS`.

    ``verdict`` is what people said of that answer, empty where nobody said anything and `SEVERAL`
    where they differed (the same words may be recorded more than once). ``valid`` is what the
    constraint judges decided on that plan, missing where that is unknown.
    """
    import pandas as pd

    labels = {run.pk: run.label for run in runs}
    turns = Turn.objects.filter(
        counted(by_id(runs), "trajectory__run", "trajectory__task"),
        trajectory__status=Trajectory.Status.DONE,
        is_final=True,
    ).order_by("trajectory")
    tasks = Task.objects.filter(trajectories__run__in=list(labels)).distinct()
    pools = {pk: _verdicts(payload) for pk, payload in tasks.values_list("pk", "payload")}
    records = []
    for run, trajectory, task, text, valid in turns.values_list(
        "trajectory__run", "trajectory", "trajectory__task", "text", "payload__valid"
    ):
        verdict = pools[task].get(normal_words(text))
        if verdict is not None:
            records.append((run, labels[run], trajectory, task, verdict, valid))
    frame = pd.DataFrame.from_records(records, columns=list(COLUMNS))
    return frame.astype({"valid": "float64"})


def _verdicts(payload: Mapping[str, Any]) -> dict[str, str]:
    """Return the verdict on each answer of a task's pool, by its words; empty where nobody gave
    any.
    """
    found: dict[str, set[str]] = {}
    for row in payload.get("plans", ()):
        given = row.get("verdicts") or [row.get("verdict", "")]
        words = normal_words("\n".join(row["steps"]))
        found.setdefault(words, set()).update(verdict for verdict in given if verdict)
    if not any(found.values()):
        return {}
    return {
        words: SEVERAL if len(given) > 1 else next(iter(given), "")
        for words, given in found.items()
    }


@dataclass(frozen=True)
class VerdictData:
    """Recorded answers with a person's verdict, validity and the judges' scores."""

    frame: "DataFrame"
    dimensions: tuple[Dimension, ...]
    labels: Mapping[str, str]


@dataclass(frozen=True)
class VerdictGroup:
    """The final plans that are recorded answers with one verdict, or one kind of verdicts."""

    title: str
    trajectories: tuple[int, ...]
    valid: Estimate
    means: Mapping[str, Estimate]

    def link(self, dimension: str = "") -> Link:
        """Return the link to the group's trajectories; without their ids if there are too many."""
        ids = ",".join(map(str, self.trajectories))
        more = {"ids": ids} if len(self.trajectories) <= MOST_IDS else {}
        return Link(dimension=dimension, more=more)


@dataclass(frozen=True)
class VerdictResult:
    """The judges' scores of the answers, by people's verdict."""

    data: VerdictData
    groups: tuple[VerdictGroup, ...]

    @property
    def plans(self) -> int:
        """The number of final plans that are recorded answers."""
        return len(self.data.frame)

    @property
    def without(self) -> int:
        """The number of these answers that nobody judged."""
        return int((self.data.frame["verdict"] == "").sum())

    @property
    def called_correct(self) -> Estimate | None:
        return self._valid(0)

    @property
    def called_wrong(self) -> Estimate | None:
        return self._valid(1)

    @property
    def comparable(self) -> bool:
        """Return whether judges decided on plans of both kinds."""
        both = (self.called_correct, self.called_wrong)
        return all(one is not None and one.value is not None for one in both)

    @property
    def intervals(self) -> str:
        return how_interval(self._every)

    @property
    def left_out(self) -> Mapping[str, int]:
        return exclusions(self._every)

    @property
    def _every(self) -> list[Estimate]:
        return [one for group in self.groups for one in (group.valid, *group.means.values())]

    def _valid(self, kind: int) -> Estimate | None:
        title = GROUPS[kind][0]
        return next((group.valid for group in self.groups if group.title == title), None)


def load(selection: Selection) -> VerdictData | NothingToShow:
    """Load the recorded answers that people judged, with the judges' scores."""
    if not selection.runs or selection.system == EXTERNAL:
        return why_no_runs(selection)
    frame = verdict_frame(selection.runs)
    if frame.empty:
        return NothingToShow("no verdicts")
    dimensions = system_facts.dimensions_of(selection.system)
    keys = [dimension.key for dimension in dimensions]
    scores = turn_scores(selection.runs, keys, final=True)
    wide = scores.pivot_table(
        index="trajectory", columns="dimension", values="score", dropna=False
    ).reindex(columns=keys)
    labels = find_system(selection.system).labels.answer_verdicts
    return VerdictData(frame.join(wide, on="trajectory"), dimensions, labels)


def compute(data: VerdictData) -> VerdictResult:
    """Average validity and scores by verdict."""
    groups = [
        VerdictGroup(
            title,
            tuple(rows["trajectory"]),
            _mean(rows, "valid", UNKNOWN),
            {one.key: _mean(rows, one.key, UNSCORED) for one in data.dimensions},
        )
        for title, rows in _groups(data.frame, data.labels)
    ]
    return VerdictResult(data, tuple(groups))


def _groups(frame: "DataFrame", labels: Mapping[str, str]) -> list[tuple[str, "DataFrame"]]:
    """Return the rows by verdict, best first, and before them all correct and all wrong ones."""
    titles = {**{code: words.capitalize() for code, words in labels.items()}, **TITLES}
    found = set(frame["verdict"])
    ordered = [verdict for verdict in labels if verdict in found]
    ordered += sorted(verdict for verdict in found if verdict and verdict not in labels)
    ordered += [""] if "" in found else []
    groups = []
    for title, prefix in GROUPS:
        rows = frame[frame["verdict"].str.startswith(prefix)]
        if len(rows):
            groups.append((title, rows))
    groups += [
        (titles.get(verdict) or plain(verdict), frame[frame["verdict"] == verdict])
        for verdict in ordered
    ]
    return groups


def _mean(rows: "DataFrame", column: str, reason: str) -> Estimate:
    known = rows[rows[column].notna()]
    gone = len(rows) - len(known)
    excluded = {reason: gone} if gone else {}
    if known.empty:
        return Estimate.without_value(reason, excluded=excluded)
    return measure_mean(
        known[column].to_numpy(),
        known["task"].tolist(),
        rate=column == "valid",
        excluded=excluded,
        scale=(0, 1) if column == "valid" else system_facts.RUBRIC_SCALE,
    )


def verdict_columns(result: VerdictResult) -> Sequence[ColumnOf[VerdictGroup]]:
    """Give validity and every dimension a column."""
    return (
        text_of("People said", lambda group: group.title),
        count_of("Final plans", lambda group: len(group.trajectories)),
        estimate_of("Valid, say the judges", lambda group: group.valid, "share", show_n=True),
        *(_dimension_column(dimension) for dimension in result.data.dimensions),
    )


def _dimension_column(dimension: Dimension) -> ColumnOf[VerdictGroup]:
    return estimate_of(
        dimension.title,
        lambda group: group.means[dimension.key],
        "points",
        help=dimension.definition,
        show_n=True,
        link=lambda group: group.link(dimension.key),
    )


def draw(result: VerdictResult, url: UrlOf) -> Figure:
    """Draw the share of plans that the judges find valid, by verdict; both kinds come first."""
    kinds = {title for title, _ in GROUPS}

    def rows(name: str, *, is_kind: bool, look: tuple[str, str]) -> ForestRows:
        groups = [group for group in result.groups if (group.title in kinds) == is_kind]
        marks = [(f"{one.title} ({len(one.trajectories):,})", one.valid) for one in groups]
        return ForestRows(name, marks, [url(one.link()) for one in groups], look)

    return forest(
        [
            rows("all called correct or wrong", is_kind=True, look=(ACCENT, "circle")),
            rows("single verdicts", is_kind=False, look=(NEUTRAL, "diamond-open")),
        ],
        title="share that the judges find valid",
        unit="share",
    )


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    figure=FigureOf(
        "valid",
        "Recorded answers that the judges find valid, by people’s verdict",
        draw,
        table="verdicts",
    ),
    table=TableOf(
        "verdicts",
        "People's verdicts and judges' scores",
        rows=lambda result: result.groups,
        columns=verdict_columns,
        link=lambda group: group.link(),
    ),
)
