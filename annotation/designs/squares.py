"""Latin squares that balance position and predecessor: Williams (1949)."""


def williams_row(size: int, index: int) -> tuple[int, ...]:
    """Row ``index`` (modulo their number) of the square over 0 … ``size`` − 1.

    In the first ``size`` rows each value stands once at each place. Even ``size``: these rows are
    all, and each ordered pair of neighbours occurs exactly once. Odd ``size``: the same rows
    backwards follow (2 × ``size`` in all), and each ordered pair occurs exactly twice; no single
    square does this for 3, 5 or 7.
    """
    number, shift = divmod(index, size)
    # 0, 1, n−1, 2, n−2, …: the steps between neighbours are all different.
    first = (((step + 1) // 2 if step % 2 else size - step // 2) for step in range(size))
    row = tuple((value + shift) % size for value in first)
    return row[::-1] if size % 2 and number % 2 else row
