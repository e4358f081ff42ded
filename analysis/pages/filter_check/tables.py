"""The tables of the page about candidates that people kept or removed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.frames.filter_decisions import AskedCandidate
from analysis.pages.violation_check.tables import DRAWN, KIND_WORDS, MOST_ROWS, left_out_cell
from analysis.reports import common
from analysis.reports.content import (
    PUBLISHED,
    Cell,
    Column,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_column,
    text_cell,
    text_column,
    words_column,
)
from analysis.reports.formatting import counted
from analysis.reports.rates import published_rate_cell, rate_cell, rate_column
from analysis.stats.results import Estimate
from annotation.ratings.voting import VoteOutcome
from benchmarks.core.published import PaperStatements

if TYPE_CHECKING:
    from analysis.pages.filter_check.page import Checked

MEASURES = {
    "false_negative_rate": ("FNR", "Of what people would remove, what the checker let through"),
    "false_positive_rate": ("FPR", "Of what people would keep, what the checker removed"),
    "precision": ("Precision", "Of what the checker removed, what people would remove"),
    "recall": ("Recall", "Of what people would remove, what the checker removed"),
    "accuracy": ("Same decision", "Of all compared candidates"),
}


def rate_table(results: Sequence["Checked"], reference: PaperStatements) -> Table:
    """Every rate, for all candidates and by kind, beside the published."""
    columns = (
        text_column("Candidates"),
        number_column("Compared"),
        number_column("Tasks"),
        rate_column("Removed", help="Of all candidates with a decision"),
        estimate_column("Removed on average", help="Mean over tasks of each one's share removed"),
        *(rate_column(label, help=help) for label, help in MEASURES.values()),
        estimate_column("F1", help="Harmonic mean of precision and recall"),
        estimate_column("MCC", help="Matthews’ correlation: 0 is chance, 1 the same everywhere"),
        text_column("Left out"),
    )
    rows = [
        (
            text_cell(result.name),
            count_cell(result.decisions.n),
            count_cell(result.decisions.clusters),
            rate_cell(result.rate("removed")),
            estimate_cell(result.decisions.mean_share, "share"),
            *(rate_cell(result.rate(measure)) for measure in MEASURES),
            estimate_cell(result.decisions.f1, "share"),
            estimate_cell(result.decisions.mcc, "points"),
            left_out_cell(result.decisions.excluded, counted(result.decisions.excluded)),
        )
        for result in results
    ]
    removed = reference.checks.get("removed")
    if removed is not None:
        unknown = "not published"
        rows.append(
            (
                text_cell("Published", badges=(common.PUBLISHED_BADGE,), sub=removed.source),
                count_cell(None, reason=unknown),
                count_cell(removed.units),
                published_rate_cell(None),
                Cell(
                    f"{100 * removed.share:.2f} %",
                    (removed.share, None, None, removed.units, PUBLISHED),
                ),
                *(published_rate_cell(reference.checks.get(measure)) for measure in MEASURES),
                *(estimate_cell(Estimate.without_value(unknown), "share") for _ in range(2)),
                Cell(data=("",), reason=unknown),
            )
        )
    return Table(
        "rates",
        "The checker against the majority",
        columns,
        tuple(rows),
        note=f"Positive: remove. {DRAWN.format(clusters='tasks', what='candidates')}",
    )


def confusion_table(results: Sequence["Checked"]) -> Table:
    """The counts behind the rates."""
    columns = (
        text_column("Candidates"),
        number_column("Both remove"),
        number_column("People alone remove", help="Let through by the checker: false negatives"),
        number_column("Checker alone removes", help="False positives"),
        number_column("Both keep"),
    )
    rows = tuple(
        (
            text_cell(result.name),
            count_cell(result.decisions.confusion.true_positive),
            count_cell(result.decisions.confusion.false_negative),
            count_cell(result.decisions.confusion.false_positive),
            count_cell(result.decisions.confusion.true_negative),
        )
        for result in results
    )
    return Table("counts", "Counts of decisions", columns, rows)


def vote_table(results: Sequence["Checked"], minimum: int) -> Table:
    """What the votes came to."""
    words = {
        VoteOutcome.UNANIMOUS: "Unanimous",
        VoteOutcome.MAJORITY: "Majority",
        VoteOutcome.TIED: "Tied",
        VoteOutcome.TOO_FEW: f"Under {minimum} votes",
    }
    rows = tuple(
        (
            text_cell(result.name),
            *(count_cell(result.votes.states[state]) for state in words),
            estimate_cell(result.votes.unanimous_share, "share"),
        )
        for result in results
    )
    return Table(
        "votes",
        "What the votes came to",
        (
            text_column("Candidates"),
            *(number_column(word) for word in words.values()),
            estimate_column("Share unanimous"),
        ),
        rows,
        note="Ties are left out of the rates, and listed below.",
    )


def disagreement_table(whole: "Checked", candidates: Sequence[AskedCandidate]) -> Table:
    """Candidates on which the checker and the majority differ, or people tie."""
    verdicts = whole.votes.by_item
    rows = []
    for candidate in candidates:
        verdict = verdicts[candidate.place]
        tied = verdict.state is VoteOutcome.TIED
        decided = verdict.state in (VoteOutcome.UNANIMOUS, VoteOutcome.MAJORITY)
        if not tied and not (decided and candidate.decision not in (None, verdict.value)):
            continue
        removes, keeps = verdict.counts.get("remove", 0), verdict.counts.get("keep", 0)
        what = "tied" if tied else "let through" if verdict.value == "remove" else "lost"
        rows.append(
            (
                Cell(
                    candidate.task_name,
                    (candidate.task_name,),
                    url=common.address("benchmarks:task", task_id=candidate.task),
                ),
                text_cell(KIND_WORDS.get(candidate.kind, candidate.kind)),
                text_cell(candidate.text),
                text_cell(what),
                Cell(f"{removes} of {removes + keeps}", (removes, keeps)),
                Cell(
                    candidate.decision or "",
                    (candidate.decision, candidate.reason),
                    sub=candidate.reason,
                    reason="" if candidate.decision else "no decision is stored",
                ),
            )
        )
    none = "Nowhere: every compared decision is the same, and none is tied."
    if not whole.decisions.clusters:
        none = "No decision can be compared yet."
    return Table(
        "differences",
        "Where checker and majority differ, and where people tie",
        (
            text_column("Task"),
            text_column("Kind"),
            words_column("Candidate"),
            text_column(
                "Difference",
                help="Let through: people would remove it; lost: people would keep it",
            ),
            Column("People remove", ("people remove", "people keep"), help="Of those who decided"),
            Column("Checker", ("checker", "reason"), num=False),
        ),
        tuple(rows),
        note="" if rows else none,
        most=MOST_ROWS,
    )


def agreement_table(results: Sequence["Checked"]) -> Table:
    """How far people agree with each other."""
    columns = (
        text_column("Candidates"),
        number_column("Decided twice", help="Candidates that two people or more decided about"),
        estimate_column("Alpha", help="Krippendorff's alpha, nominal: 1 is perfect, 0 is chance"),
        estimate_column("Equal", help="Share of pairs of decisions that are equal"),
    )
    rows = tuple(
        (
            text_cell(result.name),
            count_cell(result.people.items),
            estimate_cell(result.people.alpha, "points"),
            estimate_cell(result.people.equal, "share"),
        )
        for result in results
    )
    return Table(
        "people",
        "Agreement between people",
        columns,
        rows,
        note="95 % intervals are by task. Where nearly all decisions are the same alpha is low "
        "however often people agree: read it beside the share of equal pairs.",
    )
