"""Whether judges find the violations that the majority of people find, turn by turn."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

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
from analysis.pages.declaration import WrittenPage
from analysis.pages.people import (
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
from analysis.reports import common
from analysis.reports.content import (
    Cell,
    Column,
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
from analysis.reports.formatting import counted, ends, number, plural
from analysis.reports.rates import (
    how_rates,
    left_out_cell,
    published_estimate,
    published_rate_cell,
    rate_cell,
    rate_column,
    read_first,
)
from analysis.stats.rater_agreement.decisions import DecisionQuality, compare_decisions
from analysis.stats.rater_agreement.majority import majority_vote
from analysis.stats.rater_agreement.marked_sets import (
    SetComparison,
    TurnComparison,
    TurnState,
    compare_marked_sets,
)
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


KIND_WORDS = {"world": "situation", "user": "preference"}
MOST_ROWS = 200
DRAWN = (
    "Two 95 % intervals: the first draws {clusters} and is the one to read; the second, Wilson's, "
    "takes {what} as independent."
)


def set_table(results: Sequence["Checked"], reference: PaperStatements) -> Table:
    """Equal sets and sets within one, for all constraints and by kind, beside the published."""
    columns = (
        text_column("Constraints"),
        number_column("Turns"),
        number_column("Trajectories"),
        rate_column("Equal", help="Both sets are the same"),
        rate_column("Within one", help="The sets differ in at most one constraint"),
        estimate_column("Jaccard", help="Mean of common constraints over all that either marked"),
        estimate_column("Missed", help="Constraints per turn that people alone marked"),
        estimate_column("Extra", help="Constraints per turn that the judges alone found"),
        number_column("Both empty", help="Compared turns in which nobody marked anything"),
    )
    rows = [
        (
            text_cell(result.name),
            count_cell(result.sets.turns),
            count_cell(result.sets.trajectories),
            rate_cell(result.sets.exact),
            rate_cell(result.sets.within_one),
            estimate_cell(result.sets.jaccard, "points"),
            estimate_cell(result.sets.missed, "points"),
            estimate_cell(result.sets.extra, "points"),
            count_cell(result.sets.both_empty),
        )
        for result in results
    ]
    exact = reference.checks.get("exact")
    if exact is not None:
        unknown = "not published"
        nothing = Cell(data=(None, None, None, None, unknown), reason=unknown)
        rows.append(
            (
                text_cell("Published", badges=(common.PUBLISHED_BADGE,), sub=exact.source),
                count_cell(exact.of),
                count_cell(exact.units),
                published_rate_cell(exact),
                published_rate_cell(reference.checks.get("within_one")),
                nothing,
                nothing,
                nothing,
                count_cell(None, reason=unknown),
            )
        )
    return Table(
        "sets",
        "Sets of violations: judges against the majority",
        columns,
        tuple(rows),
        note=DRAWN.format(clusters="trajectories", what="turns"),
    )


def turn_table(sets: SetComparison, minimum: int) -> Table:
    """What became of every turn: compared, tied, or left out and why."""
    words = {
        TurnState.COMPARED: "Compared",
        TurnState.TIED: "Tied: exactly half marked some constraint",
        TurnState.TOO_FEW: f"Marked by fewer than {minimum}",
        TurnState.NO_JUDGE: "Judges gave no readable verdict",
    }
    total = sum(sets.states.values())
    rows = tuple(
        (
            text_cell(words[state]),
            count_cell(count),
            number_cell(count / total if total else None, "share", reason="no turn"),
        )
        for state, count in sets.states.items()
    )
    columns = (text_column("Turns", "state"), number_column("Count"), number_column("Share"))
    return Table("turns", "What became of the turns", columns, rows, note=f"Of {total:,} turns.")


def decision_table(results: Sequence["Checked"]) -> Table:
    """The judges as deciders on each constraint of each turn."""
    columns = (
        text_column("Constraints"),
        number_column("Decisions"),
        number_column("Both", "both violated", "Violated for the majority and for the judges"),
        number_column("People only", help="Violated for the majority alone: missed"),
        number_column("Judges only", help="Violated for the judges alone: extra"),
        number_column("Neither", help="Respected for both"),
        rate_column("Precision", help="Of what the judges found, what the majority marked"),
        rate_column("Recall", help="Of what the majority marked, what the judges found"),
        rate_column("FNR", help="Of what the majority marked, what the judges missed"),
        rate_column("FPR", help="Of what the majority did not mark, what the judges found"),
        estimate_column("F1", help="Harmonic mean of precision and recall"),
        estimate_column("MCC", help="Matthews’ correlation: 0 is chance, 1 the same everywhere"),
        text_column("Left out"),
    )
    rows = []
    for result in results:
        found = result.decisions
        confusion = found.confusion
        rows.append(
            (
                text_cell(result.name),
                count_cell(found.n),
                count_cell(confusion.true_positive),
                count_cell(confusion.false_negative),
                count_cell(confusion.false_positive),
                count_cell(confusion.true_negative),
                rate_cell(found.precision),
                rate_cell(found.recall),
                rate_cell(found.false_negative_rate),
                rate_cell(found.false_positive_rate),
                estimate_cell(found.f1, "share"),
                estimate_cell(found.mcc, "points"),
                left_out_cell(found.excluded),
            )
        )
    return Table(
        "decisions",
        "Decisions on single constraints",
        columns,
        tuple(rows),
        note=f"Positive: violated. {DRAWN.format(clusters='trajectories', what='decisions')}",
    )


def difference_table(
    sets: SetComparison,
    marks: Sequence[tuple[int, TurnKey, frozenset[str] | None]],
    items: Sequence[AskedItem],
    texts: Mapping[tuple[int, str], str],
) -> Table:
    """Constraints on which the judges and the majority differ, or people tie, turn by turn."""
    by_trajectory = {item.trajectory: item for item in items}
    votes: Counter[tuple[TurnKey, str]] = Counter()
    given: Counter[TurnKey] = Counter()
    for _, turn, marked in marks:
        if marked is not None:
            given[turn] += 1
            votes.update((turn, key) for key in marked)
    rows = []
    known = [one for one in sets.each if one.state not in (TurnState.NO_JUDGE, TurnState.TOO_FEW)]
    for compared in known:
        place = cast(TurnKey, compared.turn)
        item = by_trajectory[place[0]]
        for key, what in _differences(compared, item):
            found = compared.judge is not None and key in compared.judge
            rows.append(
                (
                    Cell(
                        f"Trajectory {place[0]}, turn {place[1]}",
                        (place[0], place[1]),
                        url=turn_url(*place),
                    ),
                    text_cell(item.label),
                    text_cell(KIND_WORDS[item.kind_of[key]]),
                    text_cell(texts.get((place[0], key), key)),
                    text_cell(what),
                    Cell(
                        f"{votes[place, key]} of {given[place]}", (votes[place, key], given[place])
                    ),
                    text_cell("violated" if found else "respected"),
                )
            )
    none = "Nowhere: every compared turn has equal sets, and none is tied."
    if not known:
        none = "No turn can be compared yet."
    return Table(
        "differences",
        "Where judges and the majority differ, and where people tie",
        (
            Column("Turn", ("trajectory", "turn"), num=False),
            text_column("Agent"),
            text_column("Kind"),
            words_column("Constraint"),
            text_column("Difference", help="Missed: people alone; extra: judges alone"),
            Column("Marked by", ("marked by", "annotators"), help="Annotators who marked it"),
            text_column("Judges"),
        ),
        tuple(rows),
        note="" if rows else none,
        most=MOST_ROWS,
    )


def turn_url(trajectory: int, turn: int) -> str:
    """The page of a trajectory, at one of its turns."""
    url = common.address("analysis:trajectory", trajectory_id=trajectory)
    return f"{url}#turn-{turn}" if url else ""


def _differences(turn: TurnComparison, item: AskedItem) -> list[tuple[str, str]]:
    """Constraints of one turn, in the order of the profile, with what is the matter."""
    compared = turn.state is TurnState.COMPARED
    found = []
    for key in item.kind_of:
        if key in turn.people.tied:
            found.append((key, "tied"))
        elif compared and key in turn.missed:
            found.append((key, "missed"))
        elif compared and key in turn.extra:
            found.append((key, "extra"))
    return found


def agreement_table(results: Sequence["Checked"]) -> Table:
    """How far people agree with each other, on sets and on single constraints."""
    columns = (
        text_column("Constraints"),
        number_column("Turns", help="Turns that two people or more marked"),
        estimate_column("Jaccard", help="Mean over pairs of annotators and over turns"),
        estimate_column("Equal sets", help="Share of pairs of sets of one turn that are equal"),
        number_column("Decisions", help="Constraints in turns that two people or more decided"),
        estimate_column("Alpha", help="Krippendorff's alpha, nominal: 1 is perfect, 0 is chance"),
        estimate_column("Equal decisions", help="Share of pairs of decisions that are equal"),
    )
    rows = tuple(
        (
            text_cell(result.name),
            count_cell(result.people.items),
            estimate_cell(result.people.jaccard, "points"),
            estimate_cell(result.people.equal, "share"),
            count_cell(result.each.items),
            estimate_cell(result.each.alpha, "points"),
            estimate_cell(result.each.equal, "share"),
        )
        for result in results
    )
    return Table(
        "people",
        "Agreement between people",
        columns,
        rows,
        note="95 % intervals draw trajectories. Jaccard and equal shares are not corrected for "
        "chance; alpha is, and is low where nearly all decisions are the same.",
    )


CONTENT = WrittenPage(violation_check_report)
