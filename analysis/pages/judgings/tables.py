"""The tables of the page about judgings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.filters.options import Judged
from analysis.filters.selection import Selection
from analysis.frames.judgings import JudgeSeat
from analysis.pages.conditions.tables import points_cell
from analysis.reports import common
from analysis.reports.content import (
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
from analysis.stats.descriptive.rates import Rate
from analysis.stats.judges.rejudging import ScoreChange, VerdictChange
from analysis.stats.judges.repeats import Consistency
from benchmarks.models import Trajectory

MOST_FLIPS = 50
MOST_IDS = 500


@dataclass(frozen=True)
class JudgingSummary:
    """One judging of the page: its name, its judges, and how far each agrees with itself."""

    which: str
    name: str
    judged: Judged
    runs: int
    judges: Mapping[JudgeSeat, str]
    consistency: Mapping[JudgeSeat, Consistency]


@dataclass(frozen=True)
class JudgingChanges:
    """What the second judging changes: of all judges together and of each, and in verdicts."""

    scores: Mapping[str, ScoreChange]
    alone: tuple[str, ...]
    verdicts: Mapping[str, VerdictChange]
    flipped: Sequence[tuple[int, str, bool]]

    @property
    def all(self) -> VerdictChange | None:
        return self.verdicts.get("")


def judgings_table(found: Sequence[JudgingSummary], differ: Mapping[str, str]) -> Table:
    """Which judgings are compared, who judged and how they were asked."""
    rows = []
    for again in found:
        made_by = again.judged.made_by
        replies = max((one.replicates for one in again.consistency.values()), default=0)
        rows.append(
            (
                text_cell(
                    again.name,
                    url=common.address("benchmarks:run", run_id=made_by) if made_by else "",
                    sub="while it was played" if made_by is None else "later",
                ),
                count_cell(again.runs),
                text_cell(", ".join(again.judges.values())),
                count_cell(replies),
                text_cell(differ[again.which] or "as usual"),
            )
        )
    columns = (
        text_column("Judging"),
        number_column("Runs"),
        text_column("Judges"),
        number_column("Replies", help="How often a judge was asked about one turn at most"),
        words_column("How judges were asked", "how"),
    )
    return Table("judgings", "The judgings", columns, tuple(rows))


def consistency_table(found: Sequence[JudgingSummary]) -> Table:
    """How far each judge agrees with itself."""
    rows = []
    for again in found:
        for sitting, judge in again.judges.items():
            one = again.consistency[sitting]
            rows.append(
                (
                    text_cell(judge),
                    text_cell(again.name),
                    count_cell(one.replicates),
                    estimate_cell(one.equal, "share", show_n=True),
                    estimate_cell(one.within_one, "share"),
                    estimate_cell(one.sd, "points"),
                    estimate_cell(one.kappa, "points"),
                    estimate_cell(one.icc, "points"),
                    rate_cell(one.unreadable),
                )
            )
    columns = (
        text_column("Judge"),
        text_column("Judging"),
        number_column("Replies", help="To one item, at most"),
        estimate_column("Equal", help="Pairs of replies to one item with the same score"),
        estimate_column("Within one", help="Pairs at most one point apart"),
        estimate_column("SD", "sd", help="Within-judge standard deviation, in points"),
        estimate_column("Kappa", help="Fleiss', quadratically weighted"),
        estimate_column("ICC1", help="One-way random, a single reply"),
        estimate_column("Unreadable", help="Replies without a readable score, of all asked for"),
    )
    return Table(
        "consistency",
        "Each judge beside itself",
        columns,
        tuple(rows),
        note="Over all dimensions of the turns that are counted; 95 % intervals are by task. Kappa "
        "and ICC are low where plans hardly differ, however often replies are equal.",
    )


def change_table(scores: Mapping[str, ScoreChange], panel: str) -> Table:
    """What the second judging changes in scores."""
    rows = tuple(change_cells(judge, change) for judge, change in scores.items())
    return Table(
        "change",
        "What the second judging changes in scores",
        (text_column("Judge"), *CHANGE_COLUMNS),
        rows,
        note="Second minus first, paired by turn and dimension; 95 % intervals are by task. Of "
        f"{panel} the mean is compared, which moves if any score does and has no kappa.",
    )


CHANGE_COLUMNS = (
    estimate_column("Difference", help="Mean of second minus first, in points"),
    estimate_column("Size", help="Mean absolute difference of first replies, in points"),
    estimate_column("Changed", help="Share of first replies with another score"),
    estimate_column("Kappa", help="Cohen's, quadratically weighted, of first replies"),
    number_column("Higher"),
    number_column("Lower"),
)


def change_cells(name: str, change: ScoreChange) -> tuple[Cell, ...]:
    """A row of `CHANGE_COLUMNS` after a name."""
    return (
        text_cell(name),
        estimate_cell(change.difference, "points", signed=True, show_n=True),
        estimate_cell(change.absolute, "points"),
        rate_cell(change.changed),
        estimate_cell(change.kappa, "points"),
        count_cell(change.up),
        count_cell(change.down),
    )


def verdict_table(changes: JudgingChanges, selection: Selection) -> list[Table]:
    """How many verdicts turn, by agent and of all."""
    runs = {run.label: run for run in selection.runs}
    turned: dict[str, dict[bool, list[int]]] = {}
    for pk, label, passes in changes.flipped:
        for name in ("", label):
            turned.setdefault(name, {}).setdefault(passes, []).append(pk)
    rows = []
    names = [label for label in changes.verdicts if label]
    for label in [*names, *([""] if len(names) > 1 else [])]:
        one, those = changes.verdicts[label], turned.get(label, {})
        both = those.get(True, []) + those.get(False, [])
        rows.append(
            (
                common.agent_cell(runs[label]) if label else text_cell("All"),
                rate_cell(one.flipped, url=_ids(both), show_n=True),
                count_cell(one.gained, url=_ids(those.get(True, []))),
                count_cell(one.lost, url=_ids(those.get(False, []))),
                points_cell(one.difference),
            )
        )
    columns = (
        Column("Agent", ("agent", "kind", "run"), num=False),
        estimate_column("Turned", help="Share of trajectories whose last plan passes once alone"),
        number_column("Pass now", help="Failed in the first judging, pass in the second"),
        number_column("Fail now"),
        estimate_column("Change", help="Share that passes, second minus first"),
    )
    return [
        Table(
            "verdicts",
            "Verdicts that turn",
            columns,
            tuple(rows),
            note="A last plan passes where every counted dimension reaches the run's threshold, "
            "whether or not the plan is valid. Intervals are by task.",
        )
    ]


def flips_table(changes: JudgingChanges, selection: Selection) -> list[Table]:
    """The trajectories whose verdict turned, each with its address."""
    pks = [pk for pk, _, _ in changes.flipped]
    names = {
        pk: (name, prompt)
        for pk, name, prompt in Trajectory.objects.filter(pk__in=pks).values_list(
            "pk", "task__external_id", "task__prompt"
        )
    }
    rows = tuple(
        (
            text_cell(
                names[pk][0],
                url=common.address("analysis:trajectory", trajectory_id=pk),
                sub=names[pk][1][:100],
            ),
            text_cell(label),
            text_cell("passes now" if passes else "fails now"),
        )
        for pk, label, passes in changes.flipped
    )
    columns = (text_column("Task"), text_column("Agent"), text_column("In the second judging"))
    title = "Trajectories whose verdict turned"
    return [Table("turned", title, columns, rows, open=False, most=MOST_FLIPS)]


def rate_cell(rate: Rate, *, url: str = "", show_n: bool = False) -> Cell:
    """A share, with the interval that draws clusters where there is one, else Wilson's."""
    found = rate.clustered if rate.clustered.interval is not None else rate.wilson
    return estimate_cell(found, "share", url=url, show_n=show_n)


def _ids(pks: Sequence[int]) -> str:
    return common.trajectories({"ids": pks}) if 0 < len(pks) <= MOST_IDS else ""
