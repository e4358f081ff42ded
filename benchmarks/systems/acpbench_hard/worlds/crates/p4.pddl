; A tower of three, and a crate that hangs from the crane.
(define (problem crates-hanging)
  (:domain crates)
  (:objects tea silk salt wine left middle right)
  (:init (crate tea) (crate silk) (crate salt) (crate wine) (place left) (place middle)
         (place right) (stands tea right) (on silk tea) (on salt silk) (top salt)
         (bare left) (bare middle) (hangs wine))
  (:goal (and (on tea wine) (stands salt left))))
