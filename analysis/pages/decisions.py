"""Columns of checks of decisions against the majority of people, beside what a paper reports."""

from collections.abc import Callable, Collection
from typing import Protocol, TypeVar

from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.reports import content, run_marks
from analysis.reports.content import Cell
from analysis.reports.published import published_rate_cell
from analysis.reports.rates import left_out_cell, rate_cell, rate_column
from analysis.stats.descriptive.rates import Rate
from analysis.stats.rater_agreement.decisions import DecisionQuality
from analysis.stats.rater_agreement.reliability import Reliability
from benchmarks.core.ports.published import PaperStatements

NOT_PUBLISHED = "not published"
KIND_TITLES = {"world": "Situation", "user": "Preferences"}
KIND_WORDS = {"world": "situation", "user": "preference"}


class Check(Protocol):
    """A check of decisions on constraints, or candidates for them, of some kinds."""

    @property
    def name(self) -> str: ...
    @property
    def decisions(self) -> DecisionQuality: ...


Checked = TypeVar("Checked", bound=Check)
Row = TypeVar("Row")


def kinds_by_name(everything: str, there: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the kinds of constraints that each check is about: on ``everything``, and on each."""
    own = {title: (kind,) for kind, title in KIND_TITLES.items() if kind in there}
    return {everything: tuple(KIND_TITLES), **own}


def beside(
    head: content.Column,
    here: Callable[[Checked], Cell],
    published: Callable[[PaperStatements], Cell] | None = None,
) -> Column[Checked | PaperStatements]:
    """Return a column of this study's checks, and of the paper: a dash, if nothing is given."""
    empty = (
        (None if head.num else "",)
        if len(head.parts) == 1
        else (
            *(None,) * (len(head.parts) - 1),
            NOT_PUBLISHED,
        )
    )
    nothing = Cell(data=empty, reason=NOT_PUBLISHED)

    def cell(row: Checked | PaperStatements) -> Cell:
        if not isinstance(row, PaperStatements):
            return here(row)
        return published(row) if published is not None else nothing

    return Column(head, cell)


def name_column(label: str, key: str) -> Column[Checked | PaperStatements]:
    """Return the names of checks; that of the paper says where its figure ``key`` stands."""

    def published(paper: PaperStatements) -> Cell:
        badges = (run_marks.PUBLISHED_BADGE,)
        return content.text_cell("Published", badges=badges, sub=paper.checks[key].source)

    head = content.text_column(label)
    return beside(head, lambda row: content.text_cell(row.name), published)


def rate_beside(
    label: str, help: str, rate: Callable[[Checked], Rate], key: str = ""
) -> Column[Checked | PaperStatements]:
    """Return a share with both intervals; ``key`` names the paper's figure."""
    return beside(
        rate_column(label, help=help),
        lambda row: rate_cell(rate(row)),
        lambda paper: published_rate_cell(paper.checks.get(key)),
    )


def left_out_column() -> Column[Checked]:
    """Return how many decisions of a check are left out, and why."""
    head = content.text_column("Left out")
    return Column(head, lambda row: left_out_cell(row.decisions.excluded))


def f1_column() -> Column[Checked]:
    """Return F1 of the decisions of a check, a share."""
    help = "Harmonic mean of precision and recall"
    return columns.estimate("F1", lambda row: row.decisions.f1, "share", help=help)


def mcc_column() -> Column[Checked]:
    """Return MCC of the decisions of a check, -1 to 1."""
    help = "Matthews’ correlation: 0 is chance, 1 the same everywhere"
    return columns.estimate("MCC", lambda row: row.decisions.mcc, "points", help=help)


def alpha_column(reliability: Callable[[Row], Reliability]) -> Column[Row]:
    """Return how far people agree on decisions, corrected for chance."""
    help = "Krippendorff's alpha, nominal: 1 is perfect, 0 is chance"
    return columns.estimate("Alpha", lambda row: reliability(row).alpha, "points", help=help)


def equal_column(label: str, reliability: Callable[[Row], Reliability]) -> Column[Row]:
    """Return the share of pairs of people's decisions that are equal."""
    help = "Share of pairs of decisions that are equal"
    return columns.estimate(label, lambda row: reliability(row).equal, "share", help=help)
