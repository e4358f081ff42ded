"""People's and judges' mean scores of the same turns, and their change per turn.

The change is fitted by a job and kept.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from django.core.cache import caches

from analysis.filters.selection import Selection
from analysis.pages.decline.pooled_fits import ALL
from analysis.pages.decline.turn_slopes import ALPHA, Slopes
from analysis.reports.deferred_reports import KEEP_SECONDS, note_progress
from analysis.reports.stored_reports import key_of
from analysis.stats.trends.pooled import PooledSlope, pooled_slope
from analysis.stats.trends.slopes import SlopeModels, slope_models, slope_tests
from annotation.models import Study
from annotation.questionnaires import Question

if TYPE_CHECKING:
    from pandas import DataFrame

PEOPLE, JUDGES = "People", "Judges"
# Of a frame of both sides' mean scores by turn: an agent's name is the id of its run.
COLUMNS = ("side", "title", "trajectory", "turn", "score", "task", "agent")


class SideFits(NamedTuple):
    """The change per turn of both sides, and that of their difference on the same turns.

    ``differences`` are slopes of the judges' score minus people's by title.
    """

    slopes: Slopes
    differences: Mapping[str, PooledSlope]


def side_scores(
    study: Study, questions: Sequence[Question], frame: "DataFrame", judged: "DataFrame"
) -> "DataFrame":
    """Return the mean of the annotators and the mean of the judges of each turn: `COLUMNS`.

    Of trajectories that somebody scored, with every turn that was asked about: a turn without a
    score still shows that the trajectory was running.
    """
    import pandas  # slow to import, and not every page needs it

    people = frame.groupby(["trajectory", "turn", "question"])["human"].mean().to_dict()
    # Missing where a judge who was asked gave no score.
    means = judged.mean(axis=1, skipna=False).dropna().to_dict() if len(judged) else {}
    items = study.items.filter(trajectory__in=set(frame["trajectory"].tolist()))
    rows: list[tuple[str, str, int, int, float | None, int, str]] = []
    fields = ("trajectory", "trajectory__task", "trajectory__run", "asked", "subjects")
    for trajectory, task, run, asked, subjects in items.values_list(*fields):
        agent = str(run)
        own = [question for question in questions if question.key in asked]
        for turn in map(int, subjects.get("turn", ())):
            both: dict[str, list[float | None]] = {PEOPLE: [], JUDGES: []}
            for question in own:
                mean = people.get((trajectory, turn, question.key))
                rows.append((PEOPLE, question.title, trajectory, turn, mean, task, agent))
                if question.dimension:
                    score = means.get((trajectory, turn, question.dimension))
                    rows.append((JUDGES, question.title, trajectory, turn, score, task, agent))
                    both[PEOPLE].append(mean)
                    both[JUDGES].append(score)
            rows += [
                (side, ALL, trajectory, turn, _mean(given), task, agent)
                for side, given in both.items()
                if given
            ]
    return pandas.DataFrame(rows, columns=list(COLUMNS)).astype({"score": "float64"})


def _mean(scores: Sequence[float | None]) -> float | None:
    """Return the mean over all dimensions, where all were scored."""
    known = [score for score in scores if score is not None]
    return sum(known) / len(known) if len(known) == len(scores) else None


def columns_of(scores: "DataFrame") -> list[list[Any]]:
    """Return the scores as the columns that statistics take."""
    return [scores[name].tolist() for name in COLUMNS[:5]]


def fit_sides(scores: "DataFrame") -> SideFits:
    """Fit the change per turn of each side, and of the difference of both.

    Errors of a curve cluster by task where tasks recur.
    """
    models: list[SlopeModels] = []
    curves = scores.groupby(["side", "title"], sort=False)
    for count, ((side, title), rows) in enumerate(curves):
        curve = f"{side} on {str(title).lower()}"
        note_progress(f"{count} of {len(curves)} curves fitted; now {curve}")
        tasks = rows["task"].tolist()
        recur = len(set(tasks)) < rows["trajectory"].nunique()
        models += slope_models(*columns_of(rows), tasks=tasks if recur else None)
    keys = ["title", "agent", "task", "trajectory", "turn"]
    both = scores.pivot(index=keys, columns="side", values="score")
    both = both.reindex(columns=[PEOPLE, JUDGES]).dropna()
    gaps = (both[JUDGES] - both[PEOPLE]).rename("score").reset_index()
    differences = {}
    for title in scores["title"].unique():
        note_progress(f"fitting the difference of both sides on {title.lower()}")
        rows = gaps[gaps["title"] == title]
        names = ("agent", "task", "trajectory", "turn", "score")
        differences[title] = pooled_slope(*(rows[name].tolist() for name in names))
    return SideFits(Slopes(tuple(models), slope_tests(models, alpha=ALPHA)), differences)


def kept_fits(selection: Selection) -> SideFits | None:
    """Return the fits of a selection, or None where they are not kept."""
    fits: SideFits | None = caches["kept"].get(_key(selection))
    return fits


def keep_fits(selection: Selection, fits: SideFits) -> None:
    """Keep the fits of a selection for the answer of the page."""
    caches["kept"].set(_key(selection), fits, KEEP_SECONDS)


def _key(selection: Selection) -> str:
    """Name the scores that count: the study, whose answers, and the judges of which runs."""
    key = key_of(
        "turn-scores",
        selection.filters.query(align=""),
        selection.study_version,
        *(run.version for run in selection.runs),
        *(f"closed {pk}" for pk in sorted(selection.closed)),
    )
    return f"side-fits:{key}"
