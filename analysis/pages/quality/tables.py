"""The columns of the page on quality."""

from collections.abc import Sequence

from analysis.pages.declaration import ColumnOf, count_of, estimate_of, text_of
from analysis.pages.quality.rows import (
    QualityResult,
    QuestionAgreement,
    RaterSigns,
    RaterWarning,
)
from analysis.reports.content import (
    Cell,
    count_cell,
    number_cell,
    number_column,
    text_cell,
    text_column,
    words_column,
)
from analysis.stats.rater_agreement.reliability import SetAgreement
from analysis.stats.results import Estimate

NO_SCORES = Estimate.without_value("the study asks for no scores")
NO_VALUES = Estimate.without_value("the study asks for marks alone")
NO_ORDER = Estimate.without_value("only scores have points to be apart")
NOT_SETS = Estimate.without_value("only marks are sets")
NO_CHANCE = Estimate.without_value("sets of marks are not corrected for chance")
NO_TIME = "no active time is known of these items"
UNIT_WORDS = {"points": "scores", "choice": "choices", "marks": "marks"}


def warning_columns(_: QualityResult) -> Sequence[ColumnOf[RaterWarning]]:
    """Give what crossed a threshold, in plain words."""
    return (
        ColumnOf(text_column("Annotator"), lambda row: row.rater.cell),
        text_of("Sign", lambda row: row.warning.sign.value.capitalize()),
        ColumnOf(words_column("In words", "words"), lambda row: text_cell(row.warning.text)),
    )


def rater_columns(_: QualityResult) -> Sequence[ColumnOf[RaterSigns]]:
    """Give every sign of every annotator, crossed or not."""
    return (
        ColumnOf(text_column("Annotator"), lambda row: row.cell),
        count_of("Items", lambda row: row.items),
        estimate_of(
            "Gold",
            lambda row: row.gold,
            "share",
            part="gold accuracy",
            help="Right answers to gold items",
            show_n=True,
        ),
        estimate_of(
            "Drift",
            _drift,
            "points",
            help="Last third minus first, against the same items' reference",
            signed=True,
            show_n=True,
        ),
        ColumnOf(number_column("Drift p", help="Permutation test, not yet corrected"), _drift_p),
        ColumnOf(text_column("Against", help="What drift is measured against"), _reference),
        estimate_of(
            "Equal answers",
            lambda row: row.straight.equal if row.straight else NO_VALUES,
            "share",
            help="Items whose answers are all the same",
            show_n=True,
        ),
        ColumnOf(
            number_column("Longest run", help="Items in a row with identical answers"),
            _longest_run,
        ),
        estimate_of(
            "Spread",
            lambda row: row.straight.spread if row.straight else NO_VALUES,
            "points",
            help="Mean standard deviation within an item, in points",
        ),
        estimate_of(
            "Fast items",
            lambda row: row.speed.fast,
            "share",
            help="Done in under a third of the study's median time",
            show_n=True,
        ),
    )


def _drift(row: RaterSigns) -> Estimate:
    return row.drift.difference if row.drift else NO_SCORES


def _drift_p(row: RaterSigns) -> Cell:
    p = row.drift.p_value if row.drift else None
    return number_cell(p, "amount", reason=_drift(row).undefined)


def _reference(row: RaterSigns) -> Cell:
    if row.drift and row.drift.reference:
        return text_cell(row.drift.reference)
    return Cell(data=("",), reason=_drift(row).undefined)


def _longest_run(row: RaterSigns) -> Cell:
    longest = row.straight.longest_run if row.straight else NO_VALUES
    length = None if longest.value is None else int(longest.value)
    return count_cell(length, reason=longest.undefined)


def time_columns(_: QualityResult) -> Sequence[ColumnOf[RaterSigns]]:
    """Give where the active times lie, in seconds."""
    return (
        ColumnOf(text_column("Annotator"), lambda row: row.cell),
        count_of("Items", lambda row: row.times.n),
        ColumnOf(
            number_column("Lower quartile"),
            lambda row: number_cell(row.times.low, "number", reason=NO_TIME),
        ),
        ColumnOf(
            number_column("Median"),
            lambda row: number_cell(row.times.median, "number", reason=NO_TIME),
        ),
        ColumnOf(
            number_column("Upper quartile"),
            lambda row: number_cell(row.times.high, "number", reason=NO_TIME),
        ),
        estimate_of(
            "Pace",
            lambda row: row.speed.z,
            "points",
            help="Robust standard deviations from all times; − is faster",
            signed=True,
        ),
        count_of("Not known", lambda row: row.times.missing),
    )


def agreement_columns(_: QualityResult) -> Sequence[ColumnOf[QuestionAgreement]]:
    """Give agreement between people so far, question by question."""
    return (
        text_of(
            "Question",
            lambda row: f"{row.question.number} {row.question.title}",
            sub=lambda row: UNIT_WORDS[row.question.scale.kind],
        ),
        count_of(
            "Answered twice",
            lambda row: row.found.items,
            help="Items, or parts, with two answers or more",
        ),
        count_of(
            "Once",
            lambda row: row.found.single,
            help="Items, or parts, with one answer: not compared",
        ),
        estimate_of(
            "Alpha", _alpha, "points", help="Krippendorff's alpha: 1 is perfect, 0 is chance"
        ),
        estimate_of(
            "Equal",
            lambda row: row.found.equal,
            "share",
            help="Share of pairs of answers that are equal",
        ),
        estimate_of(
            "Within one", _within_one, "share", help="Share of pairs at most one point apart"
        ),
        estimate_of("Jaccard", _jaccard, "points", help="Mean over pairs of sets of marks"),
    )


def _alpha(row: QuestionAgreement) -> Estimate:
    return NO_CHANCE if isinstance(row.found, SetAgreement) else row.found.alpha


def _within_one(row: QuestionAgreement) -> Estimate:
    found = row.found
    if isinstance(found, SetAgreement) or found.metric != "ordinal":
        return NO_ORDER
    return found.within_one


def _jaccard(row: QuestionAgreement) -> Estimate:
    return row.found.jaccard if isinstance(row.found, SetAgreement) else NOT_SETS
