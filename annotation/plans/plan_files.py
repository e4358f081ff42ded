"""Read plans from YAML and write them back; every problem names its path.

docs/making-studies.md describes the format. Reading checks only the file; `plan_study` checks that
its runs, people and items exist.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from datetime import date, datetime
from typing import Any, get_args

import yaml
from django.utils import timezone

from annotation.annotator_quality.rule import GoldRule
from annotation.designs.sampling import Allocation, Sample, Way
from annotation.plans.retention_rule import PARTS, RetentionRule
from annotation.plans.study_plan import (
    Dealing,
    ItemSource,
    Order,
    PlanError,
    PlanProblem,
    QuestionOrder,
    SpecialItem,
    StudyPlan,
    Trials,
    Verdicts,
)
from benchmarks.core.problems import FileRefused
from benchmarks.core.yaml_files import Path, read_yaml

LONGEST_TEXT = 20_000
MOST_PROBLEMS = 50
# Moments beyond these cannot be shown in every time zone.
FIRST_YEAR, LAST_YEAR = 1900, 2900
Problems = list[PlanProblem]
Check = Callable[[Any, str, Problems], Any]


def read_plan(text: str) -> StudyPlan:
    """Return a plan from YAML; PlanError with every problem of its form at once, each with its
    line.
    """
    try:
        document = read_yaml(text)
    except FileRefused as refused:
        raise PlanError(
            PlanProblem(fault.where, f"expected {fault.expected}, found {fault.found}")
            for fault in refused.problems
        ) from None
    try:
        return read_document(document.value)
    except PlanError as error:
        lines = {_written(path): line for path, line in document.lines.items()}
        raise PlanError(
            problem._replace(line=lines.get(problem.path)) for problem in error.problems
        ) from None


def _written(path: Path) -> str:
    """Return a path as problems name it, such as ``training[1].task``."""
    words = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in path)
    return words.removeprefix(".")


def read_document(data: Any) -> StudyPlan:
    """Return a plan from what YAML or JSON hold."""
    problems: Problems = []
    given = _mapping(data, "", PLAN, problems)
    for name in ("name", "questionnaire", "items"):
        if isinstance(data, Mapping) and name not in data:
            problems.append(PlanProblem(name, "is missing"))
    if problems:
        raise PlanError(problems[:MOST_PROBLEMS])
    items, sample = given.pop("items")
    return StudyPlan(**given, items=items, sample=sample)


def plan_document(plan: StudyPlan) -> dict[str, Any]:
    """Return a plan in the form of its file; what is as usual is left out."""
    document = _changed(plan, StudyPlan("", ""))
    document["items"] = _changed(plan.items, ItemSource())
    sample = _changed(plan.sample, Sample())
    document.pop("sample", None)
    if sample:
        document["items"]["sample"] = sample
    for name in ("training", "gold"):
        if name in document:
            document[name] = [_changed(item, SpecialItem()) for item in getattr(plan, name)]
    if "gold_rule" in document:
        document["gold_rule"] = _changed(plan.gold_rule, GoldRule())
    if "retention" in document:
        document["retention"] = plan.retention.stored
    if plan.closes_at is not None:
        document["closes_at"] = plan.closes_at.isoformat()
    # Said always: whoever reads the file shall not have to know what is usual.
    return {**document, "raters": plan.raters, "order": plan.order, "seed": plan.seed}


def write_plan(plan: StudyPlan) -> str:
    """Return a plan as YAML that `read_plan` takes."""
    return yaml.safe_dump(plan_document(plan), sort_keys=False, allow_unicode=True, width=100)


def _changed(value: Any, usual: Any) -> dict[str, Any]:
    rows = ((f.name, getattr(value, f.name), getattr(usual, f.name)) for f in fields(value))
    return {
        name: list(now) if isinstance(now, tuple) else now
        for name, now, before in rows
        if now != before
    }


# --- Values ---------------------------------------------------------------------------------------


def _mapping(
    data: Any, path: str, known: Mapping[str, Check], problems: Problems
) -> dict[str, Any]:
    """Return the known fields that are given and right; what is strange or wrong becomes a
    problem.
    """
    if not isinstance(data, Mapping):
        problems.append(PlanProblem(path, f"expected fields such as {', '.join(list(known)[:3])}"))
        return {}
    mapping = {}
    for name, value in data.items():
        where = f"{path}.{name}" if path else str(name)
        if name not in known:
            there = ", ".join(known)
            problems.append(PlanProblem(where, f"is not known here; known are {there}"))
            continue
        before = len(problems)
        read = known[name](value, where, problems)
        if len(problems) == before:
            mapping[name] = read
    return mapping


def _wrong(problems: Problems, path: str, expected: str, value: Any) -> None:
    shown = "nothing" if value is None else repr(value)
    problems.append(PlanProblem(path, f"expected {expected}, found {shown[:80]}"))


def _word(value: Any, path: str, problems: Problems) -> str:
    """Return a short text; numbers are taken as they are written, since names may look like
    numbers.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip() or len(value) > 400 or "\x00" in value:
        _wrong(problems, path, "a short text", value)
        return ""
    return value.strip()


def _text(value: Any, path: str, problems: Problems) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT or "\x00" in value:
        _wrong(problems, path, f"a text of at most {LONGEST_TEXT:,} characters", value)
        return ""
    return value


def _number(value: Any, path: str, problems: Problems) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        _wrong(problems, path, "a whole number", value)
        return 0
    return value


def _share(value: Any, path: str, problems: Problems) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        _wrong(problems, path, "a share from 0 to 1", value)
        return 0.0
    return float(value)


def _yes(value: Any, path: str, problems: Problems) -> bool:
    if not isinstance(value, bool):
        _wrong(problems, path, "true or false", value)
    return bool(value)


def _moment(value: Any, path: str, problems: Problems) -> datetime | None:
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            value = datetime.fromisoformat(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime) or not FIRST_YEAR <= value.year <= LAST_YEAR:
        _wrong(problems, path, "a day or a time, such as 2027-03-01 or 2027-03-01T18:00", value)
        return None
    return timezone.make_aware(value) if timezone.is_naive(value) else value


def _one_of(choices: Any) -> Check:
    words: tuple[str, ...] = get_args(choices)

    def check(value: Any, path: str, problems: Problems) -> Any:
        if value not in words:
            _wrong(problems, path, f"one of {', '.join(words)}", value)
        return value

    return check


def _list_of(check: Check) -> Check:
    def listed(value: Any, path: str, problems: Problems) -> tuple[Any, ...]:
        if not isinstance(value, list):
            _wrong(problems, path, "a list", value)
            return ()
        return tuple(check(item, f"{path}[{n}]", problems) for n, item in enumerate(value, 1))

    return listed


def _special(value: Any, path: str, problems: Problems) -> SpecialItem:
    return SpecialItem(**_mapping(value, path, SPECIAL, problems))


def _expected(value: Any, path: str, problems: Problems) -> dict[str, Any]:
    """Return slots and what is right there; whether they fit the item is told once it is known."""
    if not isinstance(value, Mapping):
        _wrong(problems, path, "places and what is right there", value)
        return {}
    return {
        str(name): _mapping(what, f"{path}.{name}", EXPECTED, problems)
        for name, what in value.items()
    }


def _plain(value: Any, path: str, problems: Problems) -> list[Any]:
    if not isinstance(value, list) or any(isinstance(item, bool | list | dict) for item in value):
        _wrong(problems, path, "a list of what is right", value)
        return []
    return list(value)


def _items(value: Any, path: str, problems: Problems) -> tuple[ItemSource, Sample]:
    given = _mapping(value, path, ITEMS, problems)
    sample = given.pop("sample", Sample())
    return ItemSource(**given), sample


def _sample(value: Any, path: str, problems: Problems) -> Sample:
    return Sample(**_mapping(value, path, SAMPLE, problems))


def _gold_rule(value: Any, path: str, problems: Problems) -> GoldRule:
    return GoldRule(**_mapping(value, path, GOLD_RULE, problems))


def _retention(value: Any, path: str, problems: Problems) -> RetentionRule:
    return RetentionRule(**_mapping(value, path, RETENTION, problems))


RETENTION: Mapping[str, Check] = {**dict.fromkeys(PARTS, _number), "archive": _yes}
GOLD_RULE: Mapping[str, Check] = {"action": _word, "answers": _number, "share": _share}
SAMPLE: Mapping[str, Check] = {
    "way": _one_of(Way),
    "count": _number,
    "strata": _list_of(_word),
    "allocation": _one_of(Allocation),
    "whole_tasks": _yes,
    "take_fewer": _yes,
}
ITEMS: Mapping[str, Check] = {
    "runs": _list_of(_number),
    "experiment": _word,
    "dataset": _word,
    "levels": _list_of(_word),
    "agents": _list_of(_word),
    "endings": _list_of(_word),
    "tasks": _list_of(_word),
    "trials": _one_of(Trials),
    "trajectories": _list_of(_number),
    "sample": _sample,
}
EXPECTED: Mapping[str, Check] = {"values": _plain, "chosen": _plain, "why": _text}
SPECIAL: Mapping[str, Check] = {
    "trajectory": _number,
    "task": _word,
    "agent": _word,
    "level": _word,
    "attempt": _number,
    "expected": _expected,
}
PLAN: Mapping[str, Check] = {
    "name": _word,
    "questionnaire": _word,
    "items": _items,
    "raters": _number,
    "places": _number,
    "annotators": _list_of(_word),
    "dealing": _one_of(Dealing),
    "lease_minutes": _number,
    "order": _one_of(Order),
    "whole_tasks": _yes,
    "queries_each": _number,
    "seed": _number,
    "training": _list_of(_special),
    "gold": _list_of(_special),
    "gold_each": _number,
    "gold_rule": _gold_rule,
    "pass_mark": _share,
    "background": _word,
    "information": _text,
    "consent": _text,
    "idle_seconds": _number,
    "break_minutes": _number,
    "closes_at": _moment,
    "retention": _retention,
    "blinded": _yes,
    "shows_hidden": _yes,
    "verdicts": _one_of(Verdicts),
    "question_order": _one_of(QuestionOrder),
    "gold_feedback": _yes,
}


def known_fields() -> Iterator[str]:
    """Yield every field of a plan's file, for the test that all are documented."""
    for group in (PLAN, ITEMS, SAMPLE, SPECIAL, EXPECTED, GOLD_RULE, RETENTION):
        yield from group
