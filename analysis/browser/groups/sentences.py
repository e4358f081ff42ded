"""Failures by what happened in which order, and what the page of groups says of them."""

from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import NamedTuple

from analysis.browser.groups.failure_groups import (
    FAILED,
    TEXTS,
    GroupedTrajectories,
    GroupOptions,
)
from analysis.frames.failure_texts import FEEDBACK, LAST_TURNS, MOST_SIGNS, PLAN
from analysis.reports.addresses import LEAST_GROUPED
from analysis.reports.formatting import counted, listed, number, plural
from analysis.stats.failure_causes import LEAST_ALIKE, MOST_STEPS
from analysis.stats.text_groups import NOT_CLEAR, TextGroup, TextGroups

SEQUENCES_NAMED = 3


class FailureGroup(NamedTuple):
    """Trajectories in which the same happened in the same order; ``number`` counts from the
    largest. ``parts`` are the groups that their words make, one if words do not divide them.
    """

    number: int
    sequence: str
    ids: tuple[int, ...]
    parts: tuple[TextGroup, ...]

    @property
    def name(self) -> str:
        """What the group is called on the page."""
        return f"Group {self.number}"

    def part_name(self, part: TextGroup) -> str:
        """Return what a group by words is called: that of its sequence where it is all of it."""
        letter = ascii_lowercase[self.parts.index(part)] if len(self.parts) > 1 else ""
        return f"{self.name}{letter}"


def group_sequences(
    sequence_of: Mapping[int, str], grouped: TextGroups
) -> tuple[FailureGroup, ...]:
    """Return the groups of equal sequences, the largest first, with what words make of them."""
    parts: dict[str, list[TextGroup]] = {}
    for part in grouped.groups:
        parts.setdefault(part.kind, []).append(part)
    ids: dict[str, list[int]] = {}
    for pk, sequence in sequence_of.items():
        ids.setdefault(sequence, []).append(pk)
    order = sorted(ids, key=lambda sequence: (-len(ids[sequence]), sequence))
    return tuple(
        FailureGroup(number, sequence, tuple(ids[sequence]), tuple(parts.get(sequence, ())))
        for number, sequence in enumerate(order, 1)
    )


def _what(asked: GroupOptions) -> str:
    return "failed trajectory" if asked.among == FAILED else "ended trajectory"


def many_of(asked: GroupOptions) -> str:
    return _what(asked).replace("trajectory", "trajectories")


def why_nothing(asked: GroupOptions, chosen: GroupedTrajectories, texts: int) -> tuple[str, str]:
    if not chosen.ids:
        why = f"left out: {counted(chosen.left_out)}" if chosen.left_out else "it is empty"
        return f"No {_what(asked)} in this list", f"Of the list, {why}."
    whole = plural(len(chosen.ids), _what(asked), many_of(asked))
    return (
        "Too little to group",
        f"The list has {whole}, {texts or 'none'} of them with a turn. {LEAST_GROUPED} are needed.",
    )


def answer(
    asked: GroupOptions,
    chosen: GroupedTrajectories,
    groups: Sequence[FailureGroup],
    texts: int,
) -> str:
    """Say how many failed, what happened to most of them, and how many groups words make."""
    if asked.among == FAILED:
        begin = f"{chosen.failed:,} of {chosen.matching:,} trajectories of this list failed"
    else:
        begin = f"{len(chosen.ids):,} trajectories of this list ended"
    if len(chosen.ids) > texts:
        begin += f"; {texts:,} of them were read"
    named = [
        f"{group.sequence} ({number(len(group.ids) / texts, 'share')}, n = {len(group.ids):,})"
        for group in groups[:SEQUENCES_NAMED]
    ]
    if len(groups) > SEQUENCES_NAMED:
        named.append(plural(len(groups) - SEQUENCES_NAMED, "other"))
    ways = "one way" if len(groups) == 1 else f"{len(groups)} ways"
    return f"{begin}, in {ways}: {'; '.join(named)}."


def how(
    asked: GroupOptions,
    chosen: GroupedTrajectories,
    grouped: TextGroups,
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
        f"Grouped: {plural(len(chosen.ids), _what(asked), many_of(asked))}"
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
        "By what happened first: the faults of a trajectory that its system marks, in the order of "
        "the turns that show them, and its ending. Turns that show the same faults one after the "
        "other are one step; a fault that returns after others is told once more (“again”). Where "
        f"fewer than {LEAST_ALIKE} trajectories share that, or it has more than {MOST_STEPS} "
        "steps, first occurrences alone are told; where that is so, too, the first step and the "
        "ending, with … between."
    )
    count = (
        f"{asked.groups} groups were asked for"
        if asked.groups
        else "their number, from 2 to 12, is that with the highest silhouette"
    )
    fits = [f"{kind} {fit:.2f}" for kind, fit in grouped.silhouettes.items()]
    lines.append(
        f"By words second ({grouped.method}): {grouped.words:,} words; {count}; seed {grouped.seed}"
        f"{f'; mean silhouette: {listed(fits)}' if fits else ''}. Another seed or number gives "
        "other groups: they are a way to read, not kinds that exist."
    )
    for why in sorted(set(grouped.undivided.values())):
        whole = [kind for kind, reason in grouped.undivided.items() if reason == why]
        choose = " Choose a number of groups to divide them anyway." if why == NOT_CLEAR else ""
        lines.append(f"Not divided by words ({why}): {listed(whole)}.{choose}")
    lines.append(
        "Ungrouped, for they share no word with another text of their sequence: "
        f"{grouped.ungrouped:,}. Shares with 95 % intervals: Wilson’s with one trajectory a task, "
        "else with tasks as clusters."
    )
    return lines
