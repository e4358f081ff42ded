"""Variance components of scores by task, attempt, judge and setting.

Facets may be crossed or nested and may lack any cells. Restricted maximum likelihood.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from analysis.stats.columns import Codes, Floats, as_column, as_floats, check_length_of, encode

TASK, ATTEMPT, JUDGE, TASK_JUDGE, PLAN_JUDGE, SETTING, SITTING, REST = (
    "task", "attempt", "judge", "judge by task", "judge by attempt", "setting",
    "judge by attempt and setting", "rest",
)  # fmt: skip
# What a level of a component is a level of.
FACETS: Mapping[str, tuple[str, ...]] = {
    TASK: ("task",),
    ATTEMPT: ("task", "attempt"),
    JUDGE: ("judge",),
    TASK_JUDGE: ("task", "judge"),
    PLAN_JUDGE: ("task", "attempt", "judge"),
    SETTING: ("setting",),
    SITTING: ("task", "attempt", "judge", "setting"),
    REST: ("task", "attempt", "judge", "setting", "replicate"),
}
FEWEST_TASKS = 4
NO_SCORES = "nothing was scored"
FEW_TASKS = "scores of {n} tasks only; at least {least} are needed"
CONSTANT = "all scores are equal"
UNSETTLED = "the variances could not be estimated: the fit did not converge"
ROUNDS = 100
# Of scores with variance 1: under `NOTHING` the rest is 0, no variance is above `MOST`. A search
# ends where a step would change the deviance by less than `CLOSE`.
NOTHING, MOST, CLOSE = 1e-4, 100.0, 1e-8
# Where the rest may begin; the search begins at the one with the lowest deviance.
STARTS = (1.0, 0.3, 0.1, 0.01, 0.001, 0.0003)


@dataclass(frozen=True)
class Component:
    """One variance: ``variance`` of a level, and the levels that the mean has of it.

    ``effective`` is how many equally frequent levels would give the mean as much of the variance:
    1/Σ(share of the scores)². ``freedom`` are its degrees of freedom.
    """

    name: str
    variance: float
    levels: int
    effective: float
    freedom: float

    @property
    def error(self) -> float:
        """What the component adds to the variance of the mean."""
        return self.variance / self.effective


@dataclass(frozen=True)
class Components:
    """The mean of the scores, and the components of its variance.

    ``zero`` names components that the data put at 0, where an analysis of variance may give a
    negative number. ``levels`` counts each facet; ``undefined`` says why there are no components.
    """

    mean: float | None
    n: int
    parts: tuple[Component, ...] = ()
    zero: tuple[str, ...] = ()
    levels: Mapping[str, int] = field(default_factory=dict)
    undefined: str = ""

    def variance(self, name: str) -> float | None:
        """Return the variance of a component; None where the data have no such component."""
        return next((part.variance for part in self.parts if part.name == name), None)


def variance_components(
    scores: Any,
    *,
    tasks: Sequence[Hashable],
    attempts: Sequence[Hashable],
    judges: Sequence[Hashable],
    settings: Sequence[Hashable],
) -> Components:
    """Split the variance of scores by what they have in common.

    Parameters
    ----------
    scores
        One score a row; None and NaN are missing.
    tasks, attempts
        The task of each score, and which trajectory of that task it is about.
    judges, settings
        Who scored, and under which setting of the prompt (an order of anchors, a re-judging).

    Returns
    -------
    Components
        Variances in squared units of the scores.

    Notes
    -----
    y = μ + task + attempt(task) + judge + judge·task + judge·attempt + setting +
    judge·attempt·setting + rest, all random, normal and independent; a component that the data
    cannot tell from another is part of it: with replicates the rest is what replies to the same
    prompt differ in, without them it holds what a judge makes of a single attempt. Variances
    maximise the restricted likelihood (Patterson & Thompson 1971, Biometrika 58:545), and so equal
    the analysis of variance (Henderson 1953, Biometrics 9:226) on balanced data without negative
    components. Average-information steps (Gilmour, Thompson & Cullis 1995, Biometrics 51:1440):
    tasks are blocks, judges and settings are absorbed as in Henderson's mixed model equations.

    Undefined without a score, with fewer than four tasks, and where all scores are equal.
    """
    column = as_column(scores)
    labels = {"task": tasks, "attempt": attempts, "judge": judges, "setting": settings}
    for name, some in labels.items():
        check_length_of(some, column.size, name)
    there = np.flatnonzero(~np.isnan(column))
    y = column[there]
    if not y.size:
        return Components(None, 0, undefined=NO_SCORES)
    code = {name: encode([some[i] for i in there.tolist()])[1] for name, some in labels.items()}
    of = {
        TASK: code["task"],
        ATTEMPT: _crossed(code["task"], code["attempt"]),
        JUDGE: code["judge"],
        TASK_JUDGE: _crossed(code["task"], code["judge"]),
        PLAN_JUDGE: _crossed(code["task"], code["attempt"], code["judge"]),
        SETTING: code["setting"],
        SITTING: _crossed(code["task"], code["attempt"], code["judge"], code["setting"]),
    }
    size = {name: int(codes.max()) + 1 for name, codes in of.items()}
    attempts_each = size[ATTEMPT] / size[TASK]
    levels = {
        "task": size[TASK], "judge": size[JUDGE], "setting": size[SETTING],
        "attempt": max(1, round(attempts_each)), "replicate": 1,
    }  # fmt: skip
    mean = float(y.mean())
    why = ""
    if size[TASK] < FEWEST_TASKS:
        why = FEW_TASKS.format(n=size[TASK], least=FEWEST_TASKS)
    elif np.ptp(y) <= 1e-12:
        why = CONSTANT
    if why:
        return Components(mean, y.size, levels=levels, undefined=why)
    named = _identified(of, y.size)
    scale = float(y.std())
    fitted = _fit((y - mean) / scale, code["task"], {name: of[name] for name in named})
    if fitted is None:
        return Components(mean, y.size, levels=levels, undefined=UNSETTLED)
    variances = {name: value * scale**2 for name, value in fitted.items()}
    if TASK not in variances:  # one score of each task: what is left is the tasks’
        variances = {TASK: variances.pop(REST), **variances}
    of[REST] = np.arange(y.size)
    parts = tuple(
        Component(name, variance, int(of[name].max()) + 1, _effective(of[name]), free)
        for name, variance, free in zip(
            variances, variances.values(), _freedoms([*variances], size, y.size), strict=True
        )
    )
    zero = tuple(part.name for part in parts if not part.variance)
    return Components(mean, y.size, parts, zero, levels)


def _crossed(*codes: Codes) -> Codes:
    """Return one code for each combination that occurs."""
    _, inverse = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
    return inverse.reshape(-1).astype(np.int64)


def _identified(of: Mapping[str, Codes], n: int) -> list[str]:
    """Return the components that data can tell from each other and from the rest."""
    kept: list[str] = []
    for name, codes in of.items():
        levels = int(codes.max()) + 1
        same = any(
            int(of[other].max()) + 1 == levels == int(_crossed(codes, of[other]).max()) + 1
            for other in kept
        )
        if 1 < levels < n and not same:
            kept.append(name)
    return kept


def _effective(codes: Codes) -> float:
    share = np.bincount(codes) / codes.size
    return 1 / float(share @ share)


def _freedoms(names: Sequence[str], size: Mapping[str, int], n: int) -> list[float]:
    """Return degrees of freedom, as in an analysis of variance."""
    free = {
        TASK: size[TASK] - 1,
        ATTEMPT: size[ATTEMPT] - size[TASK],
        JUDGE: size[JUDGE] - 1,
        TASK_JUDGE: (size[TASK] - 1) * (size[JUDGE] - 1),
        PLAN_JUDGE: (size[ATTEMPT] - 1) * (size[JUDGE] - 1),
        SETTING: size[SETTING] - 1,
        SITTING: (size[ATTEMPT] - 1) * size[JUDGE] * (size[SETTING] - 1),
    }
    rest = n - 1 - sum(free[name] for name in names if name != REST)
    return [float(max(1, free.get(name, rest))) for name in names]


class _Blocks(NamedTuple):
    """The scores by task, and what tasks of one pattern have in common.

    ``y`` is tasks × rows, padded with 0; ``pattern`` numbers each task's. By pattern: ``shared``
    (components within tasks × patterns × rows × rows) says which rows have a level in common,
    ``design`` (patterns × rows × 1 + crossed levels) has the mean and the crossed levels, ``pad``
    is 1 on the diagonal of rows that no task has, and ``times`` counts tasks.
    """

    y: Floats
    pattern: Codes
    shared: Floats
    design: Floats
    pad: Floats
    times: Floats


def _fit(y: Floats, task: Codes, of: Mapping[str, Codes]) -> dict[str, float] | None:
    """Return the variances by component, `REST` last; None where the fit does not settle."""
    crossed = [name for name in of if name in (JUDGE, SETTING)]
    within = [name for name in of if name not in crossed]
    blocks = _blocks(y, task, of, within, crossed)
    sizes = [int(of[name].max()) + 1 for name in crossed]
    owner = np.repeat(np.arange(len(crossed), dtype=np.int64), sizes)
    names = [*within, REST, *crossed]
    inside = len(within) + 1
    # Of nothing left beside the others the likelihood has no end.
    least = np.where(np.array(names) == REST, NOTHING, 0.0)
    starts = [np.where(least > 0, rest, 1 / len(names)) for rest in STARTS]
    points = [_evaluate(start, blocks, inside, owner) for start in starts]
    best = min(range(len(starts)), key=lambda place: points[place].deviance)
    theta, now = starts[best], points[best]
    for _ in range(ROUNDS):
        free = ~((theta <= least) & (now.gradient >= 0))
        step = np.zeros(theta.size)
        step[free] = -np.linalg.lstsq(
            now.information[np.ix_(free, free)], now.gradient[free], rcond=1e-12
        )[0]
        if -float(step @ now.gradient) < CLOSE:
            break
        for part in 0.5 ** np.arange(30):
            there = np.clip(theta + part * step, least, MOST)
            after = _evaluate(there, blocks, inside, owner)
            if after.deviance <= now.deviance + 1e-12:
                break
        else:
            return None
        if np.abs(there - theta).max() < 1e-9:
            break
        theta, now = there, after
    else:
        return None
    theta = np.where(theta <= 1.01 * least, 0.0, theta)
    return dict(sorted(zip(names, theta.tolist(), strict=True), key=_place))


def _place(pair: tuple[str, float]) -> int:
    return list(FACETS).index(pair[0])


def _blocks(
    y: Floats,
    task: Codes,
    of: Mapping[str, Codes],
    within: Sequence[str],
    crossed: Sequence[str],
) -> _Blocks:
    """Sort scores by task, and tasks by pattern, in one order of rows for all."""
    order = np.lexsort((*(of[name] for name in within), *(of[name] for name in crossed), task))
    starts = np.flatnonzero(np.r_[True, np.diff(task[order]) > 0])
    ends = np.r_[starts[1:], task.size]
    most = int((ends - starts).max())
    offsets = np.r_[0, np.cumsum([int(of[name].max()) + 1 for name in crossed])].astype(np.int64)
    table = np.zeros((starts.size, most))
    known: dict[bytes, int] = {}
    pattern: list[int] = []
    shapes: list[tuple[int, list[Codes], list[Codes]]] = []
    for place, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        rows = order[start:end]
        table[place, : rows.size] = y[rows]
        local = [encode(of[name][rows].tolist())[1] for name in within]
        outer = [of[name][rows] for name in crossed]
        key = np.array([*local, *outer], dtype=np.int64).tobytes() + bytes(str(rows.size), "ascii")
        if key not in known:
            known[key] = len(known)
            shapes.append((rows.size, local, outer))
        pattern.append(known[key])
    size = len(shapes)
    shared = np.zeros((len(within) + 1, size, most, most))
    design = np.zeros((size, most, 1 + int(offsets[-1])))
    pad = np.zeros((size, most, most))
    for place, (length, local, outer) in enumerate(shapes):
        for component, codes in enumerate(local):
            shared[component, place, :length, :length] = codes[:, None] == codes
        shared[-1, place, :length, :length] = np.eye(length)
        pad[place, length:, length:] = np.eye(most - length)
        design[place, :length, 0] = 1
        for offset, codes in zip(offsets.tolist(), outer, strict=False):
            design[place, np.arange(length), 1 + offset + codes] = 1
    numbers = np.array(pattern, dtype=np.int64)
    return _Blocks(table, numbers, shared, design, pad, np.bincount(numbers).astype(np.float64))


class _Point(NamedTuple):
    """The restricted deviance at some variances, its gradient and average information."""

    deviance: float
    gradient: Floats
    information: Floats


def _evaluate(theta: Floats, blocks: _Blocks, inside: int, owner: Codes) -> _Point:
    """Compute deviance, gradient, information; ``owner`` has each crossed level's component."""
    y, pattern, count = blocks.y, blocks.pattern, blocks.times
    covariance = np.tensordot(theta[:inside], blocks.shared, axes=1) + blocks.pad
    inverse = np.linalg.inv(covariance)
    root = np.r_[1.0, np.sqrt(theta[inside:])[owner]]
    weighted = inverse @ blocks.design
    gram = np.einsum("p,pnq,pnr->qr", count, blocks.design, weighted)
    whole = gram * root[:, None] * root
    whole[np.arange(1, root.size), np.arange(1, root.size)] += 1
    left = np.linalg.inv(whole)
    middle = left * root[:, None] * root

    def project(values: Floats) -> Floats:
        """Return P times values by task."""
        solved = np.einsum("tnm,tm->tn", inverse[pattern], values)
        total = np.einsum("tnq,tn->q", blocks.design[pattern], solved)
        absorbed = np.einsum("tnq,q->tn", weighted[pattern], middle @ total)
        return as_floats(solved - absorbed)

    u = project(y)
    deviance = (
        float(count @ np.linalg.slogdet(covariance)[1])
        + float(np.linalg.slogdet(whole)[1])
        + float((y * u).sum())
    )
    inner = weighted @ middle @ np.swapaxes(weighted, 1, 2)
    moved = np.einsum("ktnm,tm->ktn", blocks.shared[:, pattern], u)
    traces = np.einsum("p,kpnm,pnm->k", count, blocks.shared, inverse - inner)
    gradient = traces - np.einsum("ktn,tn->k", moved, u)
    directions = [*moved]
    across = np.einsum("tnq,tn->q", blocks.design[pattern], u)
    own = np.diag(gram - gram @ middle @ gram)
    for place in range(theta.size - inside):
        mine = 1 + np.flatnonzero(owner == place)
        gradient = np.append(gradient, own[mine].sum() - float(across[mine] @ across[mine]))
        directions.append(np.einsum("tnq,q->tn", blocks.design[pattern][:, :, mine], across[mine]))
    projected = [project(direction) for direction in directions]
    information = np.array([[float((a * b).sum()) for b in projected] for a in directions])
    return _Point(deviance, gradient, information)
