; Parcels go by bike within a town and by train between stations.
(define (domain mail)
  (:requirements :strips :typing)
  (:types thing spot - object
          parcel vehicle - thing
          bike train - vehicle
          station - spot)
  (:predicates
    (at ?x - thing ?s - spot)
    (in ?p - parcel ?v - vehicle)
    (road ?a - spot ?b - spot)
    (rails ?a - station ?b - station))
  (:action load
    :parameters (?p - parcel ?v - vehicle ?s - spot)
    :precondition (and (at ?p ?s) (at ?v ?s))
    :effect (and (in ?p ?v) (not (at ?p ?s))))
  (:action unload
    :parameters (?p - parcel ?v - vehicle ?s - spot)
    :precondition (and (in ?p ?v) (at ?v ?s))
    :effect (and (at ?p ?s) (not (in ?p ?v))))
  (:action cycle
    :parameters (?b - bike ?from - spot ?to - spot)
    :precondition (and (at ?b ?from) (road ?from ?to))
    :effect (and (at ?b ?to) (not (at ?b ?from))))
  (:action travel
    :parameters (?t - train ?from - station ?to - station)
    :precondition (and (at ?t ?from) (rails ?from ?to))
    :effect (and (at ?t ?to) (not (at ?t ?from)))))
