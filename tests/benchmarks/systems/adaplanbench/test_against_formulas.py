"""The protocol against ``naive.py`` over random violations, scores and settings."""

from fractions import Fraction

from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st

from tests.benchmarks.systems.adaplanbench import naive
from tests.benchmarks.systems.adaplanbench.stage import KEYS, MAIN, Act, perform

WORLD, USER = ("w1", "w2", "w3"), ("u1", "u2", "u3")

subsets = st.fixed_dictionaries(
    {
        "w": st.frozensets(st.sampled_from(WORLD), max_size=3),
        "u": st.frozensets(st.sampled_from(USER), max_size=3),
    }
)
# Turns that violate little, so that long dialogues and repeated violations are common.
sparse = st.fixed_dictionaries(
    {
        "w": st.frozensets(st.sampled_from(WORLD), max_size=1),
        "u": st.frozensets(st.sampled_from(USER), min_size=1, max_size=2),
    }
)
scores = st.sampled_from([5, 5, 5, 4, 3, 1, None])
sheets = st.lists(st.fixed_dictionaries(dict.fromkeys(KEYS, scores)), min_size=2, max_size=2)
good = st.just([dict.fromkeys(KEYS, 5)] * 2)
turns = st.lists(st.tuples(subsets | sparse, sheets | good), min_size=20, max_size=20)
conditions = st.fixed_dictionaries(
    {
        "patience": st.integers(1, 4),
        "novelty": st.sampled_from(["disclosed", "violated"]),
        "max_turns": st.integers(1, 12),
        "refinement": st.sampled_from([0, 0, 1, 2, 6]),
        "tau": st.sampled_from([2.0, 3.5, 4.0, 5.0]),
        "quorum": st.sampled_from(["all", "any"]),
        "dimensions": st.sampled_from(["all", "main"]),
        "constraints": st.sampled_from(["both", "both", "world_only", "user_only"]),
    }
)


def allowed(vs, constraints):
    """Violations under the dual ablation: a kind that does not exist is violated by nothing."""
    off = {"world_only": "u", "user_only": "w"}.get(constraints)
    return [{c: frozenset() if c == off else v[c] for c in naive.KINDS} for v in vs]


@budget(max_examples=100)
@given(turns, conditions)
def test_every_turn_and_metric_is_what_the_formulas_say(drawn, condition):
    vs = allowed([v for v, _ in drawn], condition["constraints"])
    counted = KEYS if condition["dimensions"] == "all" else MAIN
    tau = Fraction(condition["tau"])
    passed = [naive.passes(s, counted, tau, condition["quorum"]) for _, s in drawn]
    termination, last = naive.ending(
        vs,
        passed,
        condition["patience"],
        condition["novelty"],
        condition["max_turns"],
        condition["refinement"],
    )

    acts = [
        Act(sorted(v["w"]), sorted(v["u"]), given) for v, (_, given) in zip(vs, drawn, strict=True)
    ]
    show = perform(acts, rubric_judges=2, **condition)

    assert (show.termination, len(show.turns)) == (termination, last)
    for t, turn in enumerate(show.turns, 1):
        new, again = naive.newly(vs, t), naive.repeated(vs, t)
        told = naive.revealed(vs[t - 1])
        assert [(x.key, x.kind, x.revealed, x.new, x.repeated) for x in turn.violations] == [
            (key, kind, key in told[c], key in new[c], key in again[c])
            for c, kind in (("w", "world"), ("u", "user"))
            for key in sorted(vs[t - 1][c])
        ]
        assert turn.payload["valid"] is naive.valid(vs[t - 1])
        assert turn.payload["passed"][condition["dimensions"]] is passed[t - 1]
    expected = naive.metrics(vs, last, passed[last - 1])
    assert {name: show.metrics[name] for name in expected} == expected
    assert ("accurate" in show.outcome.undefined) == (expected["accurate"] is None)


@budget(max_examples=60)
@given(st.lists(subsets | sparse, min_size=20, max_size=20), st.integers(1, 4))
def test_both_readings_of_novelty_are_recorded_whichever_one_counts(vs, patience):
    """Set against each other: the disclosed reading never stops later than the other one."""
    ends = {
        novelty: naive.ending(vs, [True] * 20, patience, novelty, 20, 0)
        for novelty in ("disclosed", "violated")
    }
    acts = [Act(sorted(v["w"]), sorted(v["u"])) for v in vs]
    shows = {n: perform(acts, novelty=n, patience=patience, max_turns=20) for n in ends}

    assert {n: (s.termination, len(s.turns)) for n, s in shows.items()} == ends
    assert ends["disclosed"][1] <= ends["violated"][1]
    differ = float(ends["disclosed"] != ends["violated"])
    assert {s.metrics["readings_differ"] for s in shows.values()} == {differ}


@budget(max_examples=60)
@given(turns)
def test_what_the_agent_was_told_is_what_was_disclosed(drawn):
    vs = [v for v, _ in drawn]
    acts = [Act(sorted(v["w"]), sorted(v["u"]), 5) for v in vs]
    show = perform(acts, max_turns=20, tracking=True)

    for t, ask in enumerate(show.asks("agent"), 1):
        before = naive.disclosed(vs, t)
        told = {c["key"] for turn in ask.context["told"] for c in turn}
        assert told == before["w"] | before["u"]
        newest = ask.messages[-1].text
        for key in (*WORLD, *USER):
            assert (f"- There is no {key}." in newest or f"- I dislike {key}." in newest) == (
                key in told
            )
