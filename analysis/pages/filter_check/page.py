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
from analysis.pages.declaration import WrittenPage
from analysis.pages.people import (
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
from analysis.pages.violation_check.page import DRAWN, KIND_WORDS, MOST_ROWS, left_out_cell
from analysis.reports import common
from analysis.reports.content import (
    PUBLISHED,
    Banner,
    Cell,
    Column,
    FigureSpec,
    Notice,
    Report,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_column,
    text_cell,
    text_column,
    words_column,
)
from analysis.reports.formatting import counted, ends, number, plural
from analysis.reports.rates import (
    how_rates,
    published_estimate,
    published_rate_cell,
    rate_cell,
    rate_column,
    read_first,
)
from analysis.stats.descriptive.rates import Rate
from analysis.stats.rater_agreement.decisions import DecisionQuality, compare_decisions
from analysis.stats.rater_agreement.majority import Majorities, majority_vote
from analysis.stats.rater_agreement.reliability import Reliability, category_agreement
from analysis.stats.results import Estimate
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


MEASURES = {
    "false_negative_rate": ("FNR", "Of what people would remove, what the checker let through"),
    "false_positive_rate": ("FPR", "Of what people would keep, what the checker removed"),
    "precision": ("Precision", "Of what the checker removed, what people would remove"),
    "recall": ("Recall", "Of what people would remove, what the checker removed"),
    "accuracy": ("Same decision", "Of all compared candidates"),
}


def rate_table(results: Sequence["Checked"], reference: PaperStatements) -> Table:
    """Every rate, for all candidates and by kind, beside the published."""
    columns = (
        text_column("Candidates"),
        number_column("Compared"),
        number_column("Tasks"),
        rate_column("Removed", help="Of all candidates with a decision"),
        estimate_column("Removed on average", help="Mean over tasks of each one's share removed"),
        *(rate_column(label, help=help) for label, help in MEASURES.values()),
        estimate_column("F1", help="Harmonic mean of precision and recall"),
        estimate_column("MCC", help="Matthews’ correlation: 0 is chance, 1 the same everywhere"),
        text_column("Left out"),
    )
    rows = [
        (
            text_cell(result.name),
            count_cell(result.decisions.n),
            count_cell(result.decisions.clusters),
            rate_cell(result.rate("removed")),
            estimate_cell(result.decisions.mean_share, "share"),
            *(rate_cell(result.rate(measure)) for measure in MEASURES),
            estimate_cell(result.decisions.f1, "share"),
            estimate_cell(result.decisions.mcc, "points"),
            left_out_cell(result.decisions.excluded, counted(result.decisions.excluded)),
        )
        for result in results
    ]
    removed = reference.checks.get("removed")
    if removed is not None:
        unknown = "not published"
        rows.append(
            (
                text_cell("Published", badges=(common.PUBLISHED_BADGE,), sub=removed.source),
                count_cell(None, reason=unknown),
                count_cell(removed.units),
                published_rate_cell(None),
                Cell(
                    f"{100 * removed.share:.2f} %",
                    (removed.share, None, None, removed.units, PUBLISHED),
                ),
                *(published_rate_cell(reference.checks.get(measure)) for measure in MEASURES),
                *(estimate_cell(Estimate.without_value(unknown), "share") for _ in range(2)),
                Cell(data=("",), reason=unknown),
            )
        )
    return Table(
        "rates",
        "The checker against the majority",
        columns,
        tuple(rows),
        note=f"Positive: remove. {DRAWN.format(clusters='tasks', what='candidates')}",
    )


def confusion_table(results: Sequence["Checked"]) -> Table:
    """The counts behind the rates."""
    columns = (
        text_column("Candidates"),
        number_column("Both remove"),
        number_column("People alone remove", help="Let through by the checker: false negatives"),
        number_column("Checker alone removes", help="False positives"),
        number_column("Both keep"),
    )
    rows = tuple(
        (
            text_cell(result.name),
            count_cell(result.decisions.confusion.true_positive),
            count_cell(result.decisions.confusion.false_negative),
            count_cell(result.decisions.confusion.false_positive),
            count_cell(result.decisions.confusion.true_negative),
        )
        for result in results
    )
    return Table("counts", "Counts of decisions", columns, rows)


def vote_table(results: Sequence["Checked"], minimum: int) -> Table:
    """What the votes came to."""
    words = {
        VoteOutcome.UNANIMOUS: "Unanimous",
        VoteOutcome.MAJORITY: "Majority",
        VoteOutcome.TIED: "Tied",
        VoteOutcome.TOO_FEW: f"Under {minimum} votes",
    }
    rows = tuple(
        (
            text_cell(result.name),
            *(count_cell(result.votes.states[state]) for state in words),
            estimate_cell(result.votes.unanimous_share, "share"),
        )
        for result in results
    )
    return Table(
        "votes",
        "What the votes came to",
        (
            text_column("Candidates"),
            *(number_column(word) for word in words.values()),
            estimate_column("Share unanimous"),
        ),
        rows,
        note="Ties are left out of the rates, and listed below.",
    )


def disagreement_table(whole: "Checked", candidates: Sequence[AskedCandidate]) -> Table:
    """Candidates on which the checker and the majority differ, or people tie."""
    verdicts = whole.votes.by_item
    rows = []
    for candidate in candidates:
        verdict = verdicts[candidate.place]
        tied = verdict.state is VoteOutcome.TIED
        decided = verdict.state in (VoteOutcome.UNANIMOUS, VoteOutcome.MAJORITY)
        if not tied and not (decided and candidate.decision not in (None, verdict.value)):
            continue
        removes, keeps = verdict.counts.get("remove", 0), verdict.counts.get("keep", 0)
        what = "tied" if tied else "let through" if verdict.value == "remove" else "lost"
        rows.append(
            (
                Cell(
                    candidate.task_name,
                    (candidate.task_name,),
                    url=common.address("benchmarks:task", task_id=candidate.task),
                ),
                text_cell(KIND_WORDS.get(candidate.kind, candidate.kind)),
                text_cell(candidate.text),
                text_cell(what),
                Cell(f"{removes} of {removes + keeps}", (removes, keeps)),
                Cell(
                    candidate.decision or "",
                    (candidate.decision, candidate.reason),
                    sub=candidate.reason,
                    reason="" if candidate.decision else "no decision is stored",
                ),
            )
        )
    none = "Nowhere: every compared decision is the same, and none is tied."
    if not whole.decisions.clusters:
        none = "No decision can be compared yet."
    return Table(
        "differences",
        "Where checker and majority differ, and where people tie",
        (
            text_column("Task"),
            text_column("Kind"),
            words_column("Candidate"),
            text_column(
                "Difference",
                help="Let through: people would remove it; lost: people would keep it",
            ),
            Column("People remove", ("people remove", "people keep"), help="Of those who decided"),
            Column("Checker", ("checker", "reason"), num=False),
        ),
        tuple(rows),
        note="" if rows else none,
        most=MOST_ROWS,
    )


def agreement_table(results: Sequence["Checked"]) -> Table:
    """How far people agree with each other."""
    columns = (
        text_column("Candidates"),
        number_column("Decided twice", help="Candidates that two people or more decided about"),
        estimate_column("Alpha", help="Krippendorff's alpha, nominal: 1 is perfect, 0 is chance"),
        estimate_column("Equal", help="Share of pairs of decisions that are equal"),
    )
    rows = tuple(
        (
            text_cell(result.name),
            count_cell(result.people.items),
            estimate_cell(result.people.alpha, "points"),
            estimate_cell(result.people.equal, "share"),
        )
        for result in results
    )
    return Table(
        "people",
        "Agreement between people",
        columns,
        rows,
        note="95 % intervals are by task. Where nearly all decisions are the same alpha is low "
        "however often people agree: read it beside the share of equal pairs.",
    )


CONTENT = WrittenPage(filter_check_report)
