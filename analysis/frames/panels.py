"""The scores of a study as a tidy table: people and judges on the last plans that people judged."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from analysis.agreement.csv_table import TableSection, TidyTable
from analysis.filters.selection import ChosenRun
from annotation.models import Participant, Study
from benchmarks.core.system import Dimension
from benchmarks.models import JudgeScore
from benchmarks.roles.judge_names import judge_names

if TYPE_CHECKING:
    from pandas import DataFrame


def people_names(study: Study) -> dict[int, str]:
    """Return the labels of annotators in results: their number in the study, never a name."""
    numbers = Participant.objects.filter(study=study).values_list("user", "number")
    return {user: f"annotator {number}" for user, number in numbers}


def seat_names(runs: Sequence[ChosenRun]) -> dict[str, str]:
    """Return the judge of each seat, or all of its judges where runs differ."""
    judgings = [run.judging for run in runs if run.judging is not None]
    rows = JudgeScore.objects.filter(judging__in=judgings).order_by()
    judges = set(rows.values_list("judge__name", "judge__version", "seat").distinct())
    called = judge_names(judges)
    seats: dict[str, list[str]] = {}
    for judge in sorted(judges):
        seats.setdefault(judge[2], []).append(called[judge])
    return {seat: " / ".join(names) for seat, names in seats.items()}


def study_table(
    frame: "DataFrame",
    judged: "DataFrame",
    dimensions: Sequence[Dimension],
    *,
    people: Mapping[int, str],
    seats: Mapping[str, str],
) -> TidyTable:
    """Return a section for every dimension that was asked: a row per trajectory, a column per
    rater.

    ``frame`` holds people’s answers (`rating_frame`), ``judged`` the judges’ scores by seat
    (`final_scores`). Every item belongs to its task.
    """
    sections = []
    asked = frame[frame["dimension"] != ""]
    for dimension in dimensions:
        answers = asked[asked["dimension"] == dimension.key]
        if answers.empty:
            continue
        human = answers.pivot_table(
            index=["trajectory", "task"], columns="annotator", values="human"
        )
        own = judged[judged.index.get_level_values("dimension") == dimension.key]
        machine = own.droplevel("dimension").reindex(human.index.get_level_values("trajectory"))
        names = [people.get(int(user), f"person {user}") for user in human.columns]
        judges = [seats.get(str(seat), f"seat {seat}") for seat in machine.columns]
        scores = np.column_stack(
            [human.to_numpy(dtype="float64"), machine.to_numpy(dtype="float64")]
        )
        sections.append(
            TableSection(
                "",
                dimension.title,
                tuple(str(pk) for pk in human.index.get_level_values("trajectory")),
                (*names, *judges),
                (*["human"] * len(names), *["llm"] * len(judges)),
                scores,
                tuple(str(task) for task in human.index.get_level_values("task")),
            )
        )
    rows = sum(int((~np.isnan(section.scores)).sum()) for section in sections)
    return TidyTable(tuple(sections), rows, 0, ())
