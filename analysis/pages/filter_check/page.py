"""Does the checker remove what people would remove? Its decisions beside the majority's."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from analysis.figures.layout.theme import ACCENT, Figure
from analysis.figures.shares import PublishedShares, Shares, share_dots
from analysis.filters.study_kinds import UNSURE, asks_candidates
from analysis.frames.filter_decisions import (
    AskedCandidate,
    CandidateKey,
    asked_candidates,
    decision_frame,
)
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.pages.decisions import (
    KIND_WORDS,
    alpha_column,
    beside,
    equal_column,
    f1_column,
    kinds_by_name,
    mcc_column,
    name_column,
    rate_beside,
)
from analysis.pages.people import (
    AnswerCounts,
    asked_study,
    chosen_people,
    no_answers,
    note_single_votes,
    people_details,
    people_notices,
    votes_needed,
    who_answered,
)
from analysis.reports import addresses, chosen_runs
from analysis.reports import content as parts
from analysis.reports.content import PUBLISHED, Cell, count_cell, estimate_cell
from analysis.reports.formatting import counted, plural
from analysis.reports.published import published_count_estimate
from analysis.reports.rates import (
    how_rates,
    left_out_cell,
    rate_words,
    read_first,
    two_intervals,
)
from analysis.stats.descriptive.rates import Rate
from analysis.stats.rater_agreement.decisions import DecisionQuality, compare_decisions
from analysis.stats.rater_agreement.majority import Majorities, MajorityVerdict, majority_vote
from analysis.stats.rater_agreement.reliability import Reliability, category_agreement
from annotation.ratings.voting import VoteOutcome
from benchmarks.core.ports.published import PaperStatements

if TYPE_CHECKING:
    from pandas import DataFrame

PURPOSE = (
    "The filter check compares what the checker removed from the candidate constraints with what "
    "the majority of people would remove."
)
MEASURES = {
    "false_negative_rate": ("FNR", "Of what people would remove, what the checker let through"),
    "false_positive_rate": ("FPR", "Of what people would keep, what the checker removed"),
    "precision": ("Precision", "Of what the checker removed, what people would remove"),
    "recall": ("Recall", "Of what people would remove, what the checker removed"),
    "accuracy": ("Same decision", "Of all compared candidates"),
}
SEED = 20251206
MOST_ROWS = 200
KEEP, REMOVE = "keep", "remove"
# Measures with a published value, as the figure names them.
SHOWN = {
    "removed": "Removed by the checker",
    "false_negative_rate": "FNR: let through, of what people remove",
    "false_positive_rate": "FPR: removed, of what people keep",
    "precision": "Precision",
    "recall": "Recall",
}


class CheckerQuality(NamedTuple):
    """The checker against the majority, and people against each other, on candidates of a kind."""

    name: str
    decisions: DecisionQuality
    votes: Majorities
    people: Reliability


class FilterDifference(NamedTuple):
    """A candidate on which the checker and the majority differ, or people tie."""

    candidate: AskedCandidate
    verdict: MajorityVerdict


# A check of this study, or the paper's.
Row = CheckerQuality | PaperStatements


def content(page: Page) -> Content:
    """Hold the checker against the majority: on all candidates, and on those of each kind."""
    study = asked_study(page, PURPOSE, asks_candidates)
    if study is None:
        return
    candidates = asked_candidates(study, page.selection)
    frame, people, everyone = chosen_people(
        decision_frame(study, candidates), page.selection, "task"
    )
    if frame.empty:
        no_answers(page, everyone, PURPOSE)
        return
    paper = page.system.paper
    minimum = votes_needed(candidate.meant for candidate in candidates)
    checks = [
        _check(name, kinds, candidates, frame, minimum)
        for name, kinds in kinds_by_name(
            "All candidates", {candidate.kind for candidate in candidates}
        ).items()
    ]
    whole, quality = checks[0], checks[0].decisions
    removed = quality.decided_positive
    of_candidates = f"{removed.hits:,} of {plural(removed.of, 'candidate')}"
    page.answer(_answer(quality, people, of_candidates))
    if page.selection.dataset is not None and page.selection.dataset.is_demo:
        page.banner(
            "Demo data",
            "Candidates and decisions come with the demo. They say nothing about a real checker.",
        )
    people_notices(page, people)
    note_single_votes(page, minimum, "task")
    tied = whole.votes.states[VoteOutcome.TIED]
    left = f"; {tied:,} on which people tie are left out of the other rates" if tied else ""
    page.figure(
        "rates",
        "The checker against the majority of people",
        lambda: _draw(page, whole, paper),
        subtitle="Positive: remove. With 95 % intervals by task; where all tasks agree, Wilson's "
        f"over tasks. The checker removed {of_candidates}{left}.",
    )
    published: list[Row] = [paper] if "removed" in paper.checks else []
    page.table(
        "rates",
        "The checker against the majority",
        [*checks, *published],
        _rate_columns(),
        # Candidates have no list of their own: numbers lead to all items of the study.
        link=lambda row: Link() if isinstance(row, CheckerQuality) else None,
        note=f"Positive: remove. {two_intervals('tasks', 'candidates')}",
    )
    yield
    page.table(
        "counts",
        "Counts of decisions, F1 and MCC",
        checks,
        [
            columns.text("Candidates", lambda row: row.name),
            columns.count("Both remove", lambda row: row.decisions.confusion.true_positive),
            columns.count(
                "People alone remove",
                lambda row: row.decisions.confusion.false_negative,
                help="Let through by the checker: false negatives",
            ),
            columns.count(
                "Checker alone removes",
                lambda row: row.decisions.confusion.false_positive,
                help="False positives",
            ),
            columns.count("Both keep", lambda row: row.decisions.confusion.true_negative),
            f1_column(),
            mcc_column(),
        ],
    )
    words = {
        VoteOutcome.UNANIMOUS: "Unanimous",
        VoteOutcome.MAJORITY: "Majority",
        VoteOutcome.TIED: "Tied",
        VoteOutcome.TOO_FEW: f"Under {minimum} votes",
    }
    if any(check.votes.states[VoteOutcome.NO_MAJORITY] for check in checks):
        words[VoteOutcome.NO_MAJORITY] = "No majority"
    page.table(
        "votes",
        "Outcomes of the votes",
        checks,
        [
            columns.text("Candidates", lambda row: row.name),
            *(
                columns.count(word, lambda row, state=state: row.votes.states[state])  # type: ignore[misc]
                for state, word in words.items()
            ),
            columns.estimate("Share unanimous", lambda row: row.votes.unanimous_share, "share"),
        ],
        note="Ties are left out of the rates, and listed below.",
    )
    differences = _differences(whole, candidates)
    page.table(
        "differences",
        "Where checker and majority differ, and where people tie",
        differences,
        _difference_columns(),
        most=MOST_ROWS,
    )
    page.table(
        "people",
        "Agreement between people",
        checks,
        [
            columns.text("Candidates", lambda row: row.name),
            columns.count(
                "Decided twice",
                lambda row: row.people.items,
                help="Candidates that two people or more decided about",
            ),
            alpha_column(lambda row: row.people),
            equal_column("Equal", lambda row: row.people),
        ],
        note="95 % intervals are by task. Where nearly all decisions are the same alpha is low "
        "however often people agree: read it beside the share of equal pairs.",
    )
    if not differences:
        page.info(
            "Checker and majority differ nowhere: every compared decision is the same, and none "
            "is tied."
            if quality.clusters
            else "No decision can be compared yet."
        )
    page.how(f"Dataset {chosen_runs.dataset_name(page.selection)}.")
    people_details(page, people, everyone)
    checkers = sorted({c.decided_by for c in candidates if c.decided_by})
    made_by = f"; checker: {', '.join(checkers)}" if checkers else ""
    intervals = how_rates([quality.accuracy, quality.decided_positive])
    page.how(
        f"Checker: the decisions stored with {plural(len(candidates), 'candidate')}{made_by}.",
        "Majority: what more than half of a candidate's annotators said; it needs "
        f"{plural(minimum, 'annotator')}. Ties are not resolved. Cannot tell is a vote of its own; "
        "a candidate that the majority cannot tell about is left out.",
        f"Compared: {plural(quality.n, 'candidate')} of {plural(quality.clusters, 'task')}. Left "
        f"out: {counted(quality.excluded) or 'none'}.",
        "Positive: remove. FNR = share of what the majority would remove that the checker let "
        "through; FPR = share of what the majority would keep that the checker removed; precision "
        "= share of what the checker removed that the majority would remove; recall = 1 − FNR. "
        "With keep as the positive class FNR and FPR change places. F1 is the harmonic mean of "
        "precision and recall; MCC is Matthews’ correlation, which both classes count for.",
        "Removed is over all candidates with a decision, compared or not; on average: the mean of "
        "each task's share.",
        f"95 % intervals: {intervals}. Candidates of one task are not independent: read the one by "
        "task.",
        "Among people: Krippendorff's alpha, nominal, and the share of equal pairs of decisions.",
    )
    if published:
        page.how(
            f"Published ({paper.name}, {paper.checks['removed'].source}): 42.18 % removed on "
            "average, FNR 2.31 %, FPR 3.72 %; without counts or intervals, and without naming the "
            "positive class."
        )
    page.methods(
        "The checker's decisions are compared with what more than half of a candidate's annotators "
        "decided; the positive class is remove, and ties are left out. Rates: 95 % intervals, "
        f"{intervals}."
    )


def _answer(quality: DecisionQuality, people: AnswerCounts, of_candidates: str) -> str:
    """State which share the checker let through, and which it lost."""
    if quality.decided_positive.wilson.value is None:
        return f"{who_answered(people)} decided, but the checker's decisions are not known."
    if not quality.n:
        return (
            f"The checker removed {of_candidates}; no decision can be compared yet: "
            f"{counted(quality.excluded)}."
        )
    return (
        f"Of what the majority of {who_answered(people)} would remove, the checker let through "
        f"{rate_words(quality.false_negative_rate, 'FNR')}; of what they would keep, it removed "
        f"{rate_words(quality.false_positive_rate, 'FPR')}."
    )


def rate_of(row: CheckerQuality, measure: str) -> Rate:
    """Return a rate by its name; “removed” is over all candidates with a decision."""
    rate: Rate = getattr(row.decisions, "decided_positive" if measure == "removed" else measure)
    return rate


def _differences(
    whole: CheckerQuality, candidates: Sequence[AskedCandidate]
) -> list[FilterDifference]:
    """Return the candidates on which the checker and the majority differ, or people tie."""
    decided = (VoteOutcome.UNANIMOUS, VoteOutcome.MAJORITY)
    differences = []
    for candidate in candidates:
        verdict = whole.votes.by_item[candidate.place]
        differs = verdict.state in decided and candidate.decision not in (None, verdict.value)
        if differs or verdict.state is VoteOutcome.TIED:
            differences.append(FilterDifference(candidate, verdict))
    return differences


def _kind_of(row: FilterDifference) -> str:
    """Return the kind of difference: tied, let through (by the checker), or lost."""
    if row.verdict.state is VoteOutcome.TIED:
        return "tied"
    if row.verdict.value == UNSURE:
        return UNSURE
    return "let through" if row.verdict.value == REMOVE else "lost"


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
            unsure=UNSURE,
            clusters=tasks,
            unit="task",
            seed=SEED,
        ),
        majorities,
        category_agreement(votes, clusters=tasks, unit="task", seed=SEED),
    )


def _rate_columns() -> list[Column[Row]]:
    """Give every rate, of the checks here and as published."""
    average = "Mean over tasks of each one's share removed"
    return [
        name_column("Candidates", "removed"),
        beside(parts.number_column("Compared"), lambda row: count_cell(row.decisions.n)),
        beside(
            parts.number_column("Tasks"),
            lambda row: count_cell(row.decisions.clusters),
            lambda paper: count_cell(paper.checks["removed"].units),
        ),
        rate_beside(
            "Removed", "Of all candidates with a decision", lambda row: rate_of(row, "removed")
        ),
        beside(
            parts.estimate_column("Removed on average", help=average),
            lambda row: estimate_cell(row.decisions.mean_share, "share"),
            _published_mean,
        ),
        *(_rate(measure, *words) for measure, words in MEASURES.items()),
        beside(parts.text_column("Left out"), lambda row: left_out_cell(row.decisions.excluded)),
    ]


def _rate(measure: str, label: str, help: str) -> Column[Row]:
    return rate_beside(label, help, lambda row: rate_of(row, measure), measure)


def _published_mean(paper: PaperStatements) -> Cell:
    removed = paper.checks["removed"]
    data = (removed.share, None, None, removed.units, PUBLISHED)
    return Cell(f"{100 * removed.share:.2f} %", data, source=removed.source)


def _difference_columns() -> list[Column[FilterDifference]]:
    """Give each candidate with its votes and the checker's decision."""
    kinds = "Let through: people would remove it; lost: people would keep it"
    people = parts.Column(
        "People remove",
        ("people remove", "people keep", "cannot tell"),
        help="Of those who decided",
    )
    return [
        columns.text(
            "Task",
            lambda row: row.candidate.task_name,
            url=lambda row: addresses.address("benchmarks:task", task_id=row.candidate.task),
        ),
        columns.text("Kind", lambda row: KIND_WORDS.get(row.candidate.kind, row.candidate.kind)),
        columns.sentences("Candidate", lambda row: row.candidate.text),
        columns.text("Difference", _kind_of, help=kinds),
        Column(people, _votes),
        Column(parts.Column("Checker", ("checker", "reason"), num=False), _decision),
    ]


def _votes(row: FilterDifference) -> Cell:
    removes, keeps, unsure = (row.verdict.counts.get(word, 0) for word in (REMOVE, KEEP, UNSURE))
    sub = f"{unsure} cannot tell" if unsure else ""
    return Cell(f"{removes} of {removes + keeps + unsure}", (removes, keeps, unsure), sub=sub)


def _decision(row: FilterDifference) -> Cell:
    candidate = row.candidate
    return Cell(
        candidate.decision or "",
        (candidate.decision, candidate.reason),
        sub=candidate.reason,
        reason="" if candidate.decision else "no decision is stored",
    )


def _draw(page: Page, whole: CheckerQuality, paper: PaperStatements) -> Figure:
    """Draw the rates of all candidates, with the published ones."""
    estimates = [read_first(rate_of(whole, measure)) for measure in SHOWN]
    published = {
        words: published_count_estimate(paper.checks[measure])
        for measure, words in SHOWN.items()
        if measure in paper.checks
    }
    urls = [page.url()] * len(estimates)
    return share_dots(
        list(SHOWN.values()),
        [Shares("here", estimates, "circle", ACCENT, urls=urls)],
        title="Share of candidates",
        published=[PublishedShares(values=published)] if published else [],
    )
