"""PDDL that is broken, large or unusual."""

import re

import pytest

from benchmarks.systems.acpbench_hard.pddl.expressions import PddlError
from benchmarks.systems.acpbench_hard.pddl.grounding import Declined, ground
from benchmarks.systems.acpbench_hard.pddl.instance import (
    parse_plan,
    read_instance,
    show_atom,
)
from benchmarks.systems.acpbench_hard.search.facts import shortest_plan
from tests.benchmarks.systems.acpbench_hard.domains import UNTYPED, port, untyped
from tests.benchmarks.systems.acpbench_hard.public import questions

DOMAIN = """(define (domain d) (:types box spot - object)
 (:predicates (at ?b - box ?s - spot))
 (:action move :parameters (?b - box ?s ?t - spot)
  :precondition (at ?b ?s) :effect (and (not (at ?b ?s)) (at ?b ?t))))"""
PROBLEM = """(define (problem p) (:domain d) (:objects b - box s t - spot)
 (:init (at b s)) (:goal (at b t)))"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("?b ?t))))", "?b ?t)))", "1 parentheses are not closed"),
        ("?b ?t))))", "?b ?t)))))", "line 4: a closing parenthesis"),
        ("box spot - object", "box spot - crate crate - box", "is above itself"),
        ("?b - box ?s - spot", "?b - tin ?s - spot", "the type tin of ?b is not declared"),
        ("(?b - box ?s ?t - spot)", "(?b ?b - box)", "a variable is declared twice"),
        (":precondition (at ?b ?s)", ":precondition (in ?b ?s)", "predicate in is not declared"),
        (":precondition (at ?b ?s)", ":precondition (at ?b)", "expected 2 terms in (at ?b)"),
        (":precondition (at ?b ?s)", ":precondition (at ?b u)", "u is no parameter"),
        (":precondition (at ?b ?s)", ":precondition (forall (?x) (at ?x ?s))", "'forall' is not"),
        (":precondition", ":duration", ":duration is not supported"),
        ("(at ?b ?t))))", "(when (at ?b ?s) (at ?b ?t)))))", "is not supported"),
        ("(:types", "(:derived", "the section :derived is not supported"),
        ("(define", "(design", "expected (define (domain …) …)"),
        ("(domain d)", "(problem d)", "expected (domain NAME)"),
        ("(:action move", "(:action", "expected a name, found :parameters"),
        (
            "(:action move",
            "(:action move :parameters () :effect ()) (:action move",
            "declared twic",
        ),
        (DOMAIN, "", "expected one expression"),
        (DOMAIN, "(" * 60 + ")" * 60, "expected at most 50 levels"),
        (DOMAIN, "( " * 300_000, "at most 50 levels|at most 400000 words"),
        (DOMAIN, "x" * 5_000_000, "at most 4 MB"),
    ],
)
def test_what_is_wrong_with_a_domain_is_said(old: str, new: str, message: str) -> None:
    assert old in DOMAIN
    with pytest.raises(PddlError, match=message if "|" in message else re.escape(message)):
        read_instance(DOMAIN.replace(old, new), PROBLEM)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("b - box", "b - tin", "the type tin of b is not declared"),
        ("b - box", "b - box b - spot", "b is declared twice with different types"),
        ("(at b s)", "(at b u)", "there is no object u"),
        ("(at b s)", "(in b s)", "the predicate in is not declared"),
        ("(:goal (at b t))", "", "there is no goal"),
        ("(:goal (at b t))", "(:goal (at b t) (at b s))", "expected one goal"),
        ("(:goal (at b t))", "(:goal (exists (?x) (at b ?x)))", "'exists' is not supported"),
        ("(:init", "(:facts", "the section :facts is not supported"),
        ("b - box", f"{' '.join(f'b{n}' for n in range(25_000))} - box", "at most 20000 objects"),
    ],
)
def test_what_is_wrong_with_a_problem_is_said(old: str, new: str, message: str) -> None:
    assert old in PROBLEM
    with pytest.raises(PddlError, match=re.escape(message)):
        read_instance(DOMAIN, PROBLEM.replace(old, new))


def test_too_many_alternatives_are_refused() -> None:
    many = " ".join(["(or (at b s) (at b t))"] * 12)
    with pytest.raises(PddlError, match="at most 1000 alternatives"):
        read_instance(DOMAIN, PROBLEM.replace("(:goal (at b t))", f"(:goal (and {many}))"))


def test_ten_thousand_objects_are_declined() -> None:
    spots = " ".join(f"s{n}" for n in range(10_000))
    problem = PROBLEM.replace("s t - spot", f"s t {spots} - spot")
    instance = read_instance(DOMAIN, problem)
    assert len(instance.objects) == 10_003
    with pytest.raises(Declined):
        ground(instance)
    with pytest.raises(Declined, match="steps"):
        ground(read_instance(*untyped(2_000, 5_000, 1)), steps=100_000, operators=10**9)


def test_case_comments_costs_and_alternatives() -> None:
    instance = read_instance(
        DOMAIN.upper().replace("(:TYPES", "; (a comment\n(:TYPES"),
        PROBLEM.replace("(at b s)", "(AT B S) (= (total-cost) 0)"),
    )
    assert shortest_plan(ground(instance)).plan == (("move", "b", "s", "t"),)
    made = ground(read_instance(*port(2, 3, 0)))
    plan = shortest_plan(made).plan
    assert plan is not None and not made.instance.fault_of_plan(plan)


def test_faults_of_actions_and_plans_are_told() -> None:
    instance = read_instance(DOMAIN, PROBLEM)
    told = {
        "(fly b s t)": "there is no action 'fly'",
        "(move b s)": "move takes 3 objects, not 2",
        "(move b s zzz)": "there is no object 'zzz'",
        "(move s s t)": "s is of type spot, but box is needed",
    }
    for text, why in told.items():
        (action,) = parse_plan(text)
        assert instance.fault_of_action(action) == why
        assert instance.fault_of_plan([action]) == (
            f"action 0, {show_atom(action)}, cannot be applied: {why}"
        )
    assert "(at b t) does not hold" in instance.fault_of_plan(parse_plan("(move b t s)"))
    assert "the goal is not reached" in instance.fault_of_plan(())
    assert not instance.fault_of_plan(parse_plan("(move b s t)"))


def test_a_condition_without_alternatives_never_holds() -> None:
    domain = DOMAIN.replace(":precondition (at ?b ?s)", ":precondition (or)")
    instance = read_instance(domain, PROBLEM)
    (action,) = parse_plan("(move b s t)")
    assert instance.unmet(action, instance.init) == "its condition never holds"
    assert not ground(instance).names and shortest_plan(ground(instance)).solved is False


def test_untyped_domains_and_constants() -> None:
    text = UNTYPED.replace("(:predicates", "(:constants hall) (:predicates")
    problem = "(define (problem p) (:domain untyped) (:objects hall t) (:init (room hall) (thing t)"
    problem += " (in t hall) (me hall) (empty)) (:goal (mine t)))"
    instance = read_instance(text, problem)
    assert shortest_plan(ground(instance)).plan == (("grab", "t", "hall"),)


def test_stored_answers_of_all_questions_are_what_simulation_says() -> None:
    for question in questions().values():
        instance = read_instance(question.pddl_domain, question.pddl_problem)
        if question.task == "app":
            found = map(show_atom, ground(instance).applicable(ground(instance).init))
            assert set(found) == {text.lower() for text in question.answer}
        elif question.task == "val":
            plan = parse_plan(question.question.split('"')[1])
            assert instance.first_inapplicable(plan)[0] == question.answer
        elif question.task == "just":
            plan = parse_plan(question.question.split('"')[1])
            assert not instance.fault_of_plan(plan)
        elif question.task == "nexta":
            best = shortest_plan(ground(instance))
            assert best.plan is not None and len(best.plan) == int(question.answer["opt"])
