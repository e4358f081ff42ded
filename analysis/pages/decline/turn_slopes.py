"""Change per turn by several fits: fitted curve by curve, with figure, table and words."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

from analysis.exports.notes import TableNotes
from analysis.figures.turn_slopes import slope_forest
from analysis.reports import common
from analysis.reports.content import (
    Badge,
    Cell,
    FigureSpec,
    Notice,
    Table,
    estimate_cell,
    estimate_column,
    number_column,
    rounded,
    text_cell,
    text_column,
)
from analysis.reports.deferred import tell
from analysis.reports.formatting import listed, number, plural, stated
from analysis.stats.comparison.multiplicity import AdjustedTest, Family
from analysis.stats.results import Estimate
from analysis.stats.trends import gee, mixed_models
from analysis.stats.trends.slopes import SHARED, SlopeModels, curve_name, slope_models, slope_tests

ALPHA = 0.05
MOST_ROWS, OPEN_ROWS = 100, 24
FEW = "only "
FEW_WORDS: tuple[tuple[str, Callable[[SlopeModels], Estimate], str], ...] = (
    (
        "intervals of the mixed models rest on the model being right there",
        lambda one: one.mixed.slope,
        f"fewer than {mixed_models.ENOUGH} trajectories",
    ),
    (
        "intervals of GEE are too narrow there",
        lambda one: one.gee.slope,
        f"fewer than {gee.ENOUGH} trajectories or tasks",
    ),
)
BIASES = (
    "What biases each: the mixed model stays right where endings depend on scores seen. Where "
    "the last score decides the ending, the slope within trajectories moves by itself, because it "
    "takes the chance in that score for change; GEE moves less. The line through all scores "
    "compares trajectories that ended with those that ran on. Where endings depend on something "
    "that was not scored, all four are wrong, and the data cannot show it."
)
# From where a line through all scores is called pulled away, in points a turn.
PULLED = 0.015


@dataclass(frozen=True)
class TurnColumns:
    """Scores by turn as the statistics take them, one row per trajectory, dimension and turn."""

    agents: Sequence[str]
    dimensions: Sequence[str]
    trajectories: Sequence[Hashable]
    turns: Sequence[int]
    scores: Sequence[float | None]
    tasks: Sequence[Hashable]


@dataclass(frozen=True)
class Slopes:
    """The curves that are shown, and the tests of one family, which may have more curves."""

    models: tuple[SlopeModels, ...]
    family: Family

    @property
    def known(self) -> list[SlopeModels]:
        """Curves whose mixed model has an interval."""
        return [one for one in self.models if one.mixed.slope.interval is not None]

    def clear(self, sign: int) -> list[SlopeModels]:
        """Curves that clearly rise (1) or fall (−1), the steepest first."""
        found = [one for one in self.known if self.test(one).clear and sign * slope_of(one) > 0]
        return sorted(found, key=lambda one: -sign * slope_of(one))

    def test(self, one: SlopeModels) -> AdjustedTest:
        """The test of a curve, corrected over the family."""
        return self.family[curve_name(one.agent, one.dimension)]


def slope_of(one: SlopeModels) -> float:
    """The slope of the mixed model, where it is known."""
    return one.mixed.slope.value or 0.0


def fit_slopes(columns: TurnColumns, curves: str = "curves") -> Slopes:
    """Fit every agent and dimension; says how far it is. Errors cluster by task where it recurs."""
    rows: dict[tuple[str, str], list[int]] = {}
    for place, key in enumerate(zip(columns.agents, columns.dimensions, strict=True)):
        rows.setdefault(key, []).append(place)
    found: list[SlopeModels] = []
    for count, ((agent, dimension), places) in enumerate(rows.items()):
        tell(f"{count} of {len(rows)} {curves} fitted; now {agent} on {dimension.lower()}")
        trajectories = [columns.trajectories[i] for i in places]
        tasks = [columns.tasks[i] for i in places]
        recur = len(set(tasks)) < len(set(trajectories))
        found += slope_models(
            [agent] * len(places),
            [dimension] * len(places),
            trajectories,
            [columns.turns[i] for i in places],
            [columns.scores[i] for i in places],
            tasks=tasks if recur else None,
        )
    return Slopes(tuple(found), slope_tests(found, alpha=ALPHA))


def slopes_sentence(slopes: Slopes, each: str = "one for each agent and dimension") -> str:
    """Whether scores fall, by how much, and what survivors would have made of it."""
    known = slopes.known
    if not known:
        fits = [one.mixed.slope for one in slopes.models]
        reasons = {fit.undefined or fit.no_interval for fit in fits}
        why = listed(sorted(reason for reason in reasons if reason)) or "no scores"
        return (
            "Whether plans get worse, allowing for trajectories that end early, cannot be said: "
            f"{why}."
        )
    falling, rising = slopes.clear(-1), slopes.clear(1)
    total = f"{plural(len(known), 'curve')} ({each})"
    if not falling and not rising:
        steepest = min(known, key=slope_of)
        text = (
            "Allowing for trajectories that end early, no score clearly falls or rises from turn "
            f"to turn: of {total} the lowest slope is {_one(steepest)}"
        )
    else:
        text = (
            f"Allowing for trajectories that end early, {len(falling)} of {total} clearly fall and "
            f"{len(rising)} rise; "
        )
        text += (
            f"the steepest fall is {_one(falling[0])}"
            if falling
            else f"the steepest rise is {_one(rising[0])}"
        )
    return f"{text}{pulled_words(known)}."


def _one(one: SlopeModels) -> str:
    return (
        f"{one.agent} on {one.dimension.lower()}: {stated(one.mixed.slope, 'points', signed=True)} "
        f"points a turn, n = {plural(one.mixed.slope.n, 'trajectory', 'trajectories')}"
    )


def pulled(models: Sequence[SlopeModels]) -> list[float]:
    """How far the line through all scores lies from the mixed model's, in points a turn."""
    return [
        one.pooled.slope.value - one.mixed.slope.value
        for one in models
        if one.pooled.slope.value is not None and one.mixed.slope.value is not None
    ]


def pulled_words(known: Sequence[SlopeModels]) -> str:
    ended = [one for one in known if one.running and one.running[-1] < one.running[0]]
    gaps = pulled(ended)
    if not gaps:
        return ""
    mean = sum(gaps) / len(gaps)
    if abs(mean) < PULLED:
        return "; one line through all scores says nearly the same"
    way = "upwards" if mean > 0 else "downwards"
    return (
        "; one line through all scores, which compares trajectories that ended with those that "
        f"stayed, is off by {number(mean, 'points', signed=True)} on average ({way})"
    )


def slopes_figure(slopes: Slopes) -> FigureSpec:
    return common.figure_spec(
        "slope-models",
        "Change per turn, by four fits",
        "Points of the scale a turn, with 95 % intervals. The line through all scores is there to "
        "show what survivors make of it.",
        slope_forest(slopes.models),
    )


def slopes_table(slopes: Slopes, who: str = "Agent") -> Table:
    """The fits side by side; how many trajectories, p-values of the family, and what is odd."""
    rows, notes, size = [], TableNotes(), slopes.family.size
    for one in slopes.models:
        test = slopes.test(one)
        rows.append(
            (
                text_cell(one.agent),
                text_cell(one.dimension),
                replace(_fit_cell(one.mixed.slope), badges=verdict_badges(slopes, one)),
                _p_cell(test.adjusted, test.undefined),
                _fit_cell(one.gee.slope),
                _fit_cell(one.within),
                _fit_cell(one.pooled.slope),
                _notes_cell(_notes(one), notes),
            )
        )
    legend = "".join(f" {letter}: {text}." for letter, text in notes.lines())
    return Table(
        "slope-models",
        f"Change per turn, by four fits ({plural(len(rows), 'row')})",
        (
            text_column(who),
            text_column("Dimension"),
            estimate_column("Mixed model", help="Allows for endings that depend on scores seen"),
            number_column("p", help=f"Of the mixed model, Holm over {plural(size, 'test')}"),
            estimate_column("GEE", help="Biased where scores decide when a trajectory ends"),
            estimate_column("Within", help="Biased where the last score decides the ending"),
            estimate_column(
                "One line", help="Compares trajectories that ended with those that ran on"
            ),
            text_column("Notes", help="What was fitted instead, and why: letters over the table"),
        ),
        tuple(rows),
        note="Points of the scale per turn, with 95 % intervals and n trajectories. “Declines” "
        f"and “rises” mark what is clear after Holm over {plural(size, 'test')}; other intervals "
        f"are of one curve each and mark nothing.{legend}",
        open=len(rows) <= OPEN_ROWS,
        most=MOST_ROWS,
    )


def verdict(slopes: Slopes, one: SlopeModels) -> str:
    """Whether a curve clearly rises or declines, in its family; nothing where neither is clear."""
    if not slopes.test(one).clear:
        return ""
    return "declines" if slope_of(one) < 0 else "rises"


def verdict_badges(slopes: Slopes, one: SlopeModels) -> tuple[Badge, ...]:
    """The mark of a curve that clearly rises or declines."""
    word = verdict(slopes, one)
    if not word:
        return ()
    p = slopes.test(one).adjusted
    assert p is not None  # else there is no verdict
    words = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    why = f"{words} after Holm over {plural(slopes.family.size, 'test')}"
    return (Badge(word, "warn" if word == "declines" else "ok", why),)


def _fit_cell(estimate: Estimate) -> Cell:
    return estimate_cell(estimate, "points", signed=True, show_n=True)


def _p_cell(p: float | None, reason: str) -> Cell:
    if p is None:
        return Cell(data=(None,), reason=reason)
    return Cell("< 0.001" if p < 0.001 else f"{p:.3f}", (rounded(p),))


def _notes(one: SlopeModels) -> list[str]:
    """What was fitted instead, and why. That trajectories are few, or share tasks, is said once."""
    given = [
        warning
        for warning in (*one.mixed.slope.warnings, *one.gee.slope.warnings)
        if not warning.startswith(FEW)
    ]
    return list(dict.fromkeys(given))


def _notes_cell(given: Sequence[str], notes: TableNotes) -> Cell:
    """Letters, which are told once for the whole table; the CSV has the words in each row."""
    text = "; ".join(given)
    letters = ", ".join(notes.mark(note) for note in given)
    return Cell(letters, (f"{text[:1].upper()}{text[1:]}",))


def slopes_notices(slopes: Slopes) -> list[Notice]:
    """How many curves have few trajectories, and which fits that touches."""
    found = []
    for fits, read, words in FEW_WORDS:
        count = sum(any(w.startswith(FEW) for w in read(one).warnings) for one in slopes.models)
        if count:
            of = plural(len(slopes.models), "curve")
            found.append(
                Notice(f"{count:,} of {of} {'has' if count == 1 else 'have'} {words}: {fits}.")
            )
    return found


def slopes_how(slopes: Slopes) -> list[str]:
    """How the slopes were computed, to copy."""
    size = slopes.family.size
    untested = sum(slopes.family.excluded.values())
    methods = dict.fromkeys(
        estimate.method
        for one in slopes.models
        for estimate in (one.mixed.slope, one.gee.slope, one.pooled.slope)
        if estimate.method
    )
    lines = [
        f"Fits: {'; '.join(methods)}; within trajectories: least squares with one intercept per "
        "trajectory, t interval clustered by trajectory or task.",
        "Mixed model: score = a + b·turn + random intercept and slope of each trajectory, REML; "
        "random intercepts alone where slopes cannot be fitted, and the row says why. Its interval "
        "comes from the curvature of the likelihood, with a t quantile of the trajectories that "
        "have two scored turns, minus 1.",
        BIASES,
        f"Clearly: p at most {ALPHA} after Holm, over the family of {slopes.family.statement} "
        f"({plural(size, 'test')}{f', {untested} could not be made' if untested else ''}). "
        "Intervals are of one curve each and not corrected. Nothing here is drawn at random.",
    ]
    if any(SHARED in one.warnings for one in slopes.models):
        lines.append(f"{SHARED[:1].upper()}{SHARED[1:]}.")
    return lines
