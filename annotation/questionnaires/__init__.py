"""Questionnaires: versioned data beside this file. A published version is never edited."""

from annotation.questionnaires.loader import (
    COMMENT,
    NEEDS,
    Question,
    Questionnaire,
    QuestionnaireError,
    known_questionnaires,
    load_questionnaire,
    questionnaires_for,
)

__all__ = [
    "COMMENT",
    "NEEDS",
    "Question",
    "Questionnaire",
    "QuestionnaireError",
    "known_questionnaires",
    "load_questionnaire",
    "questionnaires_for",
]
