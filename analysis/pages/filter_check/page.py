"""Whether the checker removes the candidates that the majority of people would remove."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.figures.shares import PublishedShares, Shares, share_dots
from analysis.figures.theme import ACCENT
from analysis.filters.selection import Selection
from analysis.filters.study_kinds import asks_candidates
from analysis.frames.filter_decisions import (
    AskedCandidate,
    CandidateKey,
    asked_candidates,
    decision_frame,
)
from analysis.pages.filter_check.tables import (
    agreement_table,
    confusion_table,
    disagreement_table,
    rate_table,
    vote_table,
)
from analysis.reports import common
from analysis.reports.content import Banner, FigureSpec, Notice, Report
from analysis.reports.formatting import counted, ends, number, plural
from analysis.reports.people import (
    People,
    after_unblinding,
    chosen_people,
    how_people,
    no_answers,
    no_study,
    other_page,
    simulated_banner,
    votes_needed,
    who,
)
from analysis.reports.rates import how_rates, published_estimate, read_first
from analysis.stats.descriptive.rates import Rate
from analysis.stats.rater_agreement.decisions import DecisionQuality, compare_decisions
from analysis.stats.rater_agreement.majority import Majorities, majority_vote
from analysis.stats.rater_agreement.reliability import Reliability, category_agreement
from annotation.questionnaires import load_questionnaire
from annotation.ratings.voting import VoteOutcome
from benchmarks.core.published import PaperStatements
from benchmarks.core.registry import find_system

if TYPE_CHECKING:
    from pandas import DataFrame

PURPOSE = (
    "The filter check compares what the checker removed from the candidate constraints with what "
    "the majority of people would remove."
)
SEED = 20251206
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
class Checked:
    """The checker against the majority, and people against each other, on candidates of a kind."""

    name: str
    decisions: DecisionQuality
    votes: Majorities
    people: Reliability

    def rate(self, measure: str) -> Rate:
        found: Rate = getattr(
            self.decisions, "decided_positive" if measure == "removed" else measure
        )
        return found


def filter_check_report(selection: Selection) -> Report:
    """Everything on the page about candidates that people kept or removed."""
    study = selection.study
    notices = tuple(map(Notice, selection.notes))
    if study is None:
        return Report(empty=no_study(PURPOSE), notices=notices)
    if not asks_candidates(load_questionnaire(study.questionnaire)):
        return Report(empty=other_page(PURPOSE, study), notices=notices)
    candidates = asked_candidates(study, selection)
    frame = decision_frame(study, candidates)
    frame, people, everyone = chosen_people(frame, selection, "task")
    if frame.empty:
        return Report(empty=no_answers(PURPOSE, everyone, selection), notices=notices)
    minimum = votes_needed(candidate.wanted for candidate in candidates)
    results = [
        check(name, kinds, candidates, frame, minimum)
        for name, kinds in KINDS.items()
        if name == ALL or any(candidate.kind in kinds for candidate in candidates)
    ]
    whole = results[0]
    reference = find_system(selection.system).paper
    return Report(
        sentence=sentence(whole, people, reference),
        figures=(_figure(whole, reference),),
        tables=(
            rate_table(results, reference),
            confusion_table(results),
            vote_table(results, minimum),
            disagreement_table(whole, candidates),
            agreement_table(results),
        ),
        notices=(
            *notices,
            *after_unblinding(people, selection),
            *_notices(whole, minimum),
        ),
        banners=(*_demo(selection), *simulated_banner(people)),
        methods="The checker's decisions are compared with what more than half of a candidate's "
        "annotators decided; the positive class is remove, and ties are left out. Rates: 95 % "
        f"intervals, {how_rates([whole.decisions.accuracy, whole.decisions.decided_positive])}.",
        how=(
            f"Dataset {common.dataset_name(selection)}.",
            *how_people(people, everyone, selection),
            *_how(whole, candidates, minimum, reference),
        ),
    )


def check(
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


def sentence(whole: Checked, people: People, reference: PaperStatements) -> str:
    """How much the checker removed, and how often people see it otherwise."""
    found = whole.decisions
    removed = found.decided_positive
    if removed.wilson.value is None:
        return f"{who(people)} decided, but the checker's decisions are not known."
    begin = (
        f"The checker removed {removed.hits:,} of {plural(removed.of, 'candidate')} "
        f"({number(removed.wilson.value, 'share')}{_paper(reference, 'removed')})"
    )
    if not found.n:
        return f"{begin}; no decision can be compared yet: {counted(found.excluded)}."
    through = _said(found.false_negative_rate, "let through", REMOVE, reference, "false_negative_")
    gone = _said(found.false_positive_rate, "removed", KEEP, reference, "false_positive_")
    tied = whole.votes.states[VoteOutcome.TIED]
    left = f"; people tie on {tied:,}, left out" if tied else ""
    return f"{begin}; against the majority of {who(people)} it {through}, and {gone}{left}."


def _said(rate: Rate, word: str, decision: str, reference: PaperStatements, name: str) -> str:
    """Such as ``let through 1 of 4 that they would remove (FNR 25.0 %)``."""
    short = "FNR" if decision == REMOVE else "FPR"
    if rate.wilson.value is None:
        return f"{word} none to speak of, because they would {decision} nothing ({short} undefined)"
    interval = read_first(rate).interval
    inside = f", 95 % interval {ends(interval, 'share')}" if interval is not None else ""
    return (
        f"{word} {rate.hits:,} of {rate.of:,} that they would {decision} "
        f"({short} {number(rate.wilson.value, 'share')}{inside}{_paper(reference, f'{name}rate')})"
    )


def _paper(reference: PaperStatements, measure: str) -> str:
    published = reference.checks.get(measure)
    if published is None:
        return ""
    mean = " on average" if measure == "removed" else ""
    return f"; paper: {100 * published.share:.2f} %{mean}"


def _figure(whole: Checked, reference: PaperStatements) -> FigureSpec:
    estimates = [read_first(whole.rate(measure)) for measure in SHOWN]
    published = {
        words: published_estimate(reference.checks[measure])
        for measure, words in SHOWN.items()
        if measure in reference.checks
    }
    return common.figure_spec(
        "rates",
        "The checker against the majority of people",
        "Positive: remove. With 95 % intervals by task; where all draws agree, Wilson's.",
        share_dots(
            list(SHOWN.values()),
            [Shares("here", estimates, "circle", ACCENT)],
            title="share of candidates",
            published=[PublishedShares(values=published)] if published else [],
        ),
    )


def _demo(selection: Selection) -> tuple[Banner, ...]:
    if selection.dataset is None or not selection.dataset.is_demo:
        return ()
    text = "Candidates and decisions come with the demo. They say nothing about a real checker."
    return (Banner("Demo data", text),)


def _notices(whole: Checked, minimum: int) -> list[Notice]:
    found = []
    if minimum == 1:
        text = (
            "Each task is judged by one annotator, who stands for the majority: this says nothing "
            "about how far people agree with each other."
        )
        found.append(Notice(text, "info"))
    if 0 < whole.decisions.clusters < 20:
        text = (
            f"Only {plural(whole.decisions.clusters, 'task')}: intervals are rough, those that "
            "draw tasks too narrow."
        )
        found.append(Notice(text))
    return found


def _how(
    whole: Checked, candidates: Sequence[AskedCandidate], minimum: int, reference: PaperStatements
) -> list[str]:
    found = whole.decisions
    checkers = sorted({c.decided_by for c in candidates if c.decided_by})
    by = f", by {', '.join(checkers)}" if checkers else ""
    lines = [
        f"Checker: the decisions stored with {plural(len(candidates), 'candidate')}{by}.",
        "Majority: what more than half of a candidate's annotators said; it needs "
        f"{plural(minimum, 'annotator')}. Ties are not resolved.",
        f"Compared: {plural(found.n, 'candidate')} of {plural(found.clusters, 'task')}. Left out: "
        f"{counted(found.excluded) or 'none'}.",
        "Positive: remove. FNR = share of what the majority would remove that the checker let "
        "through; FPR = share of what the majority would keep that the checker removed; precision "
        "= share of what the checker removed that the majority would remove; recall = 1 − FNR. "
        "With keep as the positive class FNR and FPR change places. F1 is the harmonic mean of "
        "precision and recall; MCC is Matthews’ correlation, which both classes count for.",
        "Removed is over all candidates with a decision, compared or not; on average: the mean of "
        "each task's share.",
        f"95 % intervals: {how_rates([found.accuracy, found.decided_positive])}. Candidates of one "
        "task are not independent: read the one that draws tasks.",
        "Among people: Krippendorff's alpha, nominal, and the share of equal pairs of decisions.",
    ]
    if "removed" in reference.checks:
        lines.append(
            f"Published ({reference.name}, {reference.checks['removed'].source}): 42.18 % removed "
            "on average, FNR 2.31 %, FPR 3.72 %; without counts or intervals, and without naming "
            "the positive class."
        )
    return lines
