; One locked room at the end of a corridor.
(define (problem museum-corridor)
  (:domain museum)
  (:objects hall arms coins - room red - card)
  (:init (guard-in hall) (hand-free) (lies-in red arms)
         (door hall arms) (door arms hall) (door arms coins) (door coins arms)
         (unlocked hall) (unlocked arms) (locked coins) (opens red coins))
  (:goal (and (guard-in coins))))
