"""The filter of the adjudication queue."""

from typing import Any

from django import forms

from annotation.adjudication.disagreement import COMPARED
from annotation.adjudication.queue import QueueSelection
from annotation.questionnaires import Questionnaire
from benchmarks.filters import FilterForm

OPEN, DECIDED, ALL = "open", "decided", "all"


class QueueFilter(FilterForm):
    """What the queue of an adjudicator can be narrowed to."""

    question = forms.ChoiceField(label="Question", required=False)
    state = forms.ChoiceField(
        label="State",
        required=False,
        choices=[("", "To decide"), (DECIDED, "Decided"), (ALL, "All")],
    )

    def __init__(self, data: Any, *, questionnaire: Questionnaire) -> None:
        super().__init__(data)
        asked = [q for q in questionnaire.questions if q.scale.kind in COMPARED]
        field = self.fields["question"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", "All questions"), *((q.key, f"{q.number} {q.title}") for q in asked)]

    def narrowed(self) -> QueueSelection:
        """What is asked for; places to decide where nothing else is."""
        chosen = self.chosen()
        states = {DECIDED: True, ALL: None}
        return QueueSelection(
            chosen.get("question", ""), states.get(chosen.get("state", OPEN), False)
        )
