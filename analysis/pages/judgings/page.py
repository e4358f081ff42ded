"""The judgings page compares repeated replies of each judge, and two judgings of the same turns."""

from collections.abc import Sequence

from analysis.figures.forest import forest
from analysis.figures.layout.theme import Figure
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.empty import no_runs
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.pages.judgings.by_dimension import deferred
from analysis.pages.judgings.panels import same_url
from analysis.pages.judgings.rows import (
    PANEL,
    AgentVerdicts,
    JudgeChange,
    JudgingSummary,
    OwnReplies,
    changes_of,
    judgings_of,
    read_judgings,
    run_url,
    unchanged,
    verdicts_of,
)
from analysis.pages.judgings.tables import CHANGE, CONSISTENCY
from analysis.reports import addresses, run_marks, system_facts
from analysis.reports import content as parts
from analysis.reports.content import how_interval, text_cell
from analysis.reports.formatting import ends, listed, number, plural, stated
from analysis.reports.rates import read_first
from analysis.stats.judges.rejudging import ScoreChange, VerdictChange

__all__ = ["content", "deferred"]
MOST_TURNED = 50
# An address with more trajectories would be too long.
MOST_IDS = 500


def content(page: Page) -> Content:
    """Compare each judge's own replies, and the second judging with the first."""
    has_dimensions = bool(system_facts.dimensions_of(page.selection.system))
    data = read_judgings(page.selection) if page.runs and has_dimensions else None
    if data is None:
        no_runs(
            page,
            "This page shows whether judges say the same when they look at the same turns again.",
            of_judges=True,
        )
        return
    judgings = judgings_of(data)
    first = judgings[0]
    second = judgings[1] if len(judgings) > 1 else None
    changes, alone = changes_of(data.replies) if second is not None else ([], [])
    panel = changes[0].change if changes else None
    verdicts, all_verdicts = verdicts_of(data) if second is not None else ([], None)
    own = [
        OwnReplies(judge, judging.name, judging.consistency[seat])
        for judging in judgings
        for seat, judge in judging.judges.items()
    ]
    consistency = _consistency(own)
    if second is not None and panel is not None:
        page.answer(_change_answer(first, second, panel, all_verdicts))
    elif not consistency:
        page.answer(
            "These turns were judged once, and every judge was asked once: nothing shows yet "
            "whether judges would say the same again."
        )
    page.answer(consistency)
    if second is not None:
        page.onward(
            f"The leaderboard under “{second.name}”",
            page.other("leaderboard", judging=second.name),
        )
    page.onward("May they stand in for people?", addresses.address("analysis:judges"))
    if second is None:
        page.info("There is no other judging of these runs to compare with.")
    unfinished = [f"“{one.name}”" for one in judgings if not one.judged.finished]
    if unfinished:
        page.info(f"Still being judged, so figures will move: {listed(unfinished)}.")
    if alone:
        page.warning(f"In one judging alone, so compared with nobody: {listed(alone)}.")
    if panel is not None and not panel.n:
        page.warning("No turn has a readable score of every judge in both judgings.")
    url, second_name = page.url(), second.name if second is not None else ""

    def draw_scores() -> Figure:
        low, high = system_facts.RUBRIC_SCALE
        means = {
            first.name: [(one.judge, one.change.first) for one in changes],
            second_name: [(one.judge, one.change.second) for one in changes],
        }
        groups = [same_url(name, rows, url) for name, rows in means.items()]
        title = f"Mean score, {low:g} to {high:g}"
        return forest(groups, title=title, least=low, most=high, together=True)

    page.figure(
        "scores",
        f"Mean scores: “{first.name}” and “{second_name}”",
        draw_scores if second is not None else None,
        table="change",
        subtitle="Over the same turns and dimensions, with 95 % intervals that draw tasks.",
    )
    page.table(
        "change",
        "What the second judging changes in scores",
        changes,
        [columns.text("Judge", lambda row: row.judge), *CHANGE],
        note="Second minus first, paired by turn and dimension; 95 % intervals are by task. Of all "
        "judges the mean is compared, which moves if any score does and has no kappa.",
    )
    yield
    between = "and between the two judgings; " if second is not None else ""
    page.figure(
        "equal",
        "Share of scores that are the same again",
        lambda: _draw_equal(own, changes, url, several=second is not None),
        table="consistency",
        subtitle=f"Between a judge's own replies, {between}with 95 % intervals. What differs "
        "between its own replies is no drift.",
    )
    page.table(
        "consistency",
        "Each judge beside itself",
        own,
        [
            columns.text("Judge", lambda row: row.judge),
            columns.text("Judging", lambda row: row.judging),
            columns.count("Replies", lambda row: row.one.replicates, help="To one item, at most"),
            *CONSISTENCY,
        ],
        note="Over all dimensions of the turns that are counted; 95 % intervals are by task. Kappa "
        "and ICC are low where plans hardly differ, however often replies are equal.",
    )
    page.table(
        "verdicts",
        "Verdicts that turn",
        verdicts,
        _verdict_columns(),
        link=_verdict_link,
        note="A last plan passes where every counted dimension reaches the run's threshold, "
        "whether or not the plan is valid. Intervals are by task.",
    )
    page.table(
        "turned",
        "Trajectories whose verdict turned",
        data.turned,
        [
            columns.text(
                "Task",
                lambda row: row.task_name,
                sub=lambda row: row.prompt[:100],
                url=lambda row: addresses.address(
                    "analysis:trajectory", trajectory_id=row.trajectory
                ),
            ),
            columns.text("Agent", lambda row: row.agent),
            columns.text(
                "In the second judging", lambda row: "passes now" if row.passes else "fails now"
            ),
        ],
        folded=True,
        most=MOST_TURNED,
    )
    if second is not None:
        differences = [(one.judge, one.change.difference) for one in changes]
        page.figure(
            "change",
            f"Scores of “{second.name}” minus those of “{first.name}”",
            lambda: forest(
                [same_url("difference", differences, url)],
                title="Difference in points",
                least=-0.5,
                most=0.5,
            ),
            subtitle="Mean over turns and dimensions with its 95 % interval by task; left of the "
            "line is stricter.",
        )
    page.table(
        "judgings",
        "The judgings",
        judgings,
        [
            columns.text(
                "Judging",
                lambda row: row.name,
                sub=lambda row: "during the run" if row.judged.made_by is None else "later",
                url=run_url,
            ),
            columns.count("Runs", lambda row: row.runs),
            columns.text("Judges", lambda row: ", ".join(row.judges.values())),
            columns.count(
                "Replies",
                lambda row: max((one.replicates for one in row.consistency.values()), default=0),
                help="How often a judge was asked about one turn at most",
            ),
            columns.sentences("How judges were asked", lambda row: row.asked or "as usual", "how"),
        ],
        link=lambda row: Link(url=run_url(row)),
    )
    for judging in judgings:
        asked = f" ({judging.asked})" if judging.asked else ""
        names = listed(list(judging.judges.values()), most=8)
        page.how(f"Judging “{judging.name}” of {plural(judging.runs, 'run')}: {names}{asked}.")
    page.how(
        f"An item is one dimension of one turn ({'final' if data.final else 'all'} turns). "
        "Consistency: pairs of replies of a judge to one item; kappa is Fleiss', quadratically "
        "weighted, ICC is ICC1 (one-way random, a single reply). Undefined where a judge was asked "
        "once."
    )
    if second is not None:
        intervals = how_interval([one.change.difference for one in changes])
        page.how(
            "Change: the same items in both judgings, second minus first. Means and differences "
            "are of means of replies; size, share changed and kappa (Cohen's, quadratically "
            "weighted) are between first replies, so that they can be read beside a judge's own "
            "replies. A judge of another version, or another judge in the same seat, is compared "
            "with the one before.",
            "A verdict turns where all counted dimensions reach the run's threshold in one judging "
            "alone.",
            f"Intervals: {intervals or 'none'}.",
        )
    page.methods(
        "A judge's consistency is how far its replies to the same plan agree; a later judging is "
        "compared with an earlier one turn by turn, as the mean difference of scores, the share of "
        "scores that changed, and the share of verdicts that turned."
    )


def _change_answer(
    first: JudgingSummary,
    second: JudgingSummary,
    panel: ScoreChange,
    verdicts: VerdictChange | None,
) -> str:
    """Return how the second judging moves the judges' mean, and how many verdicts."""
    difference = panel.difference
    if difference.value is None:
        return f"“{second.name}” beside “{first.name}”: {difference.undefined}."
    before, now = (number(one.value or 0.0, "points") for one in (panel.first, panel.second))
    size = f"{number(difference.value, 'points')} points"
    if difference.interval is not None:
        size += f", 95 % interval {ends(difference.interval, 'points')}"
        if difference.interval.holds(0):
            size += ", no clear change"
    text = (
        f"Judged again as “{second.name}”, the judges' mean is {now} instead of {before} "
        f"({size}; n = {plural(panel.n, 'item')})."
    )
    if verdicts is not None and verdicts.flipped.of:
        trajectories = plural(verdicts.flipped.of, "trajectory", "trajectories")
        text += f" The verdict changes on {verdicts.flipped.hits:,} of {trajectories}."
    return text


def _consistency(own: Sequence[OwnReplies]) -> str:
    """Return how often judges repeat their scores, as far as they were asked again."""
    repeated = [one for one in own if one.one.equal.value is not None]
    if not repeated:
        return ""
    repeated.sort(key=lambda one: one.one.equal.value or 0)
    least, most = repeated[0], repeated[-1]
    times = "twice" if least.one.replicates == 2 else f"{least.one.replicates} times"
    share = stated(least.one.equal, "share")
    if len(repeated) == 1:
        judges = f"{least.judge} gives"
    else:
        judges = "judges give"
        share += f" ({least.judge}) to {stated(most.one.equal, 'share')} ({most.judge})"
    return (
        f"Asked {times} about the same plan, {judges} the same score in {share} of pairs of "
        "replies."
    )


def _draw_equal(
    own: Sequence[OwnReplies], changes: Sequence[JudgeChange], url: str, *, several: bool
) -> Figure | None:
    """Draw how often scores are the same again, by the same judging and by the other one."""
    again = [
        (f"{one.judge}, {one.judging}" if several else one.judge, one.one.equal)
        for one in own
        if one.one.replicates > 1
    ]
    kept = [(one.judge, unchanged(one.change)) for one in changes if one.judge != PANEL]
    if not again and not kept:
        return None
    groups = [same_url("own replies", again, url), same_url("the other judging", kept, url)]
    return forest(groups, title="Share of equal scores", unit="share")


def _verdict_columns() -> list[Column[AgentVerdicts]]:
    """Give how many verdicts of each agent turn, and the shares that pass in both judgings."""

    def turned(row: AgentVerdicts, passes: bool | None = None) -> Link:
        ids = [one.trajectory for one in row.turned if passes in (None, one.passes)]
        if not 0 < len(ids) <= MOST_IDS:
            return _verdict_link(row)
        return Link(url=addresses.trajectories({"ids": ids}))

    return [
        Column(
            parts.Column("Agent", ("agent", "kind", "run"), num=False),
            lambda row: run_marks.agent_cell(row.run) if row.run is not None else text_cell("All"),
        ),
        columns.estimate(
            "First",
            lambda row: row.change.first,
            "share",
            part="passes first",
            help="Share that passes in the first judging",
        ),
        columns.estimate(
            "Second",
            lambda row: row.change.second,
            "share",
            part="passes second",
            help="Share that passes in the second judging",
        ),
        columns.change(
            "Change",
            lambda row: row.change.difference,
            "share",
            help="Share that passes, second minus first",
        ),
        columns.estimate(
            "Turned",
            lambda row: read_first(row.change.flipped),
            "share",
            help="Share of trajectories whose last plan passes once alone",
            show_n=True,
            link=turned,
        ),
        columns.count(
            "Pass now",
            lambda row: row.change.gained,
            help="Failed in the first judging, pass in the second",
            link=lambda row: turned(row, True),
        ),
        columns.count("Fail now", lambda row: row.change.lost, link=lambda row: turned(row, False)),
    ]


def _verdict_link(row: AgentVerdicts) -> Link:
    return Link(runs=(row.run.pk,)) if row.run is not None else Link()
