"""The deferred part of the agreement page: every judge with people, by dimension, beyond chance."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from analysis.agreement.inputs import AgreementSettings
from analysis.agreement.report import tidy_report
from analysis.figures.bland_altman import DifferencePanel, bland_altman_plot
from analysis.figures.forest import ForestRows, forest
from analysis.figures.layout.theme import Figure
from analysis.filters.selection import Selection
from analysis.frames.ratings import rating_frame
from analysis.kit.links import Link
from analysis.pages.declaration import DeferredPart, FigureOf, TableMade, UrlOf
from analysis.pages.judges.page import keys_of, table_of
from analysis.pages.own_table.alternative import verdict_table
from analysis.pages.own_table.groups import across_table
from analysis.pages.own_table.sections import (
    FamilyOfTests,
    SectionPart,
    family_of,
    parts_of,
    skewed_parts,
)
from analysis.pages.own_table.tables import against_table, chance_table, correlation_table
from analysis.pages.people import chosen_people
from analysis.reports.content import Table
from analysis.stats.results import Estimate

SEED = 20260118
WORD = "Dimension"


@dataclass(frozen=True)
class JudgesWithPeople:
    """Each judge with people, by dimension; ``every_part`` has dimensions without judges, too."""

    every_part: tuple[SectionPart, ...]
    keys: Mapping[str, str]
    settings: AgreementSettings

    @property
    def parts(self) -> list[SectionPart]:
        """The dimensions on which a judge can be compared with people."""
        return [part for part in self.every_part if part.section.against]

    @property
    def skewed(self) -> list[tuple[str, list[str]]]:
        """The dimensions on which most scores are one and the same, by whose scores they are."""
        found = skewed_parts(self.parts)
        return [(who, [title.lower() for title in titles]) for who, titles in found]

    @property
    def family(self) -> FamilyOfTests | None:
        """The family of all tests."""
        return family_of(self.parts)

    @property
    def by_task(self) -> bool:
        """Return whether intervals draw tasks."""
        return any(part.section.unit == "task" for part in self.parts)

    def links(self, parts: list[SectionPart], rows: Callable[[SectionPart], int]) -> list[Link]:
        """Return the dimension of each row of a table that has so many rows of each part."""
        return [Link(dimension=self.keys[part.title]) for part in parts for _ in range(rows(part))]


def compute(selection: Selection) -> JudgesWithPeople | None:
    """Compute kappas, alphas, AC, ICC, correlations and limits of each judge and dimension."""
    study = selection.study
    assert study is not None
    frame, _, _ = chosen_people(rating_frame(study, selection.runs), selection)
    settings = AgreementSettings(seed=SEED)
    parts = parts_of(tidy_report(table_of(selection, frame), settings))
    found = JudgesWithPeople(tuple(parts), keys_of(selection), settings)
    return found if found.parts else None


def draw_beyond_chance(result: JudgesWithPeople, url: UrlOf) -> Figure:
    """Draw the ordinal alpha of each judge with people."""
    marks = {title: url(Link(dimension=key)) for title, key in result.keys.items()}
    by_judge: dict[str, list[tuple[str, Estimate]]] = {}
    for part in result.parts:
        for one in part.section.against:
            if one.panel == 1:
                by_judge.setdefault(one.judge, []).append((part.title, one.alphas["ordinal"]))
    groups = [
        ForestRows(judge, rows, [marks[title] for title, _ in rows])
        for judge, rows in by_judge.items()
    ]
    return forest(groups, title="ordinal alpha")


def draw_limits(result: JudgesWithPeople, url: UrlOf) -> Figure:
    """Draw the differences of all judges' mean and people over their mean."""
    panels = [
        DifferencePanel(part.title, part.section.against[-1].limits, part.section.against[-1].pairs)
        for part in result.parts
    ]
    drawn = bland_altman_plot(panels, scale=result.settings.scale)
    # Panels stand in the order of the dimensions: x, x2, x3, …
    axes = {f"x{n}" if n > 1 else "x": part for n, part in enumerate(result.parts, 1)}
    for trace in drawn["data"]:
        if trace.get("hoverinfo") != "skip":
            key = result.keys[axes[trace.get("xaxis", "x")].title]
            trace["customdata"] = [url(Link(dimension=key))] * len(trace["x"])
    return drawn


def _verdicts(result: JudgesWithPeople) -> Table | None:
    tested = any(test.passed is not None for part in result.parts for test in part.family)
    return verdict_table(result.parts, WORD) if tested else None


def _per_judge(make: Callable[[list[SectionPart], str], Table]) -> TableMade[JudgesWithPeople]:
    return TableMade(
        lambda result: make(result.parts, WORD),
        lambda result: result.links(result.parts, lambda part: len(part.section.against)),
    )


def _across(name: str, title: str, *, judges: bool) -> TableMade[JudgesWithPeople]:
    return TableMade(
        lambda result: across_table(name, title, result.every_part, WORD, judges=judges),
        lambda result: result.links(list(result.every_part), lambda _: 1),
    )


DEFERRED = DeferredPart(
    compute=compute,
    parts=(
        FigureOf(
            "beyond-chance",
            "Each judge with people, beyond chance",
            draw_beyond_chance,
            table="chance",
        ),
        FigureOf(
            "limits",
            "Difference over mean: judges − people (Bland–Altman)",
            draw_limits,
            table="correlations",
        ),
        _per_judge(against_table),
        _per_judge(chance_table),
        TableMade(
            _verdicts,
            lambda result: result.links(result.parts, lambda part: len(part.family)),
        ),
        _per_judge(correlation_table),
        _across("people", "People among themselves", judges=False),
        _across("judges-alone", "Judges among themselves", judges=True),
    ),
)
