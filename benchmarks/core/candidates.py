"""Candidate constraints in a file close to the published one: read, checked, written.

``{"metadata": {…}, "data": [{"query_id": "q1", "candidates": [{"text": "No rope.", "kind": "world",
"round": 1, "decision": "removed", "reason": "The reference needs one."}]}]}``. The file is read
twice, one query at a time, as that of queries is.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from benchmarks.core.digests import canonical_json, digest_text, storable
from benchmarks.core.problems import Problems, Unquoted, text_fault
from benchmarks.core.query_files import (
    LONGEST_CONSTRAINT,
    MOST_CONSTRAINTS,
    QueryItem,
    reading,
)
from benchmarks.core.types import Candidate

KINDS = {"world": "w", "user": "u"}
KEPT, REMOVED = "kept", "removed"
ROUNDS = range(1, 7)
FIELDS = ("key", "kind", "text", "round", "decision", "reason", "decided_by", "payload")
LONGEST_KEY, LONGEST_NAME, LONGEST_PAYLOAD = 60, 120, 20_000


@dataclass(frozen=True)
class CandidateRow:
    """A candidate with the id of its task; ``where`` is how messages name its place."""

    task: str
    candidate: Candidate
    where: str = ""


@dataclass(frozen=True)
class CheckedCandidates:
    """The findings of the first pass over a sound file."""

    queries: int
    candidates: int


def candidate_key(kind: str, text: str) -> str:
    """Return the key of a candidate that brings none: from its text, so that order changes nothing.

    It tells nothing of where the candidate stood or what became of it.
    """
    return f"{KINDS[kind]}-{digest_text(text)[:12]}"


def candidate_faults(given: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield (field, what was expected, what was found) for all that is wrong with a candidate."""
    kind, place, decision = given.get("kind"), given.get("round"), given.get("decision")
    if not isinstance(kind, str) or kind not in KINDS:
        yield "kind", "'world' or 'user'", kind
    for field, longest in (("text", LONGEST_CONSTRAINT), ("key", LONGEST_KEY)):
        if fault := text_fault(given.get(field), longest):
            yield field, fault, given.get(field)
    if place is not None and (type(place) is not int or place not in ROUNDS):
        yield "round", "a whole number from 1 to 6, or nothing", place
    if decision not in (KEPT, REMOVED, None):
        yield "decision", f"'{KEPT}', '{REMOVED}' or nothing", decision
    for field, longest in (("reason", LONGEST_CONSTRAINT), ("decided_by", LONGEST_NAME)):
        value = given.get(field)
        if value and decision is None:
            yield field, "nothing where nothing was decided", value
        elif value != "" and (fault := text_fault(value, longest)):
            yield field, f"{fault}, or an empty one", value
    if fault := _payload_fault(given.get("payload")):
        yield "payload", fault, given.get("payload")


def _payload_fault(payload: Any) -> str:
    if not isinstance(payload, Mapping):
        return "an object"
    try:
        size = len(canonical_json(payload))
    except (TypeError, ValueError):
        return "an object of JSON values"
    if storable(dict(payload)) != payload:
        return "texts without NUL and without half characters"
    if size > LONGEST_PAYLOAD:
        return f"an object of at most {LONGEST_PAYLOAD} characters"
    return ""


def check_candidates(path: Path, *, decided_by: str = "") -> CheckedCandidates:
    """Go through the whole file; raise ``FileRefused`` with its faults, if it has any."""
    problems = Problems()
    ids: set[str] = set()
    queries = candidates = 0
    with reading(path, problems) as file:
        for index, item in file.items_of("data"):
            reader = _Candidates(path.name, index, item, problems)
            reader.read_id(ids)
            candidates += sum(1 for _ in reader.read(decided_by))
            queries += 1
    if not queries and not problems.total:
        problems.add(f"{path.name}, data", "at least one query", [])
    problems.check()
    return CheckedCandidates(queries, candidates)


def read_candidates(path: Path, *, decided_by: str = "") -> Iterator[CandidateRow]:
    """Yield the candidates of a file; ``decided_by`` holds for decisions that name nobody."""
    problems = Problems()
    with reading(path, problems) as file:
        for index, item in file.items_of("data"):
            yield from _Candidates(path.name, index, item, problems).read(decided_by)
            problems.check()
    problems.check()


class _Candidates(QueryItem):
    """Reads the candidates of one query."""

    def read(self, decided_by: str) -> Iterator[CandidateRow]:
        given = self.item.get("candidates")
        if not self.item:
            return
        if not isinstance(given, list) or len(given) > MOST_CONSTRAINTS:
            self.fault("candidates", f"a list of at most {MOST_CONSTRAINTS} candidates", given)
            return
        keys: dict[str, int] = {}
        texts: dict[tuple[str, str], int] = {}
        for index, entry in enumerate(given):
            field = f"candidates[{index}]"
            candidate = self._candidate(field, entry, decided_by)
            if candidate is None:
                continue
            same = texts.setdefault((candidate.kind, candidate.text), index)
            if same != index:
                same_text = Unquoted(f"that of candidates[{same}]")
                self.fault(f"{field}.text", "a text of its own within its kind", same_text)
                continue
            same = keys.setdefault(candidate.key, index)
            if same != index:
                self.fault(
                    f"{field}.key", "a key of its own", Unquoted(f"that of candidates[{same}]")
                )
                continue
            yield CandidateRow(self.id, candidate, f"{self.place}, {field}")

    def _candidate(self, field: str, entry: Any, decided_by: str) -> Candidate | None:
        if not isinstance(entry, dict):
            self.fault(field, "an object", entry)
            return None
        for name in entry.keys() - set(FIELDS):
            self.fault(
                f"{field}.{name[:40]}", f"one of {', '.join(FIELDS)}", Unquoted("another field")
            )
        values = {"reason": "", "decided_by": "", "payload": {}, **entry}
        # Written as null by those who have nothing to say.
        values = {
            name: {"reason": "", "decided_by": ""}.get(name) if value is None else value
            for name, value in values.items()
        }
        if isinstance(values.get("text"), str):
            values["text"] = values["text"].strip()
        if values.get("decision") is not None and not values["decided_by"]:
            values["decided_by"] = decided_by
        if values.get("key") is None:
            sound = values.get("kind") in list(KINDS) and not text_fault(
                values.get("text"), LONGEST_CONSTRAINT
            )
            # Where kind or text is at fault, that is said, and nothing of a key.
            values["key"] = candidate_key(values["kind"], values["text"]) if sound else "none"
        faults = list(candidate_faults(values))
        for name, expected, found in faults:
            self.fault(f"{field}.{name}", expected, found)
        return None if faults else Candidate(**{name: values.get(name) for name in FIELDS})  # type: ignore[arg-type]


def write_candidates(
    queries: Iterable[tuple[str, Sequence[Candidate]]], file: IO[str], metadata: Mapping[str, Any]
) -> int:
    """Write candidates in the format that is read, one query a line; how many there were."""
    file.write(f'{{"metadata": {json.dumps(metadata, ensure_ascii=False)},\n"data": [')
    count = 0
    for place, (query_id, candidates) in enumerate(queries):
        rows = [{name: getattr(row, name) for name in FIELDS} for row in candidates]
        line = json.dumps({"query_id": query_id, "candidates": rows}, ensure_ascii=False)
        file.write((",\n" if place else "\n") + line)
        count += len(rows)
    file.write("\n]}\n")
    return count
