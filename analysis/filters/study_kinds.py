"""The pages that fit a questionnaire: by what is scored, marked, or kept and removed."""

from collections.abc import Mapping

from annotation.questionnaires import Question, Questionnaire
from benchmarks.models import Candidate

# What people may say instead of a decision.
UNSURE = "cannot tell"
# What a checker decides, in the words of the options that people choose from.
DECISIONS: Mapping[str, str] = {
    "keep": Candidate.Decision.KEPT,
    "remove": Candidate.Decision.REMOVED,
}


def whole_scores(questionnaire: Questionnaire) -> list[Question]:
    """Return the questions that are scored once for an item: of all of it, or of its last plan."""
    return [
        question
        for question in questionnaire.questions
        if question.about in ("item", "final")
        and question.scale.kind == "points"
        and questionnaire.unit != "pair"
    ]


def turn_questions(questionnaire: Questionnaire) -> list[Question]:
    """Return the questions that are scored for every turn."""
    return [
        question
        for question in questionnaire.questions
        if question.about == "turn" and question.scale.kind == "points"
    ]


def mark_questions(questionnaire: Questionnaire) -> list[Question]:
    """Return the questions that ask which constraints the plan of a turn violates."""
    return [
        question
        for question in questionnaire.questions
        if question.about == "turn" and question.scale.kind == "marks"
    ]


def filter_question(questionnaire: Questionnaire) -> Question | None:
    """Return the question that asks of each candidate whether to keep or to remove it."""
    for question in questionnaire.questions:
        if question.about == "candidate" and set(DECISIONS) <= set(decisions_of(question).values()):
            return question
    return None


def decisions_of(question: Question) -> dict[int, str]:
    """Return each option that is an answer, by its value: ``keep``, ``remove``, ``cannot tell``."""
    words = {option.value: option.label.casefold() for option in question.scale.options}
    return {value: word for value, word in words.items() if word in (*DECISIONS, UNSURE)}


def pair_questions(questionnaire: Questionnaire) -> list[Question]:
    """Return the questions that ask which of two trajectories is preferred."""
    return [question for question in questionnaire.questions if question.scale.pair]


def asks_pairs(questionnaire: Questionnaire) -> bool:
    """Return whether two trajectories are compared side by side."""
    return bool(pair_questions(questionnaire))


def asks_scores(questionnaire: Questionnaire) -> bool:
    """Return whether items are scored as a whole."""
    return bool(whole_scores(questionnaire))


def asks_dimensions(questionnaire: Questionnaire) -> bool:
    """Return whether items are scored as a whole on what judges score too."""
    return any(question.dimension for question in whole_scores(questionnaire))


def asks_about_turns(questionnaire: Questionnaire) -> bool:
    """Return whether every turn is scored."""
    return bool(turn_questions(questionnaire))


def asks_marks(questionnaire: Questionnaire) -> bool:
    """Return whether violated constraints are marked."""
    return bool(mark_questions(questionnaire))


def asks_candidates(questionnaire: Questionnaire) -> bool:
    """Return whether candidates are kept or removed."""
    return filter_question(questionnaire) is not None
