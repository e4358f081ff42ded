"""The columns of the filter check."""

from collections.abc import Callable, Sequence

from analysis.pages.declaration import ColumnOf, count_of, estimate_of, text_of
from analysis.pages.filter_check.rows import Checked, FilterCheck, FilterDifference
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
from analysis.reports.rates import left_out_cell, published_rate_cell, rate_cell, rate_column
from analysis.stats.results import Estimate
from annotation.ratings.voting import VoteOutcome
from benchmarks.core.ports.published import PaperStatements

NOT_PUBLISHED = "not published"
MEASURES = {
    "false_negative_rate": ("FNR", "Of what people would remove, what the checker let through"),
    "false_positive_rate": ("FPR", "Of what people would keep, what the checker removed"),
    "precision": ("Precision", "Of what the checker removed, what people would remove"),
    "recall": ("Recall", "Of what people would remove, what the checker removed"),
    "accuracy": ("Same decision", "Of all compared candidates"),
}
# A check of this study, or the paper's.
Row = Checked | PaperStatements


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
        _beside(
            estimate_column("F1", help="Harmonic mean of precision and recall"),
            lambda row: estimate_cell(row.decisions.f1, "share"),
            _no_estimate,
        ),
        _beside(
            estimate_column(
                "MCC", help="Matthews’ correlation: 0 is chance, 1 the same everywhere"
            ),
            lambda row: estimate_cell(row.decisions.mcc, "points"),
            _no_estimate,
        ),
        _beside(text_column("Left out"), lambda row: left_out_cell(row.decisions.excluded)),
    )


def _beside(
    column: Column,
    here: Callable[[Checked], Cell],
    published: Callable[[PaperStatements], Cell] | None = None,
) -> ColumnOf[Row]:
    """A column of this study's checks; of the paper it has a dash, if nothing is given."""
    nothing = Cell(data=(None,) if column.num else ("",), reason=NOT_PUBLISHED)
    return ColumnOf(
        column,
        lambda row: (
            here(row)
            if isinstance(row, Checked)
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
    return Cell(f"{100 * removed.share:.2f} %", data)


def _no_estimate(_: PaperStatements) -> Cell:
    return estimate_cell(Estimate.without_value(NOT_PUBLISHED), "share")


def count_columns(_: FilterCheck) -> Sequence[ColumnOf[Checked]]:
    """Give the counts behind the rates."""
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
    )


def vote_columns(result: FilterCheck) -> Sequence[ColumnOf[Checked]]:
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


def agreement_columns(_: FilterCheck) -> Sequence[ColumnOf[Checked]]:
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
