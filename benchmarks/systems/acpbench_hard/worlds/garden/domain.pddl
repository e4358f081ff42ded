; A robot waters beds; the sun dries them again. Everything can come about from everywhere.
(define (domain garden)
  (:requirements :strips :typing)
  (:types bed - object)
  (:predicates
    (robot-at ?b - bed)
    (watered ?b - bed)
    (dry ?b - bed)
    (can-full)
    (can-empty))
  (:action go
    :parameters (?from - bed ?to - bed)
    :precondition (and (robot-at ?from))
    :effect (and (robot-at ?to) (not (robot-at ?from))))
  (:action fill
    :parameters ()
    :precondition (and (can-empty))
    :effect (and (can-full) (not (can-empty))))
  (:action water
    :parameters (?b - bed)
    :precondition (and (robot-at ?b) (can-full) (dry ?b))
    :effect (and (watered ?b) (can-empty) (not (dry ?b)) (not (can-full))))
  (:action wait-for-sun
    :parameters (?b - bed)
    :precondition (and (watered ?b))
    :effect (and (dry ?b) (not (watered ?b)))))
