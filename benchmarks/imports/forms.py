"""The form that imports a file of trajectories."""

from django import forms
from django.conf import settings

from benchmarks.formats.trajectory import LARGEST, TURNS
from benchmarks.imports.selectors import import_formats


class TrajectoryImportForm(forms.Form):
    """A file of trajectories made elsewhere, with what the file itself may not say."""

    use_required_attribute = False

    file = forms.FileField(
        label="File",
        max_length=255,
        error_messages={"required": "Choose a file.", "empty": "The file is empty."},
    )
    format = forms.ChoiceField(label="Format", required=False)
    name = forms.CharField(
        label="Name of the dataset",
        required=False,
        max_length=120,
        help_text="Files of one format under one name share their tasks, so that their agents can "
        "be compared. If empty, the file’s name is used.",
    )
    agent = forms.CharField(
        label="Agent",
        required=False,
        max_length=120,
        help_text="The agent, if the file does not name it. If empty, the file’s name is used.",
    )
    turns = forms.ChoiceField(
        label="A turn is",
        required=False,
        choices=list(TURNS.items()),
        help_text="Steps suit coding sessions: they have few messages of a user. You can change it "
        "later on the run’s page.",
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields[
            "file"
        ].help_text = f"At most {settings.UPLOAD_BYTES >> 20} MB; it may be gzipped."
        field = self.fields["format"]
        assert isinstance(field, forms.ChoiceField)
        offered = [(one.name, one.title) for one in import_formats()]
        field.choices = [("", "Detect automatically"), *offered]

    def clean_turns(self) -> str:
        return self.cleaned_data["turns"] or "user"

    def clean_file(self) -> object:
        file = self.cleaned_data["file"]
        if file.size > settings.UPLOAD_BYTES:
            raise forms.ValidationError(too_large())
        return file


class TurnsForm(forms.Form):
    """What a turn of an imported run is."""

    use_required_attribute = False
    turns = forms.ChoiceField(label="A turn is", choices=list(TURNS.items()))


class SpansForm(forms.Form):
    """How many turns a span has that becomes an item of its own."""

    use_required_attribute = False
    size = forms.IntegerField(label="Turns of a span", min_value=1, max_value=LARGEST)


def too_large() -> str:
    """Say what to do about a file above the limit."""
    return (
        f"The file is larger than {settings.UPLOAD_BYTES >> 20} MB. Gzip it, or import it on the "
        "server: manage.py import_trajectories."
    )
