"""The form that imports a file of trajectories."""

from typing import Any

from django import forms
from django.conf import settings

from benchmarks.formats.trajectory import LARGEST, TURNS
from benchmarks.imports.selectors import import_formats


class _SeveralFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One file or several; its value is a list."""

    widget = _SeveralFiles

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        files = data if isinstance(data, list | tuple) else [data]
        empty = [file.name for file in files if file and not file.size]
        if len(files) > 1 and empty:
            words = f"Empty: {', '.join(empty)}. Nothing was imported; choose the others alone."
            raise forms.ValidationError(words)
        return [super(FilesField, self).clean(file, initial) for file in files or [None]]


class TrajectoryImportForm(forms.Form):
    """Files of trajectories made elsewhere, with what the files themselves may not say."""

    use_required_attribute = False

    file = FilesField(
        label="Files",
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
        self.fields["file"].help_text = (
            "One or several, or a ZIP of them, each of its own format and read by itself. At most "
            f"{settings.UPLOAD_BYTES >> 20} MB together; they may be gzipped."
        )
        field = self.fields["format"]
        assert isinstance(field, forms.ChoiceField)
        offered = [(one.name, one.title) for one in import_formats()]
        field.choices = [("", "Detect automatically"), *offered]

    def clean_turns(self) -> str:
        return self.cleaned_data["turns"] or "user"

    def clean_file(self) -> list[Any]:
        files: list[Any] = self.cleaned_data["file"]
        if sum(file.size for file in files) > settings.UPLOAD_BYTES:
            raise forms.ValidationError(too_large())
        return files


class TurnsForm(forms.Form):
    """What a turn of an imported run is."""

    use_required_attribute = False
    turns = forms.ChoiceField(label="A turn is", choices=list(TURNS.items()))


class SpansForm(forms.Form):
    """Which spans of turns become items of their own: all of one length, or those that are named.

    Its value ``spans`` is a number of turns, or the named spans as a text.
    """

    use_required_attribute = False
    size = forms.IntegerField(
        label="Turns of a span", min_value=1, max_value=LARGEST, required=False
    )
    chosen = forms.CharField(
        label="Or only these spans",
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 3, "placeholder": "1-12, 30-45\n7: 3-9"}),
        help_text="First and last turn. Before a colon: the number of the one trajectory meant.",
    )

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        given["spans"] = given.get("chosen", "").strip() or given.get("size")
        if not given["spans"] and not self.errors:
            self.add_error("size", "Give a number of turns, or name spans.")
        return given


def too_large() -> str:
    """Say what to do about a file above the limit."""
    return (
        f"What you sent is larger than {settings.UPLOAD_BYTES >> 20} MB. Gzip it, send several "
        "files one by one, or import them on the server: manage.py import_trajectories."
    )
