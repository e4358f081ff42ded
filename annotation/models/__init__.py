"""Models of studies: people, items, assignments, ratings, sessions and the record."""

from annotation.models.events import StudyEvent
from annotation.models.items import Assignment, Item, Participant
from annotation.models.people import Adjudication, Consent, Invite, Message, MessageRead
from annotation.models.places import StudyPlace
from annotation.models.ratings import Aspect, Rating, RatingEdit
from annotation.models.recruiting import Recruit, RecruitingLink
from annotation.models.remarks import (
    FailureLabel,
    FailureWording,
    LabelRemoval,
    LabelSet,
    Remark,
    RemarkText,
    TrajectoryLabel,
)
from annotation.models.sessions import (
    Duel,
    DuelVote,
    LiveDraft,
    LiveEvent,
    LivePlace,
    LivePlan,
    LiveSession,
)
from annotation.models.studies import (
    Annotator,
    Membership,
    StoredQuestionnaire,
    Study,
    StudyText,
)

__all__ = [
    "Adjudication",
    "Annotator",
    "Aspect",
    "Assignment",
    "Consent",
    "Duel",
    "DuelVote",
    "FailureLabel",
    "FailureWording",
    "Invite",
    "Item",
    "LabelRemoval",
    "LabelSet",
    "LiveDraft",
    "LiveEvent",
    "LivePlace",
    "LivePlan",
    "LiveSession",
    "Membership",
    "Message",
    "MessageRead",
    "Participant",
    "Rating",
    "RatingEdit",
    "Recruit",
    "RecruitingLink",
    "Remark",
    "RemarkText",
    "StoredQuestionnaire",
    "Study",
    "StudyEvent",
    "StudyPlace",
    "StudyText",
    "TrajectoryLabel",
]
