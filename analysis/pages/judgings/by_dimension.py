"""The deferred part of the page about judgings: by dimension, and beside people.

Maps from judges' scores to people's, and every panel that could be made of the judges, each held
against people's scores that it was not made from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.figures.layout.theme import Figure
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
from analysis.kit.links import Link
from analysis.pages.declaration import ColumnOf, DeferredPart, FigureOf, TableOf, UrlOf, text_of
from analysis.pages.judgings.maps import (
    JudgeMap,
    curve_columns,
    draw_maps,
    map_columns,
    with_curve,
)
from analysis.pages.judgings.panels import (
    draw_panels,
    panel_columns,
    panels_of,
    without_columns,
    without_one,
)
from analysis.pages.judgings.rows import PANEL, JudgeChange, OwnReplies
from analysis.pages.judgings.tables import CHANGE, CONSISTENCY
from analysis.reports import system_facts
from analysis.reports.deferred_reports import note_progress
from analysis.reports.formatting import plural
from analysis.stats.judges.calibration import (
    FEWEST_ITEMS,
    FEWEST_TASKS,
    FORMS,
    Calibration,
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
MOST_PANELS = 40
# Where nothing differs, an interval of 95 % lies on one given side of 0 so often.
BY_CHANCE = 0.025


@dataclass(frozen=True)
class JudgingsByDimension:
    """Judges by dimension, their maps onto people, and the panels that could be made of them."""

    own: tuple[OwnReplies, ...]
    changes: tuple[JudgeChange, ...]
    people: PeopleScores
    form: Form
    maps: tuple[JudgeMap, ...]
    choice: PanelChoice | None
    left_out: tuple[str, ...]

    @property
    def judgings(self) -> list[str]:
        """The judgings whose judges are mapped."""
        return list(dict.fromkeys(one.judging for one in self.maps))

    def maps_of(self, place: int) -> list[JudgeMap]:
        """Return the maps of the judging at this place."""
        names = self.judgings[place : place + 1]
        return [one for one in self.maps if one.judging in names]

    @property
    def fitted(self) -> list[JudgeMap]:
        return [one for one in self.maps if one.made.gain.value is not None]

    @property
    def nearer(self) -> int:
        """The number of maps that bring a judge nearer to people."""
        return sum(_side(one.made.gain) < 0 for one in self.fitted)

    @property
    def away(self) -> int:
        return sum(_side(one.made.gain) > 0 for one in self.fitted)

    @property
    def worth(self) -> int:
        """The number of mapped judges that tell more than a constant."""
        return sum(_side(one.made.worth) < 0 for one in self.fitted)

    @property
    def by_chance(self) -> float:
        return BY_CHANCE * len(self.fitted)

    @property
    def largest(self) -> Calibration | None:
        """The map with the most items, where none could be fitted."""
        return max((one.made for one in self.maps), key=lambda one: one.n, default=None)

    @property
    def fewest_items(self) -> int:
        return FEWEST_ITEMS

    @property
    def fewest_tasks(self) -> int:
        return FEWEST_TASKS

    @property
    def form_words(self) -> str:
        return FORMS[self.form]

    @property
    def folds(self) -> Calibration | None:
        """A map with its folds and seed."""
        return next((one.made for one in self.maps if one.made.folds), None)

    @property
    def several_judges(self) -> bool:
        return self.choice is not None and len(self.choice.judges) > 1

    @property
    def chosen_is_full(self) -> bool:
        return self.choice is not None and self.choice.best == self.choice.full

    @property
    def chosen(self) -> str:
        best = self.choice.best if self.choice is not None else None
        return " and ".join(best.judges) if best is not None else ""


def _side(estimate: Estimate) -> int:
    """Return −1 or 1 where the interval of this case lies below or above 0, else 0."""
    if estimate.interval is None:
        return 0
    return int(estimate.interval.low > 0) - int(estimate.interval.high < 0)


def compute_deferred(selection: Selection) -> JudgingsByDimension | None:
    """Compare by dimension, map judges onto people, and try every panel; None without scores."""
    dimensions = system_facts.dimensions_of(selection.system)
    final = selection.filters.turns != "all"
    note_progress("reading the scores")
    replies = reply_scores(selection.runs, [d.key for d in dimensions], final=final)
    if replies.frame.empty:
        return None
    people = people_scores(selection.people, selection.runs)
    note_progress("consistency and change by dimension")
    own, changes = _own(replies, dimensions), _changes(replies, dimensions)
    form: Form = "monotone" if selection.filters.mapped == "monotone" else "linear"
    maps = maps_of(selection, replies, people, dimensions, form)
    note_progress("panels")
    choice, left = choice_of(selection, replies, people)
    return JudgingsByDimension(
        tuple(own), tuple(changes), people, form, tuple(maps), choice, tuple(left)
    )


def _own(replies: Replies, dimensions: Sequence[Dimension]) -> list[OwnReplies]:
    """Return each judge beside itself by dimension; nothing where every judge was asked once."""
    found = []
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
                found.append(OwnReplies(judge, which, one, dimension.title, dimension.key))
    return found


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
                found.append(JudgeMap(names[which], dimension.key, dimension.title, judge, made))
    return found


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


def draw_mapped(result: JudgingsByDimension, url: UrlOf) -> Figure | None:
    """Draw how far judges are from people, as scored, mapped, and by a constant."""
    return draw_maps(result.maps, url)


def mapped_title(result: JudgingsByDimension) -> str:
    """Name the judge whose maps the figure shows, and the judging."""
    first = next(iter(result.fitted), None)
    if first is None:
        return ""
    verb = "are" if first.judge == PANEL else "is"
    return f"How far {first.judge} (“{first.judging}”) {verb} from people"


def _own_columns(_: JudgingsByDimension) -> Sequence[ColumnOf[OwnReplies]]:
    return (
        text_of("Dimension", lambda row: row.dimension),
        text_of("Judge", lambda row: row.judge),
        *CONSISTENCY,
    )


def _change_columns(_: JudgingsByDimension) -> Sequence[ColumnOf[JudgeChange]]:
    return (
        text_of("Dimension", lambda row: row.dimension),
        text_of("Judge", lambda row: row.judge),
        *CHANGE,
    )


def _maps_table(name: str, place: int) -> TableOf[JudgingsByDimension, JudgeMap]:
    return TableOf(
        name,
        lambda result: f"Judges mapped onto people, on items held out: “{result.judgings[place]}”",
        rows=lambda result: result.maps_of(place),
        columns=lambda _: map_columns(),
        link=lambda row: row.link,
        folded=place > 0,
    )


def _curves_table(name: str, place: int) -> TableOf[JudgingsByDimension, JudgeMap]:
    return TableOf(
        name,
        lambda result: f"The maps: “{result.judgings[place]}”",
        rows=lambda result: with_curve(result.maps_of(place)),
        columns=lambda result: curve_columns(with_curve(result.maps_of(place))),
        link=lambda row: row.link,
        folded=True,
    )


DEFERRED = DeferredPart(
    compute_deferred,
    (
        FigureOf("mapped", mapped_title, draw_mapped),
        _maps_table("mapped", 0),
        _curves_table("maps", 0),
        _maps_table("mapped-beside", 1),
        _curves_table("maps-beside", 1),
        FigureOf(
            "panels",
            "How far panels are from people, on tasks they were not chosen by",
            lambda result, url: draw_panels(result.choice, url(Link())),
        ),
        TableOf(
            "without-one",
            "The panel without each judge",
            rows=lambda result: without_one(result.choice),
            columns=without_columns,
        ),
        TableOf(
            "panels",
            lambda result: f"All {len(panels_of(result.choice))} panels",
            rows=lambda result: panels_of(result.choice),
            columns=panel_columns,
            most=MOST_PANELS,
        ),
        TableOf(
            "own",
            "Each judge beside itself, by dimension",
            rows=lambda result: result.own,
            columns=_own_columns,
            link=lambda row: row.link,
            folded=True,
        ),
        TableOf(
            "changes",
            "What the second judging changes, by dimension",
            rows=lambda result: result.changes,
            columns=_change_columns,
            link=lambda row: row.link,
            folded=True,
        ),
    ),
)
