; Two stations, both ways open: everything can be reached.
(define (problem cablecar-two)
  (:domain cablecar)
  (:objects ida ole - hiker valley peak - station)
  (:init (cabin-at valley) (cabin-free) (waiting ida valley) (waiting ole peak)
         (line valley peak) (line peak valley))
  (:goal (and (waiting ida peak) (waiting ole valley))))
