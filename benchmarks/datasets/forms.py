"""Importing a dataset."""

from django import forms


class ImportForm(forms.Form):
    """A file in the published format of AdaPlanBench."""

    use_required_attribute = False

    file = forms.FileField(
        label="File",
        help_text="The published format, adaplanbench_queries.json: queries, each with its pools "
        "of world and user constraints.",
        widget=forms.FileInput(attrs={"accept": ".json,application/json"}),
    )
    name = forms.CharField(label="Name of the dataset", max_length=120, initial="AdaPlanBench")
    licence = forms.CharField(label="Licence", max_length=200, required=False)
