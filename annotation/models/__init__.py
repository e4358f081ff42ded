"""Studies, who takes part in them, what they were given to judge, and what they said."""

from annotation.models.ratings import Rating, RatingEdit
from annotation.models.studies import Annotator, Assignment, AssignmentEvent, Membership, Study

__all__ = [
    "Annotator",
    "Assignment",
    "AssignmentEvent",
    "Membership",
    "Rating",
    "RatingEdit",
    "Study",
]
