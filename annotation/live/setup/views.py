"""Pages that list and create sessions, make links to them, and show instructions."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import select_template
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import StudyAccess, fetch_managed_study, fetch_overseen_study, person
from annotation.designs.certificate import Certificate
from annotation.errors import Refused
from annotation.live.access import fetch_session
from annotation.live.lists import (
    free_rows,
    live_plan,
    mode_title,
    overseen_rows,
    overseen_studies,
    own_rows,
    place_words,
    study_rows,
)
from annotation.live.play.services import take_own_place
from annotation.live.setup.design import SessionDesign, in_words
from annotation.live.setup.forms import ORDERS, AddSessionForm, LiveStudyForm, NewSessionForm
from annotation.live.setup.practice import begin_practice
from annotation.live.setup.services import (
    DesignRequest,
    add_duel,
    add_session,
    create_duel,
    create_session,
    create_sessions,
    draw_design,
)
from annotation.live.setup.sessions import mode_of
from annotation.models import LivePlace, LivePlan, LiveSession, Membership, Study
from annotation.people.invitations import make_invite
from annotation.steps.next_session import next_session
from annotation.steps.selectors import next_step
from annotation.studies.design import BalanceTable, balance_tables
from annotation.study_frame.context import study_banner, study_context
from benchmarks.access import START, allow, signed_in, visibility
from benchmarks.core.digests import canonical_json
from benchmarks.core.ports.people import Mode
from benchmarks.core.registry import find_system, system_of
from benchmarks.lists.columns import ListColumn, column_choice, list_csv, wants_csv
from benchmarks.models import Dataset, Trajectory
from benchmarks.roles.services import ensure_scripted_agents

Role = Membership.Role
# For how many days a link is good that is made beside a list.
LINK_DAYS = 14


@require_GET
@signed_in
def session_list(request: HttpRequest) -> HttpResponseBase:
    """Show the sessions that somebody plays, and those of the studies that they run."""
    user = person(request)
    rows = own_rows(user)
    oversees = overseen_studies(user).exists()
    overseen = overseen_rows(user)
    context = {
        "waiting": [row for row in rows if not row.over],
        "over": [row for row in rows if row.over],
        "overseen": [each for each in overseen if each.rows],
        "further": [each for each in overseen if not each.rows],
        "oversees": oversees,
        "empty": not rows and not oversees,
        "may_make": user.has_perm(START),
    }
    return render(request, "annotation/session_list.html", context)


# --- Making one -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlayerLink:
    """A link to a place, which is shown once."""

    title: str
    url: str


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@signed_in
def session_new(request: HttpRequest) -> HttpResponseBase:
    """Show one session with a study of its own; the links to its places are in the answer alone."""
    allow(request, START)
    ensure_scripted_agents()
    chosen = choose_dataset(request)
    if chosen is None:
        return render(request, "annotation/session_new.html", {"datasets": []})
    context = chosen
    data = request.POST if request.method == "POST" else None
    form = NewSessionForm(
        data, dataset=chosen["dataset"], mode=chosen["mode"], seen=visibility(request)
    )
    if form.is_valid():
        try:
            common: dict[str, Any] = {
                "wish": form.wish(), "task": form.chosen_task, "mine": form.chosen_place,
                "by": person(request),
            }  # fmt: skip
            if form.makes_duels:
                session = create_duel(agents=form.both_agents, **common).left
            else:
                session = create_session(agent=form.chosen_agent, **common)
            links = make_links(request, session, days=form.cleaned_data["days"])
        except Refused as refused:
            form.add_error(None, f"{refused.reason[:1].upper()}{refused.reason[1:]}.")
        else:
            return _made(request, session, links)
    status = 422 if form.is_bound else 200
    return render(request, "annotation/session_new.html", {**context, "form": form}, status=status)


def choose_dataset(request: HttpRequest) -> dict[str, Any] | None:
    """Return the datasets on offer, the one that is asked for, its system's modes and the chosen
    one.
    """
    datasets = [d for d in visibility(request).of(Dataset.objects.all()) if system_of(d.system)]
    given = request.POST or request.GET
    wanted = given.get("dataset", "")
    dataset = next((d for d in datasets if str(d.pk) == wanted), datasets[0] if datasets else None)
    if dataset is None:
        return None
    modes = find_system(dataset.system).modes()
    mode = next((mode for mode in modes if mode.key == given.get("mode", "")), modes[0])
    return {
        "datasets": datasets,
        "dataset": dataset,
        "system": system_of(dataset.system),
        "modes": modes,
        "mode": mode,
    }


def make_links(request: HttpRequest, session: LiveSession, *, days: int) -> list[PlayerLink]:
    """Return a link for each free place of a session."""
    return [
        make_link(request, place, days=days)
        for place in session.places.select_related("session__study").filter(
            player=None, stand_in=""
        )
    ]


def make_link(request: HttpRequest, place: LivePlace, *, days: int) -> PlayerLink:
    """Return a link that gives one person a place, once."""
    session = place.session
    token = make_invite(
        study=session.study,
        role=Role.ANNOTATOR,
        label=f"session {session.number}: {place.title}",
        days=days,
        by=person(request),
        place=place,
    )
    url = request.build_absolute_uri(reverse("annotation:join_link", args=[token]))
    return PlayerLink(f"{place.title}, session {session.number}", url)


def _made(request: HttpRequest, session: LiveSession, links: list[PlayerLink]) -> HttpResponse:
    own = session.places.filter(player=person(request)).first()
    context = {"session": session, "study": session.study, "links": links, "own": own}
    return render(request, "annotation/session_made.html", context)


@require_POST
@never_cache
@signed_in
def session_links(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show a new link to a free place, or the place itself for the manager who wants to play."""
    access = fetch_session(request, pk)
    if not access.manages:
        raise PermissionDenied(
            "Only a manager of the study, or who made the session, may make links."
        )
    session = access.session
    number = request.POST.get("place", "")
    number = number if number.isdecimal() and len(number) < 4 else "0"
    place = get_object_or_404(
        LivePlace.objects.select_related("session__study"), session=session, number=number
    )
    links: list[PlayerLink] = []
    refused = None
    try:
        if request.POST.get("action") == "play":
            take_own_place(place=place, user=person(request))
            return redirect("annotation:next_item", pk=session.study_id)
        links = [make_link(request, place, days=LINK_DAYS)]
    except Refused as refusal:
        refused = refusal
    context = {"session": session, "study": session.study, "links": links, "refused": refused}
    status = 409 if refused is not None else 200
    return render(request, "annotation/session_made.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@signed_in
def study_sessions(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show all sessions of a study, practice rounds apart; a POST of a manager adds one."""
    access = fetch_overseen_study(request, pk)
    plan = live_plan(access.study)
    if plan is None:
        raise Http404
    named = not access.blind
    form = _add_form(request, access, plan)
    if request.method == "POST":
        fetch_managed_study(request, pk)
        if form is None:
            raise Http404
        if form.is_valid():
            try:
                agents = form.chosen_agents
                common: dict[str, Any] = {
                    "study": access.study, "plan": plan, "task": form.chosen_task,
                    "by": access.user,
                }  # fmt: skip
                if access.study.has_duels:
                    session = add_duel(agents=agents, **common).left
                else:
                    session = add_session(agent=agents[0] if agents else None, **common)
                return _made(request, session, make_links(request, session, days=LINK_DAYS))
            except Refused as refused:
                form.add_error(None, f"{refused.reason[:1].upper()}{refused.reason[1:]}.")
    rows = study_rows(access.study, access.user, named=named)
    drafts = any(row.draft_distance is not None for row in rows)
    listed = _session_columns(named=named, drafts=drafts)
    if wants_csv(request):
        return list_csv(f"study-{pk}-sessions", listed, rows)
    columns = column_choice(request, "sessions", listed)
    design = plan.settings.get("design")
    context = {
        **study_context(access, "sessions"),
        "plan": plan,
        "mode": mode_title(plan),
        "rows": rows,
        "columns": columns,
        "hidden": columns.hidden,
        "drafts": drafts,
        "named": named,
        "design": design,
        "order": dict(ORDERS).get(design["order"], "").partition(":")[0] if design else "",
        "pooled": plan.settings.get("players") == "pool",
        "free_rows": free_rows(plan, rows),
        "form": form,
        "compared": _compared_dataset(access, plan),
    }
    status = 422 if form is not None and form.errors else 200
    return render(request, "annotation/study_sessions.html", context, status=status)


def _session_columns(*, named: bool, drafts: bool) -> tuple[ListColumn, ...]:
    """Return the columns of a study's sessions; agent and task where the reader may know them, and
    how far replies are from ``drafts`` where any was offered.
    """
    known = (
        ListColumn("agent", "Agent", {"agent": "agent"}),
        ListColumn("task", "Task", {"task": "task"}),
    )
    return (
        ListColumn("session", "Session", {"session": "session.number"}, fixed=True),
        ListColumn("state", "State", {"state": "words"}),
        ListColumn(
            "places", "Places", {"places": lambda row: "; ".join(map(place_words, row.places))}
        ),
        *(known if named else ()),
        *([ListColumn("drafts", "Draft edited", {"draft distance": "draft_distance"})] * drafts),
        ListColumn("since", "Since", {"since": "turn.since"}),
    )


def _compared_dataset(access: StudyAccess, plan: LivePlan) -> int | None:
    """Return the dataset on which results of people as agents are compared with those of other
    agents.

    None where a person is no agent, where nothing was played to the end yet, and for whoever may
    not see results, which includes players who are to be blind.
    """
    plays_agent = "agent" in mode_of(plan.system, plan.mode).roles
    if not plays_agent or not find_system(plan.system).comparisons.groups or access.blind:
        return None
    if not access.user.has_perm("benchmarks.view_results"):
        return None
    ended = LiveSession.objects.filter(
        study=access.study, practice=False, trajectory__status=Trajectory.Status.DONE
    )
    return ended.values_list("trajectory__run__dataset", flat=True).first()


def _add_form(request: HttpRequest, access: StudyAccess, plan: LivePlan) -> AddSessionForm | None:
    """Return the form of a further session, for managers who may know whom players meet."""
    if not access.manages or access.blind or access.study.status in Study.OVER:
        return None
    cast = plan.settings.get("cast", {})
    dataset = visibility(request).of(Dataset.objects.filter(pk=cast.get("dataset"))).first()
    if dataset is None:
        return None
    data = request.POST if request.method == "POST" else None
    mode = mode_of(plan.system, plan.mode)
    return AddSessionForm(
        data, dataset=dataset, mode=mode, seen=visibility(request), duels=access.study.has_duels
    )


# --- Before it begins -----------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
@signed_in
def session_instructions(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show what a player is, sees and must not reveal; a POST begins the practice round."""
    access = fetch_session(request, pk)
    study, place = access.session.study, access.place
    if place is None:  # who looks on reads them for the first place
        place = access.places[0]
    elif (before := _before(request, access.study.study)) is not None:
        return before
    plan = LivePlan.objects.get(study=study)
    refused = None
    if request.method == "POST":
        if access.place is None:
            raise Http404
        try:
            session = begin_practice(place=access.place, user=access.user)
        except Refused as refusal:
            refused = refusal
        else:
            return redirect("annotation:session", pk=session.pk)
    coming = next_session(plan, access.user) if access.place is not None else None
    mode = mode_of(plan.system, plan.mode)
    context = {
        "study": study,
        "session": access.session,
        "place": place,
        "plays": access.place is not None,
        "plan": plan,
        "mode": mode,
        "told": instructions(plan.system, mode),
        "others": [other for other in mode.places if other.title != place.title],
        "practises": coming is not None and coming.practises,
        "refused": refused,
        "banner": study_banner(study),
    }
    status = 409 if refused is not None else 200
    return render(request, "annotation/session_instructions.html", context, status=status)


def _before(request: HttpRequest, study: Any) -> HttpResponseBase | None:
    """Redirect to what has to be done before anything about a session is shown."""
    user = person(request)
    participant = study.participants.filter(user=user).first()
    if participant is None:
        return None
    participant.user = user
    if next_step(study, participant).name in ("information", "consent", "background", "break"):
        return redirect("annotation:next_item", pk=study.pk)
    return None


def instructions(system: str, mode: Mode) -> Any:
    """Return the words of a system to players of a mode, or those that hold for every system."""
    return select_template(
        [
            f"systems/{system}/_instructions_{mode.key}.html",
            "annotation/partials/_instructions.html",
        ]
    )


@dataclass(frozen=True)
class DesignPreview:
    """The preview of a design: a table of rows with their sessions in order, and its balance."""

    certificate: Certificate
    tables: Sequence[BalanceTable]
    rows: Sequence[tuple[str, Sequence[str]]]
    warnings: Sequence[str]
    sessions: int

    @property
    def mark(self) -> str:
        """The mark that tells whether the same would still be made."""
        named = [[name, list(words)] for name, words in self.rows]
        return hashlib.sha256(canonical_json([self.certificate.sha256, named]).encode()).hexdigest()


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def live_study_new(request: HttpRequest) -> HttpResponseBase:
    """Choose and look; a POST with what was looked at makes it."""
    allow(request, START)
    ensure_scripted_agents()
    chosen = choose_dataset(request)
    if chosen is None:
        return render(request, "annotation/live_study_new.html", {"datasets": []})
    data = request.POST if request.method == "POST" else None
    form = LiveStudyForm(
        data, dataset=chosen["dataset"], mode=chosen["mode"], seen=visibility(request)
    )
    context = {**chosen, "form": form}
    if form.is_valid():
        try:
            design = form.design()
            drawn = draw_design(design=design, seed=form.cleaned_data["seed"])
            preview = _preview(drawn, design)
            if request.POST.get("made") == preview.mark:
                study = create_sessions(wish=form.wish(), design=design, by=person(request))
                several = "s" * (drawn.sessions != 1)
                messages.success(request, f"The study has {drawn.sessions} session{several}.")
                return redirect("annotation:study_sessions", pk=study.pk)
            context |= {"preview": preview, "stale": bool(request.POST.get("made"))}
        except Refused as refused:
            form.add_error(None, f"{refused.reason[:1].upper()}{refused.reason[1:]}.")
    status = 422 if form.errors else 200
    return render(request, "annotation/live_study_new.html", context, status=status)


def _preview(drawn: SessionDesign, design: DesignRequest) -> DesignPreview:
    met = [f" with {name}" if name else "" for name in design.met_names()]
    tables = balance_tables(drawn.certificate, hide_models=False)
    return DesignPreview(
        drawn.certificate,
        [
            replace(table, title=in_words(table.title), head=in_words(table.head))
            for table in tables
        ],
        [
            (
                name,
                [f"{design.tasks[task].external_id}{met[agent]}" for agent, task in pairs],
            )
            for name, pairs in drawn.rows
        ],
        [in_words(warning) for warning in drawn.certificate.warnings],
        drawn.sessions,
    )
