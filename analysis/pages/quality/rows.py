"""The rows of the page on quality: signs of carelessness by annotator, and agreement so far."""

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from analysis.frames.submitted_answers import (
    JudgedItem,
    Rater,
    Submission,
    SubmittedAnswers,
    judge_means,
)
from analysis.reports.formatting import first_up
from analysis.stats.annotators.comparison_notes import ComparisonNote, comparison_notes
from analysis.stats.annotators.drift import Drift, drift
from analysis.stats.annotators.rater_quality import (
    Sheets,
    Speed,
    gold_accuracy,
    read_sheets,
    speeding,
)
from analysis.stats.annotators.straight_lining import StraightLining, straight_lining
from analysis.stats.descriptive.spread import Quartiles, quartiles
from analysis.stats.rater_agreement.reliability import (
    Reliability,
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

SEED = 20251208


class RaterSigns(NamedTuple):
    """One annotator with every sign, crossed or not.

    ``warnings`` are the signs of carelessness, by the study's rules, as Overview shows them;
    ``notes`` say where the annotator differs from the others.
    """

    rater: Rater
    items: int
    gold: Estimate
    drift: Drift | None
    straight: StraightLining | None
    speed: Speed
    times: Quartiles
    warnings: Sequence[str]
    notes: Sequence[ComparisonNote]


class QuestionAgreement(NamedTuple):
    """The agreement of people on one question: scores and choices, or sets of marks."""

    question: Question
    agreement: Reliability | SetAgreement


def rater_signs(study: Study, data: SubmittedAnswers) -> list[RaterSigns]:
    """Return the signs of carelessness of everyone who submitted an item."""
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
    seconds_of: dict[int, list[float | None]] = {}
    for user, _, seconds in times:
        seconds_of.setdefault(user, []).append(seconds)
    items = Counter(submission.user for submission in data.main)
    signs = study_signs(study)
    notes = comparison_notes(drifts=drifts, straight=straight, speeds=speeds)
    return [
        RaterSigns(
            rater,
            items[rater.user],
            gold[rater.user],
            drifts.get(rater.user),
            straight.get(rater.user),
            speeds[rater.user],
            quartiles(seconds_of[rater.user]),
            [f"{first_up(words)}." for words in signs.get(rater.user, ())],
            [note for note in notes if note.rater == rater.user],
        )
        for rater in data.raters
        if rater.user in seconds_of
    ]


def _drifts(
    study: Study, data: SubmittedAnswers, scores: Collection[str], sheets: Sheets
) -> Mapping[Hashable, Drift]:
    """Return drift against other people, or against the judges' scores where somebody has too
    few of these.
    """
    drifts = drift(sheets, seed=SEED)
    if all(one.reference for one in drifts.values()):
        return drifts
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


def agreed(question: Question, data: SubmittedAnswers) -> QuestionAgreement | None:
    """Return the agreement on one question over items and their parts; words are not compared."""
    match question.scale.kind:
        case "points":
            counts, tasks = _counts(question, data, list(range(1, question.scale.most + 1)))
            return QuestionAgreement(
                question, reliability_of_counts(counts, clusters=tasks, seed=SEED)
            )
        case "choice":
            counts, tasks = _counts(question, data, sorted(question.scale.values))
            reliability = reliability_of_counts(counts, metric="nominal", clusters=tasks, seed=SEED)
            return QuestionAgreement(question, reliability)
        case "marks" | "spans":
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
