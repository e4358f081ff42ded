"""The columns of judges beside themselves and of a second judging, over all or by dimension."""

from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.pages.judgings.rows import JudgeChange, OwnReplies
from analysis.reports.rates import read_first

CONSISTENCY: tuple[Column[OwnReplies], ...] = (
    columns.estimate(
        "Equal",
        lambda row: row.one.equal,
        "share",
        help="Pairs of replies to one item with the same score",
        show_n=True,
    ),
    columns.estimate(
        "Within one", lambda row: row.one.within_one, "share", help="Pairs at most one point apart"
    ),
    columns.estimate(
        "SD",
        lambda row: row.one.sd,
        "points",
        part="sd",
        help="Within-judge standard deviation, in points",
    ),
    columns.estimate(
        "Kappa", lambda row: row.one.kappa, "points", help="Fleiss', quadratically weighted"
    ),
    columns.estimate(
        "ICC1", lambda row: row.one.icc, "points", help="One-way random, a single reply"
    ),
    columns.estimate(
        "Unreadable",
        lambda row: read_first(row.one.unreadable),
        "share",
        help="Replies without a readable score, of all asked for",
    ),
)
CHANGE: tuple[Column[JudgeChange], ...] = (
    columns.estimate(
        "First",
        lambda row: row.change.first,
        "points",
        part="first judging",
        help="Mean score in the first judging, over items scored in both",
    ),
    columns.estimate(
        "Second",
        lambda row: row.change.second,
        "points",
        part="second judging",
        help="Mean score in the second judging, over the same items",
    ),
    columns.estimate(
        "Difference",
        lambda row: row.change.difference,
        "points",
        help="Mean of second minus first, in points",
        signed=True,
        show_n=True,
    ),
    columns.estimate(
        "Size",
        lambda row: row.change.absolute,
        "points",
        help="Mean absolute difference of first replies, in points",
    ),
    columns.estimate(
        "Changed",
        lambda row: read_first(row.change.changed),
        "share",
        help="Share of first replies with another score",
    ),
    columns.estimate(
        "Kappa",
        lambda row: row.change.kappa,
        "points",
        help="Cohen's, quadratically weighted, of first replies",
    ),
    columns.count("Higher", lambda row: row.change.up),
    columns.count("Lower", lambda row: row.change.down),
)
