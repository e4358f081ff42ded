"""Pages for managers: sessions in progress, actions on one, and watching it."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import (
    require_GET,
    require_http_methods,
    require_POST,
    require_safe,
)

from annotation.access import fetch_managed_study, person
from annotation.errors import Refused
from annotation.live.access import SessionAccess, fetch_session
from annotation.live.control.monitor import (
    MOST,
    TONES,
    WORDS,
    MonitorPlace,
    agent_now,
    attendance_counts,
    monitor_rows,
    standing_of,
)
from annotation.live.control.services import (
    end_all,
    end_session,
    free_place,
    give_back,
    give_to_agent,
    let_stand_in,
    pause_all,
    previous_player,
    resume_all,
    retry_call,
    roll_back,
    rollback_points,
    take_over,
    write_note,
)
from annotation.live.control.watching import (
    event_rows,
    open_turn,
    place_rows,
    watched_trajectory,
    watched_turns,
)
from annotation.live.play.services import note_end, pause_session, resume_session
from annotation.live.play.session_state import SessionState, read_session_state
from annotation.live.play.status import headline, session_deadlines
from annotation.live.play.views import STOP_POLLING
from annotation.live.setup.forms import meetable_agents
from annotation.live.turns import SessionTurn, whose_turn
from annotation.models import LivePlace, LiveSession, Membership
from benchmarks.access import VIEW, signed_in, visibility
from benchmarks.endpoints.selectors import agent_title
from benchmarks.filters import set_choices
from benchmarks.models import Agent, Endpoint, Exchange, Trajectory
from benchmarks.responses import own_template, wants_fragment
from benchmarks.roles.cautions import run_caution
from benchmarks.roles.services import AT
from benchmarks.trajectories.selectors import is_scored
from benchmarks.visibility import Visibility

ACTIONS = (
    "pause", "resume", "end", "retry", "agent", "free", "stand_in", "take_over", "give_back",
    "note", "roll_back",
)  # fmt: skip

# What leaves a duel between the same two agents and with the same player on both sides.
IN_DUELS = ("pause", "resume", "end", "retry", "note")


class ControlForm(forms.Form):
    """One deed, with what it needs: a place by its number, an agent, a reason, and which script or
    model stands in.
    """

    use_required_attribute = False

    do = forms.ChoiceField(choices=[(action, action) for action in ACTIONS])
    place = forms.IntegerField(required=False, min_value=1, max_value=100)
    step = forms.IntegerField(required=False, min_value=0, max_value=32_767)
    agent = forms.ModelChoiceField(
        label="Another agent",
        queryset=Agent.objects.none(),
        empty_label=None,
        error_messages={"required": "choose an agent"},
    )
    stand_in = forms.ChoiceField(label="Who continues", required=False)
    reason = forms.CharField(label="Why", required=False, max_length=500)

    def __init__(self, *args: Any, system: str, seen: Visibility, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = [agent.pk for agent in meetable_agents(system, seen)]
        models = seen.of(Endpoint.objects.filter(retired=False)).order_by("title")
        choices = [("", "The benchmark’s script"), *((AT + m.name, agent_title(m)) for m in models)]
        set_choices(self, "stand_in", choices)
        field = self.fields["agent"]
        field.required = not self.is_bound or self.data.get("do") == "agent"
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = Agent.objects.filter(pk__in=known)


@require_GET
@signed_in
def monitor(request: HttpRequest) -> HttpResponseBase:
    """Show sessions under way. The page asks every few seconds: 204 while nothing changed."""
    user = person(request)
    oversees = Membership.objects.filter(user=user).exclude(role=Membership.Role.ANNOTATOR)
    if not user.is_superuser and not oversees.exists():
        raise PermissionDenied("This page is for people who manage sessions.")
    given = request.GET.get("study", "")
    study = int(given) if given.isascii() and given.isdigit() and len(given) < 10 else None
    rows = monitor_rows(user, visibility(request), study)
    version = "/".join(row.mark for row in rows)
    if wants_fragment(request) and request.GET.get("v") == version:
        return HttpResponse(status=204)
    name = "partials/_monitor_rows.html" if wants_fragment(request) else "session_monitor.html"
    manages = Membership.objects.filter(user=user, role=Membership.Role.MANAGER)
    context = {
        "rows": rows,
        "attendance": attendance_counts(rows),
        "most": MOST if len(rows) >= MOST else None,
        "study": study,
        "version": version,
        "manages": set(manages.values_list("study", flat=True)),
        "states": {row.session.state for row in rows},
    }
    response = render(request, f"annotation/{name}", context)
    patch_vary_headers(response, ["HX-Request"])
    return response


@require_POST
@signed_in
def sessions_all(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Pause, resume or end all sessions of a study."""
    access = fetch_managed_study(request, pk)
    if not access.study.is_live:
        raise Http404
    study, by = access.study, access.user
    match request.POST.get("do"):
        case "pause":
            done = _counted(pause_all(study=study, by=by), "paused")
        case "resume":
            done = _counted(resume_all(study=study, by=by), "resumed")
        case "end":
            reason = request.POST.get("reason", "").strip()[:500]
            done = _counted(end_all(study=study, by=by, reason=reason), "ended")
        case _:
            done = "Nothing changed: choose pause, resume or end."
    messages.info(request, done)
    return redirect(f"{reverse('annotation:session_monitor')}?study={pk}")


def _counted(count: int, did: str) -> str:
    return f"{count:,} session{'' if count == 1 else 's'} {did}."


@require_http_methods(["GET", "POST"])
@signed_in
def control(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show what can be done about one session; a POST does it, and says what came of it."""
    access = fetch_session(request, pk)
    if not access.study.oversees:
        raise Http404
    if not access.manages:
        raise PermissionDenied(
            "Only a manager of the study, or who made the session, may change it."
        )
    session = access.session
    trajectory = Trajectory.objects.select_related("run__dataset", "run__agent", "task").get(
        pk=session.trajectory_id
    )
    system = trajectory.run.dataset.system
    data = request.POST if request.method == "POST" else None
    form = ControlForm(data, system=system, seen=visibility(request))
    status = 200
    if request.method == "POST":
        try:
            if not form.is_valid():
                raise Refused("invalid", "; ".join(_problems(form)))
            done = _do(access, form)
        except Refused as refused:
            messages.error(request, f"Nothing changed: {refused.reason}.")
            status = 422 if refused.code == "invalid" else 409
        else:
            if form.cleaned_data["do"] == "take_over":
                return redirect("annotation:session", pk=pk)
            messages.success(request, done)
            return redirect("annotation:session_control", pk=pk)
        session.refresh_from_db()
    turn = whose_turn(session)
    places = LivePlace.objects.filter(session=session).select_related("player").order_by("number")
    asked = {place.pk for place in turn.places} if turn.standing == "asked" else set()
    monitored = [MonitorPlace(place, place.pk in asked) for place in places]
    standing = standing_of(turn, monitored)
    context = {
        "access": access,
        "session": session,
        "trajectory": trajectory,
        "agent": agent_now(trajectory),
        "turn": turn,
        "words": WORDS[standing],
        "tone": TONES[standing],
        "over": session.state in LiveSession.OVER,
        "places": monitored,
        "rests": _rests(turn),
        "points": rollback_points(trajectory),
        "taken": {each.pk for each in places if previous_player(each) is not None},
        "meets_agent": not any("agent" in player.place.roles for player in monitored),
        "form": form,
        "reveals": not access.study.blind,
    }
    return render(request, "annotation/session_control.html", context, status=status)


def _rests(turn: SessionTurn) -> bool:
    """Return whether no worker is at the trajectory, so that its players can change."""
    return turn.standing in ("gathering", "asked", "stuck", "paused")


def _problems(form: ControlForm) -> list[str]:
    return [f"{name}: {' '.join(map(str, errors))}" for name, errors in form.errors.items()]


def _do(access: SessionAccess, form: ControlForm) -> str:
    """Do it, and say what was done."""
    given = form.cleaned_data
    if access.duel is not None and given["do"] not in IN_DUELS:
        raise Refused(
            "conflict", "both sides of a duel keep their player, agent and turns; end it instead"
        )
    session, user, reason = access.session, access.user, given["reason"].strip()
    match given["do"]:
        case "pause":
            pause_session(session=session, by=user, reason=reason)
            return "Session paused. Nobody can reply until you resume it."
        case "resume":
            resume_session(session=session, by=user, manages=access.manages)
            return "Session resumed."
        case "end":
            end_session(session=session, by=user, reason=reason)
            return "Session ended. All messages are kept."
        case "retry":
            retry_call(session=session, by=user)
            return "The call is being retried."
        case "agent":
            give_to_agent(session=session, agent=given["agent"], by=user, reason=reason)
            return f"{given['agent'].title} continues from here."
        case "roll_back":
            if given["step"] is None:
                raise Refused("invalid", "choose the message before which the session continues")
            count = roll_back(session=session, step=given["step"], by=user, reason=reason)
            withdrew = f"{count:,} repl{'y was' if count == 1 else 'ies were'} withdrawn"
            return f"The session continues from there. {withdrew}; the record keeps them."
    place = next((each for each in access.places if each.number == given["place"]), None)
    if place is None:
        raise Refused("invalid", "choose one of the places of this session")
    match given["do"]:
        case "free":
            free_place(place=place, by=user, reason=reason)
            return f"The place {place.title} is free. Make a link for a replacement."
        case "give_back":
            give_back(place=place, by=user, reason=reason)
            return f"{place.title} has their place back."
        case "note":
            write_note(place=place, by=user, text=reason)
            return f"The {place.title.lower()} can read your note."
        case "take_over":
            take_over(place=place, user=user, reason=reason)
            return f"You now play the {place.title.lower()}."
        case _:
            let_stand_in(place=place, by=user, stand_in=given["stand_in"], reason=reason)
            return f"A script or model now plays the {place.title.lower()}."


@require_safe
@signed_in
def session_watch(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show all of a session so far. Asked for by itself: 204 while nothing has changed."""
    access = fetch_session(request, pk)
    if not access.oversees:
        # Whoever plays sees what their role may see, until it is over.
        if access.place is None:
            raise Http404
        room = reverse("annotation:session", args=[pk])
        # The page of somebody who has just taken a place over asks by itself.
        headers = {"HX-Redirect": room}
        return HttpResponse(headers=headers) if wants_fragment(request) else redirect(room)
    state = read_session_state(access)
    replies = state.trajectory.exchanges.filter(state=Exchange.State.ANSWERED).count()
    events = state.session.events.count()
    version = f"{state.token}.{state.trajectory.turn_count}.{replies}.{events}"
    part = wants_fragment(request)
    if part and request.GET.get("v") == version:
        return HttpResponse(status=STOP_POLLING if state.over else 204)
    given = request.GET.get("turn", "")
    after = int(given) if part and given.isdecimal() and len(given) < 6 else 0
    template = "annotation/partials/_watch_state.html" if part else "annotation/session_watch.html"
    context = {**_context(request, state, after), "version": version, "part": part}
    response = render(request, template, context)
    if part and state.over:
        response.status_code = STOP_POLLING
    patch_vary_headers(response, ["HX-Request"])
    return response


def _context(request: HttpRequest, state: SessionState, after: int) -> dict[str, Any]:
    if state.over:
        note_end(session=state.session)
    trajectory = watched_trajectory(state)
    system = trajectory.run.dataset.system
    turns = watched_turns(trajectory, after=after)
    spoken = open_turn(trajectory)
    return {
        "session": state.session,
        "study": state.access.study.study,
        "state": state,
        "headline": headline(state, watched=True),
        "limits": session_deadlines(state),
        "trajectory": trajectory,
        "caution": run_caution(trajectory.run, trajectory.role_changes),
        "run": trajectory.run,
        "agent": agent_now(trajectory),
        "turns": turns,
        "open": [utterance for utterance in spoken if not utterance.verdict],
        "verdicts": [utterance for utterance in spoken if utterance.verdict],
        "last": turns[-1].row.index if turns else after,
        "card": own_template(system, "_turn.html"),
        "badges": own_template(system, "_turn_badges.html"),
        "scored": is_scored(system),
        "sittings": place_rows(state, system),
        "events": event_rows(state),
        "manages": state.access.manages,
        "sees_results": request.user.has_perm(VIEW),
    }
