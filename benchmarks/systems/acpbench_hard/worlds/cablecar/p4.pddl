; Stations on a ring that is travelled in one direction.
(define (problem cablecar-ring)
  (:domain cablecar)
  (:objects ida ole mai - hiker north east south west - station)
  (:init (cabin-at south) (cabin-free)
         (waiting ida north) (waiting ole north) (waiting mai east)
         (line north east) (line east south) (line south west) (line west north))
  (:goal (and (waiting ida south) (waiting ole west) (waiting mai north))))
