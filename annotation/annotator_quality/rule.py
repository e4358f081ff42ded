"""The rules by which the work of a study's annotators is checked, and what follows from them.

They are kept in the settings of the study. Overview, Quality, Home, payment and the check before a
completion code all read `work_rules`, so that they name the same people for the same reasons.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from pydantic import Field, with_config

from annotation.models import Study
from annotation.questionnaires import load_questionnaire
from benchmarks.core.schemas import STRICT, Among, expects

GOLD_RULE, LEAST_SECONDS, CODE_CHECK = "gold_rule", "least_seconds", "code_check"
NOTHING, WARN, TRAIN, PAUSE = "nothing", "warn", "train", "pause"
ACTIONS: Mapping[str, str] = {
    NOTHING: "Tell the managers only",
    WARN: "Warn the person",
    TRAIN: "Send the person back to the training",
    PAUSE: "Pause the person",
}
# Whose work a manager looks at before the completion code is given. No choice refuses anybody:
# that is always a person's decision.
CHECK_SIGNS, CHECK_ALL, CHECK_NONE = "signs", "everybody", "nobody"
CODE_CHECKS: Mapping[str, str] = {
    CHECK_SIGNS: "Check work with signs of carelessness first",
    CHECK_ALL: "Check everybody’s work first",
    CHECK_NONE: "Give the code without a check",
}
MOST_ANSWERS, MOST_SECONDS = 1_000, 3_600
# Where a study sets nothing: so long at least for each question, and for an item.
SECONDS_PER_QUESTION, SHORTEST = 1, 3
# Items that speed and equal answers need before they are a sign, and items in a row with the same
# answers that are one. Of a short work it is half of the items, and never fewer than the least.
USUAL_ITEMS, USUAL_RUN, LEAST_ITEMS = 10, 5, 3


@with_config(STRICT)
@dataclass(frozen=True)
class GoldRule:
    """After ``answers`` known answers, a correct share below ``share`` leads to ``action``."""

    action: Annotated[str, Among(ACTIONS)] = NOTHING
    answers: Annotated[int, Field(strict=True, ge=1, le=MOST_ANSWERS)] = 10
    share: Annotated[float, expects("a share above 0 and up to 1", strict=True, gt=0, le=1)] = 0.6

    def is_broken(self, right: int, asked: int) -> bool:
        """Say whether so many right answers of those asked for break the rule."""
        return asked >= self.answers and right < self.share * asked

    @property
    def words(self) -> str:
        """The rule in words."""
        action = ACTIONS[self.action].lower()
        return f"{100 * self.share:.0f} % of at least {self.answers} known answers, or: {action}"

    @property
    def stored(self) -> dict[str, Any]:
        """The rule as the settings of a study hold it."""
        return asdict(self)


@dataclass(frozen=True)
class WorkRules:
    """When something about one person's work is a sign, scaled to how much they are to judge.

    A correct share of known answers below ``least_share``, from ``answers`` of them on; less than
    ``least_seconds`` for an item (0: not checked) and equal answers, from ``items`` submitted items
    on; the same answers to ``run`` items in a row.
    """

    least_share: float = GoldRule.share
    answers: int = GoldRule.answers
    least_seconds: int = 0
    items: int = USUAL_ITEMS
    run: int = USUAL_RUN


def gold_rule(study: Study) -> GoldRule:
    """Return the gold rule of a study."""
    return GoldRule(**study.settings.get(GOLD_RULE, {}))


def code_check(study: Study) -> str:
    """Return whose work is checked before the completion code: one of `CODE_CHECKS`."""
    return str(study.settings.get(CODE_CHECK, CHECK_SIGNS))


def least_seconds(study: Study) -> int:
    """Return the active time below which nobody can have read an item; 0 where that is not asked.

    Unless the study sets another limit it is one second for each question, and three at least.
    """
    kept: int | None = study.settings.get(LEAST_SECONDS)
    if kept is not None:
        return kept
    questions = len(load_questionnaire(study.questionnaire).questions)
    return max(SHORTEST, questions * SECONDS_PER_QUESTION)


def work_rules(study: Study, *, whole: int | None, finished: bool) -> WorkRules:
    """Return the rules for somebody whose whole work is ``whole`` items; None: nobody knows.

    Somebody who has ``finished`` meets no more known answers, so a few are enough then.
    """
    rule = gold_rule(study)
    answers = min(rule.answers, LEAST_ITEMS) if finished else _scaled(rule.answers, whole)
    return WorkRules(
        least_share=rule.share,
        answers=answers,
        least_seconds=least_seconds(study),
        items=_scaled(USUAL_ITEMS, whole),
        run=_scaled(USUAL_RUN, whole),
    )


def _scaled(usual: int, whole: int | None) -> int:
    return usual if whole is None else min(usual, max(LEAST_ITEMS, whole // 2))
