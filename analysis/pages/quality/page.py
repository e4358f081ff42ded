"""How carefully does each annotator of a study work, and how far do they agree so far?"""

from collections.abc import Iterator
from functools import partial

from analysis.figures.layout.theme import Figure
from analysis.figures.ratings import time_lines
from analysis.frames.submitted_answers import SubmittedAnswers, read_submissions
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.links import Link
from analysis.kit.page import Sheet, report_of
from analysis.pages.quality.rows import SEED, QuestionAgreement, RaterSigns, agreed, rater_signs
from analysis.reports import addresses, figure_specs
from analysis.reports.content import (
    Badge,
    Cell,
    Empty,
    Report,
    count_cell,
    number_cell,
    number_column,
    text_cell,
    text_column,
)
from analysis.reports.formatting import listed, plural
from analysis.stats.annotators.comparison_notes import ComparisonNote
from analysis.stats.rater_agreement.reliability import SetAgreement
from analysis.stats.results import RESAMPLES, Estimate
from annotation.models import Study

MOST_NOTICES = 6
SIMULATED = Badge("simulated", "aside", "A script, not a person.")
NO_SCORES = Estimate.without_value("the study asks for no scores")
NO_VALUES = Estimate.without_value("the study asks for marks alone")
NO_ORDER = Estimate.without_value("only scores have points to be apart")
NOT_SETS = Estimate.without_value("only marks are sets")
NO_CHANCE = Estimate.without_value("sets of marks are not corrected for chance")
NO_TIME = "no active time is known of these items"
UNIT_WORDS = {"points": "scores", "choice": "choices", "marks": "marks", "spans": "passages"}

RaterWarning = tuple[RaterSigns, str]
RaterNote = tuple[RaterSigns, ComparisonNote]


def quality_report(study: Study) -> Report:
    """Return everything on the page about the quality of a study's answers."""
    data = read_submissions(study)
    if not data.submissions:
        text = (
            "This page shows how carefully each annotator works, and how far they agree so far. "
            "Nobody has submitted an item yet."
        )
        url = addresses.address("annotation:study", pk=study.pk)
        return Report(empty=Empty("No answers yet", text, "Look at the study", url))
    items = addresses.address("annotation:study_items", pk=study.pk)
    return report_of(partial(_content, study=study, data=data), address=items)


def _content(sheet: Sheet, study: Study, data: SubmittedAnswers) -> Iterator[None]:
    """List the signs of carelessness, and compare people's answers to the same items."""
    raters = rater_signs(study, data)
    every = (agreed(question, data) for question in data.questionnaire.questions)
    questions = [row for row in every if row is not None]
    warnings: list[RaterWarning] = [(row, text) for row in raters for text in row.warnings]
    notes: list[RaterNote] = [(row, note) for row in raters for note in row.notes]
    annotators, items = plural(len(raters), "annotator"), plural(len(data.main), "item")
    gold = len(data.submissions) - len(data.main)
    apart = f" ({plural(gold, 'known-answer item')} counted apart)" if gold else ""
    if warnings:
        names = list(dict.fromkeys(row.rater.name for row, _ in warnings))
        signs = (
            f"{plural(len(warnings), 'sign')} to look at, of annotator{'s' * (len(names) != 1)} "
            f"{listed(names)}"
        )
    else:
        signs = "no annotator shows a sign of careless work"
    sheet.answer(f"{annotators} submitted {items}{apart}; {signs}.")
    for row, text in warnings[:MOST_NOTICES]:
        sheet.warning(f"{row.rater.name}: {text}")
    if len(warnings) > MOST_NOTICES:
        more = plural(len(warnings) - MOST_NOTICES, "more sign")
        sheet.warning(f"{more} under “What to look at”.")
    simulated = sum(row.rater.simulated for row in raters)
    if simulated:
        are = "is a script, which is marked" if simulated == 1 else "are scripts; they are marked"
        sheet.banner("Simulated annotators", f"{simulated} of {annotators} here {are}.")

    def draw() -> Figure | None:
        times = [row.times for row in raters]
        if not any(one.n for one in times):
            return None
        drawn = time_lines([row.rater.name for row in raters], times)
        return figure_specs.linked(
            drawn, {row.rater.name: sheet.links.url(Link()) for row in raters}
        )

    def annotator(row: RaterSigns) -> Cell:
        """Return the name, linked to the answers."""
        url = addresses.address("annotation:annotator", pk=study.pk, number=row.rater.number)
        badges = (SIMULATED,) if row.rater.simulated else ()
        return text_cell(row.rater.name, url=url, badges=badges)

    sheet.figure(
        "times",
        "Active time per item",
        draw,
        subtitle="Median, and between which times the middle half of the items lies.",
    )
    sheet.table(
        "annotators",
        "Every annotator",
        raters,
        [Column(text_column("Annotator"), annotator), *_sign_columns()],
        note="95 % intervals. Answers to one gold item are not independent, so that interval is "
        "too narrow where it has several questions.",
    )
    yield
    twice = any(row.agreement.items for row in questions)
    sheet.table(
        "agreement",
        "Agreement so far",
        questions,
        _agreement_columns(),
        note="Where nearly all answers are the same alpha is low however often people agree: read "
        "it beside the shares."
        if twice
        else "No item has two answers yet, so how far people agree is not known.",
    )
    sheet.table(
        "warnings",
        f"What to look at ({plural(len(warnings), 'sign')})",
        warnings,
        [
            Column(text_column("Annotator"), lambda row: annotator(row[0])),
            columns.sentences("In words", lambda row: row[1], "words"),
        ],
        note="Signs, not proof: look at the answers before you speak to anybody.",
        folded=True,
    )
    sheet.table(
        "comparisons",
        f"Compared with the others ({plural(len(notes), 'note')})",
        notes,
        [
            Column(text_column("Annotator"), lambda row: annotator(row[0])),
            columns.text("About", lambda row: row[1].sign.value.capitalize()),
            columns.sentences("In words", lambda row: row[1].text, "words"),
        ],
        folded=True,
    )
    sheet.table(
        "times",
        "Active time per item, in seconds",
        raters,
        [Column(text_column("Annotator"), annotator), *_time_columns()],
        folded=True,
    )
    known = sum(bool(item.expected) for item in data.items.values())
    of_gold = f", and {gold:,} more of {plural(known, 'gold item')}" if known else ""
    sheet.how(
        f"Submitted items of those who have not left: {len(data.main):,} that count{of_gold}. "
        "Training does not count.",
        "Signs, not proof: each has innocent explanations, and none is a reason to leave out "
        "somebody's answers unseen. Thresholds are conventions, fixed before anybody looked: gold "
        "accuracy under 80 % (from 5 answers on), drift of half a point with p ≤ 0.05 corrected "
        "for the number of annotators, equal answers in more than half of the items, 5 identical "
        "items in a row, a spread 3 robust standard deviations under the others', more than 20 % "
        "of items faster than a third of the study's median, a pace 2 robust standard deviations "
        "faster (all from 10 items on).",
        "Drift: mean over the last third of somebody's items minus the first, of own score minus "
        "the other annotators' of the same item; where hardly any item has two, minus the judges' "
        f"mean. Permutation test, seed {SEED}. Marks and choices have no drift.",
        "Equal answers, identical items and spread are of scores and choices. Marks are left out: "
        "that nothing is violated is often true of many turns in a row.",
        "Active time leaves idling out; items whose time is not known are counted as such.",
        "Agreement: alpha is Krippendorff's (ordinal for scores, nominal for choices), over items "
        "or their parts with two answers or more; 95 % intervals are by task, "
        f"{RESAMPLES:,} resamples, seed {SEED}. What was answered first need not be like the rest.",
    )
    sheet.methods(
        "Agreement between annotators is Krippendorff's alpha (ordinal for scores, nominal for "
        "choices) over items with two answers or more; of marks and passages, the mean Jaccard "
        "index of pairs."
    )


def _sign_columns() -> list[Column[RaterSigns]]:
    """Give every sign of every annotator, crossed or not."""
    return [
        columns.count("Items", lambda row: row.items, help="Gold items are counted apart"),
        columns.estimate(
            "Gold",
            lambda row: row.gold,
            "share",
            part="gold accuracy",
            help="Right answers to gold items",
            show_n=True,
        ),
        columns.estimate(
            "Drift",
            _drift,
            "points",
            help="Last third minus first, against the same items' reference",
            signed=True,
            show_n=True,
        ),
        Column(number_column("Drift p", help="Permutation test, not yet corrected"), _drift_p),
        Column(text_column("Against", help="What drift is measured against"), _reference),
        columns.estimate(
            "Equal answers",
            lambda row: row.straight.equal if row.straight else NO_VALUES,
            "share",
            help="Items whose answers are all the same",
            show_n=True,
        ),
        Column(
            number_column("Longest run", help="Items in a row with identical answers"),
            _longest_run,
        ),
        columns.estimate(
            "Spread",
            lambda row: row.straight.spread if row.straight else NO_VALUES,
            "points",
            help="Mean standard deviation within an item, in points",
        ),
        columns.estimate(
            "Fast items",
            lambda row: row.speed.fast,
            "share",
            help="Done in under a third of the study's median time",
            show_n=True,
        ),
    ]


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


def _time_columns() -> list[Column[RaterSigns]]:
    """Give where the active times lie, in seconds."""
    return [
        columns.count("Items", lambda row: row.times.n),
        columns.number("Lower quartile", lambda row: row.times.low, "number", reason=NO_TIME),
        columns.number("Median", lambda row: row.times.median, "number", reason=NO_TIME),
        columns.number("Upper quartile", lambda row: row.times.high, "number", reason=NO_TIME),
        columns.estimate(
            "Pace",
            lambda row: row.speed.z,
            "points",
            help="Robust standard deviations from all times; − is faster",
            signed=True,
        ),
        columns.count("Not known", lambda row: row.times.missing),
    ]


def _agreement_columns() -> list[Column[QuestionAgreement]]:
    """Give agreement between people so far, question by question."""
    return [
        columns.text(
            "Question",
            lambda row: f"{row.question.number} {row.question.title}",
            sub=lambda row: UNIT_WORDS[row.question.scale.kind],
        ),
        columns.count(
            "Answered twice",
            lambda row: row.agreement.items,
            help="Items, or parts, with two answers or more",
        ),
        columns.count(
            "Once",
            lambda row: row.agreement.single,
            help="Items, or parts, with one answer: not compared",
        ),
        columns.estimate(
            "Alpha", _alpha, "points", help="Krippendorff's alpha: 1 is perfect, 0 is chance"
        ),
        columns.estimate(
            "Equal",
            lambda row: row.agreement.equal,
            "share",
            help="Share of pairs of answers that are equal",
        ),
        columns.estimate(
            "Within one", _within_one, "share", help="Share of pairs at most one point apart"
        ),
        columns.estimate(
            "Jaccard",
            _jaccard,
            "points",
            help="Mean over pairs of sets of marks; of passages, by character and label",
        ),
    ]


def _alpha(row: QuestionAgreement) -> Estimate:
    return NO_CHANCE if isinstance(row.agreement, SetAgreement) else row.agreement.alpha


def _within_one(row: QuestionAgreement) -> Estimate:
    agreement = row.agreement
    if isinstance(agreement, SetAgreement) or agreement.metric != "ordinal":
        return NO_ORDER
    return agreement.within_one


def _jaccard(row: QuestionAgreement) -> Estimate:
    return row.agreement.jaccard if isinstance(row.agreement, SetAgreement) else NOT_SETS
