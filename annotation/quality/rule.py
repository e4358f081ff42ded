"""The gold rule of a study: what happens to somebody who misses too many known answers.

It is kept in the settings of the study, together with the time per item that is too short to be
careful.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from annotation.models import Study
from annotation.questionnaires import load_questionnaire

GOLD_RULE, LEAST_SECONDS = "gold_rule", "least_seconds"
NOTHING, WARN, TRAIN, PAUSE = "nothing", "warn", "train", "pause"
ACTIONS: Mapping[str, str] = {
    NOTHING: "Tell the managers only",
    WARN: "Warn the person",
    TRAIN: "Send the person back to the training",
    PAUSE: "Pause the person",
}
MOST_ANSWERS, MOST_SECONDS = 1_000, 3_600
# Where a study sets nothing: so long at least for each question, and for an item.
SECONDS_PER_QUESTION, SHORTEST = 1, 3


@dataclass(frozen=True)
class GoldRule:
    """After ``answers`` known answers, a correct share below ``share`` leads to ``action``."""

    action: str = NOTHING
    answers: int = 10
    share: float = 0.6

    def is_broken(self, right: int, asked: int) -> bool:
        """Say whether so many right answers of those asked for break the rule."""
        return asked >= self.answers and right < self.share * asked

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with the rule: the name of a field, and what it takes."""
        if self.action not in ACTIONS:
            yield "action", f"the gold rule takes {', '.join(ACTIONS)}"
        if not 1 <= self.answers <= MOST_ANSWERS:
            yield "answers", f"the gold rule waits for 1 to {MOST_ANSWERS:,} answers"
        if not 0 < self.share <= 1:
            yield "share", "the gold rule asks for a share above 0 and up to 1 (100 %)"

    @property
    def words(self) -> str:
        """The rule in words."""
        action = ACTIONS[self.action].lower()
        return f"{100 * self.share:.0f} % of at least {self.answers} known answers, or: {action}"

    @property
    def stored(self) -> dict[str, Any]:
        """The rule as the settings of a study hold it."""
        return asdict(self)


def gold_rule(study: Study) -> GoldRule:
    """Return the gold rule of a study."""
    return GoldRule(**study.settings.get(GOLD_RULE, {}))


def least_seconds(study: Study) -> int:
    """Return the active time below which nobody can have read an item; 0 where that is not asked.

    Unless the study sets another limit it is one second for each question, and three at least.
    """
    kept: int | None = study.settings.get(LEAST_SECONDS)
    if kept is not None:
        return kept
    questions = len(load_questionnaire(study.questionnaire).questions)
    return max(SHORTEST, questions * SECONDS_PER_QUESTION)
