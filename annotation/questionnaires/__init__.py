"""Versioned questionnaires. A published version is never edited.

Those beside this file ship with the product; others are written on a page and stored.
"""

from annotation.questionnaires.loader import (
    known_questionnaires,
    load_questionnaire,
    newest_questionnaires,
    plug_in_of,
    questionnaire_text,
    questionnaires_for,
    questionnaires_for_players,
    shipped_questionnaires,
)
from annotation.questionnaires.reading import COMMENT, read_questionnaire
from annotation.questionnaires.types import (
    NEEDS,
    Question,
    Questionnaire,
    QuestionnaireError,
    Scale,
    Slot,
    slot_name,
)

__all__ = [
    "COMMENT",
    "NEEDS",
    "Question",
    "Questionnaire",
    "QuestionnaireError",
    "Scale",
    "Slot",
    "known_questionnaires",
    "load_questionnaire",
    "newest_questionnaires",
    "plug_in_of",
    "questionnaire_text",
    "questionnaires_for",
    "questionnaires_for_players",
    "read_questionnaire",
    "shipped_questionnaires",
    "slot_name",
]
