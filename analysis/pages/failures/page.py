"""Why does an agent fail? How often it does, and among failures how, beside the other agents.

`analysis.pages.failures.rows` computes the profile; here is what is said and shown of it.
"""

from collections.abc import Sequence
from typing import Any

from analysis.figures.forest import CLEAR_LOOK, UNCLEAR_LOOK, ForestRows, forest
from analysis.figures.layout.theme import Figure
from analysis.figures.rubric import rubric_heatmap
from analysis.frames.outcomes import by_id, counted
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.empty import no_runs, nothing_finished
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.pages.failures.questions import question_rows
from analysis.pages.failures.rows import (
    DIMENSION,
    ENDING,
    FAULT,
    AgentFailures,
    CaseRow,
    FactRow,
    Failures,
    agent_rows,
    case_rows,
    comparisons,
    fact_rows,
    faults_by_turn,
    read_failures,
    share_with,
    smallest_seen,
    telling_turns,
)
from analysis.pages.failures.sequences import sequence_rows
from analysis.reports import addresses
from analysis.reports import content as parts
from analysis.reports.content import Cell, text_cell
from analysis.reports.formatting import number, plural, stated_change
from analysis.stats.descriptive.means import MeanTable
from benchmarks.core.ports.labels import Measure
from benchmarks.models import Trajectory

PURPOSE = "This page says why an agent fails, against the other agents."
KINDS = {ENDING: "Ending", FAULT: "Fault", DIMENSION: "Low score"}
# A link names trajectories one by one; a number that counts more of them has no link.
MOST_IDS = 200
# Rows of the figure; the table has all.
MOST_ROWS = 9


def content(page: Page) -> Content:
    """Profile the agent of the address, or that which fails most often."""
    labels, faults = page.system.labels, page.system.faults
    if not page.runs or not labels.headlines:
        no_runs(page, PURPOSE)
        return
    # The family is that of all agents of the data, whichever of them are shown.
    data = read_failures(page.selection.family or page.runs, page.system)
    if data is None:
        nothing_finished(page, PURPOSE)
        return
    measure = labels.measures[labels.headlines[0]]
    agents = agent_rows(data, page.runs)
    wanted = page.selection.filters.profile
    agent = next((one for one in agents if one.run.agent == wanted), agents[0])
    rows = fact_rows(data, agent.run)
    others = len(data.runs) - 1
    compared = any(row.difference.value is not None for row in rows)
    own = data.failed["run"] == agent.run.pk
    mine, theirs = (data.failed[side]["trajectory"].tolist() for side in (own, ~own))

    def link(row: FactRow) -> Link | None:
        """Return the agent's failures that show a fact, or all of them where none does."""
        return _named(row.ids, mine)

    def shares(interval: str) -> list[Any]:
        """Return the columns of the agent's share and, where it is compared, of the others'."""
        agents_share: Column[Any] = columns.estimate(
            agent.run.label,
            lambda row: row.mine,
            "share",
            part="share",
            help=f"Share of the agent’s failures, with {interval}",
            show_n=True,
        )
        others_share: Column[Any] = columns.estimate(
            "Other agents",
            lambda row: row.others,
            "share",
            part="others",
            help="Share of the other agents’ failures",
            show_n=True,
            link=lambda row: _named(row.other_ids, theirs),
        )
        return [agents_share, compared and others_share]

    page.answer(_answer(agent, rows, measure, others, compared=compared))
    page.answers = agent.failed.value is not None
    if compared and (smallest := smallest_seen(rows)):
        page.info(
            "“Not clear” does not mean “equal”: a difference between failures would have to be "
            f"about {smallest} to show (80 % power, all agents and facts together)."
        )
    for turn in telling_turns(data, rows):
        url = addresses.address("analysis:trajectory", trajectory_id=turn.trajectory)
        page.onward(
            f"Turn {turn.turn} of trajectory {turn.trajectory}: {turn.reason}",
            f"{url}#turn-{turn.turn}",
        )
    groups = addresses.failure_groups(agent.failures, f"run={agent.run.pk}")
    if groups.url:
        page.onward(groups.words, groups.url)
    largest = f" The {MOST_ROWS} largest; the table has all." * (len(rows) > MOST_ROWS)
    page.figure(
        "profile",
        f"How the failures of {agent.run.label} differ",
        (lambda: _draw_profile(page, rows, mine)) if compared else None,
        subtitle=f"Share of its failures minus that of the other agents’, same tasks.{largest}",
    )
    together = (
        " Difference: on tasks that both failed. Intervals hold together for all "
        f"{comparisons(data):,} comparisons of agents and facts."
    )
    page.table(
        "profile",
        f"Failure profile of {agent.run.label}",
        rows,
        [
            columns.text(
                "What", lambda row: row.fact.title, "fact", sub=lambda row: KINDS[row.fact.kind]
            ),
            *shares("a 95 % interval"),
            compared
            and columns.change(
                "Difference",
                lambda row: row.difference,
                "share",
                help="On tasks that both failed; intervals hold together",
                link=lambda row: _named((*row.ids, *row.other_ids)),
            ),
            compared
            and columns.text("Clear", lambda row: "yes" if row.difference.is_clear else "no"),
            Column(
                parts.number_column("Turn", "first turn", "Median of the turn that first shows it"),
                _first_turn,
            ),
        ],
        link=link,
        note=f"Failures alone are counted.{together * compared} With 95 % intervals and n.",
    )
    yield

    page.table(
        "sequences",
        f"What happened in the failures of {agent.run.label}, in order",
        sequence_rows(data, agent.run, page.system),
        [
            columns.sentences("What happened, in order", lambda row: row.words, "sequence"),
            columns.text(
                "Turns",
                lambda row: row.turns,
                "median turns",
                help="Median turn of each step, and of the last turn",
            ),
            columns.count("Failures", lambda row: len(row.ids)),
            *shares("an interval by task"),
        ],
        link=lambda row: _named(row.ids),
        note="Faults as the system marks them, in the order of turns; the last part is how the "
        "trajectory ended. What fewer than three failures share is told with less detail (…).",
    )
    _show_questions(page, data, agent)
    by_turn = faults_by_turn(data, agent.run, rows)
    page.figure(
        "turns",
        f"When {agent.run.label} shows each fault",
        (lambda: _draw_turns(page, by_turn, agent))
        if by_turn.rows and len(by_turn.columns) > 1
        else None,
        subtitle="Share of the trajectories that are still going on at that turn.",
        table="profile",
    )
    page.figure(
        "agents",
        "Profiles of all agents",
        lambda: _draw_agents(page, data, agents),
        subtitle="Percentage of an agent’s failures; agents in the order of their share of "
        "failures.",
        least_width=200 + 84 * len(data.facts),
    )
    page.table(
        "agents",
        "All agents",
        agents,
        [
            columns.agent(lambda one: one.run),
            columns.estimate("Fails", lambda one: one.failed, "share", show_n=True),
            others > 0
            and columns.change(
                "Than the others",
                lambda one: one.more,
                "share",
                part="difference",
                help="Paired by task; intervals hold together",
            ),
            columns.count("Failures", lambda one: one.failures),
            columns.sentences(
                "Why most of them fail", lambda one: one.cause or _no_cause(one.failures), "cause"
            ),
        ],
        link=lambda one: Link(runs=(one.run.pk,)),
    )
    page.table(
        "cases",
        "Cases as in the paper",
        case_rows(data, faults.cases),
        [
            columns.text("In the paper", lambda row: row.case.source, "source"),
            columns.text("Kind of failure", lambda row: row.case.title, "case"),
            Column(parts.text_column("Example here", "example"), lambda row: _example(row, data)),
            columns.count("Failures", lambda row: len(row.ids)),
        ],
        link=lambda row: _named(row.ids),
        note="The paper prints such cases of its own models. Here: the shortest failure of any "
        "agent on this page, by our rules for the categories. A case without an example may occur "
        "under another condition.",
    )
    failed = {"rate": "is 0", "mean": "is below the highest here"}
    page.how(
        f"Failed: {measure.name} {failed.get(measure.kind, 'is below 100 %')}. Where it is "
        "undefined, nobody knows whether a trajectory failed. How often an agent fails is compared "
        "with the others paired by task; all rows on facts count failures alone.",
        "Endings and faults are read from what is stored; low scores are means of all judges over "
        "the last plan, below the threshold of the run. Same and earlier "
        f"{faults.answer}s are texts that are equal character by character. Violations are those "
        "found while a trajectory was played.",
        "Difference: share of the agent’s failures minus that of the other agents’ on tasks that "
        "both failed, with tasks as strata (Mantel–Haenszel). Test: agents are swapped within "
        "tasks at random for all facts at once; the largest statistic of all "
        f"{len(data.runs)} agents and {len(data.known)} facts gives one critical value (max-T), so "
        "that all intervals hold together at 95 %, whichever agents are shown. Where only a "
        "difference above 60 points would show, that is said in place of an interval.",
        "Why most fail: the ending that at least half of the failures share, then of those the "
        "fault that half of them have and whose share exceeds that in the failures of all other "
        "agents most, by 10 points at least. It is chosen from the same trajectories that it "
        "counts.",
        "Turns to read: one failure for each of the first three facts of the table, of different "
        "trajectories; a fault by the failure that shows it in most turns, an ending by the "
        f"failure of median length, a low score by the lowest one.{_absent(data)}",
    )
    page.methods(
        f"Failures of {agent.run.label} are described by their endings, faults and low scores, "
        "each compared with the failures of the other agents on the same tasks; simultaneous 95 % "
        f"intervals by label swaps within tasks (max-T over {comparisons(data):,} comparisons)."
    )


def _show_questions(page: Page, data: Failures, agent: AgentFailures) -> None:
    """Show the answers of models that people have checked, and say what others still need."""
    if page.selection.closed:
        return  # precision and recall may rest on trajectories that are closed to the reader
    counted_rows, others = question_rows(data, agent.run)
    for one in others:
        page.info(
            f"“{one.row.question}” is not counted here: {one.missing}.",
            addresses.address("analysis:question", question_id=one.row.pk),
        )
    if not counted_rows:
        return
    page.table(
        "questions",
        "Questions that a model answered",
        counted_rows,
        [
            columns.sentences("Question", lambda row: row.question.row.question, "question"),
            columns.text(
                "Model",
                lambda row: row.question.row.endpoint.title,
                sub=lambda row: "simulated" if row.question.row.endpoint.simulated else "",
            ),
            columns.estimate(
                agent.run.label,
                lambda row: row.mine,
                "share",
                part="share",
                help="Share of yes among the agent’s failures with an answer",
                show_n=True,
            ),
            columns.estimate(
                "Other agents",
                lambda row: row.others,
                "share",
                part="others",
                show_n=True,
                link=lambda row: _named(row.other_ids),
            ),
            columns.estimate(
                "Precision",
                lambda row: row.question.quality.precision.clustered,
                "share",
                part="precision",
                help="Of the checked answers yes: people said yes, too",
                show_n=True,
            ),
            columns.estimate(
                "Recall",
                lambda row: row.question.quality.recall.clustered,
                "share",
                part="recall",
                help="Of the checked trajectories to which people said yes: the model did, too",
                show_n=True,
            ),
        ],
        link=lambda row: _named(row.ids),
        note="Shares are of the model’s answers and are not corrected by precision and recall. "
        "Answers whose quoted passage is not in the trajectory are undefined and left out.",
    )


def _answer(
    agent: AgentFailures, rows: Sequence[FactRow], measure: Measure, others: int, *, compared: bool
) -> str:
    """Say how often the agent fails and why, and what is more frequent in its failures."""
    label, failed, often = agent.run.label, agent.failed, agent.more
    others_words = "the other agent" if others == 1 else f"the {others:,} other agents"
    if failed.value is None:
        answer = (
            f"Nobody knows whether {label} fails: {measure.name} is undefined for all of its "
            "trajectories here."
        )
    else:
        answer = f"{label} does not fail here: all {failed.n:,} trajectories succeed"
        if agent.failures:
            of = plural(failed.n, "trajectory", "trajectories")
            share = number(failed.value, "share")
            answer = f"{label} fails on {agent.failures:,} of {of} ({share})"
        if often.value is not None:
            clearly = f"clearly {'more' if often.value > 0 else 'less'}"
            side = clearly if often.is_clear else "not clearly more or less"
            answer += f", {side} often than {others_words}: {stated_change(often, 'share')}"
        answer += "."
        if agent.cause:
            answer += f" Of its failures, {agent.cause}."
    whose = "the other agent" if others == 1 else "the others"
    more = next((row for row in rows if row.difference.is_clear and row.excess > 0), None)
    if not others:
        return f"{answer} There is no other agent here to compare it with."
    if more is not None:
        return (
            f"{answer} Its failures {more.fact.does} clearly more often than failures of {whose} "
            f"on the same tasks: {stated_change(more.difference, 'share')}."
        )
    if compared:
        return (
            f"{answer} Nothing is clearly more frequent in its failures than in those of {whose} "
            "on the same tasks."
        )
    if agent.failures:
        return (
            f"{answer} No task was failed by both it and another agent, so how they fail cannot "
            "be compared."
        )
    return answer


def _named(*choices: Sequence[int]) -> Link | None:
    """Return the first of some trajectories; None where there are none or too many to name."""
    chosen: Sequence[int] = next(filter(len, choices), ())
    if 0 < len(chosen) <= MOST_IDS:
        return Link(more={"ids": ",".join(map(str, chosen))})
    return None


def _absent(data: Failures) -> str:
    """Name the faults that no failure shows, where trajectories have several turns."""
    absent = [fact for fact in data.known if fact.kind == FAULT and fact not in data.facts]
    played = Trajectory.objects.filter(counted(by_id(data.runs)), turn_count__gt=1)
    if not absent or not played.exists():
        return ""
    names = ", ".join(fact.title.lower() for fact in absent)
    return f" Seen in no trajectory of any agent here: {names}."


def _first_turn(row: FactRow) -> Cell:
    if row.first is None:
        return Cell(data=(None,), reason="of the whole trajectory" if row.ids else "not seen")
    return Cell(f"{row.first:g}", (row.first,))


def _no_cause(failures: int) -> str:
    if failures > 1:
        return "no ending is shared by half of them"
    return "one failure" if failures else "no failure"


def _example(row: CaseRow, data: Failures) -> Cell:
    if row.example is None:
        return Cell(data=(None,), reason="no failure of this kind here")
    url = addresses.address("analysis:trajectory", trajectory_id=row.example)
    turns = plural(data.lengths[row.example], "turn")
    return text_cell(f"Trajectory {row.example}", url=url, sub=f"{row.agent}, {turns}")


def _draw_profile(page: Page, rows: Sequence[FactRow], mine: Sequence[int]) -> Figure:
    """Draw the differences from the other agents, those that set the agent apart most first."""
    shown = [row for row in rows if row.difference.value is not None]
    apart = sorted(shown, key=lambda row: (not row.difference.is_clear, -abs(row.excess)))
    kept = [row for row in shown if row in apart[:MOST_ROWS]]
    groups = []
    for name, clear, look in (
        ("clear: the interval excludes 0", True, CLEAR_LOOK),
        ("not clear", False, UNCLEAR_LOOK),
    ):
        of_kind = [row for row in kept if row.difference.is_clear == clear]
        links = [_named(row.ids, mine) for row in of_kind]
        urls = [page.links.url(link) if link is not None else "" for link in links]
        differences = [(row.fact.title, row.difference) for row in of_kind]
        groups.append(ForestRows(name, differences, urls, look))
    return forest(
        groups,
        title="Difference in share of failures",
        unit="share",
        differences=True,
        least=-0.1,
        most=0.1,
    )


def _draw_turns(page: Page, by_turn: MeanTable, agent: AgentFailures) -> Figure:
    """Draw at which turns the agent shows each fault."""
    links = {
        (row, column): page.url(
            runs=(agent.run.pk,), more={"reached_turn": column.removesuffix("+")}
        )
        for row in by_turn.rows
        for column in by_turn.columns
    }
    return rubric_heatmap(by_turn, (0, 1), links, unit="share")


def _draw_agents(page: Page, data: Failures, agents: Sequence[AgentFailures]) -> Figure:
    """Draw the share of every agent's failures that show each fact."""
    cells, links = {}, {}
    for agent in agents:
        failed = data.failed[data.failed["run"] == agent.run.pk]
        for fact in data.facts:
            cells[agent.run.label, fact.title] = share_with(failed, fact)
            ids = failed.loc[failed[fact.key] == 1, "trajectory"].tolist()
            if to := _named(ids, failed["trajectory"].tolist()):
                links[agent.run.label, fact.title] = page.links.url(to)
    names = tuple(agent.run.label for agent in agents)
    table = MeanTable(names, tuple(fact.title for fact in data.facts), cells)
    return rubric_heatmap(table, (0, 1), links, unit="share")
