(define (domain marbles)
  (:requirements :strips :typing)
  (:types marble cup - object)
  (:predicates (in ?m - marble ?c - cup) (held ?m - marble) (hand-empty)
               (open ?c - cup) (shut ?c - cup))
  (:action uncover
    :parameters (?c - cup)
    :precondition (and (shut ?c) (hand-empty))
    :effect (and (open ?c) (not (shut ?c))))
  (:action take
    :parameters (?m - marble ?c - cup)
    :precondition (and (in ?m ?c) (open ?c) (hand-empty))
    :effect (and (held ?m) (not (in ?m ?c)) (not (hand-empty))))
  (:action drop
    :parameters (?m - marble ?c - cup)
    :precondition (and (held ?m) (open ?c))
    :effect (and (in ?m ?c) (hand-empty) (not (held ?m)))))
