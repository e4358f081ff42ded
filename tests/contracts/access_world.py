"""The people and rows behind the table of access, and how each address is filled in and asked."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.handlers.base import BaseHandler
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from analysis.agreement.inputs import AgreementSettings, example_csv
from analysis.models import FailureClustering
from analysis.pages.saved_views.selectors import TRAJECTORIES
from analysis.pages.saved_views.services import save_view
from analysis.papers.blocks import PinBlock, Source, read_blocks
from analysis.papers.services import create_paper, pin_parts
from analysis.papers.sources import open_source
from analysis.registrations.services import import_registration
from analysis.tables.services import store_table
from annotation.models import (
    Duel,
    Invite,
    LivePlace,
    LivePlan,
    LiveSession,
    Membership,
    Message,
    Recruit,
    RecruitingLink,
    Study,
)
from annotation.remarks.label_sets import add_label_set, file_text
from annotation.remarks.services import add_remark, put_label
from benchmarks.api.tokens import create_token
from benchmarks.imports.selectors import DATASET, IMPORT
from benchmarks.judging.judges import TRIAL
from benchmarks.models import Endpoint, Experiment, Job, OpenAsk, Run, Trajectory
from benchmarks.visibility import Visibility
from tests.annotation.rows import make_person, make_study
from tests.contracts.access_table import PERSONAS
from tests.databases import taken_back
from tests.factories.registrations import registration_file

METHODS = ("GET", "POST")
# Signing in or out is by session; programs bring a token instead.
API = "/api/v1/"
ADMIN = "admin/"
SIGN_IN = ("/accounts/login/", "/admin/login/")
OK = (200, 204, 286)
# <converter:name> or, in a regular expression, (?P<name>…) with what stands around it.
PARAMETER = re.compile(r"\^?\(\?P<(\w+)>[^)]*\)|<(?:\w+:)?(\w+)>")
# What an address is sent by POST where an empty form would be refused before anybody asks who sent
# it, or would say nothing. A list makes it JSON.
BODIES: Mapping[str, dict[str, Any]] = {
    "annotation:answers": {"edits": []},
    "annotation:study_status": {"status": "closed"},
    "annotation:member_remove": {"user": "research", "role": "researcher"},
    "api:list_runs": {"dataset": 999_999_999, "agents": ["nobody"]},
    "api:import_file": {"format": "openai-chat", "file": None},
    "api:list_endpoints": {"title": "New", "base_url": "nowhere", "model": "m"},
    "api:preview_judging": {"roles": {}, "runs": [999_999_999]},
    "api:start_new_judging": {"roles": {}, "runs": [999_999_999]},
    "api:list_failure_labels": {
        "set": "nothing",
        "labels": [{"trajectory": 1, "label": "none", "who": "ada"}],
    },
    "api:list_registrations": {"dataset": 999_999_999, "plan": {}},
    "api:list_questions": {"question": "is right", "endpoint": "nobody"},
    "api:list_papers": {"title": " "},
    "api:get_paper": {"base": 999_999_999, "blocks": []},
    "api:pin_to_paper": {"source": "page", "name": "nothing", "parts": ["answer"]},
    "api:make_link_for_platform": {"platform": "nothing", "places": 1},
    "api:choose_primary_judging": {"judging": 999_999_999},
    "api:preview_study": {"plan": {}},
    "api:list_studies": {"plan": {}},
    "api:change_study_status": {"status": "closed"},
    "api:preview_sessions": {"sessions": {}},
    "api:create_study_of_sessions": {"sessions": {}},
    "api:rate_own_assignment": {"edits": [{"id": "00000000-0000-0000-0000-000000000000"}]},
    "api:skip_own_assignment": {"reason": "unclear"},
}


@dataclass(frozen=True)
class Address:
    """One address of the site: its full name, what it has to be given, how it reads."""

    name: str
    takes: tuple[str, ...]
    pattern: str

    @property
    def of_admin(self) -> bool:
        return self.pattern.startswith(ADMIN)


@dataclass(frozen=True)
class World:
    """Everybody's sessions and tokens, and the values that addresses are filled in with.

    Requests go straight to the site's handler, which takes half the time of the test client.
    """

    sessions: Mapping[str, str]
    tokens: Mapping[str, str]
    values: Mapping[str, Any]
    handler: BaseHandler
    requests: RequestFactory

    def url(self, address: Address) -> str:
        """The address of a row of the study, or of what belongs to it."""
        missing = [key for key in address.takes if key not in self.values]
        assert not missing, (
            f"{address.name} ({address.pattern}) takes {', '.join(missing)}: say in "
            "build_world (tests/contracts/access_world.py) which row that is."
        )
        if address.of_admin:
            # Some of the admin's addresses have no name, so they are read off their patterns.
            return "/" + PARAMETER.sub(
                lambda found: str(self.values[found[1] or found[2]]), address.pattern
            ).removesuffix("$")
        return reverse(address.name, kwargs={key: self.values[key] for key in address.takes})

    def everybody(
        self, address: Address, method: str, people: Iterable[str] = tuple(PERSONAS)
    ) -> tuple[str, ...]:
        """Return the answer to each of these people, in the table's words; nothing of it lasts."""
        url = self.url(address)
        # Nobody is held up by how often somebody else asked.
        cache.clear()
        return tuple(self._answer(address, url, method, persona) for persona in people)

    def _answer(self, address: Address, url: str, method: str, persona: str) -> str:
        given: dict[str, Any] = {}
        if method == "POST":
            body = dict(BODIES.get(address.name, {}))
            if "file" in body:
                body["file"] = SimpleUploadedFile("file.json", b"{}")
            elif url.startswith(API) or any(isinstance(value, list) for value in body.values()):
                given["content_type"] = "application/json"
            given["data"] = body
        request = getattr(self.requests, method.lower())(url, **given)
        request._dont_enforce_csrf_checks = True
        if persona in self.sessions:
            request.COOKIES[settings.SESSION_COOKIE_NAME] = self.sessions[persona]
        if url.startswith(API) and persona in self.tokens:
            request.META["HTTP_AUTHORIZATION"] = f"Bearer {self.tokens[persona]}"
        with taken_back():
            return word(self.handler.get_response(request))


def word(answer: HttpResponse) -> str:
    """Return what the table calls an answer."""
    status = answer.status_code
    if status in OK:
        return "ok"
    if status == 401 or (status == 302 and answer.headers["Location"].startswith(SIGN_IN)):
        return "login"
    return "moved" if 300 <= status < 400 else str(status)


def addresses() -> list[Address]:
    """Every address that the site answers, in the order in which it looks for them.

    Where several names share one (the API names each method), the first stands for all.
    """
    found: dict[str, Address] = {}
    for address in _walk(get_resolver(), (), "", ()):
        found.setdefault(address.pattern, address)
    return list(found.values())


def _walk(
    resolver: URLResolver, spaces: tuple[str, ...], before: str, taken: tuple[str, ...]
) -> Iterator[Address]:
    for entry in resolver.url_patterns:
        pattern = before + str(entry.pattern)
        takes = (*taken, *entry.pattern.regex.groupindex)
        if isinstance(entry, URLPattern):
            assert entry.name or pattern.startswith(ADMIN), f"the address {pattern} has no name"
            yield Address(":".join((*spaces, entry.name or "")), takes, pattern)
        else:
            inner = (*spaces, entry.namespace) if entry.namespace else spaces
            yield from _walk(entry, inner, pattern, takes)


def build_world() -> World:
    """One study with everybody around it, and a row of everything that an address can name."""
    annotator, outsider = make_person("annot"), make_person("outsider")
    manager = make_person("manager")
    study = make_study(annotators=[annotator], manager=manager)
    elsewhere = Study.objects.create(name="Another", questionnaire=study.questionnaire)
    Membership.objects.create(study=elsewhere, user=outsider, role=Membership.Role.ANNOTATOR)
    admin = make_person("admin", superuser=True)
    User.objects.filter(pk=admin.pk).update(is_staff=True)
    people = {
        "nobody": make_person("nobody"),
        "annot": annotator,
        "outsider": outsider,
        "research": make_person("research"),
        "manager": manager,
        "observer": make_person("observer"),
        "viewer": make_person("viewer", "view_results"),
        "starter": make_person("starter", "start_runs"),
        "admin": admin,
    }
    for persona, role in (("research", "researcher"), ("observer", "observer")):
        Membership.objects.create(study=study, user=people[persona], role=role)
    sessions, tokens = {}, {}
    for persona, user in people.items():
        client = Client()
        client.force_login(user)
        sessions[persona] = client.cookies[settings.SESSION_COOKIE_NAME].value
        tokens[persona] = create_token(user=user, name="test")[1]
    values = {
        **_rows(study),
        "ask": _session(study, annotator),
        "token_id": admin.api_tokens.get().pk,
        "table_id": _table(people["viewer"]),
        **_remarks(people["viewer"]),
        "path": "",
        **_paper(people["viewer"]),
        "registration_id": import_registration(data=registration_file(), by=admin)[0].pk,
        "view_id": save_view(owner=people["viewer"], page=TRAJECTORIES, name="Mine", query="").pk,
    }
    handler = BaseHandler()
    handler.load_middleware()
    return World(sessions, tokens, values, handler, RequestFactory())


def _remarks(reader: User) -> dict[str, object]:
    """A label and a note that somebody put on the trajectory whose page is opened."""
    trajectory = Run.objects.order_by("pk")[0].trajectories.order_by("pk")[0]
    return {
        "label_key": "format_error",
        "set_key": add_label_set(text=file_text("mast@1"), by=reader).key,
        "put_id": put_label(trajectory=trajectory, key="format_error", by=reader).pk,
        "note_id": add_remark(trajectory=trajectory, by=reader, text="A note.").pk,
    }


def _session(study: Study, player: User) -> int:
    """A live session of the study, under the study's own id; gives what its player is asked."""
    run = Run.objects.order_by("pk")[0]
    trajectory = Trajectory.objects.create(
        run=run, task=run.trajectories.order_by("pk")[0].task, attempt=9, reserved=True,
        status=Trajectory.Status.WAITING, started_at=timezone.now(),
    )  # fmt: skip
    LivePlan.objects.create(
        study=study, system="adaplanbench", mode="agent",
        experiment=Experiment.objects.create(name="Live"),
    )  # fmt: skip
    beside = Trajectory.objects.create(
        run=run, task=trajectory.task, attempt=10, reserved=True, started_at=timezone.now()
    )
    sides = [
        LiveSession.objects.create(
            study=study, number=number, trajectory=played,
            state=LiveSession.State.RUNNING, started_at=timezone.now(), **own,
        )
        for number, played, own in ((1, trajectory, {"pk": study.pk}), (2, beside, {}))
    ]  # fmt: skip
    for session in sides:
        LivePlace.objects.create(
            session=session, number=1, title="Agent", roles=["agent"], player=player,
            joined_at=timezone.now(), ready_at=timezone.now(),
        )  # fmt: skip
    Duel.objects.create(pk=study.pk, left=sides[0], right=sides[1])
    return OpenAsk.objects.create(
        trajectory=trajectory, step=0, slot=0, role="agent", ask_digest="0", seed=1,
        opened_at=timezone.now(), expect={"kind": "plan", "params": {}},
    ).pk  # fmt: skip


def _paper(owner: User) -> dict[str, object]:
    """A paper that its owner alone may open, with a pin of the leaderboard."""
    paper = create_paper(owner=owner, title="Mine")
    source = Source(kind="page", name="leaderboard")
    found = open_source(source, owner, Visibility.to(owner))
    part = next(part for part, _ in found.parts() if part != "answer")
    pin = read_blocks(pin_parts(paper=paper, found=found, parts=[part], by=owner).blocks)[-1]
    assert isinstance(pin, PinBlock)
    return {
        "paper_id": paper.pk, "block_id": pin.id, "digest": pin.digest,
        "source_kind": "page", "source_name": "leaderboard",
    }  # fmt: skip


def _table(owner: User) -> int:
    """A table of ratings that somebody keeps for themselves."""
    upload = SimpleUploadedFile("ratings.csv", example_csv().encode())
    given = AgreementSettings(resamples=100)
    return store_table(upload=upload, name="", settings=given, created_by=owner)[0].pk


def _rows(study: Study) -> dict[str, Any]:
    run = Run.objects.order_by("pk")[0]
    trajectory = run.trajectories.order_by("pk")[0]
    ask = OpenAsk.objects.create(
        trajectory=trajectory, step=0, slot=0, role="agent", ask_digest="0", seed=1,
        opened_at=timezone.now(), expect={"kind": "text"},
    )  # fmt: skip
    message = Message.objects.create(study=study, text="Take your time.")
    endpoint = Endpoint.objects.create(
        name="local", title="Local", base_url="http://127.0.0.1:9/v1", model="m"
    )
    clustering = FailureClustering.objects.create(
        trajectories=[trajectory.pk], endpoint=endpoint, version="0", episode_version="1",
        most_clusters=8, token_cap=1,
    )  # fmt: skip
    question = FailureClustering.objects.create(
        trajectories=[trajectory.pk], endpoint=endpoint, version="0", episode_version="q1",
        most_clusters=8, token_cap=1, question="ends politely", part=1,
    )  # fmt: skip
    invite = Invite.objects.create(
        study=study, digest="0", role="annotator", expires_at=timezone.now()
    )
    link = RecruitingLink.objects.create(
        study=study, digest="0", platform="other", places=1, items_each=1,
        expires_at=timezone.now(),
    )  # fmt: skip
    job = Job.objects.create(kind=IMPORT, title="Importing", status=Job.Status.DONE)
    trial = Job.objects.create(
        kind=TRIAL, title="Trying", status=Job.Status.DONE,
        payload={
            "trajectory": trajectory.pk, "turn": 1, "role": "rubric_judge", "settings": {},
            "seed": 0, "filler": {"kind": "scripted", "policy": "judge-even"}, "messages": [],
        },
    )  # fmt: skip
    return {
        "message": message.pk,
        "token": "of-no-invite",
        "uidb64": "MQ",
        "pk": study.pk,
        "study_id": study.pk,
        "position": 1,
        "index": 1,
        "run_id": run.pk,
        "agent_id": run.agent_id,
        "experiment_id": Experiment.objects.create(name="Together").pk,
        "dataset_id": run.dataset_id,
        "dataset": run.dataset_id,
        "task_id": trajectory.task_id,
        "trajectory_id": trajectory.pk,
        "ask_id": ask.pk,
        "endpoint_id": endpoint.pk,
        "clustering_id": clustering.pk,
        "question_id": question.pk,
        "job_id": job.pk,
        "import_id": Job.objects.create(kind=DATASET, title="Importing", status=Job.Status.DONE).pk,
        "trial_id": trial.pk,
        "invite_id": invite.pk,
        "link_id": link.pk,
        "recruit_id": Recruit.objects.create(link=link, study=study, external_id="p1").pk,
        "key": "adaplanbench",
        "ending": "csv",
        "name": "safety",
        "number": 1,
        "rank": 1,
        "called": "ten_questions",
        "version": 1,
        "part": "none-of-this-name",
        "moved": "effects",
        "rest": "details/",
        "item_part": "main",
        "session_id": study.pk,
        "page": "decline",
        # The admin's own.
        "object_id": study.created_by_id,
        "id": study.created_by_id,
        "content_type_id": ContentType.objects.get_for_model(User).pk,
        "app_label": "auth",
        "url": "nothing/of/this/name/",
    }
