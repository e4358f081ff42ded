"""The tables of the page about the quality of a study's answers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.frames.submitted_answers import Rater
from analysis.reports import common
from analysis.reports.content import (
    Badge,
    Cell,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_cell,
    number_column,
    text_cell,
    text_column,
    words_column,
)
from analysis.reports.formatting import plural
from analysis.stats.rater_agreement.reliability import SetAgreement
from analysis.stats.results import Estimate
from annotation.models import Study

if TYPE_CHECKING:
    from analysis.pages.quality.page import Agreed, Quality

SIMULATED = Badge("simulated", "aside", "A script, not a person.")
NO_SCORES = Estimate.without_value("the study asks for no scores")
NO_VALUES = Estimate.without_value("the study asks for marks alone")
NO_ORDER = Estimate.without_value("only scores have points to be apart")
NOT_SETS = Estimate.without_value("only marks are sets")
NO_CHANCE = Estimate.without_value("sets of marks are not corrected for chance")
NOT_TWICE = "No item has two answers yet, so how far people agree is not known."
ALPHA_NOTE = (
    "Where nearly all answers are the same alpha is low however often people agree: read it beside "
    "the shares."
)
UNIT_WORDS = {"points": "scores", "choice": "choices", "marks": "marks"}


def _rater_cell(rater: Rater, study: Study) -> Cell:
    return text_cell(
        rater.name,
        url=common.address("annotation:annotator", pk=study.pk, number=rater.number),
        badges=(SIMULATED,) if rater.simulated else (),
    )


def warning_table(quality: "Quality", raters: Sequence[Rater], study: Study) -> Table:
    """What crossed a threshold, in plain words."""
    by_user = {rater.user: rater for rater in raters}
    order = {user: place for place, user in enumerate(by_user)}
    found = sorted(quality.warnings, key=lambda warning: order[warning.rater])  # type: ignore[index]
    return Table(
        "warnings",
        f"What to look at ({plural(len(found), 'sign')})",
        (text_column("Annotator"), text_column("Sign"), words_column("In words", "words")),
        tuple(
            (
                _rater_cell(by_user[warning.rater], study),  # type: ignore[index]
                text_cell(warning.sign.value.capitalize()),
                text_cell(warning.text),
            )
            for warning in found
        ),
        note="Signs, not proof: look at the answers before you speak to anybody."
        if found
        else "Nothing crossed its threshold; the thresholds are named below.",
        open=False,
    )


def _run_cell(longest: Estimate) -> Cell:
    length = None if longest.value is None else int(longest.value)
    return count_cell(length, reason=longest.undefined)


def rater_table(quality: "Quality", raters: Sequence[Rater], study: Study) -> Table:
    """Every sign of every annotator, crossed or not."""
    columns = (
        text_column("Annotator"),
        number_column("Items"),
        estimate_column("Gold", "gold accuracy", "Right answers to gold items"),
        estimate_column("Drift", help="Last third minus first, against the same items' reference"),
        number_column("Drift p", help="Permutation test, not yet corrected"),
        text_column("Against", help="What drift is measured against"),
        estimate_column("Equal answers", help="Items whose answers are all the same"),
        number_column("Longest run", help="Items in a row with identical answers"),
        estimate_column("Spread", help="Mean standard deviation within an item, in points"),
        estimate_column("Fast items", help="Done in under a third of the study's median time"),
    )
    rows = []
    for rater in raters:
        change = quality.drifts.get(rater.user)
        lining = quality.straight.get(rater.user)
        speed = quality.speeds[rater.user]
        drifted = change.difference if change else NO_SCORES
        rows.append(
            (
                _rater_cell(rater, study),
                count_cell(quality.items[rater.user]),
                estimate_cell(quality.gold[rater.user], "share", show_n=True),
                estimate_cell(drifted, "points", signed=True, show_n=True),
                number_cell(
                    change.p_value if change else None, "amount", reason=drifted.undefined
                ),
                text_cell(change.reference) if change and change.reference
                else Cell(data=("",), reason=drifted.undefined),
                estimate_cell(lining.equal if lining else NO_VALUES, "share", show_n=True),
                _run_cell(lining.longest_run if lining else NO_VALUES),
                estimate_cell(lining.spread if lining else NO_VALUES, "points"),
                estimate_cell(speed.fast, "share", show_n=True),
            )
        )  # fmt: skip
    return Table(
        "annotators",
        "Every annotator",
        columns,
        tuple(rows),
        note="95 % intervals. Answers to one gold item are not independent, so that interval is "
        "too narrow where it has several questions.",
    )


def time_table(quality: "Quality", raters: Sequence[Rater], study: Study) -> Table:
    """Where the active times lie, in seconds."""
    rows = []
    for rater in raters:
        times = quality.times[rater.user]
        why = "no active time is known of these items"
        rows.append(
            (
                _rater_cell(rater, study),
                count_cell(times.n),
                number_cell(times.low, "number", reason=why),
                number_cell(times.median, "number", reason=why),
                number_cell(times.high, "number", reason=why),
                estimate_cell(quality.speeds[rater.user].z, "points", signed=True),
                count_cell(times.missing),
            )
        )
    return Table(
        "times",
        "Active time per item, in seconds",
        (
            text_column("Annotator"),
            number_column("Items"),
            number_column("Lower quartile"),
            number_column("Median"),
            number_column("Upper quartile"),
            estimate_column("Pace", help="Robust standard deviations from all times; − is faster"),
            number_column("Not known"),
        ),
        tuple(rows),
        open=False,
    )


def agreement_table(agreed: Sequence["Agreed"]) -> Table:
    """Agreement between people so far, question by question."""
    rows = []
    for row in agreed:
        found = row.found
        rows.append(
            (
                text_cell(
                    f"{row.question.number} {row.question.title}",
                    sub=UNIT_WORDS[row.question.scale.kind],
                ),
                count_cell(found.items),
                count_cell(found.single),
                estimate_cell(NO_CHANCE if isinstance(found, SetAgreement) else found.alpha,
                              "points"),
                estimate_cell(found.equal, "share"),
                estimate_cell(
                    found.within_one
                    if not isinstance(found, SetAgreement) and found.metric == "ordinal"
                    else NO_ORDER,
                    "share",
                ),
                estimate_cell(found.jaccard if isinstance(found, SetAgreement) else NOT_SETS,
                              "points"),
            )
        )  # fmt: skip
    return Table(
        "agreement",
        "Agreement so far",
        (
            text_column("Question"),
            number_column("Answered twice", help="Items, or parts, with two answers or more"),
            number_column("Once", help="Items, or parts, with one answer: not compared"),
            estimate_column("Alpha", help="Krippendorff's alpha: 1 is perfect, 0 is chance"),
            estimate_column("Equal", help="Share of pairs of answers that are equal"),
            estimate_column("Within one", help="Share of pairs at most one point apart"),
            estimate_column("Jaccard", help="Mean over pairs of sets of marks"),
        ),
        tuple(rows),
        note=NOT_TWICE if not any(row.found.items for row in agreed) else ALPHA_NOTE,
    )
