"""The violation check page compares violations found by judges and by most people, by turn."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from analysis.figures.layout.theme import ACCENT, NEUTRAL, Figure
from analysis.figures.shares import PublishedShares, Shares, share_dots
from analysis.filters.selection import Selection
from analysis.filters.study_kinds import asks_marks
from analysis.frames.marked_violations import (
    AskedItem,
    TurnKey,
    asked_items,
    constraint_texts,
    found_by_judges,
    mark_frame,
    sets_by_turn,
)
from analysis.kit.links import Link
from analysis.pages.declaration import DeclaredPage, FigureOf, NothingToShow, TableOf, UrlOf
from analysis.pages.people import (
    AnswerCounts,
    chosen_people,
    votes_needed,
    why_no_answers,
    why_not_asked,
)
from analysis.pages.violation_check.rows import JudgeQuality, Sets, ViolationCheck
from analysis.pages.violation_check.tables import (
    agreement_columns,
    decision_columns,
    difference_columns,
    set_columns,
    state_columns,
)
from analysis.reports.published import published_count_estimate
from analysis.stats.rater_agreement.decisions import compare_decisions
from analysis.stats.rater_agreement.majority import majority_vote
from analysis.stats.rater_agreement.marked_sets import compare_marked_sets
from analysis.stats.rater_agreement.reliability import category_agreement, set_agreement
from annotation.questionnaires import load_questionnaire
from benchmarks.core.ports.published import PaperStatements
from benchmarks.core.registry import find_system

SEED = 20251205
MOST_ROWS = 200
VIOLATED, RESPECTED = "violated", "respected"
# Name of the row, and the kinds of constraints that it is about.
ALL = "All constraints"
KINDS: Mapping[str, tuple[str, ...]] = {
    ALL: ("world", "user"),
    "Situation": ("world",),
    "Preferences": ("user",),
}

Found = Mapping[TurnKey, frozenset[str] | None]


@dataclass(frozen=True)
class ViolationCheckData:
    """The conditions that people marked in each turn, and those that the judges found there."""

    items: tuple[AskedItem, ...]
    marks: Sets
    found: Found
    texts: Mapping[tuple[int, str], str]
    people: AnswerCounts
    everyone: AnswerCounts
    reference: PaperStatements


def load(selection: Selection) -> ViolationCheckData | NothingToShow:
    """Load the violations that a study's people marked beside those that judges found."""
    study = selection.study
    if study is None:
        return NothingToShow("no study")
    if not asks_marks(load_questionnaire(study.questionnaire)):
        return why_not_asked(study)
    items = asked_items(study, selection)
    frame, people, everyone = chosen_people(mark_frame(study, items), selection)
    if frame.empty:
        return why_no_answers(everyone, selection)
    return ViolationCheckData(
        tuple(items),
        sets_by_turn(frame, items),
        found_by_judges(study, items),
        constraint_texts(study),
        people,
        everyone,
        find_system(selection.system).paper,
    )


def compute(data: ViolationCheckData) -> ViolationCheck:
    """Hold judges against the majority: on all constraints, and on those of each kind."""
    minimum = votes_needed(item.meant for item in data.items)
    checks = [
        _check(name, kinds, data, minimum)
        for name, kinds in KINDS.items()
        if name == ALL or any(kind in item.kinds for item in data.items for kind in kinds)
    ]
    return ViolationCheck(
        tuple(checks),
        data.items,
        data.marks,
        data.texts,
        minimum,
        data.people,
        data.everyone,
        data.reference,
    )


def _check(name: str, kinds: Sequence[str], data: ViolationCheckData, minimum: int) -> JudgeQuality:
    """Compare on the constraints of these kinds, in the turns of the items that have any."""
    known = {
        item.trajectory: keys
        for item in data.items
        if (keys := frozenset(key for kind in kinds for key in item.kinds.get(kind, ())))
    }
    marks = [
        (person, turn, None if marked is None else marked & known[turn[0]])
        for person, turn, marked in data.marks
        if turn[0] in known
    ]
    judged: dict[Hashable, frozenset[str] | None] = {
        turn: None if violated is None else violated & known[turn[0]]
        for turn, violated in data.found.items()
        if turn[0] in known
    }
    turns = [turn for turn in data.found if turn[0] in known]
    trajectories: dict[Hashable, Hashable] = {turn: turn[0] for turn in turns}
    asked = [(turn, key) for turn in turns for key in sorted(known[turn[0]])]
    places: dict[Hashable, Hashable] = {place: place[0][0] for place in asked}
    votes = [
        (person, (turn, key), _decision(marked, key))
        for person, turn, marked in marks
        # Sorted: the seed of a bootstrap does not settle the order of a set.
        for key in sorted(known[turn[0]])
    ]
    return JudgeQuality(
        name,
        compare_marked_sets(marks, judged, trajectories=trajectories, minimum=minimum),
        compare_decisions(
            {(turn, key): _decision(judged[turn], key) for turn, key in asked},
            majority_vote(votes, minimum=minimum, items=places).verdicts,
            positive=VIOLATED,
            negative=RESPECTED,
            clusters=places,
            unit="trajectory",
            seed=SEED,
        ),
        set_agreement(marks, clusters=trajectories, unit="trajectory", seed=SEED),
        category_agreement(votes, clusters=places, unit="trajectory", seed=SEED),
    )


def _decision(marked: frozenset[str] | None, key: str) -> str | None:
    if marked is None:
        return None
    return VIOLATED if key in marked else RESPECTED


def draw_sets(result: ViolationCheck, url: UrlOf) -> Figure | None:
    """Draw the shares of turns with equal sets, and with sets within one."""
    if not result.whole.sets.turns:
        return None
    names = [one.name for one in result.checks]
    urls = [url(Link())] * len(names)
    shares = [
        Shares("equal sets", [one.exact for one in result.checks], "circle", ACCENT, urls=urls),
        Shares(
            "at most one constraint apart",
            [one.within_one for one in result.checks],
            "diamond-open",
            NEUTRAL,
            urls=urls,
        ),
    ]
    checks = result.reference.checks
    published = [
        PublishedShares(
            f"published, {one.name}", {ALL: published_count_estimate(checks[key])}, mark
        )
        for key, one, mark in zip(
            ("exact", "within_one"), shares, ("x-thin-open", "cross-thin-open"), strict=True
        )
        if key in checks
    ]
    return share_dots(names, shares, title="Share of turns", published=published)


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    figure=FigureOf("sets", "Turns on which the judges and the majority mark the same", draw_sets),
    table=TableOf(
        "sets",
        "Sets of violations: judges against the majority",
        rows=lambda result: result.with_published,
        columns=set_columns,
        link=lambda row: Link() if isinstance(row, JudgeQuality) else None,
    ),
    folded=(
        TableOf(
            "turns",
            "Turns compared, tied and left out",
            rows=lambda result: result.states,
            columns=state_columns,
        ),
        TableOf(
            "decisions",
            "Decisions on single constraints",
            rows=lambda result: result.checks,
            columns=decision_columns,
        ),
        TableOf(
            "differences",
            "Where judges and the majority differ, and where people tie",
            rows=lambda result: result.differences,
            columns=difference_columns,
            link=lambda row: row.link,
            most=MOST_ROWS,
        ),
        TableOf(
            "people",
            "Agreement between people",
            rows=lambda result: result.checks,
            columns=agreement_columns,
        ),
    ),
)
