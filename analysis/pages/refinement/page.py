"""What extra turns with feedback on the rubric bring: recovered and lost plans, turn by turn."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from analysis.figures.lines import number_lines
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.outcomes import unfinished
from analysis.frames.states import Chains, refinement_chains
from analysis.pages.compare_models.rows import difference_words
from analysis.pages.conditions.tables import points_cell
from analysis.pages.declaration import WrittenPage
from analysis.pages.empty import no_runs
from analysis.reports import common
from analysis.reports.content import (
    Column,
    Empty,
    FigureSpec,
    Notice,
    Report,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    how_interval,
    number_column,
    text_cell,
    text_column,
    words_column,
)
from analysis.reports.formatting import counted, listed, plural
from analysis.reports.new_run import new_run_url
from analysis.stats.comparison.model_comparisons import turned_estimate
from analysis.stats.comparison.refinement import (
    BY_CONSTRUCTION,
    Among,
    RefinementCurve,
    refinement_curves,
)
from analysis.stats.results import Estimate
from benchmarks.core.registry import find_system, get_system

PURPOSE = "This page shows what extra turns with feedback on the rubric bring."
SAID = (
    "Figure 5",
    "Over one to six extra turns accuracy rises by about 10 points, while the valid plan rate "
    "falls by about 40 points for the two open models and 20 for the two closed ones; among "
    "trajectories that had neither stopped early nor succeeded.",
)


@dataclass(frozen=True)
class Refined:
    """The curves of all agents with ``most`` extra turns."""

    most: int
    among: Among
    curves: tuple[RefinementCurve, ...]
    chains: Chains

    @property
    def known(self) -> list[RefinementCurve]:
        """Those with anything counted."""
        return [curve for curve in self.curves if curve.counted]


def refinement_report(selection: Selection) -> Report:
    """Everything on the page."""
    if not selection.runs:
        return Report(empty=no_runs(PURPOSE, selection))
    setting = find_system(selection.system).comparisons.refinement
    if not setting:
        return Report(empty=_without_refinement(selection))
    most = max(int(run.settings.get(setting, 0)) for run in selection.runs)
    said = _said_table() if selection.filters.published != "hide" else []
    if not most:
        return Report(
            sentence="No run here grants extra turns with feedback on the rubric, so what they "
            "bring cannot be said.",
            tables=(*said, *_missing_table(selection, setting)),
            notices=tuple(common.selection_notices(selection)),
            how=tuple(common.how_runs(selection)),
        )
    among: Among = "refined" if selection.filters.among == "refined" else "all"
    chains = refinement_chains(selection.runs, most)
    curves = refinement_curves(chains.labels, chains.tasks, chains.chains, most=most, among=among)
    found = Refined(most, among, curves, chains)
    runs = {run.label: run for run in selection.runs}
    return Report(
        sentence=sentence(found),
        figures=tuple(_figures(found, selection)),
        tables=(_ends_table(found, runs), _points_table(found), *said),
        notices=(*common.selection_notices(selection), *_notices(found)),
        how=(*common.how_runs(selection), *_how(found, selection.runs)),
    )


def _without_refinement(selection: Selection) -> Empty:
    text = f"{PURPOSE} {common.dataset_name(selection)} has no such turns."
    url = common.address("analysis:leaderboard", {"dataset": selection.filters.dataset})
    return Empty("No extra turns here", text, "See the leaderboard", url)


def sentence(found: Refined) -> str:
    """What the extra turns change by the end, for the one that gains most and the one that loses
    most.
    """
    known = found.known
    if not known:
        if found.chains.chains:
            return "No trajectory was refined: each was valid and passed, or never valid."
        return f"Nothing can be counted: {counted(found.chains.left_out) or 'nothing is finished'}."
    ends = [(curve, curve.points[-1]) for curve in known]
    if not any(curve.refined for curve in known):
        return (
            f"None of {plural(sum(c.counted for c in known), 'trajectory', 'trajectories')} was "
            "refined: each was valid and passed, or never valid."
        )
    gains = [
        (curve.model, point.accuracy_change)
        for curve, point in ends
        if point.accuracy_change.value is not None
    ]
    parts = []
    if gains:
        parts.append(f"accuracy {_farthest(gains, max, ('gain most', 'lose least'))}")
    falls = [(curve.model, point.valid_change) for curve, point in ends]
    parts.append(f"the valid plan rate {_farthest(falls, min, ('gain least', 'lose most'))}")
    recovered = sum(point.recovered for _, point in ends)
    lost = sum(point.lost for _, point in ends)
    return (
        f"After {plural(found.most, 'extra turn')} {'; '.join(parts)}. In all "
        f"{plural(recovered, 'trajectory', 'trajectories')} became accurate and {lost} lost a "
        "valid plan."
    )


def _farthest(
    changes: Sequence[tuple[str, Estimate]],
    which: Callable[[Iterable[float]], float],
    words: tuple[str, str],
) -> str:
    """The change that goes farthest up or down, and whose it is: all who share it."""
    farthest = which(change.value or 0.0 for _, change in changes)
    those = [(name, change) for name, change in changes if (change.value or 0.0) == farthest]
    names = listed([name for name, _ in those])
    if not farthest and len(those) == len(changes):
        return f"does not change for {'anybody' if len(changes) > 1 else names}"
    change = those[0][1]
    if len(those) > 1:
        # Their intervals differ; they stand in the table.
        size = difference_words(change, True).partition(" (")[0]
    else:
        size = f"{difference_words(turned_estimate(change) if farthest < 0 else change, True)})"
    moved = f"{'rises' if farthest > 0 else 'falls'} by {size}" if farthest else "does not change"
    if len(changes) == 1:
        return f"{moved} for {names}"
    # Where it is 0 the others all moved the other way.
    gained = farthest > 0 or (not farthest and any((one.value or 0.0) > 0 for _, one in changes))
    most = words[0] if gained else words[1]
    if len(those) == 1:
        most = f"{most.replace(' ', 's ', 1)}"
    return f"{moved} for {names}, which {most}"


def _figures(found: Refined, selection: Selection) -> list[FigureSpec]:
    looks = common.styles([curve.model for curve in found.curves])
    urls = common.run_links(selection)
    among = "refined trajectories alone" if found.among == "refined" else "all trajectories"
    figures = []
    for name, title in (("accuracy", "Accuracy"), ("valid", "Valid plan rate")):
        curves = {
            curve.model: [
                (p.extra_turns, p.accuracy if name == "accuracy" else p.valid) for p in curve.points
            ]
            for curve in found.known
        }
        if curves:
            figures.append(
                common.figure_spec(
                    name,
                    f"{title} after extra turns",
                    f"Among {among}, with 95 % intervals; who needed no more keeps the last state.",
                    number_lines(curves, "extra turns", title.lower(), styles=looks,
                                 about="extra turns: ", urls=urls),
                )
            )  # fmt: skip
    return figures


def _ends_table(found: Refined, runs: dict[str, ChosenRun]) -> Table:
    """Before and after all extra turns."""
    rows = []
    for curve in found.curves:
        first, last = curve.points[0], curve.points[-1]
        url = common.trajectories_of(runs[curve.model])
        rows.append(
            (
                common.agent_cell(runs[curve.model]),
                count_cell(curve.counted, url=url),
                count_cell(curve.refined),
                estimate_cell(first.accuracy, "share"),
                estimate_cell(last.accuracy, "share"),
                points_cell(last.accuracy_change),
                count_cell(last.recovered),
                estimate_cell(first.valid, "share"),
                estimate_cell(last.valid, "share"),
                points_cell(last.valid_change),
                count_cell(last.lost),
            )
        )
    columns = (
        Column("Agent", ("agent", "kind", "run"), num=False),
        number_column("Counted", help="Trajectories"),
        number_column("Refined", help="Trajectories that used an extra turn"),
        estimate_column("Acc before", "acc before"),
        estimate_column("after", "acc after"),
        estimate_column("Change", "acc change", "On the same tasks; n counts tasks"),
        number_column("Recovered", help="Accurate after, not before"),
        estimate_column("VPR before", "vpr before"),
        estimate_column("after", "vpr after"),
        estimate_column("Change", "vpr change", "On the same tasks; n counts tasks"),
        number_column("Lost", help="Valid before, not after"),
    )
    title = f"Before and after {plural(found.most, 'extra turn')}"
    note = "Recovered and lost are counted apart, because a change of 0 may hide both."
    return Table("ends", title, columns, tuple(rows), note=note)


def _points_table(found: Refined) -> Table:
    """Every number of extra turns."""
    rows = tuple(
        (
            text_cell(curve.model),
            count_cell(point.extra_turns),
            count_cell(point.refining),
            estimate_cell(point.accuracy, "share", show_n=True),
            points_cell(point.accuracy_change),
            count_cell(point.recovered),
            estimate_cell(point.valid, "share", show_n=True),
            points_cell(point.valid_change),
            count_cell(point.lost),
        )
        for curve in found.curves
        for point in curve.points
    )
    columns = (
        text_column("Agent"),
        number_column("Extra turns"),
        number_column("Refining", help="Trajectories that used this extra turn"),
        estimate_column("Acc"),
        estimate_column("Change", "acc change"),
        number_column("Recovered"),
        estimate_column("VPR"),
        estimate_column("Change", "vpr change"),
        number_column("Lost"),
    )
    note = "The state after so many extra turns, or the last one where fewer were needed."
    return Table("points", "By extra turn", columns, rows, note=note, open=False)


def _said_table() -> list[Table]:
    where, words = SAID
    row = (text_cell(where, badges=(common.PUBLISHED_BADGE,)), text_cell(words))
    columns = (text_column("Source"), words_column("What the paper reports", "reported"))
    return [Table("said", "Published: in words", columns, (row,), note="Of its own runs.")]


def _missing_table(selection: Selection, setting: str) -> list[Table]:
    """The run that would be needed, with the form that starts it."""
    known = next(s for s in get_system(selection.system).settings if s.name == setting)
    most = int(known.maximum or 1)
    names = listed([run.label for run in selection.runs], most=5)
    url = new_run_url(selection, selection.runs, {setting: most})
    row = (
        text_cell(f"{plural(most, 'extra turn')}"),
        text_cell(names),
        text_cell("Fill in the form →", url=url),
    )
    columns = (text_column("Run with"), words_column("Agents"), text_column("Start"))
    note = (
        f"One run with {most} extra turns gives the figures for every smaller number too. The form "
        "is filled in with the same dataset, judges, settings and seed; starting needs the right "
        "to start runs."
    )
    return [Table("missing", "Runs that would be needed", columns, (row,), note=note)]


def _notices(found: Refined) -> list[Notice]:
    if found.among == "refined" and any(curve.warnings for curve in found.curves):
        return [Notice(f"{BY_CONSTRUCTION[:1].upper()}{BY_CONSTRUCTION[1:]}.", "info")]
    return []


def _how(found: Refined, runs: Sequence[ChosenRun]) -> list[str]:
    points = [point for curve in found.curves for point in curve.points]
    shares = [point.accuracy for point in points] + [point.valid for point in points]
    changes = [point.accuracy_change for point in points]
    left = dict(found.chains.left_out)
    for run in runs:
        for why, count in unfinished(run).items():
            left[why] = left.get(why, 0) + count
    unscored = sum(sum(curve.points[-1].accuracy.excluded.values()) for curve in found.curves)
    return [
        "State at k: that of the plan after min(k, used) extra turns, so that every k is about the "
        "same trajectories. The first valid plan that fails the rubric is k = 0.",
        f"Shares: {how_interval(shares) or 'no interval'}. Changes: against k = 0 on the same "
        f"tasks; {how_interval(changes) or 'no interval'}. Not corrected for their number.",
        (f"Left out: {counted(left)}." if left else "Nothing is left out.")
        + (f" Without accuracy, a rubric score being missing: {unscored}." if unscored else ""),
    ]


CONTENT = WrittenPage(refinement_report)
