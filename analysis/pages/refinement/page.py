"""What do extra turns with feedback on the rubric bring: plans recovered, and valid plans lost."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.db.models.fields.json import KeyTransform

from analysis.figures.layout.theme import Figure
from analysis.figures.lines import number_lines
from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import counted as counted_rows
from analysis.frames.outcomes import unfinished
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.empty import no_runs
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.reports import addresses, chosen_runs, figure_specs, run_marks
from analysis.reports.content import (
    how_interval,
    text_cell,
    text_column,
)
from analysis.reports.extremes import clear_changes
from analysis.reports.formatting import counted, first_up, left_out_sentence, listed, plural
from analysis.stats.comparison.refinement import (
    BY_CONSTRUCTION,
    Among,
    RefinementCurve,
    RefinementPoint,
    State,
    refinement_curves,
)
from benchmarks.access import START
from benchmarks.core.registry import get_system
from benchmarks.models import Trajectory

PURPOSE = "This page shows what extra turns with feedback on the rubric bring."
NO_VERDICT = "whether the last plan is valid is unknown"
NO_STATES = "the states of its plans were not recorded"
STATEMENT = (
    "Figure 5",
    "Over one to six extra turns accuracy rises by about 10 points, while the valid plan rate "
    "falls by about 40 points for the two open models and 20 for the two closed ones; among "
    "trajectories that had neither stopped early nor succeeded.",
)


class Chains(NamedTuple):
    """A chain per trajectory, with its agent and task; ``left_out`` counts those without one."""

    labels: list[str]
    tasks: list[int]
    chains: list[tuple[State, ...]]
    left_out: Mapping[str, int]


def refinement_chains(runs: Sequence[ChosenRun], most: int) -> Chains:
    """Return the states of every finished trajectory from its first valid plan on, or its last
    alone.

    Refinement begins after the first valid plan, so that plan is the state before any extra turn.
    """
    judged = {run.rejudged_by or run.pk: run for run in runs}
    rows = (
        Trajectory.objects.filter(counted_rows(judged), status=Trajectory.Status.DONE)
        .annotate(states=KeyTransform("states", "payload"))
        .order_by("pk")
        .values_list("run", "task", "metrics", "states")
    )
    labels, tasks, chains = [], [], []
    left: Counter[str] = Counter()
    for run, task, metrics, states in rows:
        if metrics.get("valid") is None:
            left[NO_VERDICT] += 1
        elif not states:
            left[NO_STATES] += 1
        else:
            first = next((i for i, s in enumerate(states) if s["valid"]), len(states) - 1)
            chain = tuple((bool(s["valid"]), s["passed"]) for s in states[first:])
            labels.append(judged[run].label)
            tasks.append(task)
            chains.append(chain[: most + 1])
    return Chains(labels, tasks, chains, dict(left.most_common()))


class CurveRow(NamedTuple):
    """The curve of an agent: before any extra turn (``first``) and after all (``last``)."""

    run: ChosenRun
    curve: RefinementCurve
    first: RefinementPoint
    last: RefinementPoint


def content(page: Page) -> Content:
    """Count what runs that grant extra turns came to after each of them."""
    selection, setting = page.selection, page.system.comparisons.refinement
    if not page.runs or not setting:
        _nothing(page)
        return
    most = max(int(run.settings.get(setting, 0)) for run in page.runs)
    published = selection.filters.published != "hide"
    if not most:
        _no_extra_turns(page, setting, published=published)
        return
    refined_alone = selection.filters.among == "refined"
    among: Among = "refined" if refined_alone else "all"
    labels, tasks, chains, without_chain = refinement_chains(page.runs, most)
    family = 2 * selection.agents_here  # both measures of all agents
    runs = {run.label: run for run in page.runs}
    rows = [
        CurveRow(runs[curve.model], curve, curve.points[0], curve.points[-1])
        for curve in refinement_curves(
            labels, tasks, chains, most=most, among=among, comparisons=family
        )
    ]
    known = [row for row in rows if row.curve.counted]
    number = sum(row.curve.counted for row in known)

    if not known and chains:
        page.answer("No trajectory was refined: each was valid and passed, or never valid.")
    elif not known:
        page.answer(f"Nothing can be counted: {counted(without_chain) or 'nothing is finished'}.")
    elif not any(row.curve.refined for row in known):
        page.answer(
            f"None of {plural(number, 'trajectory', 'trajectories')} was refined: each was valid "
            "and passed, or never valid."
        )
    else:
        accuracy = clear_changes([(r.curve.model, r.last.accuracy_change) for r in known], "share")
        valid = clear_changes([(r.curve.model, r.last.valid_change) for r in known], "share")
        recovered = sum(row.last.recovered for row in known)
        page.answer(
            f"After {plural(most, 'extra turn')} {f'accuracy {accuracy}; ' if accuracy else ''}the "
            f"valid plan rate {valid}. In total, "
            f"{plural(recovered, 'trajectory', 'trajectories')} became accurate and "
            f"{sum(row.last.lost for row in known)} lost a valid plan."
        )
    changes = [one for row in known for one in (row.last.accuracy_change, row.last.valid_change)]
    page.compared(changes, "share")
    if refined_alone and any(row.curve.warnings for row in rows):
        page.info(f"{first_up(BY_CONSTRUCTION)}.")
    whose = "refined trajectories alone" if refined_alone else "all trajectories"
    subtitle = (
        f"Among {whose}, with 95 % intervals; trajectories that ended earlier keep their last "
        "state."
    )
    page.figure(
        "accuracy",
        "Accuracy after extra turns",
        lambda: _draw(page, rows, "accuracy", "accuracy"),
        subtitle=subtitle,
        table="points",
    )
    page.table(
        "ends",
        f"Before and after {plural(most, 'extra turn')}",
        rows,
        _end_columns(),
        link=lambda row: Link(runs=(row.run.pk,)),
        note="Recovered and lost are counted apart, because a change of 0 may hide both.",
    )
    yield

    page.figure(
        "valid",
        "Valid plan rate after extra turns",
        lambda: _draw(page, rows, "valid", "valid plan rate"),
        subtitle=subtitle,
        table="points",
    )
    page.table(
        "points",
        "By extra turn",
        [(row, point) for row in rows for point in row.curve.points],
        _point_columns(),
        link=lambda pair: Link(runs=(pair[0].run.pk,)),
        note="The state after so many extra turns, or the last one where fewer were needed.",
        folded=True,
    )
    page.table(
        "said",
        "Published: in words",
        [STATEMENT] if published else [],
        [
            Column(
                text_column("Source"),
                lambda row: text_cell(row[0], badges=(run_marks.PUBLISHED_BADGE,)),
            ),
            columns.sentences(
                "What the paper reports", lambda row: row[1], "reported", source=lambda row: row[0]
            ),
        ],
        note="What the paper says about its own runs.",
    )
    points = [point for row in rows for point in row.curve.points]
    shares = how_interval([one.accuracy for one in points] + [one.valid for one in points])
    of_changes = how_interval([one.accuracy_change for one in points])
    left_out = Counter(without_chain)
    for run in page.runs:
        left_out.update(unfinished(run))
    unscored = sum(sum(row.last.accuracy.excluded.values()) for row in rows)
    without = f" Without accuracy, a rubric score being missing: {unscored}." if unscored else ""
    page.how(
        "State at k: that of the plan after min(k, used) extra turns, so that every k is about the "
        "same trajectories. The first valid plan that fails the rubric is k = 0.",
        f"Shares: {shares or 'no interval'}. Changes: against k = 0 on the same tasks; "
        f"{of_changes or 'no interval'}. Intervals of changes hold together over "
        f"{plural(family, 'change')}: both measures of all agents (Bonferroni).",
        left_out_sentence(left_out) + without,
    )
    page.methods(
        "Accuracy and the valid plan rate are those of the plan after each number of extra turns "
        "with feedback on the rubric, among "
        f"{'refined trajectories' if refined_alone else 'all trajectories'}; changes are against "
        "no extra turn on the same tasks."
    )


def _nothing(page: Page) -> None:
    """Say that there is no run, or that the dataset has no such turns."""
    if not page.runs:
        no_runs(page, PURPOSE)
        return
    name = chosen_runs.dataset_name(page.selection)
    url = addresses.address("analysis:leaderboard", {"dataset": page.selection.filters.dataset})
    text = f"{PURPOSE} {name} has no such turns."
    page.nothing("No extra turns here", text, "See the leaderboard", url)


def _no_extra_turns(page: Page, setting: str, *, published: bool) -> None:
    """Offer the form of a run that grants as many extra turns as can be."""
    known = next(s for s in get_system(page.selection.system).settings if s.name == setting)
    wanted = int(known.maximum or 1)
    agents = listed([run.label for run in page.runs], most=5)
    reported = f" The paper reports ({STATEMENT[0]}): {STATEMENT[1]}" if published else ""
    page.nothing(
        "No run here grants extra turns",
        f"{PURPOSE} One run with {plural(wanted, 'extra turn')} of {agents} gives the figures for "
        "every smaller number too. The form is filled in with the same dataset, judges, settings "
        f"and seed.{reported}",
        "Fill in the form",
        addresses.new_run_url(page.selection, page.runs, {setting: wanted}),
        START,
    )


def _draw(page: Page, rows: Sequence[CurveRow], name: str, title: str) -> Figure | None:
    """Draw a share after each number of extra turns, a curve for each agent."""
    known = [row for row in rows if row.curve.counted]
    if not known:
        return None
    return number_lines(
        {
            row.curve.model: [(one.extra_turns, getattr(one, name)) for one in row.curve.points]
            for row in known
        },
        "extra turns",
        title,
        styles=figure_specs.styles([row.curve.model for row in rows]),
        about="extra turns: ",
        urls={row.curve.model: page.url(runs=(row.run.pk,)) for row in known},
    )


def _end_columns() -> list[Column[CurveRow]]:
    """Give the shares before and after all extra turns."""
    help = "On the same tasks; n counts tasks"
    used = "Trajectories that used an extra turn"
    return [
        columns.agent(lambda row: row.run),
        columns.count("Counted", lambda row: row.curve.counted, help="Trajectories"),
        columns.count("Refined", lambda row: row.curve.refined, help=used),
        columns.estimate("Acc before", lambda row: row.first.accuracy, "share", part="acc before"),
        columns.estimate("after", lambda row: row.last.accuracy, "share", part="acc after"),
        columns.change(
            "Change", lambda row: row.last.accuracy_change, "share", part="acc change", help=help
        ),
        columns.count(
            "Recovered", lambda row: row.last.recovered, help="Accurate after, not before"
        ),
        columns.estimate("VPR before", lambda row: row.first.valid, "share", part="vpr before"),
        columns.estimate("after", lambda row: row.last.valid, "share", part="vpr after"),
        columns.change(
            "Change", lambda row: row.last.valid_change, "share", part="vpr change", help=help
        ),
        columns.count("Lost", lambda row: row.last.lost, help="Valid before, not after"),
    ]


def _point_columns() -> list[Column[tuple[CurveRow, RefinementPoint]]]:
    """Give the shares after every number of extra turns."""
    used = "Trajectories that used this extra turn"
    return [
        columns.text("Agent", lambda pair: pair[0].curve.model),
        columns.count("Extra turns", lambda pair: pair[1].extra_turns),
        columns.count("Refining", lambda pair: pair[1].refining, help=used),
        columns.estimate("Acc", lambda pair: pair[1].accuracy, "share", show_n=True),
        columns.change("Change", lambda pair: pair[1].accuracy_change, "share", part="acc change"),
        columns.count("Recovered", lambda pair: pair[1].recovered),
        columns.estimate("VPR", lambda pair: pair[1].valid, "share", show_n=True),
        columns.change("Change", lambda pair: pair[1].valid_change, "share", part="vpr change"),
        columns.count("Lost", lambda pair: pair[1].lost),
    ]
