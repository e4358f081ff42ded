"""Addresses of the annotation app."""

from django.urls import URLPattern, URLResolver, include, path

from annotation.adjudication import views as adjudication
from annotation.desk import answer_views as desk_answers
from annotation.desk import offline_views as away
from annotation.desk import views as desk
from annotation.exports import views as exports
from annotation.home import views as home
from annotation.items import special_views as study_specials
from annotation.items import views as study_items
from annotation.live.control import views as session_control
from annotation.live.control import watch_views as watching
from annotation.live.play import reply_views as replying
from annotation.live.play import views as playing
from annotation.live.setup import design_views as live_study
from annotation.live.setup import views as sessions_making
from annotation.models import Assignment
from annotation.people import join_views as join
from annotation.people import leaving_views as leaving
from annotation.people import message_views as study_messages
from annotation.people import views as people
from annotation.planning import views as new_study
from annotation.questionnaires import views as questionnaires
from annotation.record import views as record
from annotation.steps import views as entry
from annotation.studies import design_views as designs
from annotation.studies import settings_views as running
from annotation.studies import views as studies
from annotation.texts import views as texts

app_name = "annotation"
Part = Assignment.Part


def _desk(folder: str, prefix: str, part: str) -> list[URLPattern]:
    """The desk of one part: its page, the saving of answers, and submitting."""
    at, kwargs = f"{folder}<int:position>/", {"part": part}
    return [
        path(at, desk.desk, kwargs, name=f"{prefix}desk"),
        path(f"{at}answers/", desk_answers.answers, kwargs, name=f"{prefix}answers"),
        path(f"{at}submit/", desk_answers.submit, kwargs, name=f"{prefix}submit"),
    ]


# An address is looked for from the top, so the desk, where people click most, stands there.
_study: list[URLPattern | URLResolver] = [
    path("annotate/", entry.next_item, name="next_item"),
    *_desk("annotate/", "", Part.MAIN),
    *_desk("training/", "training_", Part.TRAINING),
    *_desk("background/", "background_", Part.BACKGROUND),
    path("", studies.study, name="study"),
    path("design/", designs.study_design_page, name="study_design"),
    path("design.csv", designs.design_csv, name="design_csv"),
    path("design.json", designs.design_json, name="design_json"),
    path("launch/", designs.study_launch, name="study_launch"),
    path("status/", running.status, name="study_status"),
    path("progress/", running.progress, name="study_progress"),
    path("settings/", running.settings, name="study_settings"),
    path("delete/", running.delete, name="study_delete"),
    path("people/", people.people, name="study_people"),
    path("people/remove/", people.member_remove, name="member_remove"),
    path("people/<int:number>/", people.annotator, name="annotator"),
    path(
        "people/<int:number>/change/",
        people.annotator_change,
        name="annotator_change",
    ),
    path("invites/", people.invite_make, name="invite_make"),
    path(
        "invites/<int:invite_id>/revoke/",
        people.invite_revoke,
        name="invite_revoke",
    ),
    path("items/", study_items.items, name="study_items"),
    path("items/list/", study_items.item_list, name="item_list"),
    path("items/more/", study_items.more, name="study_more"),
    path("items/specials/", study_specials.specials, name="study_specials"),
    path("items/<int:rank>/", study_items.item, name="study_item"),
    path("items/<int:rank>/change/", study_items.item_change, name="item_change"),
    path("messages/", study_messages.study_messages, name="study_messages"),
    path("export/", exports.study_export, name="study_export"),
    path("export/file/", exports.study_download, name="study_download"),
    path("information/", entry.information, name="information"),
    path("consent/", entry.consent, name="consent"),
    path("training/", entry.training, name="training"),
    path(
        "training/<int:position>/feedback/",
        entry.training_feedback,
        name="training_feedback",
    ),
    path("break/", entry.take_a_break, name="break"),
    path("read/<int:message>/", entry.message_read, name="message_read"),
    path("texts/", texts.study_texts, name="study_texts"),
    path("adjudicate/", adjudication.queue, name="study_adjudication"),
    path(
        "adjudicate/<int:rank>/<path:name>/",
        adjudication.place,
        name="adjudicate",
    ),
    path("record/", record.study_record, name="study_record"),
    path("record.<str:ending>", record.study_record_file, name="study_record_file"),
    path("withdraw/", leaving.leave, name="leave"),
    path("unblind/", leaving.study_unblind, name="study_unblind"),
    path(
        "people/<int:number>/withdraw/",
        leaving.annotator_leave,
        name="annotator_leave",
    ),
    path(
        "people/<int:number>/unblind/",
        leaving.annotator_unblind,
        name="annotator_unblind",
    ),
    path("sessions/", sessions_making.study_sessions, name="study_sessions"),
]
_session: list[URLPattern | URLResolver] = [
    path("links/", sessions_making.session_links, name="session_links"),
    path(
        "instructions/",
        sessions_making.session_instructions,
        name="session_instructions",
    ),
    path("", playing.session, name="session"),
    path("state/", playing.session_state, name="session_state"),
    path("reply/<int:ask>/", replying.session_reply, name="session_reply"),
    path("draft/<int:ask>/", replying.session_draft, name="session_draft"),
    path("ready/", playing.session_ready, name="session_ready"),
    path("pause/", playing.session_pause, name="session_pause"),
    path("resume/", playing.session_resume, name="session_resume"),
    path("leave/", playing.session_leave, name="session_leave"),
    path("watch/", watching.session_watch, name="session_watch"),
    path("control/", session_control.control, name="session_control"),
]
urlpatterns: list[URLPattern | URLResolver] = [
    path("studies/<int:pk>/", include(_study)),
    path("sessions/<int:pk>/", include(_session)),
    path("", home.home, name="home"),
    path("demo/progress/", home.demo, name="demo"),
    path("demo/again/", home.load_again, name="load_again"),
    path("away/", away.away, name="away"),
    path("away.js", away.worker, name="away_worker"),
    path("studies/", studies.study_list, name="study_list"),
    path("studies/new/", new_study.study_new, name="study_new"),
    path("studies/new/filter-check/<int:dataset_id>/", new_study.filter_check, name="filter_check"),
    path("questionnaires/", questionnaires.questionnaire_list, name="questionnaire_list"),
    path("questionnaires/new/", questionnaires.questionnaire_new, name="questionnaire_new"),
    path(
        "questionnaires/<slug:called>/<int:version>/",
        questionnaires.questionnaire,
        name="questionnaire",
    ),
    path("join/", join.join, name="join"),
    path("join/<str:token>/", join.join_link, name="join_link"),
    path("record/", record.all_records, name="all_records"),
    path("record.<str:ending>", record.all_records_file, name="all_records_file"),
    path("people/erase/", leaving.erase, name="erase"),
    path("sessions/", sessions_making.session_list, name="session_list"),
    path("sessions/new/", sessions_making.session_new, name="session_new"),
    path("studies/new/sessions/", live_study.live_study_new, name="live_study_new"),
    path("sessions/monitor/", session_control.monitor, name="session_monitor"),
]
