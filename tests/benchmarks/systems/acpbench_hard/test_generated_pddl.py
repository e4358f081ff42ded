"""Questions made of PDDL as it is found: with costs, without types, or with a fault."""

import json
import re
from pathlib import Path

import pytest

from benchmarks.core.problems import FileRefused
from benchmarks.systems.acpbench_hard.generation.files import generate_acpbench, load_source
from benchmarks.systems.acpbench_hard.generation.space import MOST_GROUND
from benchmarks.systems.acpbench_hard.pddl.grounding import ground
from benchmarks.systems.acpbench_hard.pddl.instance import read_instance
from benchmarks.systems.acpbench_hard.questions import read_questions

TOLL = """(define (domain toll) (:requirements :strips :typing :action-costs)
 (:types town) (:predicates (at ?t - town) (seen ?t - town) (road ?a ?b - town))
 (:functions (toll ?a ?b - town) - number (total-cost) - number)
 (:action drive :parameters (?a ?b - town) :precondition (and (at ?a) (road ?a ?b))
  :effect (and (at ?b) (seen ?b) (not (at ?a)) (increase (total-cost) (toll ?a ?b)))))"""
TOLLS = """(define (problem three-towns) (:domain toll) (:objects a b c - town)
 (:init (at a) (road a b) (road b c) (road c a) (= (total-cost) 0)
  (= (toll a b) 4) (= (toll b c) 1.5) (= (toll c a) 2))
 (:goal (and (seen a) (seen c))) (:metric minimize (total-cost)))"""

# Without types, six parameters multiply to eleven million actions; what never changes leaves few.
BALLOON = """(define (domain balloon)
 (:predicates (balloon ?b) (guest ?g) (field ?f) (gas ?l) (at ?x ?f) (in ?g ?b) (has ?b ?l)
  (less ?l ?m))
 (:action enter :parameters (?g ?b ?f)
  :precondition (and (guest ?g) (balloon ?b) (field ?f) (at ?g ?f) (at ?b ?f))
  :effect (and (in ?g ?b) (not (at ?g ?f))))
 (:action leave :parameters (?g ?b ?f)
  :precondition (and (guest ?g) (balloon ?b) (field ?f) (in ?g ?b) (at ?b ?f))
  :effect (and (at ?g ?f) (not (in ?g ?b))))
 (:action rise :parameters (?b ?f ?to ?l ?m ?n)
  :precondition (and (balloon ?b) (field ?f) (field ?to) (gas ?l) (gas ?m) (gas ?n)
   (at ?b ?f) (has ?b ?l) (less ?m ?l) (less ?n ?m))
  :effect (and (at ?b ?to) (has ?b ?n) (not (at ?b ?f)) (not (has ?b ?l))))
 (:action fill :parameters (?b ?f ?l ?m)
  :precondition (and (balloon ?b) (field ?f) (gas ?l) (gas ?m) (has ?b ?l) (less ?l ?m) (at ?b ?f))
  :effect (and (has ?b ?m) (not (has ?b ?l)))))"""
BALLOONS = """(define (problem one-balloon) (:domain balloon)
 (:objects b g1 g2 f1 f2 f3 l0 l1 l2 l3 l4 l5 l6 l7 l8)
 (:init (balloon b) (guest g1) (guest g2) (field f1) (field f2) (field f3)
  (gas l0) (gas l1) (gas l2) (gas l3) (gas l4) (gas l5) (gas l6) (gas l7) (gas l8)
  (less l0 l1) (less l1 l2) (less l2 l3) (less l3 l4) (less l4 l5) (less l5 l6) (less l6 l7)
  (less l7 l8) (at b f1) (has b l4) (at g1 f1) (at g2 f3))
 (:goal (and (at g1 f2) (at g2 f1))))"""


def _corridor(cells: int) -> tuple[str, str]:
    """A box that is pushed along cells in a row: typed, but with three cells to an action."""
    domain = """(define (domain corridor-push) (:types cell box way)
 (:predicates (me ?c - cell) (on ?b - box ?c - cell) (free ?c - cell) (next ?a ?c - cell ?w - way))
 (:action walk :parameters (?a ?c - cell ?w - way) :precondition (and (me ?a) (next ?a ?c ?w)
   (free ?c)) :effect (and (me ?c) (free ?a) (not (me ?a)) (not (free ?c))))
 (:action push :parameters (?b - box ?a ?c ?d - cell ?w - way)
  :precondition (and (me ?a) (on ?b ?c) (next ?a ?c ?w) (next ?c ?d ?w) (free ?d))
  :effect (and (me ?c) (on ?b ?d) (free ?a) (not (me ?a)) (not (on ?b ?c)) (not (free ?d)))))"""
    names = [f"c{n}" for n in range(cells)]
    pairs = list(zip(names, names[1:], strict=False))
    steps = " ".join(f"(next {a} {c} east) (next {c} {a} west)" for a, c in pairs)
    free = " ".join(f"(free {name})" for name in names[:1] + names[3:])
    problem = f"""(define (problem row) (:domain corridor-push)
 (:objects {" ".join(names)} - cell b - box east west - way)
 (:init (me c1) (on b c2) {free} {steps}) (:goal (on b c5)))"""
    return domain, problem


def _write(folder: Path, domain: str, *problems: str) -> tuple[Path, list[Path]]:
    (folder / "domain.pddl").write_text(domain)
    paths = [folder / f"p{number}.pddl" for number, _ in enumerate(problems, 1)]
    for path, text in zip(paths, problems, strict=True):
        path.write_text(text)
    return folder / "domain.pddl", paths


def test_costs_are_kept_whole(tmp_path):
    """A metric and effects on costs need the values of functions at the beginning."""
    domain, problems = _write(tmp_path, TOLL, TOLLS)
    out = tmp_path / "questions.json"

    generate_acpbench(domain, problems, out, seed=1, per_task=2, tasks=("app", "nexta"))

    for row in json.loads(out.read_text()):
        assert "(increase (total-cost) (toll ?a ?b))" in row["PDDL_domain"]
        assert "(:metric minimize (total-cost))" in row["PDDL_problem"]
        start = re.search(r"\(:init (.*?)\)\n", row["PDDL_problem"])[1]
        for value in ("(total-cost) 0", "(toll a b) 4", "(toll b c) 1.5", "(toll c a) 2"):
            assert f"(= {value})" in start
    assert read_questions([out])


@pytest.mark.parametrize("texts", [(BALLOON, BALLOONS), _corridor(40)], ids=["untyped", "typed"])
def test_what_never_changes_prunes_before_types_multiply_out(tmp_path, texts):
    domain, problems = _write(tmp_path, *texts)

    source = load_source(domain, problems[0])
    report = generate_acpbench(
        domain, problems, tmp_path / "questions.json", seed=1, per_task=2, nodes=500
    )

    reached = ground(source.instance).names
    assert reached < set(source.space.actions) and len(source.space.actions) < MOST_GROUND // 10
    never = source.space.never_actions(source.instance.init)
    assert not reached.issuperset(never)
    assert not any(map(source.instance.fault_of_action, never))
    assert report.by_task["areach"] == report.by_task["app"] == report.by_task["val"] == 2


def test_a_repeated_parameter_is_legal():
    domain = TOLL.replace("(road ?a ?b - town))", "(road ?a ?b - town) (loop ?t ?t - town))")
    instance = read_instance(
        domain.replace("(road ?a ?b))", "(road ?a ?b) (loop ?a ?a))"),
        TOLLS.replace("(road a b)", "(road a b) (loop a a) (loop b c)"),
    )
    assert ground(instance).names == {("drive", "a", "b")}


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("domain.pddl", "(road ?a ?b)", "(path ?a ?b)", "the predicate path is not declared"),
        ("p2.pddl", "(at a)", "(at z)", "there is no object z"),
        ("p2.pddl", "(:domain toll)", "(:domain ferry)", "it is of ferry, not of toll"),
        ("text.yaml", "drive:", "fly:", "the domain has no action fly"),
        ("text.yaml", "actions:", "actions: [", "line"),
    ],
)
def test_a_fault_is_reported_under_the_name_of_its_file(tmp_path, name, old, new, message):
    domain, problems = _write(tmp_path, TOLL, TOLLS, TOLLS.replace("three-towns", "again"))
    (tmp_path / "text.yaml").write_text('actions:\n  drive: "drive from {0} to {1}"\n')
    text = (tmp_path / name).read_text()
    assert old in text
    (tmp_path / name).write_text(text.replace(old, new, 1 if name != "domain.pddl" else -1))

    with pytest.raises(FileRefused) as refused:
        generate_acpbench(domain, problems, tmp_path / "out.json", seed=1, per_task=1)

    assert [problem.where for problem in refused.value.problems] == [name]
    assert message in str(refused.value)
    assert not (tmp_path / "out.json").exists()
