"""Whether seeing the judges' marks moved people's decisions, where a study withheld them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from analysis.frames.marked_violations import AskedItem, TurnKey
from analysis.frames.ratings import marks_seen
from analysis.kit.page import Page
from analysis.pages.agreement.influence import (
    adjusted_tests,
    arm_columns,
    change_note,
    how_withheld,
    influence_words,
)
from analysis.pages.decisions import kinds_by_name
from analysis.pages.violation_check.rows import Sets
from analysis.reports.formatting import number
from analysis.stats.annotators.influence import ArmComparison, compare_arms
from annotation.models import Study
from annotation.questionnaires import load_questionnaire
from annotation.questionnaires.requirements import shows_marks

ALL = "All constraints"
NAN = float("nan")
SEEN_BY_ALL = (
    "People saw the judges’ marks before they decided, so that they agree may be the marks’ doing."
)


class Decision(NamedTuple):
    """One person's decision about a constraint in a turn, and whether marks were seen.

    ``violated`` and ``equal`` (to the judges' decision) are 1 or 0; NaN where the person cannot
    tell, ``equal`` also where the judges gave no readable verdict.
    """

    person: int
    task: int
    kind: str
    seen: bool
    violated: float
    equal: float


class DecisionInfluence(NamedTuple):
    """Both arms on the constraints of some kinds."""

    title: str
    equal: ArmComparison
    violated: ArmComparison


def show_influence(
    page: Page,
    study: Study,
    items: Sequence[AskedItem],
    marks: Sets,
    doubts: Sets,
    by_judges: Mapping[TurnKey, frozenset[str] | None],
) -> None:
    """Add the comparison of both arms, where the study withheld marks at random.

    ``marks`` and ``doubts`` are what each person calls violated and cannot tell, by turn.
    """
    arms = marks_seen(study)
    if arms is None:
        if study.verdicts != Study.Verdicts.NONE and shows_marks(
            load_questionnaire(study.questionnaire)
        ):
            page.info(SEEN_BY_ALL)
        return
    decisions = _decisions(items, marks, doubts, by_judges, arms)
    if not decisions:
        page.info("Marks were withheld at random, but no decision fits the filters.")
        return
    kinds = kinds_by_name(ALL, {decision.kind for decision in decisions})
    main, *single = (_compare(title, decisions, of) for title, of in kinds.items())
    rows = [main, *single] if len(single) > 1 else [main]
    adjusted = adjusted_tests(
        rows[1:],
        {"equal": lambda row: row.equal, "violated": lambda row: row.violated},
        "agreement and shares of violated constraints of either kind",
    )
    words = influence_words(main.equal, "how often people decide as the judges do", "share")
    if (alone := main.equal.withheld.value) is not None:
        words = f"{words} Without the marks people do so on {number(alone, 'share')}."
    page.info(words)
    page.table(
        "influence-judges",
        "Decisions equal to the judges’, with and without their marks",
        rows,
        arm_columns("Constraints", lambda row: row.equal, "share", "equal", adjusted),
        link=lambda _: None,
        note=change_note(adjusted, "kinds"),
    )
    page.table(
        "influence",
        "Decided violated, with and without the judges’ marks",
        rows,
        arm_columns("Constraints", lambda row: row.violated, "share", "violated", adjusted),
        link=lambda _: None,
        note="Of the decisions for violated or not violated; cannot tell is left out in both "
        "tables.",
    )
    page.how(how_withheld(study, "kind of constraint"))
    page.methods(
        "Judges’ marks were withheld from half of each annotator’s items, drawn at random; "
        "decisions, and whether they equal the judges’, were compared within annotators with "
        "errors clustered by task."
    )


def _decisions(
    items: Sequence[AskedItem],
    marks: Sets,
    doubts: Sets,
    by_judges: Mapping[TurnKey, frozenset[str] | None],
    arms: Mapping[tuple[int, int], bool],
) -> list[Decision]:
    """Return the decisions of everybody whose arm is known; turns left open have none."""
    by_trajectory = {item.trajectory: item for item in items}
    decisions = []
    for (person, turn, marked), (_, _, unsure) in zip(marks, doubts, strict=True):
        seen = arms.get((turn[0], person))
        if seen is None or marked is None or unsure is None:
            continue
        item, judged = by_trajectory[turn[0]], by_judges.get(turn)
        for key, kind in item.kind_of.items():
            violated = equal = NAN
            if key not in unsure:
                violated = float(key in marked)
                if judged is not None:
                    equal = float((key in marked) == (key in judged))
            decisions.append(Decision(person, item.task, kind, seen, violated, equal))
    return decisions


def _compare(title: str, decisions: Sequence[Decision], kinds: Sequence[str]) -> DecisionInfluence:
    own = [decision for decision in decisions if decision.kind in kinds]
    strata = [(decision.person, decision.kind) for decision in own]
    tasks = [decision.task for decision in own]
    seen = [decision.seen for decision in own]

    def compare(values: Sequence[float]) -> ArmComparison:
        return compare_arms(values, seen, strata, tasks, scale=(0, 1))

    return DecisionInfluence(
        title,
        compare([decision.equal for decision in own]),
        compare([decision.violated for decision in own]),
    )
