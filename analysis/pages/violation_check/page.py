"""Whether judges find the violations that the majority of people find, turn by turn."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from analysis.figures.shares import PublishedShares, Shares, share_dots
from analysis.figures.theme import ACCENT, NEUTRAL
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
from analysis.pages.violation_check.tables import (
    agreement_table,
    decision_table,
    difference_table,
    set_table,
    turn_table,
)
from analysis.reports import common
from analysis.reports.content import FigureSpec, Notice, Report
from analysis.reports.formatting import counted, ends, number, plural
from analysis.reports.people import (
    People,
    after_unblinding,
    chosen_people,
    how_people,
    no_answers,
    no_study,
    other_page,
    simulated_banner,
    votes_needed,
    who,
)
from analysis.reports.rates import how_rates, published_estimate, read_first
from analysis.stats.rater_agreement.decisions import DecisionQuality, compare_decisions
from analysis.stats.rater_agreement.majority import majority_vote
from analysis.stats.rater_agreement.marked_sets import SetComparison, TurnState, compare_marked_sets
from analysis.stats.rater_agreement.reliability import (
    Reliability,
    SetAgreement,
    category_agreement,
    set_agreement,
)
from annotation.questionnaires import load_questionnaire
from benchmarks.core.published import PaperStatements
from benchmarks.core.registry import find_system

PURPOSE = (
    "The violation check compares the constraints that the majority of people marked as violated, "
    "turn by turn, with those that the judges found."
)
SEED = 20251205
VIOLATED, RESPECTED = "violated", "respected"
# Name of the row, and the kinds of constraints that it is about.
ALL = "All constraints"
KINDS: Mapping[str, tuple[str, ...]] = {
    ALL: ("world", "user"),
    "Situation": ("world",),
    "Preferences": ("user",),
}

Sets = Sequence[tuple[int, TurnKey, frozenset[str] | None]]
Found = Mapping[TurnKey, frozenset[str] | None]


@dataclass(frozen=True)
class Checked:
    """Judges against the majority, and people against each other, on constraints of some kinds."""

    name: str
    sets: SetComparison
    decisions: DecisionQuality
    people: SetAgreement
    each: Reliability


def violation_check_report(selection: Selection) -> Report:
    """Everything on the page about violations that people marked."""
    study = selection.study
    notices = tuple(map(Notice, selection.notes))
    if study is None:
        return Report(empty=no_study(PURPOSE), notices=notices)
    if not asks_marks(load_questionnaire(study.questionnaire)):
        return Report(empty=other_page(PURPOSE, study), notices=notices)
    items = asked_items(study, selection)
    frame, people, everyone = chosen_people(mark_frame(study, items), selection)
    if frame.empty:
        return Report(
            empty=no_answers(PURPOSE, everyone, selection),
            notices=tuple(common.selection_notices(selection)),
        )
    sets, found = sets_by_turn(frame, items), found_by_judges(study, items)
    minimum = votes_needed(item.wanted for item in items)
    results = [
        check(name, kinds, items, sets, found, minimum)
        for name, kinds in KINDS.items()
        if name == ALL or any(kind in item.kinds for item in items for kind in kinds)
    ]
    whole = results[0]
    reference = find_system(selection.system).paper
    return Report(
        sentence=sentence(whole, people, minimum, reference),
        figures=(_figure(results, reference),) if whole.sets.turns else (),
        tables=(
            set_table(results, reference),
            turn_table(whole.sets, minimum),
            decision_table(results),
            difference_table(whole.sets, sets, items, constraint_texts(study)),
            agreement_table(results),
        ),
        notices=(
            *common.selection_notices(selection),
            *after_unblinding(people, selection),
            *_notices(whole, minimum),
        ),
        banners=simulated_banner(people),
        methods="Of each turn, the constraints that more than half of its annotators marked as "
        "violated are compared with those that the judges found; ties are left out. Rates: 95 % "
        f"intervals, {how_rates([whole.sets.exact, whole.sets.within_one])}.",
        how=(
            *common.how_runs(selection),
            *how_people(people, everyone, selection),
            *_how(results, minimum, reference),
        ),
    )


def check(
    name: str,
    kinds: Sequence[str],
    items: Sequence[AskedItem],
    sets: Sets,
    found: Found,
    minimum: int,
) -> Checked:
    """Compare on the constraints of these kinds, in the turns of the items that have any."""
    known = {
        item.trajectory: keys
        for item in items
        if (keys := frozenset(key for kind in kinds for key in item.kinds.get(kind, ())))
    }
    marks = [
        (person, turn, None if marked is None else marked & known[turn[0]])
        for person, turn, marked in sets
        if turn[0] in known
    ]
    judged: dict[Hashable, frozenset[str] | None] = {
        turn: None if violated is None else violated & known[turn[0]]
        for turn, violated in found.items()
        if turn[0] in known
    }
    turns = [turn for turn in found if turn[0] in known]
    trajectories: dict[Hashable, Hashable] = {turn: turn[0] for turn in turns}
    asked = [(turn, key) for turn in turns for key in sorted(known[turn[0]])]
    places: dict[Hashable, Hashable] = {place: place[0][0] for place in asked}
    votes = [
        (person, (turn, key), _decision(marked, key))
        for person, turn, marked in marks
        for key in known[turn[0]]
    ]
    return Checked(
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


def sentence(whole: Checked, people: People, minimum: int, reference: PaperStatements) -> str:
    """On how many turns judges and the majority of people are at one, and within one."""
    sets, subject = whole.sets, _subject(people, minimum)
    if not sets.turns:
        return (
            f"{who(people)} submitted {plural(people.items, 'item')}, but no turn can be compared "
            f"yet: {counted(sets.excluded)}."
        )
    exact, near = sets.exact, sets.within_one
    drawn = read_first(exact).interval
    inside = f", 95 % interval {ends(drawn, 'share')}" if drawn is not None else ""
    published = reference.checks.get("exact")
    paper = f"; paper: {100 * published.share:.2f} %" if published else ""
    beside = reference.checks.get("within_one")
    within = f"; paper: {beside.hits} of {beside.of}" if beside else ""
    tied = sets.states[TurnState.TIED]
    left = f"; people tie on {plural(tied, 'turn')}, left out" if tied else ""
    return (
        f"The judges found exactly the violations that {subject} marked on {exact.hits:,} of "
        f"{plural(exact.of, 'turn')} ({_share(exact.wilson.value)}{inside}{paper}), and differ in "
        f"at most one constraint on {near.hits:,} ({_share(near.wilson.value)}{within}){left}."
    )


def _subject(people: People, minimum: int) -> str:
    if minimum == 1:
        return f"{who(people)}, one for each item," if people.annotators > 1 else who(people)
    return f"the majority of {who(people)}"


def _share(value: float | None) -> str:
    return number(value or 0.0, "share")


def _figure(results: Sequence[Checked], reference: PaperStatements) -> FigureSpec:
    names = [f"{result.name}" for result in results]
    looks = (
        ("exact", "equal sets", "circle", ACCENT),
        ("within_one", "at most one constraint apart", "diamond-open", NEUTRAL),
    )
    shares = [
        Shares(name, [read_first(getattr(r.sets, key)) for r in results], symbol, colour)
        for key, name, symbol, colour in looks
    ]
    published = [
        PublishedShares(
            f"published, {name}", {ALL: published_estimate(reference.checks[key])}, mark
        )
        for (key, name, _, _), mark in zip(looks, ("x-thin-open", "cross-thin-open"), strict=True)
        if key in reference.checks
    ]
    return common.figure_spec(
        "sets",
        "Turns on which the judges and the majority mark the same",
        "With 95 % intervals that draw trajectories; where all draws agree, Wilson's.",
        share_dots(names, shares, title="share of turns", published=published),
    )


def _notices(whole: Checked, minimum: int) -> list[Notice]:
    found = []
    if minimum == 1:
        text = (
            "Each trajectory is judged by one annotator, who stands for the majority: this says "
            "nothing about how far people agree with each other."
        )
        found.append(Notice(text, "info"))
    sets = whole.sets
    if sets.both_empty:
        text = (
            f"On {sets.both_empty:,} of {plural(sets.turns, 'compared turn')} neither people nor "
            "judges marked anything. Such turns are easy to agree on."
        )
        found.append(Notice(text, "info"))
    if 0 < sets.trajectories < 20:
        text = (
            f"Only {plural(sets.trajectories, 'trajectory', 'trajectories')}: intervals are rough, "
            "those that draw trajectories too narrow."
        )
        found.append(Notice(text))
    return found


def _how(results: Sequence[Checked], minimum: int, reference: PaperStatements) -> list[str]:
    whole = results[0]
    sets = whole.sets
    lines = [
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
        f"95 % intervals: {how_rates([sets.exact, sets.within_one])}. Turns of one trajectory are "
        "not independent: read the one that draws trajectories.",
        "Among people: mean Jaccard index of two annotators' sets of a turn (1 for two empty "
        "sets), and Krippendorff's alpha, nominal, over constraints and turns.",
    ]
    if reference.checks:
        lines.append(
            f"Published ({reference.name}, {reference.checks['exact'].source}): 89.76 % equal (149 "
            "of 166), 161 of 166 within one; without intervals, and without a word on ties."
        )
    return lines
