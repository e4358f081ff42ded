; Parts are sanded, coated and fitted. What is done cannot be undone.
(define (domain workshop)
  (:requirements :strips :typing)
  (:types part paint - object)
  (:predicates
    (on-shelf ?p - part)
    (on-bench ?p - part)
    (bench-free)
    (rough ?p - part)
    (smooth ?p - part)
    (bare ?p - part)
    (coated ?p - part ?k - paint)
    (tin-shut ?k - paint)
    (tin-open ?k - paint)
    (wanted ?p - part ?k - paint)
    (fitted ?p - part))
  (:action fetch
    :parameters (?p - part)
    :precondition (and (on-shelf ?p) (bench-free))
    :effect (and (on-bench ?p) (not (on-shelf ?p)) (not (bench-free))))
  (:action shelve
    :parameters (?p - part)
    :precondition (and (on-bench ?p))
    :effect (and (on-shelf ?p) (bench-free) (not (on-bench ?p))))
  (:action sand
    :parameters (?p - part)
    :precondition (and (on-bench ?p) (rough ?p) (bare ?p))
    :effect (and (smooth ?p) (not (rough ?p))))
  (:action open-tin
    :parameters (?k - paint)
    :precondition (and (tin-shut ?k))
    :effect (and (tin-open ?k) (not (tin-shut ?k))))
  (:action coat
    :parameters (?p - part ?k - paint)
    :precondition (and (on-bench ?p) (smooth ?p) (bare ?p) (tin-open ?k))
    :effect (and (coated ?p ?k) (not (bare ?p))))
  (:action fit
    :parameters (?p - part ?k - paint)
    :precondition (and (on-bench ?p) (coated ?p ?k) (wanted ?p ?k))
    :effect (and (fitted ?p) (bench-free) (not (on-bench ?p)))))
