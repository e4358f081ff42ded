"""What an adjudicator decides about, and what is seen before the decision.

A study's settings say it where somebody chose; otherwise the rule in force when the study was made.
"""

from collections.abc import Mapping

from annotation.models import Study

ADJUDICATE_FROM, ADJUDICATOR_SEES = "adjudicate_from", "adjudicator_sees"
OWN_FIRST, RATERS_FIRST = "own_first", "raters_first"
MOST_POINTS = 4
SEES: Mapping[str, str] = {
    OWN_FIRST: "Raters’ answers are shown after the adjudicator’s own decision",
    RATERS_FIRST: "Raters’ answers are shown from the beginning",
}
# `Study.adjudication_rule` → points of difference, and what is seen before a decision.
RULES: Mapping[int, tuple[int, str]] = {1: (0, RATERS_FIRST), 2: (2, OWN_FIRST)}


def adjudicate_from(study: Study) -> int:
    """Return from how many points of difference on a scale of 1 to 5 scores are to be decided.

    0: wherever they differ.
    """
    return int(study.settings.get(ADJUDICATE_FROM, RULES[study.adjudication_rule][0]))


def adjudicator_sees(study: Study) -> str:
    """Return whether adjudicators see the raters' answers before they decide."""
    return str(study.settings.get(ADJUDICATOR_SEES, RULES[study.adjudication_rule][1]))
