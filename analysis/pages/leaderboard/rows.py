"""The rows of the leaderboard: every agent's estimates, the published ones, and their order."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from analysis.filters.selection import ChosenRun
from analysis.pages.correction import NO_WALD
from analysis.pages.outcome_estimates import estimate_measure, left_out
from analysis.reports.published import published_estimate
from analysis.stats.comparison.ranks import rank_order
from analysis.stats.descriptive.proportions import share
from analysis.stats.descriptive.trials import measure_mean
from analysis.stats.results import Estimate
from benchmarks.core.ports.labels import Measure
from benchmarks.core.registry import get_system
from benchmarks.validity.selectors import BlindPolicy, CertifiedValidity

if TYPE_CHECKING:
    from pandas import DataFrame

BLIND = "a blind policy, which does not read its task"
NOT_CERTIFIED = "not part of the certificate of validity"
A_MEAN = "a mean, no share"
TRIED_AGAIN = "tasks were tried several times; Wald’s interval takes each trajectory as independent"
UNDEFINED = "what agents are ranked by is undefined"
# Accuracy with other dimensions counted than the run counts.
BOTH: Mapping[str, Measure] = {
    "accurate_all": Measure("Acc, all dimensions", "All rubric dimensions count.", "rate"),
    "accurate_main": Measure("Acc, main dimensions", "Only the main dimensions count.", "rate"),
}
DIFFER = "readings_differ"
EXHAUSTED = "pool_exhausted"
UNEQUAL_POOLS = "recorded answers: authors whose pools differ in size are not ranked"
MADE_ELSEWHERE = "recorded answers: made elsewhere, under settings that are not known here"


class AgentResult(NamedTuple):
    """One agent, one blind policy, or one published model: its estimates by metric.

    ``main`` decides the rank, ``second`` is the measure beside it, where the system has one;
    ``wald`` is the first with Wald's interval, undefined where it is no share of trajectories.
    """

    label: str
    main: Estimate
    second: Estimate | None
    estimates: Mapping[str, Estimate]
    wald: Estimate
    run: ChosenRun | None = None
    source: str = ""
    endings: Mapping[str, int] = {}
    differ: int | None = None
    pool: float | None = None
    rank: int | None = None
    no_rank: str = ""
    blind: bool = False


def _result(
    label: str,
    headline: Sequence[str],
    estimates: Mapping[str, Estimate],
    wald: Estimate,
    **more: Any,
) -> AgentResult:
    """Return a row whose first measures are those of the headline."""
    second = estimates[headline[1]] if len(headline) > 1 else None
    return AgentResult(label, estimates[headline[0]], second, estimates, wald, **more)


def row_of(
    run: ChosenRun,
    frame: "DataFrame",
    measures: Mapping[str, Measure],
    titles: Mapping[str, str],
    headline: Sequence[str],
) -> AgentResult:
    """Estimate an agent's measures."""
    mine = frame[frame["run"] == run.pk]
    estimates = {
        metric: estimate_measure(mine, metric, measure, left_out(run, mine, metric, titles))
        for metric, measure in measures.items()
    }
    main, wald = headline[0], Estimate.without_value(A_MEAN)
    if measures[main].kind == "rate":
        values = mine.loc[mine[main].notna()]
        repeated = values["task"].duplicated().any()
        if repeated:
            wald = Estimate.without_value(TRIED_AGAIN)
        elif len(values) or not estimates[main].excluded:
            wald = share(int(values[main].sum()), len(values), method="wald")
        else:
            wald = estimates[main]
    known = mine[DIFFER].dropna()
    return _result(
        run.label,
        headline,
        estimates,
        wald,
        run=run,
        endings=dict(Counter(str(code) for code in mine["termination"])),
        differ=int(known.sum()) if len(known) else None,
    )


def by_estimate(row: AgentResult, metric: str, estimate: Estimate) -> AgentResult:
    """Return the row by another estimate of what agents are ranked by, such as a corrected one."""
    estimates = {**row.estimates, metric: estimate}
    return row._replace(main=estimate, estimates=estimates, wald=Estimate.without_value(NO_WALD))


def published_rows(
    system: str, measures: Mapping[str, Measure], headline: Sequence[str]
) -> list[AgentResult]:
    """Return the models of the paper: every metric that it gives, shares with the interval of their
    n.
    """
    by_model: dict[str, dict[str, Any]] = {}
    for entry in get_system(system).published:
        if entry.metric in measures:
            by_model.setdefault(entry.model, {})[entry.metric] = entry
    rows = []
    for model, entries in by_model.items():
        if headline[0] not in entries:
            continue
        estimates = {
            name: published_estimate(entries.get(name), is_rate=measure.in_percent)
            for name, measure in measures.items()
        }
        first, wald = entries[headline[0]], Estimate.without_value(A_MEAN)
        if measures[headline[0]].kind == "rate":
            wald = published_estimate(first, is_rate=True, method="wald")
        source = f"{first.source}; {first.note}"
        rows.append(_result(model, headline, estimates, wald, source=source, no_rank="published"))
    return sorted(rows, key=lambda row: -(row.main.value or 0))


def blind_rows(
    certificate: CertifiedValidity,
    levels: Collection[str],
    measures: Mapping[str, Measure],
    headline: Sequence[str],
    *,
    every: bool,
) -> list[AgentResult]:
    """Return the blind policies of a certificate at some levels, the best first.

    Without ``every`` they are counted on usable tasks alone.
    """
    places = certificate.units(levels, every=every)
    rows = []
    for policy in certificate.policies:
        values = {name: [scores[at] for at in places] for name, scores in policy.values.items()}
        estimates = {
            name: _blind_estimate(policy, values[name], measure)
            if name in values
            else Estimate.without_value(NOT_CERTIFIED)
            for name, measure in measures.items()
        }
        main, wald = headline[0], Estimate.without_value(A_MEAN)
        known = [value for value in values[main] if value is not None]
        if measures[main].kind == "rate" and known:
            wald = share(int(sum(known)), len(known), method="wald")
        rows.append(
            _result(
                policy.title, headline, estimates, wald, source=policy.help, no_rank=BLIND,
                blind=True,
            )
        )  # fmt: skip
    return sorted(rows, key=lambda row: -(row.main.value or 0))


def _blind_estimate(
    policy: BlindPolicy, values: Sequence[float | None], measure: Measure
) -> Estimate:
    known = [value for value in values if value is not None]
    missing = len(values) - len(known)
    why = next(iter(policy.undefined), "not recorded")
    excluded = {why: missing} if missing else {}
    if not known:
        return Estimate.without_value(why, excluded=excluded)
    return measure_mean(
        known,
        list(range(len(known))),
        rate=measure.kind == "rate",
        scale=(0, measure.most),
        excluded=excluded,
    )


def signature(run: ChosenRun) -> tuple[str, ...]:
    """Return what must be alike for two runs to be ranked against each other."""
    others = {name: assignments for name, assignments in run.casting.items() if name != "agent"}
    judged = run.judged.settings if run.judged is not None else {}
    return (repr(sorted(run.settings.items())), repr(sorted(others.items())), repr(run.pins),
            str(run.total), repr(sorted(judged.items())))  # fmt: skip


def ranked(rows: Sequence[AgentResult]) -> list[AgentResult]:
    """Return rows from best to worst; ranks only among those that were made and judged alike.

    Recorded agents are never ranked, because their pools differ in size; nor are unfinished runs.
    Equal values share the better rank.
    """
    signatures = Counter(
        signature(row.run) for row in rows if row.run is not None and not _unranked(row)
    )
    usual = signatures.most_common(1)[0][0] if signatures else ()
    reasons = []
    for row in rows:
        why = _unranked(row)
        if not why and row.run is not None and signature(row.run) != usual:
            why = "made or judged otherwise than most runs here (settings, judges, versions, tasks)"
        reasons.append(why)
    values = [None if why else row.main.value for row, why in zip(rows, reasons, strict=True)]
    placed = [
        row._replace(rank=rank, no_rank=why or (UNDEFINED if rank is None else ""))
        for row, rank, why in zip(rows, rank_order(values), reasons, strict=True)
    ]
    return sorted(
        placed,
        key=lambda row: (row.rank is None, -(row.main.value or 0), -second_value(row), row.label),
    )


def _unranked(row: AgentResult) -> str:
    if row.run is None:
        return "published"
    if row.run.agent_kind == "recorded":
        return UNEQUAL_POOLS if row.pool is not None else MADE_ELSEWHERE
    if not row.run.finished:
        return f"the run is not finished: {row.run.done} of {row.run.total} trajectories"
    return ""


def second_value(row: AgentResult) -> float:
    """Return the second measure of an agent, 0 where it has none: rows with equal ranks by it."""
    return (row.second.value or 0.0) if row.second is not None else 0.0


def is_recorded(row: AgentResult) -> bool:
    return row.run is not None and row.run.agent_kind == "recorded"
