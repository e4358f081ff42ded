; A cabin on a cable carries one hiker at a time between stations.
(define (domain cablecar)
  (:requirements :strips :typing)
  (:types hiker station - object)
  (:predicates
    (cabin-at ?s - station)
    (cabin-free)
    (waiting ?h - hiker ?s - station)
    (aboard ?h - hiker)
    (line ?a - station ?b - station))
  (:action ride
    :parameters (?from - station ?to - station)
    :precondition (and (cabin-at ?from) (line ?from ?to))
    :effect (and (cabin-at ?to) (not (cabin-at ?from))))
  (:action board
    :parameters (?h - hiker ?s - station)
    :precondition (and (waiting ?h ?s) (cabin-at ?s) (cabin-free))
    :effect (and (aboard ?h) (not (waiting ?h ?s)) (not (cabin-free))))
  (:action leave
    :parameters (?h - hiker ?s - station)
    :precondition (and (aboard ?h) (cabin-at ?s))
    :effect (and (waiting ?h ?s) (cabin-free) (not (aboard ?h)))))
