"""The part of the page on turn scores that takes longer: both sides' slopes by several fits."""

from analysis.filters.selection import Selection
from analysis.filters.study_kinds import turn_questions
from analysis.frames.ratings import every_turn_scores, rating_frame
from analysis.pages.decline.turn_slopes import (
    Slopes,
    TurnColumns,
    fit_slopes,
    slopes_figure,
    slopes_how,
    slopes_notices,
    slopes_sentence,
    slopes_table,
)
from analysis.pages.people import chosen_people
from analysis.pages.turn_scores.sides import ALL, JUDGES, PEOPLE, sides_of
from analysis.reports import common
from analysis.reports.content import Report
from analysis.reports.deferred import tell
from analysis.reports.formatting import number, stated
from annotation.questionnaires import load_questionnaire

NOTHING = "There are no scores of turns to fit anything to."


def turn_scores_later(selection: Selection) -> Report:
    """Slopes of people and of judges, allowing for trajectories that end early."""
    study = selection.study
    if study is None:
        return Report(sentence=NOTHING)
    questions = turn_questions(load_questionnaire(study.questionnaire))
    tell("reading the scores")
    frame, _, _ = chosen_people(rating_frame(study, selection.runs, turns=True), selection)
    if frame.empty or not questions:
        return Report(sentence=NOTHING)
    keys = [dimension.key for dimension in common.dimensions_of(selection.system)]
    sides = sides_of(study, questions, frame, every_turn_scores(study, selection.runs, keys))
    slopes = fit_slopes(TurnColumns(*sides.columns, sides.task))
    return Report(
        sentence=sentence(slopes),
        figures=(slopes_figure(slopes),),
        tables=(slopes_table(slopes, "Side"),),
        notices=tuple(slopes_notices(slopes)),
        how=tuple(slopes_how(slopes)),
    )


def sentence(slopes: Slopes) -> str:
    """Whether both sides see the same change over all dimensions, else what the curves say."""
    found = {one.agent: one.mixed.slope for one in slopes.models if one.dimension == ALL}
    people, judges = found.get(PEOPLE), found.get(JUDGES)
    if people is None or judges is None or people.value is None or judges.value is None:
        return slopes_sentence(slopes, "one for each side and dimension")
    apart = number(judges.value - people.value, "points", signed=True)
    return (
        "Allowing for trajectories that end early, people's scores over all dimensions change by "
        f"{stated(people, 'points', signed=True)} a turn and the judges' by "
        f"{stated(judges, 'points', signed=True)}, {apart} from people's."
    )
