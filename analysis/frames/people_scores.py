"""People's scores of plans, over all studies that count, by trajectory, turn and dimension."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from analysis.filters.selection import ChosenRun
from annotation.models import Study
from annotation.ratings.selectors import human_scores

# Trajectory, turn (None for the last plan), and dimension.
Judged = tuple[int, int | None, str]


@dataclass(frozen=True)
class PeopleScores:
    """The mean of people's scores of each plan, and whose they are.

    ``simulated`` counts the simulated annotators among ``annotators``.
    """

    means: Mapping[Judged, float] = field(default_factory=dict)
    annotators: int = 0
    simulated: int = 0
    studies: tuple[str, ...] = ()

    def of(self, trajectory: int, turn: int, dimension: str, *, last: bool) -> float | None:
        """People's score of a turn; of the last one, else what they said of the last plan."""
        said = self.means.get((trajectory, turn, dimension))
        if said is None and last:
            said = self.means.get((trajectory, None, dimension))
        return said


def people_scores(studies: Sequence[int], runs: Sequence[ChosenRun]) -> PeopleScores:
    """Scores of submitted items about the runs' trajectories.

    Simulated annotators count in demos only, as on the pages about people.
    """
    if not studies:
        return PeopleScores()
    known = {pk: (name, demo) for pk, name, demo in
             Study.objects.filter(pk__in=studies).values_list("pk", "name", "is_demo")}  # fmt: skip
    given: dict[Judged, list[int]] = {}
    who: dict[int, bool] = {}
    used: dict[int, str] = {}
    for score in human_scores(studies=studies, runs=[run.pk for run in runs]):
        name, demo = known[score.study]
        if not score.dimension or (score.is_simulated and not demo):
            continue
        given.setdefault((score.trajectory, score.turn, score.dimension), []).append(score.value)
        who[score.annotator] = score.is_simulated
        used[score.study] = name
    return PeopleScores(
        {key: sum(values) / len(values) for key, values in given.items()},
        len(who),
        sum(who.values()),
        tuple(used.values()),
    )
