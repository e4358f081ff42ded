"""Whether the checker removes the candidates that the majority of people would remove."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.figures.shares import PublishedShares, Shares, share_dots
from analysis.figures.theme import ACCENT, Figure
from analysis.filters.selection import Selection
from analysis.filters.study_kinds import asks_candidates
from analysis.frames.filter_decisions import (
    AskedCandidate,
    CandidateKey,
    asked_candidates,
    decision_frame,
)
from analysis.pages.declaration import DeclaredPage, FigureOf, NothingToShow, TableOf, UrlOf
from analysis.pages.filter_check.rows import Checked, FilterCheck
from analysis.pages.filter_check.tables import (
    agreement_columns,
    count_columns,
    difference_columns,
    rate_columns,
    vote_columns,
)
from analysis.pages.people import (
    People,
    chosen_people,
    votes_needed,
    why_no_answers,
    why_not_asked,
)
from analysis.reports.rates import published_estimate, read_first
from analysis.stats.rater_agreement.decisions import compare_decisions
from analysis.stats.rater_agreement.majority import majority_vote
from analysis.stats.rater_agreement.reliability import category_agreement
from annotation.questionnaires import load_questionnaire
from benchmarks.core.ports.published import PaperStatements
from benchmarks.core.registry import find_system

if TYPE_CHECKING:
    from pandas import DataFrame

SEED = 20251206
MOST_ROWS = 200
KEEP, REMOVE = "keep", "remove"
ALL = "All candidates"
KINDS: Mapping[str, tuple[str, ...]] = {
    ALL: ("world", "user"),
    "Situation": ("world",),
    "Preferences": ("user",),
}
# Measures with a published value, as the figure names them.
SHOWN = {
    "removed": "Removed by the checker",
    "false_negative_rate": "FNR: let through, of what people remove",
    "false_positive_rate": "FPR: removed, of what people keep",
    "precision": "Precision",
    "recall": "Recall",
}


@dataclass(frozen=True)
class FilterCheckData:
    """The candidates that people were asked about, and their decisions."""

    candidates: tuple[AskedCandidate, ...]
    frame: "DataFrame"
    people: People
    everyone: People
    reference: PaperStatements


def load(selection: Selection) -> FilterCheckData | NothingToShow:
    """Load the decisions of a study's people beside the checker's."""
    study = selection.study
    if study is None:
        return NothingToShow("no study")
    if not asks_candidates(load_questionnaire(study.questionnaire)):
        return why_not_asked(study)
    candidates = asked_candidates(study, selection)
    frame, people, everyone = chosen_people(decision_frame(study, candidates), selection, "task")
    if frame.empty:
        return why_no_answers(everyone, selection)
    reference = find_system(selection.system).paper
    return FilterCheckData(tuple(candidates), frame, people, everyone, reference)


def compute(data: FilterCheckData) -> FilterCheck:
    """Hold the checker against the majority: on all candidates, and on those of each kind."""
    minimum = votes_needed(candidate.wanted for candidate in data.candidates)
    checks = [
        _check(name, kinds, data.candidates, data.frame, minimum)
        for name, kinds in KINDS.items()
        if name == ALL or any(candidate.kind in kinds for candidate in data.candidates)
    ]
    return FilterCheck(
        tuple(checks), data.candidates, minimum, data.people, data.everyone, data.reference
    )


def _check(
    name: str,
    kinds: Sequence[str],
    candidates: Sequence[AskedCandidate],
    frame: "DataFrame",
    minimum: int,
) -> Checked:
    """Compare on the candidates of these kinds."""
    chosen = {c.place: c for c in candidates if c.kind in kinds}
    tasks: dict[Hashable, Hashable] = {place: place[0] for place in chosen}
    votes: list[tuple[int, CandidateKey, str | None]] = [
        (person, (task, key), decision)
        for person, task, key, decision in zip(
            *(frame[name].tolist() for name in ("annotator", "task", "candidate", "decision")),
            strict=True,
        )
        if (task, key) in chosen
    ]
    majorities = majority_vote(votes, minimum=minimum, items=chosen)
    return Checked(
        name,
        compare_decisions(
            {place: candidate.decision for place, candidate in chosen.items()},
            majorities.verdicts,
            positive=REMOVE,
            negative=KEEP,
            clusters=tasks,
            unit="task",
            seed=SEED,
        ),
        majorities,
        category_agreement(votes, clusters=tasks, unit="task", seed=SEED),
    )


def draw_rates(result: FilterCheck, url: UrlOf) -> Figure:
    """Draw the rates of all candidates, with the published ones."""
    estimates = [read_first(result.whole.rate(measure)) for measure in SHOWN]
    checks = result.reference.checks
    published = {
        words: published_estimate(checks[measure])
        for measure, words in SHOWN.items()
        if measure in checks
    }
    return share_dots(
        list(SHOWN.values()),
        [
            Shares(
                "here",
                estimates,
                "circle",
                ACCENT,
                urls=[url(result.whole.link)] * len(estimates),
            )
        ],
        title="Share of candidates",
        published=[PublishedShares(values=published)] if published else [],
    )


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    figure=FigureOf("rates", "The checker against the majority of people", draw_rates),
    table=TableOf(
        "rates",
        "The checker against the majority",
        rows=lambda result: result.with_published,
        columns=rate_columns,
        link=lambda row: row.link if isinstance(row, Checked) else None,
    ),
    folded=(
        TableOf(
            "counts",
            "Counts of decisions",
            rows=lambda result: result.checks,
            columns=count_columns,
        ),
        TableOf(
            "votes",
            "Outcomes of the votes",
            rows=lambda result: result.checks,
            columns=vote_columns,
        ),
        TableOf(
            "differences",
            "Where checker and majority differ, and where people tie",
            rows=lambda result: result.differences,
            columns=difference_columns,
            most=MOST_ROWS,
        ),
        TableOf(
            "people",
            "Agreement between people",
            rows=lambda result: result.checks,
            columns=agreement_columns,
        ),
    ),
)
