"""Do judges see what people saw in recorded answers? Verdicts of people beside judges' scores."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from analysis.figures.forest import ForestRows, forest
from analysis.figures.layout.theme import ACCENT, NEUTRAL, Figure
from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import by_id, counted
from analysis.frames.scores import turn_scores
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.empty import no_runs
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.reports import formatting, system_facts
from analysis.reports.content import exclusions, how_interval
from analysis.reports.formatting import plural, stated
from analysis.stats.descriptive.trials import measure_mean
from analysis.stats.results import Estimate
from benchmarks.core.plans import normal_words
from benchmarks.core.ports.labels import plain
from benchmarks.core.registry import EXTERNAL
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


PURPOSE = "This page holds what people said of recorded answers beside what the judges say of them."


class VerdictGroup(NamedTuple):
    """The final plans that are recorded answers with one verdict, or one kind of verdicts."""

    title: str
    trajectories: tuple[int, ...]
    valid: Estimate
    means: Mapping[str, Estimate]


def content(page: Page) -> Content:
    """Compare validity and scores between answers that people called correct and wrong."""
    if not page.runs or page.selection.system == EXTERNAL:
        no_runs(page, PURPOSE)
        return
    frame = verdict_frame(page.runs)
    if frame.empty:
        page.nothing(
            "No verdicts here",
            f"{PURPOSE} No run chosen here ended with an answer that a person judged; datasets "
            "made from MacGyver problems and their recorded answers have such verdicts.",
        )
        return
    dimensions = system_facts.dimensions_of(page.selection.system)
    keys = [dimension.key for dimension in dimensions]
    scores = turn_scores(page.runs, keys, final=True)
    wide = scores.pivot_table(
        index="trajectory", columns="dimension", values="score", dropna=False
    ).reindex(columns=keys)
    groups = [
        VerdictGroup(
            title,
            tuple(rows["trajectory"]),
            _mean(rows, "valid", UNKNOWN),
            {key: _mean(rows, key, UNSCORED) for key in keys},
        )
        for title, rows in _groups(
            frame.join(wide, on="trajectory"), page.system.labels.answer_verdicts
        )
    ]
    valid = {group.title: group.valid for group in groups}
    correct, wrong = (valid.get(title) for title, _ in GROUPS)
    plans = plural(
        len(frame), "final plan is a recorded answer", "final plans are recorded answers"
    )
    # Judges have to have decided on plans of both kinds.
    if correct is None or wrong is None or correct.value is None or wrong.value is None:
        page.answer(
            f"{plans}, but whether judges side with people cannot be said: it takes valid and "
            "invalid plans among those called correct and those called wrong."
        )
    else:
        page.answer(
            f"{plans}: of those that people called correct the judges find "
            f"{stated(correct, 'share')} valid, of those called wrong {stated(wrong, 'share')}."
        )
    page.figure(
        "valid",
        "Recorded answers that the judges find valid, by people’s verdict",
        lambda: _draw(page, groups),
        subtitle="With 95 % intervals by task, and the number of final plans. Marks link to the "
        "trajectories.",
        table="verdicts",
    )
    page.table(
        "verdicts",
        "People's verdicts and judges' scores",
        groups,
        [
            columns.text("People said", lambda group: group.title),
            columns.count("Final plans", lambda group: len(group.trajectories)),
            columns.estimate(
                "Valid, say the judges", lambda group: group.valid, "share", show_n=True
            ),
            *map(_dimension_column, dimensions),
        ],
        link=_link,
        note="Final plans by the verdict on the recorded answer they are; 95 % intervals.",
    )
    yield
    without = int((frame["verdict"] == "").sum())
    estimates = [one for group in groups for one in (group.valid, *group.means.values())]
    left_out = exclusions(estimates)
    none = f"; {without:,} of these answers have none" if without else ""
    page.how(
        "A final plan counts under the verdict that a person gave to the recorded answer with the "
        f"same steps{none}.",
        "Valid: the constraint judges found no hidden constraint violated. That is another "
        "question than whether the plan solves the problem, so the two need not agree.",
        f"Means with 95 % intervals by task: {how_interval(estimates) or 'none'}.",
        formatting.left_out_sentence(left_out),
    )
    page.methods(
        "Judges' verdicts and mean scores are compared between recorded answers by the verdict "
        "that a person had given to the answer."
    )


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
    by_words: dict[str, set[str]] = {}
    for row in payload.get("plans", ()):
        given = row.get("verdicts") or [row.get("verdict", "")]
        words = normal_words("\n".join(row["steps"]))
        by_words.setdefault(words, set()).update(verdict for verdict in given if verdict)
    if not any(by_words.values()):
        return {}
    return {
        words: SEVERAL if len(given) > 1 else next(iter(given), "")
        for words, given in by_words.items()
    }


def _groups(frame: "DataFrame", labels: Mapping[str, str]) -> list[tuple[str, "DataFrame"]]:
    """Return the rows by verdict, best first, and before them all correct and all wrong ones."""
    titles = {**{code: words.capitalize() for code, words in labels.items()}, **TITLES}
    given = set(frame["verdict"])
    ordered = [verdict for verdict in labels if verdict in given]
    ordered += sorted(verdict for verdict in given if verdict and verdict not in labels)
    ordered += [""] if "" in given else []
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


def _link(group: VerdictGroup, dimension: str = "") -> Link:
    """Return the link to the group's trajectories; without their ids if there are too many."""
    ids = ",".join(map(str, group.trajectories))
    more = {"ids": ids} if len(group.trajectories) <= MOST_IDS else {}
    return Link(dimension=dimension, more=more)


def _dimension_column(dimension: Dimension) -> Column[VerdictGroup]:
    return columns.estimate(
        dimension.title,
        lambda group: group.means[dimension.key],
        "points",
        help=dimension.definition,
        show_n=True,
        link=lambda group: _link(group, dimension.key),
    )


def _draw(page: Page, every: Sequence[VerdictGroup]) -> Figure:
    """Draw the share of plans that the judges find valid, by verdict; both kinds come first."""
    kinds = {title for title, _ in GROUPS}

    def rows(name: str, *, is_kind: bool, look: tuple[str, str]) -> ForestRows:
        groups = [group for group in every if (group.title in kinds) == is_kind]
        marks = [(f"{group.title} ({len(group.trajectories):,})", group.valid) for group in groups]
        return ForestRows(name, marks, [page.links.url(_link(group)) for group in groups], look)

    return forest(
        [
            rows("all called correct or wrong", is_kind=True, look=(ACCENT, "circle")),
            rows("single verdicts", is_kind=False, look=(NEUTRAL, "diamond-open")),
        ],
        title="share that the judges find valid",
        unit="share",
    )
