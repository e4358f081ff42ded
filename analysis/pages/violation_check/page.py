"""Do judges find the violations that people find? Both sets compared turn by turn."""

from collections.abc import Callable, Hashable, Mapping, Sequence

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
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.pages.decisions import (
    KIND_WORDS,
    alpha_column,
    beside,
    equal_column,
    f1_column,
    kinds_by_name,
    left_out_column,
    mcc_column,
    name_column,
    rate_beside,
)
from analysis.pages.people import (
    AnswerCounts,
    asked_study,
    chosen_people,
    no_answers,
    note_single_votes,
    people_details,
    people_notices,
    votes_needed,
    who_answered,
)
from analysis.pages.violation_check.influence import show_influence
from analysis.pages.violation_check.rows import (
    JudgeQuality,
    Sets,
    ViolationDifference,
    differences_of,
    known_turns,
    turn_url,
)
from analysis.reports import content as parts
from analysis.reports.content import Cell, count_cell
from analysis.reports.formatting import counted, ends, number, plural
from analysis.reports.published import published_count_estimate
from analysis.reports.rates import how_rates, rate_cell, rate_column, read_first, two_intervals
from analysis.stats.rater_agreement.decisions import compare_decisions
from analysis.stats.rater_agreement.majority import majority_vote
from analysis.stats.rater_agreement.marked_sets import (
    SetComparison,
    TurnState,
    compare_marked_sets,
)
from analysis.stats.rater_agreement.reliability import category_agreement, set_agreement
from analysis.stats.results import Estimate
from benchmarks.core.ports.published import PaperStatements

PURPOSE = (
    "The violation check compares the constraints that the majority of people marked as violated, "
    "turn by turn, with those that the judges found."
)
SEED = 20251205
MOST_ROWS = 200
VIOLATED, RESPECTED, UNSURE = "violated", "respected", "cannot tell"
ALL = "All constraints"
# A check of this study, or the paper's.
Row = JudgeQuality | PaperStatements


def content(page: Page) -> Content:
    """Hold judges against the majority: on all constraints, and on those of each kind."""
    study = asked_study(page, PURPOSE, asks_marks)
    if study is None:
        return
    items = asked_items(study, page.selection)
    frame, people, everyone = chosen_people(mark_frame(study, items), page.selection)
    if frame.empty:
        no_answers(page, everyone, PURPOSE)
        return
    marks, by_judges = sets_by_turn(frame, items), found_by_judges(study, items)
    doubts = sets_by_turn(frame, items, "unsure")
    paper = page.system.paper
    minimum = votes_needed(item.meant for item in items)
    checks = [
        _check(name, kinds, items, marks, doubts, by_judges, minimum)
        for name, kinds in kinds_by_name(
            ALL, {kind for item in items for kind in item.kinds}
        ).items()
    ]
    sets = checks[0].sets
    page.answer(_answer(sets, people, minimum))
    people_notices(page, people)
    note_single_votes(page, minimum, "trajectory")
    if sets.both_empty:
        page.info(
            f"On {sets.both_empty:,} of {plural(sets.turns, 'compared turn')} neither people nor "
            "judges marked anything. Such turns are easy to agree on."
        )
    tied = sets.states[TurnState.TIED]
    unsure = sets.states[TurnState.UNSURE]
    left_out = [f"{plural(tied, 'turn')} on which people tie"] * bool(tied)
    left_out += [f"{plural(unsure, 'turn')} on which they cannot tell"] * bool(unsure)
    left = f" Left out: {', '.join(left_out)}." if left_out else ""
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
        _set_columns(),
        link=lambda row: Link() if isinstance(row, JudgeQuality) else None,
        note=two_intervals("trajectories", "turns"),
    )
    yield
    turns = sum(sets.states.values())
    words = {
        TurnState.COMPARED: "Compared",
        TurnState.TIED: "Tied: exactly half marked some constraint",
        TurnState.UNSURE: "No majority on some constraint, because somebody cannot tell",
        TurnState.TOO_FEW: f"Marked by fewer than {minimum}",
        TurnState.NO_JUDGE: "Judges gave no readable verdict",
    }
    page.table(
        "turns",
        "Turns compared, tied and left out",
        [
            (state, count, turns)
            for state, count in sets.states.items()
            if count or state is not TurnState.UNSURE
        ],
        [
            columns.text("Turns", lambda row: words[row[0]], "state"),
            columns.count("Count", lambda row: row[1]),
            columns.number(
                "Share", lambda row: row[1] / row[2] if row[2] else None, "share", reason="no turn"
            ),
        ],
        note=f"Of {plural(turns, 'turn')}.",
    )
    page.table(
        "decisions",
        "Decisions on single constraints",
        checks,
        _decision_columns(),
        note=f"Positive: violated. {two_intervals('trajectories', 'decisions')}",
    )
    show_influence(page, study, items, marks, doubts, by_judges)
    known = known_turns(sets)
    differences = differences_of(known, items, marks, constraint_texts(study))
    page.table(
        "differences",
        "Where judges and the majority differ, and where people tie",
        differences,
        _difference_columns(),
        link=lambda row: Link(url=turn_url(*row.place)),
        most=MOST_ROWS,
    )
    page.table(
        "people",
        "Agreement between people",
        checks,
        [
            columns.text("Constraints", lambda row: row.name),
            columns.count(
                "Turns", lambda row: row.people.items, help="Turns that two people or more marked"
            ),
            columns.estimate(
                "Jaccard",
                lambda row: row.people.jaccard,
                "points",
                help="Mean over pairs of annotators and over turns",
            ),
            columns.estimate(
                "Equal sets",
                lambda row: row.people.equal,
                "share",
                help="Share of pairs of sets of one turn that are equal",
            ),
            columns.count(
                "Decisions",
                lambda row: row.each.items,
                help="Constraints in turns that two people or more decided",
            ),
            alpha_column(lambda row: row.each),
            equal_column("Equal decisions", lambda row: row.each),
        ],
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
        "exactly half marked is tied; ties are not resolved, and such turns are left out. Cannot "
        "tell is a vote of its own: a turn with a constraint without a majority for violated or "
        "not violated is left out.",
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
    every_doubt: Sets,
    by_judges: Mapping[TurnKey, frozenset[str] | None],
    minimum: int,
) -> JudgeQuality:
    """Compare on the constraints of these kinds, in the turns of the items that have any."""
    known = {
        item.trajectory: keys
        for item in items
        if (keys := frozenset(key for kind in kinds for key in item.kinds.get(kind, ())))
    }

    def of_these(sets: Sets) -> list[tuple[int, TurnKey, frozenset[str] | None]]:
        return [
            (person, turn, None if keys is None else keys & known[turn[0]])
            for person, turn, keys in sets
            if turn[0] in known
        ]

    marks, doubts = of_these(every_mark), of_these(every_doubt)
    decided = [
        (person, turn, marked, unsure or frozenset())
        for (person, turn, marked), (_, _, unsure) in zip(marks, doubts, strict=True)
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
        (person, (turn, key), _decision(marked, key, unsure))
        for person, turn, marked, unsure in decided
        # Sorted: the seed of a bootstrap does not settle the order of a set.
        for key in sorted(known[turn[0]])
    ]
    return JudgeQuality(
        name,
        compare_marked_sets(
            marks, judged, trajectories=trajectories, unsure=doubts, minimum=minimum
        ),
        compare_decisions(
            {(turn, key): _decision(judged[turn], key) for turn, key in asked},
            majority_vote(votes, minimum=minimum, items=places).verdicts,
            positive=VIOLATED,
            negative=RESPECTED,
            unsure=UNSURE,
            clusters=places,
            unit="trajectory",
            seed=SEED,
        ),
        set_agreement(_with_doubts(decided), clusters=trajectories, unit="trajectory", seed=SEED),
        category_agreement(votes, clusters=places, unit="trajectory", seed=SEED),
    )


def _decision(
    marked: frozenset[str] | None, key: str, unsure: frozenset[str] = frozenset()
) -> str | None:
    if marked is None:
        return None
    if key in unsure:
        return UNSURE
    return VIOLATED if key in marked else RESPECTED


def _with_doubts(
    decided: Sequence[tuple[int, TurnKey, frozenset[str] | None, frozenset[str]]],
) -> list[tuple[int, TurnKey, frozenset[Hashable] | None]]:
    """Return the sets with "cannot tell" about a constraint as an element of its own."""
    return [
        (
            person,
            turn,
            None
            if marked is None
            else frozenset([*marked, *((UNSURE, key) for key in sorted(unsure))]),
        )
        for person, turn, marked, unsure in decided
    ]


def _set_columns() -> list[Column[Row]]:
    """Give equal sets, sets within one and what is missed and extra, here and as published."""

    def mean(label: str, help: str, value: Callable[[JudgeQuality], Estimate]) -> Column[Row]:
        head = parts.estimate_column(label, help=help)
        return beside(head, lambda row: parts.estimate_cell(value(row), "points"))

    return [
        name_column("Constraints", "exact"),
        beside(
            parts.number_column("Turns"),
            lambda row: count_cell(row.sets.turns),
            lambda paper: count_cell(paper.checks["exact"].of),
        ),
        beside(
            parts.number_column("Trajectories"),
            lambda row: count_cell(row.sets.trajectories),
            lambda paper: count_cell(paper.checks["exact"].units),
        ),
        rate_beside("Equal", "Both sets are the same", lambda row: row.sets.exact, "exact"),
        rate_beside(
            "Within one",
            "The sets differ in at most one constraint",
            lambda row: row.sets.within_one,
            "within_one",
        ),
        mean(
            "Jaccard",
            "Mean of common constraints over all that either marked",
            lambda row: row.sets.jaccard,
        ),
        mean(
            "Missed", "Constraints per turn that people alone marked", lambda row: row.sets.missed
        ),
        mean(
            "Extra", "Constraints per turn that the judges alone found", lambda row: row.sets.extra
        ),
        beside(
            parts.number_column(
                "Both empty", help="Compared turns in which nobody marked anything"
            ),
            lambda row: count_cell(row.sets.both_empty),
        ),
    ]


def _decision_columns() -> list[Column[JudgeQuality]]:
    """Give the judges as deciders on each constraint of each turn."""

    def rate(label: str, help: str, measure: str) -> Column[JudgeQuality]:
        head = rate_column(label, help=help)
        return Column(head, lambda row: rate_cell(getattr(row.decisions, measure)))

    return [
        columns.text("Constraints", lambda row: row.name),
        columns.count("Decisions", lambda row: row.decisions.n),
        columns.count(
            "Both",
            lambda row: row.decisions.confusion.true_positive,
            "both violated",
            "Violated for the majority and for the judges",
        ),
        columns.count(
            "People only",
            lambda row: row.decisions.confusion.false_negative,
            help="Violated for the majority alone: missed",
        ),
        columns.count(
            "Judges only",
            lambda row: row.decisions.confusion.false_positive,
            help="Violated for the judges alone: extra",
        ),
        columns.count(
            "Neither",
            lambda row: row.decisions.confusion.true_negative,
            help="Respected for both",
        ),
        rate("Precision", "Of what the judges found, what the majority marked", "precision"),
        rate("Recall", "Of what the majority marked, what the judges found", "recall"),
        rate("FNR", "Of what the majority marked, what the judges missed", "false_negative_rate"),
        rate(
            "FPR", "Of what the majority did not mark, what the judges found", "false_positive_rate"
        ),
        f1_column(),
        mcc_column(),
        left_out_column(),
    ]


def _difference_columns() -> list[Column[ViolationDifference]]:
    """Give each constraint with its votes and the judges' verdict."""
    return [
        Column(
            parts.Column("Turn", ("trajectory", "turn"), num=False),
            lambda row: Cell(
                f"Trajectory {row.place[0]}, turn {row.place[1]}",
                row.place,
                url=turn_url(*row.place),
            ),
        ),
        columns.text("Agent", lambda row: row.agent),
        columns.text("Kind", lambda row: KIND_WORDS[row.constraint_kind]),
        columns.sentences("Constraint", lambda row: row.constraint),
        columns.text(
            "Difference", lambda row: row.kind, help="Missed: people alone; extra: judges alone"
        ),
        Column(
            parts.Column("Marked by", ("marked by", "annotators"), help="Annotators who marked it"),
            lambda row: Cell(f"{row.marked} of {row.annotators}", (row.marked, row.annotators)),
        ),
        columns.text("Judges", lambda row: "violated" if row.found_by_judges else "respected"),
    ]


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
