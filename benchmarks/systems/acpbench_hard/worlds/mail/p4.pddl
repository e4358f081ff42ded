; The train comes back by a detour.
(define (problem mail-detour)
  (:domain mail)
  (:objects letter - parcel blue - bike express - train
            harbour - spot east west north - station)
  (:init (at letter harbour) (at blue west) (at express west)
         (road harbour west) (road west harbour)
         (rails west east) (rails east north) (rails north west))
  (:goal (and (at letter north) (at blue harbour))))
