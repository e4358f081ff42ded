"""Read imports: their progress, their result, and the formats that can be imported."""

import json
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse

from benchmarks.core.problems import Problem
from benchmarks.formats.bundles import WRONG_FORMAT
from benchmarks.formats.registry import FORMATS, get_format
from benchmarks.formats.sessions.lines import TRUNCATED
from benchmarks.formats.sessions.transcript import LEFT_OUT
from benchmarks.jobs.selectors import STATES
from benchmarks.models import Dataset, Job, Run

IMPORT, DATASET, PROBLEMS = "import-trajectories", "import-dataset", "import-problems"
TURN_CHANGE = "change-turns"


def import_jobs() -> QuerySet[Job]:
    """Return imports of trajectories, the newest first."""
    return Job.objects.filter(kind=IMPORT).select_related("created_by").order_by("-pk")


def dataset_jobs() -> QuerySet[Job]:
    """Return imports of datasets and of problems, the newest first."""
    kinds = (DATASET, PROBLEMS)
    return Job.objects.filter(kind__in=kinds).select_related("created_by").order_by("-pk")


def turn_changes(run: int) -> QuerySet[Job]:
    """Return changes of the turns of a run, the newest first."""
    return Job.objects.filter(kind=TURN_CHANGE, payload__run=run).order_by("-pk")


def imported_runs() -> QuerySet[Run]:
    """Return runs that came from files."""
    rows = Run.objects.filter(kind=Run.Kind.IMPORTED, removed_at__isnull=True)
    return rows.select_related("agent", "dataset")


@dataclass(frozen=True)
class ImportView:
    """The progress and result of an import. ``mark`` changes whenever the page would."""

    job: Job

    @property
    def over(self) -> bool:
        return self.job.status not in (Job.Status.QUEUED, Job.Status.RUNNING)

    @property
    def moving(self) -> bool:
        return not self.over

    @property
    def state(self) -> tuple[str, str]:
        """Return the state in one word, with its colour."""
        if self.result:
            return ("imported", "ok") if self.result["created"] else ("imported before", "idle")
        if self.refused:
            return "refused", "bad"
        return STATES[Job.Status(self.job.status)]

    @property
    def words(self) -> str:
        """Return the text of the progress bar."""
        if self.job.status == Job.Status.QUEUED:
            return "Waiting for a worker"
        total = self.job.total
        return f"{self.job.done} of {total} MB fetched" if total else "Begun"

    @property
    def mark(self) -> str:
        return f"{self.job.status}-{self.job.done}-{self.job.total}-{self.job.message}"

    @property
    def result(self) -> dict[str, Any] | None:
        result: dict[str, Any] | None = self.job.payload.get("result")
        return result if self.job.status == Job.Status.DONE else None

    @property
    def refused(self) -> dict[str, Any] | None:
        refused: dict[str, Any] | None = self.job.payload.get("refused")
        return refused

    @property
    def faults(self) -> list[Problem]:
        return [Problem(*fault) for fault in (self.refused or {}).get("faults", ())]

    @property
    def more_faults(self) -> int:
        return int((self.refused or {}).get("total", 0)) - len(self.faults)

    @property
    def url(self) -> str:
        """Return the URL of its page."""
        name = "import_job" if self.job.kind == IMPORT else "dataset_job"
        return reverse(f"benchmarks:{name}", args=[self.job.pk])

    @property
    def progress_url(self) -> str:
        """Return the URL of the progress fragment."""
        return f"{self.url}progress/"

    @property
    def form_url(self) -> str:
        """Return the URL of the form for such files."""
        names = {DATASET: "dataset_import", PROBLEMS: "problems_import"}
        return reverse(f"benchmarks:{names.get(self.job.kind, 'trajectory_import')}")

    @property
    def dataset(self) -> Dataset | None:
        """Return the dataset that was imported."""
        return Dataset.objects.filter(pk=(self.result or {}).get("dataset", 0)).first()

    @property
    def runs(self) -> list[Run]:
        rows = Run.objects.filter(pk__in=(self.result or {}).get("runs", ()))
        return list(rows.select_related("dataset", "agent").order_by("pk"))

    @property
    def left_out(self) -> list[str]:
        """Return which files of an archive none of its imports could read, with the reasons."""
        reasons = (reason for run in self.runs for reason in left_out_files(run))
        return [reason for reason in dict.fromkeys(reasons) if WRONG_FORMAT not in reason]

    @property
    def left_out_lines(self) -> str:
        """Return how many lines of sessions, or parts of them, are left out, by kind."""
        words = (left_out_lines(run) for run in self.runs)
        return "; ".join(dict.fromkeys(filter(None, words)))

    @property
    def cut_off(self) -> bool:
        """Return whether the last line of a session was cut off."""
        return any(f"{LEFT_OUT}.{TRUNCATED}" in run.settings for run in self.runs)


ABOUT = {
    "anthropic": "Anthropic Messages: chats with tool_use and tool_result parts, or a log of "
    "requests and responses.",
    "responses": "OpenAI Responses: a log of requests and responses, or rows with "
    "responses_create_params.",
    "claude-code": "A session of Claude Code (JSONL); the command also takes the sub-agents that "
    "lie beside it.",
    "codex": "A rollout of Codex (JSONL).",
    "gemini-cli": "A session of Gemini CLI (JSON or JSON lines).",
    "pi": "A session of Pi, or a session trace of another harness (JSON lines).",
    "swe-agent": "A trajectory of SWE-agent (.traj).",
    "mini-swe-agent": "A trajectory of mini-SWE-agent (.traj.json).",
    "openhands": "Events of OpenHands: output.jsonl of its evaluation, or events of its SDK.",
    "sharegpt": "Conversations of from and value, as JSON or JSON lines.",
    "agent-data": "The agent data protocol: rows of actions and observations.",
    "openinference": "Spans of OpenInference, as OTLP/JSON or as Phoenix exports them.",
    "openllmetry": "Spans of OpenLLMetry up to 0.49 as OTLP/JSON.",
    "langfuse": "Traces of Langfuse with their observations, as JSON or JSON lines.",
    "langsmith": "Runs of LangSmith, as its SDK sends them or as a list or lines.",
    "atif": "ATIF 1.0 to 1.8, as Harbor writes it: a trajectory, or a list or ZIP of them, with "
    "continuations.",
    "otel": "OpenTelemetry spans of generative AI as OTLP/JSON, one file or JSON lines, as SDKs "
    "and the collector write them.",
    "tau2": "results.json of tau2-bench, or a ZIP of it and its simulations; no voice runs.",
    "inspect": "A log of Inspect, .json or .eval, also of a run that was killed.",
    "tau-bench": "Historical trajectories of tau-bench: a JSON list with task_id, trial, reward "
    "and traj.",
    "openai-chat": "Chat messages as JSON or JSON lines: a list of messages, or messages or traj "
    "beside fields of your own. Also the event logs of OpenAI evals.",
}


def left_out_files(run: Run) -> list[str]:
    """Return which files of a folder or an archive could not be read, each with its reason."""
    reasons = json.loads(run.settings.get("left_out_files") or "[]")
    return [str(reason) for reason in reasons]


def left_out_lines(run: Run) -> str:
    """Return how many lines of sessions, or parts of them, are left out, by kind; empty if none."""
    start = f"{LEFT_OUT}."
    counts = {n: count for n, count in run.settings.items() if n.startswith(start)}
    return ", ".join(f"{name.removeprefix(start)} ({counts[name]})" for name in sorted(counts))


@dataclass(frozen=True)
class FormatView:
    """A format that can be imported."""

    name: str
    title: str
    about: str


def import_formats() -> list[FormatView]:
    """Return all formats by title."""
    views = [FormatView(name, title, _about(name)) for name, (title, _) in FORMATS.items()]
    return sorted(views, key=lambda view: view.title.lower())


def _about(name: str) -> str:
    """Return what a format reads; the module of a plug-in says so itself."""
    return ABOUT[name] if name in ABOUT else str(getattr(get_format(name), "ABOUT", ""))
