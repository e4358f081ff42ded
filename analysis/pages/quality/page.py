"""The quality page shows how carefully each annotator works, and how far they agree so far."""

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

from analysis.figures.layout.theme import Figure
from analysis.figures.ratings import time_lines
from analysis.frames.submitted_answers import (
    JudgedItem,
    Submission,
    SubmittedAnswers,
    judge_means,
    read_submissions,
)
from analysis.kit.links import Link
from analysis.pages.declaration import (
    ColumnOf,
    FigureOf,
    ReportOf,
    TableOf,
    UrlOf,
    count_of,
    estimate_of,
    text_of,
)
from analysis.pages.quality.rows import (
    SEED,
    QualityResult,
    QuestionAgreement,
    RaterNote,
    RaterSign,
    RaterSigns,
    SignsByRater,
)
from analysis.reports import addresses, figure_specs
from analysis.reports.content import (
    Cell,
    Report,
    count_cell,
    number_cell,
    number_column,
    text_cell,
    text_column,
    words_column,
)
from analysis.reports.formatting import plural
from analysis.stats.annotators.comparison_notes import comparison_notes
from analysis.stats.annotators.drift import Drift, drift
from analysis.stats.annotators.rater_quality import Sheets, gold_accuracy, read_sheets, speeding
from analysis.stats.annotators.straight_lining import StraightLining, straight_lining
from analysis.stats.descriptive.spread import quartiles
from analysis.stats.rater_agreement.reliability import (
    SetAgreement,
    reliability_of_counts,
    set_agreement,
)
from analysis.stats.results import Estimate
from annotation.annotator_quality.checks import study_signs
from annotation.models import Study
from annotation.questionnaires import Question
from annotation.training.services import is_expected

if TYPE_CHECKING:
    from analysis.stats.columns import Floats


NO_SCORES = Estimate.without_value("the study asks for no scores")
NO_VALUES = Estimate.without_value("the study asks for marks alone")
NO_ORDER = Estimate.without_value("only scores have points to be apart")
NOT_SETS = Estimate.without_value("only marks are sets")
NO_CHANCE = Estimate.without_value("sets of marks are not corrected for chance")
NO_TIME = "no active time is known of these items"
UNIT_WORDS = {"points": "scores", "choice": "choices", "marks": "marks"}


def sign_columns(_: QualityResult) -> Sequence[ColumnOf[RaterSign]]:
    """Give the signs of careless work, in plain words."""
    return (
        ColumnOf(text_column("Annotator"), lambda row: row.rater.cell),
        ColumnOf(words_column("In words", "words"), lambda row: text_cell(row.text)),
    )


def note_columns(_: QualityResult) -> Sequence[ColumnOf[RaterNote]]:
    """Give where annotators differ from the others, in plain words."""
    return (
        ColumnOf(text_column("Annotator"), lambda row: row.rater.cell),
        text_of("About", lambda row: row.note.sign.value.capitalize()),
        ColumnOf(words_column("In words", "words"), lambda row: text_cell(row.note.text)),
    )


def rater_columns(_: QualityResult) -> Sequence[ColumnOf[RaterSigns]]:
    """Give every sign of every annotator, crossed or not."""
    return (
        ColumnOf(text_column("Annotator"), lambda row: row.cell),
        count_of("Items", lambda row: row.items, help="Gold items are counted apart"),
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


def quality_report(study: Study) -> Report:
    """Return everything on the page about the quality of a study's answers."""
    data = read_submissions(study)
    if not data.submissions:
        return REPORT.empty(study=study)
    items = addresses.address("annotation:study_items", pk=study.pk)
    return REPORT.build(compute(study, data), address=items, study=study)


def compute(study: Study, data: SubmittedAnswers) -> QualityResult:
    """Look for signs of carelessness, and compare people's answers to the same items."""
    found = _signs(study, data)
    agreed = [row for q in data.questionnaire.questions if (row := _agreed(q, data)) is not None]
    raters = tuple(
        RaterSigns(rater, study, found) for rater in data.raters if rater.user in found.times
    )
    return QualityResult(data, found, raters, tuple(agreed))


def _signs(study: Study, data: SubmittedAnswers) -> SignsByRater:
    kinds = {q.key: q.scale.kind for q in data.questionnaire.questions}
    scores = {key for key, kind in kinds.items() if kind == "points"}
    values = {key for key, kind in kinds.items() if kind in ("points", "choice")}
    gold = _gold(data)
    drifts: Mapping[Hashable, Drift] = {}
    straight: Mapping[Hashable, StraightLining] = {}
    if scores:
        sheets = _sheets(data, scores)
        drifts = _drifts(study, data, scores, sheets)
    if values:
        straight = straight_lining(sheets if values == scores else _sheets(data, values))
    times = [
        (submission.user, submission.item, submission.seconds) for submission in data.submissions
    ]
    speeds = speeding(times)
    own: dict[int, list[float | None]] = {}
    for user, _, seconds in times:
        own.setdefault(user, []).append(seconds)
    return SignsByRater(
        gold=gold,
        drifts=drifts,
        straight=straight,
        speeds=speeds,
        times={user: quartiles(seconds) for user, seconds in own.items()},
        items=Counter(submission.user for submission in data.main),
        signs=study_signs(study),
        notes=comparison_notes(drifts=drifts, straight=straight, speeds=speeds),
    )


def _drifts(
    study: Study, data: SubmittedAnswers, scores: Collection[str], sheets: Sheets
) -> Mapping[Hashable, Drift]:
    """Return drift against other people, or against the judges' scores where somebody has too
    few of these.
    """
    found = drift(sheets, seed=SEED)
    if all(one.reference for one in found.values()):
        return found
    names = {item.shape: _names(item, scores) for item in data.items.values()}
    judges: dict[Hashable, list[float | None]] = {
        pk: [own.get(name) for name in names[data.items[pk].shape]]
        for pk, own in judge_means(study, data.items).items()
    }
    return drift(sheets, judges=judges, seed=SEED)


def _names(item: JudgedItem, questions: Collection[str]) -> tuple[str, ...]:
    """Return the places of an item at which these questions stand."""
    return tuple(slot.name for slot in item.slots if slot.question.key in questions)


def _sheets(data: SubmittedAnswers, questions: Collection[str]) -> Sheets:
    """Return each annotator's answers to these questions, item by item, in the order judged."""
    shapes = {item.shape: item for item in data.items.values()}
    alike: dict[int, list[Submission]] = {}
    for submission in data.main:
        alike.setdefault(data.items[submission.item].shape, []).append(submission)
    answers = {
        submission.row: row
        for shape, submissions in alike.items()
        for submission, row in zip(
            submissions, data.answers(submissions, _names(shapes[shape], questions)), strict=True
        )
    }
    return read_sheets(
        (submission.user, submission.item, answers[submission.row]) for submission in data.main
    )


def _gold(data: SubmittedAnswers) -> Mapping[Hashable, Estimate]:
    """Return right answers to gold items: what was expected is a list of values, or a set of
    marks.
    """
    sheets: list[tuple[int, int | None, list[bool | None]]] = [
        (rater.user, None, []) for rater in data.raters
    ]
    known: dict[Hashable, list[bool]] = {}
    for submission in data.submissions:
        expected = data.items[submission.item].expected
        if not expected:
            continue
        names = [n for n, wanted in expected.items() if "values" in wanted or "chosen" in wanted]
        known[submission.item] = [True] * len(names)
        right: list[bool | None] = []
        for name in names:
            value, chosen = data.number(submission, name), data.marks.get((submission.row, name))
            matches = is_expected(expected[name], value=value, chosen=chosen)
            right.append(None if value is None and chosen is None else matches)
        sheets.append((submission.user, submission.item, right))
    return gold_accuracy(sheets, known)


def _agreed(question: Question, data: SubmittedAnswers) -> QuestionAgreement | None:
    """Return the agreement on one question over items and their parts; words are not compared."""
    match question.scale.kind:
        case "points":
            counts, tasks = _counts(question, data, list(range(1, question.scale.most + 1)))
            return QuestionAgreement(
                question, reliability_of_counts(counts, clusters=tasks, seed=SEED)
            )
        case "choice":
            counts, tasks = _counts(question, data, sorted(question.scale.values))
            found = reliability_of_counts(counts, metric="nominal", clusters=tasks, seed=SEED)
            return QuestionAgreement(question, found)
        case "marks":
            return QuestionAgreement(question, _sets_agreed(question, data))
    return None


def _counts(
    question: Question, data: SubmittedAnswers, options: Sequence[int]
) -> tuple["Floats", list[int | None]]:
    """Return how often each option was given, item by item and part by part; the task of each."""
    import numpy as np

    rows, place = data.main_places
    shapes = {item.shape: item for item in data.items.values()}
    own = {name for item in shapes.values() for name in _names(item, {question.key})}
    counts, tasks = [], []
    every = [item.task for item in data.items.values()]
    for name in sorted(own & set(data.columns)):
        values = data.numbers[rows, data.columns[name]]
        given = np.zeros((len(every), len(options)))
        for column, option in enumerate(options):
            given[:, column] = np.bincount(place[values == option], minlength=len(every))
        counts.append(given)
        tasks += every
    return np.concatenate(counts) if counts else np.zeros((0, len(options))), tasks


def _sets_agreed(question: Question, data: SubmittedAnswers) -> SetAgreement:
    rows: list[tuple[int, tuple[int, str], frozenset[str] | None]] = [
        (
            submission.user,
            (submission.item, slot.subject),
            data.marks.get((submission.row, slot.name)),
        )
        for submission in data.main
        for slot in data.items[submission.item].slots
        if slot.question.key == question.key
    ]
    tasks: dict[Hashable, Hashable] = {place: data.items[place[0]].task for _, place, _ in rows}
    return set_agreement(rows, clusters=tasks, unit="task", seed=SEED)


def draw_times(result: QualityResult, url: UrlOf) -> Figure | None:
    """Draw the active time per item of each annotator."""
    times = [one.times for one in result.raters]
    if not any(one.n for one in times):
        return None
    drawn = time_lines([one.name for one in result.raters], times)
    return figure_specs.linked(drawn, {one.name: url(Link()) for one in result.raters})


REPORT = ReportOf(
    "quality",
    figure=FigureOf("times", "Active time per item", draw_times),
    table=TableOf(
        "annotators",
        "Every annotator",
        rows=lambda result: result.raters,
        columns=rater_columns,
    ),
    folded=(
        TableOf(
            "agreement",
            "Agreement so far",
            rows=lambda result: result.agreed,
            columns=agreement_columns,
        ),
        TableOf(
            "warnings",
            lambda result: f"What to look at ({plural(len(result.warnings), 'sign')})",
            rows=lambda result: result.warnings,
            columns=sign_columns,
            folded=True,
        ),
        TableOf(
            "comparisons",
            lambda result: f"Compared with the others ({plural(len(result.notes), 'note')})",
            rows=lambda result: result.notes,
            columns=note_columns,
            folded=True,
        ),
        TableOf(
            "times",
            "Active time per item, in seconds",
            rows=lambda result: result.raters,
            columns=time_columns,
            folded=True,
        ),
    ),
)
