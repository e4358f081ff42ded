"""Which of these agents is better, and is that real: pairs by task, corrected over their family."""

from collections.abc import Sequence

from analysis.figures.elements import Unit
from analysis.figures.model_pairs import PairMark, pair_forest, pair_matrix
from analysis.figures.tool_use import SharePart, stacked_shares
from analysis.filters.selection import Selection
from analysis.frames.measures import measures_here
from analysis.pages.compare_models.rows import (
    Compared,
    compared,
    difference_words,
    p_text,
    p_words,
    shown_pairs,
)
from analysis.pages.compare_models.tables import (
    pairs_table,
    published_table,
    ranks_table,
    values_table,
)
from analysis.pages.declaration import WrittenPage
from analysis.pages.empty import no_runs
from analysis.pages.leaderboard.rows import UNEQUAL_POOLS, signature
from analysis.reports import common
from analysis.reports.content import FigureSpec, Notice, Onward, Report, exclusions, how_interval
from analysis.reports.formatting import counted, ends, level, listed, number, plural
from analysis.stats.comparison.model_comparisons import ModelPair, turned_estimate

PURPOSE = "This page compares agents two by two on the tasks that both have."
MOST_PAIRS = 15


def compare_models_report(selection: Selection) -> Report:
    """Everything on the page."""
    if not selection.runs or selection.filters.measure not in measures_here(selection.system):
        return Report(empty=no_runs(PURPOSE, selection))
    found = compared(selection)
    published = selection.filters.published != "hide"
    return Report(
        sentence=sentence(found),
        onward=onward(found),
        figures=tuple(_figures(found)),
        tables=(
            *pairs_table(found),
            ranks_table(found),
            values_table(found),
            *(published_table(found, selection.system) if published else ()),
        ),
        notices=(*common.selection_notices(selection), *_notices(found)),
        how=(*common.how_runs(selection), *_how(found)),
    )


def onward(found: Compared) -> tuple[Onward, ...]:
    """The first pair that is clear, or the first that was tested, task by task."""
    tested = [pair for pair in found.pairs if pair.comparison.p_value is not None]
    pair = next((pair for pair in tested if pair.clear), tested[0] if tested else None)
    if pair is None:
        return ()
    words = f"{pair.first} and {pair.second}, task by task; any other pair: its row of the table"
    return (Onward(words, found.flips(pair)),)


def sentence(found: Compared) -> str:
    """Who is better by how much, or why that cannot be said."""
    known = [one for one in found.standings if one.value.value is not None]
    if not known:
        why = found.standings[0].value.undefined
        return f"{found.measure.title} is undefined for every agent here: {why}."
    if len(found.standings) < 2:
        return (
            f"{known[0].run.label} is the only agent here, so there is nobody to compare it with."
        )
    tested = [pair for pair in found.pairs if pair.comparison.p_value is not None]
    if not tested:
        return "No two of these agents have a task in common that was scored for both."
    if found.against:
        return _against(found, tested)
    first = tested[0]
    wanted = known[:2]
    for pair in tested:
        if {pair.first, pair.second} == {one.run.label for one in wanted}:
            first = pair
    text = _said(found, first)
    if len(tested) == 1:
        return f"{text}."
    clear = sum(bool(pair.clear) for pair in tested)
    differ = "differs" if clear == 1 else "differ"
    return f"{text}. {clear} of {plural(len(tested), 'pair')} {differ} clearly."


def _said(found: Compared, pair: ModelPair) -> str:
    """One pair in words, the higher one first."""
    difference = pair.comparison.difference
    value = difference.value or 0.0
    high, low = (pair.first, pair.second) if value >= 0 else (pair.second, pair.first)
    upright = difference if value >= 0 else turned_estimate(difference)
    p = p_words(pair.p_adjusted if pair.p_adjusted is not None else 1.0)
    by, _, inside = difference_words(upright, found.is_rate).partition(" (")
    inside = f"{inside}; {p}, {found.family}"
    if not value:
        return f"{pair.first} and {pair.second} have the same {found.measure.title} ({inside})"
    measure = "" if found.metric == "accurate" else f" on {found.measure.title}"
    if pair.clear:
        verb = "beats" if found.is_rate else "is higher than"
        return f"{high} {verb} {low}{measure} by {by} ({inside})"
    return f"{high} and {low} do not differ clearly{measure}: {high} is {by} higher ({inside})"


def _against(found: Compared, tested: Sequence[ModelPair]) -> str:
    """How many are clearly higher or lower than the one, and the farthest of them."""
    clear = [pair for pair in tested if pair.clear]
    up = sum((pair.comparison.difference.value or 0) > 0 for pair in clear)
    words = ("better", "worse") if found.is_rate else ("higher", "lower")
    text = (
        f"Of {plural(len(tested), 'other agent')}, {up} {'is' if up == 1 else 'are'} clearly "
        f"{words[0]} than {found.against} and {len(clear) - up} clearly {words[1]}"
    )
    farthest = max(tested, key=lambda pair: abs(pair.comparison.difference.value or 0))
    return f"{text}. {_said(found, farthest)}."


def _figures(found: Compared) -> list[FigureSpec]:
    pairs, which = shown_pairs(found, MOST_PAIRS)
    if not pairs:
        return []
    title = f"difference in {found.measure.title}"
    unit: Unit = "share" if found.is_rate else "points"
    figures = [
        common.figure_spec(
            "differences",
            f"Differences in {found.measure.title}, with simultaneous 95 % intervals",
            f"{which}, on the tasks that both have. Filled: clear, the interval excludes 0.",
            pair_forest([_mark(found, pair) for pair in pairs], unit=unit, title=title),
        )
    ]
    if not found.against and len(found.comparisons.models) > 2:
        marks = []
        for pair in found.comparisons.pairs:
            marks += [_mark(found, pair), _mark(found, pair, from_second=True)]
        figures.append(
            common.figure_spec(
                "matrix",
                "Row minus column",
                "On the tasks that both have. A star: clear.",
                pair_matrix([one.run.label for one in found.standings], marks, unit=unit),
                least_width=76 * len(found.standings) + 150,
            )
        )
    rows = {
        f"{p.first} − {p.second}": _parts(found, p)
        for p in pairs
        if p.comparison.p_value is not None
    }
    if rows:
        titles = ["first alone", "both", "neither", "second alone"] if found.binary else [
            "first higher", "equal", "second higher"]  # fmt: skip
        figures.append(
            common.figure_spec(
                "wins",
                "Tasks won, tied and lost",
                f"{which}: shares of the common tasks; counts are in the bars.",
                stacked_shares(rows, titles),
            )
        )
    return figures


def _mark(found: Compared, pair: ModelPair, *, from_second: bool = False) -> PairMark:
    difference = pair.comparison.difference
    shown = turned_estimate(difference) if from_second else difference
    first, second = (pair.second, pair.first) if from_second else (pair.first, pair.second)
    text = ""
    if shown.value is not None:
        text = number(shown.value, found.unit, signed=True).removesuffix(" %")
    about = f"n = {plural(shown.n, 'task')}"
    if shown.interval is not None:
        about += (
            f"; {level(shown.interval)} interval {ends(shown.interval, found.unit, signed=True)}"
        )
    if pair.p_adjusted is not None:
        about += f"; p {p_text(pair.p_adjusted)}"
    return PairMark(first, second, shown, pair.clear, text, about, found.flips(pair))


def _parts(found: Compared, pair: ModelPair) -> list[SharePart]:
    comparison = pair.comparison
    total = comparison.wins + comparison.ties + comparison.losses

    def part(count: int, url: str = "") -> SharePart:
        return SharePart(count, count / total if total else None, url)

    won = part(comparison.wins, found.flips(pair, "won"))
    lost = part(comparison.losses, found.flips(pair, "lost"))
    if not found.binary:
        return [won, part(comparison.ties), lost]
    table = comparison.table
    if table is None:  # several attempts at a task of this pair alone
        return [won, part(comparison.ties), part(0), lost]
    return [
        won,
        part(table.both, found.flips(pair, "both_pass")),
        part(table.neither, found.flips(pair, "both_fail")),
        lost,
    ]


def _notices(found: Compared) -> list[Notice]:
    notices = []
    if any(run.agent_kind == "recorded" for run in found.runs.values()):
        notices.append(Notice(f"Read with care: {UNEQUAL_POOLS}."))
    kinds: dict[tuple[str, ...], list[str]] = {}
    for label, run in found.runs.items():
        kinds.setdefault(signature(run), []).append(label)
    if len(kinds) > 1:
        usual = max(kinds.values(), key=len)
        others = [label for names in kinds.values() if names is not usual for label in names]
        notices.append(
            Notice(
                "Made or judged otherwise than most runs here (settings, judges, versions, number "
                f"of tasks), so that a difference may come from that: {listed(others)}."
            )
        )
    return notices


def _how(found: Compared) -> list[str]:
    family = found.comparisons.family
    pairs = [pair.comparison for pair in found.pairs]
    values = [one.value for one in found.standings]
    left = exclusions(values)
    lines = [
        f"{found.measure.title}: {found.measure.help} Intervals: {how_interval(values) or 'none'}.",
        f"Left out: {counted(left)}." if left else "Nothing is left out.",
    ]
    if pairs:
        lines += [
            "Difference: mean over common tasks of first minus second, every task with the same "
            f"weight; {how_interval([p.difference for p in pairs]) or 'no interval'}.",
            "Test: the score test that the interval inverts; two-sided. With one attempt at each "
            "task that succeeds or fails it is McNemar's χ² without correction, else its "
            "cluster-robust form over tasks.",
            f"Family: {family.statement}, whichever are shown; {family.method}, α = "
            f"{family.alpha:g}. An interval excludes 0 exactly where the corrected p is under "
            f"{family.alpha:g}: that is called clear."
            + (f" Not tested: {counted(family.excluded)}." if family.excluded else ""),
            "Ranks: 1 for the highest value. An agent's interval leaves out the ranks of those "
            "that are clearly better or clearly worse; all intervals of ranks hold together at "
            "95 %.",
        ]
    return lines


CONTENT = WrittenPage(compare_models_report)
