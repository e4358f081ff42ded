"""Metrics of ADAPT: of a trajectory, and of a run (paper, section 6.1 and appendix A)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from benchmarks.core.means import mean_of, standard_error
from benchmarks.core.system import SCORER
from benchmarks.core.types import Json, Outcome
from benchmarks.systems.adapt.household.rules import INAPPLICABLE
from benchmarks.systems.adapt.settings import NO_FOLD, TEACHER

# In percent, as the paper prints it.
SATISFACTION, SEEN, UNSEEN = "satisfaction", "satisfaction_seen", "satisfaction_unseen"
QUESTIONS, QUESTIONS_SEEN, QUESTIONS_UNSEEN = "questions", "questions_seen", "questions_unseen"
NAMES = (
    SATISFACTION, SEEN, UNSEEN, QUESTIONS, QUESTIONS_SEEN, QUESTIONS_UNSEEN, "completed",
    "applicable", "answered", "disclosed", "steps", "invalid",
)  # fmt: skip
# What nobody asked for, and what the persona told unasked: from version 2 of the scorer on.
UNASKED, UNASKED_STEPS, LEAKED = "unasked", "unasked_steps", "leaked"
ALL_NAMES = (*NAMES, UNASKED, UNASKED_STEPS, LEAKED)


def names_of(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the metrics of a trajectory by the version of the scorer that its run is pinned to."""
    return NAMES if settings.get(SCORER) == "1" else ALL_NAMES


POINTS = 101


def outcome_metrics(
    record: Json, settings: Mapping[str, Any]
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return one trajectory's metrics, and why some are undefined.

    ``satisfaction`` is 100 |satisfied| / (|satisfied| + |violated|); preferences that do not apply
    do not count. It stands under ``satisfaction_seen`` or ``satisfaction_unseen``, too.
    """
    undefined: dict[str, str] = {}
    metrics: dict[str, float | None] = dict.fromkeys(names_of(settings))
    applicable = record["applicable"]
    if applicable:
        metrics[SATISFACTION] = 100 * record["satisfied"] / applicable
        metrics["disclosed"] = _disclosed(record["preferences"])
    else:
        undefined |= dict.fromkeys((SATISFACTION, "disclosed"), "no preference applies")
    if record["method"] == TEACHER:
        metrics["disclosed"] = None
        undefined["disclosed"] = "the teacher knows all preferences from the start"
    metrics[QUESTIONS] = record["asked"]
    # An agent that was trained on nobody has seen no persona.
    unseen = settings["fold"] in (NO_FOLD, str(record["fold"]))
    for both, seen_name, unseen_name in (
        (SATISFACTION, SEEN, UNSEEN),
        (QUESTIONS, QUESTIONS_SEEN, QUESTIONS_UNSEEN),
    ):
        mine, other = (unseen_name, seen_name) if unseen else (seen_name, unseen_name)
        metrics[mine] = metrics[both]
        if metrics[both] is None:
            undefined[mine] = undefined[both]
        # A trajectory has nothing to do with the other half.
        del metrics[other]
    metrics["completed"] = float(all(d["completed"] for d in record["dishes"].values()))
    metrics["applicable"] = applicable
    if record["asked"]:
        metrics["answered"] = 100 * record["matched"] / record["asked"]
    else:
        undefined["answered"] = "no question was asked"
    metrics["steps"] = record["steps"]
    metrics["invalid"] = record["invalid"]
    if LEAKED in metrics:
        metrics[UNASKED] = len(record[UNASKED])
        metrics[UNASKED_STEPS] = len(record[UNASKED_STEPS])
        if record["told"]:
            metrics[LEAKED] = 100 * len(record[LEAKED]) / record["told"]
        else:
            undefined[LEAKED] = "no preference was told in an answer"
    return metrics, undefined


def _disclosed(rows: Sequence[Json]) -> float:
    """Return the share of applicable preferences that were told before they were needed.

    A preference is needed at the step on which its verdict rests, and at the end without one.
    """
    applicable = [row for row in rows if row["value"] != INAPPLICABLE]
    in_time = [
        row
        for row in applicable
        if row["disclosed"] is not None and (row["step"] is None or row["disclosed"] < row["step"])
    ]
    return 100 * len(in_time) / len(applicable)


def summarise(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return all metrics of a run with standard errors, and what its pages draw."""
    played = [outcome for outcome in outcomes if "progress" in outcome.payload]
    return {
        "trajectories": len(outcomes),
        "terminations": dict(Counter(outcome.termination for outcome in outcomes)),
        "metrics": {
            name: {
                **mean_of(_concerned(outcomes, name), name),
                "se": standard_error(_values(outcomes, name)),
            }
            for name in ALL_NAMES
        },
        "by_persona": _by(played, "persona"),
        "by_task": _by(played, "task"),
        "by_type": _by_type(played),
        "by_applicable": _by(played, "applicable", QUESTIONS),
        "progress": progress_curves([outcome.payload for outcome in played]),
    }


def _concerned(outcomes: Sequence[Outcome], name: str) -> list[Outcome]:
    """Return the outcomes that a metric is about: those of seen personas, say."""
    return [o for o in outcomes if name in o.metrics or not name.endswith(("_seen", "_unseen"))]


def _values(outcomes: Sequence[Outcome], name: str) -> list[float]:
    return [value for o in outcomes if (value := o.metrics.get(name)) is not None]


def _by(outcomes: Sequence[Outcome], field: str, name: str = SATISFACTION) -> list[dict[str, Any]]:
    """Return the mean of a metric by a field of the outcomes' records, in order."""
    groups: dict[Any, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.payload[field], []).append(outcome)
    rows = []
    for key in sorted(groups):
        values = _values(groups[key], name)
        value = fmean(values) if values else None
        row = {"key": key, "value": value, "se": standard_error(values), "n": len(values)}
        rows.append({**row, "title": groups[key][0].payload["persona_name"]}
                    if field == "persona" else row)  # fmt: skip
    return rows


def _by_type(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return satisfied and applicable preferences by the paper's types."""
    satisfied: Counter[str] = Counter()
    applicable: Counter[str] = Counter()
    for outcome in outcomes:
        for row in outcome.payload["preferences"]:
            if row["value"] != INAPPLICABLE:
                applicable[row["type"]] += 1
                satisfied[row["type"]] += row["value"] == "satisfied"
    return [
        {"key": key, "satisfied": satisfied[key], "applicable": n,
         "value": 100 * satisfied[key] / n}
        for key, n in sorted(applicable.items())
    ]  # fmt: skip


def resample(values: Sequence[float]) -> list[float]:
    """Return values over steps 0 to T at 0, 1, ... 100 % of T; each holds until the next step."""
    last = len(values) - 1
    return [values[point * last // (POINTS - 1)] for point in range(POINTS)]


def progress_curves(records: Sequence[Json]) -> dict[str, list[list[float | None]]]:
    """Return [mean, mean - s.e., mean + s.e.] at 101 points, of satisfaction and of questions.

    f(t) is the share of applicable preferences that are satisfied after step t and at the end, so
    that f(T) is the satisfaction rate (appendix A). ``table`` has every tenth point of both.
    """
    satisfied = satisfaction_curve(records)
    asked = _band([resample(record["asked_by"]) for record in records])
    table = [
        [point, *satisfied[point], asked[point][0]] for point in range(0, POINTS, 10) if satisfied
    ]
    return {SATISFACTION: satisfied, QUESTIONS: asked, "table": table}


def satisfaction_curve(records: Sequence[Json]) -> list[list[float | None]]:
    """Return [mean, mean - s.e., mean + s.e.] of f(t) at 0 to 100 % of each trajectory."""
    return _band(
        [
            resample([100 * n / record["applicable"] for n in record["progress"]])
            for record in records
            if record["applicable"]
        ]
    )


def _band(rows: Sequence[Sequence[float]]) -> list[list[float | None]]:
    band: list[list[float | None]] = []
    for column in zip(*rows, strict=True):
        mean, error = fmean(column), standard_error(column)
        band.append([mean, *((None, None) if error is None else (mean - error, mean + error))])
    return band
