"""Have a model name clusters of failures in the background, and take people's edits of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from analysis.browser.clusters import episode as protocol
from analysis.browser.clusters.edits import (
    MERGE,
    MOVE,
    RENAME,
    SPLIT,
    UNDO,
    Edit,
    EditRefused,
    apply,
    current_clusters,
    last_edit,
)
from analysis.browser.clusters.episode import FailureText
from analysis.browser.clusters.log import ClusterLog
from analysis.browser.questions import episode as questions
from analysis.browser.questions.texts import question_texts
from analysis.models import ClusterEdit, FailureClustering
from benchmarks.calls.log import LeaseLost
from benchmarks.core.answerers import Answer, Answerer, Cast
from benchmarks.core.digests import derive_seed
from benchmarks.core.driver import Capped, Driver, Failed, Finished, Stopped
from benchmarks.core.errors import AnswererFailed, CoreError
from benchmarks.core.registry import find_system
from benchmarks.core.types import Ask, Episode
from benchmarks.endpoints.services import check_cap, check_use, endpoint_answerer
from benchmarks.jobs.services import JobCancelled, Progress, enqueue_job, job_kind, keep_lease
from benchmarks.jobs.threads import CallThreads
from benchmarks.llm.endpoint import estimate_tokens
from benchmarks.mappers import endpoint_config
from benchmarks.models import Endpoint, Job, Trajectory, Turn

KIND = "failure-clusters"
FEWEST, MOST_FAILURES = 4, 200
FEWEST_CLUSTERS, MOST_CLUSTERS = 2, 12
LARGEST_TOKEN_CAP = 100_000_000
LONGEST_QUESTION, MOST_ASKED = 300, 1000
State = FailureClustering.State
# What a model reads of a failure: its last turns, in at most so many signs.
LAST_TURNS = 3
MOST_TASK, MOST_PLAN, MOST_FEEDBACK = 400, 900, 600
CHUNK = 200


class ClusteringError(CoreError):
    """Raised if clusters cannot be named; the text says why."""


def start_clustering(
    *,
    query: str,
    trajectories: Sequence[int],
    endpoint: Endpoint,
    most_clusters: int = 8,
    cost_cap: float | None = None,
    token_cap: int | None = None,
    seed: int = 0,
    created_by: User | None = None,
    question: str = "",
    part: int | None = None,
) -> FailureClustering:
    """Store a clustering and let a worker make it, under a cap on money, on tokens, or both.

    ``trajectories`` are failures that ``created_by`` may see; ``query`` is the list that they are
    from. With a ``question`` the model answers it about the first ``part`` of them in place of
    naming clusters. Raises ``CoreError`` if the endpoint may not be used, or the cap could not be
    enforced.
    """
    if question:
        _check_question(question, part, len(trajectories))
    elif not FEWEST <= len(trajectories) <= MOST_FAILURES:
        raise ClusteringError(
            f"a model groups {FEWEST} to {MOST_FAILURES} failures at once, not {len(trajectories)}"
        )
    if not FEWEST_CLUSTERS <= most_clusters <= MOST_CLUSTERS:
        raise ClusteringError(f"choose {FEWEST_CLUSTERS} to {MOST_CLUSTERS} clusters")
    if endpoint.retired:
        raise ClusteringError(f"{endpoint.title} is retired; choose another endpoint")
    check_use([endpoint], created_by)
    _check_caps(endpoint, cost_cap, token_cap)
    answerer = endpoint_answerer(endpoint, _schemas(question))
    with transaction.atomic():
        clustering = FailureClustering.objects.create(
            query=query,
            trajectories=list(trajectories),
            endpoint=endpoint,
            version=answerer.identity.digest,
            episode_version=questions.VERSION if question else protocol.VERSION,
            question=question,
            part=part,
            most_clusters=most_clusters,
            seed=seed,
            cost_cap=cost_cap,
            token_cap=token_cap,
            currency=endpoint.currency,
            created_by=created_by,
        )
        _enqueue(clustering, created_by)
    return clustering


def resume_clustering(
    *,
    clustering: FailureClustering,
    cost_cap: float | None = None,
    token_cap: int | None = None,
    by: User | None = None,
) -> None:
    """Go on where a clustering stopped, under new caps; stored replies are not asked for again."""
    with transaction.atomic():
        row = FailureClustering.objects.select_for_update().get(pk=clustering.pk)
        if row.state == State.DONE or is_under_way(row):
            raise ClusteringError("these clusters are there already, or under way")
        check_use([row.endpoint], by)
        _check_caps(row.endpoint, cost_cap, token_cap)
        row.cost_cap, row.token_cap, row.state, row.problem = cost_cap, token_cap, "working", ""
        row.save(update_fields=["cost_cap", "token_cap", "state", "problem"])
        _enqueue(row, by)


def ask_more(
    *,
    question: FailureClustering,
    part: int,
    cost_cap: float | None = None,
    token_cap: int | None = None,
    by: User | None = None,
) -> None:
    """Have a question asked about the first ``part`` trajectories, under new caps.

    What is answered is not asked again, and stays if a cap ends the work.
    """
    with transaction.atomic():
        row = FailureClustering.objects.select_for_update().get(pk=question.pk)
        if row.state != State.DONE or row.part is None:
            raise ClusteringError("the first part is not answered yet")
        if part <= row.part:
            raise ClusteringError(f"choose more than the {row.part} that are answered")
        _check_question(row.question, part, len(row.trajectories))
        check_use([row.endpoint], by)
        _check_caps(row.endpoint, cost_cap, token_cap)
        row.cost_cap, row.token_cap, row.state, row.problem = cost_cap, token_cap, "working", ""
        row.part = part
        row.save(update_fields=["cost_cap", "token_cap", "state", "problem", "part"])
        _enqueue(row, by)


def _check_question(question: str, part: int | None, trajectories: int) -> None:
    if len(question) > LONGEST_QUESTION or not question.isprintable():
        raise ClusteringError(f"a question is one line of at most {LONGEST_QUESTION} characters")
    if part is None or not 1 <= part <= min(trajectories, MOST_ASKED):
        most = min(trajectories, MOST_ASKED)
        raise ClusteringError(f"ask about 1 to {most} of the {trajectories} trajectories")


def is_under_way(row: FailureClustering) -> bool:
    """Return whether a worker has a clustering or will have it."""
    return row.job is not None and row.job.status in (Job.Status.QUEUED, Job.Status.RUNNING)


def _check_caps(endpoint: Endpoint, cost_cap: float | None, token_cap: int | None) -> None:
    if cost_cap is None and token_cap is None:
        raise ClusteringError("give a cap on money or on tokens")
    if cost_cap is not None and not 0 < cost_cap < float("inf"):
        raise ClusteringError("the cost cap is an amount above 0")
    if token_cap is not None and not 0 < token_cap <= LARGEST_TOKEN_CAP:
        raise ClusteringError(f"the cap on tokens is a number from 1 to {LARGEST_TOKEN_CAP:,}")
    check_cap(cost_cap, [endpoint])
    config = endpoint_config(endpoint)
    if token_cap is not None and config.max_tokens(config.parameters) is None:
        raise ClusteringError(f"a cap on tokens needs a max_tokens of {endpoint.title}")


def _enqueue(row: FailureClustering, by: User | None) -> None:
    row.job = enqueue_job(
        kind=KIND,
        title="Answer a question on trajectories" if row.question else "Name clusters of failures",
        payload={"clustering": row.pk},
        created_by=by,
    )  # fmt: skip
    row.save(update_fields=["job"])


# --- The job --------------------------------------------------------------------------------------


@job_kind(KIND)
def perform_clustering(job: Job, progress: Progress) -> None:
    """Carry a clustering on from its log; a worker that dies leaves it to the next one."""
    row = FailureClustering.objects.select_related("endpoint").get(pk=job.payload["clustering"])
    if row.state == State.DONE:
        return
    try:
        answerer = endpoint_answerer(row.endpoint, _schemas(row.question))
    except CoreError as error:
        _finish(row, State.FAILED, str(error))
        return
    if answerer.identity.digest != row.version:
        _finish(row, State.FAILED, f"{row.endpoint.title} is not what it was: ask for new clusters")
        return
    with keep_lease(progress) as lost:

        def alive() -> None:
            if lost.is_set():
                raise JobCancelled

        log = ClusterLog(row, lambda ask: _most_tokens(answerer.config, ask), alive)
        try:
            with CallThreads(protocol.TOGETHER, thread_name_prefix="clusters") as threads:
                result = _carry(row, log, answerer, executor=threads)
        except LeaseLost:
            raise JobCancelled from None
    match result:
        case Finished(outcome):
            FailureClustering.objects.filter(pk=row.pk).update(
                state=State.DONE,
                result=outcome.payload,
                problem=outcome.undefined.get("clusters", ""),
            )
        case Capped(reason):
            _finish(row, State.CAPPED, reason)
        case Failed(reason) | Stopped(reason):
            _finish(row, State.FAILED, reason)


def _carry(row: FailureClustering, log: ClusterLog, by: Answerer, **more: Any) -> Any:
    driver = Driver(
        cast=Cast({protocol.ROLE: {"": by}}),
        log=log,
        parsers=questions.PARSERS if row.question else protocol.PARSERS,
        seed_for=lambda step, slot: derive_seed("clusters", row.seed, step, slot),
        **more,
    )
    try:
        return driver.run(_episode(row))
    except (JobCancelled, AnswererFailed):
        raise
    except CoreError as error:  # the stored calls do not belong to the texts as they are now
        return Failed(str(error))


def _schemas(question: str) -> Mapping[str, Any]:
    return questions.SCHEMAS if question else protocol.SCHEMAS


def _episode(row: FailureClustering) -> Episode:
    if row.question:
        return questions.episode(row.question, question_texts(row.trajectories[: row.part]))
    return protocol.episode(failure_texts(row.trajectories), row.most_clusters)


def _finish(row: FailureClustering, state: str, problem: str) -> None:
    FailureClustering.objects.filter(pk=row.pk).update(state=state, problem=problem)


def _most_tokens(config: Any, ask: Ask) -> int | None:
    longest: int | None = config.max_tokens(config.parameters)
    if longest is None:
        return None
    schema = (protocol.SCHEMAS | questions.SCHEMAS)[ask.expect.kind](ask.expect.params)
    return estimate_tokens([{"content": m.text} for m in ask.messages], [schema]) + longest


class _Stored:
    """Stands in for a model where only stored replies may be used."""

    instant = False

    def __init__(self, identity: Any) -> None:
        self.identity = identity

    def answer(self, ask: Ask, seed: int) -> Answer:
        raise AnswererFailed("a reply is not stored")


def recompute(clustering: FailureClustering) -> str:
    """Derive the clusters from the stored replies; return what differs, "" if nothing does."""
    config = endpoint_config(clustering.endpoint)
    log = _ReadOnly(clustering, lambda ask: 0)
    replayed = _carry(clustering, log, _Stored(config.identity))
    if not isinstance(replayed, Finished):
        return getattr(replayed, "reason", "") or "a reply is not stored"
    if replayed.outcome.payload != clustering.result:
        return "the stored replies give other clusters"
    return ""


class _ReadOnly(ClusterLog):
    def record_sent(self, calls: Sequence[Any], settled: Sequence[Any] = ()) -> None:
        raise AnswererFailed("a reply is not stored")


# --- Edits ----------------------------------------------------------------------------------------


def edits_of(clustering: FailureClustering) -> list[Edit]:
    """Return all edits, the oldest first."""
    rows = clustering.edits.order_by("pk").values_list("pk", "kind", "detail")
    return [Edit(*row) for row in rows]


def edit_clusters(
    *, clustering: FailureClustering, kind: str, detail: Mapping[str, Any], by: User
) -> ClusterEdit:
    """Add an edit; raises ``EditRefused`` if it does not fit the clusters as they are now."""
    with transaction.atomic():
        row = FailureClustering.objects.select_for_update().get(pk=clustering.pk)
        if row.result is None:
            raise EditRefused("there are no clusters yet")
        edits = edits_of(row)
        if kind == UNDO:
            last = last_edit(edits)
            if last is None:
                raise EditRefused("there is nothing to undo")
            return ClusterEdit.objects.create(
                clustering=row, kind=UNDO, detail={"edit": last.pk}, by=by
            )
        if kind not in (RENAME, MOVE, MERGE, SPLIT):
            raise EditRefused("there is no such edit")
        now = current_clusters(row.result, row.trajectories, edits)
        apply(now, row.trajectories, Edit(0, kind, detail))
        return ClusterEdit.objects.create(clustering=row, kind=kind, detail=dict(detail), by=by)


# --- What a model reads ---------------------------------------------------------------------------


def failure_texts(ids: Sequence[int]) -> list[FailureText]:
    """Return task, ending and last turns of these trajectories in their order.

    Those without a turn are left out.
    """
    texts: list[FailureText] = []
    for at in range(0, len(ids), CHUNK):
        part = ids[at : at + CHUNK]
        rows = Trajectory.objects.select_related("task", "run__dataset").in_bulk(part)
        turns: dict[int, list[Turn]] = {}
        late = Turn.objects.filter(trajectory__in=part).order_by("trajectory", "index")
        for turn in late.only("trajectory_id", "index", "text", "feedback").iterator():
            kept = turns.setdefault(turn.trajectory_id, [])
            kept.append(turn)
            del kept[:-LAST_TURNS]
        texts += [_text(rows[pk], turns[pk]) for pk in part if pk in rows and pk in turns]
    return texts


def _text(row: Trajectory, turns: Sequence[Turn]) -> FailureText:
    labels = find_system(row.run.dataset.system).labels
    parts = {
        turn.index: f"Turn {turn.index} of {row.turn_count}\n{_cut(turn.text, MOST_PLAN)}"
        + (f"\nFeedback: {_cut(turn.feedback, MOST_FEEDBACK)}" if turn.feedback else "")
        for turn in turns
    }
    head = (
        f"Task: {_cut(row.task.prompt, MOST_TASK)}\nEnded: {labels.ending(row.termination).title}"
    )
    return FailureText(row.pk, "\n".join([head, *parts.values()]), parts)


def _cut(text: str, most: int) -> str:
    """Return a text without its middle where it is too long: ends tell how something failed."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} […] {text[-half:]}"
