"""How real is a simulated user? Held against people, and against how far people differ."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from analysis.figures.forest import ForestRows, forest
from analysis.figures.layout.theme import Figure
from analysis.filters.selection import ChosenRun
from analysis.frames.simulated_users import (
    UserRows,
    offered_texts,
    session_chances,
    simulator_of,
    user_rows,
)
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.empty import no_runs
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.reports import addresses, run_marks
from analysis.reports import content as parts
from analysis.reports.content import Cell, estimate_cell, number_cell
from analysis.reports.formatting import (
    difference,
    first_up,
    left_out_sentence,
    listed,
    number,
    plural,
    stated,
    unit_of,
    unit_of_differences,
)
from analysis.stats.comparison.people_ceiling import (
    FEWEST_PEOPLE,
    FEWEST_TASKS,
    MeasureGap,
    PeopleCeiling,
    PlayedColumns,
    hold_against_people,
)
from analysis.stats.corrected.corrected_means import CorrectedMean, RatedUnits, correct_mean
from analysis.stats.results import Estimate, Interval
from benchmarks.core.ports.comparisons import SimulatedUser
from benchmarks.core.ports.labels import Measure

if TYPE_CHECKING:
    from pandas import DataFrame

Row = TypeVar("Row")
PURPOSE = "This page compares users that scripts or models simulate with people in their place."
# More are not read in one figure; the table has them all.
MOST_DRAWN = 3
# Fewer people hardly show anything: docs/statistics.md, users that models play.
ENOUGH_PEOPLE = 4
ANY_AGENT = "All agents"
NOT_KNOWN = (
    "the chance with which people’s tasks were drawn is not known: let a study of sessions draw "
    "them, or have people play all tasks"
)


class Held(NamedTuple):
    """A simulator held against people, the runs in which it speaks, and what it is: a script …"""

    name: str
    runs: tuple[ChosenRun, ...]
    ceiling: PeopleCeiling
    trajectories: int
    kinds: tuple[str, ...]


class MeasureRow(NamedTuple):
    """A measure of a simulator; ``gap`` is None in the row of its overall distance."""

    title: str
    held: Held
    measure: Measure | None
    gap: MeasureGap | None


class SuccessRow(NamedTuple):
    """How often an agent succeeds with a simulator, and corrected to what people would give."""

    agent: str
    held: Held
    runs: tuple[ChosenRun, ...]
    mean: CorrectedMean


def content(page: Page) -> Content:
    """Compare every simulator with people, on the same agents and tasks."""
    user = page.system.comparisons.user if page.selection.system else None
    if page.selection.dataset is None or not page.runs:
        no_runs(page, PURPOSE)
        return
    if user is None:
        page.nothing("No user here", f"{PURPOSE} In this system agents talk with nobody.")
        return
    played = Counter[str]()
    for run in page.runs:
        played[str(run.value or "")] += run.done
    combinations = [name for name, _ in played.most_common() if user.role in name.split(" + ")]
    whole = combinations[0] if combinations else ""
    runs = [run for run in page.runs if str(run.value or "") in ("", whole)]
    roles = tuple(filter(None, whole.split(" + "))) or (user.role,)
    rows = user_rows(runs, page.system, user, roles, page.selection.people)
    frame = rows.frame
    if _nobody_to_compare(page, frame, user, rows.left_out):
        return
    people = frame[frame["who"].notna()]
    held = [
        _held(name, frame, rows, runs, roles, page)
        for name in dict.fromkeys(frame.loc[frame["who"].isna(), "simulator"])
    ]
    held.sort(key=lambda one: -(one.ceiling.distance.value or 0.0))
    success = _success(rows, held, runs)
    for other in combinations[1:]:
        _offer(page, other, played[other])
    page.answers = any(one.ceiling.outside is not None for one in held)
    page.answer(" ".join(_answer(one, rows) for one in held[:MOST_DRAWN]))
    page.answer(_success_sentence(success, rows))
    if rows.scripted:
        page.banner(
            "Scripted people",
            f"Scripts play {len(rows.scripted)} of the {people['who'].nunique()} people, so this "
            "only shows how the comparison works.",
        )
    if page.answers and (n := people["who"].nunique()) < ENOUGH_PEOPLE:
        page.warning(
            f"Only {n} people: even a simulator that is far off may stay within the limit. With "
            f"{ENOUGH_PEOPLE} people at 20 tasks, two standard deviations off mostly show."
        )
    page.figure(
        "distances",
        "Differences from people, and how far a further person would differ",
        (lambda: _draw(page, held, people, rows)) if page.answers else None,
        subtitle="In standard deviations of people’s trajectories: with 95 % intervals over tasks; "
        "for people, the limits that hold for all rows together.",
        table="measures",
    )
    page.table(
        "measures",
        "Each simulator beside people, on the same agents and tasks",
        [row for one in held for row in _measure_rows(one, rows)],
        [
            _simulator(lambda row: row.held),
            columns.text("Measure", lambda row: row.title, "measure"),
            Column(parts.number_column("People"), lambda row: _mean(row, "people")),
            Column(parts.number_column("Simulated"), lambda row: _mean(row, "own")),
            Column(parts.estimate_column("Difference", help="Simulated minus people, with 95 % "
                   "interval and the number of tasks"), _difference),
            Column(parts.number_column("Limit ±", "limit", help="How far a further person would "
                   "differ from these people at most"), _limit),
            columns.text("Verdict", _verdict),
        ],
        link=lambda row: Link(runs=tuple(run.pk for run in row.held.runs)),
        note=f"{_people(people, rows)}, "
        f"{plural(len(people), 'trajectory', 'trajectories')}. Limits hold together for all "
        "measures and simulators (Bonferroni).",
    )  # fmt: skip
    yield
    _success_table(page, success, rows)
    _played_table(page, held)
    _how(page, rows, people, whole)


def _offer(page: Page, roles: str, trajectories: int) -> None:
    """Say what is left out because people filled other roles there, and lead to a page about it."""
    chosen = [run.pk for run in page.runs if str(run.value or "") in ("", roles)]
    page.info(
        f"{plural(trajectories, 'trajectory is', 'trajectories are')} left out in which people "
        f"filled other roles ({roles.replace('_', ' ')}).",
        page.other("simulated-users", runs=chosen),
        "Compare these instead",
    )


def _people(people: "DataFrame", rows: UserRows) -> str:
    """Return how many people there are, and how many of them are scripts."""
    count = plural(people["who"].nunique(), "person", "people")
    return f"{count} ({len(rows.scripted)} scripted)" if rows.scripted else count


def _nobody_to_compare(
    page: Page, frame: "DataFrame", user: SimulatedUser, left_out: Mapping[str, int]
) -> bool:
    """Say what is missing where people or simulators are; return whether something is."""
    people = frame[frame["who"].notna()]
    new_session = addresses.address("annotation:session_new")
    n, simulated = people["who"].nunique(), int(frame["who"].isna().sum())
    some = f"{PURPOSE} It needs at least {FEWEST_PEOPLE} people and {FEWEST_TASKS} tasks"
    if n < FEWEST_PEOPLE:
        have = plural(n, "person has", "people have") if n else "nobody has"
        more = f" {left_out_sentence(left_out)}" * bool(left_out)
        page.nothing(
            "Not enough people have played the user yet",
            f"{some}; {have} played here.{more} Let people play the user with the same agents on "
            "the same tasks.",
            "Create sessions",
            new_session,
        )
    elif not simulated:
        page.nothing(
            "No simulator to compare",
            f"{some}, and a script or model as user. Run the same agents on the same tasks.",
            "Start a run",
            addresses.address("benchmarks:run_new"),
        )
    elif not _common(frame):
        page.nothing(
            "No task in common",
            f"{some} in common with a simulator. People and simulators here played with "
            "different agents or on different tasks.",
            "Create sessions",
            new_session,
        )
    else:
        return False
    return True


def _common(frame: "DataFrame") -> set[tuple[str, int]]:
    """Return the (agent, task) that both people and simulators played."""
    sides = [
        set(zip(side["agent"], side["task"], strict=True))
        for side in (frame[frame["who"].notna()], frame[frame["who"].isna()])
    ]
    return sides[0] & sides[1]


def _held(
    name: str,
    frame: "DataFrame",
    rows: UserRows,
    runs: Sequence[ChosenRun],
    roles: Sequence[str],
    page: Page,
) -> Held:
    number_of = frame.loc[frame["who"].isna(), "simulator"].nunique()
    mine = frame[frame["who"].notna() | (frame["simulator"] == name)]
    played = PlayedColumns(
        [None if name else who for who, name in zip(mine["who"], mine["simulator"], strict=True)],
        mine["agent"].tolist(),
        mine["task"].tolist(),
        {key: mine[key].to_numpy() for key in rows.measures},
    )
    own = tuple(run for run in runs if simulator_of(run, roles, page.system) == name)
    kinds = {label for run in own for role in roles for label in run_marks.label_of(run, role)}
    ceiling = hold_against_people(played, comparisons=number_of)
    return Held(name, own, ceiling, int(mine["who"].isna().sum()), tuple(sorted(kinds)))


def _answer(one: Held, rows: UserRows) -> str:
    """State whether a simulator is clearly further from people than one of them, and where."""
    ceiling = one.ceiling
    if ceiling.distance.value is None or ceiling.limit.value is None:
        return f"{one.name} cannot be held against people: {ceiling.distance.undefined}."
    further = "clearly further" if ceiling.outside else "not clearly further"
    text = (
        f"{one.name} is {further} from people than another person would be: distance "
        f"{number(ceiling.distance.value, 'number')} standard deviations, limit "
        f"{number(ceiling.limit.value, 'number')}"
    )
    apart = {
        key: abs(gap.difference.value) / gap.spread
        for key, gap in ceiling.measures.items()
        if gap.outside and gap.spread and gap.difference.value is not None
    }
    if apart:
        key = max(apart, key=lambda one: apart[one])
        measure, value = rows.measures[key].measure, ceiling.measures[key].difference.value
        assert value is not None
        shown = difference(value, unit_of_differences(measure), signed=True)
        text += f"; most apart: {measure.noun or measure.title.lower()} ({shown})"
    return f"{text}."


def _success_sentence(success: Sequence[SuccessRow], rows: UserRows) -> str:
    """State what the farthest simulator does to agents' success."""
    if not success:
        return ""
    row = success[0]
    measure = _headline(rows)
    unit = unit_of(measure)
    if row.mean.judges is None or row.mean.estimate.value is None:
        return ""
    return (
        f"With it, the {measure.name} of agents is {number(row.mean.judges, unit)}; corrected to "
        f"what people would give, {stated(row.mean.estimate, unit)}."
    )


def _headline(rows: UserRows) -> Measure:
    return next(one.measure for one in rows.measures.values() if one.about == "success")


def _draw(page: Page, held: Sequence[Held], people: "DataFrame", rows: UserRows) -> Figure:
    """Draw each measure's difference in people's standard deviations, and people's limits."""
    shown = held[:MOST_DRAWN]
    widest: dict[str, tuple[float, float]] = {}
    for one in shown:
        for key, gap in one.ceiling.measures.items():
            if gap.limit.value is not None and gap.spread:
                size = gap.limit.value / gap.spread
                widest[key] = (-size, size)
    names = [key for key in rows.measures if key in widest]
    limits = [
        (rows.measures[key].measure.title,
         Estimate(0.0, 1, Interval(*widest[key], 0.95, "prediction of a further person")))
        for key in names
    ]  # fmt: skip
    played = page.url(runs=tuple(people["run"].unique().tolist()))
    groups = [ForestRows("A further person", limits, [played] * len(limits))]
    for one in shown:
        own = [
            (rows.measures[key].measure.title, _scaled(one.ceiling.measures[key])) for key in names
        ]
        url = page.url(runs=tuple(run.pk for run in one.runs))
        groups.append(ForestRows(one.name, own, [url] * len(own)))
    return forest(
        groups, title="Standard deviations from people", unit="points", least=-1.0, together=True
    )


def _scaled(gap: MeasureGap) -> Estimate:
    value, interval, spread = gap.difference.value, gap.difference.interval, gap.spread
    if value is None or not spread:
        return Estimate.without_value(gap.difference.undefined or "people do not differ here")
    if interval is None:
        return Estimate(value / spread, gap.difference.n, no_interval=gap.difference.no_interval)
    ends = interval.low / spread, interval.high / spread
    return Estimate(
        value / spread, gap.difference.n, Interval(*ends, interval.level, interval.method)
    )


def _simulator(held: Callable[[Row], Held]) -> Column[Row]:
    """Return a column of simulators, marked as scripts where they are."""

    def cell(row: Row) -> Cell:
        marks = [run_marks.LABEL_WORDS[kind] for kind in held(row).kinds
                 if kind in run_marks.LABEL_WORDS]  # fmt: skip
        return parts.text_cell(held(row).name, badges=marks)

    return Column(parts.text_column("Simulator", "simulator"), cell)


def _measure_rows(one: Held, rows: UserRows) -> list[MeasureRow]:
    return [
        MeasureRow("Overall distance", one, None, None),
        *(
            MeasureRow(rows.measures[key].measure.title, one, rows.measures[key].measure, gap)
            for key, gap in one.ceiling.measures.items()
        ),
    ]


def _mean(row: MeasureRow, side: str) -> Cell:
    if row.gap is None or row.measure is None:
        return Cell(data=(None,), reason="a distance has no mean of its own")
    value = row.gap.people if side == "people" else row.gap.own
    return number_cell(value, unit_of(row.measure), reason=row.gap.difference.undefined)


def _difference(row: MeasureRow) -> Cell:
    if row.gap is None or row.measure is None:
        return estimate_cell(row.held.ceiling.distance, "number")
    if unit_of(row.measure) == "share":
        return parts.points_cell(row.gap.difference)
    return estimate_cell(row.gap.difference, "number", signed=True, show_n=True)


def _limit(row: MeasureRow) -> Cell:
    if row.gap is None or row.measure is None:
        limit = row.held.ceiling.limit
        return number_cell(limit.value, "number", reason=limit.undefined)
    limit = row.gap.limit
    cell = number_cell(limit.value, unit_of(row.measure), reason=limit.undefined)
    return replace(cell, text=cell.text.replace(" %", " pt"))


def _verdict(row: MeasureRow) -> str:
    outside = row.held.ceiling.outside if row.gap is None else row.gap.outside
    return "not known" if outside is None else "outside" if outside else "within"


def _success(rows: UserRows, held: Sequence[Held], runs: Sequence[ChosenRun]) -> list[SuccessRow]:
    """Correct agents' success with each simulator by what it was with people."""
    key = next((key for key, one in rows.measures.items() if one.about == "success"), "")
    if not key:
        return []
    agents = {run.agent: run.label for run in runs if run.agent_kind != "human"}
    frame = rows.frame[rows.frame["agent"].isin(agents)]
    people = frame[frame["who"].notna()]
    with_people = [run for run in runs if run.pk in set(people["run"])]
    chances = session_chances(with_people, frame["task"].tolist())
    by_people = people.groupby(["agent", "task"])[key].mean().to_dict()
    most = rows.measures[key].measure.most
    lines = []
    for one in held:
        mine = frame[frame["who"].isna() & (frame["simulator"] == one.name)]
        units = mine.groupby(["agent", "task"], as_index=False)[key].mean()
        pairs = list(zip(units["agent"], units["task"], strict=True))
        units["people"] = [by_people.get(pair) for pair in pairs]
        units["chance"] = [chances.get(pair) for pair in pairs]
        if units["people"].notna().all():
            # Nothing was drawn: people played all that the simulator did.
            units["chance"] = 1.0
        names = dict.fromkeys(units["agent"])
        by_agent = [(agents[name], units[units["agent"] == name]) for name in names]
        shown = [(ANY_AGENT, units), *by_agent]
        for label, own in shown if len(shown) > 2 else shown[1:]:
            own_runs = tuple(run for run in one.runs if label in (ANY_AGENT, run.label))
            lines.append(SuccessRow(label, one, own_runs, _corrected(own, key, most)))
    return lines


def _corrected(units: "DataFrame", key: str, most: float | None) -> CorrectedMean:
    drawn = units[units["chance"].notna()]
    if drawn.empty:
        return _uncorrected(units, key, NOT_KNOWN)
    played = drawn.loc[drawn["people"].notna(), "task"].nunique()
    if played < FEWEST_TASKS:
        why = f"people played {plural(played, 'task')} of these; at least {FEWEST_TASKS} are needed"
        return _uncorrected(drawn, key, why)
    mean = correct_mean(
        RatedUnits(
            drawn[key].to_numpy(dtype="float64"),
            drawn["people"].to_numpy(dtype="float64"),
            drawn["chance"].to_numpy(dtype="float64"),
            drawn["task"].to_numpy(),
        ),
        scale=(0, most),
    )
    if mean.estimate.value is None and mean.people.value is not None:
        # A simulator under which every attempt ends alike says nothing: people alone count.
        return replace(mean, estimate=mean.people, weight=0.0)
    return mean


def _uncorrected(units: "DataFrame", key: str, why: str) -> CorrectedMean:
    """Return the mean with the simulator alone, and why there is no other."""
    none = Estimate.without_value(why, n=len(units))
    own = float(units[key].mean()) if units[key].notna().any() else None
    return CorrectedMean(none, own, none, None, 0, 0)


def _success_table(page: Page, success: Sequence[SuccessRow], rows: UserRows) -> None:
    if not success:
        return
    measure = _headline(rows)
    unit = unit_of(measure)
    page.table(
        "success",
        f"{first_up(measure.name)} of agents with a simulator, and corrected to what people give",
        success,
        [
            _simulator(lambda row: row.held),
            columns.text("Agent", lambda row: row.agent, "agent"),
            columns.number("With it", lambda row: row.mean.judges, unit, "simulated"),
            columns.estimate(
                "With people",
                lambda row: row.mean.people,
                unit,
                part="people",
                help="On the tasks that people played, weighted by the chance of being drawn",
                show_n=True,
            ),
            columns.estimate(
                "Corrected",
                lambda row: row.mean.estimate,
                unit,
                part="corrected",
                help="n counts agents at tasks",
                show_n=True,
            ),
        ],
        link=lambda row: Link(runs=tuple(run.pk for run in row.runs)),
        note="95 % intervals by task. Counted are tasks that people’s studies could draw, with the "
        "agents that people met.",
    )


def _played_table(page: Page, held: Sequence[Held]) -> None:
    """Add how much each simulator played, and how far single people are from the others."""
    page.table(
        "played",
        "What each simulator played",
        held,
        [
            _simulator(lambda one: one),
            columns.count("Trajectories", lambda one: one.trajectories),
            columns.count(
                "People compared", lambda one: len(one.ceiling.people),
                help=f"Who share at least {FEWEST_TASKS} tasks with others, on every measure",
            ),
            columns.text(
                "Distances of single people",
                lambda one: " · ".join(number(d, "number") for d in one.ceiling.people) or "none",
                "people", help="Each person against the others, smallest first",
            ),
        ],
        link=lambda one: Link(runs=tuple(run.pk for run in one.runs)),
    )  # fmt: skip


def _how(page: Page, rows: UserRows, people: "DataFrame", whole: str) -> None:
    offered = offered_texts(people["trajectory"].tolist())
    missing = "; ".join(f"{title.lower()} ({why})" for title, why in rows.missing.items())
    if rows.simulated_raters:
        page.info("Scripts are among those who rated feedback.")
    page.how(
        "A difference is the simulator’s mean minus the mean of the people with the same agent at "
        "the same task, tasks with equal weights; t interval over tasks.",
        "Each person is compared with the other people in the same way. Their spread gives the "
        "limit: where a further person of the same kind would stay with 95 %, for all measures and "
        "simulators together (Bonferroni). An exact copy of people stays within it.",
        "Distance: root mean square of the differences in standard deviations of people’s "
        "trajectories. Its limit allows for measures that go together.",
        "Users that models play are compared with people on many measures in arXiv 2603.11245.",
        "Success is corrected as judges are by people’s ratings (PPI++): the simulator’s mean over "
        "all tasks that could be drawn, plus people’s mean difference on those they played.",
        f"In {plural(rows.with_people, 'trajectory', 'trajectories')} a person is the agent. They "
        "are compared with trajectories of the same person as agent at the same task, which that "
        "person may remember, and success is not corrected for them." if rows.with_people else "",
        f"Roles that people fill: {whole.replace('_', ' ')}, the combination with most "
        "trajectories here." if whole else "",
        left_out_sentence(rows.left_out, nothing="No trajectory"),
        f"Not measured: {missing}." if missing else "",
        f"{plural(offered.replies, 'reply', 'replies')} of people began beside an offered text; "
        f"on average {number(offered.distance, 'share')} of the words differ from it."
        if offered else "",
    )  # fmt: skip
    names = [one.measure.noun or one.measure.title.lower() for one in rows.measures.values()]
    page.methods(
        f"Simulated users are compared with {_people(people, rows)} on "
        f"{listed(names, most=8)}, with the same agents at the same tasks. Limits are 95 % "
        "prediction intervals of a further person from leave-one-person-out differences."
    )
