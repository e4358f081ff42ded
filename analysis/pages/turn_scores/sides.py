"""People's and judges' mean scores of the same turns, and their change per turn.

The change is fitted by a job and kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.core.cache import caches

from analysis.figures.layout.theme import Figure
from analysis.filters.selection import Selection
from analysis.filters.study_kinds import turn_questions
from analysis.frames.ratings import every_turn_scores, rating_frame
from analysis.kit.links import Link
from analysis.pages.declaration import DeferredPart, FigureOf, TableOf, UrlOf
from analysis.pages.decline.pooled_fits import ALL
from analysis.pages.decline.turn_slopes import (
    MOST_ROWS,
    OPEN_ROWS,
    Slopes,
    TurnColumns,
    draw_fits,
    fit_columns,
    fit_slopes,
    fits_title,
)
from analysis.pages.people import chosen_people
from analysis.reports import system_facts
from analysis.reports.deferred_reports import KEEP_SECONDS, note_progress
from analysis.reports.stored_reports import key_of
from analysis.stats.trends.pooled import PooledSlope, pooled_slope
from analysis.stats.trends.slopes import SlopeModels
from annotation.models import Study
from annotation.questionnaires import Question, load_questionnaire

if TYPE_CHECKING:
    from pandas import DataFrame


PEOPLE, JUDGES = "People", "Judges"


@dataclass(frozen=True)
class Sides:
    """Mean scores of both sides by turn, as the statistics take them; one row each."""

    side: list[str]
    title: list[str]
    trajectory: list[int]
    turn: list[int]
    score: list[float | None]
    task: list[int]
    agent: list[str]

    @property
    def differences(self) -> "DataFrame":
        """The judges' mean minus people's of each turn and dimension that both scored."""
        import pandas  # slow to import, and not every page needs it

        keys = ["title", "agent", "task", "trajectory", "turn"]
        columns = (self.title, self.agent, self.task, self.trajectory, self.turn)
        frame = pandas.DataFrame(dict(zip(keys, columns, strict=True)))
        frame["side"], frame["score"] = self.side, self.score
        scored = frame.dropna(subset=["score"])
        both = scored.pivot(index=keys, columns="side", values="score")
        both = both.reindex(columns=[PEOPLE, JUDGES]).dropna()
        return (both[JUDGES] - both[PEOPLE]).rename("score").reset_index()

    @property
    def columns(self) -> tuple[list[str], list[str], list[int], list[int], list[float | None]]:
        return self.side, self.title, self.trajectory, self.turn, self.score


def sides_of(
    study: Study, questions: Sequence[Question], frame: "DataFrame", judged: "DataFrame"
) -> Sides:
    """Return the mean of the annotators and the mean of the judges of each turn, None where
    missing.

    Of trajectories that somebody scored, with every turn that was asked about: a turn without a
    score still shows that the trajectory was running.
    """
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
                    found = means.get((trajectory, turn, question.dimension))
                    rows.append((JUDGES, question.title, trajectory, turn, found, task, agent))
                    both[PEOPLE].append(mean)
                    both[JUDGES].append(found)
            rows += [
                (side, ALL, trajectory, turn, _mean(given), task, agent)
                for side, given in both.items()
                if given
            ]
    return Sides(*(list(column) for column in zip(*rows, strict=True)))


def _mean(scores: Sequence[float | None]) -> float | None:
    """Return the mean over all dimensions, where all were scored."""
    known = [score for score in scores if score is not None]
    return sum(known) / len(known) if len(known) == len(scores) else None


@dataclass(frozen=True)
class SideFits:
    """The change per turn of both sides, and that of their difference on the same turns.

    ``differences`` are slopes of the judges' score minus people's by title.
    """

    slopes: Slopes
    differences: Mapping[str, PooledSlope]


def fit_sides(sides: Sides) -> SideFits:
    """Fit the change per turn of each side, and of the difference of both."""
    slopes = fit_slopes(TurnColumns(*sides.columns, sides.task))
    frame = sides.differences
    differences = {}
    for title in dict.fromkeys(sides.title):
        note_progress(f"fitting the difference of both sides on {title.lower()}")
        rows = frame[frame["title"] == title]
        names = ("agent", "task", "trajectory", "turn", "score")
        differences[title] = pooled_slope(*(rows[name].tolist() for name in names))
    return SideFits(slopes, differences)


@dataclass(frozen=True)
class TurnScoreSlopes:
    """The change per turn of both sides by four fits; ``keys`` are dimensions by title."""

    slopes: Slopes
    keys: dict[str, str]

    def link(self, one: SlopeModels) -> Link:
        """Return the trajectories behind a fit."""
        return Link(dimension=self.keys.get(one.dimension, ""))


def compute_deferred(selection: Selection) -> TurnScoreSlopes | None:
    """Fit the change per turn of both sides, and keep it for the answer of the page."""
    study = selection.study
    if study is None:
        return None
    questions = turn_questions(load_questionnaire(study.questionnaire))
    note_progress("reading the scores")
    frame, _, _ = chosen_people(rating_frame(study, selection.runs, turns=True), selection)
    if frame.empty or not questions:
        return None
    fits = kept_fits(selection)
    if fits is None:
        keys = [dimension.key for dimension in system_facts.dimensions_of(selection.system)]
        sides = sides_of(study, questions, frame, every_turn_scores(study, selection.runs, keys))
        fits = fit_sides(sides)
        caches["kept"].set(_key(selection), fits, KEEP_SECONDS)
    return TurnScoreSlopes(fits.slopes, {one.title: one.dimension for one in questions})


def kept_fits(selection: Selection) -> SideFits | None:
    """Return the fits of a selection, or None where they are not kept."""
    found: SideFits | None = caches["kept"].get(_key(selection))
    return found


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


def draw_four(result: TurnScoreSlopes, url: UrlOf) -> Figure:
    """Draw the change per turn of both sides by four fits."""
    return draw_fits(result.slopes, lambda one: url(result.link(one)))


DEFERRED = DeferredPart(
    compute=compute_deferred,
    parts=(
        FigureOf("slope-models", "Change per turn, by four fits", draw_four),
        TableOf(
            "slope-models",
            lambda result: fits_title(result.slopes),
            rows=lambda result: result.slopes.models,
            columns=lambda result: fit_columns(result.slopes, "Side"),
            about=lambda result, one: result.link(one),
            folded=lambda result: len(result.slopes.models) > OPEN_ROWS,
            most=MOST_ROWS,
        ),
    ),
)
