"""Draw who sees the judges' marks on which item, where a study withholds them at random.

The unit is one annotator and one item. Each annotator's items come in blocks of four, in the order
of their list: two with marks and two without, in an order drawn for each block (permuted blocks,
Matts & Lachin 1988, Control. Clin. Trials 9:327). So everybody has both arms, from the beginning to
the end of their list.
"""

import random

from benchmarks.core.digests import derive_seed

BLOCK = 4


def sees_marks(*, seed: int, number: int, position: int) -> bool:
    """Return whether annotator ``number`` sees the marks on the item at ``position``, from 1."""
    block, place = divmod(position - 1, BLOCK)
    arms = [True, False] * (BLOCK // 2)
    random.Random(derive_seed(seed, "judges' marks", number, block)).shuffle(arms)
    return arms[place]
