"""AdaPlanBench's judges look at stored turns once more: who is asked what, and what follows.

The plans and what was revealed are as they were played; only verdicts are new. So turns taken and
constraints triggered stay, and a repeated violation is one that the new verdict finds among what
had been told by then.
"""

import random
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.core.system import PROMPTS, Dimension, RecordedTrajectory, Rejudging, Role, Setting
from benchmarks.core.types import Ask, Episode, Expect, Message, Outcome, Reply, Score, Task, Turn
from benchmarks.systems.adaplanbench.asks import (
    ASCENDING,
    AdaPlanAsks,
    rubric_text,
    split_constraints,
)
from benchmarks.systems.adaplanbench.base import AdaPlanBenchBase
from benchmarks.systems.adaplanbench.metrics import accuracy
from benchmarks.systems.adaplanbench.prompts import fill
from benchmarks.systems.adaplanbench.protocol import (
    DIMENSIONS,
    KINDS,
    SETTINGS,
    RubricRating,
    load_dimensions,
    rate,
)

RUBRIC, CONSTRAINTS, BOTH = "rubric", "constraints", "both"
TOGETHER, EACH = "together", "per_dimension"
LAST, ALL = "last", "all"
_KEPT = {setting.name: setting for setting in SETTINGS}
_DEFAULTS = {setting.name: setting.default for setting in SETTINGS}

SCORING = (
    Setting("turns", "choice", ALL, "Which turns are looked at.", (ALL, LAST),
            title="Turns judged"),
    Setting("calls", "choice", TOGETHER,
            "Whether a judge scores all dimensions in one reply, or each in a reply of its own.",
            (TOGETHER, EACH), title="Dimensions in a reply"),
    Setting("anchors", "choice", "ascending",
            "The order in which the prompt gives the anchors of a dimension.",
            ("ascending", "descending"), title="Order of anchors"),
    Setting("replicates", "int", 1,
            "How often each judge is asked the same, every time under another seed.",
            minimum=1, maximum=5, title="Replicates"),
    _KEPT["rubric_judges"],
    _KEPT["reply_attempts"],
)  # fmt: skip
WHAT = Setting(
    "what", "choice", RUBRIC, "What judges decide anew.", (RUBRIC, CONSTRAINTS, BOTH),
    title="What is judged",
)  # fmt: skip


class _Verdicts(NamedTuple):
    """The verdicts on one turn. ``violated`` is by kind; None where that is not known."""

    rating: RubricRating | None
    violated: Mapping[str, tuple[str, ...] | None]


class AdaPlanJudging(AdaPlanBenchBase, Rejudging):
    """Judges of AdaPlanBench over stored turns."""

    roles: tuple[Role, ...] = tuple(role for role in AdaPlanBenchBase.roles if role.judges)
    settings: tuple[Setting, ...] = (WHAT, *SCORING)

    def seats(self, role: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
        wanted = settings.get("what", RUBRIC)
        if role == "rubric_judge":
            numbers = range(1, settings["rubric_judges"] + 1)
            return tuple(map(str, numbers)) if wanted != CONSTRAINTS else ()
        return ("",) if wanted != RUBRIC else ()

    def calls_per_turn(
        self, played: Mapping[str, Any], settings: Mapping[str, Any]
    ) -> Mapping[str, int]:
        off = {"world_only": "user_judge", "user_only": "world_judge"}
        replies = {
            role.name: len(self.seats(role.name, settings)) * settings["replicates"]
            for role in self.roles
            if role.name != off.get(played.get("constraints", BOTH))
        }
        if settings["calls"] == EACH:
            replies["rubric_judge"] *= len(DIMENSIONS)
        return {role: number for role, number in replies.items() if number}

    def rejudge(
        self,
        task: Task,
        stored: RecordedTrajectory,
        settings: Mapping[str, Any],
        rng: random.Random,
    ) -> Episode:
        return _rejudge(_TurnAsks(self, task, stored, settings), stored, settings)

    def one_ask(
        self,
        task: Task,
        stored: RecordedTrajectory,
        index: int,
        role: str,
        settings: Mapping[str, Any],
    ) -> Ask | None:
        turn = next((turn for turn in stored.turns if turn.index == index), None)
        if turn is None or not turn.text.strip():
            return None
        table = _TurnAsks(self, task, stored, settings)
        return next((ask for ask in table.asks(turn) if ask.role == role), None)


class _TurnAsks:
    """The asks about the turns of one trajectory; briefs are made once."""

    def __init__(
        self,
        judging: AdaPlanJudging,
        task: Task,
        stored: RecordedTrajectory,
        settings: Mapping[str, Any],
    ) -> None:
        self.task, self.settings = task, settings
        hidden = settings.get("what", RUBRIC) != RUBRIC and task.profile is not None
        wanted = stored.settings.get("constraints", BOTH)
        self.constraints = split_constraints(task, wanted) if hidden else dict.fromkeys(KINDS, ())
        self.kinds = [kind for kind in KINDS if self.constraints[kind]]
        self.seats = judging.seats("rubric_judge", settings)
        dimensions = load_dimensions(settings.get(PROMPTS, ""))
        each = settings["calls"] == EACH
        self.groups: list[Sequence[Dimension]] = (
            [(dimension,) for dimension in dimensions] if each else [dimensions]
        )
        self._briefs = [self._brief(group) for group in self.groups]
        self._constraint_asks = AdaPlanAsks(task, self.constraints, settings.get(PROMPTS, ""))

    def _brief(self, group: Sequence[Dimension]) -> tuple[Message, Expect]:
        anchors = ASCENDING if self.settings["anchors"] == "ascending" else ASCENDING[::-1]
        keys = [dimension.key for dimension in group]
        values = {
            "query": self.task.prompt,
            "rubric": rubric_text(group, anchors),
            "keys": ", ".join(keys),
        }
        text = fill("rubric_judge", values, self.settings.get(PROMPTS, ""))
        return Message("system", text), Expect("scores", {"dimensions": keys})

    def asks(self, turn: Turn) -> list[Ask]:
        """Return one round of questions: constraint judges, then each rubric judge on each
        group.
        """
        asks = [
            self._constraint_asks.constraint_judge(kind, turn.text, turn.index)
            for kind in self.kinds
        ]
        context = {"query": self.task.prompt, "turn": turn.index, "plan": turn.text}
        for seat in self.seats:
            for brief, expect in self._briefs:
                messages = (brief, Message("user", turn.text))
                asks.append(Ask("rubric_judge", messages, expect, seat=seat, context=context))
        return asks

    def scores(self, replies: Sequence[Reply], replicate: int) -> Iterator[Score]:
        """Yield the scores of one round, by seat and dimension in their order."""
        given = iter(replies)
        for seat in self.seats:
            for group in self.groups:
                reply = next(given)
                for dimension in group:
                    yield _score(reply, seat, dimension.key, replicate)


def _score(reply: Reply, seat: str, key: str, replicate: int) -> Score:
    if not reply.readable:
        why = f"reply {reply.state}: {reply.reason}"
        return Score(seat, key, None, why, reply.step, reply.slot, replicate)
    value = reply.value["scores"].get(key)
    why = reply.value["reasons"].get(key, "the judge gave no score") if value is None else ""
    return Score(seat, key, value, why, reply.step, reply.slot, replicate)


def _rejudge(table: _TurnAsks, stored: RecordedTrajectory, settings: Mapping[str, Any]) -> Episode:
    verdicts_by_turn: dict[int, _Verdicts] = {}
    turns = [turn for turn in stored.turns if turn.text.strip()]
    for turn in turns[-1:] if settings["turns"] == LAST else turns:
        rounds: list[Sequence[Reply]] = []
        asks = table.asks(turn)
        for _ in range(settings["replicates"]) if asks else ():
            rounds.append((yield from _put(asks)))
        split = len(table.kinds)
        scores = tuple(
            score
            for replicate, replies in enumerate(rounds, 1)
            for score in table.scores(replies[split:], replicate)
        )
        rating = rate(_by_dimension(scores), _bar(stored)) if table.seats else None
        votes = {
            kind: [replies[place] for replies in rounds] for place, kind in enumerate(table.kinds)
        }
        violated = {kind: most_violated(replies) for kind, replies in votes.items()}
        verdicts_by_turn[turn.index] = _Verdicts(rating, violated)
        yield Turn(turn.index, "", payload=_payload(rating, violated, votes), scores=scores)
    return _outcome(stored, table, settings, verdicts_by_turn)


def _put(asks: Sequence[Ask]) -> Generator[Sequence[Ask], Sequence[Reply], Sequence[Reply]]:
    return (yield asks)


def _bar(stored: RecordedTrajectory) -> dict[str, Any]:
    """Return how the run itself decides what passes; what it does not say is as usual."""
    return {**_DEFAULTS, **{k: v for k, v in stored.settings.items() if k in _DEFAULTS}}


def _by_dimension(scores: Sequence[Score]) -> dict[str, list[float | None]]:
    """Average by dimension; every score counts alike, so a judge who was asked more often counts
    no more than others.
    """
    grouped: dict[str, list[float | None]] = {d.key: [] for d in DIMENSIONS}
    for score in scores:
        grouped[score.dimension].append(score.value)
    return grouped


def most_violated(replies: Sequence[Reply]) -> tuple[str, ...] | None:
    """Return what more than half of the readable replies of one judge call violated; None without
    any.
    """
    read = [reply.value["violated"] for reply in replies if reply.readable]
    if not read:
        return None
    keys = dict.fromkeys(key for violated in read for key in violated)
    return tuple(key for key in keys if 2 * sum(key in violated for violated in read) > len(read))


def _payload(
    rating: RubricRating | None,
    violated: Mapping[str, tuple[str, ...] | None],
    votes: Mapping[str, Sequence[Reply]],
) -> dict[str, Any]:
    """Return what pages show beside the scores; what was not asked is not in it."""
    payload: dict[str, Any] = {}
    if rating is not None:
        payload |= {"means": dict(rating.means), "passed": dict(rating.passed)}
    if votes:
        payload["violated"] = {
            kind: None if keys is None else list(keys) for kind, keys in violated.items()
        }
        payload["replies"] = {
            kind: [
                dict(reply.value) if reply.readable else {"missing": reply.reason}
                for reply in replies
            ]
            for kind, replies in votes.items()
        }
    return payload


def _outcome(
    stored: RecordedTrajectory,
    table: _TurnAsks,
    settings: Mapping[str, Any],
    verdicts_by_turn: Mapping[int, _Verdicts],
) -> Outcome:
    """Return the stored outcome with the metrics that the new verdicts decide."""
    before = stored.outcome
    last = stored.turns[-1] if stored.turns else None
    # What is undefined because of how the dialogue ended, no judge can make up for afterwards.
    if before.metrics.get("valid") is None or last is None or last.index not in verdicts_by_turn:
        return Outcome(before.termination, before.metrics, before.undefined)
    metrics, undefined = dict(before.metrics), dict(before.undefined)
    _replace(metrics, undefined, *_repeated(stored, table, settings, verdicts_by_turn))
    verdicts = verdicts_by_turn[last.index]
    unknown = [kind for kind, keys in verdicts.violated.items() if keys is None]
    if unknown:
        why = f"no reply of the {' and the '.join(unknown)} judge could be read"
        names = ("valid", "accurate", "accurate_all", "accurate_main")
        _replace(metrics, undefined, dict.fromkeys(names), dict.fromkeys(names, why))
    else:
        means = verdicts.rating.means if verdicts.rating else last.payload.get("means", {})
        missing = [key for key, mean in means.items() if mean is None]
        valid = bool(_valid(last, verdicts))
        passing = accuracy(valid, _passed(last, verdicts), missing, _bar(stored))
        _replace(metrics, undefined, *passing)
    return Outcome(before.termination, metrics, undefined, _states(stored, verdicts_by_turn))


def _replace(
    metrics: dict[str, float | None],
    undefined: dict[str, str],
    now: Mapping[str, float | None],
    why: Mapping[str, str],
) -> None:
    """Put new metrics in the place of old ones, with the reasons of those that are undefined."""
    metrics.update(now)
    for name in now:
        undefined.pop(name, None)
    undefined.update(why)


def _valid(turn: Turn, verdicts: _Verdicts) -> bool | None:
    """Return whether a plan violates nothing: by the new verdicts, or the old where none are
    new.
    """
    if verdicts.violated:
        unknown = any(keys is None for keys in verdicts.violated.values())
        return None if unknown else not any(verdicts.violated.values())
    valid: bool | None = turn.payload.get("valid")
    return valid


def _passed(turn: Turn, verdicts: _Verdicts) -> Mapping[str, bool | None]:
    if verdicts.rating is not None:
        return verdicts.rating.passed
    return {"all": None, "main": None, **turn.payload.get("passed", {})}


def _repeated(
    stored: RecordedTrajectory,
    table: _TurnAsks,
    settings: Mapping[str, Any],
    verdicts_by_turn: Mapping[int, _Verdicts],
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return how often the new verdicts find violated again what had been told by then."""
    metrics: dict[str, float | None] = {}
    undefined: dict[str, str] = {}
    for kind in table.kinds:
        name = f"{kind}_repeated"
        verdicts = [
            verdicts_by_turn[turn.index].violated[kind]
            for turn in stored.turns
            if turn.index in verdicts_by_turn
        ]
        if len(verdicts) < len(stored.turns):
            metrics[name], undefined[name] = None, "not every turn was re-judged"
        elif any(keys is None for keys in verdicts):
            metrics[name], undefined[name] = None, f"no reply of the {kind} judge could be read"
        else:
            revealed_before: set[str] = set()
            total = 0
            for turn, keys in zip(stored.turns, verdicts, strict=True):
                total += len(revealed_before.intersection(keys or ()))
                revealed_before.update(
                    v.key for v in turn.violations if v.kind == kind and v.revealed
                )
            metrics[name] = float(total)
    return metrics, undefined


def _states(
    stored: RecordedTrajectory, verdicts_by_turn: Mapping[int, _Verdicts]
) -> dict[str, Any]:
    """Return each turn's state as the protocol keeps it, for what extra turns bring; only of all
    turns.
    """
    counted = _bar(stored)["dimensions"]
    states = [
        {
            "valid": _valid(turn, verdicts_by_turn[turn.index]),
            "passed": _passed(turn, verdicts_by_turn[turn.index])[counted],
        }
        for turn in stored.turns
        if turn.index in verdicts_by_turn
    ]
    complete = len(states) == len(stored.turns) and all(s["valid"] is not None for s in states)
    return {"states": states} if complete else {}


REJUDGING: Rejudging = AdaPlanJudging()
