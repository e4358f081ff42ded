"""What an adjudicator decides about, and what is seen before the decision: settings of a study."""

from collections.abc import Mapping

from annotation.models import Study

ADJUDICATE_FROM, ADJUDICATOR_SEES = "adjudicate_from", "adjudicator_sees"
OWN_FIRST, RATERS_FIRST = "own_first", "raters_first"
USUAL_POINTS, MOST_POINTS = 2, 4
SEES: Mapping[str, str] = {
    OWN_FIRST: "Raters’ answers are shown after the adjudicator’s own decision",
    RATERS_FIRST: "Raters’ answers are shown from the beginning",
}


def adjudicate_from(study: Study) -> int:
    """Return from how many points of difference on a scale of 1 to 5 scores are to be decided."""
    return int(study.settings.get(ADJUDICATE_FROM, USUAL_POINTS))


def adjudicator_sees(study: Study) -> str:
    """Return whether adjudicators see the raters' answers before they decide."""
    return str(study.settings.get(ADJUDICATOR_SEES, OWN_FIRST))
