"""Which agent is better? Agents ranked by the headline measures of a system, beside published rows.

`analysis.pages.leaderboard.rows` estimates each agent; here is what is said and shown of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from analysis.figures.layout.theme import Figure
from analysis.figures.leaderboard import BoardAxis, LeaderboardRow, leaderboard_figure
from analysis.filters import ALL_TASKS
from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import ACCURATE, VALID, outcome_frame
from analysis.frames.sizes import pool_sizes
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.empty import no_runs
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.pages.correction import corrected_measure, say_correction, show_correction
from analysis.pages.leaderboard.rows import (
    BOTH,
    DIFFER,
    EXHAUSTED,
    AgentResult,
    blind_rows,
    by_estimate,
    is_recorded,
    published_rows,
    ranked,
    row_of,
    second_value,
)
from analysis.pages.uncertainty.page import uncertainty_line
from analysis.reports import addresses, figure_specs, run_marks, system_facts
from analysis.reports import content as parts
from analysis.reports.content import Cell, estimate_cell, exclusions
from analysis.reports.extremes import beyond
from analysis.reports.formatting import (
    counted,
    ends,
    first_up,
    left_out_sentence,
    listed,
    number,
    plural,
    unit_of,
    unit_of_differences,
)
from analysis.reports.published import NO_COUNT
from analysis.stats.comparison.extremes import Extreme, compared_models, find_extreme
from analysis.stats.comparison.model_comparisons import (
    ModelComparisons,
    PairwiseRank,
    compare_models,
)
from analysis.stats.rater_agreement.correlation import pearson
from analysis.stats.results import Estimate
from benchmarks.core.conditions import STANDARD
from benchmarks.core.ports.labels import Measure
from benchmarks.runs.selectors import STUCK
from benchmarks.validity.selectors import CertifiedValidity

if TYPE_CHECKING:
    from pandas import DataFrame

PURPOSE = "The leaderboard compares agents by the measure that their benchmark ranks them by."


def content(page: Page) -> Content:
    """Rank the agents, and say whether the first leads."""
    labels, selection = page.system.labels, page.selection
    if not page.runs or not labels.headlines:
        no_runs(page, PURPOSE)
        return
    measures, headline = {**labels.measures, **BOTH}, labels.headlines[:2]
    main = measures[headline[0]]
    second = measures[headline[1]] if len(headline) > 1 else None
    frame = outcome_frame(page.runs, [*measures, DIFFER])
    titles, pools = system_facts.titles_of(selection.system), pool_sizes(page.runs)
    rows = ranked([
        row_of(run, frame, measures, titles, headline)._replace(pool=pools.get(run.pk))
        for run in page.runs
    ])  # fmt: skip
    corrected = corrected_measure(page, frame, headline[0], main.title, (0, 1))
    judged = [row for row in rows if row.main.value is not None]
    if corrected is not None:
        rows = ranked([by_estimate(row, headline[0], corrected.value(row.label)) for row in rows])
    placed = [row for row in rows if row.rank is not None and row.main.value is not None]
    compared = _compare_placed(page, frame, headline[0], main, placed)
    if corrected is not None:
        compared = corrected.compared([r.label for r in placed], page.selection.agents_here)
    extreme = find_extreme({row.label: row.main.value for row in placed}, compared_models(compared))
    ranks = {rank.model: rank for rank in compared.ranks} if len(placed) > 1 else {}
    certificate, every_task = selection.certificate, selection.filters.tasks == ALL_TASKS
    blind = (
        blind_rows(
            certificate, {run.level for run in page.runs}, measures, headline, every=every_task
        )
        if certificate is not None
        else []
    )
    published = []
    if selection.filters.published != "hide":
        published = published_rows(selection.system, measures, headline)
    every_row = [*rows, *blind, *published]
    defined = [row for row in rows if row.main.value is not None]

    page.answer(_answer(rows, defined, placed, extreme, main, second))
    page.answers = bool(defined)
    points = unit_of_differences(main)
    if corrected is not None:
        say_correction(page, corrected.correction, corrected.models, points)
    page.compared([extreme.difference] if extreme.difference is not None else [], points)
    by_judges = ", by the judges’ scores" * (corrected is not None)
    _warn_of_blind(page, judged, blind, main, by_judges)
    _warn_of_recorded(page, rows, headline, measures)
    _warn_of_unranked(page, rows)

    means = [measures[name].title for name in labels.measures if measures[name].kind != "rate"]
    shown = [name for name in labels.measures if corrected is None or name != headline[0]]
    rates = [measures[name].title for name in shown if measures[name].kind == "rate"]
    by_task = corrected is None and any(
        row.main.interval is not None and row.main.interval.unit for row in rows
    )
    both = f"{main.name} and {second.name}" if second is not None else main.name
    filled = "Filled: run here." + f" Diamonds: blind policies{by_judges}." * bool(blind)
    filled += " Open circles, dotted: published." * bool(published)
    page.figure(
        "board",
        f"{first_up(both)}, with 95 % intervals",
        lambda: _draw(page, every_row, [one for one in (main, second) if one is not None]),
        subtitle=filled if published or blind else plural(len(rows), "agent"),
    )
    page.table(
        "board",
        "Leaderboard",
        every_row,
        _columns(every_row, list(labels.measures), measures, headline, ranks, certificate),
        link=_link,
        note=_note(page, rows, ranks, rates, blind, published, by_task=by_task),
    )
    if page.system.validity is not None and certificate is None and selection.dataset is not None:
        url = addresses.address("benchmarks:dataset_validity", dataset_id=selection.dataset.pk)
        page.onward("Certify the dataset", url)
    if len(page.runs) > 1:
        page.onward("Is the difference between two agents real?", page.other("compare-models"))
        if system_facts.judge_roles(selection.system):
            page.onward("On which dimensions?", page.other("rubric"))
        page.onward("What would narrow the intervals?", page.other("uncertainty"))
    yield

    page.info(uncertainty_line(page), page.other("uncertainty"))
    if corrected is not None:
        show_correction(page, corrected.models, unit_of(main), main.title)
    page.table(
        "counted",
        "Where it matters which dimensions count",
        [row for row in rows if len({row.estimates[name].value for name in BOTH}) > 1],
        [columns.text("Agent", lambda row: row.label), *map(_both_column, BOTH)],
        link=_link,
        note=f"Agents whose {main.name} differs between all dimensions and the main ones"
        f"{by_judges}.",
    )
    _correlations(page, rows, main, measures)
    page.how(f"Agents are ranked by {main.title}. {main.help}")
    if rates:
        wald = f"; beside {main.title} the Wald interval, cut off at 0 and 100 %"
        wald *= main.kind == "rate"
        page.how(f"{listed(rates)}: shares with 95 % Wilson intervals{wald}.")
    if means:
        page.how(f"{listed(means, most=12)}: arithmetic means with 95 % t intervals.")
    if by_task:
        page.how(
            "Tasks were tried several times, so intervals take tasks as independent, not "
            "trajectories: CR2 standard errors by task, for shares within Wilson’s formula."
        )
    left_out = exclusions([row.main for row in rows])
    page.how(
        "An agent leads where its difference from every other agent is clear. Differences are "
        "paired on common tasks; their intervals are simultaneous over all pairs of agents "
        "(Bonferroni), as on Compare models.",
        left_out_sentence(left_out, main.title),
    )
    shares = f"{listed(rates)} (shares of trajectories)" if rates else ""
    over = f"{listed(means, most=99)} (means over trajectories)" if means else ""
    page.methods(
        f"Agents are compared by {' and by '.join(filter(None, (shares, over)))}; a lead is the "
        "mean difference on the tasks that both agents finished."
    )


def _compare_placed(
    page: Page, frame: "DataFrame", metric: str, main: Measure, placed: Sequence[AgentResult]
) -> ModelComparisons:
    """Compare all pairs of the agents that have a rank."""
    runs = {row.run.pk for row in placed if row.run is not None}
    mine = frame[frame["run"].isin(runs)]
    return compare_models(
        mine["label"].tolist(),
        mine["task"].tolist(),
        mine[metric].to_numpy(),
        measure=main.title,
        among=max(page.selection.agents_here, len(placed)),
        most=main.most,
    )


def _answer(
    rows: Sequence[AgentResult],
    defined: Sequence[AgentResult],
    placed: Sequence[AgentResult],
    extreme: Extreme,
    main: Measure,
    second: Measure | None,
) -> str:
    """Say who leads, as far as anybody does."""
    points, verb = unit_of_differences(main), "is" if main.says else "has"
    if not defined:
        return _why_undefined(rows, main, second)
    first = next(iter(placed or defined))
    if len(defined) == 1:
        return (
            f"{first.label} {verb} {_stated(first.main, main)}; no other agent is here to compare "
            "it with."
        )
    if len(placed) < 2:
        low = min(defined, key=lambda row: row.main.value or 0)
        high = max(defined, key=lambda row: row.main.value or 0)
        low_value, high_value = (_value(row.main, main) for row in (low, high))
        return (
            f"{first_up(main.name)} lies between {low_value} ({low.label}) and {high_value} "
            f"({high.label}), but these agents cannot be ranked: "
            f"{first.no_rank or rows[-1].no_rank}."
        )
    leaders, lead = listed(extreme.names), beyond(extreme, points)
    if len({row.main.n for row in placed if row.rank == 1}) > 1:  # one n would not be that of all
        each = f"{main.says or main.name} {_value(first.main, main)}"
    else:
        each = _stated(first.main, main)
    each = f"{'are' if main.says else 'have'} each {each}"
    if extreme.verdict == "equal":
        return f"No agent leads: {leaders} {each}."
    several = len(extreme.names) > 1
    if extreme.is_clear and several:
        return f"{leaders} lead together: they {each}, {lead}."
    if extreme.is_clear:
        return f"{first.label} leads: {_stated(first.main, main)}, {lead}."
    has = each if several else f"{verb} {_stated(first.main, main)}"
    return f"No agent clearly leads. {leaders} {has}, {lead}: not a clear difference."


def _value(estimate: Estimate, main: Measure) -> str:
    """Return a value of the first measure, with its sign where it is stored in percent."""
    return number(estimate.value or 0.0, unit_of(main)) + " %" * (main.kind == "percent")


def _stated(estimate: Estimate, main: Measure) -> str:
    """Return such as: accurate on 61.2 % of 49 trajectories (95 % Wilson interval 47.1 to 73.6 %),
    or: preference satisfaction 44.1 % over 128 trajectories (…).
    """
    over = "of" if main.says else "over"
    value = number(estimate.value or 0.0, unit_of(main)) if main.says else _value(estimate, main)
    n = plural(estimate.n, "trajectory", "trajectories")
    interval = estimate.interval
    if interval is None:
        return f"{main.says or main.name} {value} {over} {n}"
    method = interval.method.title() if main.kind == "rate" else interval.method
    if interval.method.startswith("t by task, "):  # which the next sentence says
        method, value = "t", f"an estimated {value}"
    inside = ends(interval, unit_of(main)) + " %" * (main.kind == "percent")
    return f"{main.says or main.name} {value} {over} {n} (95 % {method} interval {inside})"


def _why_undefined(rows: Sequence[AgentResult], main: Measure, second: Measure | None) -> str:
    """Say why what agents are ranked by is undefined, and what can be said instead."""
    reasons = exclusions([row.main for row in rows])
    why = max(reasons, key=lambda reason: reasons[reason], default="nothing was scored")
    text = f"{first_up(main.name)} is undefined for every agent here: {why}."
    dry = sorted(
        ((row.endings.get(EXHAUSTED, 0), row) for row in rows if is_recorded(row)),
        key=lambda pair: pair[0],
    )
    if len(dry) == len(rows) and any(count for count, _ in dry):
        (least, first), (most, last) = dry[0], dry[-1]
        span = f"{least} ({first.label}) to {most} ({last.label})" if most > least else f"{most}"
        done = plural(last.run.done if last.run else 0, "trajectory", "trajectories")
        return f"{text} The pool of recorded answers ran dry in {span} of {done}."
    known = [row for row in rows if row.second is not None and row.second.value is not None]
    if not known or second is None:
        return text
    known.sort(key=second_value)
    worst, best = (number(second_value(row), unit_of(second)) for row in (known[0], known[-1]))
    if second_value(known[0]) == second_value(known[-1]):
        whom = known[-1].label if len(known) == 1 else "each agent"
        return f"{text} The {second.name} is {best} for {whom}."
    return (
        f"{text} The {second.name} lies between {worst} ({known[0].label}) and {best} "
        f"({known[-1].label})."
    )


def _warn_of_blind(
    page: Page,
    judged: Sequence[AgentResult],
    blind: Sequence[AgentResult],
    main: Measure,
    by_judges: str,
) -> None:
    """Warn where a policy that does not read its task does as well, or where none was tried.

    People rate no blind policy, so agents are compared with it before people correct them.
    """
    if page.system.validity is not None and page.selection.certificate is None:
        page.warning(
            "This dataset is not validated yet: the scores of blind policies, which do not read "
            "the task, are unknown."
        )
    best = next((row.main.value for row in blind if row.main.value is not None), None)
    if best is None:
        return
    no_better = sum((row.main.value or 0) <= best for row in judged)
    if no_better:
        value = number(best, unit_of(main)) + " %" * (main.kind == "percent")
        page.warning(
            f"A blind policy, which does not read the task, scores {value}{by_judges}: {no_better} "
            f"of {plural(len(judged), 'agent')} here score{'s' * (no_better == 1)} no more."
        )


def _warn_of_recorded(
    page: Page,
    rows: Sequence[AgentResult],
    headline: Sequence[str],
    measures: Mapping[str, Measure],
) -> None:
    """Say why agents that draw recorded answers have no rank."""
    recorded = [row for row in rows if is_recorded(row)]
    if any(row.pool is not None for row in recorded):
        dry = sum(row.endings.get(EXHAUSTED, 0) for row in recorded)
        outside = listed([measures[name].title for name in headline])
        page.warning(
            "Recorded agents have no rank: the authors’ pools of answers differ in size, and a "
            f"larger pool lasts longer. {plural(dry, 'trajectory', 'trajectories')} ended because "
            f"the pool ran dry and are outside {outside}"
            f"{', so VPR is high by construction' * (VALID in headline)}: compare how often the "
            "pool ran dry, beside its size."
        )
    elif recorded:
        page.warning(
            "Recorded agents have no rank: their answers were made elsewhere, under settings that "
            "are not known here."
        )


def _warn_of_unranked(page: Page, rows: Sequence[AgentResult]) -> None:
    """Name trajectories without an outcome, and agents that were made or judged otherwise."""
    stuck = {
        row.label: count
        for row in rows
        if row.run and (count := sum(row.run.counts.get(status, 0) for status in STUCK))
    }
    if stuck:
        page.warning(f"Trajectories that failed are not counted: {counted(stuck)}.")
    otherwise = [row for row in rows if row.no_rank.startswith("made or judged")]
    if otherwise:
        names = listed([row.label for row in otherwise])
        page.warning(f"Not ranked, because {otherwise[0].no_rank}: {names}.")


def _note(
    page: Page,
    rows: Sequence[AgentResult],
    ranks: Mapping[str, PairwiseRank],
    rates: Sequence[str],
    blind: Sequence[AgentResult],
    published: Sequence[AgentResult],
    *,
    by_task: bool,
) -> str:
    """Say what the values of the table are."""
    wilson = f"Wilson for {listed(rates)}, " if rates else ""
    again = "; by task, because tasks were tried several times" * by_task
    sentences = [f"With 95 % intervals: {wilson}t for means{again}."]
    if ranks:
        # The lead is one difference of all pairs of so many agents.
        pairs = page.selection.agents_here * (page.selection.agents_here - 1) // 2
        sentences.append(
            "With a rank: the ranks compatible with all pairwise differences, 95 % for all agents "
            f"together{f', Bonferroni over {pairs:,} pairs' * (pairs > 1)}."
        )
    if published:
        sentences.append(
            "Published rows: n inferred from the printed percentages, level not stated, means "
            "without intervals."
        )
    certificate = page.selection.certificate
    if certificate is not None:
        sentences.append(f"{certificate.usable_words} (certificate {certificate.row.digest}).")
    if blind:
        sentences.append(
            "Blind policies do not read their task; they are baselines and have no rank."
        )
        if not all(row.run is None or row.run.condition == STANDARD for row in rows):
            sentences.append("They were played under the standard settings.")
    return " ".join(sentences)


def _draw(page: Page, rows: Sequence[AgentResult], shown: Sequence[Measure]) -> Figure:
    """Draw what agents are ranked by, and the second measure where there is one."""
    marks = [
        LeaderboardRow(
            row.label,
            row.main,
            row.second,
            "blind" if row.blind else "published" if row.run is None else "run here",
            page.url(runs=(row.run.pk,)) if row.run is not None else None,
        )
        for row in rows
    ]
    averaged = {"rate": "share of trajectories", "fraction": "mean over trajectories"}
    axes = [
        BoardAxis(
            first_up(measure.name),
            "share" if measure.in_percent else "points",
            measure.most,
            averaged.get(measure.kind, measure.title),
        )
        for measure in shown
    ]
    return leaderboard_figure(marks, axes, figure_specs.styles([row.label for row in rows]))


def _link(row: AgentResult) -> Link | None:
    """Return the trajectories of an agent; published rows have none."""
    return Link(runs=(row.run.pk,)) if row.run is not None else None


def _columns(
    rows: Sequence[AgentResult],
    shown: Sequence[str],
    measures: Mapping[str, Measure],
    headline: Sequence[str],
    ranks: Mapping[str, PairwiseRank],
    certificate: CertifiedValidity | None,
) -> list[Column[AgentResult]]:
    """Give rank, n, what decides the rank, other measures, and what was left out."""
    main = measures[headline[0]]
    best = next((row.run for row in rows if row.run is not None), None)
    shown_columns: list[Column[AgentResult]] = [
        Column(parts.Column("Agent", ("agent", "kind", "run"), num=False), _agent),
        Column(
            parts.Column(
                "Rank",
                ("rank", "rank low", "rank high"),
                help="1 is best; under it the ranks compatible with all pairwise differences. "
                "Links to the tasks beside those of the first",
            ),
            lambda row: _rank(row, ranks.get(row.label)),
            lambda row: _beside(row, best, headline[0]),
        ),
        _n_column(main, headline[0], certificate),
        Column(
            parts.estimate_column(main.title, help=main.help),
            lambda row: estimate_cell(row.main, unit_of(main), url=_successes(row, headline[0])),
        ),
    ]
    if main.kind == "rate":
        shown_columns.append(columns.wald(lambda row: row.wald, f"{main.title.lower()} wald"))
    shown_columns += [
        _measure_column(name, measures[name]) for name in shown if name != headline[0]
    ]
    if any(row.pool is not None for row in rows):
        size = parts.number_column("Pool", "pool", "Recorded answers per task, on average")
        without = "this agent has no pool"
        dry = "Trajectories that no answer was left for"
        shown_columns += [
            Column(size, lambda row: parts.number_cell(row.pool, "number", reason=without)),
            Column(parts.number_column("Ran dry", "pool ran dry", dry), _ran_dry),
        ]
    without = f"Trajectories without {main.title}, by reason"
    left_out = parts.Column("Left out", ("left out",), help=without)
    shown_columns.append(Column(left_out, lambda row: _left_out(row, headline[0])))
    if VALID in shown:
        other = "Trajectories that would end at another turn under the other early-stop rule"
        nothing = "not recorded for these runs"
        head = parts.number_column("Readings differ", help=other)
        shown_columns.append(
            Column(
                head,
                lambda row: parts.count_cell(
                    row.differ, reason=row.no_rank if row.run is None else nothing
                ),
            )
        )
    return shown_columns


def _n_column(
    main: Measure, metric: str, certificate: CertifiedValidity | None
) -> Column[AgentResult]:
    """Give the trajectories that count, with how many tasks are usable, where that is known."""
    # The list of trajectories knows accuracy alone among what agents are ranked by.
    known = {ACCURATE: ["yes", "no"]} if metric == ACCURATE else {}

    def cell(row: AgentResult) -> Cell:
        unknown = row.main.value is not None and not row.main.n
        counts = parts.count_cell(
            None if unknown else row.main.n, url=_list(row, **known), reason=NO_COUNT
        )
        if certificate is None:
            return counts
        if row.run is None and not row.blind:
            return replace(counts, data=(*counts.data, None, None))
        usable, checked = certificate.usable_at(row.run.level if row.run is not None else None)
        sub = f"{usable:,} of {checked:,}" if usable < checked else ""
        return replace(counts, data=(*counts.data, usable, checked), sub=sub)

    head = parts.number_column("n", "trajectories", f"Trajectories that {main.title} counts")
    if certificate is not None:
        head = replace(
            head,
            parts=("trajectories", "usable", "checked"),
            help=f"{head.help}; under it the usable tasks, where not all are",
        )
    return Column(head, cell)


def _agent(row: AgentResult) -> Cell:
    if row.run is not None:
        return run_marks.agent_cell(row.run)
    kind, badge = (
        ("blind", run_marks.BLIND_BADGE) if row.blind else ("published", run_marks.PUBLISHED_BADGE)
    )
    return Cell(row.label, (row.label, kind, row.source), badges=(replace(badge, why=row.source),))


def _rank(row: AgentResult, compatible: PairwiseRank | None) -> Cell:
    if row.rank is None:
        return Cell(data=(None, None, None), reason=row.no_rank)
    if compatible is None or compatible.low is None or compatible.high is None:
        return Cell(f"{row.rank}", (row.rank, None, None))
    low, high = compatible.low, compatible.high
    sub = f"{low} to {high}" if low != high else f"{low}"
    return Cell(f"{row.rank}", (row.rank, low, high), sub=sub)


def _beside(row: AgentResult, best: ChosenRun | None, metric: str) -> Link | None:
    """Return the page where the agent at the top and this one are compared task by task."""
    if row.run is None or best is None or row.run.pk == best.pk:
        return _link(row)
    return Link(url=addresses.side_by_side(best, row.run, metric))


def _measure_column(name: str, measure: Measure) -> Column[AgentResult]:
    def cell(row: AgentResult) -> Cell:
        estimate = row.estimates[name]
        return estimate_cell(
            estimate,
            unit_of(measure),
            show_n=estimate.value is not None and estimate.n != row.main.n,
            url=_successes(row, VALID) if name == VALID else "",
        )

    return Column(parts.estimate_column(measure.title, help=measure.help), cell)


def _ran_dry(row: AgentResult) -> Cell:
    dry = row.endings.get(EXHAUSTED) if row.run is None else row.endings.get(EXHAUSTED, 0)
    url = _list(row, end=EXHAUSTED) if dry else ""
    return parts.count_cell(dry, reason=row.no_rank, url=url)


def _list(row: AgentResult, **more: object) -> str:
    return addresses.trajectories_of(row.run, **more) if row.run is not None else ""


def _successes(row: AgentResult, metric: str) -> str:
    """Return the trajectories that a share counts; the list knows two such measures."""
    if row.run is None or metric not in (ACCURATE, VALID):
        return _list(row)
    return addresses.successes(row.run, row.estimates[metric], metric)


def _left_out(row: AgentResult, metric: str) -> Cell:
    excluded = row.main.excluded
    total = sum(excluded.values())
    if not total:
        none = "0" if row.run is not None else ""
        return Cell(none, (none,))
    words = counted(excluded)
    known = {ACCURATE: "undefined"} if metric == ACCURATE else {}
    return Cell(f"{total:,}", (words,), tip=words, url=_list(row, **known))


def _both_column(name: str) -> Column[AgentResult]:
    title, help = BOTH[name].title, BOTH[name].help
    return columns.estimate(title, lambda row: row.estimates[name], "share", help=help, show_n=True)


def _correlations(
    page: Page, rows: Sequence[AgentResult], main: Measure, measures: Mapping[str, Measure]
) -> None:
    """Add how the first measure goes with what the paper correlates it with."""
    paper = page.system.paper
    n, source = paper.correlations_n, paper.correlations_source

    def here(metric: str) -> Estimate:
        values = [row.estimates[metric].value for row in rows]
        return pearson([row.main.value for row in rows], values, unit="agent")

    def published(metric: str) -> Cell:
        value = paper.correlations[metric]
        data = (value, n, f"{paper.name}, {source}")
        return Cell(f"{value:+.3f}", data, sub=f"n = {n} models", source=source)

    page.table(
        "correlation",
        "Accuracy and what agents bring to light",
        list(paper.correlations),
        [
            columns.text(
                "Pair",
                lambda metric: f"{main.title} with {measures[metric].title}",
                sub=lambda metric: measures[metric].help,
            ),
            columns.estimate("Here", here, "points", signed=True, show_n=True),
            Column(parts.Column("Published", ("published", "published n", "source")), published),
        ],
        note="Pearson across agents, with Fisher's interval. Few points: one agent can make it.",
    )
