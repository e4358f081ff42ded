"""A person's reply to an open ask."""

from django import forms

# More than anybody types, and less than would trouble a page.
LONGEST = 100_000


class ReplyForm(forms.Form):
    """The reply as it is typed; whether it can be read is for the ask's parser to say."""

    use_required_attribute = False

    text = forms.CharField(
        label="Your reply",
        strip=False,
        max_length=LONGEST,
        widget=forms.Textarea(attrs={"rows": 10, "data-draft": "", "autofocus": True}),
        error_messages={"required": "Write a reply before you send it."},
    )
