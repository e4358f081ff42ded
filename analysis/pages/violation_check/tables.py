"""The columns of the violation check."""

from collections.abc import Callable, Sequence

from analysis.pages.decisions import summary_columns
from analysis.pages.declaration import ColumnOf, count_of, estimate_of, text_of
from analysis.pages.violation_check.rows import JudgeQuality, ViolationCheck, ViolationDifference
from analysis.reports import run_marks
from analysis.reports.content import (
    Cell,
    Column,
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


def set_columns(_: ViolationCheck) -> Sequence[ColumnOf[Row]]:
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
    column: Column,
    here: Callable[[JudgeQuality], Cell],
    published: Callable[[PaperStatements], Cell],
) -> ColumnOf[Row]:
    """Return a column of this study's checks, and of the paper's."""
    return ColumnOf(
        column, lambda row: here(row) if isinstance(row, JudgeQuality) else published(row)
    )


def _mean(label: str, help: str, estimate: Callable[[JudgeQuality], Estimate]) -> ColumnOf[Row]:
    nothing = Cell(data=(None, None, None, None, NOT_PUBLISHED), reason=NOT_PUBLISHED)
    return _beside(
        estimate_column(label, help=help),
        lambda row: estimate_cell(estimate(row), "points"),
        lambda _: nothing,
    )


def _published_name(paper: PaperStatements) -> Cell:
    source = paper.checks["exact"].source
    return text_cell("Published", badges=(run_marks.PUBLISHED_BADGE,), sub=source)


def state_columns(result: ViolationCheck) -> Sequence[ColumnOf[tuple[TurnState, int, int]]]:
    """Give how many turns were compared, tied, or left out and why."""
    words = {
        TurnState.COMPARED: "Compared",
        TurnState.TIED: "Tied: exactly half marked some constraint",
        TurnState.TOO_FEW: f"Marked by fewer than {result.minimum}",
        TurnState.NO_JUDGE: "Judges gave no readable verdict",
    }
    return (
        text_of("Turns", lambda row: words[row[0]], "state"),
        count_of("Count", lambda row: row[1]),
        ColumnOf(
            number_column("Share"),
            lambda row: number_cell(row[1] / row[2] if row[2] else None, "share", reason="no turn"),
        ),
    )


def decision_columns(_: ViolationCheck) -> Sequence[ColumnOf[JudgeQuality]]:
    """Give the judges as deciders on each constraint of each turn."""
    return (
        text_of("Constraints", lambda row: row.name),
        count_of("Decisions", lambda row: row.decisions.n),
        count_of(
            "Both",
            lambda row: row.decisions.confusion.true_positive,
            "both violated",
            "Violated for the majority and for the judges",
        ),
        count_of(
            "People only",
            lambda row: row.decisions.confusion.false_negative,
            help="Violated for the majority alone: missed",
        ),
        count_of(
            "Judges only",
            lambda row: row.decisions.confusion.false_positive,
            help="Violated for the judges alone: extra",
        ),
        count_of(
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
        *(ColumnOf(column.head, column.cell) for column in summary_columns(_decisions)),
        ColumnOf(text_column("Left out"), lambda row: left_out_cell(row.decisions.excluded)),
    )


def _decisions(row: JudgeQuality) -> DecisionQuality:
    return row.decisions


def _rate(label: str, help: str, measure: str) -> ColumnOf[JudgeQuality]:
    def cell(row: JudgeQuality) -> Cell:
        found: Rate = getattr(row.decisions, measure)
        return rate_cell(found)

    return ColumnOf(rate_column(label, help=help), cell)


def difference_columns(_: ViolationCheck) -> Sequence[ColumnOf[ViolationDifference]]:
    """Give each constraint with its votes and the judges' verdict."""
    return (
        ColumnOf(
            Column("Turn", ("trajectory", "turn"), num=False),
            lambda row: Cell(
                f"Trajectory {row.place[0]}, turn {row.place[1]}", row.place, url=row.link.url
            ),
        ),
        text_of("Agent", lambda row: row.agent),
        text_of("Kind", lambda row: KIND_WORDS[row.constraint_kind]),
        ColumnOf(words_column("Constraint"), lambda row: text_cell(row.constraint)),
        ColumnOf(
            text_column("Difference", help="Missed: people alone; extra: judges alone"),
            lambda row: text_cell(row.kind),
        ),
        ColumnOf(
            Column("Marked by", ("marked by", "annotators"), help="Annotators who marked it"),
            lambda row: Cell(f"{row.marked} of {row.annotators}", (row.marked, row.annotators)),
        ),
        text_of("Judges", lambda row: "violated" if row.found_by_judges else "respected"),
    )


def agreement_columns(_: ViolationCheck) -> Sequence[ColumnOf[JudgeQuality]]:
    """Give how far people agree with each other, on sets and on single constraints."""
    return (
        text_of("Constraints", lambda row: row.name),
        count_of(
            "Turns", lambda row: row.people.items, help="Turns that two people or more marked"
        ),
        estimate_of(
            "Jaccard",
            lambda row: row.people.jaccard,
            "points",
            help="Mean over pairs of annotators and over turns",
        ),
        estimate_of(
            "Equal sets",
            lambda row: row.people.equal,
            "share",
            help="Share of pairs of sets of one turn that are equal",
        ),
        count_of(
            "Decisions",
            lambda row: row.each.items,
            help="Constraints in turns that two people or more decided",
        ),
        estimate_of(
            "Alpha",
            lambda row: row.each.alpha,
            "points",
            help="Krippendorff's alpha, nominal: 1 is perfect, 0 is chance",
        ),
        estimate_of(
            "Equal decisions",
            lambda row: row.each.equal,
            "share",
            help="Share of pairs of decisions that are equal",
        ),
    )
