"""The columns of the page about judgings."""

from collections.abc import Sequence

from analysis.pages.declaration import ColumnOf, count_of, estimate_of, text_of
from analysis.pages.judgings.rows import (
    AgentVerdicts,
    JudgeChange,
    JudgingsResult,
    JudgingSummary,
    OwnReplies,
    TurnedVerdict,
)
from analysis.reports import addresses, run_marks
from analysis.reports.content import (
    Cell,
    Column,
    count_cell,
    estimate_cell,
    estimate_column,
    number_column,
    points_cell,
    text_cell,
    text_column,
    words_column,
)
from analysis.stats.descriptive.rates import Rate
from analysis.stats.results import Estimate

MOST_IDS = 500


def judging_columns(_: JudgingsResult) -> Sequence[ColumnOf[JudgingSummary]]:
    """Give each judging its judges, and how they were asked."""
    return (
        ColumnOf(text_column("Judging"), _judging),
        count_of("Runs", lambda row: row.runs),
        text_of("Judges", lambda row: ", ".join(row.judge_names)),
        count_of(
            "Replies",
            lambda row: row.replies,
            help="How often a judge was asked about one turn at most",
        ),
        ColumnOf(
            words_column("How judges were asked", "how"),
            lambda row: text_cell(row.asked or "as usual"),
        ),
    )


def _judging(row: JudgingSummary) -> Cell:
    rejudged = row.judged.made_by is not None
    return text_cell(row.name, url=row.url, sub="later" if rejudged else "during the run")


CONSISTENCY: tuple[ColumnOf[OwnReplies], ...] = (
    estimate_of(
        "Equal",
        lambda row: row.one.equal,
        "share",
        help="Pairs of replies to one item with the same score",
        show_n=True,
    ),
    estimate_of(
        "Within one", lambda row: row.one.within_one, "share", help="Pairs at most one point apart"
    ),
    estimate_of(
        "SD",
        lambda row: row.one.sd,
        "points",
        part="sd",
        help="Within-judge standard deviation, in points",
    ),
    estimate_of(
        "Kappa", lambda row: row.one.kappa, "points", help="Fleiss', quadratically weighted"
    ),
    estimate_of("ICC1", lambda row: row.one.icc, "points", help="One-way random, a single reply"),
    ColumnOf(
        estimate_column("Unreadable", help="Replies without a readable score, of all asked for"),
        lambda row: rate_cell(row.one.unreadable),
    ),
)


def own_columns(_: JudgingsResult) -> Sequence[ColumnOf[OwnReplies]]:
    """Give each judge how far it agrees with itself."""
    return (
        text_of("Judge", lambda row: row.judge),
        text_of("Judging", lambda row: row.judging),
        count_of("Replies", lambda row: row.one.replicates, help="To one item, at most"),
        *CONSISTENCY,
    )


CHANGE: tuple[ColumnOf[JudgeChange], ...] = (
    estimate_of(
        "First",
        lambda row: row.change.first,
        "points",
        part="first judging",
        help="Mean score in the first judging, over items scored in both",
    ),
    estimate_of(
        "Second",
        lambda row: row.change.second,
        "points",
        part="second judging",
        help="Mean score in the second judging, over the same items",
    ),
    estimate_of(
        "Difference",
        lambda row: row.change.difference,
        "points",
        help="Mean of second minus first, in points",
        signed=True,
        show_n=True,
    ),
    estimate_of(
        "Size",
        lambda row: row.change.absolute,
        "points",
        help="Mean absolute difference of first replies, in points",
    ),
    ColumnOf(
        estimate_column("Changed", help="Share of first replies with another score"),
        lambda row: rate_cell(row.change.changed),
    ),
    estimate_of(
        "Kappa",
        lambda row: row.change.kappa,
        "points",
        help="Cohen's, quadratically weighted, of first replies",
    ),
    count_of("Higher", lambda row: row.change.up),
    count_of("Lower", lambda row: row.change.down),
)


def change_columns(_: JudgingsResult) -> Sequence[ColumnOf[JudgeChange]]:
    """Give each judge its mean score in both judgings, and what changes between them."""
    return (text_of("Judge", lambda row: row.judge), *CHANGE)


def verdict_columns(_: JudgingsResult) -> Sequence[ColumnOf[AgentVerdicts]]:
    """Give each agent how many verdicts turn, and the shares that pass in both judgings."""
    return (
        ColumnOf(
            Column("Agent", ("agent", "kind", "run"), num=False),
            lambda row: run_marks.agent_cell(row.run) if row.run is not None else text_cell("All"),
        ),
        _passing("First", "passes first", "Share that passes in the first judging"),
        _passing("Second", "passes second", "Share that passes in the second judging"),
        ColumnOf(
            estimate_column("Change", help="Share that passes, second minus first"),
            lambda row: points_cell(row.change.difference),
        ),
        ColumnOf(
            estimate_column(
                "Turned", help="Share of trajectories whose last plan passes once alone"
            ),
            lambda row: rate_cell(row.change.flipped, url=_list(row.ids()), show_n=True),
        ),
        ColumnOf(
            number_column("Pass now", help="Failed in the first judging, pass in the second"),
            lambda row: count_cell(row.change.gained, url=_list(row.ids(True))),
        ),
        ColumnOf(
            number_column("Fail now"),
            lambda row: count_cell(row.change.lost, url=_list(row.ids(False))),
        ),
    )


def _passing(label: str, part: str, help: str) -> ColumnOf[AgentVerdicts]:
    def share(row: AgentVerdicts) -> Estimate:
        return row.change.first if label == "First" else row.change.second

    return estimate_of(label, share, "share", part=part, help=help)


def turned_columns(_: JudgingsResult) -> Sequence[ColumnOf[TurnedVerdict]]:
    """Give each trajectory whose verdict turned its address."""
    return (
        ColumnOf(
            text_column("Task"),
            lambda row: text_cell(row.task_name, url=row.url, sub=row.prompt[:100]),
        ),
        text_of("Agent", lambda row: row.agent),
        text_of("In the second judging", lambda row: "passes now" if row.passes else "fails now"),
    )


def rate_cell(rate: Rate, *, url: str = "", show_n: bool = False) -> Cell:
    """Return a share, with the interval that draws clusters where there is one, else Wilson's."""
    found = rate.clustered if rate.clustered.interval is not None else rate.wilson
    return estimate_cell(found, "share", url=url, show_n=show_n)


def _list(pks: Sequence[int]) -> str:
    return addresses.trajectories({"ids": pks}) if 0 < len(pks) <= MOST_IDS else ""
