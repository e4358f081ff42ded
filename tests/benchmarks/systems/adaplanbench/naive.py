"""The protocol once more, written from the formulas alone and as plainly as possible.

V, F, D, N and R are computed for each turn from the whole sequence of violations before it, nothing
is carried along. ``tests`` hold the product's protocol against this.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

Sets = Mapping[str, frozenset[str]]  # by kind: "w" and "u"
KINDS = ("w", "u")


def revealed(v: Sets) -> Sets:
    """F_t = (V^w, nothing) if V^w is not empty, else (nothing, V^u)."""
    if v["w"]:
        return {"w": v["w"], "u": frozenset()}
    return {"w": frozenset(), "u": v["u"]}


def disclosed(vs: Sequence[Sets], t: int) -> Sets:
    """D_t: the union of F_i over all i < t, where turns count from 1."""
    return {c: frozenset().union(*(revealed(v)[c] for v in vs[: t - 1])) for c in KINDS}


def newly(vs: Sequence[Sets], t: int) -> Sets:
    """N_t = F_t without D_t."""
    return {c: revealed(vs[t - 1])[c] - disclosed(vs, t)[c] for c in KINDS}


def repeated(vs: Sequence[Sets], t: int) -> Sets:
    """R_t = V_t and D_t."""
    return {c: vs[t - 1][c] & disclosed(vs, t)[c] for c in KINDS}


def valid(v: Sets) -> bool:
    return not v["w"] and not v["u"]


def stalls(vs: Sequence[Sets], t: int, novelty: str) -> bool:
    """Not valid, and nothing new: N_t empty, or under the other reading V_t without D_t empty."""
    if valid(vs[t - 1]):
        return False
    if novelty == "disclosed":
        return not any(newly(vs, t).values())
    return not any(vs[t - 1][c] - disclosed(vs, t)[c] for c in KINDS)


def stalled(vs: Sequence[Sets], t: int, novelty: str, patience: int) -> bool:
    """Return whether the last ``patience`` turns up to t all stall."""
    return t >= patience and all(stalls(vs, i, novelty) for i in range(t - patience + 1, t + 1))


def passes(sheets: Sequence[Mapping[str, int | None]], counted: Sequence[str], tau, quorum: str):
    """Pass_t: mean over judges at least tau on each counted dimension; None without a quorum."""
    means = []
    for key in counted:
        given = [sheet[key] for sheet in sheets if sheet[key] is not None]
        if not given or (quorum == "all" and len(given) < len(sheets)):
            return None
        means.append(Fraction(sum(given), len(given)))
    return all(mean >= Fraction(tau) for mean in means)


def ending(
    vs: Sequence[Sets],
    passed: Sequence[bool | None],
    patience: int,
    novelty: str,
    max_turns: int,
    refinement: int,
) -> tuple[str, int]:
    """Return how and at which turn the dialogue ends."""
    start = next(
        (t for t in range(1, len(vs) + 1) if valid(vs[t - 1]) and passed[t - 1] is False), None
    )
    for t in range(1, len(vs) + 1):
        refining = bool(refinement) and start is not None and t > start
        if refining:
            if valid(vs[t - 1]) and passed[t - 1] is not False:
                return "valid_plan", t
            if t - start == refinement:
                return "refinement_spent", t
            continue
        if valid(vs[t - 1]):
            if passed[t - 1] is False and refinement:
                continue
            return "valid_plan", t
        if stalled(vs, t, novelty, patience):
            return "early_stop", t
        if t == max_turns:
            return "max_turns", t
    raise AssertionError("the sequence is too short")


def metrics(vs: Sequence[Sets], last: int, passed_last: bool | None) -> dict[str, float | None]:
    """A trajectory's share in Acc, VPR, Avg turns, AWRV, AURV, ATWC and ATUC, with T = last."""
    turns = range(1, last + 1)
    sums = {c: sum(len(repeated(vs, t)[c]) for t in turns) for c in KINDS}
    seen = {c: frozenset().union(*(revealed(vs[t - 1])[c] for t in turns)) for c in KINDS}
    ends_valid = valid(vs[last - 1])
    return {
        "accurate": None if passed_last is None else float(ends_valid and passed_last),
        "valid": float(ends_valid),
        "turns": last,
        "world_repeated": sums["w"],
        "user_repeated": sums["u"],
        "world_triggered": len(seen["w"]) / last,
        "user_triggered": len(seen["u"]) / last,
    }
