"""Try an endpoint with a few harmless questions in the background."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from benchmarks.calls.trials import RefusingAnswerer, TrialLog
from benchmarks.core.answerers import Answer, Answerer, Identity
from benchmarks.core.driver import read_answer
from benchmarks.core.errors import AnswererFailed, CoreError, UnreadableReply
from benchmarks.core.log import CallResult
from benchmarks.core.types import Ask, Expect, Json, Message
from benchmarks.endpoints.services import EndpointError, change_endpoint, endpoint_answerer
from benchmarks.jobs.services import Progress, enqueue_job, job_kind, keep_lease
from benchmarks.llm.config import FAKE_OWNER, EndpointConfig
from benchmarks.llm.connections import open_connection
from benchmarks.llm.endpoint import EndpointAnswerer
from benchmarks.llm.replies import read_json_object
from benchmarks.llm.retries import RetryPolicy
from benchmarks.llm.schemas import object_of
from benchmarks.mappers import endpoint_config
from benchmarks.models import Endpoint, EndpointTrial, Job

KIND = "endpoint_trial"
# Seconds for one try; runs may wait longer, because nobody watches them.
LONGEST = 120.0
_POLICY = RetryPolicy(tries=2, base=0.5, longest=2.0, patience=5.0, total=LONGEST + 10)
_UNDER_WAY = (Job.Status.QUEUED, Job.Status.RUNNING)

Q = EndpointTrial.Question
_BRIEF = "This is a test of the connection. Answer briefly."
QUESTIONS: Mapping[str, str] = {
    Q.WORDS: "What is the capital of France? Reply with one short sentence.",
    Q.JSON: 'What is the capital of France? Reply with one JSON object with the keys "city" and '
    '"country", both texts, and nothing else.',
    Q.TOOL: "What is the weather in Paris? Call the function that finds out.",
}
_TOOL: Json = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Finds out what the weather is like in a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}
_TEXT = {"type": "string"}
_SCHEMAS = {Q.JSON.value: lambda params: object_of({"city": _TEXT, "country": _TEXT})}


def questions_for(config: EndpointConfig) -> list[str]:
    """Return the questions for an endpoint: one in words, and one for each declared ability."""
    asked = [Q.WORDS.value]
    asked += [Q.JSON.value] * (config.structured != "none")
    return asked + [Q.TOOL.value] * config.native_tools


def start_trial(*, endpoint: Endpoint, asked_by: User | None = None) -> Job:
    """Let a worker try an endpoint."""
    with transaction.atomic():
        row = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
        if row.retired:
            raise EndpointError(f"{row.title} is retired; bring it back before you try it")
        if is_under_way(latest_trial(row)):
            raise EndpointError(f"{row.title} is being tried already")
        return enqueue_job(
            kind=KIND,
            title=f"Try {row.title}",
            payload={"endpoint": row.pk},
            total=len(questions_for(endpoint_config(row))),
            created_by=asked_by,
        )


def latest_trial(endpoint: Endpoint) -> Job | None:
    """Return the job of the last trial of an endpoint."""
    jobs = Job.objects.filter(kind=KIND, payload__endpoint=endpoint.pk)
    return jobs.order_by("-pk").first()


def is_under_way(trial: Job | None) -> bool:
    """Return whether a worker has a trial or will have it."""
    return trial is not None and trial.status in _UNDER_WAY


@job_kind(KIND)
def perform_trial(job: Job, progress: Progress) -> None:
    """Ask the questions of a trial that have no answer yet."""
    endpoint = Endpoint.objects.get(pk=job.payload["endpoint"])
    log = TrialLog(
        EndpointTrial,
        job,
        endpoint=endpoint,
        asked_by=job.created_by,
        currency=endpoint.currency,
    )
    answerer = _answerer(endpoint)
    with keep_lease(progress):
        for slot, question in enumerate(questions_for(endpoint_config(endpoint))):
            log.put(slot, _ask(question), answerer, _read)
            progress.report(done=slot + 1)
    if isinstance(answerer, EndpointAnswerer) and not endpoint.simulated and _poses(answerer):
        change_endpoint(endpoint=endpoint, simulated=True)


def _answerer(endpoint: Endpoint) -> Answerer:
    try:
        return endpoint_answerer(endpoint, _SCHEMAS, timeout=LONGEST, policy=_POLICY, quotes=True)
    except CoreError as error:  # the rules have become stricter since it was made
        return RefusingAnswerer(Identity("endpoint", endpoint.name, ""), str(error))


def _ask(question: str) -> Ask:
    messages = (Message("system", _BRIEF), Message("user", QUESTIONS[question]))
    tools: tuple[Json, ...] = (_TOOL,) if question == Q.TOOL else ()
    return Ask(question, messages, Expect(question), tools=tools)


def _read(ask: Ask, answer: Answer | AnswererFailed) -> CallResult:
    """Return what an answer comes to; one that was cut off or stopped is none."""
    verdict = read_answer(ask, answer, _PARSERS)
    fault = _FAULTS.get(verdict.answer.finish)
    return CallResult("unreadable", verdict.answer, reason=fault) if fault else verdict


def _read_words(text: str, params: Json) -> str:
    if not text.strip():
        raise UnreadableReply("The reply is empty.")
    return text


def _read_json(text: str, params: Json) -> dict[str, Any]:
    answered = _json_object(text)
    missing = [key for key in ("city", "country") if not isinstance(answered.get(key), str)]
    if missing:
        raise UnreadableReply(f"The JSON has no text under {' and '.join(missing)}.")
    return answered


def _read_tool(text: str, params: Json) -> Any:
    calls = _json_object(text).get("tool_calls")
    if not calls:
        raise UnreadableReply("It answered in words and called no tool.")
    return calls


def _json_object(text: str) -> dict[str, Any]:
    try:
        return dict(read_json_object(text))
    except UnreadableReply as error:
        raise UnreadableReply(f"The reply is not the JSON that was asked for: {error}") from None


_PARSERS: Mapping[str, Callable[[str, Json], Any]] = {
    Q.WORDS: _read_words,
    Q.JSON: _read_json,
    Q.TOOL: _read_tool,
}
_FAULTS = {
    "length": "The reply was cut off: it reached the most tokens that a reply may have.",
    "content_filter": "The reply was stopped by the endpoint's content filter.",
}


def _poses(answerer: EndpointAnswerer) -> bool:
    """Return whether this is PlanJury's own fake endpoint, by its list of models."""
    if not answerer.config.address.loopback:
        return False
    try:
        client = open_connection(answerer.config, answerer.hosts).client
        listed = json.loads(client.send("GET", "/models", 5.0).content)
        return {row["owned_by"] for row in listed["data"]} == {FAKE_OWNER}
    except Exception:  # whatever it is that answers there, it is not ours
        return False
