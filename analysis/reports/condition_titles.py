"""What pages call the conditions of runs: the names of the system instead of ``planner=tree``."""

from collections.abc import Iterable

from analysis.filters.factors import STANDARD
from benchmarks.core.ports.comparisons import Comparisons, Factor
from benchmarks.core.system import System


def condition_titles(system: System, conditions: Iterable[str]) -> dict[str, str]:
    """Return the words for each of the conditions that stand together.

    The standard condition is called by what the others vary: beside ``planner=tree`` it is
    "Planner: SDA-Planner". A condition with a setting that no factor names keeps its name.
    """
    found = dict.fromkeys(conditions)
    words = {name: _words(name, system.comparisons) or name for name in found}
    named = system.comparisons.contrasts.conditions if system.comparisons.contrasts else {}
    words |= {name: named[name].title for name in found if name in named}
    if words.get(STANDARD) == STANDARD:
        varied = [
            factor
            for factor in _settings(system.comparisons)
            if any(
                part.startswith(f"{factor.name}=") for name in found for part in name.split(", ")
            )
        ]
        defaults = {setting.name: setting.default for setting in system.settings}
        titles = [_title(factor, str(defaults.get(factor.name))) for factor in varied]
        words[STANDARD] = ", ".join(filter(None, titles)) or STANDARD
    return words


def _settings(comparisons: Comparisons) -> list[Factor]:
    return [factor for factor in comparisons.factors if factor.kind == "setting"]


def _words(condition: str, comparisons: Comparisons) -> str:
    """Return a condition with every setting by its title, or nothing where one has none."""
    factors = {factor.name: factor for factor in _settings(comparisons)}
    titles = []
    for part in condition.split(", "):
        name, _, value = part.partition("=")
        titles.append(_title(factors[name], value) if name in factors else "")
    return ", ".join(titles) if all(titles) else ""


def _title(factor: Factor, value: str) -> str:
    named = {str(key): one for key, one in factor.values.items()}.get(value)
    return f"{factor.title}: {named.title}" if named is not None else ""
