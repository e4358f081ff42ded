"""Mean scores by dimension of people, or of judges corrected by people."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from analysis.kit.page import Page
from analysis.pages.correction import (
    NOT_DRAWN,
    Correction,
    choose_scores,
    listed_moves,
    people_of,
    say_whose,
    units_of,
)
from analysis.reports import system_facts
from analysis.stats.comparison.extremes import Difference, compared_models
from analysis.stats.corrected.corrected_pairs import CorrectedModels
from analysis.stats.results import Estimate
from benchmarks.core.system import Dimension

if TYPE_CHECKING:
    from pandas import DataFrame


class CorrectedDimensions(NamedTuple):
    """The correction of every dimension, by its key."""

    correction: Correction
    models: Mapping[str, CorrectedModels]

    def means(self, label: str) -> dict[str, Estimate]:
        """Return an agent's estimates by dimension."""
        nothing = Estimate.without_value(NOT_DRAWN)
        return {
            key: nothing
            if (mean := models.means.get(label)) is None
            else mean.people
            if self.correction.scores == "people"
            else mean.estimate
            for key, models in self.models.items()
        }

    def between(self, dimensions: Sequence[Dimension]) -> dict[str, Difference]:
        """Return the differences between agents by dimension."""
        return {
            one.title.lower(): compared_models(self.models[one.key].comparisons)
            for one in dimensions
        }

    def say(self, page: Page) -> None:
        """Say how far the correction moves each agent on average, and where the order changes."""
        moved: dict[str, list[float]] = {}
        for models in self.models.values():
            for label, mean in models.means.items():
                if mean.moved is not None:
                    moved.setdefault(label, []).append(mean.moved)
        means = sorted((sum(changes) / len(changes), label) for label, changes in moved.items())
        by = listed_moves(means, "points")
        turned = sum(bool(models.moved_order) for models in self.models.values())
        rated = [mean.rated for one in self.models.values() for mean in one.means.values()]
        agents = max((len(one.means) for one in self.models.values()), default=0)
        say_whose(
            page,
            self.correction,
            sum(sorted(rated, reverse=True)[:agents]),
            f"{by} on average over all dimensions; the order of their estimates changes on "
            f"{turned} of {len(self.models)} dimensions."
            if by
            else "",
        )


def corrected_dimensions(
    page: Page, frame: "DataFrame", keys: Sequence[str]
) -> CorrectedDimensions | None:
    """Return the corrected means of last plans; None where the page shows judges' scores."""
    plans = people_of(page)
    if plans is None:
        return None
    units = {}
    for key in keys:
        mine = frame[frame["dimension"] == key]
        people = plans.means(mine["trajectory"].tolist(), key)
        units[key] = units_of(page, mine.assign(people=people), plans)
    correction = choose_scores(page, units[keys[0]], plans)
    if correction.scores == "judges":
        return None
    models = {
        key: correction._replace(units=own).models(
            measure=key,
            among=page.selection.agents_here,
            scale=system_facts.RUBRIC_SCALE,
            measures=len(keys),
        )
        for key, own in units.items()
    }
    return CorrectedDimensions(correction, models)
