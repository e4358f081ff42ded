"""Whoever annotates blind learns nowhere who made an item: every address is asked, whatever else
they may do, and after their last item the same addresses tell it again.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from django.contrib.auth.models import User
from django.http.request import HttpHeaders
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from analysis.filters import Filters
from analysis.models import FailureClustering, Paper, PaperPart, SavedView
from analysis.pages.catalogue import PAGES, select
from analysis.pages.reports import make_report, report_key
from analysis.papers.services import latest_version
from annotation.desk.services import skip_assignment
from annotation.live.control.services import end_session
from benchmarks.models import Agent, Dataset, Endpoint, Experiment, Job, OpenAsk, Run, Trajectory
from benchmarks.visibility import Visibility
from tests.annotation.rows import make_person
from tests.benchmarks.api.conftest import bearer
from tests.contracts.blinded_world import ANIMALS, IDS, MARKS, World, make_world

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

# Leave by an address, or read files that are the same for all.
SKIP = re.compile(r"^/(accounts/logout|static)")
# The tabs of the analysis pages lead to one another, under every filter.
TABS = {f"/analysis/{page.address}" for page in PAGES.values()}
# What depends on who asks, and not on their rights alone.
OWN = re.compile(r"^/(studies/|sessions/|account/|demo/|$)")
# Where no browser prints figures, their addresses say so.
NO_CHROMIUM = 501
# Of links that differ in numbers or filters only.
PER_SHAPE = 1
EXTRA = {
    "/api/v1/scores": "run={run}",
    "/api/v1/scores.csv": "trajectory={trajectory}",
    "/api/v1/turns": "run={run}",
    "/api/v1/runs/N/export": "format=huggingface",
    "/runs/N/export/": "format=huggingface",
    "/experiments/N/export/": "format=huggingface",
    "/trajectories/export/": "format=huggingface",
    "/trajectories/N/export/": "format=huggingface",
    "/compare/": "t={trajectory}",
    "/compare/runs/": "a={run}",
    "/endpoints/new/": "copy={endpoint}",
    "/runs/": "agent={agent}",
    "/studies/N/export/file/": "format=json",
    "/trajectories/": "run={run}",
    "/asks/": "run={run}",
}


@pytest.fixture
def world(db: None) -> World:
    return make_world()


def enter(user: User) -> Client:
    """A browser with a session that also sends a token, for pages and API alike."""
    client = Client(headers=bearer(user))
    client.force_login(user)
    return client


# Random letters, which may spell anything.
TOKENS = re.compile(r'name="csrfmiddlewaretoken" value="\w+"|"X-CSRFToken": "\w+"')


def told(answer: Any) -> str:
    """Everything that reaches the other side, without the tokens of its forms."""
    body = b"".join(answer) if answer.streaming else answer.content
    headers = " ".join(f"{name}: {value}" for name, value in answer.headers.items())
    return TOKENS.sub("", f"{headers} {body.decode(errors='replace')}")


def patterns(resolver: URLResolver, before: str = "") -> Iterator[str]:
    """Every address of the site, with its parameters as ``<name>``."""
    for entry in resolver.url_patterns:
        route = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from patterns(entry, route)
        else:
            assert isinstance(entry, URLPattern)
            route = re.sub(r"\(\?P<(\w+)>[^)]*\)", r"<\1>", route)
            yield "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"<\1>", re.sub(r"[\^$\\]", "", route))


def _clustering(rows: Any) -> FailureClustering:
    """Clusters of one trajectory of each kind, the hidden ones too."""
    endpoint = Endpoint.objects.first()
    if endpoint is None:
        endpoint = Endpoint.objects.create(
            name="local", title="Local", base_url="http://127.0.0.1:9/v1", model="m"
        )
    ids = list(rows.values_list("pk", flat=True)[:50])
    notes = {str(pk): {"cause": "c", "turn": 1, "quote": "", "quoted": False} for pk in ids}
    named = [{"name": "One cause", "description": "", "members": ids}]
    return FailureClustering.objects.create(
        trajectories=ids, endpoint=endpoint, version="0", episode_version="1", most_clusters=8,
        token_cap=1, state="done", result={"notes": notes, "clusters": named, "unread": []},
    )  # fmt: skip


def _question(rows: Any) -> FailureClustering:
    """A question about one trajectory of each kind, the hidden ones too."""
    clusters = _clustering(rows)
    clusters.question, clusters.part = "ends politely", len(clusters.trajectories)
    given = {"answer": "yes", "said": "yes", "quote": "a", "turn": 1, "reason": ""}
    clusters.result = {"answers": {str(pk): given for pk in clusters.trajectories}}
    clusters.save()
    return clusters


def values(world: World) -> dict[str, list[Any]]:
    """Return values for addresses: one of everything that there is, in a study and not."""

    def ids(rows: Any) -> list[Any]:
        return list(rows.values_list("pk", flat=True))

    runs = list(Run.objects.order_by("dataset", "pk"))
    kinds = {(run.dataset_id, run.agent.name.partition("-")[0]): run.pk for run in runs}
    rows = Trajectory.objects.filter(run__in=kinds.values()).order_by("-pk")
    by_run = {(row.run_id, row.status): row for row in rows}
    return {
        "run_id": list(kinds.values()),
        "trajectory_id": [row.pk for row in by_run.values()],
        "dataset_id": ids(Dataset.objects.all()),
        "dataset": ids(Dataset.objects.all()),
        "task_id": sorted({row.task_id for row in by_run.values()}),
        "agent_id": ids(Agent.objects.all()),
        "endpoint_id": ids(Endpoint.objects.all()),
        "clustering_id": [_clustering(rows).pk],
        "question_id": [_question(rows).pk],
        "experiment_id": ids(Experiment.objects.all()),
        "ask_id": ids(OpenAsk.objects.all()),
        "ask": ids(OpenAsk.objects.all()),
        "job_id": ids(Job.objects.all()),
        "study_id": [study.pk for study in (*world.studies, world.live.study)],
        # Of studies, and of the session.
        "pk": [*(study.pk for study in (*world.studies, world.live.study)), world.live.pk],
        "position": [1, 2],
        "index": [1, 2],
        "number": [1, 2],
        "rank": [1, 2],
        "invite_id": [1],
        "link_id": [1],
        "recruit_id": [1],
        "key": ["adaplanbench"],
        "called": ["ten_questions"],
        "version": [1],
        "ending": ["csv"],
        "name": ["safety"],
        "token": ["of-no-invite"],
        "message": [1],
        # Framework: administration and accounts.
        "object_id": [world.ann.pk],
        "content_type_id": [1],
        "app_label": ["annotation", "auth"],
        "url": ["nowhere"],
        "id": [world.ann.pk],
        "uidb36": ["x"],
        "uidb64": ["x"],
        "extra_path": [""],
        "token_id": [1],
        "view_id": ids(SavedView.objects.all()),
        "paper_id": ids(Paper.objects.all()),
        "registration_id": [1],
        "block_id": [
            row["id"] for one in Paper.objects.all() for row in latest_version(one).blocks
        ],
        "digest": list(PaperPart.objects.values_list("digest", flat=True)),
        "source_kind": ["page", "dataset", "trajectory"],
        "source_name": ["leaderboard", *(str(row.pk) for row in by_run.values())],
        "table_id": [1],
        "import_id": ids(Job.objects.all()),
        "put_id": [1],
        "trial_id": [1],
        "note_id": [1],
        "label_key": ["format_error"],
        "set_key": ["mast"],
        # Parts of analysis pages come from their links.
        "part": ["board"],
        "moved": ["effects"],
        "rest": ["details/"],
        "path": [""],
        "item_part": ["main"],
        "session_id": [world.live.pk],
        "page": list(PAGES),
    }


def addresses(world: World) -> set[str]:
    """Every address of the resolver, for every object; an unknown parameter is an error here."""
    found, known = set(), values(world)
    for pattern in patterns(get_resolver()):
        filled = [pattern]
        for name in re.findall(r"<(\w+)>", pattern):
            assert name in known, f"{pattern}: say in values() what {name} may be"
            filled = [
                path.replace(f"<{name}>", str(value)) for path in filled for value in known[name]
            ]
        found.update(path for path in filled if not SKIP.match(path))
    return found | set(with_queries(found))


def with_queries(found: set[str]) -> Iterator[str]:
    run, endpoint = Run.objects.order_by("pk")[0], Endpoint.objects.order_by("pk")[0]
    row = run.trajectories.order_by("pk")[0]
    ids = {"run": run.pk, "trajectory": row.pk, "endpoint": endpoint.pk, "agent": run.agent_id}
    for path in found:
        if query := EXTRA.get(kind(path)):
            yield f"{path}?{query.format(**ids)}"


class Links(HTMLParser):
    """The links of a page, and what it loads by script."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [
            value for name, value in attrs if name in ("href", "data-src", "hx-get") and value
        ]


def links_of(pages: dict[str, str]) -> set[str]:
    """Return what these pages link to, a few of each shape."""
    shapes: dict[str, int] = {}
    found = set()
    for page, text in sorted(pages.items()):
        parser = Links()
        parser.feed(text.partition("<")[2])
        for link in parser.found:
            there = urlsplit(urljoin(page, link))
            path = there.path + (f"?{there.query}" if there.query else "")
            if there.netloc or there.scheme or path in pages or path in found or SKIP.match(path):
                continue
            if MARKS.search(unquote(path)):  # who asks in these words knows them already
                continue
            if there.path.startswith("/admin/") or there.path.rstrip("/") in TABS:
                continue
            shape = re.sub(r"\d+", "N", there.path) + "?" + re.sub(r"=[^&]*", "", there.query)
            shapes[shape] = shapes.get(shape, 0) + 1
            if shapes[shape] <= PER_SHAPE:
                found.add(path)
    return found


def read(client: Client, paths: set[str], **headers: str) -> dict[str, str]:
    """Return what each address answers."""
    found = {}
    for path in sorted(paths):
        answer = client.get(path, headers=headers)
        assert answer.status_code < 500 or answer.status_code == NO_CHROMIUM, path
        found[path] = told(answer)
    return found


def read_with_parts(client: Client, paths: set[str]) -> dict[str, str]:
    """Return what each address answers, and what it answers a script that asks for a part.

    Only an answer that looked for the header by which scripts say so can be another with it.
    """
    found, looked_for = {}, set[str]()
    look_up = HttpHeaders.__getitem__

    def noting(headers: HttpHeaders, name: str) -> str:
        looked_for.add(name.lower())
        return look_up(headers, name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HttpHeaders, "__getitem__", noting)
        for path in sorted(paths):
            looked_for.clear()
            found |= read(client, {path})
            if "hx-request" in looked_for:
                part = read(client, {path}, **{"HX-Request": "true"})
                found[f"{path} (part)"] = part[path]
    return found


def kind(path: str) -> str:
    """An address without its numbers and its query."""
    return re.sub(r"(?<=/)\d+(?=/|$)", "N", urlsplit(path).path)


@pytest.mark.slow
@pytest.mark.usefixtures("small_drawings")
def test_no_address_tells_who_annotates_blind_who_made_an_item(world: World) -> None:
    every = addresses(world)
    shown = read(enter(world.root), every)
    shown |= read(enter(world.root), links_of(shown))
    tell = {path for path, text in shown.items() if MARKS.search(text)}
    kinds = {kind(path) for path in tell}
    # So the search below looks where there is something to be found.
    assert {
        "/", "/runs/", "/runs/N/", "/runs/N/progress/", "/runs/new/", "/trajectories/",
        "/trajectories/N/", "/trajectories/N/exchanges/", "/compare/", "/compare/runs/",
        "/agents/", "/endpoints/",
        "/endpoints/N/", "/endpoints/N/edit/", "/endpoints/new/", "/datasets/", "/datasets/N/",
        "/tasks/N/", "/asks/N/", "/trajectories/import/", "/trajectories/import/N/",
        "/studies/N/design/", "/studies/N/export/file/", "/studies/new/", "/record/",
        "/api/v1/studies/N/study.json", "/api/v1/runs", "/api/v1/runs/N/export",
        "/api/v1/scores.csv", "/api/v1/imports",
        "/sessions/N/watch/", "/sessions/N/control/", "/sessions/monitor/", "/studies/N/sessions/",
        "/api/v1/studies/N/ratings.csv", *SHOWN_BY_ANALYSIS,
    } <= kinds  # fmt: skip
    assert any(path.endswith(".json") for path in kinds) and any(
        path.startswith("/analysis/") and path.endswith(".csv") for path in kinds
    )

    ann = enter(world.ann)
    asked = {path for path in shown if path in tell or OWN.match(path)}
    hidden = read_with_parts(ann, asked)
    assert sum(path.endswith(" (part)") for path in hidden) > 20
    leaks = {path: found[0] for path, text in hidden.items() if (found := MARKS.search(text))}
    assert not leaks
    # It is not that nothing is shown: what is no part of a study is there, and so is the reason.
    for path in ("/runs/", "/agents/", "/trajectories/", "/analysis/leaderboard/"):
        assert "Lion-Agent" in hidden[path], path
        assert "runs are closed to you while you annotate blind" in hidden[path], path
        assert hidden[path].count("1 session of <a") == 1, path
        assert "2 items of <a" in hidden[path], path

    for study in world.studies:
        for item in study.assignments.filter(annotator=world.ann):
            skip_assignment(assignment=item, by=world.ann, reason="Enough of them.")
    end_session(session=world.live, by=world.root)
    # By name: a number like the secret one may stand anywhere by chance.
    named = re.compile("|".join(ANIMALS), re.IGNORECASE)
    naming = {kind(path): path for path in sorted(tell) if named.search(shown[path])}
    # Pages about another system name whichever dataset they come to first, and people differ in it.
    naming = {
        name: path
        for name, path in naming.items()
        if not name.startswith(ELSEWHERE) or name.startswith(PARTS)
    }
    again = read(ann, set(naming.values()))
    silent = {path for path, text in again.items() if not named.search(text)}
    # These name what is under way, and nothing is any more.
    assert {kind(path) for path in silent} <= {"/sessions/", "/sessions/monitor/"}


# Conditions and tools are about another system; verdicts about recorded answers with verdicts;
# simulated users about users that several people played.
NOT_HERE = {"conditions", "simulated-users", "tools", "verdicts"}
SHOWN_BY_ANALYSIS = {
    f"/analysis/{page.address}/" for name, page in PAGES.items() if name not in NOT_HERE
}
ELSEWHERE = tuple(f"/analysis/{PAGES[name].address}/" for name in NOT_HERE)
# Parts of such a page that are about this system, too.
PARTS = tuple(path for path in SHOWN_BY_ANALYSIS if path.startswith(ELSEWHERE))


def test_a_desk_carries_no_id_of_what_could_be_looked_up(world: World) -> None:
    client = enter(world.ann)
    played = told(client.get(f"/sessions/{world.live.pk}/"))
    assert "What do you say?" in played and not IDS.search(played)
    for study in world.studies:
        for position in (1, 2):
            url = f"/studies/{study.pk}/annotate/{position}/"
            body = {"edits": [{"id": "0", "question": "safety", "value": 3}]}
            texts = [told(client.get(url))]
            for path in ("answers/", "submit/"):
                texts.append(told(client.post(url + path, body, content_type="application/json")))
            assert "data-desk" in texts[0]
            for text in texts:
                assert not IDS.search(text), IDS.findall(text)
                assert "ETag" not in text and "/trajectories/" not in text.replace(
                    "/trajectories/?", ""
                )


def test_exports_hold_ones_own_answers_alone(world: World) -> None:
    plans = world.studies[0]
    file = f"/studies/{plans.pk}/export/file/?names=on&format="
    paths = [file + name for name in ("csv", "history", "json", "parquet")]
    file = f"/api/v1/studies/{plans.pk}/"
    paths += [f"{file}{name}?names=true" for name in ("ratings.csv", "history.csv", "study.json")]
    for path in paths:
        assert "bob" in told(enter(world.root).get(path)), path
        blind = told(enter(world.ann).get(path))
        assert "bob" not in blind and not IDS.search(blind), path
        assert "question" in blind, path


def test_a_kept_report_is_not_given_to_others(world: World) -> None:
    figures = links_of(
        {"/analysis/decline/rubric/": told(enter(world.root).get("/analysis/decline/rubric/"))}
    )
    (shown, *_) = sorted(path for path in figures if ".json" in path)
    # The page names the state that it shows, which is refused to those who see other runs.
    path = shown.partition("?state=")[0].partition("&state=")[0]
    tag = enter(world.root).get(shown)["ETag"]
    assert enter(world.ann).get(shown, headers={"If-None-Match": tag}).status_code == 409
    for first, second in ((world.root, world.ann), (world.ann, world.root)):
        tag = enter(first).get(path)["ETag"]
        other = enter(second).get(path, headers={"If-None-Match": tag})
        assert other.status_code == 200 and other["ETag"] != tag
    assert enter(world.ann).get(path, headers={"If-None-Match": tag}).status_code == 304


def test_nothing_open_and_nothing_there_are_two_reports(world: World) -> None:
    page = PAGES["leaderboard"]
    closed = Visibility(world.ann, Run.objects.values_list("pk", flat=True))
    shut = select(page, Filters(), world.ann, closed)
    empty = replace(shut, closed=frozenset())
    assert report_key(page, shut) != report_key(page, empty)
    titles = [
        report.empty.title
        for selection in (shut, empty)
        if (report := make_report(page, selection, report_key(page, selection))).empty
    ]
    assert titles == ["Nothing is open to you here", "No runs yet"]


def plain(answer: Any) -> str:
    """A page without its number and the id of its request."""
    return re.sub(r"\d+", "", re.sub(r"(?i)request-id: \w+", "", told(answer)))


def test_what_is_closed_answers_as_what_is_not_there(world: World) -> None:
    client = enter(world.ann)
    closed, row = Run.objects.order_by("pk")[0], Trajectory.objects.order_by("pk")[0]
    for path, pk in (("/runs/{}/", closed.pk), ("/trajectories/{}/", row.pk),
                     ("/tasks/{}/", row.task_id), ("/api/v1/runs/{}", closed.pk)):  # fmt: skip
        there, nowhere = client.get(path.format(pk)), client.get(path.format(1))
        assert there.status_code == nowhere.status_code == 404
        assert plain(there) == plain(nowhere)
    assert "hidden while you annotate blind" in client.get(f"/runs/{closed.pk}/").content.decode()
    for path in ("pause", "resume", "cancel", "cap"):
        assert client.post(f"/runs/{closed.pk}/{path}/").status_code == 404
    assert client.post(f"/trajectories/{row.pk}/retry/").status_code == 404
    # Nor can what is closed be put into a run of one's own, to see it there.
    wanted = {"dataset": row.task.dataset_id, "agents": ["quagga-agent-8"], "levels": ["mid"]}
    for change in ({}, {"agents": ["lion-agent"], "roles": {"agent": ["endpoint:zebra-endpoint"]}}):
        answer = client.post("/api/v1/runs", wanted | change, content_type="application/json")
        assert answer.status_code == 422, answer.content


def test_an_agent_that_an_open_run_names_is_listed_with_that_run_alone(world: World) -> None:
    agent = Agent.objects.get(name="quagga-agent-8")
    other = Dataset.objects.create(system="adaplanbench", name="Other", checksum="other")
    Run.objects.filter(agent__name="lion-agent").update(agent=agent, dataset=other)
    page = enter(world.ann).get("/agents/").content.decode()
    assert "Quagga agent 8" in page and "Zebra" not in page
    row = page[page.index("Quagga agent 8") :].partition("</tr>")[0]
    assert ">1<" in row


def test_it_costs_one_query_a_request(world: World, django_assert_max_num_queries: Any) -> None:
    calm = make_person("calm", "view_results")
    enter(calm).get("/trajectories/")  # what the list knows is read once, for all
    # What is closed, and its branches, who took over in sessions (twice), and what is left of a
    # further study; the list of runs names those that were detached.
    for user, more in ((calm, 0), (world.ann, 5)):
        client = enter(user)
        for path, most in (("/runs/", 16), ("/trajectories/", 26)):
            with django_assert_max_num_queries(most + more):
                client.get(path)
