"""The sign-in form. Apart from the adapter, which allauth loads before its forms can be."""

from allauth.account.forms import LoginForm


class SignInForm(LoginForm):  # type: ignore[misc]  # allauth has no types
    """Puts the focus on the first field with an error.

    A wrong name or password is nobody's field: the password, which browsers show empty, is typed
    again.
    """

    def full_clean(self) -> None:
        """Check the fields, and mark the one that gets the focus."""
        super().full_clean()
        if self.errors:
            wrong = next((name for name in self.fields if name in self.errors), "password")
            self.fields[wrong].widget.attrs["autofocus"] = True
