"""Planning domains and problems of our own, of the kinds that the public files do not show.

Each function makes the texts of a domain and a problem. Sizes and a seed are given.
"""

import random
from collections.abc import Callable
from typing import NamedTuple


class Texts(NamedTuple):
    """The PDDL of a domain and of a problem."""

    domain: str
    problem: str


def problem(domain: str, objects: str, init: list[str], goal: list[str]) -> str:
    return (
        f"(define (problem {domain}-1) (:domain {domain})\n (:objects {objects})\n"
        f" (:init {' '.join(init)})\n (:goal (and {' '.join(goal)})))"
    )


EXCHANGE = """(define (domain exchange)
 (:requirements :strips :typing)
 (:types person thing - object)
 (:predicates (Has ?p - person ?t - thing))
 (:action trade
  :parameters (?p ?q - person ?t ?u - thing)
  :precondition (and (Has ?p ?t) (Has ?q ?u))
  :effect (and (not (Has ?p ?t)) (not (Has ?q ?u)) (Has ?p ?u) (Has ?q ?t))))"""


def exchange(size: int, seed: int) -> Texts:
    """People who trade things, all of whom may trade with themselves."""
    rng = random.Random(seed)
    wanted = rng.sample(range(size), size)
    people = " ".join(f"p{n}" for n in range(size))
    things = " ".join(f"t{n}" for n in range(size))
    init = [f"(Has p{n} t{n})" for n in range(size)]
    goal = [f"(has p{n} t{wanted[n]})" for n in range(size)]
    return Texts(EXCHANGE, problem("exchange", f"{people} - person {things} - thing", init, goal))


YARD = """(define (domain yard)
 (:requirements :strips :typing)
 (:types spot movable - object
         store shop - spot
         lorry crane base - movable
         slab box - base)
 (:predicates (at ?m - movable ?s - spot) (on ?b - box ?c - base) (in ?b - box ?l - lorry)
  (lifting ?c - crane ?b - box) (idle ?c - crane) (clear ?b - base))
 (:action ride :parameters (?l - lorry ?from ?to - spot)
  :precondition (and (at ?l ?from))
  :effect (and (not (at ?l ?from)) (at ?l ?to)))
 (:action raise :parameters (?c - crane ?b - box ?d - base ?s - spot)
  :precondition (and (at ?c ?s) (idle ?c) (at ?b ?s) (on ?b ?d) (clear ?b))
  :effect (and (not (at ?b ?s)) (lifting ?c ?b) (not (clear ?b)) (not (idle ?c)) (clear ?d)
   (not (on ?b ?d))))
 (:action lower :parameters (?c - crane ?b - box ?d - base ?s - spot)
  :precondition (and (at ?c ?s) (at ?d ?s) (clear ?d) (lifting ?c ?b))
  :effect (and (idle ?c) (not (lifting ?c ?b)) (at ?b ?s) (not (clear ?d)) (clear ?b) (on ?b ?d)))
 (:action fill :parameters (?c - crane ?b - box ?l - lorry ?s - spot)
  :precondition (and (at ?c ?s) (at ?l ?s) (lifting ?c ?b))
  :effect (and (not (lifting ?c ?b)) (in ?b ?l) (idle ?c)))
 (:action empty :parameters (?c - crane ?b - box ?l - lorry ?s - spot)
  :precondition (and (at ?c ?s) (at ?l ?s) (idle ?c) (in ?b ?l))
  :effect (and (not (in ?b ?l)) (not (idle ?c)) (lifting ?c ?b))))"""


def yard(boxes: int, spots: int, lorries: int, seed: int) -> Texts:
    """Boxes on slabs or on each other, cranes at every spot, lorries between the spots."""
    rng = random.Random(seed)
    objects = (
        f"{' '.join(f's{n}' for n in range(spots))} - store "
        f"{' '.join(f'l{n}' for n in range(lorries))} - lorry "
        f"{' '.join(f'c{n}' for n in range(spots))} - crane "
        f"{' '.join(f'd{n}' for n in range(spots))} - slab "
        f"{' '.join(f'b{n}' for n in range(boxes))} - box"
    )
    init = [f"(at c{n} s{n}) (idle c{n}) (at d{n} s{n})" for n in range(spots)]
    init += [f"(at l{n} s{rng.randrange(spots)})" for n in range(lorries)]

    def piles() -> tuple[list[str], list[str], list[str]]:
        tops = [f"d{n}" for n in range(spots)]
        on, at = [], []
        for box in rng.sample(range(boxes), boxes):
            spot = rng.randrange(spots)
            on.append(f"(on b{box} {tops[spot]})")
            at.append(f"(at b{box} s{spot})")
            tops[spot] = f"b{box}"
        return on, at, [f"(clear {top})" for top in tops]

    on, at, clear = piles()
    return Texts(YARD, problem("yard", objects, init + on + at + clear, piles()[0]))


SKY = """(define (domain sky)
 (:requirements :strips :typing)
 (:types probe view device kind)
 (:predicates (carries ?d - device ?p - probe) (can ?d - device ?k - kind)
  (faces ?p - probe ?v - view) (free ?p - probe) (powered ?d - device) (tuned ?d - device)
  (seen ?v - view ?k - kind) (reference ?d - device ?v - view))
 (:action turn :parameters (?p - probe ?new ?old - view)
  :precondition (and (faces ?p ?old)) :effect (and (faces ?p ?new) (not (faces ?p ?old))))
 (:action power :parameters (?d - device ?p - probe)
  :precondition (and (carries ?d ?p) (free ?p))
  :effect (and (powered ?d) (not (tuned ?d)) (not (free ?p))))
 (:action rest :parameters (?d - device ?p - probe)
  :precondition (and (carries ?d ?p) (powered ?d)) :effect (and (not (powered ?d)) (free ?p)))
 (:action tune :parameters (?p - probe ?d - device ?v - view)
  :precondition (and (carries ?d ?p) (reference ?d ?v) (faces ?p ?v) (powered ?d))
  :effect (tuned ?d))
 (:action look :parameters (?p - probe ?v - view ?d - device ?k - kind)
  :precondition (and (tuned ?d) (carries ?d ?p) (can ?d ?k) (powered ?d) (faces ?p ?v))
  :effect (seen ?v ?k)))"""


def sky(probes: int, devices: int, kinds: int, views: int, goals: int, seed: int) -> Texts:
    """Probes that turn, power and tune devices, and look at views in several kinds."""
    rng = random.Random(seed)
    objects = (
        f"{' '.join(f'p{n}' for n in range(probes))} - probe "
        f"{' '.join(f'd{n}' for n in range(devices))} - device "
        f"{' '.join(f'k{n}' for n in range(kinds))} - kind "
        f"{' '.join(f'v{n}' for n in range(views))} - view"
    )
    init = [f"(faces p{n} v{rng.randrange(views)}) (free p{n})" for n in range(probes)]
    for n in range(devices):
        init.append(f"(carries d{n} p{n % probes}) (reference d{n} v{rng.randrange(views)})")
        init += [
            f"(can d{n} k{kind})"
            for kind in range(kinds)
            if kind % devices == n % kinds or rng.random() < 0.4
        ]
    pairs = [(view, kind) for view in range(views) for kind in range(kinds)]
    goal = [f"(seen v{view} k{kind})" for view, kind in rng.sample(pairs, goals)]
    init += [f"(can d0 k{kind})" for kind in range(kinds)]
    return Texts(SKY, problem("sky", objects, init, goal))


TUNNEL = """(define (domain tunnel)
 (:requirements :typing)
 (:types cell)
 (:predicates (here ?x - cell) (charge-at ?x - cell) (ray-at ?x - cell) (soft ?x - cell)
  (hard ?x - cell) (ore ?x - cell) (hands-free) (has-charge) (has-ray) (has-ore)
  (linked ?x ?y - cell) (open ?x - cell))
 (:action step :parameters (?x ?y - cell)
  :precondition (and (here ?x) (linked ?x ?y) (open ?y))
  :effect (and (here ?y) (not (here ?x))))
 (:action take-ray :parameters (?x - cell)
  :precondition (and (here ?x) (ray-at ?x) (hands-free))
  :effect (and (not (hands-free)) (has-ray) (not (ray-at ?x))))
 (:action take-charge :parameters (?x - cell)
  :precondition (and (here ?x) (charge-at ?x) (hands-free))
  :effect (and (not (hands-free)) (has-charge)))
 (:action drop-ray :parameters (?x - cell)
  :precondition (and (here ?x) (has-ray))
  :effect (and (hands-free) (not (has-ray)) (ray-at ?x)))
 (:action blast :parameters (?x ?y - cell)
  :precondition (and (here ?x) (has-charge) (linked ?x ?y) (soft ?y))
  :effect (and (not (has-charge)) (hands-free) (open ?y) (not (soft ?y))))
 (:action burn :parameters (?x ?y - cell)
  :precondition (and (here ?x) (has-ray) (linked ?x ?y))
  :effect (and (open ?y) (not (soft ?y)) (not (ore ?y)) (not (hard ?y))))
 (:action collect :parameters (?x - cell)
  :precondition (and (here ?x) (hands-free) (ore ?x))
  :effect (and (not (hands-free)) (has-ore))))"""


def tunnel(rows: int, columns: int, seed: int) -> Texts:
    """A grid of rock with ore at its far corner, and two tools of which one destroys ore."""
    rng = random.Random(seed)
    cells = [(x, y) for x in range(columns) for y in range(rows)]
    init = [f"(here c0-{rows - 1}) (hands-free) (charge-at c0-0) (ray-at c0-{rows - 1})"]
    for x, y in cells:
        for other in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if other in cells:
                init.append(f"(linked c{x}-{y} c{other[0]}-{other[1]})")
        rock = "open" if x == 0 else rng.choice(("soft", "hard")) if x < columns - 1 else "soft"
        init.append(f"({rock} c{x}-{y})")
    init.append(f"(ore c{columns - 1}-{rng.randrange(rows)})")
    objects = " ".join(f"c{x}-{y}" for x, y in cells) + " - cell"
    return Texts(TUNNEL, problem("tunnel", objects, init, ["(has-ore)"]))


HOUSE = """(define (domain house)
 (:requirements :strips :typing :equality :negative-preconditions :disjunctive-preconditions
  :action-costs)
 (:types actor spot furniture thing furniturekind thingkind)
 (:constants CupKind EggKind LampKind - thingkind StoveKind SinkKind ColdKind - furniturekind)
 (:predicates (at ?a - actor ?s - spot) (lies ?t - thing ?f - furniture)
  (stands ?f - furniture ?s - spot) (is-thing ?t - thing ?k - thingkind)
  (is-furniture ?f - furniture ?k - furniturekind) (may-hold ?k - furniturekind ?j - thingkind)
  (holds ?a - actor ?t - thing) (busy ?a - actor) (shuts ?f - furniture) (opened ?f - furniture)
  (clean ?t - thing) (hot ?t - thing) (cold ?t - thing) (lit ?t - thing))
 (:functions (total-cost) - number)
 (:action go :parameters (?a - actor ?from ?to - spot)
  :precondition (and (at ?a ?from) (not (= ?from ?to)))
  :effect (and (not (at ?a ?from)) (at ?a ?to) (increase (total-cost) 1)))
 (:action open :parameters (?a - actor ?s - spot ?f - furniture)
  :precondition (and (at ?a ?s) (stands ?f ?s) (shuts ?f) (not (opened ?f)))
  :effect (opened ?f))
 (:action shut :parameters (?a - actor ?s - spot ?f - furniture)
  :precondition (and (at ?a ?s) (stands ?f ?s) (shuts ?f) (opened ?f))
  :effect (not (opened ?f)))
 (:action take :parameters (?a - actor ?s - spot ?t - thing ?f - furniture)
  :precondition (and (at ?a ?s) (stands ?f ?s) (lies ?t ?f) (not (busy ?a))
   (or (opened ?f) (not (shuts ?f))))
  :effect (and (not (lies ?t ?f)) (holds ?a ?t) (busy ?a)))
 (:action place :parameters (?a - actor ?s - spot ?t - thing ?k - thingkind ?f - furniture
   ?j - furniturekind)
  :precondition (and (at ?a ?s) (stands ?f ?s) (holds ?a ?t) (is-thing ?t ?k) (is-furniture ?f ?j)
   (may-hold ?j ?k) (or (opened ?f) (not (shuts ?f))))
  :effect (and (lies ?t ?f) (not (holds ?a ?t)) (not (busy ?a))))
 (:action wash :parameters (?a - actor ?s - spot ?f - furniture ?t - thing)
  :precondition (and (at ?a ?s) (stands ?f ?s) (is-furniture ?f SinkKind) (holds ?a ?t)
   (or (is-thing ?t CupKind) (is-thing ?t EggKind)))
  :effect (clean ?t))
 (:action warm :parameters (?a - actor ?s - spot ?f - furniture ?t - thing)
  :precondition (and (at ?a ?s) (stands ?f ?s) (is-furniture ?f StoveKind) (holds ?a ?t)
   (or (is-thing ?t CupKind) (is-thing ?t EggKind)))
  :effect (and (hot ?t) (not (cold ?t))))
 (:action chill :parameters (?a - actor ?s - spot ?f - furniture ?t - thing)
  :precondition (and (at ?a ?s) (stands ?f ?s) (is-furniture ?f ColdKind) (holds ?a ?t)
   (or (is-thing ?t CupKind) (is-thing ?t EggKind)))
  :effect (and (cold ?t) (not (hot ?t))))
 (:action light :parameters (?a - actor ?s - spot ?f - furniture ?t - thing)
  :precondition (and (at ?a ?s) (stands ?f ?s) (lies ?t ?f) (is-thing ?t LampKind))
  :effect (lit ?t)))"""


def house(spots: int, things: int, seed: int) -> Texts:
    """A household with constants, ``or`` and negation; about spots² + 10 · spots actions."""
    rng = random.Random(seed)
    kinds = ["StoveKind", "SinkKind", "ColdKind"]
    objects = (
        f"me - actor {' '.join(f's{n}' for n in range(spots))} - spot "
        f"{' '.join(f'f{n}' for n in range(spots))} - furniture "
        f"{' '.join(f't{n}' for n in range(things))} - thing shelfkind - furniturekind"
    )
    init = ["(at me s0)", "(= (total-cost) 0)"]
    for n in range(spots):
        kind = kinds[n] if n < 3 else "shelfkind"
        init.append(f"(stands f{n} s{n}) (is-furniture f{n} {kind})")
        if n % 3 == 1 and n > 1:
            init.append(f"(shuts f{n})")
    for kind in ("CupKind", "EggKind", "LampKind"):
        init += [f"(may-hold {one} {kind})" for one in [*kinds, "shelfkind"]]
    for n in range(things):
        kind = ("CupKind", "EggKind", "LampKind")[n % 3]
        init.append(f"(lies t{n} f{rng.randrange(3, spots)}) (is-thing t{n} {kind})")
    last = spots - 1
    goal = [f"(lies t0 f{last})", "(clean t0)", f"(lies t1 f{last - 1})", "(hot t1)", "(lit t2)"]
    return Texts(HOUSE, problem("house", objects, init, goal))


UNTYPED = """(define (domain untyped)
 (:predicates (room ?x) (thing ?x) (in ?x ?y) (me ?x) (mine ?x) (empty))
 (:action walk :parameters (?x ?y)
  :precondition (and (room ?x) (room ?y) (me ?x) (not (= ?x ?y)))
  :effect (and (me ?y) (not (me ?x))))
 (:action grab :parameters (?t ?x)
  :precondition (and (thing ?t) (in ?t ?x) (me ?x) (empty))
  :effect (and (mine ?t) (not (in ?t ?x)) (not (empty))))
 (:action leave :parameters (?t ?x)
  :precondition (and (mine ?t) (me ?x))
  :effect (and (in ?t ?x) (not (mine ?t)) (empty))))"""


def untyped(rooms: int, things: int, seed: int) -> Texts:
    """A domain without types, in which unary predicates have their place."""
    rng = random.Random(seed)
    names = [f"r{n}" for n in range(rooms)]
    goods = [f"t{n}" for n in range(things)]
    init = [f"(room {name})" for name in names] + [f"(thing {name})" for name in goods]
    init += [f"(in {name} {rng.choice(names)})" for name in goods] + ["(me r0)", "(empty)"]
    goal = [f"(in {name} {rng.choice(names)})" for name in goods]
    return Texts(UNTYPED, problem("untyped", " ".join(names + goods), init, goal))


PORT = """(define (domain port)
 (:requirements :typing :negative-preconditions :equality)
 (:types boat car - vehicle quay - object)
 (:constants home - quay)
 (:predicates (moored ?v - (either boat car) ?q - quay) (loaded ?v - vehicle) (shut ?q - quay))
 (:action move :parameters (?v - (either boat car) ?q ?r - quay)
  :precondition (and (moored ?v ?q) (not (shut ?r)) (not (= ?q ?r)) (imply (loaded ?v) (= ?r home)))
  :effect (and (moored ?v ?r) (not (moored ?v ?q))))
 (:action load :parameters (?v - vehicle ?q - quay)
  :precondition (and (moored ?v ?q) (not (loaded ?v)) (not (= ?q home)))
  :effect (loaded ?v))
 (:action unload :parameters (?v - vehicle)
  :precondition (and (moored ?v home) (loaded ?v))
  :effect (and (not (loaded ?v)) (shut home))))"""


def port(vehicles: int, quays: int, seed: int) -> Texts:
    """``either``, constants, ``imply``, negated conditions, also in the goal."""
    rng = random.Random(seed)
    names = [f"v{n}" for n in range(vehicles)]
    places = [f"q{n}" for n in range(quays)]
    init = [f"(moored {name} {rng.choice(places)})" for name in names] + ["(shut q0)"]
    goal = ["(or (shut home) (shut q1))", f"(not (moored {names[0]} {places[-1]}))"]
    objects = f"{' '.join(names)} - boat {' '.join(places)} - quay"
    return Texts(PORT, problem("port", objects, init, goal))


# Problems of which every state can be visited.
SMALL: dict[str, Callable[[int], Texts]] = {
    "exchange": lambda seed: exchange(4, seed),
    "yard": lambda seed: yard(2, 2, 1, seed),
    "sky": lambda seed: sky(1, 2, 2, 2, 2, seed),
    "tunnel": lambda seed: tunnel(2, 3, seed),
    "untyped": lambda seed: untyped(3, 2, seed),
    "port": lambda seed: port(2, 3, seed),
}
