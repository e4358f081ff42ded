; Two parcels, one bike in the second town, nothing that reaches the mill.
(define (problem mail-mill)
  (:domain mail)
  (:objects letter box - parcel blue - bike express - train
            school mill - spot east west - station)
  (:init (at letter east) (at box school) (at blue west) (at express east)
         (road school west) (road west school) (road mill west)
         (rails east west) (rails west east))
  (:goal (and (at letter school) (at box east))))
