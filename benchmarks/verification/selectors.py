"""Read the results of verifying a run."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from benchmarks.core.ports.results import Tone
from benchmarks.jobs.selectors import STATES
from benchmarks.models import Job, Run

KIND = "verify-run"
_OPEN = (Job.Status.QUEUED, Job.Status.RUNNING)
# The possible results for a trajectory, in the order of the page, with colour and meaning.
WORDS: Mapping[str, tuple[Tone, str]] = {
    "same": ("ok", "Everything stored follows from the log."),
    "differs": ("bad", "Something stored is not what follows from the log."),
    "version not available": (
        "warn",
        "Made with a version of protocol, prompts, parsers or scorer that is not here.",
    ),
    "not ended": ("idle", "Looked at once it has ended."),
}


class Verification(NamedTuple):
    """The newest verification of a run. ``mark`` changes whenever the page would."""

    run: Run
    job: Job

    @property
    def moving(self) -> bool:
        return self.job.status in _OPEN

    @property
    def mark(self) -> str:
        return f"{self.job.status}-{self.job.done}"

    @property
    def words(self) -> str:
        """Return the text of the progress bar."""
        if self.job.status == Job.Status.QUEUED:
            return "Waiting for a worker"
        return f"{self.job.done} of {self.job.total} trajectories"

    @property
    def result(self) -> dict[str, Any] | None:
        result: dict[str, Any] | None = self.job.payload.get("result")
        return result if self.job.status == Job.Status.DONE else None

    @property
    def outdated(self) -> bool:
        """Return whether the run has changed since."""
        return bool(self.job.payload.get("data_version") != self.run.data_version)

    @property
    def state(self) -> tuple[str, str]:
        """Return the state in a few words, with its colour."""
        if self.result is None:
            return STATES[Job.Status(self.job.status)]
        counts = self.result["counts"]
        # Older stored verifications have no differences of the run itself.
        if self.result.get("of_run") and not counts.get("differs"):
            return "the run differs", "bad"
        if counts.get("differs"):
            return f"{counts['differs']} differ", "bad"
        if self.result.get("missing") or self.result.get("unverifiable"):
            return "cannot be verified", "warn"
        if counts.get("same"):
            return f"{counts['same']} the same", "ok"
        return "nothing to compare", "idle"

    @property
    def seal(self) -> str:
        """The digest that the run was sealed with; empty where it differed, or changed since."""
        sealed = (self.result or {}).get("seal")
        return "" if sealed is None or self.outdated else str(sealed["digest"])

    @property
    def counts(self) -> list[tuple[str, int, Tone, str]]:
        """Return (result, number of trajectories, colour, meaning); the numbers add up to all."""
        counts = (self.result or {}).get("counts", {})
        return [(name, counts.get(name, 0), *WORDS[name]) for name in WORDS]

    @property
    def speed(self) -> float | None:
        """Return the exchanges checked per second."""
        result = self.result or {}
        return result["exchanges"] / result["seconds"] if result.get("seconds") else None


def under_way(run: Run) -> bool:
    return Job.objects.filter(kind=KIND, payload__run=run.pk, status__in=_OPEN).exists()


def latest_verification(run: Run) -> Verification | None:
    """Return the newest verification of a run, ended or not."""
    jobs = Job.objects.filter(kind=KIND, payload__run=run.pk).select_related("created_by")
    job = jobs.order_by("-pk").first()
    return None if job is None else Verification(run, job)
