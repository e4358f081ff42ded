"""The account of somebody who comes by an invite."""

from typing import TYPE_CHECKING

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
