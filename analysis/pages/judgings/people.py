"""What takes longer on the page about judgings: by dimension, and beside people.

Maps from judges' scores to people's, and every panel that could be made of the judges, each held
against people's scores that it was not made from.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.filters.selection import Selection
from analysis.frames.judgings import (
    BESIDE,
    COUNTS,
    BothScores,
    Replies,
    item_scores,
    judge_costs,
    matches,
    replies_of,
    reply_scores,
)
from analysis.frames.people_scores import PeopleScores, people_scores
from analysis.pages.dispersion.panels import people_banner, people_line
from analysis.pages.judgings.maps import Mapped, calibration_figures, calibration_tables
from analysis.pages.judgings.panels import panel_figures, panel_notices, panel_tables
from analysis.pages.judgings.tables import CHANGE_COLUMNS, change_cells, rate_cell
from analysis.reports import common
from analysis.reports.content import (
    Report,
    Table,
    estimate_cell,
    estimate_column,
    text_cell,
    text_column,
)
from analysis.reports.deferred import tell
from analysis.reports.formatting import number, plural, stated
from analysis.stats.judges.calibration import FEWEST_ITEMS, FEWEST_TASKS, FORMS, Form, calibrate
from analysis.stats.judges.panel_choice import MOST_JUDGES, PanelChoice, panel_choice
from analysis.stats.judges.repeats import repeat_consistency
from analysis.stats.results import Estimate
from benchmarks.core.system import Dimension

if TYPE_CHECKING:
    from pandas import DataFrame

SEED = 20261123
PANEL = "all judges"


def judgings_later(selection: Selection) -> Report:
    """The same by dimension; maps from judges to people; and panels."""
    dimensions = common.dimensions_of(selection.system)
    final = selection.filters.turns != "all"
    tell("reading the scores")
    replies = reply_scores(selection.runs, [d.key for d in dimensions], final=final)
    if replies.frame.empty:
        return Report(sentence="There are no scores to compare.")
    people = people_scores(selection.people, selection.runs)
    tell("consistency and change by dimension")
    tables = [*_own_tables(replies, dimensions), *_change_tables(replies, dimensions)]
    form: Form = "monotone" if selection.filters.mapped == "monotone" else "linear"
    mapped = maps_of(selection, replies, people, dimensions, form)
    tell("panels")
    choice, left = choice_of(selection, replies, people)
    return Report(
        sentence=sentence(mapped, choice, people),
        figures=(*calibration_figures(mapped), *panel_figures(choice)),
        tables=(*calibration_tables(mapped), *panel_tables(choice), *tables),
        notices=tuple(panel_notices(choice, left)),
        banners=people_banner(people),
        how=tuple(_how(form, mapped, choice, people)),
    )


def _own_tables(replies: Replies, dimensions: Sequence[Dimension]) -> list[Table]:
    """Each judge beside itself by dimension; nothing where every judge was asked once."""
    rows = []
    for which in (COUNTS, BESIDE):
        for sitting, judge in replies.judges(which).items():
            own = replies.of(which, sitting)
            if own["replicate"].nunique() < 2:
                continue
            for dimension in dimensions:
                frame = own[own["dimension"] == dimension.key]
                if frame.empty:
                    continue
                scores, asked, tasks = replies_of(frame)
                one = repeat_consistency(scores, tasks=tasks, asked=asked, seed=SEED)
                rows.append(
                    (
                        text_cell(dimension.title),
                        text_cell(judge),
                        estimate_cell(one.equal, "share", show_n=True),
                        estimate_cell(one.within_one, "share"),
                        estimate_cell(one.sd, "points"),
                        estimate_cell(one.kappa, "points"),
                        estimate_cell(one.icc, "points"),
                        rate_cell(one.unreadable),
                    )
                )
    if not rows:
        return []
    columns = (
        text_column("Dimension"),
        text_column("Judge"),
        estimate_column("Equal"),
        estimate_column("Within one"),
        estimate_column("SD", "sd", help="Within-judge standard deviation, in points"),
        estimate_column("Kappa", help="Fleiss', quadratically weighted"),
        estimate_column("ICC1", help="One-way random, a single reply"),
        estimate_column("Unreadable"),
    )
    title = "Each judge beside itself, by dimension"
    return [Table("own", title, columns, tuple(rows), open=False)]


def _change_tables(replies: Replies, dimensions: Sequence[Dimension]) -> list[Table]:
    """What the second judging changes, by judge and dimension; nothing without a second."""
    if not replies.judges(BESIDE) or not replies.judges(COUNTS):
        return []
    both = BothScores(replies, SEED)
    pairs = matches(replies.judges(COUNTS), replies.judges(BESIDE))
    rows = []
    for dimension in dimensions:
        for match in (None, *pairs):
            change = both.change(match, dimension.key)
            name, *cells = change_cells(PANEL if match is None else match.label, change)
            rows.append((text_cell(dimension.title), name, *cells))
    columns = (text_column("Dimension"), text_column("Judge"), *CHANGE_COLUMNS)
    title = "What the second judging changes, by dimension"
    return [Table("changes", title, columns, tuple(rows), open=False)]


def said_of(items: "DataFrame", people: PeopleScores) -> list[float | None]:
    """People's mean score of each item; what was said of a last plan is of its last turn."""
    places = items.index.to_frame(index=False)
    last = places.groupby("trajectory")["turn"].max()
    return [
        people.of(trajectory, turn, dimension, last=turn == last[trajectory])
        for trajectory, turn, dimension in places[["trajectory", "turn", "dimension"]].itertuples(
            index=False
        )
    ]


def maps_of(
    selection: Selection,
    replies: Replies,
    people: PeopleScores,
    dimensions: Sequence[Dimension],
    form: Form,
) -> list[Mapped]:
    """A map for each judge of both judgings and their mean, on each dimension people scored."""
    if not people.means:
        return []
    found = []
    names = {
        COUNTS: next((r.judging_name for r in selection.runs if r.judged), ""),
        BESIDE: next((r.beside.name for r in selection.runs if r.beside), ""),
    }
    asked = {dimension for _, _, dimension in people.means}
    for which in (COUNTS, BESIDE):
        judges = replies.judges(which)
        if not judges:
            continue
        table = item_scores(replies.of(which))
        said = said_of(table, people)
        of = table.index.get_level_values("dimension")
        tasks = table.index.get_level_values("task").tolist()
        columns = [(PANEL, table.mean(axis=1, skipna=False))] if len(judges) > 1 else []
        columns += [(name, table[replies.sittings.index(one)]) for one, name in judges.items()]
        for dimension in dimensions:
            if dimension.key not in asked:
                continue
            tell(f"maps of {names[which]}: {dimension.title.lower()}")
            kept = [place for place, key in enumerate(of) if key == dimension.key]
            for judge, column in columns:
                made = calibrate(
                    column.to_numpy()[kept],
                    [said[place] for place in kept],
                    tasks=[tasks[place] for place in kept],
                    form=form,
                    seed=SEED,
                )
                found.append(Mapped(names[which], dimension.title, judge, made))
    return found


def choice_of(
    selection: Selection, replies: Replies, people: PeopleScores
) -> tuple[PanelChoice | None, list[str]]:
    """Every panel of the judges of both judgings, and which judges are not among them, and why.

    A judge that sat in both counts once, as in the judging that counts.
    """
    tables, names, costs = [], [], {}
    spent = judge_costs(selection.runs, common.judge_roles(selection.system))
    first = replies.judges(COUNTS)
    known = {sitting[:2] for sitting in first}
    for which in (COUNTS, BESIDE):
        table = item_scores(replies.of(which)) if replies.judges(which) else None
        for sitting, name in replies.judges(which).items():
            if table is None or (which == BESIDE and sitting[:2] in known):
                continue
            called = f"{name}, later" if name in names else name
            tables.append(table[replies.sittings.index(sitting)].rename(called))
            names.append(called)
            if sitting in spent[which]:
                costs[called] = spent[which][sitting]
    if not tables:
        return None, []
    import pandas as pd

    scores = pd.concat(tables, axis=1)
    said = pd.Series(said_of(scores, people), index=scores.index, dtype="float64")
    among = scores[said.notna()] if said.notna().any() else scores
    share = among.notna().mean()
    kept = [name for name in names if share[name] >= 0.5][:MOST_JUDGES]
    left = [
        f"{name} ({'one too many' if share[name] >= 0.5 else 'scored too little of it'})"
        for name in names
        if name not in kept
    ]
    if not kept:
        return None, left
    tell(f"{2 ** len(kept) - 1} panels of {plural(len(kept), 'judge')}")
    choice = panel_choice(
        kept,
        scores[kept].to_numpy(),
        said.to_numpy(),
        tasks=scores.index.get_level_values("task").tolist(),
        costs=costs,
        seed=SEED,
    )
    return choice, left


def sentence(mapped: Sequence[Mapped], choice: PanelChoice | None, people: PeopleScores) -> str:
    """What a map is worth, and which panel lies nearest to people."""
    if not people.means:
        return (
            "Nobody scored these plans in a study that you may read: judges can be held against "
            "each other, but neither mapped onto people nor chosen by them."
        )
    known = [one for one in mapped if one.made.gain.value is not None]
    if known:
        nearer = sum(_side(one.made.gain) < 0 for one in known)
        away = sum(_side(one.made.gain) > 0 for one in known)
        worth = sum(_side(one.made.worth) < 0 for one in known)
        by_chance = BY_CHANCE * len(known)
        said = (
            f"On items that it was not fitted on, a map brings a judge nearer to people in "
            f"{nearer} of {plural(len(known), 'case')} (judge and dimension) and further away in "
            f"{away}; mapped, judges tell more than a constant in {worth}. Counted are cases whose "
            "own 95 % interval excludes 0, not corrected for their number: without any difference "
            f"{by_chance:.1f} would be counted each time"
        )
    else:
        most = max((one.made for one in mapped), key=lambda one: one.n, default=None)
        there = ""
        if most is not None:
            there = f"; at most {plural(most.n, 'item')} of {plural(most.tasks, 'task')} are there"
        said = (
            f"No map can be fitted: it takes {FEWEST_ITEMS} items of {FEWEST_TASKS} tasks that a "
            f"judge and people scored{there}"
        )
    if choice is None or choice.best is None or len(choice.judges) < 2:
        return f"{said}."
    best = choice.best
    error = stated(best.error, "points")
    beside = (
        "that is all judges together"
        if best == choice.full
        else f"{number(best.change.value or 0, 'points', signed=True)} beside all judges together"
    )
    return (
        f"{said}. Chosen on half of the tasks, the panel of {' and '.join(best.judges)} lies "
        f"{error} points from people on the other half, {beside}."
    )


# Where nothing differs, an interval of 95 % lies on one given side of 0 so often.
BY_CHANCE = 0.025


def _side(estimate: Estimate) -> int:
    """Below 0 or above it, where the interval of this case excludes 0; else 0."""
    if estimate.interval is None:
        return 0
    return int(estimate.interval.low > 0) - int(estimate.interval.high < 0)


def _how(
    form: Form, mapped: Sequence[Mapped], choice: PanelChoice | None, people: PeopleScores
) -> list[str]:
    lines = [people_line(people)]
    made = next((one.made for one in mapped if one.made.folds), None)
    if made is not None:
        lines.append(
            f"Maps: {FORMS[form]}. Tasks are divided into {made.folds} parts at random (seed "
            f"{made.seed}); items of each part are mapped by what was fitted on the others. The "
            "constant is people's mean on those others."
        )
    if choice is not None:
        halves = (
            f"{plural(choice.choosing, 'task')} to choose by and {choice.held_out:,} to measure on"
            if choice.best is not None
            else "too few tasks with people's scores to choose by"
        )
        lines.append(
            f"Panels: {plural(len(choice.panels), 'panel')} of "
            f"{plural(len(choice.judges), 'judge')}, over {choice.complete:,} of "
            f"{plural(choice.items, 'item')} with a score of every judge, {choice.scored:,} of "
            f"them scored by people; {halves} (seed {choice.seed})."
        )
    return lines
