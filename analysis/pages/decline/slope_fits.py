"""Slopes over turns of whole runs: fitted in the background, kept, read by the pages.

A mixed model takes about a tenth of a second a curve, too long for a page of a hundred. So each run
is fitted once, on every dimension, under a key that changes with its scores and with the code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.core.cache import caches

from analysis.filters.selection import ChosenRun
from analysis.frames.scores import turn_scores
from analysis.reports import system_facts
from analysis.reports.deferred_reports import KEEP_SECONDS, note_progress
from analysis.reports.stored_reports import key_of
from analysis.stats.trends.slopes import SlopeModels, slope_models

Fits = Mapping[str, Sequence[SlopeModels]]


def kept_fits(system: str, runs: Sequence[ChosenRun]) -> Fits | None:
    """Return the fits of these runs by label, or None where one is not kept."""
    keys = {run.label: _key(system, run) for run in runs}
    stored = caches["kept"].get_many(keys.values())
    if len(stored) < len(keys):
        return None
    return {label: _of(label, stored[key]) for label, key in keys.items()}


def fit_runs(system: str, runs: Sequence[ChosenRun]) -> Fits:
    """Return the fits of these runs by label, fitting and keeping those that are missing."""
    fits = {}
    for count, run in enumerate(runs):
        key = _key(system, run)
        stored = caches["kept"].get(key)
        if stored is None:
            note_progress(f"{count} of {len(runs)} agents fitted; now {run.label}")
            stored = _fit(system, run)
            caches["kept"].set(key, stored, KEEP_SECONDS)
        fits[run.label] = _of(run.label, stored)
    return fits


def _of(label: str, fits: Sequence[SlopeModels]) -> tuple[SlopeModels, ...]:
    """Return the fits of an agent, by what the page calls it."""
    return tuple(replace(one, agent=label) for one in fits)


def _fit(system: str, run: ChosenRun) -> tuple[SlopeModels, ...]:
    """Fit every dimension of the rubric. Errors cluster by task where tasks recur."""
    titles = system_facts.titles_of(system)
    frame = turn_scores([run], list(titles), final=False)
    trajectories, tasks = frame["trajectory"].tolist(), frame["task"].tolist()
    recur = len(set(tasks)) < len(set(trajectories))
    return slope_models(
        frame["label"].tolist(),
        frame["dimension"].map(titles).tolist(),
        trajectories,
        frame["turn"].tolist(),
        frame["score"].tolist(),
        tasks=tasks if recur else None,
    )


def _key(system: str, run: ChosenRun) -> str:
    return f"slopes:{key_of(system, run.version)}"
