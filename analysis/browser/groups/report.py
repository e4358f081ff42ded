"""Groups of failures by fault and by words: sizes, models, and the turns that are most typical."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from analysis.browser.groups.failure_groups import (
    FAILED,
    MOST_TEXTS,
    TEXTS,
    GroupedTrajectories,
    GroupOptions,
    drawn,
)
from analysis.figures.layout.theme import ACCENT, Figure
from analysis.figures.shares import Shares, share_dots
from analysis.frames.failure_texts import FEEDBACK, LAST_TURNS, MOST_SIGNS, PLAN, EndText, end_texts
from analysis.frames.failures import KnownFailures, known_failures
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.links import Link
from analysis.kit.page import Sheet, report_of
from analysis.reports import addresses
from analysis.reports import content as parts
from analysis.reports.addresses import LEAST_GROUPED
from analysis.reports.content import Cell, Report, text_cell
from analysis.reports.deferred_reports import KEEP_SECONDS, note_progress
from analysis.reports.formatting import counted, first_up, listed, number, plural
from analysis.search.query import SearchTerm
from analysis.search.snippets import excerpt
from analysis.stats.descriptive.proportions import share
from analysis.stats.failure_causes import main_faults
from analysis.stats.text_groups import NOT_CLEAR, TextGroup, TextGroups, group_texts
from analysis.trajectory_index.similar_groups import SimilarGroup, group_value, keep_groups

FAULTS_NAMED = 3
# What the trajectories of a mark are, where they are not the real thing.
MARKS = {
    "demo": ("Demo data", "come with the demo and say nothing about a real model."),
    "simulated": ("Simulated answers", "were answered by a program that makes answers up."),
    "scripted": ("Scripted parts", "have a scripted agent or judge."),
    "recorded": ("Recorded answers", "draw recorded answers from a pool: nobody re-planned."),
    "imported": ("Imported", "were made elsewhere and imported."),
    "constructed": ("Constructed tasks", "have tasks that were not constructed by models."),
}


class TypicalRow(NamedTuple):
    """A text near the middle of its group."""

    group: TextGroup
    text: EndText
    similarity: float


def groups_report(asked: GroupOptions, chosen: GroupedTrajectories, key: str) -> Report:
    """Group what was chosen by fault, then by texts, and keep the groups for lists to narrow to."""
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
    fault_of = main_faults(known.ones)
    note_progress(f"grouping {plural(len(texts), 'text')}")
    grouped = group_texts(
        [text.trajectory for text in texts],
        [text.text for text in texts],
        [agent_of[text.trajectory] for text in texts],
        [fault_of[text.trajectory] for text in texts],
        groups=asked.groups,
        seed=asked.seed,
    )
    for mark, (title, words) in MARKS.items():
        if count := chosen.marks.get(mark):
            sheet.banner(title, f"{count:,} of {len(chosen.ids):,} trajectories {words}")
    sheet.how(*_how(asked, chosen, grouped, known, read=len(ids), texts=len(texts)))
    if len(texts) < LEAST_GROUPED:
        sheet.nothing(*_why_nothing(asked, chosen, len(texts)))
        return
    members: dict[int, list[int]] = {}
    for text, label in zip(texts, grouped.labels, strict=True):
        if label is not None:
            members.setdefault(label, []).append(text.trajectory)
    groups = grouped.groups
    keep_groups(
        key,
        [
            SimilarGroup(group.number, group.words, tuple(members[group.number]),
                         known.titles[group.kind])
            for group in groups
        ],
        KEEP_SECONDS,
    )  # fmt: skip

    def link(group: TextGroup) -> Link:
        """Return the list of a group's trajectories."""
        return Link(url=addresses.trajectories({"similar": group_value(key, group.number)}))

    def draw() -> Figure | None:
        sizes = [share(group.size, len(texts)) for group in groups]
        urls = [link(group).url for group in groups]
        return share_dots(
            [_name(group, grouped, known) for group in groups],
            [Shares("all agents", sizes, "circle", ACCENT, urls=urls)],
            title="Share of texts",
        )

    sheet.answer(_answer(asked, chosen, grouped, known, len(texts)))
    for warning in grouped.warnings:
        sheet.warning(f"{first_up(warning)}.")
    if len(chosen.ids) > MOST_TEXTS:
        sheet.info(
            f"{MOST_TEXTS:,} of {len(chosen.ids):,} {_many(asked)} were drawn with seed "
            f"{asked.seed}; sizes and shares are of those, and so are the lists behind the groups."
        )
    sheet.figure(
        "sizes",
        "How large the groups are",
        draw if len(groups) > 1 else None,
        subtitle=f"Share of all {len(texts):,} texts, with 95 % Wilson intervals",
        table="groups",
    )
    sheet.table(
        "groups",
        "Groups",
        groups,
        [
            columns.text(
                "Group",
                lambda group: f"Group {group.number}",
                url=lambda group: link(group).url,
            ),
            columns.sentences("Main fault", lambda group: known.titles[group.kind], "fault"),
            columns.sentences(
                "How most of them end",
                lambda group: _ending(members[group.number], known),
                "ending",
            ),
            columns.sentences(
                "Words that set it apart", lambda group: ", ".join(group.words), "words"
            ),
            columns.count("Trajectories", lambda group: group.size),
            columns.estimate(
                "Share",
                lambda group: share(group.size, len(texts)),
                "share",
                help="Of all texts that were read, with a Wilson interval",
            ),
            columns.number(
                "Cohesion",
                lambda group: group.cohesion,
                "points",
                help="Mean cosine of its texts with its middle, 0 to 1",
            ),
        ],
        link=link,
        note="A trajectory belongs to the fault that most of its turns show. Open a group to list "
        "its trajectories or to make a study from them.",
    )
    yield

    totals = {owner: one.n for owner, one in groups[0].shares.items()}
    by_key: dict[Hashable, EndText] = {text.trajectory: text for text in texts}
    whole = Link(url=addresses.address("analysis:trajectory_list", asked.query))
    sheet.table(
        "agents",
        "Share of each agent’s texts",
        sorted(totals, key=lambda owner: (-totals[owner], owner)),
        [
            columns.text("Agent", lambda owner: owner),
            columns.count("Texts", lambda owner: totals[owner]),
            *(_share_column(group, link(group)) for group in groups),
        ],
        link=lambda _: whole,
        note="Of the agent’s texts that were read, with 95 % Wilson intervals. They take texts as "
        "independent, though several may be about one task.",
    )
    sheet.table(
        "typical",
        "Most typical texts",
        [
            TypicalRow(group, by_key[typical.key], typical.similarity)
            for group in groups
            for typical in group.typical
        ],
        [
            columns.text("Group", lambda row: f"Group {row.group.number}"),
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
        link=lambda row: link(row.group),
        note="Those nearest to the middle of their group, equal texts once.",
    )


def _share_column(group: TextGroup, link: Link) -> Column[str]:
    """Give the share of each agent's texts that lie in a group."""
    return columns.estimate(
        f"Group {group.number}",
        lambda owner: group.shares[owner],
        "share",
        help=", ".join(group.words),
        link=lambda _: link,
    )


def _excerpt(row: TypicalRow) -> Cell:
    """Return the part of a text that has the words of its group."""
    shown = excerpt(row.text.text, [SearchTerm((word,)) for word in row.group.words])[1]
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


def _what(asked: GroupOptions) -> str:
    return "failed trajectory" if asked.among == FAILED else "ended trajectory"


def _many(asked: GroupOptions) -> str:
    return _what(asked).replace("trajectory", "trajectories")


def _why_nothing(asked: GroupOptions, chosen: GroupedTrajectories, texts: int) -> tuple[str, str]:
    if not chosen.ids:
        why = f"left out: {counted(chosen.left_out)}" if chosen.left_out else "it is empty"
        return f"No {_what(asked)} in this list", f"Of the list, {why}."
    whole = plural(len(chosen.ids), _what(asked), _many(asked))
    return (
        "Too little to group",
        f"The list has {whole}, {texts or 'none'} of them with a turn. {LEAST_GROUPED} are needed.",
    )


def _ending(ids: Sequence[int], known: KnownFailures) -> str:
    """Return how half or more of these end, in words."""
    ends = Counter(known.ones[pk].ending for pk in ids)
    ending, count = min(ends.items(), key=lambda end: (-end[1], end[0]))
    if 2 * count < len(ids):
        return "No ending is shared by half of them"
    return f"{known.does[ending]} ({count:,} of {len(ids):,})"


def _answer(
    asked: GroupOptions,
    chosen: GroupedTrajectories,
    grouped: TextGroups,
    known: KnownFailures,
    texts: int,
) -> str:
    """Say how many failed, with which main faults, and into how many groups words divide them."""
    kinds: Counter[str] = Counter()
    for group in grouped.groups:
        kinds[group.kind] += group.size
    if asked.among == FAILED:
        begin = f"{chosen.failed:,} of {chosen.matching:,} trajectories of this list failed"
    else:
        begin = f"{len(chosen.ids):,} trajectories of this list ended"
    if len(chosen.ids) > texts:
        begin += f"; of {texts:,} of them the texts were read"
    faults = [
        f"{known.titles[kind]} ({number(size / texts, 'share')}, n = {size:,})"
        for kind, size in kinds.items()
    ]
    if len(faults) > FAULTS_NAMED:
        faults[FAULTS_NAMED:] = [plural(len(faults) - FAULTS_NAMED, "other")]
    main = "one main fault" if len(kinds) == 1 else f"{len(kinds)} main faults"
    sentence = f"{begin}, with {main}: {listed(faults)}."
    if divided := grouped.silhouettes:
        groups = sum(group.kind in divided for group in grouped.groups)
        of = "it" if len(kinds) == 1 else f"{len(divided)} of them"
        sentence += f" Words divide {of} into {plural(groups, 'group')}."
    return sentence


def _name(group: TextGroup, grouped: TextGroups, known: KnownFailures) -> str:
    words = f" ({', '.join(group.words[:2])})" if group.kind in grouped.silhouettes else ""
    return f"{group.number}: {known.titles[group.kind]}{words}"


def _how(
    asked: GroupOptions,
    chosen: GroupedTrajectories,
    grouped: TextGroups,
    known: KnownFailures,
    *,
    read: int,
    texts: int,
) -> list[str]:
    """Say what was grouped, by what, and how, a line each."""
    verdict = (
        "Failed: not accurate; where that is undefined, not valid; where that is, too, without the "
        "full reward."
    )
    source = {
        PLAN: "the last plan",
        FEEDBACK: f"the feedback of the last {LAST_TURNS} turns",
    }.get(asked.texts, f"the feedback of the last {LAST_TURNS} turns and the last plan")
    lines = [
        f"List: {plural(chosen.matching, 'trajectory', 'trajectories')}"
        f"{f' with the filters {asked.query}' if asked.query else ''}. "
        f"Grouped: {plural(len(chosen.ids), _what(asked), _many(asked))}"
        f"{f'; left out: {counted(chosen.left_out)}' if chosen.left_out else ''}."
        f"{f' {verdict}' if asked.among == FAILED else ''}",
        f"Texts ({TEXTS[asked.texts].lower()}): {source}, each of at most {MOST_SIGNS:,} "
        f"characters, one text for each trajectory; {plural(texts, 'text')}.",
    ]
    if read > texts:
        lines.append(
            f"{plural(read - texts, 'trajectory', 'trajectories')} without a turn left out."
        )
    lines.append(
        "By fault first: the one that most turns of a trajectory show; of several, the one that "
        "fewest trajectories have; without a fault, its ending."
    )
    count = (
        f"{asked.groups} groups were asked for"
        if asked.groups
        else "their number, from 2 to 12, is that with the highest silhouette"
    )
    fits = [f"{known.titles[kind]} {fit:.2f}" for kind, fit in grouped.silhouettes.items()]
    lines.append(
        f"By words second ({grouped.method}): {grouped.words:,} words; {count}; seed {grouped.seed}"
        f"{f'; mean silhouette: {listed(fits)}' if fits else ''}. Another seed or number gives "
        "other groups: they are a way to read, not kinds that exist."
    )
    for why in sorted(set(grouped.undivided.values())):
        whole = [known.titles[kind] for kind, reason in grouped.undivided.items() if reason == why]
        choose = " Choose a number of groups to divide them anyway." if why == NOT_CLEAR else ""
        lines.append(f"Not divided by words ({why}): {listed(whole)}.{choose}")
    lines.append(
        "Ungrouped, for they share no word with another text of their fault: "
        f"{grouped.ungrouped:,}. "
        "Shares with 95 % Wilson intervals, which take texts as independent."
    )
    return lines
