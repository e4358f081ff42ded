"""Bias of judges against people, by hand, and what is clear after correction."""

import numpy as np
import pytest

from analysis.stats.judges.bias import NOTHING, Compared, judge_biases

NAN = float("nan")


def test_by_hand_on_the_items_that_everybody_scored() -> None:
    compared = Compared(
        np.array([[3.0, 5.0], [2.0, 4.0], [1.0, NAN], [4.0, 4.0]]),
        np.array([4.0, 4.0, 5.0, NAN]),
        ["a", "b", "c", "d"],
    )
    nothing = Compared(np.array([[NAN, 4.0]]), np.array([3.0]), ["a"])
    found = judge_biases(["strict", "mild"], {"safety": compared, "x": nothing}, scale=(1, 5))
    by_pair = {(one.judge, one.dimension): one for one in found.pairs}
    # The third item lacks a judge, the fourth a person: (3 − 4 + 2 − 4)/2 and (5 − 4 + 0)/2.
    assert by_pair["strict", "safety"].bias.value == -1.5
    assert by_pair["mild", "safety"].bias.value == 0.5
    assert by_pair["mild", "safety"].bias.n == 2
    assert by_pair["strict", "x"].bias.undefined == NOTHING
    assert by_pair["strict", "x"].clear is None
    assert found.family == 2
    assert found.overall["strict"].bias.value == -1.5
    for one in found.pairs:
        if one.bias.interval is not None:
            assert one.bias.interval.low >= -4 and one.bias.interval.high <= 4


def test_what_is_clear_is_corrected_for_all_pairs() -> None:
    rng = np.random.default_rng(8)
    people = rng.integers(2, 5, 40).astype(float)
    # Off by 0.45 with a standard deviation of 1: clear alone, and not among forty pairs.
    noise = rng.normal(0, 1, 40)
    judge = people + 0.45 + (noise - noise.mean()) / noise.std()
    tasks = list(range(40))
    alone = judge_biases(["j"], {"d": Compared(judge[:, None], people, tasks)}, scale=(1, 5))
    assert alone.pairs[0].clear
    many = {f"d{k}": Compared(judge[:, None], people, tasks) for k in range(40)}
    together = judge_biases(["j"], many, scale=(1, 5))
    assert together.family == 40
    assert not any(one.clear for one in together.pairs)
    assert together.pairs[0].bias.interval == alone.pairs[0].bias.interval
    assert together.overall["j"].bias.value == pytest.approx(0.45)
