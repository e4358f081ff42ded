"""The form that imports a dataset."""

from typing import Any

from django import forms

from benchmarks.core.registry import SYSTEMS
from benchmarks.datasets.files import upload_formats


class SeveralFilesInput(forms.FileInput):
    """A file input that takes several files."""

    allow_multiple_selected = True


class SeveralFilesField(forms.FileField):
    """A field whose value is a list of files."""

    widget = SeveralFilesInput

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        given = data if isinstance(data, list | tuple) and data else [data or None]
        return [super(SeveralFilesField, self).clean(one, initial) for one in given]


class ImportForm(forms.Form):
    """Files in a format of one of the systems."""

    use_required_attribute = False

    file = SeveralFilesField(label="Files")
    format = forms.ChoiceField(
        label="Format",
        required=False,
        help_text="Files that belong together are sent together.",
    )
    name = forms.CharField(label="Name of the dataset", max_length=120)
    licence = forms.CharField(label="Licence", max_length=200, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = upload_formats()
        self.fields["format"].choices = [  # type: ignore[attr-defined]
            ("", "Recognise it from the files"),
            *(
                (key, f"{SYSTEMS[system][0]}: {one.title.lower()} ({one.files})")
                for key, (system, one) in known.items()
            ),
        ]
        endings = ",".join(one.accept for _, one in known.values())
        self.fields["file"].widget.attrs["accept"] = ",".join(dict.fromkeys(endings.split(",")))
