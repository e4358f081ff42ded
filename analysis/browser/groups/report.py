"""Groups of failures by what happened in which order, then by words: sizes, agents, texts."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterator
from functools import partial
from typing import NamedTuple

from analysis.browser.groups.failure_groups import (
    MOST_TEXTS,
    GroupedTrajectories,
    GroupOptions,
    drawn,
)
from analysis.browser.groups.sentences import (
    FailureGroup,
    answer,
    group_sequences,
    how,
    many_of,
    why_nothing,
)
from analysis.figures.layout.theme import ACCENT, Figure
from analysis.figures.shares import Shares, share_dots
from analysis.frames.failure_texts import EndText, end_texts
from analysis.frames.failures import known_failures
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.links import Link
from analysis.kit.page import Sheet, report_of
from analysis.reports import addresses
from analysis.reports import content as parts
from analysis.reports.addresses import LEAST_GROUPED
from analysis.reports.content import Cell, Report, text_cell
from analysis.reports.deferred_reports import KEEP_SECONDS, note_progress
from analysis.reports.formatting import first_up, plural
from analysis.search.query import SearchTerm
from analysis.search.snippets import excerpt
from analysis.stats.descriptive.trials import success_rate
from analysis.stats.failure_causes import (
    fault_sequences,
    median_turns,
)
from analysis.stats.results import Estimate
from analysis.stats.text_groups import TextGroup, group_texts
from analysis.trajectory_index.similar_groups import SimilarGroup, group_value, keep_groups

# Groups in the figure; the table has all.
MOST_DRAWN = 12
HAPPENED = "What happened, in order"
# What the trajectories of a mark are, where they are not the real thing.
MARKS = {
    "demo": ("Demo data", "come with the demo and say nothing about a real model."),
    "simulated": ("Simulated answers", "were answered by a program that makes answers up."),
    "scripted": ("Scripted parts", "have a scripted agent or judge."),
    "recorded": ("Recorded answers", "draw recorded answers from a pool: nobody re-planned."),
    "imported": ("Imported", "were made elsewhere and imported."),
    "constructed": ("Constructed tasks", "have tasks that were not constructed by models."),
}


class AgentRow(NamedTuple):
    """The trajectories of one agent in a group: how many, and their share of all of the agent."""

    group: FailureGroup
    agent: str
    n: int
    share: Estimate


class PartRow(NamedTuple):
    """A group by words within the group of a sequence."""

    group: FailureGroup
    part: TextGroup


class TypicalRow(NamedTuple):
    """A text near the middle of its group by words."""

    group: FailureGroup
    part: TextGroup
    text: EndText
    similarity: float


def groups_report(asked: GroupOptions, chosen: GroupedTrajectories, key: str) -> Report:
    """Group what was chosen by its faults in order, then by texts; keep the groups for lists."""
    return report_of(partial(_content, asked=asked, chosen=chosen, key=key))


def _content(
    sheet: Sheet, asked: GroupOptions, chosen: GroupedTrajectories, key: str
) -> Iterator[None]:
    """Group the texts and keep the groups; say how large they are, of whom, and what is typical."""
    ids = drawn(chosen.ids, asked.seed)
    note_progress(f"reading the texts of {plural(len(ids), 'trajectory', 'trajectories')}")
    texts = end_texts(ids, asked.texts)
    agent_of = dict(zip(chosen.ids, chosen.agents, strict=True))
    note_progress("reading their faults and how they ended")
    known = known_failures([text.trajectory for text in texts])
    placed = fault_sequences(known.ones, known.once)
    sequence_of = {
        pk: one.sequence.in_words(known.titles, known.titles[one.sequence.ending])
        for pk, one in placed.items()
    }
    note_progress(f"grouping {plural(len(texts), 'text')}")
    grouped = group_texts(
        [text.trajectory for text in texts],
        [text.text for text in texts],
        [agent_of[text.trajectory] for text in texts],
        [sequence_of[text.trajectory] for text in texts],
        groups=asked.groups,
        seed=asked.seed,
    )
    for mark, (title, words) in MARKS.items():
        if count := chosen.marks.get(mark):
            sheet.banner(title, f"{count:,} of {len(chosen.ids):,} trajectories {words}")
    sheet.how(*how(asked, chosen, grouped, read=len(ids), texts=len(texts)))
    if len(texts) < LEAST_GROUPED:
        sheet.nothing(*why_nothing(asked, chosen, len(texts)))
        return
    by_key: dict[Hashable, EndText] = {text.trajectory: text for text in texts}
    members: dict[int, list[int]] = {}
    for text, label in zip(texts, grouped.labels, strict=True):
        if label is not None:
            members.setdefault(label, []).append(text.trajectory)
    groups = group_sequences(sequence_of, grouped)
    rows = [PartRow(group, part) for group in groups for part in group.parts]
    # Lists narrow to the groups of sequences by their number, to those by words behind these.
    kept = [SimilarGroup(group.number, (), group.ids, group.sequence) for group in groups]
    kept += [
        SimilarGroup(len(groups) + part.number, part.words, tuple(members[part.number]), part.kind)
        for _, part in rows
    ]
    keep_groups(key, kept, KEEP_SECONDS)

    def link(group: FailureGroup) -> Link:
        """Return the list of a group's trajectories."""
        return Link(url=addresses.trajectories({"similar": group_value(key, group.number)}))

    def part_link(part: TextGroup) -> Link:
        """Return the list of the trajectories of a group by words."""
        value = group_value(key, len(groups) + part.number)
        return Link(url=addresses.trajectories({"similar": value}))

    def share_of(ids: Collection[int], agent: str | None = None) -> Estimate:
        """Estimate the share of the trajectories, or of an agent's, that are among these."""
        of = [pk for pk in sequence_of if agent in (None, agent_of[pk])]
        return success_rate([pk in ids for pk in of], [known.tasks[pk] for pk in of])

    def turns_of(group: FailureGroup) -> str:
        """Return the median turn of each step of a group, and that of the last turn."""
        steps = [placed[pk].turns for pk in group.ids]
        return median_turns(steps, [by_key[pk].turn for pk in group.ids])

    largest = groups[:MOST_DRAWN]

    def draw() -> Figure | None:
        return share_dots(
            [f"{group.number}: {group.sequence}" for group in largest],
            [
                Shares(
                    "all agents",
                    [share_of(set(group.ids)) for group in largest],
                    "circle",
                    ACCENT,
                    urls=[link(group).url for group in largest],
                )
            ],
            title=f"Share of {many_of(asked)}",
        )

    sheet.answer(answer(asked, chosen, groups, len(texts)))
    for warning in grouped.warnings:
        sheet.warning(f"{first_up(warning)}.")
    if len(chosen.ids) > MOST_TEXTS:
        sheet.info(
            f"{MOST_TEXTS:,} of {len(chosen.ids):,} {many_of(asked)} were drawn with seed "
            f"{asked.seed}; sizes and shares are of those, and so are the lists behind the groups."
        )
    sheet.figure(
        "sizes",
        "How large the groups are",
        draw if len(groups) > 1 else None,
        subtitle=f"Share of all {len(texts):,} {many_of(asked)}, with 95 % intervals by task."
        + f" The {MOST_DRAWN} largest; the table has all." * (len(groups) > MOST_DRAWN),
        table="groups",
    )
    sheet.table(
        "groups",
        HAPPENED,
        groups,
        [
            columns.text("Group", lambda group: group.name, url=lambda group: link(group).url),
            columns.sentences(HAPPENED, lambda group: group.sequence, "sequence"),
            columns.text(
                "Turns",
                turns_of,
                "median turns",
                help="Median turn of each step, and of the last turn",
            ),
            columns.count("Trajectories", lambda group: len(group.ids)),
            columns.estimate(
                "Share",
                lambda group: share_of(set(group.ids)),
                "share",
                help="Of all that were grouped, with an interval by task",
            ),
        ],
        link=link,
        note="Faults as the system marks them, in the order of turns; the last part is how it "
        "ended. Open a group to list its trajectories or to make a study from them.",
    )
    yield

    agents = Counter(agent_of[pk] for pk in sequence_of)
    by_agent = {
        (group.number, agent): {pk for pk in group.ids if agent_of[pk] == agent}
        for group in groups
        for agent in agents
    }
    sheet.table(
        "agents",
        "Groups of each agent",
        [
            AgentRow(group, agent, len(mine), share_of(mine, agent))
            for agent, _ in sorted(agents.items(), key=lambda pair: (-pair[1], pair[0]))
            for group in sorted(groups, key=lambda group: -len(by_agent[group.number, agent]))
            if (mine := by_agent[group.number, agent])
        ],
        [
            columns.text("Agent", lambda row: row.agent),
            columns.text("Group", lambda row: row.group.name),
            columns.sentences(
                "What happened, in order", lambda row: row.group.sequence, "sequence"
            ),
            columns.count("Trajectories", lambda row: row.n),
            columns.estimate(
                "Share",
                lambda row: row.share,
                "share",
                help="Of all of the agent that were grouped, with an interval by task",
                show_n=True,
            ),
        ],
        link=lambda row: link(row.group),
        note="Groups without a trajectory of the agent are left out.",
    )
    sheet.table(
        "words",
        "Groups by words",
        rows,
        [
            columns.text("Group", lambda row: row.group.part_name(row.part)),
            columns.sentences(
                "What happened, in order", lambda row: row.group.sequence, "sequence"
            ),
            columns.sentences(
                "Words that set it apart", lambda row: ", ".join(row.part.words), "words"
            ),
            columns.count("Trajectories", lambda row: row.part.size),
            columns.number(
                "Cohesion",
                lambda row: row.part.cohesion,
                "points",
                help="Mean cosine of its texts with its middle, 0 to 1",
            ),
        ],
        link=lambda row: part_link(row.part),
    )
    sheet.table(
        "typical",
        "Most typical texts",
        [
            TypicalRow(group, part, by_key[typical.key], typical.similarity)
            for group, part in rows
            for typical in part.typical
        ],
        [
            columns.text("Group", lambda row: row.group.part_name(row.part)),
            Column(parts.words_column("Excerpt"), _excerpt),
            Column(parts.Column("Where", ("trajectory", "turn"), num=False), _where),
            columns.text("Agent", lambda row: agent_of[row.text.trajectory]),
            columns.number(
                "Similarity",
                lambda row: row.similarity,
                "points",
                help="Cosine with the middle of the group, 0 to 1",
            ),
        ],
        link=lambda row: part_link(row.part),
        note="Those nearest to the middle of their group, equal texts once.",
    )


def _excerpt(row: TypicalRow) -> Cell:
    """Return the part of a text that has the words of its group."""
    shown = excerpt(row.text.text, [SearchTerm((word,)) for word in row.part.words])[1]
    return text_cell("".join(part.text for part in shown))


def _where(row: TypicalRow) -> Cell:
    trajectory, turn = row.text.trajectory, row.text.turn
    url = addresses.address("analysis:trajectory", trajectory_id=trajectory)
    return Cell(
        f"Trajectory {trajectory}",
        (trajectory, turn),
        sub=f"turn {turn}",
        url=f"{url}#turn-{turn}",
    )
