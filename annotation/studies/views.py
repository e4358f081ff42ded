"""Lists of studies, and one study."""

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.access import fetch_study, person, place_of
from annotation.live.lists import session_counts
from annotation.live.next_session import is_live
from annotation.people.message_selectors import unread_messages
from annotation.steps.own_part import load_own_part
from annotation.studies.design import study_design
from annotation.studies.progress import study_progress
from annotation.studies.selectors import CURRENT, MINE, SHOWN, study_page
from annotation.studies.settings_views import study_context
from annotation.studies.sizes import questions_left_out
from benchmarks.access import START, signed_in


@require_GET
@signed_in
def study_list(request: HttpRequest) -> HttpResponseBase:
    """The studies that this person takes part in."""
    user = person(request)
    rows, page = study_page(user, request.GET)
    context = {
        "rows": rows,
        "page": page,
        "filters": {key: shown.words for key, shown in SHOWN.items() if _offered(key, user)},
        "shown": request.GET.get("show", CURRENT),
        "may_create": user.has_perm(START),
        "runs_some": any(row.everybody for row in rows),
    }
    return render(request, "annotation/study_list.html", context)


def _offered(key: str, user: User) -> bool:
    """Only administrators see studies that are not theirs."""
    return user.is_superuser or key != MINE


@require_GET
@signed_in
def study(request: HttpRequest, pk: int) -> HttpResponseBase:
    """One study: own items for an annotator, everybody's progress for those who run it."""
    access = fetch_study(request, pk)
    context = study_context(access, "overview")
    if access.annotates:
        mine = load_own_part(access.study, place_of(access))
        context |= {
            "mine": mine,
            "own": mine.counts,
            "unread": unread_messages(access.user, study=access.study),
        }
    if access.oversees:
        context |= {
            "progress": study_progress(access.study),
            "design": study_design(access.study),
            "left_out": questions_left_out(access.study, context["questionnaire"]),
        }
        if is_live(access.study):
            context["sessions"] = session_counts(access.study)
    return render(request, "annotation/study.html", context)
