"""The account of somebody who comes by an invite."""

from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User


class NewAccountForm(UserCreationForm[User]):
    """A name and a password, by the rules that hold for every account."""

    class Meta(UserCreationForm.Meta):
        fields = ("username",)
