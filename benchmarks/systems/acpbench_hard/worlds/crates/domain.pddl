; A crane moves crates between a few places on a quay and on top of each other. It has no types.
(define (domain crates)
  (:requirements :strips)
  (:predicates
    (crate ?c)
    (place ?p)
    (stands ?c ?p)
    (on ?c ?d)
    (top ?c)
    (bare ?p)
    (hangs ?c)
    (crane-free))
  (:action lift
    :parameters (?c ?p)
    :precondition (and (crate ?c) (place ?p) (stands ?c ?p) (top ?c) (crane-free))
    :effect (and (hangs ?c) (bare ?p) (not (stands ?c ?p)) (not (top ?c)) (not (crane-free))))
  (:action set-down
    :parameters (?c ?p)
    :precondition (and (crate ?c) (place ?p) (hangs ?c) (bare ?p))
    :effect (and (stands ?c ?p) (top ?c) (crane-free) (not (hangs ?c)) (not (bare ?p))))
  (:action pick-off
    :parameters (?c ?d)
    :precondition (and (crate ?c) (crate ?d) (on ?c ?d) (top ?c) (crane-free))
    :effect (and (hangs ?c) (top ?d) (not (on ?c ?d)) (not (top ?c)) (not (crane-free))))
  (:action put-on
    :parameters (?c ?d)
    :precondition (and (crate ?c) (crate ?d) (hangs ?c) (top ?d))
    :effect (and (on ?c ?d) (top ?c) (crane-free) (not (hangs ?c)) (not (top ?d)))))
