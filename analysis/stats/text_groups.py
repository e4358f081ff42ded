"""Texts put together by kind, and within a kind by their words: TF-IDF and spherical k-means.

For reading, not for inference: groups are a way to look at many failures at once, and another seed
or another number of groups gives others.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.columns import Codes, Floats, check_length_of

METHOD = "TF-IDF, spherical k-means"
LEAST = 10
TOO_FEW = f"fewer than {LEAST} texts with shared words"
NOT_CLEAR = "no division by words is clearer than one of random words"
MOST_GROUPS = 12
# A group of its own for fewer texts than this says little.
PER_GROUP = 5
MOST_WORDS = 5000
COMMON = 0.6
RESTARTS = 4
ROUNDS = 50
# What chance alone comes to: 12 sets each of 20, 60 and 200 texts of 8 or 30 words, drawn from 40
# or 200, had silhouettes up to 0.28 (20 texts), 0.20 (60) and 0.19 (200). Kinds whose texts take
# 70 % of their words from a list of their own came to 0.19 and up, with 30 % to 0.07 to 0.29:
# silence is no proof, and real kinds may be called overlapping.
LOOSE, LOOSE_FEW, MANY = 0.2, 0.3, 60
OVERLAPPING = (
    "the groups overlap (mean silhouette {value:.2f}): read them as a way to browse, not as kinds"
)
WORD = re.compile(r"[^\W\d_]{3,}")
STOP_WORDS = frozenset({
    "about", "above", "after", "again", "against", "all", "also", "and", "any", "are", "because",
    "been", "before", "being", "below", "between", "both", "but", "can", "could", "did", "does",
    "doing", "down", "during", "each", "few", "for", "from", "further", "had", "has", "have",
    "having", "her", "here", "hers", "him", "his", "how", "into", "its", "itself", "just", "more",
    "most", "nor", "not", "now", "off", "once", "only", "other", "our", "out", "over", "own",
    "same", "she", "should", "some", "such", "than", "that", "the", "their", "them", "then",
    "there", "these", "they", "this", "those", "through", "too", "under", "until", "upon", "very",
    "was", "were", "what", "when", "where", "which", "while", "who", "whom", "why", "will", "with",
    "would", "you", "your",
})  # fmt: skip


@dataclass(frozen=True)
class TypicalText:
    """A text near the middle of its group; ``similarity`` is the cosine with it, 0 to 1."""

    key: Hashable
    similarity: float


@dataclass(frozen=True)
class TextGroup:
    """One group of texts of one kind.

    Attributes
    ----------
    number
        From 1: kinds with most texts first, within a kind the largest group.
    words
        Words that set the group apart, the strongest first: from all texts of its kind, or from
        those of other kinds where it holds its whole kind.
    typical
        Texts nearest to its middle, equal texts once.
    cohesion
        Mean cosine of its texts with its middle, 0 to 1; None without shared words.
    counts
        Texts by owner, owners without any among them.
    """

    number: int
    kind: str
    size: int
    words: tuple[str, ...]
    typical: tuple[TypicalText, ...]
    cohesion: float | None
    counts: Mapping[str, int]


@dataclass(frozen=True)
class TextGroups:
    """All groups, and each text's group (None: its kind is divided by words and it shares none).

    ``silhouettes`` say of each kind that words divide, from −1 to 1, how well its texts fit their
    group and no other; ``undivided`` gives the reasons why words do not divide the other kinds.
    """

    groups: tuple[TextGroup, ...]
    labels: tuple[int | None, ...]
    ungrouped: int
    words: int
    silhouettes: Mapping[str, float]
    undivided: Mapping[str, str]
    seed: int
    method: str
    warnings: tuple[str, ...]


def group_texts(
    keys: Sequence[Hashable],
    texts: Sequence[str],
    owners: Sequence[str],
    kinds: Sequence[str],
    *,
    groups: int | None = None,
    most_typical: int = 3,
    most_words: int = 8,
    seed: int,
) -> TextGroups:
    """Group texts by kind, and the texts of a kind by the words that they share.

    Parameters
    ----------
    keys, texts, owners, kinds
        Of each text: what to call it (a turn), the text, whose it is (a model), and its kind.
    groups
        How many groups words make of a kind; without it the number from 2 to 12 with the highest
        silhouette, at most one for every 5 texts, if that silhouette is above chance.
    most_typical, most_words
        How many texts and words to give for each group.
    seed
        Of the starts.

    Raises
    ------
    ValueError
        If lengths differ, or ``groups`` is under 1.

    Notes
    -----
    Words: letters in a row, three or more, lower case, without function words of English; those of
    two texts or more and of at most 60 % of them (or 10 texts, if that is more), at most 5,000.
    A text's weight of a word is (1 + ln tf)·(ln((1 + n)/(1 + df)) + 1), each text of length 1
    (Salton & Buckley 1988, Inf. Process. Manag. 24:513). Spherical k-means (Dhillon & Modha 2001,
    Mach. Learn. 42:143) started as k-means++ (Arthur & Vassilvitskii 2007, SODA), the best of 4.
    Silhouette with middles in place of all pairs: (b − a)/max(a, b), a one minus the cosine with
    the middle of the other texts of its group, b with the nearest other middle, 0 for a text alone
    (after Rousseeuw 1987, J. Comput. Appl. Math. 20:53). Up to 0.2, under 60 texts up to 0.3, it
    is no higher than that of texts of random words: then a kind stays whole, or a warning says so
    where the number was given. Kinds with under 10 texts with shared words stay whole. The same
    texts in the same order with the same seed give the same groups.
    """
    for name, values in (("texts", texts), ("owners", owners), ("kinds", kinds)):
        check_length_of(values, len(keys), name)
    if groups is not None and groups < 1:
        raise ValueError(f"{groups} groups: at least 1 is needed")
    matrix, words = _tf_idf(texts)
    worded = np.diff(matrix.indptr) > 0 if words else np.zeros(len(texts), dtype=bool)
    totals = Counter(owners)
    ordered: list[TextGroup] = []
    labels: list[int | None] = [None] * len(texts)
    silhouettes: dict[str, float] = {}
    undivided: dict[str, str] = {}
    for kind, rows in _rows_by_kind(kinds):
        there = rows[worded[rows]]
        code, silhouette, why = _divide(matrix[there], groups, seed)
        if code is None:
            undivided[kind] = why
            members, others = [rows], matrix[np.flatnonzero(worded)]
        else:
            silhouettes[kind] = silhouette
            order = np.argsort(-np.bincount(code), kind="stable").tolist()
            members, others = [there[code == group] for group in order], matrix[there]
        for mine in members:
            number = len(ordered) + 1
            for row in mine.tolist():
                labels[row] = number
            used = mine[worded[mine]]
            middle = _mean(matrix[used])
            cosines = matrix[used] @ (middle / max(float(np.linalg.norm(middle)), 1e-300))
            counts = Counter(owners[i] for i in mine.tolist())
            ordered.append(
                TextGroup(
                    number=number,
                    kind=kind,
                    size=int(mine.size),
                    words=_strongest(middle - _mean(others), middle, words, most_words),
                    typical=_typical(used, cosines, keys, texts, most_typical),
                    cohesion=float(cosines.mean()) if used.size else None,
                    counts={owner: counts[owner] for owner in totals},
                )
            )
    loose = [
        silhouettes[kind]
        for kind, rows in _rows_by_kind(kinds)
        if kind in silhouettes and silhouettes[kind] <= _chance(int(worded[rows].sum()))
    ]
    return TextGroups(
        tuple(ordered),
        tuple(labels),
        labels.count(None),
        len(words),
        silhouettes,
        undivided,
        seed,
        METHOD,
        (OVERLAPPING.format(value=min(loose)),) if loose else (),
    )


def _rows_by_kind(kinds: Sequence[str]) -> list[tuple[str, Codes]]:
    """Return the rows of each kind, kinds with most rows first."""
    rows: dict[str, list[int]] = {}
    for row, kind in enumerate(kinds):
        rows.setdefault(kind, []).append(row)
    order = sorted(rows, key=lambda kind: (-len(rows[kind]), kind))
    return [(kind, np.array(rows[kind])) for kind in order]


def _chance(count: int) -> float:
    """Return the silhouette that so many texts of random words may reach."""
    return LOOSE if count >= MANY else LOOSE_FEW


def _divide(matrix: Any, groups: int | None, seed: int) -> tuple[Codes | None, float, str]:
    """Return the group of each text and the silhouette, or None and why words divide nothing."""
    count = matrix.shape[0]
    if count < LEAST:
        return None, 0, TOO_FEW
    code, _, silhouette = _best(matrix, groups, seed)
    if silhouette is None or (groups is None and silhouette <= _chance(count)):
        return None, 0, NOT_CLEAR
    return code, silhouette, ""


def _mean(rows: Any) -> Floats:
    """Return the middle of texts, 0 without any."""
    if not rows.shape[0]:
        return np.zeros(rows.shape[1])
    middle: Floats = np.asarray(rows.mean(axis=0)).ravel()
    return middle


def words_of(text: str) -> Iterator[str]:
    """Yield the words of a text that groups are made by, lower case, as often as they occur."""
    for match in WORD.finditer(text.lower()):
        if match.group() not in STOP_WORDS:
            yield match.group()


def _tf_idf(texts: Sequence[str]) -> tuple[Any, tuple[str, ...]]:
    """Return a matrix of texts by words, with rows of length 1 (or 0), and the words."""
    from scipy.sparse import csr_array  # slow to import, and not every page needs it

    counts = [Counter(words_of(text)) for text in texts]
    spread = Counter(word for count in counts for word in count)
    # In a handful of texts, a word in most of them may still tell them apart.
    limit = max(COMMON * len(texts), LEAST)
    known = sorted(
        (word for word, n in spread.items() if 2 <= n <= limit), key=lambda w: (-spread[w], w)
    )
    words = tuple(sorted(known[:MOST_WORDS]))
    if not words:
        return csr_array((len(texts), 0)), ()
    place = {word: i for i, word in enumerate(words)}
    idf = {word: np.log((1 + len(texts)) / (1 + spread[word])) + 1 for word in words}
    data: list[float] = []
    columns: list[int] = []
    ends = [0]
    for count in counts:
        row = {place[w]: (1 + np.log(n)) * idf[w] for w, n in count.items() if w in place}
        length = float(np.sqrt(sum(weight**2 for weight in row.values())))
        columns += row
        data += [weight / length for weight in row.values()]
        ends.append(len(columns))
    return csr_array((data, columns, ends), shape=(len(texts), len(words))), words


def _best(matrix: Any, groups: int | None, seed: int) -> tuple[Codes, Floats, float | None]:
    """Return codes, middles and silhouette, with the number of groups given or chosen."""
    if groups is not None:
        return _k_means(matrix, min(groups, matrix.shape[0]), seed)
    most = max(2, min(MOST_GROUPS, matrix.shape[0] // PER_GROUP))
    tried = [_k_means(matrix, k, seed) for k in range(2, most + 1)]
    return max(tried, key=lambda attempt: -1.0 if attempt[2] is None else attempt[2])


def _k_means(matrix: Any, k: int, seed: int) -> tuple[Codes, Floats, float | None]:
    rng = np.random.default_rng(seed)
    best: tuple[float, Codes, Floats] | None = None
    for _ in range(RESTARTS):
        attempt = _lloyd(matrix, _start(matrix, k, rng))
        if best is None or attempt[0] > best[0] + 1e-12:
            best = attempt
    if best is None:
        raise AssertionError("there is always a start")
    _, code, centres = best
    # Fewer different texts than groups leave some of them empty.
    there = np.unique(code)
    code, centres = np.searchsorted(there, code), centres[there]
    if len(there) == 1:
        return code, centres, None
    return code, centres, _silhouette(matrix, code, centres)


def _silhouette(matrix: Any, code: Codes, centres: Floats) -> float:
    """Compare each text with the middle of the *others* of its group, and with other middles."""
    row = np.arange(code.size)
    near = matrix @ centres.T
    # A middle is the sum S of its texts, made of length 1, so that S has the length Σ x·middle.
    length = np.bincount(code, weights=near[row, code])[code]
    with_sum = near[row, code] * length
    rest = np.sqrt(np.maximum(length**2 - 2 * with_sum + 1, 0))
    own = 1 - np.divide(with_sum - 1, rest, out=np.zeros(code.size), where=rest > 1e-9)
    near[row, code] = -np.inf
    other = 1 - near.max(axis=1)
    fit = (other - own) / np.maximum(np.maximum(own, other), 1e-12)
    alone = np.bincount(code)[code] == 1
    return float(np.where(alone, 0.0, fit).mean())


def _start(matrix: Any, k: int, rng: np.random.Generator) -> Floats:
    """Choose texts as first centres, each drawn by how far it is from those drawn before."""
    chosen = [int(rng.integers(matrix.shape[0]))]
    nearest = np.full(matrix.shape[0], -1.0)
    for _ in range(k - 1):
        last = matrix[[chosen[-1]]].toarray().ravel()
        nearest = np.maximum(nearest, matrix @ last)
        away = np.maximum(0, 1 - nearest)
        total = float(away.sum())
        if total <= 1e-9:
            break
        chosen.append(int(rng.choice(matrix.shape[0], p=away / total)))
    centres: Floats = matrix[chosen].toarray()
    return centres


def _lloyd(matrix: Any, centres: Floats) -> tuple[float, Codes, Floats]:
    from scipy.sparse import csr_array

    n = matrix.shape[0]
    code = np.full(n, -1)
    for _ in range(ROUNDS):
        near = matrix @ centres.T
        now = near.argmax(axis=1)
        if (now == code).all():
            break
        code = now
        members = csr_array((np.ones(n), (code, np.arange(n))), shape=(len(centres), n))
        sums = (members @ matrix).toarray()
        length = np.linalg.norm(sums, axis=1, keepdims=True)
        # A middle that lost all its texts stays where it was.
        centres = np.where(length > 0, sums / np.maximum(length, 1e-300), centres)
    return float((matrix @ centres.T).max(axis=1).sum()), code, centres


def _strongest(apart: Floats, middle: Floats, words: tuple[str, ...], most: int) -> tuple[str, ...]:
    order = np.lexsort((-middle, -apart))
    return tuple(words[i] for i in order[:most].tolist() if middle[i] > 0)


def _typical(
    rows: Codes, cosines: Floats, keys: Sequence[Hashable], texts: Sequence[str], most: int
) -> tuple[TypicalText, ...]:
    typical: list[TypicalText] = []
    seen: set[str] = set()
    for place in np.argsort(-cosines, kind="stable").tolist():
        row = int(rows[place])
        if len(typical) == most:
            break
        if texts[row] not in seen:
            seen.add(texts[row])
            typical.append(TypicalText(keys[row], min(1.0, float(cosines[place]))))
    return tuple(typical)
