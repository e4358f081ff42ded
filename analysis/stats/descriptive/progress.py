"""How much of what is asked for has been found, step by step."""

from collections.abc import Collection, Hashable, Iterable, Sequence


def coverage_by_step(
    parts: Collection[Hashable], finds: Iterable[tuple[int, Hashable]], steps: int
) -> tuple[float | None, ...]:
    """Compute the share of the parts that were found up to each step.

    Parameters
    ----------
    parts
        What is asked for. What is found beyond it counts for nothing.
    finds
        (step from 1, part) of every find, in any order; a part counts from its first find.
    steps
        How many steps there were.

    Returns
    -------
    tuple
        One fraction for each step, never falling; None for each where nothing is asked for.
    """
    whole = set(parts)
    if not whole:
        return (None,) * steps
    first: dict[Hashable, int] = {}
    for step, part in finds:
        if not 1 <= step <= steps:
            raise ValueError(f"step {step} of {steps} steps")
        if part in whole:
            first[part] = min(step, first.get(part, step))
    new = [0] * (steps + 1)
    for step in first.values():
        new[step] += 1
    shares, found = [], 0
    for count in new[1:]:
        found += count
        shares.append(found / len(whole))
    return tuple(shares)


def kept_to(values: Sequence[float | None], steps: int) -> tuple[float | None, ...]:
    """Carry the last value on to the given number of steps.

    What was found stays found: so carried, every later step is about the same trajectories as the
    first, also those that have ended. Without a value there is none to carry.
    """
    if not values:
        return (None,) * steps
    return (*values, *[values[-1]] * (steps - len(values)))
