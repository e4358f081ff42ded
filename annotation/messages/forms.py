"""The form for a message to annotators."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib.auth.models import User

from annotation.messages.services import LONGEST_MESSAGE
from annotation.models import Participant


class MessageForm(forms.Form):
    """Words to one annotator or to all."""

    to = forms.ChoiceField(label="To", required=False)
    text = forms.CharField(
        label="Message",
        max_length=LONGEST_MESSAGE,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Shown on the home page and at the desk until they have read it.",
    )

    def __init__(
        self, data: Any = None, *, people: Iterable[Participant], initial: Any = None
    ) -> None:
        super().__init__(data, initial=initial)
        self.people = {str(person.number): person.user for person in people}
        field = self.fields["to"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [
            ("", "All annotators"),
            *((key, f"{key} {user.get_username()}") for key, user in self.people.items()),
        ]

    @property
    def recipient(self) -> User | None:
        """Nobody in particular where all are meant."""
        return self.people.get(self.cleaned_data["to"])
