(define (domain corridor)
  (:requirements :strips :typing)
  (:types room - object)
  (:predicates (at ?r - room) (next ?a - room ?b - room) (dark ?r - room) (lit ?r - room))
  (:action move
    :parameters (?from - room ?to - room)
    :precondition (and (at ?from) (next ?from ?to))
    :effect (and (at ?to) (not (at ?from))))
  (:action light
    :parameters (?r - room)
    :precondition (and (at ?r) (dark ?r))
    :effect (and (lit ?r) (not (dark ?r)))))
