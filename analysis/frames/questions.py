"""Questions that a model answered about trajectories: its answers, people's, and how they agree."""

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from analysis.models import FailureClustering
from benchmarks.models import Trajectory
from benchmarks.visibility import Visibility

if TYPE_CHECKING:
    from analysis.stats.rater_agreement.decisions import DecisionQuality

YES, NO = "yes", "no"
# With fewer checked answers, precision and recall say next to nothing.
LEAST_CHECKED = 10
SEED = 20261128
CHUNK = 500


class AnsweredQuestion(NamedTuple):
    """A question with the model's answers, and their quality against people's.

    ``answers`` are those of the model by trajectory (None: undefined, or it cannot tell).
    ``people`` are the trajectories that people answered. ``missing`` says why the answers may not
    be counted; empty where they may.
    """

    row: FailureClustering
    answers: Mapping[int, str | None]
    people: frozenset[int]
    quality: "DecisionQuality"
    missing: str

    @property
    def usable(self) -> bool:
        """Return whether the answers may be counted."""
        return not self.missing


def answered_question(row: FailureClustering) -> AnsweredQuestion:
    """Return the answers to a question, compared with the majority of people's blind answers."""
    # Imported here because numpy would slow down the start of the server.
    from analysis.stats.rater_agreement.decisions import compare_decisions
    from analysis.stats.rater_agreement.majority import majority_vote

    given = (row.result or {}).get("answers", {})
    answers = {
        int(pk): one["answer"] if one["answer"] in (YES, NO) else None for pk, one in given.items()
    }
    votes: dict[tuple[int | None, int], str | None] = {}
    looked: set[int | None] = set()
    for check in row.checks.order_by("pk"):
        if check.trajectory_id is None:
            looked.add(check.by_id)
        elif check.by_id not in looked:
            answer = check.answer if check.answer in (YES, NO) else None
            votes[check.by_id, check.trajectory_id] = answer
    verdicts = majority_vote(
        ((by, pk, answer) for (by, pk), answer in votes.items()), minimum=1
    ).verdicts
    tasks: dict[Hashable, Hashable] = {}
    ids = sorted({*answers, *(pk for _, pk in votes)})
    for at in range(0, len(ids), CHUNK):
        some = Trajectory.objects.filter(pk__in=ids[at : at + CHUNK]).order_by()
        tasks |= dict(some.values_list("pk", "task"))
    people = frozenset(pk for _, pk in votes)
    quality = compare_decisions(
        {pk: answers.get(pk) for pk in ids},
        verdicts,
        positive=YES,
        negative=NO,
        clusters=tasks,
        unit="task",
        seed=SEED,
    )
    return AnsweredQuestion(row, answers, people, quality, _missing(row, quality))


def _missing(row: FailureClustering, quality: "DecisionQuality") -> str:
    """Return what is missing before the answers may be counted."""
    if row.state != FailureClustering.State.DONE:
        return "the model has not answered all of the part that was asked for"
    if not quality.n:
        return "nobody has checked an answer yet"
    if quality.n < LEAST_CHECKED:
        return f"{quality.n} of at least {LEAST_CHECKED} answers are checked"
    if quality.precision.wilson.value is None:
        return "no answer “yes” of the model was checked"
    if quality.recall.wilson.value is None:
        return "people said “yes” to none of the checked trajectories"
    return ""


def questions_about(ids: set[int]) -> list[AnsweredQuestion]:
    """Return the questions that were asked about any of these trajectories, the newest first."""
    rows = FailureClustering.objects.exclude(question="").select_related("endpoint")
    return [
        answered_question(row) for row in rows if ids.intersection(row.trajectories[: row.part])
    ]


def visible(row: FailureClustering, seen: Visibility) -> bool:
    """Return whether a reader may see all trajectories that a model read."""
    there = seen.of(Trajectory.objects.filter(pk__in=row.trajectories)).count()
    return there == len(row.trajectories)
