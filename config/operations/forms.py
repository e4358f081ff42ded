"""The form with which an administrator tries the mail server."""

from django import forms


class MailForm(forms.Form):
    """Whom a test message goes to."""

    to = forms.EmailField(label="Send a test message to", max_length=254)
