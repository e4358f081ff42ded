"""The form of the page of training rows: filters, and the thresholds that decide."""

from collections.abc import Mapping
from typing import Any

from django import forms

from benchmarks.core.ports.training_rows import TrainingRows as Port
from benchmarks.core.registry import system_of
from benchmarks.core.system import Setting
from benchmarks.filters import AddressForm
from benchmarks.models import Run
from benchmarks.training_rows.selectors import STATES, RowPlace


class TrainingRowFilter(AddressForm):
    """The filters of rows, and the thresholds; without any, those of the run."""

    state = forms.ChoiceField(label="Review", required=False, choices=[("", "Any"), *STATES])
    kind = forms.ChoiceField(label="Decision", required=False)

    def __init__(self, data: Mapping[str, Any], run: Run, port: Port) -> None:
        super().__init__(data)
        self.port = port
        self.usual = {name: run.settings[name] for name in port.settings}
        kinds = [(key, kind.title) for key, kind in port.kinds.items()]
        kind = self.fields["kind"]
        assert isinstance(kind, forms.ChoiceField)
        kind.choices = [("", "Any with a row"), *kinds]
        system = system_of(run.dataset.system)
        known = {setting.name: setting for setting in system.settings} if system else {}
        for name in port.settings:
            self.fields[name] = _field(known[name], self.usual[name])

    def settings(self) -> dict[str, Any]:
        """Return the thresholds in force: those chosen, else the run's own."""
        chosen = self.chosen()
        return {name: chosen.get(name, usual) for name, usual in self.usual.items()}

    def changed_settings(self) -> dict[str, Any]:
        """Return the thresholds that differ from the run's own."""
        return {name: value for name, value in self.settings().items() if value != self.usual[name]}

    def shows(self, place: RowPlace) -> bool:
        """Return whether a step is among those that are chosen."""
        chosen = self.chosen()
        kind, state = chosen.get("kind"), chosen.get("state")
        if state and place.state != state:
            return False
        return place.kind == kind if kind else bool(place.choice)


def _field(setting: Setting, usual: Any) -> forms.Field:
    """Return the field of a threshold; left empty it is the run's own."""
    if setting.kind == "choice":
        choices = [("", f"{usual} (this run)"), *((c, c) for c in setting.choices if c != usual)]
        return forms.ChoiceField(label=setting.label, required=False, choices=choices)
    return forms.FloatField(
        label=setting.label,
        required=False,
        min_value=setting.minimum,
        max_value=setting.maximum,
        widget=forms.NumberInput(attrs={"step": "any", "placeholder": f"{usual:g}"}),
    )
