"""The construction's protocol, with replies made up by the tests."""

import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st

from benchmarks.core.candidates import KEPT, REMOVED, candidate_key
from benchmarks.core.types import Ask
from benchmarks.systems.adaplanbench_construction.pools import normal_form
from benchmarks.systems.adaplanbench_construction.system import SYSTEM
from tests.benchmarks.systems.adaplanbench_construction.stage import QUERY, TASK, Cast, perform

SEATS, KINDS = ("1", "2", "3"), ("world", "user")


def test_asks_that_do_not_depend_on_each_other_are_put_together():
    says = {(1, seat, kind): ["rope"] for seat in SEATS for kind in KINDS}
    show = perform(Cast(says), rounds=1)
    planners = ["agent", "agent", "planner", "planner", "planner", "planner"]
    assert show.roles == [
        ["rewriter"], ["filter"], planners, ["extractor"] * 6, ["merger"] * 6, ["checker"] * 2,
    ]  # fmt: skip
    assert [ask.seat for ask in show.batches[2]] == ["", "", "2", "2", "3", "3"]
    assert [turn.index for turn in show.turns] == [1]
    assert show.outcome.termination == "constructed"


def test_a_request_that_is_unfit_is_left_out_and_nobody_plans():
    show = perform(Cast(failed=["open", "concrete"]))
    assert show.roles == [["rewriter"], ["filter"]]
    assert show.outcome.termination == "filtered_out"
    assert show.outcome.payload["failed"] == ["open", "concrete"]
    assert show.outcome.payload["query"] == QUERY
    assert show.outcome.metrics["constructed"] == 0
    assert show.outcome.metrics["candidates"] is None


def test_planners_are_told_what_their_own_plans_brought_up_for_the_kind():
    says = {(1, "1", "world"): ["rope"], (1, "2", "world"): ["tape"], (1, "1", "user"): ["noise"]}
    show = perform(Cast(says, removes=frozenset({"rope"})), rounds=2)
    told = {
        (ask.seat or "1", ask.context["kind"]): [row["text"] for row in ask.context["told"]]
        for ask in show.batches[6]
    }
    assert told == {
        ("1", "world"): ["rope"], ("1", "user"): ["noise"],
        ("2", "world"): ["tape"], ("2", "user"): [], ("3", "world"): [], ("3", "user"): [],
    }  # fmt: skip
    for ask in (*show.asks("agent"), *show.asks("planner")):
        prose = "".join(message.text for message in ask.messages)
        assert "secret lever" not in prose + str(ask.context)
        assert ask.expect.params["sampling"]["temperature"] == 1.0


def test_what_a_merger_forgets_is_kept_and_noted():
    says = {(1, "1", "world"): ["rope", "tape"]}
    show = perform(Cast(says, forgets=frozenset({"tape"})), rounds=1)
    assert show.words(KEPT) == {("world", "rope"), ("world", "tape")}
    assert show.turns[0].payload["forgotten"] == {"world": ["tape"], "user": []}


def test_what_a_merger_joins_is_one_candidate_that_names_what_went_into_it():
    says = {(1, "1", "world"): ["cord", "rope"], (2, "1", "world"): ["string"]}
    joins = {"cord": "rope", "rope": "rope", "string": "rope"}
    show = perform(Cast(says, joins=joins), rounds=2)
    (row,) = show.candidates
    assert (row["text"], row["merged"], row["round"]) == ("rope", ["cord", "string"], 1)
    assert row["key"] == candidate_key("world", "rope")
    assert show.turns[1].payload["pools"]["world"]["1"] == ["rope"]


def test_equal_words_of_several_planners_are_one_candidate_of_all_of_them():
    says = {(1, "3", "world"): ["Rope"], (1, "1", "world"): ["rope."], (2, "2", "world"): ["ROPE"]}
    (row,) = perform(Cast(says), rounds=2).candidates
    assert (row["text"], row["planners"], row["round"]) == ("Rope", ["1", "2", "3"], 1)


def test_the_checker_decides_about_each_candidate_once():
    says = {(n, "1", "world"): ["rope", "tape", f"saw{n}"] for n in (1, 2, 3)}
    show = perform(Cast(says, removes=frozenset({"rope"})))
    asked = [[row["text"] for row in ask.context["proposed"]] for ask in show.asks("checker")]
    kept = [[row["text"] for row in ask.context["kept"]] for ask in show.asks("checker")]
    assert asked == [["rope", "saw1", "tape"], ["saw2"], ["saw3"]]
    assert kept == [[], ["saw1", "tape"], ["saw1", "tape", "saw2"]]
    assert show.words(REMOVED) == {("world", "rope")}
    assert [len(keys) for keys in show.outcome.payload["levels"].values()] == [2, 3, 4]
    assert show.outcome.metrics["removed"] == 0.2
    assert show.outcome.metrics["world_mid"] == 3
    assert show.outcome.metrics["world_round4"] is None


def test_where_nothing_is_proposed_nobody_merges_or_checks():
    show = perform(Cast(), rounds=2)
    assert not show.asks("merger") and not show.asks("checker")
    assert show.outcome.payload["levels"] == {"low": [], "mid": []}
    assert show.outcome.metrics["removed"] is None
    assert show.outcome.undefined["removed"]


@pytest.mark.parametrize("state", ["unreadable", "declined"])
@pytest.mark.parametrize("role", [role.name for role in SYSTEM.roles])
def test_whoever_gives_no_reply_ends_it_with_what_there_is(role: str, state: str):
    def lost(ask: Ask) -> str:
        return state if ask.role == role and ask.context.get("round", 2) == 2 else ""

    says = {(n, "1", "world"): [f"saw{n}"] for n in (1, 2)}
    show = perform(Cast(says, lost=lost))
    name = "planner" if role == "agent" else role
    assert show.outcome.termination == f"{name}_{state}"
    assert show.outcome.payload["reason"] == "gone: away"
    finished = 0 if role in ("rewriter", "filter") else 1
    assert len(show.turns) == len(show.outcome.payload["levels"]) == finished
    assert [row["text"] for row in show.candidates] == ["saw1"][:finished]
    assert set(show.outcome.metrics.values()) == {None}


def test_a_problem_without_a_solution_says_so():
    show = perform(Cast(), type(TASK)("t", "Riddle."), rounds=1)
    assert "none is known" in show.asks("extractor")[0].messages[0].text


words = st.sampled_from([f"{letter}{end}" for letter in "abcdABCD" for end in ("", ".", "!")])
said = st.lists(words, max_size=4)
places = [(n, seat, kind) for n in (1, 2, 3) for seat in SEATS for kind in KINDS]
letters = st.frozensets(st.sampled_from("abcd"))
casts = st.builds(
    Cast,
    st.fixed_dictionaries(dict.fromkeys(places, said)),
    letters,
    letters,
    st.dictionaries(st.sampled_from("abcd"), st.sampled_from("abcd"), max_size=2),
)


@budget(max_examples=25)
@given(casts, st.permutations(SEATS))
def test_whatever_planners_say(cast: Cast, order: list[str]):
    show = perform(cast)
    rows, levels = show.candidates, show.outcome.payload["levels"]
    kept = {row["key"] for row in rows if row["decision"] == KEPT}
    removed = {row["key"] for row in rows if row["decision"] == REMOVED}
    forms = [(row["kind"], normal_form(row["text"])) for row in rows]
    assert len(set(forms)) == len(forms) == len(kept) + len(removed)
    assert set(levels["low"]) <= set(levels["mid"]) <= set(levels["high"]) == kept
    assert all(len(set(keys)) == len(keys) for keys in levels.values())
    assert {row["key"] for turn in show.turns for row in turn.payload["candidates"]} == (
        kept | removed
    )
    # Nothing that was said is lost: it is a candidate, or went into one.
    whole = {(r["kind"], normal_form(t)) for r in rows for t in (r["text"], *r["merged"])}
    assert {(p[2], normal_form(w)) for p, ws in cast.says.items() for w in ws} <= whole

    swapped = dict(zip(SEATS, order, strict=True))
    moved = {(n, swapped[seat], kind): ws for (n, seat, kind), ws in cast.says.items()}
    again = perform(Cast(moved, cast.removes, cast.forgets, cast.joins))
    assert again.outcome.payload["levels"] == levels
    assert again.candidates == [
        {**row, "planners": sorted(swapped[seat] for seat in row["planners"])} for row in rows
    ]
