; The seat is already coated with the paint that nobody wants on it.
(define (problem workshop-spoilt)
  (:domain workshop)
  (:objects leg seat back - part oil wax - paint)
  (:init (on-shelf leg) (on-bench back) (on-shelf seat) (rough leg) (rough back)
         (smooth seat) (bare leg) (bare back) (coated seat oil)
         (tin-open oil) (tin-shut wax) (wanted leg oil) (wanted seat wax) (wanted back wax)
         (wanted back oil))
  (:goal (and (fitted leg) (fitted back))))
