; A guard walks through a museum and opens locked rooms with cards.
(define (domain museum)
  (:requirements :strips :typing)
  (:types room card - object)
  (:predicates
    (guard-in ?r - room)
    (door ?a - room ?b - room)
    (locked ?r - room)
    (unlocked ?r - room)
    (opens ?c - card ?r - room)
    (lies-in ?c - card ?r - room)
    (carries ?c - card)
    (hand-free))
  (:action walk
    :parameters (?from - room ?to - room)
    :precondition (and (guard-in ?from) (door ?from ?to) (unlocked ?to))
    :effect (and (guard-in ?to) (not (guard-in ?from))))
  (:action unlock
    :parameters (?here - room ?next - room ?c - card)
    :precondition (and (guard-in ?here) (door ?here ?next) (locked ?next) (carries ?c)
                       (opens ?c ?next))
    :effect (and (unlocked ?next) (not (locked ?next))))
  (:action take
    :parameters (?c - card ?r - room)
    :precondition (and (guard-in ?r) (lies-in ?c ?r) (hand-free))
    :effect (and (carries ?c) (not (lies-in ?c ?r)) (not (hand-free))))
  (:action put-down
    :parameters (?c - card ?r - room)
    :precondition (and (guard-in ?r) (carries ?c))
    :effect (and (lies-in ?c ?r) (hand-free) (not (carries ?c)))))
