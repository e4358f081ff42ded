"""The columns of the violation check."""

from collections.abc import Callable, Sequence

from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.pages.decisions import summary_columns
from analysis.pages.violation_check.rows import JudgeQuality, ViolationDifference, turn_url
from analysis.reports import content, run_marks
from analysis.reports.content import (
    Cell,
    count_cell,
    estimate_cell,
    estimate_column,
    number_cell,
    number_column,
    text_cell,
    text_column,
    words_column,
)
from analysis.reports.published import published_rate_cell
from analysis.reports.rates import left_out_cell, rate_cell, rate_column
from analysis.stats.descriptive.rates import Rate
from analysis.stats.rater_agreement.decisions import DecisionQuality
from analysis.stats.rater_agreement.marked_sets import TurnState
from analysis.stats.results import Estimate
from benchmarks.core.ports.published import PaperStatements

KIND_WORDS = {"world": "situation", "user": "preference"}
NOT_PUBLISHED = "not published"
# A check of this study, or the paper's.
Row = JudgeQuality | PaperStatements


def set_columns() -> Sequence[Column[Row]]:
    """Give equal sets, sets within one and what is missed and extra, here and as published."""
    return (
        _beside(text_column("Constraints"), lambda row: text_cell(row.name), _published_name),
        _beside(
            number_column("Turns"),
            lambda row: count_cell(row.sets.turns),
            lambda paper: count_cell(paper.checks["exact"].of),
        ),
        _beside(
            number_column("Trajectories"),
            lambda row: count_cell(row.sets.trajectories),
            lambda paper: count_cell(paper.checks["exact"].units),
        ),
        _beside(
            rate_column("Equal", help="Both sets are the same"),
            lambda row: rate_cell(row.sets.exact),
            lambda paper: published_rate_cell(paper.checks["exact"]),
        ),
        _beside(
            rate_column("Within one", help="The sets differ in at most one constraint"),
            lambda row: rate_cell(row.sets.within_one),
            lambda paper: published_rate_cell(paper.checks.get("within_one")),
        ),
        _mean(
            "Jaccard",
            "Mean of common constraints over all that either marked",
            lambda row: row.sets.jaccard,
        ),
        _mean(
            "Missed", "Constraints per turn that people alone marked", lambda row: row.sets.missed
        ),
        _mean(
            "Extra", "Constraints per turn that the judges alone found", lambda row: row.sets.extra
        ),
        _beside(
            number_column("Both empty", help="Compared turns in which nobody marked anything"),
            lambda row: count_cell(row.sets.both_empty),
            lambda _: count_cell(None, reason=NOT_PUBLISHED),
        ),
    )


def _beside(
    column: content.Column,
    here: Callable[[JudgeQuality], Cell],
    published: Callable[[PaperStatements], Cell],
) -> Column[Row]:
    """Return a column of this study's checks, and of the paper's."""
    return Column(
        column, lambda row: here(row) if isinstance(row, JudgeQuality) else published(row)
    )


def _mean(label: str, help: str, estimate: Callable[[JudgeQuality], Estimate]) -> Column[Row]:
    nothing = Cell(data=(None, None, None, None, NOT_PUBLISHED), reason=NOT_PUBLISHED)
    return _beside(
        estimate_column(label, help=help),
        lambda row: estimate_cell(estimate(row), "points"),
        lambda _: nothing,
    )


def _published_name(paper: PaperStatements) -> Cell:
    source = paper.checks["exact"].source
    return text_cell("Published", badges=(run_marks.PUBLISHED_BADGE,), sub=source)


def state_columns(minimum: int) -> Sequence[Column[tuple[TurnState, int, int]]]:
    """Give how many turns were compared, tied, or left out and why."""
    words = {
        TurnState.COMPARED: "Compared",
        TurnState.TIED: "Tied: exactly half marked some constraint",
        TurnState.TOO_FEW: f"Marked by fewer than {minimum}",
        TurnState.NO_JUDGE: "Judges gave no readable verdict",
    }
    return (
        columns.text("Turns", lambda row: words[row[0]], "state"),
        columns.count("Count", lambda row: row[1]),
        Column(
            number_column("Share"),
            lambda row: number_cell(row[1] / row[2] if row[2] else None, "share", reason="no turn"),
        ),
    )


def decision_columns() -> Sequence[Column[JudgeQuality]]:
    """Give the judges as deciders on each constraint of each turn."""
    return (
        columns.text("Constraints", lambda row: row.name),
        columns.count("Decisions", lambda row: row.decisions.n),
        columns.count(
            "Both",
            lambda row: row.decisions.confusion.true_positive,
            "both violated",
            "Violated for the majority and for the judges",
        ),
        columns.count(
            "People only",
            lambda row: row.decisions.confusion.false_negative,
            help="Violated for the majority alone: missed",
        ),
        columns.count(
            "Judges only",
            lambda row: row.decisions.confusion.false_positive,
            help="Violated for the judges alone: extra",
        ),
        columns.count(
            "Neither",
            lambda row: row.decisions.confusion.true_negative,
            help="Respected for both",
        ),
        _rate("Precision", "Of what the judges found, what the majority marked", "precision"),
        _rate("Recall", "Of what the majority marked, what the judges found", "recall"),
        _rate("FNR", "Of what the majority marked, what the judges missed", "false_negative_rate"),
        _rate(
            "FPR", "Of what the majority did not mark, what the judges found", "false_positive_rate"
        ),
        *summary_columns(_decisions),
        Column(text_column("Left out"), lambda row: left_out_cell(row.decisions.excluded)),
    )


def _decisions(row: JudgeQuality) -> DecisionQuality:
    return row.decisions


def _rate(label: str, help: str, measure: str) -> Column[JudgeQuality]:
    def cell(row: JudgeQuality) -> Cell:
        rate: Rate = getattr(row.decisions, measure)
        return rate_cell(rate)

    return Column(rate_column(label, help=help), cell)


def difference_columns() -> Sequence[Column[ViolationDifference]]:
    """Give each constraint with its votes and the judges' verdict."""
    return (
        Column(
            content.Column("Turn", ("trajectory", "turn"), num=False),
            lambda row: Cell(
                f"Trajectory {row.place[0]}, turn {row.place[1]}",
                row.place,
                url=turn_url(*row.place),
            ),
        ),
        columns.text("Agent", lambda row: row.agent),
        columns.text("Kind", lambda row: KIND_WORDS[row.constraint_kind]),
        Column(words_column("Constraint"), lambda row: text_cell(row.constraint)),
        Column(
            text_column("Difference", help="Missed: people alone; extra: judges alone"),
            lambda row: text_cell(row.kind),
        ),
        Column(
            content.Column(
                "Marked by", ("marked by", "annotators"), help="Annotators who marked it"
            ),
            lambda row: Cell(f"{row.marked} of {row.annotators}", (row.marked, row.annotators)),
        ),
        columns.text("Judges", lambda row: "violated" if row.found_by_judges else "respected"),
    )


def agreement_columns() -> Sequence[Column[JudgeQuality]]:
    """Give how far people agree with each other, on sets and on single constraints."""
    return (
        columns.text("Constraints", lambda row: row.name),
        columns.count(
            "Turns", lambda row: row.people.items, help="Turns that two people or more marked"
        ),
        columns.estimate(
            "Jaccard",
            lambda row: row.people.jaccard,
            "points",
            help="Mean over pairs of annotators and over turns",
        ),
        columns.estimate(
            "Equal sets",
            lambda row: row.people.equal,
            "share",
            help="Share of pairs of sets of one turn that are equal",
        ),
        columns.count(
            "Decisions",
            lambda row: row.each.items,
            help="Constraints in turns that two people or more decided",
        ),
        columns.estimate(
            "Alpha",
            lambda row: row.each.alpha,
            "points",
            help="Krippendorff's alpha, nominal: 1 is perfect, 0 is chance",
        ),
        columns.estimate(
            "Equal decisions",
            lambda row: row.each.equal,
            "share",
            help="Share of pairs of decisions that are equal",
        ),
    )
