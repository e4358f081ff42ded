"""The inputs of a report: the layout of a tidy table, a small example, settings. Needs no numpy."""

import csv
import io
from dataclasses import dataclass

from analysis.stats.results import RESAMPLES

COLUMNS = ("dataset", "item", "criterion", "rater", "rater_kind", "score")
TASK = "task"
# With which the item was drawn for people to rate, where people rated a random part.
PROBABILITY = "probability"
KINDS = ("human", "llm")
GZIP = b"\x1f\x8b"
# Pairs of raters are listed for up to so many.
MOST_RATERS = 40

# The example: made-up scores of three people and two judges.
RATERS = (
    ("Anna", "human"), ("Ben", "human"), ("Chris", "human"), ("judge A", "llm"), ("judge B", "llm"),
)  # fmt: skip
# A line is an item: its task, then a score of each rater; a dot where somebody gave none.
ITEMS = (
    ("boil an egg", "44455"), ("boil an egg", "33.34"), ("pack a bag", "55545"),
    ("pack a bag", "12122"), ("plan a walk", "44344"), ("plan a walk", "2.223"),
    ("wash a cup", "55555"), ("wash a cup", "33424"), ("feed the cat", "11112"),
    ("feed the cat", "4545."),
)  # fmt: skip
CRITERION = "helpfulness"


def example_csv() -> str:
    """Return the example as CSV, a row for each rating."""
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow([*COLUMNS, TASK])
    for number, (task, scores) in enumerate(ITEMS, 1):
        for (rater, kind), score in zip(RATERS, scores, strict=True):
            given = "" if score == "." else score
            lines.writerow(["example", f"answer {number}", CRITERION, rater, kind, given, task])
    return file.getvalue()


@dataclass(frozen=True)
class AgreementSettings:
    """The settings of a report, all chosen before the results are seen."""

    scale: tuple[int, int] = (1, 5)
    seed: int = 1
    resamples: int = RESAMPLES
    level: float = 0.95
    epsilon: float = 0.1
    margin: float = 0.15
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
            (not 0 < self.margin < 1, f"margin: between 0 and 1, not {self.margin}"),
            (not 0 < self.half_width < 1, f"half-width: between 0 and 1, not {self.half_width}"),
        ):
            if wrong:
                raise ValueError(words)
