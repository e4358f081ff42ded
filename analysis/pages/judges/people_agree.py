"""Judges where people agree and where they do not, and the effect of a plan's length on judges."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from analysis.agreement.csv_table import TidyTable
from analysis.agreement.judges_and_people import means_of
from analysis.frames.sizes import plan_words
from analysis.kit import columns
from analysis.kit.page import Page
from analysis.reports.formatting import first_up
from analysis.stats.columns import Floats
from analysis.stats.judges.people_agree import (
    AgreementGroup,
    judge_by_agreement,
    length_effect,
)
from analysis.stats.results import Estimate


class JudgedItems(NamedTuple):
    """A judge's scores over all dimensions, with people's and the tasks: a row per item and
    dimension.
    """

    judge: str
    scores: Floats
    people: Floats
    tasks: list[Hashable]
    trajectories: list[int]


def show_where_people_agree(page: Page, table: TidyTable) -> None:
    """Add how judges do by how far people agree, and how their scores go with length."""
    judged = judged_items(table)
    groups = [
        group
        for one in judged
        for group in judge_by_agreement(one.judge, one.scores, one.people, one.tasks)
    ]
    if any(group.gap.value is not None for group in groups):
        _show_groups(page, groups)
    words = plan_words({pk for one in judged for pk in one.trajectories})
    effects = [(one.judge, _length_effect(one, words)) for one in judged]
    page.table(
        "length",
        "Judges and the length of plans",
        effects,
        [
            columns.text("Judge", lambda row: row[0]),
            columns.estimate(
                "Twice as long", lambda row: row[1], "points", signed=True, show_n=True,
                help="Change of judge minus people where a plan has twice as many words",
            ),
        ],
        link=lambda _: None,
        note="Above 0: the longer the plan, the further the judge is above people. Lengths were "
        "not assigned, so long plans may differ in more than length. Over all dimensions, 95 % "
        "t intervals by task (CR2), of each judge for itself.",
    )  # fmt: skip
    if any(run.judgings and len(run.judgings) > 1 for run in page.runs):
        page.onward("What do other orders in the prompt change?", page.other("judgings"))


def _show_groups(page: Page, groups: Sequence[AgreementGroup]) -> None:
    page.table(
        "people-agree",
        "Judges where people agree, and where they do not",
        groups,
        [
            columns.text("Judge", lambda group: group.judge),
            columns.text("Items where", lambda group: first_up(group.group)),
            columns.estimate(
                "Judge equals a person", lambda group: group.judge_equal, "share",
                part="equals", show_n=True,
            ),
            columns.estimate(
                "Two people are equal", lambda group: group.people_equal, "share", part="people",
            ),
            columns.change("Judge minus people", lambda group: group.gap, "share", part="gap"),
            columns.estimate(
                "Distance", lambda group: group.distance, "points",
                help="Mean of |judge − mean of the item’s people|",
            ),
        ],
        link=lambda _: None,
        note="Over all dimensions; items that two people scored. Where people disagree, no judge "
        "can equal all of them: read it against how often two people are equal there.",
    )  # fmt: skip
    page.how(
        "Items are grouped by the largest minus the smallest score that people gave. Where they "
        "agree, people are equal by construction. Intervals are by task (CR2)."
    )


def judged_items(table: TidyTable) -> list[JudgedItems]:
    """Return every judge's items, over all sections."""
    judges = dict.fromkeys(name for one in table.sections for name in one.of_kind("llm")[0])
    most = max((len(one.of_kind("human")[0]) for one in table.sections), default=0)
    judged = []
    for judge in judges:
        scores: list[Floats] = []
        people: list[Floats] = []
        tasks: list[Hashable] = []
        trajectories: list[int] = []
        for section in table.sections:
            names, own = section.of_kind("llm")
            if judge not in names:
                continue
            assert section.tasks is not None
            given = section.of_kind("human")[1]
            wide = np.full((len(given), most), np.nan)
            wide[:, : given.shape[1]] = given
            scores.append(own[:, names.index(judge)])
            people.append(wide)
            tasks += section.tasks
            trajectories += map(int, section.items)
        judged.append(
            JudgedItems(judge, np.concatenate(scores), np.vstack(people), tasks, trajectories)
        )
    return judged


def _length_effect(one: JudgedItems, words: dict[int, int]) -> Estimate:
    length = [words.get(pk, 0) for pk in one.trajectories]
    return length_effect(one.scores - means_of(one.people), length, one.tasks)
