"""The page that compares agents in pairs, task by task, with tests corrected for their number."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from analysis.figures.layout.theme import Figure
from analysis.figures.model_pairs import PairMark, pair_forest, pair_matrix
from analysis.figures.tool_use import SharePart, share_cells
from analysis.filters.page_filters import known_dimensions, measures_here
from analysis.filters.selection import ChosenRun
from analysis.frames.scores import measure_frame
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.empty import no_runs
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.pages.comparisons import (
    NOT_TESTED,
    clear_column,
    interval_and_n,
    itself,
    left_out_column,
    p_column,
    scale_of,
    tasks_column,
)
from analysis.pages.correction import (
    NO_WALD,
    CorrectedMeasure,
    corrected_measure,
    say_correction,
    show_correction,
)
from analysis.pages.leaderboard.rows import signature
from analysis.pages.outcome_estimates import estimate_measure, left_out
from analysis.reports import addresses, system_facts
from analysis.reports import content as parts
from analysis.reports.content import Cell, exclusions, how_interval, number_cell, rounded
from analysis.reports.formatting import (
    Unit,
    counted,
    difference,
    ends,
    left_out_sentence,
    level,
    listed,
    number,
    p_words,
    plural,
    unit_of_differences,
)
from analysis.reports.published import published_estimate
from analysis.stats.comparison.model_comparisons import (
    ModelPair,
    PairwiseRank,
    compare_models,
    turned_pair,
)
from analysis.stats.descriptive.proportions import share
from analysis.stats.results import Estimate
from benchmarks.core.ports.labels import Measure
from benchmarks.core.ports.published import Published

if TYPE_CHECKING:
    from pandas import DataFrame

# So many pairs are shown beside each other; of more, those of the agent with the highest value.
MOST_PAIRS = 15
NO_RANK = "no value: no rank"


class AgentValue(NamedTuple):
    """An agent on the measure; ``wald`` is undefined for means."""

    run: ChosenRun
    value: Estimate
    wald: Estimate


def content(page: Page) -> Content:
    """Compare all pairs of agents on the chosen measure."""
    runs, system, filters = page.runs, page.selection.system, page.selection.filters
    metric, measures = filters.measure, measures_here(system)
    if not runs or metric not in measures:
        no_runs(page, "This page compares agents two by two on the tasks that both have.")
        return
    measure, (low, high) = measures[metric], scale_of(system, metric)
    title, unit = measure.title, unit_of_differences(measure)
    frame = measure_frame(runs, metric, system)
    corrected = corrected_measure(page, frame, metric, title, (low, high))
    valued = [_value(run, frame, metric, measure, system) for run in runs]
    if corrected is not None:
        valued = [_corrected(one, corrected) for one in valued]
    agents = sorted(
        valued,
        key=lambda one: (one.value.value is None, -(one.value.value or 0), one.run.label),
    )
    places = {one.run.label: place for place, one in enumerate(agents)}
    ordered = frame.assign(place=frame["label"].map(places)).sort_values("place", kind="stable")
    comparisons = compare_models(
        ordered["label"].tolist(),
        ordered["task"].tolist(),
        ordered[metric].to_numpy(),
        measure=title,
        among=page.selection.agents_here,
        most=None if high is None or low is None else high - low,
    )
    if corrected is not None:
        comparisons = corrected.models.comparisons
    family, run_of = comparisons.family, {run.label: run for run in runs}
    against = {run.agent: run.label for run in runs}.get(filters.against, "")
    pairs = drawn = comparisons.against(against) if against else comparisons.pairs
    best = agents[0].run.label
    if not against and len(pairs) > MOST_PAIRS:
        drawn = tuple(pair for pair in pairs if best in (pair.first, pair.second))
    of_the_best = len(drawn) < len(pairs)
    tested = [pair for pair in pairs if pair.comparison.p_value is not None]
    binary = any(pair.comparison.table is not None for pair in comparisons.pairs)

    def tasks(pair: ModelPair, flip: str = "") -> str:
        """Return the address of a pair's tasks; of scores those furthest apart come first."""
        query = {"flip": flip} if flip else {}
        if not measure.in_percent:
            query["sort"] = {"won": "difference", "lost": "-difference"}.get(flip, "size")
        return addresses.side_by_side(run_of[pair.first], run_of[pair.second], metric, **query)

    named = _answer(page, agents, tested, family.size, against, measure)
    page.answers = bool(tested)
    page.compared([pair.comparison.difference for pair in tested], unit)
    if corrected is not None:
        say_correction(page, corrected.correction, corrected.models, unit)
    if named is not None:
        page.onward(f"{named.first} and {named.second}, task by task", tasks(named))
    if any(run.agent_kind == "recorded" for run in runs):
        page.warning(
            "Read with care: the authors' pools of answers differ in size, and a larger pool lasts "
            "longer."
        )
    alike: dict[tuple[str, ...], list[str]] = {}
    for run in runs:
        alike.setdefault(signature(run), []).append(run.label)
    most = max(alike.values(), key=len)
    otherwise = [label for labels in alike.values() if labels is not most for label in labels]
    if otherwise:
        page.warning(
            "Made or judged otherwise than most runs here (settings, judges, versions, number of "
            f"tasks), so a difference may come from that: {listed(otherwise)}."
        )

    axis: Literal["share", "points"] = "share" if measure.in_percent else "points"
    which = f"Every other agent minus {against}" if against else "Every pair"
    if of_the_best:
        which = f"{best}, which has the highest value, minus each of the others"

    def draw_differences() -> Figure | None:
        marks = [_mark(pair, unit, page.url(url=tasks(pair))) for pair in drawn]
        label = f"Difference in {title}{', in points' * measure.in_percent}"
        return pair_forest(marks, unit=axis, title=label) if marks else None

    page.figure(
        "differences",
        f"Differences in {title}, with simultaneous 95 % intervals",
        draw_differences,
        subtitle=f"{which}, on the tasks that both have. Filled marks: clear, the interval "
        "excludes 0.",
        table="pairs",
    )
    page.table(
        "pairs",
        "Pairs",
        pairs,
        _pair_columns(measure, run_of, tasks, binary=binary, counted=corrected is None),
        link=lambda pair: Link(url=tasks(pair)),
        note=f"Paired by task. Intervals and p-values are corrected over {family.statement} "
        "(Bonferroni).",
        most=MOST_PAIRS,
    )
    yield

    def draw_matrix() -> Figure | None:
        if against or len(agents) < 3:
            return None
        marks = [
            _mark(one, unit, page.url(url=tasks(pair)))
            for pair in comparisons.pairs
            for one in (pair, turned_pair(pair))
        ]
        return pair_matrix([one.run.label for one in agents], marks, unit=axis)

    def draw_wins() -> Figure | None:
        rows = {
            f"{pair.first} − {pair.second}": _parts(pair, tasks, binary=binary)
            for pair in drawn
            if pair.comparison.p_value is not None
        }
        outcomes = ["first higher", "equal", "second higher"]
        if binary:
            outcomes = ["first alone", "both", "neither", "second alone"]
        return share_cells(rows, outcomes) if rows and corrected is None else None

    page.figure(
        "matrix",
        "Row minus column",
        draw_matrix,
        subtitle=f"On the tasks that both have{', in points' * measure.in_percent}. A star marks a "
        "clear difference.",
        table="pairs",
        least_width=76 * len(agents) + 150,
    )
    page.figure(
        "wins",
        "Tasks won, tied and lost",
        draw_wins,
        subtitle=f"{f'Pairs of {best}' if of_the_best else which}: number of common tasks, shaded "
        "by their share.",
        table="pairs",
        least_width=500,
    )
    page.table(
        "ranks",
        "Ranks",
        agents,
        _rank_columns({rank.model: rank for rank in comparisons.ranks}),
        link=lambda one: Link(runs=(one.run.pk,)),
        note="An interval leaves out the ranks of agents that are clearly better or worse in the "
        "table of pairs. All of them hold together at 95 %."
        if pairs
        else "",
    )
    page.table(
        "values",
        f"{title} of each agent",
        agents,
        _value_columns(page, metric, measure),
        link=lambda one: Link(runs=(one.run.pk,)),
        note="Each agent alone, on all its tasks: such intervals do not say whether two agents "
        "differ.",
    )
    _published_table(page, metric, title)
    values = [one.value for one in agents]
    left_out = exclusions(values)
    if corrected is not None:
        show_correction(page, corrected.models, unit, title)
    page.how(
        f"{title}: {measure.help} Intervals: {how_interval(values) or 'none'}.",
        left_out_sentence(left_out),
    )
    if not pairs:
        return
    intervals = how_interval([pair.comparison.difference for pair in pairs]) or "no interval"
    not_tested = f" Not tested: {counted(family.excluded)}." if family.excluded else ""
    if corrected is not None:
        page.how(
            "Difference: of corrected means, with each task’s influence on both; t test by task. "
            f"Family: {family.statement}, whichever are shown (Bonferroni)."
        )
        return
    page.how(
        "Difference: mean over common tasks of first minus second, every task with the same "
        f"weight; {intervals}.",
        "Test: the score test that the interval inverts; two-sided. With one attempt at each task "
        "that succeeds or fails it is McNemar's χ² without correction, else its cluster-robust "
        "form over tasks.",
        f"Family: {family.statement}, whichever are shown; {family.method}, α = {family.alpha}. An "
        f"interval excludes 0 exactly where the corrected p is under {family.alpha}: that is "
        f"called clear.{not_tested}",
        "Ranks: 1 for the highest value. An agent's interval leaves out the ranks of those that "
        "are clearly better or clearly worse; all intervals of ranks hold together at 95 %.",
    )
    page.methods(
        f"Agents were compared two by two on {title}, as the mean difference on the tasks that "
        f"both have; intervals and score tests are corrected over {family.statement} (Bonferroni)."
    )


def _value(
    run: ChosenRun, frame: "DataFrame", metric: str, measure: Measure, system: str
) -> AgentValue:
    """Estimate the measure of an agent, on all its tasks."""
    mine, titles = frame[frame["run"] == run.pk], system_facts.titles_of(system)
    excluded = left_out(run, mine, metric, titles)
    value = estimate_measure(mine, metric, measure, excluded, scale_of(system, metric))
    known = mine[mine[metric].notna()]
    if not len(known):
        return AgentValue(run, value, value)
    if measure.kind != "rate":
        return AgentValue(run, value, Estimate.without_value("a mean, no share"))
    if known["task"].duplicated().any():
        again = "several attempts at a task: they are not independent"
        return AgentValue(run, value, Estimate.without_value(again))
    return AgentValue(run, value, share(int(known[metric].sum()), len(known), method="wald"))


def _corrected(one: AgentValue, corrected: CorrectedMeasure) -> AgentValue:
    """Return the value of an agent that the page shows in place of the judges'."""
    return AgentValue(one.run, corrected.value(one.run.label), Estimate.without_value(NO_WALD))


def _answer(
    page: Page,
    agents: Sequence[AgentValue],
    tested: Sequence[ModelPair],
    corrected: int,
    against: str,
    measure: Measure,
) -> ModelPair | None:
    """Say how many pairs differ, and name one: the two best, or the furthest from ``against``."""
    known = [one.run.label for one in agents if one.value.value is not None]
    if not known:
        why = agents[0].value.undefined
        page.answer(f"{measure.title} is undefined for every agent here: {why}.")
        return None
    if len(agents) < 2:
        page.answer(f"{known[0]} is the only agent here, so there is none to compare it with.")
        return None
    if not tested:
        page.answer("No two of these agents have a task in common that was scored for both.")
        return None
    is_headline = page.selection.filters.measure in page.system.labels.headlines[:1]
    is_better = measure.in_percent or is_headline
    clear = [pair for pair in tested if pair.clear]
    if against:
        up = sum((pair.comparison.difference.value or 0) > 0 for pair in clear)
        better, worse = ("better", "worse") if is_better else ("higher", "lower")
        page.answer(
            f"Of {plural(len(tested), 'other agent')}, {up:,} {'is' if up == 1 else 'are'} clearly "
            f"{better} than {against} and {len(clear) - up:,} clearly {worse}."
        )
        named = max(tested, key=lambda pair: abs(pair.comparison.difference.value or 0))
    else:
        if len(tested) > 1:
            differ = "differs" if len(clear) == 1 else "differ"
            page.answer(
                f"{len(clear):,} of {plural(len(tested), 'pair')} of agents {differ} clearly."
            )
        best = set(known[:2])
        named = next((pair for pair in tested if {pair.first, pair.second} == best), tested[0])
    lead = named if (named.comparison.difference.value or 0) >= 0 else turned_pair(named)
    change, unit = lead.comparison.difference, unit_of_differences(measure)
    by, on = difference(change.value or 0.0, unit), "" if is_headline else f" on {measure.title}"
    if not change.value:
        text = f"{named.first} and {named.second} have the same {measure.title}, {by} apart"
    elif named.clear:
        beats = "beats" if is_better else "is higher than"
        text = f"{lead.first} {beats} {lead.second}{on} by {by}"
    else:
        text = (
            f"{lead.first} and {lead.second} do not differ clearly{on}: {lead.first} is {by} higher"
        )
    p = p_words(1.0 if named.p_adjusted is None else named.p_adjusted)
    over = f", Bonferroni over {corrected:,} pairs" if corrected > 1 else ""
    page.answer(f"{text} ({interval_and_n(change, unit)}; {p}{over}).")
    return named


def _mark(pair: ModelPair, unit: Unit, url: str) -> PairMark:
    """Return the mark of first minus second."""
    change = pair.comparison.difference
    text = ""
    if change.value is not None:
        text = number(change.value, unit, signed=True).removesuffix(" %")
    about = f"n = {plural(change.n, 'task')}"
    if change.interval is not None:
        about += f"; {level(change.interval)} interval {ends(change.interval, unit, signed=True)}"
    if pair.p_adjusted is not None:
        about += f"; {p_words(pair.p_adjusted)}"
    return PairMark(pair.first, pair.second, change, pair.clear, text, about, url)


def _parts(pair: ModelPair, tasks: Callable[..., str], *, binary: bool) -> list[SharePart]:
    """Return the common tasks of a pair by who wins them."""
    comparison = pair.comparison
    total = comparison.wins + comparison.ties + comparison.losses

    def part(count: int, flip: str = "") -> SharePart:
        return SharePart(count, count / total if total else None, tasks(pair, flip) if flip else "")

    won, lost = part(comparison.wins, "won"), part(comparison.losses, "lost")
    if not binary:
        return [won, part(comparison.ties), lost]
    table = comparison.table
    if table is None:  # several attempts at a task of this pair alone
        return [won, part(comparison.ties), part(0), lost]
    return [won, part(table.both, "both_pass"), part(table.neither, "both_fail"), lost]


def _pair_columns(
    measure: Measure,
    run_of: Mapping[str, ChosenRun],
    tasks: Callable[..., str],
    *,
    binary: bool,
    counted: bool,
) -> list[Column[ModelPair]]:
    """Give each pair its values, its counts, its test and its verdict.

    Corrected by people no task is won or lost, so nothing is ``counted``.
    """
    first, second = "First higher", "Second higher"
    if measure.in_percent:
        first, second = "Won", "Lost"

    def agent(name: str) -> Cell:
        return parts.text_cell(name, url=addresses.trajectories_of(run_of[name]))

    def value(row: ModelPair, mean: float | None) -> Cell:
        reason = NOT_TESTED if row.comparison.p_value is None else ""
        return number_cell(mean, unit_of_differences(measure), reason=reason)

    def flips(flip: str) -> Callable[[ModelPair], Link]:
        return lambda pair: Link(url=tasks(pair, flip))

    counts: list[Column[ModelPair]] = [
        tasks_column(
            first, "wins", lambda one: one.wins, "Tasks on which the first is better: n10",
            link=flips("won"),
        ),
        tasks_column(
            second, "losses", lambda one: one.losses, "Tasks on which the second is better: n01",
            link=flips("lost"),
        ),
    ]  # fmt: skip
    if binary:
        once = "needs one attempt at each task that succeeds or fails"
        counts += [
            tasks_column(
                "Both", "both pass", lambda one: one.table.both if one.table else None,
                "Tasks on which both succeed: n11", reason=once, link=flips("both_pass"),
            ),
            tasks_column(
                "Neither", "both fail", lambda one: one.table.neither if one.table else None,
                "Tasks on which neither succeeds: n00", reason=once, link=flips("both_fail"),
            ),
        ]  # fmt: skip
    else:
        counts.append(tasks_column("Equal", "ties", lambda one: one.ties))
    return [
        Column(parts.text_column("First"), lambda row: agent(row.first)),
        Column(parts.text_column("Second"), lambda row: agent(row.second)),
        Column(
            parts.number_column(f"{measure.title}, first", "first value", "On the common tasks"),
            lambda row: value(row, row.comparison.first),
        ),
        Column(
            parts.number_column("second", "second value", "On the common tasks"),
            lambda row: value(row, row.comparison.second),
        ),
        columns.change(
            "Difference",
            lambda row: row.comparison.difference,
            unit_of_differences(measure),
            help="First minus second, simultaneous 95 % interval",
        ),
        *(counts if counted else ()),
        p_column(itself),
        clear_column(itself),
        left_out_column(itself),
    ]


def _rank_columns(ranks: Mapping[str, PairwiseRank]) -> list[Column[AgentValue]]:
    """Give each agent its rank, and the ranks that the clear pairs leave to it."""

    def rank(row: AgentValue) -> PairwiseRank | None:
        own = ranks.get(row.run.label)
        return own if own is not None and own.rank is not None else None

    def cell(row: AgentValue) -> Cell:
        own = rank(row)
        if own is None:
            return Cell(data=(None, None), reason=NO_RANK)
        return Cell(f"{own.low} to {own.high}", (own.low, own.high))

    return [
        columns.agent(lambda row: row.run),
        columns.count(
            "Rank",
            lambda row: own.rank if (own := rank(row)) else None,
            help="1 for the highest value; equal ones share the better rank",
            reason=NO_RANK,
        ),
        Column(parts.Column("95 % simultaneous interval", ("rank low", "rank high")), cell),
        columns.count("Tasks", lambda row: own.n if (own := rank(row)) else 0),
    ]


def _value_columns(page: Page, metric: str, measure: Measure) -> list[Column[AgentValue]]:
    """Give each agent's value with its interval; shares also with Wald's."""
    dimension = metric if metric in known_dimensions(page.selection.system) else ""

    def value(row: AgentValue) -> Cell:
        url = ""
        if metric in ("accurate", "valid"):
            url = addresses.successes(row.run, row.value, metric)
        unit = unit_of_differences(measure)
        return parts.estimate_cell(row.value, unit, url=url, show_n=True)

    shown: list[Column[AgentValue]] = [
        columns.agent(lambda row: row.run),
        Column(
            parts.estimate_column(measure.title, "value", measure.help),
            value,
            lambda row: Link(runs=(row.run.pk,), dimension=dimension),
        ),
    ]
    if measure.kind == "rate":
        shown.append(columns.wald(lambda row: row.wald))
    shown.append(
        columns.text(
            "Left out", lambda row: counted(row.value.excluded) or "none", help="By reason"
        )
    )
    return shown


def _published_table(page: Page, metric: str, title: str) -> None:
    """Add the printed interval of each published share beside Wald's and Wilson's."""
    entries = page.system.published if page.selection.filters.published != "hide" else ()
    printed = {entry.model: entry for entry in entries if entry.metric == f"{metric}_half_width"}

    def half_width(row: Published) -> Cell:
        interval = published_estimate(row, is_rate=True, method="wald").interval
        assert interval is not None
        return Cell(f"± {100 * interval.half_width:.2f}", (rounded(interval.half_width),))

    def printed_cell(row: Published) -> Cell:
        one = printed[row.model]
        return Cell(f"± {one.printed}", (rounded(one.value / 100),))

    page.table(
        "published",
        "Published intervals",
        [e for e in entries if e.metric == metric and e.model in printed and e.n],
        [
            columns.published(lambda row: row.model, lambda row: printed[row.model].note),
            Column(
                parts.number_column(title, "published"),
                lambda row: Cell(
                    f"{row.printed} %", (rounded(row.value / 100),), source=row.source
                ),
            ),
            Column(
                parts.number_column(
                    "Printed", "half width printed", "Half of the printed Wald interval"
                ),
                printed_cell,
            ),
            Column(
                parts.number_column("Wald", "half width", "The same from share and n, in points"),
                half_width,
            ),
            columns.estimate(
                "Wilson", lambda row: published_estimate(row, is_rate=True), "share", show_n=True
            ),
            columns.text("Source", lambda row: printed[row.model].source),
        ],
        link=lambda _: None,
        note="Figures of the paper, not from runs here; n inferred from the printed percentages.",
        folded=True,
    )
