"""Draw which player meets which agent on which task, by seed, and check the balance."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.designs.certificate import Certificate, certify_design
from annotation.designs.dealing import ItemLimits, Unit, deal_options
from annotation.designs.orders import Method, order_options
from annotation.designs.sampling import Sample, sample_options
from annotation.designs.types import Allocation, DesignError, DesignOption
from benchmarks.core.digests import derive_seed

MOST_SESSIONS = 500
WORDS = {
    "raters": "players",
    "annotator": "player",
    "Annotator": "Player",
    "model": "agent",
    "Model": "Agent",
}


@dataclass(frozen=True)
class SessionDesign:
    """Sessions of a design: for each row of players the pairs (agent, task) in their order.

    Agents and tasks are places in the lists that were given.
    """

    rows: tuple[tuple[str, tuple[tuple[int, int], ...]], ...]
    certificate: Certificate

    @property
    def sessions(self) -> int:
        return sum(len(pairs) for _, pairs in self.rows)


def draw_tasks(
    *, tasks: Sequence[str], kinds: Sequence[str], count: int | None, seed: int
) -> list[int]:
    """Return the places of the tasks to be played, in their order: all, or some drawn by seed.

    ``kinds`` has the kind of each task. Every kind is drawn equally often, or once more.
    """
    if count is None or count >= len(tasks):
        return list(range(len(tasks)))
    places: dict[str, list[int]] = {}
    for place, kind in enumerate(kinds):
        places.setdefault(kind, []).append(place)
    names = list(places)
    if len(names) > 1:
        random.Random(derive_seed(seed, "kinds")).shuffle(names)
    drawn = []
    for number, left in enumerate(_shares([len(places[name]) for name in names], count)):
        if left:
            own = [DesignOption(place, tasks[place]) for place in places[names[number]]]
            sampled = sample_options(options=own, sample=Sample("total", left), seed=seed)
            drawn += [option.id for option in sampled.options]
    return sorted(drawn)


def _shares(sizes: Sequence[int], count: int) -> list[int]:
    """Return how many of each kind: one of each in turn, as long as a kind has any left."""
    shares = [0] * len(sizes)
    while sum(shares) < count:
        for number, size in enumerate(sizes):
            if shares[number] < size and sum(shares) < count:
                shares[number] += 1
    return shares


def draw_sessions(
    *,
    agents: Sequence[str],
    tasks: Sequence[str],
    rows: Sequence[str],
    each: int,
    order: Method,
    seed: int,
) -> SessionDesign:
    """Deal pairs of agent and task to rows of players, ``each`` to every row, nobody one twice.

    Every pair is played equally often, or once more where the numbers do not divide. ``agents`` is
    [""] where a person is the agent. With a Latin square whole tasks are dealt where they fit.
    Raises DesignError where it cannot be done.
    """
    pairs = {
        number: (agent, task)
        for number, (task, agent) in enumerate(
            ((task, agent) for task in range(len(tasks)) for agent in range(len(agents))), 1
        )
    }
    _check(len(pairs), rows, each)
    options = {
        number: DesignOption(number, tasks[task], agents[agent])
        for number, (agent, task) in pairs.items()
    }
    whole = order == "latin" and each % len(agents) == 0
    dealt = _deal(options, pairs, rows, each, "task" if whole else "item", seed)
    ordered = order_options(dealt=dealt, method=order)
    rounds = len(rows) * each / len(pairs)
    certificate = certify_design(design=ordered, raters=max(1, round(rounds)))
    return SessionDesign(
        tuple((name, tuple(pairs[pk] for pk in ordered.orders[name])) for name in rows),
        certificate,
    )


def _check(pairs: int, rows: Sequence[str], each: int) -> None:
    if not pairs:
        raise DesignError("agents", "choose at least one agent and one task")
    if not rows or len(set(rows)) != len(rows):
        raise DesignError("names", "name at least one player, and nobody twice")
    if each > pairs:
        raise DesignError(
            "each",
            f"nobody plays the same task with the same agent twice, so {pairs} sessions for each "
            "player are the most with these agents and tasks",
        )
    if len(rows) * each > MOST_SESSIONS:
        raise DesignError(
            "each",
            f"{len(rows) * each:,} sessions are more than the {MOST_SESSIONS} that one study holds",
        )


def _deal(
    options: dict[int, DesignOption],
    pairs: dict[int, tuple[int, int]],
    rows: Sequence[str],
    each: int,
    unit: Unit,
    seed: int,
) -> Allocation:
    """Return every pair in as many rows as go round, then the rest once more in rows with room
    left.
    """
    rounds, rest = divmod(len(rows) * each, len(options))
    orders: dict[str, tuple[int, ...]] = dict.fromkeys(rows, ())
    warnings: list[str] = []
    if rounds:
        first = deal_options(
            options=options.values(), annotators=rows, raters=rounds, seed=seed, unit=unit,
            capacities={name: ItemLimits(0, each) for name in rows},
        )  # fmt: skip
        orders = {**orders, **first.orders}
    if rest:
        chosen = _some(pairs, rest, unit, seed)
        more = deal_options(
            options=[options[pk] for pk in chosen],
            annotators=rows,
            raters=1,
            seed=derive_seed(seed, "rest"),
            unit=unit,
            exclusions=orders,
            capacities={name: ItemLimits(0, each - len(orders[name])) for name in rows},
        )
        orders = {name: (*orders[name], *more.orders.get(name, ())) for name in rows}
        times = "once" if not rounds else f"{rounds + 1} times, the others {rounds} times"
        words = f"{rest:,} of {len(options):,} pairs of task and agent are played {times}"
        warnings.append(words if rounds else f"{words}, the others not at all")
    used = sorted({pk for order in orders.values() for pk in order})
    return Allocation(
        orders=orders,
        options=tuple(options[pk] for pk in used),
        method=f"sessions by {unit}",
        seed=seed,
        warnings=tuple(warnings),
    )


def _some(pairs: dict[int, tuple[int, int]], count: int, unit: Unit, seed: int) -> list[int]:
    """Draw so many pairs by seed that agents and tasks come equally often, or nearly."""
    chance = random.Random(derive_seed(seed, "some"))
    agents = sorted({agent for agent, _ in pairs.values()})
    tasks = sorted({task for _, task in pairs.values()})
    chance.shuffle(agents)
    chance.shuffle(tasks)
    numbers = {pair: number for number, pair in pairs.items()}
    if unit == "task":
        chosen = tasks[: count // len(agents)]
        return [numbers[agent, task] for task in chosen for agent in agents]
    # Diagonals: each holds every task once, and agents in turn.
    walk = (
        numbers[agents[(place + step) % len(agents)], task]
        for step in range(len(agents))
        for place, task in enumerate(tasks)
    )
    return [number for number, _ in zip(walk, range(count), strict=False)]


def in_words(text: str) -> str:
    """Return what is said of a design, in the words of sessions."""
    for known, word in WORDS.items():
        text = text.replace(known, word)
    return text
