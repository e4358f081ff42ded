"""Play the parts of a certificate of validity in memory, through the system's own episode."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from benchmarks.core.answerers import Answer, Answerer, Cast, Scripted
from benchmarks.core.digests import derive_seed
from benchmarks.core.driver import Driver, Finished
from benchmarks.core.log import MemoryLog
from benchmarks.core.ports.validity import AssumptionPair, Form, Variant
from benchmarks.core.system import System, read_settings
from benchmarks.core.types import Ask, Json, Outcome, Task

CERTIFICATE_VERSION = "1"
SEED = 0
# Tasks at a level that the reference plays; of those, what each other part plays at most.
MOST_SOLVED, MOST_BLIND, MOST_OTHERS = 2000, 300, 50
MOST_CONSTANTS = 12
CONSTANT = "constant"
AGENT = "agent"


@dataclass(frozen=True)
class Played:
    """The scores of a variant on units in order, by measure, and why some are undefined."""

    variant: Variant
    outcomes: Sequence[Outcome]

    def values(self, measure: str) -> list[float | None]:
        return [outcome.metrics.get(measure) for outcome in self.outcomes]


class Trials:
    """The units of a dataset (a task at a level) and how variants play them.

    ``roles`` are the dataset's own choices of scripted policies; ``report`` is called after each
    episode, and may raise to stop.
    """

    def __init__(
        self,
        system: System,
        tasks: Sequence[Task],
        roles: Mapping[str, Sequence[str]],
        report: Callable[[], None] = lambda: None,
    ) -> None:
        assert system.validity is not None
        self.system, self.validity, self.roles, self.report = system, system.validity, roles, report
        self.measures = list(system.labels.headlines[:2])
        self.number = len({task.id for task in tasks})
        self.tasks = drawn(tasks, MOST_SOLVED)
        self.sample = drawn(self.tasks, MOST_BLIND)
        self.few = drawn(self.sample, MOST_OTHERS)

    def play(self, variant: Variant, tasks: Sequence[Task], form: Form | None = None) -> Played:
        """Play a variant on tasks, each by itself; the same seeds give the same outcomes."""
        return Played(variant, [self._outcome(variant, task, tasks, form) for task in tasks])

    def _outcome(
        self, variant: Variant, task: Task, tasks: Sequence[Task], form: Form | None
    ) -> Outcome:
        self.report()
        settings = read_settings(self.system.settings, variant.settings)
        seed = derive_seed(SEED, task.id, level_of(task), 1)

        def seed_for(step: int, slot: int) -> int:
            return derive_seed(SEED, task.id, level_of(task), 1, step, slot)

        try:
            cast = self._cast(variant, task, tasks, settings, form)
            driver = Driver(cast, MemoryLog(), self.system.parsers, seed_for)
            result = driver.run(self.system.episode(task, settings, random.Random(seed)))
        except Exception as error:  # what a dataset does to a script is a fact about the dataset
            return unplayed(self.measures, f"it broke off with {type(error).__name__}: {error}")
        if isinstance(result, Finished):
            return result.outcome
        return unplayed(self.measures, f"it did not finish: {getattr(result, 'reason', '')}")

    def _cast(
        self,
        variant: Variant,
        task: Task,
        tasks: Sequence[Task],
        settings: Mapping[str, Any],
        form: Form | None,
    ) -> Cast:
        known, roles = self.system.scripted, {}
        for role in self.system.roles:
            names = variant.roles.get(role.name) or self.roles.get(role.name) or role.default
            seats = self.system.seats(role.name, settings)
            if role.name == AGENT:
                who = self._agent(variant, task, tasks)
                roles[AGENT] = dict.fromkeys(seats, rewritten(who, form) if form else who)
                continue
            roles[role.name] = {
                seat: known[name].build(task, known[name].parameters)
                for place, seat in enumerate(seats)
                for name in [names[place % len(names)]]
            }
        return Cast(roles)

    def _agent(self, variant: Variant, task: Task, tasks: Sequence[Task]) -> Answerer:
        if callable(variant.agent):
            return variant.agent(task, [other for other in tasks if other.id != task.id])
        policy = self.system.scripted[variant.agent]
        return policy.build(task, {**policy.parameters, **variant.parameters})

    # --- Parts of the certificate -----------------------------------------------------------------

    def best_constants(self) -> tuple[Played, dict[str, str]] | None:
        """Return, for each unit, the constant that scores best on the other tasks of its kind.

        With it come the titles of the constants that are taken most often, by kind.
        """
        groups: dict[tuple[str, str], list[int]] = defaultdict(list)
        for place, task in enumerate(self.sample):
            groups[self.validity.kind_of(task), level_of(task)].append(place)
        chosen: dict[int, Outcome] = {}
        titles: dict[str, Counter[str]] = defaultdict(Counter)
        for (kind, _), places in groups.items():
            tasks = [self.sample[place] for place in places]
            constants = list(self.validity.constants(tasks))[:MOST_CONSTANTS]
            played = [self.play(constant, tasks) for constant in constants]
            if not played:
                continue
            scores = [[value or 0.0 for value in one.values(self.measures[0])] for one in played]
            for at, task in enumerate(tasks):
                others = [n for n, other in enumerate(tasks) if other.id != task.id]
                sums = [sum(row[n] for n in others) for row in scores]
                best = sums.index(max(sums))
                chosen[places[at]] = played[best].outcomes[at]
                titles[kind][played[best].variant.title] += 1
        if not chosen:
            return None
        missing = unplayed(self.measures, "there is no constant answer for this kind of task")
        outcomes = [chosen.get(place, missing) for place in range(len(self.sample))]
        variant = Variant(CONSTANT, "Best constant", self.validity.constant_help)
        most = {kind: names.most_common(1)[0][0] for kind, names in titles.items()}
        return Played(variant, outcomes), most

    def rankings(self, bracket: AssumptionPair) -> list[list[float | None]]:
        """Return the mean of the first measure of each contender under both assumptions."""
        return [
            [
                mean(self.play(merged(contender, assumption), self.few).values(self.measures[0]))
                for contender in bracket.contenders
            ]
            for assumption in bracket.assumptions
        ]


def certificate_content(trials: Trials) -> dict[str, Any]:
    """Play all parts, and return what a certificate states as JSON."""
    validity = trials.validity
    policies = [trials.play(variant, trials.sample) for variant in validity.blind]
    rows = [_policy_row(trials, played) for played in policies]
    constants = trials.best_constants()
    if constants is not None:
        rows.append({**_policy_row(trials, constants[0]), "answers": constants[1]})
    return {
        "seed": SEED,
        "measures": trials.measures,
        "tasks": trials.number,
        "reference": _reference_row(trials),
        "units": [[task.id, level_of(task), validity.kind_of(task)] for task in trials.sample],
        "kinds": validity.kinds,
        "policies": rows,
        "bracket": _bracket_row(trials, validity.bracket) if validity.bracket else None,
        "forms": _form_rows(trials),
    }


def _reference_row(trials: Trials) -> dict[str, Any]:
    """Return what the reference plays, and each unit that it does not solve, with the reason."""
    validity, labels = trials.validity, trials.system.labels
    tasks = [task for task in trials.tasks if validity.has_reference(task)]
    played = trials.play(validity.reference, tasks)
    unsolved = []
    for task, outcome in zip(tasks, played.outcomes, strict=True):
        right = labels.result_of(outcome).tone == "ok"
        usable = validity.usable(outcome) if validity.usable is not None else right
        if not (right and usable):
            reason = outcome.payload.get("broken") or labels.explain_outcome(
                outcome, validity.reference.settings
            )
            unsolved.append(
                {"task": task.id, "level": level_of(task), "usable": usable, "reason": reason}
            )
    return {
        **_about(validity.reference),
        "checked": len(tasks),
        "levels": dict(Counter(map(level_of, tasks))),
        "without": len(trials.tasks) - len(tasks),
        "mean": mean(played.values(trials.measures[0])),
        "unsolved": unsolved,
    }


def _about(variant: Variant) -> dict[str, Any]:
    return {
        "key": variant.key,
        "title": variant.title,
        "help": variant.help,
        "settings": dict(variant.settings),
    }


def _policy_row(trials: Trials, played: Played) -> dict[str, Any]:
    first = trials.measures[0]
    why = Counter(
        outcome.undefined.get(first, "not recorded")
        for outcome in played.outcomes
        if outcome.metrics.get(first) is None
    )
    return {
        **_about(played.variant),
        "values": {measure: played.values(measure) for measure in trials.measures},
        "undefined": dict(why.most_common()),
    }


def _bracket_row(trials: Trials, bracket: AssumptionPair) -> dict[str, Any]:
    means = trials.rankings(bracket)
    contenders = [contender.title for contender in bracket.contenders]
    return {
        "about": bracket.about,
        "n": len(trials.few),
        "assumptions": [_about(assumption) for assumption in bracket.assumptions],
        "contenders": contenders,
        "values": means,
        "reversed": [
            [contenders[a], contenders[b]]
            for a, b in combinations(range(len(contenders)), 2)
            if _order(means[0], a, b) * _order(means[1], a, b) < 0
        ],
    }


def _order(means: Sequence[float | None], a: int, b: int) -> int:
    """Return 1 where the first scores more, -1 where less, 0 where both are equal or undefined."""
    first, second = means[a], means[b]
    if first is None or second is None or abs(first - second) < 1e-9:
        return 0
    return 1 if first > second else -1


def _form_rows(trials: Trials) -> dict[str, Any]:
    """Return the reference's mean as written, and in each other form."""
    validity, first = trials.validity, trials.measures[0]
    tasks = [task for task in trials.few if validity.has_reference(task)]

    def score(form: Form | None) -> float | None:
        return mean(trials.play(validity.reference, tasks, form).values(first))

    return {
        "n": len(tasks),
        "as_written": score(None),
        "forms": [
            {"key": form.key, "title": form.title, "value": score(form)} for form in validity.forms
        ],
    }


# --- Helpers --------------------------------------------------------------------------------------


def episodes_of(trials: Trials) -> int:
    """Return how many episodes a certificate plays at most, for progress."""
    validity, few = trials.validity, len(trials.few)
    contenders = 2 * len(validity.bracket.contenders) if validity.bracket else 0
    sampled = len(validity.blind) + MOST_CONSTANTS
    others = 1 + len(validity.forms) + contenders
    return len(trials.tasks) + sampled * len(trials.sample) + others * few


def drawn(tasks: Sequence[Task], most: int) -> list[Task]:
    """Return at most so many units, drawn by the digest of their tasks' ids, in their order.

    A task is drawn with all of its levels; there is at least one task.
    """
    levels = Counter(task.id for task in tasks)
    kept: set[str] = set()
    units = 0
    for id in sorted(levels, key=lambda id: (derive_seed(SEED, id), id)):
        units += levels[id]
        if kept and units > most:
            break
        kept.add(id)
    return [task for task in tasks if task.id in kept]


def level_of(task: Task) -> str:
    return task.profile.level if task.profile is not None else ""


def mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of the defined values; None where there is none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def merged(contender: Variant, assumption: Variant) -> Variant:
    """Return a contender under an assumption; what the assumption sets takes precedence."""
    return replace(
        contender,
        agent=assumption.agent or contender.agent,
        parameters={**contender.parameters, **assumption.parameters},
        settings={**contender.settings, **assumption.settings},
        roles={**contender.roles, **assumption.roles},
    )


def rewritten(who: Answerer, form: Form) -> Answerer:
    """Return an answerer whose replies are written in another form."""

    def rule(ask: Ask, seed: int) -> Answer:
        answer = who.answer(ask, seed)
        return answer if answer.declined else replace(answer, text=form.rewrite(answer.text))

    name = f"{who.identity.name}, {form.title}"
    return Scripted(name, who.identity.version, rule, who.identity.parameters)


def unplayed(measures: Sequence[str], reason: str) -> Outcome:
    """Return the outcome of an episode that could not be played."""
    broken: Json = {"broken": reason[:1].upper() + reason[1:]}
    return Outcome("not_played", dict.fromkeys(measures), dict.fromkeys(measures, reason), broken)
