"""The differences that a design can estimate, and the effects that it confounds.

Pure functions of the design's own matrix: one row for each judgement, with its model, its query,
its list and the third of the list in which it stands. docs/making-studies.md states the formulas.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from annotation.designs.types import DesignOption

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL, QUERY, RATER, POSITION = "agent", "query", "rater", "position"
THIRDS = 3
# Beyond so many levels of all factors together a matrix takes seconds.
MOST_LEVELS = 800
# Models × blocks of a matrix that is held as a whole.
MOST_CELLS = 5_000_000
# An eigenvalue below this share of the largest is 0.
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Judgement:
    """A row of the design: the level of each factor."""

    model: str
    query: str
    rater: str
    position: int


Factor = Callable[[Judgement], object]


@dataclass(frozen=True, slots=True)
class ModelContrast:
    """The widest difference between two models' mean scores that a design expects.

    Attributes
    ----------
    standard_error
        In units of the standard deviation of scores that is left within what is compared.
    within
        Whose differences are taken out: raters and queries, or queries alone where nobody knows
        who will judge what.
    additive
        Whether two agents of one query may have two raters: then raters and queries are taken out
        one by one, else each rater's query as a whole.
    meetings
        The fewest queries (of one rater, unless ``additive``) that two agents share.
    """

    standard_error: float
    within: tuple[str, ...]
    additive: bool
    meetings: int


@dataclass(frozen=True, slots=True)
class Confounding:
    """``lost`` of the differences between the levels of ``factor`` cannot be told from those
    between the levels of ``other`` (of all other factors together, where that is empty).
    """

    factor: str
    other: str
    lost: int
    total: int


def judgements(
    orders: Mapping[str, Sequence[int]], options: Mapping[int, DesignOption]
) -> list[Judgement]:
    """Return the rows of a design that deals ``orders``: list → ids of options."""
    return [
        Judgement(options[pk].model, options[pk].task, name, place * THIRDS // len(order))
        for name, order in orders.items()
        for place, pk in enumerate(order)
    ]


def model_contrast(rows: Sequence[Judgement], *, pooled: bool = False) -> ModelContrast | None:
    """Return how well two models can be told apart; None for one model, or where some two cannot.

    With fixed effects of the blocks (rater × query), of raters and queries, or of queries, the
    variance of a difference is σ² (C⁺ₐₐ + C⁺ᵦᵦ − 2 C⁺ₐᵦ), where C is the models' information matrix
    (John and Williams 1995).
    """
    if len({row.model for row in rows}) < 2:
        return None
    if pooled:
        return _contrast(rows, [lambda row: row.query], (QUERY,))
    paired = _contrast(rows, [lambda row: (row.rater, row.query)], (RATER, QUERY))
    if paired is not None and paired.meetings:
        return paired
    additive = _contrast(rows, [lambda row: row.rater, lambda row: row.query], (RATER, QUERY))
    return additive or paired


def _contrast(
    rows: Sequence[Judgement], factors: Sequence[Factor], within: tuple[str, ...]
) -> ModelContrast | None:
    """Return the widest difference with the effects of ``factors`` taken out."""
    import numpy as np  # slow to import, and few pages need it

    models = _codes(row.model for row in rows)
    columns = [_codes(map(factor, rows)) for factor in factors]
    additive = len(factors) > 1
    met_in = columns[-1]  # blocks, or queries
    count, levels = 1 + max(models), sum(1 + max(column) for column in columns)
    if (additive and levels > MOST_LEVELS) or count * (1 + max(met_in)) > MOST_CELLS:
        return None
    information = np.diag(np.bincount(models).astype(float))
    if additive:
        crossed = np.hstack([_crossed(models, column) for column in columns])
        information -= (
            crossed @ np.linalg.pinv(_gram(columns), rcond=TOLERANCE, hermitian=True) @ crossed.T
        )
    else:
        blocks = _crossed(models, met_in)
        information -= (blocks / blocks.sum(axis=0)) @ blocks.T
    if _rank(information) < count - 1:
        return None
    inverse = np.linalg.pinv(information, rcond=TOLERANCE, hermitian=True)
    variances = np.diag(inverse)[:, None] + np.diag(inverse)[None, :] - 2 * inverse
    there = (_crossed(models, met_in) > 0).astype(float)
    pairs = np.triu_indices(count, 1)
    return ModelContrast(
        standard_error=float(np.sqrt(variances[pairs].max())),
        within=within,
        additive=additive,
        meetings=int((there @ there.T)[pairs].min()),
    )


def confounded_effects(rows: Sequence[Judgement]) -> list[Confounding] | None:
    """Return which factors a design confounds, those of models first; None where it is too large.

    Of two factors, as many differences are lost as their bipartite graph has components more than
    one. Models are compared with all others together, too, by the ranks of the matrices.
    """
    levels: dict[str, Factor] = {
        MODEL: lambda row: row.model,
        QUERY: lambda row: row.query,
        RATER: lambda row: row.rater,
        POSITION: lambda row: row.position,
    }
    columns = {name: _codes(map(level, rows)) for name, level in levels.items()}
    columns = {name: column for name, column in columns.items() if max(column) > 0}
    if sum(1 + max(column) for column in columns.values()) > MOST_LEVELS:
        return None
    effects = []
    for first, other in combinations(columns, 2):
        lost = _components(columns[first], columns[other]) - 1
        if lost:
            few, many = sorted((first, other), key=lambda name: max(columns[name]))
            effects.append(Confounding(few, many, lost, max(columns[few])))
    alone = any(MODEL in (pair.factor, pair.other) for pair in effects)
    if MODEL in columns and len(columns) > 1 and not alone:
        rest = [column for name, column in columns.items() if name != MODEL]
        known = _rank(_gram(list(columns.values()))) - _rank(_gram(rest))
        if lost := max(columns[MODEL]) - known:
            effects.insert(0, Confounding(MODEL, "", lost, max(columns[MODEL])))
    return effects


def _codes(values: Iterable[object]) -> list[int]:
    codes: dict[object, int] = {}
    return [codes.setdefault(value, len(codes)) for value in values]


def _components(first: Sequence[int], other: Sequence[int]) -> int:
    """Return the number of components of the graph whose edges are the pairs of two columns."""
    parent = list(range(2 + max(first) + max(other)))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for left, right in set(zip(first, other, strict=True)):
        parent[root(left)] = root(1 + max(first) + right)
    return sum(root(node) == node for node in range(len(parent)))


def _crossed(first: Sequence[int], other: Sequence[int]) -> "NDArray[np.float64]":
    """Return how often each level of one factor meets each level of another."""
    import numpy as np

    counts = np.zeros((1 + max(first), 1 + max(other)))
    np.add.at(counts, (np.asarray(first), np.asarray(other)), 1)
    return counts


def _gram(columns: Sequence[Sequence[int]]) -> "NDArray[np.float64]":
    """Return X'X of the indicators of some factors."""
    import numpy as np

    return np.block([[_crossed(first, other) for other in columns] for first in columns])


def _rank(matrix: Any) -> int:
    """Return the rank of a symmetric matrix with no negative eigenvalue."""
    import numpy as np

    values = np.linalg.eigvalsh(matrix)
    return int((values > TOLERANCE * max(values[-1], 1)).sum())
