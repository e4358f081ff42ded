; Two towns joined by rails.
(define (problem mail-two-towns)
  (:domain mail)
  (:objects letter - parcel red blue - bike express - train
            market school - spot east west - station)
  (:init (at letter market) (at red east) (at blue west) (at express west)
         (road market east) (road east market) (road school west) (road west school)
         (rails east west) (rails west east))
  (:goal (and (at letter school))))
