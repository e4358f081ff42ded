"""What an answer at a turn did to a trajectory, and which turn decided it."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from analysis.figures.layout.theme import ACCENT, NEUTRAL, Figure
from analysis.figures.shares import Shares, share_dots
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.page import Sheet, report_of
from analysis.pages.branches.replays import Arm, Replay, ReplayGroup, group_replays
from analysis.reports import addresses, content
from analysis.reports.content import Cell, Empty, Report
from analysis.reports.formatting import (
    Unit,
    p_text,
    p_words,
    plural,
    stated,
    stated_change,
    unit_of,
)
from analysis.stats.comparison.multiplicity import Family, adjust_family
from analysis.stats.comparison.replays import (
    DecisiveTurns,
    ReplayEffect,
    TurnTest,
    decisive_turns,
    replay_effect,
)
from analysis.stats.descriptive.proportions import share
from analysis.stats.results import Estimate
from benchmarks.core.ports.labels import Labels
from benchmarks.core.registry import find_system
from benchmarks.models import Run

RIGHT = "Right"
COPIES = (
    "All replays with the same answer are word for word the same: whoever continues leaves nothing "
    "to chance. More replays would say nothing more, so there is no interval and no test."
)
GIVEN = (
    "Replays share everything before the turn, also what the environment drew there. The effect is "
    "that of this turn in this trajectory, under those who continued it."
)
P_HEAD = content.Column("p", ("p adjusted", "p alone"), help="Holm, over all rows")


class EffectRow(NamedTuple):
    """A measure with its values under both answers, and the adjusted p-value of the difference."""

    label: str
    unit: Unit
    effect: ReplayEffect
    p_adjusted: float | None
    clear: bool | None


def branch_report(run: Run, replays: Sequence[Replay]) -> Report:
    """Return what the ended replays of a branch run come to."""
    ended = [replay for replay in replays if replay.ended]
    if len(ended) < len(replays) and not _stopped(run):
        text = f"{len(ended)} of {len(replays)} have ended. The answer appears when all have."
        return Report(empty=Empty("Replays are under way", text))
    groups = group_replays(list(replays))
    labels = find_system(run.dataset.system).labels
    by_arm = {group.arm: group for group in groups}
    if Arm.AGAIN in by_arm:
        return report_of(partial(_turns, run=run, replays=replays, groups=groups))
    if {Arm.EDITED, Arm.KEPT} == set(by_arm):
        pair = by_arm[Arm.EDITED], by_arm[Arm.KEPT]
        return report_of(partial(_effect, run=run, labels=labels, replays=replays, pair=pair))
    return report_of(partial(_alone, run=run, replays=replays, group=groups[0]))


def _seed_words(run: Run) -> str:
    return f"Seed of the replays: {run.seed}."


def _stopped(run: Run) -> bool:
    """Return whether nobody works on the run any more, unless somebody takes it up again."""
    S = Run.Status
    return run.status in (S.DONE, S.ATTENTION, S.CANCELLED, S.PAUSED)


def _note_missing(sheet: Sheet, replays: Sequence[Replay]) -> None:
    missing = Counter(replay.title.lower() for replay in replays if not replay.ended)
    if missing:
        words = ", ".join(f"{n} {title}" for title, n in missing.items())
        total = plural(len(replays), "replay")
        sheet.warning(f"{sum(missing.values())} of {total} are left out: {words}.")


# --- One branch, or several with the same answer --------------------------------------------------


def _alone(sheet: Sheet, run: Run, replays: Sequence[Replay], group: ReplayGroup) -> Iterator[None]:
    _note_missing(sheet, replays)
    rights = [replay.right for replay in group.replays if replay.right is not None]
    if rights and not group.copies:
        right = share(int(sum(rights)), len(rights))
        sheet.answer(
            f"With another answer at turn {group.turn}, {int(sum(rights))} of "
            f"{plural(len(rights), 'replay')} end right: {stated(right, 'share')}."
        )
    elif rights:
        sheet.answer(f"With another answer at turn {group.turn} it ends: {group.replays[0].title}.")
        sheet.warning(COPIES)
    sheet.info("To see what the answer changes, start replays that keep the same answer as well.")
    _list_replays(sheet, replays)
    yield
    sheet.how(GIVEN, _seed_words(run))


# --- The effect of an answer ----------------------------------------------------------------------


def _effect(
    sheet: Sheet,
    run: Run,
    labels: Labels,
    replays: Sequence[Replay],
    pair: tuple[ReplayGroup, ReplayGroup],
) -> Iterator[None]:
    """State what the other answer changes, by the share of right endings and by every score."""
    _note_missing(sheet, replays)
    rows = _effect_rows(run, labels, pair)
    copies = pair[0].copies and pair[1].copies
    first = rows[0]
    sheet.answer(_effect_sentence(first, pair))
    if copies:
        sheet.warning(COPIES)
    if first.label == RIGHT and not copies:
        sheet.figure("effect", "How often replays end right", lambda: _draw_effect(first))
    sheet.table(
        "effect",
        f"With another answer at turn {pair[0].turn}, and with the same",
        rows,
        [
            columns.text("Measure", lambda row: row.label),
            _estimates("Another answer", lambda row: row.effect.first),
            _estimates("Same answer", lambda row: row.effect.second),
            Column(content.estimate_column("Difference"), _difference_cell),
            Column(P_HEAD, _p_cell),
            columns.text("Clear", _clear_words),
        ],
        link=lambda _: None,
        note="Intervals at 95 %. n is the number of replays.",
    )
    yield
    _list_replays(sheet, replays)
    sheet.how(
        "Right: the share of replays that end right, with Newcombe’s hybrid score interval of the "
        "difference and Fisher’s exact test.",
        "Scores: means over judges of the last turn, compared over replays by Welch’s t.",
        f"p-values are corrected by Holm over the {len(rows)} measures of this table.",
        GIVEN,
        _seed_words(run),
    )
    sheet.methods(
        f"From turn {pair[0].turn} on, the trajectory was replayed {len(pair[0].replays)} times "
        f"with the edited and {len(pair[1].replays)} times with the original answer (seed "
        f"{run.seed}); rates were compared by Fisher's exact test with Newcombe intervals, means "
        "by Welch's t test, with Holm's correction."
    )


def _draw_effect(row: EffectRow) -> Figure:
    estimates = [row.effect.first, row.effect.second]
    return _draw_shares(
        ["Another answer", "Same answer"], [Shares("replays", estimates, "circle", ACCENT)]
    )


def _draw_shares(names: list[str], shares: list[Shares]) -> Figure:
    """Draw shares of which many are 0: those marks stand clear of the names of their rows."""
    figure = share_dots(names, shares, title="Replays that end right")
    figure["layout"]["xaxis"]["range"] = [-0.02, 1.02]
    figure["layout"]["showlegend"] = len(shares) > 1
    return figure


def _effect_rows(
    run: Run, labels: Labels, pair: tuple[ReplayGroup, ReplayGroup]
) -> list[EffectRow]:
    edited, kept = ([replay for replay in group.replays if replay.ended] for group in pair)
    copies = pair[0].copies and pair[1].copies
    measured: list[tuple[str, Unit, ReplayEffect]] = []

    def add(label: str, unit: Unit, rate: bool, read: Callable[[Replay], float | None]) -> None:
        values = [[read(replay) for replay in group] for group in (edited, kept)]
        if any(value is not None for group in values for value in group):
            effect = replay_effect(values[0], values[1], rate=rate, copies=copies)
            measured.append((label, unit, effect))

    add(RIGHT, "share", True, lambda replay: replay.right)
    for name in labels.headlines:
        measure = labels.measures[name]
        if measure.kind != "rate":
            add(measure.title, unit_of(measure), False, partial(_measure, name))
    titles = {row.key: row.title for row in find_system(run.dataset.system).dimensions}
    dimensions = {key for replay in (*edited, *kept) for key in replay.scores}
    for key in [*(key for key in titles if key in dimensions), *sorted(dimensions - set(titles))]:
        add(titles.get(key, key), "number", False, partial(_score, key))
    add("Turns", "number", False, lambda replay: float(replay.trajectory.turn_count))
    family: Family = adjust_family(
        {label: effect.p_value for label, _, effect in measured},
        statement="all measures of this page",
    )
    return [
        EffectRow(label, unit, effect, family[label].adjusted, family[label].clear)
        for label, unit, effect in measured
    ]


def _measure(name: str, replay: Replay) -> float | None:
    return replay.measures.get(name)


def _score(key: str, replay: Replay) -> float | None:
    return replay.scores.get(key)


def _estimates(label: str, of: Callable[[EffectRow], Estimate]) -> Column[EffectRow]:
    head = content.estimate_column(label)
    return Column(head, lambda row: content.estimate_cell(of(row), row.unit, show_n=True))


def _difference_cell(row: EffectRow) -> Cell:
    if row.unit == "share":
        return content.points_cell(row.effect.difference)
    return content.estimate_cell(row.effect.difference, row.unit, signed=True)


def _p_cell(row: EffectRow | TurnTest) -> Cell:
    test = row.effect if isinstance(row, EffectRow) else row
    if row.p_adjusted is None or test.p_value is None:
        return Cell(data=(None, None), reason=test.difference.no_interval or "not tested")
    data = (float(f"{row.p_adjusted:.6g}"), float(f"{test.p_value:.6g}"))
    return Cell(p_text(row.p_adjusted), data)


def _clear_words(row: EffectRow | TurnTest) -> str:
    return {True: "yes", False: "no", None: ""}[row.clear]


def _effect_sentence(row: EffectRow, pair: tuple[ReplayGroup, ReplayGroup]) -> str:
    """Say what the other answer changes, as its test allows."""
    turn = pair[0].turn
    if row.effect.difference.value is None:
        without = [group for group in pair if not any(r.right is not None for r in group.replays)]
        arms = " or ".join(group.replays[0].branch.get_arm_display().lower() for group in without)
        ended = [replay for group in without for replay in group.replays if replay.ended]
        details = {replay.detail.lower() for replay in ended}
        why = f" ({details.pop()})" if len(details) == 1 and "" not in details else ""
        return f"What another answer at turn {turn} changes cannot be said: no replay with " + (
            f"{arms or 'either answer'} has a verdict{why}."
        )
    if row.label != RIGHT:
        return f"Another answer at turn {turn} changes {row.label.lower()} by " + (
            f"{stated_change(row.effect.difference, row.unit)}{_verdict(row)}."
        )
    counts = [
        f"{sum(replay.right or 0 for replay in group.replays):.0f} of "
        f"{sum(replay.right is not None for replay in group.replays)}"
        for group in pair
    ]
    change = stated_change(row.effect.difference, row.unit)
    return (
        f"Another answer at turn {turn} changes how often it ends right by "
        f"{change}{_verdict(row)}: {counts[0]} replays end right with it, {counts[1]} with the "
        "same answer."
    )


def _verdict(row: EffectRow) -> str:
    if row.p_adjusted is None:
        return ""
    return f", {p_words(row.p_adjusted)} (Holm, {'' if row.clear else 'not '}clear)"


# --- Which turn decided it? -----------------------------------------------------------------------


def _turns(
    sheet: Sheet, run: Run, replays: Sequence[Replay], groups: Sequence[ReplayGroup]
) -> Iterator[None]:
    """Name the turn whose answer lost the trajectory, if the replays show one."""
    _note_missing(sheet, replays)
    again = sorted((group for group in groups if group.arm == Arm.AGAIN), key=lambda g: g.turn)
    kept = next(group for group in groups if group.arm == Arm.KEPT)
    copies = all(group.copies for group in groups)
    tested = decisive_turns([_rights(group) for group in again], _rights(kept), copies=copies)
    sheet.answer(turns_sentence(tested))
    if copies:
        sheet.warning(COPIES)
    else:
        sheet.figure("turns", "How often replays end right", lambda: _draw_turns(tested))
    sheet.table(
        "turns",
        "How often it ends right when the agent answers anew",
        tested.turns,
        [
            columns.text("Turn", lambda test: f"Turn {test.turn}"),
            columns.estimate("Answered anew", lambda test: test.again, "share", show_n=True),
            columns.estimate("As it was", lambda test: test.kept, "share", show_n=True),
            Column(
                content.estimate_column("Difference"),
                lambda test: content.points_cell(test.difference),
            ),
            Column(P_HEAD, _p_cell),
            columns.text("Clear", _clear_words),
        ],
        link=lambda _: None,
        note="A turn as it was: the replays that answer anew at the next turn. Of the last turn "
        "the answer is kept and the replies to it are given anew.",
    )
    yield
    _list_replays(sheet, replays)
    sheet.how(
        "Each turn is tested by Fisher’s exact test, one-sided: does a new answer end right more "
        f"often than the turn as it was? Holm’s correction over all {len(tested.turns)} turns "
        "keeps the chance to name any turn falsely at 5 %.",
        "Of several clear turns, the one with the largest difference is named.",
        "A turn is the agent’s answer together with the verdicts and feedback on it, which are not "
        "asked again by themselves but for the last turn. Where a wrong verdict lost a trajectory, "
        "its turn is named although the answer was good.",
        GIVEN,
        _seed_words(run),
    )
    sheet.methods(
        f"The agent was asked again at each of the {len(tested.turns)} turns, "
        f"{len(kept.replays)} times each (seed {run.seed}); turns were compared with replays "
        "that kept them by one-sided Fisher's exact tests with Holm's correction over turns."
    )


def _draw_turns(tested: DecisiveTurns) -> Figure:
    shares = [
        Shares("answered anew", [test.again for test in tested.turns], "circle", ACCENT),
        # Open, so that an equal share is seen inside it.
        Shares("as it was", [test.kept for test in tested.turns], "diamond-open", NEUTRAL),
    ]
    return _draw_shares([f"Turn {test.turn}" for test in tested.turns], shares)


def _rights(group: ReplayGroup) -> list[float | None]:
    return [replay.right for replay in group.replays]


def turns_sentence(tested: DecisiveTurns) -> str:
    if tested.decisive is not None:
        test = next(test for test in tested.turns if test.turn == tested.decisive)
        return f"Turn {test.turn} decided it: {_both(test)}."
    if all(test.p_value is None for test in tested.turns):
        return "No turn could be tested."
    best = max(tested.turns, key=lambda test: test.difference.value or 0.0)
    if not best.difference.value or best.difference.value < 0:
        return (
            "Which turn decided it cannot be said: at none does a new answer end right more often "
            "than the turn as it was."
        )
    return (
        "Which turn decided it cannot be said: at none does a new answer help clearly. The largest "
        f"difference is at turn {best.turn}: {_both(best)}."
    )


def _both(test: TurnTest) -> str:
    p = "" if test.p_adjusted is None else f" ({p_words(test.p_adjusted)}, Holm over all turns)"
    return (
        f"answered anew, {_of(test.again)} replays end right; with the turn as it was, "
        f"{_of(test.kept)}{p}"
    )


def _of(rate: Estimate) -> str:
    return f"{(rate.value or 0) * rate.n:.0f} of {rate.n}"


# --- The replays ----------------------------------------------------------------------------------


def _list_replays(sheet: Sheet, replays: Sequence[Replay]) -> None:
    sheet.table(
        "replays",
        "Replays",
        replays,
        [
            columns.text(
                "Trajectory",
                lambda replay: str(replay.trajectory.pk),
                url=lambda replay: addresses.address(
                    "analysis:trajectory", trajectory_id=replay.trajectory.pk
                ),
            ),
            columns.text("Leaves at", lambda replay: f"Turn {replay.branch.turn}"),
            columns.text("With", lambda replay: replay.branch.get_arm_display()),
            columns.text("Result", lambda replay: replay.title, sub=lambda replay: replay.detail),
            columns.count("Turns", lambda replay: replay.trajectory.turn_count),
        ],
        link=lambda _: None,
    )
