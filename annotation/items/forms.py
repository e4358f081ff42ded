"""Forms for giving items to people and adding more items to a study."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib.auth.models import User

from annotation.models import Participant, Study
from annotation.plans.study_plan import BOUNDS, MOST_ANNOTATORS


class RatersForm(forms.Form):
    """The number of annotators that an item, or every item, shall have."""

    raters = forms.IntegerField(
        label="Annotators for each item", min_value=1, max_value=MOST_ANNOTATORS
    )


class MoreItemsForm(forms.Form):
    """Further items from the runs or datasets that the study draws from."""

    count = forms.IntegerField(
        label="How many",
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text="A random sample by the study’s seed. Leave empty to add all.",
    )
    agents = forms.MultipleChoiceField(
        label="Of these agents",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Leave empty for all agents.",
    )
    tasks = forms.CharField(
        label="Of these tasks",
        required=False,
        help_text="Task names, separated by spaces or commas. Leave empty for all tasks.",
    )
    raters = forms.IntegerField(
        label="Annotators for each", min_value=1, max_value=MOST_ANNOTATORS, initial=1
    )

    def __init__(self, data: Any = None, *, agents: Iterable[tuple[str, str]]) -> None:
        super().__init__(data)
        field = self.fields["agents"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = list(agents)
        if len(field.choices) < 2:
            del self.fields["agents"]

    def clean_tasks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.cleaned_data["tasks"].replace(",", " ").split()))


class SpecialsForm(forms.Form):
    """The number of added gold items that each annotator gets."""

    gold_each = forms.IntegerField(
        label="Gold items for each annotator",
        required=False,
        min_value=2,
        max_value=BOUNDS["gold_each"][1],
        help_text="At least 2 of those chosen here; at most 1 per 4 items that they have "
        "not opened. Annotators with too few items left get fewer.",
    )

    def __init__(self, data: Any = None, *, study: Study) -> None:
        super().__init__(data)
        if study.dealing == Study.Dealing.POOL:
            del self.fields["gold_each"]


class DealForm(forms.Form):
    """The choice of people who get the free assignments."""

    people = forms.MultipleChoiceField(
        label="Give them to",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one annotator."},
    )

    def __init__(self, data: Any = None, *, people: Iterable[Participant]) -> None:
        super().__init__(data)
        self.known = {str(person.number): person.user for person in people}
        field = self.fields["people"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(key, f"{key} {user}") for key, user in self.known.items()]

    @property
    def chosen(self) -> list[User]:
        return [self.known[key] for key in self.cleaned_data["people"]]
