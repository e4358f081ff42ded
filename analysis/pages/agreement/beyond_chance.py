"""Agreement beyond chance on each dimension: people with the judges' panel, and with each other."""

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from analysis.agreement.inputs import AgreementSettings
from analysis.agreement.judges_and_people import rounded_mean
from analysis.reports.formatting import number
from analysis.stats.columns import Floats
from analysis.stats.rater_agreement.alpha import krippendorff_alpha
from analysis.stats.rater_agreement.answers import answers_of_rows, answers_of_scores
from analysis.stats.rater_agreement.kappas import cohen_kappa
from analysis.stats.results import Estimate

if TYPE_CHECKING:
    from pandas import DataFrame

SEED = 20260119
NO_PANEL = "no answer has a score of every judge beside it"


class BeyondChance(NamedTuple):
    """The agreement beyond chance on one dimension.

    Attributes
    ----------
    alpha, kappa
        Ordinal alpha and linearly weighted kappa of people's single answers with the judges' mean,
        rounded.
    people
        Ordinal alpha of people among themselves.
    """

    alpha: Estimate
    kappa: Estimate
    people: Estimate


def beyond_chance(
    people: Floats, judges: Floats, tasks: Sequence[Hashable], asked: "DataFrame"
) -> BeyondChance:
    """Compute the agreement beyond chance on one dimension.

    ``people`` are single answers, ``judges`` the scores beside them, one column per judge;
    ``asked`` are the dimension's answers with their ``trajectory``, ``task`` and ``human`` score.
    """
    drawing: dict[str, Any] = {"unit": "task", "seed": SEED}
    scale = AgreementSettings().scale
    panel = rounded_mean(judges)
    kept = ~(np.isnan(people) | np.isnan(panel))
    if kept.any():
        names = [task for task, keep in zip(tasks, kept, strict=True) if keep]
        both = np.column_stack([people, panel])[kept]
        alpha = krippendorff_alpha(answers_of_scores(both, scale=scale), clusters=names, **drawing)
        kappa = cohen_kappa(
            both[:, 0], both[:, 1], scale=scale, weights="linear", clusters=names, **drawing
        )
    else:
        alpha = kappa = Estimate.without_value(NO_PANEL)
    task_of = dict(zip(asked["trajectory"], asked["task"], strict=True))
    answers, items = answers_of_rows(asked["trajectory"], asked["human"].to_numpy(), scale=scale)
    among = krippendorff_alpha(answers, clusters=[task_of[item] for item in items], **drawing)
    return BeyondChance(alpha, kappa, among)


def stated_range(coefficients: Mapping[str, BeyondChance], name: str) -> str:
    """Return the values of a coefficient over dimensions in words: ``0.12 to 0.40``, or one."""
    values = [getattr(one, name).value for one in coefficients.values()]
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, high = (number(end(known), "points") for end in (min, max))
    return low if low == high else f"{low} to {high}"
