"""Do judges find the violations that people find? Both sets compared turn by turn."""

from collections.abc import Hashable, Mapping, Sequence

from analysis.figures.layout.theme import ACCENT, NEUTRAL, Figure
from analysis.figures.shares import PublishedShares, Shares, share_dots
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
from analysis.kit.page import Content, Page
from analysis.pages.people import (
    AnswerCounts,
    chosen_people,
    no_answers,
    no_study,
    not_asked,
    people_details,
    people_notices,
    votes_needed,
    who_answered,
)
from analysis.pages.violation_check.rows import (
    JudgeQuality,
    Sets,
    differences_of,
    known_turns,
    turn_url,
)
from analysis.pages.violation_check.tables import (
    Row,
    agreement_columns,
    decision_columns,
    difference_columns,
    set_columns,
    state_columns,
)
from analysis.reports.formatting import counted, ends, number, plural
from analysis.reports.published import published_count_estimate
from analysis.reports.rates import how_rates, read_first, two_intervals
from analysis.stats.rater_agreement.decisions import compare_decisions
from analysis.stats.rater_agreement.majority import majority_vote
from analysis.stats.rater_agreement.marked_sets import (
    SetComparison,
    TurnState,
    compare_marked_sets,
)
from analysis.stats.rater_agreement.reliability import category_agreement, set_agreement
from annotation.questionnaires import load_questionnaire
from benchmarks.core.ports.published import PaperStatements

PURPOSE = (
    "The violation check compares the constraints that the majority of people marked as violated, "
    "turn by turn, with those that the judges found."
)
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


def content(page: Page) -> Content:
    """Hold judges against the majority: on all constraints, and on those of each kind."""
    study = page.selection.study
    if study is None:
        no_study(page, PURPOSE)
        return
    if not asks_marks(load_questionnaire(study.questionnaire)):
        not_asked(page, study, PURPOSE)
        return
    items = asked_items(study, page.selection)
    frame, people, everyone = chosen_people(mark_frame(study, items), page.selection)
    if frame.empty:
        no_answers(page, everyone, PURPOSE)
        return
    marks, by_judges = sets_by_turn(frame, items), found_by_judges(study, items)
    paper = page.system.paper
    minimum = votes_needed(item.meant for item in items)
    checks = [
        _check(name, kinds, items, marks, by_judges, minimum)
        for name, kinds in KINDS.items()
        if name == ALL or any(kind in item.kinds for item in items for kind in kinds)
    ]
    sets = checks[0].sets
    page.answer(_answer(sets, people, minimum))
    people_notices(page, people)
    if minimum == 1:
        page.info(
            "Each trajectory is judged by one annotator, who counts as the majority: this says "
            "nothing about how far people agree with each other."
        )
    if sets.both_empty:
        page.info(
            f"On {sets.both_empty:,} of {plural(sets.turns, 'compared turn')} neither people nor "
            "judges marked anything. Such turns are easy to agree on."
        )
    tied = sets.states[TurnState.TIED]
    left = f" Left out: {plural(tied, 'turn')} on which people tie." if tied else ""
    page.figure(
        "sets",
        "Turns on which the judges and the majority mark the same",
        lambda: _draw(page, checks, paper),
        subtitle="With 95 % intervals that draw trajectories, not turns; where all agree, Wilson's "
        f"over trajectories.{left}",
    )
    published: list[Row] = [paper] if "exact" in paper.checks else []
    page.table(
        "sets",
        "Sets of violations: judges against the majority",
        [*checks, *published],
        set_columns(),
        link=lambda row: Link() if isinstance(row, JudgeQuality) else None,
        note=two_intervals("trajectories", "turns"),
    )
    yield
    turns = sum(sets.states.values())
    page.table(
        "turns",
        "Turns compared, tied and left out",
        [(state, count, turns) for state, count in sets.states.items()],
        state_columns(minimum),
        note=f"Of {plural(turns, 'turn')}.",
    )
    page.table(
        "decisions",
        "Decisions on single constraints",
        checks,
        decision_columns(),
        note=f"Positive: violated. {two_intervals('trajectories', 'decisions')}",
    )
    known = known_turns(sets)
    differences = differences_of(known, items, marks, constraint_texts(study))
    page.table(
        "differences",
        "Where judges and the majority differ, and where people tie",
        differences,
        difference_columns(),
        link=lambda row: Link(url=turn_url(*row.place)),
        most=MOST_ROWS,
    )
    page.table(
        "people",
        "Agreement between people",
        checks,
        agreement_columns(),
        note="95 % intervals draw trajectories. Jaccard and equal shares are not corrected for "
        "chance; alpha is, and is low where nearly all decisions are the same.",
    )
    if not differences:
        page.info(
            "Judges and majority differ nowhere: every compared turn has equal sets, and none is "
            "tied."
            if known
            else "No turn can be compared yet."
        )
    people_details(page, people, everyone)
    intervals = how_rates([sets.exact, sets.within_one])
    page.how(
        "Majority: of each turn the constraints that more than half of its annotators marked, "
        f"decided one by one; a turn needs {plural(minimum, 'annotator')}. A constraint that "
        "exactly half marked is tied; ties are not resolved, and such turns are left out.",
        f"Compared: {plural(sets.turns, 'turn')} of "
        f"{plural(sets.trajectories, 'trajectory', 'trajectories')}. Left out: "
        f"{counted(sets.excluded) or 'none'}.",
        "Judges: the violations stored with the turn, of the constraints that people could mark. A "
        "turn whose judges gave no readable verdict has none that are known, which is not the same "
        "as none.",
        "Equal: both sets are the same. Within one: they differ in at most one constraint; one "
        "named instead of another is two differences.",
        "Decisions: every constraint in every turn, violated (positive) or not; precision = share "
        "of what the judges found that the majority marked, recall = share of what the majority "
        "marked that the judges found, FNR = 1 − recall, FPR = share of what the majority did not "
        "mark that the judges found. F1 is the harmonic mean of precision and recall; MCC is "
        "Matthews’ correlation, which counts what both call respected as well.",
        f"95 % intervals: {intervals}. Turns of one trajectory are not independent: read the one "
        "that draws trajectories.",
        "Among people: mean Jaccard index of two annotators' sets of a turn (1 for two empty "
        "sets), and Krippendorff's alpha, nominal, over constraints and turns.",
    )
    if paper.checks:
        page.how(
            f"Published ({paper.name}, {paper.checks['exact'].source}): 89.76 % equal (149 of "
            "166), 161 of 166 within one; without intervals, and without a word on ties."
        )
    page.methods(
        "Of each turn, the constraints that more than half of its annotators marked as violated "
        "are compared with those that the judges found; ties are left out. Rates: 95 % intervals, "
        f"{intervals}."
    )


def _answer(sets: SetComparison, people: AnswerCounts, minimum: int) -> str:
    """State on which share of turns judges and people mark the same."""
    who = who_answered(people)
    if not sets.turns:
        return (
            f"{who} submitted {plural(people.items, 'item')}, but no turn can be compared yet: "
            f"{counted(sets.excluded)}."
        )
    if minimum > 1:
        who = f"the majority of {who}"
    elif people.annotators > 1:
        who = f"{who}, one for each item,"
    interval = read_first(sets.exact).interval
    inside = f"; 95 % interval {ends(interval, 'share')}" if interval is not None else ""
    equal, near = (
        number(rate.wilson.value or 0.0, "share") for rate in (sets.exact, sets.within_one)
    )
    return (
        f"The judges found exactly the violations that {who} marked on {equal} of turns "
        f"({sets.exact.hits:,} of {sets.exact.of:,} turns of "
        f"{plural(sets.trajectories, 'trajectory', 'trajectories')}{inside}), and differ in at "
        f"most one constraint on {near}."
    )


def _check(
    name: str,
    kinds: Sequence[str],
    items: Sequence[AskedItem],
    every_mark: Sets,
    by_judges: Mapping[TurnKey, frozenset[str] | None],
    minimum: int,
) -> JudgeQuality:
    """Compare on the constraints of these kinds, in the turns of the items that have any."""
    known = {
        item.trajectory: keys
        for item in items
        if (keys := frozenset(key for kind in kinds for key in item.kinds.get(kind, ())))
    }
    marks = [
        (person, turn, None if marked is None else marked & known[turn[0]])
        for person, turn, marked in every_mark
        if turn[0] in known
    ]
    judged: dict[Hashable, frozenset[str] | None] = {
        turn: None if violated is None else violated & known[turn[0]]
        for turn, violated in by_judges.items()
        if turn[0] in known
    }
    turns = [turn for turn in by_judges if turn[0] in known]
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


def _draw(page: Page, checks: Sequence[JudgeQuality], paper: PaperStatements) -> Figure | None:
    """Draw the shares of turns with equal sets, and with sets within one."""
    if not checks[0].sets.turns:
        return None
    names = [check.name for check in checks]
    urls = [page.url()] * len(names)
    exact = [read_first(check.sets.exact) for check in checks]
    within_one = [read_first(check.sets.within_one) for check in checks]
    shares = [
        Shares("equal sets", exact, "circle", ACCENT, urls=urls),
        Shares("at most one constraint apart", within_one, "diamond-open", NEUTRAL, urls=urls),
    ]
    published = [
        PublishedShares(
            f"published, {share.name}", {ALL: published_count_estimate(paper.checks[key])}, mark
        )
        for key, share, mark in zip(
            ("exact", "within_one"), shares, ("x-thin-open", "cross-thin-open"), strict=True
        )
        if key in paper.checks
    ]
    return share_dots(names, shares, title="Share of turns", published=published)
