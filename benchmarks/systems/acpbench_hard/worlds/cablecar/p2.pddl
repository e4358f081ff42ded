; Three stations in a row.
(define (problem cablecar-row)
  (:domain cablecar)
  (:objects ida ole mai - hiker valley middle peak - station)
  (:init (cabin-at middle) (cabin-free)
         (waiting ida valley) (waiting ole peak) (waiting mai middle)
         (line valley middle) (line middle valley) (line middle peak) (line peak middle))
  (:goal (and (waiting ida peak) (waiting ole middle) (waiting mai valley))))
