"""Groups of failures by fault and by words: sizes, models, and the turns that are most typical."""

from collections import Counter
from collections.abc import Mapping, Sequence

from analysis.browser.groups.failure_groups import (
    FAILED,
    MOST_TEXTS,
    TEXTS,
    GroupedTrajectories,
    GroupOptions,
    drawn,
)
from analysis.figures.layout.theme import ACCENT
from analysis.figures.shares import Shares, share_dots
from analysis.frames.failure_texts import FEEDBACK, LAST_TURNS, MOST_SIGNS, PLAN, EndText, end_texts
from analysis.frames.failures import KnownFailures, known_failures
from analysis.reports import addresses, figure_specs
from analysis.reports.addresses import LEAST_GROUPED
from analysis.reports.content import (
    Banner,
    Cell,
    Column,
    Empty,
    FigureSpec,
    Notice,
    Report,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_cell,
    number_column,
    text_cell,
    text_column,
    words_column,
)
from analysis.reports.deferred_reports import KEEP_SECONDS, note_progress
from analysis.reports.formatting import counted, listed, number, plural
from analysis.search.query import SearchTerm
from analysis.search.snippets import excerpt
from analysis.stats.descriptive.proportions import share
from analysis.stats.failure_causes import main_faults
from analysis.stats.text_groups import NOT_CLEAR, TextGroup, TextGroups, group_texts
from analysis.trajectory_index.similar_groups import SimilarGroup, group_value, keep_groups

Key = tuple[int, int]
FAULTS_NAMED = 3


def groups_report(asked: GroupOptions, chosen: GroupedTrajectories, key: str) -> Report:
    """Group what was chosen by fault, then by texts, and keep the groups for lists to narrow to."""
    ids = drawn(chosen.ids, asked.seed)
    note_progress(f"reading the texts of {plural(len(ids), 'trajectory', 'trajectories')}")
    texts = end_texts(ids, asked.texts)
    agent_of = dict(zip(chosen.ids, chosen.agents, strict=True))
    note_progress("reading their faults and how they ended")
    known = known_failures([text.trajectory for text in texts])
    fault_of = main_faults(known.ones)
    note_progress(f"grouping {plural(len(texts), 'text')}")
    grouped = group_texts(
        [(text.trajectory, text.turn) for text in texts],
        [text.text for text in texts],
        [agent_of[text.trajectory] for text in texts],
        [fault_of[text.trajectory] for text in texts],
        groups=asked.groups,
        seed=asked.seed,
    )
    how = _how(asked, chosen, grouped, known, read=len(ids), texts=len(texts))
    banners = _banners(chosen)
    if len(texts) < LEAST_GROUPED:
        return Report(empty=_empty(asked, chosen, len(texts)), how=how, banners=banners)
    labels = zip(texts, grouped.labels, strict=True)
    members: dict[int, list[int]] = {}
    for text, label in labels:
        if label is not None:
            members.setdefault(label, []).append(text.trajectory)
    keep_groups(
        key,
        [
            SimilarGroup(g.number, g.words, tuple(members[g.number]), known.titles[g.kind])
            for g in grouped.groups
        ],
        KEEP_SECONDS,
    )
    by_trajectory = {text.trajectory: text for text in texts}
    return Report(
        sentence=_sentence(asked, chosen, grouped, known, len(texts)),
        figures=_figures(grouped, known, key, len(texts)),
        tables=(
            _groups(grouped, known, key, len(texts), members),
            _models(grouped, key, addresses.address("analysis:trajectory_list", asked.query)),
            _typical(grouped, key, by_trajectory, agent_of),
        ),
        notices=_notices(asked, chosen, grouped),
        banners=banners,
        how=how,
    )


def _what(asked: GroupOptions) -> str:
    return "failed trajectory" if asked.among == FAILED else "ended trajectory"


def _many(asked: GroupOptions) -> str:
    return _what(asked).replace("trajectory", "trajectories")


def _empty(asked: GroupOptions, chosen: GroupedTrajectories, texts: int) -> Empty:
    if not chosen.ids:
        why = f"left out: {counted(chosen.left_out)}" if chosen.left_out else "it is empty"
        return Empty(f"No {_what(asked)} in this list", f"Of the list, {why}.")
    whole = plural(len(chosen.ids), _what(asked), _many(asked))
    return Empty(
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


def _sentence(
    asked: GroupOptions,
    chosen: GroupedTrajectories,
    grouped: TextGroups,
    known: KnownFailures,
    texts: int,
) -> str:
    kinds = _kinds(grouped)
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


def _kinds(grouped: TextGroups) -> dict[str, int]:
    """Return how many texts each fault has, in the order of the groups."""
    sizes: dict[str, int] = {}
    for group in grouped.groups:
        sizes[group.kind] = sizes.get(group.kind, 0) + group.size
    return sizes


def _name(group: TextGroup, grouped: TextGroups, known: KnownFailures) -> str:
    words = f" ({', '.join(group.words[:2])})" if group.kind in grouped.silhouettes else ""
    return f"{group.number}: {known.titles[group.kind]}{words}"


def _group_url(key: str, number: int) -> str:
    return addresses.trajectories({"similar": group_value(key, number)})


def _groups(
    grouped: TextGroups,
    known: KnownFailures,
    key: str,
    texts: int,
    members: Mapping[int, Sequence[int]],
) -> Table:
    rows = tuple(
        (
            text_cell(f"Group {group.number}", url=_group_url(key, group.number)),
            text_cell(known.titles[group.kind]),
            text_cell(_ending(members[group.number], known)),
            text_cell(", ".join(group.words)),
            count_cell(group.size, url=_group_url(key, group.number)),
            estimate_cell(share(group.size, texts), "share", url=_group_url(key, group.number)),
            number_cell(group.cohesion, "points", url=_group_url(key, group.number)),
        )
        for group in grouped.groups
    )
    return Table(
        "groups",
        "Groups",
        (
            text_column("Group", "group"),
            words_column("Main fault", "fault"),
            words_column("How most of them end", "ending"),
            words_column("Words that set it apart", "words"),
            number_column("Trajectories"),
            estimate_column("Share", help="Of all texts that were read, with a Wilson interval"),
            number_column("Cohesion", help="Mean cosine of its texts with its middle, 0 to 1"),
        ),
        rows,
        note="A trajectory belongs to the fault that most of its turns show. Open a group to list "
        "its trajectories or to make a study from them.",
    )


def _models(grouped: TextGroups, key: str, whole: str) -> Table:
    """Return each agent's share in every group; ``whole`` is the list that was grouped."""
    first = grouped.groups[0]
    totals = {owner: first.shares[owner].n for owner in first.shares}
    columns = [text_column("Agent"), number_column("Texts")]
    columns += [
        estimate_column(
            f"Group {group.number}", f"group {group.number}", help=", ".join(group.words)
        )
        for group in grouped.groups
    ]
    rows = tuple(
        (
            text_cell(owner),
            count_cell(totals[owner], url=whole),
            *(
                estimate_cell(group.shares[owner], "share", url=_group_url(key, group.number))
                for group in grouped.groups
            ),
        )
        for owner in _largest_first(totals)
    )
    return Table(
        "agents",
        "Share of each agent’s texts",
        tuple(columns),
        rows,
        note="Of the agent’s texts that were read, with 95 % Wilson intervals. They take texts as "
        "independent, though several may be about one task.",
    )


def _largest_first(totals: Mapping[str, int]) -> list[str]:
    return sorted(totals, key=lambda owner: (-totals[owner], owner))


def _typical(
    grouped: TextGroups, key: str, texts: Mapping[int, EndText], agent_of: Mapping[int, str]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for group in grouped.groups:
        terms = [SearchTerm((word,)) for word in group.words]
        for typical in group.typical:
            trajectory, turn = _key_of(typical.key)
            shown = excerpt(texts[trajectory].text, terms)[1]
            url = addresses.address("analysis:trajectory", trajectory_id=trajectory)
            rows.append(
                (
                    text_cell(f"Group {group.number}"),
                    text_cell("".join(part.text for part in shown)),
                    Cell(
                        f"Trajectory {trajectory}",
                        (trajectory, turn),
                        sub=f"turn {turn}",
                        url=f"{url}#turn-{turn}",
                    ),
                    text_cell(agent_of[trajectory]),
                    number_cell(typical.similarity, "points", url=_group_url(key, group.number)),
                )
            )
    return Table(
        "typical",
        "Most typical texts",
        (
            text_column("Group"),
            words_column("Excerpt"),
            Column("Where", ("trajectory", "turn"), num=False),
            text_column("Agent"),
            number_column("Similarity", help="Cosine with the middle of the group, 0 to 1"),
        ),
        tuple(rows),
        note="Those nearest to the middle of their group, equal texts once.",
    )


def _key_of(key: object) -> Key:
    assert isinstance(key, tuple)
    return int(key[0]), int(key[1])


def _figures(
    grouped: TextGroups, known: KnownFailures, key: str, texts: int
) -> tuple[FigureSpec, ...]:
    if len(grouped.groups) < 2:
        return ()
    sizes = [share(group.size, texts) for group in grouped.groups]
    urls = [_group_url(key, group.number) for group in grouped.groups]
    return (
        figure_specs.figure_spec(
            "sizes",
            "How large the groups are",
            f"Share of all {texts:,} texts, with 95 % Wilson intervals",
            share_dots(
                [_name(group, grouped, known) for group in grouped.groups],
                [Shares("all agents", sizes, "circle", ACCENT, urls=urls)],
                title="Share of texts",
            ),
            table="groups",
        ),
    )


def _notices(
    asked: GroupOptions, chosen: GroupedTrajectories, grouped: TextGroups
) -> tuple[Notice, ...]:
    texts = [Notice(f"{warning[:1].upper()}{warning[1:]}.") for warning in grouped.warnings]
    if len(chosen.ids) > MOST_TEXTS:
        words = (
            f"{MOST_TEXTS:,} of {len(chosen.ids):,} {_many(asked)} were drawn with seed "
            f"{asked.seed}; sizes and shares are of those, and so are the lists behind the groups."
        )
        texts.append(Notice(words, "info"))
    return tuple(texts)


def _banners(chosen: GroupedTrajectories) -> tuple[Banner, ...]:
    """Return what the trajectories are where they are not the real thing."""
    banners = {
        "demo": ("Demo data", "come with the demo and say nothing about a real model."),
        "simulated": ("Simulated answers", "were answered by a program that makes answers up."),
        "scripted": ("Scripted parts", "have a scripted agent or judge."),
        "recorded": ("Recorded answers", "draw recorded answers from a pool: nobody re-planned."),
        "imported": ("Imported", "were made elsewhere and imported."),
        "constructed": ("Constructed tasks", "have tasks that were not constructed by models."),
    }
    whole = len(chosen.ids)
    return tuple(
        Banner(title, f"{chosen.marks[mark]:,} of {whole:,} trajectories {words}")
        for mark, (title, words) in banners.items()
        if chosen.marks.get(mark)
    )


def _how(
    asked: GroupOptions,
    chosen: GroupedTrajectories,
    grouped: TextGroups,
    known: KnownFailures,
    *,
    read: int,
    texts: int,
) -> tuple[str, ...]:
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
    return tuple(lines)
