"""What makes the interval of an agent's mean wide, and what would narrow it at which cost?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from analysis.figures.layout.theme import Figure
from analysis.figures.tool_use import SharePart, share_cells
from analysis.filters.selection import ChosenRun
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.empty import no_runs, nothing_finished
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.pages.uncertainty.rows import (
    MOST_REPLIES,
    Costs,
    budget_of_difference,
    budget_of_rows,
    costs_of,
    overall,
    person_budgets,
    rating_budgets,
    score_rows,
)
from analysis.reports import content as parts
from analysis.reports import system_facts
from analysis.reports.content import Cell
from analysis.reports.formatting import first_up, listed, number, plural
from analysis.stats.uncertainty.budgets import (
    Budget,
    Projected,
    RatingBudget,
    Step,
    cheapest,
    mean_share,
)
from analysis.stats.uncertainty.components import (
    ATTEMPT,
    JUDGE,
    PLAN_JUDGE,
    REST,
    SETTING,
    SITTING,
    TASK,
    TASK_JUDGE,
)

if TYPE_CHECKING:
    from pandas import DataFrame

PURPOSE = "This page says what makes intervals wide, and what would narrow them."
TITLES: Mapping[str, str] = {
    TASK: "Tasks",
    ATTEMPT: "Attempts",
    JUDGE: "Judges",
    TASK_JUDGE: "Judges by task",
    PLAN_JUDGE: "Judges by plan",
    SETTING: "Judging again",
    SITTING: "Judgings by plan",
    REST: "All else",
}
# Words of the answer: "the choice of 3 judges".
CAUSES: Mapping[str, str] = {
    TASK: "the choice of {task}",
    ATTEMPT: "what differs between attempts at a task",
    JUDGE: "the choice of {judge}",
    TASK_JUDGE: "what each judge makes of a task",
    PLAN_JUDGE: "what each judge makes of a plan",
    SETTING: "judging the same plans again",
    SITTING: "what each judging makes of a plan",
    REST: "what differs from score to score",
}


class Trial(NamedTuple):
    """A step that the page tries: how many more of a facet, and its words."""

    more: int
    words: str
    one: str
    several: str


RATING = "rating"
TRIALS: Mapping[str, Trial] = {
    "task": Trial(10, "10 more tasks", "task", "tasks"),
    "attempt": Trial(
        1, "one more attempt at each task", "attempt at each task", "attempts at each task"
    ),
    "judge": Trial(1, "one more judge", "judge", "judges"),
    "setting": Trial(1, "one more judging", "judging", "judgings"),
    RATING: Trial(
        60, "up to 60 more ratings by people of each agent", "rating by people", "ratings by people"
    ),
}
TOO_MANY = "more than {most:,} scores: too many to split on a page"
NO_PEOPLE = "no study drew plans of this agent for people to rate"
# Steps that narrow intervals by less are not in the sentence.
LEAST_SHOWN = 0.005
# Names of the half-widths in files.
GIVEN, OTHERS = "half-width", "half-width with other judges"
NO_COST = "not every call states its cost"
# Of more trajectories the leaderboard does not read single scores.
MOST_OF_LINE = 2000
NO_TIME = "no timed rating"
# The half-width that the cheapest step is to reach, as a part of today's.
WISHES = {"": 0.75, "half": 0.5, "tenth": 0.9}
WISHED = {"": "a quarter narrower", "half": "half as wide", "tenth": "a tenth narrower"}


class Row(NamedTuple):
    """An agent: its budget with judges as a sample, with the judges given, and of its ratings."""

    run: ChosenRun
    sample: Budget
    given: Budget
    ratings: RatingBudget | None
    dimension: str = ""

    @property
    def main(self) -> Budget:
        """The budget that the page speaks of: judges as a sample, as far as there are several."""
        return self.given if self.sample.undefined else self.sample


def content(page: Page) -> Content:
    """Split each agent's variance, and project what would narrow its interval."""
    if not page.runs or not page.system.labels.headlines:
        no_runs(page, PURPOSE)
        return
    frame = score_rows(page.runs, page.selection.system)
    if frame.empty:
        nothing_finished(page, PURPOSE)
        return
    if len(frame) > MOST_REPLIES:
        page.nothing(
            "Too many scores", f"{PURPOSE} {first_up(TOO_MANY.format(most=MOST_REPLIES))}.",
            "Choose fewer agents", "?",
        )  # fmt: skip
        return
    scores = overall(frame)
    rated = rating_budgets(page, scores)
    rows = [_row(run, scores[scores["run"] == run.pk], rated.get(run.pk)) for run in page.runs]
    known = [row for row in rows if not row.main.undefined]
    judged = bool(system_facts.dimensions_of(page.selection.system))
    what = "mean score" if judged else page.system.labels.measures[
        page.system.labels.headlines[0]
    ].title  # fmt: skip
    sampled = any(not row.sample.undefined for row in known) and judged
    page.answer(_answer(rows, known))
    page.answers = bool(known)
    if known:
        page.answer(_cheapest(page, known[0]))
        page.answer(_not_projected(known) if judged else "")
    shown = [name for name in TITLES if any(row.main.components.variance(name) for row in known)]
    page.figure(
        "shares",
        f"Percent of the squared half-width of the {what}",
        (lambda: _draw(page, known, shown)) if known and shown else None,
        table="budget",
        subtitle="Judges count as a sample of judges" if sampled else plural(len(known), "agent"),
        least_width=480,
    )
    page.table(
        "budget",
        f"Half-width of the 95 % interval of the {what}, and its shares",
        rows,
        [
            columns.agent(lambda row: row.run),
            Column(
                parts.number_column("Mean"),
                lambda row: parts.number_cell(
                    row.given.components.mean, "points", reason=row.given.undefined
                ),
            ),
            _half("± these judges" if judged else "±", lambda row: row.given),
            judged and _half("± other judges", lambda row: row.sample),
            *(_share(name) for name in shown),
        ],
        link=lambda row: Link(runs=(row.run.pk,)),
        note="Shares are those of the interval over other judges." if sampled else "",
    )
    page.onward("Which agent is better?", page.other("leaderboard"))
    yield
    _steps(page, rows, costs_of(page))
    _difference(page, known, scores)
    _how(page, rows, judged=judged)


def deferred(page: Page) -> None:
    """Split the variance on each dimension, and that of people's ratings."""
    titles = system_facts.titles_of(page.selection.system)
    if not page.runs or not titles or not page.system.labels.headlines:
        return
    frame = score_rows(page.runs, page.selection.system)
    if frame.empty or len(frame) > MOST_REPLIES:
        return
    rows = [
        _row(run, mine, None)._replace(dimension=title)
        for run in page.runs
        for key, title in titles.items()
        if not (mine := frame[(frame["run"] == run.pk) & (frame["dimension"] == key)]).empty
    ]
    shown = [name for name in TITLES if any(row.main.components.variance(name) for row in rows)]
    page.table(
        "dimensions",
        "The same by dimension",
        rows,
        [
            columns.agent(lambda row: row.run),
            columns.text("Dimension", lambda row: row.dimension),
            _half("± these judges", lambda row: row.given),
            _half("± other judges", lambda row: row.sample),
            *(_share(name) for name in shown),
        ],
        link=lambda row: Link(runs=(row.run.pk,)),
    )
    _people(page)


def uncertainty_line(page: Page) -> str:
    """Return the sentence for the leaderboard; empty where nothing is known, or much to read."""
    if not page.runs or sum(run.done for run in page.runs) > MOST_OF_LINE:
        return ""
    scores = overall(score_rows(page.runs, page.selection.system))
    rows = [_row(run, scores[scores["run"] == run.pk], None) for run in page.runs]
    known = [row for row in rows if not row.main.undefined]
    if not known:
        return ""
    of = "Judges’ mean score: " * bool(system_facts.dimensions_of(page.selection.system))
    sampled = any(row.sample.half_width for row in known)
    return of + _answer(rows, known) + " This counts judges as a sample of judges." * sampled


def _row(run: ChosenRun, mine: "DataFrame", ratings: RatingBudget | None) -> Row:
    sample = budget_of_rows(mine, sampled=True)
    return Row(run, sample, Budget(sample.components, sampled=False), ratings)


def _half(title: str, budget: Callable[[Row], Budget]) -> Column[Row]:
    def cell(row: Row) -> Cell:
        one = budget(row)
        return parts.number_cell(one.half_width, "points", reason=one.undefined)

    head = parts.number_column(title, OTHERS if "other" in title else GIVEN)
    return Column(head, cell)


def _share(name: str, title: str = "") -> Column[Row]:
    def cell(row: Row) -> Cell:
        budget = row.main
        share = None if budget.components.variance(name) is None else budget.share(name)
        return parts.number_cell(share, "share", reason=budget.undefined or "not told apart")

    return Column(parts.number_column(title or TITLES[name]), cell)


def _draw(page: Page, rows: Sequence[Row], shown: Sequence[str]) -> Figure:
    cells = {
        row.run.label: [
            SharePart(round(100 * share), share, page.url(runs=(row.run.pk,)))
            for share in (row.main.share(name) or 0.0 for name in shown)
        ]
        for row in rows
    }
    return share_cells(cells, [TITLES[name] for name in shown])


def _answer(rows: Sequence[Row], known: Sequence[Row]) -> str:
    """State the largest share, and what steps would do, as means over agents.

    Ratings narrow another interval, of the corrected mean, so they have a sentence of their own.
    """
    if not known:
        return f"What makes intervals wide is undefined here: {rows[0].main.undefined}."
    budgets = [row.main for row in known]
    shares = {name: share for name in TITLES if (share := mean_share(budgets, name))}
    if not shares:
        return "The scores do not vary."
    largest = max(shares, key=lambda name: shares[name])
    levels = known[0].main.components.levels
    cause = CAUSES[largest].format(
        task=plural(levels["task"], "task"), judge=plural(levels["judge"], "judge")
    )
    text = f"{number(shares[largest], 'share')} of the squared half-width comes from {cause}."
    steps = [
        (trial.words, narrowed)
        for facet, trial in TRIALS.items()
        if facet != RATING and (narrowed := _narrowing(known, facet)) is not None
    ]
    steps = [(words, share) for words, share in steps if share >= LEAST_SHOWN]
    if steps:
        words = listed([f"by {number(share, 'share')} with {words}" for words, share in steps],
                       most=9)  # fmt: skip
        text += f" Projected, intervals narrow {words.replace(' and by ', ' or by ')}."
    share = _narrowing(known, RATING)
    if share is not None:
        text += (
            f" Intervals of means that people correct narrow by {number(share, 'share')} "
            f"with {TRIALS[RATING].words}."
        )
    return text


def _not_projected(rows: Sequence[Row]) -> str:
    """Say for whom more ratings cannot be projected, and why; empty where they can."""
    for row in rows:
        _, after = _after(row, RATING)
        if after.undefined:
            return f"More ratings cannot be projected for {row.run.label}: {after.undefined}."
    return ""


def _after(row: Row, facet: str) -> tuple[Projected, Projected]:
    """Return an agent's half-width now, and after the step that the page tries.

    Both of a rating are of the mean that people correct.
    """
    more = TRIALS[facet].more
    if facet != RATING:
        return row.main.project(), row.main.project(**{facet: more})
    if row.ratings is None:
        nothing = Projected(None, NO_PEOPLE)
        return nothing, nothing
    return row.ratings.project(), row.ratings.project(more)


def _narrowing(rows: Sequence[Row], facet: str) -> float | None:
    """Return the mean over agents of the part by which a step narrows their intervals."""
    narrowed = [after.narrower(now.half_width) for now, after in (_after(r, facet) for r in rows)]
    known = [value for value in narrowed if value is not None]
    return sum(known) / len(known) if len(known) == len(narrowed) and known else None


def steps_to(row: Row, costs: Costs, part: float) -> list[Step]:
    """Return the ways to so large a part of today's half-width, with what one of each costs."""
    wished = part * (row.main.half_width or 0.0)
    levels = row.main.components.levels
    plans = levels["task"] * levels["attempt"]
    prices = {
        "task": costs.trajectory and costs.trajectory * levels["attempt"],
        "attempt": costs.trajectory and costs.trajectory * levels["task"],
        "judge": costs.judge and costs.judge * plans,
        "setting": costs.judge and costs.judge * plans * levels["judge"],
    }
    steps = []
    for facet, price in prices.items():
        count, why = row.main.fewest(facet, wished)
        steps.append(Step(facet, count, price, 0.0, why))
    if row.ratings is None:
        return [*steps, Step(RATING, None, 0.0, costs.minutes, NO_PEOPLE)]
    count, why = row.ratings.fewest(part * (row.ratings.project().half_width or 0.0))
    return [*steps, Step(RATING, count, 0.0, costs.minutes, why)]


def _cheapest(page: Page, row: Row) -> str:
    """Name the cheapest step for the half-width that the reader wishes."""
    if not row.main.half_width:
        return ""
    part = WISHES.get(page.selection.filters.narrower, 0.75)
    steps = steps_to(row, Costs(None, None, None), part)
    price = minute_price(page)
    aim = f"For an interval of {row.run.label} that is {_wish(page)}"
    reached = [step for step in steps if step.count]
    if not reached:
        return f"{aim}, no single step is enough."
    best = cheapest(steps_to(row, costs_of(page, timed=price is not None), part), price)
    if best is None or best.count is None:
        few = listed([f"{step.count:,} more {_many(step)}" for step in reached])
        return (
            f"{aim}, the projection asks for {few.replace(' and ', ' or ')}; costs are not known."
        )
    cost = best.total(price) or 0.0
    return (
        f"{aim}, the cheapest projected step is {best.count:,} more {_many(best)} "
        f"({number(cost, 'amount')} USD{' of people’s time' if best.minutes else ''})."
    )


def _wish(page: Page) -> str:
    return WISHED.get(page.selection.filters.narrower, WISHED[""])


def _many(step: Step) -> str:
    trial = TRIALS[step.name]
    return trial.one if step.count == 1 else trial.several


def minute_price(page: Page) -> float | None:
    """Return what a minute of a person's time costs, as far as the reader says."""
    hour = page.selection.filters.hour
    return float(hour) / 60 if hour.isdecimal() else None


def _steps(page: Page, rows: Sequence[Row], costs: Costs) -> None:
    """Add what each step does for each agent, and how many it takes for the wished half-width."""
    price = minute_price(page)
    table = [
        (row, step)
        for row in rows
        if row.main.half_width
        for step in steps_to(row, costs, WISHES.get(page.selection.filters.narrower, 0.75))
    ]

    def narrowed(pair: tuple[Row, Step]) -> Cell:
        row, step = pair
        now, after = _after(row, step.name)
        return parts.number_cell(after.narrower(now.half_width), "share", reason=after.undefined)

    page.table(
        "steps",
        "What would narrow the interval",
        table,
        [
            columns.agent(lambda pair: pair[0].run),
            columns.text("Step", lambda pair: first_up(TRIALS[pair[1].name].words)),
            Column(parts.number_column("Narrower by", "narrower"), narrowed),
            columns.count(
                f"For {_wish(page)}", lambda pair: pair[1].count,
                "needed", help="How many more it takes alone",
                reason="no number is enough, or it is not known",
            ),
            Column(
                parts.number_column("One costs, USD", "cost of one"),
                lambda pair: parts.number_cell(pair[1].money, "amount", reason=NO_COST),
            ),
            Column(
                parts.number_column("One takes people, minutes", "minutes of one"),
                lambda pair: parts.number_cell(pair[1].minutes, "amount", reason=NO_TIME),
            ),
            Column(
                parts.number_column("All cost, USD", "cost of all"),
                lambda pair: parts.number_cell(
                    pair[1].total(price), "amount", reason=pair[1].undefined or NO_COST
                ),
            ),
        ],
        link=lambda _: None,
    )  # fmt: skip


def _people(page: Page) -> None:
    """Add the budgets of people's ratings, in which a person is what a judge is above."""
    budgets = person_budgets(page)
    rows = [
        Row(run, budgets[run.pk], replace(budgets[run.pk], sampled=False), None)
        for run in page.runs
        if run.pk in budgets
    ]
    shown = [name for name in TITLES if any(row.main.components.variance(name) for row in rows)]
    page.table(
        "people",
        "The same of people’s ratings",
        rows,
        [
            columns.agent(lambda row: row.run),
            _half("± these people", lambda row: row.given),
            _half("± other people", lambda row: row.sample),
            *(_share(name, TITLES[name].replace("Judges", "People")) for name in shown),
        ],
        link=lambda row: Link(runs=(row.run.pk,)),
        note="Rated plans alone, each counted as often as it was rated.",
    )


def _difference(page: Page, known: Sequence[Row], scores: "DataFrame") -> None:
    """Add the budgets of the differences from the agent with the highest mean."""
    if len(known) < 2:
        return
    best = max(known, key=lambda row: row.main.components.mean or 0.0)
    own = scores[scores["run"] == best.run.pk]
    rows = [
        row._replace(sample=budget, given=Budget(budget.components, sampled=False), ratings=None)
        for row in known
        if row is not best
        for budget in (
            budget_of_difference(own, scores[scores["run"] == row.run.pk], sampled=True),
        )
    ]
    shown = [name for name in TITLES if any(row.main.components.variance(name) for row in rows)]
    page.table(
        "differences",
        f"Differences from {best.run.label}",
        rows,
        [
            columns.agent(lambda row: row.run),
            Column(
                parts.number_column("Difference"),
                lambda row: parts.number_cell(
                    row.given.components.mean, "points", reason=row.given.undefined
                ),
            ),
            _half("± these judges", lambda row: row.given),
            _half("± other judges", lambda row: row.sample),
            *(_share(name) for name in shown),
        ],
        link=lambda row: Link(runs=(best.run.pk, row.run.pk)),
        note="Paired by task, attempt and judge: what both agents share cancels out.",
    )


def _how(page: Page, rows: Sequence[Row], *, judged: bool) -> None:
    zero = sorted({TITLES[name] for row in rows for name in row.main.components.zero})
    page.how(
        "Scores of last plans are split into variances of tasks, attempts, judges, judgings and "
        "what is left, all random (REML). A mean’s variance is the sum of each divided by its "
        "number of levels; the half-width takes a t quantile with Satterthwaite’s degrees of "
        "freedom.",
        f"Estimated as 0, where an analysis of variance may give less: {listed(zero, most=9)}."
        if zero
        else "",
        "For these judges, the choice of judges adds nothing to the interval; for other judges of "
        "their kind, it does. With few judges that interval is wide, because few say little about "
        "others." if judged else "",
        "Projections keep the variances and add levels. Ratings narrow the interval of the mean "
        "that people correct, so they are compared with that interval as it is now.",
        "Costs are means over these runs’ calls; minutes are the median of rated items.",
    )  # fmt: skip
    page.methods(
        "Variance components of scores (tasks, attempts, judges, judgings) were estimated by "
        "restricted maximum likelihood."
    )
