"""Whether seeing the judges' marks moved people's scores, where a study withheld them at random."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from analysis.frames.ratings import marks_seen
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.page import Page
from analysis.pages.decline.turn_slopes import p_cell
from analysis.reports import system_facts
from analysis.reports.content import Cell, number_column
from analysis.reports.formatting import Unit, difference, p_words, plural, stated_change
from analysis.stats.annotators.influence import ArmComparison, compare_arms
from analysis.stats.columns import Floats
from analysis.stats.comparison.detectable import smallest_difference
from analysis.stats.comparison.multiplicity import adjust_family
from analysis.stats.results import Estimate
from annotation.models import Study
from annotation.questionnaires import Question

if TYPE_CHECKING:
    from pandas import DataFrame

ALL = "All questions"
# Of the test that the sentence reports.
LEVEL = 0.05
NOT_JUDGED = Estimate.without_value("judges are not asked this")


class Titled(Protocol):
    """A row of a comparison of both arms."""

    @property
    def title(self) -> str: ...


Row = TypeVar("Row", bound=Titled)


class Influence(NamedTuple):
    """Both arms on one question, or on all that judges are asked.

    ``score`` compares people's scores, ``distance`` their distance from the judges' mean and
    ``equal`` how often they equal it, rounded; both None where judges are not asked.
    """

    title: str
    score: ArmComparison
    distance: ArmComparison | None
    equal: ArmComparison | None


def show_influence(
    page: Page,
    study: Study,
    frame: "DataFrame",
    questions: Sequence[Question],
    judged: "DataFrame",
) -> None:
    """Add the comparison of both arms, where the study withheld marks at random.

    ``frame`` has people's answers (`rating_frame`), ``judged`` the judges' scores by seat.
    """
    arms = marks_seen(study)
    if arms is None:
        return
    rows = influences(frame, questions, judged, arms)
    if not rows:
        page.info("Marks were withheld at random, but no answer fits the filters.")
        return
    main, *single = rows
    adjusted = adjusted_tests(
        single,
        {"score": lambda row: row.score, "distance": lambda row: row.distance},
        "scores and distances of every single question",
    )
    page.info(_sentence(main))

    def of(arm: ArmComparison | None, side: str) -> Estimate:
        return NOT_JUDGED if arm is None else getattr(arm, side)

    page.table(
        "influence",
        "Scores with and without the judges’ marks",
        rows,
        arm_columns("Question", lambda row: row.score, "points", "score", adjusted),
        link=lambda _: None,
        note=change_note(adjusted, "questions"),
    )
    page.table(
        "influence-judges",
        "Agreement with the judges with and without their marks",
        [row for row in rows if row.distance is not None],
        [
            columns.text("Question", lambda row: row.title),
            columns.estimate("Equal, seen", lambda row: of(row.equal, "seen"), "share"),
            columns.estimate("Equal, withheld", lambda row: of(row.equal, "withheld"), "share"),
            columns.estimate("Distance, seen", lambda row: of(row.distance, "seen"), "points"),
            columns.estimate(
                "Distance, withheld", lambda row: of(row.distance, "withheld"), "points"
            ),
            columns.change("Change", lambda row: of(row.distance, "difference"), "points"),
            p_column(lambda row: row.distance, "distance", adjusted),
        ],
        link=lambda _: None,
        note="Distance: |person − judges’ mean|. Below 0, who saw the marks is nearer to the "
        "judges. Equal: the judges’ mean, rounded half up, is the person’s score.",
    )
    page.how(how_withheld(study, "question"))
    page.methods(
        "Judges’ marks were withheld from half of each annotator’s items, drawn at random; scores, "
        "and their distance from the judges’ mean, were compared within annotators with errors "
        "clustered by task."
    )


def adjusted_tests(
    rows: Sequence[Row],
    parts: Mapping[str, Callable[[Row], ArmComparison | None]],
    statement: str,
) -> dict[str, float | None]:
    """Return Holm's p of each part of the rows, by title and part, as `p_column` reads them."""
    alone = {f"{row.title} {part}": arm.p for row in rows for part, of in parts.items()
             if (arm := of(row)) is not None}  # fmt: skip
    return {test.name: test.adjusted for test in adjust_family(alone, statement=statement).tests}


def change_note(adjusted: Mapping[str, float | None], single: str) -> str:
    """Return the note under the first of two tables whose tests are corrected together."""
    size = sum(p is not None for p in adjusted.values())
    return (
        "Change: seen minus withheld within each annotator, 95 % intervals by task. Holm over "
        f"{plural(size, 'test')} of single {single}, here and in the next table."
    )


def arm_columns(
    label: str,
    arm: Callable[[Row], ArmComparison],
    unit: Unit,
    part: str,
    adjusted: Mapping[str, float | None],
) -> list[Column[Row]]:
    """Return the columns of a comparison of both arms, with p as `p_column` gives it."""
    return [
        columns.text(label, lambda row: row.title),
        columns.estimate("Seen", lambda row: arm(row).seen, unit, show_n=True),
        columns.estimate("Withheld", lambda row: arm(row).withheld, unit, show_n=True),
        columns.change("Change", lambda row: arm(row).difference, unit),
        p_column(arm, part, adjusted),
    ]


def p_column(
    arm: Callable[[Row], ArmComparison | None], part: str, adjusted: Mapping[str, float | None]
) -> Column[Row]:
    """Return p: as ``adjusted`` has it under the row's title and ``part``, else alone."""

    def cell(row: Row) -> Cell:
        compared = arm(row)
        alone = compared.p if compared is not None else None
        return p_cell(adjusted.get(f"{row.title} {part}", alone))

    return Column(number_column("p", help="The first row: alone; the others: Holm"), cell)


def how_withheld(study: Study, strata: str) -> str:
    """Say how marks were withheld, and within what the arms are compared."""
    return (
        "Marks were withheld at random by annotator and item, in blocks of four of each "
        f"annotator’s list (two with, two without; seed {study.seed}). Differences are within "
        f"annotator and {strata}, with CR2 errors by task and their t test; the answer is the one "
        "test of the first row."
    )


def influences(
    frame: "DataFrame",
    questions: Sequence[Question],
    judged: "DataFrame",
    arms: Mapping[tuple[int, int], bool],
) -> list[Influence]:
    """Return both arms, first of all questions that judges are asked (else of all), then of each.

    Answers to items whose arm is not known are left out.
    """
    places = list(zip(frame["trajectory"].tolist(), frame["annotator"].tolist(), strict=True))
    frame = frame[[place in arms for place in places]]
    if frame.empty:
        return []
    seen = np.array([arms[place] for place in places if place in arms])
    means = _judges_means(frame, judged)
    is_judged = (frame["dimension"] != "").to_numpy()
    whole = is_judged if is_judged.any() else ~is_judged
    rows = [_compare(ALL, frame, seen, means, whole, bool(is_judged.any()))]
    for question in questions:
        own = (frame["question"] == question.key).to_numpy()
        if own.any():
            title = f"{question.number} {question.title}"
            rows.append(_compare(title, frame, seen, means, own, bool(question.dimension)))
    return rows


def _judges_means(frame: "DataFrame", judged: "DataFrame") -> Floats:
    """Return the judges' mean beside each answer; NaN unless every judge scored it."""
    if judged.empty:
        return np.full(len(frame), np.nan)
    index = [str(name) for name in judged.index.names]
    means = judged.mean(axis=1, skipna=False)
    found: Floats = means.reindex(frame.set_index(index).index).to_numpy(dtype="float64")
    return found


def _compare(
    title: str, frame: "DataFrame", seen: Any, means: Floats, own: Any, is_judged: bool
) -> Influence:
    some, arm, mean = frame[own], seen[own], means[own]
    human = some["human"].to_numpy(dtype="float64")
    strata = list(zip(some["annotator"].tolist(), some["question"].tolist(), strict=True))
    tasks = some["task"].tolist()
    low, high = system_facts.RUBRIC_SCALE
    score = compare_arms(human, arm, strata, tasks, scale=(low, high))
    if not is_judged:
        return Influence(title, score, None, None)
    apart = np.abs(human - mean)
    equal = np.where(np.isnan(mean), np.nan, np.floor(mean + 0.5) == human)
    return Influence(
        title,
        score,
        compare_arms(apart, arm, strata, tasks, scale=(0, high - low)),
        compare_arms(equal, arm, strata, tasks, scale=(0, 1)),
    )


def _sentence(main: Influence) -> str:
    """Say whether who saw the marks scored nearer to the judges; without judges, otherwise."""
    arm, what = main.distance, "the distance of people’s scores from the judges’ mean"
    if arm is None or arm.difference.value is None:
        arm, what = main.score, "people’s scores"
    return influence_words(arm, what, "points")


def influence_words(arm: ArmComparison, what: str, unit: Unit) -> str:
    """Say whether seeing the marks changed ``what``, with the test and what it could have shown."""
    change, p = arm.difference, arm.p
    if change.value is None or p is None:
        why = change.undefined or change.no_interval
        return f"Marks were withheld at random; whether they moved {what} is not known ({why})."
    points = " points" * (unit == "points")
    by = f"{stated_change(change, unit)}{points}"
    words = f"Seeing the judges’ marks changes {what} by {by} ({p_words(p)})"
    if p <= LEVEL:
        return f"{words}: a clear influence."
    least = smallest_difference(change)
    assert least is not None  # it has an interval
    power = f"{difference(least, unit)}{points}"
    return f"{words}: no clear influence; {power} would show in four of five such studies."
