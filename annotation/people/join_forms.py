"""The account of somebody who comes by an invite."""

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User

# Django's class takes a parameter in its stubs only.
if TYPE_CHECKING:
    AccountBase = UserCreationForm[User]
else:
    AccountBase = UserCreationForm


class NewAccountForm(AccountBase):
    """A name and a password, by the rules that hold for every account."""

    class Meta(UserCreationForm.Meta):
        fields = ("username",)
        help_texts: ClassVar = {
            "username": "A pseudonym will do. Letters, digits and . _ - + @, no spaces."
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields[
            "password1"
        ].help_text = (
            "At least 8 characters; not digits alone, not a common password, not like your name."
        )
        self.fields["password2"].label = "Password again"
        self.fields["password2"].help_text = ""
