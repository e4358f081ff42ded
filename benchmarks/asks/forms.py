"""A person's reply to an open ask."""

from collections.abc import Mapping

from django import forms

from benchmarks.core.ports.people import FieldsRefused

# More than anybody types, and little enough for a page.
LONGEST = 100_000
# So much more a form may send in fields that nobody types.
_HIDDEN = 1_000


class TypedReplyForm(forms.Form):
    """The reply as typed; the ask's parser decides whether it can be read."""

    use_required_attribute = False

    text = forms.CharField(
        label="Your reply",
        strip=False,
        max_length=LONGEST,
        widget=forms.Textarea(attrs={"rows": 10, "data-draft": "", "autofocus": True}),
        error_messages={"required": "Write a reply before you send it."},
    )


# The field that marks a reply in the fields of a system's own form.
FROM_FIELDS = "from_fields"


def read_fields(posted: Mapping[str, str]) -> dict[str, str]:
    """Return the posted fields as texts that can be stored; raises ``FieldsRefused``."""
    fields = {name: value for name, value in posted.items() if name != "csrfmiddlewaretoken"}
    if sum(map(len, fields.values())) > LONGEST + _HIDDEN:
        raise FieldsRefused({"": f"A reply has at most {LONGEST:,} characters."})
    if broken := [name for name, value in fields.items() if "\x00" in value]:
        raise FieldsRefused(dict.fromkeys(broken, "Null characters are not allowed."))
    return fields
