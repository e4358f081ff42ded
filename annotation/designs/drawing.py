"""Which people each unit gets, once it is settled how many of its kind each person has."""

import random
from collections.abc import Iterator, Mapping, Sequence

# A person has met nobody this often, so that a cost compares tasks before meetings.
TASK = 10**9


class Draw:
    """Draws people kind by kind, and remembers who had which task and who judged with whom."""

    def __init__(self, *, people: int, raters: int, chance: random.Random) -> None:
        self.raters, self.chance = raters, chance
        self.of_task: dict[str, list[int]] = {}
        self.met = [[0] * people for _ in range(people)]

    def people_for(self, *, tasks: Sequence[str], quotas: Mapping[int, int]) -> Iterator[list[int]]:
        """People for each unit of one kind, given its tasks, with ``quotas`` units per person.

        First comes who has fewest of the unit's task, then who has most left to get, then who met
        the unit's other raters least, then the lot. Only the two levels of people with most left
        are looked at, and who has as many left as there are units must be chosen, so the draw
        never runs into a dead end. The quotas add up to units × raters, none above the units.
        """
        levels: dict[int, list[int]] = {}
        for person in sorted(quotas):
            if quotas[person]:
                levels.setdefault(quotas[person], []).append(person)
        for there in levels.values():
            self.chance.shuffle(there)
        for done, task in enumerate(tasks):
            had = self.of_task.setdefault(task, [0] * len(self.met))
            costs = [TASK * times for times in had] if any(had) else None
            chosen: list[tuple[int, int]] = []
            while len(chosen) < self.raters:
                top = max(levels)
                two = (top,) if top == len(tasks) - done else (top, top - 1)
                person, level = _cheapest(levels, two, costs)
                levels[level].remove(person)
                if not levels[level]:
                    del levels[level]
                chosen.append((person, level))
                if len(chosen) < self.raters:
                    met = self.met[person]
                    costs = [a + b for a, b in zip(costs, met, strict=True)] if costs else met
            for person, level in chosen:
                had[person] += 1
                row = self.met[person]
                for other, _ in chosen:
                    row[other] += 1
                if level > 1:
                    there = levels.setdefault(level - 1, [])
                    there.insert(int(self.chance.random() * (len(there) + 1)), person)
            yield [person for person, _ in chosen]


def _cheapest(
    levels: Mapping[int, Sequence[int]], two: Sequence[int], costs: Sequence[int] | None
) -> tuple[int, int]:
    """The person to take and their level; of equals the first of the higher level."""
    if costs is None:
        return levels[two[0]][0], two[0]
    best: tuple[int, int, int] | None = None
    for level in two:
        if there := levels.get(level):
            person = min(there, key=costs.__getitem__)
            if best is None or costs[person] // TASK < best[0]:
                best = costs[person] // TASK, person, level
            if not best[0]:
                break
    if best is None:
        raise AssertionError("there are fewer people left than quotas promise")
    return best[1], best[2]
