"""Failure labels on trajectories, and questions to a model about them, in the HTTP API."""

import json
from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest, QueryDict
from ninja import Query, Router, Schema, Status
from pydantic import Field

from analysis.browser.clusters.services import start_clustering
from analysis.browser.groups.failure_groups import choose, read_group_options
from analysis.browser.questions.views import question_wish
from analysis.frames.questions import answered_question, visible
from analysis.models import FailureClustering
from annotation.imports.labels import MOST_ROWS, import_labels
from annotation.models import LabelSet
from annotation.remarks.selectors import set_title, standing_labels
from benchmarks.access import START, VIEW, allow, visibility
from benchmarks.api.auth import user_of
from benchmarks.api.errors import ApiError, refusals
from benchmarks.api.requests import LARGEST_ID, Id, Paged, PageOut, Strict, one_page
from benchmarks.models import Endpoint, Trajectory


class LabelQuery(Paged):
    """Which labels are wanted."""

    trajectory: Id | None = None
    set: str = Field("", max_length=20, description="The key of a label set, such as `mast`.")
    label: str = Field("", max_length=60, description="The key of a label.")


class PutLabelOut(Schema):
    """A label that is on a trajectory, or on one of its turns."""

    id: int
    trajectory: int
    turn: int | None
    label: str
    title: str
    group: str = Field(description="Its set and heading, or the system that it belongs to.")
    who: str
    at: datetime
    note: str


router = Router(tags=["Labels"])


@router.get("/failure-labels", response={200: PageOut[PutLabelOut], **refusals()})
def list_failure_labels(request: HttpRequest, query: Query[LabelQuery]) -> dict[str, Any]:
    """List the failure labels on trajectories that you may see."""
    allow(request, VIEW)
    seen = visibility(request)
    rows = standing_labels().select_related("label__label_set", "label__parent", "by")
    if seen.closed:
        rows = rows.filter(trajectory__in=seen.of(Trajectory.objects.all()))
    for name, value in (
        ("trajectory", query.trajectory),
        ("label__label_set__key", query.set),
        ("label__key", query.label),
    ):
        if value:
            rows = rows.filter(**{name: value})
    page, following = one_page(request, rows, query.limit)
    items = [
        {
            "id": put.pk,
            "trajectory": put.trajectory_id,
            "turn": put.turn,
            "label": put.label.key,
            "title": put.label.title,
            "group": set_title(put.label),
            "who": put.by.get_username(),
            "at": put.at,
            "note": put.note,
        }
        for put in page.rows
    ]
    return {"items": items, "next": following}


class LabelIn(Strict):
    """A label that somebody put: on a trajectory, or on one of its turns."""

    trajectory: Id
    label: str = Field(description="Key or title of a label of the set.")
    who: str = Field(description="Your name, or that of somebody without an account here.")
    turn: Id | None = None
    note: str = ""


class LabelsIn(Strict):
    """Labels of one set, stored all or none."""

    set: str = Field(description="The key of a label set.")
    labels: list[LabelIn] = Field(min_length=1, max_length=MOST_ROWS)


class LabelsAdded(Schema):
    """How many of the labels are new; the others were there already."""

    added: int


@router.post("/failure-labels", response={200: LabelsAdded, **refusals(400, 404, 413)})
def put_failure_labels(request: HttpRequest, given: LabelsIn) -> dict[str, int]:
    """Import labels that people put elsewhere; repeating the request adds nothing."""
    allow(request, VIEW)
    allow(request, START)
    if not LabelSet.objects.filter(key=given.set).exists():
        raise ApiError(404, f"There is no label set {given.set!r}.", "set")
    lines = "\n".join(json.dumps(label.model_dump()) for label in given.labels)
    added = import_labels(
        name="labels", raw=lines.encode(), set_key=given.set, by=user_of(request),
        seen=visibility(request),
    )  # fmt: skip
    return {"added": added}


# --- Questions to a model ----------------------------------------------------------------------


class QuestionIn(Strict):
    """A question about the failures of a list, under a cap."""

    question: str = Field(
        pattern=r"\S", description="A statement that holds of a trajectory or not."
    )
    trajectories: str = Field("", max_length=2000, description="The query of a list: `run=4`.")
    endpoint: str = Field(description="The name of an endpoint.")
    part: int = Field(40, ge=1, description="So many are asked about, drawn by the seed.")
    seed: int = Field(0, ge=0, le=2**31 - 1)
    token_cap: int | None = Field(None, ge=1)
    cost_cap: float | None = Field(None, ge=0)


class RateOut(Schema):
    """A share with its 95 % interval; trajectories of one task are one cluster."""

    value: float | None
    low: float | None
    high: float | None
    of: int


class QuestionOut(Schema):
    """A question, how far it is, and how right the model is by people's blind answers."""

    id: int
    question: str
    trajectories: str = Field(description="The query of the list that it is about.")
    endpoint: str
    state: str
    problem: str
    part: int
    population: int
    seed: int
    created_at: datetime
    checked: int
    usable: bool = Field(description="Whether its answers are counted in analysis.")
    missing: str
    precision: RateOut
    recall: RateOut
    accuracy: RateOut


class AnswerOut(Schema):
    """The model's answer on one trajectory: null where it is undefined."""

    trajectory: int
    answer: str | None
    quote: str
    turn: int | None
    reason: str


def _question_row(row: FailureClustering) -> dict[str, Any]:
    answered = answered_question(row)
    rates = {}
    for name in ("precision", "recall", "accuracy"):
        rate = getattr(answered.quality, name)
        interval = rate.clustered.interval
        rates[name] = {
            "value": rate.clustered.value, "of": rate.of,
            "low": interval and interval.low, "high": interval and interval.high,
        }  # fmt: skip
    return {
        "id": row.pk, "question": row.question, "trajectories": row.query,
        "endpoint": row.endpoint.name, "state": row.state, "problem": row.problem,
        "part": row.part or 0, "population": len(row.trajectories), "seed": row.seed,
        "created_at": row.created_at, "checked": len(answered.people),
        "usable": answered.usable, "missing": answered.missing, **rates,
    }  # fmt: skip


def _fetch_question(request: HttpRequest, question_id: int) -> FailureClustering:
    allow(request, VIEW)
    rows = FailureClustering.objects.exclude(question="").select_related("endpoint")
    row = rows.filter(pk=question_id).first() if question_id <= LARGEST_ID else None
    if row is None or not visible(row, visibility(request)):
        raise Http404("There is no such question.")
    return row


@router.get("/questions", response={200: PageOut[QuestionOut], **refusals()})
def list_questions(request: HttpRequest, query: Query[Paged]) -> dict[str, Any]:
    """List the questions that a model was asked about trajectories that you may see."""
    allow(request, VIEW)
    rows = FailureClustering.objects.exclude(question="").select_related("endpoint")
    page, following = one_page(request, rows, query.limit)
    seen = visibility(request)
    items = [_question_row(row) for row in page.rows if visible(row, seen)]
    return {"items": items, "next": following}


@router.post("/questions", response={201: QuestionOut, **refusals(400, 404, 413)})
def start_question(request: HttpRequest, given: QuestionIn) -> Status[Any]:
    """Have a model asked about a random part of a list's failures."""
    # Arrays are slow to import: not when the server starts.
    from analysis.trajectory_index.listing import listing

    allow(request, START)
    allow(request, VIEW)
    seen, params = visibility(request), QueryDict(given.trajectories, mutable=True)
    params["seed"] = str(given.seed)
    endpoint = seen.of(Endpoint.objects.filter(name=given.endpoint)).first()
    if endpoint is None:
        raise ApiError(404, f"There is no endpoint {given.endpoint!r}.", "endpoint")
    options = read_group_options(params)
    if options.problems:
        raise ApiError(422, " ".join(options.problems), "trajectories")
    chosen = choose(listing(QueryDict(options.query), seen), options)
    row = start_clustering(
        query=options.query, endpoint=endpoint, seed=options.seed, created_by=user_of(request),
        cost_cap=given.cost_cap, token_cap=given.token_cap,
        **question_wish(options, chosen.ids, given.model_dump()),
    )  # fmt: skip
    return Status(201, _question_row(row))


@router.get("/questions/{int:question_id}", response={200: QuestionOut, **refusals(404)})
def get_question(request: HttpRequest, question_id: int) -> dict[str, Any]:
    """Return a question with precision and recall against people's answers."""
    return _question_row(_fetch_question(request, question_id))


@router.get(
    "/questions/{int:question_id}/answers", response={200: list[AnswerOut], **refusals(404, 409)}
)
def list_question_answers(request: HttpRequest, question_id: int) -> list[dict[str, Any]]:
    """List the model's answers, once you have looked at them on the question's page: whoever has
    seen them checks no more.
    """
    row = _fetch_question(request, question_id)
    if not row.checks.filter(by=user_of(request), trajectory=None).exists():
        raise ApiError(409, "Press *Show all answers* on the question's page first.")
    answers = (row.result or {}).get("answers", {})
    return [
        {
            "trajectory": int(pk),
            **{name: one[name] for name in ("answer", "quote", "turn", "reason")},
        }
        for pk, one in answers.items()
    ]
