"""Forms of adjudication, the record, and leaving a study."""

from datetime import datetime
from typing import Any

from django import forms

from annotation.adjudication.disagreement import COMPARED
from annotation.adjudication.queue import Narrowed
from annotation.models import Study
from annotation.questionnaires import Questionnaire
from annotation.record.selectors import KINDS, Asked, people_of_record
from benchmarks.filters import Filter

OPEN, DECIDED, ALL = "open", "decided", "all"
MOMENTS = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d", "%Y-%m-%d %H:%M"]


class QueueFilter(Filter):
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

    def narrowed(self) -> Narrowed:
        """What is asked for; places to decide where nothing else is."""
        chosen = self.chosen()
        states = {DECIDED: True, ALL: None}
        return Narrowed(chosen.get("question", ""), states.get(chosen.get("state", OPEN), False))


class RecordFilter(Filter):
    """What the record can be narrowed to."""

    who = forms.ChoiceField(label="Who", required=False)
    kind = forms.ChoiceField(
        label="What was done", required=False, choices=[("", "Anything"), *KINDS]
    )
    item = forms.IntegerField(label="Item (position)", required=False, min_value=1)
    since = forms.DateTimeField(
        label="From",
        required=False,
        input_formats=MOMENTS,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    until = forms.DateTimeField(
        label="To",
        required=False,
        input_formats=MOMENTS,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    words = forms.CharField(label="Words", required=False, max_length=100)

    def __init__(self, data: Any, *, study: Study | None) -> None:
        super().__init__(data)
        field = self.fields["who"]
        assert isinstance(field, forms.ChoiceField)
        people = [(str(pk), name) for pk, name in people_of_record(study)]
        field.choices = [("", "Anybody"), *people]

    def asked(self) -> Asked:
        """What is asked for, as far as it can be read."""
        chosen = self.chosen()
        since, until = chosen.get("since"), chosen.get("until")
        return Asked(
            who=int(chosen["who"]) if "who" in chosen else None,
            kind=chosen.get("kind", ""),
            item=chosen.get("item"),
            since=since if isinstance(since, datetime) else None,
            until=until if isinstance(until, datetime) else None,
            words=chosen.get("words", ""),
        )


class ReasonForm(forms.Form):
    """Why something is done; it is kept in the record."""

    reason = forms.CharField(
        label="Reason", max_length=1000, widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "Say why in a few words."},
    )  # fmt: skip

    def __init__(self, data: Any = None, *, required: bool = True) -> None:
        super().__init__(data)
        self.fields["reason"].required = required


class EraseForm(forms.Form):
    """Whom to erase, confirmed by typing the user name."""

    typed = forms.CharField(
        label="Type the user name to confirm",
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    reason = forms.CharField(
        label="Reason",
        max_length=1000,
        help_text="It is kept, so do not name the person. Such as: asked for by letter on 3 May.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
