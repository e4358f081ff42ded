"""Change per turn over all agents of the chosen data: fitted in the background, kept, tested."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from django.core.cache import caches

from analysis.filters.selection import ChosenRun
from analysis.frames.scores import turn_scores
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.page import Page
from analysis.pages.decline.turn_slopes import p_cell, slope_cell, verdict
from analysis.reports import system_facts
from analysis.reports.content import estimate_column, number_column
from analysis.reports.deferred_reports import KEEP_SECONDS, note_progress
from analysis.reports.formatting import listed, p_words, plural
from analysis.reports.stored_reports import key_of
from analysis.stats.comparison.multiplicity import adjust_family
from analysis.stats.trends.pooled import PooledSlope, pooled_slope

if TYPE_CHECKING:
    from pandas import DataFrame

ALL = "All dimensions"
NO_PART = "the model has no such part"
# Pooled slopes by the title of a dimension; ALL is over all of them.
PooledFits = Mapping[str, PooledSlope]


class PooledRow(NamedTuple):
    """The pooled slope of one dimension, or of all, with the p-value by which it is judged.

    ``verdict`` says whether scores clearly decline or rise.
    """

    title: str
    key: str
    fit: PooledSlope
    p: float | None
    verdict: str


def pooled_rows(fits: PooledFits, keys: Mapping[str, str]) -> tuple[list[PooledRow], int]:
    """Return all dimensions together and those of these keys by title, and the size of the family.

    All dimensions have one test; those of single dimensions, shown or not, are a family.
    """
    p_values = {title: fit.p_value for title, fit in fits.items() if title != ALL}
    family = adjust_family(p_values, statement="the pooled slopes of all dimensions")
    tests = {ALL: ("", fits[ALL].p_value)}
    tests |= {
        title: (key, family[title].adjusted) for title, key in keys.items() if title in p_values
    }
    rows = [
        PooledRow(title, key, fits[title], p, verdict(fits[title].slope, p))
        for title, (key, p) in tests.items()
    ]
    return rows, family.size


def kept_pooled(system: str, runs: Sequence[ChosenRun]) -> PooledFits | None:
    """Return the pooled slopes of these runs, or None where they are not kept."""
    fits: PooledFits | None = caches["kept"].get(_key(system, runs))
    return fits


def fit_pooled(system: str, runs: Sequence[ChosenRun]) -> None:
    """Fit and keep the pooled slopes of these runs, where they are not kept."""
    if kept_pooled(system, runs) is not None:
        return
    titles = system_facts.titles_of(system)
    note_progress(f"fitting {plural(len(runs), 'agent')} together")
    frame = turn_scores(runs, list(titles), final=False)
    fits = {ALL: _fit(mean_of_dimensions(frame))}
    for key, title in titles.items():
        note_progress(f"fitting {plural(len(runs), 'agent')} together on {title.lower()}")
        fits[title] = _fit(frame[frame["dimension"] == key])
    caches["kept"].set(_key(system, runs), fits, KEEP_SECONDS)


def mean_of_dimensions(frame: "DataFrame") -> "DataFrame":
    """Return each turn's mean over the dimensions, where all that have any score were scored."""
    scored = frame.groupby("dimension")["score"].count()
    known = set(scored[scored > 0].index)
    rows = frame[frame["dimension"].isin(known)].dropna(subset=["score"])
    turns = rows.groupby(["label", "task", "trajectory", "turn"], sort=False)["score"]
    means = turns.agg(["mean", "count"]).reset_index()
    return means[means["count"] == len(known)].rename(columns={"mean": "score"})


def _fit(frame: "DataFrame") -> PooledSlope:
    names = ("label", "task", "trajectory", "turn", "score")
    return pooled_slope(*(frame[name].tolist() for name in names))


def _key(system: str, runs: Sequence[ChosenRun]) -> str:
    labels = sorted((run.label, run.version) for run in runs)
    return f"pooled-slopes:{key_of(system, *map(str, labels))}"


def pooled_columns(family_size: int) -> Sequence[Column[PooledRow]]:
    """Give slopes with their p-values, and how far agents and tasks differ in theirs."""
    family = plural(family_size, "dimension")
    holm = f"Over all dimensions one test; others corrected by Holm over {family}"
    differ = "Standard deviation of {who} slopes, points per turn"
    return (
        columns.text("Dimension", lambda row: row.title),
        Column(
            estimate_column("Change per turn"),
            lambda row: slope_cell(row.fit.slope, row.verdict, p_words(row.p or 0.0)),
        ),
        Column(number_column("p", help=holm), lambda row: p_cell(row.p)),
        columns.number(
            "Agents",
            lambda row: row.fit.sd_agents,
            "points",
            "sd of agents",
            differ.format(who="agents'"),
            reason=NO_PART,
        ),
        columns.number(
            "Tasks",
            lambda row: row.fit.sd_tasks,
            "points",
            "sd of tasks",
            differ.format(who="tasks'"),
            reason=NO_PART,
        ),
    )


def limits_of(fit: PooledSlope) -> str:
    """Say what agents are in a pooled fit, where they are few, and which variances are 0."""
    sentences = []
    if fit.effect == "fixed":
        sentences.append(
            "Two agents are too few to estimate how much agents differ, so the change is the mean "
            "of both and says nothing on others."
        )
    if fit.zero:
        parts = listed(fit.zero, most=9)
        sentences.append(f"Degenerate fit: the variance of {parts} is estimated as 0.")
    return " ".join(sentences)


def how_pooled(page: Page, fit: PooledSlope) -> None:
    """Say how one change per turn of all agents was fitted."""
    freedom = f", and Satterthwaite's degrees of freedom ({fit.df:.0f})" if fit.df else ""
    page.how(
        f"Over all agents: {fit.slope.method or 'linear mixed model'}. Turns are counted from "
        "their mean; intercepts and slopes of agents and tasks do not correlate, those of "
        "trajectories do. The interval is b ± t·SE with the larger of the usual error and that of "
        "the likelihood's curvature, which allows for endings that depend on scores"
        f"{freedom}.",
        "All dimensions: the mean of a turn over the dimensions that have scores, where all of "
        "them were scored.",
    )
    match fit.effect:
        case "random":
            page.how(
                f"With random slopes of agents{' and tasks' * fit.tasks} the interval is about "
                "others like these, not these alone."
            )
        case "fixed":
            page.how(
                "Two agents have fixed intercepts and slopes: a variance between two agents cannot "
                "be estimated. The change is the mean of both."
            )
        case _:
            page.how("There is one agent, so the change is this agent's.")
    if not fit.tasks:
        page.how(
            "Tasks have no effect of their own: each has one trajectory, or there are fewer than "
            "three."
        )
