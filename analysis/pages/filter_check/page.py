"""The filter check page compares which candidates the checker and most people remove."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.figures.layout.theme import ACCENT, Figure
from analysis.figures.shares import PublishedShares, Shares, share_dots
from analysis.filters.selection import Selection
from analysis.filters.study_kinds import asks_candidates
from analysis.frames.filter_decisions import (
    AskedCandidate,
    CandidateKey,
    asked_candidates,
    decision_frame,
)
from analysis.pages.decisions import summary_columns
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
from analysis.pages.filter_check.rows import CheckerQuality, FilterCheck, FilterDifference
from analysis.pages.people import (
    AnswerCounts,
    chosen_people,
    votes_needed,
    why_no_answers,
    why_not_asked,
)
from analysis.pages.violation_check.tables import KIND_WORDS
from analysis.reports import addresses, run_marks
from analysis.reports.content import (
    PUBLISHED,
    Cell,
    Column,
    count_cell,
    estimate_cell,
    estimate_column,
    number_column,
    text_cell,
    text_column,
    words_column,
)
from analysis.reports.published import published_count_estimate, published_rate_cell
from analysis.reports.rates import (
    left_out_cell,
    rate_cell,
    rate_column,
    read_first,
)
from analysis.stats.rater_agreement.decisions import compare_decisions
from analysis.stats.rater_agreement.majority import majority_vote
from analysis.stats.rater_agreement.reliability import category_agreement
from annotation.questionnaires import load_questionnaire
from annotation.ratings.voting import VoteOutcome
from benchmarks.core.ports.published import PaperStatements
from benchmarks.core.registry import find_system

if TYPE_CHECKING:
    from pandas import DataFrame


NOT_PUBLISHED = "not published"
MEASURES = {
    "false_negative_rate": ("FNR", "Of what people would remove, what the checker let through"),
    "false_positive_rate": ("FPR", "Of what people would keep, what the checker removed"),
    "precision": ("Precision", "Of what the checker removed, what people would remove"),
    "recall": ("Recall", "Of what people would remove, what the checker removed"),
    "accuracy": ("Same decision", "Of all compared candidates"),
}
# A check of this study, or the paper's.
Row = CheckerQuality | PaperStatements


SEED = 20251206
MOST_ROWS = 200
KEEP, REMOVE = "keep", "remove"
ALL = "All candidates"
KINDS: Mapping[str, tuple[str, ...]] = {
    ALL: ("world", "user"),
    "Situation": ("world",),
    "Preferences": ("user",),
}
# Measures with a published value, as the figure names them.
SHOWN = {
    "removed": "Removed by the checker",
    "false_negative_rate": "FNR: let through, of what people remove",
    "false_positive_rate": "FPR: removed, of what people keep",
    "precision": "Precision",
    "recall": "Recall",
}


def rate_columns(_: FilterCheck) -> Sequence[ColumnOf[Row]]:
    """Give every rate, of the checks here and as published."""
    return (
        _beside(text_column("Candidates"), lambda row: text_cell(row.name), _published_name),
        _beside(number_column("Compared"), lambda row: count_cell(row.decisions.n)),
        _beside(
            number_column("Tasks"),
            lambda row: count_cell(row.decisions.clusters),
            lambda paper: count_cell(paper.checks["removed"].units),
        ),
        _beside(
            rate_column("Removed", help="Of all candidates with a decision"),
            lambda row: rate_cell(row.removed),
            lambda _: published_rate_cell(None),
        ),
        _beside(
            estimate_column(
                "Removed on average", help="Mean over tasks of each one's share removed"
            ),
            lambda row: estimate_cell(row.decisions.mean_share, "share"),
            _published_mean,
        ),
        *(_rate(measure, label, help) for measure, (label, help) in MEASURES.items()),
        _beside(text_column("Left out"), lambda row: left_out_cell(row.decisions.excluded)),
    )


def _beside(
    column: Column,
    here: Callable[[CheckerQuality], Cell],
    published: Callable[[PaperStatements], Cell] | None = None,
) -> ColumnOf[Row]:
    """Return a column of this study's checks; of the paper it has a dash, if nothing is given."""
    nothing = Cell(data=(None,) if column.num else ("",), reason=NOT_PUBLISHED)
    return ColumnOf(
        column,
        lambda row: (
            here(row)
            if isinstance(row, CheckerQuality)
            else nothing
            if published is None
            else published(row)
        ),
    )


def _rate(measure: str, label: str, help: str) -> ColumnOf[Row]:
    return _beside(
        rate_column(label, help=help),
        lambda row: rate_cell(row.rate(measure)),
        lambda paper: published_rate_cell(paper.checks.get(measure)),
    )


def _published_name(paper: PaperStatements) -> Cell:
    source = paper.checks["removed"].source
    return text_cell("Published", badges=(run_marks.PUBLISHED_BADGE,), sub=source)


def _published_mean(paper: PaperStatements) -> Cell:
    removed = paper.checks["removed"]
    data = (removed.share, None, None, removed.units, PUBLISHED)
    return Cell(f"{100 * removed.share:.2f} %", data, source=removed.source)


def count_columns(_: FilterCheck) -> Sequence[ColumnOf[CheckerQuality]]:
    """Give the counts behind the rates, and what sums them up in one number."""
    return (
        text_of("Candidates", lambda row: row.name),
        count_of("Both remove", lambda row: row.decisions.confusion.true_positive),
        count_of(
            "People alone remove",
            lambda row: row.decisions.confusion.false_negative,
            help="Let through by the checker: false negatives",
        ),
        count_of(
            "Checker alone removes",
            lambda row: row.decisions.confusion.false_positive,
            help="False positives",
        ),
        count_of("Both keep", lambda row: row.decisions.confusion.true_negative),
        *summary_columns(lambda row: row.decisions),
    )


def vote_columns(result: FilterCheck) -> Sequence[ColumnOf[CheckerQuality]]:
    """Give how many candidates had each outcome of the votes."""
    words = {
        VoteOutcome.UNANIMOUS: "Unanimous",
        VoteOutcome.MAJORITY: "Majority",
        VoteOutcome.TIED: "Tied",
        VoteOutcome.TOO_FEW: f"Under {result.minimum} votes",
    }
    return (
        text_of("Candidates", lambda row: row.name),
        *(
            count_of(word, lambda row, state=state: row.votes.states[state])  # type: ignore[misc]
            for state, word in words.items()
        ),
        estimate_of("Share unanimous", lambda row: row.votes.unanimous_share, "share"),
    )


def difference_columns(_: FilterCheck) -> Sequence[ColumnOf[FilterDifference]]:
    """Give each candidate with its votes and the checker's decision."""
    return (
        ColumnOf(
            text_column("Task"),
            lambda row: text_cell(
                row.candidate.task_name,
                url=addresses.address("benchmarks:task", task_id=row.candidate.task),
            ),
        ),
        text_of("Kind", lambda row: KIND_WORDS.get(row.candidate.kind, row.candidate.kind)),
        ColumnOf(words_column("Candidate"), lambda row: text_cell(row.candidate.text)),
        ColumnOf(
            text_column(
                "Difference",
                help="Let through: people would remove it; lost: people would keep it",
            ),
            lambda row: text_cell(row.kind),
        ),
        ColumnOf(
            Column("People remove", ("people remove", "people keep"), help="Of those who decided"),
            _votes,
        ),
        ColumnOf(Column("Checker", ("checker", "reason"), num=False), _decision),
    )


def _votes(row: FilterDifference) -> Cell:
    removes, keeps = row.verdict.counts.get("remove", 0), row.verdict.counts.get("keep", 0)
    return Cell(f"{removes} of {removes + keeps}", (removes, keeps))


def _decision(row: FilterDifference) -> Cell:
    one = row.candidate
    return Cell(
        one.decision or "",
        (one.decision, one.reason),
        sub=one.reason,
        reason="" if one.decision else "no decision is stored",
    )


def agreement_columns(_: FilterCheck) -> Sequence[ColumnOf[CheckerQuality]]:
    """Give how far people agree with each other."""
    return (
        text_of("Candidates", lambda row: row.name),
        count_of(
            "Decided twice",
            lambda row: row.people.items,
            help="Candidates that two people or more decided about",
        ),
        estimate_of(
            "Alpha",
            lambda row: row.people.alpha,
            "points",
            help="Krippendorff's alpha, nominal: 1 is perfect, 0 is chance",
        ),
        estimate_of(
            "Equal",
            lambda row: row.people.equal,
            "share",
            help="Share of pairs of decisions that are equal",
        ),
    )


@dataclass(frozen=True)
class FilterCheckData:
    """The candidates that people were asked about, and their decisions."""

    candidates: tuple[AskedCandidate, ...]
    frame: "DataFrame"
    people: AnswerCounts
    everyone: AnswerCounts
    reference: PaperStatements


def load(selection: Selection) -> FilterCheckData | NothingToShow:
    """Load the decisions of a study's people beside the checker's."""
    study = selection.study
    if study is None:
        return NothingToShow("no study")
    if not asks_candidates(load_questionnaire(study.questionnaire)):
        return why_not_asked(study)
    candidates = asked_candidates(study, selection)
    frame, people, everyone = chosen_people(decision_frame(study, candidates), selection, "task")
    if frame.empty:
        return why_no_answers(everyone, selection)
    reference = find_system(selection.system).paper
    return FilterCheckData(tuple(candidates), frame, people, everyone, reference)


def compute(data: FilterCheckData) -> FilterCheck:
    """Hold the checker against the majority: on all candidates, and on those of each kind."""
    minimum = votes_needed(candidate.meant for candidate in data.candidates)
    checks = [
        _check(name, kinds, data.candidates, data.frame, minimum)
        for name, kinds in KINDS.items()
        if name == ALL or any(candidate.kind in kinds for candidate in data.candidates)
    ]
    return FilterCheck(
        tuple(checks), data.candidates, minimum, data.people, data.everyone, data.reference
    )


def _check(
    name: str,
    kinds: Sequence[str],
    candidates: Sequence[AskedCandidate],
    frame: "DataFrame",
    minimum: int,
) -> CheckerQuality:
    """Compare on the candidates of these kinds."""
    chosen = {c.place: c for c in candidates if c.kind in kinds}
    tasks: dict[Hashable, Hashable] = {place: place[0] for place in chosen}
    votes: list[tuple[int, CandidateKey, str | None]] = [
        (person, (task, key), decision)
        for person, task, key, decision in zip(
            *(frame[name].tolist() for name in ("annotator", "task", "candidate", "decision")),
            strict=True,
        )
        if (task, key) in chosen
    ]
    majorities = majority_vote(votes, minimum=minimum, items=chosen)
    return CheckerQuality(
        name,
        compare_decisions(
            {place: candidate.decision for place, candidate in chosen.items()},
            majorities.verdicts,
            positive=REMOVE,
            negative=KEEP,
            clusters=tasks,
            unit="task",
            seed=SEED,
        ),
        majorities,
        category_agreement(votes, clusters=tasks, unit="task", seed=SEED),
    )


def draw_rates(result: FilterCheck, url: UrlOf) -> Figure:
    """Draw the rates of all candidates, with the published ones."""
    estimates = [read_first(result.whole.rate(measure)) for measure in SHOWN]
    checks = result.reference.checks
    published = {
        words: published_count_estimate(checks[measure])
        for measure, words in SHOWN.items()
        if measure in checks
    }
    return share_dots(
        list(SHOWN.values()),
        [
            Shares(
                "here",
                estimates,
                "circle",
                ACCENT,
                urls=[url(result.whole.link)] * len(estimates),
            )
        ],
        title="Share of candidates",
        published=[PublishedShares(values=published)] if published else [],
    )


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    figure=FigureOf("rates", "The checker against the majority of people", draw_rates),
    table=TableOf(
        "rates",
        "The checker against the majority",
        rows=lambda result: result.with_published,
        columns=rate_columns,
        link=lambda row: row.link if isinstance(row, CheckerQuality) else None,
    ),
    folded=(
        TableOf(
            "counts",
            "Counts of decisions, F1 and MCC",
            rows=lambda result: result.checks,
            columns=count_columns,
        ),
        TableOf(
            "votes",
            "Outcomes of the votes",
            rows=lambda result: result.checks,
            columns=vote_columns,
        ),
        TableOf(
            "differences",
            "Where checker and majority differ, and where people tie",
            rows=lambda result: result.differences,
            columns=difference_columns,
            most=MOST_ROWS,
        ),
        TableOf(
            "people",
            "Agreement between people",
            rows=lambda result: result.checks,
            columns=agreement_columns,
        ),
    ),
)
