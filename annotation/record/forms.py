"""The filter of a study's record."""

from datetime import datetime
from typing import Any

from django import forms

from annotation.models import Study
from annotation.record.selectors import KINDS, RecordSelection, people_of_record
from benchmarks.filters import FilterForm

MOMENTS = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d", "%Y-%m-%d %H:%M"]


class RecordFilter(FilterForm):
    """What the record can be narrowed to."""

    who = forms.ChoiceField(label="Who", required=False)
    kind = forms.ChoiceField(label="Action", required=False, choices=[("", "All actions"), *KINDS])
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

    def asked(self) -> RecordSelection:
        """What is asked for, as far as it can be read."""
        chosen = self.chosen()
        since, until = chosen.get("since"), chosen.get("until")
        return RecordSelection(
            who=int(chosen["who"]) if "who" in chosen else None,
            kind=chosen.get("kind", ""),
            item=chosen.get("item"),
            since=since if isinstance(since, datetime) else None,
            until=until if isinstance(until, datetime) else None,
            words=chosen.get("words", ""),
        )
