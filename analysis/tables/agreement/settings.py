"""The settings of a report on a tidy table."""

from dataclasses import dataclass

from analysis.stats.results import RESAMPLES


@dataclass(frozen=True)
class AgreementSettings:
    """The settings of a report, all chosen before the results are seen."""

    scale: tuple[int, int] = (1, 5)
    seed: int = 1
    resamples: int = RESAMPLES
    level: float = 0.95
    epsilon: float = 0.1
    q: float = 0.05
    half_width: float = 0.1

    def __post_init__(self) -> None:
        """Refuse what no statistic could use."""
        low, high = self.scale
        for wrong, words in (
            (high <= low, f"scale: from a lower to a higher score, not from {low} to {high}"),
            (high - low > 100, f"scale: at most 101 scores, not {high - low + 1}"),
            (self.seed < 0, f"seed: 0 or more, not {self.seed}"),
            (self.resamples < 100, f"resamples: 100 or more, not {self.resamples}"),
            (not 0 <= self.epsilon < 1, f"epsilon: from 0 to under 1, not {self.epsilon}"),
            (not 0 < self.half_width < 1, f"half-width: between 0 and 1, not {self.half_width}"),
        ):
            if wrong:
                raise ValueError(words)
