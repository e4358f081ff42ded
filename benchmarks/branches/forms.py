"""The forms on which somebody branches from a turn, or asks which turn decided a failure."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.html import escape

from benchmarks.branches.requests import BranchRequest
from benchmarks.branches.services import GivenAnswer
from benchmarks.core.ports.labels import plain
from benchmarks.core.system import System
from benchmarks.models import Endpoint
from benchmarks.request_fields import request_form
from benchmarks.roles.forms import answerer_choices
from benchmarks.runs.forms import CapField
from benchmarks.visibility import Visibility

_Fields: Any = request_form(
    BranchRequest,
    ("text", "replays", "compare", "seed"),
    text={"widget": forms.Textarea(attrs={"rows": 10, "dir": "auto"}), "strip": False},
)
_EveryFields: Any = request_form(BranchRequest, ("replays", "seed"))


class BranchForm(_Fields):  # type: ignore[misc]  # made of the request
    """Another answer at a turn, who continues, and how often."""

    agent = forms.ChoiceField(label="Who continues as the agent", required=False)
    cost_cap = CapField(
        label="Cost cap", help_text=BranchRequest.model_fields["cost_cap"].description
    )
    field_order = ["text", "agent", "replays", "compare", "seed", "cost_cap"]

    def __init__(
        self, data: Mapping[str, Any] | None, *, system: System, answer: GivenAnswer,
        before: str, gone: str, seen: Visibility,
    ) -> None:  # fmt: skip
        """``gone`` says why the agent cannot continue as ``before``; empty where it can."""
        super().__init__(data, initial={"text": answer.given.text})
        self.fields["text"].required = True
        self.fields["text"].error_messages["required"] = "Write the other answer."
        endpoints = seen.of(Endpoint.objects.filter(retired=False)).order_by("name")
        choices = answerer_choices(system, system.roles[0], endpoints, True)
        agent: Any = self.fields["agent"]
        agent.choices = choices if gone else [("", f"As before: {before}"), *choices]
        agent.needed_sometimes = True
        agent.help_text = f"{escape(gone)} All other roles are filled as before.".strip()

    def wanted(self, *, turn: int, answer: GivenAnswer, role: str) -> BranchRequest:
        """Return the request that the form is; ``role`` is the agent's."""
        given = self.cleaned_data
        names = ("text", "replays", "compare", "seed", "cost_cap")
        roles = {role: [given["agent"]]} if given["agent"] else {}
        asked = answer.asked
        return BranchRequest(
            turn=turn, role=asked.role, seat=asked.seat, roles=roles,
            **{name: given[name] for name in names},
        )  # fmt: skip


class EveryTurnForm(_EveryFields):  # type: ignore[misc]  # made of the request
    """How often every turn of a failed trajectory is asked again."""

    cost_cap = CapField(
        label="Cost cap", help_text=BranchRequest.model_fields["cost_cap"].description
    )

    def __init__(self, data: Mapping[str, Any] | None) -> None:
        super().__init__(data, initial={"replays": 10}, auto_id="every_%s", prefix="every")
        self.fields["replays"].label = "Replays of each turn"
        self.fields["replays"].widget.attrs["min"] = 2

    def wanted(self) -> BranchRequest:
        """Return the request that the form is."""
        return BranchRequest(**self.cleaned_data)


def answer_titles(system: System, answers: Sequence[GivenAnswer]) -> list[tuple[str, str]]:
    """Return the names of answers with their titles, as pages call the roles."""
    titles = {role.name: role.title for role in system.roles}
    return [
        (answer.name, f"{titles.get(answer.asked.role, plain(answer.asked.role))} "
         f"{answer.asked.seat}".strip())
        for answer in answers
    ]  # fmt: skip
