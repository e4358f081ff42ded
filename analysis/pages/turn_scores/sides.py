"""People's and judges' mean scores of the same turns, as the statistics by turn take them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.models import Study
from annotation.questionnaires import Question

if TYPE_CHECKING:
    from pandas import DataFrame

PEOPLE, JUDGES = "People", "Judges"
ALL = "All dimensions"


@dataclass(frozen=True)
class Sides:
    """Mean scores of both sides by turn, as the statistics take them; one row each."""

    side: list[str]
    title: list[str]
    trajectory: list[int]
    turn: list[int]
    score: list[float | None]
    task: list[int]

    @property
    def columns(self) -> tuple[list[str], list[str], list[int], list[int], list[float | None]]:
        return self.side, self.title, self.trajectory, self.turn, self.score


def sides_of(
    study: Study, questions: Sequence[Question], frame: "DataFrame", judged: "DataFrame"
) -> Sides:
    """The mean of the annotators and the mean of the judges of each turn, None where missing.

    Of trajectories that somebody scored, with every turn that was asked about: a turn without a
    score still shows that the trajectory was running.
    """
    people = frame.groupby(["trajectory", "turn", "question"])["human"].mean().to_dict()
    # Missing where a judge who was asked gave no score.
    means = judged.mean(axis=1, skipna=False).dropna().to_dict() if len(judged) else {}
    items = study.items.filter(trajectory__in=set(frame["trajectory"].tolist()))
    rows: list[tuple[str, str, int, int, float | None, int]] = []
    fields = ("trajectory", "trajectory__task", "asked", "subjects")
    for trajectory, task, asked, subjects in items.values_list(*fields):
        own = [question for question in questions if question.key in asked]
        for turn in map(int, subjects.get("turn", ())):
            both: dict[str, list[float | None]] = {PEOPLE: [], JUDGES: []}
            for question in own:
                said = people.get((trajectory, turn, question.key))
                rows.append((PEOPLE, question.title, trajectory, turn, said, task))
                if question.dimension:
                    found = means.get((trajectory, turn, question.dimension))
                    rows.append((JUDGES, question.title, trajectory, turn, found, task))
                    both[PEOPLE].append(said)
                    both[JUDGES].append(found)
            rows += [
                (side, ALL, trajectory, turn, _mean(given), task)
                for side, given in both.items()
                if given
            ]
    return Sides(*(list(column) for column in zip(*rows, strict=True)))


def _mean(scores: Sequence[float | None]) -> float | None:
    """Over all dimensions, where all were scored."""
    known = [score for score in scores if score is not None]
    return sum(known) / len(known) if len(known) == len(scores) else None
