"""The deferred part of the page about judgings: by dimension, and beside people.

Maps from judges' scores to people's, and every panel that could be made of the judges, each held
against people's scores that it was not made from.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.template.defaultfilters import floatformat

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
from analysis.kit import columns
from analysis.kit.links import Link
from analysis.kit.page import Page
from analysis.pages.judgings.maps import JudgeMap, fitted_maps, show_maps
from analysis.pages.judgings.panels import show_panels
from analysis.pages.judgings.rows import PANEL, JudgeChange, OwnReplies
from analysis.pages.judgings.tables import CHANGE, CONSISTENCY
from analysis.pages.people import compared_people
from analysis.reports import system_facts
from analysis.reports.deferred_reports import note_progress
from analysis.reports.formatting import listed, plural, stated, stated_change
from analysis.stats.judges.calibration import (
    FEWEST_ITEMS,
    FEWEST_TASKS,
    FORMS,
    Form,
    calibrate,
)
from analysis.stats.judges.panel_choice import MOST_JUDGES, PanelChoice, panel_choice
from analysis.stats.judges.repeats import repeat_consistency
from analysis.stats.results import Estimate
from benchmarks.core.system import Dimension

if TYPE_CHECKING:
    from pandas import DataFrame

SEED = 20261123
# Where nothing differs, an interval of 95 % lies on one given side of 0 so often.
BY_CHANCE = 0.025


def deferred(page: Page) -> None:
    """Compare by dimension, map judges onto people, and try every panel."""
    selection = page.selection
    dimensions = system_facts.dimensions_of(selection.system)
    final = selection.filters.turns != "all"
    note_progress("reading the scores")
    replies = reply_scores(selection.runs, [d.key for d in dimensions], final=final)
    if replies.frame.empty:
        page.answer("There are no scores to compare.")
        return
    people = people_scores(selection.people, selection.runs)
    note_progress("consistency and change by dimension")
    own, changes = _own(replies, dimensions), _changes(replies, dimensions)
    form: Form = "monotone" if selection.filters.mapped == "monotone" else "linear"
    maps = maps_of(selection, replies, people, dimensions, form)
    note_progress("panels")
    choice, left = choice_of(selection, replies, people)

    if people.means:
        page.answer(_maps_answer(maps))
        page.answer(_choice_answer(choice))
    else:
        page.answer(
            "Nobody scored these plans in a study that you may read: judges can be compared with "
            "each other, but not mapped onto people or chosen by their scores."
        )
    if left:
        page.info(f"Not among the panels: {listed(left, most=8)}.")
    if choice is not None and len(choice.judges) > 1:
        if choice.best is not None:
            page.warning(
                "A panel that was chosen here should be tried on other tasks before it replaces "
                "all judges: the held-out half guards against choosing by luck among these panels, "
                "not against other tasks, agents or people."
            )
        else:
            page.info(f"No panel can be chosen by people: {choice.full.error.undefined}.")
    show_maps(page, maps)
    show_panels(page, choice)
    page.table(
        "own",
        "Each judge beside itself, by dimension",
        own,
        [
            columns.text("Dimension", lambda row: row.dimension),
            columns.text("Judge", lambda row: row.judge),
            *CONSISTENCY,
        ],
        link=lambda row: Link(dimension=row.key),
        folded=True,
    )
    page.table(
        "changes",
        "What the second judging changes, by dimension",
        changes,
        [
            columns.text("Dimension", lambda row: row.dimension),
            columns.text("Judge", lambda row: row.judge),
            *CHANGE,
        ],
        link=lambda row: Link(dimension=row.key),
        folded=True,
    )
    compared_people(page, people)
    _how(page, maps, choice, form)


def _maps_answer(maps: Sequence[JudgeMap]) -> str:
    """Return how often a map brings a judge nearer to people, or what it takes to fit one."""
    fitted = fitted_maps(maps)
    if fitted:
        gains = [_side(one.made.gain) for one in fitted]
        worth = sum(_side(one.made.worth) < 0 for one in fitted)
        return (
            "On items that it was not fitted on, a map brings a judge nearer to people in "
            f"{gains.count(-1):,} of {plural(len(fitted), 'case')} (judge and dimension) and "
            f"further away in {gains.count(1):,}; mapped, judges tell more than a constant in "
            f"{worth:,}."
        )
    text = (
        f"No map can be fitted: it takes {FEWEST_ITEMS} items of {FEWEST_TASKS} tasks that a judge "
        "and people scored"
    )
    if maps:
        most = max((one.made for one in maps), key=lambda made: made.n)
        text += f"; at most {plural(most.n, 'item')} of {plural(most.tasks, 'task')} are there"
    return f"{text}."


def _choice_answer(choice: PanelChoice | None) -> str:
    """Return how far the chosen panel lies from people, where one could be chosen."""
    if choice is None or choice.best is None or len(choice.judges) < 2:
        return ""
    best = choice.best
    beside = (
        "that is all judges together"
        if best == choice.full
        else f"{stated_change(best.change, 'points')} beside all judges together"
    )
    return (
        f"Chosen on half of the tasks, the panel of {' and '.join(best.judges)} lies "
        f"{stated(best.error, 'points')} points from people on the other half, {beside}."
    )


def _how(page: Page, maps: Sequence[JudgeMap], choice: PanelChoice | None, form: Form) -> None:
    """Say how cases were counted, maps fitted and panels tried."""
    if fitted := fitted_maps(maps):
        page.how(
            "Counted are cases whose own 95 % interval excludes 0, not corrected for their number: "
            f"without any difference {floatformat(BY_CHANCE * len(fitted), 1)} would be counted "
            "each time."
        )
    if folds := next((one.made for one in maps if one.made.folds), None):
        page.how(
            f"Maps: {FORMS[form]}. Tasks are divided into {folds.folds} parts at random (seed "
            f"{folds.seed}); items of each part are mapped by what was fitted on the others. The "
            "constant is people's mean on those others."
        )
    if choice is not None:
        halves = (
            f"{plural(choice.choosing, 'task')} to choose by and {choice.held_out:,} to measure on"
            if choice.best is not None
            else "too few tasks with people's scores to choose by"
        )
        page.how(
            f"Panels: {plural(len(choice.panels), 'panel')} of "
            f"{plural(len(choice.judges), 'judge')}, over {choice.complete:,} of "
            f"{plural(choice.items, 'item')} with a score of every judge, {choice.scored:,} of "
            f"them scored by people; {halves} (seed {choice.seed})."
        )


def _side(estimate: Estimate) -> int:
    """Return −1 or 1 where the interval of this case lies below or above 0, else 0."""
    if estimate.interval is None:
        return 0
    return int(estimate.interval.low > 0) - int(estimate.interval.high < 0)


def _own(replies: Replies, dimensions: Sequence[Dimension]) -> list[OwnReplies]:
    """Return each judge beside itself by dimension; nothing where every judge was asked once."""
    own_replies = []
    for which in (COUNTS, BESIDE):
        for seat, judge in replies.judges(which).items():
            own = replies.of(which, seat)
            if own["replicate"].nunique() < 2:
                continue
            for dimension in dimensions:
                frame = own[own["dimension"] == dimension.key]
                if frame.empty:
                    continue
                scores, asked, tasks = replies_of(frame)
                one = repeat_consistency(scores, tasks=tasks, asked=asked, seed=SEED)
                own_replies.append(OwnReplies(judge, which, one, dimension.title, dimension.key))
    return own_replies


def _changes(replies: Replies, dimensions: Sequence[Dimension]) -> list[JudgeChange]:
    """Return what the second judging changes, by dimension and judge; nothing without a second."""
    if not replies.judges(BESIDE) or not replies.judges(COUNTS):
        return []
    both = BothScores(replies, SEED)
    pairs = matches(replies.judges(COUNTS), replies.judges(BESIDE))
    return [
        JudgeChange(
            PANEL if match is None else match.label,
            both.change(match, dimension.key),
            dimension.title,
            dimension.key,
        )
        for dimension in dimensions
        for match in (None, *pairs)
    ]


def people_means(items: "DataFrame", people: PeopleScores) -> list[float | None]:
    """Return the people's mean score of each item; that of a last plan is of its last turn."""
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
) -> list[JudgeMap]:
    """Map each judge of both judgings and their mean, on each dimension that people scored."""
    if not people.means:
        return []
    maps = []
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
        people_scores = people_means(table, people)
        of = table.index.get_level_values("dimension")
        tasks = table.index.get_level_values("task").tolist()
        columns = [(PANEL, table.mean(axis=1, skipna=False))] if len(judges) > 1 else []
        columns += [(name, table[replies.sittings.index(one)]) for one, name in judges.items()]
        for dimension in dimensions:
            if dimension.key not in asked:
                continue
            note_progress(f"maps of {names[which]}: {dimension.title.lower()}")
            kept = [place for place, key in enumerate(of) if key == dimension.key]
            for judge, column in columns:
                made = calibrate(
                    column.to_numpy()[kept],
                    [people_scores[place] for place in kept],
                    tasks=[tasks[place] for place in kept],
                    form=form,
                    seed=SEED,
                )
                maps.append(JudgeMap(names[which], dimension.key, dimension.title, judge, made))
    return maps


def choice_of(
    selection: Selection, replies: Replies, people: PeopleScores
) -> tuple[PanelChoice | None, list[str]]:
    """Try every panel of the judges of both judgings; name the judges that are left out, and why.

    A judge of both judgings counts once, as in the judging that counts.
    """
    tables, names, costs = [], [], {}
    spent = judge_costs(selection.runs, system_facts.judge_roles(selection.system))
    first = replies.judges(COUNTS)
    known = {seat[:2] for seat in first}
    for which in (COUNTS, BESIDE):
        table = item_scores(replies.of(which)) if replies.judges(which) else None
        for seat, name in replies.judges(which).items():
            if table is None or (which == BESIDE and seat[:2] in known):
                continue
            called = f"{name}, later" if name in names else name
            tables.append(table[replies.sittings.index(seat)].rename(called))
            names.append(called)
            if seat in spent[which]:
                costs[called] = spent[which][seat]
    if not tables:
        return None, []
    import pandas as pd

    scores = pd.concat(tables, axis=1)
    people_scores = pd.Series(people_means(scores, people), index=scores.index, dtype="float64")
    among = scores[people_scores.notna()] if people_scores.notna().any() else scores
    share = among.notna().mean()
    kept = [name for name in names if share[name] >= 0.5][:MOST_JUDGES]
    left = [
        f"{name} ({'one too many' if share[name] >= 0.5 else 'scored too little of it'})"
        for name in names
        if name not in kept
    ]
    if not kept:
        return None, left
    note_progress(f"{2 ** len(kept) - 1} panels of {plural(len(kept), 'judge')}")
    choice = panel_choice(
        kept,
        scores[kept].to_numpy(),
        people_scores.to_numpy(),
        tasks=scores.index.get_level_values("task").tolist(),
        costs=costs,
        seed=SEED,
    )
    return choice, left
