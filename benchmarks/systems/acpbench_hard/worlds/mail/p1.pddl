; One town without a train.
(define (problem mail-town)
  (:domain mail)
  (:objects letter box - parcel red - bike market school - spot)
  (:init (at letter market) (at box school) (at red market)
         (road market school) (road school market))
  (:goal (and (at letter school) (at box market))))
