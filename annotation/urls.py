"""Addresses of the annotation app."""

from django.urls import URLPattern, URLResolver, path

from annotation.models import Assignment
from annotation.views import (
    adjudication,
    away,
    designs,
    desk,
    desk_answers,
    entry,
    exports,
    home,
    join,
    leaving,
    live_study,
    new_study,
    people,
    playing,
    questionnaires,
    record,
    replying,
    running,
    session_control,
    sessions_making,
    studies,
    study_items,
    study_messages,
    study_specials,
    texts,
    watching,
)

app_name = "annotation"
Part = Assignment.Part


def _desk(folder: str, prefix: str, part: str) -> list[URLPattern]:
    """The desk of one part: its page, the saving of answers, and submitting."""
    at, kwargs = f"studies/<int:pk>/{folder}<int:position>/", {"part": part}
    return [
        path(at, desk.desk, kwargs, name=f"{prefix}desk"),
        path(f"{at}answers/", desk_answers.answers, kwargs, name=f"{prefix}answers"),
        path(f"{at}submit/", desk_answers.submit, kwargs, name=f"{prefix}submit"),
    ]


urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.home, name="home"),
    path("demo/progress/", home.demo, name="demo"),
    path("demo/again/", home.load_again, name="load_again"),
    path("away/", away.away, name="away"),
    path("away.js", away.worker, name="away_worker"),
    path("studies/", studies.study_list, name="study_list"),
    path("studies/new/", new_study.study_new, name="study_new"),
    path("questionnaires/", questionnaires.questionnaire_list, name="questionnaire_list"),
    path("questionnaires/new/", questionnaires.questionnaire_new, name="questionnaire_new"),
    path(
        "questionnaires/<slug:called>/<int:version>/",
        questionnaires.questionnaire,
        name="questionnaire",
    ),
    path("studies/<int:pk>/", studies.study, name="study"),
    path("studies/<int:pk>/design/", designs.study_design_page, name="study_design"),
    path("studies/<int:pk>/design.csv", designs.design_csv, name="design_csv"),
    path("studies/<int:pk>/design.json", designs.design_json, name="design_json"),
    path("studies/<int:pk>/launch/", designs.study_launch, name="study_launch"),
    path("studies/<int:pk>/status/", running.status, name="study_status"),
    path("studies/<int:pk>/progress/", running.progress, name="study_progress"),
    path("studies/<int:pk>/settings/", running.settings, name="study_settings"),
    path("studies/<int:pk>/delete/", running.delete, name="study_delete"),
    path("studies/<int:pk>/people/", people.people, name="study_people"),
    path("studies/<int:pk>/people/remove/", people.member_remove, name="member_remove"),
    path("studies/<int:pk>/people/<int:number>/", people.annotator, name="annotator"),
    path(
        "studies/<int:pk>/people/<int:number>/change/",
        people.annotator_change,
        name="annotator_change",
    ),
    path("studies/<int:pk>/invites/", people.invite_make, name="invite_make"),
    path(
        "studies/<int:pk>/invites/<int:invite_id>/revoke/",
        people.invite_revoke,
        name="invite_revoke",
    ),
    path("studies/<int:pk>/items/", study_items.items, name="study_items"),
    path("studies/<int:pk>/items/list/", study_items.item_list, name="item_list"),
    path("studies/<int:pk>/items/more/", study_items.more, name="study_more"),
    path("studies/<int:pk>/items/specials/", study_specials.specials, name="study_specials"),
    path("studies/<int:pk>/items/<int:rank>/", study_items.item, name="study_item"),
    path("studies/<int:pk>/items/<int:rank>/change/", study_items.item_change, name="item_change"),
    path("studies/<int:pk>/messages/", study_messages.study_messages, name="study_messages"),
    path("studies/<int:pk>/export/", exports.study_export, name="study_export"),
    path("studies/<int:pk>/export/file/", exports.study_download, name="study_download"),
    path("studies/<int:pk>/annotate/", entry.next_item, name="next_item"),
    path("studies/<int:pk>/information/", entry.information, name="information"),
    path("studies/<int:pk>/consent/", entry.consent, name="consent"),
    path("studies/<int:pk>/training/", entry.training, name="training"),
    path(
        "studies/<int:pk>/training/<int:position>/feedback/",
        entry.training_feedback,
        name="training_feedback",
    ),
    path("studies/<int:pk>/break/", entry.take_a_break, name="break"),
    path("studies/<int:pk>/read/<int:message>/", entry.message_read, name="message_read"),
    path("studies/<int:pk>/texts/", texts.study_texts, name="study_texts"),
    path("join/", join.join, name="join"),
    path("join/<str:token>/", join.join_link, name="join_link"),
    *_desk("annotate/", "", Part.MAIN),
    *_desk("training/", "training_", Part.TRAINING),
    *_desk("background/", "background_", Part.BACKGROUND),
    path("studies/<int:pk>/adjudicate/", adjudication.queue, name="study_adjudication"),
    path(
        "studies/<int:pk>/adjudicate/<int:rank>/<path:name>/",
        adjudication.place,
        name="adjudicate",
    ),
    path("studies/<int:pk>/record/", record.study_record, name="study_record"),
    path(
        "studies/<int:pk>/record.<str:ending>", record.study_record_file, name="study_record_file"
    ),
    path("record/", record.all_records, name="all_records"),
    path("record.<str:ending>", record.all_records_file, name="all_records_file"),
    path("studies/<int:pk>/withdraw/", leaving.leave, name="leave"),
    path("studies/<int:pk>/unblind/", leaving.study_unblind, name="study_unblind"),
    path(
        "studies/<int:pk>/people/<int:number>/withdraw/",
        leaving.annotator_leave,
        name="annotator_leave",
    ),
    path(
        "studies/<int:pk>/people/<int:number>/unblind/",
        leaving.annotator_unblind,
        name="annotator_unblind",
    ),
    path("people/erase/", leaving.erase, name="erase"),
    path("sessions/", sessions_making.session_list, name="session_list"),
    path("sessions/new/", sessions_making.session_new, name="session_new"),
    path("studies/new/sessions/", live_study.live_study_new, name="live_study_new"),
    path("sessions/<int:pk>/links/", sessions_making.session_links, name="session_links"),
    path(
        "sessions/<int:pk>/instructions/",
        sessions_making.session_instructions,
        name="session_instructions",
    ),
    path("studies/<int:pk>/sessions/", sessions_making.study_sessions, name="study_sessions"),
    path("sessions/<int:pk>/", playing.session, name="session"),
    path("sessions/<int:pk>/state/", playing.session_state, name="session_state"),
    path("sessions/<int:pk>/reply/<int:ask>/", replying.session_reply, name="session_reply"),
    path("sessions/<int:pk>/draft/<int:ask>/", replying.session_draft, name="session_draft"),
    path("sessions/<int:pk>/ready/", playing.session_ready, name="session_ready"),
    path("sessions/<int:pk>/pause/", playing.session_pause, name="session_pause"),
    path("sessions/<int:pk>/resume/", playing.session_resume, name="session_resume"),
    path("sessions/<int:pk>/leave/", playing.session_leave, name="session_leave"),
    path("sessions/<int:pk>/watch/", watching.session_watch, name="session_watch"),
    path("sessions/monitor/", session_control.monitor, name="session_monitor"),
    path("sessions/<int:pk>/control/", session_control.control, name="session_control"),
]
