"""Plans that people rated, with the probability with which each trajectory was drawn."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from statistics import fmean
from typing import TYPE_CHECKING, Any

from analysis.filters.selection import ChosenRun
from analysis.filters.study_kinds import turn_questions
from analysis.frames.people_scores import PeopleScores, people_scores
from analysis.stats.corrected.severity import adjust_for_severity
from annotation.models import Item, Study
from annotation.planning.draws import study_draws
from annotation.questionnaires import load_questionnaire
from annotation.studies.design import study_design
from benchmarks.models import Turn

if TYPE_CHECKING:
    from pandas import DataFrame

NO_DRAWS = "their study does not say with which probability it drew them"
BY_HAND = "they were added to their study later"


@dataclass(frozen=True)
class RatedPlans:
    """People's scores of last plans, by trajectory, and probabilities of all that was drawn from.

    ``scores`` has the people's mean by trajectory and dimension, ``given`` every score behind it
    with its annotator, ``of_turns`` the mean by trajectory, turn
    and dimension, the last plan's among them; ``probabilities`` are those of
    being rated in any of the studies, which were drawn independently. ``left_out`` counts rated
    trajectories without a probability, by reason. ``turn_by_turn`` says of the studies that asked
    about turns whether they showed these one after the other.
    """

    scores: Mapping[tuple[int, str], float] = field(default_factory=dict)
    probabilities: Mapping[int, float] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    people: PeopleScores = field(default_factory=PeopleScores)
    of_turns: Mapping[tuple[int, int, str], float] = field(default_factory=dict)
    turn_by_turn: Collection[bool] = ()
    given: Mapping[tuple[int, str], Sequence[tuple[int, int]]] = field(default_factory=dict)

    def means(self, trajectories: Sequence[int], dimension: str) -> list[float]:
        """Return the people's scores of trajectories on a dimension; NaN where nobody rated it.

        They are adjusted for how severe each person is, where plans that they share allow it.
        """
        means = self.adjusted(dimension)
        if means is None:
            return [self.scores.get((pk, dimension), nan) for pk in trajectories]
        return [means.get(pk, nan) for pk in trajectories]

    def adjusted(self, dimension: str) -> dict[int, float] | None:
        """Return the means of adjusted scores by trajectory; None where they cannot be adjusted."""
        rows = [
            (pk, annotator, value)
            for (pk, key), given in self.given.items()
            if key == dimension
            for annotator, value in given
        ]
        scores = adjust_for_severity(*zip(*rows, strict=True)) if rows else None
        if scores is None:
            return None
        sums: dict[int, list[float]] = {}
        for (pk, _, _), score in zip(rows, scores, strict=True):
            sums.setdefault(pk, []).append(score)
        return {pk: fmean(values) for pk, values in sums.items()}

    def chances(self, trajectories: Sequence[int]) -> list[float]:
        """Return the probabilities of trajectories; NaN where no study could draw them."""
        return [self.probabilities.get(pk) or nan for pk in trajectories]


def rated_plans(
    runs: Sequence[ChosenRun], studies: Sequence[int], dimensions: Sequence[str]
) -> RatedPlans:
    """Return what people said of the runs' last plans on the dimensions, in these studies."""
    drawn: set[int] = set()
    by_hand: set[int] = set()
    missed: dict[int, float] = {}
    usable: list[int] = []
    loaded = list(Study.objects.filter(pk__in=studies).order_by("pk"))
    for study in loaded:
        draws = study_draws(study)
        if draws.missing:
            continue
        items = list(
            Item.objects.filter(study=study, use=Item.Use.MAIN, trajectory__isnull=False)
            .order_by("rank")
            .values_list("trajectory", flat=True)
        )
        usable.append(study.pk)
        planned = int(study_design(study).record.get("items") or len(items))
        drawn.update(items[:planned])
        by_hand.update(items[planned:])
        for pk, probability in draws.probabilities.items():
            missed[pk] = missed.get(pk, 1.0) * (1 - probability)
    everything = people_scores(studies, runs, loaded=loaded)
    people = everything
    if len(usable) < len(studies):
        people = people_scores(usable, runs, loaded=loaded)
    turns = Turn.objects.filter(is_final=True, trajectory__in={key[0] for key in people.means})
    last = dict(turns.order_by().values_list("trajectory", "index")) if people.means else {}
    wanted, scores, of_turns, given = set(dimensions), {}, {}, {}
    for (pk, turn, dimension), mean in people.means.items():
        if dimension not in wanted or pk not in drawn:
            continue
        if turn in (None, last.get(pk)):
            # A score of the last turn counts before one of the last plan.
            at_last = pk, last.get(pk), dimension
            counts = at_last if at_last in people.means else (pk, turn, dimension)
            mean = people.means[counts]
            scores[pk, dimension], given[pk, dimension] = mean, people.given[counts]
        place = last.get(pk) if turn is None else turn
        if place is not None:
            of_turns[pk, place, dimension] = mean
    rated = {key[0] for key in everything.means}
    left_out = {
        reason: len(some)
        for reason, some in (
            (NO_DRAWS, rated - drawn - by_hand), (BY_HAND, rated & by_hand - drawn)
        )
        if some
    }  # fmt: skip
    probabilities = {pk: 1 - rest for pk, rest in missed.items()}
    asked = {
        study.turn_by_turn
        for study in loaded
        if study.pk in usable and turn_questions(load_questionnaire(study.questionnaire))
    }
    return RatedPlans(scores, probabilities, left_out, people, of_turns, asked, given)


def passes(
    frame: "DataFrame", plans: RatedPlans, counted: Mapping[int, tuple[float, Sequence[str]]]
) -> Any:
    """Return whether each last plan is accurate by the people's scores: 1, 0, or NaN.

    Parameters
    ----------
    frame
        `outcome_frame` with validity.
    counted
        Threshold and dimensions that count, by run.

    Notes
    -----
    The same rule as for judges: the plan is valid, and the mean score is at least the threshold on
    every dimension that counts. Unknown where people did not score one of them, and for runs whose
    rule is not known.
    """
    import numpy as np

    verdicts = np.full(len(frame), np.nan)
    rows = zip(
        frame["run"].tolist(), frame["trajectory"].tolist(), frame["valid"].tolist(), strict=True
    )
    for place, (run, pk, valid) in enumerate(rows):
        tau, dimensions = counted.get(run, (nan, ()))
        scores = [plans.scores.get((pk, key)) for key in dimensions]
        known = [score for score in scores if score is not None]
        if known and len(known) == len(scores) and valid == valid:
            verdicts[place] = float(bool(valid) and min(known) >= tau - 1e-9)
    return verdicts
