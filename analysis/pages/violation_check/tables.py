"""The tables of the page about violations that people marked."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from analysis.frames.marked_violations import AskedItem, TurnKey
from analysis.reports import common
from analysis.reports.content import (
    Cell,
    Column,
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
from analysis.reports.formatting import counted
from analysis.reports.rates import published_rate_cell, rate_cell, rate_column
from analysis.stats.rater_agreement.marked_sets import SetComparison, TurnComparison, TurnState
from benchmarks.core.published import PaperStatements

if TYPE_CHECKING:
    from analysis.pages.violation_check.page import Checked

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
        left = counted(found.excluded)
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
                left_out_cell(found.excluded, left),
            )
        )
    return Table(
        "decisions",
        "Decisions on single constraints",
        columns,
        tuple(rows),
        note=f"Positive: violated. {DRAWN.format(clusters='trajectories', what='decisions')}",
    )


def left_out_cell(excluded: Mapping[str, int], words: str) -> Cell:
    """How many were left out, with the reasons."""
    return Cell(str(sum(excluded.values())) if excluded else "none", (words,), sub=words)


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
