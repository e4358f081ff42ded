"""After the end: who played is asked about the session."""

from django.db import transaction

from annotation.assignments.services import lock_study
from annotation.errors import Refused
from annotation.live.setup.services import label_study
from annotation.models import Item, LivePlan, LiveSession, Participant, Study
from annotation.studies.setup import NewItem, add_items, deal_items


def ask_players(*, session: LiveSession) -> str:
    """Give each player of an ended session the study's questions about it.

    Those who hold a place at the end and take part in the study as annotators; they are no
    independent raters, so these items have a use of their own (`Item.Use.PLAYED`). Harmless where
    it was done. Returns why nobody was asked, empty where somebody was.
    """
    plan = LivePlan.objects.get(study=session.study_id)
    if session.practice:
        return "a practice round"
    study = Study.objects.get(pk=session.study_id)
    with transaction.atomic():
        lock_study(study)
        label_study(study)  # another agent may have gone on
        if not plan.settings.get("asks", True):
            return "this study asks nothing afterwards"
        people = Participant.objects.filter(study=study, user__live_places__session=session)
        users = list(
            people.exclude(state__in=Participant.GONE)
            .order_by("user__live_places__number")
            .values_list("user", flat=True)
        )
        if not users:
            return "nobody played to the end"
        if Item.objects.filter(study=study, trajectory=session.trajectory_id).exists():
            return ""
        asked = NewItem(trajectory=session.trajectory_id, wanted=len(users), use=Item.Use.PLAYED)
        try:
            with transaction.atomic():
                items = add_items(study=study, items=[asked])
        except Refused as refused:  # a session without a single turn, say
            return refused.reason
        deal_items(study=study, items=items, dealt={user: [0] for user in users}, by=None)
    return ""
