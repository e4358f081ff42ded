"""Names of conditions on pages; they are stored as ``standard`` or ``name=value, name=value``."""

from benchmarks.core.ports.comparisons import Factor
from benchmarks.core.system import System

# The name of the condition with all default settings.
STANDARD = "standard"


def condition_title(system: System, condition: str) -> str:
    """Return a condition in words; a part that the system does not know keeps its name.

    Examples: ``Planner: Tree Planner`` for ``planner=tree``, ``Extra turns: 6`` for
    ``refinement=6``, ``User simulator: a person`` for ``simulator=person``.
    """
    contrasts = system.comparisons.contrasts
    if contrasts is not None and condition in contrasts.conditions:
        return contrasts.conditions[condition].title
    return ", ".join(_part_title(system, part) for part in condition.split(", "))


def setting_factors(system: System) -> dict[str, Factor]:
    """Return the settings that a system's runs are compared by, by name."""
    factors = system.comparisons.factors
    return {factor.name: factor for factor in factors if factor.kind == "setting"}


def value_title(factor: Factor, value: str) -> str:
    """Return a factor with one of its values in words; empty for a value without a title."""
    named = {str(key): one for key, one in factor.values.items()}.get(value)
    return f"{factor.title}: {named.title}" if named is not None else ""


def _part_title(system: System, part: str) -> str:
    name, _, value = part.partition("=")
    factor = setting_factors(system).get(name)
    title = value_title(factor, value) if factor is not None else ""
    if value == "person":
        title = next((f"{role.title}: a person" for role in system.roles if role.name == name), "")
    return title or _setting_title(system, name, value) or part


def _setting_title(system: System, name: str, value: str) -> str:
    """Return a setting with its value in words; empty for a setting that the system lacks."""
    every = (
        system.settings
        if system.rejudging is None
        else (*system.settings, *system.rejudging.settings)
    )
    setting = next((one for one in every if one.name == name), None)
    return f"{setting.label}: {setting.words(value)}" if setting is not None else ""
