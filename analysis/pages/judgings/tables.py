"""The columns of the page about judgings."""

from collections.abc import Sequence

from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.pages.judgings.rows import (
    AgentVerdicts,
    JudgeChange,
    JudgingSummary,
    OwnReplies,
    TurnedVerdict,
    run_url,
    turned_ids,
)
from analysis.reports import addresses, content, run_marks
from analysis.reports.content import (
    Cell,
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


def judging_columns() -> list[Column[JudgingSummary]]:
    """Return the judges of each judging, and how they were asked."""
    return [
        Column(text_column("Judging"), _judging),
        columns.count("Runs", lambda row: row.runs),
        columns.text("Judges", lambda row: ", ".join(row.judges.values())),
        columns.count(
            "Replies",
            lambda row: max((one.replicates for one in row.consistency.values()), default=0),
            help="How often a judge was asked about one turn at most",
        ),
        Column(
            words_column("How judges were asked", "how"),
            lambda row: text_cell(row.asked or "as usual"),
        ),
    ]


def _judging(row: JudgingSummary) -> Cell:
    rejudged = row.judged.made_by is not None
    return text_cell(row.name, url=run_url(row), sub="later" if rejudged else "during the run")


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
    Column(
        estimate_column("Unreadable", help="Replies without a readable score, of all asked for"),
        lambda row: rate_cell(row.one.unreadable),
    ),
)


def own_columns() -> list[Column[OwnReplies]]:
    """Return how far each judge agrees with itself."""
    return [
        columns.text("Judge", lambda row: row.judge),
        columns.text("Judging", lambda row: row.judging),
        columns.count("Replies", lambda row: row.one.replicates, help="To one item, at most"),
        *CONSISTENCY,
    ]


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
    Column(
        estimate_column("Changed", help="Share of first replies with another score"),
        lambda row: rate_cell(row.change.changed),
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


def change_columns() -> list[Column[JudgeChange]]:
    """Return the mean scores of each judge in both judgings, and what changes between them."""
    return [columns.text("Judge", lambda row: row.judge), *CHANGE]


def verdict_columns() -> list[Column[AgentVerdicts]]:
    """Return how many verdicts of each agent turn, and the shares that pass in both judgings."""
    return [
        Column(
            content.Column("Agent", ("agent", "kind", "run"), num=False),
            lambda row: run_marks.agent_cell(row.run) if row.run is not None else text_cell("All"),
        ),
        _passing("First", "passes first", "Share that passes in the first judging"),
        _passing("Second", "passes second", "Share that passes in the second judging"),
        Column(
            estimate_column("Change", help="Share that passes, second minus first"),
            lambda row: points_cell(row.change.difference),
        ),
        Column(
            estimate_column(
                "Turned", help="Share of trajectories whose last plan passes once alone"
            ),
            lambda row: rate_cell(row.change.flipped, url=_list(turned_ids(row)), show_n=True),
        ),
        Column(
            number_column("Pass now", help="Failed in the first judging, pass in the second"),
            lambda row: count_cell(row.change.gained, url=_list(turned_ids(row, True))),
        ),
        Column(
            number_column("Fail now"),
            lambda row: count_cell(row.change.lost, url=_list(turned_ids(row, False))),
        ),
    ]


def _passing(label: str, part: str, help: str) -> Column[AgentVerdicts]:
    def share(row: AgentVerdicts) -> Estimate:
        return row.change.first if label == "First" else row.change.second

    return columns.estimate(label, share, "share", part=part, help=help)


def turned_columns() -> list[Column[TurnedVerdict]]:
    """Return the trajectories whose verdict turned, with their addresses."""
    return [
        Column(
            text_column("Task"),
            lambda row: text_cell(
                row.task_name,
                url=addresses.address("analysis:trajectory", trajectory_id=row.trajectory),
                sub=row.prompt[:100],
            ),
        ),
        columns.text("Agent", lambda row: row.agent),
        columns.text(
            "In the second judging", lambda row: "passes now" if row.passes else "fails now"
        ),
    ]


def rate_cell(rate: Rate, *, url: str = "", show_n: bool = False) -> Cell:
    """Return a share, with the interval that draws clusters where there is one, else Wilson's."""
    found = rate.clustered if rate.clustered.interval is not None else rate.wilson
    return estimate_cell(found, "share", url=url, show_n=show_n)


def _list(pks: Sequence[int]) -> str:
    return addresses.trajectories({"ids": pks}) if 0 < len(pks) <= MOST_IDS else ""
