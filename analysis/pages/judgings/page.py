"""Whether judges say the same when they look again: their own replies, and another judging."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from analysis.figures.forest import ForestRows, forest
from analysis.filters.selection import Selection
from analysis.frames.judgings import (
    BESIDE,
    COUNTS,
    BothScores,
    Replies,
    matches,
    replies_of,
    reply_scores,
    verdicts,
)
from analysis.pages.declaration import WrittenPage
from analysis.pages.empty import no_runs
from analysis.pages.judgings.people import judgings_later
from analysis.pages.judgings.tables import (
    JudgingChanges,
    JudgingSummary,
    change_table,
    consistency_table,
    flips_table,
    judgings_table,
    verdict_table,
)
from analysis.pages.sweeps.rows import dimension_sets
from analysis.reports import common
from analysis.reports.content import FigureSpec, Notice, Onward, Report, how_interval
from analysis.reports.formatting import ends, listed, number, plural, stated
from analysis.stats.judges.rejudging import ScoreChange, VerdictChange, verdict_change
from analysis.stats.judges.repeats import repeat_consistency
from analysis.stats.results import Estimate
from benchmarks.core.registry import find_system

PURPOSE = "This page shows whether judges say the same when they look at the same turns again."
SEED = 20261122
PANEL = "all judges"
# Settings of a judging that say nothing about how a judge is asked.
UNLIKE = frozenset({"turns", "reply_attempts", "rubric_judges"})


def judgings_report(selection: Selection) -> Report:
    """Everything on the page but what is held against people."""
    dimensions = common.dimensions_of(selection.system)
    if not selection.runs or not dimensions:
        return Report(empty=no_runs(PURPOSE, selection))
    final = selection.filters.turns != "all"
    replies = reply_scores(selection.runs, [d.key for d in dimensions], final=final)
    if replies.frame.empty:
        return Report(empty=no_runs(PURPOSE, selection))
    found = judgings_here(selection, replies)
    changes = changes_of(selection, replies, final) if len(found) > 1 else None
    differ = differences(found, selection.system)
    tables = [judgings_table(found, differ), consistency_table(found)]
    if changes is not None:
        tables += [change_table(changes.scores, PANEL)]
        tables += verdict_table(changes, selection) if changes.verdicts else []
        tables += flips_table(changes, selection) if changes.flipped else []
    return Report(
        sentence=sentence(found, changes),
        onward=_onward(selection, found),
        figures=tuple(_figures(found, changes)),
        tables=tuple(tables),
        notices=(*common.selection_notices(selection), *_notices(found, changes)),
        how=(*common.how_runs(selection), *_how(found, changes, differ, final)),
        methods="A judge's consistency is how far its replies to the same plan agree; a later "
        "judging is compared with an earlier one turn by turn, as the mean difference of scores, "
        "the share of scores that changed, and the share of verdicts that turned.",
    )


def judgings_here(selection: Selection, replies: Replies) -> list[JudgingSummary]:
    """The judging that counts, and the one beside it, with the consistency of their judges."""
    found = []
    for which in (COUNTS, BESIDE):
        judged = [run.judged if which == COUNTS else run.beside for run in selection.runs]
        there = [one for one in judged if one is not None]
        judges = replies.judges(which)
        if not there or not judges:
            continue
        own = {}
        for sitting in judges:
            scores, asked, tasks = replies_of(replies.of(which, sitting))
            own[sitting] = repeat_consistency(scores, tasks=tasks, asked=asked, seed=SEED)
        found.append(JudgingSummary(which, there[-1].name, there[-1], len(there), judges, own))
    return found


def changes_of(selection: Selection, replies: Replies, final: bool) -> JudgingChanges:
    """What the judging beside changes, turn by turn and in verdicts on last plans."""
    pairs = matches(replies.judges(COUNTS), replies.judges(BESIDE))
    both = BothScores(replies, SEED)
    scores = {PANEL: both.change(None)} | {match.label: both.change(match) for match in pairs}
    known = {match.first for match in pairs} | {match.second for match in pairs}
    alone = [
        name
        for which in (COUNTS, BESIDE)
        for sitting, name in replies.judges(which).items()
        if sitting not in known
    ]
    return JudgingChanges(scores, tuple(alone), *_verdicts(selection, replies, final))


def _verdicts(
    selection: Selection, replies: Replies, final: bool
) -> tuple[dict[str, VerdictChange], list[tuple[int, str, bool]]]:
    """By agent, and under an empty name of all; and the trajectories whose verdict turned."""
    if not final:
        keys = [dimension.key for dimension in common.dimensions_of(selection.system)]
        replies = reply_scores(selection.runs, keys, final=True)
    sets = dimension_sets(selection.system)
    first, second = (
        verdicts(replies.of(which), selection.runs, sets) for which in (COUNTS, BESIDE)
    )
    rows = replies.of(BESIDE)[["trajectory", "task", "label"]].drop_duplicates()
    about = {pk: (task, label) for pk, task, label in rows.itertuples(index=False)}
    common_ones = [pk for pk in first if pk in second]
    by_agent: dict[str, list[int]] = {"": common_ones}
    for pk in common_ones:
        by_agent.setdefault(about[pk][1], []).append(pk)
    found = {
        label: verdict_change(
            [first[pk] for pk in those],
            [second[pk] for pk in those],
            tasks=[about[pk][0] for pk in those],
        )
        for label, those in by_agent.items()
        if those
    }
    flipped = [
        (pk, about[pk][1], bool(second[pk]))
        for pk in common_ones
        if None not in (first[pk], second[pk]) and first[pk] != second[pk]
    ]
    return found, flipped


def differences(found: Sequence[JudgingSummary], system: str) -> dict[str, str]:
    """How the judges of each judging were asked, by which of it, in words."""
    rejudging = find_system(system).rejudging
    usual = {s.name: s.default for s in rejudging.settings} if rejudging is not None else {}
    asked = {again.which: {**usual, **again.judged.settings} for again in found}
    names = [
        name
        for name in dict.fromkeys(name for settings in asked.values() for name in settings)
        if name not in UNLIKE
        and (
            name in usual
            and any(settings.get(name) != usual[name] for settings in asked.values())
            or len({repr(settings.get(name)) for settings in asked.values()}) > 1
        )
    ]
    return {
        which: "; ".join(f"{name.replace('_', ' ')}: {_plain(settings.get(name))}"
                         for name in names)
        for which, settings in asked.items()
    }  # fmt: skip


def _plain(value: object) -> str:
    return "as usual" if value in (None, "") else str(value).replace("_", " ")


def sentence(found: Sequence[JudgingSummary], changes: JudgingChanges | None) -> str:
    """What a second judging changes, and how far judges agree with themselves."""
    own = [
        (judge, one)
        for again in found
        for sitting, judge in again.judges.items()
        if (one := again.consistency[sitting]).equal.value is not None
    ]
    said = []
    if own:
        judge, least = min(own, key=lambda pair: pair[1].equal.value or 0)
        which = "the least consistent judge, " if len(own) > 1 else ""
        comma = "," if which else ""
        times = "twice" if least.replicates == 2 else f"{least.replicates} times"
        said.append(
            f"Asked {times} about the same plan, {which}{judge}{comma} gives the same score in "
            f"{stated(least.equal, 'share')} of pairs of replies"
        )
    if changes is None:
        if not own:
            said.append(
                "These turns were judged once, and every judge was asked once: nothing shows yet "
                "whether judges would say the same again"
            )
        return f"{'; '.join(said)}."
    panel = changes.scores[PANEL]
    names = f"“{found[-1].name}” beside “{found[0].name}”"
    if panel.difference.value is None:
        return f"{names}: {panel.difference.undefined}."
    words = f"{names} {_moved(panel.difference)} over {plural(panel.n, 'item')}"
    if changes.all is not None and changes.all.flipped.of:
        flipped = changes.all.flipped
        words += (
            f", and turns the verdict on {flipped.hits:,} of "
            f"{plural(flipped.of, 'trajectory', 'trajectories')}"
        )
    return ". ".join([words[:1].upper() + words[1:], *said]) + "."


def _moved(difference: Estimate) -> str:
    """Which way the judges' mean went, if it is clear."""
    points = f"{number(difference.value or 0, 'points', signed=True)} points"
    if difference.interval is None:
        return f"moves the judges' mean by {points}"
    interval = f" (95 % interval {ends(difference.interval, 'points', signed=True)})"
    if difference.interval.low <= 0 <= difference.interval.high:
        return f"does not clearly move the judges' mean: {points}{interval}"
    return f"moves the judges' mean by {points}{interval}"


def _onward(selection: Selection, found: Sequence[JudgingSummary]) -> tuple[Onward, ...]:
    links = [
        Onward(
            f"The leaderboard under “{again.name}”",
            common.page_of("leaderboard", selection, judging=again.name),
        )
        for again in found
        if again.which == BESIDE
    ]
    return (*links, Onward("May they stand in for people?", common.address("analysis:judges")))


def _figures(found: Sequence[JudgingSummary], changes: JudgingChanges | None) -> list[FigureSpec]:
    several = len(found) > 1
    own = [
        (f"{judge}, {again.name}" if several else judge, again.consistency[sitting].equal)
        for again in found
        for sitting, judge in again.judges.items()
        if again.consistency[sitting].replicates > 1
    ]
    kept = [
        (judge, _unchanged(change))
        for judge, change in (changes.scores.items() if changes is not None else ())
        if judge != PANEL
    ]
    figures = []
    if own or kept:
        groups = [ForestRows("own replies", own), ForestRows("the other judging", kept)]
        figures.append(
            common.figure_spec(
                "equal",
                "Share of scores that are the same again",
                "Between a judge's own replies, and between the two judgings; with 95 % "
                "intervals. What differs between its own replies is no drift.",
                forest(groups, title="equal scores", unit="share"),
                table="change" if kept else "consistency",
            )
        )
    if changes is not None:
        rows = [(judge, change.difference) for judge, change in changes.scores.items()]
        figures.append(
            common.figure_spec(
                "change",
                f"Scores of “{found[-1].name}” minus those of “{found[0].name}”",
                "Mean over turns and dimensions with its 95 % interval, which draws tasks; left of "
                "the line is stricter.",
                forest([ForestRows("difference", rows)], title="points", least=-0.5, most=0.5),
            )
        )
    return figures


def _unchanged(change: ScoreChange) -> Estimate:
    """The share of equal scores, from that of changed ones."""
    rate = change.changed
    found = rate.clustered if rate.clustered.interval is not None else rate.wilson
    if found.value is None:
        return found
    interval = found.interval
    if interval is not None:
        interval = replace(interval, low=1 - interval.high, high=1 - interval.low)
    return replace(found, value=1 - found.value, interval=interval)


def _notices(found: Sequence[JudgingSummary], changes: JudgingChanges | None) -> list[Notice]:
    notices = []
    if len(found) < 2:
        text = "There is no other judging of these runs to compare with."
        notices.append(Notice(text, "info"))
    unfinished = [again.name for again in found if not again.judged.finished]
    if unfinished:
        names = listed([f"“{name}”" for name in unfinished])
        notices.append(Notice(f"Still being judged, so figures will move: {names}.", "info"))
    if changes is not None and changes.alone:
        notices.append(
            Notice(f"In one judging alone, so compared with nobody: {listed(changes.alone)}.")
        )
    if changes is not None and changes.scores[PANEL].n == 0:
        notices.append(Notice("No turn has a readable score of every judge in both judgings."))
    return notices


def _how(
    found: Sequence[JudgingSummary],
    changes: JudgingChanges | None,
    differ: Mapping[str, str],
    final: bool,
) -> list[str]:
    turns = "final turns" if final else "all turns"
    lines = [
        f"Judging “{again.name}” of {plural(again.runs, 'run')}: "
        f"{listed(list(again.judges.values()), most=8)}"
        f"{f' ({differ[again.which]})' if differ[again.which] else ''}."
        for again in found
    ]
    lines.append(
        f"An item is one dimension of one turn ({turns}). Consistency: pairs of replies of a judge "
        "to one item; kappa is Fleiss', quadratically weighted, ICC is ICC1 (one-way random, a "
        "single reply). Undefined where a judge was asked once."
    )
    if changes is not None:
        estimates = [change.difference for change in changes.scores.values()]
        lines += [
            "Change: the same items in both judgings, second minus first. Differences are between "
            "means of replies; size, share changed and kappa (Cohen's, quadratically weighted) are "
            "between first replies, so that they can be read beside a judge's own replies. A judge "
            "of another version, or another one on the same seat, is held against the one before.",
            "A verdict turns where all counted dimensions reach the run's threshold in one judging "
            "alone.",
            f"Intervals: {how_interval(estimates) or 'none'}.",
        ]
    return lines


CONTENT = WrittenPage(judgings_report, later=judgings_later)
