"""Similar texts put together without a language model: TF-IDF and spherical k-means.

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
from analysis.stats.descriptive.proportions import share
from analysis.stats.results import Estimate

METHOD = "TF-IDF, spherical k-means"
NO_WORDS = "no word occurs in two texts: there is nothing to group by"
TOO_FEW = "fewer than {least} texts with shared words: too few to group"
LEAST = 10
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
    """One group of texts.

    Attributes
    ----------
    number
        From 1, the largest group first.
    words
        Words that set the group apart from all texts, the strongest first.
    typical
        Texts nearest to its middle, equal texts once.
    cohesion
        Mean cosine of its texts with its middle, 0 to 1.
    counts
        Texts by owner, owners without any among them.
    shares
        By owner: share of its texts, grouped or not, that lie in this group. Wilson intervals,
        which take texts as independent.
    """

    number: int
    size: int
    words: tuple[str, ...]
    typical: tuple[TypicalText, ...]
    cohesion: float
    counts: Mapping[str, int]
    shares: Mapping[str, Estimate]


@dataclass(frozen=True)
class TextGroups:
    """All groups, and each text's group (None: it shares no word with another text).

    ``silhouette`` says from −1 to 1 how well texts fit their group and no other; None with one
    group or none. ``undefined`` is the reason why there are no groups.
    """

    groups: tuple[TextGroup, ...]
    labels: tuple[int | None, ...]
    ungrouped: int
    words: int
    silhouette: float | None
    seed: int
    method: str
    warnings: tuple[str, ...]
    undefined: str = ""


def group_texts(
    keys: Sequence[Hashable],
    texts: Sequence[str],
    owners: Sequence[str],
    *,
    groups: int | None = None,
    most_typical: int = 3,
    most_words: int = 8,
    seed: int,
) -> TextGroups:
    """Group texts by the words that they share.

    Parameters
    ----------
    keys, texts, owners
        Of each text: what to call it (a turn), the text, and whose it is (a model).
    groups
        How many groups; without it the number from 2 to 12 with the highest silhouette, at most
        one for every 5 texts.
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
    (after Rousseeuw 1987, J. Comput. Appl. Math. 20:53; a warning up to 0.2, under 60 texts up
    to 0.3, which texts of random words stay below). Under 10 texts with shared words there are no
    groups. The same texts in the same order with the same seed give
    the same groups.
    """
    check_length_of(texts, len(keys), "texts")
    check_length_of(owners, len(keys), "owners")
    if groups is not None and groups < 1:
        raise ValueError(f"{groups} groups: at least 1 is needed")
    matrix, words = _tf_idf(texts)
    there = np.flatnonzero(np.diff(matrix.indptr)) if words else np.zeros(0, dtype=np.int64)
    why = "" if there.size >= LEAST else TOO_FEW.format(least=LEAST)
    if not words:
        why = NO_WORDS
    if why:
        labels = (None,) * len(texts)
        return TextGroups((), labels, len(texts), len(words), None, seed, METHOD, (), why)
    used = matrix[there]
    code, centres, silhouette = _best(used, groups, seed)
    totals = Counter(owners)
    found = []
    order = np.argsort(-np.bincount(code, minlength=len(centres)), kind="stable")
    overall = np.asarray(used.mean(axis=0)).ravel()
    labels_of: list[int | None] = [None] * len(texts)
    for number, group in enumerate(order.tolist(), start=1):
        mine = np.flatnonzero(code == group)
        for i in there[mine].tolist():
            labels_of[i] = number
        cosines = np.asarray(used[mine] @ centres[group]).ravel()
        middle = np.asarray(used[mine].mean(axis=0)).ravel()
        counts = Counter(owners[i] for i in there[mine].tolist())
        found.append(
            TextGroup(
                number=number,
                size=int(mine.size),
                words=_strongest(middle - overall, middle, words, most_words),
                typical=_typical(there[mine], cosines, keys, texts, most_typical),
                cohesion=float(cosines.mean()),
                counts={owner: counts[owner] for owner in totals},
                shares={owner: share(counts[owner], of) for owner, of in totals.items()},
            )
        )
    warnings: tuple[str, ...] = ()
    if silhouette is not None and silhouette <= (LOOSE if there.size >= MANY else LOOSE_FEW):
        warnings = (OVERLAPPING.format(value=silhouette),)
    return TextGroups(
        tuple(found),
        tuple(labels_of),
        len(texts) - int(there.size),
        len(words),
        silhouette,
        seed,
        METHOD,
        warnings,
    )


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
    return max(tried, key=lambda found: -1.0 if found[2] is None else found[2])


def _k_means(matrix: Any, k: int, seed: int) -> tuple[Codes, Floats, float | None]:
    rng = np.random.default_rng(seed)
    best: tuple[float, Codes, Floats] | None = None
    for _ in range(RESTARTS):
        found = _lloyd(matrix, _start(matrix, k, rng))
        if best is None or found[0] > best[0] + 1e-12:
            best = found
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
    found: list[TypicalText] = []
    seen: set[str] = set()
    for place in np.argsort(-cosines, kind="stable").tolist():
        row = int(rows[place])
        if len(found) == most:
            break
        if texts[row] not in seen:
            seen.add(texts[row])
            found.append(TypicalText(keys[row], min(1.0, float(cosines[place]))))
    return tuple(found)
