"""The actions that managers can take on a session."""

from typing import Any

from django import forms

from benchmarks.models import Agent
from benchmarks.roles.selectors import agents_for

DEEDS = (
    "pause", "resume", "end", "retry", "agent", "free", "stand_in", "take_over",
)  # fmt: skip


class ControlForm(forms.Form):
    """One deed, with what it needs: a place by its number, an agent, a reason."""

    use_required_attribute = False

    do = forms.ChoiceField(choices=[(deed, deed) for deed in DEEDS])
    place = forms.IntegerField(required=False, min_value=1, max_value=100)
    agent = forms.ModelChoiceField(
        label="Another agent",
        queryset=Agent.objects.none(),
        empty_label=None,
        error_messages={"required": "choose the agent that is to go on"},
    )
    reason = forms.CharField(label="Why", required=False, max_length=500)

    def __init__(self, *args: Any, system: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = [agent.pk for agent in agents_for(system) if agent.kind != Agent.Kind.HUMAN]
        field = self.fields["agent"]
        field.required = not self.is_bound or self.data.get("do") == "agent"
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = Agent.objects.filter(pk__in=known)
