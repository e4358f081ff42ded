"""Forms for members, invitations, messages, leaving a study and erasing a person."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User

from annotation.form_fields import PeopleField, read_people, reason_field
from annotation.models import Membership, Participant
from annotation.people.invitations import LONGEST_DAYS, LONGEST_LABEL, USUAL_DAYS
from annotation.people.mail import LINK, LONGEST_SUBJECT, LONGEST_TEXT
from annotation.plans.study_plan import MOST_ANNOTATORS
from benchmarks.paging import as_id

Role = Membership.Role
ROLES = [
    (Role.ANNOTATOR, "Annotator: judges items"),
    (Role.MANAGER, "Manager: runs the study, sees everything"),
    (Role.RESEARCHER, "Researcher: sees answers and exports"),
    (Role.OBSERVER, "Observer: sees how far it is"),
]


class MemberForm(forms.Form):
    """People with accounts, and what they shall be."""

    names = PeopleField(label="People")
    role = forms.ChoiceField(choices=ROLES)

    def clean_names(self) -> list[User]:
        return read_people(self.cleaned_data["names"])


class InviteForm(forms.Form):
    """Links, each for one person."""

    role = forms.ChoiceField(choices=ROLES)
    label = forms.CharField(
        label="For whom",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="One name or address a line: each gets a link. People do not see this list.",
    )
    days = forms.IntegerField(
        label="Valid for (days)", min_value=1, max_value=LONGEST_DAYS, initial=USUAL_DAYS
    )

    def clean_label(self) -> list[str]:
        """Return for whom links are made: one for nobody in particular where nothing is said."""
        lines = [line.strip() for line in self.cleaned_data["label"].splitlines()]
        names = list(dict.fromkeys(filter(None, lines)))
        if len(names) > MOST_ANNOTATORS:
            raise forms.ValidationError(f"At most {MOST_ANNOTATORS} links at once.")
        long = next((name for name in names if len(name) > LONGEST_LABEL), None)
        if long is not None:
            words = f"At most {LONGEST_LABEL} characters a line: {long[:40]}…"
            raise forms.ValidationError(words)
        return names or [""]


class MailForm(forms.Form):
    """The text of a mail."""

    subject = forms.CharField(max_length=LONGEST_SUBJECT)
    text = forms.CharField(
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 9}),
        help_text=f"{LINK} is replaced by the link of each person.",
    )

    def clean_subject(self) -> str:
        return " ".join(str(self.cleaned_data["subject"]).split())

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        if LINK not in text:
            raise forms.ValidationError(f"Leave {LINK} in the text: everybody’s link goes there.")
        return text.replace("\r\n", "\n")


class ReasonForm(forms.Form):
    """The reason of an action, kept in the record, and a choice where the page offers one."""

    reason = forms.CharField(
        label="Reason", max_length=1000, widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "Enter a reason."},
    )  # fmt: skip

    def __init__(
        self,
        data: Any = None,
        *,
        required: bool = True,
        reason_help: str = "",
        choice: str = "",
        choice_help: str = "",
    ) -> None:
        super().__init__(data)
        self.fields["reason"].required = required
        self.fields["reason"].help_text = reason_help
        if choice:
            self.fields["choice"] = forms.BooleanField(
                required=False, label=choice, help_text=choice_help
            )


class EraseForm(forms.Form):
    """The person to erase, confirmed by typing the name under which they were found."""

    names = forms.CharField(
        label="Names and addresses to remove from other people’s texts",
        required=False,
        max_length=2000,
        help_text="One per line. Take out a name that is a common word; add nicknames.",
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
    )
    typed = forms.CharField(
        label="Type the name to confirm",
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    reason = forms.CharField(
        label="Reason",
        max_length=1000,
        help_text="Recorded, so do not name the person. Example: requested by letter on 3 May.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def clean_names(self) -> list[str]:
        """Return the names, one per line of the field."""
        lines = self.cleaned_data["names"].splitlines()
        return [name for line in lines if (name := line.strip())]


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


class GiveForm(forms.Form):
    """The choice of the person who gets what another person had, or nobody yet."""

    to = forms.ChoiceField(label="To", error_messages={"required": "Choose who gets it."})
    reason = reason_field(required=True)

    def __init__(self, data: Any = None, *, people: Iterable[Participant]) -> None:
        super().__init__(data)
        self.people = {str(person.number): person.user for person in people}
        to = self.fields["to"]
        assert isinstance(to, forms.ChoiceField)
        to.choices = [
            ("", "Choose an annotator"),
            *((key, f"{key} {user.get_username()}") for key, user in self.people.items()),
        ]

    @property
    def recipient(self) -> User:
        return self.people[self.cleaned_data["to"]]


class ReassignForm(GiveForm):
    """Open items of one person for another one."""

    items = forms.TypedMultipleChoiceField(
        coerce=int, error_messages={"required": "Choose at least one item."}
    )

    def __init__(
        self, data: Any = None, *, positions: Iterable[int], people: Iterable[Participant]
    ) -> None:
        super().__init__(data, people=people)
        items = self.fields["items"]
        assert isinstance(items, forms.ChoiceField)
        items.choices = [(position, str(position)) for position in positions]

    @property
    def chosen(self) -> set[int]:
        """The ticked items, so that they stay ticked beside an error."""
        return {key for given in self["items"].value() or () if (key := as_id(str(given)))}
