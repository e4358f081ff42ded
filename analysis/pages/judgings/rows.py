"""The data of the page about judgings: judges beside themselves, one judging beside another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from analysis.filters.options import RunJudging
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.judgings import (
    BESIDE,
    COUNTS,
    BothScores,
    JudgeSeat,
    Replies,
    matches,
    replies_of,
    reply_scores,
    verdicts,
)
from analysis.reports import addresses, system_facts
from analysis.reports.rates import read_first
from analysis.stats.judges.rejudging import ScoreChange, VerdictChange, verdict_change
from analysis.stats.judges.repeats import Consistency, repeat_consistency
from analysis.stats.results import Estimate
from benchmarks.core.registry import find_system
from benchmarks.models import Trajectory

SEED = 20261122
PANEL = "all judges"
# Settings of a judging that say nothing about how a judge is asked.
UNLIKE = frozenset({"turns", "reply_attempts", "rubric_judges"})


class TurnedVerdict(NamedTuple):
    """A trajectory with another verdict in the second judging; ``passes`` is the second one."""

    trajectory: int
    task: int
    agent: str
    passes: bool
    task_name: str
    prompt: str


class JudgingsData(NamedTuple):
    """The replies of both judgings, and the verdicts that follow from each, by trajectory."""

    runs: tuple[ChosenRun, ...]
    replies: Replies
    final: bool
    system: str
    about: Mapping[int, tuple[int, str]]
    verdicts: tuple[Mapping[int, bool | None], Mapping[int, bool | None]]
    turned: tuple[TurnedVerdict, ...]


@dataclass(frozen=True)
class JudgingSummary:
    """One judging of the page: its name, its judges, and how far each agrees with itself.

    ``asked`` says how its judges were asked, where that is not as usual.
    """

    which: str
    name: str
    judged: RunJudging
    runs: int
    judges: Mapping[JudgeSeat, str]
    consistency: Mapping[JudgeSeat, Consistency]
    asked: str = ""


class OwnReplies(NamedTuple):
    """The agreement of a judge of a judging with itself, on one dimension or on all."""

    judge: str
    judging: str
    one: Consistency
    dimension: str = ""
    key: str = ""


class JudgeChange(NamedTuple):
    """The change by the second judging in the scores of a judge, or of all together.

    On one dimension, or on all.
    """

    judge: str
    change: ScoreChange
    dimension: str = ""
    key: str = ""


class AgentVerdicts(NamedTuple):
    """The number of verdicts that turn, of one agent's trajectories or of all where ``run`` is
    None.
    """

    run: ChosenRun | None
    change: VerdictChange
    turned: tuple[TurnedVerdict, ...]


def run_url(judging: JudgingSummary) -> str:
    """Return the address of the run that judged again; empty for the judging during the runs."""
    made_by = judging.judged.made_by
    return addresses.address("benchmarks:run", run_id=made_by) if made_by else ""


def unchanged(change: ScoreChange) -> Estimate:
    """Return the share of equal scores, from that of changed ones."""
    changed = read_first(change.changed)
    if changed.value is None:
        return changed
    interval = changed.interval
    if interval is not None:
        interval = replace(interval, low=1 - interval.high, high=1 - interval.low)
    return replace(changed, value=1 - changed.value, interval=interval)


def read_judgings(selection: Selection) -> JudgingsData | None:
    """Read the replies of both judgings; None where there are none."""
    keys = [dimension.key for dimension in system_facts.dimensions_of(selection.system)]
    final = selection.filters.turns != "all"
    replies = reply_scores(selection.runs, keys, final=final)
    if replies.frame.empty:
        return None
    # Verdicts are on last plans, whichever turns are shown.
    last = replies if final else reply_scores(selection.runs, keys, final=True)
    sets = system_facts.dimension_sets(selection.system)
    first, second = (verdicts(last.of(which), selection.runs, sets) for which in (COUNTS, BESIDE))
    rows = last.of(BESIDE)[["trajectory", "task", "label"]].drop_duplicates()
    about = {pk: (task, label) for pk, task, label in rows.itertuples(index=False)}
    return JudgingsData(
        selection.runs,
        replies,
        final,
        selection.system,
        about,
        (first, second),
        _turned(about, first, second),
    )


def _turned(
    about: Mapping[int, tuple[int, str]],
    first: Mapping[int, bool | None],
    second: Mapping[int, bool | None],
) -> tuple[TurnedVerdict, ...]:
    passes_of = {
        pk: bool(second[pk])
        for pk, before in first.items()
        if before is not None and second.get(pk) not in (None, before)
    }
    names = {
        pk: (name, prompt)
        for pk, name, prompt in Trajectory.objects.filter(pk__in=passes_of).values_list(
            "pk", "task__external_id", "task__prompt"
        )
    }
    return tuple(
        TurnedVerdict(pk, about[pk][0], about[pk][1], passes, *names[pk])
        for pk, passes in passes_of.items()
    )


def changes_of(replies: Replies) -> tuple[list[JudgeChange], list[str]]:
    """Return what the second judging changes in scores, and the judges of one judging alone.

    The changes begin with all judges together.
    """
    first, second = (replies.judges(which) for which in (COUNTS, BESIDE))
    pairs, both = matches(first, second), BothScores(replies, SEED)
    changes = [
        JudgeChange(PANEL, both.change(None)),
        *(JudgeChange(match.label, both.change(match)) for match in pairs),
    ]
    known = {match.first for match in pairs} | {match.second for match in pairs}
    alone = [
        name for judges in (first, second) for seat, name in judges.items() if seat not in known
    ]
    return changes, alone


def judgings_of(data: JudgingsData) -> list[JudgingSummary]:
    """Return the judging that counts, and the one beside it, with the consistency of their
    judges.
    """
    summaries = []
    for which in (COUNTS, BESIDE):
        judged = [run.judged if which == COUNTS else run.beside for run in data.runs]
        there = [one for one in judged if one is not None]
        judges = data.replies.judges(which)
        if not there or not judges:
            continue
        own = {}
        for seat in judges:
            scores, asked, tasks = replies_of(data.replies.of(which, seat))
            own[seat] = repeat_consistency(scores, tasks=tasks, asked=asked, seed=SEED)
        summaries.append(JudgingSummary(which, there[-1].name, there[-1], len(there), judges, own))
    asked = asked_by(summaries, data.system)
    return [replace(one, asked=asked[one.which]) for one in summaries]


def verdicts_of(data: JudgingsData) -> tuple[list[AgentVerdicts], VerdictChange | None]:
    """Return the verdicts that turn by agent, all together last where there are several; and of
    all.
    """
    first, second = data.verdicts
    common_ones = [pk for pk in first if pk in second]
    by_agent: dict[str, list[int]] = {}
    for pk in common_ones:
        by_agent.setdefault(data.about[pk][1], []).append(pk)

    def change(those: Sequence[int]) -> VerdictChange:
        return verdict_change(
            [first[pk] for pk in those],
            [second[pk] for pk in those],
            tasks=[data.about[pk][0] for pk in those],
        )

    if not common_ones:
        return [], None
    everyone = change(common_ones)
    runs = {run.label: run for run in data.runs}
    verdicts = [
        AgentVerdicts(
            runs[label], change(those), tuple(one for one in data.turned if one.agent == label)
        )
        for label, those in by_agent.items()
    ]
    if len(verdicts) > 1:
        verdicts.append(AgentVerdicts(None, everyone, data.turned))
    return verdicts, everyone


def asked_by(summaries: Sequence[JudgingSummary], system: str) -> dict[str, str]:
    """Return how the judges of each judging were asked, by which of it, in words."""
    rejudging = find_system(system).rejudging
    usual = {s.name: s.default for s in rejudging.settings} if rejudging is not None else {}
    asked = {again.which: {**usual, **again.judged.settings} for again in summaries}
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
        which: "; ".join(
            f"{name.replace('_', ' ')}: {_plain(settings.get(name))}" for name in names
        )
        for which, settings in asked.items()
    }


def _plain(value: object) -> str:
    return "as usual" if value in (None, "") else str(value).replace("_", " ")
