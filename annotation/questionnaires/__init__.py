"""Questionnaires: versioned data beside this file. A published version is never edited."""

from annotation.questionnaires.loader import (
    COMMENT,
    Question,
    Questionnaire,
    QuestionnaireError,
    known_questionnaires,
    load_questionnaire,
)

__all__ = [
    "COMMENT",
    "Question",
    "Questionnaire",
    "QuestionnaireError",
    "known_questionnaires",
    "load_questionnaire",
]
