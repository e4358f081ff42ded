"""Try an endpoint with a few harmless questions in the background."""

import json
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from benchmarks.core.answerers import Answer
from benchmarks.core.digests import storable
from benchmarks.core.errors import AnswererFailed, CoreError, UnreadableReply
from benchmarks.core.types import Ask, Expect, Json, Message
from benchmarks.endpoints.services import EndpointError, change_endpoint, endpoint_answerer
from benchmarks.jobs.services import Progress, enqueue_job, job_kind
from benchmarks.llm.config import FAKE_OWNER, EndpointConfig
from benchmarks.llm.connections import open_connection
from benchmarks.llm.endpoint import EndpointAnswerer
from benchmarks.llm.replies import read_json_object
from benchmarks.llm.retries import RetryPolicy
from benchmarks.llm.schemas import object_of
from benchmarks.mappers import endpoint_config
from benchmarks.models import Endpoint, EndpointTrial, Job

logger = logging.getLogger(__name__)

KIND = "endpoint_trial"
# Seconds for one try; runs may wait longer, because nobody watches them.
LONGEST = 120.0
REPORT_SECONDS = 5.0
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
    """Let a worker try an endpoint; the rows to fill are created at once."""
    with transaction.atomic():
        row = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
        if row.retired:
            raise EndpointError(f"{row.title} is retired; bring it back before you try it")
        if row.trials.filter(ok=None, job__status__in=_UNDER_WAY).exists():
            raise EndpointError(f"{row.title} is being tried already")
        asked = questions_for(endpoint_config(row))
        job = enqueue_job(
            kind=KIND,
            title=f"Try {row.title}",
            payload={"endpoint": row.pk},
            total=len(asked),
            created_by=asked_by,
        )
        for question in asked:
            EndpointTrial.objects.create(
                endpoint=row,
                job=job,
                asked_by=asked_by,
                question=question,
                at=timezone.now(),
                currency=row.currency,
            )
    return job


@job_kind(KIND)
def perform_trial(job: Job, progress: Progress) -> None:
    """Ask the questions of a trial that have no answer yet."""
    endpoint = Endpoint.objects.get(pk=job.payload["endpoint"])
    waiting = EndpointTrial.objects.filter(job=job, ok=None).order_by("pk")
    try:
        answerer = endpoint_answerer(
            endpoint, _SCHEMAS, timeout=LONGEST, policy=_POLICY, quotes=True
        )
    except CoreError as error:  # the rules have become stricter since it was made
        waiting.update(ok=False, problem=str(error))
        return
    for done, trial in enumerate(list(waiting), 1):
        _fill(trial, _put(answerer, trial.question, progress))
        progress.report(done=done)
    if answerer.config.address.loopback and not endpoint.simulated and _poses(answerer):
        change_endpoint(endpoint=endpoint, simulated=True)


def _put(answerer: EndpointAnswerer, question: str, progress: Progress) -> Answer | AnswererFailed:
    """Ask one question while the job's lease is renewed; the job can be cancelled."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="trial")
    try:
        future = pool.submit(answerer.answer, _ask(question), 0)
        while not wait([future], timeout=REPORT_SECONDS).done:
            progress.report()
        return _result(future)
    finally:
        pool.shutdown(wait=False)


def _result(future: Future[Answer]) -> Answer | AnswererFailed:
    try:
        return future.result()
    except AnswererFailed as error:
        return error
    except Exception as error:  # a bug; the page must not wait for ever
        logger.exception("a trial failed unexpectedly")
        return AnswererFailed(f"unexpected {type(error).__name__}; see the worker's log")


def _ask(question: str) -> Ask:
    messages = (Message("system", _BRIEF), Message("user", QUESTIONS[question]))
    tools: tuple[Json, ...] = (_TOOL,) if question == Q.TOOL else ()
    return Ask("trial", messages, Expect(question), tools=tools)


def _fill(trial: EndpointTrial, answer: Answer | AnswererFailed) -> None:
    """Store the answer, unless another worker has."""
    outcome: dict[str, Any]
    if isinstance(answer, AnswererFailed):
        outcome = {"ok": False, "problem": storable(str(answer)), "tries": answer.tries}
    else:
        problem = _fault(trial.question, answer)
        outcome = {
            "ok": not problem,
            "problem": problem,
            "text": storable(answer.text),
            "reasoning": storable(answer.reasoning),
            "finish": storable(answer.finish)[:40],
            "model_reported": storable(answer.model_reported)[:120],
            "tokens_in": answer.tokens_in,
            "tokens_out": answer.tokens_out,
            "cost": answer.cost,
            "latency": answer.latency,
            "tries": answer.tries,
        }
    EndpointTrial.objects.filter(pk=trial.pk, ok=None).update(at=timezone.now(), **outcome)


def _fault(question: str, answer: Answer) -> str:
    """Describe what is wrong with an answer; "" if it fits the question."""
    if answer.finish == "length":
        return "The reply was cut off: it reached the most tokens that a reply may have."
    if answer.finish == "content_filter":
        return "The reply was stopped by the endpoint's content filter."
    try:
        if question == Q.JSON:
            answered = read_json_object(answer.text)
            missing = [key for key in ("city", "country") if not isinstance(answered.get(key), str)]
            return f"The JSON has no text under {' and '.join(missing)}." if missing else ""
        if question == Q.TOOL:
            calls: Sequence[Any] = read_json_object(answer.text).get("tool_calls") or ()
            return "" if calls else "It answered in words and called no tool."
    except UnreadableReply as error:
        return f"The reply is not the JSON that was asked for: {error}"
    return "" if answer.text.strip() else "The reply is empty."


def _poses(answerer: EndpointAnswerer) -> bool:
    """Return whether this is PlanJury's own fake endpoint, by its list of models."""
    try:
        client = open_connection(answerer.config, answerer.hosts).client
        listed = json.loads(client.send("GET", "/models", 5.0).content)
        return {row["owned_by"] for row in listed["data"]} == {FAKE_OWNER}
    except Exception:  # whatever it is that answers there, it is not ours
        return False
