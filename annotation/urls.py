"""URLs of the annotation app."""

from django.urls import URLPattern, URLResolver, include, path

from annotation.adjudication import views as adjudication
from annotation.audit_log import views as record
from annotation.consent import views as consent
from annotation.desk import break_views
from annotation.desk import keys as desk_keys
from annotation.desk import views as desk
from annotation.exports import views as exports
from annotation.home import views as home
from annotation.items import special_views
from annotation.items import views as items
from annotation.joining import views as join_views
from annotation.live.control import views as live_control
from annotation.live.duels import views as live_duels
from annotation.live.play import views as live_play
from annotation.live.setup import views as live_setup
from annotation.messages import views as messages
from annotation.models import Assignment
from annotation.people import leaving_views, payment
from annotation.people import mail_views as mail
from annotation.people import views as people
from annotation.planning import views as planning
from annotation.questionnaires import views as questionnaires
from annotation.recruiting import join_views as recruiting_join
from annotation.recruiting import views as recruiting
from annotation.study_pages import guidelines, next_item
from annotation.study_pages import views as studies
from annotation.submissions import views as submissions
from annotation.training import views as training

app_name = "annotation"
Part = Assignment.Part


def _desk(folder: str, prefix: str, part: str) -> list[URLPattern]:
    """Return the desk of one part: its page, the saving of answers, and submitting."""
    at, kwargs = f"{folder}<int:position>/", {"part": part}
    return [
        path(at, desk.desk, kwargs, name=f"{prefix}desk"),
        path(f"{at}answers/", desk.answers, kwargs, name=f"{prefix}answers"),
        path(f"{at}submit/", desk.submit, kwargs, name=f"{prefix}submit"),
        path(f"{at}images/<slug:digest>/", desk.image, kwargs, name=f"{prefix}image"),
    ]


# An address is looked for from the top, so the desk, where people click most, stands there.
_study: list[URLPattern | URLResolver] = [
    path("annotate/", next_item.next_item, name="next_item"),
    *_desk("annotate/", "", Part.MAIN),
    *_desk("training/", "training_", Part.TRAINING),
    *_desk("background/", "background_", Part.BACKGROUND),
    path("", studies.study, name="study"),
    path("design/", studies.study_design_page, name="study_design"),
    path("design.csv", studies.design_csv, name="design_csv"),
    path("design.json", studies.design_json, name="design_json"),
    path("launch/", studies.study_launch, name="study_launch"),
    path("status/", studies.status, name="study_status"),
    path("progress/", studies.progress, name="study_progress"),
    path("settings/", studies.settings, name="study_settings"),
    path("delete/", studies.delete, name="study_delete"),
    path("people/", people.people, name="study_people"),
    path("payment/", payment.payment, name="study_payment"),
    path("payment.csv", payment.payment_file, name="study_payment_file"),
    path("people/remove/", people.member_remove, name="member_remove"),
    path("people/<int:number>/", people.annotator, name="annotator"),
    path(
        "people/<int:number>/items/<int:position>/",
        submissions.submission,
        name="submission",
    ),
    path(
        "people/<int:number>/change/",
        people.annotator_change,
        name="annotator_change",
    ),
    path("invites/mail/", mail.invite_mail, name="invite_mail"),
    path("people/remind/", mail.reminders, name="study_reminders"),
    path("invites/", people.invite_make, name="invite_make"),
    path(
        "invites/<int:invite_id>/revoke/",
        people.invite_revoke,
        name="invite_revoke",
    ),
    path("items/", items.items, name="study_items"),
    path("items/list/", items.item_list, name="item_list"),
    path("items/more/", items.more, name="study_more"),
    path("items/specials/", special_views.specials, name="study_specials"),
    path("items/<int:rank>/", items.item, name="study_item"),
    path("items/<int:rank>/change/", items.item_change, name="item_change"),
    path("messages/", messages.study_messages, name="study_messages"),
    path("export/", exports.study_export, name="study_export"),
    path("export/file/", exports.study_download, name="study_download"),
    path("information/", consent.information, name="information"),
    path("consent/", consent.consent, name="consent"),
    path("guidelines/", guidelines.guidelines, name="guidelines"),
    path("training/", training.training, name="training"),
    path(
        "training/<int:position>/feedback/",
        training.training_feedback,
        name="training_feedback",
    ),
    path("annotate/<int:position>/feedback/", training.gold_feedback, name="feedback"),
    path("break/", break_views.take_a_break, name="break"),
    path("read/<int:message>/", messages.message_read, name="message_read"),
    path("texts/", consent.study_texts, name="study_texts"),
    path("adjudicate/", adjudication.queue, name="study_adjudication"),
    path(
        "adjudicate/<int:rank>/images/<slug:digest>/",
        adjudication.image,
        name="adjudicate_image",
    ),
    path(
        "adjudicate/<int:rank>/<path:name>/",
        adjudication.place,
        name="adjudicate",
    ),
    path("record/", record.study_record, name="study_record"),
    path("record.<str:ending>", record.study_record_file, name="study_record_file"),
    path("withdraw/", leaving_views.leave, name="leave"),
    path("unblind/", leaving_views.study_unblind, name="study_unblind"),
    path(
        "people/<int:number>/withdraw/",
        leaving_views.annotator_leave,
        name="annotator_leave",
    ),
    path(
        "people/<int:number>/unblind/",
        leaving_views.annotator_unblind,
        name="annotator_unblind",
    ),
    path("sessions/", live_setup.study_sessions, name="study_sessions"),
    path("sessions/all/", live_control.sessions_all, name="sessions_all"),
    path("finished/", recruiting_join.finished, name="finished"),
    path("recruiting/", recruiting.recruiting, name="study_recruiting"),
    path("recruiting/payment/", recruiting.payment, name="recruiting_payment"),
    path("recruiting/payment.csv", recruiting.payment_file, name="recruiting_payment_file"),
    path("recruiting/approve/", recruiting.approve_checked, name="recruiting_approve"),
    path(
        "recruiting/links/<int:link_id>/revoke/",
        recruiting.link_revoke,
        name="recruiting_link_revoke",
    ),
    path(
        "recruiting/people/<int:recruit_id>/change/",
        recruiting.recruit_change,
        name="recruit_change",
    ),
]
_session: list[URLPattern | URLResolver] = [
    path("links/", live_setup.session_links, name="session_links"),
    path(
        "instructions/",
        live_setup.session_instructions,
        name="session_instructions",
    ),
    path("", live_play.session, name="session"),
    path("state/", live_play.session_state, name="session_state"),
    path("writing/", live_play.session_writing, name="session_writing"),
    path("reply/<int:ask>/", live_play.session_reply, name="session_reply"),
    path("draft/<int:ask>/", live_play.session_draft, name="session_draft"),
    path("take-back/", live_play.session_take_back, name="session_take_back"),
    path("ready/", live_play.session_ready, name="session_ready"),
    path("pause/", live_play.session_pause, name="session_pause"),
    path("resume/", live_play.session_resume, name="session_resume"),
    path("away/", live_play.session_away, name="session_away"),
    path("leave/", live_play.session_leave, name="session_leave"),
    path("watch/", live_control.session_watch, name="session_watch"),
    path("control/", live_control.control, name="session_control"),
]
urlpatterns: list[URLPattern | URLResolver] = [
    path("studies/<int:pk>/", include(_study)),
    path("sessions/<int:pk>/", include(_session)),
    path("", home.home, name="home"),
    path("demo/progress/", home.demo, name="demo"),
    path("demo/again/", home.load_again, name="load_again"),
    path("demo/delete/", home.demo_delete, name="demo_delete"),
    path("away/", desk.away, name="away"),
    path("studies/keys/", desk_keys.keys, name="desk_keys"),
    path("away.js", desk.worker, name="away_worker"),
    path("studies/", studies.study_list, name="study_list"),
    path("studies/new/", planning.study_new, name="study_new"),
    path("studies/new/filter-check/<int:dataset_id>/", planning.filter_check, name="filter_check"),
    path("questionnaires/", questionnaires.questionnaire_list, name="questionnaire_list"),
    path("questionnaires/new/", questionnaires.questionnaire_new, name="questionnaire_new"),
    path(
        "questionnaires/<slug:called>/<int:version>/",
        questionnaires.questionnaire,
        name="questionnaire",
    ),
    path("join/", join_views.join, name="join"),
    path("join/<str:token>/", join_views.join_link, name="join_link"),
    path("recruit/", recruiting_join.recruit, name="recruit"),
    path("recruit/<str:token>/", recruiting_join.recruit_link, name="recruit_link"),
    path("record/", record.all_records, name="all_records"),
    path("record.<str:ending>", record.all_records_file, name="all_records_file"),
    path("people/erase/", leaving_views.erase, name="erase"),
    path("sessions/", live_setup.session_list, name="session_list"),
    path("sessions/new/", live_setup.session_new, name="session_new"),
    path("studies/new/sessions/", live_setup.live_study_new, name="live_study_new"),
    path("duels/<int:pk>/vote/", live_duels.duel_vote, name="duel_vote"),
    path("duels/<int:pk>/close/", live_duels.duel_close, name="duel_close"),
    path("duels/<int:pk>/state/", live_duels.duel_state, name="duel_state"),
    path("sessions/monitor/", live_control.monitor, name="session_monitor"),
]
