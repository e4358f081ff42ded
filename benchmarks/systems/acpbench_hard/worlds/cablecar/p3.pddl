; The line to the hut is being repaired: only the way down from it is open.
(define (problem cablecar-hut)
  (:domain cablecar)
  (:objects ida ole mai - hiker valley middle peak hut - station)
  (:init (cabin-at hut) (cabin-free)
         (waiting ida hut) (waiting ole peak) (waiting mai valley)
         (line hut valley) (line valley middle) (line middle valley)
         (line middle peak) (line peak middle))
  (:goal (and (waiting ida peak) (waiting ole valley) (waiting mai middle))))
