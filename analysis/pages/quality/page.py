"""How carefully each annotator of a study works, and how far they agree so far."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.figures.ratings import time_lines
from analysis.frames.submitted_answers import (
    JudgedItem,
    Rater,
    Submission,
    SubmittedAnswers,
    judge_means,
    read_submissions,
)
from analysis.reports import common
from analysis.reports.content import (
    Badge,
    Banner,
    Cell,
    Empty,
    FigureSpec,
    Notice,
    Report,
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
from analysis.reports.formatting import listed, plural
from analysis.reports.leading import OneList, lead_by
from analysis.stats.annotators.drift import Drift, drift
from analysis.stats.annotators.rater_quality import (
    Sheets,
    Speed,
    gold_accuracy,
    read_sheets,
    speeding,
)
from analysis.stats.annotators.rater_warnings import QualityWarning, quality_warnings
from analysis.stats.annotators.straight_lining import StraightLining, straight_lining
from analysis.stats.descriptive.spread import Middle, middle
from analysis.stats.rater_agreement.reliability import (
    Reliability,
    SetAgreement,
    reliability_of_counts,
    set_agreement,
)
from analysis.stats.results import RESAMPLES, Estimate
from annotation.models import Study
from annotation.questionnaires import Question
from annotation.steps.training import is_expected

if TYPE_CHECKING:
    from analysis.stats.columns import Floats


SEED = 20251208
PURPOSE = "This page shows how carefully each annotator works, and how far they agree so far."

MOST_NOTICES = 6


@dataclass(frozen=True)
class Quality:
    """The signs of every annotator by account, and the warnings that they come to."""

    gold: Mapping[Hashable, Estimate]
    drifts: Mapping[Hashable, Drift]
    straight: Mapping[Hashable, StraightLining]
    speeds: Mapping[Hashable, Speed]
    times: Mapping[int, Middle]
    items: Mapping[int, int]
    warnings: tuple[QualityWarning, ...]


@dataclass(frozen=True)
class Agreed:
    """How far people agree on one question: scores and choices, or sets of marks."""

    question: Question
    found: Reliability | SetAgreement


def quality_report(study: Study) -> Report:
    """Everything on the page about the quality of a study's answers."""
    data = read_submissions(study)
    if not data.submissions:
        text = f"{PURPOSE} Nobody has submitted an item yet."
        url = common.address("annotation:study", pk=study.pk)
        return Report(empty=Empty("No answers yet", text, "Look at the study", url))
    quality = _quality(study, data)
    agreed = [row for q in data.questionnaire.questions if (row := _agreed(q, data)) is not None]
    shown = [rater for rater in data.raters if quality.items.get(rater.user)]
    report = Report(
        sentence=sentence(quality, shown),
        figures=_figures(quality, shown),
        tables=(
            rater_table(quality, shown, study),
            agreement_table(agreed),
            warning_table(quality, shown, study),
            time_table(quality, shown, study),
        ),
        notices=_notices(quality, shown),
        banners=_simulated(shown),
        how=tuple(_how(data)),
        methods="Agreement between annotators is Krippendorff's alpha (ordinal for scores, nominal "
        "for choices and marks) over items with two answers or more.",
    )
    items = common.address("annotation:study_items", pk=study.pk)
    return lead_by(report, OneList(items))


def sentence(quality: Quality, raters: Sequence[Rater]) -> str:
    """Who is to be looked at, and how much there is to look at."""
    begin = (
        f"{plural(len(raters), 'annotator')} submitted "
        f"{plural(sum(quality.items.values()), 'item')}"
    )
    if not quality.warnings:
        return f"{begin}; no sign of carelessness crossed its threshold."
    warned = {warning.rater for warning in quality.warnings}
    names = listed([rater.name for rater in raters if rater.user in warned])
    signs = plural(len(quality.warnings), "sign")
    return f"{begin}; {signs} to look at, of annotator{'s' if len(warned) > 1 else ''} {names}."


def _notices(quality: Quality, raters: Sequence[Rater]) -> tuple[Notice, ...]:
    """The first warnings, over everything else; all are in the table."""
    names = {rater.user: rater.name for rater in raters}
    said = [f"{names[w.rater]}: {w.text}" for w in quality.warnings if w.rater in names]
    more = len(said) - MOST_NOTICES
    if more > 0:
        said[MOST_NOTICES:] = [f"{plural(more, 'more sign')} under “What to look at”."]
    return tuple(map(Notice, said))


def _quality(study: Study, data: SubmittedAnswers) -> Quality:
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
    return Quality(
        gold=gold,
        drifts=drifts,
        straight=straight,
        speeds=speeds,
        times={user: middle(seconds) for user, seconds in own.items()},
        items={user: len(seconds) for user, seconds in own.items()},
        warnings=quality_warnings(gold=gold, drifts=drifts, straight=straight, speeds=speeds),
    )


def _drifts(
    study: Study, data: SubmittedAnswers, scores: Collection[str], sheets: Sheets
) -> Mapping[Hashable, Drift]:
    """Against other people; the judges' scores are read where somebody has too few of these."""
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
    """The places of an item at which these questions stand."""
    return tuple(slot.name for slot in item.slots if slot.question.key in questions)


def _sheets(data: SubmittedAnswers, questions: Collection[str]) -> Sheets:
    """Each annotator's answers to these questions, item by item, in the order judged."""
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
    """Right answers to gold items: what was expected is a list of values, or a set of marks."""
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


def _agreed(question: Question, data: SubmittedAnswers) -> Agreed | None:
    """Agreement on one question over items and their parts; words are not compared."""
    match question.scale.kind:
        case "points":
            counts, tasks = _counts(question, data, list(range(1, question.scale.most + 1)))
            return Agreed(question, reliability_of_counts(counts, clusters=tasks, seed=SEED))
        case "choice":
            counts, tasks = _counts(question, data, sorted(question.scale.values))
            found = reliability_of_counts(counts, metric="nominal", clusters=tasks, seed=SEED)
            return Agreed(question, found)
        case "marks":
            return Agreed(question, _sets_agreed(question, data))
    return None


def _counts(
    question: Question, data: SubmittedAnswers, options: Sequence[int]
) -> tuple["Floats", list[int | None]]:
    """How often each option was given, item by item and part by part; the task of each."""
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


def _figures(quality: Quality, raters: Sequence[Rater]) -> tuple[FigureSpec, ...]:
    if not any(quality.times[rater.user].n for rater in raters):
        return ()
    return (
        common.figure_spec(
            "times",
            "Active time per item",
            "Median, and between which times the middle half of the items lies.",
            time_lines([rater.name for rater in raters], [quality.times[r.user] for r in raters]),
        ),
    )


def _simulated(raters: Sequence[Rater]) -> tuple[Banner, ...]:
    fakes = sum(rater.simulated for rater in raters)
    if not fakes:
        return ()
    text = f"{fakes} of {plural(len(raters), 'annotator')} here are scripts; they are marked."
    return (Banner("Simulated annotators", text),)


def _how(data: SubmittedAnswers) -> list[str]:
    gold = sum(bool(item.expected) for item in data.items.values())
    answered = len(data.submissions) - len(data.main)
    of_gold = f", and {answered:,} more of {plural(gold, 'gold item')}" if gold else ""
    return [
        f"Submitted items of those who have not left: {len(data.main):,} that count"
        f"{of_gold}. Training does not count.",
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
        f"Agreement: alpha is Krippendorff's (ordinal for scores, nominal for choices), over items "
        f"or their parts with two answers or more; 95 % intervals are by task, {RESAMPLES:,} "
        f"resamples, seed {SEED}. What was answered first need not be like the rest.",
    ]


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
