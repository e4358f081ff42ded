"""The published port: figures and statements of a system's paper, and their experiments."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Published:
    """A figure from a paper, with where it stands there and with how many decimals.

    ``error`` is the standard error, where the paper prints one, in the unit of the value.
    """

    model: str
    metric: str
    value: float
    n: int | None
    source: str
    note: str = ""
    digits: int = 2
    error: float | None = None

    @property
    def printed_error(self) -> str:
        """The standard error as the paper prints it; empty where it prints none."""
        return "" if self.error is None else f"± {self.error:.{self.digits}f} SE"

    @property
    def printed(self) -> str:
        """The number with the digits that the paper prints."""
        return f"{self.value:.{self.digits}f}"


@dataclass(frozen=True)
class PublishedCount:
    """A published share as it is printed; ``hits`` of ``of`` where the paper counts them.

    ``units`` counts the trajectories or tasks behind it.
    """

    share: float
    source: str
    units: int
    hits: int | None = None
    of: int | None = None


@dataclass(frozen=True)
class PaperStatements:
    """The statements of a system's paper, beyond single figures, for pages to show beside their
    own.

    ``questions`` are published means of questions to people, by key; ``dispersion`` is what all
    published spreads between judges stay below; ``profile_sizes`` are mean numbers of constraints
    by level and kind.
    """

    name: str = ""
    tasks: str = ""
    correlations: Mapping[str, float] = field(default_factory=dict)
    correlations_source: str = ""
    correlations_n: int = 0
    tolerance: float = 0.0
    agreement: str = ""
    agreement_below: tuple[str, ...] = ()
    questions: Mapping[str, float] = field(default_factory=dict)
    dispersion: float | None = None
    dispersion_source: str = ""
    checks: Mapping[str, PublishedCount] = field(default_factory=dict)
    profile_sizes: Mapping[tuple[str, str], float] = field(default_factory=dict)


@dataclass(frozen=True)
class ReportPart:
    """A page of analysis with its filters, under a name of its own.

    ``later``: with what takes longer than a page. A page on people's answers is left out where
    nobody answered about these runs, one on a condition where no run has it.
    """

    page: str
    name: str
    filters: Mapping[str, Any] = field(default_factory=dict)
    later: bool = False


@dataclass(frozen=True)
class PaperPreset:
    """A shipped experiment, whose design lies in the system's folder ``experiments``.

    ``paper`` says which of the paper's tables and figures it is,
    ``sources`` where its numbers are printed, ``of`` names the paper.
    """

    name: str
    title: str
    paper: str
    gives: str
    parts: tuple[ReportPart, ...]
    sources: tuple[str, ...] = ()
    of: str = ""


def effect_parts(factor: str) -> tuple[ReportPart, ...]:
    """Return the pages on what a factor does to accuracy and to valid plans."""
    return tuple(
        ReportPart("effects", f"effects-{measure}", {"factor": factor, "measure": measure})
        for measure in ("accurate", "valid")
    )
