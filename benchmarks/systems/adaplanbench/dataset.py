"""The published file of AdaPlanBench (``adaplanbench_queries.json``): read, checked, written.

The file is read twice, one query at a time: ``check_file`` finds every fault before anything is
stored, ``read_tasks`` yields the tasks. Numbers of construction rounds become levels.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from benchmarks.core.json_files import JsonFile
from benchmarks.core.problems import (
    Problems,
    text_fault,
)
from benchmarks.core.query_files import (
    LONGEST_CONSTRAINT,
    LONGEST_QUERY,
    MOST_CONSTRAINTS,
    QueryItem,
    reading,
)
from benchmarks.core.types import Constraint, Profile, Task

ROUND = "candidate_iterative_sample_num"
LEVELS = {1: "low", 2: "mid", 3: "high", 4: "round-4", 5: "round-5", 6: "round-6"}
FIELDS = (("tools", "world", "w"), ("prefs", "user", "u"))


class CheckedQueries(NamedTuple):
    """The findings of the first pass over a sound file.

    ``repeated`` counts constraints that stand twice in the same list and are taken once.
    """

    checksum: str
    tasks: int
    profiles: int
    constraints: int
    repeated: int


def check_file(path: Path) -> CheckedQueries:
    """Go through the whole file; raise ``FileRefused`` with its faults, if it has any."""
    problems = Problems()
    ids: set[str] = set()
    counts = dict.fromkeys(("tasks", "profiles", "constraints", "repeated"), 0)
    checksum = ""
    with reading(path, problems) as file:
        for index, item in file.items_of("data"):
            reader = _Query(path.name, index, item, problems)
            reader.read_id(ids)
            read = reader.read()
            counts["tasks"] += 1
            counts["repeated"] += reader.repeated
            if read is not None:
                counts["profiles"] += len(read[1])
                counts["constraints"] += sum(len(p.constraints) for p in read[1])
        checksum = file.checksum
    if not counts["tasks"] and not problems.total:
        problems.add(f"{path.name}, data", "at least one query", [])
    problems.check()
    return CheckedQueries(checksum=checksum, **counts)


def read_about(path: Path) -> dict[str, str]:
    """Return what a sound file says of itself under ``metadata``, as far as that is texts."""
    with path.open("rb") as raw:
        for name, _, value in JsonFile(path, raw).entries(skip=("data",)):
            if name == "metadata" and isinstance(value, dict):
                return {key: text for key, text in value.items() if isinstance(text, str)}
    return {}


def read_tasks(path: Path) -> Iterator[tuple[Task, tuple[Profile, ...]]]:
    """Yield the tasks of a file, each with its profiles from the first construction round on."""
    with path.open("rb") as raw:
        for index, item in JsonFile(path, raw).items_of("data"):
            problems = Problems()
            read = _Query(path.name, index, item, problems).read()
            problems.check()
            if read is not None:
                yield read


class _Query(QueryItem):
    """Reads the query and its profiles; ``repeated`` counts what stood twice in a list."""

    repeated = 0

    def read(self) -> tuple[Task, tuple[Profile, ...]] | None:
        """Return the task and its profiles, or None where faults leave nothing to build."""
        query = self.item.get("query")
        if self.item and (fault := text_fault(query, LONGEST_QUERY)):
            self.fault("query", fault, query)
        pools = self.item.get("ban_pool")
        if self.item and (not isinstance(pools, list) or not pools):
            self.fault("ban_pool", "a list with at least one pool", pools)
        if not isinstance(query, str) or not isinstance(pools, list):
            return None
        numbers: dict[str, dict[str, str]] = {"world": {}, "user": {}}
        profiles: dict[int, Profile] = {}
        for place, pool in self._by_round(pools):
            profiles[place] = Profile(LEVELS[place], tuple(self._constraints(pool, numbers)))
        ordered = tuple(profiles[place] for place in sorted(profiles))
        return Task(self.id, query.strip()), ordered

    def _by_round(self, pools: Sequence[Any]) -> list[tuple[int, tuple[str, Any]]]:
        """Yield (round, (field name, pool)) in the order of rounds; what has no sound round is
        noted.
        """
        rounds: dict[int, tuple[str, Any]] = {}
        for index, pool in enumerate(pools):
            field = f"ban_pool[{index}]"
            if not isinstance(pool, dict):
                self.fault(field, "an object", pool)
                continue
            metadata = pool.get("metadata")
            place = metadata.get(ROUND) if isinstance(metadata, dict) else None
            name = f"{field}.metadata.{ROUND}"
            if isinstance(place, bool) or not isinstance(place, int) or place not in LEVELS:
                self.fault(name, "a whole number from 1 to 6", place)
            elif place in rounds:
                self.fault(name, "each round once", place)
            else:
                rounds[place] = (field, pool)
        return sorted(rounds.items())

    def _constraints(
        self, named: tuple[str, Any], numbers: Mapping[str, dict[str, str]]
    ) -> Iterator[Constraint]:
        """Yield the constraints of one pool.

        A text has the same key in every round of its query.
        """
        field, pool = named
        for source, kind, letter in FIELDS:
            given = pool.get(source)
            if not isinstance(given, list) or len(given) > MOST_CONSTRAINTS:
                self.fault(
                    f"{field}.{source}", f"a list of at most {MOST_CONSTRAINTS} constraints", given
                )
                continue
            here: set[str] = set()
            for index, entry in enumerate(given):
                text = entry.get("text") if isinstance(entry, dict) else entry
                if fault := text_fault(text, LONGEST_CONSTRAINT):
                    expected = f"{fault}, or an object with such a field 'text'"
                    self.fault(f"{field}.{source}[{index}]", expected, entry)
                    continue
                text = str(text).strip()
                if text in here:
                    self.repeated += 1
                    continue
                here.add(text)
                key = numbers[kind].setdefault(text, f"{letter}{len(numbers[kind]) + 1}")
                yield Constraint(key, kind, text)


def write_tasks(
    tasks: Iterable[tuple[Task, Sequence[Profile]]], file: IO[str], metadata: Mapping[str, Any]
) -> int:
    """Write tasks in the published format, one query a line; the number of queries written.

    What the format has no field for (categories, payloads, what a constraint is about) is left
    out, and so are profiles at levels that are no construction round.
    """
    rounds = {level: place for place, level in LEVELS.items()}
    file.write(f'{{"metadata": {json.dumps(metadata, ensure_ascii=False)},\n"data": [')
    count = 0
    for task, profiles in tasks:
        pools = [
            {
                **{name: [c.text for c in p.of_kind(kind)] for name, kind, _ in FIELDS},
                "metadata": {ROUND: rounds[p.level]},
            }
            for p in profiles
            if p.level in rounds
        ]
        row = {"query_id": task.id, "query": task.prompt, "ban_pool": pools}
        file.write((",\n" if count else "\n") + json.dumps(row, ensure_ascii=False))
        count += 1
    file.write("\n]}\n")
    return count
